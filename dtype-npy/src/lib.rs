//! NumPy's `.npy` files: records that Python reads with `np.load`, and arrays that it wrote with `np.save`.
//!
//! A file has a header with the dtype and the shape, and then the items. [`write()`] writes the packed records.
//! [`read`] reads records from any dtype that has the same fields by name, at any offset and in either byte order.
//! [`view`] returns the records of a memory-mapped file in place.
//!
//! ```
//! use dtype_runtime::Datatype;
//!
//! #[derive(Datatype, Clone, Debug, PartialEq)]
//! struct Particle {
//!     charge: i8,
//!     position: [f64; 3],
//! }
//!
//! let particles = [Particle { charge: -1, position: [1.0, 2.0, 3.0] }];
//! let mut file = Vec::new();
//! dtype_npy::write(&mut file, &particles)?;
//! // np.load(file)['position'][0] is array([1., 2., 3.])
//! assert_eq!(dtype_npy::read::<Particle>(&file[..])?, particles);
//! # Ok::<(), dtype_npy::NpyError>(())
//! ```
//!
//! Header and items may come from anyone: whatever is wrong is a typed error that names the field, and memory is
//! allocated only for bytes that are there. Pickled objects are never read.
//!
//! # Dtypes
//!
//! | Rust | NumPy |
//! |---|---|
//! | integers, floats, `bool`, complex numbers | `i1`…`u8`, `f2`…`f8`, `b1`, `c8`, `c16` |
//! | `char`, C's `char` | `U1`, `S1` |
//! | an enum | its integer |
//! | a struct or tuple | a structure with the names of the fields |
//! | `[[T; N]; M]` | a field of shape `(M, N)`; of the file itself, two more axes |
//! | 128-bit integers, `bf16` | raw bytes, `V16`, `V2`, in this machine's byte order |
//!
//! Fields without data and skipped fields are not in the dtype.

#![forbid(unsafe_code)]

mod compare;
mod descr;
mod dtype;
mod error;
mod format;
#[expect(clippy::result_large_err, reason = "a text has one mistake at most")]
mod grammar;
mod header;
mod literal;
mod notation;
mod options;
mod repr;
mod scalar;
mod unit;

use std::io::{Read, Write};

use dtype_runtime::Datatype;
use dtype_runtime::Error;
use dtype_runtime::Representation;
use dtype_runtime::Type;
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::{Buffer, BufferMut, Packer};

pub use dtype::{Dtype, DtypeField, Kind};
pub use error::{DtypeError, GrammarError, NpyError};
pub use header::Header;
pub use notation::{NumpyDtype, NumpyError, numpy_dtype};
pub use options::{NumpyLayout, NumpyOptions};
pub use unit::DateUnit;

const SKIPS_FIELDS: &str = "this type skips fields, which `read` could not initialise: unpack the items with `Dtype::item_type`";

/// Bytes of items that are written at a time.
const AT_ONCE: usize = 1 << 16;

/// Writes the records as a `.npy` file with one axis: packed, in this machine's byte order. The bytes are those that
/// `np.save` writes for an array of the same dtype and values.
///
/// # Errors
///
/// As for [`write_with`].
pub fn write<T: Datatype>(to: impl Write, records: &[T]) -> Result<(), NpyError> {
    write_with(to, records, &NumpyOptions::packed())
}

/// As [`write()`], in another layout or byte order. In [memory](NumpyLayout::Memory) layout, padding and skipped fields are
/// zeros in the file.
///
/// # Errors
///
/// - [`NpyError::Io`];
/// - [`NpyError::NoData`] for a type without data;
/// - [`DtypeError::MixedByteOrder`] if the order is not this machine's, and the type has values that are raw bytes in
///   NumPy;
/// - [`NpyError::HeaderLength`] if the names make a header of more than a mebibyte. `np.load` has a lower limit, which can
///   be set: see [`Header::to_bytes`].
///
/// ```
/// use dtype_npy::NumpyOptions;
///
/// let records = [(1_u8, 2.5_f64), (3, 4.5)];
/// let mut file = Vec::new();
/// dtype_npy::write_with(&mut file, &records, &NumpyOptions::memory())?;
/// assert_eq!(file.len(), 128 + 2 * 16);
/// # Ok::<(), dtype_npy::NpyError>(())
/// ```
pub fn write_with<T: Datatype>(
    mut to: impl Write,
    records: &[T],
    options: &NumpyOptions,
) -> Result<(), NpyError> {
    let map = T::TYPE_MAP;
    if map.size() == 0 {
        return Err(NpyError::NoData);
    }
    // The axes of an array are axes of the file.
    let dtype = Dtype::of_map(map, *options);
    // Finds values whose order NumPy could not tell.
    compare::fit_in(&dtype, map, Some(options.order))?.check_one_order()?;
    let (lengths, item) = dtype.axes();
    let shape = [&[records.len() as u64], lengths].concat();
    let header = Header { version: (1, 0), dtype: item.clone(), fortran_order: false, shape };
    to.write_all(&header.to_bytes()?)?;
    let is_memory = options.layout == NumpyLayout::Memory && !is_packed(map);
    let committed = is_memory.then(|| Type::of_record::<T>().commit());
    let at_once = (AT_ONCE / map.stride().max(1)).max(1);
    let (mut packed, mut items) = (Vec::new(), Vec::new());
    for records in records.chunks(at_once) {
        packed.clear();
        if options.order == ByteOrder::NATIVE {
            dtype_runtime::pack_onto(&mut packed, records);
        } else {
            let representation = Representation::from(options.order);
            packed.resize(dtype_runtime::packed_size::<T>(records.len()), 0);
            Packer::new(records).with_representation(representation)?.pack(&mut packed)?;
        }
        if let Some(committed) = &committed {
            items.clear();
            items.resize(size_of_val(records), 0);
            committed.unpack(&packed, BufferMut::new(&mut items), records.len())?;
            to.write_all(&items)?;
        } else {
            to.write_all(&packed)?;
        }
    }
    Ok(())
}

/// Reads the records of a `.npy` file, in C order whatever the number of its axes; the reader is then at the first byte
/// after them. The dtype must have the fields of `T`, by name, at any offset, all in one byte order. If `T` is an array,
/// its axes are the last axes of the file.
///
/// A type that skips fields does not compile here, because nothing would initialise them.
///
/// # Errors
///
/// - [`NpyError`] for a bad header, for several axes in Fortran order, and for a file that ends too early;
/// - [`NpyError::Dtype`] if the fields are not those of `T`;
/// - [`NpyError::Records`] with [`Error::InvalidValue`] for an invalid `bool`, `char`, `NonZero` or enum, or with
///   [`Error::Allocation`].
pub fn read<T: Datatype>(mut from: impl Read) -> Result<Vec<T>, NpyError> {
    const { assert!(!T::TYPE_MAP.skips_fields(), "{}", SKIPS_FIELDS) }
    let header = Header::read(&mut from)?;
    let plan = plan::<T>(&header)?;
    let expected = plan.bytes;
    let mut data = Vec::new();
    // Grows with what the reader returns.
    from.take(expected as u64).read_to_end(&mut data)?;
    if data.len() < expected {
        let (expected, actual) = (expected as u64, data.len() as u64);
        return Err(NpyError::Truncated { expected, actual });
    }
    unpack_items(&plan, &data)
}

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
/// - as for [`read`];
/// - [`NpyError::Dtype`] also if a field has another offset or byte order than in memory;
/// - [`Error::Misaligned`] if the items are not aligned for `T`: in a mapped file they are, for alignments up to 64
///   bytes.
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
    let mut rest = file;
    let header = Header::read(&mut rest)?;
    let plan = plan::<T>(&header)?;
    if let Some(obstacle) = plan.fit.obstacle {
        return Err(obstacle.into());
    }
    let items = rest
        .get(..plan.bytes)
        .ok_or(NpyError::Truncated { expected: plan.bytes as u64, actual: rest.len() as u64 })?;
    Ok(dtype_runtime::view_memory(items)?)
}

/// How the items of a file become records.
struct Plan {
    fit: compare::Fit,
    count: usize,
    /// Of all items.
    bytes: usize,
    /// Whether an item is a packed record.
    is_packed: bool,
}

fn plan<T: Datatype>(header: &Header) -> Result<Plan, NpyError> {
    let map = T::TYPE_MAP;
    if map.size() == 0 {
        return Err(NpyError::NoData);
    }
    // Other axes do not tell the orders apart, and Julia writes vectors in Fortran's.
    if header.fortran_order && header.shape.iter().filter(|length| **length > 1).count() > 1 {
        return Err(NpyError::FortranOrder);
    }
    let items = header.items()?;
    // The last axes belong to the records, if these are arrays.
    let (mut axes, mut element) = (0, map);
    while let Node::Array { element: inner, .. } = *element.node() {
        (axes, element) = (axes + 1, inner);
    }
    let (outer, inner) = header.shape.split_at(header.shape.len().saturating_sub(axes));
    let too_large =
        || NpyError::TooLarge { shape: header.shape.clone(), itemsize: header.dtype.itemsize() };
    let record = Dtype::array(inner, header.dtype.clone()).ok_or_else(too_large)?;
    let fit = compare::fit(&record, map)?;
    fit.check_one_order()?;
    // The record's axes are not 0, as it has data.
    let per_record = inner.iter().product::<u64>().max(1);
    let count =
        if outer.contains(&0) { 0 } else { items / usize::try_from(per_record).unwrap_or(1) };
    let stride = usize::try_from(record.itemsize()).map_err(|_| too_large())?;
    let bytes = count.checked_mul(stride).ok_or_else(too_large)?;
    let is_packed = Dtype::of_map(map, NumpyOptions::packed().with_order(fit.order)) == record;
    Ok(Plan { fit, count, bytes, is_packed })
}

/// The records of items that are as long as the plan says.
fn unpack_items<T: Datatype>(plan: &Plan, data: &[u8]) -> Result<Vec<T>, NpyError> {
    let mut gathered = Vec::new();
    let packed = if plan.is_packed {
        data
    } else {
        let Some(size) = plan.count.checked_mul(T::TYPE_MAP.size()) else {
            let (count, stride) = (plan.count, T::TYPE_MAP.size());
            return Err(Error::Allocation { count, stride }.into());
        };
        let failed = |_| Error::Allocation { count: plan.count, stride: T::TYPE_MAP.size() };
        gathered.try_reserve_exact(size).map_err(failed)?;
        gathered.resize(size, 0);
        plan.fit.item.commit().pack(Buffer::new(data), plan.count, &mut gathered)?;
        &gathered
    };
    let records = if plan.fit.order == ByteOrder::NATIVE {
        dtype_runtime::unpack(packed)?
    } else {
        dtype_runtime::unpack_as(packed, plan.fit.order.into())?
    };
    Ok(records)
}

/// Whether the memory of a record is its packed bytes.
fn is_packed(map: &TypeMap) -> bool {
    Dtype::of_map(map, NumpyOptions::memory()) == Dtype::of_map(map, NumpyOptions::packed())
}

/// The code in the README is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
