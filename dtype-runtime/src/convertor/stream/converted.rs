//! Streams in another representation.

use alloc::sync::Arc;
use core::ops::Range;

use super::packer::Packer;
use super::progress::Progress;
use super::records::Checks;
use super::sealed::{Shared, Transfer};
use super::unpacker::Unpacker;
use crate::commit::{Converting, How};
use crate::convertor::converting::{self, Partials, RecordConversion, convert};
use crate::convertor::native::Native;
use crate::error::Error;
use crate::kernel::{Pack, Unpack, Way};
use crate::representation::Representation;

/// The [`Mode`](super::Mode) of a stream in another [`Representation`]: values are converted while they are copied. The stream
/// stops and resumes at any byte, even inside a value.
///
/// Positions are positions in the converted stream, which may be longer or shorter than the native one. A value whose width
/// changes is written when all of its bytes have arrived; bytes of other values are written at once. Values of a Rust type that
/// must be checked are written record by record. There is no `stack`, which counts bytes in memory, and neither
/// [`chunk`](Packer::chunk) nor `buf_mut`, because the bytes of the stream are not the bytes in memory.
///
/// ```
/// use dtype_runtime::{Packer, Representation, Unpacker};
/// let samples = [(1_u16, 2.0_f64), (3, 4.0)];
/// let mut packer = Packer::new(&samples).with_representation(Representation::BigEndian)?;
/// let mut bytes = [0; 5];
/// assert_eq!(packer.pack(&mut bytes)?, 5);
/// assert_eq!(bytes, [0, 1, 0x40, 0, 0]);
/// assert_eq!((packer.position(), packer.remaining()), (5, 15));
///
/// let mut copy = [(0_u16, 0.0_f64); 1];
/// let mut unpacker = Unpacker::new(&mut copy).with_representation(Representation::BigEndian)?;
/// for fragment in [&bytes[..3], &[0; 7]] {
///     unpacker.unpack(fragment)?;
/// }
/// assert_eq!(copy, [(1, 2.0)]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Converted {
    native: Native,
    converting: Arc<Converting>,
    /// Values of which only a part has arrived; of a packer, there are none.
    partials: Partials,
}

impl Native {
    /// The conversion of the instances between memory and the stream of a representation.
    fn converting(&self, representation: Representation) -> Result<Converting, Error> {
        Converting::of(&self.ty(), self.stride(), representation.architecture())
    }
}

impl Converted {
    /// Converts the instances by a plan that was made for their type. Returns the number of packed bytes, too.
    fn new(native: Native, converting: Arc<Converting>) -> Result<(Self, u64), Error> {
        let (count, one) = (native.count(), converting.size);
        let size = one.checked_mul(count).ok_or_else(|| Error::count_too_large(count, one))?;
        Ok((Self { native, converting, partials: Partials::default() }, size))
    }
}

/// Converts a range of the stream.
///
/// # Safety
///
/// `converting` must be made for the type of the instances. The values that the range names must be valid for `D`, and so must
/// `packed` for the length of the range; the two must not overlap. If `D` reads memory, all data of the instances must be
/// readable; if it writes memory, they must not overlap.
unsafe fn transfer<D: Way>(
    native: &Native,
    converting: &Converting,
    range: Range<u64>,
    packed: *mut u8,
    partials: &mut Partials,
) -> Result<(), Error> {
    // SAFETY: the caller guarantees the values of the range and `packed`. If nothing is converted, the range is the same in the
    // native stream.
    unsafe {
        if let How::Same = converting.how {
            native.copy::<D>(range, packed, &mut 0);
            return Ok(());
        }
        let (instances, memory) = (native.instances(), native.origin());
        convert::<D>(converting, &instances, range, memory, packed, partials)
    }
}

impl Transfer for Converted {
    type PackError = Error;
    type Error = Error;

    fn signature_hash(&self) -> u64 {
        self.native.signature_hash()
    }

    unsafe fn pack(
        &mut self,
        range: Range<u64>,
        out: &mut [u8],
        _search_hint: &mut usize,
    ) -> Result<(), Error> {
        let Self { native, converting, partials } = self;
        // SAFETY: the caller guarantees the range and that the data are readable. `out` is as long as the range, and borrowed
        // exclusively, so it does not overlap data that must not be written.
        unsafe { transfer::<Pack>(native, converting, range, out.as_mut_ptr(), partials) }
    }

    unsafe fn unpack(
        &mut self,
        checks: &mut Option<Checks>,
        range: Range<u64>,
        bytes: &[u8],
        search_hint: &mut usize,
    ) -> Result<(), Error> {
        let Self { native, converting, partials } = self;
        // SAFETY: the caller guarantees the range, and that the data are writable and do not overlap; without checks, any bytes
        // may be written. `bytes` is as long as the range and only read, so it does not overlap the data, which nothing else
        // accesses.
        unsafe {
            if let Some(checks) = checks {
                return checks.unpack(native, range.start, bytes, search_hint);
            }
            let packed = bytes.as_ptr().cast_mut();
            transfer::<Unpack>(native, converting, range, packed, partials)
        }
    }
}

impl Shared for Converted {
    fn native(&self) -> &Native {
        &self.native
    }

    fn check_boundary(&self, position: u64) -> Result<(), Error> {
        converting::check_boundary(&self.converting, self.native.count(), position)
    }

    fn split_off(&mut self, middle: u64) -> Self {
        let partials = self.partials.split_off(middle);
        Self { native: self.native.clone(), converting: self.converting.clone(), partials }
    }

    /// An instance has whole values.
    #[cfg(feature = "rayon")]
    fn item(&self) -> u64 {
        self.converting.size.max(1)
    }

    #[cfg(feature = "rayon")]
    fn check(&self, range: Range<u64>, bytes: &[u8]) -> Result<(), Error> {
        converting::check(&self.converting, self.native.count(), range, bytes)
    }

    #[cfg(feature = "rayon")]
    unsafe fn put_shared(&self, range: Range<u64>, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the caller guarantees that the values of the range, which are whole, are writable, do not overlap, and are
        // accessed by nothing else. `bytes` is as long as the range and only read.
        unsafe {
            let (packed, mut none) = (bytes.as_ptr().cast_mut(), Partials::default());
            transfer::<Unpack>(&self.native, &self.converting, range, packed, &mut none)
        }
    }

    #[cfg(feature = "rayon")]
    fn forget(&mut self, range: Range<u64>) {
        self.partials.forget_all(range);
    }
}

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
    ) -> Result<Packer<'a, Converted>, Error> {
        let converting = self.mode.converting(representation)?;
        self.converted(Arc::new(converting))
    }

    /// The stream by a conversion that was made for the instances.
    pub(in crate::convertor) fn converted(
        self,
        converting: Arc<Converting>,
    ) -> Result<Packer<'a, Converted>, Error> {
        let (mode, size) = Converted::new(self.mode, converting)?;
        // SAFETY: the data are those of this packer, for the same lifetime.
        Ok(unsafe { Packer::from_mode(mode, size) })
    }
}

impl Packer<'_, Converted> {
    /// Packs up to `out.len()` bytes from the current position and returns the number packed. Returns 0 at the end of
    /// the stream or if `out` is empty.
    ///
    /// # Errors
    ///
    /// [`Error::IntegerRange`] and [`Error::FloatRange`] if a value does not fit its format in the representation. Nothing is
    /// written then, and the position is unchanged.
    pub fn pack(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        self.pack_next(out)
    }
}

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
    ) -> Result<Unpacker<'a, Converted>, Error> {
        let converting = self.mode.converting(representation)?;
        self.converted(Arc::new(converting), representation)
    }

    /// The stream by a conversion that was made for the instances and the representation.
    pub(in crate::convertor) fn converted(
        self,
        converting: Arc<Converting>,
        representation: Representation,
    ) -> Result<Unpacker<'a, Converted>, Error> {
        self.check_whole()?;
        let checks = match self.checks {
            Some(checks) => {
                let records = RecordConversion::new(&self.mode.ty(), representation)?;
                Some(checks.converted(records))
            }
            None => None,
        };
        let (mode, size) = Converted::new(self.mode, converting)?;
        // SAFETY: the data are those of this unpacker, which had the whole stream, for the same lifetime; the checks are the same.
        Ok(unsafe { Unpacker::from_mode(mode, Progress::new(size), checks) })
    }
}

impl Unpacker<'_, Converted> {
    /// The number of values that have only partly arrived. They remain unchanged in memory if nothing more arrives.
    pub fn incomplete(&self) -> usize {
        match &self.checks {
            None => self.mode.partials.len(),
            Some(checks) => usize::from(checks.is_pending()),
        }
    }
}
