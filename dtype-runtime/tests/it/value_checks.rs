//! Checks of the values of types that are made at run time, and copies between two layouts.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::ops::Range;

use dtype_runtime::convertor::ValueChecks;
use dtype_runtime::{Basic, Buffer, BufferMut, Committed, Error, Representation, Type, Unpacker};
use dtype_test_support::case::Case;
use dtype_test_support::model::{config, trees};
use proptest::prelude::*;

/// `struct { uint16_t id; bool flags[3]; uint16_t colours[2]; int8_t sign; }`, packed.
fn record() -> Type {
    let [u16, bool, i8] = [Basic::U16, Basic::Bool, Basic::I8].map(Type::basic);
    Type::structure(&[1, 3, 2, 1], &[0, 2, 6, 10], &[u16.clone(), bool, u16, i8]).unwrap()
}

fn checks() -> ValueChecks {
    let mut checks = ValueChecks::new(&record()).unwrap();
    checks.restrict(4..6, "colours", &[7, 300, 2]).unwrap();
    checks.restrict(6..7, "sign", &[1, -1]).unwrap();
    checks
}

fn packed(id: u16, flags: [u8; 3], colours: [u16; 2], sign: i8) -> Vec<u8> {
    let colours = colours.map(u16::to_ne_bytes).concat();
    [&id.to_ne_bytes()[..], &flags, &colours, &sign.to_ne_bytes()].concat()
}

#[test]
fn a_wrong_value_is_named_by_record_and_field() {
    let good = packed(9, [0, 1, 1], [300, 7], -1);
    assert_eq!(checks().check(&good, 1), Ok(()));
    let cases = [
        (
            packed(9, [0, 1, 2], [300, 7], 1),
            "record 3000, field element 3: 0x2 is not a valid bool",
        ),
        (
            packed(9, [0, 1, 1], [2, 8], 1),
            "record 3000, field colours[1]: not a valid enumeration: 0x8 is none of its 3 values",
        ),
        (
            packed(9, [0, 1, 1], [2, 2], 0),
            "record 3000, field sign: not a valid enumeration: 0x0 is none of its 2 values",
        ),
        // The first of two wrong fields.
        (packed(9, [3, 1, 1], [1, 1], 0), "record 3000, field element 1: 0x3 is not a valid bool"),
    ];
    for (wrong, expected) in cases {
        let all = [good.repeat(3000), wrong, good.repeat(2)].concat();
        let error = checks().check(&all, 3003).unwrap_err();
        assert_eq!(error.to_string(), expected);
        let short = &all[1..];
        let length = Error::PackedLength { expected: all.len() as u64, actual: short.len() as u64 };
        assert_eq!(checks().check(short, 3003), Err(length));
    }
}

#[test]
fn a_restriction_replaces_the_part_of_an_earlier_one() {
    let mut checks = ValueChecks::new(&record()).unwrap();
    checks.restrict(2..3, "middle", &[5]).unwrap();
    assert_eq!(checks.check(&packed(0, [1, 5, 0], [0, 0], 0), 1), Ok(()));
    let refused = |flags| checks.check(&packed(0, flags, [0, 0], 0), 1).unwrap_err().to_string();
    assert_eq!(
        refused([1, 1, 0]),
        "record 0, field middle: not a valid enumeration: 0x1 is none of its 1 values"
    );
    assert_eq!(refused([5, 5, 0]), "record 0, field element 1: 0x5 is not a valid bool");
    assert_eq!(refused([1, 5, 5]), "record 0, field element 3: 0x5 is not a valid bool");
}

#[test]
fn wrong_restrictions_are_refused() {
    let restrict = |ty: &Type, elements: Range<u64>, values: &[i128]| {
        let mut checks = ValueChecks::new(ty).unwrap();
        let result = checks.restrict(elements, "x", values);
        // Nothing has changed.
        assert!(result.is_ok() || checks.check(&vec![1; ty.size() as usize], 1).is_ok());
        result.map_err(|error| error.to_string())
    };
    let record = record();
    let refused = |elements| restrict(&record, elements, &[]).unwrap_err();
    assert_eq!(refused(7..8), "restrict: end of the elements is 8, expected 8 to 7");
    #[expect(clippy::reversed_empty_ranges, reason = "a mistake of the caller")]
    let reversed = refused(3..2);
    assert_eq!(reversed, "restrict: end of the elements is 2, expected 4 to 7");
    assert_eq!(refused(0..2), "restrict: end of the elements is 2, expected 1");
    let wide = restrict(&record, 6..7, &[256]).unwrap_err();
    assert_eq!(wide, "restrict: values is 256, expected 0 to 255");
    let float = restrict(&Type::basic(Basic::F32), 0..1, &[]).unwrap_err();
    assert_eq!(
        float,
        "restrict: elements is f32, expected an integer, a character, a truth value or a byte"
    );
    let numerous = Type::vector(1 << 22, 1, 2, &record).unwrap();
    assert!(matches!(ValueChecks::new(&numerous), Err(Error::TooManyEntries { .. })));
}

#[test]
fn fragments_are_checked_once_a_record_is_whole() {
    let ty = record().commit();
    let (good, bad) = (packed(1, [1, 0, 0], [7, 7], 1), packed(2, [1, 0, 9], [7, 7], 1));
    let stream = [&good[..], &bad, &good].concat();
    for piece in 1..=stream.len() {
        let mut memory = [0xA5; 36];
        let unpacker = ty.unpacker(&mut memory, 3).unwrap();
        let mut unpacker = unpacker.with_checks(&checks()).unwrap();
        let error = stream.chunks(piece).try_for_each(|part| unpacker.unpack(part).map(drop));
        assert!(matches!(error, Err(Error::InvalidValue { record: 1, value: 9, .. })), "{error:?}");
        drop(unpacker);
        // The first record was written, unless one fragment has both.
        let before = if piece < 2 * good.len() { 10 } else { 0 };
        let written: Vec<bool> = memory.iter().map(|byte| *byte != 0xA5).collect();
        assert_eq!(written.iter().filter(|written| **written).count(), before, "{piece}");
    }
}

#[test]
fn converted_streams_are_checked_too() {
    let ty = record().commit();
    let external = |colour: u16| {
        [&[0, 1, 1, 0, 0][..], &colour.to_be_bytes(), &7_u16.to_be_bytes(), &[1]].concat()
    };
    let unpack = |bytes: &[u8]| {
        let mut memory = [0xA5; 12];
        let unpacker = ty.unpacker(&mut memory, 1).unwrap().with_checks(&checks()).unwrap();
        let mut unpacker = unpacker.with_representation(Representation::External32).unwrap();
        let result = unpacker.unpack(bytes);
        drop(unpacker);
        (result, memory)
    };
    assert_eq!(unpack(&external(300)).0, Ok(10));
    let (result, memory) = unpack(&external(301));
    assert!(matches!(result, Err(Error::CheckFailed { record: 0, .. })), "{result:?}");
    assert_eq!(memory, [0xA5; 12]);
}

#[test]
fn checks_are_for_one_signature() {
    let bytes = Type::contiguous(11, &Type::basic(Basic::U8)).unwrap().commit();
    let mut memory = [0; 11];
    let unpacker: Unpacker<'_> = bytes.unpacker(&mut memory, 1).unwrap();
    assert!(matches!(unpacker.with_checks(&checks()), Err(Error::SignatureMismatch { .. })));
}

/// The same basic datatypes, one after another.
fn dense(ty: &Type) -> Committed {
    let (mut lengths, mut places, mut types, mut end) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (basic, count) in ty.signature().runs() {
        lengths.push(count);
        places.push(end);
        types.push(Type::basic(basic));
        end += (count as usize * basic.size()) as i64;
    }
    Type::resized(&Type::structure(&lengths, &places, &types).unwrap(), 0, end).unwrap().commit()
}

proptest! {
    #![proptest_config(config(256))]

    /// A copy to another layout is packing with one type and unpacking with the other.
    #[test]
    fn copies_between_layouts(tree in trees(), count in 0_usize..4, times in 1_usize..3) {
        let case = Case::new(&tree, count * times);
        let Case { committed, origin, .. } = &case;
        let packed = case.packed();
        let dense = dense(committed);
        // `times` instances of the type are one instance of the other.
        let group = Type::contiguous(times as u64, &dense).unwrap().commit();
        let mut out = vec![0xA5; packed.len()];
        // SAFETY: the instances lie in the memory of the case, and those of `group` in the vector.
        unsafe {
            let from = case.memory.as_ptr().add(*origin);
            committed.copy_to_raw(from, count * times, &group, out.as_mut_ptr(), count).unwrap();
        }
        prop_assert_eq!(&out, &packed);

        let mut memory = case.blank();
        // SAFETY: as above, in the other direction.
        let result = unsafe {
            let to = memory.as_mut_ptr().add(*origin);
            group.copy_to_raw(out.as_ptr(), count, committed, to, count * times)
        };
        if case.overlaps() {
            prop_assert_eq!(result, Err(case.overlap()));
            prop_assert_eq!(memory, case.blank());
        } else {
            prop_assert_eq!(result, Ok(()));
            prop_assert_eq!(memory, case.unpacked(&packed));
        }
    }
}

#[test]
fn layouts_that_overlap_are_copied_through_a_buffer() {
    let byte = Type::basic(Basic::U8);
    let column = Type::resized(&Type::vector(3, 1, 3, &byte).unwrap(), 0, 1).unwrap().commit();
    let rows = Type::contiguous(9, &byte).unwrap().commit();
    let mut matrix = *b"abcdefghi";
    let at = matrix.as_mut_ptr();
    // SAFETY: both are all of the matrix.
    unsafe { column.copy_to_raw(at, 3, &rows, at, 1).unwrap() };
    assert_eq!(&matrix, b"adgbehcfi");
    let mut other = [0; 9];
    // SAFETY: the data of both would lie in the arrays.
    let result = unsafe { column.copy_to_raw(at, 2, &rows, other.as_mut_ptr(), 1) };
    assert!(matches!(result, Err(Error::SignatureMismatch { .. })));
    column.unpack(b"123456789", BufferMut::new(&mut other), 3).unwrap();
    column.pack(Buffer::new(&other), 3, &mut matrix).unwrap();
    assert_eq!(&matrix, b"123456789");
}
