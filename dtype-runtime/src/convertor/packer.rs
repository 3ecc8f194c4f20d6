//! The sending side of the convertor.

use core::marker::PhantomData;
use core::slice;

use super::iov::{Found, Iov, Segment};
use super::source::Source;
use super::stack::StackFrame;
use crate::commit::Committed;
use crate::error::Error;
use crate::kernel::Pack;

/// The packed stream of some instances, to be read in pieces of any size, from any position on: the sending
/// side of seed `opal_convertor_t`.
///
/// All its state is the position, so that a clone is another reader of the same stream, on another thread
/// perhaps. With the standard library it is a [`Read`](std::io::Read).
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
    position: u64,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: a packer only reads the data of its instances, which are borrowed, or vouched for, as long as it
// lives: plain bytes that nobody writes meanwhile, whatever thread reads them. What it does not read, padding
// and skipped fields, may be of any kind.
unsafe impl Send for Packer<'_> {}
// SAFETY: as above; through a shared reference nothing but the data can be read.
unsafe impl Sync for Packer<'_> {}

impl<'a> Packer<'a> {
    /// # Safety
    ///
    /// The data of all instances must be initialised and readable, and not be written, for `'a`.
    pub(crate) unsafe fn from_source(source: Source) -> Self {
        Self { source, position: 0, memory: PhantomData }
    }

    /// A packer of `count` instances whose first one's displacement 0 is at `origin`.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`].
    ///
    /// # Safety
    ///
    /// Every byte of data that `count` instances name, at its displacement from `origin`, must be
    /// initialised, readable and in the same allocation as `origin`, and not be written by anyone, for `'a`:
    /// as long as the packer, a clone of it or a slice that one of them has lent lives. Nothing but the caller
    /// bounds `'a`.
    pub unsafe fn from_raw(
        committed: &Committed,
        origin: *const u8,
        count: usize,
    ) -> Result<Self, Error> {
        let source = Source::of(committed, origin.cast_mut(), count)?;
        // SAFETY: as the caller vouches.
        Ok(unsafe { Self::from_source(source) })
    }

    /// Packs the next bytes, as many as `out` has room for and the stream has left, and returns how many
    /// that were. Zero means that there is nothing left, or no room.
    pub fn pack(&mut self, out: &mut [u8]) -> usize {
        // No more than the length of a slice.
        let bytes = usize::try_from(self.remaining()).map_or(out.len(), |left| left.min(out.len()));
        let end = self.position + bytes as u64;
        // SAFETY: the data are readable, by the promise that the packer was made with; `out` has room for
        // as many bytes, and is borrowed exclusively, so it does not overlap what nobody may write.
        unsafe {
            self.source
                .copy::<Pack>(self.position..end, out.as_mut_ptr(), |constant| constant.pack);
        }
        self.position = end;
        bytes
    }

    /// What names the data.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Goes to a position that is not behind the end.
    #[cfg(feature = "rayon")]
    pub(super) fn go_to(&mut self, position: u64) {
        self.position = position;
    }

    /// Packed bytes before the next one.
    #[doc(alias = "bConverted")]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes to another position, in a time that grows with the logarithm of the number of blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] for one behind the end; the position stays what it was.
    pub fn set_position(&mut self, position: u64) -> Result<(), Error> {
        let end = self.source.size();
        if position > end {
            return Err(Error::Position { position, end });
        }
        self.position = position;
        Ok(())
    }

    /// The 64-bit hash of the type signature of all instances together: that of `contiguous(count, type)`.
    pub fn signature_hash(&self) -> u64 {
        self.source.signature_hash()
    }

    /// Packed bytes from the position to the end.
    pub fn remaining(&self) -> u64 {
        self.source.size() - self.position
    }

    /// Whether the position is at the end.
    #[doc(alias = "CONVERTOR_COMPLETED")]
    pub fn is_complete(&self) -> bool {
        self.remaining() == 0
    }

    /// The next bytes where they are in memory, without a copy: as many as lie in one piece. Empty at the
    /// end, and only there. [`set_position`](Self::set_position) goes on behind them.
    ///
    /// ```
    /// use dtype_runtime::Packer;
    /// // No gaps: all of it is one piece.
    /// assert_eq!(Packer::new(&[1_u8, 2, 3]).chunk(), [1, 2, 3]);
    /// ```
    pub fn chunk(&self) -> &'a [u8] {
        let mut first = Found::<1>::new();
        let _ = self.source.instances().visit(self.position..self.source.size(), &mut first);
        first.next().map_or(&[], |segment| self.lend(segment))
    }

    /// The pieces of memory that the rest of the stream is in.
    pub(super) fn segments(&self) -> Iov<'_> {
        Iov::new(self.source.instances(), self.source.chains(), self.position..self.source.size())
    }

    /// A piece of the data in memory.
    #[expect(clippy::cast_possible_truncation, reason = "a piece of memory")]
    pub(super) fn lend(&self, segment: Segment) -> &'a [u8] {
        let (disp, len) = (segment.disp as isize, segment.len as usize);
        // SAFETY: data of the instances, which is where all segments come from; readable, initialised and
        // written by nobody for `'a`.
        unsafe { slice::from_raw_parts(self.source.origin().wrapping_offset(disp), len) }
    }

    /// The stack of the convertor at the position, over the type's description: what seed
    /// `opal_convertor_t` keeps as `pStack`. For tools: it takes time in proportion to the description's length.
    pub fn stack(&self) -> alloc::vec::Vec<StackFrame> {
        let description = self.source.description();
        // The count and the position are known to be good.
        description.stack(self.source.count(), self.position).unwrap_or_default()
    }
}

impl Committed {
    /// A packer of `count` instances in `memory`, with the arguments of [`pack`](Self::pack).
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] when the data reach outside `memory`.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// let mut packer = column.packer(b"abcdefghijkl", 1, 1)?;
    /// let mut two = [0; 2];
    /// assert_eq!((packer.pack(&mut two), &two), (2, b"bf"));
    /// assert_eq!((packer.pack(&mut two), two[0]), (1, b'j'));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn packer<'a>(
        &self,
        memory: &'a [u8],
        origin: usize,
        count: usize,
    ) -> Result<Packer<'a>, Error> {
        self.check_span(memory.len() as u64, origin as u64, count)?;
        // SAFETY: all bytes that the instances name lie in `memory`, as just checked, which is borrowed for
        // `'a`.
        unsafe { Packer::from_raw(self, memory.as_ptr().wrapping_add(origin), count) }
    }
}

#[cfg(feature = "std")]
impl std::io::Read for Packer<'_> {
    /// As [`pack`](Packer::pack); never fails.
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        Ok(self.pack(buf))
    }

    fn read_vectored(&mut self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
        Ok(bufs.iter_mut().map(|buf| self.pack(buf)).sum())
    }
}
