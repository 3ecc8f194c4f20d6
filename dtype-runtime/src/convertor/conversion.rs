//! A committed type in another representation.

use alloc::sync::Arc;

use super::foreign::{self, ForeignPacker, ForeignUnpacker, Stream};
use crate::commit::{Committed, Converting, How, Plan};
use crate::error::Error;
use crate::kernel::{Pack, Unpack};
use crate::representation::Representation;

/// How instances of a committed type are converted to and from another [`Representation`]: made once, used for
/// any number of messages, on any thread.
///
/// ```
/// use dtype_runtime::{Basic, Representation, Type};
/// let column = Type::vector(2, 1, 2, &Type::basic(Basic::U16))?.commit();
/// let external = column.conversion(Representation::External32)?;
/// let matrix: [u8; 8] = [1_u16, 2, 3, 4].map(u16::to_ne_bytes).concat().try_into().unwrap();
/// let mut packed = [0; 4];
/// assert_eq!(external.pack(&matrix, 0, 1, &mut packed)?, 4);
/// assert_eq!(packed, [0, 1, 0, 3]);
///
/// let mut back = [0; 8];
/// external.unpack(&packed, &mut back, 0, 1)?;
/// assert_eq!(back[..2], matrix[..2]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Conversion {
    committed: Committed,
    representation: Representation,
    converting: Arc<Converting>,
}

impl Committed {
    /// The conversion of this type's instances to and from a representation, in time proportional to the length
    /// of the type's description.
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`] when one of the basic datatypes has a format there that is not converted.
    pub fn conversion(&self, representation: Representation) -> Result<Conversion, Error> {
        let architecture = representation.architecture();
        let converting = Converting::of(self, self.plan().extent(), architecture)?;
        let converting = Arc::new(converting);
        Ok(Conversion { committed: self.clone(), representation, converting })
    }
}

impl Conversion {
    /// The representation of the packed stream.
    pub fn representation(&self) -> Representation {
        self.representation
    }

    /// What is executed: a plan of values, or, where all of them are copied or reversed alike, the plan of the
    /// type.
    ///
    /// ```
    /// use dtype_runtime::commit::{Elements, Op};
    /// use dtype_runtime::{Representation, Type};
    /// let pairs = Type::of::<(f64, u8)>().commit();
    /// let external = pairs.conversion(Representation::External32)?;
    /// let plan = external.plan().steady();
    /// # #[cfg(target_endian = "little")]
    /// assert!(matches!(plan, [Op::Elements(_), Op::Elements(Elements { places, .. })] if places.disp == 8));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn plan(&self) -> &Plan {
        match &self.converting.how {
            How::Each(plan) => plan,
            How::Same | How::Reversed(_) => self.committed.plan(),
        }
    }

    /// So many bytes of the type's own packed stream are reversed each time, if that is all there is to do.
    pub(crate) fn reversed(&self) -> Option<u8> {
        match self.converting.how {
            How::Reversed(width) => Some(width),
            How::Same | How::Each(_) => None,
        }
    }

    /// Packed bytes of `count` instances in the representation.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`] when they cannot be addressed.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Representation, Type};
    /// let long = Type::basic(Basic::Long).commit();
    /// assert_eq!(long.conversion(Representation::External32)?.packed_size(3)?, 12);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Pack_external_size")]
    pub fn packed_size(&self, count: usize) -> Result<usize, Error> {
        let size = self.converting.size;
        usize::try_from(size)
            .ok()
            .and_then(|size| size.checked_mul(count))
            .ok_or(Error::CountTooLarge { count: count as u64, size })
    }

    /// Packs `count` instances from `memory` to the front of `out`, and returns how many bytes that were, as
    /// [`Committed::pack`].
    ///
    /// # Errors
    ///
    /// Those of [`Committed::pack`], and [`Error::IntegerRange`] and [`Error::FloatRange`] when a value has no
    /// room in the representation. Nothing is written then.
    #[doc(alias = "MPI_Pack_external")]
    pub fn pack(
        &self,
        memory: &[u8],
        origin: usize,
        count: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let size = self.packed_size(count)?;
        self.committed.check_span(memory.len() as u64, origin as u64, count)?;
        if out.len() < size {
            let (needed, available) = (size as u64, out.len() as u64);
            return Err(Error::DestinationTooSmall { needed, available });
        }
        let origin = memory.as_ptr().wrapping_add(origin).cast_mut();
        // SAFETY: all bytes that the instances name lie in `memory`, as just checked, which is borrowed; `out` has
        // room, as was just checked, and is borrowed exclusively.
        unsafe {
            let (plan, to) = (self.committed.plan(), out.as_mut_ptr());
            foreign::convert_all::<Pack>(&self.converting, plan, count as u64, origin, to)?;
        }
        Ok(size)
    }

    /// Unpacks `count` instances from `packed` into `memory`, and returns how many bytes that were, as
    /// [`Committed::unpack`].
    ///
    /// # Errors
    ///
    /// Those of [`Committed::unpack`], and [`Error::IntegerRange`] and [`Error::FloatRange`] when this machine has
    /// no room for a value. Nothing is written then.
    #[doc(alias = "MPI_Unpack_external")]
    pub fn unpack(
        &self,
        packed: &[u8],
        memory: &mut [u8],
        origin: usize,
        count: usize,
    ) -> Result<usize, Error> {
        let size = self.packed_size(count)?;
        if packed.len() != size {
            let (expected, actual) = (size as u64, packed.len() as u64);
            return Err(Error::PackedLength { expected, actual });
        }
        self.committed.check_span(memory.len() as u64, origin as u64, count)?;
        self.committed.check_overlap(count)?;
        let origin = memory.as_mut_ptr().wrapping_add(origin);
        // SAFETY: all bytes that the instances name, none of them twice, lie in `memory`, as just checked, which is
        // borrowed exclusively and holds bytes, of which any are valid; `packed` is as long as needed and only read.
        unsafe {
            let (plan, from) = (self.committed.plan(), packed.as_ptr().cast_mut());
            foreign::convert_all::<Unpack>(&self.converting, plan, count as u64, origin, from)?;
        }
        Ok(size)
    }

    /// A packer of `count` instances in `memory`, with the arguments of [`Committed::packer`].
    ///
    /// # Errors
    ///
    /// Those of [`Committed::packer`].
    pub fn packer<'a>(
        &self,
        memory: &'a [u8],
        origin: usize,
        count: usize,
    ) -> Result<ForeignPacker<'a>, Error> {
        let packer = self.committed.packer(memory, origin, count)?;
        let stream = Stream::new(packer.source().clone(), self.converting.clone())?;
        Ok(ForeignPacker::new(packer, stream))
    }

    /// An unpacker of `count` instances in `memory`, with the arguments of [`Committed::unpacker`].
    ///
    /// # Errors
    ///
    /// Those of [`Committed::unpacker`].
    pub fn unpacker<'a>(
        &self,
        memory: &'a mut [u8],
        origin: usize,
        count: usize,
    ) -> Result<ForeignUnpacker<'a>, Error> {
        let unpacker = self.committed.unpacker(memory, origin, count)?;
        let stream = Stream::new(unpacker.source().clone(), self.converting.clone())?;
        ForeignUnpacker::new(unpacker, stream, self.representation)
    }
}
