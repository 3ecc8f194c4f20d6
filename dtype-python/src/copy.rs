//! `dtype.copy`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::arrays::{array, check_writable};
use crate::correspondence::Correspondence;
use crate::layout::{Layout, REMEMBERED};
use crate::memory::Memory;
use crate::transfer::Copies;

/// Two layouts, which keep their dtypes alive, and how the fields of one become those of the other.
struct Pair {
    from: Py<Layout>,
    to: Py<Layout>,
    correspondence: Correspondence,
}

/// By the addresses of both dtypes.
type Pairs = HashMap<(usize, usize), Arc<Pair>>;

static KNOWN: Mutex<Option<Pairs>> = Mutex::new(None);

impl Pair {
    fn of(from: &Bound<'_, PyUntypedArray>, to: &Bound<'_, PyUntypedArray>) -> PyResult<Arc<Self>> {
        let py = from.py();
        let (from, to) = (from.dtype(), to.dtype());
        let key = (from.as_ptr().addr(), to.as_ptr().addr());
        let known = || KNOWN.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let found = known().as_ref().and_then(|all| all.get(&key).cloned());
        if let Some(pair) = found
            && pair.from.get().is_current(py)
            && pair.to.get().is_current(py)
        {
            return Ok(pair);
        }
        let (from_layout, to_layout) = (Layout::of(&from)?, Layout::of(&to)?);
        let (one, other) = (&from_layout.get().item, &to_layout.get().item);
        let correspondence = Correspondence::new((&from, one), (&to, other))?;
        let pair = Arc::new(Self { from: from_layout, to: to_layout, correspondence });
        let _dropped;
        {
            let mut known = known();
            let all = known.get_or_insert_default();
            _dropped = (
                (all.len() >= REMEMBERED).then(|| std::mem::take(all)),
                all.insert(key, pair.clone()),
            );
        }
        Ok(pair)
    }
}

/// Copies the items of an array to those of another one, field by field, by name.
///
/// ``dst`` has the shape of ``a``. ``a`` has every field of ``dst``, in any order and at any offset, and perhaps others. Its values
/// may be in the other byte order, and of any type that ``numpy.can_cast`` calls safe: ``f4`` for ``f8``, ``S4`` for ``S8``.
/// ``threads`` and ``progress`` are those of :meth:`Layout.pack`.
///
/// >>> import numpy as np, dtype
/// >>> a = np.array([(1, 2.5, 7)], [('id', '<u2'), ('value', '<f4'), ('kind', 'u1')])
/// >>> b = np.zeros(1, [('value', '<f8'), ('id', '>u2')])
/// >>> dtype.copy(a, b)
/// >>> b
/// array([(2.5, 1)], dtype=[('value', '<f8'), ('id', '>u2')])
#[pyfunction]
#[pyo3(signature = (a, dst, *, threads=1, progress=None))]
pub(crate) fn copy<'py>(
    a: &Bound<'py, PyAny>,
    dst: &Bound<'py, PyAny>,
    threads: usize,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<()> {
    all(a.py(), &[(None, array(a)?, dst.clone())], None, threads, progress)
}

/// Copies the columns of this many records, all at once: ``arrays`` has the name of each, for errors, and both arrays.
#[pyfunction]
#[pyo3(signature = (arrays, records, threads))]
pub(crate) fn copy_all(
    py: Python<'_>,
    arrays: Vec<(Option<String>, Bound<'_, PyUntypedArray>, Bound<'_, PyAny>)>,
    records: usize,
    threads: usize,
) -> PyResult<()> {
    all(py, &arrays, Some(records), threads, None)
}

fn all<'py>(
    py: Python<'py>,
    arrays: &[(Option<String>, Bound<'py, PyUntypedArray>, Bound<'py, PyAny>)],
    records: Option<usize>,
    threads: usize,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<()> {
    let mut ready = Vec::with_capacity(arrays.len());
    for (name, a, dst) in arrays {
        let one = prepare(a, dst).map_err(|error| match name {
            None => error,
            Some(name) => named(py, name, &error),
        });
        ready.push(one?);
    }
    let records = records.unwrap_or_else(|| ready[0].3.0.count);
    let mut copies = Copies { all: Vec::new(), records };
    for (pair, from, to, memories) in &ready {
        let (one, other) = memories;
        copies.all.extend(pair.correspondence.copies(one, other)?);
        pair.correspondence.cast(from, to)?;
    }
    // SAFETY: `ready` holds the arrays, whose dtypes are those of the pairs. Those that are written are writable, their items do not
    // overlap, and neither do the arrays of a pair, as `prepare` has checked. `copy_all` is called with new arrays, or with
    // different fields of one.
    unsafe { copies.execute(py, threads, progress) }
}

/// The error of a column, with its name.
fn named(py: Python<'_>, name: &str, error: &PyErr) -> PyErr {
    let text = format!("field `{name}`: {}", error.value(py));
    error.get_type(py).call1((text,)).map_or_else(|error| error, |value| PyErr::from_value(value))
}

type Ready<'py> =
    (Arc<Pair>, Bound<'py, PyUntypedArray>, Bound<'py, PyUntypedArray>, (Memory, Memory));

/// Checks two arrays, and returns what is needed to copy one to the other.
fn prepare<'py>(a: &Bound<'py, PyUntypedArray>, dst: &Bound<'py, PyAny>) -> PyResult<Ready<'py>> {
    let mut a = a.clone();
    let Ok(dst) = dst.cast::<PyUntypedArray>() else {
        let found = dst.get_type().name()?;
        return Err(PyTypeError::new_err(format!("dst: expected a NumPy array, found {found}")));
    };
    check_writable(dst, "dst")?;
    if a.shape() != dst.shape() {
        let (found, expected) = (a.getattr("shape")?, dst.getattr("shape")?);
        return Err(PyValueError::new_err(format!(
            "a has the shape {found}, expected {expected} as dst"
        )));
    }
    let pair = Pair::of(&a, dst)?;
    let to = pair.to.get().memory(dst)?;
    let mut from = pair.from.get().memory(&a)?;
    if from.meets(&to) {
        a = a.call_method0("copy")?.cast_into()?;
        from = pair.from.get().memory(&a)?;
    }
    Ok((pair, a, dst.clone(), (from, to)))
}
