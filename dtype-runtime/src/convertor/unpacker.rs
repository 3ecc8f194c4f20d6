//! The receiving side of the convertor.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::source::Source;
use super::stack::StackFrame;
use crate::commit::Committed;
use crate::error::Error;
use crate::kernel::Unpack;

/// The packed stream of some instances, to be written in pieces of any size, at any position: the receiving
/// side of seed `opal_convertor_t`.
///
/// Each call writes exactly the bytes of its fragment, so that several unpackers, made by
/// [`split_at`](Self::split_at), can fill one memory from several threads. With the standard library it is a
/// [`Write`](std::io::Write).
///
/// Where the values of a Rust type have to be checked, because not all bit patterns are values, they are
/// written as soon as they are there as a whole; the first bytes of a value are kept until then.
///
/// ```
/// use dtype_runtime::Unpacker;
///
/// let bytes = dtype_runtime::pack(&[(0x0102_u16, 3_u8), (0x0405, 6)]);
/// let mut samples = [(0_u16, 0_u8); 2];
/// let mut unpacker = Unpacker::new(&mut samples);
/// for fragment in bytes.chunks(4) {
///     assert_eq!(unpacker.unpack(fragment)?, fragment.len());
/// }
/// assert!(unpacker.is_complete());
/// assert_eq!(samples, [(0x0102, 3), (0x0405, 6)]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Debug)]
#[doc(alias = "MPI_Unpack")]
pub struct Unpacker<'a> {
    source: Source,
    position: u64,
    /// The part of the stream that this unpacker may write.
    start: u64,
    end: u64,
    checks: Option<Checks>,
    memory: PhantomData<&'a mut [u8]>,
}

/// What has to be checked before it is written.
#[derive(Debug)]
struct Checks {
    /// Packed bytes of a record.
    record: u64,
    valid: Validate,
    /// The bytes of the record at the position that have come so far.
    pending: Vec<u8>,
}

/// Records that were checked, and what is behind them.
struct Complete<'a> {
    /// The record that had begun before.
    head: Vec<u8>,
    whole: &'a [u8],
    /// The beginning of the next.
    tail: &'a [u8],
}

impl Checks {
    /// The same with nothing pending.
    fn anew(&self) -> Self {
        Self { pending: Vec::new(), ..*self }
    }

    /// The records that these bytes complete, the first of which starts at a position; `None` if they do not
    /// even complete that one.
    fn complete<'a>(&mut self, first: u64, bytes: &'a [u8]) -> Result<Option<Complete<'a>>, Error> {
        // A record lies in memory, so its size fits.
        let record = usize::try_from(self.record).unwrap_or(usize::MAX);
        let before = self.pending.len();
        let missing = if before == 0 { 0 } else { record - before };
        if bytes.len() < missing {
            self.pending.extend_from_slice(bytes);
            return Ok(None);
        }
        let (head, rest) = bytes.split_at(missing);
        let (whole, tail) = rest.split_at(rest.len() - rest.len() % record);
        self.pending.extend_from_slice(head);
        let begun = self.pending.len() / record;
        let checked = (self.valid)(&self.pending, begun).and_then(|()| {
            (self.valid)(whole, whole.len() / record).map_err(|error| error.records_later(begun))
        });
        if let Err(error) = checked {
            self.pending.truncate(before);
            // Records are counted from the first of all.
            let number = usize::try_from(first / self.record).unwrap_or(usize::MAX);
            return Err(error.records_later(number));
        }
        Ok(Some(Complete { head: core::mem::take(&mut self.pending), whole, tail }))
    }
}

/// Whether packed bytes, so many whole records, make values.
pub(crate) type Validate = fn(&[u8], usize) -> Result<(), Error>;

// SAFETY: an unpacker has the data that it may write to itself, borrowed exclusively or vouched for: plain
// bytes, whatever thread writes them.
unsafe impl Send for Unpacker<'_> {}
// SAFETY: through a shared reference nothing can be read or written but the numbers.
unsafe impl Sync for Unpacker<'_> {}

impl Unpacker<'_> {
    /// `validate` is for types of which not all bit patterns are values.
    ///
    /// # Safety
    ///
    /// The data of all instances must be writable, and accessed by nobody else, for `'a`, and no byte may
    /// be named twice. Bytes that `validate` accepts must make values.
    pub(crate) unsafe fn from_source(source: Source, validate: Option<Validate>) -> Self {
        let end = source.size();
        let checks = validate.map(|valid| {
            // There may be no records, or none with bytes: then any length will do.
            let record = end.checked_div(source.count()).unwrap_or(0).max(1);
            Checks { record, valid, pending: Vec::new() }
        });
        Self { source, position: 0, start: 0, end, checks, memory: PhantomData }
    }

    /// An unpacker of `count` instances whose first one's displacement 0 is at `origin`.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::Overlap`] when they name a byte more than once.
    ///
    /// # Safety
    ///
    /// Every byte of data that `count` instances name, at its displacement from `origin`, must be
    /// writable and in the same allocation as `origin`, and not be accessed by anyone else, as long as the
    /// unpacker or a part of it lives. If the memory holds Rust values, the bytes must make valid ones, at
    /// any time that somebody looks at them.
    pub unsafe fn from_raw(
        committed: &Committed,
        origin: *mut u8,
        count: usize,
    ) -> Result<Self, Error> {
        let source = Source::of(committed, origin, count)?;
        committed.check_overlap(count)?;
        // SAFETY: as the caller vouches, and as just checked.
        Ok(unsafe { Self::from_source(source, None) })
    }

    /// Unpacks bytes at the position, as many as there are and the stream has room for, and returns how many
    /// that were.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] when they complete values that are none. Nothing is written then, and the
    /// position stays what it was; where the first bytes of such a value came earlier, going back to where it
    /// starts is the way to send them again.
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        // No more than the length of a slice.
        let number =
            usize::try_from(self.remaining()).map_or(bytes.len(), |left| left.min(bytes.len()));
        let bytes = &bytes[..number];
        match &self.checks {
            None => self.put(self.position, bytes),
            Some(_) => self.check_and_write(bytes)?,
        }
        self.position += number as u64;
        Ok(number)
    }

    /// What names the data.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// The part of the stream that it may write.
    pub(super) fn part(&self) -> (u64, u64) {
        (self.start, self.end)
    }

    /// Whether the values have to be checked.
    pub(super) fn is_checked(&self) -> bool {
        self.checks.is_some()
    }

    /// Another one for the same stream, at its start.
    ///
    /// # Safety
    ///
    /// No byte may be written by both.
    pub(super) unsafe fn twin(&self) -> Self {
        let Self { start, end, .. } = *self;
        let checks = self.checks.as_ref().map(Checks::anew);
        Self {
            source: self.source.clone(),
            position: start,
            start,
            end,
            checks,
            memory: PhantomData,
        }
    }

    /// Writes packed bytes to a place in the part of the stream that is this unpacker's.
    fn put(&mut self, position: u64, bytes: &[u8]) {
        // SAFETY: nobody else writes through an unpacker that is borrowed exclusively.
        unsafe { self.put_shared(position, bytes) }
    }

    /// As [`put`](Self::put), beside others.
    ///
    /// # Safety
    ///
    /// Nobody may write the same part of the stream meanwhile.
    pub(super) unsafe fn put_shared(&self, position: u64, bytes: &[u8]) {
        let end = position + bytes.len() as u64;
        debug_assert!(self.start <= position && end <= self.end, "the place is this unpacker's");
        // SAFETY: the data are writable, by the promise that the unpacker was made with, and nobody else
        // writes this part, by the caller's; no byte is in two parts. The bytes are there, only read, and
        // borrowed, so they do not overlap what nobody else accesses.
        unsafe {
            let packed = bytes.as_ptr().cast_mut();
            self.source.copy::<Unpack>(position..end, packed, |constant| constant.unpack);
        }
    }

    /// Packed bytes of which whole multiples are written at once; `None` inside a value that has begun.
    #[cfg(feature = "rayon")]
    pub(super) fn record(&self) -> Option<usize> {
        match &self.checks {
            None => Some(1),
            Some(checks) if checks.pending.is_empty() => usize::try_from(checks.record).ok(),
            Some(_) => None,
        }
    }

    /// Whether whole records at a position make values.
    #[cfg(feature = "rayon")]
    pub(super) fn check(&self, position: u64, bytes: &[u8]) -> Result<(), Error> {
        let Some(Checks { record, valid, .. }) = &self.checks else { return Ok(()) };
        let count = usize::try_from(bytes.len() as u64 / record).unwrap_or(usize::MAX);
        let before = usize::try_from(position / record).unwrap_or(usize::MAX);
        valid(bytes, count).map_err(|error| error.records_later(before))
    }

    /// Packed bytes of a record, if records are checked.
    #[cfg(feature = "bytes")]
    pub(super) fn checked_record(&self) -> Option<u64> {
        self.checks.as_ref().map(|checks| checks.record)
    }

    /// Where the next bytes belong in memory, and how many of them lie there in one piece: none at the end of this
    /// unpacker's part, and only there.
    #[cfg(feature = "bytes")]
    #[expect(clippy::cast_possible_truncation, reason = "a piece of memory")]
    pub(super) fn room(&self) -> (*mut u8, usize) {
        let mut first = super::iov::Found::<1>::new();
        let _ = self.source.instances().visit(self.position..self.end, &mut first);
        let Some(segment) = first.next() else { return (core::ptr::dangling_mut(), 0) };
        (self.source.origin().wrapping_offset(segment.disp as isize), segment.len as usize)
    }

    /// Goes on behind bytes that were written, no more than there are.
    #[cfg(any(feature = "bytes", feature = "rayon"))]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.position += bytes as u64;
    }

    /// Writes the records that the bytes complete, once all of them are known to be good, and keeps the rest.
    fn check_and_write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some(checks) = &mut self.checks else { return Ok(()) };
        let first = self.position - checks.pending.len() as u64;
        let Some(Complete { mut head, whole, tail }) = checks.complete(first, bytes)? else {
            return Ok(());
        };
        self.put(first, &head);
        self.put(first + head.len() as u64, whole);
        head.clear();
        head.extend_from_slice(tail);
        if let Some(checks) = &mut self.checks {
            checks.pending = head;
        }
        Ok(())
    }

    /// Packed bytes before the next one, those that are kept until a value is complete included.
    #[doc(alias = "bConverted")]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes to another position, in a time that grows with the logarithm of the number of blocks. The first
    /// bytes of a value that is not complete are forgotten.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] for one behind the end; [`Error::OutsidePart`] for one before the part of the stream
    /// that [`split_at`](Self::split_at) left to this unpacker; [`Error::InsideRecord`] for one inside a value
    /// that has to be checked. The position stays what it was.
    pub fn set_position(&mut self, position: u64) -> Result<(), Error> {
        let Self { start, end, .. } = *self;
        if position > end {
            return Err(Error::Position { position, end });
        }
        if position < start {
            return Err(Error::OutsidePart { position, start, end });
        }
        if position != self.position {
            self.check_boundary(position)?;
            if let Some(checks) = &mut self.checks {
                checks.pending.clear();
            }
        }
        self.position = position;
        Ok(())
    }

    /// Whether a position is between two values, where that plays a part.
    fn check_boundary(&self, position: u64) -> Result<(), Error> {
        match &self.checks {
            Some(Checks { record, .. }) if !position.is_multiple_of(*record) => {
                Err(Error::InsideRecord { position, record: *record })
            }
            _ => Ok(()),
        }
    }

    /// Two unpackers, one for the stream from the position to before `middle`, one for what is behind: they
    /// write to different bytes, and may do so at the same time. Neither can go to a position in the part of the
    /// other.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] when `middle` is before the position or behind the end; [`Error::InsideRecord`]
    /// when the position or `middle` is inside a value that has to be checked. The unpacker is gone then; what
    /// it has written stays.
    ///
    /// ```
    /// use dtype_runtime::Unpacker;
    /// let mut numbers = [0_u32; 1000];
    /// let bytes = [7; 4000];
    /// let (mut front, mut back) = Unpacker::new(&mut numbers).split_at(1999)?;
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || front.unpack(&bytes[..1999]));
    ///     scope.spawn(move || back.unpack(&bytes[1999..]));
    /// });
    /// assert_eq!(numbers, [0x0707_0707; 1000]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn split_at(self, middle: u64) -> Result<(Self, Self), Error> {
        let end = self.end;
        if middle < self.position || middle > end {
            return Err(Error::Position { position: middle, end });
        }
        self.check_boundary(self.position)?;
        self.check_boundary(middle)?;
        let checks = self.checks.as_ref().map(Checks::anew);
        let source = self.source.clone();
        let behind =
            Self { source, position: middle, start: middle, end, checks, memory: PhantomData };
        Ok((Self { end: middle, ..self }, behind))
    }

    /// The 64-bit hash of the type signature of all instances together: that of `contiguous(count, type)`.
    pub fn signature_hash(&self) -> u64 {
        self.source.signature_hash()
    }

    /// Packed bytes from the position to the end.
    pub fn remaining(&self) -> u64 {
        self.end - self.position
    }

    /// Whether the position is at the end.
    #[doc(alias = "CONVERTOR_COMPLETED")]
    pub fn is_complete(&self) -> bool {
        self.remaining() == 0
    }

    /// The stack of the convertor at the position, over the type's description: what seed
    /// `opal_convertor_t` keeps as `pStack`. For tools: it takes time in proportion to the description's length.
    pub fn stack(&self) -> Vec<StackFrame> {
        let description = self.source.description();
        // The count and the position are known to be good.
        description.stack(self.source.count(), self.position).unwrap_or_default()
    }
}

impl Committed {
    /// An unpacker of `count` instances in `memory`, with the arguments of [`unpack`](Self::unpack).
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] when the data reach outside `memory`;
    /// [`Error::Overlap`] when they name a byte more than once.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// let mut matrix = *b"............";
    /// let mut unpacker = column.unpacker(&mut matrix, 1, 1)?;
    /// unpacker.set_position(1)?;
    /// assert_eq!(unpacker.unpack(b"yz")?, 2);
    /// unpacker.set_position(0)?;
    /// assert_eq!(unpacker.unpack(b"x")?, 1);
    /// assert_eq!(&matrix, b".x...y...z..");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn unpacker<'a>(
        &self,
        memory: &'a mut [u8],
        origin: usize,
        count: usize,
    ) -> Result<Unpacker<'a>, Error> {
        self.check_span(memory.len() as u64, origin as u64, count)?;
        // SAFETY: all bytes that the instances name lie in `memory`, as just checked, which is borrowed
        // exclusively for `'a`. It holds bytes, of which any are valid.
        unsafe { Unpacker::from_raw(self, memory.as_mut_ptr().wrapping_add(origin), count) }
    }
}

#[cfg(feature = "std")]
impl std::io::Write for Unpacker<'_> {
    /// As [`unpack`](Unpacker::unpack); what is refused there is
    /// [`InvalidData`](std::io::ErrorKind::InvalidData) here, with the [`Error`] inside. At the end it
    /// accepts nothing.
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.unpack(buf)
            .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    }

    /// Accepts the buffers up to the first one that is refused.
    fn write_vectored(&mut self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
        let mut written = 0;
        for buf in bufs {
            match self.write(buf) {
                Ok(bytes) => written += bytes,
                // What was refused is refused again when it comes alone.
                Err(error) if written == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(written)
    }

    /// Nothing is kept back but the beginnings of values, which cannot be written.
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
