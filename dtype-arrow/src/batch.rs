//! Records as a `RecordBatch`, and back.
//!
//! | Rust | Arrow |
//! |---|---|
//! | [`FixedStr`](dtype_runtime::FixedStr) | `Utf8`; `LargeUtf8` and `Utf8View` are read, too |
//! | [`FixedVec`](dtype_runtime::FixedVec) | `List`; `LargeList` is read, too |
//! | [`Maybe`](dtype_runtime::Maybe) | the column of the value, with nulls |
//! | [`Timestamp`](dtype_runtime::Timestamp), [`TimeSpan`](dtype_runtime::TimeSpan) | `Timestamp` in UTC, `Duration` |
//! | a struct in a struct | columns with dots in their names, or with [`BatchOptions::with_structs`] a `Struct` |
//! | a struct in a `Maybe` | a `Struct` |
//! | anything else | as in [the columns](crate) |

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use crate::ArrowError;
use crate::read::Table;
use crate::write::{Made, Writing};
use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::{Datatype, columns};
use dtype_stored::{ReadOptions, joined};

/// How records are converted to a `RecordBatch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchOptions {
    /// Whether a struct in a record is a column of the type `Struct`. Otherwise each of its fields is a column, with the path as
    /// its name.
    pub structs: bool,
}

impl BatchOptions {
    /// A column for each field, and none of the type `Struct`.
    pub const fn flat() -> Self {
        Self { structs: false }
    }

    /// A column of the type `Struct` for each struct in a record.
    #[must_use]
    pub const fn with_structs(mut self) -> Self {
        self.structs = true;
        self
    }
}

/// The records as a `RecordBatch`. Numbers are copied only once, into columns.
///
/// # Errors
///
/// - [`ArrowError::Column`] for records that are a single value, which has no name for a column;
/// - [`ArrowError::Nested`] for a `Maybe` in a `Maybe`;
/// - [`ArrowError::Array`] for records without data, and for a column with more text, or more items of lists, than an `i32`
///   counts.
///
/// ```
/// use dtype_arrow::BatchOptions;
/// use dtype_runtime::{Datatype, FixedStr, Maybe};
///
/// #[derive(Datatype, Clone, Debug, PartialEq)]
/// struct Reading {
///     station: FixedStr<8>,
///     value: Maybe<f64>,
/// }
///
/// let readings = [
///     Reading { station: "Ost".parse()?, value: Some(1.5).into() },
///     Reading { station: "Süd".parse()?, value: None.into() },
/// ];
/// let batch = dtype_arrow::to_batch(&readings, &BatchOptions::flat())?;
/// assert_eq!(batch.column(1).null_count(), 1);
/// assert_eq!(dtype_arrow::from_batch::<Reading>(&batch, &Default::default())?, readings);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_batch<T: Datatype>(
    records: &[T],
    options: &BatchOptions,
) -> Result<RecordBatch, ArrowError> {
    const { crate::refuse_long_lists(T::TYPE_MAP, 0) }
    let mut writing = Writing::new(columns(records))?;
    let mut all = Vec::new();
    for (path, lengths, map) in parts(T::TYPE_MAP, options.structs) {
        if path.is_empty() {
            return Err(ArrowError::Column { path, found: 0 });
        }
        let Made { array, nullable } = writing.lists(map, &lengths, records.len(), &path)?;
        all.push((path, array, nullable));
    }
    let batch = RecordBatch::try_from_iter_with_nullable(all);
    batch.map_err(|error| ArrowError::Array { message: error.to_string() })
}

/// The schema of [`to_batch`].
///
/// # Errors
///
/// As for [`to_batch`].
pub fn batch_schema<T: Datatype>(options: &BatchOptions) -> Result<Schema, ArrowError> {
    Ok(to_batch::<T>(&[], options)?.schema().as_ref().clone())
}

/// The records of a `RecordBatch`, whose columns are found by name. A struct in a record is a `Struct`, or columns with dots in
/// their names; so is a string, a list or an optional value that is not a column of its own. Other columns are ignored. A
/// column without nulls may be nullable, and so may the items of its lists.
///
/// Of the options, only [`number_conversion`](ReadOptions::number_conversion) has an effect.
///
/// # Errors
///
/// - [`ArrowError::Column`] and [`ArrowError::Type`] if the columns are not those of `T`;
/// - [`ArrowError::Null`] for a null where `T` has no [`Maybe`](dtype_runtime::Maybe);
/// - [`ArrowError::Records`] for a value that `T` cannot have: a text that is too long, for example.
pub fn from_batch<T: Datatype>(
    batch: &RecordBatch,
    options: &ReadOptions,
) -> Result<Vec<T>, ArrowError> {
    const { crate::refuse_long_lists(T::TYPE_MAP, 0) }
    let fields = batch.schema_ref().fields();
    let names = fields.iter().map(|field| field.name().as_str()).collect();
    let array = |index: usize| Ok(batch.column(index).clone());
    let table = Table { records: batch.num_rows(), names, array: &array };
    Ok(table.columns::<T>(*options)?.to_records()?)
}

/// The columns: for each, its path, the lengths of the arrays around its values, and the map of the values.
fn parts(map: &'static TypeMap, structs: bool) -> Vec<(String, Vec<usize>, &'static TypeMap)> {
    let mut all = Vec::new();
    collect(map, structs, true, (String::new(), Vec::new()), &mut all);
    all
}

fn collect(
    map: &'static TypeMap,
    structs: bool,
    is_record: bool,
    (path, mut lengths): (String, Vec<usize>),
    all: &mut Vec<(String, Vec<usize>, &'static TypeMap)>,
) {
    if map.size() == 0 {
        return;
    }
    match *map.node() {
        Node::Array { count, element } => {
            lengths.push(count);
            collect(element, structs, is_record, (path, lengths), all);
        }
        Node::Structure { fields, .. } if map.meaning().is_none() && (is_record || !structs) => {
            for field in fields {
                if let Some(map) = field.map() {
                    let at = (joined(&path, field.name()), lengths.clone());
                    collect(map, structs, false, at, all);
                }
            }
        }
        _ => all.push((path, lengths, map)),
    }
}
