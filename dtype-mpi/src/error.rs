//! What can go wrong between the two libraries. Every variant says what was asked and what was there.

use mpi::ffi;
use thiserror::Error;

/// A conversion that was refused, or a call that an MPI library refused. No MPI datatype is left behind by
/// one that failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// MPI is not there: it was not initialised yet, or is finalized; or it has called the function of a
    /// reduction, which must not call MPI (MPI-4.1 section 6.9.5).
    #[error("{call} was asked for while MPI is {state}")]
    NotRunning {
        /// The call that would have been made.
        call: &'static str,
        /// `"not initialised"`, `"finalized"` or `"reducing"`.
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
    #[error("{call} failed: {message} (code {code}, class {class})")]
    Call {
        /// The call.
        call: &'static str,
        /// Its return code.
        code: i32,
        /// The error class of the code (MPI-4.1 section 9.4), as the library numbers it: `mpi::ffi` has the
        /// names.
        class: i32,
        /// What the library says about the code.
        message: String,
    },
    /// More elements or bytes than the library's call can count.
    #[error("{call} cannot count to {count} in this MPI library; the most is {limit}")]
    Count {
        /// The call that would have been made.
        call: &'static str,
        /// Elements or bytes that it was to be made with.
        count: u64,
        /// The most that it takes.
        limit: u64,
    },
    /// The library gives a datatype another size or other bounds than it has here, so that it would access
    /// other memory.
    #[error("the {quantity} of the datatype is {here} here and {library} in this MPI library")]
    Bounds {
        /// `"size"`, `"lower bound"`, `"extent"`, `"true lower bound"` or `"true extent"`.
        quantity: &'static str,
        /// Bytes, as `dtype-runtime` has it.
        here: i64,
        /// Bytes, as the library has it.
        library: i64,
    },
    /// A message that is longer than the memory for it.
    #[error(
        "the message from rank {source_rank} with tag {tag} has {bytes} bytes, there is room for {capacity}"
    )]
    Truncated {
        /// The rank that sent it.
        source_rank: i32,
        /// Its tag.
        tag: i32,
        /// Bytes that it has; where the library does not tell, what arrived of it.
        bytes: u64,
        /// Packed bytes that there is room for.
        capacity: u64,
    },
    /// A message that is shorter than what it must fill.
    #[error(
        "the message from rank {source_rank} with tag {tag} has {bytes} bytes, {expected} are needed"
    )]
    Short {
        /// The rank that sent it.
        source_rank: i32,
        /// Its tag.
        tag: i32,
        /// Bytes that it has.
        bytes: u64,
        /// Bytes that it must have.
        expected: u64,
    },
    /// A message that is no whole number of elements.
    #[error(
        "a message of {bytes} bytes holds {elements} elements of {element} packed bytes and a part of one more"
    )]
    Partial {
        /// Bytes that it has.
        bytes: u64,
        /// Whole elements in it.
        elements: u64,
        /// Packed bytes of one.
        element: u64,
    },
    /// A message was to be received a second time, or a send that is over to be waited for.
    #[error("the message was received before, or its sending is over")]
    Received,
    /// The first message of a pipelined transfer is none.
    #[error("{bytes} bytes came that do not begin a pipelined transfer")]
    Header {
        /// Bytes that it has.
        bytes: u64,
    },
    /// A root that is no rank of the communicator.
    #[error("the root is {root}; the communicator has the ranks from 0 to {last}")]
    Root {
        /// The rank that was given.
        root: i32,
        /// The greatest rank.
        last: i32,
    },
    /// The ranks called a collective operation with arguments that do not go together.
    #[error("rank {rank} gave {theirs} as {argument}, this one {ours}")]
    Mismatch {
        /// A rank that gave another.
        rank: i32,
        /// `"the root"`, `"the count"`.
        argument: &'static str,
        /// What this rank gave.
        ours: i64,
        /// What that rank gave.
        theirs: i64,
    },
    /// A collective operation on an intercommunicator (MPI-4.1 section 7.6), where what is for one rank of the own
    /// group would come from each of the other.
    #[error(
        "a collective operation on an intercommunicator, with {local} ranks on this side and {remote} on the other"
    )]
    Intercommunicator {
        /// Ranks in the group that this one is in.
        local: i32,
        /// Ranks in the other group.
        remote: i32,
    },
    /// Counts that do not divide the elements among the ranks.
    #[error("{counts} counts with the sum {sum}, for {elements} elements and {ranks} ranks")]
    Counts {
        /// How many counts were given.
        counts: usize,
        /// Their sum; `u64::MAX` if it is more.
        sum: u64,
        /// How many elements were given.
        elements: usize,
        /// How many ranks there are.
        ranks: i32,
    },
    /// Another rank refused a collective operation, and nobody took part in it.
    #[error("rank {rank} refused the collective operation")]
    Peer {
        /// The greatest rank that did.
        rank: i32,
    },
    /// The function of a reduction panicked.
    #[error("the function of the reduction panicked: {message}")]
    Panic {
        /// What it said.
        message: String,
    },
    /// A struct has other fields than the elements it was to be seen as, or padding.
    #[error("{name} is not made of {element} alone")]
    NotHomogeneous {
        /// The type.
        name: &'static str,
        /// The type of the elements.
        element: &'static str,
    },
    /// The memory for a message could not be allocated.
    #[error("no memory for a message of {bytes} bytes")]
    Allocation {
        /// Bytes asked for.
        bytes: usize,
    },
    /// The datatype cannot be taken apart or built on the side of `dtype-runtime`, or its bytes are no values.
    #[error(transparent)]
    Type(#[from] dtype_runtime::Error),
}

/// The largest message that a library has for a return code.
pub(crate) const MESSAGE: usize = ffi::MPI_MAX_ERROR_STRING as usize;
