//! The unpacker, which turns a packed stream into memory, in fragments.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::Range;

use super::buffer::BufferMut;
use super::pending::{Complete, Pending};
use super::progress::Progress;
use super::source::Source;
use super::stack::StackFrame;
#[cfg(feature = "rayon")]
use super::stream::UnpackRecords;
use super::stream::{UnpackStream, stream};
use crate::commit::Committed;
use crate::error::Error;
use crate::kernel::Unpack;

/// The packed stream of some instances, to be written in fragments of any size, at any position: the receiving side of
/// Open MPI's `opal_convertor_t`.
///
/// Each call writes only the bytes of its fragment, so several unpackers, made by [`split_at`](Self::split_at), can fill one
/// memory from several threads. With the standard library, an unpacker implements
/// [`Write`](https://doc.rust-lang.org/std/io/trait.Write.html).
///
/// If the records of a Rust type must be checked, because not all bit patterns are valid, each record is written as soon as all
/// of its bytes have arrived; earlier bytes are kept until then.
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
    progress: Progress,
    checks: Option<Checks>,
    memory: PhantomData<&'a mut [u8]>,
}

/// Present if records must be checked before they are written.
#[derive(Debug)]
struct Checks {
    valid: Validate,
    pending: Pending,
}

impl Checks {
    /// Checks whole records that start at a position, and returns them as they are to be written.
    fn check<'b>(&self, position: u64, records: &'b [u8]) -> Result<Cow<'b, [u8]>, Error> {
        // The records lie in memory, so their number fits `usize`; so does the number of records before them.
        let number =
            |bytes: u64| usize::try_from(bytes / self.pending.record()).unwrap_or(usize::MAX);
        (self.valid)(records, number(records.len() as u64))
            .map_err(|error| error.records_later(number(position)))
    }
}

/// Checks that packed bytes, which hold this number of whole records, make valid records. Returns the bytes as they are to be
/// written.
pub(crate) type Validate = for<'b> fn(&'b [u8], usize) -> Result<Cow<'b, [u8]>, Error>;

// SAFETY: an unpacker has exclusive access to the data that it may write; they are borrowed exclusively, or guaranteed by the
// caller of `from_raw`. They are plain bytes, whatever thread writes them.
unsafe impl Send for Unpacker<'_> {}
// SAFETY: a shared reference gives access only to numbers, and only for reading.
unsafe impl Sync for Unpacker<'_> {}

impl Unpacker<'_> {
    /// `validate` is for types whose bit patterns are not all valid.
    ///
    /// # Safety
    ///
    /// The data of all instances must be writable, and not accessed by anything else, for `'a`, and no byte may
    /// be named twice. Bytes that `validate` returns must be as many as it was given, and make valid records.
    #[inline]
    pub(crate) unsafe fn from_source(source: Source, validate: Option<Validate>) -> Self {
        let end = source.size();
        let checks = validate.map(|valid| {
            // There may be no records, or only records without bytes: then any length will do.
            let record = end.checked_div(source.count()).unwrap_or(0);
            Checks { valid, pending: Pending::new(record) }
        });
        Self { source, progress: Progress::new(end), checks, memory: PhantomData }
    }

    /// An unpacker of `count` instances; displacement 0 of the first one is at `origin`.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::Overlap`] if the instances name a byte more than once.
    ///
    /// # Safety
    ///
    /// Every byte of data that `count` instances name, at its displacement from `origin`, must be writable and in the
    /// same allocation as `origin`, and not be accessed by anything else, for as long as the unpacker or a part of it is
    /// alive. If the memory holds Rust values, the bytes must make valid ones whenever they are read.
    #[inline]
    pub unsafe fn from_raw(
        committed: &Committed,
        origin: *mut u8,
        count: usize,
    ) -> Result<Self, Error> {
        let source = Source::from_committed(committed, origin, count)?;
        committed.check_overlap(count)?;
        // As `from_source`, whose requirements the caller guarantees or were just checked. Any bytes are valid. `None` is a
        // constant here, so that an absent check is not copied.
        let progress = Progress::new(source.size());
        Ok(Self { source, progress, checks: None, memory: PhantomData })
    }

    /// Unpacks up to `bytes.len()` bytes at the current position and returns the number unpacked. Returns 0 at the end
    /// of the stream or if `bytes` is empty.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] if the bytes complete a record with an invalid value; [`Error::CheckFailed`] if the function of
    /// `#[dtype(check = …)]`, or a type of this crate, refuses the record. Nothing is written then, and the position is
    /// unchanged; if the first bytes of the record arrived earlier, seek back to the record's start to unpack them again.
    #[inline]
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        // Inlined, so that callers whose records are not checked need not test the result.
        if self.checks.is_some() {
            return self.unpack_checked(bytes);
        }
        let (number, range) = self.progress.next(bytes.len());
        match self.source.part::<Unpack>() {
            // SAFETY: as in `put`; `Progress::next` returns a range in this part, with no more bytes than there are.
            Some((part, memory)) => unsafe { part(memory, bytes.as_ptr().cast_mut(), range) },
            // SAFETY: the source and the progress are this unpacker's, and nothing is checked.
            None => unsafe {
                Self::put(&self.source, &mut self.progress, range.start, &bytes[..number]);
            },
        }
        self.progress.advance(number);
        Ok(number)
    }

    #[inline(never)]
    fn unpack_checked(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let (number, _) = self.progress.next(bytes.len());
        self.check_and_write(&bytes[..number])?;
        self.progress.advance(number);
        Ok(number)
    }

    /// The instances that name the data.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Checks that this unpacker may write all of the stream.
    pub(super) fn check_whole(&self) -> Result<(), Error> {
        let Range { start, end } = self.progress.part();
        if start > 0 || end < self.source.size() {
            return Err(Error::OutsidePart { position: 0, start, end });
        }
        Ok(())
    }

    /// Whether the records must be checked.
    pub(super) fn is_checked(&self) -> bool {
        self.checks.is_some()
    }

    /// Another unpacker for the same stream, at its start.
    ///
    /// # Safety
    ///
    /// The two must not write the same byte.
    pub(super) unsafe fn twin(&self) -> Self {
        self.part(self.progress.rewound())
    }

    /// The same stream with other progress and without pending bytes.
    fn part(&self, progress: Progress) -> Self {
        let cleared = |Checks { valid, pending }: &Checks| Checks {
            valid: *valid,
            pending: pending.cleared(),
        };
        let checks = self.checks.as_ref().map(cleared);
        Self { source: self.source.clone(), progress, checks, memory: PhantomData }
    }

    /// Writes packed bytes at a position in this unpacker's part of the stream. It is neither inlined nor generic, so that
    /// callers of [`unpack`](Self::unpack) do not compile the engine again.
    ///
    /// # Safety
    ///
    /// The source and the progress must be those of an unpacker that is borrowed exclusively, and the bytes must make valid
    /// records.
    #[inline(never)]
    unsafe fn put(source: &Source, progress: &mut Progress, position: u64, bytes: &[u8]) {
        let range = position..position + bytes.len() as u64;
        let part = progress.part();
        debug_assert!(part.start <= range.start && range.end <= part.end, "inside this part");
        let packed = bytes.as_ptr().cast_mut();
        // SAFETY: the data are writable and do not overlap, by the promise that the unpacker was made with. It is borrowed
        // exclusively, so nothing else writes this part of them. The source bytes are borrowed and only read, so they do not
        // overlap the data, which nothing else accesses.
        unsafe { source.copy::<Unpack>(range, packed, progress.near()) };
    }

    /// Packed bytes of a record, if records are checked.
    #[cfg(feature = "bytes")]
    pub(super) fn checked_record(&self) -> Option<u64> {
        self.checks.as_ref().map(|checks| checks.pending.record())
    }

    /// The address of the next bytes in memory, and how many are contiguous there: 0 only at the end of this unpacker's part.
    #[cfg(feature = "bytes")]
    #[expect(clippy::cast_possible_truncation, reason = "a segment of memory")]
    pub(super) fn room(&self) -> (*mut u8, usize) {
        let (instances, rest) = (self.source.instances(), self.progress.rest());
        let mut first = super::iov::FirstSegments::<1>::in_range(&instances, rest);
        let Some(segment) = first.next() else { return (core::ptr::dangling_mut(), 0) };
        (self.source.origin().wrapping_offset(segment.disp as isize), segment.len as usize)
    }

    /// Moves past bytes that were written, at most as many as remain.
    #[cfg(feature = "bytes")]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.progress.advance(bytes);
    }

    /// Whole records at a position as they are to be written, checked.
    #[cfg(feature = "rayon")]
    fn clean<'b>(&self, position: u64, records: &'b [u8]) -> Result<Cow<'b, [u8]>, Error> {
        match &self.checks {
            Some(checks) => checks.check(position, records),
            None => Ok(Cow::Borrowed(records)),
        }
    }

    /// Writes the records that the bytes complete, once all of them are known to be valid, and keeps the rest of the bytes.
    fn check_and_write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some(checks) = &mut self.checks else { return Ok(()) };
        if self.source.size() == 0 {
            // Records without data, or no records.
            let count = usize::try_from(self.source.count()).unwrap_or(usize::MAX);
            return (checks.valid)(&[], count).map(drop);
        }
        let position = self.progress.position();
        let Some(Complete { first, whole, tail }) = checks.pending.complete(position, bytes) else {
            return Ok(());
        };
        let head = checks.pending.head();
        let second = first + head.len() as u64;
        let (head, whole) = (checks.check(first, head)?, checks.check(second, whole)?);
        // SAFETY: the source and the progress are this unpacker's, and the records were just checked.
        unsafe {
            Self::put(&self.source, &mut self.progress, first, &head);
            Self::put(&self.source, &mut self.progress, second, &whole);
        }
        drop(head);
        checks.pending.keep(tail);
        Ok(())
    }

    /// Called by a seek: forgets the first bytes of an incomplete record.
    fn leave(&mut self, position: u64) -> Result<(), Error> {
        self.check_boundary(position)?;
        if let Some(checks) = &mut self.checks {
            checks.pending.keep(&[]);
        }
        Ok(())
    }

    fn hash(&self) -> u64 {
        self.source.signature_hash()
    }

    /// Refuses a position inside a record, if records are checked.
    fn check_boundary(&self, position: u64) -> Result<(), Error> {
        self.checks.as_ref().map_or(Ok(()), |checks| checks.pending.check_boundary(position))
    }

    /// Splits the rest of the stream at `middle` into two unpackers. They write different bytes, even at the same time. Neither
    /// can seek into the other's part.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] if `middle` is before the position or past the end; [`Error::InsideRecord`] if the
    /// position or `middle` is inside a record that has to be checked. The unpacker is consumed even then; the data
    /// that it has written remain.
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
    pub fn split_at(mut self, middle: u64) -> Result<(Self, Self), Error> {
        self.progress.check_middle(middle)?;
        self.check_boundary(self.position())?;
        self.check_boundary(middle)?;
        let rest = self.progress.split_off(middle);
        let second = self.part(rest);
        Ok((self, second))
    }

    /// The stack of the convertor at the position, over the type's description: what Open MPI's `opal_convertor_t`
    /// keeps as `pStack`. For tools: it takes time linear in the length of the description.
    pub fn stack(&self) -> Vec<StackFrame> {
        let description = self.source.description();
        // The count and the position were checked earlier.
        description.stack(self.source.count(), self.position()).unwrap_or_default()
    }
}

impl Committed {
    /// An unpacker of `count` instances in memory.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] if the data reach outside the memory; [`Error::Overlap`] if
    /// they name a byte more than once.
    ///
    /// ```
    /// use dtype_runtime::{Basic, BufferMut, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
    /// let mut matrix = *b"............";
    /// let mut unpacker = column.unpacker(BufferMut::new(&mut matrix).origin(1), 1)?;
    /// unpacker.set_position(1)?;
    /// assert_eq!(unpacker.unpack(b"yz")?, 2);
    /// unpacker.set_position(0)?;
    /// assert_eq!(unpacker.unpack(b"x")?, 1);
    /// assert_eq!(&matrix, b".x...y...z..");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[inline]
    pub fn unpacker<'a>(
        &self,
        to: impl Into<BufferMut<'a>>,
        count: usize,
    ) -> Result<Unpacker<'a>, Error> {
        let mut to = to.into();
        self.check_span(to.len() as u64, to.origin.into(), count)?;
        // SAFETY: all bytes that the instances name lie in the memory, as just checked. The memory is borrowed exclusively for
        // `'a`, and holds bytes, any of which are valid.
        unsafe { Unpacker::from_raw(self, to.pointer(), count) }
    }
}

stream! {
    impl[] Unpacker<'_>, error = Error, hash = Self::hash, leave = Self::leave;
    /// Of an incomplete record, the bytes that have arrived are forgotten. Until then they count as unpacked.
    ///
    /// [`Error::OutsidePart`](crate::Error::OutsidePart) if the position is before the part of the stream that
    /// [`split_at`](Self::split_at) left to this unpacker; [`Error::InsideRecord`](crate::Error::InsideRecord) if it is inside
    /// a record that must be checked.
}

impl UnpackStream for Unpacker<'_> {
    fn unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        self.unpack(bytes)
    }
}

#[cfg(feature = "rayon")]
impl UnpackRecords for Unpacker<'_> {
    fn record(&self) -> Option<usize> {
        match &self.checks {
            None => Some(1),
            Some(checks) if checks.pending.is_empty() => {
                usize::try_from(checks.pending.record()).ok()
            }
            Some(_) => None,
        }
    }

    fn check(&self, position: u64, bytes: &[u8]) -> Result<(), Error> {
        self.clean(position, bytes).map(drop)
    }

    unsafe fn put_shared(&self, position: u64, bytes: &[u8]) -> Result<(), Error> {
        let bytes = self.clean(position, bytes)?;
        let range = position..position + bytes.len() as u64;
        let part = self.progress.part();
        debug_assert!(part.start <= range.start && range.end <= part.end, "inside this part");
        // SAFETY: the data are writable and do not overlap, by the promise that the unpacker was made with. Nothing else writes
        // this part, as the caller guarantees; no byte is in two parts. The source bytes are borrowed and only read, so they do
        // not overlap the data, which nothing else accesses.
        unsafe { self.source.copy::<Unpack>(range, bytes.as_ptr().cast_mut(), &mut 0) };
        Ok(())
    }

    fn advance(&mut self, bytes: usize) {
        self.progress.advance(bytes);
    }
}
