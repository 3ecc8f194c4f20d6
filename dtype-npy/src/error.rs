//! What is wrong with a file or a dtype.

use core::fmt;
use std::io;

use crate::repr::Tuple;
use dtype_runtime::Error;
use dtype_runtime::representation::ByteOrder;

/// The reason why a `.npy` file could not be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum NpyError {
    /// The reader or writer failed.
    Io(io::Error),
    /// The bytes do not begin as every `.npy` file does.
    Magic {
        /// The first bytes, at most six.
        found: Vec<u8>,
    },
    /// A version of the format other than 1.0, 2.0 and 3.0.
    Version {
        /// The major version.
        major: u8,
        /// The minor version.
        minor: u8,
    },
    /// The header is longer than the limit.
    HeaderLength {
        /// Its length in bytes.
        length: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The header is not the Python literal that it must be.
    Header {
        /// The position in the header's text, in bytes of the file.
        offset: usize,
        /// What was expected there.
        expected: &'static str,
    },
    /// The header of a version 3.0 is not UTF-8.
    Encoding {
        /// The number of bytes that are.
        valid_up_to: usize,
    },
    /// The header's dict has no such key, or has it twice.
    Key {
        /// The key.
        key: &'static str,
        /// How often it is there.
        found: usize,
    },
    /// The header's dict has a key that the format does not know.
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A value in the header has another type than the format prescribes, or a field has no name of its own.
    Value {
        /// The key, and the field of the dtype, if it is in one.
        place: String,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// Fields of a dtype overlap, which the header of a file cannot say.
    Overlap {
        /// The path of the field: names, separated by dots.
        field: String,
        /// The offset in bytes where the fields before it end.
        expected: u64,
        /// Its offset in bytes.
        actual: u64,
    },
    /// The array has several axes, in Fortran order.
    FortranOrder,
    /// The shape has more elements, or the items more bytes, than memory can address.
    TooLarge {
        /// The shape.
        shape: Vec<u64>,
        /// Bytes of one item.
        itemsize: u64,
    },
    /// The file ends too early.
    Truncated {
        /// Bytes that the header, or the shape and the dtype, ask for.
        expected: u64,
        /// Bytes that are there.
        actual: u64,
    },
    /// The items do not have the dtype of the records.
    Dtype(DtypeError),
    /// The records have no data.
    NoData,
    /// The records could not be unpacked: a value is invalid, for instance.
    Records(Error),
}

/// The reason why a dtype does not fit a Rust type. Each names the field: a path such as `"header.flags"`, empty for the
/// item itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DtypeError {
    /// The dtype does not have a field of the type.
    Missing {
        /// The path of the field.
        field: String,
    },
    /// The dtype has a field that the type does not have, or has a name twice.
    Unknown {
        /// The path of the field.
        field: String,
    },
    /// Another kind of value, or another width.
    Format {
        /// The path of the field.
        field: String,
        /// The format of the type's values: `<f8`.
        expected: String,
        /// The dtype's format.
        actual: String,
    },
    /// Another shape.
    Shape {
        /// The path of the field.
        field: String,
        /// The lengths of the type's array.
        expected: Vec<u64>,
        /// The lengths of the dtype's array.
        actual: Vec<u64>,
    },
    /// Values in the other byte order, where they are to be used in place.
    ByteOrder {
        /// The path of the field.
        field: String,
        /// The order found.
        actual: ByteOrder,
    },
    /// Values in both byte orders, or raw bytes, whose order is this machine's, beside values in the other order.
    MixedByteOrder {
        /// The path of the first field whose order differs from that of the fields before.
        field: String,
    },
    /// A field at another offset than in memory, where records are to be used in place.
    Offset {
        /// The path of the field.
        field: String,
        /// The offset in the Rust type, in bytes.
        expected: u64,
        /// The offset in the dtype, in bytes.
        actual: u64,
    },
    /// Items of another size than in memory, where records are to be used in place.
    ItemSize {
        /// The path of the field.
        field: String,
        /// The size of the Rust type, in bytes.
        expected: u64,
        /// The size of the item, in bytes.
        actual: u64,
    },
}

/// A field in a message.
struct Named<'a>(&'a str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("the item")
        } else {
            // The name may come from a file, and the message go to a terminal.
            write!(f, "field `{}`", self.0.escape_debug())
        }
    }
}

/// The lengths of an array in a message.
struct Shape<'a>(&'a [u64]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("no shape")
        } else {
            write!(f, "the shape {}", Tuple(self.0))
        }
    }
}

impl fmt::Display for DtypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { field } => write!(f, "{} is missing in the dtype", Named(field)),
            Self::Unknown { field } => {
                write!(
                    f,
                    "{} of the dtype is not a field of the type, or is there twice",
                    Named(field)
                )
            }
            Self::Format { field, expected, actual } => {
                write!(f, "{} is {actual} in the dtype, expected {expected}", Named(field))
            }
            Self::Shape { field, expected, actual } => {
                let (expected, actual) = (Shape(expected), Shape(actual));
                write!(f, "{} has {actual} in the dtype, expected {expected}", Named(field))
            }
            Self::ByteOrder { field, actual } => {
                let order = match actual {
                    ByteOrder::Little => "little-endian",
                    ByteOrder::Big => "big-endian",
                };
                write!(
                    f,
                    "{} is {order}, and is to be used in place on a machine that is not",
                    Named(field)
                )
            }
            Self::MixedByteOrder { field } => {
                write!(f, "{} has another byte order than the fields before", Named(field))
            }
            Self::Offset { field, expected, actual } => write!(
                f,
                "{} is at offset {actual} of the dtype, expected {expected} to use it in place",
                Named(field)
            ),
            Self::ItemSize { field, expected, actual } => write!(
                f,
                "{} has {actual} bytes in the dtype, expected {expected} to use it in place",
                Named(field)
            ),
        }
    }
}

impl core::error::Error for DtypeError {}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Magic { found } => {
                write!(f, "not a .npy file: it begins with {:?}", found.escape_ascii().to_string())
            }
            Self::Version { major, minor } => {
                write!(f, "version {major}.{minor} of the .npy format, expected 1.0, 2.0 or 3.0")
            }
            Self::HeaderLength { length, limit } => {
                write!(f, "a header of {length} bytes, expected at most {limit}")
            }
            Self::Header { offset, expected } => {
                write!(f, "byte {offset} of the header: expected {expected}")
            }
            Self::Encoding { valid_up_to } => {
                write!(f, "byte {valid_up_to} of the header: not UTF-8")
            }
            Self::Key { key, found: 0 } => write!(f, "the header has no key `{key}`"),
            Self::Key { key, found } => write!(f, "the header has the key `{key}` {found} times"),
            Self::UnknownKey { key } => write!(
                f,
                "the header has the unknown key `{}`, expected `descr`, `fortran_order` and `shape`",
                key.escape_debug()
            ),
            Self::Value { place, expected, found } => {
                write!(f, "{place} is {found}, expected {expected}")
            }
            Self::Overlap { field, expected, actual } => write!(
                f,
                "{} is at offset {actual}, expected at least {expected}: overlapping fields cannot be in a file",
                Named(field)
            ),
            Self::FortranOrder => f.write_str("the array is in Fortran order, expected C order"),
            Self::TooLarge { shape, itemsize } => write!(
                f,
                "an array of shape {} with items of {itemsize} bytes is larger than memory can address",
                Tuple(shape)
            ),
            Self::Truncated { expected, actual } => {
                write!(f, "the file ends after {actual} of {expected} bytes")
            }
            Self::Dtype(error) => write!(f, "{error}"),
            Self::NoData => f.write_str("records without data cannot be in a file"),
            Self::Records(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for NpyError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Dtype(error) => Some(error),
            Self::Records(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for NpyError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<DtypeError> for NpyError {
    fn from(error: DtypeError) -> Self {
        Self::Dtype(error)
    }
}

impl From<Error> for NpyError {
    fn from(error: Error) -> Self {
        Self::Records(error)
    }
}
