//! Errors of conversions and of calls. Every variant says what was expected and what was found.

pub use dtype_message::Difference;
use mpi::ffi;
use thiserror::Error;

/// A conversion that was refused, or a call that the MPI library refused. A failed conversion frees the MPI datatypes that it
/// made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// MPI is not running: it is not initialised yet, or it is finalized. Or the calling code is the function of a reduction,
    /// which must not call MPI (MPI-4.1 section 6.9.5).
    #[error("{call} was asked for while MPI is {state}")]
    NotRunning {
        /// The call that would have been made.
        call: &'static str,
        /// `"not initialised"`, `"finalized"` or `"reducing"`.
        state: &'static str,
    },
    /// The MPI library that the process has loaded is older than the one that the program was compiled for, or another one.
    #[error(
        "the program was compiled for {compiled} and runs with {running}: add the folder of the library to LD_LIBRARY_PATH, or link the program with it as the run path (`-Wl,-rpath,FOLDER`); the program was compiled with {folders}"
    )]
    Library {
        /// The library that `mpi.h` belongs to, and its version.
        compiled: String,
        /// The library that is loaded, as it names itself.
        running: String,
        /// Where the library was when the program was compiled.
        folders: &'static str,
    },
    /// The calling thread must not call MPI (MPI-4.1 section 11.2.1).
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
        /// The type: its MPI name if it has one, otherwise its name in `dtype-runtime`.
        name: &'static str,
    },
    /// The library lacks the call that makes this type.
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
        /// The number of large counts in its contents.
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
        /// The bits available, including the sign.
        bits: u32,
    },
    /// A datatype was made by a call that the standard does not have.
    #[error("a datatype with the combiner {value}, which is not one of MPI-4.1")]
    UnknownCombiner {
        /// The combiner, as the library numbers it.
        value: i32,
    },
    /// A predefined datatype without a counterpart in `dtype-runtime`.
    #[error("the predefined datatype {name:?} has no counterpart among the basic datatypes")]
    UnknownName {
        /// The name of the datatype according to the library.
        name: String,
    },
    /// The null handle was given instead of a datatype.
    #[error("the null datatype has no type map")]
    Null,
    /// The contents of a datatype have a constant that the standard does not define, or a number that reads as one
    /// of its constants.
    #[error("the contents of a {combiner} type have {value}, expected {what}")]
    Constant {
        /// The constructor.
        combiner: &'static str,
        /// What was expected: `"an order"`.
        what: &'static str,
        /// The value, as the library numbers it.
        value: i32,
    },
    /// The arrays of a datatype's contents are shorter than its combiner requires.
    #[error("the contents of a {combiner} type end before {what}")]
    Contents {
        /// The constructor.
        combiner: &'static str,
        /// What was expected next.
        what: &'static str,
    },
    /// A datatype nests deeper than [`MAX_DEPTH`](dtype_runtime::typemap::MAX_DEPTH) levels.
    #[error("a datatype that nests deeper than {limit} levels")]
    TooDeep {
        /// The number of levels allowed.
        limit: u32,
    },
    /// A call of the library failed.
    #[error("{call} failed: {message} (code {code}, class {class})")]
    Call {
        /// The failed call.
        call: &'static str,
        /// The return code of the call.
        code: i32,
        /// The error class of the code (MPI-4.1 section 9.4), as the library numbers it: `mpi::ffi` has the names.
        class: i32,
        /// The library's message for the code.
        message: String,
    },
    /// More elements or bytes than the library's call can count.
    #[error("{call} cannot count to {count}: the limit of this MPI library is {limit}")]
    Count {
        /// The call that would have been made.
        call: &'static str,
        /// The number of elements or bytes in the call.
        count: u64,
        /// The greatest number that the call takes.
        limit: u64,
    },
    /// The library computes another size or other bounds for the datatype, or for a part of it, so that it would access
    /// other memory.
    #[error(
        "the {quantity} of the datatype or of a part of it is {here} here and {library} in this MPI library"
    )]
    Bounds {
        /// Which bound differs: `"size"`, `"lower bound"`, `"extent"`, `"true lower bound"` or `"true extent"`.
        quantity: &'static str,
        /// The bytes according to `dtype-runtime`.
        here: i64,
        /// The bytes according to the library.
        library: i64,
    },
    /// MPI libraries have a defect: for some types made like this one, they access wrong bytes although the bounds are right.
    /// This crate does not let the library access memory with this datatype, or with one that contains it.
    #[error(
        "MPI libraries have a defect: they access wrong bytes for some {combiner} types {what}"
    )]
    LibraryDefect {
        /// The constructor.
        combiner: &'static str,
        /// `"with a part without data"` or `"with a negative extent"`.
        what: &'static str,
    },
    /// A message that is longer than the memory for it.
    #[error(
        "the message from rank {source_rank} with tag {tag} has {bytes} bytes, expected at most {capacity}"
    )]
    Truncated {
        /// The rank that sent the message.
        source_rank: i32,
        /// The tag of the message.
        tag: i32,
        /// The bytes of the message; if the library does not report them, the bytes that arrived.
        bytes: u64,
        /// The packed bytes that fit.
        capacity: u64,
    },
    /// A message that is shorter than the memory that it must fill.
    #[error(
        "the message from rank {source_rank} with tag {tag} has {bytes} bytes, expected {expected}"
    )]
    Short {
        /// The rank that sent the message.
        source_rank: i32,
        /// The tag of the message.
        tag: i32,
        /// The bytes of the message.
        bytes: u64,
        /// The bytes expected.
        expected: u64,
    },
    /// A message that is not a whole number of elements.
    #[error("{bytes} bytes is not a multiple of the packed element size ({element})")]
    Partial {
        /// The bytes of the message.
        bytes: u64,
        /// The number of whole elements in the message.
        elements: u64,
        /// Packed bytes of one element.
        element: u64,
    },
    /// An attempt to receive a message a second time, or to wait for a send that is already complete.
    #[error("the message was received before, or its sending is over")]
    Received,
    /// The first message of a pipelined transfer is not a header.
    #[error("a message of {bytes} bytes is not the header of a pipelined transfer")]
    Header {
        /// The bytes of the message.
        bytes: u64,
    },
    /// A root that is not a rank of the communicator.
    #[error("root {root} is not a rank of the communicator, expected 0 to {last}")]
    Root {
        /// The rank that was given.
        root: i32,
        /// The greatest rank.
        last: i32,
    },
    /// The ranks called a collective operation with arguments that do not match.
    #[error("rank {rank} gave {theirs} as {argument}, this one {ours}")]
    Mismatch {
        /// A rank that gave another value.
        rank: i32,
        /// The argument: `"the root"` or `"the count"`.
        argument: &'static str,
        /// The value at this rank.
        ours: i64,
        /// The value at that rank.
        theirs: i64,
    },
    /// The type signatures differ: ranks called a collective operation with elements of different types, or the two ends of a
    /// part of an [`Exchange`](crate::Exchange) have different types.
    #[error("rank {rank} has elements {theirs}, expected {ours} as at this rank")]
    Elements {
        /// A rank with elements of another type.
        rank: i32,
        /// The type signature at this rank, or its beginning: `"{f64, i32}"`.
        ours: String,
        /// The type signature at that rank, or its beginning.
        theirs: String,
    },
    /// A [checked](crate::traits::CheckedDestination::send_checked) message with elements of another type.
    #[error(
        "the message from rank {source_rank} with tag {tag} has other elements than `{expected}`{}",
        listed(differences)
    )]
    Signature {
        /// The rank that sent the message.
        source_rank: i32,
        /// The tag of the message.
        tag: i32,
        /// The name of the type that was expected.
        expected: String,
        /// What differs, "there" at the sender and "here" at this rank. Empty for elements of one byte, and if the message that
        /// described the type went to another receive call.
        differences: Vec<Difference>,
    },
    /// A message for [`recv_checked`](crate::traits::CheckedSource::recv_checked) without a type signature.
    #[error(
        "the message from rank {source_rank} with tag {tag} was not sent by `send_checked`: receive it with `recv_packed`"
    )]
    NotChecked {
        /// The rank that sent the message.
        source_rank: i32,
        /// The tag of the message.
        tag: i32,
    },
    /// The type of a [`Part`](crate::Part) or a [`Layout`](crate::Layout) names data that the elements of the slice do not have.
    #[error(
        "the type has {found} at byte {offset} of an element of the slice, where {element} has {expected}"
    )]
    Memory {
        /// The type of the elements.
        element: &'static str,
        /// Bytes from the start of an element; if it is an array, from the start of an element of the array.
        offset: u64,
        /// The basic datatype that the type names.
        found: &'static str,
        /// The basic datatype of the element, which may start at an earlier byte; `"no data"` for padding and skipped fields.
        expected: &'static str,
    },
    /// The type of a received [`Part`](crate::Part) names single values of elements that must be checked as a whole.
    #[error(
        "the type names data of {element} at byte {offset} that must be checked: make it of whole elements, with `Type::of_record::<{element}>()`"
    )]
    Unchecked {
        /// The type of the elements of the slice.
        element: &'static str,
        /// Bytes from the start of an element; if it is an array, from the start of an element of the array.
        offset: u64,
    },
    /// Two parts of an [`Exchange`](crate::Exchange) name the same byte, and at least one of them is received.
    #[error(
        "the part {received} that is received and the part {other} that is {} overlap at byte {byte}",
        if *is_sent { "sent" } else { "received" }
    )]
    Overlap {
        /// The index of one part, among the received parts.
        received: usize,
        /// The index of the other part.
        other: usize,
        /// Whether the other part is sent.
        is_sent: bool,
        /// The first byte in the memory that both name.
        byte: i64,
    },
    /// A part of an [`Exchange`](crate::Exchange) names a rank that is not in the communicator.
    #[error("rank {rank} of a part is not a rank of the communicator, expected 0 to {last}")]
    Rank {
        /// The rank that was given.
        rank: i32,
        /// The greatest rank.
        last: i32,
    },
    /// A part of an [`Exchange`](crate::Exchange) has a tag that some libraries do not accept (MPI-4.1 section 3.2.3).
    #[error("the part for rank {rank} has the tag {tag}, expected 0 to 32767")]
    Tag {
        /// The rank of the part.
        rank: i32,
        /// The tag that was given.
        tag: i32,
    },
    /// A rank sends more or fewer parts of an [`Exchange`](crate::Exchange) than this one receives from it.
    #[error("rank {rank} sends {sent} parts with the tag {tag}, and this rank receives {received}")]
    Unmatched {
        /// The rank that sends.
        rank: i32,
        /// The tag.
        tag: i32,
        /// The number of parts with this tag that the other rank sends to this rank.
        sent: usize,
        /// The number of parts that this rank receives.
        received: usize,
    },
    /// A grid that cannot have a halo: the number of its sizes is not the communicator's number of dimensions, there are more
    /// than nine dimensions, or a size is less than three borders.
    #[error(
        "a halo of width {width} for a grid of {sizes:?} elements: expected {dimensions} sizes of three widths or more, at most nine"
    )]
    Halo {
        /// The sizes that were given.
        sizes: Vec<usize>,
        /// The width of the border on each side, in elements.
        width: usize,
        /// The number of dimensions of the communicator.
        dimensions: usize,
    },
    /// A collective operation on an intercommunicator (MPI-4.1 section 7.6), where each rank would receive from
    /// every rank of the other group instead of its own.
    #[error(
        "a collective operation on an intercommunicator, with {local} ranks on this side and {remote} on the other"
    )]
    Intercommunicator {
        /// Number of ranks in this rank's group.
        local: i32,
        /// Number of ranks in the other group.
        remote: i32,
    },
    /// Counts that do not divide the elements among the ranks.
    #[error("{counts} counts with the sum {sum}, for {elements} elements and {ranks} ranks")]
    Counts {
        /// The number of counts given.
        counts: usize,
        /// The sum of the counts; `u64::MAX` if it is greater.
        sum: u64,
        /// The number of elements given.
        elements: usize,
        /// The number of ranks.
        ranks: i32,
    },
    /// Another rank refused a collective operation, so no rank performed it; or a rank sent nothing in a round of an
    /// [`Exchange`](crate::Exchange), because it had an error.
    #[error("rank {rank} refused the operation")]
    Peer {
        /// The greatest rank that refused; in an exchange, the rank of the first part that did not come.
        rank: i32,
    },
    /// The function of a reduction panicked.
    #[error("the function of the reduction panicked: {message}")]
    Panic {
        /// The message of the panic.
        message: String,
    },
    /// A struct has padding, or fields other than the elements that it was to be viewed as.
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
        /// The number of bytes that could not be allocated.
        bytes: usize,
    },
    /// The device or its driver refuses to pack or unpack a [message](crate::DeviceMessage).
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Device(#[from] dtype_gpu::Error),
    /// `dtype-runtime` refuses to build or decode the datatype, or the bytes are not valid values.
    #[error(transparent)]
    Type(#[from] dtype_runtime::Error),
}

/// The first differences, after a colon.
fn listed(differences: &[Difference]) -> String {
    const LISTED: usize = 5;
    let mut parts: Vec<_> = differences.iter().take(LISTED).map(ToString::to_string).collect();
    if let Some(more @ 1..) = differences.len().checked_sub(LISTED) {
        parts.push(format!("and {more} more"));
    }
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("{colon}{}", parts.join("; "))
}

/// The greatest length of a message that the library has for a return code.
pub(crate) const MESSAGE: usize = ffi::MPI_MAX_ERROR_STRING as usize;
