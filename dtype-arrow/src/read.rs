//! Reads columns from arrays of Arrow.

use std::ops::Range;
use std::{iter, mem};

use arrow_array::cast::AsArray;
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, OffsetSizeTrait, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, TimeUnit as ArrowUnit};

use crate::write::{failed, list_parts, time_of};
use crate::{ArrowError, value_type};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Field, Meaning, Node, TimeUnit, TypeMap};
use dtype_runtime::{Basic, Columns, Datatype, Error};
use dtype_stored::{Number, NumberKind, Numbers, Period, ReadOptions, Time, joined};

/// Arrays with names.
pub(crate) struct Table<'a> {
    /// The number of values in each array.
    pub(crate) records: usize,
    pub(crate) names: Vec<&'a str>,
    /// The array with a given index.
    pub(crate) array: &'a dyn Fn(usize) -> Result<ArrayRef, ArrowError>,
}

impl Table<'_> {
    /// The columns of `T`.
    pub(crate) fn columns<T: Datatype>(
        &self,
        options: ReadOptions,
    ) -> Result<Columns<T>, ArrowError> {
        let mut reading = Reading { options, records: self.records, leaves: Vec::new() };
        self.read(T::TYPE_MAP, "", &mut Vec::new(), &mut reading)?;
        // Everything was checked before memory is allocated for the announced number of records.
        let mut columns = Columns::<T>::zeroed(self.records)?;
        for (index, bytes) in reading.leaves.into_iter().enumerate() {
            if !bytes.is_empty() {
                columns.set_raw(index, &bytes)?;
            }
        }
        Ok(columns)
    }

    /// Reads the columns of a part of a record that is inside arrays of these lengths.
    fn read(
        &self,
        map: &TypeMap,
        path: &str,
        lengths: &mut Vec<usize>,
        reading: &mut Reading,
    ) -> Result<(), ArrowError> {
        if map.size() == 0 {
            return Ok(());
        }
        let mut element = map;
        while let Node::Array { element: inner, .. } = *element.node() {
            element = inner;
        }
        // A record that is a struct has an empty path. A column with an empty name, as in some CSV files, is not this record.
        let is_value = matches!(element.node(), Node::Basic { .. });
        let is_it = |name: &&str| **name == *path && (is_value || !path.is_empty());
        let mut found = (0..).zip(&self.names).filter(|(_, name)| is_it(name));
        if let Some((index, _)) = found.next() {
            let more = found.count();
            if more > 0 {
                return Err(ArrowError::Column { path: path.to_string(), found: more + 1 });
            }
            return reading.lists((self.array)(index)?.as_ref(), map, lengths, path);
        }
        let is_there = |field: &Field| self.names.contains(&&*joined(path, field.name()));
        match *map.node() {
            Node::Array { count, element } => {
                lengths.push(count);
                self.read(element, path, lengths, reading)?;
                lengths.pop();
                Ok(())
            }
            Node::Structure { fields, .. }
                if map.meaning().is_none() || fields.first().is_some_and(is_there) =>
            {
                for field in fields {
                    if let Some(map) = field.map() {
                        self.read(map, &joined(path, field.name()), lengths, reading)?;
                    }
                }
                Ok(())
            }
            _ => Err(ArrowError::Column { path: path.to_string(), found: 0 }),
        }
    }
}

/// The leaves read so far, in order. A leaf without bytes is zeros: no list has an item.
struct Reading {
    options: ReadOptions,
    /// The number of records.
    records: usize,
    leaves: Vec<Buffer>,
}

impl Reading {
    /// The values of a map in lists of these lengths.
    fn lists(
        &mut self,
        array: &dyn Array,
        map: &TypeMap,
        lengths: &[usize],
        path: &str,
    ) -> Result<(), ArrowError> {
        let Some((length, inner)) = lengths.split_first() else {
            return self.values(array, map, None, path);
        };
        let items = list(array, *length, path)?;
        self.check_nulls(array, None, path)?;
        self.lists(items, map, inner, path)
    }

    /// The values of an array. Values that are `absent` may be anything.
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
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            return self.dictionary(dictionary, map, absent, path);
        }
        if let Some(parts) = list_parts(map) {
            return self.some(array, parts, absent, path);
        }
        match (map.meaning(), *map.node()) {
            (Some(Meaning::Text), _) => self.texts(array, map.size(), absent, path),
            (_, Node::Basic { basic, .. }) => self.leaf(array, map, basic, absent, path),
            (_, Node::Array { count, element }) => {
                // The list has as many items as the expanded bits, so the expansion does not panic.
                let items = list(array, count, path)?;
                let absent = absent.map(|absent| absent.expand(count));
                self.values(items, element, absent.as_ref(), path)
            }
            (_, Node::Structure { fields, .. }) => {
                let wrong = || wrong(array, "a struct".to_string(), path);
                let of = array.as_struct_opt().ok_or_else(wrong)?;
                for field in fields {
                    let Some(map) = field.map().filter(|map| map.size() > 0) else { continue };
                    let path = joined(path, field.name());
                    let missing = || ArrowError::Column { path: path.clone(), found: 0 };
                    let child = of.column_by_name(field.name()).ok_or_else(missing)?;
                    self.values(child.as_ref(), map, absent, &path)?;
                }
                Ok(())
            }
        }
    }

    /// Values that may be null, and whether each is present.
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
        let nulls = NullBuffer::union(nulls_of(array).as_ref(), absent);
        let is_present = |i| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i));
        let first = self.leaves.len() + 1;
        self.leaves.push(Buffer::from_vec(Vec::<u8>::new()));
        self.values(array, value, nulls.as_ref(), path)?;
        // The values are in memory, so there are as many as the array announces.
        let present: Vec<u8> = (0..array.len()).map(|i| u8::from(is_present(i))).collect();
        self.leaves[first - 1] = Buffer::from_vec(present);
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

    /// Values of a dictionary. Each that a record has is read once; others may be anything.
    fn dictionary(
        &mut self,
        array: &dyn AnyDictionaryArray,
        map: &TypeMap,
        absent: Option<&NullBuffer>,
        path: &str,
    ) -> Result<(), ArrowError> {
        let (values, count) = (array.values(), array.len());
        let nulls = NullBuffer::union(array.logical_nulls().as_ref(), absent);
        let is_present = |i: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*i));
        // Of a dictionary without values, all keys are null.
        let keys = if values.is_empty() { Vec::new() } else { array.normalized_keys() };
        // The used values: for each the first that has it, and for each key its number among them.
        let (mut firsts, mut numbers) = (Vec::new(), vec![None; values.len()]);
        for i in (0..keys.len()).filter(is_present) {
            numbers[keys[i]].get_or_insert_with(|| {
                firsts.push(i);
                firsts.len() - 1
            });
        }
        let all = values.to_data();
        let mut used = MutableArrayData::new(vec![&all], false, firsts.len());
        for i in &firsts {
            let extended = used.try_extend(0, keys[*i], keys[*i] + 1);
            extended.map_err(|error| failed(&error))?;
        }
        let first = self.leaves.len();
        let records = mem::replace(&mut self.records, firsts.len());
        let read = self.values(&make_array(used.freeze()), map, None, path);
        self.records = records;
        read.map_err(|error| error.in_record(|value| self.record_of(firsts[value], count)))?;
        for leaf in &mut self.leaves[first..] {
            let stride = leaf.len().checked_div(firsts.len()).unwrap_or(0);
            let mut all = zeros(count, stride)?;
            for (i, place) in all.chunks_exact_mut(stride.max(1)).enumerate() {
                if let Some(number) =
                    keys.get(i).and_then(|key| numbers[*key]).filter(|_| is_present(&i))
                {
                    place.copy_from_slice(&leaf[number * stride..][..stride]);
                }
            }
            *leaf = Buffer::from_vec(all);
        }
        Ok(())
    }

    /// Lists of at most `capacity` items.
    fn some(
        &mut self,
        array: &dyn Array,
        (capacity, element): (usize, &TypeMap),
        absent: Option<&NullBuffer>,
        path: &str,
    ) -> Result<(), ArrowError> {
        let list = list_of_any_length::<i32>(array).or_else(|| list_of_any_length::<i64>(array));
        let (offsets, items) = list.ok_or_else(|| wrong(array, "a List".to_string(), path))?;
        let is_present = |i| absent.is_none_or(|absent| absent.is_valid(i));
        let lists = || offsets.windows(2).map(|ends| ends[0]..ends[1]);
        let mut lengths = Vec::with_capacity(4 * array.len());
        for (i, list) in lists().enumerate() {
            let len = if is_present(i) { list.len() } else { 0 };
            if len > capacity {
                let reason = format!("its length is {len}, and the capacity {capacity}");
                return Err(invalid(self.record_of(i, array.len()), path, "list".into(), reason));
            }
            lengths.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_ne_bytes());
        }
        self.leaves.push(Buffer::from_vec(lengths));
        let first = self.leaves.len();
        let are_present =
            |(i, list): (usize, Range<usize>)| iter::repeat_n(is_present(i), list.len());
        let absent_items: Option<NullBuffer> =
            absent.map(|_| lists().enumerate().flat_map(are_present).collect::<Vec<bool>>().into());
        // For the items, each item counts as a record; an error has the number of the list's record.
        let records = mem::replace(&mut self.records, items.len());
        let read = self.values(items.as_ref(), element, absent_items.as_ref(), path);
        self.records = records;
        let list_of = |item| offsets.partition_point(|end| *end <= item).saturating_sub(1);
        read.map_err(|error| error.in_record(|item| self.record_of(list_of(item), array.len())))?;
        for leaf in &mut self.leaves[first..] {
            let size = leaf.len().checked_div(items.len()).unwrap_or(0);
            let stride = capacity.saturating_mul(size);
            let mut all = zeros(array.len(), stride)?;
            let places = all.chunks_exact_mut(stride.max(1));
            for (i, (place, list)) in places.zip(lists()).enumerate() {
                if is_present(i) {
                    let used = &leaf[list.start * size..list.end * size];
                    place[..used.len()].copy_from_slice(used);
                }
            }
            *leaf = Buffer::from_vec(all);
        }
        Ok(())
    }

    /// Refuses a null where a value is required.
    fn check_nulls(
        &self,
        array: &dyn Array,
        absent: Option<&NullBuffer>,
        path: &str,
    ) -> Result<(), ArrowError> {
        let Some(nulls) = nulls_of(array).filter(|nulls| nulls.null_count() > 0) else {
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

    /// The record of value `i`, of `values` values in all records.
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
        let stored = number_of(array.data_type());
        let numbers = Numbers::new(stored, map, self.options);
        let known = numbers.and_then(|numbers| Some((numbers.stored_size()?, numbers)));
        let Some((size, numbers)) = known else {
            return Err(wrong(array, expected.to_string(), path));
        };
        let stored = values_of(array, size);
        let mut all = vec![0; array.len().saturating_mul(numbers.size())];
        let places = stored.chunks_exact(size).zip(all.chunks_exact_mut(numbers.size()));
        for (i, (value, place)) in places.enumerate() {
            let converted = numbers.load(value, place, ByteOrder::NATIVE);
            if let (Err(reason), true) = (converted, absent.is_none_or(|absent| absent.is_valid(i)))
            {
                let record = self.record_of(i, array.len());
                return Err(invalid(record, path, numbers.name().to_string(), reason));
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
        let (mut lengths, mut all) = (Vec::new(), Vec::<u8>::new());
        let mut add = |(i, text): (usize, Option<&str>)| {
            let is_present = absent.is_none_or(|absent| absent.is_valid(i));
            let text = text.filter(|_| is_present).unwrap_or_default();
            let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
            if text.len() > capacity {
                let reason = format!("its length is {}, and the capacity {capacity}", text.len());
                return Err(invalid(self.record_of(i, array.len()), path, "text".into(), reason));
            }
            lengths.extend_from_slice(&len.to_ne_bytes());
            let refused = |_| Error::Allocation { count: array.len(), stride: capacity };
            all.try_reserve(capacity).map_err(refused)?;
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

/// The nulls of an array and, if its values are those of a dictionary, of the dictionary. The other types that are read have no
/// others. For an array of type `Null`, `logical_nulls` allocates a bit for each value that the array announces.
fn nulls_of(array: &dyn Array) -> Option<NullBuffer> {
    match array.as_any_dictionary_opt() {
        Some(dictionary) => dictionary.logical_nulls(),
        None => array.nulls().cloned(),
    }
}

fn zeros(count: usize, stride: usize) -> Result<Vec<u8>, Error> {
    let (mut all, bytes) = (Vec::<u8>::new(), count.saturating_mul(stride));
    all.try_reserve_exact(bytes).map_err(|_| Error::Allocation { count, stride })?;
    all.resize(bytes, 0);
    Ok(all)
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

/// The offsets of lists, and their items from the first list on.
fn list_of_any_length<O: OffsetSizeTrait>(array: &dyn Array) -> Option<(Vec<usize>, ArrayRef)> {
    let list = array.as_list_opt::<O>()?;
    let offsets = list.value_offsets();
    let first = offsets.first().map_or(0, |first| first.as_usize());
    let ends: Vec<usize> = offsets.iter().map(|end| end.as_usize() - first).collect();
    let len = ends.last().copied().unwrap_or(0);
    Some((ends, list.values().slice(first, len)))
}

/// The bytes of the values of an array, of this size each.
fn values_of(array: &dyn Array, size: usize) -> Buffer {
    let data = array.to_data();
    // An array of values of this size has a buffer with all of them.
    let all = data.buffers().first().cloned().unwrap_or_else(|| Buffer::from_vec(Vec::<u8>::new()));
    all.slice_with_length(data.offset() * size, data.len() * size)
}

/// Whether a type is the required one. The time zone is ignored, because the numbers are always UTC.
fn is_same(found: &DataType, needed: &DataType) -> bool {
    match (found, needed) {
        (DataType::Timestamp(found, _), DataType::Timestamp(needed, _)) => found == needed,
        _ => found == needed,
    }
}

/// The numbers of an array; a time is the number of its units.
fn number_of(ty: &DataType) -> Option<Number> {
    let time = match ty {
        DataType::Date32 => Some((true, Period::DAY)),
        DataType::Date64 => Some((true, Period::of(TimeUnit::Millisecond))),
        DataType::Timestamp(unit, _) => Some((true, Period::of(time_unit(*unit)))),
        DataType::Time32(unit) | DataType::Time64(unit) | DataType::Duration(unit) => {
            Some((false, Period::of(time_unit(*unit))))
        }
        _ => None,
    };
    let (kind, size) = match ty {
        DataType::Int8 => (NumberKind::Signed, 1),
        DataType::Int16 => (NumberKind::Signed, 2),
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => (NumberKind::Signed, 4),
        DataType::Int64
        | DataType::Date64
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_) => (NumberKind::Signed, 8),
        DataType::UInt8 => (NumberKind::Unsigned, 1),
        DataType::UInt16 => (NumberKind::Unsigned, 2),
        DataType::UInt32 => (NumberKind::Unsigned, 4),
        DataType::UInt64 => (NumberKind::Unsigned, 8),
        DataType::Float16 => (NumberKind::Float, 2),
        DataType::Float32 => (NumberKind::Float, 4),
        DataType::Float64 => (NumberKind::Float, 8),
        _ => return None,
    };
    let time = time.map(|(is_point, unit)| Time { is_point, unit, has_nat: false });
    Some(Number { kind, size, order: ByteOrder::NATIVE, time })
}

fn time_unit(unit: ArrowUnit) -> TimeUnit {
    match unit {
        ArrowUnit::Second => TimeUnit::Second,
        ArrowUnit::Millisecond => TimeUnit::Millisecond,
        ArrowUnit::Microsecond => TimeUnit::Microsecond,
        ArrowUnit::Nanosecond => TimeUnit::Nanosecond,
    }
}

fn wrong(array: &dyn Array, expected: String, path: &str) -> ArrowError {
    let actual = array.data_type().to_string();
    ArrowError::Type { path: path.to_string(), expected, actual }
}

fn invalid(record: usize, path: &str, of: String, reason: String) -> ArrowError {
    ArrowError::Records(Error::CheckFailed { record, path: path.to_string(), of, reason })
}
