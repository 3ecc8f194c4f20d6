//! `dtype.copy`.

use std::sync::Arc;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{array, check_writable};
use crate::correspondence::Correspondence;
use crate::error::of_engine;
use crate::layout::Layout;
use crate::remembered::Remembered;
use crate::transfer::Copies;

/// Two layouts, which keep their dtypes alive, and how the fields of one become those of the other.
struct Pair {
    from: Py<Layout>,
    to: Py<Layout>,
    correspondence: Correspondence,
}

/// By the addresses of both dtypes.
static KNOWN: Remembered<(usize, usize), Arc<Pair>> = Remembered::new();

impl Pair {
    fn of(from: &Bound<'_, PyUntypedArray>, to: &Bound<'_, PyUntypedArray>) -> PyResult<Arc<Self>> {
        let py = from.py();
        let (from, to) = (from.dtype(), to.dtype());
        let key = (from.as_ptr().addr(), to.as_ptr().addr());
        let is_current =
            |pair: &Arc<Self>| pair.from.get().is_current(py) && pair.to.get().is_current(py);
        if let Some(pair) = KNOWN.get(py, &key, |pair| is_current(pair).then(|| pair.clone())) {
            return Ok(pair);
        }
        let (from_layout, to_layout) = (Layout::of(&from)?, Layout::of(&to)?);
        let (one, other) = (&from_layout.get().item, &to_layout.get().item);
        let correspondence = Correspondence::new((&from, one), (&to, other))?;
        let pair = Arc::new(Self { from: from_layout, to: to_layout, correspondence });
        KNOWN.insert(py, key, pair.clone());
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
    let py = a.py();
    let mut a = array(a)?;
    let Ok(dst) = dst.cast::<PyUntypedArray>() else {
        let found = dst.get_type().name()?;
        return Err(PyTypeError::new_err(format!("dst: expected a NumPy array, found {found}")));
    };
    check_writable(dst, "dst")?;
    if a.shape() != dst.shape() {
        let (found, expected) = (a.getattr("shape")?, dst.getattr("shape")?);
        let text = format!("a has the shape {found}, expected {expected} as dst");
        return Err(PyValueError::new_err(text));
    }
    let pair = Pair::of(&a, dst)?;
    let to = pair.to.get().memory(dst)?;
    let mut from = pair.from.get().memory(&a)?;
    if from.meets(&to) {
        a = a.call_method0("copy")?.cast_into()?;
        from = pair.from.get().memory(&a)?;
    }
    pair.to.get().records.side(&to).and_then(|side| side.check_overlap()).map_err(of_engine)?;
    let copies = Copies { all: pair.correspondence.copies(&from, &to)?, records: to.count };
    pair.correspondence.cast(&a, dst)?;
    // SAFETY: this call holds both arrays, whose dtypes are those of the pair. `dst` is writable, its items do not overlap, as was
    // just checked, and neither do the two arrays.
    unsafe { copies.execute(py, threads, progress) }
}
