//! Records as a `RecordBatch` of Arrow and back, and columns of records as Arrow's fields and buffers.
//!
//! [`to_batch`] and [`from_batch`] convert records, with strings, lists, nulls, times and structs: [`BatchOptions`] has the
//! choices. [`into_arrow`] and [`from_arrow`] convert [`Columns`], of whose values nothing is copied but truth values. There, a
//! column is a field of a schema and the buffer of its values, in Arrow's memory format and without a copy. Any Arrow
//! implementation can make an array of these. The name of the field is the path of the column.
//!
//! | Rust | Arrow |
//! |---|---|
//! | integers, `f16`, `f32`, `f64` | `Int8` to `UInt64`, `Float16`, `Float32`, `Float64` |
//! | `bool` | `Boolean`: the values are packed into bits, which is a copy |
//! | `char` | `UInt32` |
//! | an enum | its integer |
//! | complex numbers | `FixedSizeList` of two floats |
//! | `[T; N]` | `FixedSizeList` of `N`; the buffer is that of the innermost elements |
//! | 128-bit integers, `bf16`, other basic datatypes | `FixedSizeBinary` |
//!
//! Such columns have no nulls; [`from_arrow`] reads columns with nulls from other writers, as [`Maybe`](dtype_runtime::Maybe).
//!
//! A type with an array of more than `i32::MAX` elements does not compile here: Arrow's lists of fixed size
//! are not longer.
//!
//! ```
//! use dtype_runtime::columns;
//!
//! let records = [(1_u32, [0.5_f64, 1.5], true), (2, [2.5, 3.5], false)];
//! let all = dtype_arrow::into_arrow(columns(&records))?;
//! assert_eq!(all[0].field.to_string(), "Field { \"0\": UInt32 }");
//! assert_eq!(all[1].buffer.typed_data::<f64>(), [0.5, 1.5, 2.5, 3.5]);
//! assert_eq!(all[2].buffer.as_slice(), [0b01]);
//! assert_eq!(dtype_arrow::from_arrow::<(u32, [f64; 2], bool)>(&all)?.to_records()?, records);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod batch;
mod read;
mod write;

use std::sync::Arc;

use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, FieldRef, Schema};

use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::{Basic, ColumnField, Columns, Datatype, Error};

use read::Table;

pub use batch::{BatchOptions, batch_schema, from_batch, to_batch};
pub use dtype_stored::ReadOptions;

/// A column: a field of a schema, and the values.
#[derive(Clone, Debug)]
pub struct ArrowColumn {
    /// The field, whose name is the path.
    pub field: FieldRef,
    /// The number of records.
    pub len: usize,
    /// The values; if the field is a list of fixed size, those of its innermost elements. The first record's values come first:
    /// if a slice begins inside its buffer, cut the buffer with `Buffer::slice` or `BooleanBuffer::sliced`.
    pub buffer: Buffer,
    /// Which records have a value, with an entry for each record; `None` if all do.
    pub nulls: Option<NullBuffer>,
}

impl ArrowColumn {
    /// The column as an array, which needs values of a fixed width.
    fn array(&self, records: usize) -> Result<ArrayRef, ArrowError> {
        let path = self.field.name();
        for actual in [self.len, self.nulls.as_ref().map_or(self.len, NullBuffer::len)] {
            if actual != records {
                let (path, expected) = (path.clone(), records);
                return Err(ArrowError::Length { path, expected, actual });
            }
        }
        let Some(expected) = needed(self.field.data_type(), self.len) else {
            let (expected, actual) = ("values of a fixed width".into(), self.field.to_string());
            return Err(ArrowError::Type { path: path.clone(), expected, actual });
        };
        let actual = self.buffer.len();
        if actual < expected {
            return Err(ArrowError::Buffer { path: path.clone(), expected, actual });
        }
        let Self { field, len, buffer, nulls } = self.clone();
        let data = data_of(field.data_type(), len, buffer, nulls);
        Ok(make_array(data.map_err(|error| ArrowError::Array { message: error.to_string() })?))
    }
}

/// The number of bytes for `len` values, at most `usize::MAX`. `None` if the values have no fixed width, or no bytes.
fn needed(ty: &DataType, len: usize) -> Option<usize> {
    let width = |width| usize::try_from(width).ok().filter(|width: &usize| *width > 0);
    match ty {
        DataType::FixedSizeList(item, length) => {
            needed(item.data_type(), len.saturating_mul(width(*length)?))
        }
        DataType::Boolean => Some(len.div_ceil(8)),
        DataType::FixedSizeBinary(size) => Some(len.saturating_mul(width(*size)?)),
        _ => Some(len.saturating_mul(ty.primitive_width()?)),
    }
}

/// The array of a buffer that has all the bytes.
fn data_of(
    ty: &DataType,
    len: usize,
    buffer: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayData, arrow_schema::ArrowError> {
    let data = ArrayData::builder(ty.clone()).len(len).nulls(nulls).align_buffers(true);
    match ty {
        DataType::FixedSizeList(item, length) => {
            // `needed` has computed a length, so the array's length fits.
            let len = len.saturating_mul(usize::try_from(*length).unwrap_or(0));
            data.add_child_data(data_of(item.data_type(), len, buffer, None)?).build()
        }
        _ => data.add_buffer(buffer).build(),
    }
}

/// Why Arrow's columns do not fit a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrowError {
    /// The number of columns with this name is not one.
    #[error("field `{path}` is there {found} times, expected once")]
    Column {
        /// The path.
        path: String,
        /// The number of columns with this name.
        found: usize,
    },
    /// A column has another type.
    #[error("field `{path}` is {actual}, expected {expected}")]
    Type {
        /// The path.
        path: String,
        /// The type that the column should have.
        expected: String,
        /// The type of the column.
        actual: String,
    },
    /// A column has another number of records than the first one.
    #[error("field `{path}` has {actual} records, expected {expected} as in the first column")]
    Length {
        /// The path.
        path: String,
        /// The first column's number of records.
        expected: usize,
        /// The length of this column.
        actual: usize,
    },
    /// A buffer is too short.
    #[error("field `{path}` has a buffer of {actual} bytes, expected at least {expected}")]
    Buffer {
        /// The path.
        path: String,
        /// Bytes that the records need.
        expected: usize,
        /// Bytes that there are.
        actual: usize,
    },
    /// The number of records is unknown: they have no data and therefore no columns, and there is no other column.
    #[error("there is no column that says how many records there are, expected one of any name")]
    NoColumn,
    /// A null where the type has no [`Maybe`](dtype_runtime::Maybe).
    #[error("record {record}, field `{path}`: null, expected a value")]
    Null {
        /// The path.
        path: String,
        /// The index of the record.
        record: usize,
    },
    /// A [`Maybe`](dtype_runtime::Maybe) inside another one, or a `Maybe` of a value without data: the nulls could not be told apart.
    #[error("field `{path}` has a `Maybe` that a null cannot stand for")]
    Nested {
        /// The path.
        path: String,
    },
    /// Arrow refused to make an array or a batch.
    #[error("Arrow: {message}")]
    Array {
        /// Its reason.
        message: String,
    },
    /// The columns could not be made or read.
    #[error("{0}")]
    Records(Error),
}

impl ArrowError {
    /// The error of an item, with the number of the record that contains it.
    fn in_record(self, of: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::Null { path, record } => Self::Null { path, record: of(record) },
            Self::Records(Error::CheckFailed { record, path, of: what, reason }) => {
                let record = of(record);
                Self::Records(Error::CheckFailed { record, path, of: what, reason })
            }
            other => other,
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        Self::Records(error)
    }
}

/// The schema of the columns of a type.
///
/// ```
/// let schema = dtype_arrow::schema::<(u8, [f32; 3])>();
/// assert_eq!(schema.field(0).data_type(), &arrow_schema::DataType::UInt8);
/// ```
///
/// A list that is too long for Arrow:
///
/// ```compile_fail
/// dtype_arrow::schema::<[u8; 3_000_000_000]>();
/// ```
pub fn schema<T: Datatype>() -> Schema {
    const { refuse_long_lists(T::TYPE_MAP, 0) }
    Schema::new(Columns::<T>::all_fields().map(|field| arrow_field(&field)).collect::<Vec<_>>())
}

/// The columns as Arrow's fields and buffers. Only truth values are copied.
///
/// Records without data, such as `[(); 3]`, have no columns, so their number is lost.
///
/// # Errors
///
/// [`Error::NoField`] if a column was taken.
pub fn into_arrow<T: Datatype>(mut columns: Columns<T>) -> Result<Vec<ArrowColumn>, Error> {
    const { refuse_long_lists(T::TYPE_MAP, 0) }
    let len = columns.len();
    let column = |(index, field): (usize, ColumnField)| {
        let values = take_column(&mut columns, index, field.basic.align())?;
        let buffer = if field.basic.canonical() == Basic::Bool {
            BooleanBuffer::collect_bool(values.len(), |i| values[i] != 0).into_inner()
        } else {
            values
        };
        Ok(ArrowColumn { field: Arc::new(arrow_field(&field)), len, buffer, nulls: None })
    };
    Columns::<T>::all_fields().enumerate().map(column).collect()
}

/// The values of a column without conversion, aligned.
fn take_column<T: Datatype>(
    columns: &mut Columns<T>,
    index: usize,
    align: usize,
) -> Result<Buffer, Error> {
    Ok(match align {
        2 => Buffer::from_vec(columns.take_raw::<u16>(index)?),
        4 => Buffer::from_vec(columns.take_raw::<u32>(index)?),
        8 => Buffer::from_vec(columns.take_raw::<u64>(index)?),
        16 => Buffer::from_vec(columns.take_raw::<i128>(index)?),
        _ => Buffer::from_vec(columns.take_raw::<u8>(index)?),
    })
}

/// The columns of `T` from Arrow's fields and buffers, in any order, found by their names as [`from_batch`] does. The values
/// are checked when records are made of them. There are as many records as in the first column, which need not be one of `T`.
///
/// # Errors
///
/// - [`ArrowError::Column`] and [`ArrowError::Type`] if the columns are not those of `T`;
/// - [`ArrowError::Length`] and [`ArrowError::Buffer`] if a column has another length, or its buffer is too short;
/// - [`ArrowError::Null`] for a null where `T` has no [`Maybe`](dtype_runtime::Maybe);
/// - [`ArrowError::NoColumn`] if there is no column at all for records without data.
///
/// ```
/// use dtype_arrow::ArrowError;
/// use dtype_runtime::Maybe;
/// // A column of another writer, with a null.
/// let mut all = dtype_arrow::into_arrow(dtype_runtime::columns(&[(7_u8,), (0,)]))?;
/// all[0].nulls = Some(vec![true, false].into());
/// let records = dtype_arrow::from_arrow::<(Maybe<u8>,)>(&all)?.to_records()?;
/// assert_eq!(records, [(Maybe::some(7),), (Maybe::none(),)]);
/// let null = ArrowError::Null { path: "0".into(), record: 1 };
/// assert_eq!(dtype_arrow::from_arrow::<(u8,)>(&all).map(drop), Err(null));
///
/// // Three records without data have no column that would have three values.
/// let none = dtype_arrow::into_arrow(dtype_runtime::columns(&[(); 3]))?;
/// assert_eq!(dtype_arrow::from_arrow::<()>(&none).map(drop), Err(ArrowError::NoColumn));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_arrow<T: Datatype>(columns: &[ArrowColumn]) -> Result<Columns<T>, ArrowError> {
    const { refuse_long_lists(T::TYPE_MAP, 0) }
    if columns.is_empty() && T::TYPE_MAP.size() == 0 {
        return Err(ArrowError::NoColumn);
    }
    let records = columns.first().map_or(0, |column| column.len);
    let names = columns.iter().map(|column| column.field.name().as_str()).collect();
    let array = |index: usize| columns[index].array(records);
    Table { records, names, array: &array }.columns(ReadOptions::strict())
}

/// Refuses, at compile time, columns with longer axes than Arrow's lists can have. `longest` is the longest array around `map`.
const fn refuse_long_lists(map: &TypeMap, longest: usize) {
    match map.node() {
        Node::Basic { .. } => assert!(
            longest <= i32::MAX as usize,
            "this type has an array of more than `i32::MAX` elements, which Arrow's lists of fixed size cannot have"
        ),
        Node::Array { count, element } => {
            refuse_long_lists(element, if *count > longest { *count } else { longest });
        }
        Node::Structure { fields, .. } => {
            let mut i = 0;
            while i < fields.len() {
                if let Some(map) = fields[i].map() {
                    refuse_long_lists(map, longest);
                }
                i += 1;
            }
        }
    }
}

/// The field of a column.
fn arrow_field(field: &ColumnField) -> Field {
    let value = value_type(field.basic);
    let list = |of, length: &usize| list_of(of, *length, false);
    let all = field.lengths.iter().rev().fold(value, list);
    Field::new(field.path.as_str(), all, false)
}

/// Lists of a fixed length.
fn list_of(of: DataType, length: usize, nullable: bool) -> DataType {
    // Longer lists were refused at compile time.
    let length = i32::try_from(length).unwrap_or(i32::MAX);
    DataType::FixedSizeList(Arc::new(Field::new("item", of, nullable)), length)
}

/// The type of the values of a basic datatype.
fn value_type(basic: Basic) -> DataType {
    match (basic.numpy_kind(), basic.size()) {
        ('b', _) => DataType::Boolean,
        ('i', 1) => DataType::Int8,
        ('i', 2) => DataType::Int16,
        ('i', 4) => DataType::Int32,
        ('i', 8) => DataType::Int64,
        ('u' | 'S', 1) => DataType::UInt8,
        ('u', 2) => DataType::UInt16,
        ('u' | 'U', 4) => DataType::UInt32,
        ('u', 8) => DataType::UInt64,
        ('f', 2) => DataType::Float16,
        ('f', 4) => DataType::Float32,
        ('f', 8) => DataType::Float64,
        ('c', 8) => list_of(DataType::Float32, 2, false),
        ('c', 16) => list_of(DataType::Float64, 2, false),
        (_, size) => DataType::FixedSizeBinary(i32::try_from(size).unwrap_or(i32::MAX)),
    }
}

/// The code in the README is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
