//! Frames on a stream: encode, decode.

use std::ffi::c_void;
use std::io::Read;

use dtype_message::{Decoder, Encoder, Frame, Framing, Header, Limits};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Packer, Unpacker};

use crate::arguments::{Array, In, Out, Room};
use crate::commit::{Prepared, dtype_committed};
use crate::error::{Failure, boundary, dtype_error};
use crate::handle::{Exclusive, objects, release};
use crate::memory::Memory;

objects! {
    /// A frame that is sent.
    dtype_encoder = 0x6474_7406, "an encoder", Exclusive<Encoder<'static>>;
    /// A stream of frames that is read.
    dtype_decoder = 0x6474_7407, "a decoder", Exclusive<Decoder<Frame>>;
    /// A frame that was read.
    dtype_frame = 0x6474_7408, "a frame", Frame;
}

/// `dtype_framing` of `dtype.h`.
#[allow(non_camel_case_types, reason = "the name in dtype.h")]
#[allow(missing_docs, reason = "dtype.h has them")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dtype_framing {
    pub tag: u32,
    pub flags: u32,
}

/// `dtype_limits` of `dtype.h`.
#[allow(non_camel_case_types, reason = "the name in dtype.h")]
#[allow(missing_docs, reason = "dtype.h has them")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dtype_limits {
    pub max_payload_bytes: u64,
    pub max_records: u64,
    pub flags: u32,
    pub reserved: u32,
}

/// `dtype_frame_info` of `dtype.h`.
#[allow(non_camel_case_types, reason = "the name in dtype.h")]
#[allow(missing_docs, reason = "dtype.h has them")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dtype_frame_info {
    pub tag: u32,
    pub order: i32,
    pub count: u64,
    pub record_size: u64,
    pub signature_hash: u64,
    pub payload: *const c_void,
    pub payload_size: usize,
}

fn framing(of: dtype_framing) -> Result<Framing, Failure> {
    let dtype_framing { tag, flags } = of;
    if flags > 7 || flags & 1 == 0 && flags != 0 {
        return Err(Failure::argument(format!(
            "flags are {flags:#x}, expected DTYPE_FRAME_COMPACT and perhaps others, or 0"
        )));
    }
    let mut framing =
        if flags & 1 == 0 { Framing::new() } else { Framing::compact() }.with_tag(tag);
    if flags & 2 != 0 {
        framing = framing.without_checksum();
    }
    if flags & 4 != 0 {
        framing = framing.without_signature();
    }
    Ok(framing)
}

fn limits(of: &dtype_limits) -> Result<Limits, Failure> {
    let &dtype_limits { max_payload_bytes, max_records, flags, reserved } = of;
    if flags > 3 || reserved != 0 {
        return Err(Failure::argument(format!("flags are {flags:#x}, expected DTYPE_LIMITS_...")));
    }
    let limits =
        Limits::new().with_max_payload_bytes(max_payload_bytes).with_max_records(max_records);
    let limits = if flags & 1 == 0 { limits } else { limits.allow_missing_checksum() };
    Ok(if flags & 2 == 0 { limits } else { limits.allow_missing_signature() })
}

/// # Safety
///
/// The data of the instances, which lie in the memory, must be readable for as long as the encoder lives.
unsafe fn encoder(
    prepared: &Prepared,
    memory: Memory,
    count: usize,
    framing: Framing,
) -> Result<Encoder<'static>, Failure> {
    let ty = prepared.native()?;
    memory.check(ty, count)?;
    let header = Header::of_type(ty, count, framing)?;
    // SAFETY: the caller guarantees the data, which lie in the memory, as just checked.
    let packer = unsafe { Packer::from_raw(ty, memory.origin, count)? };
    Ok(Encoder::with_packer(header, packer)?)
}

/// A whole frame.
///
/// # Safety
///
/// `committed` is null or a handle that lives. `memory` is null, or initialised and readable wherever the data of the instances
/// lie, or for `memory_size` bytes. `of` is null or readable, `out` null or writable for `out_size` bytes, `size` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_frame_encode(
    committed: *const dtype_committed,
    memory: *const c_void,
    memory_size: usize,
    count: usize,
    of: *const dtype_framing,
    out: *mut c_void,
    out_size: usize,
    size: *mut usize,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `of` null or readable, `out` null or writable for `out_size` bytes, `size` null or
    // writable.
    let (committed, of, out, size) = unsafe {
        let out = Room::new(out.cast::<u8>(), out_size);
        (In::new(committed), Array::new(of, 1), out, Out::new(size))
    };
    boundary(|| {
        let prepared = committed.get("committed")?;
        let (memory, framing) = (Memory::new(memory, memory_size), framing(of.get("framing")?[0])?);
        // SAFETY: the data are readable during the call, for as long as the encoder lives.
        let mut encoder = unsafe { encoder(prepared, memory, count, framing)? };
        let needed = encoder.header().frame_len();
        let data = memory.check(&prepared.ty, count)?;
        data.check_apart(&prepared.ty, count, out.address(), out.len())?;
        let (size, out) = (size.place("size")?, out.get("out")?);
        let available = out.len() as u64;
        size.put(usize::try_from(needed).unwrap_or(usize::MAX));
        if needed > available {
            return Err(dtype_runtime::Error::DestinationTooSmall { needed, available }.into());
        }
        // An encoder never fails, and ends after `needed` bytes.
        let mut filled = 0;
        while let Ok(more @ 1..) = encoder.read(&mut out[filled..]) {
            filled += more;
        }
        Ok(())
    })
}

/// Makes an encoder.
///
/// # Safety
///
/// As [`dtype_frame_encode`], and nothing writes the data until the encoder is released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_encoder_new(
    committed: *const dtype_committed,
    memory: *const c_void,
    memory_size: usize,
    count: usize,
    of: *const dtype_framing,
    out: *mut *mut dtype_encoder,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `of` null or readable, `out` null or writable.
    let (committed, of, out) = unsafe { (In::new(committed), Array::new(of, 1), Out::new(out)) };
    boundary(|| {
        let (prepared, out) = (committed.get("committed")?, out.place("out")?);
        let (memory, framing) = (Memory::new(memory, memory_size), framing(of.get("framing")?[0])?);
        // SAFETY: the data are readable until the release.
        out.put_new(Exclusive::new(unsafe { encoder(prepared, memory, count, framing)? }));
        Ok(())
    })
}

/// The next bytes of a frame.
///
/// # Safety
///
/// `encoder` is null or a handle that lives, `out` null or writable for `out_size` bytes, which are apart from the memory of the
/// encoder; `size` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_encoder_next(
    encoder: *mut dtype_encoder,
    out: *mut c_void,
    out_size: usize,
    size: *mut usize,
) -> dtype_error {
    // SAFETY: `encoder` is null or a handle, `out` null or writable for `out_size` bytes, `size` null or writable.
    let (encoder, out, size) =
        unsafe { (In::new(encoder), Room::new(out.cast::<u8>(), out_size), Out::new(size)) };
    boundary(|| {
        let mut encoder = encoder.get("encoder")?.lock()?;
        let (size, out) = (size.place("size")?, out.get("out")?);
        // An encoder never fails.
        size.put(encoder.read(out).unwrap_or(0));
        Ok(())
    })
}

/// The end of an encoder.
///
/// # Safety
///
/// `encoder` is null or a handle of which the caller owns the reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_encoder_release(encoder: *mut dtype_encoder) {
    // SAFETY: `encoder` is null or a handle with the reference of the caller.
    unsafe { release(encoder) }
}

/// Makes a decoder.
///
/// # Safety
///
/// `of` is null or readable, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_decoder_new(
    of: *const dtype_limits,
    out: *mut *mut dtype_decoder,
) -> dtype_error {
    // SAFETY: `of` is null or readable, `out` null or writable.
    let (of, out) = unsafe { (Array::new(of, usize::from(!of.is_null())), Out::new(out)) };
    boundary(|| {
        let (of, out) = (of.get("limits")?, out.place("out")?);
        let limits = of.first().map_or(Ok(Limits::new()), limits)?;
        out.put_new(Exclusive::new(Decoder::new(limits)));
        Ok(())
    })
}

/// Takes bytes up to the end of a frame.
///
/// # Safety
///
/// `decoder` is null or a handle that lives, `bytes` null or readable for `size` bytes, `taken` and `frame` are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_decoder_feed(
    decoder: *mut dtype_decoder,
    bytes: *const c_void,
    size: usize,
    taken: *mut usize,
    frame: *mut *mut dtype_frame,
) -> dtype_error {
    // SAFETY: `decoder` is null or a handle, `bytes` null or readable for `size` bytes, the others are null or writable.
    let (decoder, bytes, taken, frame) = unsafe {
        let bytes = Array::new(bytes.cast::<u8>(), size);
        (In::new(decoder), bytes, Out::new(taken), Out::new(frame))
    };
    boundary(|| {
        let mut decoder = decoder.get("decoder")?.lock()?;
        let mut input = bytes.get("bytes")?;
        let (taken, frame) = (taken.place("taken")?, frame.place("frame")?);
        let result = decoder.feed(&mut input);
        taken.put(size - input.len());
        match result? {
            Some(message) => frame.put_new(message),
            None => frame.put(std::ptr::null_mut()),
        }
        Ok(())
    })
}

/// Whether the stream may end.
///
/// # Safety
///
/// `decoder` is null or a handle that lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_decoder_finish(decoder: *const dtype_decoder) -> dtype_error {
    // SAFETY: `decoder` is null or a handle.
    let decoder = unsafe { In::new(decoder) };
    boundary(|| Ok(decoder.get("decoder")?.lock()?.finish()?))
}

/// The end of a decoder.
///
/// # Safety
///
/// `decoder` is null or a handle of which the caller owns the reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_decoder_release(decoder: *mut dtype_decoder) {
    // SAFETY: `decoder` is null or a handle with the reference of the caller.
    unsafe { release(decoder) }
}

/// The header and the payload.
///
/// # Safety
///
/// `frame` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_frame_get_info(
    frame: *const dtype_frame,
    out: *mut dtype_frame_info,
) -> dtype_error {
    // SAFETY: `frame` is null or a handle, `out` null or writable.
    let (frame, out) = unsafe { (In::new(frame), Out::new(out)) };
    boundary(|| {
        let (frame, out) = (frame.get("frame")?, out.place("out")?);
        let (header, payload) = (frame.header(), frame.payload());
        out.put(dtype_frame_info {
            tag: header.tag(),
            order: if header.byte_order() == ByteOrder::Little { 2 } else { 3 },
            count: header.count(),
            record_size: header.record_size(),
            signature_hash: header.signature_hash().unwrap_or(0),
            payload: payload.as_ptr().cast(),
            payload_size: payload.len(),
        });
        Ok(())
    })
}

/// Unpacks the records of a frame.
///
/// # Safety
///
/// `frame` and `committed` are null or handles that live. `memory` is null, or writable wherever the data of the instances lie, or
/// for `memory_size` bytes. `count` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_frame_unpack(
    frame: *const dtype_frame,
    committed: *const dtype_committed,
    memory: *mut c_void,
    memory_size: usize,
    most: usize,
    count: *mut usize,
) -> dtype_error {
    // SAFETY: both are null or handles, `count` null or writable.
    let (frame, committed, out) = unsafe { (In::new(frame), In::new(committed), Out::new(count)) };
    boundary(|| {
        let (frame, prepared) = (frame.get("frame")?, committed.get("committed")?);
        let (ty, memory) = (prepared.native()?, Memory::new(memory, memory_size));
        let count = frame.check(ty, most)?;
        memory.check(ty, count)?;
        // SAFETY: the data of `count` instances are writable: the caller promises that of the memory in which they lie, as just
        // checked, or of all data if it has no bound.
        let unpacker = unsafe { Unpacker::from_raw(ty, memory.origin, count)? };
        frame.unpack_by(unpacker, prepared.checks.as_ref())?;
        out.put_if_wanted(count);
        Ok(())
    })
}

/// The end of a frame.
///
/// # Safety
///
/// `frame` is null or a handle of which the caller owns the reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_frame_release(frame: *mut dtype_frame) {
    // SAFETY: `frame` is null or a handle with the reference of the caller.
    unsafe { release(frame) }
}
