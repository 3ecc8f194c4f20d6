//! Makes arrays of Arrow from the leaves of columns.

use std::str;
use std::sync::Arc;

use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, Field, Fields, TimeUnit as ArrowUnit};

use crate::{ArrowError, list_of, take_column, value_type};
use dtype_runtime::typemap::{self, Meaning, Node, TimeUnit, TypeMap};
use dtype_runtime::{Basic, Columns, Datatype};

/// An array, and whether it may have nulls.
pub(crate) struct Made {
    pub(crate) array: ArrayRef,
    pub(crate) nullable: bool,
}

/// The leaves of columns that are not in an array yet, in their order.
pub(crate) struct Writing {
    leaves: std::vec::IntoIter<Buffer>,
}

impl Writing {
    pub(crate) fn new<T: Datatype>(mut columns: Columns<T>) -> Result<Self, ArrowError> {
        let leaves = Columns::<T>::all_fields()
            .enumerate()
            .map(|(index, field)| Ok(take_column(&mut columns, index, field.basic.align())?));
        Ok(Self { leaves: leaves.collect::<Result<Vec<_>, ArrowError>>()?.into_iter() })
    }

    /// The values of a map inside arrays of these lengths, for `records` records.
    pub(crate) fn lists(
        &mut self,
        map: &TypeMap,
        lengths: &[usize],
        count: usize,
        path: &str,
    ) -> Result<Made, ArrowError> {
        let Some((length, inner)) = lengths.split_first() else {
            return self.values(map, count, path);
        };
        let made = self.lists(map, inner, count.saturating_mul(*length), path)?;
        list(&made, *length, count)
    }

    /// `count` values.
    fn values(&mut self, map: &TypeMap, count: usize, path: &str) -> Result<Made, ArrowError> {
        if let Some(parts) = list_parts(map) {
            return self.some(parts, count, path);
        }
        match (map.meaning(), *map.node()) {
            (Some(Meaning::Text), _) => self.texts(map.size(), count),
            (Some(Meaning::Optional), Node::Structure { fields, .. }) => {
                let present = self.leaf();
                let present = BooleanBuffer::collect_bool(count, |i| {
                    present.get(i).is_some_and(|byte| *byte != 0)
                });
                let value = fields.get(1).and_then(typemap::Field::map);
                let value = value.filter(|value| value.size() > 0);
                let nested = || ArrowError::Nested { path: path.to_string() };
                let Made { array, nullable } =
                    self.values(value.ok_or_else(nested)?, count, path)?;
                // Two kinds of nulls could not be told apart.
                if nullable {
                    return Err(nested());
                }
                let data = array.to_data().into_builder().nulls(Some(NullBuffer::new(present)));
                Ok(Made { array: built(data.build())?, nullable: true })
            }
            (_, Node::Basic { basic, .. }) => self.leaf_values(map, basic, count),
            (_, Node::Array { count: length, element }) => {
                let made = self.values(element, count.saturating_mul(length), path)?;
                list(&made, length, count)
            }
            (_, Node::Structure { fields, .. }) => {
                let (mut types, mut children) = (Vec::new(), Vec::new());
                for field in fields {
                    let Some(map) = field.map().filter(|map| map.size() > 0) else { continue };
                    let Made { array, nullable } = self.values(map, count, path)?;
                    let data = array.to_data();
                    types.push(Field::new(field.name(), data.data_type().clone(), nullable));
                    children.push(data);
                }
                let data = ArrayData::builder(DataType::Struct(Fields::from(types)));
                let data = data.len(count).child_data(children).build();
                Ok(Made { array: built(data)?, nullable: false })
            }
        }
    }

    /// Lists of the items that are in use.
    fn some(
        &mut self,
        (capacity, element): (usize, &TypeMap),
        count: usize,
        path: &str,
    ) -> Result<Made, ArrowError> {
        let lengths = self.leaf();
        let Made { array, nullable } =
            self.values(element, count.saturating_mul(capacity), path)?;
        let all = array.to_data();
        let mut used = MutableArrayData::new(Vec::from([&all]), false, 0);
        let mut offsets = Vec::with_capacity(count + 1);
        offsets.push(0_i32);
        for (i, len) in lengths.typed_data::<u32>().iter().enumerate().take(count) {
            // The length of an absent list may be any number.
            let len = usize::try_from(*len).unwrap_or(capacity).min(capacity);
            let extended = used.try_extend(0, i * capacity, i * capacity + len);
            extended.map_err(|error| failed(&error))?;
            offsets.push(offset(used.len(), "items of lists")?);
        }
        let item = Field::new("item", all.data_type().clone(), nullable);
        let data = ArrayData::builder(DataType::List(Arc::new(item))).len(count);
        let data = data.add_buffer(Buffer::from_vec(offsets)).add_child_data(used.freeze());
        Ok(Made { array: built(data.build())?, nullable: false })
    }

    fn leaf(&mut self) -> Buffer {
        // There are as many leaves as the map has.
        self.leaves.next().unwrap_or_else(|| Buffer::from_vec(Vec::<u8>::new()))
    }

    fn leaf_values(
        &mut self,
        map: &TypeMap,
        basic: Basic,
        count: usize,
    ) -> Result<Made, ArrowError> {
        let buffer = self.leaf();
        let ty = time_of(map).unwrap_or_else(|| value_type(basic));
        let data = match &ty {
            DataType::Boolean => {
                let bits = BooleanBuffer::collect_bool(count, |i| buffer[i] != 0);
                ArrayData::builder(ty).len(count).add_buffer(bits.into_inner()).build()
            }
            DataType::FixedSizeList(part, _) => {
                let parts = ArrayData::builder(part.data_type().clone());
                let parts = parts.len(2 * count).add_buffer(buffer).build();
                let parts = parts.map_err(|error| failed(&error))?;
                ArrayData::builder(ty).len(count).add_child_data(parts).build()
            }
            _ => ArrayData::builder(ty).len(count).add_buffer(buffer).build(),
        };
        Ok(Made { array: built(data)?, nullable: false })
    }

    fn texts(&mut self, size: usize, count: usize) -> Result<Made, ArrowError> {
        // The length is a number of four bytes.
        let capacity = size.saturating_sub(4);
        let lengths = self.leaf();
        let bytes = if capacity > 0 { self.leaf() } else { Buffer::from_vec(Vec::<u8>::new()) };
        let (mut offsets, mut all) = (Vec::with_capacity(count + 1), Vec::new());
        offsets.push(0_i32);
        for (i, len) in lengths.typed_data::<u32>().iter().enumerate().take(count) {
            let text = bytes.get(i * capacity..(i + 1) * capacity);
            let text = text.and_then(|text| text.get(..usize::try_from(*len).ok()?));
            // Bytes that are not text belong to an absent value.
            let text = text.filter(|text| str::from_utf8(text).is_ok()).unwrap_or_default();
            all.extend_from_slice(text);
            offsets.push(offset(all.len(), "bytes of text")?);
        }
        let data = ArrayData::builder(DataType::Utf8).len(count);
        let data = data.add_buffer(Buffer::from_vec(offsets)).add_buffer(Buffer::from_vec(all));
        Ok(Made { array: built(data.build())?, nullable: false })
    }
}

/// The capacity and the element of a list of limited length; `None` for any other map, and for items without data.
pub(crate) fn list_parts(map: &TypeMap) -> Option<(usize, &'static TypeMap)> {
    let (Some(Meaning::List), Node::Structure { fields, .. }) = (map.meaning(), *map.node()) else {
        return None;
    };
    match *fields.get(1)?.map().filter(|items| items.size() > 0)?.node() {
        Node::Array { count, element } => Some((count, element)),
        _ => None,
    }
}

/// The offset at which a list or a text ends in its column.
fn offset(end: usize, what: &str) -> Result<i32, ArrowError> {
    let message = || format!("{end} {what} in a column, expected at most {}", i32::MAX);
    i32::try_from(end).map_err(|_| ArrowError::Array { message: message() })
}

/// Lists of this length.
fn list(made: &Made, length: usize, count: usize) -> Result<Made, ArrowError> {
    let ty = list_of(made.array.data_type().clone(), length, made.nullable);
    let data = ArrayData::builder(ty).len(count).add_child_data(made.array.to_data()).build();
    Ok(Made { array: built(data)?, nullable: false })
}

/// The type of a time; `None` for any other leaf.
pub(crate) fn time_of(map: &TypeMap) -> Option<DataType> {
    let unit = |unit| match unit {
        TimeUnit::Second => ArrowUnit::Second,
        TimeUnit::Millisecond => ArrowUnit::Millisecond,
        TimeUnit::Microsecond => ArrowUnit::Microsecond,
        TimeUnit::Nanosecond => ArrowUnit::Nanosecond,
    };
    match map.meaning()? {
        Meaning::Time(of) => Some(DataType::Timestamp(unit(of), Some("UTC".into()))),
        Meaning::Span(of) => Some(DataType::Duration(unit(of))),
        _ => None,
    }
}

pub(crate) fn failed(error: &arrow_schema::ArrowError) -> ArrowError {
    let message: String = error.to_string();
    ArrowError::Array { message }
}

fn built(data: Result<ArrayData, arrow_schema::ArrowError>) -> Result<ArrayRef, ArrowError> {
    data.map(make_array).map_err(|error| failed(&error))
}
