//! What a convertor converts: instances in memory.

use core::ops::Range;

use super::copier::{WholeRecords, copy_range};
use super::cursor::Instances;
use crate::commit::{Chain, Committed, Converting, Op, Permutation};
use crate::error::Error;
use crate::kernel::Direction;
use crate::representation::Architecture;
use crate::signature::Fingerprint;
use crate::types::{Description, Type};

/// Instances in memory. Who makes one vouches for the memory: what may be done with it, and for how long.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    program: Program,
    /// Where displacement 0 of the first instance is.
    origin: *mut u8,
    count: u64,
    /// Packed bytes of all.
    size: u64,
}

/// What names the bytes of an instance.
#[derive(Clone, Debug)]
pub(crate) enum Program {
    /// The constants of a Rust type.
    Constant(&'static Constant),
    /// A committed type, and code for whole instances, for the direction that is wanted.
    Committed(Committed),
}

/// The constants of a Rust type.
#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) ops: &'static [Op],
    pub(crate) permutation: &'static Option<Permutation>,
    /// Packed bytes of a value.
    pub(crate) size: u64,
    /// Bytes of memory from one value to the next.
    pub(crate) stride: i64,
    pub(crate) pack: WholeRecords,
    pub(crate) unpack: WholeRecords,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) ty: fn() -> Type,
}

impl Source {
    /// `None` if the packed bytes are more than 64 bits can count.
    pub(crate) fn new(program: Program, origin: *mut u8, count: u64) -> Option<Self> {
        let one = match &program {
            Program::Constant(constant) => constant.size,
            Program::Committed(committed) => committed.size(),
        };
        let size = one.checked_mul(count)?;
        Some(Self { program, origin, count, size })
    }

    /// Instances of a committed type.
    pub(super) fn of(committed: &Committed, origin: *mut u8, count: usize) -> Result<Self, Error> {
        let program = Program::Committed(committed.clone());
        let (count, size) = (count as u64, committed.size());
        Self::new(program, origin, count).ok_or(Error::CountTooLarge { count, size })
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn origin(&self) -> *mut u8 {
        self.origin
    }

    pub(super) fn instances(&self) -> Instances<'_> {
        match &self.program {
            Program::Constant(Constant { ops, permutation, size, stride, .. }) => {
                let permutation = permutation.as_ref();
                Instances::of_program(ops, permutation, *size, *stride, self.count)
            }
            Program::Committed(committed) => Instances::of_plan(committed.plan(), self.count),
        }
    }

    /// The segments of the instances' parts, if they are known.
    pub(super) fn chains(&self) -> Option<&[Chain; 3]> {
        match &self.program {
            Program::Constant(_) => None,
            Program::Committed(committed) => committed.plan().chains(),
        }
    }

    /// The hash of the type signature of all instances together.
    pub(super) fn signature_hash(&self) -> u64 {
        let one = match &self.program {
            Program::Constant(constant) => constant.fingerprint,
            Program::Committed(committed) => committed.fingerprint(),
        };
        one.repeated(self.count).hash()
    }

    /// How the instances are converted between memory and a stream of another machine's.
    pub(super) fn converting(&self, remote: Architecture) -> Result<Converting, Error> {
        match &self.program {
            Program::Constant(constant) => {
                Converting::of(&(constant.ty)(), constant.stride, remote)
            }
            Program::Committed(committed) => {
                Converting::of(committed, committed.plan().extent(), remote)
            }
        }
    }

    /// The type of an instance.
    pub(super) fn ty(&self) -> Type {
        match &self.program {
            Program::Constant(constant) => (constant.ty)(),
            Program::Committed(committed) => committed.as_type().clone(),
        }
    }

    pub(super) fn description(&self) -> Description {
        match &self.program {
            Program::Constant(constant) => (constant.ty)().description().at(constant.stride),
            Program::Committed(committed) => committed.description().at(committed.plan().extent()),
        }
    }

    /// Copies a range of the packed bytes.
    ///
    /// # Safety
    ///
    /// The bytes that the range names must be valid for `D`, and `packed` for as many; the two must not
    /// overlap. If `D` reads memory, all data of the instances must be readable. `whole` must select the constant
    /// that is for `D`.
    pub(super) unsafe fn copy<D: Direction>(
        &self,
        range: Range<u64>,
        packed: *mut u8,
        whole: fn(&Constant) -> WholeRecords,
    ) {
        let whole = match &self.program {
            Program::Constant(constant) => Some(whole(constant)),
            Program::Committed(_) => None,
        };
        // SAFETY: as the caller vouches; the constants of a type do what its operations do.
        unsafe { copy_range::<D>(&self.instances(), range, self.origin, packed, whole) };
    }
}
