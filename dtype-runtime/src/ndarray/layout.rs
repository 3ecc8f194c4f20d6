//! The datatype for an array's shape and strides, and the use of its committed type with arrays.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use ::ndarray::{Array, ArrayRef, Dimension, LayoutRef, Shape};

use crate::commit::Committed;
use crate::convertor::{Compiled, Native, Packer, Unpacker};
use crate::datatype::Datatype;
use crate::error::Error;
use crate::kernel::{self, Pack, Unpack};
use crate::typed;
use crate::types::{Flags, Type};

/// One axis of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    len: usize,
    /// Bytes from one element to the next. 0 if there is only one element, whatever the array's own stride.
    stride: i64,
}

/// The axes of an array of `T`, outermost first.
fn axes<T>(lengths: &[usize], strides: &[isize]) -> Result<Box<[Axis]>, Error> {
    let empty = lengths.contains(&0);
    let axis = |(&len, &stride): (&usize, &isize)| {
        let stride = if empty || len == 1 { 0 } else { bytes::<T>(stride)? };
        Ok(Axis { len, stride })
    };
    lengths.iter().zip(strides).map(axis).collect()
}

/// A stride in bytes, from one in elements.
fn bytes<T>(stride: isize) -> Result<i64, Error> {
    (stride as i64)
        .checked_mul(size_of::<T>() as i64)
        .ok_or(Error::Overflow { call: "datatype", quantity: "stride" })
}

/// The elements of such an array in logical order; displacement 0 is the first one.
pub(super) fn datatype<T: Datatype>(lengths: &[usize], strides: &[isize]) -> Result<Type, Error> {
    nest::<T>(&axes::<T>(lengths, strides)?)
}

fn nest<T: Datatype>(axes: &[Axis]) -> Result<Type, Error> {
    let mut ty = Type::of_record::<T>();
    if axes.iter().any(|axis| axis.len == 0) {
        return Type::contiguous(0, &ty);
    }
    // Elements of the innermost axis that touch, which become a block length.
    let mut touching = 1;
    for (n, axis) in merged(axes).into_iter().enumerate() {
        let len = axis.len as u64;
        if n == 0 && axis.stride == ty.extent() {
            touching = len;
        } else {
            ty = Type::hvector(len, touching, axis.stride, &ty)?;
            touching = 1;
        }
    }
    if touching > 1 { Type::contiguous(touching, &ty) } else { Ok(ty) }
}

/// The axes with more than one element, innermost first; axes that continue one another are joined.
fn merged(axes: &[Axis]) -> Vec<Axis> {
    let mut all: Vec<Axis> = Vec::with_capacity(axes.len());
    for outer in axes.iter().rev().filter(|axis| axis.len > 1) {
        if let Some(inner) = all.last_mut()
            && inner.stride.checked_mul(inner.len as i64) == Some(outer.stride)
            && let Some(len) = inner.len.checked_mul(outer.len)
        {
            inner.len = len;
        } else {
            all.push(*outer);
        }
    }
    all
}

/// The committed layout of arrays with the same shape and strides. Made by
/// [`ArrayDatatype::commit`](super::ArrayDatatype::commit); threads can share it.
///
/// Strides are compared only where they matter: not along axes of one element, and not for empty arrays.
///
/// ```
/// use dtype_runtime::ndarray::ArrayDatatype;
/// use ndarray::{Array2, s};
///
/// // The left column of a grid and the right one of another, by one layout.
/// let grids = [Array2::<f32>::zeros((8, 5)), Array2::ones((8, 5))];
/// let column = grids[0].slice(s![.., 0]).commit()?;
/// let mut halo = [0; 2 * 8 * 4];
/// let (left, right) = halo.split_at_mut(32);
/// column.pack_into(&grids[0].slice(s![.., 0]), left)?;
/// column.pack_into(&grids[1].slice(s![.., 4]), right)?;
/// assert_eq!(halo, *dtype_runtime::pack(&[[0.0_f32; 8], [1.0; 8]]));
///
/// assert_eq!(
///     column.pack(&grids[0].slice(s![0, ..])).unwrap_err().to_string(),
///     "axis 0 of the array has a length of 5, expected 8 as in the committed layout"
/// );
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub struct CommittedLayout<T> {
    committed: Committed,
    axes: Box<[Axis]>,
    element: PhantomData<fn(T) -> T>,
}

impl<T> Clone for CommittedLayout<T> {
    fn clone(&self) -> Self {
        let (committed, axes) = (self.committed.clone(), self.axes.clone());
        Self { committed, axes, element: PhantomData }
    }
}

impl<T> fmt::Debug for CommittedLayout<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { committed, axes, element: _ } = self;
        let mut all = f.debug_struct("CommittedLayout");
        all.field("committed", committed).field("axes", axes).finish()
    }
}

impl<T: Datatype> CommittedLayout<T> {
    pub(super) fn new(lengths: &[usize], strides: &[isize]) -> Result<Self, Error> {
        let axes = axes::<T>(lengths, strides)?;
        let committed = nest::<T>(&axes)?.commit();
        Ok(Self { committed, axes, element: PhantomData })
    }

    /// The committed type, whose displacement 0 is an array's first element.
    pub fn as_committed(&self) -> &Committed {
        &self.committed
    }

    /// Number of elements of an array with this layout.
    pub fn element_count(&self) -> usize {
        if self.axes.iter().any(|axis| axis.len == 0) {
            return 0;
        }
        // The number equals that of an array's elements, so it fits.
        self.axes.iter().map(|axis| axis.len).product()
    }

    /// Packed bytes of an array with this layout.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`] when they cannot be addressed, which is possible for a broadcast view.
    pub fn packed_size(&self) -> Result<usize, Error> {
        self.committed.packed_size(1)
    }

    /// Checks that an array has this layout; returns the first difference as an error.
    fn check<D: Dimension>(&self, array: &LayoutRef<T, D>) -> Result<(), Error> {
        let differ = |axis, quantity, expected, actual| {
            Err(Error::ArrayLayout { axis, quantity, expected, actual })
        };
        let (lengths, strides) = (array.shape(), array.strides());
        if lengths.len() != self.axes.len() {
            let (expected, actual) = (self.axes.len() as i64, lengths.len() as i64);
            return differ(None, "dimensions", expected, actual);
        }
        for (i, (axis, &len)) in self.axes.iter().zip(lengths).enumerate() {
            if axis.len != len {
                return differ(Some(i), "length", axis.len as i64, len as i64);
            }
        }
        if lengths.contains(&0) {
            return Ok(());
        }
        for (i, (axis, &stride)) in self.axes.iter().zip(strides).enumerate() {
            if axis.len > 1 && axis.stride != bytes::<T>(stride)? {
                return differ(Some(i), "stride in bytes", axis.stride, bytes::<T>(stride)?);
            }
        }
        Ok(())
    }

    /// As [`ArrayDatatype::pack`](super::ArrayDatatype::pack).
    ///
    /// # Errors
    ///
    /// [`Error::ArrayLayout`] for an array of another shape or other strides; [`Error::CountTooLarge`],
    /// [`Error::Allocation`].
    pub fn pack<D: Dimension>(&self, array: &ArrayRef<T, D>) -> Result<Vec<u8>, Error> {
        self.check(array)?;
        let size = self.packed_size()?;
        let mut out = Vec::new();
        let (count, stride) = (self.element_count(), T::TYPE_MAP.size());
        out.try_reserve_exact(size).map_err(|_| Error::Allocation { count, stride })?;
        // SAFETY: the array has this layout, so all the bytes named are data of its elements, which its pointer
        // reaches; they are borrowed and only read. The vector has room for `size` bytes, which is the number
        // written, and was just allocated, so it does not overlap them.
        unsafe {
            let origin = array.as_ptr().cast_mut().cast();
            kernel::execute::<Pack>(self.committed.plan(), 1, origin, out.as_mut_ptr());
            out.set_len(size);
        }
        Ok(out)
    }

    /// As [`ArrayDatatype::pack_into`](super::ArrayDatatype::pack_into).
    ///
    /// # Errors
    ///
    /// [`Error::ArrayLayout`] for an array of another shape or other strides; [`Error::CountTooLarge`],
    /// [`Error::DestinationTooSmall`]. Nothing is written then.
    pub fn pack_into<D: Dimension>(
        &self,
        array: &ArrayRef<T, D>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.check(array)?;
        // SAFETY: the array has this layout, so all the bytes named are data of its elements, which its pointer
        // reaches: initialised, borrowed for this call, and so not part of what is borrowed exclusively.
        unsafe { self.committed.pack_raw(array.as_ptr().cast(), 1, out) }
    }

    /// As [`ArrayDatatype::packer`](super::ArrayDatatype::packer).
    ///
    /// # Errors
    ///
    /// [`Error::ArrayLayout`] for an array of another shape or other strides; [`Error::CountTooLarge`].
    pub fn packer<'a, D: Dimension>(&self, array: &'a ArrayRef<T, D>) -> Result<Packer<'a>, Error> {
        self.check(array)?;
        // SAFETY: the array has this layout, so all the bytes named are data of its elements, which its pointer
        // reaches: initialised, and borrowed for `'a`; data never include a cell, the only part of a borrowed
        // value that can change.
        unsafe { Packer::from_raw(&self.committed, array.as_ptr().cast(), 1) }
    }

    /// As [`ArrayDatatype::unpack_from`](super::ArrayDatatype::unpack_from).
    ///
    /// # Errors
    ///
    /// [`Error::ArrayLayout`] for an array of another shape or other strides; [`Error::PackedLength`],
    /// [`Error::InvalidValue`]; [`Error::Overlap`] for a layout that names a byte more than once, which a writable
    /// array never has. Nothing is written then.
    pub fn unpack_into<D: Dimension>(
        &self,
        bytes: &[u8],
        array: &mut ArrayRef<T, D>,
    ) -> Result<usize, Error> {
        self.check(array)?;
        let bytes = self.checked(bytes)?;
        // SAFETY: the array has this layout, so all the bytes named are data of its elements, which its pointer
        // reaches; they are borrowed exclusively, so nothing else accesses them. The bytes make valid values.
        unsafe { self.committed.unpack_raw(&bytes, array.as_mut_ptr().cast(), 1) }
    }

    /// As [`ArrayDatatype::unpacker`](super::ArrayDatatype::unpacker).
    ///
    /// # Errors
    ///
    /// [`Error::ArrayLayout`] for an array of another shape or other strides; [`Error::CountTooLarge`];
    /// [`Error::Overlap`] as for [`unpack_into`](Self::unpack_into).
    pub fn unpacker<'a, D: Dimension>(
        &self,
        array: &'a mut ArrayRef<T, D>,
    ) -> Result<Unpacker<'a>, Error> {
        self.check(array)?;
        let origin = array.as_mut_ptr().cast();
        if !const { T::TYPE_MAP.is_restricted() } {
            // SAFETY: the array has this layout, so all the bytes named are data of its elements, which its
            // pointer reaches; they are borrowed exclusively for `'a`, and whatever is written makes values.
            return unsafe { Unpacker::from_raw(&self.committed, origin, 1) };
        }
        if self.committed.flags().contains(Flags::OVERLAP) {
            return Err(Error::Overlap { count: 1 });
        }
        let compiled = Compiled::Committed(self.committed.clone());
        let size = self.committed.size();
        let native =
            Native::new(compiled, origin, 1).ok_or_else(|| Error::count_too_large(1, size))?;
        // SAFETY: as above; no byte is named twice, as was just checked, and bytes that are accepted for elements
        // make values.
        Ok(unsafe { Unpacker::from_native(native, Some(checked_elements::<T>)) })
    }

    /// Checks the packed bytes of an array of this layout, and returns them clean.
    fn checked<'b>(&self, bytes: &'b [u8]) -> Result<Cow<'b, [u8]>, Error> {
        let size = self.packed_size()?;
        if bytes.len() != size {
            let (expected, actual) = (size as u64, bytes.len() as u64);
            return Err(Error::PackedLength { expected, actual });
        }
        checked_elements::<T>(bytes, 1)
    }
}

/// Checks the packed bytes of all elements of whole arrays, and returns them clean. In an error, elements are counted through all arrays.
fn checked_elements<T: Datatype>(bytes: &[u8], _arrays: usize) -> Result<Cow<'_, [u8]>, Error> {
    let count = bytes.len().checked_div(T::TYPE_MAP.size()).unwrap_or(0);
    typed::checked::<T>(bytes, count)
}

/// A new array from the packed bytes of its elements in logical order.
pub(super) fn unpack<T: Datatype, D: Dimension>(
    shape: Shape<D>,
    bytes: &[u8],
) -> Result<Array<T, D>, Error> {
    const { typed::refuse_skipped_fields::<T>(typed::NOT_INITIALISED) }
    let count = element_count(shape.raw_dim().slice())?;
    let (size, actual) = (T::TYPE_MAP.size(), bytes.len());
    if size.checked_mul(count) != Some(actual) {
        let expected = (size as u64).saturating_mul(count as u64);
        return Err(Error::PackedLength { expected, actual: actual as u64 });
    }
    // An array without memory, for its strides.
    let strides = array::<(), D>(shape.clone(), alloc::vec![(); count])?;
    if strides.is_standard_layout() && size > 0 {
        return array(shape, typed::unpack(bytes)?);
    }
    let layout = CommittedLayout::<T>::new(strides.shape(), strides.strides())?;
    let bytes = layout.checked(bytes)?;
    let mut elements = Vec::<MaybeUninit<T>>::new();
    let stride = size_of::<T>();
    elements.try_reserve_exact(count).map_err(|_| Error::Allocation { count, stride })?;
    // SAFETY: there is room for the elements, and they need not be initialised.
    unsafe { elements.set_len(count) };
    let mut array = array(shape, elements)?;
    // SAFETY: the array has the shape and the strides of the layout, so that all the bytes named are in its elements,
    // which are its own; there are as many packed bytes, which are valid. All data of each element are written, and the
    // type skips no fields: by the promise of `Datatype` they are values then.
    unsafe {
        let (origin, packed) = (array.as_mut_ptr().cast(), bytes.as_ptr().cast_mut());
        kernel::execute::<Unpack>(layout.committed.plan(), 1, origin, packed);
        Ok(array.assume_init())
    }
}

/// Number of elements of an array with these lengths, if such an array can exist: the product of the lengths that
/// are not zero must be addressable even if another length is zero.
fn element_count(lengths: &[usize]) -> Result<usize, Error> {
    let some = lengths.iter().copied().filter(|&len| len > 0);
    match some.into_iter().try_fold(1, usize::checked_mul) {
        Some(count) if isize::try_from(count).is_ok() => {
            Ok(if lengths.contains(&0) { 0 } else { count })
        }
        _ => Err(TOO_LARGE),
    }
}

const TOO_LARGE: Error = Error::Overflow { call: "unpack", quantity: "number of elements" };

/// An array of this shape, made from exactly the number of elements that it needs.
fn array<T, D: Dimension>(shape: Shape<D>, elements: Vec<T>) -> Result<Array<T, D>, Error> {
    Array::from_shape_vec(shape, elements).map_err(|_| TOO_LARGE)
}
