//! Memory that is reached by other means than loads and stores: device memory, a file, another machine's memory.

use alloc::vec::Vec;
use core::ops::Range;

use super::cursor::Instances;
use super::progress::Progress;
use super::stack::StackFrame;
use super::stream::{PackStream, UnpackStream, stream};
use super::strided::StridedCopies;
use crate::commit::Committed;
use crate::error::Error;

/// Memory that the engine does not touch itself. Open MPI's `opal_convertor_t` has `cbmemcpy` and `stream` for
/// this purpose, with `CONVERTOR_CUDA`, `CONVERTOR_CUDA_ASYNC` and `CONVERTOR_CUDA_UNIFIED`.
///
/// [`BackendPacker`] and [`BackendUnpacker`] compute what has to be copied and leave the copying to the backend,
/// with one call for each fragment. The call passes all [strided copies](super::StridedCopy) of the fragment, so a
/// backend can queue them on its stream one by one, and wait once, at the end. Addresses, contexts and streams are
/// up to the backend: offsets are in bytes from the first byte of the memory, and all copies lie in the memory.
///
/// Memory that the CPU reaches as well (`CONVERTOR_CUDA_UNIFIED`) does not need a backend if it can be lent as a
/// slice.
///
/// ```
/// use dtype_runtime::convertor::{Backend, StridedCopy, StridedCopies};
/// use dtype_runtime::{Basic, Type};
///
/// /// Stands for a device, and `run` for its driver's two-dimensional copy.
/// struct Device {
///     memory: Vec<u8>,
///     copies: usize,
/// }
///
/// impl Device {
///     fn run(&mut self, copy: StridedCopy, mut each: impl FnMut(&mut [u8], std::ops::Range<usize>)) {
///         self.copies += 1;
///         for (memory, fragment) in copy.blocks() {
///             let block = &mut self.memory[memory as usize..][..copy.len];
///             each(block, fragment..fragment + copy.len);
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
///     fn read(&mut self, copies: &StridedCopies<'_>, fragment: &mut [u8]) -> Result<(), String> {
///         copies.for_each(|copy| {
///             self.run(copy, |block, at| fragment[at].copy_from_slice(block));
///         });
///         Ok(()) // A device would be waited for here.
///     }
///
///     fn write(&mut self, copies: &StridedCopies<'_>, fragment: &[u8]) -> Result<(), String> {
///         copies.for_each(|copy| {
///             self.run(copy, |block, at| block.copy_from_slice(&fragment[at]));
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
    /// The error of a copy.
    type Error;

    /// The size of the memory in bytes. It is called once for each packer and unpacker, which refuse instances
    /// that reach outside.
    fn size(&self) -> u64;

    /// Executes copies from the memory to a fragment. They write each byte of the fragment exactly once; its
    /// previous contents are unspecified.
    ///
    /// The fragment is lent for the call, so all queued copies must be done when the call returns, even with an
    /// error.
    ///
    /// # Errors
    ///
    /// The errors of the copies. The position is then unchanged, and the contents of the fragment are unspecified.
    fn read(&mut self, copies: &StridedCopies<'_>, fragment: &mut [u8]) -> Result<(), Self::Error>;

    /// Executes copies from a fragment to the memory: the mirror image of [`read`](Self::read). No two copies
    /// write the same byte of the memory; bytes that are in no copy must not be changed.
    ///
    /// # Errors
    ///
    /// The errors of the copies. The position is then unchanged; the same fragment may be sent again, so it does
    /// no harm if some copies have been executed.
    fn write(&mut self, copies: &StridedCopies<'_>, fragment: &[u8]) -> Result<(), Self::Error>;
}

impl<B: Backend + ?Sized> Backend for &mut B {
    type Error = B::Error;

    fn size(&self) -> u64 {
        (**self).size()
    }

    fn read(&mut self, copies: &StridedCopies<'_>, fragment: &mut [u8]) -> Result<(), B::Error> {
        (**self).read(copies, fragment)
    }

    fn write(&mut self, copies: &StridedCopies<'_>, fragment: &[u8]) -> Result<(), B::Error> {
        (**self).write(copies, fragment)
    }
}

/// The packed stream of instances in the memory of a [`Backend`], to be read in fragments of any size, from any
/// position: what [`Packer`](super::Packer) is for memory that can be borrowed.
///
/// Made by [`Committed::packer_with`].
#[derive(Clone, Debug)]
pub struct BackendPacker<B> {
    instances: BackendInstances,
    progress: Progress,
    backend: B,
}

/// The packed stream of instances in the memory of a [`Backend`], to be written in fragments of any size, at any
/// position: what [`Unpacker`](super::Unpacker) is for memory that can be borrowed. The memory consists of bytes,
/// so any bytes are accepted. To fill one memory from several threads, give each thread its own backend and
/// unpacker.
///
/// Made by [`Committed::unpacker_with`].
#[derive(Debug)]
pub struct BackendUnpacker<B> {
    instances: BackendInstances,
    progress: Progress,
    backend: B,
}

/// Instances in the memory of a backend.
#[derive(Clone, Debug)]
struct BackendInstances {
    committed: Committed,
    /// The offset of displacement 0 of the first instance in the memory, modulo 2⁶⁴.
    origin: u64,
    count: u64,
}

impl BackendInstances {
    /// With the progress at the start of their stream.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "modulo 2⁶⁴")]
    fn new(
        committed: &Committed,
        memory: u64,
        origin: i128,
        count: usize,
    ) -> Result<(Self, Progress), Error> {
        let (one, instances) = (committed.size(), count as u64);
        let size =
            one.checked_mul(instances).ok_or_else(|| Error::count_too_large(instances, one))?;
        // No memory contains data at larger offsets.
        let origin = origin.clamp(-(1 << 65), 1 << 65);
        committed.check_span(memory, origin, count)?;
        let (committed, origin) = (committed.clone(), origin as u64);
        Ok((Self { committed, origin, count: instances }, Progress::new(size)))
    }

    fn copies(&self, range: Range<u64>) -> StridedCopies<'_> {
        let instances = Instances::of_plan(self.committed.plan(), self.count);
        StridedCopies::new(instances, range, self.origin)
    }
}

impl<B: Backend> BackendPacker<B> {
    /// Asks the backend to pack up to `out.len()` bytes from the current position, and returns the number packed.
    /// Returns 0 at the end of the stream or if `out` is empty; the backend is not called then.
    ///
    /// # Errors
    ///
    /// The errors of the backend. The position is then unchanged.
    pub fn pack(&mut self, out: &mut [u8]) -> Result<usize, B::Error> {
        let (bytes, range) = self.progress.next(out.len());
        if bytes > 0 {
            self.backend.read(&self.instances.copies(range), &mut out[..bytes])?;
        }
        self.progress.advance(bytes);
        Ok(bytes)
    }
}

impl<B: Backend> PackStream for BackendPacker<B> {
    fn pack(&mut self, out: &mut [u8]) -> Result<usize, B::Error> {
        self.pack(out)
    }
}

impl<B: Backend> BackendUnpacker<B> {
    /// Asks the backend to unpack up to `bytes.len()` bytes at the current position, and returns the number
    /// unpacked. Returns 0 at the end of the stream or if `bytes` is empty; the backend is not called then.
    ///
    /// # Errors
    ///
    /// The errors of the backend. The position is then unchanged; some of the bytes may have been written.
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<usize, B::Error> {
        let (number, range) = self.progress.next(bytes.len());
        if number > 0 {
            self.backend.write(&self.instances.copies(range), &bytes[..number])?;
        }
        self.progress.advance(number);
        Ok(number)
    }
}

impl<B: Backend> UnpackStream for BackendUnpacker<B> {
    fn unpack(&mut self, bytes: &[u8]) -> Result<usize, B::Error> {
        self.unpack(bytes)
    }
}

/// The methods that both sides have.
macro_rules! through_a_backend {
    ($side:ident) => {
        stream! { impl[B: Backend] $side<B>, error = B::Error, hash = Self::hash; }

        impl<B> $side<B> {
            /// The copies of the next bytes, at most `bytes` of them: for a fragment that is not a slice because
            /// it is in device memory, too. `set_position` moves past them.
            pub fn copies(&self, bytes: usize) -> StridedCopies<'_> {
                let (_, range) = self.progress.next(bytes);
                self.instances.copies(range)
            }

            /// The stack of the convertor at the position, over the type's description, as
            /// [`Packer::stack`](super::Packer::stack).
            pub fn stack(&self) -> Vec<StackFrame> {
                let BackendInstances { committed, count, .. } = &self.instances;
                let description = committed.description().at(committed.plan().extent());
                // The count and the position were checked before.
                description.stack(*count, self.progress.position()).unwrap_or_default()
            }

            /// The backend.
            pub fn backend(&self) -> &B {
                &self.backend
            }

            /// The backend, to be changed. Instances are not checked again against its size.
            pub fn backend_mut(&mut self) -> &mut B {
                &mut self.backend
            }

            /// Returns the backend.
            pub fn into_backend(self) -> B {
                self.backend
            }

            fn hash(&self) -> u64 {
                self.instances.committed.fingerprint().repeated(self.instances.count).hash()
            }
        }
    };
}

through_a_backend!(BackendPacker);
through_a_backend!(BackendUnpacker);

impl Committed {
    /// A packer of `count` instances in the memory of a backend. Displacement 0 of the first instance is `origin`
    /// bytes into the memory. As in a [`Buffer`](super::Buffer), the origin may lie outside; it has 128 bits,
    /// because the memory may have 2⁶⁴ bytes.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] if the data reach outside the memory.
    pub fn packer_with<B: Backend>(
        &self,
        backend: B,
        origin: i128,
        count: usize,
    ) -> Result<BackendPacker<B>, Error> {
        let (instances, progress) = BackendInstances::new(self, backend.size(), origin, count)?;
        Ok(BackendPacker { instances, progress, backend })
    }

    /// An unpacker of `count` instances in the memory of a backend, with the arguments of
    /// [`packer_with`](Self::packer_with).
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] if the data reach outside the memory;
    /// [`Error::Overlap`] if they name a byte more than once.
    pub fn unpacker_with<B: Backend>(
        &self,
        backend: B,
        origin: i128,
        count: usize,
    ) -> Result<BackendUnpacker<B>, Error> {
        let (instances, progress) = BackendInstances::new(self, backend.size(), origin, count)?;
        self.check_overlap(count)?;
        Ok(BackendUnpacker { instances, progress, backend })
    }
}
