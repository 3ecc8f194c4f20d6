//! What Python's `repr` writes for numbers and texts.

use core::fmt;

/// A tuple of numbers.
pub(crate) struct Tuple<'a>(pub(crate) &'a [u64]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, number) in self.0.iter().enumerate() {
            write!(f, "{}{number}", if i > 0 { ", " } else { "" })?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

/// A text between quotation marks.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quote = if self.0.contains('\'') && !self.0.contains('"') { '"' } else { '\'' };
        write!(f, "{quote}")?;
        for c in self.0.chars() {
            match (c, u32::from(c)) {
                ('\\', _) => f.write_str("\\\\")?,
                ('\n', _) => f.write_str("\\n")?,
                ('\r', _) => f.write_str("\\r")?,
                ('\t', _) => f.write_str("\\t")?,
                _ if c == quote => write!(f, "\\{c}")?,
                _ if is_printable(c) => write!(f, "{c}")?,
                (_, code @ ..=0xff) => write!(f, "\\x{code:02x}")?,
                (_, code @ ..=0xffff) => write!(f, "\\u{code:04x}")?,
                (_, code) => write!(f, "\\U{code:08x}")?,
            }
        }
        write!(f, "{quote}")
    }
}

/// Whether Python's `isprintable` holds.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    // Rust escapes the same categories of characters as Python, but more at the start of a text, where it also escapes
    // combining marks.
    format!("-{c}").escape_debug().count() == 2
}
