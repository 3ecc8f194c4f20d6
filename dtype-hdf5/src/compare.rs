//! Compares a file's datatype with a type map: the values of a leaf.

use std::collections::BTreeMap;

use dtype_runtime::Validity;
use dtype_runtime::typemap::{Node, TypeMap};
use dtype_stored::{Access, Item, Misfit, Number, NumberKind, StoredField as Member, Text, Value};

use crate::error::Error;
use crate::leaf::Leaf;
use crate::stored::{Form, Stored, StoredField};

impl Item for Stored {
    type Error = Error;

    const STRUCTURE: &'static str = "a compound";

    fn size(&self) -> u64 {
        self.size
    }

    fn axes(&self) -> (Vec<u64>, &Self) {
        Self::axes(self)
    }

    fn fields(&self) -> Option<Vec<Member<'_, Self>>> {
        let Form::Compound(fields) = &self.form else { return None };
        Some(fields.iter().map(member).collect())
    }

    fn value(&self, leaf: &TypeMap, path: &str, access: Access) -> Result<Option<Value>, Error> {
        let Node::Basic { basic, validity, .. } = *leaf.node() else { return Ok(None) };
        let no_equivalent = || Error::NoEquivalent { field: path.to_owned(), basic };
        let of_basic = Leaf::from_basic(basic).ok_or_else(no_equivalent)?;
        let ours = names(validity);
        // A truth value does not match an integer without names.
        if !of_basic.matches(self) || self.is_bool() && ours.is_none() {
            return Ok(None);
        }
        let order = self.order();
        let (Form::Enumeration { members, .. }, Some(ours)) = (&self.form, ours) else {
            return Ok(Some(Value { order, renumbered: None }));
        };
        let numbers = numbers(&ours, members, access, path)?;
        // If the dataset has fewer names, a number without a name may still be that of a variant.
        let is_renumbered =
            numbers.iter().any(|(from, to)| from != to) || numbers.len() < ours.len();
        Ok(Some(Value { order, renumbered: is_renumbered.then_some(numbers) }))
    }

    fn text(&self) -> Option<Text> {
        match self.form {
            Form::Text { end } => Some(Text::Bytes { size: usize::try_from(self.size).ok()?, end }),
            Form::VariableText => Some(Text::Index),
            _ => None,
        }
    }

    fn number(&self, leaf: &TypeMap) -> Option<Number> {
        let has_names =
            matches!(*leaf.node(), Node::Basic { validity, .. } if names(validity).is_some());
        let (kind, order) = match self.form {
            // Names are compared with names only, and an integer without names with the number.
            Form::Enumeration { .. } if has_names || self.is_bool() => return None,
            Form::Integer { signed: true, order }
            | Form::Enumeration { signed: true, order, .. } => (NumberKind::Signed, order),
            Form::Integer { order, .. }
            | Form::Enumeration { order, .. }
            | Form::Bits { order } => (NumberKind::Unsigned, order),
            Form::Float { order } => (NumberKind::Float, order),
            _ => return self.time(),
        };
        let is_known = match kind {
            NumberKind::Float => matches!(self.size, 2 | 4 | 8),
            _ => self.size <= 8,
        };
        let size = usize::try_from(self.size).ok().filter(|_| is_known)?;
        Some(Number { kind, size, order, time: None })
    }

    fn describe(&self) -> String {
        self.to_string()
    }

    fn expected(leaf: &TypeMap) -> String {
        match *leaf.node() {
            Node::Basic { basic, .. } => {
                Leaf::from_basic(basic).map_or_else(|| basic.to_string(), |leaf| leaf.to_string())
            }
            _ => leaf.to_string(),
        }
    }
}

fn member(field: &StoredField) -> Member<'_, Stored> {
    Member { name: &field.name, offset: field.offset, item: &field.datatype }
}

impl From<Misfit> for Error {
    fn from(misfit: Misfit) -> Self {
        match misfit {
            Misfit::Missing { field } => Self::Missing { field },
            Misfit::Unknown { field } => Self::Unknown { field },
            Misfit::Format { field, expected, actual } => Self::Format { field, expected, actual },
            Misfit::Shape { field, expected, actual } => Self::Shape { field, expected, actual },
            Misfit::MixedByteOrder { field } => Self::MixedByteOrder { field },
            Misfit::Malformed { field } => Self::Malformed { field },
        }
    }
}

/// The number that each number of an enumeration becomes. Each name on the side of the source must exist on the other side: for
/// a value whose name does not, the library itself would make up another number.
fn numbers(
    ours: &BTreeMap<&str, u128>,
    theirs: &BTreeMap<String, u128>,
    access: Access,
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
    match access {
        Access::Read => theirs.iter().map(read).collect(),
        Access::Write => ours.iter().map(written).collect(),
    }
}

/// The names and numbers of the values, if they have names.
fn names(validity: Validity) -> Option<BTreeMap<&'static str, u128>> {
    match validity {
        Validity::Enum(set) => {
            Some(set.names().iter().copied().zip(set.values().iter().copied()).collect())
        }
        Validity::Bool => Some(BTreeMap::from([("FALSE", 0), ("TRUE", 1)])),
        // The number of an integer does not depend on its name.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use dtype_runtime::Datatype;
    use dtype_runtime::representation::ByteOrder;
    use dtype_stored::{Fit, ReadOptions};

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

    fn fit<T: Datatype>(stored: &Stored) -> Result<Fit<T>, Error> {
        Fit::new(stored, Access::Read, ReadOptions::strict())
    }

    #[test]
    fn only_records_without_gaps_in_their_order_are_packed() {
        type Record = (u8, u32, [(u8, u16); 2]);
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
            fit::<Record>(&compound(&fields, size)).unwrap()
        };
        assert!(whole([0, 1, 5], &pair, 11).is_packed());
        assert!(!whole([0, 1, 5], &pair, 12).is_packed());
        assert!(!whole([4, 0, 5], &pair, 11).is_packed());
        assert!(!whole([0, 1, 5], &loose, 13).is_packed());
        let loose = whole([0, 4, 8], &loose, 16);
        let item = loose.item_type().unwrap();
        assert_eq!((item.size(), item.extent(), loose.order()), (11, 16, ByteOrder::Big));
    }

    #[test]
    fn offsets_and_lengths_beyond_memory_are_errors() {
        let far = compound(&[("0", u64::MAX, integer(1))], u64::MAX);
        assert!(matches!(fit::<(u8,)>(&far), Err(Error::Malformed { .. })));
        let large = compound(&[("0", 0, integer(1))], u64::MAX);
        assert!(matches!(fit::<(u8,)>(&large), Err(Error::Malformed { .. })));
    }
}
