//! The fields of a datatype: what a legend lists.

use dtype_runtime::Basic;
use dtype_runtime::outline::{Outline, Parts, Repetition};

/// The maximum number of fields with a name; further fields are drawn without one.
pub const MAX_FIELDS: usize = 1024;

/// The maximum number of members to visit in search of fields; some members do not have data.
const MAX_MEMBERS: usize = 1 << 16;

/// A basic datatype at one point of a datatype, with all its repetitions; or a member of a struct that the datatype does not have.
///
/// The fields of a derived type have their names in the struct. Members of a structure made at run time are numbered,
/// like the members of a tuple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagramField {
    /// The path to the field, with `[]` where a structure is repeated: `cells[].mass`. Empty if the type is not a
    /// structure.
    pub path: String,
    /// The basic datatype; `None` for a field that is not part of the datatype.
    pub basic: Option<Basic>,
    /// Whether its bytes are drawn: those of a skipped field are not.
    pub is_drawn: bool,
    /// The first bit in its first byte and the number of bits, if it is a bit-field.
    pub bits: Option<(u8, u64)>,
    /// The name of the Rust type, such as an enum's, whose integer is `basic`; or the name of `basic`.
    pub type_name: String,
    /// Displacement in bytes of its first value in the first instance.
    pub offset: i128,
    /// The repetitions from the outermost to the innermost, except single ones.
    pub levels: Vec<Repeat>,
    /// Bytes of all its values in one instance.
    pub bytes: u64,
}

/// A repetition of a [`DiagramField`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The number of repetitions.
    pub count: u64,
    /// The stride in bytes; `None` if it varies, in a list of blocks.
    pub stride: Option<i64>,
}

impl DiagramField {
    /// The number of contiguous values, and the repetitions around them.
    pub fn contiguous(&self) -> (u64, &[Repeat]) {
        let mut levels = self.levels.as_slice();
        let times = levels.iter().fold(1, |all: u64, level| all.saturating_mul(level.count));
        let of_one = || self.bytes.checked_div(times).unwrap_or(0);
        let (mut count, size) =
            (1_u64, self.basic.map_or_else(of_one, |basic| basic.size() as u64));
        if size == 0 || !self.is_drawn {
            return (1, levels);
        }
        while let [around @ .., Repeat { count: more, stride: Some(stride) }] = levels
            && count.checked_mul(size) == Some(stride.cast_unsigned())
            && let Some(all) = count.checked_mul(*more)
        {
            (count, levels) = (all, around);
        }
        (count, levels)
    }
}

/// The field of some data, by their position in the tree of structures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Field(u16),
    Members(Vec<Slot>),
    /// A field beyond the limit.
    Other,
}

impl Slot {
    /// The slot of a structure's member.
    pub(crate) fn member(&self, index: usize) -> &Self {
        match self {
            Self::Members(members) => members.get(index).unwrap_or(&Self::Other),
            _ => &Self::Other,
        }
    }
}

/// The fields of a datatype.
pub(crate) struct Fields {
    pub(crate) all: Vec<DiagramField>,
    /// Whether there are more fields than the limit.
    pub(crate) more: bool,
    pub(crate) slot: Slot,
}

impl Fields {
    pub(crate) fn new(outline: Outline<'_>) -> Self {
        let mut walk = Walk {
            all: Vec::new(),
            looked: 0,
            more: false,
            path: String::new(),
            levels: Vec::new(),
            skipped: Vec::new(),
            nameless_until: None,
        };
        let slot = walk.outline(outline, 0, false);
        walk.all.append(&mut walk.skipped);
        Self { all: walk.all, more: walk.more, slot }
    }
}

struct Walk {
    all: Vec<DiagramField>,
    /// The number of visited members.
    looked: usize,
    more: bool,
    path: String,
    levels: Vec<Repeat>,
    skipped: Vec<DiagramField>,
    /// While this is set, structures have no names. They are internal to a part of an array, whose element type has this
    /// address.
    nameless_until: Option<*const ()>,
}

impl Walk {
    /// Adds the fields of an instance at `base`. `repeated` says whether something has repeated it since the last name.
    fn outline(&mut self, outline: Outline<'_>, base: i128, repeated: bool) -> Slot {
        if outline.size() == 0 && matches!(outline, Outline::Type(_)) {
            return Slot::Other;
        }
        if let (Some(old), Outline::Type(ty)) = (self.nameless_until, outline)
            && old == ty.as_ptr()
        {
            self.nameless_until = None;
            let slot = self.outline(outline, base, repeated);
            self.nameless_until = Some(old);
            return slot;
        }
        match outline.parts() {
            Parts::Nothing => Slot::Other,
            Parts::Leaf(basic) => self.leaf(basic, outline.leaf_name(basic), base),
            Parts::Same(inner) => self.outline(inner, base, repeated),
            Parts::Array { built, old } => {
                let outside = self.nameless_until.replace(old.as_ptr());
                let slot = self.outline(Outline::Type(built), base, repeated);
                self.nameless_until = outside;
                slot
            }
            Parts::Grid { blocks, block, of } => {
                let depth = self.levels.len();
                self.enter(blocks);
                self.enter(block);
                let repeated = repeated || self.levels.len() > depth;
                let slot = if blocks.count == 0 || block.count == 0 {
                    Slot::Other
                } else {
                    self.outline(of, base, repeated)
                };
                self.levels.truncate(depth);
                slot
            }
            Parts::List(list) => {
                let depth = self.levels.len();
                let old = Outline::Type(list.old);
                // The type has data, so its part has data, too.
                let count = outline.size().checked_div(old.size()).unwrap_or(0);
                if count > 1 {
                    self.levels.push(Repeat { count, stride: None });
                }
                let first = list.blocks().take(MAX_MEMBERS).find(|(length, _)| *length > 0);
                // If all visited blocks are empty, use the displacement of the list.
                let first = first.map_or(0, |(_, displacement)| displacement);
                let slot = self.outline(old, base + first, repeated || count > 1);
                self.levels.truncate(depth);
                slot
            }
            Parts::Members(members, names) => self.members(members.len(), repeated, |walk, i| {
                let member = &members[i];
                let base = base + i128::from(member.displacement);
                let of = Outline::Type(&member.ty);
                if member.blocklength == 0 || of.size() == 0 {
                    return Slot::Other;
                }
                walk.named(&names.name(i), |walk| {
                    let depth = walk.levels.len();
                    walk.enter(Repetition { count: member.blocklength, stride: of.extent() });
                    // Repeating a structure without a name repeats its contents.
                    let outside = repeated && walk.nameless_until.is_some();
                    let slot = walk.outline(of, base, outside || member.blocklength > 1);
                    walk.levels.truncate(depth);
                    slot
                })
            }),
            Parts::Fields(fields) => self.members(fields.len(), repeated, |walk, i| {
                let field = &fields[i];
                let base = base + field.offset() as i128;
                walk.named(field.name(), |walk| {
                    if let Some(map) = field.map() {
                        return walk.outline(Outline::Map(map), base, false);
                    }
                    walk.skipped(field.size(), base);
                    Slot::Other
                })
            }),
        }
    }

    fn enter(&mut self, Repetition { count, stride }: Repetition) {
        if count > 1 {
            self.levels.push(Repeat { count, stride: Some(stride) });
        }
    }

    fn members(
        &mut self,
        number: usize,
        repeated: bool,
        mut one: impl FnMut(&mut Self, usize) -> Slot,
    ) -> Slot {
        let length = self.path.len();
        if repeated && self.nameless_until.is_none() {
            self.path.push_str("[]");
        }
        let mut slots = Vec::new();
        for i in 0..number {
            if self.all.len() + self.skipped.len() >= MAX_FIELDS || self.looked >= MAX_MEMBERS {
                self.more = true;
                break;
            }
            self.looked += 1;
            slots.push(one(self, i));
        }
        self.path.truncate(length);
        Slot::Members(slots)
    }

    /// Calls `inside` with the name added to the path.
    fn named(&mut self, name: &str, inside: impl FnOnce(&mut Self) -> Slot) -> Slot {
        let length = self.path.len();
        if self.nameless_until.is_none() {
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(name);
        }
        let slot = inside(self);
        self.path.truncate(length);
        slot
    }

    fn leaf(&mut self, basic: Basic, name: &str, offset: i128) -> Slot {
        let Ok(index) = u16::try_from(self.all.len()) else { return Slot::Other };
        if self.all.len() >= MAX_FIELDS {
            self.more = true;
            return Slot::Other;
        }
        let times = self.levels.iter().fold(1, |n: u64, level| n.saturating_mul(level.count));
        self.all.push(DiagramField {
            path: self.path.clone(),
            basic: Some(basic),
            is_drawn: true,
            bits: None,
            type_name: name.into(),
            offset,
            levels: self.levels.clone(),
            bytes: times.saturating_mul(basic.size() as u64),
        });
        Slot::Field(index)
    }

    fn skipped(&mut self, size: usize, offset: i128) {
        let times = self.levels.iter().fold(1, |n: u64, level| n.saturating_mul(level.count));
        self.skipped.push(DiagramField {
            path: self.path.clone(),
            basic: None,
            is_drawn: false,
            bits: None,
            type_name: "(skipped)".into(),
            offset,
            levels: self.levels.clone(),
            bytes: times.saturating_mul(size as u64),
        });
    }
}
