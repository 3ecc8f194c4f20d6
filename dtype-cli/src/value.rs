//! Writes one value of a basic datatype as text.

pub(crate) mod date;
mod float;
mod text;

use std::fmt::Write;

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;
use dtype_runtime::representation::Architecture;

pub(crate) use text::{bytes, json_string, write_bytes};

/// The style in which a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueStyle {
    /// For a table, a list, or CSV: no quotes around words.
    Plain,
    /// JSON. A value that is not a number in JSON becomes a string.
    Json,
}

/// Whether bytes are a value of their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validity {
    Valid,
    Invalid,
}

impl Validity {
    pub(crate) fn and(self, other: Self) -> Self {
        if other == Self::Invalid { other } else { self }
    }
}

/// Appends the value with these native bytes; there must be as many as the basic datatype has. Numbers have the fewest digits
/// that identify them.
pub(crate) fn write(basic: Basic, bytes: &[u8], style: ValueStyle, out: &mut String) -> Validity {
    let bits = || unsigned(bytes);
    match basic.kind() {
        Kind::Integer => {
            // The unused high bits are shifted out, and the sign is shifted in.
            let unused = 128 - 8 * bytes.len();
            write_to(out, format_args!("{}", (bits() << unused).cast_signed() >> unused));
        }
        Kind::Float => return float::write(format_of(basic), bytes, style, out),
        Kind::Complex => {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            let format = format_of(basic);
            let (open, close) = if style == ValueStyle::Json { ('[', ']') } else { ('(', ')') };
            out.push(open);
            let first = float::write(format, real, style, out);
            out.push_str(if style == ValueStyle::Json { "," } else { ", " });
            let second = float::write(format, imaginary, style, out);
            out.push(close);
            return first.and(second);
        }
        Kind::Logical => match bits() {
            0 => out.push_str("false"),
            1 => out.push_str("true"),
            _ => return invalid(bytes, style, out),
        },
        Kind::Character if bytes.len() == 1 => text::write_bytes(bytes, style, out),
        Kind::Character => match u32::try_from(bits()).ok().and_then(char::from_u32) {
            Some(char) => text::write_char(char, style, out),
            None => return invalid(bytes, style, out),
        },
        // Kinds that are added later are written as numbers until they are known here.
        Kind::Unsigned | Kind::Bytes | _ => write_to(out, format_args!("{}", bits())),
    }
    Validity::Valid
}

/// The basic datatype that represents all of a kind and a size in bytes in signatures.
pub(crate) fn of_size(kind: Kind, size: u64) -> Option<Basic> {
    let mut all = Basic::ALL.iter().copied().filter(|basic| basic.canonical() == *basic);
    all.find(|basic| basic.kind() == kind && basic.size() as u64 == size)
}

/// Whether an array of these values is text.
pub(crate) fn is_text(basic: Basic) -> bool {
    basic.kind() == Kind::Character && basic.size() == 1
}

/// Whether the value is written as digits, which tables align at the right.
pub(crate) fn is_number(basic: Basic) -> bool {
    matches!(basic.kind(), Kind::Integer | Kind::Unsigned | Kind::Float | Kind::Bytes)
}

/// Appends an array of characters of one byte as one text. It ends before the first zero, as in C, because the bytes after it
/// are arbitrary.
pub(crate) fn write_text(bytes: &[u8], style: ValueStyle, out: &mut String) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    text::write_bytes(&bytes[..end], style, out);
}

/// Appends bytes that are not a value of their type.
pub(crate) fn invalid(bytes: &[u8], style: ValueStyle, out: &mut String) -> Validity {
    let (open, close) =
        if style == ValueStyle::Json { ("{\"invalid\":\"", "\"}") } else { ("invalid ", "") };
    let (value, digits) = (unsigned(bytes), 2 * bytes.len());
    write_to(out, format_args!("{open}0x{value:0digits$x}{close}"));
    Validity::Invalid
}

/// The bytes as a number, zero-extended. Basic datatypes that are not floating-point numbers have at most 16 bytes.
pub(crate) fn unsigned(bytes: &[u8]) -> u128 {
    let mut wide = [0; 16];
    if cfg!(target_endian = "big") {
        wide[16 - bytes.len()..].copy_from_slice(bytes);
    } else {
        wide[..bytes.len()].copy_from_slice(bytes);
    }
    u128::from_ne_bytes(wide)
}

/// The format of a floating-point number, or of a part of a complex one.
fn format_of(basic: Basic) -> float::Format {
    let parts = if basic.kind() == Kind::Complex { 2 } else { 1 };
    match (basic.canonical(), basic.size() / parts) {
        (Basic::Bf16, _) => float::Format::Bf16,
        (Basic::LongDouble | Basic::LongDoubleComplex, _) => {
            float::Format::LongDouble(Architecture::HOST.widths().long_double)
        }
        (_, 2) => float::Format::Binary16,
        (_, 4) => float::Format::Binary32,
        (_, 8) => float::Format::Binary64,
        _ => float::Format::Binary128,
    }
}

fn write_to(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(basic: Basic, bytes: &[u8]) -> [String; 2] {
        [ValueStyle::Plain, ValueStyle::Json].map(|style| {
            let mut out = String::new();
            write(basic, bytes, style, &mut out);
            out
        })
    }

    #[test]
    fn integers_of_all_widths() {
        assert_eq!(both(Basic::I8, &[0xFF]), ["-1", "-1"]);
        assert_eq!(both(Basic::U8, &[0xFF]), ["255", "255"]);
        assert_eq!(both(Basic::I64, &i64::MIN.to_ne_bytes())[0], i64::MIN.to_string());
        assert_eq!(both(Basic::I128, &i128::MIN.to_ne_bytes())[1], i128::MIN.to_string());
        assert_eq!(both(Basic::U128, &u128::MAX.to_ne_bytes())[0], u128::MAX.to_string());
        assert_eq!(both(Basic::Long, &(-5_isize).to_ne_bytes()[..Basic::Long.size()])[0], "-5");
    }

    #[test]
    fn values_that_are_none() {
        assert_eq!(both(Basic::Bool, &[7]), ["invalid 0x07", "{\"invalid\":\"0x07\"}"]);
        assert_eq!(both(Basic::Bool, &[1]), ["true", "true"]);
        assert_eq!(both(Basic::Char, &0xD800_u32.to_ne_bytes())[0], "invalid 0x0000d800");
        assert_eq!(both(Basic::Char, &u32::from('é').to_ne_bytes()), ["é", "\"é\""]);
        assert_eq!(both(Basic::Char, &0x1B_u32.to_ne_bytes()), ["\\u{1b}", "\"\\u001b\""]);
        assert_eq!(both(Basic::Logical, &[0; 4]), ["false", "false"]);
    }

    #[test]
    fn every_basic_datatype_with_any_bytes() {
        for &basic in Basic::ALL {
            for byte in [0, 1, 0x7F, 0x80, 0xFF] {
                let [plain, json] = both(basic, &vec![byte; basic.size()]);
                assert!(!plain.is_empty(), "{basic}");
                let parsed = serde_json::from_str::<serde_json::Value>(&json);
                assert!(parsed.is_ok(), "{basic}: {json}");
            }
        }
    }
}
