//! Texts from untrusted sources, for a terminal: characters that it could interpret as commands are escaped.

use std::fmt::Write;

/// Whether a terminal could interpret a character as a command, or as the direction of the text after it.
pub fn is_command(char: char) -> bool {
    let turns = matches!(
        char,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    char.is_control() || turns
}

/// A text from an untrusted source on one line: a name, a path, an argument. Characters that a terminal could interpret as
/// commands are escaped, and so are bytes that are not UTF-8.
pub fn printable<T: AsRef<[u8]> + ?Sized>(text: &T) -> String {
    let mut out = String::with_capacity(text.as_ref().len());
    for chunk in text.as_ref().utf8_chunks() {
        for char in chunk.valid().chars() {
            if is_command(char) { out.extend(char.escape_default()) } else { out.push(char) }
        }
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// A message that contains texts from untrusted sources. It may have several lines.
pub fn printable_lines(message: &str) -> String {
    message.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_commands() {
        assert_eq!(printable("\u{1b}[31m"), r"\u{1b}[31m");
        assert_eq!(printable("a\u{202e}b\u{2069}"), r"a\u{202e}b\u{2069}");
        assert_eq!(printable("\u{61c}\u{200e}\u{200f}\u{7f}"), r"\u{61c}\u{200e}\u{200f}\u{7f}");
        assert_eq!(printable("e\u{301} é 🦀"), "e\u{301} é 🦀");
        assert_eq!(printable(b"a\xff\x9bb\xc3"), r"a\xff\x9bb\xc3");
        assert_eq!(printable_lines("a\n\r\tb"), "a\n\\r\\tb");
        assert_eq!(printable(&printable("\x1b\n")), printable("\x1b\n"));
    }
}
