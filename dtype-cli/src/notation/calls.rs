//! The constructors: what each is called, what it takes, and the call of it.

use dtype_runtime::types::{Distribution, Order};
use dtype_runtime::{Bounds, Error, Type};

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number of elements, of blocks, of processes.
    Count,
    /// A stride or a displacement, a bound.
    Offset,
    Counts,
    Offsets,
    Type,
    Types,
    Order,
    Distributions,
    /// Decimal digits or a decimal exponent range, or neither.
    Digits,
}

impl Kind {
    /// What a message says is expected.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Count | Self::Offset => "a number",
            Self::Counts | Self::Offsets => "a list of numbers",
            Self::Type => "a type",
            Self::Types => "a list of types",
            Self::Order => "`C` or `fortran`",
            Self::Distributions => {
                "a list of `none`, `block`, `block(n)`, `cyclic` and `cyclic(n)`"
            }
            Self::Digits => "a number or `undefined`",
        }
    }
}

/// A parameter of a constructor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// What the argument is called in errors of the constructor.
    pub(super) mpi_name: &'static str,
}

const fn parameter(name: &'static str, kind: Kind, mpi_name: &'static str) -> Parameter {
    Parameter { name, kind, mpi_name }
}

const COUNT: Parameter = parameter("count", Kind::Count, "count");
const BLOCKLENGTH: Parameter = parameter("blocklength", Kind::Count, "blocklength");
const BLOCKLENGTHS: Parameter = parameter("blocklengths", Kind::Counts, "array_of_blocklengths");
const DISPLACEMENTS: Parameter =
    parameter("displacements", Kind::Offsets, "array_of_displacements");
const STRIDE: Parameter = parameter("stride", Kind::Offset, "stride");
const TYPE: Parameter = parameter("type", Kind::Type, "oldtype");
const ORDER: Parameter = parameter("order", Kind::Order, "order");
const P: Parameter = parameter("p", Kind::Digits, "p");
const R: Parameter = parameter("r", Kind::Digits, "r");

/// A constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constructor {
    Contiguous,
    Vector,
    Hvector,
    Indexed,
    Hindexed,
    IndexedBlock,
    HindexedBlock,
    Structure,
    Subarray,
    Darray,
    Resized,
    Dup,
    ValueIndex,
    F90Real,
    F90Complex,
    F90Integer,
    Mpich,
}

/// The names of the constructors; a second name for one comes behind the first.
pub(super) const NAMES: &[(&str, Constructor)] = &[
    ("contiguous", Constructor::Contiguous),
    ("vector", Constructor::Vector),
    ("hvector", Constructor::Hvector),
    ("indexed", Constructor::Indexed),
    ("hindexed", Constructor::Hindexed),
    ("indexed_block", Constructor::IndexedBlock),
    ("hindexed_block", Constructor::HindexedBlock),
    ("struct", Constructor::Structure),
    ("structure", Constructor::Structure),
    ("subarray", Constructor::Subarray),
    ("darray", Constructor::Darray),
    ("resized", Constructor::Resized),
    ("dup", Constructor::Dup),
    ("value_index", Constructor::ValueIndex),
    ("f90_real", Constructor::F90Real),
    ("f90_complex", Constructor::F90Complex),
    ("f90_integer", Constructor::F90Integer),
    ("mpich_bounds", Constructor::Mpich),
];

/// An argument, as its parameter takes it.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    Count(u64),
    Offset(i64),
    Counts(Vec<u64>),
    Offsets(Vec<i64>),
    Type(Type),
    Types(Vec<Type>),
    Order(Order),
    Distributions(Vec<Distribution>),
    Digits(Option<u32>),
}

impl Constructor {
    pub(super) fn find(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, constructor)| *constructor)
    }

    /// The parameters, in the order of MPI's call.
    pub(super) fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::Contiguous => &[COUNT, TYPE],
            Self::Vector | Self::Hvector => &[COUNT, BLOCKLENGTH, STRIDE, TYPE],
            Self::Indexed | Self::Hindexed => &[BLOCKLENGTHS, DISPLACEMENTS, TYPE],
            Self::IndexedBlock | Self::HindexedBlock => &[BLOCKLENGTH, DISPLACEMENTS, TYPE],
            Self::Structure => {
                const TYPES: Parameter = parameter("types", Kind::Types, "array_of_types");
                &[BLOCKLENGTHS, DISPLACEMENTS, TYPES]
            }
            Self::Subarray => {
                const SIZES: Parameter = parameter("sizes", Kind::Counts, "array_of_sizes");
                const SUBSIZES: Parameter =
                    parameter("subsizes", Kind::Counts, "array_of_subsizes");
                const STARTS: Parameter = parameter("starts", Kind::Counts, "array_of_starts");
                &[SIZES, SUBSIZES, STARTS, ORDER, TYPE]
            }
            Self::Darray => {
                const SIZE: Parameter = parameter("size", Kind::Count, "size");
                const RANK: Parameter = parameter("rank", Kind::Count, "rank");
                const GSIZES: Parameter = parameter("gsizes", Kind::Counts, "array_of_gsizes");
                const DISTRIBUTIONS: Parameter =
                    parameter("distributions", Kind::Distributions, "array_of_distribs");
                const PSIZES: Parameter = parameter("psizes", Kind::Counts, "array_of_psizes");
                &[SIZE, RANK, GSIZES, DISTRIBUTIONS, PSIZES, ORDER, TYPE]
            }
            Self::Resized => {
                const LB: Parameter = parameter("lb", Kind::Offset, "lb");
                const EXTENT: Parameter = parameter("extent", Kind::Offset, "extent");
                &[TYPE, LB, EXTENT]
            }
            Self::Dup | Self::Mpich => &[TYPE],
            Self::ValueIndex => {
                const VALUE: Parameter = parameter("value", Kind::Type, "value_type");
                const INDEX: Parameter = parameter("index", Kind::Type, "index_type");
                &[VALUE, INDEX]
            }
            Self::F90Real | Self::F90Complex => &[P, R],
            Self::F90Integer => &[R],
        }
    }

    /// Makes the call.
    ///
    /// # Panics
    ///
    /// When the arguments are not of the parameters' kinds.
    pub(super) fn call(self, arguments: &[Argument]) -> Result<Type, Error> {
        use Argument as A;
        match (self, arguments) {
            (Self::Contiguous, [A::Count(count), A::Type(old)]) => Type::contiguous(*count, old),
            (
                Self::Vector,
                [A::Count(count), A::Count(length), A::Offset(stride), A::Type(old)],
            ) => Type::vector(*count, *length, *stride, old),
            (
                Self::Hvector,
                [A::Count(count), A::Count(length), A::Offset(stride), A::Type(old)],
            ) => Type::hvector(*count, *length, *stride, old),
            (Self::Indexed, [A::Counts(lengths), A::Offsets(places), A::Type(old)]) => {
                Type::indexed(lengths, places, old)
            }
            (Self::Hindexed, [A::Counts(lengths), A::Offsets(places), A::Type(old)]) => {
                Type::hindexed(lengths, places, old)
            }
            (Self::IndexedBlock, [A::Count(length), A::Offsets(places), A::Type(old)]) => {
                Type::indexed_block(*length, places, old)
            }
            (Self::HindexedBlock, [A::Count(length), A::Offsets(places), A::Type(old)]) => {
                Type::hindexed_block(*length, places, old)
            }
            (Self::Structure, [A::Counts(lengths), A::Offsets(places), A::Types(types)]) => {
                Type::structure(lengths, places, types)
            }
            (
                Self::Subarray,
                [
                    A::Counts(sizes),
                    A::Counts(part),
                    A::Counts(starts),
                    A::Order(order),
                    A::Type(old),
                ],
            ) => Type::subarray(sizes, part, starts, *order, old),
            (
                Self::Darray,
                [
                    A::Count(size),
                    A::Count(rank),
                    A::Counts(gsizes),
                    A::Distributions(distributions),
                    A::Counts(psizes),
                    A::Order(order),
                    A::Type(old),
                ],
            ) => Type::darray(*size, *rank, gsizes, distributions, psizes, *order, old),
            (Self::Resized, [A::Type(old), A::Offset(lb), A::Offset(extent)]) => {
                Type::resized(old, *lb, *extent)
            }
            (Self::Dup, [A::Type(old)]) => Type::dup(old),
            (Self::Mpich, [A::Type(old)]) => old.with_bounds(Bounds::Mpich),
            (Self::ValueIndex, [A::Type(value), A::Type(index)]) => Type::value_index(value, index),
            (Self::F90Real, [A::Digits(p), A::Digits(r)]) => Type::f90_real(*p, *r),
            (Self::F90Complex, [A::Digits(p), A::Digits(r)]) => Type::f90_complex(*p, *r),
            (Self::F90Integer, [A::Digits(r)]) => Type::f90_integer(r.unwrap_or_default()),
            (constructor, arguments) => unreachable!("{constructor:?} of {arguments:?}"),
        }
    }
}
