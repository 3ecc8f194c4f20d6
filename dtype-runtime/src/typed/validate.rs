//! Whether packed bytes make valid values, before the first of them is written.
//!
//! A type whose every bit pattern is a value pays nothing. For the others the places to look at are
//! constants. Where something is wrong, a second, slow walk over the type map finds the first record
//! that it is wrong in, and the path of the field.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::marker::PhantomData;

use crate::basic::Validity;
use crate::datatype::Datatype;
use crate::error::Error;
use crate::typemap::{Node, TypeMap};

/// A type with more places to check than this is checked by walking its type map.
const MAX_CHECKS: usize = 32;

/// `count` values of `size` bytes, `stride` packed bytes apart, that must be valid.
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
    /// `None` if they are too many.
    len: Option<usize>,
}

/// The constants of a type.
struct Constants<T>(PhantomData<T>);

impl<T: Datatype> Constants<T> {
    const CHECKS: &'static Checks = &Checks::of(T::TYPE_MAP);
}

/// Whether the `count` records in `bytes` are valid.
#[inline]
pub(crate) fn validate<T: Datatype>(bytes: &[u8], count: usize) -> Result<(), Error> {
    if !const { T::TYPE_MAP.is_restricted() } {
        return Ok(());
    }
    let valid = match Constants::<T>::CHECKS.len {
        Some(len) => {
            let list = Constants::<T>::CHECKS.list.split_at(len).0;
            bytes
                .chunks_exact(T::TYPE_MAP.size())
                .fold(true, |valid, record| valid & record_is_valid(list, record))
        }
        None => false,
    };
    if valid { Ok(()) } else { find_invalid(T::TYPE_MAP, bytes, count) }
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
        let mut checks = Self { list: [nothing; MAX_CHECKS], len: Some(0) };
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
        if !map.is_restricted() || self.len.is_none() {
            return;
        }
        match *map.node() {
            Node::Basic { basic, validity, .. } => {
                let size = basic.size();
                self.push(Check { position, size, count: 1, stride: 0, validity });
            }
            Node::Array { count, element } => {
                let Some(first) = self.len else { return };
                self.add(element, position);
                let Some(end) = self.len else { return };
                // The checks of the element become those of the array, if each is of one value;
                // a repetition in a repetition is written out, or found to be too much.
                let mut i = first;
                while i < end {
                    if self.list[i].count == 1 {
                        self.list[i].count = count;
                        self.list[i].stride = element.size();
                    } else {
                        let mut turn = 1;
                        while turn < count && self.len.is_some() {
                            let shift = turn * element.size();
                            let position = self.list[i].position + shift;
                            self.push(Check { position, ..self.list[i] });
                            turn += 1;
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

/// The first invalid value, record by record and in the order of the packed bytes.
#[cold]
fn find_invalid(map: &TypeMap, bytes: &[u8], count: usize) -> Result<(), Error> {
    for record in 0..count {
        let start = record * map.size();
        let mut rest = &bytes[start..start + map.size()];
        if let Some(Invalid { path, expected, value }) = first_invalid(map, &mut rest) {
            let path = path.strip_prefix('.').map(ToOwned::to_owned).unwrap_or(path);
            return Err(Error::InvalidValue { record, path, expected, value });
        }
    }
    Ok(())
}

struct Invalid {
    path: String,
    expected: &'static str,
    value: u128,
}

/// Takes the bytes of `map` off the front of `rest`, unless something in them is invalid.
fn first_invalid(map: &TypeMap, rest: &mut &[u8]) -> Option<Invalid> {
    if !map.is_restricted() {
        *rest = &rest[map.size()..];
        return None;
    }
    match *map.node() {
        Node::Basic { validity, name, .. } => {
            let (this, after) = rest.split_at(map.size());
            *rest = after;
            let value = bits(this);
            (!validity.accepts(value)).then(|| Invalid {
                path: String::new(),
                expected: name,
                value,
            })
        }
        Node::Array { count, element } => (0..count).find_map(|index| {
            let inner = first_invalid(element, rest)?;
            Some(Invalid { path: format!("[{index}]{}", inner.path), ..inner })
        }),
        Node::Structure { fields, .. } => fields.iter().find_map(|field| {
            let inner = first_invalid(field.map()?, rest)?;
            Some(Invalid { path: format!(".{}{}", field.name(), inner.path), ..inner })
        }),
    }
}
