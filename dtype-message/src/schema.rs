//! The names and types of a record's fields, as text and as a hash.
//!
//! The text has the name of the type in its first line, and one line for each field, in the order of the packed
//! stream: its path and its type.
//!
//! ```text
//! Player
//! position.x: f32
//! position.y: f32
//! scores: [u16; 4]
//! trail[0..8].x: f32
//! ```
//!
//! Control characters and backslashes in names are escaped as in Rust (`\n`), so that each field is one line. So are a colon
//! and an opening bracket in the name of a field: a colon ends the path, and a bracket begins the number of elements.
//!
//! One `const` walk over the type map produces the text. At run time it writes the text; in `const` evaluation it has no room
//! for the text and only computes its hash, so hashing takes no time when messages are sent.

use core::fmt;
use core::str::FromStr;
use std::collections::{BTreeMap, BTreeSet};

use dtype_runtime::Datatype;
use dtype_runtime::Validity;
use dtype_runtime::typemap::{Meaning, Node, TypeMap};

/// The longest text that is parsed, in bytes.
const MAX_LEN: usize = 64 * 1024;

/// The names and types of the fields of a record, in the order of the packed stream.
///
/// The [signature](dtype_runtime::Type::signature_hash) has only the types, as in MPI: a receiver whose `Look { yaw, pitch }`
/// has the same types as the sender's `Move { x, y }` accepts one as the other. If the sender puts the hash of its schema into
/// the frame, with [`Framing::with_schema`](crate::Framing::with_schema), such a message is refused.
///
/// ```
/// use dtype_message::Schema;
/// #[derive(dtype_runtime::Datatype)]
/// struct Move { x: f32, y: f32 }
/// #[derive(dtype_runtime::Datatype)]
/// struct Look { yaw: f32, pitch: f32 }
///
/// let (here, there) = (Schema::of::<Move>(), Schema::of::<Look>());
/// assert_eq!(here.to_string(), "Move\nx: f32\ny: f32\n");
/// assert_ne!(here.hash(), there.hash());
/// assert_eq!(here.differences(&there)[0].to_string(), "the type is `Look` there and `Move` here");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    text: String,
}

impl Schema {
    /// The schema of a type.
    pub fn of<T: Datatype>() -> Self {
        let mut sink = Sink::new(&mut []);
        sink.schema(T::TYPE_MAP);
        let mut bytes = vec![0; sink.len];
        Sink::new(&mut bytes).schema(T::TYPE_MAP);
        // Names and the parts between them are valid UTF-8.
        Self { text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// The hash that a frame carries. It detects mistakes, but no attacks: an attacker can find names with the same hash.
    pub fn hash(&self) -> u64 {
        let mut sink = Sink::new(&mut []);
        sink.text(&self.text);
        sink.hash()
    }

    /// The name of the type. Control characters and backslashes are escaped, as everywhere in the text.
    pub fn type_name(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The paths and types of the fields.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text.lines().skip(1).filter_map(|line| line.split_once(": "))
    }

    /// The differences between the sender's schema and this one, the receiver's. Empty if they are equal. If a path occurs
    /// several times in a schema, the first field counts.
    pub fn differences(&self, sender: &Self) -> Vec<Difference> {
        let mut differences = Vec::new();
        let own = |text: &str| text.to_owned();
        if self.type_name() != sender.type_name() {
            let (here, there) = (own(self.type_name()), own(sender.type_name()));
            differences.push(Difference::Name { here, there });
        }
        // Inserted one by one: `collect` would need code that sorts.
        let (mut here, mut there) = (BTreeMap::new(), BTreeMap::new());
        here.extend(self.first_fields());
        there.extend(sender.first_fields());
        for (path, ty) in self.first_fields() {
            match there.get(path) {
                None => differences.push(Difference::OnlyHere { path: own(path), ty: own(ty) }),
                Some(other) if *other != ty => differences.push(Difference::Type {
                    path: own(path),
                    here: own(ty),
                    there: own(other),
                }),
                Some(_) => {}
            }
        }
        for (path, ty) in sender.first_fields().filter(|(path, _)| !here.contains_key(path)) {
            differences.push(Difference::OnlyThere { path: own(path), ty: own(ty) });
        }
        let ours = self.first_fields().filter(|(path, _)| there.contains_key(path));
        let theirs = sender.first_fields().filter(|(path, _)| here.contains_key(path));
        let mut pairs = ours.zip(theirs);
        if let Some(((here, _), (there, _))) = pairs.find(|(ours, theirs)| ours.0 != theirs.0) {
            differences.push(Difference::Order { here: own(here), there: own(there) });
        }
        differences
    }

    /// The first field of each path.
    fn first_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut seen = BTreeSet::new();
        self.fields().filter(move |(path, _)| seen.insert(*path))
    }
}

/// A difference between the sender's schema and the receiver's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The types have different names.
    Name {
        /// The receiver's name of the type.
        here: String,
        /// The sender's name of the type.
        there: String,
    },
    /// A field has another type.
    Type {
        /// The path of the field.
        path: String,
        /// The type of the field in the receiver.
        here: String,
        /// The type of the field in the sender.
        there: String,
    },
    /// The sender lacks a field.
    OnlyHere {
        /// The path of the field.
        path: String,
        /// The type of the field.
        ty: String,
    },
    /// The receiver lacks a field.
    OnlyThere {
        /// The path of the field.
        path: String,
        /// The type of the field.
        ty: String,
    },
    /// The fields that both have are in different orders. These are the paths of the first two that differ: at the same place,
    /// the receiver has `here` and the sender has `there`.
    Order {
        /// The path of the receiver's field.
        here: String,
        /// The path of the sender's field.
        there: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { here, there } => {
                write!(f, "the type is `{there}` there and `{here}` here")
            }
            Self::Type { path, here, there } => {
                write!(f, "`{path}` is {there} there and {here} here")
            }
            Self::OnlyHere { path, ty } => write!(f, "`{path}: {ty}` is only here"),
            Self::OnlyThere { path, ty } => write!(f, "`{path}: {ty}` is only there"),
            Self::Order { here, there } => {
                write!(
                    f,
                    "the fields have another order: `{there}` comes there where `{here}` comes here"
                )
            }
        }
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The error for a text that is not a [`Schema`] or a [`Protocol`](crate::Protocol).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is longer than 64 KiB.
    #[error("a schema of {actual} bytes exceeds the limit of {MAX_LEN}")]
    TooLong {
        /// Bytes of the text.
        actual: usize,
    },
    /// A block of a [`Protocol`](crate::Protocol) does not begin with a tab and a tag, or repeats the tag of another block.
    #[error("block {index} of the protocol: expected a tab and a tag of its own, up to 4294967295")]
    Tag {
        /// The number of the block, from 0 on.
        index: usize,
    },
    /// A line after the first is not a path and a type, or a line contains control characters.
    #[error("line {number} of the schema: expected `path: type` without control characters")]
    Line {
        /// The number of the line, from 1 on.
        number: usize,
    },
}

impl FromStr for Schema {
    type Err = SchemaError;

    /// Parses a schema from the text that [`Display`](fmt::Display) wrote. Line breaks may be those of Windows, and the last
    /// one may be missing.
    fn from_str(text: &str) -> Result<Self, SchemaError> {
        if text.len() > MAX_LEN {
            return Err(SchemaError::TooLong { actual: text.len() });
        }
        // Equal schemas must be equal texts, so line breaks are normalized.
        let mut own = String::with_capacity(text.len() + 1);
        for (index, line) in text.lines().enumerate() {
            if line.contains(char::is_control) || index > 0 && !line.contains(": ") {
                return Err(SchemaError::Line { number: index + 1 });
            }
            own.push_str(line);
            own.push('\n');
        }
        if own.is_empty() {
            own.push('\n');
        }
        Ok(Self { text: own })
    }
}

/// The hash of the schema of `T`, as a constant. It is never 0, because 0 in a frame means that there is no hash.
pub(crate) const fn schema_hash<T: Datatype>() -> u64 {
    let mut sink = Sink::new(&mut []);
    sink.schema(T::TYPE_MAP);
    sink.hash()
}

/// The position of the walk: the fields and arrays around a node.
enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'static str),
    Elements(&'a Path<'a>, usize),
}

/// Receives the text: hashes it, counts its bytes, and writes as many bytes as fit.
struct Sink<'a> {
    /// FNV-1a.
    state: u64,
    len: usize,
    out: &'a mut [u8],
}

impl<'a> Sink<'a> {
    const fn new(out: &'a mut [u8]) -> Self {
        Self { state: 0xCBF2_9CE4_8422_2325, len: 0, out }
    }

    /// The mixed state: every bit of the state affects every bit of the hash.
    const fn hash(&self) -> u64 {
        let mixed = (self.state ^ (self.state >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let mixed = mixed ^ (mixed >> 32);
        if mixed == 0 { 1 } else { mixed }
    }

    const fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self.byte(bytes[i]);
            i += 1;
        }
    }

    /// A name with its control characters and backslashes escaped, so that a line break in it starts no new line.
    const fn name(&mut self, name: &str) {
        self.escaped_name(name, false);
    }

    const fn escaped_name(&mut self, name: &str, is_field: bool) {
        let bytes = name.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            match bytes[i] {
                b'\n' => self.text("\\n"),
                b'\r' => self.text("\\r"),
                b'\t' => self.text("\\t"),
                b'\\' => self.text("\\\\"),
                byte @ (..=0x1F | 0x7F) => self.escaped(byte),
                byte @ (b':' | b'[') if is_field => self.escaped(byte),
                // The control characters above ASCII, in UTF-8.
                0xC2 if bytes[i + 1] <= 0x9F => {
                    i += 1;
                    self.escaped(bytes[i]);
                }
                byte => self.byte(byte),
            }
            i += 1;
        }
    }

    /// Escapes a character up to U+00FF.
    const fn escaped(&mut self, code: u8) {
        self.text("\\u{");
        if code > 0xF {
            self.byte(b"0123456789abcdef"[code as usize >> 4]);
        }
        self.byte(b"0123456789abcdef"[code as usize & 0xF]);
        self.byte(b'}');
    }

    const fn byte(&mut self, byte: u8) {
        self.state = (self.state ^ byte as u64).wrapping_mul(0x0100_0000_01B3);
        if self.len < self.out.len() {
            self.out[self.len] = byte;
        }
        self.len += 1;
    }

    const fn number(&mut self, number: usize) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.byte(b"0123456789"[number % 10]);
    }

    const fn schema(&mut self, map: &TypeMap) {
        match map.node() {
            Node::Structure { name, .. } => self.name(name),
            _ => self.type_of(map),
        }
        self.byte(b'\n');
        self.fields(map, &Path::Root);
    }

    /// One line for each leaf, or array of leaves.
    const fn fields(&mut self, map: &TypeMap, path: &Path<'_>) {
        match map.node() {
            Node::Structure { fields, .. } => {
                let mut i = 0;
                while i < fields.len() {
                    if let Some(map) = fields[i].map() {
                        self.fields(map, &Path::Field(path, fields[i].name()));
                    }
                    i += 1;
                }
            }
            Node::Array { count, element } if holds_structure(element) => {
                self.fields(element, &Path::Elements(path, *count));
            }
            _ => {
                self.path(path);
                self.text(": ");
                self.type_of(map);
                self.byte(b'\n');
            }
        }
    }

    const fn path(&mut self, path: &Path<'_>) {
        match path {
            Path::Root => {}
            Path::Field(outer, name) => {
                self.path(outer);
                if !matches!(outer, Path::Root) {
                    self.byte(b'.');
                }
                self.escaped_name(name, true);
            }
            Path::Elements(outer, count) => {
                self.path(outer);
                self.text("[0..");
                self.number(*count);
                self.byte(b']');
            }
        }
    }

    /// The type of a leaf, by a name that is the same on every machine: an enum's own name; `Timestamp<ns>` for a time, because
    /// the number means nothing without its unit; otherwise the name of the basic datatype.
    const fn type_of(&mut self, map: &TypeMap) {
        match map.node() {
            Node::Basic { validity: Validity::Enum(_), name, .. }
            | Node::Structure { name, .. } => self.name(name),
            Node::Basic { basic, name, .. } => match map.meaning() {
                Some(Meaning::Time(unit) | Meaning::Span(unit)) => {
                    self.name(name);
                    self.byte(b'<');
                    self.text(unit.symbol());
                    self.byte(b'>');
                }
                _ => self.text(basic.canonical().name()),
            },
            Node::Array { count, element } => {
                self.byte(b'[');
                self.type_of(element);
                self.text("; ");
                self.number(*count);
                self.byte(b']');
            }
        }
    }
}

/// Whether there are fields inside arrays of arrays.
const fn holds_structure(map: &TypeMap) -> bool {
    match map.node() {
        Node::Structure { .. } => true,
        Node::Array { element, .. } => holds_structure(element),
        Node::Basic { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Nested = (u8, [(f32, [char; 2]); 3], [[bool; 2]; 4]);

    #[test]
    fn the_constant_is_the_hash_of_the_text() {
        const HASH: u64 = schema_hash::<Nested>();
        let schema = Schema::of::<Nested>();
        assert_eq!(schema.hash(), HASH);
        let fields: Vec<_> = schema.fields().collect();
        let expected = [
            ("0", "u8"),
            ("1[0..3].0", "f32"),
            ("1[0..3].1", "[char; 2]"),
            ("2", "[[bool; 2]; 4]"),
        ];
        assert_eq!(fields, expected);
        assert_eq!(schema.to_string().parse(), Ok(schema));
        assert_eq!(Schema::of::<u32>().to_string(), "u32\n: u32\n");
    }

    #[test]
    fn differences_are_named() {
        let schema = |text: &str| text.parse::<Schema>().unwrap();
        let here = schema("S\na: u8\nb: f32\nc: u8\n");
        assert_eq!(here.differences(&here), []);
        let texts = |there: &str| -> Vec<String> {
            here.differences(&schema(there)).iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            texts("S\nb: f32\na: u8\nc: u8\n"),
            ["the fields have another order: `b` comes there where `a` comes here"]
        );
        assert_eq!(
            texts("S\na: u8\nd: u8\nc: u8\nb: f64\n"),
            [
                "`b` is f64 there and f32 here",
                "`d: u8` is only there",
                "the fields have another order: `c` comes there where `b` comes here"
            ]
        );
        assert_eq!(
            texts("T\na: u8\nb: f64\nd: u8\n"),
            [
                "the type is `T` there and `S` here",
                "`b` is f64 there and f32 here",
                "`c: u8` is only here",
                "`d: u8` is only there"
            ]
        );
        // No type has a field twice, but a parsed text can.
        let twice = "S\na: u8\nb: f32\nc: u8\nd: u8\nd: u8\na: f32\n";
        assert_eq!(texts(twice), ["`d: u8` is only there"]);
        let (twice, empty) = (schema(twice), schema("S\n"));
        assert_eq!(twice.differences(&twice), []);
        assert_eq!(twice.differences(&empty).len(), 4);
        assert_eq!("S\na u8".parse::<Schema>(), Err(SchemaError::Line { number: 2 }));
        assert_eq!("S\na: u8\nb: \x1b[2J".parse::<Schema>(), Err(SchemaError::Line { number: 3 }));
        // Line breaks do not matter for equality.
        let other = here.to_string().replace('\n', "\r\n");
        for text in [other.as_str(), other.trim_end()] {
            assert_eq!((schema(text), schema(text).hash()), (here.clone(), here.hash()));
        }
        assert_eq!(schema(""), schema("\n"));
        let long = "x".repeat(MAX_LEN + 1);
        assert_eq!(long.parse::<Schema>(), Err(SchemaError::TooLong { actual: MAX_LEN + 1 }));
    }
}
