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
//! If not all numbers of the type are values of the field, the values follow in braces:
//!
//! ```text
//! state: State {u8: Idle = 0, Busy = 1}
//! id: u32 {not 0}
//! ```
//!
//! Control characters and backslashes in names are escaped as in Rust (`\n`), so that each field is one line. So are the
//! characters that end a name: a colon and an opening bracket in the name of a field, an opening brace in the name of an enum, a
//! comma and an equals sign in the name of a variant.
//!
//! One `const` walk over the type map produces the text. At run time it writes the text; in `const` evaluation it has no room
//! for the text and only computes its hash, so hashing takes no time when messages are sent. The hash does not cover the values
//! in braces: records with a new variant can still be read if they do not use it.

use core::fmt;
use core::str::FromStr;

use dtype_runtime::basic::{Discriminants, Kind};
use dtype_runtime::typemap::{Meaning, Node, TypeMap};
use dtype_runtime::{Basic, Datatype, Validity};

use crate::compare::{Difference, VALUES, schemas};

/// The longest text of a schema or a protocol that is parsed, in bytes.
pub(crate) const MAX_LEN: usize = 1 << 20;

/// The names and types of the fields of a record, in the order of the packed stream, and the numbers of enums.
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
    pub(crate) text: String,
}

impl Schema {
    /// The schema of a type.
    pub fn of<T: Datatype>() -> Self {
        Self { text: text_of(|sink| sink.schema(T::TYPE_MAP)) }
    }

    /// The name of a field as in the text, which [`from_str`](Self::from_str) parses: control characters, backslashes, colons and
    /// opening brackets and braces are escaped.
    ///
    /// ```
    /// assert_eq!(dtype_message::Schema::escaped("a: b"), r"a\u{3a} b");
    /// ```
    pub fn escaped(name: &str) -> String {
        text_of(|sink| sink.name(name, Name::Field))
    }

    /// The hash that a frame carries. It detects mistakes, but no attacks: an attacker can find names with the same hash. It
    /// covers the names and types of the fields, but not which numbers are values of them: the variants of an enum, for
    /// example.
    pub fn hash(&self) -> u64 {
        let mut sink = Sink::new(&mut []);
        for line in self.text.lines() {
            sink.text(without_values(line));
            sink.byte(b'\n');
        }
        sink.hash()
    }

    /// The name of the type. Control characters and backslashes are escaped, as everywhere in the text.
    pub fn type_name(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The paths and types of the fields, without the values in braces.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text.lines().skip(1).filter_map(|line| without_values(line).split_once(": "))
    }

    /// The differences between the sender's schema and this one, the receiver's: at most [`Difference::MAX`], and the number of
    /// the others. Empty if they are equal. If a path occurs several times in a schema, the first field counts.
    pub fn differences(&self, sender: &Self) -> Vec<Difference> {
        schemas(&self.text, &sender.text, &mut { Difference::MAX })
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
    /// The text is longer than 1 MiB.
    #[error("a text of {actual} bytes exceeds the limit of {MAX_LEN}")]
    TooLong {
        /// Bytes of the text.
        actual: usize,
    },
    /// A block of a [`Protocol`](crate::Protocol) does not begin with a tab, a tag, a form and a name, or is not after the
    /// block with the tag before.
    #[error(
        "block {index} of the protocol: expected a tab, a tag above the one before, `one`, `list`, `text` or a `head` before \
         one of these, and a name"
    )]
    Block {
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
        let mut own = String::new();
        append(&mut own, text)?;
        Ok(Self { text: own })
    }
}

/// Appends the lines of a schema. Equal schemas must be equal texts, so line breaks are normalized.
pub(crate) fn append(own: &mut String, text: &str) -> Result<(), SchemaError> {
    if text.len() > MAX_LEN {
        return Err(SchemaError::TooLong { actual: text.len() });
    }
    own.reserve_exact(text.len() + 1);
    let mut lines = text.lines();
    for (index, line) in [lines.next().unwrap_or_default()].into_iter().chain(lines).enumerate() {
        if line.contains(char::is_control) || index > 0 && !line.contains(": ") {
            return Err(SchemaError::Line { number: index + 1 });
        }
        own.push_str(line);
        own.push('\n');
    }
    Ok(())
}

/// The type of a leaf with its values, as in the line of a field.
pub(crate) fn type_of(map: &TypeMap) -> String {
    let write = |sink: &mut Sink<'_>| {
        sink.type_of(map);
        sink.values(map);
    };
    text_of(write)
}

/// The text that is written.
fn text_of(write: impl Fn(&mut Sink<'_>)) -> String {
    let mut sink = Sink::new(&mut []);
    write(&mut sink);
    let mut bytes = vec![0; sink.len];
    write(&mut Sink::new(&mut bytes));
    // Names and the parts between them are valid UTF-8.
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The line of a field without its values.
pub(crate) fn without_values(line: &str) -> &str {
    line.strip_suffix('}').and_then(|line| line.split_once(VALUES)).map_or(line, |(line, _)| line)
}

/// The hash of the schema of `T`, as a constant. It is never 0, because 0 in a frame means that there is no hash.
pub(crate) const fn schema_hash<T: Datatype>() -> u64 {
    let mut sink = Sink::new(&mut []);
    sink.has_values = false;
    sink.schema(T::TYPE_MAP);
    sink.hash()
}

/// What a name is of.
#[derive(Clone, Copy)]
enum Name {
    Type,
    Field,
    Variant,
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
    /// Whether the text has the values of fields, which the hash does not cover.
    has_values: bool,
}

impl<'a> Sink<'a> {
    const fn new(out: &'a mut [u8]) -> Self {
        Self { state: 0xCBF2_9CE4_8422_2325, len: 0, out, has_values: true }
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
    const fn name(&mut self, name: &str, of: Name) {
        let bytes = name.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            match bytes[i] {
                b'\n' => self.text("\\n"),
                b'\r' => self.text("\\r"),
                b'\t' => self.text("\\t"),
                b'\\' => self.text("\\\\"),
                byte @ (..=0x1F | 0x7F) => self.escaped(byte),
                b'{' => self.escaped(b'{'),
                byte @ (b':' | b'[') if matches!(of, Name::Field) => self.escaped(byte),
                byte @ (b',' | b'=') if matches!(of, Name::Variant) => self.escaped(byte),
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

    const fn number(&mut self, number: u128) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.byte(b"0123456789"[(number % 10) as usize]);
    }

    const fn schema(&mut self, map: &TypeMap) {
        match map.node() {
            Node::Structure { name, .. } => self.name(name, Name::Type),
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
                if self.has_values {
                    self.values(map);
                }
                self.byte(b'\n');
            }
        }
    }

    /// The values of a leaf, if some numbers of its basic datatype are not among them, and its type does not tell.
    const fn values(&mut self, map: &TypeMap) {
        match map.node() {
            Node::Array { element, .. } => self.values(element),
            Node::Basic { basic, validity, .. } => {
                match validity {
                    Validity::NonZero => self.text(" {not 0"),
                    Validity::AtMost(most) => {
                        self.text(" {up to ");
                        self.number(*most as u128);
                    }
                    Validity::NotNan { .. } => self.text(" {not NaN"),
                    Validity::Enum(variants) => {
                        self.text(VALUES);
                        self.text(basic.canonical().name());
                        self.text(": ");
                        self.variants(variants, *basic);
                    }
                    _ => return,
                }
                self.byte(b'}');
            }
            Node::Structure { .. } => {}
        }
    }

    /// The names of the variants and their numbers.
    const fn variants(&mut self, variants: &Discriminants, basic: Basic) {
        let (values, names) = (variants.values(), variants.names());
        let unused = 128 - 8 * basic.size();
        let is_signed = matches!(basic.kind(), Kind::Integer);
        let mut i = 0;
        while i < values.len() {
            if i > 0 {
                self.text(", ");
            }
            if i < names.len() {
                self.name(names[i], Name::Variant);
            }
            self.text(" = ");
            let number = (values[i] << unused).cast_signed() >> unused;
            if is_signed && number < 0 {
                self.byte(b'-');
                self.number(number.unsigned_abs());
            } else {
                self.number(values[i]);
            }
            i += 1;
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
                self.name(name, Name::Field);
            }
            Path::Elements(outer, count) => {
                self.path(outer);
                self.text("[0..");
                self.number(*count as u128);
                self.byte(b']');
            }
        }
    }

    /// The type of a leaf, by a name that is the same on every machine: an enum's own name; `Timestamp<ns>` for a time, because
    /// the number means nothing without its unit; otherwise the name of the basic datatype.
    const fn type_of(&mut self, map: &TypeMap) {
        match map.node() {
            Node::Basic { validity: Validity::Enum(_), name, .. }
            | Node::Structure { name, .. } => self.name(name, Name::Type),
            Node::Basic { basic, name, .. } => match map.meaning() {
                Some(Meaning::Time(unit) | Meaning::Span(unit)) => {
                    self.name(name, Name::Type);
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
                self.number(*count as u128);
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
