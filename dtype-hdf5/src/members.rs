//! Values of an enumeration whose members have other numbers in the dataset than in the records.

use std::collections::BTreeMap;
use std::fmt::Write;

use dtype_runtime::representation::ByteOrder;

use crate::error::Error;

/// Where the values of an enumeration are in an item, and what they become.
#[derive(Debug)]
pub(crate) struct Renumbering {
    /// The path of the field.
    pub(crate) path: String,
    /// Bytes from the start of the item to the first value.
    pub(crate) displacement: usize,
    /// The arrays that the field is in, the outermost first.
    pub(crate) axes: Vec<Axis>,
    /// Bytes of a value.
    pub(crate) size: usize,
    /// The byte order of the values in the item.
    pub(crate) order: ByteOrder,
    /// The number that each number becomes. A number that is not in the map has no name.
    pub(crate) numbers: BTreeMap<u128, u128>,
}

/// An axis of an array in an item.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) length: usize,
    /// Bytes from one element to the next.
    pub(crate) stride: usize,
    /// The length of the path of the array, where an index belongs.
    pub(crate) path: usize,
}

impl Renumbering {
    /// Replaces the numbers in items of `extent` bytes.
    pub(crate) fn apply(&self, items: &mut [u8], extent: usize) -> Result<(), Error> {
        let mut indexes = Vec::new();
        for (record, item) in items.chunks_exact_mut(extent.max(1)).enumerate() {
            let unnamed = self.replace(item, self.displacement, &self.axes, &mut indexes);
            if let Err(value) = unnamed {
                return Err(Error::Unnamed { record, field: self.path_of(&indexes), value });
            }
        }
        Ok(())
    }

    /// Replaces the numbers of the arrays from `displacement` on. An error is a number without a name, and the indexes are then
    /// those of its place.
    fn replace(
        &self,
        item: &mut [u8],
        displacement: usize,
        axes: &[Axis],
        indexes: &mut Vec<usize>,
    ) -> Result<(), u128> {
        let Some((axis, inner)) = axes.split_first() else {
            // The datatype of the item was checked: everything lies in it.
            let bytes = &mut item[displacement..][..self.size];
            let value = number(bytes, self.order);
            let new = self.numbers.get(&value).ok_or(value)?;
            set_number(bytes, self.order, *new);
            return Ok(());
        };
        for index in 0..axis.length {
            indexes.push(index);
            self.replace(item, displacement + index * axis.stride, inner, indexes)?;
            indexes.pop();
        }
        Ok(())
    }

    /// The path of a value, with the indexes of arrays.
    fn path_of(&self, indexes: &[usize]) -> String {
        let (mut path, mut end) = (String::new(), 0);
        for (axis, index) in self.axes.iter().zip(indexes) {
            path.push_str(&self.path[end..axis.path]);
            end = axis.path;
            // Writing to a string does not fail.
            let _ = write!(path, "[{index}]");
        }
        path + &self.path[end..]
    }
}

/// The number of at most 16 bytes, zero-extended.
pub(crate) fn number(bytes: &[u8], order: ByteOrder) -> u128 {
    let append = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
    match order {
        ByteOrder::Big => bytes.iter().fold(0, append),
        ByteOrder::Little => bytes.iter().rev().fold(0, append),
    }
}

/// Writes the number into all of `bytes`.
fn set_number(bytes: &mut [u8], order: ByteOrder, number: u128) {
    let mut rest = number.to_le_bytes().into_iter();
    let fill = |byte: &mut u8| *byte = rest.next().unwrap_or(0);
    match order {
        ByteOrder::Little => bytes.iter_mut().for_each(fill),
        ByteOrder::Big => bytes.iter_mut().rev().for_each(fill),
    }
}
