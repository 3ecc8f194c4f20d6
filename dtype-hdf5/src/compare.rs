//! A file's datatype beside a type map, field by field.

use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Field, Node, TypeMap};
use dtype_runtime::{Basic, Type};

use crate::error::Error;
use crate::leaf::Leaf;
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
    /// Whether an item is a packed record, up to the byte order.
    pub(crate) is_packed: bool,
}

/// Compares the datatype of an item with a Rust type.
pub(crate) fn fit(stored: &Stored, map: &TypeMap) -> Result<Fit, Error> {
    let mut walk = Walk { order: None, is_packed: true };
    let item = walk.item(stored, map, "")?;
    let order = walk.order.unwrap_or(ByteOrder::NATIVE);
    Ok(Fit { item, order, is_packed: walk.is_packed })
}

struct Walk {
    /// That of the values so far.
    order: Option<ByteOrder>,
    /// Whether the values so far are packed.
    is_packed: bool,
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
        let one = match *element.node() {
            Node::Basic { basic, .. } => self.value(item, basic, path)?,
            Node::Structure { fields, .. } => self.structure(item, fields, path)?,
            _ => return Err(Error::Malformed { field: path.to_owned() }),
        };
        if expected.is_empty() {
            return Ok(one);
        }
        let count = expected.iter().try_fold(1_u64, |all, length| all.checked_mul(*length));
        let malformed = || Error::Malformed { field: path.to_owned() };
        Ok(Type::contiguous(count.ok_or_else(malformed)?, &one)?)
    }

    fn value(&mut self, stored: &Stored, basic: Basic, path: &str) -> Result<Type, Error> {
        let field = || path.to_owned();
        let leaf = Leaf::of(basic).ok_or_else(|| Error::NoEquivalent { field: field(), basic })?;
        if !leaf.matches(stored) {
            let (expected, actual) = (leaf.to_string(), stored.to_string());
            return Err(Error::Format { field: field(), expected, actual });
        }
        match stored.order() {
            Some(order) if *self.order.get_or_insert(order) != order => {
                Err(Error::MixedByteOrder { field: field() })
            }
            _ => Ok(Type::basic(basic)),
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
        for (name, map) in ours() {
            let path = joined(path, name);
            let is_it = |their: &&StoredField| their.name == name;
            let Some(their) = theirs.iter().find(is_it) else {
                return Err(Error::Missing { field: path });
            };
            self.is_packed &= their.offset == position;
            position += map.size() as u64;
            types.push(self.item(&their.datatype, map, &path)?);
            let malformed = |_| Error::Malformed { field: path };
            displacements.push(i64::try_from(their.offset).map_err(malformed)?);
        }
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
            fit(&compound(&fields, size), map).unwrap()
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
        assert!(matches!(fit(&far, <(u8,)>::TYPE_MAP), Err(Error::Malformed { .. })));
        let large = compound(&[("0", 0, integer(1))], u64::MAX);
        assert!(matches!(fit(&large, <(u8,)>::TYPE_MAP), Err(Error::Malformed { .. })));
    }
}
