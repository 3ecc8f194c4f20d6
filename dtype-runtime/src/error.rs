//! What can go wrong. Every variant says what was asked for and what was there.

mod malformed;

use alloc::string::String;
use core::fmt;

pub use malformed::Malformed;

use crate::representation::LongDouble;

/// An operation that was refused. Nothing was written when one of these comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A quantity does not fit 64 bits (sizes stay below 2⁶³, like `MPI_Count`).
    Overflow {
        /// The call that was made, as it is named here: `"vector"`.
        call: &'static str,
        /// The quantity: `"size"`, `"upper bound"`.
        quantity: &'static str,
    },
    /// Two arrays of one call that go together have different lengths.
    ArgumentLengths {
        /// The call that was made.
        call: &'static str,
        /// The argument, as MPI names it: `"array_of_types"`.
        argument: &'static str,
        /// Number of elements that the call's other arrays have.
        expected: usize,
        /// Number of elements that this one has.
        actual: usize,
    },
    /// An argument is outside its range.
    ArgumentRange {
        /// The call that was made.
        call: &'static str,
        /// The argument, as MPI names it: `"array_of_subsizes"`.
        argument: &'static str,
        /// Which element of it, if it is an array.
        index: Option<usize>,
        /// What was given.
        value: u64,
        /// The least that it may be.
        least: u64,
        /// The most that it may be.
        greatest: u64,
    },
    /// A datatype among the arguments is not one that the call takes.
    ArgumentType {
        /// The call that was made.
        call: &'static str,
        /// The argument, as MPI names it: `"value_type"`.
        argument: &'static str,
        /// What the call takes.
        expected: &'static str,
        /// The constructor of the datatype that was given, or its name.
        actual: &'static str,
    },
    /// Arguments of which one may be undefined, but not all.
    Undefined {
        /// The call that was made.
        call: &'static str,
        /// The arguments, as MPI names them: `"p and r"`.
        arguments: &'static str,
    },
    /// No named datatype has the size that was asked for.
    NoMatch {
        /// The class of types that was asked for.
        class: &'static str,
        /// The bytes that were asked for.
        size: u64,
    },
    /// A named datatype was asked for its contents.
    NoContents {
        /// The datatype.
        name: &'static str,
    },
    /// The small form of an envelope was asked for, and the type was made with large counts. MPI's class
    /// for this is `MPI_ERR_TYPE`.
    LargeCounts {
        /// How many there are.
        number: usize,
    },
    /// Contents that no call can have had.
    Contents {
        /// The constructor that they are said to belong to.
        combiner: &'static str,
        /// What is wrong with them.
        problem: &'static str,
    },
    /// Bytes that are no marshalled datatype.
    Marshalled {
        /// Where in the bytes it shows, counted from the first.
        offset: usize,
        /// What is wrong.
        problem: Malformed,
    },
    /// A datatype would nest deeper than [`MAX_DEPTH`](crate::typemap::MAX_DEPTH) levels.
    TooDeep {
        /// Levels that it would have.
        depth: u32,
        /// Levels that it may have.
        limit: u32,
    },
    /// The description of a datatype would have more entries than one may have.
    TooManyEntries {
        /// Entries that it would have.
        entries: u64,
        /// Entries that it may have.
        limit: u64,
    },
    /// An array whose shape or strides are not those of the layout that was committed.
    ArrayLayout {
        /// The axis that differs, counted from the outermost; `None` if it is the number of axes.
        axis: Option<usize>,
        /// What differs: `"dimensions"`, `"length"` in elements, `"stride in bytes"`.
        quantity: &'static str,
        /// What the committed layout has.
        expected: i64,
        /// What the array has.
        actual: i64,
    },
    /// The destination is too small.
    DestinationTooSmall {
        /// Bytes that the operation writes.
        needed: u64,
        /// Bytes that the destination has.
        available: u64,
    },
    /// The packed bytes are not as many as the operation takes.
    PackedLength {
        /// Bytes that the operation takes.
        expected: u64,
        /// Bytes that were given.
        actual: u64,
    },
    /// The packed bytes end inside a record.
    PartialRecord {
        /// Bytes that were given.
        actual: u64,
        /// Packed bytes of one record.
        record: u64,
    },
    /// `count` instances of a type have more packed bytes than 64 bits can count, or than can be
    /// addressed.
    CountTooLarge {
        /// Instances asked for.
        count: u64,
        /// Packed bytes of one instance.
        size: u64,
    },
    /// A position behind the end of the packed stream.
    Position {
        /// Bytes from the start that were asked for.
        position: u64,
        /// Bytes that the stream has.
        end: u64,
    },
    /// A position in a part of a packed stream that was given to another unpacker.
    OutsidePart {
        /// Bytes from the start of the stream that were asked for.
        position: u64,
        /// Where the part begins that this unpacker has.
        start: u64,
        /// Where that ends.
        end: u64,
    },
    /// A sender and a receiver that are at different positions of their streams.
    OtherPosition {
        /// Bytes from the start that the sender has packed.
        sender: u64,
        /// Bytes from the start that the receiver has unpacked.
        receiver: u64,
    },
    /// A position inside a record whose values have to be checked as a whole, or inside a value that is converted
    /// as a whole because its width changes.
    InsideRecord {
        /// Packed bytes from the start.
        position: u64,
        /// Packed bytes of one record, or of the value.
        record: u64,
    },
    /// A machine of a kind that there is none of.
    Architecture {
        /// What was described: `"long"`.
        property: &'static str,
        /// The bytes that it was said to have.
        bytes: usize,
        /// The bytes that it can have.
        possible: &'static [usize],
    },
    /// Values of a basic datatype cannot be converted between two machines.
    NoConversion {
        /// The basic datatype.
        basic: &'static str,
        /// The format that this machine has.
        here: LongDouble,
        /// The format that the other one has.
        there: LongDouble,
    },
    /// An integer that has no room where it goes.
    IntegerRange {
        /// Where its bytes start in the packed stream.
        position: u64,
        /// The integer.
        value: i128,
        /// The bytes that it would have to fit.
        bytes: u8,
    },
    /// A floating-point number that is too large for the format it goes to, or bits that are no number.
    FloatRange {
        /// Where its bytes start in the packed stream.
        position: u64,
        /// The format.
        format: LongDouble,
    },
    /// The memory of a stream whose values have to be checked before they are written was to be lent for writing.
    Checked {
        /// Packed bytes of one record, which is what is checked as a whole.
        record: u64,
    },
    /// The layout reaches outside the memory that was given.
    OutOfBounds {
        /// First byte that the layout touches, relative to the start of the memory.
        start: i128,
        /// One past the last byte that it touches, likewise.
        end: i128,
        /// Bytes that the memory has.
        len: u64,
    },
    /// The instances name a byte of memory more than once, or too many small blocks interleave to
    /// prove that they do not: such a layout can be packed, not unpacked.
    Overlap {
        /// Instances asked for.
        count: u64,
    },
    /// Packed bytes that would make an invalid value.
    InvalidValue {
        /// Index of the record in the packed bytes.
        record: usize,
        /// Path of the field in the record, `"header.flags[2]"`; empty when the record itself is the
        /// value.
        path: String,
        /// The Rust type that does not have the value.
        expected: &'static str,
        /// The bit pattern that was found, zero-extended.
        value: u128,
    },
    /// The memory for the result could not be allocated.
    Allocation {
        /// Records asked for.
        count: usize,
        /// Bytes of one record in memory.
        stride: usize,
    },
    /// A signature hash that came from elsewhere is not that of the type at hand.
    SignatureMismatch {
        /// The hash of the type at hand.
        expected: u64,
        /// The hash that came.
        actual: u64,
    },
}

impl Error {
    /// The same error in a larger whole, with so many records before those that it counts.
    pub(crate) fn records_later(self, records: usize) -> Self {
        match self {
            Self::InvalidValue { record, path, expected, value } => {
                let record = record.saturating_add(records);
                Self::InvalidValue { record, path, expected, value }
            }
            other => other,
        }
    }
}

impl fmt::Display for Error {
    #[expect(clippy::too_many_lines, reason = "one sentence for each")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overflow { call, quantity } => {
                write!(f, "{call}: the {quantity} does not fit 64 bits")
            }
            Self::ArgumentLengths { call, argument, expected, actual } => {
                write!(
                    f,
                    "{call}: {argument} has {actual} elements, the other arrays have {expected}"
                )
            }
            Self::ArgumentRange { call, argument, index, value, least, greatest } => {
                write!(f, "{call}: {argument}")?;
                if let Some(index) = index {
                    write!(f, "[{index}]")?;
                }
                match (*least, *greatest) {
                    (least, u64::MAX) => write!(f, " is {value}, which is less than {least}"),
                    (only, same) if only == same => write!(f, " is {value}, not {only}"),
                    (least, greatest) => {
                        write!(f, " is {value}, which is not from {least} to {greatest}")
                    }
                }
            }
            Self::ArgumentType { call, argument, expected, actual } => {
                write!(f, "{call}: {argument} is {actual}, not {expected}")
            }
            Self::Undefined { call, arguments } => {
                write!(f, "{call}: {arguments} are both undefined")
            }
            Self::NoMatch { class, size } => {
                write!(f, "no named {class} type has {size} bytes")
            }
            Self::NoContents { name } => {
                write!(f, "{name} is a named datatype, which has no contents")
            }
            Self::LargeCounts { number } => {
                write!(
                    f,
                    "the type was made with {number} large counts, which the small form lacks"
                )
            }
            Self::Contents { combiner, problem } => {
                write!(f, "the contents of a {combiner}: {problem}")
            }
            Self::Marshalled { offset, problem } => {
                write!(f, "byte {offset} of a marshalled datatype: {problem}")
            }
            Self::TooDeep { depth, limit } => {
                write!(f, "a datatype of {depth} levels; at most {limit} are supported")
            }
            Self::TooManyEntries { entries, limit } => {
                write!(f, "a description of {entries} entries; at most {limit} are supported")
            }
            Self::ArrayLayout { axis: Some(axis), quantity, expected, actual } => write!(
                f,
                "axis {axis} of the array has a {quantity} of {actual}, that of the committed layout {expected}"
            ),
            Self::ArrayLayout { axis: None, quantity, expected, actual } => {
                write!(f, "the array has {actual} {quantity}, the committed layout {expected}")
            }
            Self::DestinationTooSmall { needed, available } => {
                write!(f, "{needed} bytes are to be written, the destination has {available}")
            }
            Self::PackedLength { expected, actual } => {
                write!(f, "{expected} packed bytes are needed, {actual} were given")
            }
            Self::PartialRecord { actual, record } => {
                write!(f, "{actual} packed bytes are no whole number of records of {record} bytes")
            }
            Self::CountTooLarge { count, size } => {
                write!(f, "{count} instances of {size} packed bytes are too large to address")
            }
            Self::Position { position, end } => {
                write!(f, "position {position} of a packed stream of {end} bytes")
            }
            Self::OutsidePart { position, start, end } => {
                write!(
                    f,
                    "position {position} is outside the part from {start} to {end} of a packed stream"
                )
            }
            Self::OtherPosition { sender, receiver } => write!(
                f,
                "the sender is at position {sender} of the packed stream, the receiver at {receiver}"
            ),
            Self::InsideRecord { position, record } => {
                write!(f, "position {position} is inside a record of {record} packed bytes")
            }
            Self::Architecture { property, bytes, possible } => {
                write!(f, "{property} of {bytes} bytes; possible are {possible:?}")
            }
            Self::NoConversion { basic, here, there } => {
                write!(f, "{basic} is {here} here and {there} there: there is no conversion")
            }
            Self::IntegerRange { position, value, bytes } => write!(
                f,
                "packed byte {position}: the integer {value} does not fit the {bytes} bytes that it has"
            ),
            Self::FloatRange { position, format } => {
                write!(f, "packed byte {position}: a number that {format} does not have")
            }
            Self::Checked { record } => write!(
                f,
                "the memory cannot be lent: each record of {record} packed bytes is checked before it is \
                 written"
            ),
            Self::OutOfBounds { start, end, len } => write!(
                f,
                "the layout touches bytes {start} to {end} of a memory that has {len} bytes"
            ),
            Self::Overlap { count } => write!(
                f,
                "{count} instances of this type name a byte of memory more than once and cannot be \
                 unpacked"
            ),
            Self::InvalidValue { record, path, expected, value } => {
                write!(f, "record {record}")?;
                if !path.is_empty() {
                    write!(f, ", field {path}")?;
                }
                write!(f, ": {value:#x} is not a valid {expected}")
            }
            Self::Allocation { count, stride } => {
                write!(f, "no memory for {count} records of {stride} bytes")
            }
            Self::SignatureMismatch { expected, actual } => {
                write!(f, "the signature hash is {actual:#018x}, this type's is {expected:#018x}")
            }
        }
    }
}

impl core::error::Error for Error {}
