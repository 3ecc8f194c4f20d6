//! The compiled checks decide as the walk over the type map does.

use alloc::vec;
use alloc::vec::Vec;
use core::mem::offset_of;
use core::num::NonZero;

use proptest::prelude::*;

use super::*;
use crate::fields::{FixedDuration, FixedSocketAddr, FixedStr, FixedVec, Maybe};
use crate::typemap::{Field, Markers, TypeMap};

/// A truth value, and two numbers of which the first is not the greater one.
#[derive(Clone, Copy)]
#[repr(C)]
struct Ordered {
    really: bool,
    low: u8,
    high: u8,
}

// SAFETY: the offsets come from the compiler, and the three fields are all that there is.
unsafe impl Datatype for Ordered {
    const TYPE_MAP: &'static TypeMap = &TypeMap::structure::<Self>(
        "Ordered",
        const {
            &[
                Field::new("really", offset_of!(Self, really), <bool as Datatype>::TYPE_MAP),
                Field::new("low", offset_of!(Self, low), <u8 as Datatype>::TYPE_MAP),
                Field::new("high", offset_of!(Self, high), <u8 as Datatype>::TYPE_MAP),
            ]
        },
        Markers::NONE,
    )
    .checked(|bytes| {
        assert!(bytes[0] <= 1, "the fields are valid");
        if bytes[1] <= bytes[2] { Ok(()) } else { Err("not in order".into()) }
    });
}

/// A value without data, with an invariant.
#[derive(Clone, Copy)]
struct Nothing;

// SAFETY: there is no data.
unsafe impl Datatype for Nothing {
    const TYPE_MAP: &'static TypeMap =
        &TypeMap::structure::<Self>("Nothing", &[], Markers::NONE).checked(|_| Ok(()));
}

/// Compares the two for records made of these bytes, repeated or cut to the length of `count` records.
fn compare<T: Datatype>(noise: &[u8], count: usize) {
    let map = T::TYPE_MAP;
    let bytes: Vec<u8> = noise.iter().copied().cycle().take(map.size() * count).collect();
    let valid = walk::find_invalid(map, &bytes, count).is_ok();
    let cleaned = walk::cleaned(map, &bytes, count).map(Cow::into_owned).ok();
    assert_eq!(cleaned.is_some(), valid, "{map}");
    let is_complete = Constants::<T>::CHECKS.is_complete;
    let expected = is_complete && cleaned.as_ref() == Some(&bytes);
    assert_eq!(are_clean::<T>(&bytes, count), expected, "{map}: {bytes:?}");
    // Values without spare bytes need no clean copy.
    let all_used = !has_spare(map);
    assert_eq!(is_clean::<T>(&bytes, count).ok(), valid.then_some(expected || all_used), "{map}");
    match checked::<T>(&bytes, count) {
        Ok(records) => assert_eq!(Some(records.into_owned()), cleaned, "{map}"),
        Err(error) => assert_eq!(Err(error), walk::find_invalid(map, &bytes, count), "{map}"),
    }
    // What is clean stays clean.
    if let Some(cleaned) = cleaned {
        assert_eq!(are_clean::<T>(&cleaned, count), is_complete, "{map}: {cleaned:?}");
        let mut again = cleaned.clone();
        again.chunks_exact_mut(map.size()).for_each(|record| clean(map, record));
        assert_eq!(again, cleaned, "{map}");
    }
}

/// Bytes that are often lengths, truth values, zeros, text, or parts of characters.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        8 => Just(0_u8),
        4 => 1..4_u8,
        2 => Just(b'x'),
        1 => prop::sample::select(vec![0xC3, 0xA4, 0x80, 0xFF]),
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 1..80)
}

type Tenth<T> = [(u8, T); 10];

type Eight<T> = (T, T, T, T, T, T, T, T);

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn compiled_checks_decide_as_the_walk(noise in noise(), count in 1..6_usize) {
        compare::<FixedStr<0>>(&noise, count);
        compare::<FixedStr<5>>(&noise, count);
        compare::<FixedStr<8>>(&noise, count);
        compare::<FixedStr<13>>(&noise, count);
        compare::<FixedStr<128>>(&noise, count);
        compare::<FixedStr<129>>(&noise, count);
        compare::<(u8, FixedStr<3>, u8)>(&noise, count);
        compare::<FixedVec<u16, 3>>(&noise, count);
        compare::<FixedVec<bool, 3>>(&noise, count);
        compare::<FixedVec<char, 40>>(&noise, count);
        compare::<FixedVec<(), 3>>(&noise, count);
        compare::<FixedVec<Ordered, 2>>(&noise, count);
        compare::<FixedVec<FixedStr<3>, 2>>(&noise, count);
        compare::<FixedVec<Maybe<NonZero<u8>>, 3>>(&noise, count);
        compare::<Maybe<f64>>(&noise, count);
        compare::<Maybe<char>>(&noise, count);
        compare::<Maybe<()>>(&noise, count);
        compare::<Maybe<Ordered>>(&noise, count);
        compare::<Maybe<FixedStr<5>>>(&noise, count);
        compare::<Maybe<Maybe<[bool; 2]>>>(&noise, count);
        compare::<Ordered>(&noise, count);
        compare::<(Ordered, bool)>(&noise, count);
        compare::<(u8, [Nothing; 3], FixedStr<2>)>(&noise, count);
        compare::<(bool, [[Nothing; usize::MAX]; usize::MAX])>(&noise, count);
        compare::<FixedDuration>(&noise, count);
        compare::<FixedSocketAddr>(&noise, count);
        // Arrays: of leaves, of arrays, of arrays with gaps, and with three distances, for which there is no form.
        compare::<[Ordered; 3]>(&noise, count);
        compare::<[[bool; 2]; 3]>(&noise, count);
        compare::<[(u8, [bool; 2]); 3]>(&noise, count);
        compare::<[([FixedStr<2>; 2], Ordered); 2]>(&noise, count);
        compare::<[(u8, [(u8, [bool; 2]); 2]); 2]>(&noise, count);
        compare::<[(u8, [(u8, [Ordered; 2]); 2]); 2]>(&noise, count);
        // More leaves, functions and invariants than are written out, and than there is room for.
        compare::<[(bool, bool, bool, bool, bool, bool, bool, bool); 3]>(&noise, count);
        compare::<Eight<(bool, bool, bool, bool, bool)>>(&noise, count);
        compare::<Eight<Eight<bool>>>(&noise, count);
        compare::<Eight<Eight<(bool, bool)>>>(&noise, count);
        compare::<Eight<(FixedStr<2>, FixedStr<1>, FixedStr<0>)>>(&noise, count);
        compare::<Eight<Eight<FixedStr<1>>>>(&noise, count);
        compare::<Eight<Eight<(FixedStr<1>, FixedStr<0>)>>>(&noise, count);
        compare::<Eight<Ordered>>(&noise, count);
        compare::<Eight<(Ordered, Ordered)>>(&noise, count);
        compare::<Eight<(Ordered, Ordered, Ordered)>>(&noise, count);
        compare::<Tenth<Maybe<(u8, char)>>>(&noise, count);
    }
}

#[test]
fn the_types_of_this_test_have_lists_that_are_full_and_lists_that_are_not() {
    let complete = [
        Constants::<Eight<Eight<bool>>>::CHECKS,
        Constants::<Eight<Eight<FixedStr<1>>>>::CHECKS,
        Constants::<Eight<(FixedStr<2>, FixedStr<1>, FixedStr<0>)>>::CHECKS,
        Constants::<Eight<(Ordered, Ordered)>>::CHECKS,
        Constants::<[(u8, [bool; 2]); 3]>::CHECKS,
    ];
    assert!(complete.iter().all(|checks| checks.is_complete));
    let incomplete = [
        Constants::<Eight<Eight<(bool, bool)>>>::CHECKS,
        Constants::<Eight<Eight<(FixedStr<1>, FixedStr<0>)>>>::CHECKS,
        Constants::<Eight<(Ordered, Ordered, Ordered)>>::CHECKS,
        Constants::<[(u8, [(u8, [bool; 2]); 2]); 2]>::CHECKS,
    ];
    assert!(incomplete.iter().all(|checks| !checks.is_complete));
}
