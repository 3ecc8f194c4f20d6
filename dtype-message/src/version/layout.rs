//! The layout of packed records, from the text of a schema that a peer has sent.

use std::collections::{BTreeMap, BTreeSet};

use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::MAX_DEPTH;
use dtype_runtime::{Basic, Type, TypeMap};
use dtype_stored::{Access, Item, Misfit, Number, NumberKind, StoredField, Text, Value};

use crate::compare::{Enumeration, shown};
use crate::schema::{type_of, without_values};

/// The longest schema of which a layout is made, in bytes: for a moment, a layout takes many times its text, and its fields are
/// compared with one another.
const MAX_LEN: usize = 16 * 1024;

/// The layout of a part of a packed record.
pub(super) enum Layout<'a> {
    /// A value: its basic datatype, the name of its type, the text of the whole field's type, and the byte order.
    Leaf(Basic, &'a str, &'a str, ByteOrder),
    Array(u64, Box<Self>),
    /// The fields: their names and places.
    Structure(Vec<(&'a str, u64, Self)>),
}

impl<'a> Layout<'a> {
    /// The layout of records with this schema in a byte order; `None` if it is no schema of a type.
    pub(super) fn of_schema(schema: &'a str, order: ByteOrder) -> Option<Self> {
        if schema.len() > MAX_LEN {
            return None;
        }
        let fields = schema.lines().skip(1).map(|line| line.split_once(": "));
        Self::of_fields(&fields.collect::<Option<Vec<_>>>()?, order, 0)
    }

    /// The layout of what these paths lead through.
    fn of_fields(fields: &[(&'a str, &'a str)], order: ByteOrder, depth: u32) -> Option<Self> {
        if depth > MAX_DEPTH {
            return None;
        }
        match fields {
            [("", ty)] => return Self::of_type(without_values(ty), ty, order, depth),
            [(path, _), ..] if path.starts_with('[') => {
                let (axis, _) = path.split_once(']')?;
                let rest = fields.iter().map(|(path, ty)| {
                    let rest = path.strip_prefix(axis)?.strip_prefix(']')?;
                    Some((rest.strip_prefix('.').unwrap_or(rest), *ty))
                });
                let rest = rest.collect::<Option<Vec<_>>>()?;
                let element = Self::of_fields(&rest, order, depth + 1)?;
                return Self::array(axis.strip_prefix("[0..")?, element);
            }
            _ => {}
        }
        let (mut members, mut offset, mut rest) = (Vec::new(), 0_u64, fields);
        while let Some((path, _)) = rest.first() {
            let name = &path[..path.find(['.', '[']).unwrap_or(path.len())];
            let after = |path: &'a str| {
                let after = path.strip_prefix(name)?;
                let is_end = after.is_empty() || after.starts_with(['.', '[']);
                is_end.then(|| after.strip_prefix('.').unwrap_or(after))
            };
            let inside = rest.iter().map_while(|(path, ty)| Some((after(path)?, *ty)));
            let inside: Vec<_> = inside.collect();
            rest = &rest[inside.len()..];
            let member = Self::of_fields(&inside, order, depth + 1)?;
            let size = member.bytes()?;
            members.push((name, offset, member));
            offset = offset.checked_add(size)?;
        }
        Some(Self::Structure(members))
    }

    /// The layout of a leaf, or of an array of leaves.
    fn of_type(name: &'a str, ty: &'a str, order: ByteOrder, depth: u32) -> Option<Self> {
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some(array) = name.strip_prefix('[').and_then(|array| array.strip_suffix(']')) {
            let (element, length) = array.rsplit_once("; ")?;
            return Self::array(length, Self::of_type(element, ty, order, depth + 1)?);
        }
        let is_time = (name.starts_with("Timestamp<") || name.starts_with("TimeSpan<"))
            && name.ends_with('>');
        let basic = match Enumeration::of(ty) {
            Some(variants) => variants.basic,
            None if is_time => "i64",
            None => name,
        };
        let basic = Basic::ALL.iter().find(|known| known.canonical().name() == basic)?;
        Some(Self::Leaf(*basic, name, ty, order))
    }

    fn array(length: &str, element: Self) -> Option<Self> {
        let length: u64 = length.parse().ok()?;
        length.checked_mul(element.bytes()?)?;
        Some(Self::Array(length, Box::new(element)))
    }

    fn bytes(&self) -> Option<u64> {
        match self {
            Self::Leaf(basic, ..) => Some(basic.size() as u64),
            Self::Array(length, element) => length.checked_mul(element.bytes()?),
            Self::Structure(members) => {
                members.last().map_or(Some(0), |(_, at, last)| at.checked_add(last.bytes()?))
            }
        }
    }

    /// The datatype of a packed record.
    pub(super) fn ty(&self) -> Option<Type> {
        match self {
            Self::Leaf(basic, ..) => Some(Type::basic(*basic)),
            Self::Array(length, element) => Type::contiguous(*length, &element.ty()?).ok(),
            Self::Structure(members) => {
                let types = members.iter().map(|(.., member)| member.ty());
                let types = types.collect::<Option<Vec<_>>>()?;
                let places = members.iter().map(|(_, at, _)| i64::try_from(*at).ok());
                let places = places.collect::<Option<Vec<_>>>()?;
                Type::structure(&vec![1; types.len()], &places, &types).ok()
            }
        }
    }
}

/// The sender's records are read as the items of a file are.
impl Item for Layout<'_> {
    type Error = Misfit;

    const STRUCTURE: &'static str = "a structure";

    fn size(&self) -> u64 {
        // `of_schema` has computed it.
        self.bytes().unwrap_or(0)
    }

    fn axes(&self) -> (Vec<u64>, &Self) {
        let (mut lengths, mut element) = (Vec::new(), self);
        while let Self::Array(length, inner) = element {
            lengths.push(*length);
            element = inner;
        }
        (lengths, element)
    }

    fn fields(&self) -> Option<Vec<StoredField<'_, Self>>> {
        let Self::Structure(members) = self else { return None };
        Some(
            members
                .iter()
                .map(|(name, offset, item)| StoredField { name, offset: *offset, item })
                .collect(),
        )
    }

    fn value(&self, leaf: &TypeMap, path: &str, _: Access) -> Result<Option<Value>, Misfit> {
        let ours = type_of(leaf);
        let format = || Misfit::Format {
            field: path.to_owned(),
            expected: Self::expected(leaf),
            actual: self.describe(),
        };
        let Self::Leaf(basic, name, ty, order) = self else { return Err(format()) };
        let order = (basic.size() > 1).then_some(*order);
        match (Enumeration::of(&ours), Enumeration::of(ty)) {
            (Some(here), Some(there)) if here.basic == there.basic => {
                Ok(Some(Value { order, renumbered: renumbered(&here, &there, basic.size()) }))
            }
            (None, None) if without_values(&ours) == *name => {
                Ok(Some(Value { order, renumbered: None }))
            }
            (None, None) if self.is_narrower_than(without_values(&ours)) => Ok(None),
            _ => Err(format()),
        }
    }

    fn text(&self) -> Option<Text> {
        None
    }

    fn number(&self, _leaf: &TypeMap) -> Option<Number> {
        self.as_number()
    }

    fn describe(&self) -> String {
        match self {
            Self::Leaf(_, name, ..) => shown(name),
            Self::Array(length, element) => format!("[{}; {length}]", element.describe()),
            Self::Structure(_) => Self::STRUCTURE.to_owned(),
        }
    }

    fn expected(leaf: &TypeMap) -> String {
        without_values(&type_of(leaf)).to_owned()
    }
}

/// The number format of a basic datatype. A truth value and a character are no numbers here: whoever makes one of the other has
/// changed its meaning.
fn number(basic: Basic, order: ByteOrder) -> Option<Number> {
    Number::of(basic, order).filter(|_| !matches!(basic, Basic::Bool | Basic::Char))
}

impl Layout<'_> {
    fn as_number(&self) -> Option<Number> {
        match self {
            Self::Leaf(basic, name, _, order) if *name == basic.canonical().name() => {
                number(*basic, *order)
            }
            _ => None,
        }
    }

    /// Whether each number of this type is one of another basic datatype, of the same kind of number.
    fn is_narrower_than(&self, other: &str) -> bool {
        let other = Basic::ALL.iter().find(|basic| basic.name() == other);
        let other = other.and_then(|basic| number(*basic, ByteOrder::NATIVE));
        let numbers = self.as_number().zip(other);
        numbers.is_some_and(|(here, there)| match (here.kind, there.kind) {
            (NumberKind::Signed, NumberKind::Unsigned) => false,
            (NumberKind::Float, kind) | (kind, NumberKind::Float) => {
                kind == NumberKind::Float && here.kind == there.kind && here.size < there.size
            }
            _ => here.size < there.size,
        })
    }
}

/// The number here of each number there, by the names of the variants, if a number means another variant here. Otherwise it is
/// enough that the values are checked.
fn renumbered(
    here: &Enumeration<'_>,
    there: &Enumeration<'_>,
    size: usize,
) -> Option<BTreeMap<u128, u128>> {
    let mask = u128::MAX >> (128 - 8 * size);
    let number = |text: &str| {
        let signed = text.parse::<i128>().map(i128::cast_unsigned);
        signed.or_else(|_| text.parse()).ok().map(|number| number & mask)
    };
    let (ours, theirs) = (here.variants(), there.variants());
    let taken: BTreeSet<_> = ours.in_order().filter_map(|(_, text)| number(text)).collect();
    let theirs = theirs.in_order().filter_map(|(name, text)| Some((name, number(text)?)));
    let pairs: Vec<_> =
        theirs.map(|(name, there)| (there, ours.get(name).and_then(number))).collect();
    let is_other = |(there, here): &(u128, Option<u128>)| match here {
        Some(here) => here != there,
        None => taken.contains(there),
    };
    let common = || pairs.iter().filter_map(|(there, here)| Some((*there, (*here)?)));
    pairs.iter().any(is_other).then(|| common().collect())
}
