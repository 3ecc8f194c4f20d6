//! The packer, which turns memory into a packed stream, in fragments.

use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::slice;

use super::progress::Progress;
use super::{Mode, stream};
use crate::commit::Committed;
use crate::convertor::buffer::Buffer;
use crate::convertor::iov::{Iov, Segment, first_segment};
use crate::convertor::native::Native;
use crate::error::Error;

/// The packed stream of some instances, to be read in fragments of any size, from any position: the sending side of
/// Open MPI's `opal_convertor_t`.
///
/// `M` says what happens to the bytes: they are copied ([`Native`]), [`Converted`](super::Converted) to another
/// [`Representation`](crate::Representation), or packed [`Through`](super::Through) a backend. The position is the only state, so a clone is an independent reader of the same stream, even on another thread. With the
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
pub struct Packer<'a, M = Native> {
    pub(super) mode: M,
    pub(super) progress: Progress,
    /// If `mode` has an address, its data are initialised and readable for `'a`, and nothing writes them.
    memory: PhantomData<&'a [u8]>,
}

impl<M: Mode> Packer<'_, M> {
    /// A packer at the start of a stream of `size` bytes.
    ///
    /// Inlined, like everything that makes a packer or an unpacker. Otherwise the fields are stored one by one and then loaded
    /// in pairs, and such a load stalls until the stores are in the cache.
    ///
    /// # Safety
    ///
    /// If the mode has an address, the data of all instances must be initialised and readable, and not be written, for the
    /// packer's lifetime.
    #[inline]
    pub(super) unsafe fn from_mode(mode: M, size: u64) -> Self {
        Self { mode, progress: Progress::new(size), memory: PhantomData }
    }

    /// What `pack` of each mode does.
    #[inline]
    pub(super) fn pack_next(&mut self, out: &mut [u8]) -> Result<usize, M::PackError> {
        let (bytes, range) = self.progress.next(out.len());
        // SAFETY: the next bytes of the stream; their data are readable, by the promise that the packer was made with.
        unsafe { self.mode.pack(range, &mut out[..bytes], self.progress.search_hint())? };
        self.progress.advance(bytes);
        Ok(bytes)
    }
}

impl<'a> Packer<'a> {
    /// # Safety
    ///
    /// The data of all instances must be initialised and readable, and not be written, for `'a`.
    #[inline]
    pub(crate) unsafe fn from_native(native: Native) -> Self {
        let size = native.size();
        // SAFETY: the caller guarantees the data of these instances for `'a`.
        unsafe { Self::from_mode(native, size) }
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
        let native = Native::from_committed(committed, origin.cast_mut(), count)?;
        // SAFETY: the caller guarantees the data of `count` instances, which are those of `native`, for `'a`.
        Ok(unsafe { Self::from_native(native) })
    }

    /// Packs up to `out.len()` bytes from the current position and returns the number packed. Returns 0 at the end of
    /// the stream or if `out` is empty.
    #[inline]
    pub fn pack(&mut self, out: &mut [u8]) -> usize {
        let Ok(bytes) = self.pack_next(out);
        bytes
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
        let first = first_segment(&self.mode.instances(), self.progress.rest());
        first.map_or(&[], |segment| self.lend(segment))
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
        let segments = Iov::new(self.mode.instances(), self.progress.rest());
        segments.map(|segment| self.lend(segment))
    }

    /// A segment of the data in memory.
    #[expect(clippy::cast_possible_truncation, reason = "a segment of memory")]
    fn lend(&self, segment: Segment) -> &'a [u8] {
        let (disp, len) = (segment.disp as isize, segment.len as usize);
        // SAFETY: data of the instances, because all segments are; for `'a`, they are readable and initialised, and nothing
        // writes them.
        unsafe { slice::from_raw_parts(self.mode.origin().wrapping_offset(disp), len) }
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

stream! { Packer, leave = |_, _| Ok(()); }
