//! `dtype.Layout`.

use std::sync::{Mutex, PoisonError};

use dtype_npy::Dtype;
use dtype_show::Theme;
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods, npyffi};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};

use crate::arrays::{Lent, array, check_writable, element, empty, numpy};
use crate::column::Column;
use crate::error::{of_dtype, of_engine};
use crate::memory::{Item, Memory, Side};
use crate::picture;
use crate::remembered::Remembered;
use crate::transfer::{Copies, Copy};

/// The layout of an item of a NumPy array, compiled for packing and unpacking.
///
/// ``description`` is a dtype, or what ``numpy.dtype`` takes; or a text: of a dtype, or the declaration of a struct in C or in
/// Rust. The layout of a dtype is remembered, so making it again takes no time.
///
/// >>> import numpy as np, dtype
/// >>> layout = dtype.Layout([('id', 'u1'), ('value', 'f8')])
/// >>> layout.packed_size
/// 9
/// >>> layout = dtype.Layout('struct Sample { char id; double value; };')
/// >>> layout.itemsize, layout.packed_size
/// (16, 9)
#[pyclass(frozen, weakref, module = "dtype")]
pub(crate) struct Layout {
    dtype: Py<PyArrayDescr>,
    /// The dtypes of all structures in it, each with its tuple of names: NumPy allows the names of a dtype to be assigned.
    names: Vec<(Py<PyArrayDescr>, Py<PyAny>)>,
    pub(crate) item: Dtype,
    pub(crate) records: Item,
    packed: PyOnceLock<Py<PyArrayDescr>>,
    aligned: PyOnceLock<Py<Layout>>,
    columns: PyOnceLock<Vec<Column>>,
    /// A dtype of an array that was found to be equal.
    equal: Mutex<Option<Py<PyArrayDescr>>>,
}

/// The layouts of dtypes, by the address of the dtype, which the layout keeps alive.
static KNOWN: Remembered<usize, Py<Layout>> = Remembered::new();

impl Layout {
    /// The layout of a dtype, remembered.
    pub(crate) fn of(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<Py<Self>> {
        let py = dtype.py();
        let key = dtype.as_ptr().addr();
        let current = |layout: &Py<Self>| layout.get().is_current(py).then(|| layout.clone_ref(py));
        if let Some(layout) = KNOWN.get(py, &key, current) {
            return Ok(layout);
        }
        let layout = Py::new(py, Self::new(dtype)?)?;
        KNOWN.insert(py, key, layout.clone_ref(py));
        Ok(layout)
    }

    fn new(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<Self> {
        let item = dtype_numpy::read_dtype(dtype).map_err(of_dtype)?;
        let mut names = Vec::new();
        all_names(dtype, &mut names)?;
        Ok(Self {
            dtype: dtype.clone().unbind(),
            names,
            records: Item::new(&item.datatype().map_err(of_engine)?),
            item,
            packed: PyOnceLock::new(),
            aligned: PyOnceLock::new(),
            columns: PyOnceLock::new(),
            equal: Mutex::default(),
        })
    }

    /// Whether the dtype has the names that it had.
    #[inline]
    pub(crate) fn is_current(&self, py: Python<'_>) -> bool {
        let is_same = |(dtype, names): &(Py<PyArrayDescr>, Py<PyAny>)| {
            let dtype = dtype.bind(py).as_dtype_ptr();
            // SAFETY: a dtype that this layout keeps alive. The pointer is only compared.
            std::ptr::eq(unsafe { npyffi::PyDataType_NAMES(py, dtype) }, names.as_ptr())
        };
        self.names.iter().all(is_same)
    }

    #[inline]
    fn itemsize_of(&self) -> usize {
        // The size of an item in memory.
        usize::try_from(self.item.itemsize()).unwrap_or(usize::MAX)
    }

    /// The memory of an array with this layout.
    #[inline]
    pub(crate) fn memory(&self, array: &Bound<'_, PyUntypedArray>) -> PyResult<Memory> {
        let py = array.py();
        let dtype = array.dtype();
        if !dtype.is(&self.dtype) && !self.is_equal(&dtype) {
            // An array of objects is refused for that reason first.
            Self::of(&dtype)?;
            let text = crate::helper(py, "difference", (&self.dtype, dtype))?;
            return Err(PyTypeError::new_err(text.unbind()));
        }
        Ok(Memory::of(array, self.itemsize_of()))
    }

    fn is_equal(&self, dtype: &Bound<'_, PyArrayDescr>) -> bool {
        let py = dtype.py();
        let known = || self.equal.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if known().as_ref().is_some_and(|known| known.is(dtype)) {
            return true;
        }
        let is_equal =
            dtype.is_equiv_to(self.dtype.bind(py)) && dtype.itemsize() == self.itemsize_of();
        if is_equal {
            let _before = known().replace(dtype.clone().unbind());
        }
        is_equal
    }

    /// The fields as columns; none if the item is no structure.
    #[inline]
    pub(crate) fn columns(&self, py: Python<'_>) -> PyResult<&[Column]> {
        let columns = || Column::all(self.dtype.bind(py), &self.item);
        self.columns.get_or_try_init(py, columns).map(|all| &all[..])
    }

    pub(crate) fn dtype_object<'py>(&self, py: Python<'py>) -> &Bound<'py, PyArrayDescr> {
        self.dtype.bind(py)
    }

    /// The layout with C's alignment.
    fn aligned_layout(&self, py: Python<'_>) -> PyResult<&Py<Layout>> {
        self.aligned.get_or_try_init(py, || {
            let dtype = crate::helper(py, "aligned", (&self.dtype,))?;
            Layout::of(dtype.cast()?)
        })
    }
}

#[pymethods]
impl Layout {
    #[new]
    fn make(description: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        let dtype = match description.cast::<PyArrayDescr>() {
            Ok(dtype) => dtype.clone(),
            Err(_) => crate::text::dtype_of(description)?,
        };
        Self::of(&dtype)
    }

    /// The dtype of the items.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> &Bound<'py, PyArrayDescr> {
        self.dtype_object(py)
    }

    /// The dtype of the packed items: the same fields without padding. ``layout.pack(a).view(layout.packed)`` is the array again.
    #[getter]
    fn packed(&self, py: Python<'_>) -> PyResult<Py<PyArrayDescr>> {
        let packed = self.packed.get_or_try_init(py, || {
            let dtype = crate::helper(py, "packed", (&self.dtype,))?;
            Ok::<_, PyErr>(dtype.cast_into::<PyArrayDescr>()?.unbind())
        });
        Ok(packed?.clone_ref(py))
    }

    /// The layout of the same fields with the alignment that C gives them.
    ///
    /// >>> import dtype
    /// >>> dtype.Layout([('id', 'u1'), ('value', 'f8')]).aligned().itemsize
    /// 16
    fn aligned(&self, py: Python<'_>) -> PyResult<Py<Layout>> {
        Ok(self.aligned_layout(py)?.clone_ref(py))
    }

    /// The aligned layout whose fields are in the order that takes the fewest bytes.
    ///
    /// >>> import dtype
    /// >>> layout = dtype.Layout([('id', 'u1'), ('value', 'f8'), ('kind', 'u1')])
    /// >>> layout.aligned().itemsize, layout.reordered().itemsize
    /// (24, 16)
    fn reordered(&self, py: Python<'_>) -> PyResult<Py<Layout>> {
        let dtype = crate::helper(py, "reordered", (&self.dtype,))?;
        Layout::of(dtype.cast()?)
    }

    /// Bytes of an item in memory.
    #[getter]
    fn itemsize(&self) -> u64 {
        self.item.itemsize()
    }

    /// The hash of the types of the values, without names and places: what MPI calls the type signature. The frames of
    /// :func:`connect` carry it; ``dtype info`` prints it for a struct in Rust.
    ///
    /// >>> import dtype
    /// >>> layout = dtype.Layout('struct Sample { char id; double value; };')
    /// >>> layout.signature_hash == dtype.Layout([('x', 'S1'), ('y', 'f8')]).signature_hash
    /// True
    #[getter]
    fn signature_hash(&self) -> u64 {
        self.records.ty().signature_hash()
    }

    /// The ``MPI.Datatype`` of mpi4py for the items, committed: ``comm.Send([a, layout.mpi()])`` sends an array as it is. The
    /// caller frees it. It is built from the basic datatypes of the fields, so both sides may have different layouts.
    fn mpi<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("dtype._mpi")?.call_method1("committed", (&self.dtype,))
    }

    /// Bytes of a packed item.
    #[getter]
    fn packed_size(&self) -> u64 {
        self.records.ty().size()
    }

    /// The values, in the order of the packed bytes.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::helper(py, "fields", (&self.dtype,))
    }

    /// The ranges of bytes that belong to no field: the offset of each, and its length.
    ///
    /// >>> import dtype
    /// >>> dtype.Layout([('id', 'u1'), ('value', 'f8')]).aligned().gaps
    /// [(1, 7)]
    #[getter]
    fn gaps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::helper(py, "gaps", (&self.dtype,))
    }

    /// The packed bytes of the items of an array with this layout, in C order whatever its axes and strides: an array of
    /// ``uint8``. They are written to ``out`` if it is given, which saves the time for new memory: a writable, contiguous buffer of
    /// as many bytes. An array that is larger than the caches is packed faster by several ``threads``. ``progress`` is called
    /// during a long copy, as when the array or ``out`` is a file in memory (``numpy.memmap``), with the packed bytes that are
    /// copied and those of the whole. What it raises ends the copy.
    ///
    /// >>> import numpy as np, dtype
    /// >>> a = np.array([(1, 2.5), (2, 3.5)], np.dtype([('id', 'u1'), ('value', '<f8')], align=True))
    /// >>> layout = dtype.Layout(a.dtype)
    /// >>> len(a.tobytes()), len(layout.pack(a))
    /// (32, 18)
    /// >>> layout.pack(a).view(layout.packed)['value']
    /// array([2.5, 3.5])
    #[pyo3(signature = (a, out=None, *, threads=1, progress=None))]
    fn pack<'py>(
        &self,
        a: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: usize,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = a.py();
        let mut a = array(a)?;
        let mut from = self.memory(&a)?;
        let size = self.records.size();
        let len = from.count.checked_mul(size);
        let len = len.ok_or_else(|| PyValueError::new_err("the packed bytes exceed the memory"))?;
        let (made, to) = match out {
            None => {
                let made = empty(PyArrayDescr::of::<u8>(py), &[len])?;
                let to = Memory::of(&made, 1);
                (made.into_any(), to)
            }
            Some(out) => {
                let lent = Lent::writable(out, len)?;
                if lent.memory.meets(&from) {
                    a = a.call_method0("copy")?.cast_into()?;
                    from = self.memory(&a)?;
                }
                (out.clone(), lent.memory)
            }
        };
        let (count, to) = (from.count, Side::bytes(&self.records, to.origin, from.count));
        let copy = Copy::new(self.records.side(&from).map_err(of_engine)?, to, count, size);
        // SAFETY: this call holds the array and the buffer, or the new array. The buffer was found to be writable and as long as the
        // packed bytes. It does not meet the array, which is a copy if it did.
        unsafe { Copies { all: vec![copy], records: count }.execute(py, threads, progress)? };
        Ok(made)
    }

    /// The array of packed items: its dtype is that of the layout, or with ``aligned=True`` the same fields with C's alignment.
    /// The items are written to ``out`` if it is given, an array of that dtype with as many items and any shape and strides. Padding
    /// is not written.
    ///
    /// >>> import numpy as np, dtype
    /// >>> layout = dtype.Layout([('id', 'u1'), ('value', '<f8')])
    /// >>> layout.unpack(bytes(9))
    /// array([(0, 0.)], dtype=[('id', 'u1'), ('value', '<f8')])
    /// >>> layout.unpack(bytes(9), aligned=True).itemsize
    /// 16
    /// >>> layout.unpack(bytes(10))
    /// Traceback (most recent call last):
    /// ValueError: 10 bytes are not a whole number of packed items of 9 bytes
    #[pyo3(signature = (packed, *, aligned=false, out=None, threads=1, progress=None))]
    fn unpack<'py>(
        slf: &Bound<'py, Self>,
        packed: &Bound<'py, PyAny>,
        aligned: bool,
        out: Option<&Bound<'py, PyAny>>,
        threads: usize,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let this = slf.get();
        let layout = if aligned { this.aligned_layout(py)?.get() } else { this };
        let mut packed = Lent::new(packed, "packed")?;
        let (len, size) = (packed.memory.count, layout.records.size());
        let count = match out {
            _ if size > 0 => len / size,
            Some(out) => layout.memory(&array(out)?)?.count,
            None => 0,
        };
        if count * size != len || size == 0 && out.is_none() {
            return Err(PyValueError::new_err(format!(
                "{len} bytes are not a whole number of packed items of {size} bytes"
            )));
        }
        let out = match out {
            None => empty(layout.dtype.bind(py).clone(), &[count])?,
            Some(out) => out.cast::<PyUntypedArray>()?.clone(),
        };
        check_writable(&out, "out")?;
        let to = layout.memory(&out)?;
        if to.count != count {
            let found = to.count;
            return Err(PyValueError::new_err(format!("out has {found} items, expected {count}")));
        }
        if packed.memory.meets(&to) {
            let bytes = numpy(py)?.call_method1("array", (packed.owner(),))?;
            packed = Lent::new(&bytes, "packed")?;
        }
        let from = Side::bytes(&layout.records, packed.memory.origin, count);
        let copy = Copy::new(from, layout.records.side(&to).map_err(of_engine)?, count, size);
        copy.to.check_overlap().map_err(of_engine)?;
        // SAFETY: this call holds the array and what lends the packed bytes. The array is writable, as just checked, its items do not
        // overlap, and neither do the two memories.
        unsafe { Copies { all: vec![copy], records: count }.execute(py, threads, progress)? };
        Ok(out.into_any())
    }

    /// The picture as text.
    fn __repr__(&self) -> String {
        picture::text(&self.item, self.records.ty())
    }

    /// The picture in a notebook: SVG in the colours that the reader prefers, light or dark.
    fn _repr_html_(&self) -> String {
        picture::svg(&self.item, self.records.ty(), Theme::Auto)
    }

    /// The picture as SVG. ``theme`` is ``"light"``, ``"dark"``, or ``"auto"`` for what the reader prefers.
    #[pyo3(signature = (theme="auto"))]
    fn svg(&self, theme: &str) -> PyResult<String> {
        let themes = [("auto", Theme::Auto), ("light", Theme::Light), ("dark", Theme::Dark)];
        match themes.into_iter().find(|(name, _)| *name == theme) {
            Some((_, theme)) => Ok(picture::svg(&self.item, self.records.ty(), theme)),
            None => Err(PyValueError::new_err(format!(
                "theme is {theme:?}, expected \"auto\", \"light\" or \"dark\""
            ))),
        }
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<Self>() {
            Ok(other) => self.dtype.bind(py).eq(&other.get().dtype),
            Err(_) => Ok(false),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.dtype.bind(py).hash()
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> (Py<PyAny>, (Py<PyArrayDescr>,)) {
        (slf.get_type().into_any().unbind(), (slf.get().dtype.clone_ref(slf.py()),))
    }
}

/// All structures in a dtype, with their names.
fn all_names(
    dtype: &Bound<'_, PyArrayDescr>,
    all: &mut Vec<(Py<PyArrayDescr>, Py<PyAny>)>,
) -> PyResult<()> {
    let dtype = element(dtype);
    let names = dtype.getattr("names")?;
    if names.is_none() {
        return Ok(());
    }
    for name in names.try_iter()? {
        all_names(dtype.get_item(name?)?.cast()?, all)?;
    }
    all.push((dtype.unbind(), names.unbind()));
    Ok(())
}
