//! Datatypes built at run time.

mod array;
mod blocks;
mod bounds;
mod construct;
mod derived;
mod description;
mod entries;
mod equality;
mod fingerprint;
mod flags;
mod irregular;
mod leaves;
mod levels;
mod mpi;
mod overlap;
mod parts;
mod query;
mod signature;
mod subarray;
mod ucp;
mod walk;

use alloc::boxed::Box;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::basic::Basic;
use crate::error::Error;
use crate::shared::Shared;
use crate::typemap::check_hash;

pub use array::{Distribution, Order};
pub(crate) use blocks::Lengths;
pub use bounds::BoundsRule;
pub(crate) use bounds::Interval;
pub(crate) use description::Writer;
pub use description::{Description, Elem, EndLoop, Entry, Loop};
use description::{Item, items};
pub use entries::{MapEntry, TypeMapEntries};
pub use flags::Flags;
pub use levels::Level;
pub use mpi::call::{self, Argument, Call, Combiner};
pub use mpi::{Contents, Decoded, Envelope, Library, Named, Pair, TypeClass};
pub(crate) use overlap::overlaps;
pub use signature::Signature;
pub use ucp::UcpField;
pub(crate) use walk::{Sink, walk};

/// A datatype: a sequence of basic datatypes with displacements, and bounds.
///
/// The constructors of MPI-4.1 section 5.1.2 build a `Type`, and have the names of their MPI calls; [`Type::of`] makes one from
/// a Rust type. A `Type` is immutable. Cloning one copies a pointer, and types built from it keep it alive.
/// [`commit`](Type::commit) compiles it for packing.
///
/// Counts and block lengths are numbers of instances of the old type. The stride of `vector` and the displacements of `indexed`
/// and `indexed_block` are in extents of the old type. All other strides and displacements, and all bounds and extents, are in
/// bytes. All of these numbers have 64 bits, and every constructor checks its arithmetic.
///
/// ```
/// use dtype_runtime::{Basic, Type};
///
/// // Column 0 of a 4 × 6 matrix of f64.
/// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
/// assert_eq!(column.size(), 32);
/// assert_eq!(column.extent(), 8 * (3 * 6 + 1));
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Type(Shared<Inner>);

#[derive(Clone)]
struct Inner {
    constructor: Constructor,
    size: u64,
    elements: u64,
    /// The range of bytes that holds the data; `None` without data.
    data: Option<Interval>,
    /// The markers, reduced to the least lb and the greatest ub.
    markers: bounds::Marks,
    lb: i64,
    ub: i64,
    align: u64,
    flags: Flags,
    /// The parts of the fingerprint of the type signature. Neither making nor packing a type needs them, so they are computed
    /// lazily.
    fingerprint: [Lazy; 2],
    depth: u32,
    /// An upper bound of the description's length.
    entries: u64,
    /// The rule by which the bounds were computed.
    rules: BoundsRule,
    /// Whether one instance names a byte of memory more than once.
    overlap: Lazy,
}

/// The call that made a type, with its original arguments.
#[derive(Clone)]
pub(crate) enum Constructor {
    Basic(Basic),
    LbMarker,
    UbMarker,
    /// A value and an index; `built` has the data. Either the pair has a name, or its two parts are arguments.
    Pair {
        name: Option<Pair>,
        value: Basic,
        index: Basic,
        built: Type,
    },
    /// A type of Fortran's kinds, and the basic datatype that represents it here.
    Fortran {
        combiner: Combiner,
        /// The precision and the range, or only the range of an integer.
        digits: [Option<u32>; 2],
        basic: Basic,
    },
    Dup {
        old: Type,
    },
    Contiguous {
        count: u64,
        old: Type,
    },
    /// `vector`, and `hvector`.
    Vector {
        unit: Unit,
        count: u64,
        blocklength: u64,
        stride: i64,
        old: Type,
    },
    /// `indexed`, `indexed_block`, and their variants with displacements in bytes.
    Blocks {
        unit: Unit,
        lengths: Lengths<Box<[u64]>>,
        displacements: Box<[i64]>,
        old: Type,
    },
    Structure {
        members: Box<[Member]>,
    },
    /// A part of an array; `built` has the data.
    Subarray {
        arguments: subarray::Subarray,
        built: Type,
        old: Type,
    },
    /// A process's share of an array; `built` has the data.
    Darray {
        arguments: Box<array::Darray>,
        built: Type,
        old: Type,
    },
    Resized {
        old: Type,
    },
}

/// The unit of a stride or a displacement.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Byte,
    /// The extent of the old type.
    Extent,
}

impl Unit {
    pub(crate) fn bytes(self, old: &Type) -> i64 {
        match self {
            Self::Byte => 1,
            Self::Extent => old.extent(),
        }
    }
}

/// One block of a [`structure`](Type::structure).
#[derive(Clone, Debug)]
pub struct Member {
    /// The number of instances, one extent apart.
    pub blocklength: u64,
    /// The displacement of the first instance in bytes.
    pub displacement: i64,
    /// The type of the instances.
    pub ty: Type,
}

impl Member {
    fn is_marker(&self) -> bool {
        matches!(self.ty.constructor(), Constructor::LbMarker | Constructor::UbMarker)
    }
}

/// A number below [`u64::MAX`], computed on first use. Threads that race compute the same number, so relaxed ordering is
/// enough.
struct Lazy(AtomicU64);

impl Lazy {
    const UNKNOWN: u64 = u64::MAX;

    const fn new() -> Self {
        Self(AtomicU64::new(Self::UNKNOWN))
    }

    fn get_or(&self, compute: impl FnOnce() -> u64) -> u64 {
        match self.0.load(Ordering::Relaxed) {
            Self::UNKNOWN => {
                let number = compute();
                self.0.store(number, Ordering::Relaxed);
                number
            }
            known => known,
        }
    }
}

impl Clone for Lazy {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Type {
    /// Packed bytes of one instance: the sum over the type map, repeated bytes included
    /// (`MPI_Type_size`).
    #[doc(alias = "MPI_Type_size")]
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// The lower bound in bytes (MPI-4.1 section 5.1.6).
    #[doc(alias = "MPI_Type_get_extent")]
    pub fn lb(&self) -> i64 {
        self.0.lb
    }

    /// The upper bound in bytes (MPI-4.1 section 5.1.6).
    pub fn ub(&self) -> i64 {
        self.0.ub
    }

    /// `ub − lb` in bytes: the distance between neighbouring instances. May be negative.
    #[doc(alias = "MPI_Type_get_extent")]
    pub fn extent(&self) -> i64 {
        // Checked when the type was made.
        self.0.ub - self.0.lb
    }

    /// The displacement in bytes of the first byte of data, ignoring markers; 0 without data.
    #[doc(alias = "MPI_Type_get_true_extent")]
    pub fn true_lb(&self) -> i64 {
        self.0.data.map_or(0, |data| data.start)
    }

    /// The displacement one past the last byte of data, ignoring markers; 0 without data.
    pub fn true_ub(&self) -> i64 {
        self.0.data.map_or(0, |data| data.end)
    }

    /// `true_ub − true_lb` in bytes.
    #[doc(alias = "MPI_Type_get_true_extent")]
    pub fn true_extent(&self) -> i64 {
        self.true_ub() - self.true_lb()
    }

    /// The strictest alignment, in bytes, of the basic datatypes in the type; 1 without data.
    pub fn align(&self) -> u64 {
        self.0.align
    }

    /// Number of basic datatypes in one instance.
    pub fn elements(&self) -> u64 {
        self.0.elements
    }

    /// The flags of Open MPI's `opal_datatype_t`, with `OVERLAP` computed. On a type whose blocks interleave
    /// irregularly the first call takes time O(n log n) in the number of blocks; a type with more than four
    /// million of them is conservatively reported as overlapping.
    pub fn flags(&self) -> Flags {
        if self.self_overlap() { self.0.flags | Flags::OVERLAP } else { self.0.flags }
    }

    /// Whether one instance names a byte of memory more than once.
    pub(crate) fn self_overlap(&self) -> bool {
        let overlap = self.0.overlap.get_or(|| {
            // Data in order and without gaps cannot name a byte twice. If there are more bytes than the true
            // extent, at least one is named twice.
            let overlap = !self.is_run()
                && (self.size() > self.true_extent().cast_unsigned()
                    || overlaps(self.description().entries(), 1, self.extent()));
            u64::from(overlap)
        });
        overlap == 1
    }

    /// The 64-bit hash of the type signature: equal for types with the same basic datatypes in the same order,
    /// whatever their layout, and equal to [`TypeMap::signature_hash`](crate::TypeMap::signature_hash) of a
    /// derived type. It detects mistakes; it does not protect against an attacker who constructs two types with
    /// the same hash.
    pub fn signature_hash(&self) -> u64 {
        self.fingerprint().hash()
    }

    /// Compares this type's signature hash with one from elsewhere, for example from a message.
    ///
    /// # Errors
    ///
    /// [`Error::SignatureMismatch`] with both hashes if they differ.
    pub fn check_signature_hash(&self, actual: u64) -> Result<(), Error> {
        check_hash(self.signature_hash(), actual)
    }

    /// A pointer that identifies this type: equal for its clones, different from the pointer of any other live
    /// type. A walk over a type uses it to recognize the parts it has seen: types share their parts, and the tree
    /// can be exponentially larger than its memory.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let byte = Type::basic(Basic::U8);
    /// let (a, b) = (Type::contiguous(3, &byte)?, Type::contiguous(3, &byte)?);
    /// assert_eq!(a.as_ptr(), a.clone().as_ptr());
    /// assert_ne!(a.as_ptr(), b.as_ptr());
    /// // There is only one type of each basic datatype.
    /// assert_eq!(byte.as_ptr(), Type::basic(Basic::U8).as_ptr());
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn as_ptr(&self) -> *const () {
        self.0.address()
    }

    /// The lower bound and the extent given to `resized`. By MPICH's rules a type without data has other bounds.
    pub(crate) fn resize(&self) -> (i64, i64) {
        let lb = self.0.markers.lb.unwrap_or(0);
        (lb, self.0.markers.ub.unwrap_or(lb) - lb)
    }

    pub(crate) fn constructor(&self) -> &Constructor {
        &self.0.constructor
    }

    /// Whether the type has anything that a displacement applies to: data or a marker.
    fn has_bounds(&self) -> bool {
        self.0.data.is_some() || self.0.markers != bounds::Marks::default()
    }

    pub(crate) fn data(&self) -> Option<Interval> {
        self.0.data
    }

    /// Whether the data of one instance are one run of bytes, in the order of the type map.
    #[inline(always)]
    pub(crate) fn is_run(&self) -> bool {
        self.0.flags.contains(Flags::CONTIGUOUS)
    }
}

impl Constructor {
    /// The datatype at this index among the arguments. Types that an array or a pair uses internally do not count, because they
    /// follow from the arguments.
    pub(crate) fn part(&self, index: usize) -> Option<&Type> {
        match self {
            Self::Basic(_)
            | Self::LbMarker
            | Self::UbMarker
            | Self::Pair { .. }
            | Self::Fortran { .. } => None,
            Self::Structure { members } => members.get(index).map(|member| &member.ty),
            Self::Dup { old }
            | Self::Contiguous { old, .. }
            | Self::Vector { old, .. }
            | Self::Blocks { old, .. }
            | Self::Subarray { old, .. }
            | Self::Darray { old, .. }
            | Self::Resized { old } => Some(old).filter(|_| index == 0),
        }
    }

    /// Whether the type has no parts, and so no part whose rule for the bounds applies to the whole.
    fn has_no_parts(&self) -> bool {
        self.part(0).is_none()
    }
}

impl fmt::Debug for Type {
    /// Prints the outermost constructor and the numbers, not the whole tree: types share their parts, and the tree
    /// can be exponentially larger than its memory.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Type")
            .field("constructor", &self.0.constructor.name())
            .field("size", &self.size())
            .field("lb", &self.lb())
            .field("extent", &self.extent())
            .field("true_lb", &self.true_lb())
            .field("true_extent", &self.true_extent())
            .finish_non_exhaustive()
    }
}
