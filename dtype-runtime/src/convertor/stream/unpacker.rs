//! The unpacker, which turns a packed stream into memory, in fragments.

use alloc::sync::Arc;
use core::marker::PhantomData;
use core::ops::Range;

use super::progress::Progress;
use super::records::{Checks, Validate, ValidateRecords, ValidateTyped};
use super::sealed::Shared;
use super::{Mode, stream};
use crate::commit::Committed;
use crate::convertor::buffer::BufferMut;
use crate::convertor::native::Native;
use crate::error::Error;
use crate::types::Type;

/// The packed stream of some instances, to be written in fragments of any size, at any position: the receiving side of
/// Open MPI's `opal_convertor_t`.
///
/// Each call writes only the bytes of its fragment, so several unpackers, made by [`split_at`](Self::split_at), can fill one
/// memory from several threads. With the standard library, an unpacker implements
/// [`Write`](https://doc.rust-lang.org/std/io/trait.Write.html).
///
/// `M` says what happens to the bytes: they are copied ([`Native`]), [`Converted`](super::Converted) from another
/// [`Representation`](crate::Representation), or unpacked [`Through`](super::Through) a backend.
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
pub struct Unpacker<'a, M = Native> {
    pub(super) mode: M,
    pub(super) progress: Progress,
    /// Present if records must be checked before they are written.
    pub(super) checks: Option<Checks>,
    /// If `mode` has an address, its data in this part of the stream are writable for `'a`, and nothing else accesses them.
    memory: PhantomData<&'a mut [u8]>,
}

impl<M: Mode> Unpacker<'_, M> {
    /// An unpacker at the start of a stream.
    ///
    /// # Safety
    ///
    /// If the mode has an address, the data of all instances in this part of the stream must be writable, and not accessed by
    /// anything else, for the unpacker's lifetime, and no byte may be named twice. Bytes that pass the checks must be valid.
    #[inline]
    pub(super) unsafe fn from_mode(mode: M, progress: Progress, checks: Option<Checks>) -> Self {
        Self { mode, progress, checks, memory: PhantomData }
    }

    /// Unpacks up to `bytes.len()` bytes at the current position and returns the number unpacked. Returns 0 at the end
    /// of the stream or if `bytes` is empty.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] if the bytes complete a record with an invalid value; [`Error::CheckFailed`] if the function of
    /// `#[dtype(check = …)]`, or a type of this crate, refuses the record. Of a converted stream, also [`Error::IntegerRange`]
    /// and [`Error::FloatRange`] if a value that the bytes complete does not fit its type on this machine, and
    /// [`Error::Allocation`] if the memory for checking records cannot be allocated. Nothing is written then, and the position
    /// is unchanged; if the first bytes of the record arrived earlier, seek back to the record's start to unpack them again.
    ///
    /// Of a stream through a backend, the backend's errors. The position is then unchanged; some of the bytes may have been
    /// written.
    #[inline]
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<usize, M::Error> {
        let (number, range) = self.progress.next(bytes.len());
        let (bytes, search_hint) = (&bytes[..number], self.progress.search_hint());
        // SAFETY: the next bytes of this unpacker's part of the stream; the data there may be written, by the promise that the
        // unpacker was made with, which is borrowed exclusively.
        unsafe { self.mode.unpack(&mut self.checks, range, bytes, search_hint)? };
        self.progress.advance(number);
        Ok(number)
    }

    /// Returns when all unpacked bytes are in the memory, except the bytes of an incomplete value. Only a stream through a
    /// [`Backend`](super::Backend) does any work here.
    ///
    /// # Errors
    ///
    /// The errors of the backend.
    #[inline]
    pub fn flush(&mut self) -> Result<(), M::Error> {
        self.mode.flush()
    }

    /// Called by a seek: forgets the first bytes of an incomplete record.
    fn leave(&mut self, position: u64) -> Result<(), Error> {
        self.checks.as_mut().map_or(Ok(()), |checks| checks.leave(position))
    }
}

impl Unpacker<'_> {
    /// `validate` is for types whose bit patterns are not all valid.
    ///
    /// # Safety
    ///
    /// The data of all instances must be writable, and not accessed by anything else, for `'a`, and no byte may
    /// be named twice. Bytes that `validate` returns must be as many as it was given, and make valid records.
    #[inline]
    pub(crate) unsafe fn from_native(native: Native, validate: Option<ValidateTyped>) -> Self {
        let checks = validate.map(|valid| Checks::new(Validate::Typed(valid), &native));
        let progress = Progress::new(native.size());
        // SAFETY: the caller guarantees the data of these instances, and that bytes that `validate` accepts are valid.
        unsafe { Self::from_mode(native, progress, checks) }
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
        let native = Native::from_committed(committed, origin, count)?;
        committed.check_overlap(count)?;
        let progress = Progress::new(native.size());
        // SAFETY: the caller guarantees the data of `count` instances, which are those of `native`, and that any bytes are
        // valid there; no byte is named twice, as just checked.
        Ok(unsafe { Self::from_mode(native, progress, None) })
    }

    /// The type of the instances.
    pub(in crate::convertor) fn instance(&self) -> Type {
        self.mode.ty()
    }

    /// The stream from its start, whose records, of this type, are checked before they are written.
    ///
    /// # Errors
    ///
    /// [`Error::SignatureMismatch`], and as [`check_whole`](Self::check_whole).
    pub(in crate::convertor) fn with_validation(
        self,
        ty: &Type,
        validate: Arc<dyn ValidateRecords>,
    ) -> Result<Self, Error> {
        ty.check_signature_hash(self.instance().signature_hash())?;
        self.check_whole()?;
        let checks = Some(Checks::new(Validate::Records(validate), &self.mode));
        let progress = Progress::new(self.mode.size());
        Ok(Self { progress, checks, ..self })
    }

    /// Checks that this unpacker may write all of the stream.
    pub(super) fn check_whole(&self) -> Result<(), Error> {
        let Range { start, end } = self.progress.part();
        if start > 0 || end < self.mode.size() {
            return Err(Error::OutsidePart { position: 0, start, end });
        }
        Ok(())
    }
}

/// Streams of memory that the CPU reaches.
impl<M: Shared> Unpacker<'_, M> {
    /// Splits the rest of the stream at `middle` into two unpackers. They write different bytes, even at the same time. Neither
    /// can seek into the other's part.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] if `middle` is before the position or past the end; [`Error::InsideRecord`] if the
    /// position or `middle` is inside a record that has to be checked, or inside a value that is converted as a whole. The unpacker is consumed even then; the data
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
        for position in [self.position(), middle] {
            match &self.checks {
                Some(checks) => checks.check_boundary(position)?,
                None => self.mode.check_boundary(position)?,
            }
        }
        let (mode, progress) = (self.mode.split_off(middle), self.progress.split_off(middle));
        let checks = self.checks.as_ref().map(Checks::cleared);
        // SAFETY: the data are those of this unpacker. The two write different parts of the stream, and no byte of memory belongs
        // to both parts: no byte is named twice, and `middle` is not inside a value or record that is written as a whole.
        let second = unsafe { Self::from_mode(mode, progress, checks) };
        Ok((self, second))
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
    Unpacker, leave = Self::leave;
    /// Of an incomplete record that must be checked, the bytes that have arrived are forgotten; until then they count as unpacked.
    /// Of an incomplete value whose width changes, they are kept.
    ///
    /// [`Error::OutsidePart`](crate::Error::OutsidePart) if the position is before the part of the stream that
    /// [`split_at`](Unpacker::split_at) left to this unpacker; [`Error::InsideRecord`](crate::Error::InsideRecord) if it is inside
    /// a record that must be checked.
}
