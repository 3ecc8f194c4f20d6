//! Whole messages: pack, unpack, copy, checksum.

use std::ffi::c_void;

use dtype_runtime::Error;

use crate::arguments::Array;
use crate::boundary::functions;
use crate::commit::{Prepared, dtype_committed};
use crate::error::Failure;

functions! { PACKING:
    /// `MPI_Pack`.
    fn dtype_pack(
        committed: [&dtype_committed], memory: [memory; memory_size], memory_size: usize,
        count: usize, out: [mut bytes; out_size], out_size: usize, packed: [out usize]
    ) {
        let prepared = committed.get()?;
        memory.check(&prepared.ty, count)?.check_apart(&prepared.ty, count, out.place())?;
        let out = out.get()?;
        // SAFETY: the data of `count` instances are initialised and readable: the caller promises that of the memory in which
        // they lie, as just checked, or of all data if it has no bound. They are apart from `out`.
        let done = unsafe {
            match &prepared.conversion {
                None => prepared.ty.pack_raw(memory.origin, count, out),
                Some(conversion) => conversion.pack_raw(memory.origin, count, out),
            }
        };
        if let Err(Error::DestinationTooSmall { needed, .. }) = done {
            packed.put_if_wanted(usize::try_from(needed).unwrap_or(usize::MAX))?;
            return Ok(done.map(drop)?);
        }
        packed.put_if_wanted(done?)
    }

    /// `MPI_Unpack`.
    fn dtype_unpack(
        committed: [&dtype_committed], packed: [bytes; packed_size], packed_size: usize,
        memory: [mut memory; memory_size], memory_size: usize, count: usize
    ) {
        let (prepared, packed) = (committed.get()?, packed.get()?);
        let place = (packed.as_ptr(), packed.len());
        memory.check(&prepared.ty, count)?.check_apart(&prepared.ty, count, place)?;
        // SAFETY: the data of `count` instances are writable: the caller promises that of the memory in which they lie, as just
        // checked, or of all data if it has no bound. They are apart from `packed`.
        unsafe { unpack(prepared, packed, memory.origin, count) }
    }

    /// Copies instances of one type to those of another.
    fn dtype_copy(
        from_type: [&dtype_committed], from: [memory; from_size], from_size: usize,
        from_count: usize, to_type: [&dtype_committed], to: [mut memory; to_size], to_size: usize,
        to_count: usize
    ) {
        let (here, there) = (from_type.get()?.native()?, to_type.get()?);
        if there.checks.as_ref().is_some_and(|checks| !checks.is_empty()) {
            return Err(Failure::unsupported("values that must be checked are unpacked, not copied"));
        }
        let there = there.native()?;
        from.check(here, from_count)?;
        to.check(there, to_count)?;
        // SAFETY: the data of the instances are readable on one side and writable on the other: the caller promises that of the
        // memories in which they lie, as just checked, or of all data if a memory has no bound.
        unsafe { here.copy_to_raw(from.origin, from_count, there, to.origin, to_count)? };
        Ok(())
    }
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
            (Some(conversion), Some(_)) => {
                let (expected, actual) =
                    (conversion.packed_size(count)? as u64, packed.len() as u64);
                if expected != actual {
                    return Err(Error::PackedLength { expected, actual }.into());
                }
                let unpacker = prepared.unpacker(origin, count)?;
                conversion.unpacker_of(unpacker)?.unpack(packed)?
            }
        };
    }
    Ok(())
}

/// CRC-32C.
///
/// # Safety
///
/// `bytes` is NULL or readable for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_crc(crc: u32, bytes: *const c_void, size: usize) -> u32 {
    // SAFETY: `bytes` is NULL or readable for `size` bytes.
    let bytes = unsafe { Array::<u8>::new(bytes.cast(), size, "bytes") };
    bytes.get().map_or(crc, |bytes| crc32c::crc32c_append(crc, bytes))
}
