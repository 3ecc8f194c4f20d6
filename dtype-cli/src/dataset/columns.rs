//! The records of Parquet files: each column is a field of their dtype.

use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, GenericListArray, OffsetSizeTrait};
use arrow_schema::{DataType, Fields, TimeUnit};
use dtype_npy::{DateUnit, Dtype, DtypeField};
use dtype_runtime::representation::ByteOrder;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::Columns;
use dtype_text::notation::Stored;

/// Reads all values: only they say how long texts and lists are, and whether a column that may have nulls has any.
pub(super) fn read(file: File) -> Result<Columns, Box<dyn Error>> {
    let file = ParquetRecordBatchReaderBuilder::try_new(file)?;
    let schema = Arc::clone(file.schema());
    let (mut needs, mut count) = (Needs::default(), 0);
    for batch in file.build()? {
        let batch = batch?;
        count += batch.num_rows() as u64;
        needs.add_parts(batch.columns().iter().map(AsRef::as_ref));
    }
    let mut reading = Reading { path: Vec::new(), converts: false, left_out: Vec::new() };
    let dtype =
        reading.structure(schema.fields(), &needs)?.ok_or("no column has a type of records")?;
    let stored = Stored { dtype, character: 1, converts: reading.converts };
    Ok(Columns { stored, count, left_out: reading.left_out })
}

/// What the values of a column need besides their type.
#[derive(Default)]
struct Needs {
    has_nulls: bool,
    /// The bytes of the longest text, or the items of the longest list.
    length: usize,
    parts: Vec<Needs>,
}

impl Needs {
    fn add(&mut self, array: &dyn Array) {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let has_nulls = self.has_nulls || array.is_nullable() && array.logical_null_count() > 0;
            self.add(dictionary.values().as_ref());
            // Unused values may be null.
            self.has_nulls = has_nulls;
            return;
        }
        self.has_nulls |= array.null_count() > 0;
        let length = match array.data_type() {
            DataType::Utf8 => longest(array.as_string::<i32>().iter()),
            DataType::LargeUtf8 => longest(array.as_string::<i64>().iter()),
            DataType::Utf8View => longest(array.as_string_view().iter()),
            DataType::List(_) => self.add_lists(array.as_list::<i32>()),
            DataType::LargeList(_) => self.add_lists(array.as_list::<i64>()),
            DataType::FixedSizeList(..) => {
                self.add_parts([array.as_fixed_size_list().values().as_ref()]);
                None
            }
            DataType::Struct(_) => {
                self.add_parts(array.as_struct().columns().iter().map(AsRef::as_ref));
                None
            }
            _ => None,
        };
        self.length = self.length.max(length.unwrap_or(0));
    }

    /// The items of the longest list.
    fn add_lists<O: OffsetSizeTrait>(&mut self, lists: &GenericListArray<O>) -> Option<usize> {
        self.add_parts([lists.values().as_ref()]);
        lists.value_offsets().windows(2).map(|ends| (ends[1] - ends[0]).as_usize()).max()
    }

    fn add_parts<'a>(&mut self, arrays: impl IntoIterator<Item = &'a dyn Array>) {
        for (i, array) in arrays.into_iter().enumerate() {
            if self.parts.len() == i {
                self.parts.push(Self::default());
            }
            self.parts[i].add(array);
        }
    }
}

fn longest<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Option<usize> {
    texts.flatten().map(str::len).max()
}

struct Reading {
    /// The names of the columns and fields around the current one.
    path: Vec<String>,
    converts: bool,
    left_out: Vec<String>,
}

impl Reading {
    /// The dtype of fields; `None` if there are none.
    fn structure(&mut self, fields: &Fields, needs: &Needs) -> Result<Option<Dtype>, String> {
        let (mut all, mut names) = (Vec::new(), HashSet::new());
        let none = Needs::default();
        for (i, field) in fields.iter().enumerate() {
            let (name, ty) = (field.name(), field.data_type());
            self.path.push(name.clone());
            if !names.insert(name) {
                return Err(format!("two columns are called {:?}", self.path.join(".")));
            }
            let dtype = self.dtype(ty, needs.parts.get(i).unwrap_or(&none))?;
            match dtype.filter(|_| !name.is_empty()) {
                Some(dtype) => all.push((name.as_str(), dtype)),
                None => self.left_out.push(format!("{:?}, {ty}", self.path.join("."))),
            }
            self.path.pop();
        }
        Ok(if all.is_empty() { None } else { packed(all) })
    }

    /// The dtype of values; `None` if no field of a record has such values.
    fn dtype(&mut self, ty: &DataType, needs: &Needs) -> Result<Option<Dtype>, String> {
        let none = Needs::default();
        let part = needs.parts.first().unwrap_or(&none);
        let width = ty.primitive_width().unwrap_or(0) as u64;
        let one = match ty {
            DataType::Boolean => scalar('b', 1),
            ty if ty.is_signed_integer() => scalar('i', width),
            ty if ty.is_unsigned_integer() => scalar('u', width),
            ty if ty.is_floating() => scalar('f', width),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                scalar('S', needs.length as u64)
            }
            DataType::FixedSizeBinary(16) => scalar('V', 16),
            DataType::Timestamp(unit, _) => time('M', symbol(*unit)),
            DataType::Duration(unit) => time('m', symbol(*unit)),
            DataType::Date32 => time('M', "D"),
            DataType::Date64 => {
                self.converts = true;
                time('M', "ms")
            }
            DataType::Time32(unit) | DataType::Time64(unit) => {
                self.converts = true;
                time('m', symbol(*unit))
            }
            // The nulls are those of the whole.
            DataType::Dictionary(_, values) => return self.dtype(values, needs),
            DataType::Struct(fields) => self.structure(fields, needs)?,
            DataType::FixedSizeList(item, length) => {
                let item = self.dtype(item.data_type(), part)?;
                item.and_then(|item| Dtype::array(&[u64::try_from(*length).ok()?], item))
            }
            DataType::List(item) | DataType::LargeList(item) => {
                let item = self.dtype(item.data_type(), part)?;
                let items = item.and_then(|item| Dtype::array(&[needs.length.max(1) as u64], item));
                items
                    .zip(scalar('u', 4))
                    .and_then(|(items, len)| packed(vec![("len", len), ("items", items)]))
            }
            _ => None,
        };
        Ok(if needs.has_nulls {
            one.zip(scalar('b', 1))
                .and_then(|(value, present)| packed(vec![("present", present), ("value", value)]))
        } else {
            one
        })
    }
}

/// A structure of these fields, one after another.
fn packed(fields: Vec<(&str, Dtype)>) -> Option<Dtype> {
    let mut offset = 0;
    let mut all = Vec::new();
    for (name, dtype) in fields {
        let end = dtype.itemsize().checked_add(offset)?;
        all.push(DtypeField { name: name.to_owned(), offset, dtype });
        offset = end;
    }
    Dtype::structure(all, offset)
}

fn scalar(letter: char, size: u64) -> Option<Dtype> {
    Dtype::scalar(letter, size, ByteOrder::NATIVE)
}

fn time(letter: char, unit: &str) -> Option<Dtype> {
    Some(scalar(letter, 8)?.with_unit(DateUnit::new(unit)?))
}

fn symbol(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}
