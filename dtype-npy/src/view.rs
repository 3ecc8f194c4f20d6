//! Views records in the memory of a file, without a copy.

use dtype_runtime::{Datatype, Packed};

use crate::compare::in_place;
use crate::error::NpyError;
use crate::header::Header;
use crate::options::NumpyLayout;
use crate::read::Items;
use dtype_stored::ReadOptions;

/// The records of a `.npy` file in memory, in place: of a mapped file, for instance.
///
/// The file must have the [memory layout](NumpyLayout::Memory) of `T` in this machine's byte order, as `np.save` writes
/// an array with an aligned dtype of the same C struct. For a type without padding that is the packed layout as well.
/// Bytes after the array are ignored.
///
/// A type that skips fields does not compile here.
///
/// # Errors
///
/// - As for [`read`](crate::read());
/// - [`NpyError::Dtype`] also if a field has another offset or byte order than in memory;
/// - [`Error::Misaligned`](dtype_runtime::Error::Misaligned) if the items are not aligned for `T`. In a mapped file they are,
///   for alignments up to 64 bytes.
///
/// ```
/// use dtype_npy::NumpyOptions;
///
/// #[derive(dtype_runtime::Datatype)]
/// #[repr(C)]
/// struct Sample {
///     valid: bool,
///     value: f32,
/// }
///
/// let samples = [Sample { valid: true, value: 2.5 }, Sample { valid: false, value: 0.0 }];
/// let mut file = Vec::with_capacity(4096);
/// dtype_npy::write_with(&mut file, &samples, &NumpyOptions::memory())?;
/// # if file.as_ptr() as usize % 4 != 0 { return Ok(()) }
/// let same: &[Sample] = dtype_npy::view(&file)?;
/// assert_eq!((same.len(), same[0].value), (2, 2.5));
/// # Ok::<(), dtype_npy::NpyError>(())
/// ```
pub fn view<T: Datatype>(file: &[u8]) -> Result<&[T], NpyError> {
    Ok(dtype_runtime::view_memory(items_in_place::<T>(file, NumpyLayout::Memory)?)?)
}

/// The packed records of a `.npy` file in memory, in place: of a mapped file, for instance.
///
/// The file must have the [packed layout](NumpyLayout::Packed) of `T` in this machine's byte order, which
/// [`write()`](crate::write()) writes for records without text, and NumPy for a dtype that is not aligned. Bytes after the array
/// are ignored.
///
/// # Errors
///
/// - As for [`read`](crate::read());
/// - [`NpyError::Dtype`] also if a field has another offset or byte order than in the packed stream, or is stored as text.
///
/// ```
/// let samples = [(1_u8, 2.5_f64), (2, 3.5)];
/// let mut file = Vec::new();
/// dtype_npy::write(&mut file, &samples)?;
/// let packed = dtype_npy::view_packed::<(u8, f64)>(&file)?;
/// assert_eq!(packed.get(1), Some((2, 3.5)));
/// assert_eq!(packed.column::<f64>("1")?.iter().sum::<f64>(), 6.0);
/// # Ok::<(), dtype_npy::NpyError>(())
/// ```
pub fn view_packed<T: Datatype>(file: &[u8]) -> Result<Packed<'_, T>, NpyError> {
    Ok(Packed::new(items_in_place::<T>(file, NumpyLayout::Packed)?)?)
}

/// The bytes of all items, if the items are the records in this layout.
fn items_in_place<T: Datatype>(file: &[u8], layout: NumpyLayout) -> Result<&[u8], NpyError> {
    let mut rest = file;
    let header = Header::read(&mut rest)?;
    let items = Items::<T>::new(&header, ReadOptions::strict())?;
    if items.in_c_order.is_some() {
        return Err(NpyError::FortranOrder);
    }
    in_place(&items.dtype, T::TYPE_MAP, layout, "")?;
    let (expected, actual) = (items.bytes, rest.len());
    rest.get(..expected)
        .ok_or(NpyError::Truncated { expected: expected as u64, actual: actual as u64 })
}
