//! The sending side.

use core::marker::PhantomData;

use super::Stream;
use super::partial::Partials;
use crate::convertor::Packer;
use crate::error::Error;
use crate::kernel::Pack;
use crate::representation::Representation;

/// A [`Packer`] whose packed stream is in another [`Representation`]: the values are converted as they are copied.
/// It stops and goes on at any byte, also inside a value.
///
/// Positions are those of the converted stream, which may be longer or shorter than the native one.
///
/// ```
/// use dtype_runtime::{Packer, Representation};
/// let samples = [(1_u16, 2.0_f64), (3, 4.0)];
/// let mut packer = Packer::new(&samples).represented(Representation::BigEndian)?;
/// let mut bytes = [0; 5];
/// assert_eq!(packer.pack(&mut bytes)?, 5);
/// assert_eq!(bytes, [0, 1, 0x40, 0, 0]);
/// assert_eq!((packer.position(), packer.remaining()), (5, 15));
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ForeignPacker<'a> {
    stream: Stream,
    position: u64,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: as for `Packer`, which it is made from: it only reads the same data, for as long.
unsafe impl Send for ForeignPacker<'_> {}
// SAFETY: likewise.
unsafe impl Sync for ForeignPacker<'_> {}

impl<'a> Packer<'a> {
    /// The stream of all instances in another representation, from its start on, wherever this packer was.
    ///
    /// It takes time in proportion to the length of the type's description: for many streams of one committed type
    /// there is [`Committed::conversion`](crate::Committed::conversion).
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`]; [`Error::CountTooLarge`].
    #[doc(alias = "MPI_Pack_external")]
    pub fn represented(self, representation: Representation) -> Result<ForeignPacker<'a>, Error> {
        Stream::of(self.source(), representation).map(|stream| ForeignPacker::new(self, stream))
    }
}

impl<'a> ForeignPacker<'a> {
    /// The stream must be that of the packer's instances.
    pub(in crate::convertor) fn new(_packer: Packer<'a>, stream: Stream) -> Self {
        Self { stream, position: 0, memory: PhantomData }
    }

    /// Packs the next bytes, as many as `out` has room for and the stream has left, and returns how many
    /// that were. Zero means that there is nothing left, or no room.
    ///
    /// # Errors
    ///
    /// [`Error::IntegerRange`] and [`Error::FloatRange`] when a value among them has no room in the
    /// representation. Nothing is written then, and the position stays what it was.
    pub fn pack(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        // No more than the length of a slice.
        let bytes = usize::try_from(self.remaining()).map_or(out.len(), |left| left.min(out.len()));
        let range = self.position..self.position + bytes as u64;
        let end = range.end;
        // Only what is unpacked comes in part.
        let mut none = Partials::default();
        // SAFETY: the data are readable, by the promise that the packer was made with; `out` has room for as many
        // bytes, and is borrowed exclusively, so it does not overlap what nobody may write.
        unsafe {
            self.stream.convert::<Pack>(range, out.as_mut_ptr(), |whole| whole.pack, &mut none)?;
        }
        self.position = end;
        Ok(bytes)
    }

    /// Packed bytes before the next one.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes to another position, in a time that grows with the logarithm of the number of values that do not lie
    /// at equal distances.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] for one behind the end; the position stays what it was.
    pub fn set_position(&mut self, position: u64) -> Result<(), Error> {
        let end = self.stream.size;
        if position > end {
            return Err(Error::Position { position, end });
        }
        self.position = position;
        Ok(())
    }

    /// Packed bytes from the position to the end.
    pub fn remaining(&self) -> u64 {
        self.stream.size - self.position
    }

    /// Whether the position is at the end.
    pub fn is_complete(&self) -> bool {
        self.remaining() == 0
    }

    /// The 64-bit hash of the type signature of all instances together, as [`Packer::signature_hash`]: it does
    /// not depend on the representation.
    pub fn signature_hash(&self) -> u64 {
        self.stream.source.signature_hash()
    }
}

#[cfg(feature = "std")]
impl std::io::Read for ForeignPacker<'_> {
    /// As [`pack`](ForeignPacker::pack); a value that has no room is
    /// [`InvalidData`](std::io::ErrorKind::InvalidData), with the [`Error`] inside.
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        self.pack(buf).map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    }
}
