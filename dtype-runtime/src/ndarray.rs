//! Arrays and views of the `ndarray` crate: their datatypes, and packing and unpacking their elements without a
//! copy.
//!
//! Any array is accepted: owned, borrowed or shared; with any number of dimensions, static or dynamic; sliced with
//! steps, reversed, with permuted axes, in Fortran order, broadcast. The packed stream has the elements in logical
//! order, the last index running fastest, whatever the order in memory: the order of `array.iter()`. Nothing is
//! copied first, so a column is packed as fast as the engine packs a vector type.
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
//! If many arrays have the same shape and strides, or one array is sent many times, commit the layout once, with
//! [`commit`](ArrayDatatype::commit), and use it for all of them.
//!
//! The [`datatype`](ArrayDatatype::datatype) of an array is an ordinary [`Type`] whose displacement 0 is the
//! array's first element, where `as_ptr()` points: pass it to an MPI library with this pointer and a count of 1.

mod columns;
#[allow(unsafe_code, reason = "lends arrays to the convertor")]
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

/// The datatype of an array, and packing and unpacking of its elements.
///
/// All arrays and views have it through [`ArrayRef`], which they dereference to. Methods that write take
/// `&mut self`; a shared array is first made unique, as in all mutable methods of `ndarray`.
pub trait ArrayDatatype: sealed::Sealed {
    /// The type of the elements.
    type Element: Datatype;

    /// The datatype of the elements in logical order. Displacement 0 is the element with all indices 0, where
    /// `as_ptr()` points. The type is made of `hvector`s, one for each axis that does not continue the next inner
    /// one; the innermost has a block length where elements touch. If that is enough, it is a `contiguous` type,
    /// or the element's type alone.
    ///
    /// Its bounds are the natural ones. A reversed axis has its data before the origin, so the lower bound is
    /// negative; a broadcast axis names its elements many times, so the type cannot be unpacked.
    ///
    /// # Errors
    ///
    /// [`Error::TooDeep`] if the element's type is nested too deep for the axes to be added; [`Error::Overflow`].
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

    /// The committed [`datatype`](Self::datatype), for this array and all others of its shape and strides.
    ///
    /// # Errors
    ///
    /// As for [`datatype`](Self::datatype).
    fn commit(&self) -> Result<CommittedLayout<Self::Element>, Error>;

    /// The packed bytes of the elements in logical order.
    ///
    /// # Errors
    ///
    /// As for [`datatype`](Self::datatype); [`Error::CountTooLarge`] and [`Error::Allocation`] for a broadcast
    /// view that needs more memory than there is.
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

    /// As [`pack`](Self::pack), to the front of `out`, which may be longer than needed. Returns the number of
    /// bytes written.
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
    /// let mut packer = backwards.packer()?.with_representation(dtype_runtime::Representation::BigEndian)?;
    /// packer.pack(&mut bytes[..5])?;
    /// packer.pack(&mut bytes[5..])?;
    /// assert_eq!(bytes, [0, 4, 0, 3, 0, 2, 0, 1]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    fn packer(&self) -> Result<Packer<'_>, Error>;

    /// Unpacks the elements, in logical order, from the bytes that [`pack`](Self::pack) returns for an array with
    /// the same number of elements, and returns the number of bytes read. Memory between the elements of a view,
    /// padding and skipped fields are unchanged.
    ///
    /// # Errors
    ///
    /// [`Error::PackedLength`] when `bytes` is not exactly as long as the packed elements; [`Error::InvalidValue`]
    /// for an invalid `bool`, `char`, `NonZero` or enum, where the record is the element's number in logical
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
    /// If values have to be checked, the whole array is checked at once: the bytes are kept until the last one has
    /// arrived, and then written.
    ///
    /// # Errors
    ///
    /// As for [`datatype`](Self::datatype); [`Error::CountTooLarge`].
    fn unpacker(&mut self) -> Result<Unpacker<'_>, Error>;
}

/// Up to this number of elements, copying one by one is faster than committing a layout first.
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
        CommittedLayout::new(self.shape(), self.strides())
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

/// A new array of this shape, in C order or, with `.f()`, in Fortran order. `bytes` are its elements in logical
/// order, as [`pack`](ArrayDatatype::pack) writes them.
///
/// A type that skips fields does not compile here, because those fields would not be initialised: use
/// [`unpack_from`](ArrayDatatype::unpack_from) with an existing array.
///
/// # Errors
///
/// [`Error::Overflow`] when the shape has more elements than can be addressed; [`Error::PackedLength`] when
/// `bytes` is not exactly as long as the packed elements; [`Error::InvalidValue`] as for
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
