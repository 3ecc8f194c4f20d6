//! Dtypes in Python: makes them for a struct, and reads them to compare them with one.

use dtype_npy::{DateUnit, Dtype, DtypeField, Kind, NumpyOptions};
use dtype_runtime::Datatype;
use dtype_runtime::representation::ByteOrder;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::error::ArrayError;

/// How deeply dtypes may nest, so that none can exhaust the stack.
const MAX_NESTING: usize = 64;

/// The dtype of the memory of `T`: the names, formats and offsets of its fields, and its size.
///
/// # Errors
///
/// [`ArrayError::Python`]: an item is too large for NumPy, for instance.
pub fn dtype_of<T: Datatype>(py: Python<'_>) -> Result<Bound<'_, PyArrayDescr>, ArrayError> {
    make_dtype(py, &Dtype::of::<T>(&NumpyOptions::memory()))
}

/// The dtype of the packed records of `T`, without padding: of the bytes that [`pack`](dtype_runtime::pack()) returns. A text
/// consists of its length and its bytes there.
///
/// # Errors
///
/// As for [`dtype_of`].
pub fn packed_dtype_of<T: Datatype>(py: Python<'_>) -> Result<Bound<'_, PyArrayDescr>, ArrayError> {
    make_dtype(py, &Dtype::of::<T>(&NumpyOptions::packed()))
}

/// The dtype of the memory of `T`, if items of an array can have it. They cannot have the dtype of an array, because NumPy
/// replaces it by that of the elements, and adds axes.
pub(crate) fn item_dtype_of<T: Datatype>(
    py: Python<'_>,
) -> Result<Bound<'_, PyArrayDescr>, ArrayError> {
    check_item(dtype_of::<T>(py)?)
}

/// Checks that items of an array can have this dtype.
pub(crate) fn check_item(
    dtype: Bound<'_, PyArrayDescr>,
) -> Result<Bound<'_, PyArrayDescr>, ArrayError> {
    if dtype.has_subarray() { Err(ArrayError::Subarray) } else { Ok(dtype) }
}

/// Checks that records have data: bytes do not show the number of records without data.
pub(crate) fn check_data<T: Datatype>() -> Result<(), ArrayError> {
    if T::TYPE_MAP.size() == 0 { Err(ArrayError::NoData) } else { Ok(()) }
}

/// A dtype as Python's own.
///
/// # Errors
///
/// [`ArrayError::Python`]: an item is too large for NumPy, or two fields have one name.
pub fn make_dtype<'py>(
    py: Python<'py>,
    dtype: &Dtype,
) -> Result<Bound<'py, PyArrayDescr>, ArrayError> {
    Ok(PyArrayDescr::new(py, argument(py, dtype)?)?)
}

/// The argument of `numpy.dtype` that makes a dtype.
fn argument<'py>(py: Python<'py>, dtype: &Dtype) -> PyResult<Bound<'py, PyAny>> {
    match dtype.kind() {
        Kind::Structure { fields } => {
            let formats = fields.iter().map(|field| argument(py, &field.dtype));
            let all = PyDict::new(py);
            all.set_item("names", fields.iter().map(|field| &*field.name).collect::<Vec<_>>())?;
            all.set_item("formats", formats.collect::<PyResult<Vec<_>>>()?)?;
            all.set_item("offsets", fields.iter().map(|field| field.offset).collect::<Vec<_>>())?;
            all.set_item("itemsize", dtype.itemsize())?;
            Ok(all.into_any())
        }
        Kind::Array { lengths, element } => {
            (argument(py, element)?, PyTuple::new(py, lengths)?).into_bound_py_any(py)
        }
        // The text of the dtype is a Python string.
        _ => Ok(PyString::new(py, dtype.to_string().trim_matches('\'')).into_any()),
    }
}

/// A dtype of Python as a value, which can be compared with a Rust type.
///
/// # Errors
///
/// [`ArrayError::Foreign`], [`ArrayError::TooDeep`], [`ArrayError::Layout`], [`ArrayError::Python`].
pub fn read_dtype(dtype: &Bound<'_, PyAny>) -> Result<Dtype, ArrayError> {
    read(dtype, "", 0)
}

fn read(dtype: &Bound<'_, PyAny>, path: &str, depth: usize) -> Result<Dtype, ArrayError> {
    let layout = || ArrayError::Layout { field: path.to_owned() };
    let foreign =
        |kind: &str| ArrayError::Foreign { field: path.to_owned(), kind: kind.to_owned() };
    if depth > MAX_NESTING {
        return Err(ArrayError::TooDeep { field: path.to_owned(), limit: MAX_NESTING });
    }
    let subarray = dtype.getattr("subdtype")?;
    if !subarray.is_none() {
        let (element, lengths): (Bound<'_, PyAny>, Vec<u64>) = subarray.extract()?;
        let element = read(&element, path, depth + 1)?;
        return Dtype::array(&lengths, element).ok_or_else(layout);
    }
    let itemsize: u64 = dtype.getattr("itemsize")?.extract()?;
    let names = dtype.getattr("names")?;
    if names.is_none() {
        let kind: String = dtype.getattr("kind")?.extract()?;
        let order: String = dtype.getattr("byteorder")?.extract()?;
        let order = match order.as_str() {
            "<" => ByteOrder::Little,
            ">" => ByteOrder::Big,
            _ => ByteOrder::NATIVE,
        };
        return match kind.chars().next() {
            Some(letter @ ('b' | 'i' | 'u' | 'f' | 'c' | 'S' | 'U' | 'V' | 'm' | 'M')) => {
                let scalar =
                    Dtype::scalar(letter, itemsize, order).ok_or_else(|| foreign(&kind))?;
                // A date has its unit in the text of its format, `<M8[ns]`.
                let format: String = dtype.getattr("str")?.extract()?;
                let unit = format.strip_suffix(']').and_then(|text| text.split_once('['));
                let unit = unit.and_then(|(_, unit)| DateUnit::new(unit));
                Ok(match unit {
                    Some(unit) => scalar.with_unit(unit),
                    None => scalar,
                })
            }
            _ => Err(foreign(&kind)),
        };
    }
    let all = dtype.getattr("fields")?;
    let mut fields = Vec::new();
    for name in names.cast_into::<PyTuple>().map_err(PyErr::from)? {
        // The dtype, the offset, and perhaps a title.
        let field = all.get_item(&name)?;
        let name: String = name.extract()?;
        let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let dtype = read(&field.get_item(0)?, &inner, depth + 1)?;
        let offset: u64 = field.get_item(1)?.extract()?;
        fields.push(DtypeField { name, offset, dtype });
    }
    Dtype::structure(fields, itemsize).ok_or_else(layout)
}
