//! Structured arrays as columns, and columns as a structured array.

use std::sync::{Mutex, PoisonError};

use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::arrays::{array, empty, numpy};
use crate::layout::Layout;
use crate::memory::Memory;
use crate::transfer::Copies;

/// The fields of a structured array as one contiguous array each, in a dict.
///
/// >>> import numpy as np, dtype
/// >>> a = np.array([(1, 2.5), (2, 3.5)], [('id', 'u1'), ('value', '<f8')])
/// >>> dtype.columns(a)['value']
/// array([2.5, 3.5])
#[pyfunction]
#[pyo3(signature = (a, *, threads=1))]
pub(crate) fn columns<'py>(a: &Bound<'py, PyAny>, threads: usize) -> PyResult<Bound<'py, PyDict>> {
    let py = a.py();
    let a = array(a)?;
    let layout = Layout::of(&a.dtype())?;
    let layout = layout.get();
    let all = layout.columns(py)?;
    if all.is_empty() {
        return Err(PyTypeError::new_err(format!(
            "a has the dtype {}, expected fields",
            a.dtype()
        )));
    }
    let items = layout.memory(&a)?;
    let (made, mut copies) =
        (PyDict::new(py), Copies { all: Vec::with_capacity(all.len()), records: items.count });
    for column in all {
        let shape = [a.shape(), &column.shape[..]].concat();
        let dtype = column.dtype.bind(py).clone();
        if column.itemsize == 0 {
            // NumPy's new `S0` is an `S1`, which has memory.
            let shape = PyTuple::new(py, shape)?;
            made.set_item(&column.name, numpy(py)?.call_method1("zeros", (shape, dtype))?)?;
            continue;
        }
        let to = empty(dtype, &shape)?;
        copies.all.push(column.copy(&items, Memory::of(&to, 1).origin, true)?);
        made.set_item(&column.name, to)?;
    }
    // SAFETY: `a` and `made` hold the arrays. Those that are written are new.
    unsafe { copies.execute(py, threads, None)? };
    Ok(made)
}

/// The layout of the records that columns become, for columns with the same names, dtypes and axes.
struct Known {
    is_aligned: bool,
    columns: Vec<(Py<PyString>, Py<PyArrayDescr>, Vec<usize>)>,
    layout: Py<Layout>,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// How many of these are remembered.
const REMEMBERED: usize = 16;

type Named<'py> = (Bound<'py, PyString>, Bound<'py, PyUntypedArray>);

fn layout_of(py: Python<'_>, table: &[Named<'_>], is_aligned: bool) -> PyResult<Py<Layout>> {
    let is_this = |known: &Known| {
        known.is_aligned == is_aligned
            && known.columns.len() == table.len()
            && known.columns.iter().zip(table).all(|((name, dtype, shape), (wanted, column))| {
                (name.is(wanted) || wanted.as_any().eq(name).unwrap_or(false))
                    && column.dtype().is(dtype)
                    && column.shape()[1..] == shape[..]
            })
    };
    let known = || KNOWN.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known().iter().find(|known| is_this(known))
        && known.layout.get().is_current(py)
    {
        return Ok(known.layout.clone_ref(py));
    }
    let fields = table.iter().map(|(name, column)| {
        (name.clone(), column.dtype(), PyTuple::new(py, &column.shape()[1..]))
    });
    let fields = fields.map(|(name, dtype, shape)| Ok((name, dtype, shape?)));
    let fields = PyList::new(py, fields.collect::<PyResult<Vec<_>>>()?)?;
    let dtype = numpy(py)?.call_method1("dtype", (fields, is_aligned))?;
    let layout = Layout::of(dtype.cast()?)?;
    let one = |(name, column): &Named<'_>| {
        (name.clone().unbind(), column.dtype().unbind(), column.shape()[1..].to_vec())
    };
    let new = Known {
        is_aligned,
        columns: table.iter().map(one).collect(),
        layout: layout.clone_ref(py),
    };
    // Dropped when the lock is open: that may run code of Python.
    let _dropped;
    {
        let mut known = known();
        _dropped = (known.len() >= REMEMBERED).then(|| known.remove(0));
        known.push(new);
    }
    Ok(layout)
}

/// The new structured array of columns.
#[pyfunction]
pub(crate) fn new_records<'py>(
    table: &Bound<'py, PyDict>,
    aligned: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = table.py();
    let mut all = Vec::with_capacity(table.len());
    for (name, column) in table {
        let name = name.cast_into::<PyString>()?;
        let mut column = match column.cast_into::<PyUntypedArray>() {
            Ok(column) => column,
            Err(other) => numpy(py)?.call_method1("asarray", (other.into_inner(),))?.cast_into()?,
        };
        if !column.is_c_contiguous() {
            column = column.call_method0("copy")?.cast_into()?;
        }
        let found = column.shape().first().copied();
        let Some(found) = found else {
            return Err(PyValueError::new_err(format!(
                "field `{name}` is one value, expected an array"
            )));
        };
        let expected = all.first().map_or(found, |(_, first): &Named<'_>| first.shape()[0]);
        if found != expected {
            return Err(PyValueError::new_err(format!(
                "field `{name}` has {found} values, expected {expected} as in the first column"
            )));
        }
        all.push((name, column));
    }
    let Some((_, first)) = all.first() else {
        return Err(PyValueError::new_err("there are no columns"));
    };
    let count = first.shape()[0];
    let layout = layout_of(py, &all, aligned)?;
    let layout = layout.get();
    let out = empty(layout.dtype_object(py).clone(), &[count])?;
    let items = layout.memory(&out)?;
    let mut copies = Copies { all: Vec::with_capacity(all.len()), records: count };
    for (column, (_, values)) in layout.columns(py)?.iter().zip(&all) {
        copies.all.push(column.copy(&items, Memory::of(values, 1).origin, false)?);
    }
    // SAFETY: `all` and `out` hold the arrays, and `out` is new. Each column has the dtype and the axes of its field, as `layout_of`
    // compared, so it has as many bytes for each item.
    unsafe { copies.execute(py, threads, None)? };
    Ok(out)
}
