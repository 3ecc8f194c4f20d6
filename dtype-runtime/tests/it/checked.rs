//! Types with an invariant: `#[dtype(check = …)]`, `Maybe`, `FixedStr` and `FixedVec`. Every function that unpacks
//! values checks the invariant before it writes anything.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]
#![allow(clippy::float_cmp, reason = "the same bits")]
#![allow(clippy::trivially_copy_pass_by_ref, reason = "a check takes a reference")]

use core::num::NonZero;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dtype_runtime::{
    Datatype, Error, FixedStr, FixedVec, Maybe, Packed, Representation, Unpacker, pack, pack_as,
    unpack, unpack_as, unpack_into, unpack_one, view, view_mut,
};
use dtype_test_support::cases::cases;
use dtype_test_support::fused::{Fused, PANICS};
use proptest::prelude::*;

/// `start` is not after `end`.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(check = Self::is_ordered)]
#[repr(C)]
struct Interval {
    start: u32,
    end: u32,
}

impl Interval {
    fn is_ordered(&self) -> Result<(), String> {
        let Self { start, end } = self;
        if start <= end { Ok(()) } else { Err(format!("{start} is after {end}")) }
    }
}

/// An even number, with a check that relies on the validity of the field before it.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(check = is_even)]
struct Even {
    really: bool,
    number: u16,
}

fn is_even(even: &Even) -> bool {
    // Reading an invalid `bool` would be undefined behaviour.
    !even.really || even.number.is_multiple_of(2)
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Outer {
    id: u8,
    intervals: [Interval; 2],
    even: Even,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(check = holds)]
struct Generic<T: Copy + PartialEq> {
    a: T,
    b: T,
}

fn holds<T: Copy + PartialEq>(value: &Generic<T>) -> bool {
    value.a == value.b
}

fn outer(start: u32, number: u16) -> Vec<u8> {
    pack(&[(7_u8, [[1_u32, 2], [start, 5]], (true, number))])
}

#[test]
fn values_that_pass_the_check_are_unpacked() {
    let expected = Outer {
        id: 7,
        intervals: [Interval { start: 1, end: 2 }, Interval { start: 5, end: 5 }],
        even: Even { really: true, number: 4 },
    };
    let bytes = outer(5, 4);
    assert_eq!(unpack::<Outer>(&bytes), Ok(vec![expected]));
    assert_eq!(unpack_one::<Outer>(&bytes), Ok(expected));
    assert_eq!(Packed::<Outer>::new(&bytes).unwrap().get(0), Some(expected));
    let mut copy = [expected];
    let bytes = pack_as(&copy, Representation::BigEndian).unwrap();
    assert_eq!(unpack_as::<Outer>(&bytes, Representation::BigEndian), Ok(vec![expected]));
    copy[0].id = 0;
    let mut unpacker =
        Unpacker::new(&mut copy).with_representation(Representation::BigEndian).unwrap();
    for byte in bytes {
        unpacker.unpack(&[byte]).unwrap();
    }
    assert_eq!(copy, [expected]);
    assert_eq!(unpack::<Generic<f32>>(&pack(&[1.5_f32, 1.5])).unwrap()[0].a, 1.5);
    assert!(unpack::<Generic<f32>>(&pack(&[1.5_f32, 2.5])).is_err());
}

/// Of as many fields as there are, each check counts.
#[test]
fn each_of_many_checks_is_called() {
    fn refuses_each<T: Datatype>() {
        let bytes = vec![0; pack_size::<T>()];
        unpack::<T>(&bytes).unwrap_or_else(|error| panic!("{error}"));
        let step = pack_size::<Even>();
        for wrong in 0..bytes.len() / step {
            let mut bytes = bytes.clone();
            bytes[wrong * step..][..step]
                .copy_from_slice(&pack(&[Even { really: true, number: 1 }]));
            assert!(unpack::<T>(&bytes).is_err(), "field {wrong}");
            assert!(unpack::<T>(&[vec![0; bytes.len()], bytes].concat()).is_err(), "field {wrong}");
        }
    }
    fn pack_size<T: Datatype>() -> usize {
        T::TYPE_MAP.size()
    }
    type E = Even;
    refuses_each::<(E, E, E, E)>();
    refuses_each::<(E, E, E, E, E)>();
    refuses_each::<(E, E, E, E, E, E, E)>();
    refuses_each::<(E, E, E, E, E, E, E, E)>();
    refuses_each::<(E, E, E, E, E, E, E, E, E, E)>();
    refuses_each::<((E, E, E, E, E, E), (E, E, E, E, E, E))>();
    refuses_each::<[(E, E, E, E, E); 3]>();
}

#[test]
fn values_that_fail_the_check_are_refused_everywhere() {
    let good = outer(5, 4);
    let bad: Vec<u8> = [good.clone(), outer(6, 4)].concat();
    let error = Error::CheckFailed {
        record: 1,
        path: "intervals[1]".into(),
        of: "Interval".into(),
        reason: "6 is after 5".into(),
    };
    assert_eq!(
        error.to_string(),
        "record 1, field intervals[1]: not a valid Interval: 6 is after 5"
    );
    assert_eq!(unpack::<Outer>(&bad), Err(error.clone()));
    assert_eq!(Packed::<Outer>::new(&bad).unwrap_err(), error);
    let before = unpack::<Outer>(&[good.clone(), good.clone()].concat()).unwrap();

    let mut items = before.clone();
    items[0].id = 1;
    assert_eq!(unpack_into(&bad, &mut items), Err(error.clone()));
    assert_eq!(items[0].id, 1);

    let mut unpacker = Unpacker::new(&mut items);
    assert_eq!(unpacker.unpack(&bad), Err(error.clone()));
    assert_eq!(unpacker.position(), 0);
    // In fragments, the first record is written and the second is not.
    let mut refused = None;
    for fragment in bad.chunks(3) {
        if let Err(error) = unpacker.unpack(fragment) {
            refused = Some(error);
            break;
        }
    }
    assert_eq!(refused, Some(error.clone()));
    drop(unpacker);
    assert_eq!(items, before);

    let swapped =
        pack_as(&[(7_u8, [[1_u32, 2], [6, 5]], (true, 4_u16))], Representation::BigEndian);
    let refused = unpack_as::<Outer>(&swapped.unwrap(), Representation::BigEndian);
    assert!(matches!(refused, Err(Error::CheckFailed { record: 0, .. })), "{refused:?}");
}

#[test]
fn a_check_sees_valid_fields_only() {
    let mut bytes = outer(5, 4);
    let at = bytes.len() - 3;
    bytes[at] = 2;
    let error = unpack::<Outer>(&bytes).unwrap_err();
    assert!(matches!(&error, Error::InvalidValue { path, value: 2, .. } if path == "even.really"));
    let error = unpack::<Outer>(&outer(5, 3)).unwrap_err();
    assert_eq!(error.to_string(), "record 0, field even: not a valid Even: the check failed");
}

#[test]
fn views_are_checked() {
    let good = [Interval { start: 1, end: 2 }; 2];
    let mut memory = [[1_u32, 2], [4, 3]];
    let bytes = dtype_runtime::bytes_of_mut(&mut memory);
    let error = view::<Interval>(bytes).unwrap_err();
    assert_eq!(error.to_string(), "record 1: not a valid Interval: 4 is after 3");
    assert!(view_mut::<Interval>(bytes).is_err());
    assert_eq!(view::<Interval>(dtype_runtime::bytes_of(&good)), Ok(&good[..]));
    let packed = Packed::<[[u32; 2]; 1]>::new(bytes).unwrap();
    assert!(packed.column::<Interval>("[0]").is_err());
    assert!(packed.slice(..1).unwrap().column::<Interval>("[0]").is_ok());
}

thread_local! {
    static DROPS: Cell<u32> = const { Cell::new(0) };
}

#[derive(Datatype, Debug)]
#[dtype(check = Self::ask)]
struct Dropped(u8);

impl Dropped {
    fn ask(&self) -> bool {
        self.0 != 9
    }
}

impl Drop for Dropped {
    fn drop(&mut self) {
        DROPS.with(|drops| drops.set(drops.get() + 1));
    }
}

#[test]
fn the_scratch_value_is_not_dropped() {
    let values = unpack::<Dropped>(&[1, 2]).unwrap();
    assert_eq!(DROPS.with(Cell::get), 0);
    drop(values);
    assert_eq!(DROPS.with(Cell::get), 2);
    assert!(unpack::<Dropped>(&[1, 9]).is_err());
    assert_eq!(DROPS.with(Cell::get), 2);
}

/// After a check has panicked, the stream is at the same position, nothing is written, and the same bytes can be fed again.
#[test]
fn a_check_that_panics_changes_nothing() {
    let records: Vec<Fused> = [5, 6, 77, 8].map(|number| Fused { flag: true, number }).to_vec();
    let empty = Fused { flag: false, number: 0 };
    let packed = pack(&records);
    for (first, second) in (0..=6).flat_map(|first| (9..=12).map(move |second| (first, second))) {
        let mut items = vec![empty; 4];
        let mut unpacker = Unpacker::new(&mut items);
        unpacker.unpack(&packed[..first]).unwrap();
        PANICS.set(true);
        let fed =
            catch_unwind(AssertUnwindSafe(|| unpacker.unpack(&packed[first..second]).is_ok()));
        assert!(fed.is_err(), "{first}, {second}");
        assert_eq!(unpacker.position(), first as u64);
        // A call without bytes checks the record, too.
        assert_eq!(unpacker.unpack(&[]), Ok(0));
        assert_eq!(unpacker.unpack(&packed[first..second]), Ok(second - first));
        assert_eq!(unpacker.unpack(&packed[second..]), Ok(packed.len() - second));
        assert_eq!(items, records, "{first}, {second}");

        let mut items = vec![empty; 4];
        let mut unpacker = Unpacker::new(&mut items);
        unpacker.unpack(&packed[..first]).unwrap();
        PANICS.set(true);
        drop(catch_unwind(AssertUnwindSafe(|| unpacker.unpack(&packed[first..second]).is_ok())));
        drop(unpacker);
        let written = first / 3;
        assert_eq!(items[..written], records[..written]);
        assert!(items[written..].iter().all(|item| *item == empty), "{first}, {second}");
    }
}

/// A record without data: there are no bytes to check, and still a check.
#[derive(Datatype, Clone, Copy, Debug, Default)]
#[dtype(check = never)]
struct Nothing;

fn never(_: &Nothing) -> bool {
    false
}

#[test]
fn a_type_without_data_is_checked_if_there_is_a_record() {
    assert!(unpack::<Nothing>(&[]).unwrap().is_empty());
    assert!(unpack_one::<Nothing>(&[]).is_err());
    assert!(unpack::<(u8, Nothing)>(&[1]).is_err());
    assert!(unpack_into(&[], &mut [Nothing]).is_err());
    for representation in [Representation::LittleEndian, Representation::BigEndian] {
        assert!(unpack_as::<Nothing>(&[], representation).unwrap().is_empty());
        let mut records = [Nothing; 3];
        let unpacker = Unpacker::new(&mut records);
        let mut unpacker = unpacker.with_representation(representation).unwrap();
        refused(&unpacker.unpack(&[]).unwrap_err());
        assert_eq!(Unpacker::new::<Nothing>(&mut []).unpack(&[]), Ok(0));
    }
    refused(&Unpacker::new(&mut [Nothing; 3]).unpack(&[]).unwrap_err());
}

fn refused(error: &Error) {
    assert!(matches!(error, Error::CheckFailed { record: 0, .. }), "{error}");
}

thread_local! {
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

#[derive(Datatype, Clone, Copy, Debug)]
#[dtype(check = count)]
struct Asked;

fn count(_: &Asked) -> bool {
    ASKED.with(|asked| asked.set(asked.get() + 1));
    true
}

/// The number of records may be anything.
#[test]
fn records_without_data_are_checked_once() {
    assert_eq!(unpack_into(&[], &mut [Asked; 1 << 20]), Ok(0));
    assert_eq!(ASKED.with(Cell::get), 1);
    assert_eq!(unpack_into(&[], &mut [Asked; 0]), Ok(0));
    assert_eq!(ASKED.with(Cell::get), 1);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(256, 4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn optional_values_come_back(values in prop::collection::vec(any::<Option<(u8, bool, u32)>>(), 0..8)) {
        let ours: Vec<Maybe<(u8, bool, u32)>> = values.iter().copied().map(Maybe::from).collect();
        let bytes = pack(&ours);
        let by_hand: Vec<u8> = values
            .iter()
            .flat_map(|value| {
                let (a, b, c) = value.unwrap_or_default();
                let mut bytes = vec![u8::from(value.is_some()), a, u8::from(b)];
                bytes.extend(c.to_ne_bytes());
                bytes
            })
            .collect();
        prop_assert_eq!(&bytes, &by_hand);
        let again = unpack::<Maybe<(u8, bool, u32)>>(&bytes).unwrap();
        prop_assert_eq!(&again, &ours);
        let again: Vec<Option<(u8, bool, u32)>> = again.into_iter().map(Option::from).collect();
        prop_assert_eq!(again, values);
    }

    #[test]
    fn strings_come_back(text in "\\PC{0,6}", noise in prop::collection::vec(any::<u8>(), 12)) {
        match FixedStr::<8>::new(&text) {
            Ok(string) => {
                prop_assert!(text.len() <= 8);
                prop_assert_eq!(string, text.as_str());
                let bytes = pack(&[string]);
                prop_assert_eq!(&bytes[..4], (text.len() as u32).to_ne_bytes());
                prop_assert_eq!(&bytes[4..4 + text.len()], text.as_bytes());
                prop_assert!(bytes[4 + text.len()..].iter().all(|&byte| byte == 0));
                prop_assert_eq!(unpack_one::<FixedStr<8>>(&bytes), Ok(string));
            }
            Err(error) => {
                prop_assert!(text.len() > 8);
                prop_assert_eq!(error, Error::Capacity { len: text.len(), capacity: 8 });
            }
        }
        // Any bytes. The length is often in range.
        let mut noise = noise;
        let len = u32::from(noise[0]) % 10;
        noise[..4].copy_from_slice(&len.to_ne_bytes());
        let valid = noise[4..].get(..len as usize).and_then(|bytes| std::str::from_utf8(bytes).ok());
        match unpack_one::<FixedStr<8>>(&noise) {
            Ok(string) => prop_assert_eq!(Some(string.as_str()), valid),
            Err(error) => {
                prop_assert_eq!(valid, None);
                let is_check = matches!(error, Error::CheckFailed { .. });
                prop_assert!(is_check);
            }
        }
    }

    #[test]
    fn lists_come_back(items in prop::collection::vec(any::<(bool, u16)>(), 0..6)) {
        match FixedVec::<(bool, u16), 4>::from_slice(&items) {
            Ok(mut list) => {
                prop_assert_eq!(&*list, &items[..]);
                let again = unpack_one::<FixedVec<(bool, u16), 4>>(&pack(&[list])).unwrap();
                prop_assert_eq!(again, list);
                let mut items = items;
                prop_assert_eq!(list.push((true, 1)).is_ok(), items.len() < 4);
                if items.len() < 4 {
                    items.push((true, 1));
                }
                prop_assert_eq!(list.as_mut_slice(), &items[..]);
                prop_assert_eq!(list.pop(), items.pop());
                prop_assert_eq!(&*list, &items[..]);
            }
            Err(error) => {
                prop_assert_eq!(error, Error::Capacity { len: items.len(), capacity: 4 });
                prop_assert!(items.len() > 4);
            }
        }
    }
}

#[test]
fn the_value_of_a_maybe_is_checked_if_it_is_present() {
    type Number = Maybe<NonZero<u8>>;
    assert_eq!(
        unpack::<Number>(&[0, 0, 1, 5]).unwrap(),
        [Maybe::none(), Maybe::some(NonZero::new(5).unwrap())]
    );
    let error = unpack::<Number>(&[0, 0, 1, 0]).unwrap_err();
    assert_eq!(error.to_string(), "record 1, field value: 0x0 is not a valid NonZero<u8>");
    assert!(matches!(unpack::<Number>(&[2, 1]), Err(Error::InvalidValue { value: 2, .. })));
    let error = unpack_one::<Maybe<Outer>>(&[vec![1], outer(6, 0)].concat()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "record 0, field value.intervals[1]: not a valid Interval: 6 is after 5"
    );
    // An absent value with invalid bytes, which are not checked.
    let absent = unpack_one::<Maybe<Outer>>(&[vec![0], vec![0xFF; outer(6, 0).len()]].concat());
    assert_eq!(absent, Ok(Maybe::none()));
}

#[test]
fn a_maybe_can_be_changed() {
    let mut maybe = Maybe::some(3_u8);
    *maybe.get_mut().unwrap() += 1;
    assert_eq!((maybe.get(), maybe.is_some(), maybe.is_none()), (Some(&4), true, false));
    assert_eq!(format!("{maybe:?} {:?}", Maybe::<u8>::default()), "Some(4) None");
    assert_eq!(Maybe::<u8>::none().get_mut(), None);
}

type List = FixedVec<bool, 3>;

#[test]
fn a_list_is_checked_as_far_as_it_is_used() {
    let with = |len: u32, items: [u8; 3]| [len.to_ne_bytes().to_vec(), items.to_vec()].concat();
    assert_eq!(*unpack_one::<List>(&with(2, [0, 1, 9])).unwrap(), [false, true]);
    let error = unpack_one::<List>(&with(3, [0, 1, 9])).unwrap_err();
    assert_eq!(error.to_string(), "record 0, field items[2]: 0x9 is not a valid bool");
    let error = unpack_one::<List>(&with(4, [0, 1, 0])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "record 0: not a valid FixedVec: the length is 4, and the capacity 3"
    );
    let mut list = List::new();
    assert_eq!(list.pop(), None);
    list.push(true).unwrap();
    list.clear();
    assert!(list.is_empty());
}

#[test]
fn a_list_of_items_without_data_is_checked_if_there_is_an_item() {
    let list = |len: u32| unpack_one::<FixedVec<Nothing, 3>>(&len.to_ne_bytes());
    assert_eq!(list(0).unwrap().len(), 0);
    let error = list(2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "record 0, field items[0]: not a valid Nothing: the check failed"
    );
}
