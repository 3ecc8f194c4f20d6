//! The memory that a message is sent from or received into, and the form in which UCX gets it.
//!
//! ```text
//! the packed bytes lie in memory as they are          one range of bytes     contiguous
//! there are at most SHORT of them                     a packed copy          contiguous, unpacked at the end
//! values must be checked (bool, char, enums)          a packed copy          contiguous, unpacked at the end
//! they lie in blocks of LONG_BLOCK bytes on average   a list of blocks       UCX's iov
//! anything else                                       a packer               generic datatype
//! ```
//!
//! All forms are the same bytes on the wire, so the two sides choose independently.

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::{mem, ptr, slice};

use dtype_runtime::convertor::Segment;
use dtype_runtime::types::Flags;
use dtype_runtime::{
    Buffer, BufferMut, Committed, Datatype, Error as DatatypeError, Packer, Unpacker,
};
use dtype_ucp_generic::is_near;

use crate::allocation::{with_room, zeros};
use crate::error::Error;
use crate::fragments::{Incoming, Outgoing};
use crate::raw;

/// From this average length in bytes on, blocks are listed for UCX instead of packed. It is about the size of UCX's fragments
/// in shared memory, so a block costs no more than a call of the packer.
const LONG_BLOCK: usize = 8192;

/// Up to this many packed bytes, a copy costs less than UCX's calls for a generic datatype.
const SHORT: usize = 4096;

/// What to send: a slice of records, or instances of a committed type in memory.
///
/// Slices, arrays and vectors of any [`Datatype`] convert to it wherever one is expected.
pub struct Elements<'a> {
    form: Form<'a>,
}

/// What to receive into: a slice of records, or instances of a committed type in memory.
///
/// Slices, arrays and vectors of any [`Datatype`] convert to it wherever one is expected.
pub struct ElementsMut<'a> {
    form: FormMut<'a>,
    /// Packed bytes of all elements.
    pub(crate) size: usize,
    /// Packed bytes of a record, if messages must consist of whole records.
    record: Option<usize>,
}

enum Form<'a> {
    Bytes { start: *const u8, len: usize },
    Blocks(Vec<raw::Block>),
    Copy(Vec<u8>),
    Packed(Box<Outgoing<'a>>),
}

enum FormMut<'a> {
    Bytes { start: *mut u8, len: usize, memory: PhantomData<&'a mut [u8]> },
    Blocks(Vec<raw::Block>),
    Whole(Whole<'a>),
    Unpacked(Box<Incoming<'a>>),
}

// SAFETY: the addresses are those of data bytes in memory that is borrowed for `'a`. Nothing writes them meanwhile, whatever
// thread reads them.
unsafe impl Send for Elements<'_> {}
// SAFETY: the addresses are those of plain bytes in memory that is borrowed exclusively for `'a`, whatever thread writes them.
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
    /// let column = Elements::new(&column, Buffer::new(b"abcdefghijkl").origin(1), 1)?;
    /// assert_eq!(column.packed_size(), 3);
    /// # Ok::<(), dtype_ucx::Error>(())
    /// ```
    pub fn new(
        committed: &Committed,
        memory: impl Into<Buffer<'a>>,
        count: usize,
    ) -> Result<Self, Error> {
        let memory = memory.into();
        let (bytes, origin) = memory.into_parts();
        let form = if let Some(run) = contiguous(committed, bytes.len(), origin, count)? {
            Form::Bytes { start: bytes[run.clone()].as_ptr(), len: run.len() }
        } else if committed.packed_size(count)? <= SHORT {
            Form::Copy(committed.pack_to_vec(memory, count)?)
        } else {
            Form::from_packer(committed.packer(memory, count)?, || is_near(committed))
        };
        Ok(Self { form })
    }

    /// The length of the message in bytes.
    pub fn packed_size(&self) -> usize {
        match &self.form {
            Form::Bytes { len, .. } => *len,
            Form::Blocks(blocks) => blocks.iter().map(|block| block.length).sum(),
            Form::Copy(bytes) => bytes.len(),
            Form::Packed(outgoing) => outgoing.size(),
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
            Form::Copy(bytes) => (bytes.as_ptr(), bytes.len(), raw::DATATYPE_BYTES),
            Form::Packed(message) => {
                (ptr::from_mut(&mut **message).cast_const().cast(), 1, outgoing)
            }
        }
    }
}

impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.packed_size();
        f.debug_struct("Elements").field("packed_size", &size).finish_non_exhaustive()
    }
}

impl fmt::Debug for ElementsMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElementsMut").field("packed_size", &self.size).finish_non_exhaustive()
    }
}

/// The packed bytes of elements, from the first to the last.
pub(crate) struct Source<'a> {
    /// Blocks of memory that hold the bytes unpacked, without those that were taken. Empty if there is a packer.
    blocks: VecDeque<raw::Block>,
    /// A packed copy. If there is one, it is the only block.
    copy: Vec<u8>,
    packer: Option<Box<Outgoing<'a>>>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(elements: Elements<'a>) -> Self {
        let mut source = Self { blocks: VecDeque::new(), copy: Vec::new(), packer: None };
        match elements.form {
            Form::Bytes { start, len } => source.blocks.push_back(block(start.cast_mut(), len)),
            Form::Blocks(blocks) => source.blocks = blocks.into(),
            Form::Copy(bytes) => source.set_copy(bytes),
            Form::Packed(outgoing) => source.packer = Some(outgoing),
        }
        source
    }

    fn set_copy(&mut self, bytes: Vec<u8>) {
        self.copy = bytes;
        self.blocks.push_back(block(self.copy.as_mut_ptr(), self.copy.len()));
    }

    /// All bytes that were not taken, as memory. If they do not lie in memory unpacked, they are packed first.
    pub(crate) fn blocks(&mut self) -> Result<&[raw::Block], Error> {
        if let Some(mut outgoing) = self.packer.take() {
            let mut bytes = zeros(outgoing.size())?;
            outgoing.packer.pack(&mut bytes);
            self.set_copy(bytes);
        }
        Ok(self.blocks.make_contiguous())
    }

    /// Takes the next bytes: as many as are contiguous, or as many as are packed into the chunk. Returns none after the last
    /// ones.
    pub(crate) fn next<'s>(&'s mut self, chunk: &'s mut [u8]) -> &'s [u8] {
        if let Some(outgoing) = &mut self.packer {
            let len = outgoing.packer.pack(chunk);
            return &chunk[..len];
        }
        let Some(raw::Block { buffer, length }) = self.blocks.pop_front() else { return &[] };
        // SAFETY: the blocks are parts of the elements, which are borrowed for `'a`, or of the copy.
        unsafe { slice::from_raw_parts(buffer.cast(), length) }
    }

    /// Takes the next bytes, as many as fit `out`, or all that remain.
    pub(crate) fn fill(&mut self, mut out: &mut [u8]) {
        if let Some(outgoing) = &mut self.packer {
            outgoing.packer.pack(out);
            return;
        }
        while !out.is_empty()
            && let Some(raw::Block { buffer, length }) = self.blocks.pop_front()
        {
            let start = buffer.cast::<u8>();
            let len = length.min(out.len());
            let (now, later) = out.split_at_mut(len);
            // SAFETY: as in `next`.
            now.copy_from_slice(unsafe { slice::from_raw_parts(start, len) });
            if len < length {
                self.blocks.push_front(block(start.wrapping_add(len), length - len));
            }
            out = later;
        }
    }
}

fn block(start: *mut u8, length: usize) -> raw::Block {
    raw::Block { buffer: start.cast(), length }
}

impl<'a> Form<'a> {
    /// The stream of a packer.
    fn from_packer(packer: Packer<'a>, is_near: impl FnOnce() -> bool) -> Self {
        // The size fits, unless the type repeats bytes; then the message could not be sent anyway.
        let size = usize::try_from(packer.remaining()).unwrap_or(usize::MAX);
        let first = packer.chunk().len();
        match long_blocks(first, size, || blocks_of(&packer)) {
            Some(blocks) => Self::Blocks(blocks),
            None => Self::Packed(Box::new(Outgoing::new(packer, size, is_near()))),
        }
    }
}

impl FormMut<'_> {
    fn whole(destination: Destination) -> Self {
        Self::Whole(Whole { copy: None, destination, memory: PhantomData })
    }

    /// `count` instances that are not one run, of `size` packed bytes in total.
    ///
    /// # Safety
    ///
    /// As for [`Unpacker::from_raw`].
    unsafe fn from_instances(
        committed: &Committed,
        origin: *mut u8,
        count: usize,
        size: usize,
    ) -> Result<Self, Error> {
        #[expect(clippy::cast_possible_truncation, reason = "the data lie in the memory")]
        let block = |segment: Segment| raw::Block {
            buffer: origin.wrapping_offset(segment.disp as isize).cast(),
            length: segment.len as usize,
        };
        let segments = committed.iov(count, 0..size as u64)?;
        let first = segments.clone().next().map_or(0, |first| block(first).length);
        if let Some(blocks) = long_blocks(first, size, || segments.map(block)) {
            return Ok(Self::Blocks(blocks));
        }
        // SAFETY: passed on to the caller.
        let unpacker = unsafe { Unpacker::from_raw(committed, origin, count)? };
        Ok(Self::Unpacked(Box::new(Incoming { unpacker, size })))
    }
}

impl<'a> ElementsMut<'a> {
    /// `count` instances of a committed type in memory. The memory consists of bytes, so any packed bytes are accepted,
    /// and a message may end within an instance.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the data reach outside the memory, or the instances name a byte more than once.
    pub fn new(
        committed: &Committed,
        memory: impl Into<BufferMut<'a>>,
        count: usize,
    ) -> Result<Self, Error> {
        let (memory, origin) = memory.into().into_parts();
        let size = committed.packed_size(count)?;
        let run = contiguous(committed, memory.len(), origin, count)?;
        committed.check_overlap(count)?;
        let form = if let Some(run) = run {
            let start = memory[run].as_mut_ptr();
            FormMut::Bytes { start, len: size, memory: PhantomData }
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "addresses are modulo their width")]
            let origin = memory.as_mut_ptr().wrapping_offset(origin as isize);
            if size <= SHORT {
                let committed = committed.clone();
                FormMut::whole(Destination::Instances { committed, origin, count })
            } else {
                // SAFETY: the data lie in the memory, as just checked, which is borrowed exclusively for `'a`. It holds
                // bytes, any of which are valid, and no byte is named twice.
                unsafe { FormMut::from_instances(committed, origin, count, size)? }
            }
        };
        Ok(Self { form, size, record: None })
    }

    /// The length in bytes of the longest message that fits.
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
            FormMut::Whole(message) => {
                let copy = message.copy.insert(PackedBytes::with_room(self.size));
                let (start, room) = copy.memory();
                (start, room, raw::DATATYPE_BYTES)
            }
            FormMut::Unpacked(message) => (ptr::from_mut(&mut **message).cast(), 1, incoming),
        }
    }

    /// Takes the memory to which packed bytes can be copied unchanged; `None` if they must be [unpacked](Self::unpack).
    pub(crate) fn take_blocks(&mut self) -> Option<Vec<raw::Block>> {
        match &mut self.form {
            FormMut::Bytes { start, len, .. } => Some(vec![block(*start, *len)]),
            FormMut::Blocks(blocks) => Some(mem::take(blocks)),
            FormMut::Whole(_) | FormMut::Unpacked(_) => None,
        }
    }

    /// Whether all bytes must be unpacked in one call.
    pub(crate) fn comes_whole(&self) -> bool {
        matches!(self.form, FormMut::Whole(_))
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
            return Err(DatatypeError::PartialRecord { actual, record }.into());
        }
        Ok(())
    }

    /// Unpacks a message that has arrived and whose length was [checked](Self::check_length). If no records have to be checked,
    /// it may be passed in several parts.
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
                    // SAFETY: as above, for each block.
                    unsafe {
                        ptr::copy_nonoverlapping(part.as_ptr(), block.buffer.cast(), part.len());
                    }
                    bytes = rest;
                }
            }
            FormMut::Whole(message) => message.destination.unpack(bytes)?,
            FormMut::Unpacked(message) => {
                message.unpacker.unpack(bytes)?;
            }
        }
        Ok(())
    }

    /// Completes a receive of `len` bytes: unpacks the copy, if there is one.
    ///
    /// # Safety
    ///
    /// The receive with these [`arguments`](Self::arguments) must have completed, and written `len` bytes.
    pub(crate) unsafe fn received(&mut self, len: usize) -> Result<(), Error> {
        self.check_records(len)?;
        if let FormMut::Whole(Whole { copy: Some(copy), destination, .. }) = &mut self.form {
            // SAFETY: the caller guarantees the bytes.
            destination.unpack(unsafe { copy.written(len) })?;
        }
        Ok(())
    }
}

impl<'a, T: Datatype> From<&'a [T]> for Elements<'a> {
    fn from(items: &'a [T]) -> Self {
        let is_near = const { T::TYPE_MAP.size() >= size_of::<T>() / 2 };
        // The data of the items are part of their memory, so the size fits.
        let size = dtype_runtime::packed_size::<T>(items.len());
        let form = if const { T::TYPE_MAP.is_packed() } {
            Form::Bytes { start: items.as_ptr().cast(), len: size }
        } else if size <= SHORT {
            Form::Copy(dtype_runtime::pack(items))
        } else if const { size_of::<T>() < LONG_BLOCK } {
            Form::Packed(Box::new(Outgoing::new(Packer::new(items), size, is_near)))
        } else {
            Form::from_packer(Packer::new(items), || is_near)
        };
        Self { form }
    }
}

impl<'a, T: Datatype> From<&'a mut [T]> for ElementsMut<'a> {
    fn from(items: &'a mut [T]) -> Self {
        let size = dtype_runtime::packed_size::<T>(items.len());
        let record = Some(T::TYPE_MAP.size()).filter(|&size| size > 0);
        let restricted = const { T::TYPE_MAP.is_restricted() };
        let form = if const { T::TYPE_MAP.is_packed() } && !restricted {
            FormMut::Bytes { start: items.as_mut_ptr().cast(), len: size, memory: PhantomData }
        } else if restricted || size <= SHORT {
            let start = items.as_mut_ptr().cast();
            let (count, unpack) = (items.len(), unpack_records::<T> as UnpackRecords);
            FormMut::whole(Destination::Records { start, count, unpack })
        } else {
            FormMut::Unpacked(Box::new(Incoming { unpacker: Unpacker::new(items), size }))
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
    let max = size / LONG_BLOCK;
    let blocks: Vec<_> = blocks().take(max + 1).collect();
    (blocks.len() <= max).then_some(blocks)
}

fn blocks_of(packer: &Packer<'_>) -> impl Iterator<Item = raw::Block> {
    packer.chunks().map(|chunk| block(chunk.as_ptr().cast_mut(), chunk.len()))
}

/// The part of a memory of `len` bytes that holds the packed bytes of `count` instances unpacked; `None` if the memory does
/// not.
fn contiguous(
    committed: &Committed,
    len: usize,
    origin: i64,
    count: usize,
) -> Result<Option<Range<usize>>, Error> {
    committed.check_span(len as u64, origin.into(), count)?;
    let run = if count == 1 { Flags::CONTIGUOUS } else { Flags::NO_GAPS };
    if !committed.flags().contains(run) {
        return Ok(None);
    }
    // The data lie in the memory, as just checked.
    let start = usize::try_from(origin.wrapping_add(committed.true_lb())).unwrap_or(0);
    let size = committed.packed_size(count)?;
    Ok(start.checked_add(size).filter(|&end| end <= len).map(|end| start..end))
}

/// A message that is unpacked only once all of it has arrived.
struct Whole<'a> {
    /// The buffer that receives the packed bytes, unless they arrive in place.
    copy: Option<PackedBytes>,
    destination: Destination,
    memory: PhantomData<&'a mut [u8]>,
}

/// The memory that the message is unpacked to. It is borrowed exclusively for as long as this value exists.
enum Destination {
    /// `count` records.
    Records { start: *mut u8, count: usize, unpack: UnpackRecords },
    /// Instances that name no byte twice.
    Instances { committed: Committed, origin: *mut u8, count: usize },
}

type UnpackRecords = unsafe fn(&[u8], *mut u8, usize) -> Result<(), DatatypeError>;

impl Destination {
    /// Unpacks a message.
    fn unpack(&self, bytes: &[u8]) -> Result<(), DatatypeError> {
        match self {
            // SAFETY: these are the records, and the function is that for their type.
            Self::Records { start, count, unpack } => unsafe { unpack(bytes, *start, *count) },
            Self::Instances { committed, origin, count } => {
                let (origin, count) = (*origin, *count);
                // A range would do, but unpacking a whole message takes half the time. SAFETY: the data lie in the memory,
                // which holds bytes, any of which are valid.
                unsafe {
                    if committed.packed_size(count)? == bytes.len() {
                        committed.unpack_raw(bytes, origin, count).map(drop)
                    } else {
                        let start = 0..bytes.len() as u64;
                        committed.unpack_range_raw(bytes.as_ptr(), start, origin, count)
                    }
                }
            }
        }
    }
}

/// Unpacks to the first of some records. All of them are checked before any is written.
///
/// # Safety
///
/// `count` records of type `T` must begin at `start`, and nothing else may access them.
unsafe fn unpack_records<T: Datatype>(
    bytes: &[u8],
    start: *mut u8,
    count: usize,
) -> Result<(), DatatypeError> {
    // SAFETY: the caller guarantees the records.
    let records = unsafe { slice::from_raw_parts_mut(start.cast::<T>(), count) };
    let came = bytes.len().checked_div(T::TYPE_MAP.size()).unwrap_or(0);
    dtype_runtime::unpack_into(bytes, &mut records[..came.min(count)]).map(drop)
}

/// A buffer of packed bytes that UCX writes, at first uninitialised.
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
    /// `len` bytes of the [`memory`](Self::memory) must have been written, and nothing may write them any more.
    pub(crate) unsafe fn written(&mut self, len: usize) -> &[u8] {
        debug_assert!(len <= self.room, "UCX writes no more than there is room for");
        // SAFETY: the vector has room for them, and the caller guarantees that they are initialised.
        unsafe { self.bytes.set_len(len.min(self.room)) };
        &self.bytes
    }
}
