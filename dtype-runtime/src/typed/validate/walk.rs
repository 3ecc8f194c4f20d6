//! The walk over a type map that finds an invalid value in packed records, and the one that cleans them.
//!
//! Both are for the rare records that the compiled checks do not accept.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use super::checks::bits;
use crate::error::Error;
use crate::typemap::{Check, Field, Node, TypeMap};

/// Finds the first invalid value in the order of the packed bytes, and calls the checks of the map.
#[cold]
#[inline(never)]
pub(super) fn find_invalid(map: &TypeMap, bytes: &[u8], count: usize) -> Result<(), Error> {
    // Records without data are all the same, and a message may announce any number of them.
    let count = if map.size() == 0 { count.min(1) } else { count };
    let mut path = String::new();
    for record in 0..count {
        let start = record * map.size();
        find_in(map, &bytes[start..start + map.size()], &mut path)
            .map_err(|error| error.records_later(record))?;
    }
    Ok(())
}

/// The records, if they are valid: a clean copy if they have spare bytes.
#[cold]
#[inline(never)]
pub(crate) fn cleaned<'b>(
    map: &TypeMap,
    bytes: &'b [u8],
    count: usize,
) -> Result<Cow<'b, [u8]>, Error> {
    find_invalid(map, bytes, count)?;
    if !has_spare(map) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut copy = Vec::new();
    let refused = |_| Error::Allocation { count: bytes.len(), stride: 1 };
    copy.try_reserve_exact(bytes.len()).map_err(refused)?;
    copy.extend_from_slice(bytes);
    if map.size() > 0 {
        copy.chunks_exact_mut(map.size()).for_each(|record| clean(map, record));
    }
    Ok(Cow::Owned(copy))
}

/// Whether some values use only a part of their bytes.
pub(crate) fn has_spare(map: &TypeMap) -> bool {
    let below = || match *map.node() {
        Node::Basic { .. } => false,
        Node::Array { element, .. } => has_spare(element),
        Node::Structure { fields, .. } => fields.iter().filter_map(Field::map).any(has_spare),
    };
    map.is_restricted() && (matches!(map.check(), Some(Check::Content(_))) || below())
}

/// Finds the first invalid value in the packed bytes of one value, which must be as long as those of the map.
///
/// The path leads to this value: segments like `.field` and `[3]`, one after another.
pub(crate) fn find_in(map: &TypeMap, bytes: &[u8], path: &mut String) -> Result<(), Error> {
    if !map.is_restricted() {
        return Ok(());
    }
    // The caller continues with this path.
    let (len, mut rest) = (path.len(), bytes);
    match *map.node() {
        Node::Basic { validity, name, .. } => {
            let value = bits(bytes);
            if !validity.accepts(value) {
                let path = without_dot(path);
                return Err(Error::InvalidValue { record: 0, path, expected: name, value });
            }
        }
        Node::Array { count, element } => {
            // Elements without data are all the same, and an array may have any number of them.
            let count = if element.size() == 0 { count.min(1) } else { count };
            for index in 0..count {
                let (value, after) = rest.split_at(element.size());
                // Writing to a string does not fail.
                let _ = write!(path, "[{index}]");
                find_in(element, value, path)?;
                path.truncate(len);
                rest = after;
            }
        }
        Node::Structure { fields, .. } => {
            for field in fields {
                let Some(inner) = field.map() else { continue };
                let (value, after) = rest.split_at(inner.size());
                path.push('.');
                path.push_str(field.name());
                find_in(inner, value, path)?;
                path.truncate(len);
                rest = after;
            }
        }
    }
    match map.check() {
        None => Ok(()),
        Some(Check::Content(content)) => (content.check)(bytes, path),
        Some(Check::Invariant(check)) => {
            // The invariant is that of the value that the bytes will make, which has no other spare bytes than zeros.
            let mut value = Cow::Borrowed(bytes);
            if has_spare(map) {
                clean(map, value.to_mut());
            }
            // SAFETY: the walk has just found the leaves valid and called the checks of the fields, on this path and for these
            // bytes. They are as long as the packed bytes of the map, and cleaning leaves them valid.
            let verdict = unsafe { check(&value) };
            verdict.map_err(|reason| Error::CheckFailed {
                record: 0,
                path: without_dot(path),
                of: map.to_string(),
                reason,
            })
        }
    }
}

/// The path as errors show it.
pub(crate) fn without_dot(path: &str) -> String {
    path.strip_prefix('.').unwrap_or(path).to_owned()
}

/// Overwrites the spare bytes with zeros in the valid packed bytes of one value, which must be as long as those of the map.
pub(crate) fn clean(map: &TypeMap, bytes: &mut [u8]) {
    if !map.is_restricted() {
        return;
    }
    if let Some(Check::Content(content)) = map.check() {
        return (content.clean)(bytes);
    }
    let mut rest = bytes;
    match *map.node() {
        Node::Basic { .. } => {}
        Node::Array { element, .. } => {
            if element.size() > 0 {
                rest.chunks_exact_mut(element.size()).for_each(|value| clean(element, value));
            }
        }
        Node::Structure { fields, .. } => {
            for inner in fields.iter().filter_map(Field::map) {
                let (value, after) = rest.split_at_mut(inner.size());
                clean(inner, value);
                rest = after;
            }
        }
    }
}
