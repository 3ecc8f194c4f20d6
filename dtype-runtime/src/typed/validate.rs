//! Whether packed bytes make valid values, before the first of them is written.
//!
//! A type whose every bit pattern is a value pays nothing. For the others, the positions to check in a
//! packed record are constants. If a check fails, a second, slow walk over the type map finds the first
//! invalid record and the path of the field.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::marker::PhantomData;

use crate::basic::Validity;
use crate::datatype::Datatype;
use crate::error::Error;
use crate::typemap::{Node, TypeMap};

/// A type with more positions to check is checked by walking its type map.
const MAX_CHECKS: usize = 32;

/// `count` values of `size` bytes at a stride of `stride` packed bytes, the first at `position`.
#[derive(Clone, Copy)]
struct Check {
    position: usize,
    size: usize,
    count: usize,
    stride: usize,
    validity: Validity,
}

/// The checks of one record.
struct Checks {
    list: [Check; MAX_CHECKS],
    /// `None` if there are more than fit.
    len: Option<usize>,
    /// Whether the map has checks that are functions, which are asked in a walk over the map.
    asks: bool,
}

/// The constants of a type.
struct Constants<T>(PhantomData<T>);

impl<T: Datatype> Constants<T> {
    const CHECKS: &'static Checks = &Checks::of(T::TYPE_MAP);
}

/// Checks that the `count` records in `bytes` are valid.
#[inline]
pub(crate) fn validate<T: Datatype>(bytes: &[u8], count: usize) -> Result<(), Error> {
    if !const { T::TYPE_MAP.is_restricted() } {
        return Ok(());
    }
    let valid = match Constants::<T>::CHECKS.len {
        Some(len) => {
            let list = Constants::<T>::CHECKS.list.split_at(len).0;
            bytes
                .chunks_exact(T::TYPE_MAP.size().max(1))
                .fold(true, |valid, record| valid & record_is_valid(list, record))
        }
        None => false,
    };
    if valid && const { !Constants::<T>::CHECKS.asks } {
        Ok(())
    } else {
        find_invalid(T::TYPE_MAP, bytes, count)
    }
}

#[inline(always)]
fn record_is_valid(list: &[Check], record: &[u8]) -> bool {
    let mut valid = true;
    let mut j = 0;
    while j < list.len() {
        let check = &list[j];
        let mut i = 0;
        while i < check.count {
            let position = check.position + i * check.stride;
            valid &= check.validity.accepts(bits(&record[position..position + check.size]));
            i += 1;
        }
        j += 1;
    }
    valid
}

/// The value in native byte order, zero-extended.
#[inline(always)]
fn bits(bytes: &[u8]) -> u128 {
    match *bytes {
        [byte] => u128::from(byte),
        [a, b] => u128::from(u16::from_ne_bytes([a, b])),
        [a, b, c, d] => u128::from(u32::from_ne_bytes([a, b, c, d])),
        _ => {
            let mut all = [0; 16];
            let len = bytes.len().min(16);
            let start = if cfg!(target_endian = "big") { 16 - len } else { 0 };
            all[start..start + len].copy_from_slice(&bytes[..len]);
            u128::from_ne_bytes(all)
        }
    }
}

impl Checks {
    const fn of(map: &TypeMap) -> Self {
        let nothing = Check { position: 0, size: 0, count: 0, stride: 0, validity: Validity::Any };
        let mut checks = Self { list: [nothing; MAX_CHECKS], len: Some(0), asks: false };
        checks.add(map, 0);
        checks
    }

    const fn push(&mut self, check: Check) {
        match self.len {
            Some(len) if len < MAX_CHECKS => {
                self.list[len] = check;
                self.len = Some(len + 1);
            }
            _ => self.len = None,
        }
    }

    /// Adds the checks of `map`, whose packed bytes start at `position`.
    const fn add(&mut self, map: &TypeMap, position: usize) {
        if !map.is_restricted() {
            return;
        }
        self.asks |= map.check().is_some();
        match *map.node() {
            Node::Basic { basic, validity, .. } => {
                let size = basic.size();
                self.push(Check { position, size, count: 1, stride: 0, validity });
            }
            Node::Array { count, element } => {
                let Some(first) = self.len else { return };
                self.add(element, position);
                let Some(end) = self.len else { return };
                // A check of one value in the element becomes one check of `count` values. A check that
                // is repeated already is written out for each element, or exceeds the limit.
                let mut i = first;
                while i < end && self.len.is_some() {
                    if self.list[i].count == 1 {
                        self.list[i].count = count;
                        self.list[i].stride = element.size();
                    } else {
                        let mut index = 1;
                        while index < count && self.len.is_some() {
                            let shift = index * element.size();
                            let position = self.list[i].position + shift;
                            self.push(Check { position, ..self.list[i] });
                            index += 1;
                        }
                    }
                    i += 1;
                }
            }
            Node::Structure { fields, .. } => {
                let mut position = position;
                let mut i = 0;
                while i < fields.len() {
                    if let Some(field) = fields[i].map() {
                        self.add(field, position);
                        position += field.size();
                    }
                    i += 1;
                }
            }
        }
    }
}

/// Finds the first invalid value in the order of the packed bytes, and asks the checks of the map.
#[cold]
fn find_invalid(map: &TypeMap, bytes: &[u8], count: usize) -> Result<(), Error> {
    for record in 0..count {
        let start = record * map.size();
        let mut rest = &bytes[start..start + map.size()];
        if let Some(Invalid { path, why }) = first_invalid(map, &mut rest) {
            let path = path.strip_prefix('.').map(ToOwned::to_owned).unwrap_or(path);
            return Err(match why {
                Why::Value { expected, value } => {
                    Error::InvalidValue { record, path, expected, value }
                }
                Why::Check { of, reason } => Error::CheckFailed { record, path, of, reason },
            });
        }
    }
    Ok(())
}

struct Invalid {
    path: String,
    why: Why,
}

enum Why {
    Value { expected: &'static str, value: u128 },
    Check { of: String, reason: String },
}

/// Why one record is invalid, as the reason of a check of what it is a part of.
pub(super) fn reason(error: Error) -> String {
    match error {
        Error::InvalidValue { path, expected, value, .. } if path.is_empty() => {
            format!("{value:#x} is not a valid {expected}")
        }
        Error::InvalidValue { path, expected, value, .. } => {
            format!("field {path}: {value:#x} is not a valid {expected}")
        }
        Error::CheckFailed { path, of, reason, .. } if path.is_empty() => {
            format!("not a valid {of}: {reason}")
        }
        Error::CheckFailed { path, of, reason, .. } => {
            format!("field {path}: not a valid {of}: {reason}")
        }
        other => other.to_string(),
    }
}

/// Removes the bytes of `map` from the front of `rest`, and returns the first invalid value in them.
fn first_invalid(map: &TypeMap, rest: &mut &[u8]) -> Option<Invalid> {
    if !map.is_restricted() {
        *rest = &rest[map.size()..];
        return None;
    }
    let whole = *rest;
    let invalid = match *map.node() {
        Node::Basic { validity, name, .. } => {
            let (this, after) = rest.split_at(map.size());
            *rest = after;
            let value = bits(this);
            (!validity.accepts(value))
                .then(|| Invalid { path: String::new(), why: Why::Value { expected: name, value } })
        }
        Node::Array { count, element } => (0..count).find_map(|index| {
            let inner = first_invalid(element, rest)?;
            Some(Invalid { path: format!("[{index}]{}", inner.path), ..inner })
        }),
        Node::Structure { fields, .. } => fields.iter().find_map(|field| {
            let inner = first_invalid(field.map()?, rest)?;
            Some(Invalid { path: format!(".{}{}", field.name(), inner.path), ..inner })
        }),
    };
    if invalid.is_some() {
        return invalid;
    }
    let check = map.check()?;
    // SAFETY: the walk has just found the leaves valid and asked the checks of the fields, on this path and
    // for these bytes. They are as long as the packed bytes of the map.
    let verdict = unsafe { check(&whole[..map.size()]) };
    let reason = verdict.err()?;
    Some(Invalid { path: String::new(), why: Why::Check { of: map.to_string(), reason } })
}
