//! Packers, unpackers and segments: the packed stream in pieces.

use std::ffi::c_void;

use dtype_runtime::convertor::{Converted, Segment};
use dtype_runtime::{Packer, Unpacker};

use crate::arguments::{Array, In, Out, Room};
use crate::commit::{Prepared, dtype_committed};
use crate::error::{Failure, boundary, dtype_error};
use crate::handle::{Exclusive, objects, release};
use crate::memory::{Data, Memory};

objects! {
    /// A packed stream that is read.
    dtype_packer = 0x6474_7403, "a packer", Exclusive<Stream<Packing>>;
    /// A packed stream that is written.
    dtype_unpacker = 0x6474_7404, "an unpacker", Exclusive<Stream<Unpacking>>;
}

/// A stream, and where its data lie: fragments must be apart from them.
#[derive(Debug)]
pub struct Stream<S> {
    state: S,
    prepared: Prepared,
    data: Data,
    count: usize,
}

/// The caller lends the memory for as long as the stream lives.
#[derive(Debug)]
pub enum Packing {
    /// This machine's bytes.
    Native(Packer<'static>),
    /// Another representation.
    Converted(Packer<'static, Converted>),
}

/// As [`Packing`].
#[derive(Debug)]
pub enum Unpacking {
    /// This machine's bytes.
    Native(Unpacker<'static>),
    /// Another representation.
    Converted(Unpacker<'static, Converted>),
}

/// The same call of either stream.
macro_rules! either {
    ($kind:ident, $of:expr, $stream:ident => $call:expr) => {
        match $of {
            $kind::Native($stream) => $call,
            $kind::Converted($stream) => $call,
        }
    };
}

impl Prepared {
    /// # Safety
    ///
    /// The data of `count` instances must be writable at their displacements from `origin`, and nothing else access them, for as
    /// long as the result lives.
    pub(crate) unsafe fn unpacking(
        &self,
        origin: *mut u8,
        count: usize,
    ) -> Result<Unpacking, Failure> {
        // SAFETY: the caller guarantees the data.
        let unpacker = unsafe { Unpacker::from_raw(&self.ty, origin, count)? };
        let unpacker = match &self.checks {
            None => unpacker,
            Some(checks) => unpacker.with_checks(checks)?,
        };
        Ok(match &self.conversion {
            None => Unpacking::Native(unpacker),
            Some(conversion) => Unpacking::Converted(conversion.unpacker_of(unpacker)?),
        })
    }
}

impl<S> Stream<S> {
    /// Checks the memory, and makes the stream of its instances.
    fn new(
        prepared: &Prepared,
        memory: Memory,
        count: usize,
        make: impl FnOnce() -> Result<S, Failure>,
    ) -> Result<Exclusive<Self>, Failure> {
        let data = memory.check(&prepared.ty, count)?;
        prepared.packed_size(count)?;
        let state = make()?;
        Ok(Exclusive::new(Self { state, prepared: prepared.clone(), data, count }))
    }

    #[inline(always)]
    fn check_apart(&self, bytes: *const u8, len: usize) -> Result<(), Failure> {
        self.data.check_apart(&self.prepared.ty, self.count, bytes, len)
    }
}

/// Makes a packer.
///
/// # Safety
///
/// `committed` is null or a handle that lives, `out` null or writable. `memory` is null, or initialised and readable wherever the
/// data of the instances lie, or for `memory_size` bytes, and nothing writes there until the packer is released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_packer_new(
    committed: *const dtype_committed,
    memory: *const c_void,
    memory_size: usize,
    count: usize,
    out: *mut *mut dtype_packer,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `out` null or writable.
    let (committed, out) = unsafe { (In::new(committed), Out::new(out)) };
    boundary(|| {
        let (prepared, out) = (committed.get("committed")?, out.place("out")?);
        let memory = Memory::new(memory, memory_size);
        out.put_new(Stream::new(prepared, memory, count, || {
            // SAFETY: the data of `count` instances, which `Stream::new` has checked, are readable until the release.
            Ok(unsafe {
                match &prepared.conversion {
                    None => Packing::Native(Packer::from_raw(&prepared.ty, memory.origin, count)?),
                    Some(it) => Packing::Converted(it.packer_raw(memory.origin, count)?),
                }
            })
        })?);
        Ok(())
    })
}

/// The next bytes.
///
/// # Safety
///
/// `packer` is null or a handle that lives, `out` null or writable for `out_size` bytes, `packed` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_packer_pack(
    packer: *mut dtype_packer,
    out: *mut c_void,
    out_size: usize,
    packed: *mut usize,
) -> dtype_error {
    // SAFETY: `packer` is null or a handle, `out` null or writable for `out_size` bytes, `packed` null or writable.
    let (packer, out, packed) =
        unsafe { (In::new(packer), Room::new(out.cast::<u8>(), out_size), Out::new(packed)) };
    boundary(|| {
        let mut packer = packer.get("packer")?.lock()?;
        let packed = packed.place("packed")?;
        packer.check_apart(out.address(), out.len())?;
        let out = out.get("out")?;
        packed.put(match &mut packer.state {
            Packing::Native(stream) => stream.pack(out),
            Packing::Converted(stream) => stream.pack(out)?,
        });
        Ok(())
    })
}

/// Seeks.
///
/// # Safety
///
/// `packer` is null or a handle that lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_packer_seek(
    packer: *mut dtype_packer,
    position: u64,
) -> dtype_error {
    // SAFETY: `packer` is null or a handle.
    let packer = unsafe { In::new(packer) };
    boundary(|| {
        let mut packer = packer.get("packer")?.lock()?;
        Ok(either!(Packing, &mut packer.state, stream => stream.set_position(position))?)
    })
}

/// The position, and the bytes that are left.
///
/// # Safety
///
/// `packer` is null or a handle that lives, the other pointers are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_packer_where(
    packer: *const dtype_packer,
    position: *mut u64,
    remaining: *mut u64,
) -> dtype_error {
    // SAFETY: `packer` is null or a handle, the others are null or writable.
    let (packer, position, remaining) =
        unsafe { (In::new(packer), Out::new(position), Out::new(remaining)) };
    boundary(|| {
        let packer = packer.get("packer")?.lock()?;
        position.put_if_wanted(either!(Packing, &packer.state, stream => stream.position()));
        remaining.put_if_wanted(either!(Packing, &packer.state, stream => stream.remaining()));
        Ok(())
    })
}

/// The end of a packer.
///
/// # Safety
///
/// `packer` is null or a handle of which the caller owns the reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_packer_release(packer: *mut dtype_packer) {
    // SAFETY: `packer` is null or a handle with the reference of the caller.
    unsafe { release(packer) }
}

/// Makes an unpacker.
///
/// # Safety
///
/// `committed` is null or a handle that lives, `out` null or writable. `memory` is null, or writable wherever the data of the
/// instances lie, or for `memory_size` bytes, and nothing else accesses these data until the unpacker is released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_unpacker_new(
    committed: *const dtype_committed,
    memory: *mut c_void,
    memory_size: usize,
    count: usize,
    out: *mut *mut dtype_unpacker,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `out` null or writable.
    let (committed, out) = unsafe { (In::new(committed), Out::new(out)) };
    boundary(|| {
        let (prepared, out) = (committed.get("committed")?, out.place("out")?);
        let memory = Memory::new(memory, memory_size);
        out.put_new(Stream::new(prepared, memory, count, || {
            // SAFETY: the data of `count` instances, which `Stream::new` has checked, are writable until the release.
            unsafe { prepared.unpacking(memory.origin, count) }
        })?);
        Ok(())
    })
}

/// Unpacks the next bytes.
///
/// # Safety
///
/// `unpacker` is null or a handle that lives, `bytes` null or readable for `size` bytes, `unpacked` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_unpacker_unpack(
    unpacker: *mut dtype_unpacker,
    bytes: *const c_void,
    size: usize,
    unpacked: *mut usize,
) -> dtype_error {
    // SAFETY: `unpacker` is null or a handle, `bytes` null or readable for `size` bytes, `unpacked` null or writable.
    let (unpacker, bytes, unpacked) =
        unsafe { (In::new(unpacker), Array::new(bytes.cast::<u8>(), size), Out::new(unpacked)) };
    boundary(|| {
        let mut unpacker = unpacker.get("unpacker")?.lock()?;
        let (bytes, unpacked) = (bytes.get("bytes")?, unpacked.place("unpacked")?);
        unpacker.check_apart(bytes.as_ptr(), bytes.len())?;
        unpacked.put(either!(Unpacking, &mut unpacker.state, stream => stream.unpack(bytes))?);
        Ok(())
    })
}

/// Seeks.
///
/// # Safety
///
/// `unpacker` is null or a handle that lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_unpacker_seek(
    unpacker: *mut dtype_unpacker,
    position: u64,
) -> dtype_error {
    // SAFETY: `unpacker` is null or a handle.
    let unpacker = unsafe { In::new(unpacker) };
    boundary(|| {
        let mut unpacker = unpacker.get("unpacker")?.lock()?;
        Ok(either!(Unpacking, &mut unpacker.state, stream => stream.set_position(position))?)
    })
}

/// The position, and the bytes that are missing.
///
/// # Safety
///
/// `unpacker` is null or a handle that lives, the other pointers are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_unpacker_where(
    unpacker: *const dtype_unpacker,
    position: *mut u64,
    remaining: *mut u64,
) -> dtype_error {
    // SAFETY: `unpacker` is null or a handle, the others are null or writable.
    let (unpacker, position, remaining) =
        unsafe { (In::new(unpacker), Out::new(position), Out::new(remaining)) };
    boundary(|| {
        let unpacker = unpacker.get("unpacker")?.lock()?;
        position.put_if_wanted(either!(Unpacking, &unpacker.state, stream => stream.position()));
        remaining.put_if_wanted(either!(Unpacking, &unpacker.state, stream => stream.remaining()));
        Ok(())
    })
}

/// The end of an unpacker.
///
/// # Safety
///
/// `unpacker` is null or a handle of which the caller owns the reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_unpacker_release(unpacker: *mut dtype_unpacker) {
    // SAFETY: `unpacker` is null or a handle with the reference of the caller.
    unsafe { release(unpacker) }
}

/// The number of segments.
///
/// # Safety
///
/// `committed` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_segment_count(
    committed: *const dtype_committed,
    count: usize,
    position: u64,
    out: *mut u64,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `out` null or writable.
    let (committed, out) = unsafe { (In::new(committed), Out::new(out)) };
    boundary(|| {
        let (prepared, out) = (committed.get("committed")?, out.place("out")?);
        let (ty, end) = (prepared.native()?, prepared.packed_size(count)? as u64);
        out.put(ty.iov(count, position..end)?.segments());
        Ok(())
    })
}

/// A piece of memory, as POSIX defines it.
#[allow(non_camel_case_types, reason = "the name in sys/uio.h")]
#[cfg(unix)]
#[allow(missing_docs, reason = "sys/uio.h")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct iovec {
    pub iov_base: *mut c_void,
    pub iov_len: usize,
}

/// The first segments.
///
/// # Safety
///
/// `committed` is null or a handle that lives, `out` null or writable for `room` elements, `number` and `next` are null or
/// writable. `memory` is only an address.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_segments(
    committed: *const dtype_committed,
    memory: *const c_void,
    memory_size: usize,
    count: usize,
    position: u64,
    out: *mut iovec,
    room: usize,
    number: *mut usize,
    next: *mut u64,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `out` null or writable for `room` elements, the last two are null or writable.
    let (committed, out, number, next) =
        unsafe { (In::new(committed), Room::new(out, room), Out::new(number), Out::new(next)) };
    boundary(|| {
        let prepared = committed.get("committed")?;
        let memory = Memory::new(memory, memory_size);
        let (ty, end) = (prepared.native()?, prepared.packed_size(count)? as u64);
        memory.check(ty, count)?;
        let (number, next) = (number.place("number")?, next.place("next")?);
        let mut segments = ty.iov(count, position..end)?;
        let out = out.get("out")?;
        let mut found = 0;
        let mut batch = [Segment::default(); 32];
        for out in out.chunks_mut(batch.len()) {
            let filled = segments.fill(&mut batch[..out.len()]);
            for (out, Segment { disp, len }) in out.iter_mut().zip(&batch[..filled]) {
                #[expect(clippy::cast_possible_truncation, reason = "bytes in memory")]
                let (disp, iov_len) = (*disp as isize, *len as usize);
                *out = iovec { iov_base: memory.origin.wrapping_offset(disp).cast(), iov_len };
            }
            found += filled;
        }
        number.put(found);
        next.put(segments.position());
        Ok(())
    })
}
