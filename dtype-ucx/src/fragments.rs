//! Messages that UCX fetches or delivers fragment by fragment: the generic datatypes of this crate.

use std::slice;

use dtype_runtime::{Packer, Unpacker};
use dtype_ucp_generic::{Message, Status};

/// Bytes that are packed at a time.
const AT_A_TIME: usize = 4096;

/// A message that UCX fetches fragment by fragment.
pub(crate) struct Outgoing<'a> {
    pub(crate) packer: Packer<'a>,
    /// Bytes from the packer's first position to its end.
    size: usize,
    /// A buffer in which some bytes of a fragment are packed before they are copied to UCX's memory, if the data are near one
    /// another; otherwise empty. [`is_near`](dtype_ucp_generic::is_near) explains why.
    cached: Vec<u8>,
}

impl<'a> Outgoing<'a> {
    /// `is_near` says whether the data are [near one another](dtype_ucp_generic::is_near).
    pub(crate) fn new(packer: Packer<'a>, size: usize, is_near: bool) -> Self {
        Self { packer, size, cached: vec![0; if is_near { AT_A_TIME.min(size) } else { 0 }] }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }
}

impl Message for Outgoing<'_> {
    fn packed_size(&self) -> usize {
        self.size
    }

    unsafe fn pack(&mut self, offset: usize, out: *mut u8, room: usize) -> usize {
        if self.packer.position() != offset as u64
            && self.packer.set_position(offset as u64).is_err()
        {
            return 0;
        }
        let room = room.min(self.size.saturating_sub(offset));
        // SAFETY: the caller guarantees that the fragment is writable up to the end of the message. It is foreign memory, which
        // Rust cannot know to be uninitialised, and it is only written.
        let out = unsafe { slice::from_raw_parts_mut(out, room) };
        if self.cached.is_empty() {
            return self.packer.pack(out);
        }
        for part in out.chunks_mut(self.cached.len()) {
            let cached = &mut self.cached[..part.len()];
            self.packer.pack(cached);
            part.copy_from_slice(cached);
        }
        room
    }
}

/// A message that UCX delivers fragment by fragment.
pub(crate) struct Incoming<'a> {
    pub(crate) unpacker: Unpacker<'a>,
    /// Bytes of all elements.
    pub(crate) size: usize,
}

impl Message for Incoming<'_> {
    fn packed_size(&self) -> usize {
        self.size
    }

    unsafe fn unpack(
        &mut self,
        offset: usize,
        packed: *const u8,
        len: usize,
    ) -> Result<(), Status> {
        if self.unpacker.position() != offset as u64 {
            self.unpacker.set_position(offset as u64).map_err(|_| Status::INVALID_PARAM)?;
        }
        // SAFETY: the caller guarantees the fragment.
        let packed = unsafe { slice::from_raw_parts(packed, len) };
        match self.unpacker.unpack(packed) {
            Ok(taken) if taken == len => Ok(()),
            _ => Err(Status::INVALID_PARAM),
        }
    }
}

/// A message of this many bytes that UCX delivers and this crate discards.
pub(crate) struct Discarded {
    pub(crate) size: usize,
}

impl Message for Discarded {
    fn packed_size(&self) -> usize {
        self.size
    }

    unsafe fn unpack(&mut self, _: usize, _: *const u8, _: usize) -> Result<(), Status> {
        Ok(())
    }
}
