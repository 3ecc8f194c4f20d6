//! A file's datatype beside a type map, field by field.

use std::collections::BTreeMap;

use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Field, Node, TypeMap};
use dtype_runtime::{Basic, Type, Validity};

use crate::error::Error;
use crate::leaf::Leaf;
use crate::members::{Axis, Renumbering};
use crate::path::joined;
use crate::stored::{Form, Stored, StoredField};

/// A file's datatype whose items hold the fields of a Rust type, wherever they are.
#[derive(Debug)]
pub(crate) struct Fit {
    /// An item as a datatype: the values in the order of the packed records, at their displacements in the item, with the
    /// item's extent.
    pub(crate) item: Type,
    /// The byte order of the values.
    pub(crate) order: ByteOrder,
    /// Whether an item is a packed record, up to the byte order and the numbers of enumerations.
    pub(crate) is_packed: bool,
    /// The enumerations whose numbers differ.
    pub(crate) renumberings: Vec<Renumbering>,
}

/// Whether items are read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Compares the datatype of an item with a Rust type.
pub(crate) fn fit(stored: &Stored, map: &TypeMap, access: Access) -> Result<Fit, Error> {
    let mut walk = Walk {
        access,
        order: None,
        is_packed: true,
        displacement: 0,
        axes: Vec::new(),
        renumberings: Vec::new(),
    };
    let item = walk.item(stored, map, "")?;
    let order = walk.order.unwrap_or(ByteOrder::NATIVE);
    Ok(Fit { item, order, is_packed: walk.is_packed, renumberings: walk.renumberings })
}

struct Walk {
    access: Access,
    /// The byte order of the values so far.
    order: Option<ByteOrder>,
    /// Whether the values so far are packed.
    is_packed: bool,
    /// Bytes from the start of the item to the value or structure; in arrays, to the first one.
    displacement: u64,
    /// The arrays around the value, the outermost first.
    axes: Vec<Axis>,
    renumberings: Vec<Renumbering>,
}

impl Walk {
    fn item(&mut self, stored: &Stored, map: &TypeMap, path: &str) -> Result<Type, Error> {
        let (mut expected, mut element) = (Vec::new(), map);
        while let Node::Array { count, element: inner } = *element.node() {
            expected.push(count as u64);
            element = inner;
        }
        let (actual, item) = stored.axes();
        if expected != actual {
            return Err(Error::Shape { field: path.to_owned(), expected, actual });
        }
        let malformed = || Error::Malformed { field: path.to_owned() };
        let (count, axes) = axes(&expected, item.size, path.len()).ok_or_else(malformed)?;
        let outer = self.axes.len();
        self.axes.extend(axes);
        let one = match *element.node() {
            Node::Basic { basic, validity, .. } => self.value(item, basic, validity, path)?,
            Node::Structure { fields, .. } => self.structure(item, fields, path)?,
            Node::Array { .. } => return Err(malformed()),
        };
        self.axes.truncate(outer);
        if expected.is_empty() { Ok(one) } else { Ok(Type::contiguous(count, &one)?) }
    }

    fn value(
        &mut self,
        stored: &Stored,
        basic: Basic,
        validity: Validity,
        path: &str,
    ) -> Result<Type, Error> {
        let field = || path.to_owned();
        let leaf =
            Leaf::from_basic(basic).ok_or_else(|| Error::NoEquivalent { field: field(), basic })?;
        let ours = names(validity);
        // A truth value is no integer without names.
        if !leaf.matches(stored) || stored.is_bool() && ours.is_none() {
            let (expected, actual) = (leaf.to_string(), stored.to_string());
            return Err(Error::Format { field: field(), expected, actual });
        }
        if let (Form::Enumeration { members, order, .. }, Some(ours)) = (&stored.form, ours) {
            let numbers = self.numbers(&ours, members, path)?;
            // With fewer names, a number of the dataset that has none may still be a variant's.
            if numbers.iter().any(|(from, to)| from != to) || numbers.len() < ours.len() {
                let malformed = |_| Error::Malformed { field: field() };
                self.renumberings.push(Renumbering {
                    path: field(),
                    displacement: usize::try_from(self.displacement).map_err(malformed)?,
                    axes: self.axes.clone(),
                    size: basic.size(),
                    order: *order,
                    numbers,
                });
            }
        }
        match stored.order() {
            Some(order) if *self.order.get_or_insert(order) != order => {
                Err(Error::MixedByteOrder { field: field() })
            }
            _ => Ok(Type::basic(basic)),
        }
    }

    /// The number that each number of an enumeration becomes. Each name where values come from must be known where they go: the
    /// library itself makes another number of a value whose name is not.
    fn numbers(
        &self,
        ours: &BTreeMap<&str, u128>,
        theirs: &BTreeMap<String, u128>,
        path: &str,
    ) -> Result<BTreeMap<u128, u128>, Error> {
        let field = || path.to_owned();
        let read = |(member, number): (&String, &u128)| match ours.get(&**member) {
            Some(new) => Ok((*number, *new)),
            None => Err(Error::UnknownMember {
                field: field(),
                member: member.clone(),
                expected: ours.keys().map(|name| (*name).to_owned()).collect(),
            }),
        };
        let written = |(member, number): (&&str, &u128)| match theirs.get(*member) {
            Some(new) => Ok((*number, *new)),
            None => Err(Error::MissingMember { field: field(), member: (*member).to_owned() }),
        };
        match self.access {
            Access::Read => theirs.iter().map(read).collect(),
            Access::Write => ours.iter().map(written).collect(),
        }
    }

    fn structure(&mut self, stored: &Stored, fields: &[Field], path: &str) -> Result<Type, Error> {
        let Form::Compound(theirs) = &stored.form else {
            let (expected, actual) = ("a compound".to_owned(), stored.to_string());
            return Err(Error::Format { field: path.to_owned(), expected, actual });
        };
        let ours = || {
            fields
                .iter()
                .filter_map(|field| Some((field.name(), field.map()?)))
                .filter(|(_, map)| map.size() > 0)
        };
        let (mut displacements, mut types, mut position) = (Vec::new(), Vec::new(), 0);
        let start = self.displacement;
        for (name, map) in ours() {
            let path = joined(path, name);
            let is_it = |their: &&StoredField| their.name == name;
            let Some(their) = theirs.iter().find(is_it) else {
                return Err(Error::Missing { field: path });
            };
            self.is_packed &= their.offset == position;
            position += map.size() as u64;
            let malformed = || Error::Malformed { field: path.clone() };
            displacements.push(i64::try_from(their.offset).map_err(|_| malformed())?);
            self.displacement = start.checked_add(their.offset).ok_or_else(malformed)?;
            types.push(self.item(&their.datatype, map, &path)?);
        }
        self.displacement = start;
        // As many, and each of ours is there: no other is, unless a name is there twice.
        if theirs.len() != types.len() {
            let is_ours = |name: &str| ours().any(|(field, _)| field == name);
            let unknown = theirs.iter().enumerate().find(|(i, their)| {
                !is_ours(&their.name) || theirs[..*i].iter().any(|before| before.name == their.name)
            });
            let field = joined(path, unknown.map_or("", |(_, their)| &their.name));
            return Err(Error::Unknown { field });
        }
        self.is_packed &= stored.size == position;
        let malformed = |_| Error::Malformed { field: path.to_owned() };
        let extent = i64::try_from(stored.size).map_err(malformed)?;
        let all = Type::structure(&vec![1; types.len()], &displacements, &types)?;
        Ok(Type::resized(&all, 0, extent)?)
    }
}

/// The names and numbers of the values, if names say what they mean.
fn names(validity: Validity) -> Option<BTreeMap<&'static str, u128>> {
    match validity {
        Validity::Enum(set) => {
            Some(set.names().iter().copied().zip(set.values().iter().copied()).collect())
        }
        Validity::Bool => Some(BTreeMap::from([("FALSE", 0), ("TRUE", 1)])),
        // An integer is the number, whatever its name is.
        _ => None,
    }
}

/// The number of elements of an array in the item, and its axes, the outermost first.
fn axes(lengths: &[u64], element: u64, path: usize) -> Option<(u64, Vec<Axis>)> {
    let (mut count, mut all) = (1_u64, Vec::new());
    for length in lengths.iter().rev() {
        let stride = usize::try_from(element.checked_mul(count)?).ok()?;
        all.push(Axis { length: usize::try_from(*length).ok()?, stride, path });
        count = count.checked_mul(*length)?;
    }
    all.reverse();
    Some((count, all))
}

#[cfg(test)]
mod tests {
    use dtype_runtime::Datatype;

    use super::*;

    fn integer(size: u64) -> Stored {
        Stored { form: Form::Integer { signed: false, order: ByteOrder::Big }, size }
    }

    fn compound(fields: &[(&str, u64, Stored)], size: u64) -> Stored {
        let fields = fields.iter().map(|(name, offset, datatype)| StoredField {
            name: (*name).to_owned(),
            offset: *offset,
            datatype: datatype.clone(),
        });
        Stored { form: Form::Compound(fields.collect()), size }
    }

    #[test]
    fn only_records_without_gaps_in_their_order_are_packed() {
        let map = <(u8, u32, [(u8, u16); 2])>::TYPE_MAP;
        let pairs = |pair: Stored| {
            let size = 2 * pair.size;
            Stored { form: Form::Array { lengths: vec![2], element: Box::new(pair) }, size }
        };
        let pair = compound(&[("0", 0, integer(1)), ("1", 1, integer(2))], 3);
        let loose = compound(&[("0", 0, integer(1)), ("1", 2, integer(2))], 4);
        let whole = |at: [u64; 3], pair: &Stored, size| {
            let fields = [
                ("0", at[0], integer(1)),
                ("1", at[1], integer(4)),
                ("2", at[2], pairs(pair.clone())),
            ];
            fit(&compound(&fields, size), map, Access::Read).unwrap()
        };
        assert!(whole([0, 1, 5], &pair, 11).is_packed);
        assert!(!whole([0, 1, 5], &pair, 12).is_packed);
        assert!(!whole([4, 0, 5], &pair, 11).is_packed);
        assert!(!whole([0, 1, 5], &loose, 13).is_packed);
        let loose = whole([0, 4, 8], &loose, 16);
        assert_eq!((loose.item.size(), loose.item.extent(), loose.order), (11, 16, ByteOrder::Big));
    }

    #[test]
    fn offsets_and_lengths_beyond_memory_are_errors() {
        let far = compound(&[("0", u64::MAX, integer(1))], u64::MAX);
        assert!(matches!(fit(&far, <(u8,)>::TYPE_MAP, Access::Read), Err(Error::Malformed { .. })));
        let large = compound(&[("0", 0, integer(1))], u64::MAX);
        assert!(matches!(
            fit(&large, <(u8,)>::TYPE_MAP, Access::Read),
            Err(Error::Malformed { .. })
        ));
    }
}
