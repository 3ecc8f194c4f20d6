//! The ways in which a marshalled datatype can be malformed.

use core::fmt;

/// Why bytes are not a marshalled datatype: see [`Type::unmarshal`](crate::Type::unmarshal).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Malformed {
    /// The bytes end early, or a list claims more elements than the rest of the bytes can hold.
    Truncated,
    /// The first byte is not the magic number.
    Magic {
        /// The byte found.
        found: u8,
    },
    /// A version of the format that this version of the crate does not know.
    Version {
        /// The version found.
        found: u8,
    },
    /// Flags that this version of the format does not define.
    Flags {
        /// The flags found.
        found: u8,
    },
    /// A byte that is not the code of a constructor, datatype or distribution.
    Code {
        /// The byte found.
        found: u8,
    },
    /// A number is outside the range of its argument.
    Range,
    /// A value has more bytes than needed, so that equal types would not have equal bytes.
    Overlong,
    /// A node refers to a node that does not precede it.
    Reference {
        /// The number of the referenced node.
        node: u64,
    },
    /// The nodes are not in order.
    Disorder,
    /// A node equals the node before it.
    Duplicate,
    /// No node refers to this one, and it is not the last.
    Unreferenced {
        /// The number of the node.
        node: u64,
    },
    /// Bytes follow the end of the datatype.
    Trailing {
        /// The number of extra bytes.
        extra: usize,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the bytes end too early"),
            Self::Magic { found } => {
                write!(f, "found {found:#04x}, which does not begin a marshalled datatype")
            }
            Self::Version { found } => write!(f, "unknown version {found}"),
            Self::Flags { found } => write!(f, "unknown flags {found:#04x}"),
            Self::Code { found } => write!(f, "unknown code {found:#04x}"),
            Self::Range => f.write_str("a number is out of range"),
            Self::Overlong => f.write_str("a value is written in more bytes than needed"),
            Self::Reference { node } => write!(f, "node {node} does not precede this reference"),
            Self::Disorder => f.write_str("the nodes are not in order"),
            Self::Duplicate => f.write_str("a node occurs twice"),
            Self::Unreferenced { node } => write!(f, "node {node} is not referenced"),
            Self::Trailing { extra } => write!(f, "{extra} extra bytes"),
        }
    }
}
