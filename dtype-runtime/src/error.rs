//! The error type. Every variant says what was found and what was expected.

mod malformed;

use alloc::string::String;
use core::fmt;

pub use malformed::Malformed;

use crate::basic::LongDouble;

/// An operation was refused. Nothing was written then, except where a function's documentation says otherwise
/// (`par_pack` of a converted stream).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A quantity does not fit 64 bits (sizes stay below 2⁶³, like `MPI_Count`).
    Overflow {
        /// The constructor or function, as this crate names it: `"vector"`.
        call: &'static str,
        /// The quantity: `"size"`, `"upper bound"`.
        quantity: &'static str,
    },
    /// Two arrays of one call differ in length.
    ArgumentLengths {
        /// The constructor or function.
        call: &'static str,
        /// The argument, as MPI names it: `"array_of_types"`.
        argument: &'static str,
        /// Length of the call's other arrays.
        expected: usize,
        /// Length of this array.
        actual: usize,
    },
    /// An argument is outside its range.
    ArgumentRange {
        /// The constructor or function.
        call: &'static str,
        /// The argument, as MPI names it: `"array_of_subsizes"`.
        argument: &'static str,
        /// The index of the element, if the argument is an array.
        index: Option<usize>,
        /// The value found.
        value: u64,
        /// The least value allowed.
        least: u64,
        /// The greatest value allowed.
        greatest: u64,
    },
    /// The call does not accept this datatype as an argument.
    ArgumentType {
        /// The constructor or function.
        call: &'static str,
        /// The argument, as MPI names it: `"value_type"`.
        argument: &'static str,
        /// The arguments that the call accepts, in words.
        expected: &'static str,
        /// The constructor of the datatype found, or its name.
        actual: &'static str,
    },
    /// All of these arguments are undefined; at least one must be defined.
    Undefined {
        /// The constructor or function.
        call: &'static str,
        /// The arguments, as MPI names them: `"p and r"`.
        arguments: &'static str,
    },
    /// No named datatype of this class has the requested size.
    NoMatch {
        /// The class of types.
        class: &'static str,
        /// The requested size in bytes.
        size: u64,
    },
    /// The contents of a named datatype were requested. Named datatypes have none.
    NoContents {
        /// The datatype.
        name: &'static str,
    },
    /// The small form of an envelope was requested, but the type was made with large counts. MPI's error
    /// class for this is `MPI_ERR_TYPE`.
    LargeCounts {
        /// The number of large counts.
        number: usize,
    },
    /// Contents that no constructor call produces.
    Contents {
        /// The constructor that the contents claim.
        combiner: &'static str,
        /// The problem, in words.
        problem: &'static str,
    },
    /// The bytes are not a marshalled datatype.
    Marshalled {
        /// The offset in bytes at which the problem was found.
        offset: usize,
        /// The problem.
        problem: Malformed,
    },
    /// A datatype would nest deeper than [`MAX_DEPTH`](crate::typemap::MAX_DEPTH) levels.
    TooDeep {
        /// The number of levels that it would have.
        depth: u32,
        /// The greatest number of levels.
        limit: u32,
    },
    /// The description of a datatype would have too many entries.
    TooManyEntries {
        /// The number of entries that it would have.
        entries: u64,
        /// The greatest number of entries.
        limit: u64,
    },
    /// The shape or the strides of an array differ from the committed layout.
    ArrayLayout {
        /// The axis that differs, counted from the outermost; `None` if it is the number of axes.
        axis: Option<usize>,
        /// The quantity that differs: `"dimensions"`, `"length"` in elements, `"stride in bytes"`.
        quantity: &'static str,
        /// The committed layout's value.
        expected: i64,
        /// The array's value.
        actual: i64,
    },
    /// The destination is too small.
    DestinationTooSmall {
        /// Bytes that the operation would write.
        needed: u64,
        /// Length of the destination in bytes.
        available: u64,
    },
    /// The number of packed bytes is wrong.
    PackedLength {
        /// Bytes that the operation needs.
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
    /// The bytes to be viewed as records in place are not aligned for the records.
    Misaligned {
        /// The number of bytes by which the first byte is past an aligned address.
        offset: usize,
        /// The alignment of the records, in bytes.
        alignment: usize,
    },
    /// A path does not name a packed field of a record.
    NoField {
        /// The path, `"header.size"`.
        path: String,
        /// The type in which the path ends or leaves the type map.
        parent: String,
        /// The rest of the path, from the part that this type does not have.
        field: String,
    },
    /// A field of a record was requested as another type.
    FieldType {
        /// The path of the field.
        path: String,
        /// The requested type.
        asked: String,
        /// The type of the field.
        actual: String,
    },
    /// `count` instances of a type have more packed bytes than memory can address.
    CountTooLarge {
        /// The number of instances.
        count: u64,
        /// Packed bytes of one instance.
        size: u64,
    },
    /// A position past the end of the packed stream.
    Position {
        /// The requested position in bytes.
        position: u64,
        /// The length of the stream in bytes.
        end: u64,
    },
    /// A position outside the part of the packed stream that this unpacker owns.
    OutsidePart {
        /// The requested position, in bytes from the start of the stream.
        position: u64,
        /// The start of this unpacker's part.
        start: u64,
        /// The end of this unpacker's part.
        end: u64,
    },
    /// A position inside a record that must be checked as a whole, or inside a value that must be converted as a
    /// whole because its width changes.
    InsideRecord {
        /// The position in packed bytes.
        position: u64,
        /// Packed bytes of the record or the value.
        record: u64,
    },
    /// An unsupported width in an [`Architecture`](crate::representation::Architecture).
    Architecture {
        /// The property: `"long"`.
        property: &'static str,
        /// The width found, in bytes.
        bytes: usize,
        /// The supported widths, in bytes.
        possible: &'static [usize],
    },
    /// There is no conversion between two machines' formats of a basic datatype.
    NoConversion {
        /// The basic datatype.
        basic: &'static str,
        /// This machine's format.
        here: LongDouble,
        /// The other machine's format.
        there: LongDouble,
    },
    /// An integer does not fit its destination.
    IntegerRange {
        /// The packed position of its first byte.
        position: u64,
        /// The integer.
        value: i128,
        /// The width of the destination in bytes.
        bytes: u8,
    },
    /// A floating-point number is too large for its destination, or its bits are not a number in the source's format.
    FloatRange {
        /// The packed position of its first byte.
        position: u64,
        /// The format.
        format: LongDouble,
    },
    /// The memory of this stream cannot be lent for writing, because its values must be checked before they are
    /// written.
    Checked {
        /// Packed bytes of one record, the unit of checking.
        record: u64,
    },
    /// The layout reaches outside the memory.
    OutOfBounds {
        /// First byte that the layout touches, relative to the start of the memory.
        start: i128,
        /// One past the last byte that it touches, relative to the start of the memory.
        end: i128,
        /// The length of the memory in bytes.
        len: u64,
    },
    /// The instances name a byte of memory more than once, or too many small blocks interleave to prove that they do
    /// not. Such a layout can be packed but not unpacked.
    Overlap {
        /// The number of instances.
        count: u64,
    },
    /// The packed bytes would make an invalid value.
    InvalidValue {
        /// Index of the record in the packed bytes.
        record: usize,
        /// Path of the field in the record, `"header.flags[2]"`; empty if the record itself is the value.
        path: String,
        /// The Rust type for which the value is invalid.
        expected: &'static str,
        /// The bit pattern found, zero-extended.
        value: u128,
    },
    /// A string or list of fixed size has no room for this many items.
    Capacity {
        /// The number of items, or of bytes of a string.
        len: usize,
        /// The maximum number.
        capacity: usize,
    },
    /// A time is outside the range of a count of this unit, or of the type to convert to.
    TimeRange {
        /// The unit, as NumPy writes it: `"ns"`.
        unit: &'static str,
    },
    /// Packed bytes fail a check: the function of `#[dtype(check = …)]`, or the check of a type of this crate.
    CheckFailed {
        /// Index of the record in the packed bytes.
        record: usize,
        /// Path of the field in the record; empty if it is the record itself.
        path: String,
        /// The type that the check belongs to.
        of: String,
        /// The text that the check returned.
        reason: String,
    },
    /// The memory for the result could not be allocated.
    Allocation {
        /// The number of records.
        count: usize,
        /// Bytes of one record in memory.
        stride: usize,
    },
    /// A received signature hash differs from this type's signature hash.
    SignatureMismatch {
        /// This type's hash.
        expected: u64,
        /// The received hash.
        actual: u64,
    },
}

impl Error {
    /// [`CountTooLarge`](Self::CountTooLarge), for `ok_or_else`: with `ok_or`, each successful call would make and drop an
    /// error.
    #[cold]
    pub(crate) fn count_too_large(count: u64, size: u64) -> Self {
        Self::CountTooLarge { count, size }
    }

    /// The same error, for records that come after `records` others: an error's record is counted from the first of those that
    /// the call had.
    #[must_use]
    pub fn records_later(self, records: usize) -> Self {
        match self {
            Self::InvalidValue { record, path, expected, value } => {
                let record = record.saturating_add(records);
                Self::InvalidValue { record, path, expected, value }
            }
            Self::CheckFailed { record, path, of, reason } => {
                let record = record.saturating_add(records);
                Self::CheckFailed { record, path, of, reason }
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
                    "{call}: {argument} has {actual} elements, expected {expected} as in the other arrays"
                )
            }
            Self::ArgumentRange { call, argument, index, value, least, greatest } => {
                write!(f, "{call}: {argument}")?;
                if let Some(index) = index {
                    write!(f, "[{index}]")?;
                }
                match (*least, *greatest) {
                    (least, u64::MAX) => write!(f, " is {value}, expected at least {least}"),
                    (only, same) if only == same => write!(f, " is {value}, expected {only}"),
                    (least, greatest) => {
                        write!(f, " is {value}, expected {least} to {greatest}")
                    }
                }
            }
            Self::ArgumentType { call, argument, expected, actual } => {
                write!(f, "{call}: {argument} is {actual}, expected {expected}")
            }
            Self::Undefined { call, arguments } => {
                write!(f, "{call}: {arguments} are both undefined")
            }
            Self::NoMatch { class, size } => {
                write!(f, "no named {class} type has {size} bytes")
            }
            Self::NoContents { name } => {
                write!(f, "{name} is a named datatype and has no contents")
            }
            Self::LargeCounts { number } => {
                write!(
                    f,
                    "the type was made with {number} large counts, which the small form cannot return"
                )
            }
            Self::Contents { combiner, problem } => {
                write!(f, "the contents of a {combiner}: {problem}")
            }
            Self::Marshalled { offset, problem } => {
                write!(f, "byte {offset} of a marshalled datatype: {problem}")
            }
            Self::TooDeep { depth, limit } => {
                write!(f, "the datatype has {depth} levels, expected at most {limit}")
            }
            Self::TooManyEntries { entries, limit } => {
                write!(f, "the description has {entries} entries, expected at most {limit}")
            }
            Self::ArrayLayout { axis: Some(axis), quantity, expected, actual } => write!(
                f,
                "axis {axis} of the array has a {quantity} of {actual}, expected {expected} as in the committed layout"
            ),
            Self::ArrayLayout { axis: None, quantity, expected, actual } => {
                write!(
                    f,
                    "the array has {actual} {quantity}, expected {expected} as in the committed layout"
                )
            }
            Self::DestinationTooSmall { needed, available } => {
                write!(f, "the destination has {available} bytes, {needed} are needed")
            }
            Self::PackedLength { expected, actual } => {
                write!(f, "found {actual} packed bytes, expected {expected}")
            }
            Self::PartialRecord { actual, record } => {
                write!(f, "{actual} bytes is not a multiple of the packed record size ({record})")
            }
            Self::Misaligned { offset, alignment } => write!(
                f,
                "the bytes begin {offset} bytes after a multiple of {alignment}, the alignment of the records"
            ),
            Self::NoField { path, parent, field } => {
                write!(f, "field `{path}`: {parent} packs no field `{field}`")
            }
            Self::FieldType { path, asked, actual } => {
                write!(f, "field `{path}` is {actual}, not {asked}")
            }
            Self::CountTooLarge { count, size } => {
                write!(
                    f,
                    "{count} instances of {size} packed bytes are more than memory can address"
                )
            }
            Self::Position { position, end } => {
                write!(f, "position {position} is past the end of a packed stream of {end} bytes")
            }
            Self::OutsidePart { position, start, end } => {
                write!(
                    f,
                    "position {position} is outside this part of the packed stream, {start} to {end}"
                )
            }
            Self::InsideRecord { position, record } => {
                write!(f, "position {position} is inside a record of {record} packed bytes")
            }
            Self::Architecture { property, bytes, possible } => {
                write!(f, "{property} cannot be {bytes} bytes wide, expected one of {possible:?}")
            }
            Self::NoConversion { basic, here, there } => {
                write!(
                    f,
                    "{basic} cannot be converted between {here} on this machine and {there} on the other"
                )
            }
            Self::IntegerRange { position, value, bytes } => {
                write!(f, "packed byte {position}: the integer {value} does not fit {bytes} bytes")
            }
            Self::FloatRange { position, format } => {
                write!(f, "packed byte {position}: the number does not fit {format}")
            }
            Self::Checked { record } => write!(
                f,
                "the memory cannot be lent: each record of {record} packed bytes is checked before it is \
                 written"
            ),
            Self::OutOfBounds { start, end, len } => write!(
                f,
                "the layout touches bytes {start} to {end}, outside the memory of {len} bytes"
            ),
            Self::Overlap { count } => {
                write!(f, "instances overlap in memory; refusing to unpack {count} of them")
            }
            Self::InvalidValue { record, path, expected, value } => {
                write!(f, "record {record}")?;
                if !path.is_empty() {
                    write!(f, ", field {path}")?;
                }
                write!(f, ": {value:#x} is not a valid {expected}")
            }
            Self::Capacity { len, capacity } => {
                write!(f, "a length of {len} exceeds the capacity of {capacity}")
            }
            Self::TimeRange { unit } => {
                write!(f, "a time that a count of the unit {unit} does not reach")
            }
            Self::CheckFailed { record, path, of, reason } => {
                write!(f, "record {record}")?;
                if !path.is_empty() {
                    write!(f, ", field {path}")?;
                }
                write!(f, ": not a valid {of}: {reason}")
            }
            Self::Allocation { count: 1, stride } => {
                write!(f, "could not allocate a record of {stride} bytes")
            }
            Self::Allocation { count, stride } => {
                write!(f, "could not allocate {count} records of {stride} bytes")
            }
            Self::SignatureMismatch { expected, actual } => {
                write!(f, "found signature hash {actual:#018x}, expected {expected:#018x}")
            }
        }
    }
}

impl core::error::Error for Error {}
