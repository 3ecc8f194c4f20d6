//! Text and bytes, escaped for a table or for JSON.

use std::fmt::Write;

use dtype_text::printable::is_command;

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
