//! Columns of records as Arrow's fields and buffers.
//!
//! A column is a field of a schema and the buffer of its values, in Arrow's memory format and without a copy: what an array
//! of any Arrow implementation is made of. The name of the field is the path of the column.
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
//! Nothing is null here. With the feature `arrow-array`, `to_batch` and `from_batch` make a `RecordBatch` of records and back, with
//! strings, nulls, times and structs.
//!
//! A type with an array of more than `i32::MAX` elements does not compile here: Arrow's lists of fixed size
//! are not longer.
//!
//! ```
//! use dtype_runtime::{arrow, columns};
//!
//! let records = [(1_u32, [0.5_f64, 1.5], true), (2, [2.5, 3.5], false)];
//! let all = arrow::into_arrow(columns(&records))?;
//! assert_eq!(all[0].field.to_string(), "Field { \"0\": UInt32 }");
//! assert_eq!(all[1].buffer.typed_data::<f64>(), [0.5, 1.5, 2.5, 3.5]);
//! assert_eq!(all[2].buffer.as_slice(), [0b01]);
//! assert_eq!(arrow::from_arrow::<(u32, [f64; 2], bool)>(&all)?.to_records()?, records);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "arrow-array")]
mod batch;
#[cfg(feature = "arrow-array")]
mod read;
#[cfg(feature = "arrow-array")]
mod write;

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_schema::{DataType, Field, FieldRef, Schema};

use crate::basic::Basic;
use crate::columns::{ColumnField, Columns};
use crate::datatype::Datatype;
use crate::error::Error;
use crate::typemap::{Node, TypeMap};

#[cfg(feature = "arrow-array")]
pub use batch::{BatchOptions, batch_schema, from_batch, to_batch};

/// A column: a field of a schema, and the values.
#[derive(Clone, Debug)]
pub struct ArrowColumn {
    /// The field, whose name is the path.
    pub field: FieldRef,
    /// The number of records.
    pub len: usize,
    /// The values; those of the innermost elements, if the field is a list of fixed size. The first record's come first: cut
    /// the buffer of a slice that begins inside of it, with `Buffer::slice` or `BooleanBuffer::sliced`.
    pub buffer: Buffer,
}

/// Why columns of Arrow do not fit a type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrowError {
    /// There is no such column, or two.
    Column {
        /// The path.
        path: String,
        /// The number of columns with this name.
        found: usize,
    },
    /// A column has another type, or it or its lists may have nulls.
    Type {
        /// The path.
        path: String,
        /// The type that the column should have.
        expected: String,
        /// The type of the column.
        actual: String,
    },
    /// A column has another number of records than the first one.
    Length {
        /// The path.
        path: String,
        /// The first column's number of records.
        expected: usize,
        /// The length of this column.
        actual: usize,
    },
    /// A buffer is too short.
    Buffer {
        /// The path.
        path: String,
        /// Bytes that the records need.
        expected: usize,
        /// Bytes that there are.
        actual: usize,
    },
    /// The number of records is unknown: they have no data and so no columns, and there is no other column.
    NoColumn,
    /// A null where the type has no [`Maybe`](crate::Maybe).
    Null {
        /// The path.
        path: String,
        /// The index of the record.
        record: usize,
    },
    /// A [`Maybe`](crate::Maybe) in another one, or of a value without data: one kind of null cannot say which is absent.
    Nested {
        /// The path.
        path: String,
    },
    /// Arrow refused to make an array or a batch.
    Array {
        /// Its reason.
        message: String,
    },
    /// The columns could not be made or read.
    Records(Error),
}

impl fmt::Display for ArrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column { path, found } => {
                write!(f, "field `{path}` is there {found} times, expected once")
            }
            Self::Type { path, expected, actual } => {
                write!(f, "field `{path}` is {actual}, expected {expected}")
            }
            Self::Length { path, expected, actual } => {
                write!(
                    f,
                    "field `{path}` has {actual} records, expected {expected} as in the first column"
                )
            }
            Self::Buffer { path, expected, actual } => {
                write!(
                    f,
                    "field `{path}` has a buffer of {actual} bytes, expected at least {expected}"
                )
            }
            Self::NoColumn => f.write_str(
                "there is no column that says how many records there are, expected one of any name",
            ),
            Self::Null { path, record } => {
                write!(f, "record {record}, field `{path}`: null, expected a value")
            }
            Self::Nested { path } => {
                write!(f, "field `{path}` has a `Maybe` that a null cannot stand for")
            }
            Self::Array { message } => write!(f, "Arrow: {message}"),
            Self::Records(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for ArrowError {}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        Self::Records(error)
    }
}

/// The schema of the columns of a type.
///
/// ```
/// let schema = dtype_runtime::arrow::schema::<(u8, [f32; 3])>();
/// assert_eq!(schema.field(0).data_type(), &arrow_schema::DataType::UInt8);
/// ```
///
/// A list that is too long for Arrow:
///
/// ```compile_fail
/// dtype_runtime::arrow::schema::<[u8; 3_000_000_000]>();
/// ```
pub fn schema<T: Datatype>() -> Schema {
    const { refuse_long_lists(T::TYPE_MAP, 0) }
    Schema::new(Columns::<T>::all_fields().map(|field| arrow_field(&field)).collect::<Vec<_>>())
}

/// The columns as Arrow's fields and buffers. Only truth values are copied.
///
/// Records without data, such as `[(); 3]`, have no columns, and so nothing says how many they were.
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
        Ok(ArrowColumn { field: Arc::new(arrow_field(&field)), len, buffer })
    };
    Columns::<T>::all_fields().enumerate().map(column).collect()
}

/// The values of a column as they are, aligned.
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

/// The columns of `T` from Arrow's fields and buffers, in any order, found by their names. The values are checked when records
/// are made of them. There are as many records as in the first column, which need not be one of `T`.
///
/// # Errors
///
/// [`ArrowError`] if a column is missing, is there twice, has another type or length, or its buffer is too short; and if there
/// is no column at all for records without data.
///
/// ```
/// use dtype_runtime::arrow::{self, ArrowError};
/// // Three records without data have no column that would have three values.
/// let none = arrow::into_arrow(dtype_runtime::columns(&[(); 3]))?;
/// assert_eq!(arrow::from_arrow::<()>(&none).map(drop), Err(ArrowError::NoColumn));
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn from_arrow<T: Datatype>(columns: &[ArrowColumn]) -> Result<Columns<T>, ArrowError> {
    const { refuse_long_lists(T::TYPE_MAP, 0) }
    if columns.is_empty() && Columns::<T>::all_fields().len() == 0 {
        return Err(ArrowError::NoColumn);
    }
    let len = columns.first().map_or(0, |column| column.len);
    // All are checked before there is memory for as many records as they claim to have.
    let fields = Columns::<T>::all_fields().map(|field| {
        let values = values_of_column(columns, &field, len)?;
        Ok((field, values))
    });
    let fields = fields.collect::<Result<Vec<_>, ArrowError>>()?;
    let mut columns = Columns::<T>::zeroed(len)?;
    for (index, (field, (elements, bytes))) in fields.into_iter().enumerate() {
        if field.basic.canonical() == Basic::Bool {
            let values: Vec<u8> = (0..elements).map(|i| bytes[i / 8] >> (i % 8) & 1).collect();
            columns.set_raw(index, &values)?;
        } else {
            columns.set_raw(index, bytes)?;
        }
    }
    Ok(columns)
}

/// The column of a field in `len` records: the number of its elements, and their bytes.
fn values_of_column<'a>(
    columns: &'a [ArrowColumn],
    field: &ColumnField,
    len: usize,
) -> Result<(usize, &'a [u8]), ArrowError> {
    let path = &field.path;
    let mut found = columns.iter().filter(|column| column.field.name() == path);
    let (Some(column), 0) = (found.next(), found.clone().count()) else {
        let found = columns.iter().filter(|column| column.field.name() == path).count();
        return Err(ArrowError::Column { path: path.clone(), found });
    };
    let expected = arrow_field(field);
    // The name of a list's items does not count: files of Parquet have another one.
    let is_same = column.field.data_type().equals_datatype(expected.data_type());
    if !is_same || column.field.is_nullable() {
        let (expected, actual) = (expected.to_string(), column.field.to_string());
        return Err(ArrowError::Type { path: path.clone(), expected, actual });
    }
    if column.len != len {
        let (expected, actual) = (len, column.len);
        return Err(ArrowError::Length { path: path.clone(), expected, actual });
    }
    // More bytes than can be counted are more than the buffer has.
    let elements = field.lengths.iter().product::<usize>().saturating_mul(len);
    let is_bits = field.basic.canonical() == Basic::Bool;
    let expected =
        if is_bits { elements.div_ceil(8) } else { elements.saturating_mul(field.basic.size()) };
    let bytes = column.buffer.as_slice();
    match bytes.get(..expected) {
        Some(bytes) => Ok((elements, bytes)),
        None => Err(ArrowError::Buffer { path: path.clone(), expected, actual: bytes.len() }),
    }
}

/// Refuses, at compile time, columns with more elements on an axis than Arrow's lists have. `longest` is the longest array
/// around `map`.
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
