//! The packer of a stream in another representation.

use core::marker::PhantomData;

use super::ConvertedStream;
use super::partial::Partials;
use crate::convertor::Packer;
use crate::convertor::progress::Progress;
use crate::convertor::stream::{PackStream, stream};
use crate::error::Error;
use crate::kernel::Pack;
use crate::representation::Representation;

/// A [`Packer`] whose packed stream is in another [`Representation`]: it converts values while copying them. It stops and
/// resumes at any byte, even inside a value.
///
/// Positions are positions in the converted stream, which may be longer or shorter than the native one. There is
/// no `stack` method, because the stack counts bytes in memory, and no [`chunk`](Packer::chunk), because the
/// converted bytes are not in memory.
///
/// ```
/// use dtype_runtime::{Packer, Representation};
/// let samples = [(1_u16, 2.0_f64), (3, 4.0)];
/// let mut packer = Packer::new(&samples).with_representation(Representation::BigEndian)?;
/// let mut bytes = [0; 5];
/// assert_eq!(packer.pack(&mut bytes)?, 5);
/// assert_eq!(bytes, [0, 1, 0x40, 0, 0]);
/// assert_eq!((packer.position(), packer.remaining()), (5, 15));
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConvertingPacker<'a> {
    stream: ConvertedStream,
    progress: Progress,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: as for `Packer`: a converting packer only reads the data of the packer that it was made from, for the same lifetime.
unsafe impl Send for ConvertingPacker<'_> {}
// SAFETY: as above.
unsafe impl Sync for ConvertingPacker<'_> {}

impl<'a> Packer<'a> {
    /// The stream of all instances in another representation. It starts at position 0, whatever the position of
    /// this packer.
    ///
    /// This takes time linear in the length of the type's description. For many streams of one committed type, use
    /// [`Committed::conversion`](crate::Committed::conversion).
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`]; [`Error::CountTooLarge`].
    #[doc(alias = "MPI_Pack_external")]
    pub fn with_representation(
        self,
        representation: Representation,
    ) -> Result<ConvertingPacker<'a>, Error> {
        let stream = ConvertedStream::with_representation(self.source(), representation)?;
        Ok(ConvertingPacker::new(self, stream))
    }
}

impl<'a> ConvertingPacker<'a> {
    /// `stream` must be made for the packer's instances.
    pub(in crate::convertor) fn new(_packer: Packer<'a>, stream: ConvertedStream) -> Self {
        let progress = Progress::new(stream.size);
        Self { stream, progress, memory: PhantomData }
    }

    /// Packs up to `out.len()` bytes from the current position and returns the number packed. Returns 0 at the end of
    /// the stream or if `out` is empty.
    ///
    /// # Errors
    ///
    /// [`Error::IntegerRange`] and [`Error::FloatRange`] if a value does not fit its format in the representation. Nothing is
    /// written then, and the position is unchanged.
    pub fn pack(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        let (bytes, range) = self.progress.next(out.len());
        // Partial values occur only when unpacking.
        let mut none = Partials::default();
        // SAFETY: the data are readable, by the promise that the packer was made with; `out` has room for that
        // number of bytes, and is borrowed exclusively, so it does not overlap data that must not be written.
        unsafe {
            self.stream.convert::<Pack>(range, out.as_mut_ptr(), &mut none)?;
        }
        self.progress.advance(bytes);
        Ok(bytes)
    }

    fn hash(&self) -> u64 {
        self.stream.source.signature_hash()
    }
}

stream! { impl[] ConvertingPacker<'_>, error = Error, hash = Self::hash; }

impl PackStream for ConvertingPacker<'_> {
    fn pack(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        self.pack(out)
    }
}
