//! The receiving side.

use super::Stream;
use super::partial::Partials;
use super::staged::Staged;
use crate::convertor::Unpacker;
use crate::error::Error;
use crate::kernel::Unpack;
use crate::representation::Representation;

/// An [`Unpacker`] whose packed stream is in another [`Representation`]: the values are converted as they are
/// copied. Fragments may come in any order and begin and end inside values.
///
/// Positions are those of the stream that comes. A value whose width changes is written when all of its bytes have
/// come, and any other byte at once; values of a Rust type that have to be checked are written record by record.
///
/// ```
/// use dtype_runtime::{Representation, Unpacker};
/// let mut samples = [(0_u16, 0.0_f64); 1];
/// let mut unpacker = Unpacker::new(&mut samples).represented(Representation::BigEndian)?;
/// for fragment in [&[0, 1, 0x40][..], &[0, 0, 0, 0, 0, 0, 0]] {
///     unpacker.unpack(fragment)?;
/// }
/// assert_eq!(samples, [(1, 2.0)]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct ForeignUnpacker<'a> {
    /// Who has the memory.
    unpacker: Unpacker<'a>,
    stream: Stream,
    position: u64,
    /// The part of the stream that this unpacker may write.
    start: u64,
    end: u64,
    partials: Partials,
    /// Where the values have to be checked.
    staged: Option<Staged>,
}

// SAFETY: as for `Unpacker`, which it is made from: it writes the same data, which it has to itself, for as long.
unsafe impl Send for ForeignUnpacker<'_> {}
// SAFETY: through a shared reference nothing can be read or written but numbers, and bytes of its own.
unsafe impl Sync for ForeignUnpacker<'_> {}

impl<'a> Unpacker<'a> {
    /// The stream of all instances in another representation, from its start on, wherever this unpacker was.
    ///
    /// It takes time in proportion to the length of the type's description: for many streams of one committed type
    /// there is [`Committed::conversion`](crate::Committed::conversion).
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`]; [`Error::CountTooLarge`]; [`Error::OutsidePart`] for a part of a stream, made by
    /// [`split_at`](Self::split_at): what is converted can be split afterwards.
    #[doc(alias = "MPI_Unpack_external")]
    pub fn represented(self, representation: Representation) -> Result<ForeignUnpacker<'a>, Error> {
        let stream = Stream::of(self.source(), representation)?;
        ForeignUnpacker::new(self, stream, representation)
    }
}

impl<'a> ForeignUnpacker<'a> {
    /// The stream must be that of the unpacker's instances.
    pub(in crate::convertor) fn new(
        unpacker: Unpacker<'a>,
        stream: Stream,
        representation: Representation,
    ) -> Result<Self, Error> {
        let (start, end) = unpacker.part();
        if start > 0 || end < unpacker.source().size() {
            return Err(Error::OutsidePart { position: 0, start, end });
        }
        let staged = if unpacker.is_checked() {
            Some(Staged::new(&unpacker.source().ty(), representation)?)
        } else {
            None
        };
        let end = stream.size;
        let partials = Partials::default();
        Ok(Self { unpacker, stream, position: 0, start: 0, end, partials, staged })
    }

    /// Unpacks bytes at the position, as many as there are and the stream has room for, and returns how many
    /// that were.
    ///
    /// # Errors
    ///
    /// [`Error::IntegerRange`] and [`Error::FloatRange`] when this machine has no room for a value that they
    /// complete; [`Error::InvalidValue`] when they complete values that are none; [`Error::Allocation`] when there
    /// is no room to check them. Nothing is written then, and the position stays what it was.
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        // No more than the length of a slice.
        let number =
            usize::try_from(self.remaining()).map_or(bytes.len(), |left| left.min(bytes.len()));
        let bytes = &bytes[..number];
        let end = self.position + number as u64;
        if let Some(staged) = &mut self.staged {
            staged.unpack(self.position, bytes, &mut self.unpacker)?;
        } else {
            let packed = bytes.as_ptr().cast_mut();
            let partials = &mut self.partials;
            // SAFETY: the data are writable, by the promise that the unpacker was made with, which is borrowed
            // exclusively; any bytes may be written where nothing has to be checked. The bytes are there, only
            // read, and borrowed, so they do not overlap what nobody else accesses.
            unsafe {
                self.stream.convert::<Unpack>(
                    self.position..end,
                    packed,
                    |whole| whole.unpack,
                    partials,
                )?;
            }
        }
        self.position = end;
        Ok(number)
    }

    /// Packed bytes before the next one, those that are kept until a value is complete included.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes to another position, in a time that grows with the logarithm of the number of values that do not lie
    /// at equal distances. What has come of values that change their width is kept; the first bytes of a record
    /// that has to be checked are forgotten.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] for one behind the end; [`Error::OutsidePart`] for one before the part of the stream
    /// that [`split_at`](Self::split_at) left to this unpacker; [`Error::InsideRecord`] for one inside a record
    /// that has to be checked. The position stays what it was.
    pub fn set_position(&mut self, position: u64) -> Result<(), Error> {
        let Self { start, end, .. } = *self;
        if position > end {
            return Err(Error::Position { position, end });
        }
        if position < start {
            return Err(Error::OutsidePart { position, start, end });
        }
        if position != self.position
            && let Some(staged) = &mut self.staged
        {
            staged.set_position(position)?;
        }
        self.position = position;
        Ok(())
    }

    /// Two unpackers, one for the stream from the position to before `middle`, one for what is behind: they
    /// write to different bytes, and may do so at the same time. Neither can go to a position in the part of the
    /// other.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] when `middle` is before the position or behind the end; [`Error::InsideRecord`]
    /// when the position or `middle` is inside a value that is converted or checked as a whole. The unpacker is
    /// gone then; what it has written stays.
    pub fn split_at(mut self, middle: u64) -> Result<(Self, Self), Error> {
        let Self { position, end, .. } = self;
        if middle < position || middle > end {
            return Err(Error::Position { position: middle, end });
        }
        let staged = match &self.staged {
            None => {
                self.stream.check_boundary(position)?;
                self.stream.check_boundary(middle)?;
                None
            }
            Some(staged) => Some(staged.split_at(position, middle)?),
        };
        let stream = self.stream.clone();
        let partials = self.partials.split_off(middle);
        // SAFETY: the two write different parts of the stream, and no byte is in two parts: none that is only
        // copied or reversed, and no value or record that is written as a whole, since `middle` is in none.
        let unpacker = unsafe { self.unpacker.twin() };
        let behind =
            Self { unpacker, stream, position: middle, start: middle, end, partials, staged };
        Ok((Self { end: middle, ..self }, behind))
    }

    /// Packed bytes from the position to the end.
    pub fn remaining(&self) -> u64 {
        self.end - self.position
    }

    /// Whether the position is at the end.
    pub fn is_complete(&self) -> bool {
        self.remaining() == 0
    }

    /// How many values there are of which some bytes have come, and not all: those that would stay as they are if
    /// nothing more came.
    pub fn incomplete(&self) -> usize {
        match &self.staged {
            None => self.partials.len(),
            Some(staged) => usize::from(staged.is_inside()),
        }
    }

    /// The 64-bit hash of the type signature of all instances together, as [`Unpacker::signature_hash`]: it does
    /// not depend on the representation.
    pub fn signature_hash(&self) -> u64 {
        self.unpacker.signature_hash()
    }
}

#[cfg(feature = "std")]
impl std::io::Write for ForeignUnpacker<'_> {
    /// As [`unpack`](ForeignUnpacker::unpack); what is refused there is
    /// [`InvalidData`](std::io::ErrorKind::InvalidData) here, with the [`Error`] inside. At the end it accepts
    /// nothing.
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.unpack(buf)
            .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    }

    /// Nothing is kept back but what cannot be written.
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
