//! The packer, which turns memory into a packed stream, in fragments.

use core::convert::Infallible;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::Range;
use core::slice;

use super::buffer::Buffer;
use super::iov::{FirstSegments, Iov, Segment};
use super::progress::Progress;
use super::source::Source;
use super::stack::StackFrame;
use super::stream::{PackStream, stream};
use crate::commit::Committed;
use crate::error::Error;
use crate::kernel::Pack;

/// The packed stream of some instances, to be read in fragments of any size, from any position: the sending side of
/// Open MPI's `opal_convertor_t`.
///
/// The position is its only state, so a clone is an independent reader of the same stream, even on another thread. With the
/// standard library, a packer implements [`Read`](https://doc.rust-lang.org/std/io/trait.Read.html) and
/// [`Seek`](https://doc.rust-lang.org/std/io/trait.Seek.html).
///
/// ```
/// use dtype_runtime::Packer;
///
/// let samples = [(0x0102_u16, 3_u8), (0x0405, 6)];
/// let mut packer = Packer::new(&samples);
/// let mut whole = Vec::new();
/// let mut fragment = [0; 4];
/// while !packer.is_complete() {
///     let bytes = packer.pack(&mut fragment);
///     whole.extend_from_slice(&fragment[..bytes]);
/// }
/// assert_eq!(whole, dtype_runtime::pack(&samples));
///
/// packer.set_position(2)?;
/// assert_eq!(packer.pack(&mut fragment), 4);
/// assert_eq!(fragment, whole[2..]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "MPI_Pack")]
pub struct Packer<'a> {
    source: Source,
    progress: Progress,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: for its lifetime, a packer only reads the data of its instances, which are borrowed, or guaranteed by the caller of
// `from_raw`. They are plain bytes that nothing writes meanwhile, whatever thread reads them. Bytes that it does not read,
// padding and skipped fields, may be of any kind.
unsafe impl Send for Packer<'_> {}
// SAFETY: as above; a shared reference only allows reading the data.
unsafe impl Sync for Packer<'_> {}

impl<'a> Packer<'a> {
    /// Inlined, like everything that makes a packer or an unpacker. Otherwise the fields are stored one by one and then loaded
    /// in pairs, and such a load stalls until the stores are in the cache.
    ///
    /// # Safety
    ///
    /// The data of all instances must be initialised and readable, and not be written, for `'a`.
    #[inline]
    pub(crate) unsafe fn from_source(source: Source) -> Self {
        let progress = Progress::new(source.size());
        Self { source, progress, memory: PhantomData }
    }

    /// A packer of `count` instances; displacement 0 of the first one is at `origin`.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`].
    ///
    /// # Safety
    ///
    /// Every byte of data that `count` instances name, at its displacement from `origin`, must be initialised, readable and in
    /// the same allocation as `origin`, and not be written, for `'a`: for as long as the packer, a clone of it, or a slice lent
    /// by one of them is alive. Nothing but the caller bounds `'a`.
    #[inline]
    pub unsafe fn from_raw(
        committed: &Committed,
        origin: *const u8,
        count: usize,
    ) -> Result<Self, Error> {
        let source = Source::from_committed(committed, origin.cast_mut(), count)?;
        // SAFETY: passed on to the caller.
        Ok(unsafe { Self::from_source(source) })
    }

    /// Packs up to `out.len()` bytes from the current position and returns the number packed. Returns 0 at the end of
    /// the stream or if `out` is empty.
    #[inline]
    pub fn pack(&mut self, out: &mut [u8]) -> usize {
        let (bytes, range) = self.progress.next(out.len());
        let packed = out.as_mut_ptr();
        // SAFETY: the data are readable, by the promise that the packer was made with; `out` has room for that
        // number of bytes, and is borrowed exclusively, so it does not overlap data that must not be written.
        unsafe {
            match self.source.part::<Pack>() {
                Some((part, memory)) => part(memory, packed, range),
                None => self.pack_range(range, packed),
            }
        }
        self.progress.advance(bytes);
        bytes
    }

    /// Packs a range of the stream. It is neither inlined nor generic, so that callers do not compile the engine again.
    ///
    /// # Safety
    ///
    /// `packed` must be valid for writing the bytes of the range, and not overlap the data.
    #[inline(never)]
    unsafe fn pack_range(&mut self, range: Range<u64>, packed: *mut u8) {
        // SAFETY: the data are readable, by the promise that the packer was made with; the caller guarantees `packed`.
        unsafe { self.source.copy::<Pack>(range, packed, self.progress.near()) };
    }

    /// The instances that name the data.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Lends the next bytes directly from memory, without a copy: the longest contiguous segment. It is empty only at the end
    /// of the stream. [`set_position`](Self::set_position) moves past the bytes.
    ///
    /// ```
    /// use dtype_runtime::Packer;
    /// // No gaps: all of it is one segment.
    /// assert_eq!(Packer::new(&[1_u8, 2, 3]).chunk(), [1, 2, 3]);
    /// ```
    pub fn chunk(&self) -> &'a [u8] {
        let mut first =
            FirstSegments::<1>::in_range(&self.source.instances(), self.progress.rest());
        first.next().map_or(&[], |segment| self.lend(segment))
    }

    /// Lends the rest of the stream directly from memory, segment by segment, without a copy. The segments can be passed to
    /// `writev`.
    ///
    /// ```
    /// use dtype_runtime::Packer;
    /// #[repr(C)]
    /// #[derive(dtype_runtime::Datatype)]
    /// struct Sample {
    ///     value: u16,
    ///     flag: u8,
    /// }
    /// let samples = [Sample { value: 0x0101, flag: 2 }, Sample { value: 0x0303, flag: 4 }];
    /// let chunks: Vec<&[u8]> = Packer::new(&samples).chunks().collect();
    /// assert_eq!(chunks, [&[1, 1, 2], &[3, 3, 4]]);
    /// ```
    pub fn chunks(&self) -> impl FusedIterator<Item = &'a [u8]> + use<'a, '_> {
        let rest = self.progress.rest();
        let segments = Iov::new(self.source.instances(), self.source.segments(), rest);
        segments.map(|segment| self.lend(segment))
    }

    /// A segment of the data in memory.
    #[expect(clippy::cast_possible_truncation, reason = "a segment of memory")]
    fn lend(&self, segment: Segment) -> &'a [u8] {
        let (disp, len) = (segment.disp as isize, segment.len as usize);
        // SAFETY: data of the instances, because all segments are; for `'a`, they are readable and initialised, and nothing
        // writes them.
        unsafe { slice::from_raw_parts(self.source.origin().wrapping_offset(disp), len) }
    }

    fn hash(&self) -> u64 {
        self.source.signature_hash()
    }

    /// The stack of the convertor at the position, over the type's description: what Open MPI's `opal_convertor_t`
    /// keeps as `pStack`. For tools: it takes time linear in the length of the description.
    pub fn stack(&self) -> alloc::vec::Vec<StackFrame> {
        let description = self.source.description();
        // The count and the position were checked earlier.
        description.stack(self.source.count(), self.position()).unwrap_or_default()
    }
}

impl Committed {
    /// A packer of `count` instances in memory.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] if the data reach outside the memory.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Buffer, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// let mut packer = column.packer(Buffer::new(b"abcdefghijkl").origin(1), 1)?;
    /// let mut two = [0; 2];
    /// assert_eq!((packer.pack(&mut two), &two), (2, b"bf"));
    /// assert_eq!((packer.pack(&mut two), two[0]), (1, b'j'));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn packer<'a>(
        &self,
        from: impl Into<Buffer<'a>>,
        count: usize,
    ) -> Result<Packer<'a>, Error> {
        let from = from.into();
        self.check_span(from.len() as u64, from.origin.into(), count)?;
        // SAFETY: all bytes that the instances name lie in the memory, as just checked, and the memory is borrowed for `'a`.
        unsafe { Packer::from_raw(self, from.pointer(), count) }
    }
}

stream! { impl[] Packer<'_>, error = Infallible, hash = Self::hash; }

impl PackStream for Packer<'_> {
    fn pack(&mut self, out: &mut [u8]) -> Result<usize, Infallible> {
        Ok(self.pack(out))
    }
}
