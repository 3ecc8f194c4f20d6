//! Memory that is reached by other means than loads and stores: a device's, a file's, another machine's.

use core::ops::Range;

use super::cursor::Instances;
use super::pieces::Pieces;
use crate::commit::Committed;
use crate::error::Error;

/// A memory that the engine does not touch itself: what seed `opal_convertor_t` has `cbmemcpy` and `stream` for,
/// with `CONVERTOR_CUDA`, `CONVERTOR_CUDA_ASYNC` and `CONVERTOR_CUDA_UNIFIED`.
///
/// [`BackendPacker`] and [`BackendUnpacker`] work out what is to be copied and leave the copying to the backend,
/// one call for each fragment. The call has all of the fragment's pieces, so that a backend can queue them on its
/// stream as they come, each a strided copy with the distances of [`Piece`](super::Piece), and wait once, at
/// the end. What addresses, contexts and streams the memory takes is the backend's own affair: pieces are counted
/// in bytes from the first one of the memory, and all of them lie in it.
///
/// Memory that the CPU reaches as well, `CONVERTOR_CUDA_UNIFIED`, needs none of this where it can be lent as a
/// slice.
///
/// ```
/// use dtype_runtime::convertor::{Backend, Piece, Pieces};
/// use dtype_runtime::{Basic, Type};
///
/// /// Stands for a device: `copy` for its driver's two-dimensional copy.
/// struct Device {
///     memory: Vec<u8>,
///     copies: usize,
/// }
///
/// impl Device {
///     fn copy(&mut self, piece: Piece, mut copy: impl FnMut(&mut [u8], std::ops::Range<usize>)) {
///         self.copies += 1;
///         for (offset, place) in piece.blocks() {
///             let block = &mut self.memory[offset as usize..][..piece.len];
///             copy(block, place..place + piece.len);
///         }
///     }
/// }
///
/// impl Backend for Device {
///     type Error = String;
///
///     fn size(&self) -> u64 {
///         self.memory.len() as u64
///     }
///
///     fn read(&mut self, pieces: &Pieces<'_>, fragment: &mut [u8]) -> Result<(), String> {
///         pieces.for_each(|piece| {
///             self.copy(piece, |block, at| fragment[at].copy_from_slice(block));
///         });
///         Ok(()) // A device would be waited for here.
///     }
///
///     fn write(&mut self, pieces: &Pieces<'_>, fragment: &[u8]) -> Result<(), String> {
///         pieces.for_each(|piece| {
///             self.copy(piece, |block, at| block.copy_from_slice(&fragment[at]));
///         });
///         Ok(())
///     }
/// }
///
/// // The left column of a 3 × 4 matrix of bytes.
/// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
/// let device = Device { memory: b"abcdefghijkl".to_vec(), copies: 0 };
/// let mut packer = column.packer_with(device, 0, 1)?;
/// let mut out = [0; 3];
/// assert_eq!(packer.pack(&mut out)?, 3);
/// assert_eq!(&out, b"aei");
/// assert_eq!(packer.backend().copies, 1);
///
/// let mut unpacker = column.unpacker_with(packer.into_backend(), 1, 1)?;
/// unpacker.unpack(b"xyz")?;
/// assert_eq!(unpacker.backend().memory, b"axcdeyghizkl");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "cbmemcpy")]
#[doc(alias = "CONVERTOR_CUDA")]
pub trait Backend {
    /// What can go wrong with a copy.
    type Error;

    /// Bytes of the memory. It is asked once for each packer and unpacker, which refuse instances that reach
    /// outside.
    fn size(&self) -> u64;

    /// Copies pieces of the memory to their places in a fragment. The places are all of its bytes, each once, and
    /// what it holds before is of no meaning.
    ///
    /// The fragment is lent for the call, so whatever was queued has to be done when it returns, with an error,
    /// too.
    ///
    /// # Errors
    ///
    /// Those of the copies. The position stays what it was then, and what the fragment holds is of no meaning.
    fn read(&mut self, pieces: &Pieces<'_>, fragment: &mut [u8]) -> Result<(), Self::Error>;

    /// Copies a fragment to its pieces in the memory: the mirror image of [`read`](Self::read). No byte of the
    /// memory is in two pieces, and those that are in none belong to others.
    ///
    /// # Errors
    ///
    /// Those of the copies. The position stays what it was then; the same fragment may be sent again, so it does
    /// no harm if some pieces have been written.
    fn write(&mut self, pieces: &Pieces<'_>, fragment: &[u8]) -> Result<(), Self::Error>;
}

impl<B: Backend + ?Sized> Backend for &mut B {
    type Error = B::Error;

    fn size(&self) -> u64 {
        (**self).size()
    }

    fn read(&mut self, pieces: &Pieces<'_>, fragment: &mut [u8]) -> Result<(), B::Error> {
        (**self).read(pieces, fragment)
    }

    fn write(&mut self, pieces: &Pieces<'_>, fragment: &[u8]) -> Result<(), B::Error> {
        (**self).write(pieces, fragment)
    }
}

/// The packed stream of instances in the memory of a [`Backend`], to be read in fragments of any size, from any
/// position on: what [`Packer`](super::Packer) is for memory that can be borrowed.
///
/// Made by [`Committed::packer_with`].
#[derive(Clone, Debug)]
pub struct BackendPacker<B> {
    stream: Stream,
    backend: B,
}

/// The packed stream of instances in the memory of a [`Backend`], to be written in fragments of any size, at any
/// position: what [`Unpacker`](super::Unpacker) is for memory that can be borrowed. The memory consists of bytes,
/// so any are accepted.
///
/// Made by [`Committed::unpacker_with`].
#[derive(Debug)]
pub struct BackendUnpacker<B> {
    stream: Stream,
    backend: B,
}

/// What both sides know of the stream.
#[derive(Clone, Debug)]
struct Stream {
    committed: Committed,
    /// Where displacement 0 of the first instance is in the memory.
    origin: u64,
    count: u64,
    /// Packed bytes of all instances.
    size: u64,
    position: u64,
}

impl Stream {
    fn new(committed: &Committed, memory: u64, origin: u64, count: usize) -> Result<Self, Error> {
        let (one, instances) = (committed.size(), count as u64);
        let size = one
            .checked_mul(instances)
            .ok_or(Error::CountTooLarge { count: instances, size: one })?;
        committed.check_span(memory, origin, count)?;
        Ok(Self { committed: committed.clone(), origin, count: instances, size, position: 0 })
    }

    /// The next packed bytes, so many or as many as there are.
    fn next(&self, bytes: usize) -> Range<u64> {
        let rest = self.size - self.position;
        self.position..self.position + rest.min(bytes as u64)
    }

    fn pieces(&self, range: Range<u64>) -> Pieces<'_> {
        Pieces::new(Instances::of_plan(self.committed.plan(), self.count), range, self.origin)
    }

    fn set_position(&mut self, position: u64) -> Result<(), Error> {
        let end = self.size;
        if position > end {
            return Err(Error::Position { position, end });
        }
        self.position = position;
        Ok(())
    }

    fn signature_hash(&self) -> u64 {
        self.committed.fingerprint().repeated(self.count).hash()
    }
}

impl<B: Backend> BackendPacker<B> {
    /// Has the next bytes packed, as many as `out` has room for and the stream has left, and returns how many
    /// that were. Zero means that there is nothing left, or no room; the backend is not asked then.
    ///
    /// # Errors
    ///
    /// Those of the backend. The position stays what it was.
    pub fn pack(&mut self, out: &mut [u8]) -> Result<usize, B::Error> {
        let range = self.stream.next(out.len());
        let pieces = self.stream.pieces(range.clone());
        let bytes = pieces.bytes();
        if bytes > 0 {
            self.backend.read(&pieces, &mut out[..bytes])?;
        }
        self.stream.position = range.end;
        Ok(bytes)
    }
}

impl<B: Backend> BackendUnpacker<B> {
    /// Has bytes unpacked at the position, as many as there are and the stream has room for, and returns how many
    /// that were. The backend is not asked where that is none.
    ///
    /// # Errors
    ///
    /// Those of the backend. The position stays what it was; some of the bytes may have been written.
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<usize, B::Error> {
        let range = self.stream.next(bytes.len());
        let pieces = self.stream.pieces(range.clone());
        let number = pieces.bytes();
        if number > 0 {
            self.backend.write(&pieces, &bytes[..number])?;
        }
        self.stream.position = range.end;
        Ok(number)
    }
}

/// What both sides have.
macro_rules! stream {
    ($side:ident) => {
        impl<B> $side<B> {
            /// The pieces of the next bytes, so many or as many as the stream has left: for a fragment that is no
            /// slice, because it is in a device's memory, too. [`set_position`](Self::set_position) goes on
            /// behind them.
            pub fn pieces(&self, bytes: usize) -> Pieces<'_> {
                self.stream.pieces(self.stream.next(bytes))
            }

            /// Packed bytes before the next one.
            #[doc(alias = "bConverted")]
            pub fn position(&self) -> u64 {
                self.stream.position
            }

            /// Goes to another position, in bytes from the start of the stream.
            ///
            /// # Errors
            ///
            /// [`Error::Position`] for one behind the end; the position stays what it was.
            pub fn set_position(&mut self, position: u64) -> Result<(), Error> {
                self.stream.set_position(position)
            }

            /// Packed bytes from the position to the end.
            pub fn remaining(&self) -> u64 {
                self.stream.size - self.stream.position
            }

            /// Whether the position is at the end.
            #[doc(alias = "CONVERTOR_COMPLETED")]
            pub fn is_complete(&self) -> bool {
                self.remaining() == 0
            }

            /// The 64-bit hash of the type signature of all instances together: that of `contiguous(count, type)`.
            pub fn signature_hash(&self) -> u64 {
                self.stream.signature_hash()
            }

            /// The backend.
            pub fn backend(&self) -> &B {
                &self.backend
            }

            /// The backend, to be changed. Instances are not checked again against its size.
            pub fn backend_mut(&mut self) -> &mut B {
                &mut self.backend
            }

            /// Gives the backend back.
            pub fn into_backend(self) -> B {
                self.backend
            }
        }
    };
}

stream!(BackendPacker);
stream!(BackendUnpacker);

impl Committed {
    /// A packer of `count` instances in the memory of a backend, displacement 0 of the first one being `origin`
    /// bytes into it, as for [`packer`](Self::packer).
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] when the data reach outside the memory.
    pub fn packer_with<B: Backend>(
        &self,
        backend: B,
        origin: u64,
        count: usize,
    ) -> Result<BackendPacker<B>, Error> {
        let stream = Stream::new(self, backend.size(), origin, count)?;
        Ok(BackendPacker { stream, backend })
    }

    /// An unpacker of `count` instances in the memory of a backend, with the arguments of
    /// [`packer_with`](Self::packer_with).
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] when the data reach outside the memory;
    /// [`Error::Overlap`] when they name a byte more than once.
    pub fn unpacker_with<B: Backend>(
        &self,
        backend: B,
        origin: u64,
        count: usize,
    ) -> Result<BackendUnpacker<B>, Error> {
        let stream = Stream::new(self, backend.size(), origin, count)?;
        self.check_overlap(count)?;
        Ok(BackendUnpacker { stream, backend })
    }
}
