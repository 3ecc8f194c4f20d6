//! Checks that packed bytes make valid values, before the first of them is written.
//!
//! For a type that accepts every bit pattern, this costs nothing. For other types, the positions to check in a packed record
//! are constants. If a check fails, a second, slow walk over the type map finds the first invalid record and the path of the
//! field.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::marker::PhantomData;

use crate::basic::{BitRange, Test, Validity};
use crate::datatype::Datatype;
use crate::error::Error;
use crate::kernel;
use crate::plan::{Ranged, RangedList, Tests, costs};
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
    /// The test that a value must pass.
    test: Test,
}

/// The checks of one record.
struct Checks {
    list: [Check; MAX_CHECKS],
    /// The number of checks; `None` if there are more than fit.
    len: Option<usize>,
    /// Whether the map has checks that are functions. Only a walk over the map calls these.
    has_functions: bool,
}

/// The constants of a type.
struct Constants<T>(PhantomData<T>);

impl<T: Datatype> Constants<T> {
    const CHECKS: &'static Checks = &Checks::from_map(T::TYPE_MAP);

    /// The number of checks, if they are all in the list.
    const LISTED: usize = match Self::CHECKS.len {
        Some(len) => len,
        None => 0,
    };

    /// The checks as tests of several records at once.
    const TESTS: &'static Option<Tests> = &Self::CHECKS.tests(T::TYPE_MAP.size());

    /// The least number of records for which testing several at once may be faster.
    const MIN_RECORDS: usize = match Self::TESTS {
        Some(tests) => tests.fewest(),
        None => usize::MAX,
    };

    /// Whether the records are known to be valid. If not, [`find_invalid`] must decide.
    #[inline]
    fn accept(bytes: &[u8], count: usize) -> bool {
        if const { !T::TYPE_MAP.is_restricted() } {
            return true;
        }
        if const { Self::CHECKS.len.is_none() || Self::CHECKS.has_functions } {
            return false;
        }
        if count == 1 {
            return bytes.len() == const { T::TYPE_MAP.size() } && Self::accepts(bytes);
        }
        let size = const { max(T::TYPE_MAP.size(), 1) };
        let mut rest = bytes;
        if const { Self::MIN_RECORDS < usize::MAX }
            && count >= Self::MIN_RECORDS
            && let Some(tests) = Self::TESTS
        {
            let Some(tested) = kernel::test(tests, bytes) else { return false };
            rest = &bytes[tested * size..];
        }
        // Two records at a time, for half the branches. The loop ends at the first invalid pair, which keeps the compiler from
        // gathering a few bytes of each record into vectors.
        while let Some((two, after)) = rest.split_at_checked(2 * size) {
            let (one, other) = two.split_at(size);
            if !(Self::accepts(one) & Self::accepts(other)) {
                return false;
            }
            rest = after;
        }
        if rest.len() >= size {
            return Self::accepts(&rest[..size]);
        }
        true
    }

    #[inline(always)]
    fn accepts(record: &[u8]) -> bool {
        let mut valid = true;
        // Unrolled by hand, for the reason given in `layout`.
        macro_rules! written_out {
            ($($j:literal)+) => {
                $( if const { $j < Self::LISTED } {
                    valid &= const { &Self::CHECKS.list[$j] }.accepts(record);
                } )+
            };
        }
        const { assert!(MAX_CHECKS == 32, "as many as are written out") }
        written_out! {
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        }
        valid
    }
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Checks that the `count` records in `bytes` are valid.
#[inline]
pub(crate) fn validate<T: Datatype>(bytes: &[u8], count: usize) -> Result<(), Error> {
    if are_valid::<T>(bytes, count) { Ok(()) } else { find_invalid(T::TYPE_MAP, bytes, count) }
}

/// Whether the `count` records in `bytes` are known to be valid. If not, [`find_invalid`] must decide.
#[inline]
pub(super) fn are_valid<T: Datatype>(bytes: &[u8], count: usize) -> bool {
    Constants::<T>::accept(bytes, count)
}

/// The value in native byte order, zero-extended.
#[inline(always)]
fn bits(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    let len = bytes.len().min(16);
    let start = if cfg!(target_endian = "big") { 16 - len } else { 0 };
    all[start..start + len].copy_from_slice(&bytes[..len]);
    u128::from_ne_bytes(all)
}

/// The value as an array, if it has as many bytes: one load. A pattern `[a, b, c, d]` lets the compiler load the bytes one by
/// one.
#[inline(always)]
fn whole<const N: usize>(value: &[u8]) -> Option<[u8; N]> {
    value.try_into().ok()
}

impl Check {
    /// Whether the record passes the check. The check is a constant to the compiler, so little code remains.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn accepts(&self, record: &[u8]) -> bool {
        let (mut valid, mut i) = (true, 0);
        while i < self.count {
            let position = self.position + i * self.stride;
            valid &= self.accepts_value(&record[position..position + self.size]);
            i += 1;
        }
        valid
    }

    /// In 32-bit arithmetic for values of at most 32 bits.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "as `BitRange` says")]
    fn accepts_value(&self, value: &[u8]) -> bool {
        let narrow = if let Some([byte]) = whole(value) {
            u32::from(byte)
        } else if let Some(bytes) = whole::<2>(value) {
            u32::from(u16::from_ne_bytes(bytes))
        } else if let Some(bytes) = whole::<4>(value) {
            u32::from_ne_bytes(bytes)
        } else {
            return match whole::<8>(value) {
                Some(bytes) => self.accepts_wide(u64::from_ne_bytes(bytes)),
                None => self.validity.accepts(bits(value)),
            };
        };
        match self.test {
            Test::Range(BitRange { flip, least, most }) => {
                (narrow ^ flip as u32).wrapping_sub(least as u32) <= most as u32
            }
            _ => self.accepts_wide(narrow.into()),
        }
    }

    #[inline(always)]
    fn accepts_wide(&self, value: u64) -> bool {
        match self.test {
            Test::Range(BitRange { flip, least, most }) => {
                (value ^ flip).wrapping_sub(least) <= most
            }
            Test::Set { least, set } => {
                let bit = value.wrapping_sub(least);
                // The shift counts modulo 64.
                bit < u64::BITS.into() && set >> (bit % 64) & 1 == 1
            }
            Test::Other => self.validity.accepts(value.into()),
        }
    }
}

impl Checks {
    const fn from_map(map: &TypeMap) -> Self {
        let (validity, test) = (Validity::Any, Validity::Any.test());
        let nothing = Check { position: 0, size: 0, count: 0, stride: 0, validity, test };
        let mut checks = Self { list: [nothing; MAX_CHECKS], len: Some(0), has_functions: false };
        checks.add(map, 0);
        checks
    }

    /// These checks as tests of several records of `size` packed bytes at once, if a few ranges are enough for them.
    const fn tests(&self, size: usize) -> Option<Tests> {
        let (mut values, mut one_by_one, mut j) = (RangedList::new(), 0, 0);
        let Some(len) = self.len else { return None };
        while j < len {
            let Check { position, size, count, stride, validity, test } = self.list[j];
            let Some(ranges) = validity.ranges() else { return None };
            let mut i = 0;
            while i < count {
                let (position, mut k) = (position + i * stride, 0);
                while k < ranges.all().len() {
                    if !values.push(Ranged { position, size, range: ranges.all()[k] }) {
                        return None;
                    }
                    k += 1;
                }
                i += 1;
            }
            let one = match test {
                Test::Range(BitRange { flip: 0, .. }) => costs::TEST_OF_RANGE,
                Test::Range(_) => costs::TEST_OF_RANGES,
                Test::Set { .. } => costs::TEST_OF_SET,
                Test::Other => costs::TEST_BY_CALL,
            };
            one_by_one += one * count;
            j += 1;
        }
        Tests::new(&values, size, one_by_one)
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
        self.has_functions |= map.check().is_some();
        match *map.node() {
            Node::Basic { basic, validity, .. } => {
                let (size, test) = (basic.size(), validity.test());
                self.push(Check { position, size, count: 1, stride: 0, validity, test });
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

/// Finds the first invalid value in the order of the packed bytes, and calls the checks of the map.
#[cold]
pub(super) fn find_invalid(map: &TypeMap, bytes: &[u8], count: usize) -> Result<(), Error> {
    // Records without data are all the same, and a message may announce any number of them.
    let count = if map.size() == 0 { count.min(1) } else { count };
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

/// Why one record is invalid, as the reason why the check of the record around it fails.
pub(crate) fn reason(error: Error) -> String {
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
    // SAFETY: the walk has just found the leaves valid and called the checks of the fields, on this path and
    // for these bytes. They are as long as the packed bytes of the map.
    let verdict = unsafe { check(&whole[..map.size()]) };
    let reason = verdict.err()?;
    Some(Invalid { path: String::new(), why: Why::Check { of: map.to_string(), reason } })
}
