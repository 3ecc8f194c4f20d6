//! Columns of tables with Arrow's `PyCapsule` interface: of pyarrow, polars, pandas and others.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, make_array};
use arrow_schema::{ArrowError, DataType, SchemaRef, TimeUnit};
use numpy::{PyArray1, PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::arrays::{empty, numpy};
use crate::columns::new_records;
use crate::memory::Memory;

/// The columns of a table as a dict of arrays. Nulls are NaN among floats and `NaT` among times, and an error elsewhere.
#[pyfunction]
pub(crate) fn arrow_columns<'py>(table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = table.py();
    let (schema, batches) =
        if table.hasattr("__arrow_c_stream__")? { stream(table)? } else { batch(table)? };
    let columns = PyDict::new(py);
    for (index, field) in schema.fields().iter().enumerate() {
        let name = field.name();
        if columns.contains(name)? {
            return Err(PyValueError::new_err(format!("two columns have the name `{name}`")));
        }
        let parts: Vec<_> = batches.iter().map(|batch| batch.column(index).clone()).collect();
        columns.set_item(name, column(py, name, field.data_type(), &parts)?)?;
    }
    Ok(columns)
}

type Table = (SchemaRef, Vec<RecordBatch>);

fn stream(table: &Bound<'_, PyAny>) -> PyResult<Table> {
    let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name has a stream, as Arrow's PyCapsule interface says. The stream is moved out: the producer finds a
    // released one in the capsule, which it must not release again.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.cast().as_ptr()) };
    let reader = reader.map_err(refused)?;
    let schema = reader.schema();
    let batches = table.py().detach(|| reader.collect::<Result<_, _>>()).map_err(refused)?;
    Ok((schema, batches))
}

fn batch(table: &Bound<'_, PyAny>) -> PyResult<Table> {
    let capsules = table.call_method0("__arrow_c_array__")?;
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names have a schema and an array with that schema, as Arrow's PyCapsule interface says. `capsules`
    // keeps the schema. The array is moved out: the producer finds a released one in the capsule.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    let array = make_array(data.map_err(refused)?);
    match array.as_struct_opt() {
        Some(all) if all.null_count() == 0 => {
            let batch = RecordBatch::from(all);
            Ok((batch.schema(), vec![batch]))
        }
        Some(_) => Err(PyValueError::new_err("the table has rows that are null")),
        None => {
            let found = array.data_type();
            Err(PyTypeError::new_err(format!("the table is an array of {found}, expected structs")))
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("Arrow: {error}"))
}

/// The values of a column that comes in parts, as one array.
fn column<'py>(
    py: Python<'py>,
    name: &str,
    ty: &DataType,
    parts: &[ArrayRef],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let array = values(py, name, ty, parts)?;
    let nulls: usize = parts.iter().map(Array::logical_null_count).sum();
    if nulls == 0 {
        return Ok(array);
    }
    let none = match ty {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => "nan",
        ty if ty.is_temporal() => "NaT",
        _ => {
            let nulls = if nulls == 1 { "a null".to_owned() } else { format!("{nulls} nulls") };
            return Err(PyValueError::new_err(format!(
                "field `{name}` has {nulls}, and {ty} has no value for that"
            )));
        }
    };
    let is_null = empty(PyArrayDescr::of::<bool>(py), &[array.len()])?;
    fill(&is_null, |at| {
        for part in parts {
            let nulls = part.logical_nulls();
            at.extend(
                (0..part.len())
                    .map(|row| u8::from(nulls.as_ref().is_some_and(|all| all.is_null(row)))),
            );
        }
    });
    array.set_item(is_null, none)?;
    Ok(array)
}

/// The values, whatever they are where there are nulls.
fn values<'py>(
    py: Python<'py>,
    name: &str,
    ty: &DataType,
    parts: &[ArrayRef],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let len = parts.iter().map(Array::len).sum::<usize>();
    let filled = |text: &str, write: &dyn Fn(&ArrayRef, &mut Vec<u8>)| {
        let array = empty(PyArrayDescr::new(py, text)?, &[len])?;
        fill(&array, |out| parts.iter().for_each(|part| write(part, out)));
        Ok::<_, PyErr>(array)
    };
    let plain = |text: &str, width: usize| {
        filled(text, &|part, out| {
            let data = part.to_data();
            let start = data.offset() * width;
            out.extend_from_slice(&data.buffers()[0][start..start + data.len() * width]);
        })
    };
    // Days and times of 32 bits, which NumPy has with 64.
    let widened = |text: &str| {
        filled(text, &|part, out| {
            let data = part.to_data();
            let all = &data.buffer::<i32>(0)[..data.len()];
            out.extend(all.iter().flat_map(|number| i64::from(*number).to_ne_bytes()));
        })
    };
    Ok(match ty {
        DataType::Boolean => filled("?", &|part, out| {
            out.extend(part.as_boolean().values().iter().map(u8::from));
        })?,
        _ if ty.is_numeric() && ty.primitive_width().is_some_and(|width| width <= 8) => {
            let letter = match ty {
                _ if ty.is_floating() => 'f',
                _ if ty.is_signed_integer() => 'i',
                _ if ty.is_unsigned_integer() => 'u',
                other => return Err(refused_type(name, other)),
            };
            let width = ty.primitive_width().unwrap_or(1);
            plain(&format!("{letter}{width}"), width)?
        }
        DataType::Timestamp(unit, _) => plain(&format!("M8[{}]", symbol(*unit)), 8)?,
        DataType::Duration(unit) | DataType::Time64(unit) => {
            plain(&format!("m8[{}]", symbol(*unit)), 8)?
        }
        DataType::Time32(unit) => widened(&format!("m8[{}]", symbol(*unit)))?,
        DataType::Date32 => widened("M8[D]")?,
        DataType::Date64 => plain("M8[ms]", 8)?,
        DataType::FixedSizeBinary(width) => {
            plain(&format!("V{width}"), usize::try_from(*width).unwrap_or(0))?
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => strings(py, parts, true)?,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            strings(py, parts, false)?
        }
        DataType::FixedSizeList(item, length) => {
            let inner: Vec<_> = parts
                .iter()
                .map(|part| child(part, 0, usize::try_from(*length).unwrap_or(0)))
                .collect();
            let flat = column(py, &format!("{name}[]"), item.data_type(), &inner)?;
            flat.call_method1("reshape", ((len, *length),))?.cast_into()?
        }
        DataType::Struct(fields) => {
            let all = PyDict::new(py);
            for (index, field) in fields.iter().enumerate() {
                let inner: Vec<_> = parts.iter().map(|part| child(part, index, 1)).collect();
                let path = format!("{name}.{}", field.name());
                all.set_item(field.name(), column(py, &path, field.data_type(), &inner)?)?;
            }
            new_records(&all, false, 1)?
        }
        DataType::Dictionary(_, of) => {
            let nulls = parts.iter().map(Array::logical_null_count).sum::<usize>();
            if nulls > 0 {
                return Err(PyValueError::new_err(format!(
                    "field `{name}` has nulls ({nulls}), and its values have none"
                )));
            }
            let mut all = vec![column(py, name, of, &[])?];
            for part in parts.iter().filter(|part| !part.is_empty()) {
                let part = part.as_any_dictionary();
                let keys = PyArray1::from_vec(py, part.normalized_keys());
                let values = column(py, name, of, std::slice::from_ref(part.values()))?;
                all.push(values.get_item(keys)?.cast_into()?);
            }
            numpy(py)?.call_method1("concatenate", (all,))?.cast_into()?
        }
        other => return Err(refused_type(name, other)),
    })
}

fn refused_type(name: &str, ty: &DataType) -> PyErr {
    PyTypeError::new_err(format!("field `{name}` is {ty}, expected values of a fixed size or text"))
}

fn symbol(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

/// The values of an array's child that belong to the array.
fn child(part: &ArrayRef, index: usize, each: usize) -> ArrayRef {
    let data = part.to_data();
    make_array(data.child_data()[index].slice(data.offset() * each, data.len() * each))
}

/// The bytes of the texts, or of the binary values.
fn bytes_of(part: &ArrayRef) -> Vec<&[u8]> {
    fn all<'a, T: AsRef<[u8]> + ?Sized + 'a>(
        values: impl Iterator<Item = Option<&'a T>>,
    ) -> Vec<&'a [u8]> {
        values.map(|value| value.map_or(&[][..], AsRef::as_ref)).collect()
    }
    match part.data_type() {
        DataType::Utf8 => all(part.as_string::<i32>().iter()),
        DataType::LargeUtf8 => all(part.as_string::<i64>().iter()),
        DataType::Utf8View => all(part.as_string_view().iter()),
        DataType::Binary => all(part.as_binary::<i32>().iter()),
        DataType::LargeBinary => all(part.as_binary::<i64>().iter()),
        _ => all(part.as_binary_view().iter()),
    }
}

/// Texts as an array of `U`, and bytes as one of `S`, as long as the longest of them.
fn strings<'py>(
    py: Python<'py>,
    parts: &[ArrayRef],
    is_text: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let all: Vec<&[u8]> = parts.iter().flat_map(bytes_of).collect();
    let characters = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().count();
    let length = |bytes: &&[u8]| if is_text { characters(bytes) } else { bytes.len() };
    let longest = all.iter().map(length).max().unwrap_or(0).max(1);
    let (letter, width) = if is_text { ('U', 4 * longest) } else { ('S', longest) };
    let array = empty(PyArrayDescr::new(py, format!("{letter}{longest}"))?, &[all.len()])?;
    fill(&array, |out| {
        for (row, one) in all.iter().enumerate() {
            if is_text {
                let text = String::from_utf8_lossy(one);
                out.extend(text.chars().flat_map(|one| u32::from(one).to_ne_bytes()));
            } else {
                out.extend_from_slice(one);
            }
            out.resize((row + 1) * width, 0);
        }
    });
    Ok(array)
}

/// Fills a new array with bytes that are written to the end of a vector.
fn fill(array: &Bound<'_, PyUntypedArray>, write: impl FnOnce(&mut Vec<u8>)) {
    let memory = Memory::of(array, 1);
    let len = array.len() * array.dtype().itemsize();
    let mut bytes = Vec::with_capacity(len);
    write(&mut bytes);
    let len = len.min(bytes.len());
    // SAFETY: a new contiguous array of at least `len` bytes, which nothing else has.
    unsafe { memory.origin.copy_from_nonoverlapping(bytes.as_ptr(), len) };
}
