//! The parts of a structure that have no parts of their own, with their paths.

use super::{Described, Form, Kind, Member, Structure, What};

/// The greatest number of bytes of all paths together. Each path repeats the names around it.
const MAX_PATHS: usize = 16 << 20;

/// How far a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// Unions and enums with data are parts.
    Structs,
    /// Their members are.
    All,
}

/// Repetitions of a part: the number of them, and the bytes from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The number of them.
    pub count: u64,
    /// Bytes from one to the next; 0 if the size of one is not known.
    pub stride: u64,
}

/// A part without parts.
#[derive(Clone, Debug)]
pub struct Leaf<'s> {
    /// The names around it and its own, with `[]` where a struct is repeated: `cells[].next`. If it has no name, this ends with a
    /// dot, or is empty.
    pub path: String,
    /// Its first byte, from the start of the structure; `None` if it depends on the whole object.
    pub offset: Option<u64>,
    /// The first bit in that byte and the number of bits, if it is a bit-field.
    pub bits: Option<(u8, u64)>,
    /// The repetitions from the outermost to the innermost.
    pub levels: Vec<Level>,
    /// How many of these, from the innermost on, repeat it alone and no struct around it.
    pub own_levels: usize,
    /// Its type without these.
    pub of: &'s Described,
    /// Whether it is a base class.
    is_base: bool,
}

impl Leaf<'_> {
    /// What it is: a noun with its article.
    pub fn what(&self) -> String {
        match self.bits {
            Some((_, 1)) => return "a bit-field of 1 bit".into(),
            Some((_, bits)) => return format!("a bit-field of {bits} bits"),
            None if self.offset.is_none() && self.is_base => return "a virtual base class".into(),
            None if self.offset.is_none() => return "at a place that is not fixed".into(),
            None => {}
        }
        match self.own_levels {
            0 => self.of.noun().into(),
            _ => format!("an array; each element is {}", self.of.noun()),
        }
    }

    /// Bytes of all repetitions of one of these; `None` if that is not known.
    pub fn bytes(&self) -> Option<u64> {
        let size = match self.bits {
            Some((first, width)) => width.checked_add(first.into())?.div_ceil(8),
            None => self.of.size?,
        };
        self.levels.iter().try_fold(size, |all, level| all.checked_mul(level.count))
    }
}

impl Structure {
    /// The first `most` parts in the order of their declaration, or those of them that are not data, and whether these are all.
    pub fn leaves(&self, inside: Inside, without_data: bool, most: usize) -> (Vec<Leaf<'_>>, bool) {
        let without_data = without_data && self.form == Form::Struct;
        let mut walk = Walk::new(inside, without_data, most);
        walk.structure(self, Some(0), false);
        (walk.all, walk.is_complete)
    }

    /// The parts of one member, also inside unions.
    pub fn leaves_of<'s>(&self, member: &'s Member, most: usize) -> (Vec<Leaf<'s>>, bool) {
        let mut walk = Walk::new(Inside::All, false, most);
        walk.member(member, member.offset);
        (walk.all, walk.is_complete)
    }
}

struct Walk<'s> {
    inside: Inside,
    without_data: bool,
    most: usize,
    /// What is left for paths.
    bytes: usize,
    all: Vec<Leaf<'s>>,
    is_complete: bool,
    path: String,
    levels: Vec<Level>,
}

impl<'s> Walk<'s> {
    fn new(inside: Inside, without_data: bool, most: usize) -> Self {
        Self {
            inside,
            without_data,
            most,
            bytes: MAX_PATHS,
            all: Vec::new(),
            is_complete: true,
            path: String::new(),
            levels: Vec::new(),
        }
    }

    fn structure(&mut self, of: &'s Structure, base: Option<u64>, is_class: bool) {
        // In a damaged file, structs without such parts may be inside one another any number of times.
        if of.leaves[usize::from(self.without_data)] == 0 {
            return;
        }
        if let Some(tag) = of.tag() {
            self.member(tag, base.zip(tag.offset).map(|(base, at)| base.saturating_add(at)));
        }
        for number in &of.declared {
            if !self.is_complete {
                return;
            }
            let member = &of.members[*number];
            // The object around a base class has its virtual base classes.
            if !(is_class && member.is_virtual()) && member.kind != Kind::Tag {
                let offset = base.zip(member.offset);
                self.member(member, offset.map(|(base, at)| base.saturating_add(at)));
            }
        }
    }

    fn member(&mut self, member: &'s Member, offset: Option<u64>) {
        if member.leaves()[usize::from(self.without_data)] == 0 && member.kind != Kind::Tag {
            return;
        }
        let length = self.path.len();
        let is_inside = member.of.structure().is_some_and(|inner| self.is_looked_into(inner));
        if !member.is_inlined() || !is_inside || offset.is_none() {
            self.path += if length > 0 { "." } else { "" };
            self.path += member.name.as_deref().unwrap_or_default();
        }
        let is_base = matches!(member.kind, Kind::Base { .. });
        match member.kind {
            Kind::Bits { first, width, .. } => {
                self.leaf(&member.of, offset, Some((first, width)), 0, false);
            }
            _ if offset.is_none() => self.leaf(&member.of, None, None, 0, is_base),
            _ => self.described(&member.of, offset, 0, is_base),
        }
        self.path.truncate(length);
    }

    fn is_looked_into(&self, inner: &Structure) -> bool {
        inner.form == Form::Struct || self.inside == Inside::All
    }

    fn described(&mut self, of: &'s Described, offset: Option<u64>, own: usize, is_class: bool) {
        match &of.what {
            What::Nothing => {}
            What::Basic(_) | What::Data(_) if self.without_data => {}
            What::Structure(inner) if self.is_looked_into(inner) => {
                let length = self.path.len();
                self.path += &"[]".repeat(own);
                // No datatype has what is in a union.
                let is_struct = inner.form == Form::Struct;
                let without_data = self.without_data;
                self.without_data = without_data && is_struct;
                self.structure(inner, offset, is_class);
                self.without_data = without_data;
                self.path.truncate(length);
            }
            What::Array(array) if array.lengths.contains(&0) => {}
            What::Array(array) => {
                let depth = self.levels.len();
                let mut stride = array.element.size.unwrap_or(0);
                for count in array.lengths.iter().rev() {
                    self.levels.insert(depth, Level { count: *count, stride });
                    stride = stride.saturating_mul(*count);
                }
                self.described(&array.element, offset, own + array.lengths.len(), false);
                self.levels.truncate(depth);
            }
            _ => self.leaf(of, offset, None, own, is_class),
        }
    }

    fn leaf(
        &mut self,
        of: &'s Described,
        offset: Option<u64>,
        bits: Option<(u8, u64)>,
        own_levels: usize,
        is_base: bool,
    ) {
        let Some(bytes) = self.bytes.checked_sub(self.path.len()) else {
            self.is_complete = false;
            return;
        };
        if self.all.len() >= self.most {
            self.is_complete = false;
            return;
        }
        self.bytes = bytes;
        let (path, levels) = (self.path.clone(), self.levels.clone());
        self.all.push(Leaf { path, offset, bits, levels, own_levels, of, is_base });
    }
}
