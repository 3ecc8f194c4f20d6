//! The unpacker of a stream in another representation.

use super::ConvertedStream;
use super::partial::Partials;
use super::staged::Staged;
use crate::convertor::Unpacker;
use crate::convertor::progress::Progress;
#[cfg(feature = "rayon")]
use crate::convertor::stream::UnpackRecords;
use crate::convertor::stream::{UnpackStream, stream};
use crate::error::Error;
use crate::kernel::Unpack;
use crate::representation::Representation;

/// An [`Unpacker`] whose packed stream is in another [`Representation`]: it converts values while copying them. Fragments may
/// come in any order and begin and end inside values.
///
/// Positions are positions in the converted stream. A value whose width changes is written when all of its bytes have arrived;
/// bytes of other values are written at once. Values of a Rust type that must be checked are written record by record. There is
/// no `buf_mut` method, because the bytes of the stream are not the bytes in memory.
///
/// ```
/// use dtype_runtime::{Representation, Unpacker};
/// let mut samples = [(0_u16, 0.0_f64); 1];
/// let mut unpacker = Unpacker::new(&mut samples).with_representation(Representation::BigEndian)?;
/// for fragment in [&[0, 1, 0x40][..], &[0, 0, 0, 0, 0, 0, 0]] {
///     unpacker.unpack(fragment)?;
/// }
/// assert_eq!(samples, [(1, 2.0)]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct ConvertingUnpacker<'a> {
    /// The unpacker that owns the access to the memory.
    unpacker: Unpacker<'a>,
    stream: ConvertedStream,
    progress: Progress,
    partials: Partials,
    /// Present if the values must be checked.
    staged: Option<Staged>,
}

// SAFETY: as for `Unpacker`: a converting unpacker writes the data of the unpacker that it was made from, to which it has
// exclusive access for the same lifetime.
unsafe impl Send for ConvertingUnpacker<'_> {}
// SAFETY: a shared reference gives access only to numbers, and to bytes that the unpacker itself holds, and only for reading.
unsafe impl Sync for ConvertingUnpacker<'_> {}

impl<'a> Unpacker<'a> {
    /// The stream of all instances in another representation. It starts at position 0, whatever the position of
    /// this unpacker.
    ///
    /// This takes time linear in the length of the type's description. For many streams of one committed type, use
    /// [`Committed::conversion`](crate::Committed::conversion).
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`]; [`Error::CountTooLarge`]; [`Error::OutsidePart`] for a part of a stream, made by
    /// [`split_at`](Self::split_at): convert the stream first, then split it.
    #[doc(alias = "MPI_Unpack_external")]
    pub fn with_representation(
        self,
        representation: Representation,
    ) -> Result<ConvertingUnpacker<'a>, Error> {
        let stream = ConvertedStream::with_representation(self.source(), representation)?;
        ConvertingUnpacker::new(self, stream, representation)
    }
}

impl<'a> ConvertingUnpacker<'a> {
    /// `stream` must be made for the unpacker's instances.
    pub(in crate::convertor) fn new(
        unpacker: Unpacker<'a>,
        stream: ConvertedStream,
        representation: Representation,
    ) -> Result<Self, Error> {
        unpacker.check_whole()?;
        let staged = if unpacker.is_checked() {
            Some(Staged::new(&unpacker.source().ty(), representation)?)
        } else {
            None
        };
        let (progress, partials) = (Progress::new(stream.size), Partials::default());
        Ok(Self { unpacker, stream, progress, partials, staged })
    }

    /// Unpacks up to `bytes.len()` bytes at the current position and returns the number unpacked. Returns 0 at the end
    /// of the stream or if `bytes` is empty.
    ///
    /// # Errors
    ///
    /// [`Error::IntegerRange`] and [`Error::FloatRange`] if a value that the bytes complete does not fit its type on this
    /// machine; [`Error::InvalidValue`] if they complete an invalid value; [`Error::Allocation`] if the memory for checking
    /// them cannot be allocated. Nothing is written then, and the position is unchanged.
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let (number, range) = self.progress.next(bytes.len());
        let bytes = &bytes[..number];
        if let Some(staged) = &mut self.staged {
            staged.unpack(range.start, bytes, &mut self.unpacker)?;
        } else {
            let packed = bytes.as_ptr().cast_mut();
            let partials = &mut self.partials;
            // SAFETY: the data are writable, by the promise that the unpacker was made with, which is borrowed exclusively; any
            // bytes may be written if nothing has to be checked. The source bytes are borrowed and only read, so they do not
            // overlap the data, which nothing else accesses.
            unsafe {
                self.stream.convert::<Unpack>(range, packed, partials)?;
            }
        }
        self.progress.advance(number);
        Ok(number)
    }

    /// Called by a seek: forgets the first bytes of an incomplete record.
    fn leave(&mut self, position: u64) -> Result<(), Error> {
        if let Some(Staged { pending, .. }) = &mut self.staged {
            pending.check_boundary(position)?;
            pending.keep(&[]);
        }
        Ok(())
    }

    fn hash(&self) -> u64 {
        self.unpacker.signature_hash()
    }

    /// Splits the rest of the stream at `middle` into two unpackers. They write different bytes, even at the same time. Neither
    /// can seek into the other's part.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] if `middle` is before the position or past the end; [`Error::InsideRecord`] if the
    /// position or `middle` is inside a value that is converted or checked as a whole. The unpacker is consumed
    /// even then; the data that it has written remain.
    pub fn split_at(mut self, middle: u64) -> Result<(Self, Self), Error> {
        self.progress.check_middle(middle)?;
        let position = self.position();
        let staged = match &self.staged {
            None => {
                self.stream.check_boundary(position)?;
                self.stream.check_boundary(middle)?;
                None
            }
            Some(staged) => Some(staged.split_at(position, middle)?),
        };
        let (stream, progress) = (self.stream.clone(), self.progress.split_off(middle));
        let partials = self.partials.split_off(middle);
        // SAFETY: the two unpackers write different parts of the stream, and no byte of memory belongs to both: a byte that is
        // only copied or reversed is in one part, and `middle` is not inside a value or record that is written as a whole.
        let unpacker = unsafe { self.unpacker.twin() };
        Ok((self, Self { unpacker, stream, progress, partials, staged }))
    }

    /// The number of values that have only partly arrived. They remain unchanged in memory if nothing more arrives.
    pub fn incomplete(&self) -> usize {
        match &self.staged {
            None => self.partials.len(),
            Some(staged) => usize::from(!staged.pending.is_empty()),
        }
    }
}

stream! {
    impl[] ConvertingUnpacker<'_>, error = Error, hash = Self::hash, leave = Self::leave;
    /// Of incomplete values whose width changes, the bytes that have arrived are kept. Of an incomplete record that must be
    /// checked, they are forgotten.
    ///
    /// [`Error::OutsidePart`](crate::Error::OutsidePart) if the position is before the part of the stream that
    /// [`split_at`](Self::split_at) left to this unpacker; [`Error::InsideRecord`](crate::Error::InsideRecord) if it is inside
    /// a record that must be checked.
}

impl UnpackStream for ConvertingUnpacker<'_> {
    fn unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        self.unpack(bytes)
    }
}

/// A record is a whole instance, so no value is partial.
#[cfg(feature = "rayon")]
impl UnpackRecords for ConvertingUnpacker<'_> {
    fn record(&self) -> Option<usize> {
        let record = self.stream.converting.size.max(1);
        let apart = self.staged.is_none() && self.position().is_multiple_of(record);
        usize::try_from(record).ok().filter(|_| apart)
    }

    fn check(&self, position: u64, bytes: &[u8]) -> Result<(), Error> {
        let range = position..position + bytes.len() as u64;
        // SAFETY: unpacking reads the packed bytes, which are borrowed.
        unsafe { self.stream.check::<Unpack>(range, bytes.as_ptr().cast_mut()) }
    }

    unsafe fn put_shared(&self, position: u64, bytes: &[u8]) -> Result<(), Error> {
        let (range, mut none) = (position..position + bytes.len() as u64, Partials::default());
        // SAFETY: the data are writable, by the promise that the unpacker was made with, and nothing else writes these, as the
        // caller guarantees; any bytes may be written, because nothing is staged: otherwise there is no `record`. The packed
        // bytes are borrowed and only read.
        unsafe { self.stream.convert::<Unpack>(range, bytes.as_ptr().cast_mut(), &mut none) }
    }

    fn advance(&mut self, bytes: usize) {
        let start = self.position();
        self.progress.advance(bytes);
        self.partials.forget_all(start..self.position());
    }
}
