//! Values whose fields are not printed: text, lists, optional values, times, addresses.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use dtype_runtime::Basic;

use crate::shape::Shape;
use crate::value::{self, Validity, ValueStyle, date, json_string};
use dtype_text::notation::Meaning;
use dtype_text::printable::printable;

/// The contents of such a value's fields.
pub(super) enum Meant<'a> {
    Text(String),
    /// Bytes of a text in any encoding.
    Bytes(&'a [u8]),
    /// A number, and its bytes as this machine has them.
    Number(Basic, Vec<u8>),
    /// Bytes that are not text.
    NotText(&'a [u8]),
    /// A count of units that is no date, or has no unit.
    Count(i64),
    /// Items of one shape, and their packed bytes.
    Items(u64, &'a Shape, &'a [u8]),
    /// A value that is present.
    Present(&'a Shape, &'a [u8]),
    Absent,
    /// A field with an invalid value.
    Invalid(&'a [u8]),
}

impl<'a> Meant<'a> {
    /// Interprets the packed bytes of the fields.
    pub(super) fn of(meaning: Meaning, fields: &'a Shape, bytes: &'a [u8]) -> Self {
        match (meaning, bytes) {
            (Meaning::Text, _) => match counted(bytes) {
                Some((_, length, body)) if length <= body.len() => {
                    match std::str::from_utf8(&body[..length]) {
                        Ok(text) => Self::Text(text.to_owned()),
                        Err(_) => Self::NotText(&body[..length]),
                    }
                }
                Some((head, ..)) => Self::Invalid(head),
                None => Self::Invalid(bytes),
            },
            (Meaning::Bytes, _) => {
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                Self::Bytes(&bytes[..end])
            }
            (Meaning::Characters, _) => {
                let (characters, _) = bytes.as_chunks::<4>();
                let end =
                    characters.iter().rposition(|one| *one != [0; 4]).map_or(0, |last| last + 1);
                let mut text = String::new();
                for one in &characters[..end] {
                    match char::from_u32(u32::from_ne_bytes(*one)) {
                        Some(one) => text.push(one),
                        None => return Self::NotText(bytes),
                    }
                }
                Self::Text(text)
            }
            (Meaning::Time(unit) | Meaning::Span(unit), _) => {
                let Some(count) = bytes.first_chunk().map(|count| i64::from_ne_bytes(*count))
                else {
                    return Self::Invalid(bytes);
                };
                let is_span = matches!(meaning, Meaning::Span(_));
                date::text(count, unit, is_span).map_or(Self::Count(count), Self::Text)
            }
            (Meaning::List { capacity }, _) => match counted(bytes) {
                Some((_, length, body)) if length as u64 <= capacity => {
                    Self::Items(length as u64, fields.item(capacity), body)
                }
                Some((head, ..)) => Self::Invalid(head),
                None => Self::Invalid(bytes),
            },
            (Meaning::Optional, [0, ..]) => Self::Absent,
            (Meaning::Optional, [1, body @ ..]) => Self::Present(fields.item(1), body),
            (Meaning::Optional, _) => Self::Invalid(&bytes[..bytes.len().min(1)]),
            (Meaning::Address, _) => {
                let address = <[u8; 16]>::try_from(bytes).map(|v6| Ipv6Addr::from(v6).to_string());
                let short = || <[u8; 4]>::try_from(bytes).map(|v4| Ipv4Addr::from(v4).to_string());
                address.or_else(|_| short()).map_or(Self::Invalid(bytes), Self::Text)
            }
            (Meaning::SocketAddress, _) => match socket_address(bytes) {
                Some(address) => Self::Text(address.to_string()),
                None => Self::Invalid(&bytes[..bytes.len().min(1)]),
            },
            (Meaning::Number { basic, is_big }, _) => {
                let mut bytes = bytes.to_vec();
                if is_big != cfg!(target_endian = "big") {
                    bytes.reverse();
                }
                Self::Number(basic, bytes)
            }
            (Meaning::Uuid, _) => {
                let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let group = |from: usize, to: usize| digits[from..to].concat();
                let groups = [group(0, 4), group(4, 6), group(6, 8), group(8, 10), group(10, 16)];
                Self::Text(groups.join("-"))
            }
        }
    }

    /// Appends the value, if it has no parts.
    pub(super) fn write(&self, style: ValueStyle, out: &mut String) -> Validity {
        let is_json = style == ValueStyle::Json;
        match self {
            Self::Text(text) if is_json => json_string(text, out),
            Self::Text(text) => out.push_str(&printable(text)),
            Self::Bytes(bytes) => value::write_bytes(bytes, style, out),
            Self::Count(number) => out.push_str(&number.to_string()),
            Self::Number(basic, bytes) => return value::write(*basic, bytes, style, out),
            Self::Absent => out.push_str("null"),
            Self::NotText(bytes) => {
                out.push_str(if is_json { "{\"invalid\":" } else { "invalid " });
                value::write_bytes(bytes, style, out);
                out.push_str(if is_json { "}" } else { "" });
                return Validity::Invalid;
            }
            Self::Invalid(bytes) => return value::invalid(bytes, style, out),
            Self::Items(..) | Self::Present(..) => {}
        }
        Validity::Valid
    }
}

/// The bytes of a number of four bytes, the number, and the bytes after it.
fn counted(bytes: &[u8]) -> Option<(&[u8], usize, &[u8])> {
    let (head, body) = bytes.split_first_chunk::<4>()?;
    Some((head, usize::try_from(u32::from_ne_bytes(*head)).ok()?, body))
}

/// The address in the packed bytes of a `FixedSocketAddr`; `None` if it is not one.
fn socket_address(bytes: &[u8]) -> Option<SocketAddr> {
    let (version, rest) = bytes.split_first()?;
    let (address, rest) = rest.split_first_chunk::<16>()?;
    let (port, rest) = rest.split_first_chunk()?;
    let (flowinfo, rest) = rest.split_first_chunk()?;
    let (scope, _) = rest.split_first_chunk()?;
    let port = u16::from_ne_bytes(*port);
    let [a, b, c, d, ..] = *address;
    Some(match version {
        4 => SocketAddrV4::new([a, b, c, d].into(), port).into(),
        6 => {
            let [flowinfo, scope] = [*flowinfo, *scope].map(u32::from_ne_bytes);
            SocketAddrV6::new((*address).into(), port, flowinfo, scope).into()
        }
        _ => return None,
    })
}
