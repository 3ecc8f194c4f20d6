//! Memory that loads and stores do not reach: device memory, a file, another machine's memory.

use alloc::vec::Vec;
use core::ops::Range;

use super::packer::Packer;
use super::progress::Progress;
use super::records::Checks;
use super::sealed::{Described, Transfer};
use super::unpacker::Unpacker;
use crate::commit::Committed;
use crate::convertor::cursor::Instances;
use crate::convertor::iov::Iov;
use crate::convertor::stack::StackFrame;
use crate::error::Error;

/// Memory that the engine does not touch itself. Open MPI's `opal_convertor_t` has `cbmemcpy` and `stream` for
/// this purpose, with `CONVERTOR_CUDA`, `CONVERTOR_CUDA_ASYNC` and `CONVERTOR_CUDA_UNIFIED`.
///
/// A packer and an unpacker [`Through`] a backend keep the position and check the instances against the memory's size; the
/// backend packs and unpacks one [`Fragment`] with each call. The fragment has the committed type and the range of packed bytes, so the
/// backend can launch a kernel that was made for the type, as the crate `dtype-gpu` does, or copy the fragment's
/// [blocks](Fragment::blocks) one by one. The backend manages addresses, contexts and streams.
///
/// Memory that the CPU also reaches (`CONVERTOR_CUDA_UNIFIED`) needs no backend if it can be borrowed as a slice.
///
/// The trait is safe to implement: no `unsafe` code of the engine relies on a backend. Nor may `unsafe` code of a backend rely
/// on a fragment, because [`backend_mut`](Packer::backend_mut) can replace the memory after the instances were checked.
/// Such code must check them again with [`Committed::check_span`], which takes constant time.
///
/// ```
/// use dtype_runtime::convertor::{Backend, Fragment};
/// use dtype_runtime::{Basic, Type};
///
/// /// Stands for a device, whose driver copies between host memory and `memory`.
/// struct Device {
///     memory: Vec<u8>,
/// }
///
/// impl Backend for Device {
///     type Error = String;
///
///     fn size(&self) -> u64 {
///         self.memory.len() as u64
///     }
///
///     fn read(&mut self, fragment: &Fragment<'_>, packed: &mut [u8]) -> Result<(), String> {
///         for (at, place) in fragment.blocks() {
///             let block = &self.memory[at as usize..][..place.len()];
///             packed[place].copy_from_slice(block);
///         }
///         Ok(()) // A device would be waited for here.
///     }
///
///     fn write(&mut self, fragment: &Fragment<'_>, packed: &[u8]) -> Result<(), String> {
///         for (at, place) in fragment.blocks() {
///             let block = &mut self.memory[at as usize..][..place.len()];
///             block.copy_from_slice(&packed[place]);
///         }
///         Ok(())
///     }
/// }
///
/// // The left column of a 3 × 4 matrix of bytes.
/// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?.commit();
/// let device = Device { memory: b"abcdefghijkl".to_vec() };
/// let mut packer = column.packer_with(device, 0, 1)?;
/// let mut out = [0; 3];
/// assert_eq!(packer.pack(&mut out)?, 3);
/// assert_eq!(&out, b"aei");
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

    /// The size of the memory in bytes. It is called once for each packer and unpacker; both refuse instances that reach
    /// outside the memory.
    fn size(&self) -> u64;

    /// Packs a fragment: writes each byte of `packed`, whose length is [`Fragment::len`], at least 1, and whose previous
    /// contents are unspecified. When the call returns, all of these bytes are written.
    ///
    /// # Errors
    ///
    /// The errors of the copies. The position is then unchanged, and the contents of `packed` are unspecified.
    fn read(&mut self, fragment: &Fragment<'_>, packed: &mut [u8]) -> Result<(), Self::Error>;

    /// Unpacks a fragment: the mirror image of [`read`](Self::read). No two blocks have a byte in common; bytes of the
    /// memory that are in no block must not be changed. `packed` is lent for the call. The memory may be written later,
    /// until [`flush`](Self::flush) returns.
    ///
    /// # Errors
    ///
    /// The errors of the copies. The position is then unchanged; the same fragment may be written again, so it does no harm if
    /// some of its copies were made.
    fn write(&mut self, fragment: &Fragment<'_>, packed: &[u8]) -> Result<(), Self::Error>;

    /// Returns when everything that was written is in the memory.
    ///
    /// # Errors
    ///
    /// The errors of copies that have not been reported yet.
    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl<B: Backend + ?Sized> Backend for &mut B {
    type Error = B::Error;

    fn size(&self) -> u64 {
        (**self).size()
    }

    fn read(&mut self, fragment: &Fragment<'_>, packed: &mut [u8]) -> Result<(), B::Error> {
        (**self).read(fragment, packed)
    }

    fn write(&mut self, fragment: &Fragment<'_>, packed: &[u8]) -> Result<(), B::Error> {
        (**self).write(fragment, packed)
    }

    fn flush(&mut self) -> Result<(), B::Error> {
        (**self).flush()
    }
}

/// A range of the packed stream of instances in the memory of a [`Backend`]. When the stream was made, the instances lay in the
/// backend's memory.
#[derive(Clone, Debug)]
pub struct Fragment<'a> {
    instances: &'a BackendInstances,
    range: Range<u64>,
}

impl<'a> Fragment<'a> {
    /// The type of the instances. Clones of a committed type share their [plan](Committed::plan), so a backend that caches
    /// something for a type, together with a clone of the type, recognizes the type by its plan's address.
    pub fn committed(&self) -> &'a Committed {
        &self.instances.committed
    }

    /// The offset of displacement 0 of the first instance, in bytes from the start of the memory. It may lie outside the
    /// memory, at most 2⁶⁵ bytes away.
    pub fn origin(&self) -> i128 {
        self.instances.origin
    }

    /// The number of instances in the whole stream.
    pub fn count(&self) -> usize {
        self.instances.count
    }

    /// The range of packed bytes, in the stream of all instances.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// The number of packed bytes.
    #[expect(clippy::cast_possible_truncation, reason = "no longer than a slice")]
    pub fn len(&self) -> usize {
        (self.range.end - self.range.start) as usize
    }

    /// Whether there are no packed bytes. A backend never gets such a fragment.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The blocks of the fragment, in packed order: for each the offset in the memory, in bytes, and its place in the fragment.
    /// Blocks that touch in memory and in the fragment are joined. The iterator finds each block when it is needed.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "modulo 2⁶⁴; bytes of a fragment"
    )]
    pub fn blocks(&self) -> impl Iterator<Item = (u64, Range<usize>)> + use<'a> {
        let BackendInstances { committed, origin, count } = self.instances;
        let instances = Instances::of_plan(committed.plan(), *count as u64);
        Iov::new(instances, self.range()).scan(0, move |next, segment| {
            let place = *next..*next + segment.len as usize;
            *next = place.end;
            Some(((*origin as u64).wrapping_add_signed(segment.disp), place))
        })
    }
}

/// The [`Mode`](super::Mode) of a stream of instances in the memory of a [`Backend`]. Made by [`Committed::packer_with`] and
/// [`Committed::unpacker_with`].
///
/// The memory consists of bytes, so any bytes are accepted. To fill one memory from several threads, give each thread its own
/// backend and unpacker.
#[derive(Clone, Debug)]
pub struct Through<B> {
    instances: BackendInstances,
    backend: B,
}

/// Instances in the memory of a backend.
#[derive(Clone, Debug)]
struct BackendInstances {
    committed: Committed,
    /// The offset of displacement 0 of the first instance in the memory.
    origin: i128,
    count: usize,
}

impl BackendInstances {
    /// Instances, and the packed bytes of all of them.
    fn new(
        committed: &Committed,
        memory: u64,
        origin: i128,
        count: usize,
    ) -> Result<(Self, u64), Error> {
        let (one, instances) = (committed.size(), count as u64);
        let size =
            one.checked_mul(instances).ok_or_else(|| Error::count_too_large(instances, one))?;
        // No memory contains data at larger offsets.
        let origin = origin.clamp(-(1 << 65), 1 << 65);
        committed.check_span(memory, origin, count)?;
        Ok((Self { committed: committed.clone(), origin, count }, size))
    }

    fn fragment(&self, range: Range<u64>) -> Fragment<'_> {
        Fragment { instances: self, range }
    }
}

impl<B: Backend> Transfer for Through<B> {
    type PackError = B::Error;
    type Error = B::Error;

    fn signature_hash(&self) -> u64 {
        let BackendInstances { committed, count, .. } = &self.instances;
        committed.fingerprint().repeated(*count as u64).hash()
    }

    unsafe fn pack(
        &mut self,
        range: Range<u64>,
        out: &mut [u8],
        _search_hint: &mut usize,
    ) -> Result<(), B::Error> {
        let fragment = self.instances.fragment(range);
        if fragment.is_empty() { Ok(()) } else { self.backend.read(&fragment, out) }
    }

    unsafe fn unpack(
        &mut self,
        _checks: &mut Option<Checks>,
        range: Range<u64>,
        bytes: &[u8],
        _search_hint: &mut usize,
    ) -> Result<(), B::Error> {
        let fragment = self.instances.fragment(range);
        if fragment.is_empty() { Ok(()) } else { self.backend.write(&fragment, bytes) }
    }

    fn flush(&mut self) -> Result<(), B::Error> {
        self.backend.flush()
    }
}

impl<B: Backend> Described for Through<B> {
    fn stack(&self, position: u64) -> Vec<StackFrame> {
        let BackendInstances { committed, count, .. } = &self.instances;
        let description = committed.description().at(committed.plan().extent());
        // The count and the position were checked earlier.
        description.stack(*count as u64, position).unwrap_or_default()
    }
}

impl<B: Backend> Packer<'_, Through<B>> {
    /// Calls the backend to pack up to `out.len()` bytes from the current position, and returns the number packed. At the end
    /// of the stream, or if `out` is empty, it returns 0 without calling the backend.
    ///
    /// # Errors
    ///
    /// The errors of the backend. The position is then unchanged.
    pub fn pack(&mut self, out: &mut [u8]) -> Result<usize, B::Error> {
        self.pack_next(out)
    }
}

/// The methods of both the packer and the unpacker.
macro_rules! through_a_backend {
    ($side:ident) => {
        impl<B> $side<'_, Through<B>> {
            /// The next bytes, at most `bytes` of them, without copying them: for packed bytes that are in device memory, too,
            /// and so are not a slice. `set_position` moves past them.
            pub fn fragment(&self, bytes: usize) -> Fragment<'_> {
                let (_, range) = self.progress.next(bytes);
                self.mode.instances.fragment(range)
            }

            /// The backend.
            pub fn backend(&self) -> &B {
                &self.mode.backend
            }

            /// Mutable access to the backend. The instances are not checked again against its size.
            pub fn backend_mut(&mut self) -> &mut B {
                &mut self.mode.backend
            }

            /// Returns the backend.
            pub fn into_backend(self) -> B {
                self.mode.backend
            }
        }
    };
}

through_a_backend!(Packer);
through_a_backend!(Unpacker);

impl Committed {
    /// A packer of `count` instances in the memory of a backend. Displacement 0 of the first instance is `origin` bytes into
    /// the memory. As in a [`Buffer`](crate::Buffer), the origin may lie outside the memory; it has 128 bits, because the
    /// memory may have 2⁶⁴ bytes.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::OutOfBounds`] if the data reach outside the memory.
    pub fn packer_with<B: Backend>(
        &self,
        backend: B,
        origin: i128,
        count: usize,
    ) -> Result<Packer<'static, Through<B>>, Error> {
        let (instances, size) = BackendInstances::new(self, backend.size(), origin, count)?;
        // SAFETY: the instances have no address; the backend accesses them by safe code.
        Ok(unsafe { Packer::from_mode(Through { instances, backend }, size) })
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
    ) -> Result<Unpacker<'static, Through<B>>, Error> {
        let (instances, size) = BackendInstances::new(self, backend.size(), origin, count)?;
        self.check_overlap(count)?;
        let mode = Through { instances, backend };
        // SAFETY: the instances have no address; the backend accesses them by safe code.
        Ok(unsafe { Unpacker::from_mode(mode, Progress::new(size), None) })
    }
}
