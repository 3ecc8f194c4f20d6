//! A type as its compiler lays it out: all members, with those that are not data, as far as their places are known.
//!
//! Debug information and declarations are read into this one model. [Datatypes](crate::datatype), pictures, numbers, comparisons
//! and better orders are made from it.

mod leaves;
mod order;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use dtype_runtime::{Basic, Type};

pub use leaves::{Inside, Leaf, Level};
pub use order::Order;

/// A type: its name, what it takes, and what it is.
#[derive(Clone, Debug)]
pub struct Described {
    /// The name as the source has it, such as `struct node *`; empty if it has none, or if names are not read.
    pub name: Arc<str>,
    /// The size in bytes; `None` if it is not known.
    pub size: Option<u64>,
    /// The alignment in bytes, a power of two; `None` if it is not known.
    pub align: Option<u64>,
    /// What the type is.
    pub what: What,
}

/// What a type is.
#[derive(Clone, Debug)]
pub enum What {
    /// One value.
    Basic(Basic),
    /// Values that are shown as one, such as a point in time.
    Data(Type),
    /// No value, and no bytes.
    Nothing,
    /// A struct, a class, a union or an enum with data.
    Structure(Arc<Structure>),
    /// An array of a fixed length.
    Array(Arc<Array>),
    /// An array without a length, whose elements follow the struct.
    Open(Arc<Described>),
    /// Anything else, as a noun with its article: `a pointer`.
    Other(Arc<str>),
}

/// An array.
#[derive(Clone, Debug)]
pub struct Array {
    /// The lengths of its dimensions, the outermost first.
    pub lengths: Vec<u64>,
    /// The type that it repeats.
    pub element: Described,
}

/// A struct, a class, a union or an enum with data, and where its members are.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The name; `None` if it has none.
    pub name: Option<Arc<str>>,
    /// Whether the members are beside or above one another.
    pub form: Form,
    /// The size in bytes; `None` if it is not known.
    pub size: Option<u64>,
    /// The alignment in bytes, a power of two; `None` if it is not known.
    pub align: Option<u64>,
    /// The members in the order of their places. Those without a fixed place come last.
    pub members: Vec<Member>,
    /// The indices of the members in the order of their declaration.
    pub declared: Vec<usize>,
    /// Where it is declared.
    pub source: Option<Source>,
    /// The bytes that the members take, those of base classes among them, as far as they are known.
    taken: Vec<Taken>,
    /// Why it is not known which bytes are padding.
    doubt: Option<String>,
    /// Whether the rules of compilers give these places.
    is_explained: bool,
    /// The bytes of padding inside the members.
    inner_padding: u64,
    /// The number of members without parts, and of those that are not data.
    leaves: [u64; 2],
}

/// How the members of a type share its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each has bytes of its own.
    Struct,
    /// All start at the first byte, and one of them is in use.
    Union,
    /// An enum with data: each member is a variant, one of which is in use.
    Enum(Tag),
}

/// What tells which variant of an enum is in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The bytes of the number; `None` if there is only one variant.
    pub bytes: Option<Range<u64>>,
    /// The type of the number.
    pub type_name: Arc<str>,
    /// The number of each variant, in the order of the members; `None` for the one that all other numbers mean.
    pub numbers: Vec<Option<i128>>,
    /// The field that has the bytes of the number, if they are values that this field does not use.
    pub niche: Option<String>,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path; empty if it is not known.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u64,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            return write!(f, "line {}", self.line);
        }
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Consecutive bytes that members take.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Taken {
    bytes: Range<u64>,
    /// The last one of these members.
    last: Option<String>,
}

/// A member, a base class or the pointer to the virtual functions.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name; `None` if it has none.
    pub name: Option<String>,
    /// The first byte, from the start of the struct; `None` if it depends on the whole object, as for a virtual base class.
    pub offset: Option<u64>,
    /// Bytes that it takes a part of; `None` if that is not known.
    pub size: Option<u64>,
    /// The alignment that it has in this struct, a power of two in bytes; `None` if it is not known.
    pub align: Option<u64>,
    /// What another order may do with it.
    pub kind: Kind,
    /// Its type.
    pub of: Described,
    /// The line of its declaration.
    pub line: Option<u64>,
}

/// What another order of the members may do with one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It can be at any place.
    Field,
    /// A bit-field, which shares bytes with its neighbours.
    Bits {
        /// The first bit in its first byte. Bits count from the lowest one on a little-endian machine, and otherwise from the
        /// highest one.
        first: u8,
        /// The number of bits.
        width: u64,
        /// Bytes of the type that it is declared with, which it does not cross the bounds of.
        unit: u64,
    },
    /// A base class, or the pointer to the virtual functions. These come first.
    Base {
        /// Bytes up to the end of its last member. Another member may start there.
        data: u64,
        /// Whether its members are members of the struct: a base class, and neither the pointer nor what a type of Fortran
        /// extends.
        is_class: bool,
    },
    /// An array without a length, which comes last.
    Open,
    /// The number that tells which variant of an enum is in use, in each variant beside which it lies.
    Tag,
}

impl Described {
    /// A type without a name of its own.
    pub fn new(what: What, size: Option<u64>, align: Option<u64>) -> Self {
        Self { name: Arc::default(), size, align, what }
    }

    /// A type that is no data: a noun with its article.
    pub fn other(what: impl Into<Arc<str>>, size: Option<u64>, align: Option<u64>) -> Self {
        Self::new(What::Other(what.into()), size, align)
    }

    /// One value of a predefined type.
    pub fn basic(basic: Basic) -> Self {
        let [size, align] = [basic.size(), basic.align()].map(|bytes| Some(bytes as u64));
        Self::new(What::Basic(basic), size, align)
    }

    /// An array.
    #[must_use]
    pub fn array(self, lengths: Vec<u64>) -> Self {
        let length = lengths.iter().try_fold(1_u64, |all, length| all.checked_mul(*length));
        let size = self.size.zip(length).and_then(|(size, length)| size.checked_mul(length));
        let align = self.align;
        Self::new(What::Array(Arc::new(Array { lengths, element: self })), size, align)
    }

    /// The name as the source has it, or else what it is.
    pub fn shown(&self) -> String {
        match &self.what {
            _ if !self.name.is_empty() => self.name.to_string(),
            What::Array(array) => {
                let with = |name: String, length: &u64| format!("{name}[{length}]");
                array.lengths.iter().fold(array.element.shown(), with)
            }
            _ => self.noun().to_owned(),
        }
    }

    /// The struct, union or enum that it is, if it is one.
    pub fn structure(&self) -> Option<&Arc<Structure>> {
        match &self.what {
            What::Structure(structure) => Some(structure),
            _ => None,
        }
    }

    /// What it is: a noun with its article.
    pub fn noun(&self) -> &str {
        match &self.what {
            What::Basic(basic) => basic.name(),
            What::Data(_) => "data",
            What::Nothing => "nothing",
            What::Structure(structure) => match structure.form {
                Form::Struct => "a struct",
                Form::Union => "a union",
                Form::Enum(_) => "an enum whose variants hold data",
            },
            What::Array(_) => "an array",
            What::Open(_) => "an array without a length, whose elements follow the struct",
            What::Other(what) => what,
        }
    }

    /// Whether all of it is data.
    pub fn is_data(&self) -> bool {
        self.leaves()[1] == 0
    }

    /// The number of parts without parts of their own, and of those that are not data. That of an array is that of its element.
    fn leaves(&self) -> [u64; 2] {
        match &self.what {
            What::Basic(_) | What::Data(_) => [1, 0],
            What::Nothing => [0, 0],
            What::Structure(structure) => structure.leaves,
            What::Array(array) if array.lengths.contains(&0) => [0, 0],
            What::Array(array) => array.element.leaves(),
            What::Open(_) | What::Other(_) => [1, 1],
        }
    }

    /// The bytes that are padding inside structs and arrays of them, as far as they are known.
    fn padding(&self) -> u64 {
        match &self.what {
            What::Structure(structure) => {
                structure.padding().unwrap_or(0).saturating_add(structure.inner_padding)
            }
            What::Array(array) => {
                let length = array.lengths.iter().fold(1, |all: u64, one| all.saturating_mul(*one));
                length.saturating_mul(array.element.padding())
            }
            _ => 0,
        }
    }
}

impl Member {
    /// The bytes that it takes a part of.
    pub fn bytes(&self) -> Option<Range<u64>> {
        let start = self.offset?;
        Some(start..start.checked_add(self.size?)?)
    }

    /// Whether its members are members of the struct around it: a base class, or a struct or union without a name.
    pub fn is_inlined(&self) -> bool {
        match self.kind {
            Kind::Base { is_class, .. } => is_class,
            _ => self.name.is_none() && self.of.structure().is_some(),
        }
    }

    /// The name of the field; `None` if it has none or, as those of a tuple, only a number.
    pub fn field_name(&self) -> Option<String> {
        self.name.clone().filter(|name| name.parse::<u32>().is_err())
    }

    /// Whether it is a virtual base class, of which the whole object has one.
    pub fn is_virtual(&self) -> bool {
        self.offset.is_none() && matches!(self.kind, Kind::Base { .. })
    }

    /// A base class with members.
    fn base(&self) -> Option<&Arc<Structure>> {
        let is_class = matches!(self.kind, Kind::Base { is_class: true, .. });
        self.of.structure().filter(|_| is_class && self.size != Some(0))
    }

    /// The padding inside it. That of a base class counts as padding of the struct.
    pub fn padding(&self) -> u64 {
        match (self.kind, self.base()) {
            (Kind::Bits { .. }, _) => 0,
            (_, Some(base)) => base.inner_padding,
            (_, None) => self.of.padding(),
        }
    }

    /// The name in a list of members.
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => format!("({})", self.of.noun()),
        }
    }

    fn leaves(&self) -> [u64; 2] {
        match self.kind {
            Kind::Bits { .. } => [1, 1],
            Kind::Tag => [0, 0],
            _ if self.offset.is_none() => [1, 1],
            // An empty class is a base of no bytes.
            Kind::Base { is_class: true, .. } if self.size == Some(0) => [0, 0],
            _ => self.of.leaves(),
        }
    }
}

impl Structure {
    /// A struct with the alignment that its declaration asks for, if that is known, and with its members in the order of their
    /// declaration. Members may be less aligned than their types, as in a packed struct: then `align` of the members becomes
    /// what they have here.
    ///
    /// What a base class has room for and does not use, a struct may have for its own members, or leave as well.
    pub fn new(size: Option<u64>, asked: Option<u64>, members: Vec<Member>) -> Self {
        let mut members: Vec<(usize, Member)> = members.into_iter().enumerate().collect();
        members.sort_by_key(|(_, one)| (one.offset.is_none(), one.start()));
        let mut declared = vec![0; members.len()];
        for (place, (number, _)) in members.iter().enumerate() {
            declared[*number] = place;
        }
        let mut members: Vec<Member> = members.into_iter().map(|(_, member)| member).collect();
        shorten(&mut members);
        let inner = members.iter().fold(0, |all: u64, one| all.saturating_add(one.padding()));
        let leaves = members.iter().fold([0_u64; 2], |[all, others], member| {
            let [more, more_others] = member.leaves();
            [all.saturating_add(more), others.saturating_add(more_others)]
        });
        let mut this = Self {
            name: None,
            form: Form::Struct,
            size,
            align: asked,
            taken: taken(&members),
            doubt: doubt(size, &members),
            members,
            declared,
            source: None,
            is_explained: false,
            inner_padding: inner,
            leaves,
        };
        let asked = asked.unwrap_or(1);
        match this.aligns(asked) {
            Some(aligns) => {
                this.is_explained = true;
                this.align = Some(aligns.iter().copied().fold(asked, u64::max));
                for (member, align) in this.members.iter_mut().zip(aligns) {
                    member.align = Some(align);
                }
            }
            None if this.align.is_none() => this.align = this.strictest(),
            None => {}
        }
        this
    }

    /// The same struct with its name.
    #[must_use]
    pub fn named(self, name: Option<Arc<str>>) -> Self {
        Self { name, ..self }
    }

    /// The same struct with the place of its declaration.
    #[must_use]
    pub fn declared_at(self, source: Option<Source>) -> Self {
        Self { source, ..self }
    }

    /// The same members, which share the bytes in another form.
    #[must_use]
    pub fn in_form(self, form: Form) -> Self {
        let [all, _] = self.leaves;
        let all = all.max(1);
        let is_enum = matches!(form, Form::Enum(_));
        let each = || "each variant of the enum has padding of its own".to_owned();
        let doubt = if is_enum { Some(each()) } else { self.doubt };
        Self { form, doubt, is_explained: false, inner_padding: 0, leaves: [all, all], ..self }
    }

    /// The same struct, for which the rules of compilers shall tell what another order gives even if they do not give its
    /// present places.
    #[must_use]
    pub fn anew(self) -> Self {
        Self { is_explained: true, ..self }
    }

    /// Whether all members are data, so that the datatype has all of them.
    pub fn is_data(&self) -> bool {
        self.form == Form::Struct && self.leaves[1] == 0
    }

    /// The number of an enum that tells which variant is in use, if it has bytes for itself, in the first variant beside which
    /// it lies.
    pub fn tag(&self) -> Option<&Member> {
        let Form::Enum(_) = self.form else { return None };
        let inside = self.members.iter().filter_map(|variant| variant.of.structure());
        inside.flat_map(|inside| &inside.members).find(|member| member.kind == Kind::Tag)
    }

    /// The padding inside the members, which no order of these members changes.
    pub fn inner_padding(&self) -> u64 {
        self.inner_padding
    }

    /// Why it is not known which bytes are padding: a sentence without a full stop.
    pub fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    /// The number of separate parts of memory that the members take.
    pub fn parts(&self) -> usize {
        self.taken.len()
    }

    /// The bytes that no member takes, and the member before each, or `None` at the start. There is no answer where there is
    /// a [`doubt`](Self::doubt). The one byte of an empty class is no gap.
    pub fn gaps(&self) -> Option<Vec<(Option<String>, Range<u64>)>> {
        let size = self.size.filter(|_| self.doubt().is_none())?;
        let (mut end, mut after) = (0, None);
        let mut gaps = Vec::new();
        for taken in &self.taken {
            gaps.push((after, end..taken.bytes.start));
            (end, after) = (taken.bytes.end, taken.last.clone());
        }
        if !self.taken.is_empty() {
            gaps.push((after, end..size));
        }
        gaps.retain(|(_, bytes)| bytes.start < bytes.end);
        Some(gaps)
    }

    /// The number of bytes that no member takes; `None` where that is not known.
    pub fn padding(&self) -> Option<u64> {
        Some(self.gaps()?.iter().map(|(_, bytes)| bytes.end - bytes.start).sum())
    }
}

/// A base class takes all its bytes, or, if another member starts after its last one, those up to that.
fn shorten(members: &mut [Member]) {
    let mut next = u64::MAX;
    for member in members.iter_mut().rev() {
        let Some(bytes) = member.bytes() else { continue };
        if let Kind::Base { data, .. } = &mut member.kind
            && next >= bytes.end
        {
            *data = bytes.end - bytes.start;
        }
        if !bytes.is_empty() {
            next = bytes.start;
        }
    }
}

/// Why it is not known which bytes are padding.
fn doubt(size: Option<u64>, members: &[Member]) -> Option<String> {
    let name = |member: &Member| match &member.name {
        Some(name) => format!("`{name}`"),
        None => "a member without a name".into(),
    };
    if size.is_none() {
        return Some("the size is not known".into());
    }
    members.iter().find_map(|member| match member.base() {
        _ if member.offset.is_none() => Some(format!("the place of {} is not fixed", name(member))),
        _ if member.size.is_none() => Some(format!("the size of {} is not known", name(member))),
        Some(base) => base.doubt.clone(),
        None => None,
    })
}

/// The bytes that members take. Those of a base class are members, too.
fn taken(members: &[Member]) -> Vec<Taken> {
    let mut all = Vec::new();
    for (number, member) in members.iter().enumerate() {
        let (Some(bytes), Some(offset)) = (member.bytes(), member.offset) else { continue };
        if let Some(base) = member.base() {
            all.extend(base.taken.iter().cloned().map(|taken| {
                let Range { start, end } = taken.bytes;
                Taken { bytes: start.saturating_add(offset)..end.saturating_add(offset), ..taken }
            }));
        } else {
            let last = member.name.clone().unwrap_or_else(|| number.to_string());
            all.push(Taken { bytes, last: Some(last) });
        }
    }
    all.retain(|taken| !taken.bytes.is_empty());
    all.sort_by_key(|taken| taken.bytes.start);
    all.dedup_by(|next, last| {
        let is_joined = next.bytes.start <= last.bytes.end;
        if is_joined && next.bytes.end > last.bytes.end {
            last.bytes.end = next.bytes.end;
            last.last = next.last.take();
        }
        is_joined
    });
    all
}
