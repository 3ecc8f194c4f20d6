//! Reads the leaves of columns from arrays of Arrow.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::DataType;

use super::write::time_of;
use super::{ArrowError, value_type};
use crate::basic::Basic;
use crate::error::Error;
use crate::representation::ByteOrder;
use crate::stored::{Number, NumberKind, ReadOptions, convert_number};
use crate::typemap::{Field, Meaning, Node, TypeMap};

/// The leaves that were read, in their order.
pub(super) struct Reading {
    options: ReadOptions,
    /// The number of records.
    records: usize,
    pub(super) leaves: Vec<Buffer>,
}

impl Reading {
    pub(super) fn new(options: ReadOptions, records: usize) -> Self {
        Self { options, records, leaves: Vec::new() }
    }

    /// The values of a map in lists of these lengths.
    pub(super) fn lists(
        &mut self,
        array: &dyn Array,
        map: &TypeMap,
        lengths: &[usize],
        path: &str,
    ) -> Result<(), ArrowError> {
        let Some((length, inner)) = lengths.split_first() else {
            return self.values(array, map, None, path);
        };
        self.check_nulls(array, None, path)?;
        self.lists(list(array, *length, path)?, map, inner, path)
    }

    /// The values of an array, of which those that are `absent` may be anything.
    fn values(
        &mut self,
        array: &dyn Array,
        map: &TypeMap,
        absent: Option<&NullBuffer>,
        path: &str,
    ) -> Result<(), ArrowError> {
        if let (Some(Meaning::Optional), Node::Structure { fields, .. }) =
            (map.meaning(), *map.node())
            && let Some(value) = fields.get(1).and_then(Field::map)
        {
            return self.optional(array, value, absent, path);
        }
        self.check_nulls(array, absent, path)?;
        match (map.meaning(), *map.node()) {
            (Some(Meaning::Text), _) => self.texts(array, map.size(), absent, path),
            (_, Node::Basic { basic, .. }) => self.leaf(array, map, basic, absent, path),
            (_, Node::Array { count, element }) => {
                let absent = absent.map(|absent| absent.expand(count));
                self.values(list(array, count, path)?, element, absent.as_ref(), path)
            }
            (_, Node::Structure { fields, .. }) => {
                let wrong = || wrong(array, "a struct".to_string(), path);
                let of = array.as_struct_opt().ok_or_else(wrong)?;
                for field in fields {
                    let Some(map) = field.map().filter(|map| map.size() > 0) else { continue };
                    let path = crate::stored::joined(path, field.name());
                    let missing = || ArrowError::Column { path: path.clone(), found: 0 };
                    let child = of.column_by_name(field.name()).ok_or_else(missing)?;
                    self.values(child.as_ref(), map, absent, &path)?;
                }
                Ok(())
            }
        }
    }

    /// The values that may be null, and whether each is present.
    fn optional(
        &mut self,
        array: &dyn Array,
        value: &TypeMap,
        absent: Option<&NullBuffer>,
        path: &str,
    ) -> Result<(), ArrowError> {
        if value.meaning() == Some(Meaning::Optional) || value.size() == 0 {
            return Err(ArrowError::Nested { path: path.to_string() });
        }
        let nulls = array.logical_nulls();
        let nulls = NullBuffer::union(nulls.as_ref(), absent);
        let is_present = |i| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i));
        let present: Vec<u8> = (0..array.len()).map(|i| u8::from(is_present(i))).collect();
        self.leaves.push(Buffer::from_vec(present));
        let first = self.leaves.len();
        self.values(array, value, nulls.as_ref(), path)?;
        let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else { return Ok(()) };
        // An absent value is zeros.
        for leaf in &mut self.leaves[first..] {
            let size = leaf.len().checked_div(nulls.len()).unwrap_or(0);
            let mut values = leaf.to_vec();
            for (value, is_valid) in values.chunks_exact_mut(size.max(1)).zip(nulls.iter()) {
                if !is_valid {
                    value.fill(0);
                }
            }
            *leaf = Buffer::from_vec(values);
        }
        Ok(())
    }

    /// Refuses a null where a value is needed.
    fn check_nulls(
        &self,
        array: &dyn Array,
        absent: Option<&NullBuffer>,
        path: &str,
    ) -> Result<(), ArrowError> {
        let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) else {
            return Ok(());
        };
        let is_needed = |i: &usize| absent.is_none_or(|absent| absent.is_valid(*i));
        match (0..nulls.len()).filter(|i| nulls.is_null(*i)).find(is_needed) {
            None => Ok(()),
            Some(i) => {
                let record = self.record_of(i, array.len());
                Err(ArrowError::Null { path: path.to_string(), record })
            }
        }
    }

    /// The record of value `i` of so many.
    fn record_of(&self, i: usize, values: usize) -> usize {
        let each = values.checked_div(self.records).unwrap_or(1).max(1);
        i / each
    }

    fn leaf(
        &mut self,
        array: &dyn Array,
        map: &TypeMap,
        basic: Basic,
        absent: Option<&NullBuffer>,
        path: &str,
    ) -> Result<(), ArrowError> {
        let expected = time_of(map).unwrap_or_else(|| value_type(basic));
        let bytes = match &expected {
            DataType::Boolean => {
                let bits: Option<&BooleanBuffer> =
                    array.as_boolean_opt().map(arrow_array::BooleanArray::values);
                bits.map(|bits| Buffer::from_vec(bits.iter().map(u8::from).collect::<Vec<_>>()))
            }
            DataType::FixedSizeList(part, _) => {
                let parts = list(array, 2, path)?;
                let absent = absent.map(|absent| absent.expand(2));
                self.check_nulls(parts, absent.as_ref(), path)?;
                let is_same = parts.data_type() == part.data_type();
                is_same.then(|| values_of(parts, basic.size() / 2))
            }
            _ if is_same(array.data_type(), &expected) => Some(values_of(array, basic.size())),
            _ => None,
        };
        if let Some(bytes) = bytes {
            self.leaves.push(bytes);
            return Ok(());
        }
        let numbers = number_of(array.data_type())
            .zip(Number::of(basic, ByteOrder::NATIVE))
            .filter(|_| self.options.number_conversion && map.meaning().is_none());
        let Some((from, to)) = numbers else {
            return Err(wrong(array, expected.to_string(), path));
        };
        let stored = values_of(array, from.size);
        let mut all = vec![0; array.len().saturating_mul(to.size)];
        let places = stored.chunks_exact(from.size).zip(all.chunks_exact_mut(to.size));
        for (i, (value, place)) in places.enumerate() {
            let converted = convert_number(from, value, to, place);
            if let (Err(value), true) = (converted, absent.is_none_or(|absent| absent.is_valid(i)))
            {
                let record = self.record_of(i, array.len());
                let reason = format!("{value} is not one of its numbers");
                return Err(invalid(record, path, format!("{map}"), reason));
            }
        }
        self.leaves.push(Buffer::from_vec(all));
        Ok(())
    }

    fn texts(
        &mut self,
        array: &dyn Array,
        size: usize,
        absent: Option<&NullBuffer>,
        path: &str,
    ) -> Result<(), ArrowError> {
        // The length is a number of four bytes.
        let capacity = size.saturating_sub(4);
        let (mut lengths, mut all) = (Vec::new(), Vec::new());
        let mut add = |(i, text): (usize, Option<&str>)| {
            let is_present = absent.is_none_or(|absent| absent.is_valid(i));
            let text = text.filter(|_| is_present).unwrap_or_default();
            let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
            if text.len() > capacity {
                let reason = format!("its length is {}, and the capacity {capacity}", text.len());
                return Err(invalid(self.record_of(i, array.len()), path, "text".into(), reason));
            }
            lengths.extend_from_slice(&len.to_ne_bytes());
            all.extend_from_slice(text.as_bytes());
            all.resize(capacity * (i + 1), 0);
            Ok(())
        };
        if let Some(array) = array.as_string_opt::<i32>() {
            array.iter().enumerate().try_for_each(&mut add)?;
        } else if let Some(array) = array.as_string_opt::<i64>() {
            array.iter().enumerate().try_for_each(&mut add)?;
        } else if let Some(array) = array.as_string_view_opt() {
            array.iter().enumerate().try_for_each(&mut add)?;
        } else {
            return Err(wrong(array, DataType::Utf8.to_string(), path));
        }
        self.leaves.push(Buffer::from_vec(lengths));
        if capacity > 0 {
            self.leaves.push(Buffer::from_vec(all));
        }
        Ok(())
    }
}

/// The items of lists of this length.
fn list<'a>(array: &'a dyn Array, length: usize, path: &str) -> Result<&'a dyn Array, ArrowError> {
    let of_length = |list: &&arrow_array::FixedSizeListArray| {
        usize::try_from(list.value_length()).is_ok_and(|found| found == length)
    };
    match array.as_fixed_size_list_opt().filter(of_length) {
        Some(list) => Ok(list.values().as_ref()),
        None => Err(wrong(array, format!("a FixedSizeList of {length}"), path)),
    }
}

/// The bytes of the values of an array, of this size each.
fn values_of(array: &dyn Array, size: usize) -> Buffer {
    let data = array.to_data();
    // An array of values of this size has a buffer with all of them.
    let all = data.buffers().first().cloned().unwrap_or_else(|| Buffer::from_vec(Vec::<u8>::new()));
    all.slice_with_length(data.offset() * size, data.len() * size)
}

/// Whether a type is the one that is needed. The time zone does not count: the numbers are those of UTC.
fn is_same(found: &DataType, needed: &DataType) -> bool {
    match (found, needed) {
        (DataType::Timestamp(found, _), DataType::Timestamp(needed, _)) => found == needed,
        _ => found == needed,
    }
}

fn number_of(ty: &DataType) -> Option<Number> {
    let (kind, size) = match ty {
        DataType::UInt8 => (NumberKind::Unsigned, 1),
        DataType::UInt16 => (NumberKind::Unsigned, 2),
        DataType::UInt32 => (NumberKind::Unsigned, 4),
        DataType::UInt64 => (NumberKind::Unsigned, 8),
        DataType::Int8 => (NumberKind::Signed, 1),
        DataType::Int16 => (NumberKind::Signed, 2),
        DataType::Int32 => (NumberKind::Signed, 4),
        DataType::Int64 => (NumberKind::Signed, 8),
        DataType::Float32 => (NumberKind::Float, 4),
        DataType::Float64 => (NumberKind::Float, 8),
        _ => return None,
    };
    Some(Number { kind, size, order: ByteOrder::NATIVE })
}

fn wrong(array: &dyn Array, expected: String, path: &str) -> ArrowError {
    let actual = array.data_type().to_string();
    ArrowError::Type { path: path.to_string(), expected, actual }
}

fn invalid(record: usize, path: &str, of: String, reason: String) -> ArrowError {
    ArrowError::Records(Error::CheckFailed { record, path: path.to_string(), of, reason })
}
