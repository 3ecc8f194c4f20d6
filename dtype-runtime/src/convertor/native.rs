//! Instances in memory whose bytes are copied.

use core::ops::Range;

use super::copier::copy_range;
use super::cursor::Instances;
use crate::commit::{Committed, Single};
use crate::error::Error;
use crate::kernel::{Pack, Unpack, Way};
use crate::plan::{Op, Permutation};
use crate::signature::Fingerprint;
use crate::types::Type;

/// The [`Mode`](super::Mode) of a stream that consists of this machine's bytes: they are copied between memory and the stream.
///
/// Only the packer or unpacker that contains it accesses the instances. Code that makes one of these promises how the memory may
/// be accessed, and for how long.
#[derive(Clone, Debug)]
pub struct Native {
    compiled: Compiled,
    /// The address of displacement 0 of the first instance.
    origin: *mut u8,
    count: u64,
    /// Packed bytes of all instances.
    size: u64,
}

/// How an instance was compiled.
#[derive(Clone, Debug)]
pub(crate) enum Compiled {
    /// The constants of a Rust type. The instances are values of it, so their padding may be accessed as well.
    Constant(&'static Constant),
    /// A committed type.
    Committed(Committed),
}

/// The constants of a Rust type.
#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) ops: &'static [Op],
    pub(crate) permutation: Option<&'static Permutation>,
    /// Packed bytes of a value.
    pub(crate) size: u64,
    /// Bytes of memory from one value to the next.
    pub(crate) stride: i64,
    /// The code compiled for the type; `None` if a value has too many runs to unroll.
    pub(crate) pack: Option<CopyRange>,
    pub(crate) unpack: Option<CopyRange>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) ty: fn() -> Type,
}

/// Copies a range of the packed bytes of values of a Rust type, by code compiled for this type. The arguments are a pointer to
/// the first value, a pointer to the first byte of the range, and the range, counted from the first value. Padding of values
/// that lie in the range as a whole may be loaded and stored unchanged.
pub(crate) type CopyRange = unsafe fn(*mut u8, *mut u8, Range<u64>);

// SAFETY: a packer only reads the data of the instances, and an unpacker has exclusive access to those that it may write. They
// are borrowed for as long as the stream lives, or the caller of `from_raw` guarantees the same. They are plain bytes, whatever
// thread accesses them. Padding and skipped fields, which are not accessed, may be of any kind.
unsafe impl Send for Native {}
// SAFETY: as above; through a shared reference, data are only read, except by `Shared::put_shared`, whose caller guarantees that
// no other thread accesses the same bytes.
unsafe impl Sync for Native {}

impl Native {
    /// The instances of a type's constants; `None` if 64 bits cannot count the packed bytes.
    #[inline]
    pub(crate) fn new(compiled: Compiled, origin: *mut u8, count: u64) -> Option<Self> {
        let one = match &compiled {
            Compiled::Constant(constant) => constant.size,
            Compiled::Committed(committed) => committed.size(),
        };
        let size = one.checked_mul(count)?;
        Some(Self { compiled, origin, count, size })
    }

    /// Instances of a committed type.
    #[inline]
    pub(super) fn from_committed(
        committed: &Committed,
        origin: *mut u8,
        count: usize,
    ) -> Result<Self, Error> {
        let compiled = Compiled::Committed(committed.clone());
        let (count, size) = (count as u64, committed.size());
        Self::new(compiled, origin, count).ok_or_else(|| Error::count_too_large(count, size))
    }

    #[inline]
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn origin(&self) -> *mut u8 {
        self.origin
    }

    #[inline]
    pub(super) fn instances(&self) -> Instances<'_> {
        match &self.compiled {
            Compiled::Constant(Constant { ops, permutation, size, stride, .. }) => {
                Instances::of_program(ops, *permutation, *size, *stride, self.count)
            }
            Compiled::Committed(committed) => Instances::of_plan(committed.plan(), self.count),
        }
    }

    /// The type of an instance.
    pub(super) fn ty(&self) -> Type {
        match &self.compiled {
            Compiled::Constant(constant) => (constant.ty)(),
            Compiled::Committed(committed) => committed.as_type().clone(),
        }
    }

    /// Bytes of memory from one instance to the next.
    pub(super) fn stride(&self) -> i64 {
        match &self.compiled {
            Compiled::Constant(constant) => constant.stride,
            Compiled::Committed(committed) => committed.plan().extent(),
        }
    }

    /// The hash of the type signature of all instances together.
    pub(super) fn signature_hash(&self) -> u64 {
        let one = match &self.compiled {
            Compiled::Constant(constant) => constant.fingerprint,
            Compiled::Committed(committed) => committed.fingerprint(),
        };
        one.repeated(self.count).hash()
    }

    /// What copies a range of the packed bytes, and the memory address, if nothing has to be looked up: code compiled for the
    /// type, or a plain copy, if the instances are one run.
    #[inline(always)]
    fn range_copier<D: Way>(&self) -> Option<(CopyRange, *mut u8)> {
        match &self.compiled {
            Compiled::Constant(constant) => {
                let copy = if D::PACKS { constant.pack } else { constant.unpack };
                Some((copy?, self.origin))
            }
            Compiled::Committed(committed) => {
                let &Single { run, touches_next, .. } = committed.single();
                let disp = run.filter(|_| touches_next || self.count == 1)?;
                Some((copy_range_of_run::<D>, self.origin.wrapping_offset(disp)))
            }
        }
    }

    /// Copies a range of the packed bytes. `search_hint` is a guess at the list block in which the range starts, and is updated
    /// for the next range.
    ///
    /// # Safety
    ///
    /// The range must lie in the stream. The bytes that it names must be valid for `D`, and so must as many bytes of `packed`;
    /// the two must not overlap. If `D` reads memory, all data of the instances must be readable; if it writes memory, they must
    /// not overlap.
    #[inline(always)]
    pub(super) unsafe fn copy<D: Way>(
        &self,
        range: Range<u64>,
        packed: *mut u8,
        search_hint: &mut usize,
    ) {
        // SAFETY: the caller guarantees the bytes of the range on both sides. A type's routine was made from the same map as
        // its operations (`typed/stream.rs`), so it copies the same bytes as they do.
        unsafe {
            match self.range_copier::<D>() {
                Some((copy, memory)) => copy(memory, packed, range),
                None if D::PACKS => self.pack_range(range, packed, search_hint),
                None => self.unpack_range(range, packed, search_hint),
            }
        }
    }

    /// Neither inlined nor generic, so that crates that pack fragments do not compile the engine again.
    ///
    /// # Safety
    ///
    /// The range must lie in the stream. All data of the instances must be readable, and `packed` be writable for the length of
    /// the range and not overlap these data.
    #[inline(never)]
    unsafe fn pack_range(&self, range: Range<u64>, packed: *mut u8, search_hint: &mut usize) {
        // SAFETY: displacements are relative to the origin. Packing reads the instances and writes `packed`: the caller
        // guarantees both, and that nothing overlaps.
        unsafe { copy_range::<Pack>(&self.instances(), range, self.origin, packed, search_hint) }
    }

    /// As [`pack_range`](Self::pack_range), to unpack.
    ///
    /// # Safety
    ///
    /// The range must lie in the stream. The bytes that it names must be writable, the data of the instances not overlap, and
    /// `packed` be readable for the length of the range and not overlap these data.
    #[inline(never)]
    unsafe fn unpack_range(&self, range: Range<u64>, packed: *mut u8, search_hint: &mut usize) {
        // SAFETY: displacements are relative to the origin. Unpacking reads `packed` and writes the bytes that the range names:
        // the caller guarantees both, and that nothing overlaps.
        unsafe { copy_range::<Unpack>(&self.instances(), range, self.origin, packed, search_hint) }
    }
}

/// Copies a range of the packed bytes of a run of memory.
///
/// # Safety
///
/// `memory` must be the start of the run. From `range.start` on, it must be valid for `D` for the length of the range, and so
/// must `packed` from its start; the two must not overlap.
#[expect(clippy::cast_possible_truncation, reason = "bytes in memory")]
unsafe fn copy_range_of_run<D: Way>(memory: *mut u8, packed: *mut u8, range: Range<u64>) {
    let memory = memory.wrapping_add(range.start as usize);
    // SAFETY: the caller guarantees that many bytes on both sides; the address just made is that of the first in memory.
    unsafe { D::copy(memory, packed, (range.end - range.start) as usize) }
}
