//! The kinds of message of a stream, which the two sides exchange when they connect.
//!
//! As text it is one block for each kind, by tag: a line with a tab, the tag, the form and the name, and then the text of the
//! [`Schema`], whose lines have no tabs. The form is `one`, `list` or `text`. The head of a message is a block of its own before
//! that, with the same tag and name, and the form `head`.
//!
//! The text is what is kept in memory, so a protocol that a peer has sent takes little more than its text.

use core::fmt;
use core::str::FromStr;
use std::collections::BTreeSet;

use crate::compare::{Bounded, Difference, schemas, shown};
use crate::error::Error;
use crate::limits::Limits;
use crate::schema::{MAX_LEN, Schema, SchemaError, append};

/// The kinds of message that one side of a stream knows: for each tag, the name, the form and the [`Schema`] of its records.
///
/// Both sides exchange their protocols when they connect, with [`exchange`](crate::exchange) or
/// [`tokio::exchange`](crate::tokio::exchange). Then [`differences`](Self::differences) tells what another version changed,
/// before the first message is refused, and a receiver [with the sender's protocol](crate::Receiver::with_sender) names the
/// fields that differ when it refuses a message. It names whatever the reader would refuse, except for the values that a
/// `#[dtype(check = …)]` refuses, which no protocol tells.
///
/// A protocol takes at most half as much memory again as its [text](Self#impl-Display-for-Protocol), which is at most 1 MiB
/// long.
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
///     "tag 3, `Reset`, is only there",
/// ]);
/// # Ok::<(), dtype_message::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protocol {
    text: String,
    /// The bytes at which the blocks start, so that a kind is found without a search through all of the text.
    starts: Vec<u32>,
}

/// A difference between the protocols of the two sides of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolDifference {
    /// The sender does not know the tag.
    OnlyHere {
        /// The tag.
        tag: u32,
        /// The receiver's name of the message.
        name: String,
    },
    /// The receiver does not know the tag.
    OnlyThere {
        /// The tag.
        tag: u32,
        /// The sender's name of the message.
        name: String,
    },
    /// The messages with this tag have different names. That alone refuses no message.
    Name {
        /// The tag.
        tag: u32,
        /// The receiver's name of the message.
        here: String,
        /// The sender's name of the message.
        there: String,
    },
    /// The messages with this tag have different forms: one record or a list, bytes or text, with a head or without.
    Form {
        /// The tag.
        tag: u32,
        /// The receiver's name of the message.
        name: String,
        /// The receiver's form, in words.
        here: String,
        /// The sender's form, in words.
        there: String,
    },
    /// The records with this tag differ.
    Records {
        /// The tag.
        tag: u32,
        /// The receiver's name of the message.
        name: String,
        /// What differs, first in the head.
        differences: Vec<Difference>,
    },
    /// The number of further differences.
    More {
        /// The number.
        count: usize,
    },
}

/// The form of a block in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Head,
    One,
    List,
    Text,
}

impl Form {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Head, "head"), (Self::One, "one"), (Self::List, "list"), (Self::Text, "text")];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(form, _)| *form == self).map_or("", |(_, word)| word)
    }
}

/// A kind of message, in the text of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind<'a> {
    pub(crate) tag: u32,
    pub(crate) name: &'a str,
    form: Form,
    /// The text of the head's schema.
    pub(crate) head: Option<&'a str>,
    /// The text of the records' schema.
    pub(crate) schema: &'a str,
}

impl<'a> Kind<'a> {
    /// The kind in a block: without its head, which is a block before.
    fn of_block(block: &'a str) -> Option<Self> {
        let (line, schema) = block.split_once('\n')?;
        let (tag, line) = line.trim_end_matches('\r').split_once(' ')?;
        let (word, name) = line.split_once(' ')?;
        let (form, _) = Form::ALL.into_iter().find(|(_, known)| *known == word)?;
        Some(Self { tag: tag.parse().ok()?, name, form, head: None, schema })
    }

    /// The form, in words.
    fn form(&self) -> String {
        let line = |schema: &str| shown(schema.lines().next().unwrap_or_default());
        let rest = match self.form {
            Form::One | Form::Head => format!("one `{}`", line(self.schema)),
            Form::List => format!("a list of `{}`", line(self.schema)),
            Form::Text => "a text".to_owned(),
        };
        self.head.map_or_else(|| rest.clone(), |head| format!("a head `{}` and {rest}", line(head)))
    }

    pub(crate) fn is_of_form(&self, other: &Self) -> bool {
        (self.form, self.head.is_some()) == (other.form, other.head.is_some())
    }

    /// The differences between the records of both sides, in the head and after it. `room` becomes the room that is left.
    fn differences(&self, sender: &Self, room: &mut usize) -> Vec<Difference> {
        let mut all = Vec::new();
        if let (Some(here), Some(there)) = (self.head, sender.head) {
            all = schemas(here, there, room);
        }
        all.extend(schemas(self.schema, sender.schema, room));
        all
    }
}

impl Protocol {
    /// Adds a kind of message, at its place by tag. Without a name, it has that of its records.
    pub(crate) fn insert(
        &mut self,
        tag: u32,
        name: Option<&str>,
        form: Form,
        head: Option<&Schema>,
        records: &Schema,
    ) {
        let name = name.unwrap_or_else(|| records.type_name());
        let mut block = String::new();
        for (form, schema) in
            head.map(|head| (Form::Head, head)).into_iter().chain([(form, records)])
        {
            block.extend(["\t", &tag.to_string(), " ", form.word(), " ", name, "\n", &schema.text]);
        }
        let before = self.kinds().take_while(|kind| kind.tag <= tag).last();
        let at = before.map_or(0, |kind| {
            kind.schema.as_ptr().addr() + kind.schema.len() - self.text.as_ptr().addr()
        });
        self.text.insert_str(at, &block);
        self.starts = starts(&self.text);
    }

    /// The kinds of message, by tag.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Kind<'_>> {
        self.kinds_from(0)
    }

    /// The kinds of message from the block on that starts at this byte.
    fn kinds_from(&self, start: u32) -> impl Iterator<Item = Kind<'_>> {
        let mut head = None;
        let text = self.text.get(start as usize..).unwrap_or_default();
        text.split('\t').skip(1).filter_map(move |block| {
            let kind = Kind::of_block(block)?;
            if kind.form == Form::Head {
                head = Some(kind.schema);
                return None;
            }
            Some(Kind { head: head.take(), ..kind })
        })
    }

    /// The schema of the records with this tag; of a message with a head, that of the records after it.
    pub fn schema(&self, tag: u32) -> Option<Schema> {
        let kind = self.of_tag(tag)?;
        Some(Schema { text: kind.schema.to_owned() })
    }

    fn of_tag(&self, tag: u32) -> Option<Kind<'_>> {
        let tag_at = |start: &u32| {
            let digits = self.text.get(*start as usize + 1..)?.split(' ').next()?;
            digits.parse::<u32>().ok()
        };
        let at = self.starts.partition_point(|start| tag_at(start) < Some(tag));
        self.kinds_from(*self.starts.get(at)?).next().filter(|kind| kind.tag == tag)
    }

    /// The differences between this side's protocol and the sender's, by tag: at most [`Difference::MAX`] in all, and the number
    /// of the others. Empty if they are equal.
    pub fn differences(&self, sender: &Self) -> Vec<ProtocolDifference> {
        let mut found = Bounded::new(Difference::MAX);
        let mut room = Difference::MAX;
        let tags: BTreeSet<_> = self.kinds().chain(sender.kinds()).map(|kind| kind.tag).collect();
        for tag in tags {
            match (self.of_tag(tag), sender.of_tag(tag)) {
                (Some(here), Some(there)) => here.compare(&there, &mut room, &mut found),
                (Some(here), None) => {
                    found.push(|| ProtocolDifference::OnlyHere { tag, name: shown(here.name) });
                }
                (None, there) => {
                    let name = there.map_or("", |there| there.name);
                    found.push(|| ProtocolDifference::OnlyThere { tag, name: shown(name) });
                }
            }
        }
        found.finish(|count| ProtocolDifference::More { count }).1
    }

    /// The kind of a message with this tag. A type that is not an enum is one kind, and is sent and received with any tag.
    pub(crate) fn kind(&self, tag: u32) -> Option<Kind<'_>> {
        let only = || {
            let mut kinds = self.kinds();
            kinds.next().filter(|kind| kind.tag == 0 && kinds.next().is_none())
        };
        self.of_tag(tag).or_else(only)
    }

    /// Names the fields that differ in an [`Error::Mismatch`], if both sides know the tag. Other errors stay as they are.
    #[must_use]
    pub fn explain(&self, sender: &Self, error: Error) -> Error {
        let Error::Mismatch(mut mismatch) = error else { return error };
        if let (Some(here), Some(there)) = (self.kind(mismatch.tag), sender.kind(mismatch.tag)) {
            mismatch.differences = here.differences(&there, &mut { Difference::MAX });
        }
        Error::Mismatch(mismatch)
    }

    /// The text, which is sent.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// The limits within which a protocol is read.
    pub(crate) fn limits(limits: &Limits) -> Limits {
        limits.with_max_payload_bytes(limits.max_payload_bytes().min(MAX_LEN as u64))
    }
}

impl Kind<'_> {
    fn compare(&self, sender: &Self, room: &mut usize, found: &mut Bounded<ProtocolDifference>) {
        let (tag, name) = (self.tag, || shown(self.name));
        if self.name != sender.name {
            let there = || shown(sender.name);
            found.push(|| ProtocolDifference::Name { tag, here: name(), there: there() });
        }
        if !self.is_of_form(sender) {
            found.push(|| ProtocolDifference::Form {
                tag,
                name: name(),
                here: self.form(),
                there: sender.form(),
            });
            return;
        }
        let differences = self.differences(sender, room);
        if !differences.is_empty() {
            found.push(|| ProtocolDifference::Records { tag, name: name(), differences });
        }
    }
}

/// The text that the other side parses.
impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Protocol {
    type Err = SchemaError;

    /// Parses a protocol from the text that [`Display`](fmt::Display) wrote. Line breaks may be those of Windows.
    fn from_str(text: &str) -> Result<Self, SchemaError> {
        if text.len() > MAX_LEN {
            return Err(SchemaError::TooLong { actual: text.len() });
        }
        let mut own = String::with_capacity(text.len() + 1);
        let mut blocks = text.split('\t');
        if !blocks.next().is_some_and(str::is_empty) {
            return Err(SchemaError::Block { index: 0 });
        }
        let mut before: Option<Kind<'_>> = None;
        for (index, block) in blocks.enumerate() {
            let wrong = SchemaError::Block { index };
            let kind = Kind::of_block(block).ok_or(wrong)?;
            let is_next = match before {
                Some(head) if head.form == Form::Head => {
                    (head.tag, head.name) == (kind.tag, kind.name) && kind.form != Form::Head
                }
                _ => before.is_none_or(|before| before.tag < kind.tag),
            };
            if !is_next || kind.name.contains(char::is_control) {
                return Err(wrong);
            }
            before = Some(kind);
            own.extend(["\t", &kind.tag.to_string(), " ", kind.form.word(), " ", kind.name, "\n"]);
            append(&mut own, kind.schema)?;
        }
        match before {
            // The block is missing that a head belongs to.
            Some(head) if head.form == Form::Head => {
                Err(SchemaError::Block { index: text.matches('\t').count() })
            }
            _ => Ok(Self { starts: starts(&own), text: own }),
        }
    }
}

/// The bytes at which the blocks of a protocol start. It is shorter than 4 GiB.
fn starts(text: &str) -> Vec<u32> {
    let mut starts = Vec::with_capacity(text.matches('\t').count());
    starts.extend(text.match_indices('\t').filter_map(|(start, _)| u32::try_from(start).ok()));
    starts
}

impl fmt::Display for ProtocolDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyHere { tag, name } => write!(f, "tag {tag}, `{name}`, is only here"),
            Self::OnlyThere { tag, name } => write!(f, "tag {tag}, `{name}`, is only there"),
            Self::Name { tag, here, there } => {
                write!(f, "tag {tag} is `{there}` there and `{here}` here")
            }
            Self::Form { tag, name, here, there } => {
                write!(f, "tag {tag}, `{name}`: {there} there and {here} here")
            }
            Self::Records { tag, name, differences } => {
                write!(f, "tag {tag}, `{name}`")?;
                for (index, difference) in differences.iter().enumerate() {
                    write!(f, "{}{difference}", if index == 0 { ": " } else { "; " })?;
                }
                Ok(())
            }
            Self::More { count } => write!(f, "and {count} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_is_its_text() {
        let mut protocol = Protocol::default();
        let (records, head) = (Schema::of::<(u8, [f32; 2])>(), Schema::of::<u16>());
        protocol.insert(7, Some("Pairs"), Form::List, None, &records);
        protocol.insert(u32::MAX, Some(""), Form::One, None, &"\n".parse().unwrap());
        protocol.insert(1, Some("a b"), Form::Text, Some(&head), &Schema::of::<u8>());
        let text = protocol.to_string();
        assert!(
            text.starts_with("\t1 head a b\nu16\n: u16\n\t1 text a b\nu8\n: u8\n\t7 list Pairs\n"),
            "{text}"
        );
        assert_eq!(text.parse(), Ok(protocol.clone()));
        assert_eq!(text.replace('\n', "\r\n").parse(), Ok(protocol.clone()));
        assert_eq!(Protocol::default().to_string().parse(), Ok(Protocol::default()));
        assert_eq!(protocol.schema(7), Some(records));
        let refused = |text: &str| text.parse::<Protocol>().unwrap_err();
        for (text, index) in [
            ("7 one S\nS\n", 0),
            ("\t7\nS\n", 0),
            ("\t7 one S", 0),
            ("\t7 two S\nS\n", 0),
            ("\t7 one \u{1b}\nS\n", 0),
            ("\t7 one S\nS\n\t7 one S\nS\n", 1),
            ("\t7 one S\nS\n\t6 one S\nS\n", 1),
            ("\t7 one S\nS\n\t-1 one S\nS\n", 1),
            ("\t7 head S\nS\n", 1),
            ("\t7 head S\nS\n\t7 head S\nS\n", 1),
            ("\t7 head S\nS\n\t8 list S\nS\n", 1),
            ("\t7 head S\nS\n\t7 list T\nS\n", 1),
        ] {
            assert_eq!(refused(text), SchemaError::Block { index }, "{text}");
        }
        assert_eq!(refused("\t7 one S\nS\nx\n"), SchemaError::Line { number: 2 });
        let actual = MAX_LEN + 1;
        assert_eq!(refused(&"\t".repeat(actual)), SchemaError::TooLong { actual });
    }
}
