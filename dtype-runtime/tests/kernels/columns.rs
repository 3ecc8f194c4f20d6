//! Arrays of structs as columns and back. The reference is a loop that reads one field after another.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "everything here is small"
)]
#![allow(clippy::float_cmp, reason = "values come back as they were")]
#![allow(clippy::items_after_statements, reason = "structs beside the test that uses them")]

use crate::{alone, each_isa};
use dtype_runtime::{Basic, Columns, Datatype, Error, columns};
use dtype_test_support::model;
use dtype_test_support::tags::{Kind, Tag};
use proptest::prelude::*;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Body {
    charge: i8,
    position: [f64; 3],
    tags: [[Tag; 2]; 2],
    on: bool,
    marks: [[u16; 3]; 2],
    nothing: (),
    r#type: (u16, i64),
}

fn bodies(count: usize) -> Vec<Body> {
    (0..count)
        .map(|i| {
            let tag = |n: usize| Tag {
                letter: char::from_u32(0x41 + (i * 4 + n) as u32 % 20_000).unwrap(),
                kind: if (i + n).is_multiple_of(3) { Kind::Free } else { Kind::Fixed },
            };
            Body {
                charge: i as i8,
                position: [i as f64, 0.5, -(i as f64)],
                tags: [[tag(0), tag(1)], [tag(2), tag(3)]],
                on: i % 3 == 1,
                marks: [[i as u16, 1, 2], [3, 4, !(i as u16)]],
                nothing: (),
                r#type: (i as u16, -(i as i64)),
            }
        })
        .collect()
}

#[test]
fn every_column_has_the_values_of_its_field() {
    let counts: &[usize] =
        if cfg!(miri) { &[0, 1, 70] } else { &[0, 1, 2, 7, 8, 63, 64, 65, 300, 5000] };
    let _alone = alone();
    for isa in each_isa() {
        for &count in counts {
            let bodies = bodies(count);
            let all = columns(&bodies);
            assert_eq!((all.len(), all.is_empty()), (count, count == 0));
            macro_rules! same {
                ($path:literal, $ty:ty, $field:expr) => {{
                    let expected: Vec<$ty> = bodies.iter().flat_map($field).collect();
                    assert_eq!(all.get::<$ty>($path).unwrap(), expected, "{} {isa} {count}", $path);
                }};
            }
            same!("charge", i8, |body| [body.charge]);
            same!("position", f64, |body| body.position);
            same!("position", [f64; 3], |body| [body.position]);
            same!("tags.letter", char, |body| body.tags.concat().into_iter().map(|tag| tag.letter));
            same!("tags.kind", Kind, |body| body.tags.concat().into_iter().map(|tag| tag.kind));
            same!("on", bool, |body| [body.on]);
            same!("marks", u16, |body| body.marks.concat());
            same!("marks", [u16; 3], |body| body.marks);
            same!("marks", [[u16; 3]; 2], |body| [body.marks]);
            same!("type.0", u16, |body| [body.r#type.0]);
            same!("type.1", i64, |body| [body.r#type.1]);
            assert_eq!(all.to_records().unwrap(), bodies);
        }
    }
}

#[test]
fn fields_are_named_with_their_axes() {
    let all: Vec<_> = Columns::<Body>::zeroed(0)
        .unwrap()
        .fields()
        .map(|field| (field.path, field.basic, field.lengths))
        .collect();
    let expected = [
        ("charge", Basic::I8, vec![]),
        ("position", Basic::F64, vec![3]),
        ("tags.letter", Basic::Char, vec![2, 2]),
        ("tags.kind", Basic::U8, vec![2, 2]),
        ("on", Basic::Bool, vec![]),
        ("marks", Basic::U16, vec![2, 3]),
        ("type.0", Basic::U16, vec![]),
        ("type.1", Basic::I64, vec![]),
    ];
    assert_eq!(all, expected.map(|(path, basic, lengths)| (path.to_owned(), basic, lengths)));
    let numbers = columns(&[[1_u16, 2], [3, 4]]);
    assert_eq!(numbers.get::<u16>("").unwrap(), [1, 2, 3, 4]);
    assert_eq!(columns(&[(), ()]).fields().len(), 0);
    assert_eq!(columns(&[(), ()]).to_records().unwrap(), [(), ()]);
}

#[test]
fn a_wrong_path_or_type_is_refused() {
    let bodies = bodies(3);
    let mut all = columns(&bodies);
    let message = |error: Error| error.to_string();
    assert_eq!(
        message(all.get::<f32>("position").unwrap_err()),
        "field `position` is [f64; 3], not f32"
    );
    assert_eq!(
        message(all.get::<u16>("marks.x").unwrap_err()),
        "field `marks.x`: u16 packs no field `x`"
    );
    assert_eq!(message(all.get::<u16>("type").unwrap_err()), "field `type` is (_, _), not u16");
    assert_eq!(
        message(all.get::<u16>("tipe.0").unwrap_err()),
        "field `tipe.0`: Body packs no field `tipe.0`"
    );
    for path in ["", ".", "charge.", ".charge", "type..0", "nothing", "type.2", "position[0]"] {
        assert!(all.get::<i8>(path).is_err(), "{path}");
    }
    // The innermost axis has three numbers.
    assert!(all.get::<[u16; 2]>("marks").is_err());
    // One element has the signature of an array of one element.
    assert_eq!(all.get::<[f64; 1]>("position").unwrap()[3], [1.0]);
    // Another type has the same signature and fewer valid values.
    assert!(matches!(all.get::<bool>("charge"), Err(Error::FieldType { .. })));
    assert_eq!(all.get::<u8>("tags.kind").unwrap().len(), 12);
    assert!(matches!(columns(&[(7_u8, 1_u8)]).get::<Kind>("0"), Err(Error::InvalidValue { .. })));
    assert_eq!(all.set("charge", &[1_i8]), Err(Error::PackedLength { expected: 3, actual: 1 }));
    assert_eq!(all.to_records().unwrap(), bodies);
}

#[test]
fn columns_that_were_written_to_are_checked() {
    let bodies = bodies(300);
    let mut all = columns(&bodies);
    all.set("charge", &[7_i8; 300]).unwrap();
    assert!(all.to_records().unwrap().iter().all(|body| body.charge == 7));
    // Writes an invalid number to an element of the enum's column.
    all.get_mut::<u8>("tags.kind").unwrap()[4 * 271 + 2] = 4;
    let error = all.to_records().unwrap_err();
    assert_eq!(error.to_string(), "record 271, field tags[1][0].kind: 0x4 is not a valid Kind");
    let mut items = bodies.clone();
    assert_eq!(all.write_to(&mut items).unwrap_err(), error);
    assert_eq!(items, bodies);
    assert!(matches!(all.write_to(&mut items[1..]), Err(Error::PackedLength { .. })));
    all.fill(&bodies).unwrap();
    assert_eq!(all.to_records().unwrap(), bodies);
}

#[test]
fn columns_become_vectors() {
    let bodies = bodies(100);
    let mut all = columns(&bodies);
    let start = all.get::<f64>("position").unwrap().as_ptr();
    let positions: Vec<[f64; 3]> = all.take("position").unwrap();
    assert_eq!(positions.as_ptr().cast(), start, "without a copy");
    assert_eq!((positions.len(), positions[99]), (100, [99.0, 0.5, -99.0]));
    assert!(matches!(all.take::<f64>("position"), Err(Error::NoField { .. })));
    assert!(matches!(all.get::<f64>("position"), Err(Error::NoField { .. })));
    assert_eq!(
        all.to_records().unwrap_err().to_string(),
        "field `position`: Columns<Body> packs no field `position`"
    );
    // A refused column stays.
    let mut numbers = columns(&[(7_u8, 1_u8)]);
    assert!(numbers.take::<Kind>("0").is_err());
    assert_eq!(numbers.take::<u8>("0").unwrap(), [7]);
    // Vectors of another alignment are copied.
    #[derive(Datatype, Debug, PartialEq)]
    #[repr(C, align(16))]
    struct Pair([u64; 2]);
    let mut wide = columns(&[([1_u64, 2], 3_u8), ([4, 5], 6)]);
    assert_eq!(wide.take::<Pair>("0").unwrap(), [Pair([1, 2]), Pair([4, 5])]);
    all.fill(&bodies).unwrap();
    assert_eq!(all.to_records().unwrap(), bodies);
    assert_eq!(columns::<Body>(&[]).take::<f64>("position").unwrap(), [0.0; 0]);
}

#[test]
fn too_many_columns_or_bytes() {
    type Many = (
        [(u8, u16); 2],
        (u8, u16, u32, u64),
        (u8, u16, u32, u64),
        (u8, u16, u32, u64),
        (u8, u16, u32, u64),
    );
    let record: Many =
        ([(1, 2), (3, 4)], (5, 6, 7, 8), (9, 10, 11, 12), (13, 14, 15, 16), (17, 18, 19, 20));
    let records = [record; 77];
    let all = columns(&records);
    assert_eq!(all.fields().len(), 18);
    assert_eq!(all.get::<u16>("0.1").unwrap()[..4], [2, 4, 2, 4]);
    assert_eq!(all.get::<u64>("4.3").unwrap(), [20; 77]);
    assert_eq!(all.to_records().unwrap(), records);
    assert!(matches!(Columns::<Many>::zeroed(usize::MAX), Err(Error::Allocation { .. })));
}

#[test]
fn skipped_fields_stay() {
    #[derive(Datatype, Clone, Debug, PartialEq)]
    struct Cached {
        value: u32,
        #[dtype(skip)]
        cache: String,
    }
    let cached = |value, cache: &str| Cached { value, cache: cache.to_owned() };
    let mut items = [cached(1, "a"), cached(2, "b")];
    let mut all = columns(&items);
    all.get_mut::<u32>("value").unwrap()[0] = 7;
    all.write_to(&mut items).unwrap();
    assert_eq!(items, [cached(7, "a"), cached(2, "b")]);
}

/// Records of each stride below a vector, with a field of each width at each offset.
macro_rules! strides {
    ($($stride:literal)*) => {$({
        for isa in each_isa() {
            #[derive(Datatype, Clone, Copy)]
            #[repr(C, packed)]
            struct Record {
                first: u8,
                two: u16,
                four: u32,
                eight: u64,
                rest: [u8; $stride - 15],
            }
            for count in [5, 64, 257] {
                let records: Vec<Record> = (0..count)
                    .map(|i: u64| Record {
                        first: i as u8,
                        two: 3 * i as u16,
                        four: 5 * i as u32,
                        eight: 7 * i,
                        rest: [i as u8; $stride - 15],
                    })
                    .collect();
                let all = columns(&records);
                assert_eq!(dtype_runtime::pack(&all.to_records().unwrap()), dtype_runtime::pack(&records), "{isa}");
                let i = || 0..count;
                assert!(all.get::<u8>("first").unwrap().iter().copied().eq(i().map(|i| i as u8)), "{isa}");
                assert!(all.get::<u8>("rest").unwrap().chunks($stride - 15).zip(i()).all(|(rest, i)| *rest == [i as u8; $stride - 15]));
                // Packed structs have columns with the alignment of their basic datatypes.
                assert!(all.get::<u16>("two").unwrap().iter().copied().eq(i().map(|i| 3 * i as u16)), "{isa}");
                assert!(all.get::<u32>("four").unwrap().iter().copied().eq(i().map(|i| 5 * i as u32)), "{isa}");
                assert!(all.get::<u64>("eight").unwrap().iter().copied().eq(i().map(|i| 7 * i)), "{isa}");
            }
        }
    })*};
}

#[test]
fn every_stride() {
    let _alone = alone();
    // All strides take Miri a minute.
    if cfg!(miri) {
        strides!(16 19 33 64);
        return;
    }
    strides!(16 17 18 19 20 21 22 23 24 25 27 29 31 32 33 36 40 43 47 48 51 55 56 59 63 64 65 80);
}

type Row = (u8, (u16, bool), [(f32, char); 2], i128);

proptest! {
    #![proptest_config(model::config(64))]

    #[test]
    fn records_come_back(records in proptest::collection::vec(
        (any::<u8>(), any::<(u16, bool)>(), any::<[(f32, char); 2]>(), any::<i128>()), 0..400
    )) {
        let bits = |records: &[Row]| dtype_runtime::pack(records);
        let all = columns(&records);
        prop_assert_eq!(bits(&all.to_records().unwrap()), bits(&records));
        let letters: Vec<char> = records.iter().flat_map(|record| record.2).map(|pair| pair.1).collect();
        prop_assert_eq!(all.get::<char>("2.1").unwrap(), letters);
        let numbers: Vec<i128> = records.iter().map(|record| record.3).collect();
        prop_assert_eq!(all.get::<i128>("3").unwrap(), numbers);
    }
}

#[test]
fn a_column_by_number_as_other_values() {
    let records = [(1_u32, true), (2, false), (0x0300_0000, true)];
    let mut all = columns(&records);
    let paths = Columns::<(u32, bool)>::all_fields().map(|field| field.path);
    assert_eq!(paths.collect::<Vec<_>>(), ["0", "1"]);

    // The column stays where its bytes are no whole values of the type, or no values of it.
    let partial = Error::PartialRecord { actual: 12, record: 5 };
    assert_eq!(all.take_raw::<[u8; 5]>(0), Err(partial));
    assert!(matches!(all.take_raw::<bool>(0), Err(Error::InvalidValue { .. })));
    assert!(matches!(all.take_raw::<u8>(2), Err(Error::NoField { .. })));
    // With another alignment, the values are copied.
    let bytes = columns(&records).take_raw::<[u8; 4]>(0).unwrap();
    assert_eq!(bytes.into_iter().map(u32::from_ne_bytes).collect::<Vec<_>>(), [1, 2, 0x0300_0000]);
    assert_eq!(all.take_raw::<u32>(0).unwrap(), [1, 2, 0x0300_0000]);
    assert_eq!(all.take_raw::<u8>(1).unwrap(), [1, 0, 1]);
    assert!(matches!(all.take_raw::<u8>(1), Err(Error::NoField { .. })));
    assert!(matches!(all.set_raw(1, &[1; 3]), Err(Error::NoField { .. })));

    let mut all = columns(&records);
    let wrong = Error::PackedLength { expected: 3, actual: 4 };
    assert_eq!(all.set_raw(1, &[1; 4]), Err(wrong));
    all.set_raw(1, &[0, 1, 2]).unwrap();
    let error = all.to_records().unwrap_err();
    assert_eq!(error.to_string(), "record 2, field 1: 0x2 is not a valid bool");
    all.set_raw(1, &[0, 1, 1]).unwrap();
    assert_eq!(all.to_records().unwrap(), [(1, false), (2, true), (0x0300_0000, true)]);
}
