//! Puts and gets of layouts.

use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{Ordering, fence};

use dtype_runtime::types::Level;
use dtype_runtime::{Committed, Datatype, Type};

use crate::allocation::zeros;
use crate::elements::{Elements, ElementsMut, Source};
use crate::error::Error;
use crate::mode::ThreadMode;
use crate::raw;
use crate::remote::fit::Record;
use crate::remote::memory::RemoteMemory;
use crate::remote::packed::{Target, is_worthwhile};
use crate::remote::transfer::{self, Way, cut};

/// How many packed bytes are between two layouts at a time: few enough for the first-level cache.
const CHUNK: usize = 8192;

/// A part of a peer's memory that a layout describes: a column of a matrix, a face of a grid, one field of all records. It
/// corresponds to the strided keys of UCX's struct datatype proposal. From [`RemoteMemory::strided`].
///
/// The memory here has a layout of its own: records, or [`Elements::new`] with any type of as many packed bytes.
pub struct Strided<'r, T, M: ThreadMode> {
    memory: &'r RemoteMemory<'r, T, M>,
    /// The layout of all instances.
    layout: Committed,
    /// The offset of displacement 0, in bytes from the start of the memory.
    origin: i64,
}

impl<T: Datatype, M: ThreadMode> RemoteMemory<'_, T, M> {
    /// The part of the memory that `count` instances of a type name, with displacement 0 at `origin`, in bytes from the start
    /// of the memory.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the layout reaches outside the memory; [`Error::RemoteLayout`] if it has another value at a
    /// displacement than the records there.
    ///
    /// ```
    /// use dtype_runtime::types::Level;
    /// use dtype_runtime::{Basic, Type};
    /// # use dtype_ucx::{Context, Error, Single};
    /// # let context = Context::with_settings([("TLS", "self")])?;
    /// # let worker = context.worker::<Single>()?;
    /// # let endpoint = worker.connect(&worker.address()?)?;
    /// // A peer's matrix of 3 × 4, and its last column.
    /// let matrix = context.register(&[0_u16; 12])?;
    /// let remote = endpoint.remote_memory::<u16>(&matrix.key()?)?;
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U16))?.commit();
    /// let column = remote.strided(&column, 6, 1)?;
    /// assert_eq!(column.levels(), Some(vec![Level { base: 6, length: 2, count: 3, stride: 8 }]));
    ///
    /// column.put(&[7_u16, 8, 9])?;
    /// endpoint.flush()?;
    /// assert_eq!(matrix.read(0..12)?, [0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9]);
    ///
    /// let mut back = [0_u16; 3];
    /// column.get(&mut back)?;
    /// assert_eq!(back, [7, 8, 9]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn strided<'r>(
        &'r self,
        layout: &Committed,
        origin: i64,
        count: usize,
    ) -> Result<Strided<'r, T, M>, Error> {
        let layout = match count {
            1 => layout.clone(),
            _ => Type::contiguous(count as u64, layout)?.commit(),
        };
        layout.packed_size(1)?;
        layout.check_span(self.bytes() as u64, origin.into(), 1)?;
        Record::new(&self.record).check(&layout, origin)?;
        Ok(Strided { memory: self, layout, origin })
    }
}

impl<T: Datatype, M: ThreadMode> Strided<'_, T, M> {
    /// The repetitions as rows, outermost first, with the base relative to the start of the memory: the parameters for a
    /// network adapter. `None` if the layout is not a nest of repetitions of one run of bytes; see [`Type::levels`].
    pub fn levels(&self) -> Option<Vec<Level>> {
        let mut levels = self.layout.levels()?;
        if let Some(outermost) = levels.first_mut() {
            outermost.base += self.origin;
        }
        Some(levels)
    }

    /// The number of packed bytes that are put or got.
    pub fn packed_size(&self) -> usize {
        // The size was checked when the layout was.
        self.layout.packed_size(1).unwrap_or(usize::MAX)
    }

    /// Writes the elements to this part of the memory. They are in the memory when the endpoint has been
    /// [flushed](crate::Endpoint::flush).
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the elements have more or fewer packed bytes, or the layout names a byte more than once: nothing
    /// is written then. [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`]. If the peer's worker
    /// [serves](crate::Worker::serve) the memory, and refuses the put, the flush returns the error.
    #[doc(alias = "ucp_put_nbx")]
    pub fn put<'a>(&self, elements: impl Into<Elements<'a>>) -> Result<(), Error> {
        self.put_elements(elements.into())
    }

    fn put_elements(&self, elements: Elements<'_>) -> Result<(), Error> {
        self.check(elements.packed_size())?;
        self.layout.check_overlap(1)?;
        let Some(mapped) = self.mapped() else {
            if let Some(target) = self.target()? {
                return target.put(elements);
            }
            let mut source = Source::new(elements);
            // SAFETY: the blocks are parts of the elements, which are borrowed, or of the source.
            return unsafe { self.transfer(Way::Put, source.blocks()?) };
        };
        let (mut source, mut chunk, mut at) = (Source::new(elements), [0; CHUNK], 0);
        loop {
            let bytes = source.next(&mut chunk);
            if bytes.is_empty() {
                break;
            }
            let range = at..at + bytes.len() as u64;
            at = range.end;
            // SAFETY: the layout lies in the memory, as `strided` has checked, and its mapping lives as long as the key. The
            // bytes are borrowed, and not in that mapping. Only raw pointers to the mapping are made; if a peer writes at the
            // same time, each byte is from one of the two. Nothing depends on the contents.
            unsafe { self.layout.unpack_range_raw(bytes.as_ptr(), range, mapped, 1)? };
        }
        fence(Ordering::Release);
        Ok(())
    }

    /// Reads this part of the memory into the elements. If not all bit patterns of a record are valid, all records are checked
    /// before any is written.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the elements have more or fewer packed bytes, or a value is invalid: nothing is written
    /// then. [`Error::Refused`] if the peer's worker no longer [serves](crate::Worker::serve) the memory: nothing is
    /// written then, either. [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`]; some of the elements may
    /// have been written then.
    #[doc(alias = "ucp_get_nbx")]
    pub fn get<'a>(&self, elements: impl Into<ElementsMut<'a>>) -> Result<(), Error> {
        self.get_elements(elements.into())
    }

    fn get_elements(&self, mut elements: ElementsMut<'_>) -> Result<(), Error> {
        let size = self.check(elements.packed_size())?;
        if let Some(target) = self.target()? {
            let packed = target.get()?;
            // All elements at once: they have as many bytes as the layout.
            return elements.unpack(&packed);
        }
        fence(Ordering::Acquire);
        let blocks = elements.take_blocks();
        let Some(mapped) = self.mapped() else {
            if let Some(blocks) = blocks {
                // SAFETY: the blocks are parts of the elements, which are borrowed exclusively.
                return unsafe { self.transfer(Way::Get, &blocks) };
            }
            let mut bytes = zeros(size)?;
            let all = raw::Block { buffer: bytes.as_mut_ptr().cast(), length: size };
            // SAFETY: the buffer has the size of the data.
            unsafe { self.transfer(Way::Get, &[all])? };
            return elements.unpack(&bytes);
        };
        let pack = |to: *mut u8, at: usize, len: usize| {
            let range = at as u64..(at + len) as u64;
            // SAFETY: as in `put_elements`: the callers below pass memory that is borrowed exclusively. The copy may have parts
            // of what the peer writes at the same time, but nothing depends on these bytes before they are copied.
            unsafe { self.layout.pack_range_raw(mapped, 1, range, to) }
        };
        let mut at = 0;
        if let Some(blocks) = blocks {
            for raw::Block { buffer, length } in blocks {
                pack(buffer.cast(), at, length)?;
                at += length;
            }
            return Ok(());
        }
        let mut bytes = zeros(if elements.comes_whole() { size } else { CHUNK.min(size) })?;
        while at < size {
            let len = bytes.len().min(size - at);
            pack(bytes.as_mut_ptr(), at, len)?;
            elements.unpack(&bytes[..len])?;
            at += len;
        }
        Ok(())
    }

    /// The target for the peer's worker, if that worker completes the put or get.
    fn target(&self) -> Result<Option<Target<'_, M>>, Error> {
        let Some(memory) = self.memory.served.filter(|_| self.memory.mapped.is_none()) else {
            return Ok(None);
        };
        let (endpoint, layout, origin) = (self.memory.endpoint, &self.layout, self.origin);
        Ok(is_worthwhile(layout)?.then_some(Target { endpoint, memory, layout, origin }))
    }

    /// The origin of the layout in the mapping; `None` if the memory is not mapped.
    fn mapped(&self) -> Option<*mut u8> {
        #[expect(clippy::cast_possible_truncation, reason = "the data lie in memory")]
        let origin = self.origin as isize;
        self.memory.mapped.map(|start: NonNull<u8>| start.as_ptr().wrapping_offset(origin))
    }

    /// Checks that the elements have as many bytes as the layout, and that there is a connection.
    fn check(&self, elements: usize) -> Result<usize, Error> {
        let size = self.packed_size();
        if elements != size {
            let (expected, actual) = (size as u64, elements as u64);
            return Err(dtype_runtime::Error::PackedLength { expected, actual }.into());
        }
        self.memory.endpoint.failure().map_or(Ok(size), Err)
    }

    /// Puts or gets each block.
    ///
    /// # Safety
    ///
    /// The blocks must be readable for a put, and writable for a get, and have as many bytes as the layout; nothing else may
    /// access them.
    unsafe fn transfer(&self, way: Way, here: &[raw::Block]) -> Result<(), Error> {
        let segments = self.layout.iov(1, 0..self.packed_size() as u64)?;
        let start = self.memory.address.wrapping_add_signed(self.origin);
        let there = segments.map(|segment| (start.wrapping_add_signed(segment.disp), segment.len));
        let here = here.iter().map(|block| (block.buffer.cast(), block.length));
        // SAFETY: the caller guarantees the blocks here; the others lie in the memory, as `strided` has checked.
        unsafe { transfer::pieces(way, self.memory.endpoint, self.memory.key, cut(here, there)) }
    }
}

impl<T, M: ThreadMode> fmt::Debug for Strided<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strided")
            .field("layout", &self.layout)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}
