//! Columns as Arrow's fields and buffers, and back. The reference picks values one by one.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::sync::Arc;

use arrow_buffer::Buffer;
use arrow_schema::{DataType, Field};
use dtype_arrow::{ArrowColumn, ArrowError, from_arrow, into_arrow, schema};
use dtype_runtime::{Datatype, Error, FixedVec, Maybe, columns, pack};
use dtype_test_support::tags::Kind;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Body {
    charge: i8,
    position: [[f64; 3]; 2],
    flags: [(bool, Kind); 2],
    letter: char,
    wide: u128,
}

fn bodies(count: u8) -> Vec<Body> {
    (0..count)
        .map(|i| Body {
            charge: i as i8,
            position: [[i.into(), 1.0, 2.0], [3.0, 4.0, -f64::from(i)]],
            flags: [(i % 2 == 0, Kind::Free), (i % 3 == 0, Kind::Fixed)],
            letter: char::from(b'a' + i % 26),
            wide: u128::MAX - u128::from(i),
        })
        .collect()
}

#[test]
fn columns_are_fields_and_buffers() {
    let bodies = bodies(100);
    let all = into_arrow(columns(&bodies)).unwrap();
    let list =
        |of, length| DataType::FixedSizeList(Arc::new(Field::new("item", of, false)), length);
    let expected = [
        ("charge", DataType::Int8, 100),
        ("position", list(list(DataType::Float64, 3), 2), 4800),
        ("flags.0", list(DataType::Boolean, 2), 25),
        ("flags.1", list(DataType::UInt8, 2), 200),
        ("letter", DataType::UInt32, 400),
        ("wide", DataType::FixedSizeBinary(16), 1600),
    ];
    for (column, (name, ty, bytes)) in all.iter().zip(&expected) {
        assert_eq!((column.field.name().as_str(), column.field.data_type()), (*name, ty));
        assert_eq!((column.len, column.buffer.len()), (100, *bytes), "{name}");
        assert!(!column.field.is_nullable());
    }
    assert_eq!(all.len(), expected.len());
    assert_eq!(schema::<Body>().fields().len(), 6);
    assert_eq!(schema::<Body>().field(2).name(), "flags.0");
    assert_eq!(all[1].buffer.typed_data::<f64>()[6 * 7 + 5].to_bits(), (-7.0_f64).to_bits());
    let flags: Vec<bool> = bodies.iter().flat_map(|body| body.flags).map(|flag| flag.0).collect();
    let bits = all[2].buffer.as_slice();
    assert!(flags.iter().enumerate().all(|(i, flag)| (bits[i / 8] >> (i % 8) & 1 == 1) == *flag));
    assert_eq!(from_arrow::<Body>(&all).unwrap().to_records().unwrap(), bodies);
    // The columns may come in any order, and among other columns.
    let mut others = all.clone();
    others.reverse();
    others.push(ArrowColumn {
        field: Arc::new(Field::new("more", DataType::Int8, true)),
        ..all[0].clone()
    });
    assert_eq!(from_arrow::<Body>(&others).unwrap().to_records().unwrap(), bodies);
    // Another writer's lists, whose items have another name.
    let list =
        |of, length| DataType::FixedSizeList(Arc::new(Field::new("element", of, false)), length);
    let position = list(list(DataType::Float64, 3), 2);
    others[4].field = Arc::new(Field::new("position", position, false));
    assert_eq!(from_arrow::<Body>(&others).unwrap().to_records().unwrap(), bodies);
    // Columns that are nullable and have no nulls, and a buffer at an unaligned address.
    let lists = |of| DataType::FixedSizeList(Arc::new(Field::new("", of, true)), 2);
    others[3].field = Arc::new(Field::new("flags.0", lists(DataType::Boolean), true));
    others[1].buffer = Buffer::from_vec([&[0][..], &others[1].buffer].concat()).slice(1);
    assert_eq!(from_arrow::<Body>(&others).unwrap().to_records().unwrap(), bodies);
    let none = into_arrow(columns::<Body>(&[])).unwrap();
    assert_eq!(from_arrow::<Body>(&none).unwrap().to_records().unwrap(), []);
}

#[test]
fn values_are_not_copied() {
    let mut all = columns(&bodies(100));
    let charges = all.take::<i8>("charge").unwrap();
    assert!(matches!(into_arrow(all), Err(Error::NoField { path, .. }) if path == "charge"));
    assert_eq!(charges.len(), 100);
    let all = columns(&[(1_u64, 2.5_f32); 50]);
    let start = all.get::<u64>("0").unwrap().as_ptr();
    assert_eq!(into_arrow(all).unwrap()[0].buffer.as_ptr(), start.cast());
}

#[test]
fn foreign_columns_are_refused_by_name() {
    let good = into_arrow(columns(&bodies(10))).unwrap();
    let says = |change: &dyn Fn(&mut Vec<ArrowColumn>)| {
        let mut all = good.clone();
        change(&mut all);
        from_arrow::<Body>(&all).map(drop).unwrap_err()
    };
    let missing = says(&|all| drop(all.remove(4)));
    assert_eq!(missing, ArrowError::Column { path: "letter".to_owned(), found: 0 });
    let twice = says(&|all| all.push(good[4].clone()));
    assert_eq!(twice.to_string(), "field `letter` is there 2 times, expected once");
    let other = says(&|all| all[0].field = Arc::new(Field::new("charge", DataType::UInt8, false)));
    assert!(matches!(other, ArrowError::Type { path, .. } if path == "charge"));
    let null = says(&|all| all[2].nulls = Some((0..10).map(|i| i != 4).collect()));
    assert_eq!(null.to_string(), "record 4, field `flags.0`: null, expected a value");
    let texts = says(&|all| all[0].field = Arc::new(Field::new("charge", DataType::Utf8, false)));
    assert!(matches!(texts, ArrowError::Type { path, .. } if path == "charge"));
    let negative = DataType::FixedSizeList(Arc::new(Field::new("", DataType::UInt8, false)), -1);
    let negative =
        says(&|all| all[3].field = Arc::new(Field::new("flags.1", negative.clone(), false)));
    assert!(matches!(negative, ArrowError::Type { path, .. } if path == "flags.1"));
    let shorter = says(&|all| all[0].nulls = Some(vec![true; 9].into()));
    assert!(matches!(shorter, ArrowError::Length { expected: 10, actual: 9, .. }));
    let longer = says(&|all| all[3].len = 11);
    assert_eq!(
        longer.to_string(),
        "field `flags.1` has 11 records, expected 10 as in the first column"
    );
    let short = says(&|all| all[5].buffer = Buffer::from_vec(vec![0_u8; 159]));
    assert_eq!(short.to_string(), "field `wide` has a buffer of 159 bytes, expected at least 160");
    let huge = says(&|all| all[0].len = usize::MAX);
    assert!(matches!(huge, ArrowError::Buffer { expected: usize::MAX, actual: 10, .. }));
    // A value that is invalid for its field.
    let mut all = good.clone();
    all[3].buffer = Buffer::from_vec(vec![4_u8; 20]);
    let error = from_arrow::<Body>(&all).unwrap().to_records().unwrap_err();
    assert_eq!(error.to_string(), "record 0, field flags[0].1: 0x4 is not a valid Kind");
}

#[test]
fn a_length_needs_buffers_of_that_length() {
    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    struct One {
        value: u16,
    }
    let mut all = into_arrow(columns(&[One { value: 7 }])).unwrap();
    // The system would reserve so many bytes, but cannot provide them.
    all[0].len = 1 << 46;
    let expected = 2 << 46;
    let error = from_arrow::<One>(&all).unwrap_err();
    assert!(matches!(error, ArrowError::Buffer { expected: e, actual: 2, .. } if e == expected));
    all[0].len = usize::MAX;
    let error = from_arrow::<One>(&all).unwrap_err();
    assert!(matches!(error, ArrowError::Buffer { expected: usize::MAX, actual: 2, .. }));
}

/// Records without data have no buffers that could limit their number: any number of them takes no memory.
#[test]
fn any_number_of_records_without_data() {
    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    struct Empty {
        numbers: [u64; 0],
        flags: [bool; 0],
    }
    #[derive(Datatype, Debug)]
    #[dtype(check = Refused::is_valid)]
    struct Refused {
        numbers: [u64; 0],
    }
    impl Refused {
        fn is_valid(&self) -> bool {
            !self.numbers.is_empty()
        }
    }
    let mut records = [Empty { numbers: [], flags: [] }; usize::MAX];
    let mut all = into_arrow(columns(&records)).unwrap();
    let empty = ArrowColumn {
        field: Arc::new(Field::new("", DataType::UInt8, false)),
        len: usize::MAX,
        buffer: Buffer::from_vec(Vec::<u8>::new()),
        nulls: None,
    };
    // A column that no field needs has a length, too.
    all.insert(0, empty);
    assert_eq!(from_arrow::<Empty>(&all).unwrap().to_records().unwrap().len(), usize::MAX);
    from_arrow::<Empty>(&all).unwrap().write_to(&mut records).unwrap();
    assert_eq!(from_arrow::<()>(&all).unwrap().to_records().unwrap().len(), usize::MAX);
    let refused = from_arrow::<Refused>(&all).unwrap().to_records();
    assert!(matches!(refused, Err(Error::CheckFailed { .. })), "{refused:?}");
}

/// Without a column, the number of records is unknown.
#[test]
fn records_without_data_need_a_column_that_counts_them() {
    let none = into_arrow(columns(&[[(); 3]; 3])).unwrap();
    assert!(none.is_empty());
    let error = from_arrow::<[(); 3]>(&none).map(drop).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no column that says how many records there are, expected one of any name"
    );
    let other = into_arrow(columns(&[7_u8; 3])).unwrap();
    assert_eq!(from_arrow::<[(); 3]>(&other).unwrap().to_records().unwrap(), [[(); 3]; 3]);
    // The error says that the column is missing.
    let missing = from_arrow::<u8>(&none).map(drop).unwrap_err();
    assert!(matches!(missing, ArrowError::Column { found: 0, .. }));
}

/// A `Maybe` is the column of its value with nulls, or the two columns that [`into_arrow`] makes of it.
#[test]
fn optional_values_have_one_column_or_two() {
    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    struct Reading {
        value: Maybe<[i16; 2]>,
        list: FixedVec<u32, 2>,
    }
    let list = FixedVec::from_slice(&[7]).unwrap();
    let readings = [Maybe::some([1, 2]), Maybe::none(), Maybe::some([5, 6])]
        .map(|value| Reading { value, list });
    let two = into_arrow(columns(&readings)).unwrap();
    let names: Vec<_> = two.iter().map(|column| column.field.name().as_str()).collect();
    assert_eq!(names, ["value.present", "value.value", "list.len", "list.items"]);
    assert_eq!(from_arrow::<Reading>(&two).unwrap().to_records().unwrap(), readings);
    let values = DataType::FixedSizeList(Arc::new(Field::new("", DataType::Int16, true)), 2);
    let one = ArrowColumn {
        field: Arc::new(Field::new("value", values, true)),
        len: 3,
        buffer: Buffer::from_vec(vec![1_i16, 2, 3, 4, 5, 6]),
        nulls: Some(vec![true, false, true].into()),
    };
    let one = [&[one][..], &two[2..]].concat();
    let found = from_arrow::<Reading>(&one).unwrap().to_records().unwrap();
    assert_eq!(found, readings);
    // An absent value is zeros.
    assert_eq!(pack(&found), pack(&readings));
}
