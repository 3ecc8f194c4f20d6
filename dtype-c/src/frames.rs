//! Frames on a stream: encode, decode.

use std::ffi::c_void;
use std::io::Read;

use dtype_message::{Decoder, Encoder, Error, Framing, Header, Limits, PackedMessage};
use dtype_runtime::Packer;
use dtype_runtime::representation::ByteOrder;

use crate::boundary::{functions, release, structs};
use crate::commit::{Prepared, dtype_committed};
use crate::error::Failure;
use crate::fragments::Stream;
use crate::handle::{self, Exclusive, objects};
use crate::memory::Memory;

objects! {
    /// A frame that is sent.
    dtype_encoder = 0x6474_7406, "an encoder", Exclusive<Stream<Encoder<'static>>>;
    /// A stream of frames that is read.
    dtype_decoder = 0x6474_7407, "a decoder", Exclusive<Decoder<PackedMessage>>;
    /// A frame that was read.
    dtype_received = 0x6474_7408, "a frame", PackedMessage;
}

structs! { FRAME_STRUCTS:
    dtype_framing {
        tag: u32, flags: u32,
    }
    dtype_limits {
        max_payload_bytes: u64, max_records: u64, flags: u32, reserved: u32,
    }
    dtype_received_info {
        tag: u32, order: i32, count: u64, record_size: u64, signature_hash: u64,
        payload: *const c_void, payload_size: usize,
    }
}

fn framing(of: dtype_framing) -> Result<Framing, Failure> {
    let dtype_framing { tag, flags } = of;
    if flags > 7 || flags & 1 == 0 && flags != 0 {
        return Err(Failure::argument(format!(
            "flags are {flags:#x}, expected DTYPE_FRAME_COMPACT and perhaps others, or 0"
        )));
    }
    let framing = if flags & 1 == 0 { Framing::new() } else { Framing::compact() }.with_tag(tag);
    let framing = if flags & 2 == 0 { framing } else { framing.without_checksum() };
    Ok(if flags & 4 == 0 { framing } else { framing.without_signature() })
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
/// The data of the instances must lie in the memory, and be readable for as long as the encoder lives.
unsafe fn encoder(
    prepared: &Prepared,
    memory: Memory,
    count: usize,
    framing: Framing,
) -> Result<Encoder<'static>, Failure> {
    let ty = prepared.native()?;
    let header = Header::of_type(ty, count, framing)?;
    // SAFETY: the caller guarantees the data.
    let packer = unsafe { Packer::from_raw(ty, memory.origin, count)? };
    Ok(Encoder::with_packer(header, packer)?)
}

functions! { FRAMES:
    /// A whole frame.
    fn dtype_encode(
        committed: [&dtype_committed], memory: [memory; memory_size], memory_size: usize,
        count: usize, of: [dtype_framing; 1], out: [mut bytes; out_size], out_size: usize,
        size: [out usize]
    ) {
        let (prepared, framing) = (committed.get()?, framing(of.get()?[0])?);
        memory.check(&prepared.ty, count)?.check_apart(&prepared.ty, count, out.place())?;
        // SAFETY: the data are readable during the call, for as long as the encoder lives, and lie in the memory.
        let mut encoder = unsafe { encoder(prepared, memory, count, framing)? };
        let (size, out, needed) = (size.place()?, out.get()?, encoder.header().frame_len());
        size.put(usize::try_from(needed).unwrap_or(usize::MAX));
        let available = out.len() as u64;
        if needed > available {
            return Err(dtype_runtime::Error::DestinationTooSmall { needed, available }.into());
        }
        // An encoder never fails, and ends after `needed` bytes.
        let mut filled = 0;
        while let Ok(more @ 1..) = encoder.read(&mut out[filled..]) {
            filled += more;
        }
        Ok(())
    }

    /// Makes an encoder.
    fn dtype_encoder_new(
        committed: [&dtype_committed], memory: [memory; memory_size], memory_size: usize,
        count: usize, of: [dtype_framing; 1], out: [new dtype_encoder]
    ) {
        let (prepared, framing) = (committed.get()?, framing(of.get()?[0])?);
        let data = memory.check(&prepared.ty, count)?;
        // SAFETY: the caller lends the data until the release, and they lie in the memory.
        let state = unsafe { encoder(prepared, memory, count, framing)? };
        out.put_new(Exclusive::new(Stream { state, prepared: prepared.clone(), data, count }))
    }

    /// The next bytes of a frame.
    fn dtype_encoder_next(
        encoder: [&mut dtype_encoder], out: [mut bytes; out_size], out_size: usize,
        size: [out usize]
    ) {
        let mut encoder = encoder.get()?.lock()?;
        encoder.check_apart(out.place())?;
        let (size, out) = (size.place()?, out.get()?);
        // An encoder never fails.
        size.put(encoder.state.read(out).unwrap_or(0));
        Ok(())
    }

    /// Makes a decoder.
    fn dtype_decoder_new(of: [dtype_limits; 1], out: [new dtype_decoder]) {
        let limits = of.optional()?.map_or(Ok(Limits::new()), limits)?;
        out.put_new(Exclusive::new(Decoder::new(limits)))
    }

    /// Takes bytes up to the end of a frame.
    fn dtype_decoder_feed(
        decoder: [&mut dtype_decoder], bytes: [bytes; size], size: usize, taken: [out usize],
        frame: [new dtype_received]
    ) {
        let (mut decoder, mut input) = (decoder.get()?.lock()?, bytes.get()?);
        let (taken, frame) = (taken.place()?, frame.place()?);
        let result = decoder.feed(&mut input);
        taken.put(size - input.len());
        match result? {
            Some(message) => frame.put(handle::new(message)),
            None => frame.put(std::ptr::null_mut()),
        }
        Ok(())
    }

    /// Whether the stream may end.
    fn dtype_decoder_finish(decoder: [&dtype_decoder]) { Ok(decoder.get()?.lock()?.finish()?) }

    /// The header and the payload.
    fn dtype_received_get_info(frame: [&dtype_received], out: [out dtype_received_info]) {
        let PackedMessage { header, packed } = frame.get()?;
        out.put(dtype_received_info {
            tag: header.tag(),
            order: if header.byte_order() == ByteOrder::Little { 2 } else { 3 },
            count: header.count(),
            record_size: header.record_size(),
            signature_hash: header.signature_hash().unwrap_or(0),
            payload: packed.as_ptr().cast(),
            payload_size: packed.len(),
        })
    }

    /// Unpacks the records of a frame.
    fn dtype_received_unpack(
        frame: [&dtype_received], committed: [&dtype_committed], memory: [mut memory; memory_size],
        memory_size: usize, most: usize, count: [out usize]
    ) {
        let (frame, prepared) = (frame.get()?, committed.get()?);
        let (ty, header) = (prepared.native()?, &frame.header);
        header.check_type(ty)?;
        let number = usize::try_from(header.count()).unwrap_or(usize::MAX);
        if number > most {
            let (limit, actual) = (most as u64, header.count());
            return Err(Error::RecordLimit { limit, actual }.into());
        }
        memory.check(ty, number)?;
        // SAFETY: the data of `number` instances are writable: the caller promises that of the memory in which they lie, as just
        // checked, or of all data if it has no bound.
        let unpacker = unsafe { prepared.unpacker(memory.origin, number)? };
        frame.unpack(unpacker)?;
        count.put_if_wanted(number)
    }
}

release!(dtype_encoder_release, dtype_encoder);
release!(dtype_decoder_release, dtype_decoder);
release!(dtype_received_release, dtype_received);
