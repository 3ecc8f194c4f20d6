//! Escapes characters that a terminal could interpret as commands.

use std::fmt::Write;

use super::ValueStyle;

/// A number of bytes, in words.
pub(crate) fn bytes(number: i128) -> String {
    format!("{number} {}", if number == 1 { "byte" } else { "bytes" })
}

/// Appends bytes as text. Backslashes and bytes that are not printable ASCII are escaped; in JSON, a byte becomes the character
/// with its number.
pub(crate) fn write_bytes(bytes: &[u8], style: ValueStyle, out: &mut String) {
    if style == ValueStyle::Json {
        out.push('"');
        for &byte in bytes {
            write_json_char(char::from(byte), !(b' '..=b'~').contains(&byte), out);
        }
        out.push('"');
    } else {
        for &byte in bytes {
            match byte {
                b'\'' | b'"' => out.push(char::from(byte)),
                // Writing to a string does not fail.
                _ => drop(write!(out, "{}", byte.escape_ascii())),
            }
        }
    }
}

/// Appends a character; one that does not print is escaped.
pub(super) fn write_char(char: char, style: ValueStyle, out: &mut String) {
    if style == ValueStyle::Json {
        out.push('"');
        write_json_char(char, is_command(char), out);
        out.push('"');
    } else if matches!(char, '\'' | '"') {
        out.push(char);
    } else {
        out.extend(char.escape_debug());
    }
}

/// Appends a text as a string of JSON.
pub(crate) fn json_string(text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        write_json_char(char, is_command(char), out);
    }
    out.push('"');
}

/// Whether a terminal could interpret a character as a command, or as the direction of the text after it.
pub(crate) fn is_command(char: char) -> bool {
    let turns = matches!(
        char,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    char.is_control() || turns
}

/// A text from an untrusted source on one line: a name, a path, an argument. Characters that a terminal could interpret as
/// commands are escaped, and so are bytes that are not UTF-8.
pub(crate) fn printable<T: AsRef<[u8]> + ?Sized>(text: &T) -> String {
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
pub(crate) fn printable_lines(message: &str) -> String {
    message.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

fn write_json_char(char: char, is_escaped: bool, out: &mut String) {
    match char {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        // Only characters below U+10000 are escaped, so there are no surrogates.
        _ if is_escaped => {
            let _ = write!(out, "\\u{:04x}", u32::from(char));
        }
        _ => out.push(char),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_text_is_as_it_is() {
        let mut out = String::new();
        write_bytes(b"it's \"ok\"\\\n\x1b\xff", ValueStyle::Plain, &mut out);
        assert_eq!(out, r#"it's "ok"\\\n\x1b\xff"#);
        out.clear();
        "'\"\\\n\u{9b}é".chars().for_each(|char| write_char(char, ValueStyle::Plain, &mut out));
        assert_eq!(out, r#"'"\\\n\u{9b}é"#);
    }

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

    #[test]
    fn json_reads_the_text_back() {
        for text in ["", "a\"b\\c", "\0\n\x1b[31m", "\u{85}\u{9b}é€🦀"] {
            let mut out = String::new();
            json_string(text, &mut out);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
            assert!(!out.chars().any(char::is_control));
        }
        let bytes: Vec<u8> = (0..=255).collect();
        let mut out = String::new();
        write_bytes(&bytes, ValueStyle::Json, &mut out);
        let back = serde_json::from_str::<String>(&out).unwrap();
        assert!(back.chars().map(u32::from).eq(0..=255));
        assert!(out.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '));
    }
}
