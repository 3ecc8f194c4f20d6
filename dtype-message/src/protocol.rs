//! The kinds of message of a stream, which the two sides exchange when they connect.
//!
//! As text it is one block for each kind: a line with a tab and the tag, and then the text of the [`Schema`], whose lines have
//! no tabs.

use core::fmt;
use core::str::FromStr;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::schema::{Difference, Schema, SchemaError};

/// The kinds of message that one side of a stream knows: for each tag, the [`Schema`] of its records.
///
/// Both sides exchange their protocols when they connect, with [`tokio::exchange`](crate::tokio::exchange), or as text in a
/// message. Then [`differences`](Self::differences) tells what another version changed, before the first message is refused,
/// and a receiver [with the sender's protocol](crate::Receiver::with_sender) names the fields that differ when it refuses a
/// message.
///
/// ```
/// use dtype_message::{Messages, Protocol};
/// # use dtype_runtime::Datatype;
/// #[derive(Datatype)]
/// struct Reading { sensor: u32, value: f32 }
/// #[derive(Messages)]
/// enum Message {
///     #[dtype(tag = 1)]
///     Reading(Reading),
///     #[dtype(tag = 2)]
///     Log(String),
/// }
/// # mod v2 {
/// #     use dtype_runtime::Datatype;
/// #     use dtype_message::Messages;
/// #     #[derive(Datatype)]
/// #     pub struct Reading { pub sensor: u32, pub value: f64, pub quality: u8 }
/// #     #[derive(Messages)]
/// #     pub enum Message {
/// #         #[dtype(tag = 1)]
/// #         Reading(Reading),
/// #         #[dtype(tag = 2)]
/// #         Log(String),
/// #         #[dtype(tag = 3)]
/// #         Reset,
/// #     }
/// # }
/// // In the other program, `value` is an `f64`, and there are a field and a message more.
/// let theirs: Protocol = Protocol::of::<v2::Message>().to_string().parse()?;
/// let differences = Protocol::of::<Message>().differences(&theirs);
/// let lines: Vec<_> = differences.iter().map(ToString::to_string).collect();
/// assert_eq!(lines, [
///     "tag 1, `Reading`: `value` is f64 there and f32 here; `quality: u8` is only there",
///     "tag 3, `()`, is only there",
/// ]);
/// # Ok::<(), dtype_message::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protocol {
    schemas: BTreeMap<u32, Schema>,
}

/// A difference between the protocols of the two sides of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolDifference {
    /// The sender does not know the tag.
    OnlyHere {
        /// The tag.
        tag: u32,
        /// The receiver's name of the type of the records.
        name: String,
    },
    /// The receiver does not know the tag.
    OnlyThere {
        /// The tag.
        tag: u32,
        /// The sender's name of the type of the records.
        name: String,
    },
    /// The records with this tag differ.
    Records {
        /// The tag.
        tag: u32,
        /// The receiver's name of the type of the records.
        name: String,
        /// What differs.
        differences: Vec<Difference>,
    },
}

impl Protocol {
    /// Adds a kind of message.
    pub(crate) fn insert(&mut self, tag: u32, schema: Schema) {
        self.schemas.insert(tag, schema);
    }

    /// The schema of the records with this tag.
    pub fn schema(&self, tag: u32) -> Option<&Schema> {
        self.schemas.get(&tag)
    }

    /// The differences between this side's protocol and the sender's, by tag. Empty if they are equal.
    pub fn differences(&self, sender: &Self) -> Vec<ProtocolDifference> {
        let name = |schema: &Schema| schema.type_name().to_owned();
        let difference = |tag| match (self.schema(tag), sender.schema(tag)) {
            (Some(here), Some(there)) if here != there => Some(ProtocolDifference::Records {
                tag,
                name: name(here),
                differences: here.differences(there),
            }),
            (Some(here), None) => Some(ProtocolDifference::OnlyHere { tag, name: name(here) }),
            (None, Some(there)) => Some(ProtocolDifference::OnlyThere { tag, name: name(there) }),
            (Some(_), Some(_)) | (None, None) => None,
        };
        let mut tags = BTreeSet::new();
        tags.extend(self.schemas.keys().chain(sender.schemas.keys()));
        tags.into_iter().filter_map(difference).collect()
    }

    /// The schema of the records in a message with this tag. A type that is not an enum has one schema, and is sent and
    /// received with any tag.
    fn schema_of(&self, tag: u32) -> Option<&Schema> {
        let only = || self.schemas.get(&0).filter(|_| self.schemas.len() == 1);
        self.schema(tag).or_else(only)
    }

    /// Names the fields that differ in an [`Error::Mismatch`], if both sides know the tag. Other errors stay as they are.
    #[must_use]
    pub fn explain(&self, sender: &Self, error: Error) -> Error {
        let Error::Mismatch(mismatch) = error else { return error };
        match (self.schema_of(mismatch.tag), sender.schema_of(mismatch.tag)) {
            (Some(here), Some(there)) => mismatch.with_sender(here, there).into(),
            _ => Error::Mismatch(mismatch),
        }
    }
}

/// The text that the other side parses.
impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.schemas.iter().try_for_each(|(tag, schema)| write!(f, "\t{tag}\n{schema}"))
    }
}

impl FromStr for Protocol {
    type Err = SchemaError;

    fn from_str(text: &str) -> Result<Self, SchemaError> {
        let mut protocol = Self::default();
        let mut blocks = text.split('\t');
        if !blocks.next().is_some_and(str::is_empty) {
            return Err(SchemaError::Tag { index: 0 });
        }
        for (index, block) in blocks.enumerate() {
            let no_tag = || SchemaError::Tag { index };
            let (tag, schema) = block.split_once('\n').ok_or_else(no_tag)?;
            let tag = tag.trim_end_matches('\r').parse().map_err(|_| no_tag())?;
            if protocol.schemas.insert(tag, schema.parse()?).is_some() {
                return Err(no_tag());
            }
        }
        Ok(protocol)
    }
}

impl fmt::Display for ProtocolDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyHere { tag, name } => write!(f, "tag {tag}, `{name}`, is only here"),
            Self::OnlyThere { tag, name } => write!(f, "tag {tag}, `{name}`, is only there"),
            Self::Records { tag, name, differences } => {
                write!(f, "tag {tag}, `{name}`")?;
                for (index, difference) in differences.iter().enumerate() {
                    write!(f, "{}{difference}", if index == 0 { ": " } else { "; " })?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_is_its_text() {
        let mut protocol = Protocol::default();
        protocol.insert(7, Schema::of::<(u8, [f32; 2])>());
        protocol.insert(u32::MAX, "\n".parse().unwrap());
        let text = protocol.to_string();
        assert_eq!(text.parse(), Ok(protocol.clone()));
        assert_eq!(text.replace('\n', "\r\n").parse(), Ok(protocol.clone()));
        assert_eq!(Protocol::default().to_string().parse(), Ok(Protocol::default()));
        let refused = |text: &str| text.parse::<Protocol>().unwrap_err();
        assert_eq!(refused("7\nS\n"), SchemaError::Tag { index: 0 });
        assert_eq!(refused("\t7\nS\n\t7\nS\n"), SchemaError::Tag { index: 1 });
        assert_eq!(refused("\t7\nS\n\t-1\nS\n"), SchemaError::Tag { index: 1 });
        assert_eq!(refused("\t7"), SchemaError::Tag { index: 0 });
        assert_eq!(refused("\t7\nS\nx\n"), SchemaError::Line { number: 2 });
    }
}
