//! The layout of structs: which displacement each field gets, by C's rules.

use std::ops::Range;
use std::sync::Arc;

use dtype_runtime::types::{Argument, Combiner, Named};
use dtype_runtime::{Basic, Error, Type};

use super::MAX_PROBLEMS;
use crate::notation::{Block, FieldNames, Meaning, Restriction};
use crate::problem::{Problem, quoted};
use crate::structure::{self, Described, Form, Kind, Structure, What};

/// The greatest size that a type can have, in bytes.
pub(super) const MAX_SIZE: u64 = i64::MAX as u64;

/// The greatest alignment in bytes that a declaration may request; compilers have about the same limit.
pub(super) const MAX_ALIGN: u64 = 1 << 28;

/// A type with its size in memory.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The datatype.
    pub ty: Type,
    /// Bytes from one to the next in an array.
    pub size: u64,
    /// The alignment in bytes.
    pub align: u64,
    /// The fields, if it is a struct.
    pub members: Arc<[Member]>,
    /// Which values a single value, or those of an array, can have, if that is not up to their basic datatype.
    pub restriction: Option<Arc<Restriction>>,
    /// Where its members are, if it is a struct by the rules of C.
    pub structure: Option<Arc<Structure>>,
    /// What it is, if it is no data but has a place, as a pointer has.
    pub(crate) foreign: Option<Arc<Described>>,
    /// What to report of members that are no data where data alone is wanted.
    pub(crate) others: Arc<[Problem]>,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name; `None` if it has none.
    pub name: Option<String>,
    /// In bytes from the start of the struct.
    pub offset: u64,
    /// The type of its elements.
    pub element: Type,
    /// The number of elements.
    pub length: u64,
}

/// The meaning of a name or a type in a declaration.
pub(super) type Base = Result<Layout, NoData>;

/// Why a name or a type has no layout.
#[derive(Clone, Debug)]
pub(super) enum NoData {
    /// The declaration has mistakes.
    Wrong(Vec<Problem>),
    /// The type is not data of a fixed size: `what` completes "field `x` is …".
    /// `place` is its layout, if it has one.
    Foreign { what: &'static str, help: &'static str, place: Option<Box<Layout>> },
}

impl NoData {
    /// The same for an array of the type: its place is that of all elements.
    pub(super) fn array(mut self, length: u64) -> Self {
        let all = self.take_place().and_then(|one| one.array(&[length]).ok());
        if let Self::Foreign { place, .. } = &mut self {
            *place = all.map(Box::new);
        }
        self
    }

    /// Takes the layout of what is no data, if it has one.
    pub(super) fn take_place(&mut self) -> Option<Layout> {
        match self {
            Self::Foreign { place, .. } => place.take().map(|place| *place),
            Self::Wrong(_) => None,
        }
    }

    /// The mistakes of a field of this type; `name` is empty if the field has none.
    pub(super) fn of_field(self, name: &str, span: Range<usize>) -> Vec<Problem> {
        match self {
            Self::Wrong(problems) => problems,
            Self::Foreign { what, help, .. } => {
                let message = match name {
                    "" => format!("a field without a name is {what}"),
                    name => format!("field {} is {what}", quoted(name)),
                };
                vec![Problem::new(message, span, what).help(help)]
            }
        }
    }
}

impl From<Problem> for NoData {
    fn from(problem: Problem) -> Self {
        Self::Wrong(vec![problem])
    }
}

impl From<Box<Problem>> for NoData {
    fn from(problem: Box<Problem>) -> Self {
        Self::from(*problem)
    }
}

/// A pointer: what it is, the name of its type, and its size in pointers.
pub(super) fn pointer(what: &'static str, name: &str, words: u64) -> Described {
    let bytes = Basic::Aint.size() as u64;
    let of = Described::other(what, Some(bytes * words), Some(bytes));
    Described { name: name.into(), ..of }
}

/// The layout of a field of a type, with what to report where data alone is wanted; or the field's mistakes, if it has no place.
/// `name` is empty if it has none.
pub(super) fn placed(
    base: Base,
    name: &str,
    span: Range<usize>,
) -> Result<(Layout, Vec<Problem>), Vec<Problem>> {
    match base {
        Ok(layout) => Ok((layout, Vec::new())),
        Err(mut base) => {
            let place = base.take_place();
            let problems = base.of_field(name, span);
            match place {
                Some(place) => Ok((place, problems)),
                None => Err(problems),
            }
        }
    }
}

/// A type with one mistake.
pub(super) fn wrong(problem: Problem) -> Base {
    Err(problem.into())
}

/// A type that is not data.
pub(super) fn foreign(what: &'static str, help: &'static str) -> Base {
    Err(NoData::Foreign { what, help, place: None })
}

impl Layout {
    /// A predefined type.
    pub fn basic(basic: Basic) -> Self {
        let [size, align] = [basic.size(), basic.align()].map(|bytes| bytes as u64);
        Self::simple(Type::basic(basic), size, align)
    }

    /// A type that is no struct.
    pub fn simple(ty: Type, size: u64, align: u64) -> Self {
        Self {
            ty,
            size,
            align,
            members: [].into(),
            restriction: None,
            structure: None,
            foreign: None,
            others: [].into(),
        }
    }

    /// The basic datatype with fewer values.
    pub(super) fn restricted(basic: Basic, to: Restriction) -> Self {
        Self { restriction: Some(Arc::new(to)), ..Self::basic(basic) }
    }

    /// A type that is no data, with a size and an alignment.
    pub(super) fn foreign(of: Described) -> Result<Self, Error> {
        let (size, align) = (of.size.unwrap_or(0), of.align.unwrap_or(1));
        Ok(Self { size, align, foreign: Some(Arc::new(of)), ..Self::nothing()? })
    }

    /// The type without data and without bytes.
    ///
    /// # Errors
    ///
    /// What the constructor refuses.
    pub fn nothing() -> Result<Self, Error> {
        let ty = Type::contiguous(0, &Type::basic(Basic::U8))?;
        Ok(Self::simple(ty, 0, 1))
    }

    /// The same type with a meaning of its own.
    pub(crate) fn meaning(self, meaning: Meaning, fields: &mut FieldNames) -> Result<Self, Error> {
        // Others have the same predefined type.
        let ty = if self.ty.named().is_some() { Type::dup(&self.ty)? } else { self.ty };
        fields.add_meaning(&ty, meaning);
        Ok(Self { ty, ..self })
    }

    /// The same struct or union with its name.
    pub(super) fn named(self, name: &str) -> Self {
        let structure = self.structure.map(|structure| {
            let named = Structure::clone(&structure).named(Some(name.into()));
            Arc::new(named)
        });
        let foreign = self.foreign.as_ref().zip(structure.as_ref()).map(|(of, structure)| {
            let what = What::Structure(Arc::clone(structure));
            Arc::new(Described { name: name.into(), what, ..Described::clone(of) })
        });
        Self { foreign: foreign.or(self.foreign), structure, ..self }
    }

    /// The type in the model of all languages.
    pub fn described(&self) -> Described {
        if let Some(foreign) = &self.foreign {
            return Described::clone(foreign);
        }
        let what = match &self.structure {
            Some(structure) => What::Structure(Arc::clone(structure)),
            None => return described(&self.ty, self.size, self.align),
        };
        let name = self.structure.as_ref().and_then(|structure| structure.name.clone());
        let name = name.unwrap_or_default();
        Described { name, ..Described::new(what, Some(self.size), Some(self.align)) }
    }

    /// An array; `lengths` are those of C and NumPy, the outermost first.
    ///
    /// # Errors
    ///
    /// It has more bytes than a type can have.
    pub fn array(&self, lengths: &[u64]) -> Result<Self, Error> {
        let mut ty = self.ty.clone();
        let mut size = self.size;
        for length in lengths.iter().rev() {
            ty = Type::contiguous(*length, &ty)?;
            size = product(size, *length)?;
        }
        let restriction = self.restriction.clone();
        let array = |of: &Arc<Described>| Arc::new(Described::clone(of).array(lengths.to_vec()));
        let foreign = self.foreign.as_ref().filter(|_| !lengths.is_empty()).map(array);
        let foreign = foreign.or_else(|| self.foreign.clone());
        let others = Arc::clone(&self.others);
        Ok(Self { restriction, foreign, others, ..Self::simple(ty, size, self.align) })
    }

    /// An array in C, each of whose elements must be aligned; a message if that is impossible.
    pub(super) fn elements(&self, lengths: &[u64]) -> Result<Self, String> {
        if lengths.is_empty() {
            return Ok(self.clone());
        }
        if !self.size.is_multiple_of(self.align.max(1)) {
            let Self { size, align, .. } = self;
            return Err(format!(
                "the elements of an array have {size} bytes and alignment {align}"
            ));
        }
        self.array(lengths).map_err(|error| error.to_string())
    }
}

/// A type that is no struct, in the model of all languages.
pub fn described(ty: &Type, size: u64, align: u64) -> Described {
    if let Some(Named::Basic(basic)) = ty.named() {
        return Described::basic(basic);
    }
    let call = ty.call().filter(|call| call.combiner == Combiner::Contiguous);
    if let Some([Argument::Count(length), Argument::Type(element)]) =
        call.as_ref().map(|call| &*call.arguments)
        && let Some(one) = size.checked_div(*length)
    {
        return described(element, one, align).array(vec![*length]);
    }
    let what = if ty.size() == 0 { What::Nothing } else { What::Data(ty.clone()) };
    Described::new(what, Some(size), Some(align))
}

/// A product of sizes.
fn product(size: u64, length: u64) -> Result<u64, Error> {
    match size.checked_mul(length).filter(|all| *all <= MAX_SIZE) {
        Some(all) => Ok(all),
        // To get the constructor's own error.
        None => Type::contiguous(u64::MAX, &Type::basic(Basic::U64)).map(|_| 0),
    }
}

/// Places fields one after another.
#[derive(Debug, Default)]
pub(super) struct Placement {
    /// Bits so far.
    end: u128,
    /// Bits that the longest member of a union takes.
    longest: u128,
    align: u64,
    members: Vec<Member>,
    /// Which values some members have, by their numbers.
    restrictions: Vec<(usize, Arc<Restriction>)>,
    /// Each struct without a name is one of these.
    places: Vec<structure::Member>,
    /// What to report of members that are no data.
    others: Vec<Problem>,
}

impl Placement {
    /// Adds an array of `lengths` elements (a single one if there are no lengths) with this alignment. A gap takes
    /// room but has no data.
    pub(super) fn add(
        &mut self,
        name: Option<String>,
        element: &Layout,
        lengths: &[u64],
        align: u64,
        is_gap: bool,
    ) -> Result<(), Error> {
        let (length, inner) = match lengths.split_first() {
            Some((first, inner)) => (*first, element.array(inner)?),
            None => (1, element.clone()),
        };
        let bytes = product(inner.size, length)?;
        let offset = self.take(bytes, align)?;
        if !is_gap {
            if let Some(values) = &element.restriction {
                self.restrictions.push((self.members.len(), Arc::clone(values)));
            }
            let lengths = lengths.to_vec();
            let of = element.described();
            let of = if lengths.is_empty() { of } else { of.array(lengths) };
            self.place(name.clone(), offset, bytes, align, of);
            self.report(element.others.iter().cloned());
            if element.foreign.is_none() {
                self.members.push(Member { name, offset, element: inner.ty, length });
            }
        }
        Ok(())
    }

    /// Takes this many bytes after those so far, and returns the first one.
    fn take(&mut self, bytes: u64, align: u64) -> Result<u64, Error> {
        let offset = up(self.end.div_ceil(8), align)?;
        self.end = u128::from(product(offset.saturating_add(bytes), 1)?) * 8;
        self.align = self.align.max(align);
        Ok(offset)
    }

    /// Has the next member start at the first byte, as all members of a union do.
    pub(super) fn restart(&mut self) {
        self.longest = self.longest.max(self.end);
        self.end = 0;
    }

    /// Adds a bit-field of `width` bits of an integer. If it is packed, it follows the one before it at once. Without a name, it only
    /// takes room; with a width of 0, it ends the integer.
    pub(super) fn add_bits(
        &mut self,
        name: Option<String>,
        of: &Layout,
        width: u64,
        align: u64,
        is_packed: bool,
    ) -> Result<(), Error> {
        if width == 0 {
            self.end = self.end.next_multiple_of(u128::from(of.align.max(1)) * 8);
            return Ok(());
        }
        let kind = Kind::Bits { first: 0, width, unit: of.size };
        let (size, natural) = (Some(of.size), Some(of.align));
        let (offset, of) = (None, of.described());
        let bits = structure::Member { name, offset, size, align: natural, kind, of, line: None };
        let placed = bits.place(self.end, align.max(1)).filter(|_| !is_packed);
        let place = placed.unwrap_or(self.end..self.end + u128::from(width));
        self.end = place.end;
        // Arm's compilers align a struct also to the types of bit-fields without names.
        if bits.name.is_some() || cfg!(any(target_arch = "aarch64", target_arch = "arm")) {
            self.align = self.align.max(align);
        }
        if bits.name.is_some() {
            let first = (place.start % 8) as u8;
            let offset = Some(up(place.start / 8, 1)?);
            let size = Some((u64::from(first) + width).div_ceil(8));
            let kind = Kind::Bits { first, width, unit: bits.of.size.unwrap_or(0) };
            self.places.push(structure::Member { offset, size, kind, ..bits });
        }
        Ok(())
    }

    /// Keeps what to report of a member that is no data.
    pub(super) fn report(&mut self, problems: impl IntoIterator<Item = Problem>) {
        let room = MAX_PROBLEMS.saturating_sub(self.others.len());
        self.others.extend(problems.into_iter().take(room));
    }

    fn place(&mut self, name: Option<String>, offset: u64, size: u64, align: u64, of: Described) {
        let (offset, size, align) = (Some(offset), Some(size), Some(align.max(1)));
        let is_open = matches!(of.what, What::Open(_));
        let kind = if is_open { Kind::Open } else { Kind::Field };
        self.places.push(structure::Member { name, offset, size, align, kind, of, line: None });
    }

    /// Adds a struct without a name: its fields become fields of this one.
    pub(super) fn splice(&mut self, inner: &Layout, align: u64) -> Result<(), Error> {
        let offset = self.take(inner.size, align)?;
        self.place(None, offset, inner.size, align, inner.described());
        self.report(inner.others.iter().cloned());
        let members = inner.members.iter().cloned();
        self.members.extend(
            members.map(|member| Member { offset: member.offset.saturating_add(offset), ..member }),
        );
        Ok(())
    }

    /// The struct, aligned to at least `align`.
    pub(super) fn finish(self, align: u64, names: &mut FieldNames) -> Result<Layout, Error> {
        let (size, align) = self.size(align)?;
        let structure = Structure::new(Some(size), Some(align), self.places);
        let layout = self::structure(self.members, size, align, names)?;
        for (member, values) in self.restrictions {
            names.restrict(&layout.ty, member, values);
        }
        let structure = Some(Arc::new(structure));
        Ok(Layout { structure, others: self.others.into(), ..layout })
    }

    /// The union, aligned to at least `align`. It is no data.
    pub(super) fn finish_union(
        mut self,
        align: u64,
        names: &mut FieldNames,
    ) -> Result<Layout, Error> {
        self.restart();
        self.end = self.longest;
        let (size, align) = self.size(align)?;
        let union = Structure::new(Some(size), Some(align), self.places).in_form(Form::Union);
        let union = Arc::new(union);
        let what = What::Structure(Arc::clone(&union));
        let foreign = Some(Arc::new(Described::new(what, Some(size), Some(align))));
        let layout = structure(Vec::new(), size, align, names)?;
        Ok(Layout { structure: Some(union), foreign, ..layout })
    }

    /// The size and the alignment, which is at least `align`.
    fn size(&self, align: u64) -> Result<(u64, u64), Error> {
        let align = self.align.max(align).max(1);
        Ok((up(self.end.div_ceil(8), align)?, align))
    }
}

/// The first multiple of `align` from `end` on.
fn up(end: u128, align: u64) -> Result<u64, Error> {
    let first = end.checked_next_multiple_of(u128::from(align.max(1)));
    product(first.and_then(|first| u64::try_from(first).ok()).unwrap_or(u64::MAX), 1)
}

/// A struct with its fields at given displacements.
///
/// # Errors
///
/// What the constructors refuse, such as a displacement beyond the greatest size.
pub fn structure(
    members: Vec<Member>,
    size: u64,
    align: u64,
    names: &mut FieldNames,
) -> Result<Layout, Error> {
    let blocks = members.iter().map(|member| {
        let Member { name, offset, element, length } = member.clone();
        let displacement = product(offset, 1)?.cast_signed();
        Ok(Block { name, length, displacement, ty: element })
    });
    let built = names.structure(blocks.collect::<Result<_, Error>>()?)?;
    let extent = product(size, 1)?.cast_signed();
    let is_whole = built.lb() == 0 && built.extent() == extent;
    let ty = if is_whole { built } else { Type::resized(&built, 0, extent)? };
    Ok(Layout { members: members.into(), ..Layout::simple(ty, size, align) })
}

/// Whether a field's name marks it as a gap.
pub(super) fn is_gap(name: &str) -> bool {
    name.starts_with("_pad") || name.starts_with("__pad")
}
