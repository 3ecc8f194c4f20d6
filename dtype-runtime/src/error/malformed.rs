//! What can be wrong with a marshalled datatype.

use core::fmt;

/// What makes bytes no marshalled datatype: see [`Type::unmarshal`](crate::Type::unmarshal).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Malformed {
    /// The bytes end early, or a list claims more elements than the rest of the bytes can hold.
    Truncated,
    /// The first byte is not that of a marshalled datatype.
    Magic {
        /// The byte that is there.
        found: u8,
    },
    /// A version of the form that this version of the crate does not know.
    Version {
        /// The version that is there.
        found: u8,
    },
    /// Flags that this version of the form does not have.
    Flags {
        /// The flags that are there.
        found: u8,
    },
    /// A byte that stands for no constructor, datatype or distribution.
    Code {
        /// The byte that is there.
        found: u8,
    },
    /// A number is outside the range of its argument.
    Range,
    /// Something is written longer than it needs to be. Equal types would no longer have equal bytes.
    Longwinded,
    /// A node refers to one that does not come before it.
    Reference {
        /// The number of the node that it refers to.
        node: u64,
    },
    /// A node comes after one that it should come before.
    Disorder,
    /// A node is the same as the one before it.
    Duplicate,
    /// No node refers to this one, and it is not the last.
    Unreferenced {
        /// The number of the node.
        node: u64,
    },
    /// More bytes follow.
    Trailing {
        /// How many.
        extra: usize,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the bytes end too early"),
            Self::Magic { found } => write!(f, "{found:#04x} does not begin a datatype"),
            Self::Version { found } => write!(f, "version {found} is not known"),
            Self::Flags { found } => write!(f, "the flags {found:#04x} are not known"),
            Self::Code { found } => write!(f, "the code {found:#04x} is not known"),
            Self::Range => f.write_str("a number is out of range"),
            Self::Longwinded => f.write_str("this can be written shorter"),
            Self::Reference { node } => write!(f, "node {node} does not come before this"),
            Self::Disorder => f.write_str("the nodes are not in order"),
            Self::Duplicate => f.write_str("a node comes twice"),
            Self::Unreferenced { node } => write!(f, "nothing refers to node {node}"),
            Self::Trailing { extra } => write!(f, "{extra} bytes too many"),
        }
    }
}
