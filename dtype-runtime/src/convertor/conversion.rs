//! A committed type in another representation.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::buffer::{Buffer, BufferMut};
use super::checks::{allocate, check_length, check_room, packed_size};
use super::converting::{Partials, convert};
use super::cursor::Instances;
use super::stream::{Converted, Packer, Unpacker};
use crate::commit::{Committed, Converting, How};
use crate::error::Error;
use crate::kernel::{Pack, Unpack, Way};
use crate::plan::Plan;
use crate::representation::Representation;

/// Converts instances of a committed type to and from another [`Representation`]. It is made once and serves any number of
/// messages, on any thread.
///
/// ```
/// use dtype_runtime::{Basic, Representation, Type};
/// let column = Type::vector(2, 1, 2, &Type::basic(Basic::U16))?.commit();
/// let external = column.conversion(Representation::External32)?;
/// let matrix: [u8; 8] = [1_u16, 2, 3, 4].map(u16::to_ne_bytes).concat().try_into().unwrap();
/// let mut packed = [0; 4];
/// assert_eq!(external.pack(&matrix, 1, &mut packed)?, 4);
/// assert_eq!(packed, [0, 1, 0, 3]);
///
/// let mut back = [0; 8];
/// external.unpack(&packed, &mut back, 1)?;
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
    /// The conversion of this type's instances to and from a representation. It takes time linear in the length of
    /// the type's description.
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`] if a basic datatype of the type has a format in the representation that cannot be converted.
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

    /// The plan that a conversion executes: a plan of values, or the plan of the type if all values are copied, or all
    /// reversed, in the same way.
    ///
    /// ```
    /// use dtype_runtime::plan::{Elements, Op};
    /// use dtype_runtime::{Representation, Type};
    /// let pairs = Type::of::<(f64, u8)>().commit();
    /// let external = pairs.conversion(Representation::External32)?;
    /// let plan = external.plan().ops();
    /// # #[cfg(target_endian = "little")]
    /// assert!(matches!(plan, [Op::Elements(_), Op::Elements(Elements { blocks, .. })] if blocks.disp == 8));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn plan(&self) -> &Plan {
        match &self.converting.how {
            How::Each(each) => &each.plan,
            How::Same | How::Reversed(_) => self.committed.plan(),
        }
    }

    /// The width in bytes of the values to reverse in the type's packed stream; `None` unless reversing them is the whole
    /// conversion.
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
    /// [`Error::CountTooLarge`] if the bytes cannot be addressed.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Representation, Type};
    /// let long = Type::basic(Basic::Long).commit();
    /// assert_eq!(long.conversion(Representation::External32)?.packed_size(3)?, 12);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Pack_external_size")]
    pub fn packed_size(&self, count: usize) -> Result<usize, Error> {
        packed_size(self.converting.size, count)
    }

    /// Packs `count` instances from memory to the front of `out`, and returns the number of bytes written, as
    /// [`Committed::pack`].
    ///
    /// # Errors
    ///
    /// The errors of [`Committed::pack`], and [`Error::IntegerRange`] and [`Error::FloatRange`] if a value does
    /// not fit its format in the representation. Nothing is written then.
    #[doc(alias = "MPI_Pack_external")]
    pub fn pack<'a>(
        &self,
        from: impl Into<Buffer<'a>>,
        count: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let from = from.into();
        self.packed_size(count)?;
        self.committed.check_span(from.len() as u64, from.origin.into(), count)?;
        // SAFETY: all bytes that the instances name lie in the memory, as just checked, and the memory is borrowed; `out` is
        // borrowed exclusively, so it does not overlap them.
        unsafe { self.pack_raw(from.pointer(), count, out) }
    }

    /// [`pack`](Self::pack) from a raw origin, for memory that cannot be borrowed as bytes: memory with
    /// uninitialised gaps, or memory of another language.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`], [`Error::DestinationTooSmall`], [`Error::IntegerRange`], [`Error::FloatRange`].
    /// Nothing is written then.
    ///
    /// # Safety
    ///
    /// Every byte of data that `count` instances name, at its displacement from `origin`, must be initialised, readable and in
    /// the same allocation as `origin`, and must not be written during the call; `out` must not overlap them.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Representation, Type};
    /// let column = Type::vector(2, 1, 2, &Type::basic(Basic::U16))?.commit();
    /// let external = column.conversion(Representation::External32)?;
    /// let (matrix, mut packed) = ([1_u16, 2, 3, 4], [0; 4]);
    /// // SAFETY: the column lies in the matrix.
    /// unsafe { external.pack_raw(matrix.as_ptr().cast(), 1, &mut packed)? };
    /// assert_eq!(packed, [0, 1, 0, 3]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub unsafe fn pack_raw(
        &self,
        origin: *const u8,
        count: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let size = self.packed_size(count)?;
        check_room(size, out)?;
        // SAFETY: the data of `count` instances are readable and do not overlap `out`: the caller guarantees that. `out` has
        // room for `size` bytes, as just checked.
        unsafe { self.convert_all::<Pack>(size, origin.cast_mut(), out.as_mut_ptr(), count) }
    }

    /// The packed bytes of `count` instances in the representation, as [`pack`](Self::pack) writes them.
    ///
    /// # Errors
    ///
    /// The errors of [`pack`](Self::pack), and [`Error::Allocation`].
    #[doc(alias = "MPI_Pack_external")]
    pub fn pack_to_vec<'a>(
        &self,
        from: impl Into<Buffer<'a>>,
        count: usize,
    ) -> Result<Vec<u8>, Error> {
        let from = from.into();
        let size = self.packed_size(count)?;
        // Before allocating memory, which a wrong count could make large.
        self.committed.check_span(from.len() as u64, from.origin.into(), count)?;
        let mut out = allocate(count, size.checked_div(count).unwrap_or(0))?;
        out.resize(size, 0);
        // SAFETY: all bytes that the instances name lie in the memory, as just checked, and the memory is borrowed; the vector
        // was just allocated, so it does not overlap them.
        unsafe { self.pack_raw(from.pointer(), count, &mut out)? };
        Ok(out)
    }

    /// Unpacks `count` instances from `packed` into memory, and returns the number of bytes read, as
    /// [`Committed::unpack`].
    ///
    /// # Errors
    ///
    /// The errors of [`Committed::unpack`], and [`Error::IntegerRange`] and [`Error::FloatRange`] if a value does
    /// not fit its type on this machine. Nothing is written then.
    #[doc(alias = "MPI_Unpack_external")]
    pub fn unpack<'a>(
        &self,
        packed: &[u8],
        to: impl Into<BufferMut<'a>>,
        count: usize,
    ) -> Result<usize, Error> {
        let mut to = to.into();
        let size = self.packed_size(count)?;
        check_length(size, packed)?;
        self.committed.check_span(to.len() as u64, to.origin.into(), count)?;
        // SAFETY: all bytes that the instances name lie in the memory, as just checked. It is borrowed exclusively and holds
        // bytes, any of which are valid.
        unsafe { self.unpack_raw(packed, to.pointer(), count) }
    }

    /// [`unpack`](Self::unpack) to a raw origin.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`], [`Error::PackedLength`], [`Error::Overlap`], [`Error::IntegerRange`],
    /// [`Error::FloatRange`]. Nothing is written then.
    ///
    /// # Safety
    ///
    /// Every byte of data that `count` instances name, at its displacement from `origin`, must be writable and in the same
    /// allocation as `origin`, and must not be accessed by anything else during the call; `packed` must not overlap them. If
    /// the memory holds Rust values, the bytes must make valid ones.
    pub unsafe fn unpack_raw(
        &self,
        packed: &[u8],
        origin: *mut u8,
        count: usize,
    ) -> Result<usize, Error> {
        let size = self.packed_size(count)?;
        check_length(size, packed)?;
        self.committed.check_overlap(count)?;
        // SAFETY: the data of `count` instances are writable and do not overlap `packed`: the caller guarantees that. No byte
        // is named twice and `packed` has `size` bytes, as just checked; it is only read.
        unsafe { self.convert_all::<Unpack>(size, origin, packed.as_ptr().cast_mut(), count) }
    }

    /// Converts all of `count` instances, which have `size` packed bytes, and returns `size`.
    ///
    /// # Safety
    ///
    /// `memory` must be valid for `D` on every byte that the instances name, and `packed` on `size` bytes; the two must not
    /// overlap. If `D` writes memory, the data of the instances must not overlap.
    unsafe fn convert_all<D: Way>(
        &self,
        size: usize,
        memory: *mut u8,
        packed: *mut u8,
        count: usize,
    ) -> Result<usize, Error> {
        let instances = Instances::of_plan(self.committed.plan(), count as u64);
        // All values are whole.
        let (all, mut none) = (0..size as u64, Partials::default());
        // SAFETY: the plan is that of the instances, and the range is all of their packed bytes, for which the caller
        // guarantees both pointers.
        unsafe { convert::<D>(&self.converting, &instances, all, memory, packed, &mut none)? };
        Ok(size)
    }

    /// A packer of `count` instances in memory, as [`Committed::packer`].
    ///
    /// # Errors
    ///
    /// The errors of [`Committed::packer`].
    pub fn packer<'a>(
        &self,
        from: impl Into<Buffer<'a>>,
        count: usize,
    ) -> Result<Packer<'a, Converted>, Error> {
        self.committed.packer(from, count)?.converted(self.converting.clone())
    }

    /// [`packer`](Self::packer) from a raw origin.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`].
    ///
    /// # Safety
    ///
    /// As [`Packer::from_raw`].
    pub unsafe fn packer_raw<'a>(
        &self,
        origin: *const u8,
        count: usize,
    ) -> Result<Packer<'a, Converted>, Error> {
        // SAFETY: passed on to the caller.
        let packer = unsafe { Packer::from_raw(&self.committed, origin, count)? };
        packer.converted(self.converting.clone())
    }

    /// An unpacker of instances of this type, with its checks, as one of the stream in the representation.
    ///
    /// # Errors
    ///
    /// [`Error::SignatureMismatch`] if the instances are of another type; those of
    /// [`Unpacker::with_representation`].
    pub fn unpacker_of<'a>(
        &self,
        unpacker: Unpacker<'a>,
    ) -> Result<Unpacker<'a, Converted>, Error> {
        let ty = unpacker.instance();
        // The same type, and not only the same signature: the conversion has the displacements as well.
        if ty != *self.committed.as_type() {
            let (expected, actual) = (self.committed.signature_hash(), ty.signature_hash());
            return Err(Error::SignatureMismatch { expected, actual });
        }
        unpacker.converted(self.converting.clone(), self.representation)
    }

    /// An unpacker of `count` instances in memory, as [`Committed::unpacker`].
    ///
    /// # Errors
    ///
    /// The errors of [`Committed::unpacker`].
    pub fn unpacker<'a>(
        &self,
        to: impl Into<BufferMut<'a>>,
        count: usize,
    ) -> Result<Unpacker<'a, Converted>, Error> {
        let unpacker = self.committed.unpacker(to, count)?;
        unpacker.converted(self.converting.clone(), self.representation)
    }
}
