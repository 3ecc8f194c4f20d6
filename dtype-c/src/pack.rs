//! Whole messages: pack, unpack, copy, checksum.

use std::ffi::c_void;

use dtype_runtime::{Error, Unpacker};

use crate::arguments::{Array, In, Out, Room};
use crate::commit::{Prepared, dtype_committed};
use crate::error::{Failure, boundary, dtype_error};
use crate::memory::Memory;

/// `MPI_Pack`.
///
/// # Safety
///
/// `committed` is null or a handle that lives. `memory` is null, or initialised and readable wherever the data of the instances
/// lie, or for `memory_size` bytes. `out` is null or writable for `out_size` bytes, `packed` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_pack(
    committed: *const dtype_committed,
    memory: *const c_void,
    memory_size: usize,
    count: usize,
    out: *mut c_void,
    out_size: usize,
    packed: *mut usize,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `out` null or writable for `out_size` bytes, `packed` null or writable.
    let (committed, out, packed) =
        unsafe { (In::new(committed), Room::new(out.cast::<u8>(), out_size), Out::new(packed)) };
    boundary(|| {
        let prepared = committed.get("committed")?;
        let memory = Memory::new(memory, memory_size);
        let data = memory.check(&prepared.ty, count)?;
        data.check_apart(&prepared.ty, count, out.address(), out.len())?;
        // SAFETY: the data of `count` instances are initialised and readable: the caller promises that of the memory in which
        // they lie, as just checked, or of all data if it has no bound. They are apart from `out`.
        let done = unsafe {
            match &prepared.conversion {
                None => prepared.ty.pack_raw(memory.origin, count, out.get("out")?),
                Some(conversion) => conversion.pack_raw(memory.origin, count, out.get("out")?),
            }
        };
        match done {
            Ok(size) => packed.put_if_wanted(size),
            Err(error) => {
                if let Error::DestinationTooSmall { .. } = error {
                    packed.put_if_wanted(prepared.packed_size(count)?);
                }
                return Err(error.into());
            }
        }
        Ok(())
    })
}

/// `MPI_Unpack`.
///
/// # Safety
///
/// `committed` is null or a handle that lives, `packed` null or readable for `packed_size` bytes. `memory` is null, or writable
/// wherever the data of the instances lie, or for `memory_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_unpack(
    committed: *const dtype_committed,
    packed: *const c_void,
    packed_size: usize,
    memory: *mut c_void,
    memory_size: usize,
    count: usize,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `packed` null or readable for `packed_size` bytes.
    let (committed, packed) =
        unsafe { (In::new(committed), Array::new(packed.cast::<u8>(), packed_size)) };
    boundary(|| {
        let prepared = committed.get("committed")?;
        let memory = Memory::new(memory, memory_size);
        let packed = packed.get("packed")?;
        let data = memory.check(&prepared.ty, count)?;
        data.check_apart(&prepared.ty, count, packed.as_ptr(), packed.len())?;
        // SAFETY: the data of `count` instances are writable: the caller promises that of the memory in which they lie, as just
        // checked, or of all data if it has no bound. They are apart from `packed`.
        unsafe { unpack(prepared, packed, memory.origin, count) }
    })
}

/// # Safety
///
/// The data of `count` instances must be writable at their displacements from `origin`, and apart from `packed`.
#[inline(always)]
unsafe fn unpack(
    prepared: &Prepared,
    packed: &[u8],
    origin: *mut u8,
    count: usize,
) -> Result<(), Failure> {
    let Prepared { ty, conversion, checks } = prepared;
    // SAFETY: the caller guarantees the data of all instances.
    unsafe {
        match (conversion, checks) {
            (None, None) => ty.unpack_raw(packed, origin, count)?,
            (Some(conversion), None) => conversion.unpack_raw(packed, origin, count)?,
            (None, Some(checks)) => {
                checks.check(packed, count)?;
                ty.unpack_raw(packed, origin, count)?
            }
            (Some(conversion), Some(checks)) => {
                let expected = conversion.packed_size(count)? as u64;
                let actual = packed.len() as u64;
                if expected != actual {
                    return Err(Error::PackedLength { expected, actual }.into());
                }
                let unpacker = Unpacker::from_raw(ty, origin, count)?.with_checks(checks)?;
                conversion.unpacker_of(unpacker)?.unpack(packed)?
            }
        };
    }
    Ok(())
}

/// Copies instances of one type to those of another.
///
/// # Safety
///
/// The committed types are null or handles that live. `from` is null, or initialised and readable wherever the data of its
/// instances lie, or for `from_size` bytes; `to` is null, or writable in the same way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_copy(
    from_type: *const dtype_committed,
    from: *const c_void,
    from_size: usize,
    from_count: usize,
    to_type: *const dtype_committed,
    to: *mut c_void,
    to_size: usize,
    to_count: usize,
) -> dtype_error {
    // SAFETY: both are null or handles.
    let (from_type, to_type) = unsafe { (In::new(from_type), In::new(to_type)) };
    boundary(|| {
        let (here, there) = (from_type.get("from_type")?, to_type.get("to_type")?);
        if there.checks.as_ref().is_some_and(|checks| !checks.is_empty()) {
            return Err(Failure::unsupported(
                "values that must be checked are unpacked, not copied",
            ));
        }
        let (here, there) = (here.native()?, there.native()?);
        let (from, to) = (Memory::new(from, from_size), Memory::new(to, to_size));
        from.check(here, from_count)?;
        to.check(there, to_count)?;
        // SAFETY: the data of the instances are readable on one side and writable on the other: the caller promises that of the
        // memories in which they lie, as just checked, or of all data if a memory has no bound.
        unsafe { here.copy_to_raw(from.origin, from_count, there, to.origin, to_count)? };
        Ok(())
    })
}

/// CRC-32C.
///
/// # Safety
///
/// `bytes` is null or readable for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_crc32c(crc: u32, bytes: *const c_void, size: usize) -> u32 {
    // SAFETY: `bytes` is null or readable for `size` bytes.
    let bytes = unsafe { Array::new(bytes.cast::<u8>(), size) };
    bytes.get("bytes").map_or(crc, |bytes| crc32c::crc32c_append(crc, bytes))
}
