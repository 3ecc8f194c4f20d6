//! Columns of records as arrays.

use ::ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, IxDyn};

use crate::columns::Columns;
use crate::datatype::Datatype;
use crate::error::Error;

impl<T: Datatype> Columns<T> {
    /// The column at a path as an array, without a copy. Its first axis is the record. The axes of arrays on the way to the
    /// field follow, except those that belong to `F`.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    ///
    /// ```
    /// let columns = dtype_runtime::columns(&[(1_u8, [[1.0, 2.0], [3.0, 4.0]]), (2, [[5.0, 6.0], [7.0, 8.0]])]);
    /// let matrices = columns.array::<f64>("1")?;
    /// assert_eq!(matrices.shape(), [2, 2, 2]);
    /// assert_eq!(matrices[[1, 0, 1]], 6.0);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn array<F: Datatype>(&self, path: &str) -> Result<ArrayViewD<'_, F>, Error> {
        let shape = self.shape::<F>(path)?;
        let values = self.get(path)?;
        ArrayViewD::from_shape(IxDyn(&shape), values).map_err(|_| overflow())
    }

    /// As [`array`](Self::array), to write to it.
    ///
    /// # Errors
    ///
    /// As for [`get_mut`](Self::get_mut).
    pub fn array_mut<F: Datatype>(&mut self, path: &str) -> Result<ArrayViewMutD<'_, F>, Error> {
        let shape = self.shape::<F>(path)?;
        let values = self.get_mut(path)?;
        ArrayViewMutD::from_shape(IxDyn(&shape), values).map_err(|_| overflow())
    }

    /// Removes the column at a path and returns it as an array, as [`take`](Self::take) does as a vector.
    ///
    /// # Errors
    ///
    /// As for [`take`](Self::take).
    pub fn take_array<F: Datatype>(&mut self, path: &str) -> Result<ArrayD<F>, Error> {
        let shape = self.shape::<F>(path)?;
        let values = self.take(path)?;
        ArrayD::from_shape_vec(IxDyn(&shape), values).map_err(|_| overflow())
    }
}

/// The shape has more elements than a column can have.
const fn overflow() -> Error {
    Error::Overflow { call: "array", quantity: "shape" }
}
