//! Errors in a file or a dtype.

use core::fmt;
use std::io;
use std::ops::Range;

use crate::repr::Tuple;
use dtype_runtime::Error;
use dtype_runtime::representation::ByteOrder;
use dtype_stored::{Exceeded, ValueError};

/// The reason why a `.npy` file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The reader or writer failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The first bytes are not those of a `.npy` file.
    #[error("not a .npy file: {}", beginning(.found))]
    Magic {
        /// The first bytes, at most six; none of an empty file.
        found: Vec<u8>,
    },
    /// A version of the format other than 1.0, 2.0 and 3.0.
    #[error("version {major}.{minor} of the .npy format, expected 1.0, 2.0 or 3.0")]
    Version {
        /// The major version.
        major: u8,
        /// The minor version.
        minor: u8,
    },
    /// The header is longer than the limit.
    #[error("a header of {length} bytes, expected at most {limit}")]
    HeaderLength {
        /// The length of the header in bytes.
        length: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The header is not the Python literal that it must be.
    #[error("byte {offset} of the header: expected {expected}")]
    Header {
        /// The position in the header's text, in bytes of the file.
        offset: usize,
        /// What was expected there.
        expected: &'static str,
    },
    /// The header of a version 3.0 is not UTF-8.
    #[error("byte {valid_up_to} of the header: not UTF-8")]
    Encoding {
        /// The number of bytes before the first invalid one.
        valid_up_to: usize,
    },
    /// The header's dict lacks a key, or has it twice.
    #[error("the header has {}", Times(.key, .found))]
    Key {
        /// The key.
        key: &'static str,
        /// The number of occurrences.
        found: usize,
    },
    /// The header's dict has a key that the format does not know.
    #[error("the header has the unknown key `{}`, expected `descr`, `fortran_order` and `shape`", .key.escape_debug())]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A value in the header has another type than the format prescribes, or the name of a field is empty or repeated.
    #[error("{place} is {found}, expected {expected}")]
    Value {
        /// The key, and the field of the dtype, if the value is in one.
        place: String,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// Fields of a dtype overlap, which a header cannot express.
    #[error(
        "{} is at offset {actual}, expected at least {expected}: overlapping fields cannot be in a file",
        Named(.field)
    )]
    Overlap {
        /// The path of the field: names, separated by dots.
        field: String,
        /// The offset in bytes where the fields before it end.
        expected: u64,
        /// The offset of the field in bytes.
        actual: u64,
    },
    /// The array has several axes, in Fortran order, and is to be used in place.
    #[error("the array is in Fortran order, expected C order to use it in place")]
    FortranOrder,
    /// The shape has more elements, or the items more bytes, than memory can address.
    #[error(
        "an array of shape {} with items of {itemsize} bytes is larger than memory can address",
        Tuple(.shape)
    )]
    TooLarge {
        /// The shape.
        shape: Vec<u64>,
        /// Bytes of one item.
        itemsize: u64,
    },
    /// The file ends too early.
    #[error("the file ends after {actual} of {expected} bytes")]
    Truncated {
        /// The bytes that the header, or the shape and the dtype, require.
        expected: u64,
        /// The bytes in the file.
        actual: u64,
    },
    /// The items do not have the dtype of the records.
    #[error("{0}")]
    Dtype(#[from] DtypeError),
    /// An archive of arrays, `.npz`, is damaged, or has something that NumPy does not write.
    #[error("not an archive of NumPy: {what}")]
    Archive {
        /// What is wrong.
        what: String,
    },
    /// An archive does not have an array of this name.
    #[error("the archive has no array {name:?}, expected {}", OneOf(.names))]
    NoArray {
        /// The name.
        name: String,
        /// The names that the archive has.
        names: Vec<String>,
    },
    /// An array of an archive takes more than its [`Budget`](crate::Budget) allows.
    #[error("{0}")]
    Exceeded(#[from] Exceeded),
    /// The records have no data.
    #[error("records without data cannot be in a file")]
    NoData,
    /// The records could not be unpacked: a value is invalid, for instance.
    #[error("{0}")]
    Records(#[from] Error),
}

impl From<ValueError> for NpyError {
    fn from(error: ValueError) -> Self {
        match error {
            ValueError::Record(error) => Self::Records(error),
            ValueError::Unnamed { record, field: path, value } => {
                Self::Records(Error::InvalidValue { record, path, expected: "member", value })
            }
        }
    }
}

/// The reason why a dtype does not fit a Rust type. Each variant names the field: a path such as `"header.flags"`, empty for
/// the item itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DtypeError {
    /// The dtype does not have a field of the type.
    #[error("{} is missing in the dtype", Named(.field))]
    Missing {
        /// The path of the field.
        field: String,
    },
    /// The dtype has a field that the type does not have, or repeats a name.
    #[error("{} of the dtype is not a field of the type, or is there twice", Named(.field))]
    Unknown {
        /// The path of the field.
        field: String,
    },
    /// Another kind of value, or another width.
    #[error("{} is {actual} in the dtype, expected {expected}", Named(.field))]
    Format {
        /// The path of the field.
        field: String,
        /// The format of the type's values: `<f8`.
        expected: String,
        /// The dtype's format.
        actual: String,
    },
    /// Another shape.
    #[error("{} has {} in the dtype, expected {}", Named(.field), Shape(.actual), Shape(.expected))]
    Shape {
        /// The path of the field.
        field: String,
        /// The lengths of the type's array.
        expected: Vec<u64>,
        /// The lengths of the dtype's array.
        actual: Vec<u64>,
    },
    /// Values are in the other byte order, but the items are to be used in place.
    #[error("{} is {}, and is to be used in place on a machine that is not", Named(.field), order(*.actual))]
    ByteOrder {
        /// The path of the field.
        field: String,
        /// The order found.
        actual: ByteOrder,
    },
    /// Values in both byte orders. Raw bytes count as values in this machine's order.
    #[error("{} has another byte order than the fields before", Named(.field))]
    MixedByteOrder {
        /// The path of the first field whose order differs from that of the fields before.
        field: String,
    },
    /// A field is at another offset than in memory, but the items are to be used in place.
    #[error(
        "{} is at offset {actual} of the dtype, expected {expected} to use it in place",
        Named(.field)
    )]
    Offset {
        /// The path of the field.
        field: String,
        /// The offset in the Rust type, in bytes.
        expected: u64,
        /// The offset in the dtype, in bytes.
        actual: u64,
    },
    /// The items have another size than in memory, but are to be used in place.
    #[error(
        "{} has {actual} bytes in the dtype, expected {expected} to use it in place",
        Named(.field)
    )]
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
            // Escaped, because the name may come from a file, and the message may go to a terminal.
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

/// The most names that a message has.
const MAX_NAMES: usize = 10;

/// Names in a message.
struct OneOf<'a>(&'a [String]);

impl fmt::Display for OneOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().take(MAX_NAMES).map(|name| format!("{name:?}")).collect();
        let more = if self.0.len() > MAX_NAMES { ", …" } else { "" };
        match &*names {
            [] => f.write_str("one of no arrays"),
            [name] if more.is_empty() => f.write_str(name),
            names => write!(f, "one of {}{more}", names.join(", ")),
        }
    }
}

/// What a file begins with, in a message.
fn beginning(found: &[u8]) -> String {
    match found {
        [] => "it is empty".to_owned(),
        found => format!("it begins with {:?}", found.escape_ascii().to_string()),
    }
}

/// How often a key is in the header, in a message.
struct Times<'a>(&'a str, &'a usize);

impl fmt::Display for Times<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(key, 0) => write!(f, "no key `{key}`"),
            Self(key, found) => write!(f, "the key `{key}` {found} times"),
        }
    }
}

const fn order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "little-endian",
        ByteOrder::Big => "big-endian",
    }
}

/// A mistake in a dtype's expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{message}")]
pub struct GrammarError {
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// The bytes of the text that are wrong; empty at its end.
    pub span: Range<usize>,
    /// A label for these bytes, in a few words; may be empty.
    pub label: String,
    /// Other bytes that matter, with their label.
    pub other: Option<(Range<usize>, &'static str)>,
    /// How to correct the mistake, in a sentence.
    pub help: Option<&'static str>,
    /// The format's text, if the format is unknown.
    pub unknown: Option<String>,
}

impl GrammarError {
    pub(crate) fn new(
        message: impl Into<String>,
        span: &Range<usize>,
        label: impl Into<String>,
    ) -> Box<Self> {
        Box::new(Self {
            message: message.into(),
            span: span.clone(),
            label: label.into(),
            other: None,
            help: None,
            unknown: None,
        })
    }

    pub(crate) fn unknown(format: &str, span: &Range<usize>) -> Box<Self> {
        let mut error = Self::new(format!("unknown format `{format}`"), span, "unknown format");
        error.unknown = Some(format.to_owned());
        error.help("a format is a letter and a number of bytes, such as `<f8`, `i4` or `S10`")
    }

    pub(crate) fn help(mut self: Box<Self>, help: &'static str) -> Box<Self> {
        self.help = Some(help);
        self
    }

    pub(crate) fn and(mut self: Box<Self>, span: Range<usize>, label: &'static str) -> Box<Self> {
        self.other = Some((span, label));
        self
    }
}
