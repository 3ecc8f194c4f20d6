//! Packers, unpackers and segments: the packed stream in pieces.

use std::ffi::c_void;

use dtype_runtime::convertor::{Converted, Segment};
use dtype_runtime::{Packer, Unpacker};

use crate::boundary::{functions, release, structs};
use crate::commit::{Prepared, dtype_committed};
use crate::error::Failure;
use crate::handle::{Exclusive, objects};
use crate::memory::Data;

objects! {
    /// A packed stream that is read.
    dtype_packer = 0x6474_7403, "a packer", Exclusive<Stream<Packing>>;
    /// A packed stream that is written.
    dtype_unpacker = 0x6474_7404, "an unpacker", Exclusive<Stream<Unpacking>>;
}

/// A stream, and where its data lie: fragments must be apart from them.
#[derive(Debug)]
pub struct Stream<S> {
    pub(crate) state: S,
    pub(crate) prepared: Prepared,
    pub(crate) data: Data,
    pub(crate) count: usize,
}

/// A packer or an unpacker, whose memory the caller lends for as long as it lives.
#[derive(Debug)]
pub enum Either<Native, Converted> {
    /// Of this machine's bytes.
    Native(Native),
    /// Of another representation.
    Converted(Converted),
}

type Packing = Either<Packer<'static>, Packer<'static, Converted>>;
type Unpacking = Either<Unpacker<'static>, Unpacker<'static, Converted>>;

/// The same call of either stream.
macro_rules! either {
    ($of:expr, $stream:ident => $call:expr) => {
        match $of {
            Either::Native($stream) => $call,
            Either::Converted($stream) => $call,
        }
    };
}

impl<S> Stream<S> {
    #[inline(always)]
    pub(crate) fn check_apart(&self, bytes: (*const u8, usize)) -> Result<(), Failure> {
        self.data.check_apart(&self.prepared.ty, self.count, bytes)
    }
}

functions! { FRAGMENTS:
    /// Makes a packer.
    fn dtype_packer_new(
        committed: [&dtype_committed], memory: [memory; memory_size], memory_size: usize,
        count: usize, out: [new dtype_packer]
    ) {
        let prepared = committed.get()?;
        let (ty, data) = (&prepared.ty, memory.check(&prepared.ty, count)?);
        // SAFETY: the caller lends the data until the release, and they lie in the memory, as just checked, or the caller answers
        // for the bounds.
        let state = unsafe {
            match &prepared.conversion {
                None => Either::Native(Packer::from_raw(ty, memory.origin, count)?),
                Some(conversion) => Either::Converted(conversion.packer_raw(memory.origin, count)?),
            }
        };
        out.put_new(Exclusive::new(Stream { state, prepared: prepared.clone(), data, count }))
    }

    /// The next bytes.
    fn dtype_packer_pack(
        packer: [&mut dtype_packer], out: [mut bytes; out_size], out_size: usize,
        packed: [out usize]
    ) {
        let mut packer = packer.get()?.lock()?;
        packer.check_apart(out.place())?;
        let (out, packed) = (out.get()?, packed.place()?);
        packed.put(match &mut packer.state {
            Either::Native(stream) => stream.pack(out),
            Either::Converted(stream) => stream.pack(out)?,
        });
        Ok(())
    }

    /// Seeks.
    fn dtype_packer_seek(packer: [&mut dtype_packer], position: u64) {
        let mut packer = packer.get()?.lock()?;
        Ok(either!(&mut packer.state, stream => stream.set_position(position))?)
    }

    /// The position, and the bytes that are left.
    fn dtype_packer_where(
        packer: [&dtype_packer], position: [out u64], remaining: [out u64]
    ) {
        let packer = packer.get()?.lock()?;
        position.put_if_wanted(either!(&packer.state, stream => stream.position()))?;
        remaining.put_if_wanted(either!(&packer.state, stream => stream.remaining()))
    }

    /// Makes an unpacker.
    fn dtype_unpacker_new(
        committed: [&dtype_committed], memory: [mut memory; memory_size], memory_size: usize,
        count: usize, out: [new dtype_unpacker]
    ) {
        let prepared = committed.get()?;
        let data = memory.check(&prepared.ty, count)?;
        // SAFETY: the caller lends the data until the release, and they lie in the memory, as just checked, or the caller answers
        // for the bounds.
        let unpacker = unsafe { prepared.unpacker(memory.origin, count)? };
        let state = match &prepared.conversion {
            None => Either::Native(unpacker),
            Some(conversion) => Either::Converted(conversion.unpacker_of(unpacker)?),
        };
        out.put_new(Exclusive::new(Stream { state, prepared: prepared.clone(), data, count }))
    }

    /// Unpacks the next bytes.
    fn dtype_unpacker_unpack(
        unpacker: [&mut dtype_unpacker], bytes: [bytes; size], size: usize, unpacked: [out usize]
    ) {
        let mut unpacker = unpacker.get()?.lock()?;
        let (bytes, unpacked) = (bytes.get()?, unpacked.place()?);
        unpacker.check_apart((bytes.as_ptr(), bytes.len()))?;
        unpacked.put(either!(&mut unpacker.state, stream => stream.unpack(bytes))?);
        Ok(())
    }

    /// Seeks.
    fn dtype_unpacker_seek(unpacker: [&mut dtype_unpacker], position: u64) {
        let mut unpacker = unpacker.get()?.lock()?;
        Ok(either!(&mut unpacker.state, stream => stream.set_position(position))?)
    }

    /// The position, and the bytes that are missing.
    fn dtype_unpacker_where(
        unpacker: [&dtype_unpacker], position: [out u64], remaining: [out u64]
    ) {
        let unpacker = unpacker.get()?.lock()?;
        position.put_if_wanted(either!(&unpacker.state, stream => stream.position()))?;
        remaining.put_if_wanted(either!(&unpacker.state, stream => stream.remaining()))
    }

    /// The number of segments.
    fn dtype_segment_count(
        committed: [&dtype_committed], count: usize, position: u64, out: [out u64]
    ) {
        let prepared = committed.get()?;
        let (ty, end) = (prepared.native()?, prepared.packed_size(count)? as u64);
        out.put(ty.iov(count, position..end)?.segments())
    }

    /// The first segments.
    fn dtype_segments(
        committed: [&dtype_committed], memory: [memory; memory_size], memory_size: usize,
        count: usize, position: u64, out: [mut iovec; room], room: usize, number: [out usize],
        next: [out u64]
    ) {
        let prepared = committed.get()?;
        let (ty, end) = (prepared.native()?, prepared.packed_size(count)? as u64);
        memory.check(ty, count)?;
        let (mut found, mut segments) = (0, ty.iov(count, position..end)?);
        let (out, number, next) = (out.get()?, number.place()?, next.place()?);
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
    }
}

release!(dtype_packer_release, dtype_packer);
release!(dtype_unpacker_release, dtype_unpacker);

structs! { SEGMENT_STRUCTS:
    iovec { iov_base: *mut c_void, iov_len: usize }
}
