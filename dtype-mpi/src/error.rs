//! What can go wrong between the two libraries. Every variant says what was asked and what was there.

use mpi::ffi;
use thiserror::Error;

/// A conversion that was refused, or a call that an MPI library refused. No MPI datatype is left behind by
/// one that failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// MPI is not there: it was not initialised yet, or is finalized.
    #[error("{call} was asked for while MPI is {state}")]
    NotRunning {
        /// The call that would have been made.
        call: &'static str,
        /// `"not initialised"` or `"finalized"`.
        state: &'static str,
    },
    /// The calling thread may not call MPI (MPI-4.1 section 11.2.1).
    #[error(
        "{call} was asked for on a thread that did not initialise MPI, whose thread level is {level} and not MPI_THREAD_MULTIPLE"
    )]
    Thread {
        /// The call that would have been made.
        call: &'static str,
        /// The level that MPI provides, as the library numbers it.
        level: i32,
    },
    /// The library has no predefined datatype for a basic datatype, a pair or a marker.
    #[error("this MPI library has no predefined datatype for {name}")]
    NoSuchType {
        /// The type: MPI's name for it where it has one, and otherwise the name in `dtype-runtime`.
        name: &'static str,
    },
    /// The library lacks the call that makes such a type.
    #[error("this MPI library cannot make a {combiner} type")]
    NoSuchCall {
        /// The constructor.
        combiner: &'static str,
    },
    /// An argument needs more than 32 bits, and the library lacks the calls with large counts.
    #[error(
        "a {combiner} type with {number} large counts, and this MPI library has no calls that take them"
    )]
    LargeCounts {
        /// The constructor.
        combiner: &'static str,
        /// How many large counts its contents have.
        number: usize,
    },
    /// An argument does not fit the type that the library's call takes.
    #[error(
        "the argument {value} of {call} does not fit the {bits} bits that the library has for it"
    )]
    Argument {
        /// The call that would have been made.
        call: &'static str,
        /// The argument.
        value: i64,
        /// Bits that it may have, sign included.
        bits: u32,
    },
    /// A datatype says that it was made by a call that is none of the standard's.
    #[error("a datatype with the combiner {value}, which is not one of MPI-4.1")]
    UnknownCombiner {
        /// The combiner, as the library numbers it.
        value: i32,
    },
    /// A predefined datatype that has no counterpart here.
    #[error("the predefined datatype {name:?} has no counterpart among the basic datatypes")]
    UnknownName {
        /// Its name, as the library gives it.
        name: String,
    },
    /// The null handle was given in the place of a datatype.
    #[error("the null datatype has no type map")]
    Null,
    /// The arguments that a datatype says it was made with have a constant in them that the standard does
    /// not know, or a number that reads as one of its constants.
    #[error("the contents of a {combiner} type have {value} in the place of {what}")]
    Constant {
        /// The constructor.
        combiner: &'static str,
        /// What stands at this place: `"an order"`.
        what: &'static str,
        /// The value, as the library numbers it.
        value: i32,
    },
    /// The arrays of a datatype's contents are shorter than its combiner asks for.
    #[error("the contents of a {combiner} type end before {what}")]
    Contents {
        /// The constructor.
        combiner: &'static str,
        /// What should have come next.
        what: &'static str,
    },
    /// A datatype nests deeper than [`MAX_DEPTH`](dtype_runtime::typemap::MAX_DEPTH) levels.
    #[error("a datatype that nests deeper than {limit} levels")]
    TooDeep {
        /// Levels that it may have.
        limit: u32,
    },
    /// A call of the library failed.
    #[error("{call} failed: {message} (code {code})")]
    Call {
        /// The call.
        call: &'static str,
        /// Its return code.
        code: i32,
        /// What the library says about the code.
        message: String,
    },
    /// The datatype cannot be taken apart or built on the side of `dtype-runtime`.
    #[error(transparent)]
    Type(#[from] dtype_runtime::Error),
}

/// The largest message that a library has for a return code.
pub(crate) const MESSAGE: usize = ffi::MPI_MAX_ERROR_STRING as usize;
