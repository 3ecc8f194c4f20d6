//! Errors when records and a dataset do not fit each other.

use std::fmt;

use dtype_runtime::Basic;
use dtype_stored::{Exceeded, ValueError};

/// Why records could not be written to a dataset, or read from it. A field is named by its path, such as `header.flags`; the
/// path of the item itself is empty.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The HDF5 library, or its crate, reports an error.
    #[error(transparent)]
    Hdf5(#[from] hdf5_metno::Error),
    /// Another object has the path of a new dataset, or is on the way to it but is not a group.
    #[error("`{}` in `{}` is {found}, expected {expected}", name.escape_debug(), file.escape_debug())]
    Occupied {
        /// The file's name.
        file: String,
        /// The path in the file.
        name: String,
        /// The kind of object at that path.
        found: &'static str,
        /// What was expected there: nothing, or a group on the way.
        expected: &'static str,
    },
    /// The records have no data.
    #[error("records without data cannot be in a dataset")]
    NoData,
    /// HDF5 has no datatype of this format.
    #[error("{} is {basic}, and HDF5 has no such datatype", Named(field))]
    NoEquivalent {
        /// The path of the field.
        field: String,
        /// The value's basic datatype.
        basic: Basic,
    },
    /// A record is larger than a datatype in a file can be.
    #[error("a record has {size} bytes, and datatypes of HDF5 have at most {limit}")]
    TooLarge {
        /// Bytes of a record.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The dataset's datatype does not have a field of the records.
    #[error("{} is missing in the dataset", Named(field))]
    Missing {
        /// The path of the field.
        field: String,
    },
    /// The dataset's datatype has a field that the records do not have, or repeats a name.
    #[error("{} of the dataset is not a field of the records, or is there twice", Named(field))]
    Unknown {
        /// The path of the field.
        field: String,
    },
    /// Another kind of value, or another width.
    #[error("{} is {actual} in the dataset, expected {expected}", Named(field))]
    Format {
        /// The path of the field.
        field: String,
        /// The datatype of the records' field.
        expected: String,
        /// The datatype in the dataset.
        actual: String,
    },
    /// The dataset's enumeration has a member that is not a variant of the records' enum.
    #[error(
        "{} has the member `{}` in the dataset, expected only {}",
        Named(field), member.escape_debug(), Names(expected)
    )]
    UnknownMember {
        /// The path of the field.
        field: String,
        /// The member's name.
        member: String,
        /// The names of the variants.
        expected: Vec<String>,
    },
    /// A variant of the records' enum is not a member of the dataset's enumeration.
    #[error("{} does not have the member `{}` in the dataset", Named(field), member.escape_debug())]
    MissingMember {
        /// The path of the field.
        field: String,
        /// The variant's name.
        member: String,
    },
    /// A value of an enumeration has no name.
    #[error("{}: no member of the dataset's enumeration has the number {value:#x}", At(*record, field))]
    Unnamed {
        /// The index of the record.
        record: usize,
        /// The path of the field, `"header.flags[2]"`; empty for the item itself.
        field: String,
        /// The number, zero-extended.
        value: u128,
    },
    /// Another shape.
    #[error("{} has {} in the dataset, expected {}", Named(field), Shape(actual), Shape(expected))]
    Shape {
        /// The path of the field.
        field: String,
        /// The lengths of the records' array.
        expected: Vec<u64>,
        /// The lengths of the dataset's array.
        actual: Vec<u64>,
    },
    /// Values have both byte orders.
    #[error("{} has another byte order than the fields before", Named(field))]
    MixedByteOrder {
        /// The path of the first field whose order differs from that of the fields before.
        field: String,
    },
    /// The dataset's datatype contradicts itself: a field ends after its compound, for instance, or datatypes nest too deep.
    #[error("{} of the dataset has a malformed datatype", Named(field))]
    Malformed {
        /// The path of the field.
        field: String,
    },
    /// There are more items than 64 bits can count or memory can address.
    #[error("the dataset has the shape {shape:?}, of more items than can be counted")]
    TooManyItems {
        /// The lengths of the dataset's axes.
        shape: Vec<u64>,
    },
    /// The file does not have the bytes of the items. Either a dataset without chunks has less space than its items need; or a
    /// read would return more bytes of items or records, or look at more chunks, than the file's
    /// [`Budget`](dtype_stored::Budget) has memory for, nearly all of which were never written.
    /// [`read_range`](crate::read_range) reads a part.
    #[error("the file has {stored} of the {} bytes of {items} items", *items as u128 * *size as u128)]
    NotStored {
        /// The number of items.
        items: usize,
        /// Bytes of one item.
        size: usize,
        /// Bytes of the dataset that are in the file.
        stored: u64,
    },
    /// Strings of variable length have more bytes than the limit: the budget of [`items`](crate::items()), or 16 MiB more than
    /// the records that are read at a time have room for. (Many items can refer to one string.)
    #[error("the strings of {items} items have more than {limit} bytes")]
    Texts {
        /// The number of items.
        items: usize,
        /// The greatest number of bytes for their strings.
        limit: usize,
    },
    /// Reading takes more memory than the file's [`Budget`](dtype_stored::Budget) has: for a chunk, or for an item, in
    /// which each string of variable length has room for the longest one.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// The file only names the place of the items, which is another file or may be one. Reading with
    /// [`ReadOptions::with_other_files`](crate::ReadOptions::with_other_files), or opening a dataset with `hdf5-metno`, goes
    /// there.
    #[error("{what}, and other files are not opened")]
    Elsewhere {
        /// The place.
        what: String,
    },
    /// The dataset has another number of items than there are records.
    #[error("the dataset has {actual} items, expected {expected} as there are records")]
    Length {
        /// The number of records.
        expected: usize,
        /// The number of items.
        actual: usize,
    },
    /// A part was to be used of a dataset that does not have exactly one axis.
    #[error("the dataset has {actual} axes, expected one axis to use a part of it")]
    Axes {
        /// The number of axes.
        actual: usize,
    },
    /// A part reaches past the end of the dataset, or ends before it starts.
    #[error("items {start} to {end} are not in the dataset, which has {len}")]
    Range {
        /// The first item.
        start: usize,
        /// One past the last item.
        end: usize,
        /// The number of items.
        len: usize,
    },
    /// The values are not records, or the records do not fit in memory.
    #[error(transparent)]
    Records(#[from] dtype_runtime::Error),
}

impl From<ValueError> for Error {
    fn from(error: ValueError) -> Self {
        match error {
            ValueError::Unnamed { record, field, value } => Self::Unnamed { record, field, value },
            ValueError::Record(error) => Self::Records(error),
        }
    }
}

/// A field in a message.
struct Named<'a>(&'a str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("the item")
        } else {
            write!(f, "field `{}`", self.0.escape_debug())
        }
    }
}

/// A field of a record in a message.
struct At<'a>(usize, &'a str);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}", self.0)?;
        if self.1.is_empty() { Ok(()) } else { write!(f, ", field {}", self.1.escape_debug()) }
    }
}

/// Names in a message.
struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            write!(f, "{}`{}`", if i > 0 { ", " } else { "" }, name.escape_debug())?;
        }
        Ok(())
    }
}

/// The lengths of an array in a message.
struct Shape<'a>(&'a [u64]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("no shape"),
            lengths => write!(f, "the shape {lengths:?}"),
        }
    }
}
