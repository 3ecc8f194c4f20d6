//! Decoding: from a datatype back to the call that made it.
//!
//! MPI-4.1 section 5.1.13. What comes back is what was asked for, not what it was optimized to: a
//! `vector(10, 2, 2)` decodes to 10, 2, 2, although it is contiguous.
//!
//! Each constructor's arguments are one sequence of [`Argument`]s, in the order of the call. Writing
//! it to the arrays of [`Contents`], and reading it back from them, follows from what kind of argument
//! each is, in the small form and in the large.

mod arguments;
mod rebuild;

use alloc::vec::Vec;

use super::array::Distribution;
use super::{Constructor, Type};
use crate::error::Error;
use arguments::Argument;

/// The call that made a datatype.
///
/// The numbers are those of the ABI of MPI-5.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Combiner {
    /// A named predefined datatype, or a marker (`MPI_COMBINER_NAMED`).
    Named = 101,
    /// [`Type::dup`] (`MPI_COMBINER_DUP`).
    Dup = 102,
    /// [`Type::contiguous`] (`MPI_COMBINER_CONTIGUOUS`).
    Contiguous = 103,
    /// [`Type::vector`] (`MPI_COMBINER_VECTOR`).
    Vector = 104,
    /// [`Type::hvector`] (`MPI_COMBINER_HVECTOR`).
    Hvector = 105,
    /// [`Type::indexed`] (`MPI_COMBINER_INDEXED`).
    Indexed = 106,
    /// [`Type::hindexed`] (`MPI_COMBINER_HINDEXED`).
    Hindexed = 107,
    /// [`Type::indexed_block`] (`MPI_COMBINER_INDEXED_BLOCK`).
    IndexedBlock = 108,
    /// [`Type::hindexed_block`] (`MPI_COMBINER_HINDEXED_BLOCK`).
    HindexedBlock = 109,
    /// [`Type::structure`] (`MPI_COMBINER_STRUCT`).
    Structure = 110,
    /// [`Type::subarray`] (`MPI_COMBINER_SUBARRAY`).
    Subarray = 111,
    /// [`Type::darray`] (`MPI_COMBINER_DARRAY`).
    Darray = 112,
    /// [`Type::f90_real`] (`MPI_COMBINER_F90_REAL`).
    F90Real = 113,
    /// [`Type::f90_complex`] (`MPI_COMBINER_F90_COMPLEX`).
    F90Complex = 114,
    /// [`Type::f90_integer`] (`MPI_COMBINER_F90_INTEGER`).
    F90Integer = 115,
    /// [`Type::resized`] (`MPI_COMBINER_RESIZED`).
    Resized = 116,
    /// [`Type::value_index`] without a name (`MPI_COMBINER_VALUE_INDEX`).
    ValueIndex = 117,
}

impl Combiner {
    /// The number of the MPI-5.0 ABI.
    pub const fn abi_value(self) -> i32 {
        self as i32
    }

    /// The constructor's name here.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Dup => "dup",
            Self::Contiguous => "contiguous",
            Self::Vector => "vector",
            Self::Hvector => "hvector",
            Self::Indexed => "indexed",
            Self::Hindexed => "hindexed",
            Self::IndexedBlock => "indexed_block",
            Self::HindexedBlock => "hindexed_block",
            Self::Structure => "structure",
            Self::Subarray => "subarray",
            Self::Darray => "darray",
            Self::F90Real => "f90_real",
            Self::F90Complex => "f90_complex",
            Self::F90Integer => "f90_integer",
            Self::Resized => "resized",
            Self::ValueIndex => "value_index",
        }
    }
}

/// How many arguments of which kind made a datatype (`MPI_Type_get_envelope`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// Length of [`Contents::integers`].
    pub num_integers: usize,
    /// Length of [`Contents::addresses`].
    pub num_addresses: usize,
    /// Length of [`Contents::large_counts`].
    pub num_large_counts: usize,
    /// Length of [`Contents::datatypes`].
    pub num_datatypes: usize,
    /// The call.
    pub combiner: Combiner,
}

impl Envelope {
    /// The envelope as the calls without large counts return it.
    ///
    /// # Errors
    ///
    /// [`Error::LargeCounts`], which is of MPI's class `MPI_ERR_TYPE`, for a type made with an argument
    /// beyond 32 bits.
    pub const fn small(self) -> Result<Self, Error> {
        match self.num_large_counts {
            0 => Ok(self),
            number => Err(Error::LargeCounts { number }),
        }
    }
}

/// The arguments that made a datatype (`MPI_Type_get_contents`), in the arrays and at the places where
/// the standard puts them.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The call.
    pub combiner: Combiner,
    /// The arguments of type `int`.
    pub integers: Vec<i32>,
    /// The arguments of type `MPI_Aint`.
    pub addresses: Vec<i64>,
    /// The arguments of type `MPI_Count`: none, unless one of them does not fit an `int`.
    pub large_counts: Vec<i64>,
    /// The datatypes.
    pub datatypes: Vec<Type>,
}

impl Type {
    /// How many arguments of which kind made this type.
    ///
    /// ```
    /// use dtype_runtime::types::Combiner;
    /// use dtype_runtime::{Basic, Type};
    /// let rows = Type::hvector(3, 2, 100, &Type::basic(Basic::F64))?;
    /// let envelope = rows.envelope();
    /// assert_eq!(envelope.combiner, Combiner::Hvector);
    /// assert_eq!((envelope.num_integers, envelope.num_addresses), (2, 1));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_get_envelope")]
    pub fn envelope(&self) -> Envelope {
        let arguments = self.arguments();
        let large = arguments::are_large(&arguments);
        let mut envelope = Envelope {
            num_integers: 0,
            num_addresses: 0,
            num_large_counts: 0,
            num_datatypes: self.parts().len(),
            combiner: self.combiner(),
        };
        for argument in arguments {
            *match (argument, large) {
                (Argument::Int(_), _) | (Argument::Count(_), false) => &mut envelope.num_integers,
                (Argument::Address(_), false) => &mut envelope.num_addresses,
                (Argument::Count(_) | Argument::Address(_), true) => &mut envelope.num_large_counts,
            } += 1;
        }
        envelope
    }

    /// The arguments that made this type.
    ///
    /// # Errors
    ///
    /// [`Error::NoContents`] for a named datatype; [`Error::Overflow`] where an argument fits no array:
    /// a count of 2⁶³ or more, or a process grid beyond 32 bits; [`Error::Contents`] for a darray with
    /// blocks of just 19 elements, the number that stands for the default.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let contents = Type::vector(10, 2, 2, &Type::basic(Basic::U16))?.contents()?;
    /// assert_eq!(contents.integers, [10, 2, 2]);
    /// assert_eq!(contents.rebuild()?.size(), 40);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_get_contents")]
    pub fn contents(&self) -> Result<Contents, Error> {
        let combiner = self.combiner();
        if combiner == Combiner::Named {
            return Err(Error::NoContents { name: self.constructor().name() });
        }
        let arguments = self.arguments();
        let large = arguments::are_large(&arguments);
        let mut contents = Contents {
            combiner,
            integers: Vec::new(),
            addresses: Vec::new(),
            large_counts: Vec::new(),
            datatypes: self.parts(),
        };
        if let Constructor::Darray { arguments, .. } = self.constructor()
            && arguments.distributions.iter().any(Distribution::reads_as_default)
        {
            let problem = "a distribution argument of 19, which the ABI takes for the default";
            return Err(Error::Contents { combiner: combiner.name(), problem });
        }
        let overflow = Error::Overflow { call: combiner.name(), quantity: "argument" };
        for argument in arguments {
            let fits = match (argument, large) {
                (Argument::Int(value), _) | (Argument::Count(value), false) => {
                    i32::try_from(value).map(|value| contents.integers.push(value)).is_ok()
                }
                (Argument::Address(value), false) => {
                    contents.addresses.push(value);
                    true
                }
                (Argument::Address(value), true) => {
                    contents.large_counts.push(value);
                    true
                }
                (Argument::Count(value), true) => {
                    i64::try_from(value).map(|value| contents.large_counts.push(value)).is_ok()
                }
            };
            if !fits {
                return Err(overflow);
            }
        }
        Ok(contents)
    }
}
