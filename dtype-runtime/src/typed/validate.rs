//! Checks that packed bytes make valid values, before the first of them is written.
//!
//! For a type that accepts every bit pattern, this costs nothing. For other types, what must be checked in a packed record is
//! a constant, so the checks are compiled as if they were written out. If one of them fails, a walk over the type map finds the
//! first invalid record and the path of the field.
//!
//! The same checks find bytes that are valid but not *clean*: some bytes that the value does not use, such as those after the
//! end of a text, are not zeros. Such records are rare, because packing writes zeros there. They are copied and cleaned before
//! they are unpacked.

mod checks;
mod walk;

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::datatype::Datatype;
use crate::error::Error;
use crate::kernel;
use crate::plan::Tests;

use checks::Checks;
pub(crate) use walk::{clean, cleaned, find_in, has_spare, without_dot};

/// The constants of a type.
struct Constants<T>(PhantomData<T>);

impl<T: Datatype> Constants<T> {
    /// Most types share the constant without checks, which saves the compiler time.
    const CHECKS: &'static Checks =
        if T::TYPE_MAP.is_restricted() { &Checks::from_map(T::TYPE_MAP) } else { &Checks::NONE };

    /// The numbers of checks; 0 if there are too many for the lists.
    const LEAVES: usize = Self::CHECKS.leaves.len();
    const FUNCTIONS: usize = Self::CHECKS.functions.len();
    const INVARIANTS: usize = Self::CHECKS.invariants.len();

    /// The checks of leaves as tests of several records at once.
    const TESTS: &'static Option<Tests> = &Self::CHECKS.tests(T::TYPE_MAP.size());

    /// The least number of records for which testing several at once may be faster.
    const MIN_RECORDS: usize = match Self::TESTS {
        Some(tests) => tests.fewest(),
        None => usize::MAX,
    };

    /// Packed bytes of a record, at least one.
    const SIZE: usize = if T::TYPE_MAP.size() == 0 { 1 } else { T::TYPE_MAP.size() };

    /// Whether the records are known to be valid and clean. If not, [`walk`] must decide.
    #[inline]
    fn accept(bytes: &[u8], count: usize) -> bool {
        if const { !T::TYPE_MAP.is_restricted() } {
            return true;
        }
        if const { !Self::CHECKS.is_complete || T::TYPE_MAP.size() == 0 } {
            return false;
        }
        if count == 1 {
            return bytes.len() == const { T::TYPE_MAP.size() } && Self::accepts(bytes);
        }
        let mut rest = bytes;
        if const { Self::MIN_RECORDS < usize::MAX && Self::FUNCTIONS + Self::INVARIANTS == 0 }
            && count >= Self::MIN_RECORDS
            && let Some(tests) = Self::TESTS
        {
            let Some(tested) = kernel::test(tests, bytes) else { return false };
            rest = &bytes[tested * Self::SIZE..];
        }
        // Two records at a time, for half the branches. The loop ends at the first invalid pair, which keeps the compiler from
        // gathering a few bytes of each record into vectors.
        while let Some((two, after)) = rest.split_at_checked(2 * Self::SIZE) {
            let (one, other) = two.split_at(Self::SIZE);
            let valid = Self::tests_accept(one) & Self::tests_accept(other);
            if !(valid && Self::invariants_hold(one) && Self::invariants_hold(other)) {
                return false;
            }
            rest = after;
        }
        rest.len() < Self::SIZE || Self::accepts(&rest[..Self::SIZE])
    }

    #[inline(always)]
    fn accepts(record: &[u8]) -> bool {
        Self::tests_accept(record) && Self::invariants_hold(record)
    }

    /// Everything but the invariants, without a branch for each test.
    #[inline(always)]
    fn tests_accept(record: &[u8]) -> bool {
        let mut valid = true;
        // Unrolled by hand, for the reason given in `layout`.
        macro_rules! written_out {
            ($list:ident, $len:ident: $($j:literal)+) => {
                $( if const { $j < Self::$len } {
                    valid &= const { Self::CHECKS.$list.get($j) }.accepts(record);
                } )+
            };
        }
        written_out! {
            leaves, LEAVES:
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        }
        written_out! { functions, FUNCTIONS: 0 1 2 3 4 5 6 7 }
        if const { Self::LEAVES > 32 } {
            valid &= Self::CHECKS.leaves.from(32).iter().all(|check| check.accepts(record));
        }
        if const { Self::FUNCTIONS > 8 } {
            valid &= Self::CHECKS.functions.from(8).iter().all(|check| check.accepts(record));
        }
        valid
    }

    /// Whether the invariants of a record that has passed the tests hold.
    #[inline(always)]
    fn invariants_hold(record: &[u8]) -> bool {
        macro_rules! written_out {
            ($($j:literal)+) => {
                $( if const { $j < Self::INVARIANTS } {
                    // SAFETY: the leaves and the contents are valid, and the invariants before this one, which include those of
                    // the fields of its level, hold.
                    if !unsafe { const { Self::CHECKS.invariants.get($j) }.accepts(record) } {
                        return false;
                    }
                } )+
            };
        }
        written_out! { 0 1 2 3 }
        if const { Self::INVARIANTS > 4 } {
            // SAFETY: as above.
            return Self::CHECKS
                .invariants
                .from(4)
                .iter()
                .all(|check| unsafe { check.accepts(record) });
        }
        true
    }
}

/// Checks that the `count` records in `bytes` are valid.
#[inline]
pub(crate) fn validate<T: Datatype>(bytes: &[u8], count: usize) -> Result<(), Error> {
    is_clean::<T>(bytes, count).map(drop)
}

/// Checks that the `count` records in `bytes` are valid, and returns them clean.
#[inline]
pub(crate) fn checked<T: Datatype>(bytes: &[u8], count: usize) -> Result<Cow<'_, [u8]>, Error> {
    if are_clean::<T>(bytes, count) {
        Ok(Cow::Borrowed(bytes))
    } else {
        walk::cleaned(T::TYPE_MAP, bytes, count)
    }
}

/// Checks that the `count` records in `bytes` are valid, and returns whether they are clean.
#[inline]
pub(crate) fn is_clean<T: Datatype>(bytes: &[u8], count: usize) -> Result<bool, Error> {
    if are_clean::<T>(bytes, count) {
        return Ok(true);
    }
    walk::find_invalid(T::TYPE_MAP, bytes, count)?;
    // Values with too many checks for the lists are valid here without being known to be clean.
    Ok(!has_spare(T::TYPE_MAP))
}

/// A clean copy of one valid record.
#[cold]
#[inline(never)]
pub(crate) fn clean_copy<T: Datatype>(record: &[u8]) -> Vec<u8> {
    let mut copy = record.to_vec();
    clean(T::TYPE_MAP, &mut copy);
    copy
}

/// Whether the `count` records in `bytes` are known to be valid and clean. If not, [`checked`] or [`validate`] must decide.
#[inline]
pub(crate) fn are_clean<T: Datatype>(bytes: &[u8], count: usize) -> bool {
    Constants::<T>::accept(bytes, count)
}

/// Whether checking a record may call functions of the user.
pub(crate) const fn has_invariants<T: Datatype>() -> bool {
    let checks = Constants::<T>::CHECKS;
    checks.invariants.len() > 0 || !checks.is_complete
}

#[cfg(test)]
#[allow(unsafe_code, reason = "a type with an invariant")]
mod tests;
