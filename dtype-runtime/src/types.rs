//! Datatypes built at run time.

mod array;
mod bounds;
mod construct;
mod decode;
mod derived;
mod description;
mod entries;
mod equality;
mod fingerprint;
mod flags;
mod integers;
mod irregular;
mod levels;
mod marshal;
mod named;
mod overlap;
mod parts;
mod predefined;
mod query;
mod rules;
mod signature;
mod subarray;
mod ucp;
mod walk;

use alloc::boxed::Box;
use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::basic::Basic;
use crate::error::Error;
use crate::shared::Shared;
use crate::typemap::check_hash;

pub use array::{Distribution, Order};
pub use bounds::Bounds;
pub(crate) use bounds::Interval;
pub use decode::{Combiner, Contents, Envelope};
pub(crate) use description::Writer;
pub use description::{Description, Elem, EndLoop, Entry, Loop};
use description::{Item, items};
pub use entries::{MapEntry, TypeMapEntries};
use fingerprint::LazyFingerprint;
pub use flags::Flags;
pub(crate) use integers::Integers;
pub use levels::Level;
pub use named::Named;
pub(crate) use overlap::overlaps;
pub(crate) use predefined::Fortran;
pub use predefined::{Pair, TypeClass};
pub use signature::Signature;
pub use ucp::StructField;
pub(crate) use walk::{Sink, walk};

/// A datatype: a sequence of basic datatypes with displacements, and bounds.
///
/// It is built by the constructors of MPI-4.1 section 5.1.2, which are named after their MPI calls,
/// or taken from a Rust type with [`Type::of`]. A `Type` is immutable; cloning one copies a pointer,
/// and types that were built from it keep it alive. [`commit`](Type::commit) compiles it for
/// packing.
///
/// Counts and block lengths are numbers of elements; displacements, strides of `hvector`, bounds and
/// extents are bytes. All are 64 bits wide, and every constructor checks its arithmetic.
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
    /// The bytes that hold data; `None` where there are none.
    data: Option<Interval>,
    /// The markers, reduced to the least lb and the greatest ub.
    markers: bounds::Marks,
    lb: i64,
    ub: i64,
    align: u64,
    flags: Flags,
    fingerprint: LazyFingerprint,
    depth: u32,
    /// An upper bound of the description's length.
    entries: u64,
    /// By which rules the bounds were found.
    rules: Bounds,
    overlap: Lazy,
}

/// The call that made a type, with the arguments as they were given.
#[derive(Clone)]
pub(crate) enum Constructor {
    Basic(Basic),
    LbMarker,
    UbMarker,
    /// A value and an index; `built` has the data. It has a name, or was asked for by its parts.
    Pair {
        name: Option<Pair>,
        value: Basic,
        index: Basic,
        built: Type,
    },
    /// A type of Fortran's kinds, and the basic datatype that it is here.
    Fortran {
        request: Fortran,
        basic: Basic,
    },
    Dup {
        old: Type,
    },
    Contiguous {
        count: u64,
        old: Type,
    },
    Vector {
        count: u64,
        blocklength: u64,
        stride: i64,
        old: Type,
    },
    Hvector {
        count: u64,
        blocklength: u64,
        stride: i64,
        old: Type,
    },
    Indexed {
        blocklengths: Integers<u64>,
        displacements: Integers<i64>,
        old: Type,
    },
    Hindexed {
        blocklengths: Integers<u64>,
        displacements: Integers<i64>,
        old: Type,
    },
    IndexedBlock {
        blocklength: u64,
        displacements: Integers<i64>,
        old: Type,
    },
    HindexedBlock {
        blocklength: u64,
        displacements: Integers<i64>,
        old: Type,
    },
    Structure {
        members: Box<[Member]>,
    },
    Subarray {
        arguments: subarray::Subarray,
        old: Type,
    },
    Darray {
        arguments: Box<array::Darray>,
        old: Type,
    },
    Resized {
        old: Type,
    },
}

/// One block of a `structure`.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) blocklength: u64,
    pub(crate) displacement: i64,
    pub(crate) ty: Type,
}

/// An answer that is worked out when it is first asked for. Threads that race compute the same
/// answer and store the same byte, so relaxed ordering is enough.
struct Lazy(AtomicU8);

impl Clone for Lazy {
    fn clone(&self) -> Self {
        Self(AtomicU8::new(self.0.load(Ordering::Relaxed)))
    }
}

impl Lazy {
    const UNKNOWN: u8 = 2;

    const fn new() -> Self {
        Self(AtomicU8::new(Self::UNKNOWN))
    }

    fn get_or(&self, compute: impl FnOnce() -> bool) -> bool {
        match self.0.load(Ordering::Relaxed) {
            Self::UNKNOWN => {
                let answer = compute();
                self.0.store(u8::from(answer), Ordering::Relaxed);
                answer
            }
            known => known == 1,
        }
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

    /// The displacement in bytes of the first byte of data, markers aside; 0 without data.
    #[doc(alias = "MPI_Type_get_true_extent")]
    pub fn true_lb(&self) -> i64 {
        self.0.data.map_or(0, |data| data.start)
    }

    /// One past the last byte of data, markers aside; 0 without data.
    pub fn true_ub(&self) -> i64 {
        self.0.data.map_or(0, |data| data.end)
    }

    /// `true_ub − true_lb` in bytes.
    #[doc(alias = "MPI_Type_get_true_extent")]
    pub fn true_extent(&self) -> i64 {
        self.true_ub() - self.true_lb()
    }

    /// The strictest alignment, in bytes, of the basic datatypes inside; 1 without data.
    pub fn align(&self) -> u64 {
        self.0.align
    }

    /// Number of basic datatypes in one instance.
    pub fn elements(&self) -> u64 {
        self.0.elements
    }

    /// The flags of seed `opal_datatype_t`, with `OVERLAP` computed. The first call on a type whose
    /// blocks interleave irregularly takes time in proportion to n log n of their number; with more
    /// than four million of those the type is called overlapping.
    pub fn flags(&self) -> Flags {
        if self.self_overlap() { self.0.flags | Flags::OVERLAP } else { self.0.flags }
    }

    /// Whether one instance names a byte of memory twice.
    pub(crate) fn self_overlap(&self) -> bool {
        self.0.overlap.get_or(|| {
            // In order and without gaps: nothing can be named twice. More bytes than there is room
            // for: something must be.
            !self.0.flags.contains(Flags::CONTIGUOUS)
                && (self.size() > self.true_extent().cast_unsigned()
                    || overlaps(self.description().entries(), 1, self.extent()))
        })
    }

    /// The 64-bit hash of the type signature: equal for types with the same basic datatypes in the
    /// same order, whatever their layout, and equal to
    /// [`TypeMap::signature_hash`](crate::TypeMap::signature_hash) of a derived type. It tells mistakes
    /// from matches; it does not withstand someone who looks for two types with the same hash.
    pub fn signature_hash(&self) -> u64 {
        self.fingerprint().hash()
    }

    /// Compares a signature hash that came from elsewhere, with a message say, with that of this type.
    ///
    /// # Errors
    ///
    /// [`Error::SignatureMismatch`] with both.
    pub fn check_signature_hash(&self, actual: u64) -> Result<(), Error> {
        check_hash(self.signature_hash(), actual)
    }

    /// Where the type is kept: the same for clones of one type, and different for all others, as long as one
    /// of them is there. What walks a type can tell by this which parts it has seen; types share their parts,
    /// and the tree can be exponentially larger than the memory that it takes.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let (a, b) = (Type::basic(Basic::U8), Type::basic(Basic::U8));
    /// assert_eq!(a.address(), a.clone().address());
    /// assert_ne!(a.address(), b.address());
    /// ```
    pub fn address(&self) -> *const () {
        self.0.address()
    }

    /// Lower bound and extent as a `resized` was given them. By MPICH's rules a type without data has others.
    pub(crate) fn resize(&self) -> (i64, i64) {
        let lb = self.0.markers.lb.unwrap_or(0);
        (lb, self.0.markers.ub.unwrap_or(lb) - lb)
    }

    pub(crate) fn constructor(&self) -> &Constructor {
        &self.0.constructor
    }

    /// Whether there is anything whose place matters: data, or a marker.
    fn has_bounds(&self) -> bool {
        self.0.data.is_some() || self.0.markers != bounds::Marks::default()
    }

    /// An upper bound of the description's length.
    fn entries(&self) -> u64 {
        self.0.entries
    }

    pub(crate) fn data(&self) -> Option<Interval> {
        self.0.data
    }
}

impl Constructor {
    /// The datatype among the arguments that comes at this place. What is built from simpler types behind
    /// the scenes follows from the arguments, and is left out.
    fn part(&self, index: usize) -> Option<&Type> {
        match self {
            Self::Structure { members } => members.get(index).map(|member| &member.ty),
            _ => self.old().filter(|_| index == 0),
        }
    }

    /// The only datatype among the arguments, where the call takes one and not a list of them.
    pub(crate) fn old(&self) -> Option<&Type> {
        match self {
            Self::Basic(_)
            | Self::LbMarker
            | Self::UbMarker
            | Self::Pair { .. }
            | Self::Fortran { .. }
            | Self::Structure { .. } => None,
            Self::Dup { old }
            | Self::Contiguous { old, .. }
            | Self::Vector { old, .. }
            | Self::Hvector { old, .. }
            | Self::Indexed { old, .. }
            | Self::Hindexed { old, .. }
            | Self::IndexedBlock { old, .. }
            | Self::HindexedBlock { old, .. }
            | Self::Subarray { old, .. }
            | Self::Darray { old, .. }
            | Self::Resized { old } => Some(old),
        }
    }

    /// Whether there are no datatypes that it makes this one of: whose rules it would follow.
    fn has_no_parts(&self) -> bool {
        if let Self::Structure { members } = self {
            return members.is_empty();
        }
        matches!(
            self,
            Self::Basic(_)
                | Self::LbMarker
                | Self::UbMarker
                | Self::Pair { .. }
                | Self::Fortran { .. }
        )
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Basic(basic) => basic.name(),
            Self::LbMarker => "lb_marker",
            Self::UbMarker => "ub_marker",
            Self::Pair { name: Some(pair), .. } => pair.name(),
            Self::Pair { name: None, .. } => "value_index",
            Self::Fortran { request: Fortran::Real { .. }, .. } => "f90_real",
            Self::Fortran { request: Fortran::Complex { .. }, .. } => "f90_complex",
            Self::Fortran { request: Fortran::Integer { .. }, .. } => "f90_integer",
            Self::Dup { .. } => "dup",
            Self::Contiguous { .. } => "contiguous",
            Self::Vector { .. } => "vector",
            Self::Hvector { .. } => "hvector",
            Self::Indexed { .. } => "indexed",
            Self::Hindexed { .. } => "hindexed",
            Self::IndexedBlock { .. } => "indexed_block",
            Self::HindexedBlock { .. } => "hindexed_block",
            Self::Structure { .. } => "structure",
            Self::Subarray { .. } => "subarray",
            Self::Darray { .. } => "darray",
            Self::Resized { .. } => "resized",
        }
    }
}

impl fmt::Debug for Type {
    /// The outermost constructor and the numbers, not the whole tree: types share their parts, and
    /// the tree can be exponentially larger than the memory that it takes.
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
