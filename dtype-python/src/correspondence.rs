//! The fields that two dtypes have in common, compiled for copies.

use dtype_npy::Dtype;
use dtype_runtime::Representation;
use dtype_runtime::convertor::Conversion;
use dtype_runtime::representation::ByteOrder;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{element, numpy};
use crate::error::of_engine;
use crate::memory::{Item, Memory};
use crate::transfer::Copy;
use crate::types::{How, common, correspond, named};

/// How the fields of one dtype become those of another.
pub(crate) struct Correspondence {
    parts: Vec<Part>,
    /// The paths of the values that NumPy converts.
    cast: Vec<Vec<String>>,
}

/// Values that are moved in the same way.
struct Part {
    from: Item,
    to: Item,
    is_same: bool,
    reversal: Option<Conversion>,
}

impl Correspondence {
    /// # Errors
    ///
    /// `ValueError` if a field of `to` is not in `from`, or has another shape; `TypeError` if its values may not fit.
    pub(crate) fn new(
        from: (&Bound<'_, PyAny>, &Dtype),
        to: (&Bound<'_, PyAny>, &Dtype),
    ) -> PyResult<Self> {
        let ((from_object, from), (to_object, to)) = (from, to);
        let mut cast = Vec::new();
        let mut visit = |path: &[String], one: &Dtype, other: &Dtype, how| {
            if how == How::Cast {
                cast.push((path.to_vec(), one.to_string(), other.to_string()));
            }
        };
        correspond(from, to, &mut Vec::new(), &mut visit).map_err(PyValueError::new_err)?;
        for (path, one, other) in &cast {
            let (from, to) = (at(from_object, path)?, at(to_object, path)?);
            let kind = |dtype: &Bound<'_, PyAny>| dtype.getattr("kind")?.extract::<String>();
            let options = PyDict::new(from.py());
            options.set_item("casting", "safe")?;
            let is_safe =
                numpy(from.py())?.call_method("can_cast", (&from, &to), Some(&options))?;
            // Text that is not ASCII would be an error in the middle of the copy.
            if !is_safe.extract::<bool>()? || kind(&from)? != "U" && kind(&to)? == "U" {
                let name = named(&path.join("."));
                return Err(PyTypeError::new_err(format!(
                    "{name} is {one} in the source, and its values may not fit {other}"
                )));
            }
        }
        let mut parts = Vec::new();
        for how in [How::Moved, How::Reversed] {
            let Some(all) = common(from, to, how).map_err(of_engine)? else { continue };
            let reversed = match ByteOrder::NATIVE {
                ByteOrder::Little => Representation::BigEndian,
                ByteOrder::Big => Representation::LittleEndian,
            };
            let reversal = (how == How::Reversed).then(|| all.packed.commit().conversion(reversed));
            parts.push(Part {
                is_same: all.from == all.to,
                from: Item::new(&all.from),
                to: Item::new(&all.to),
                reversal: reversal.transpose().map_err(of_engine)?,
            });
        }
        Ok(Self { parts, cast: cast.into_iter().map(|(path, ..)| path).collect() })
    }

    /// The copies of the values that are moved or reversed.
    pub(crate) fn copies(&self, from: &Memory, to: &Memory) -> PyResult<Vec<Copy<'_>>> {
        let mut all = Vec::with_capacity(self.parts.len());
        for Part { from: theirs, to: ours, is_same, reversal } in &self.parts {
            let sides = theirs.side(from).and_then(|one| Ok((one, ours.side(to)?)));
            let (one, other) = sides.map_err(of_engine)?;
            let copy = Copy::new(one, other, from.count, theirs.size());
            all.push(Copy { is_same: *is_same, reversal: reversal.as_ref(), ..copy });
        }
        Ok(all)
    }

    /// Has NumPy convert the values of other types. They were found to fit.
    pub(crate) fn cast(
        &self,
        from: &Bound<'_, PyUntypedArray>,
        to: &Bound<'_, PyUntypedArray>,
    ) -> PyResult<()> {
        for path in &self.cast {
            let (from, to) = (at(from, path)?, at(to, path)?);
            numpy(from.py())?.call_method1("copyto", (to, from))?;
        }
        Ok(())
    }
}

/// The field of an array or a dtype at this path. The dtype of an array of fields is that of its elements.
fn at<'py>(object: &Bound<'py, PyAny>, path: &[String]) -> PyResult<Bound<'py, PyAny>> {
    let inner = |object: Bound<'py, PyAny>| match object.cast::<PyArrayDescr>() {
        Ok(dtype) => element(dtype).into_any(),
        Err(_) => object,
    };
    let field = |object, name| Ok(inner(inner(object).get_item(name)?));
    path.iter().try_fold(inner(object.clone()), field)
}
