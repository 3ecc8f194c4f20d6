//! Decoding, which turns a datatype back into the call that made it.
//!
//! MPI-4.1 section 5.1.13. Decoding returns the original call, not an optimized form: a `vector(10, 2, 2)` decodes to 10, 2, 2,
//! although it is contiguous.
//!
//! The [table of calls](super::call) lists the parameters of each constructor and their C types. From it follow both the small
//! and the large form of the [`Contents`] arrays, in both directions.

mod library;
mod rebuild;

pub use library::{Decoded, Library};

use alloc::vec::Vec;

use super::call::{Argument, CType, Call, Combiner};
use crate::error::Error;
use crate::types::{Distribution, Type};

/// The combiner of a datatype and the number of arguments of each kind (`MPI_Type_get_envelope`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// The envelope as the calls without large counts would return it.
    ///
    /// # Errors
    ///
    /// [`Error::LargeCounts`], of MPI's error class `MPI_ERR_TYPE`, for a type made with an argument that does not
    /// fit 32 bits.
    pub const fn small(self) -> Result<Self, Error> {
        match self.num_large_counts {
            0 => Ok(self),
            number => Err(Error::LargeCounts { number }),
        }
    }
}

/// The arguments that made a datatype (`MPI_Type_get_contents`), in the arrays and in the order that the standard
/// specifies. `T` represents a datatype: a [`Type`], or a handle of an MPI library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Contents<T = Type> {
    /// The call.
    pub combiner: Combiner,
    /// The arguments of type `int`.
    pub integers: Vec<i32>,
    /// The arguments of type `MPI_Aint`.
    pub addresses: Vec<i64>,
    /// The arguments of type `MPI_Count`: empty, unless an argument does not fit an `int`.
    pub large_counts: Vec<i64>,
    /// The datatypes.
    pub datatypes: Vec<T>,
}

impl Type {
    /// The constructor that made this type, and the number of its arguments of each kind.
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
        let mut envelope = Envelope {
            num_integers: 0,
            num_addresses: 0,
            num_large_counts: 0,
            num_datatypes: 0,
            combiner: self.constructor().combiner(),
        };
        let Some(call) = self.call() else { return envelope };
        let large = call.is_large();
        call.each_number(|number, _| {
            *match (number, large) {
                (CType::Int, _) | (CType::Count, false) => &mut envelope.num_integers,
                (CType::Address, false) => &mut envelope.num_addresses,
                (CType::Count | CType::Address, true) => &mut envelope.num_large_counts,
            } += 1;
        });
        envelope.num_datatypes = call.types().count();
        envelope
    }

    /// The arguments that made this type.
    ///
    /// # Errors
    ///
    /// [`Error::NoContents`] for a named datatype; [`Error::Overflow`] if an argument fits none of the arrays: a
    /// count of 2⁶³ or more, or a process grid beyond 32 bits; [`Error::Contents`] for a darray with blocks of
    /// exactly 19 elements, the number that the MPI-5.0 ABI uses for the default. [`call`](Self::call) returns the
    /// arguments of these types, too.
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
        let call = self.call().ok_or(Error::NoContents { name: self.constructor().name() })?;
        let combiner = call.combiner;
        if call.reads_as_default() {
            let problem = "a distribution argument of 19, which the ABI takes for the default";
            return Err(Error::Contents { combiner: combiner.name(), problem });
        }
        let datatypes = call.types().map(|&part| part.clone()).collect();
        let (mut integers, mut addresses, mut large_counts) = (Vec::new(), Vec::new(), Vec::new());
        let (large, mut fits) = (call.is_large(), true);
        call.each_number(|number, value| match (number, large) {
            (CType::Int, _) | (CType::Count, false) => {
                fits &= i32::try_from(value).map(|value| integers.push(value)).is_ok();
            }
            (CType::Address, false) => {
                fits &= i64::try_from(value).map(|value| addresses.push(value)).is_ok();
            }
            (CType::Count | CType::Address, true) => {
                fits &= i64::try_from(value).map(|value| large_counts.push(value)).is_ok();
            }
        });
        if !fits {
            return Err(Error::Overflow { call: combiner.name(), quantity: "argument" });
        }
        Ok(Contents { combiner, integers, addresses, large_counts, datatypes })
    }
}

impl<T> Call<'_, T> {
    /// Whether a count needs the large-count form of the call.
    #[doc(hidden)]
    pub fn is_large(&self) -> bool {
        let mut large = false;
        self.each_number(|number, value| {
            large |= number == CType::Count && i32::try_from(value).is_err();
        });
        large
    }

    /// Whether an argument is the number that the MPI-5.0 ABI uses for the default.
    #[doc(hidden)]
    pub fn reads_as_default(&self) -> bool {
        self.arguments.iter().any(|argument| match argument {
            Argument::Distributions(list) => {
                list.iter().copied().any(Distribution::reads_as_default)
            }
            _ => false,
        })
    }
}
