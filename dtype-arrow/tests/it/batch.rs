//! Records as a `RecordBatch` and back, and batches of other writers.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, TimestampNanosecondType, UInt16Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Date64Array, DictionaryArray, Float64Array,
    Int8Array, Int64Array, LargeListArray, LargeStringArray, ListArray, NullArray, RecordBatch,
    StringArray, StringViewArray, StructArray, Time32SecondArray, TimestampNanosecondArray,
    UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field};
use dtype_arrow::{ArrowError, BatchOptions, batch_schema, from_batch, to_batch};
use dtype_runtime::time::{Microseconds, Nanoseconds, Seconds};
use dtype_runtime::{Datatype, FixedStr, FixedVec, Maybe, TimeSpan, Timestamp};
use dtype_stored::ReadOptions;
use dtype_test_support::counting::max_in_use;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Header {
    run: u32,
    site: FixedStr<4>,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq, Default)]
#[repr(u8)]
enum Kind {
    #[default]
    Free = 3,
    Fixed = 200,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Part {
    weight: Maybe<f32>,
    on: bool,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Event {
    header: Header,
    name: FixedStr<8>,
    note: Maybe<FixedStr<3>>,
    at: Timestamp<Nanoseconds>,
    took: Maybe<TimeSpan<Microseconds>>,
    position: [[f64; 2]; 3],
    tags: [FixedStr<2>; 2],
    parts: [Part; 2],
    before: Maybe<Header>,
    kind: Maybe<Kind>,
    wide: u128,
    letter: char,
    empty: FixedStr<0>,
    some: FixedVec<Maybe<u16>, 3>,
    lists: [Maybe<FixedVec<FixedStr<2>, 2>>; 2],
    none: FixedVec<u8, 0>,
}

fn text2(text: &str) -> FixedStr<2> {
    text.parse().unwrap()
}

fn events(count: u32) -> Vec<Event> {
    let header = |i| Header { run: i, site: ["Süd", "Ost"][i as usize % 2].parse().unwrap() };
    (0..count)
        .map(|i| Event {
            header: header(i),
            name: ["", "é", "Fidelio!"][i as usize % 3].parse().unwrap(),
            note: (i % 2 == 0).then(|| "abc".parse().unwrap()).into(),
            at: Timestamp::new(i64::from(i) - 3),
            took: (i % 3 == 0).then(|| TimeSpan::new(i64::from(i))).into(),
            position: [[f64::from(i), 1.0], [2.0, 3.0], [4.0, -f64::from(i)]],
            tags: ["a".parse().unwrap(), "é".parse().unwrap()],
            parts: [
                Part { weight: None.into(), on: i % 2 == 0 },
                Part { weight: Some(0.5).into(), on: true },
            ],
            before: (i > 2).then(|| header(i + 7)).into(),
            kind: (i % 2 == 1).then_some(Kind::Fixed).into(),
            wide: u128::MAX - u128::from(i),
            letter: 'ß',
            empty: FixedStr::EMPTY,
            some: (1..=i as u16 % 4).map(|i| Maybe::from((i != 2).then_some(i))).fold(
                FixedVec::new(),
                |mut all, item| {
                    all.push(item).unwrap();
                    all
                },
            ),
            lists: [
                (i % 3 > 0)
                    .then(|| FixedVec::from_slice(&[text2("é"); 2][..i as usize % 3]).unwrap())
                    .into(),
                Some(FixedVec::new()).into(),
            ],
            none: FixedVec::new(),
        })
        .collect()
}

const STRICT: ReadOptions = ReadOptions::strict();

#[test]
fn batches_come_back() {
    let events = events(50);
    for options in [BatchOptions::flat(), BatchOptions::flat().with_structs()] {
        let batch = to_batch(&events, &options).unwrap();
        assert_eq!(batch.schema_ref().as_ref(), &batch_schema::<Event>(&options).unwrap());
        assert_eq!(from_batch::<Event>(&batch, &STRICT).unwrap(), events);
        // A part of a batch shares its buffers.
        let part = batch.slice(7, 20);
        assert_eq!(from_batch::<Event>(&part, &STRICT).unwrap(), events[7..27]);
        let none = to_batch::<Event>(&[], &options).unwrap();
        assert_eq!(from_batch::<Event>(&none, &STRICT).unwrap(), []);
    }
}

#[test]
fn columns_have_the_types_that_tables_have() {
    let flat = to_batch(&events(6), &BatchOptions::flat()).unwrap();
    let names: Vec<_> =
        flat.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
    let expected = "header.run header.site name note at took position tags parts.weight parts.on before kind wide letter empty some lists none";
    assert_eq!(names.join(" "), expected);
    let column = |name: &str| flat.column_by_name(name).unwrap();
    assert_eq!(column("name").as_string::<i32>().value(5), "Fidelio!");
    assert_eq!(column("note").null_count(), 3);
    assert_eq!(column("took").null_count(), 4);
    assert_eq!(column("at").as_primitive::<TimestampNanosecondType>().value(5), 2);
    assert_eq!(column("at").data_type().to_string(), "Timestamp(ns, \"UTC\")");
    assert_eq!(column("kind").data_type(), &DataType::UInt8);
    let tags = column("tags").as_fixed_size_list();
    assert_eq!(tags.values().as_string::<i32>().value(3), "é");
    let weights = column("parts.weight").as_fixed_size_list();
    assert_eq!((weights.null_count(), weights.values().null_count()), (0, 6));
    let some = column("some").as_list::<i32>();
    assert_eq!(some.value_offsets(), [0, 0, 1, 3, 6, 6, 7]);
    assert_eq!(some.values().as_primitive::<UInt16Type>().null_count(), 2);
    let lists = column("lists").as_fixed_size_list().values().as_list::<i32>().clone();
    assert_eq!((lists.null_count(), lists.values().len()), (2, 6));
    let before = column("before").as_struct();
    assert_eq!(before.null_count(), 3);
    let field = |name: &str| flat.schema_ref().field_with_name(name).unwrap().is_nullable();
    assert!(field("note") && field("before") && !field("name"));

    let nested = to_batch(&events(6), &BatchOptions::flat().with_structs()).unwrap();
    assert_eq!(nested.num_columns(), 16);
    let header = nested.column_by_name("header").unwrap().as_struct();
    assert_eq!(header.column_by_name("site").unwrap().as_string::<i32>().value(0), "Süd");
    let parts = nested.column_by_name("parts").unwrap().as_fixed_size_list();
    assert_eq!(parts.values().as_struct().column(0).null_count(), 6);
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Row {
    id: u64,
    name: FixedStr<4>,
    on: bool,
    pos: [f64; 2],
    mass: Maybe<f64>,
    at: Timestamp<Nanoseconds>,
}

/// A batch as pyarrow makes one: every column is nullable, the items of lists are called `element`, and the times have no zone.
fn foreign(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let mut positions = FixedSizeListBuilder::new(Float64Builder::new(), 2).with_field(Field::new(
        "element",
        DataType::Float64,
        true,
    ));
    for i in 0..3_u8 {
        positions.values().append_slice(&[f64::from(i), -1.0]);
        positions.append(true);
    }
    let mut all: Vec<(&str, ArrayRef)> = vec![
        ("at", Arc::new(TimestampNanosecondArray::from(vec![1, 2, 3]))),
        ("more", Arc::new(Int64Array::from(vec![None, None, Some(7)]))),
        ("name", Arc::new(StringArray::from(vec!["a", "", "four"]))),
        ("id", Arc::new(UInt64Array::from(vec![1, 2, 3]))),
        ("on", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("pos", Arc::new(positions.finish())),
        ("mass", Arc::new(Float64Array::from(vec![Some(0.5), None, None]))),
    ];
    for (name, array) in columns {
        all.retain(|(other, _)| other != name);
        all.push((name, array.clone()));
    }
    let fields: Vec<_> = all
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let arrays = all.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(arrow_schema::Schema::new(fields)), arrays).unwrap()
}

fn rows() -> Vec<Row> {
    (0..3_u8)
        .map(|i| Row {
            id: u64::from(i) + 1,
            name: ["a", "", "four"][usize::from(i)].parse().unwrap(),
            on: i != 1,
            pos: [f64::from(i), -1.0],
            mass: (i == 0).then_some(0.5).into(),
            at: Timestamp::new(i64::from(i) + 1),
        })
        .collect()
}

#[test]
fn nullable_columns_without_nulls_are_read() {
    assert_eq!(from_batch::<Row>(&foreign(&[]), &STRICT).unwrap(), rows());
    let large: ArrayRef = Arc::new(LargeStringArray::from(vec!["a", "", "four"]));
    let view: ArrayRef = Arc::new(StringViewArray::from(vec!["a", "", "four"]));
    for names in [large, view] {
        assert_eq!(from_batch::<Row>(&foreign(&[("name", names)]), &STRICT).unwrap(), rows());
    }
    // Numbers of another width are converted one by one.
    let narrow: ArrayRef = Arc::new(UInt32Array::from(vec![1, 2, 3]));
    let signed: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    for ids in [narrow, signed] {
        let batch = foreign(&[("id", ids)]);
        assert!(matches!(from_batch::<Row>(&batch, &STRICT), Err(ArrowError::Type { .. })));
        let converting = STRICT.with_number_conversion();
        assert_eq!(from_batch::<Row>(&batch, &converting).unwrap(), rows());
    }
}

/// A time is the number of its units, for a type that has no such time.
#[test]
fn days_are_numbers() {
    let days: ArrayRef = Arc::new(Date32Array::from(vec![Some(20_000), None]));
    let batch = RecordBatch::try_from_iter([("0", days)]).unwrap();
    let converting = STRICT.with_number_conversion();
    let found = from_batch::<(Maybe<i32>,)>(&batch, &converting).unwrap();
    assert_eq!(found, [(Maybe::some(20_000),), (Maybe::none(),)]);
    assert!(from_batch::<(Maybe<i32>,)>(&batch, &STRICT).is_err());
    assert!(from_batch::<(Maybe<TimeSpan<Nanoseconds>>,)>(&batch, &converting).is_err());
}

#[test]
fn days_and_times_of_other_units_are_points_in_time() {
    const DAY: i64 = 86_400;
    let batch = |array: ArrayRef| RecordBatch::try_from_iter([("0", array)]).unwrap();
    let converting = STRICT.with_number_conversion();
    let days = batch(Arc::new(Date32Array::from(vec![Some(20_000), None, Some(-1)])));
    assert!(from_batch::<(Maybe<Timestamp<Seconds>>,)>(&days, &STRICT).is_err());
    let seconds = from_batch::<(Maybe<Timestamp<Seconds>>,)>(&days, &converting).unwrap();
    let some = |count| (Maybe::some(Timestamp::new(count)),);
    assert_eq!(seconds, [some(20_000 * DAY), (Maybe::none(),), some(-DAY)]);
    let dates = batch(Arc::new(Date64Array::from(vec![86_400_000, -1])));
    let found = from_batch::<(Timestamp<Microseconds>,)>(&dates, &converting).unwrap();
    assert_eq!(found, [86_400_000_000, -1000].map(|count| (Timestamp::new(count),)));
    assert_eq!(
        from_batch::<(Timestamp<Seconds>,)>(&dates, &converting).unwrap_err().to_string(),
        "record 1, field 0: not a valid Timestamp: -1 milliseconds are no whole number of seconds of 64 bits"
    );
    let zoned = TimestampNanosecondArray::from(vec![5_000_000_000]).with_timezone("+02:00");
    let zoned = batch(Arc::new(zoned));
    let found = from_batch::<(Timestamp<Seconds>,)>(&zoned, &converting).unwrap();
    assert_eq!(found, [(Timestamp::new(5),)]);
    // The least number is a number.
    let least = batch(Arc::new(TimestampNanosecondArray::from(vec![i64::MIN])));
    assert!(from_batch::<(Timestamp<Seconds>,)>(&least, &converting).is_err());
    let noon = batch(Arc::new(Time32SecondArray::from(vec![43_200])));
    let found = from_batch::<(TimeSpan<Nanoseconds>,)>(&noon, &converting).unwrap();
    assert_eq!(found, [(TimeSpan::new(43_200_000_000_000),)]);
}

fn dictionary(keys: &[Option<i8>], values: ArrayRef) -> ArrayRef {
    Arc::new(DictionaryArray::new(Int8Array::from(keys.to_vec()), values))
}

/// As pandas writes categories.
#[test]
fn values_of_a_dictionary() {
    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    struct Point {
        x: f64,
    }
    let batch = |array: ArrayRef| RecordBatch::try_from_iter([("0", array)]).unwrap();
    let names =
        || Arc::new(LargeStringArray::from(vec![Some("ab"), None, Some("too long"), Some("")]));
    let text = |text: &str| text.parse::<FixedStr<4>>().unwrap();
    let of = |keys: &[i8]| dictionary(&keys.iter().copied().map(Some).collect::<Vec<_>>(), names());
    let found = from_batch::<(FixedStr<4>,)>(&batch(of(&[3, 0, 0, 3])), &STRICT).unwrap();
    assert_eq!(found, ["", "ab", "ab", ""].map(|name| (text(name),)));
    // A null is a key or a value.
    let keys = [Some(0), None, Some(1), Some(0)];
    let nulls = batch(dictionary(&keys, names()));
    let found = from_batch::<(Maybe<FixedStr<4>>,)>(&nulls, &STRICT).unwrap();
    let ab = || (Maybe::some(text("ab")),);
    assert_eq!(found, [ab(), (Maybe::none(),), (Maybe::none(),), ab()]);
    let error =
        |array| from_batch::<(FixedStr<4>,)>(&batch(array), &STRICT).unwrap_err().to_string();
    assert_eq!(error(of(&[0, 3, 1])), "record 2, field `0`: null, expected a value");
    assert_eq!(
        error(of(&[0, 3, 2, 2])),
        "record 2, field 0: not a valid text: its length is 8, and the capacity 4"
    );
    assert_eq!(
        error(dictionary(&[Some(0)], Arc::new(Int64Array::from(vec![1])))),
        "field `0` is Int64, expected Utf8"
    );
    // All null, of a dictionary without values; a slice; numbers of another width, structs and lists.
    let empty = batch(dictionary(&[None, None], Arc::new(StringArray::from(Vec::<&str>::new()))));
    let found = from_batch::<(Maybe<FixedStr<4>>,)>(&empty, &STRICT).unwrap();
    assert_eq!(found, [(Maybe::none(),); 2]);
    let slice = batch(of(&[2, 0, 3, 2]).slice(1, 2));
    assert_eq!(
        from_batch::<(FixedStr<4>,)>(&slice, &STRICT).unwrap(),
        [(text("ab"),), (text(""),)]
    );
    let wide = batch(dictionary(&[Some(1), Some(0)], Arc::new(Int64Array::from(vec![7, -2]))));
    let found = from_batch::<(i8,)>(&wide, &STRICT.with_number_conversion()).unwrap();
    assert_eq!(found, [(-2,), (7,)]);
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![
        Some(vec![Some(1), Some(2)]),
        Some(vec![]),
    ]);
    let lists = batch(dictionary(&[Some(0), Some(1), None, Some(0)], Arc::new(lists)));
    let list = |items: &[i32]| Maybe::some(FixedVec::from_slice(items).unwrap());
    let found = from_batch::<(Maybe<FixedVec<i32, 3>>,)>(&lists, &STRICT).unwrap();
    assert_eq!(found, [(list(&[1, 2]),), (list(&[]),), (Maybe::none(),), (list(&[1, 2]),)]);
    let points = StructArray::from(vec![(
        Arc::new(Field::new("x", DataType::Float64, false)),
        Arc::new(Float64Array::from(vec![0.5, 1.5])) as ArrayRef,
    )]);
    let points = batch(dictionary(&[Some(1), Some(1), Some(0)], Arc::new(points)));
    let found = from_batch::<(Point,)>(&points, &STRICT).unwrap();
    assert_eq!(found, [1.5, 1.5, 0.5].map(|x| (Point { x },)));
}

/// A dictionary of many values, of which one record has one, takes the memory of one.
#[test]
fn unused_values_of_a_dictionary_take_no_memory() {
    let values = StringArray::from(vec![""; 1 << 20]);
    let keys = arrow_array::Int32Array::from(vec![1_000_000]);
    let array: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::new(values)));
    let batch = RecordBatch::try_from_iter([("0", array)]).unwrap();
    let (most, found) = max_in_use(|| from_batch::<(FixedStr<65_536>,)>(&batch, &STRICT));
    assert_eq!(found.unwrap()[0].0, "");
    assert!(most < 32 << 20, "{most} bytes");
}

#[derive(Datatype, Debug)]
struct Kinds {
    kind: Maybe<Kind>,
}

#[test]
fn mistakes_in_a_batch_are_named() {
    let error = |name: &str, array: ArrayRef| {
        let options = STRICT.with_number_conversion();
        from_batch::<Row>(&foreign(&[(name, array)]), &options).unwrap_err().to_string()
    };
    assert_eq!(
        error("id", Arc::new(UInt64Array::from(vec![Some(1), Some(2), None]))),
        "record 2, field `id`: null, expected a value"
    );
    assert_eq!(
        error("name", Arc::new(StringArray::from(vec!["a", "fünf", "b"]))),
        "record 1, field name: not a valid text: its length is 5, and the capacity 4"
    );
    assert_eq!(
        error("id", Arc::new(Int64Array::from(vec![1, -2, 3]))),
        "record 1, field id: not a valid u64: -2 is not one of its numbers"
    );
    assert_eq!(
        error("name", Arc::new(UInt8Array::from(vec![1, 2, 3]))),
        "field `name` is UInt8, expected Utf8"
    );
    let mut positions = FixedSizeListBuilder::new(Float64Builder::new(), 2);
    for i in 0..3 {
        positions.values().append_option((i != 1).then_some(1.0));
        positions.values().append_value(1.0);
        positions.append(true);
    }
    assert_eq!(
        error("pos", Arc::new(positions.finish())),
        "record 1, field `pos`: null, expected a value"
    );
    let none = RecordBatch::try_from_iter([("id", Arc::new(UInt64Array::from(vec![1])) as _)]);
    let missing = from_batch::<Row>(&none.unwrap(), &STRICT).unwrap_err();
    assert_eq!(missing, ArrowError::Column { path: "name".to_owned(), found: 0 });
    let invalid: ArrayRef = Arc::new(UInt8Array::from(vec![4]));
    let batch = RecordBatch::try_from_iter([("kind", invalid)]).unwrap();
    let error = from_batch::<Kinds>(&batch, &STRICT).unwrap_err().to_string();
    assert!(error.starts_with("record 0, field kind.value: 0x4 is not"), "{error}");
    assert!(matches!(to_batch(&[1_u8], &BatchOptions::flat()), Err(ArrowError::Column { .. })));
    let nested = [(Maybe::some(Maybe::some(1_u8)),)];
    assert!(matches!(to_batch(&nested, &BatchOptions::flat()), Err(ArrowError::Nested { .. })));
}

#[test]
fn the_parts_of_a_complex_number_are_two_and_not_null() {
    type Number = num_complex::Complex<f64>;
    let read = |length, parts: &[Option<f64>]| {
        let mut numbers = FixedSizeListBuilder::new(Float64Builder::new(), length);
        for number in parts.chunks(usize::try_from(length).unwrap()) {
            for part in number {
                numbers.values().append_option(*part);
            }
            numbers.append(true);
        }
        let numbers: ArrayRef = Arc::new(numbers.finish());
        let batch = RecordBatch::try_from_iter([("0", numbers)]).unwrap();
        from_batch::<(Number,)>(&batch, &STRICT)
    };
    let parts = [Some(1.0), Some(2.0), Some(3.0), None];
    assert_eq!(read(2, &parts[..2]), Ok(vec![(Number::new(1.0, 2.0),)]));
    assert_eq!(read(2, &parts), Err(ArrowError::Null { path: "0".to_owned(), record: 1 }));
    assert!(matches!(read(1, &parts[..2]), Err(ArrowError::Type { .. })));
}

#[test]
fn a_column_without_a_name_is_another_one() {
    let numbers = |values: Vec<u8>| Arc::new(UInt8Array::from(values)) as ArrayRef;
    let columns = [("", numbers(vec![0, 1])), ("0", numbers(vec![7, 8]))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    assert_eq!(from_batch::<(u8,)>(&batch, &STRICT), Ok(vec![(7,), (8,)]));
}

/// Some arrays announce any number of values without memory for them.
#[test]
fn values_without_memory_are_refused() {
    let nulls = |len| Arc::new(NullArray::new(len)) as ArrayRef;
    for len in [3, 1 << 40, usize::MAX] {
        let of = |array: ArrayRef| RecordBatch::try_from_iter([("0", array)]).unwrap();
        let field = Arc::new(Field::new("0", DataType::Null, true));
        let part = StructArray::new(vec![field].into(), vec![nulls(len)], None);
        let refused = |error| matches!(error, ArrowError::Type { actual, .. } if actual == "Null");
        let batch = of(nulls(len));
        assert!(refused(from_batch::<(u8,)>(&batch, &STRICT).unwrap_err()));
        assert!(refused(from_batch::<(Maybe<u8>,)>(&batch, &STRICT).unwrap_err()));
        assert!(refused(from_batch::<(Maybe<[u8; 2]>,)>(&batch, &STRICT).unwrap_err()));
        assert!(refused(from_batch::<([Maybe<u8>; 2],)>(&batch, &STRICT).unwrap_err()));
        assert!(refused(from_batch::<(FixedStr<3>,)>(&batch, &STRICT).unwrap_err()));
        assert!(refused(from_batch::<(FixedVec<u8, 3>,)>(&batch, &STRICT).unwrap_err()));
        let batch = of(Arc::new(part));
        assert!(refused(from_batch::<(Maybe<(u8,)>,)>(&batch, &STRICT).unwrap_err()));
        assert!(refused(from_batch::<(Maybe<(Maybe<u8>,)>,)>(&batch, &STRICT).unwrap_err()));
    }
}

/// Values below a null are not read: a child of a null struct may be null, and a number may be anything.
#[test]
fn values_below_nulls_do_not_count() {
    #[derive(Datatype, Debug, PartialEq)]
    struct Outer {
        inner: Maybe<Inner>,
    }
    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    struct Inner {
        kind: Kind,
        id: u8,
        site: FixedStr<2>,
    }
    let children: Vec<(Arc<Field>, ArrayRef)> = vec![
        (
            Arc::new(Field::new("kind", DataType::UInt8, true)),
            Arc::new(UInt8Array::from(vec![9, 200])),
        ),
        (
            Arc::new(Field::new("id", DataType::Int64, true)),
            Arc::new(Int64Array::from(vec![None, Some(5)])),
        ),
        (
            Arc::new(Field::new("site", DataType::Utf8, true)),
            Arc::new(StringArray::from(vec!["too long", "ab"])),
        ),
    ];
    let (fields, arrays): (Vec<_>, Vec<_>) = children.into_iter().unzip();
    let nulls = Some(vec![false, true].into());
    let inner: ArrayRef = Arc::new(StructArray::new(fields.into(), arrays, nulls));
    let batch = RecordBatch::try_from_iter([("inner", inner)]).unwrap();
    let found = from_batch::<Outer>(&batch, &STRICT.with_number_conversion()).unwrap();
    let present = Inner { kind: Kind::Fixed, id: 5, site: "ab".parse().unwrap() };
    assert_eq!(found, [Outer { inner: None.into() }, Outer { inner: Some(present).into() }]);
    // An absent value is zeros.
    assert!(dtype_runtime::pack(&found)[..1 + 1 + 1 + 6].iter().all(|byte| *byte == 0));
    let masses = Float64Array::from(vec![Some(1.0), None]);
    let batch = RecordBatch::try_from_iter([("0", Arc::new(masses) as ArrayRef)]).unwrap();
    let found = from_batch::<(Maybe<f64>,)>(&batch, &STRICT).unwrap();
    assert_eq!(
        to_batch(&found, &BatchOptions::flat())
            .unwrap()
            .column(0)
            .as_primitive::<Float64Type>()
            .null_count(),
        1
    );
}

/// Another writer's lists have any length. The longest must fit.
#[test]
fn lists_of_other_writers() {
    #[derive(Datatype, Debug, PartialEq)]
    struct Lists {
        id: u8,
        of: Maybe<FixedVec<i32, 3>>,
    }
    let batch = |lists: ArrayRef| {
        let ids: ArrayRef =
            Arc::new((0..lists.len()).map(|i| Some(i as u8)).collect::<UInt8Array>());
        RecordBatch::try_from_iter([("id", ids), ("of", lists)]).unwrap()
    };
    let list = |items: &[i32]| Maybe::some(FixedVec::from_slice(items).unwrap());
    let expected: Vec<Lists> = [list(&[1, 2]), Maybe::none(), list(&[]), list(&[3, 4, 5])]
        .into_iter()
        .enumerate()
        .map(|(i, of)| Lists { id: i as u8, of })
        .collect();
    let some = |items: &[i32]| Some(items.iter().copied().map(Some).collect::<Vec<_>>());
    let lists = [some(&[1, 2]), None, some(&[]), some(&[3, 4, 5])];
    let small: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists.clone()));
    let large: ArrayRef = Arc::new(LargeListArray::from_iter_primitive::<Int32Type, _, _>(lists));
    for lists in [&small, &large] {
        assert_eq!(from_batch::<Lists>(&batch(lists.clone()), &STRICT).unwrap(), expected);
        let part = from_batch::<Lists>(&batch(lists.clone()).slice(2, 2), &STRICT).unwrap();
        assert_eq!(part, expected[2..]);
    }
    // A null list may have items, which are ignored.
    let (item, ends, items) = (
        Arc::new(Field::new("item", DataType::Int64, true)),
        arrow_buffer::OffsetBuffer::new(vec![0, 4, 5, 7].into()),
        Arc::new(Int64Array::from(vec![None, Some(1 << 40), None, None, Some(1), Some(2), None])),
    );
    let nulls = Some(vec![false, true, true].into());
    let below: ArrayRef = Arc::new(ListArray::new(item, ends, items, nulls));
    let converting = STRICT.with_number_conversion();
    let found = from_batch::<Lists>(&batch(below.slice(0, 2)), &converting).unwrap();
    assert_eq!(found[1].of, list(&[1]));
    assert!(found[0].of.is_none());
    // Errors name the record that the list belongs to.
    let error = |lists: ArrayRef| from_batch::<Lists>(&batch(lists), &converting).unwrap_err();
    let null = ArrowError::Null { path: "of".to_owned(), record: 2 };
    assert_eq!(error(below), null);
    let wide = [some(&[1, 2]), some(&[]), some(&[]), some(&[1, 2, 3, 4])];
    let wide: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(wide));
    assert_eq!(
        error(wide).to_string(),
        "record 3, field of: not a valid list: its length is 4, and the capacity 3"
    );
    let items = [Some(vec![Some(1_i64)]), Some(vec![]), Some(vec![Some(2), Some(1 << 31)])];
    let items = ListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>(items);
    assert_eq!(
        error(Arc::new(items)).to_string(),
        "record 2, field of: not a valid i32: 2147483648 is not one of its numbers"
    );
    assert_eq!(
        error(Arc::new(UInt8Array::from(vec![1]))).to_string(),
        "field `of` is UInt8, expected a List"
    );
}
