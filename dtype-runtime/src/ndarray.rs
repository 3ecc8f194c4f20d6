//! Arrays and views of the `ndarray` crate: their datatypes, and their elements packed and unpacked where they are.
//!
//! Any array will do: owned, borrowed or shared, of any number of dimensions, known to the compiler or not; sliced
//! with steps, reversed, with permuted axes, in Fortran's order, broadcast. The packed stream has the elements in
//! the logical order, the last index running fastest, whatever the order in memory is: what `array.iter()` gives.
//! Nothing is copied first, so that a column goes out as fast as the engine packs a vector type.
//!
//! ```
//! use dtype_runtime::ndarray::ArrayDatatype;
//! use ndarray::{Array2, s};
//!
//! // The halo of a grid: its last inner column goes out, and a neighbour's comes in beside the first.
//! let mut grid = Array2::from_shape_fn((4, 6), |(row, column)| (10 * row + column) as f64);
//! let bytes = grid.slice(s![.., 4]).pack()?;
//! assert_eq!(bytes, dtype_runtime::pack(&[4.0, 14.0, 24.0, 34.0]));
//! grid.slice_mut(s![.., 0]).unpack_from(&bytes)?;
//! assert_eq!(grid[(2, 0)], 24.0);
//! # Ok::<(), dtype_runtime::Error>(())
//! ```
//!
//! Where many arrays have one shape and the same strides, or one array is sent many times, the layout is committed
//! once, by [`commit`](ArrayDatatype::commit), and used for all of them.
//!
//! The [`datatype`](ArrayDatatype::datatype) of an array is an ordinary [`Type`] whose displacement 0 is the array's
//! first element, that of `as_ptr()`: with the pointer and a count of 1 it is what an MPI library takes.

mod layout;
mod one_by_one;

use alloc::vec::Vec;

use ::ndarray::{Array, ArrayRef, Dimension, ShapeBuilder};

use crate::convertor::{Packer, Unpacker};
use crate::datatype::Datatype;
use crate::error::Error;
use crate::typed;
use crate::types::Type;

pub use layout::CommittedLayout;

/// What an array is as a datatype; and its elements, packed and unpacked.
///
/// It is there for all arrays and views by way of [`ArrayRef`], which they dereference to. Calls that may write take
/// what may be written to; a shared array is made one of its own first, as by all that `ndarray` does.
pub trait ArrayDatatype: sealed::Sealed {
    /// What the array has as elements.
    type Element: Datatype;

    /// The datatype of the elements in logical order, displacement 0 being the element that all indices 0 give, where
    /// `as_ptr()` points. It is made of `hvector`s, one for each axis that does not continue the one inside it, the
    /// innermost with a block length where elements touch; of `contiguous`, or the element's type alone, where that
    /// says it.
    ///
    /// Its bounds are the natural ones. A reversed axis has its data before the origin, so that the lower bound is
    /// negative; a broadcast one names its elements many times, so that the type cannot be unpacked.
    ///
    /// # Errors
    ///
    /// [`Error::TooDeep`] when the element's type nests so deep that there is no room for the axes;
    /// [`Error::Overflow`].
    ///
    /// ```
    /// use dtype_runtime::ndarray::ArrayDatatype;
    /// use dtype_runtime::{Basic, Type};
    /// use ndarray::{Array2, s};
    ///
    /// let matrix = Array2::<f64>::zeros((4, 6));
    /// let block = Type::hvector(2, 3, 48, &Type::basic(Basic::F64))?;
    /// assert_eq!(matrix.slice(s![1..3, 2..5]).datatype()?, block);
    /// let upwards = Type::hvector(4, 1, -48, &Type::basic(Basic::F64))?;
    /// assert_eq!(matrix.slice(s![..;-1, 0]).datatype()?, upwards);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    fn datatype(&self) -> Result<Type, Error>;

    /// The [`datatype`](Self::datatype), committed, for this array and all others of its shape and strides.
    ///
    /// # Errors
    ///
    /// As for [`datatype`](Self::datatype).
    fn commit(&self) -> Result<CommittedLayout<Self::Element>, Error>;

    /// The packed bytes of the elements in logical order.
    ///
    /// # Errors
    ///
    /// As for [`datatype`](Self::datatype); [`Error::CountTooLarge`] and [`Error::Allocation`] for a broadcast view of
    /// more than there is memory for.
    ///
    /// ```
    /// use dtype_runtime::ndarray::ArrayDatatype;
    /// use ndarray::{array, s};
    ///
    /// let matrix = array![[1_u8, 2, 3], [4, 5, 6]];
    /// assert_eq!(matrix.t().pack()?, [1, 4, 2, 5, 3, 6]);
    /// assert_eq!(matrix.slice(s![..;-1, ..;2]).pack()?, [4, 6, 1, 3]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    fn pack(&self) -> Result<Vec<u8>, Error>;

    /// As [`pack`](Self::pack), to the front of `out`, which may be longer than needed. Returns how many bytes were
    /// written.
    ///
    /// # Errors
    ///
    /// As for [`datatype`](Self::datatype); [`Error::CountTooLarge`], [`Error::DestinationTooSmall`]. Nothing is
    /// written then.
    fn pack_into(&self, out: &mut [u8]) -> Result<usize, Error>;

    /// A packer of the elements in logical order: their stream in fragments, from any position, in any
    /// representation.
    ///
    /// # Errors
    ///
    /// As for [`datatype`](Self::datatype); [`Error::CountTooLarge`].
    ///
    /// ```
    /// use dtype_runtime::ndarray::ArrayDatatype;
    /// use ndarray::{array, s};
    ///
    /// let numbers = array![1_u16, 2, 3, 4];
    /// let backwards = numbers.slice(s![..;-1]);
    /// let mut bytes = [0; 8];
    /// let mut packer = backwards.packer()?.represented(dtype_runtime::Representation::BigEndian)?;
    /// packer.pack(&mut bytes[..5])?;
    /// packer.pack(&mut bytes[5..])?;
    /// assert_eq!(bytes, [0, 4, 0, 3, 0, 2, 0, 1]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    fn packer(&self) -> Result<Packer<'_>, Error>;

    /// Unpacks the elements, in logical order, from what [`pack`](Self::pack) made of an array of the same number of
    /// elements, and returns how many bytes that were. What lies between the elements of a view, padding and skipped
    /// fields stay as they are.
    ///
    /// # Errors
    ///
    /// [`Error::PackedLength`] when `bytes` is not exactly as long as the elements take; [`Error::InvalidValue`] when
    /// it would make an invalid `bool`, `char`, `NonZero` or enum, where the record is the element's number in logical
    /// order; as for [`datatype`](Self::datatype). Nothing is written then.
    ///
    /// ```
    /// use dtype_runtime::ndarray::ArrayDatatype;
    /// use ndarray::{Array2, array, s};
    ///
    /// let mut matrix = Array2::<u8>::zeros((2, 4));
    /// matrix.slice_mut(s![.., 1..;2]).reversed_axes().unpack_from(&[1, 2, 3, 4])?;
    /// assert_eq!(matrix, array![[0, 1, 0, 3], [0, 2, 0, 4]]);
    /// assert!(matrix.unpack_from(&[1, 2, 3, 4]).is_err());
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    fn unpack_from(&mut self, bytes: &[u8]) -> Result<usize, Error>;

    /// An unpacker into the elements in logical order.
    ///
    /// Where values have to be checked, they are those of the whole array: it is written when its last byte has come,
    /// and until then the bytes are kept.
    ///
    /// # Errors
    ///
    /// As for [`datatype`](Self::datatype); [`Error::CountTooLarge`].
    fn unpacker(&mut self) -> Result<Unpacker<'_>, Error>;
}

/// An array of at most so many elements is copied one by one before a layout of it would have been committed.
const FEW: usize = 512;

mod sealed {
    use ::ndarray::{ArrayRef, Dimension};

    use crate::datatype::Datatype;

    pub trait Sealed {}

    impl<T: Datatype, D: Dimension> Sealed for ArrayRef<T, D> {}
}

impl<T: Datatype, D: Dimension> ArrayDatatype for ArrayRef<T, D> {
    type Element = T;

    fn datatype(&self) -> Result<Type, Error> {
        layout::datatype::<T>(self.shape(), self.strides())
    }

    fn commit(&self) -> Result<CommittedLayout<T>, Error> {
        CommittedLayout::of(self.shape(), self.strides())
    }

    fn pack(&self) -> Result<Vec<u8>, Error> {
        match self.as_slice() {
            Some(elements) => Ok(typed::pack(elements)),
            None if self.len() <= FEW => {
                let (count, stride) = (self.len(), T::TYPE_MAP.size());
                let size = typed::packed_size::<T>(count);
                let mut out = Vec::new();
                out.try_reserve_exact(size).map_err(|_| Error::Allocation { count, stride })?;
                out.resize(size, 0);
                self.pack_into(&mut out)?;
                Ok(out)
            }
            None => self.commit()?.pack(self),
        }
    }

    fn pack_into(&self, out: &mut [u8]) -> Result<usize, Error> {
        match self.as_slice() {
            Some(elements) => typed::pack_into(elements, out),
            None if self.len() <= FEW => one_by_one::pack(self, out),
            None => self.commit()?.pack_into(self, out),
        }
    }

    fn packer(&self) -> Result<Packer<'_>, Error> {
        match self.as_slice() {
            Some(elements) => Ok(Packer::new(elements)),
            None => self.commit()?.packer(self),
        }
    }

    fn unpack_from(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        if let Some(elements) = self.as_slice_mut() {
            return typed::unpack_into(bytes, elements);
        }
        if self.len() <= FEW {
            return one_by_one::unpack(bytes, self);
        }
        self.commit()?.unpack_into(bytes, self)
    }

    fn unpacker(&mut self) -> Result<Unpacker<'_>, Error> {
        self.commit()?.unpacker(self)
    }
}

/// A new array of this shape, in C or, with `.f()`, in Fortran's order, of the elements in logical order that
/// [`pack`](ArrayDatatype::pack) made `bytes` of.
///
/// A type that skips fields does not compile here, because nothing would initialise them: use
/// [`unpack_from`](ArrayDatatype::unpack_from) with an array that exists.
///
/// # Errors
///
/// [`Error::Overflow`] when the shape has more elements than can be addressed; [`Error::PackedLength`] when `bytes` is
/// not exactly as long as the elements take; [`Error::InvalidValue`] as for
/// [`unpack_from`](ArrayDatatype::unpack_from); [`Error::Allocation`]; [`Error::TooDeep`].
///
/// ```
/// use ndarray::{Array2, ShapeBuilder, array};
///
/// let matrix: Array2<u8> = dtype_runtime::ndarray::unpack((2, 3), &[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(matrix, array![[1, 2, 3], [4, 5, 6]]);
/// let columns: Array2<u8> = dtype_runtime::ndarray::unpack((2, 3).f(), &[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(columns, matrix);
/// assert_eq!(columns.strides(), [1, 2]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn unpack<T, Sh>(shape: Sh, bytes: &[u8]) -> Result<Array<T, Sh::Dim>, Error>
where
    T: Datatype,
    Sh: ShapeBuilder,
{
    layout::unpack(shape.into_shape_with_order(), bytes)
}
