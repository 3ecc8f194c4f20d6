//! What a message is sent from or received into, and the form in which UCX gets it.
//!
//! ```text
//! the packed bytes lie in memory as they are          one range of bytes     contiguous
//! they lie in blocks of LONG_BLOCK bytes on average   a list of blocks       UCX's iov
//! anything else                                       a packer               generic datatype
//! values must be checked (bool, char, enums)          packed bytes           contiguous, unpacked at the end
//! ```
//!
//! All forms are the same bytes on the wire, so the two sides choose independently.

use std::marker::PhantomData;
use std::ptr;

use dtype_runtime::{Buffer, BufferMut, Committed, Datatype, Packer, Unpacker};
use dtype_ucp_generic::{Message, Status};

use crate::allocation::with_room;
use crate::error::Error;
use crate::raw;

/// Average length in bytes from which blocks are listed for UCX instead of packed: about a fragment of UCX in shared
/// memory, so that a block costs no more than a call of the packer.
const LONG_BLOCK: usize = 8192;

/// What to send: a slice of records, or instances of a committed type in memory.
///
/// Slices, arrays and vectors of any [`Datatype`] convert to it wherever one is expected.
#[derive(Debug)]
pub struct Elements<'a> {
    pub(crate) form: Form<'a>,
}

/// What to receive into: a slice of records, or instances of a committed type in memory.
///
/// Slices, arrays and vectors of any [`Datatype`] convert to it wherever one is expected.
#[derive(Debug)]
pub struct ElementsMut<'a> {
    pub(crate) form: FormMut<'a>,
    /// Packed bytes of all elements.
    pub(crate) size: usize,
    /// Packed bytes of a record, if messages must have whole records.
    record: Option<usize>,
}

#[derive(Debug)]
pub(crate) enum Form<'a> {
    Bytes { start: *const u8, len: usize },
    Blocks(Vec<raw::Block>),
    Packed(Outgoing<'a>),
}

#[derive(Debug)]
pub(crate) enum FormMut<'a> {
    Bytes { start: *mut u8, len: usize, memory: PhantomData<&'a mut [u8]> },
    Blocks(Vec<raw::Block>),
    Unpacked(Incoming<'a>),
    Checked { bytes: PackedBytes, unpacker: Unpacker<'a> },
}

// SAFETY: the addresses are those of memory that is borrowed for `'a`, of data bytes that nobody writes meanwhile,
// whatever thread reads them.
unsafe impl Send for Elements<'_> {}
// SAFETY: the addresses are those of memory that is borrowed exclusively for `'a`: plain bytes, whatever thread writes
// them.
unsafe impl Send for ElementsMut<'_> {}

impl<'a> Elements<'a> {
    /// `count` instances of a committed type in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the data reach outside the memory.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Buffer, Type};
    /// use dtype_ucx::Elements;
    /// // The second column of a matrix of 3 × 4.
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// let column = Elements::of(&column, Buffer::new(b"abcdefghijkl").origin(1), 1)?;
    /// assert_eq!(column.packed_size(), 3);
    /// # Ok::<(), dtype_ucx::Error>(())
    /// ```
    pub fn of(
        committed: &Committed,
        memory: impl Into<Buffer<'a>>,
        count: usize,
    ) -> Result<Self, Error> {
        Ok(Self::packed(committed.packer(memory.into(), count)?))
    }

    /// The rest of a packer's stream.
    fn packed(packer: Packer<'a>) -> Self {
        // The data lie in memory, at most once for each byte that a type repeats; more cannot be sent at all.
        let size = usize::try_from(packer.remaining()).unwrap_or(usize::MAX);
        let first = packer.chunk();
        let form = if first.len() == size {
            Form::Bytes { start: first.as_ptr(), len: size }
        } else if let Some(blocks) = long_blocks(first.len(), size, || blocks_of(&packer)) {
            Form::Blocks(blocks)
        } else {
            Form::Packed(Outgoing { packer, size })
        };
        Self { form }
    }

    /// The length of the message in bytes.
    pub fn packed_size(&self) -> usize {
        match &self.form {
            Form::Bytes { len, .. } => *len,
            Form::Blocks(blocks) => blocks.iter().map(|block| block.length).sum(),
            Form::Packed(outgoing) => outgoing.size,
        }
    }

    /// The arguments of a call that sends: buffer, count and datatype.
    pub(crate) fn arguments(
        &mut self,
        outgoing: raw::Datatype,
    ) -> (*const u8, usize, raw::Datatype) {
        match &mut self.form {
            Form::Bytes { start, len } => (*start, *len, raw::DATATYPE_BYTES),
            Form::Blocks(blocks) => (blocks.as_ptr().cast(), blocks.len(), raw::DATATYPE_IOV),
            Form::Packed(message) => (std::ptr::from_mut(message).cast_const().cast(), 1, outgoing),
        }
    }
}

impl<'a> ElementsMut<'a> {
    /// `count` instances of a committed type in memory. The memory consists of bytes, so any packed bytes are accepted,
    /// and a message may end within an instance.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the data reach outside the memory, or the instances name a byte more than once.
    pub fn of(
        committed: &Committed,
        memory: impl Into<BufferMut<'a>>,
        count: usize,
    ) -> Result<Self, Error> {
        let (memory, origin) = memory.into().into_parts();
        let size = committed.packed_size(count)?;
        check_span(committed, memory.len(), origin, count)?;
        committed.check_disjoint(count)?;
        #[expect(clippy::cast_possible_truncation, reason = "addresses are modulo their width")]
        let origin = memory.as_mut_ptr().wrapping_offset(origin as isize);
        let block = |disp: i64, len: u64| {
            #[expect(clippy::cast_possible_truncation, reason = "the data lie in the memory")]
            raw::Block {
                buffer: origin.wrapping_offset(disp as isize).cast(),
                length: len as usize,
            }
        };
        let segments = || committed.iov(count, 0..size as u64);
        let first = segments()?.next().map_or(block(0, 0), |first| block(first.disp, first.len));
        let blocks = || segments().into_iter().flatten().map(|s| block(s.disp, s.len));
        let form = if first.length == size {
            FormMut::Bytes { start: first.buffer.cast(), len: size, memory: PhantomData }
        } else if let Some(blocks) = long_blocks(first.length, size, blocks) {
            FormMut::Blocks(blocks)
        } else {
            // SAFETY: the data lie in the memory, as just checked, which is borrowed exclusively for `'a`. It holds
            // bytes, any of which are valid.
            let unpacker = unsafe { Unpacker::from_raw(committed, origin, count)? };
            FormMut::Unpacked(Incoming { unpacker, size })
        };
        Ok(Self { form, size, record: None })
    }

    /// The length in bytes of the longest message that there is room for.
    pub fn packed_size(&self) -> usize {
        self.size
    }

    /// The arguments of a call that receives: buffer, count and datatype.
    pub(crate) fn arguments(&mut self, incoming: raw::Datatype) -> (*mut u8, usize, raw::Datatype) {
        match &mut self.form {
            FormMut::Bytes { start, len, .. } => (*start, *len, raw::DATATYPE_BYTES),
            FormMut::Blocks(blocks) => {
                (blocks.as_mut_ptr().cast(), blocks.len(), raw::DATATYPE_IOV)
            }
            FormMut::Unpacked(message) => (std::ptr::from_mut(message).cast(), 1, incoming),
            FormMut::Checked { bytes, .. } => {
                let (start, room) = bytes.memory();
                (start, room, raw::DATATYPE_BYTES)
            }
        }
    }

    /// Checks that a message of `len` bytes can be received.
    pub(crate) fn check_length(&self, len: usize) -> Result<(), Error> {
        if len > self.size {
            return Err(Error::TooLong { room: self.size });
        }
        self.check_records(len)
    }

    fn check_records(&self, len: usize) -> Result<(), Error> {
        if let Some(record) = self.record
            && !len.is_multiple_of(record)
        {
            let (actual, record) = (len as u64, record as u64);
            return Err(dtype_runtime::Error::PartialRecord { actual, record }.into());
        }
        Ok(())
    }

    /// Receives a message that is here, and was [checked](Self::check_length).
    pub(crate) fn unpack(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        match &mut self.form {
            FormMut::Bytes { start, len, .. } => {
                let len = bytes.len().min(*len);
                // SAFETY: the memory is borrowed exclusively and has this length, and all bytes are valid there.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), *start, len) };
            }
            FormMut::Blocks(blocks) => {
                for block in blocks {
                    let (part, rest) = bytes.split_at(bytes.len().min(block.length));
                    // SAFETY: likewise, for each block.
                    unsafe {
                        ptr::copy_nonoverlapping(part.as_ptr(), block.buffer.cast(), part.len());
                    }
                    bytes = rest;
                }
            }
            FormMut::Unpacked(message) => {
                message.unpacker.unpack(bytes)?;
            }
            FormMut::Checked { unpacker, .. } => {
                unpacker.unpack(bytes)?;
            }
        }
        Ok(())
    }

    /// Ends a receive of `len` bytes: unpacks what has to be checked first.
    ///
    /// # Safety
    ///
    /// The receive with these [`arguments`](Self::arguments) has completed, and written `len` bytes.
    pub(crate) unsafe fn received(&mut self, len: usize) -> Result<(), Error> {
        self.check_records(len)?;
        if let FormMut::Checked { bytes, unpacker } = &mut self.form {
            // SAFETY: the caller guarantees the bytes.
            unpacker.unpack(unsafe { bytes.written(len) })?;
        }
        Ok(())
    }
}

impl<'a, T: Datatype> From<&'a [T]> for Elements<'a> {
    fn from(items: &'a [T]) -> Self {
        if const { T::TYPE_MAP.is_packed() } {
            Self { form: Form::Bytes { start: items.as_ptr().cast(), len: size_of_val(items) } }
        } else if const { size_of::<T>() < LONG_BLOCK } {
            let packer = Packer::new(items);
            // The items' data are part of their memory.
            let size = dtype_runtime::packed_size::<T>(items.len());
            Self { form: Form::Packed(Outgoing { packer, size }) }
        } else {
            Self::packed(Packer::new(items))
        }
    }
}

impl<'a, T: Datatype> From<&'a mut [T]> for ElementsMut<'a> {
    fn from(items: &'a mut [T]) -> Self {
        let size = dtype_runtime::packed_size::<T>(items.len());
        let record = Some(T::TYPE_MAP.size()).filter(|&size| size > 0);
        let form = if const { T::TYPE_MAP.is_restricted() } {
            let unpacker = Unpacker::new(items);
            FormMut::Checked { bytes: PackedBytes::with_room(size), unpacker }
        } else if const { T::TYPE_MAP.is_packed() } {
            FormMut::Bytes { start: items.as_mut_ptr().cast(), len: size, memory: PhantomData }
        } else {
            FormMut::Unpacked(Incoming { unpacker: Unpacker::new(items), size })
        };
        Self { form, size, record }
    }
}

macro_rules! from_containers {
    ($elements:ident, $($borrow:tt)+) => {
        impl<'a, T: Datatype, const N: usize> From<$($borrow)+ [T; N]> for $elements<'a> {
            fn from(items: $($borrow)+ [T; N]) -> Self {
                let items: $($borrow)+ [T] = items;
                items.into()
            }
        }

        impl<'a, T: Datatype> From<$($borrow)+ Vec<T>> for $elements<'a> {
            fn from(items: $($borrow)+ Vec<T>) -> Self {
                let items: $($borrow)+ [T] = items;
                items.into()
            }
        }
    };
}

from_containers!(Elements, &'a);
from_containers!(ElementsMut, &'a mut);

/// The blocks, if they are long on average. `first` is the length of the first one.
fn long_blocks<I: Iterator<Item = raw::Block>>(
    first: usize,
    size: usize,
    blocks: impl FnOnce() -> I,
) -> Option<Vec<raw::Block>> {
    if first < LONG_BLOCK {
        return None;
    }
    let most = size / LONG_BLOCK;
    let blocks: Vec<_> = blocks().take(most + 1).collect();
    (blocks.len() <= most).then_some(blocks)
}

fn blocks_of(packer: &Packer<'_>) -> impl Iterator<Item = raw::Block> {
    packer
        .chunks()
        .map(|chunk| raw::Block { buffer: chunk.as_ptr().cast_mut().cast(), length: chunk.len() })
}

/// Checks that the data of `count` instances lie in a memory of `len` bytes.
pub(crate) fn check_span(
    committed: &Committed,
    len: usize,
    origin: i64,
    count: usize,
) -> Result<(), Error> {
    if count == 0 || committed.size() == 0 {
        return Ok(());
    }
    // The magnitude is below 2⁶⁴ · 2⁶³ by more than 2⁶⁴, which leaves room for the additions.
    let last = (count as i128 - 1) * i128::from(committed.extent());
    let start = i128::from(origin) + i128::from(committed.true_lb()) + last.min(0);
    let end = i128::from(origin) + i128::from(committed.true_ub()) + last.max(0);
    if start < 0 || end > len as i128 {
        return Err(dtype_runtime::Error::OutOfBounds { start, end, len: len as u64 }.into());
    }
    Ok(())
}

/// Packed bytes that UCX writes, into memory that is not initialised before.
#[derive(Debug)]
pub(crate) struct PackedBytes {
    bytes: Vec<u8>,
    /// The number of bytes that may be written; the vector has room for them.
    room: usize,
}

impl PackedBytes {
    pub(crate) fn with_room(room: usize) -> Self {
        Self { bytes: Vec::with_capacity(room), room }
    }

    /// As [`with_room`](Self::with_room), for a length that a peer or the program has chosen.
    pub(crate) fn try_with_room(room: usize) -> Result<Self, Error> {
        Ok(Self { bytes: with_room(room)?, room })
    }

    /// The address of the first byte, which stays the same, and the number of bytes that may be written.
    pub(crate) fn memory(&mut self) -> (*mut u8, usize) {
        (self.bytes.as_mut_ptr(), self.room)
    }

    /// The bytes that were written.
    ///
    /// # Safety
    ///
    /// `len` bytes of the [`memory`](Self::memory) were written, and are not written any more.
    pub(crate) unsafe fn written(&mut self, len: usize) -> &[u8] {
        debug_assert!(len <= self.room, "UCX writes no more than there is room for");
        // SAFETY: the vector has room for them, and the caller guarantees that they are initialised.
        unsafe { self.bytes.set_len(len.min(self.room)) };
        &self.bytes
    }
}

/// A message that UCX asks for fragment by fragment.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) packer: Packer<'a>,
    /// Bytes from the packer's first position to its end.
    size: usize,
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
        // SAFETY: the caller guarantees that the fragment is writable up to the end of the message. It is foreign memory,
        // which Rust does not know to be uninitialised, and is only written.
        self.packer.pack(unsafe { std::slice::from_raw_parts_mut(out, room) })
    }

    unsafe fn unpack(&mut self, _: usize, _: *const u8, _: usize) -> Result<(), Status> {
        Err(Status::INVALID_PARAM)
    }

    fn finish(self) {}
}

/// A message that UCX delivers fragment by fragment.
#[derive(Debug)]
pub(crate) struct Incoming<'a> {
    pub(crate) unpacker: Unpacker<'a>,
    /// Bytes of all elements.
    size: usize,
}

impl Message for Incoming<'_> {
    fn packed_size(&self) -> usize {
        self.size
    }

    unsafe fn pack(&mut self, _: usize, _: *mut u8, _: usize) -> usize {
        0
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
        let packed = unsafe { std::slice::from_raw_parts(packed, len) };
        match self.unpacker.unpack(packed) {
            Ok(taken) if taken == len => Ok(()),
            _ => Err(Status::INVALID_PARAM),
        }
    }

    fn finish(self) {}
}

/// A message of this number of bytes that UCX delivers to nowhere.
#[derive(Debug)]
pub(crate) struct Discarded {
    pub(crate) size: usize,
}

impl Message for Discarded {
    fn packed_size(&self) -> usize {
        self.size
    }

    unsafe fn pack(&mut self, _: usize, _: *mut u8, _: usize) -> usize {
        0
    }

    unsafe fn unpack(&mut self, _: usize, _: *const u8, _: usize) -> Result<(), Status> {
        Ok(())
    }

    fn finish(self) {}
}
