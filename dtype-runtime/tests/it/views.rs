//! Records read in place: views of memory, packed records, columns. The tests compare them with bytes written by hand, and with
//! the values.

use core::num::NonZero;

use dtype_runtime::{
    Datatype, Error, Packed, Representation, bytes_of, bytes_of_mut, pack, pack_as, pack_iter,
    pack_onto, unpack, unpack_as, unpack_one, view, view_mut,
};
use dtype_test_support::cases::cases;
use proptest::prelude::*;

/// A struct with padding after `flag`, and with a struct inside.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Record {
    id: u32,
    flag: bool,
    point: Point,
    tail: [u16; 3],
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Point {
    x: f64,
    y: f64,
}

/// A struct without padding, whose fields are packed in the order of memory.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Dense {
    point: Point,
    pair: (u32, u32),
    flags: [bool; 4],
    number: NonZero<u32>,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
enum Kind {
    A = 1,
    B = 2,
}

#[derive(Datatype, Debug)]
struct Labelled {
    mass: f32,
    #[dtype(skip)]
    label: String,
    charge: u8,
}

/// The packed bytes of a record, field by field.
fn by_hand(record: &Record) -> Vec<u8> {
    let Record { id, flag, point, tail } = record;
    let mut bytes = id.to_ne_bytes().to_vec();
    bytes.push(u8::from(*flag));
    bytes.extend(point.x.to_ne_bytes());
    bytes.extend(point.y.to_ne_bytes());
    bytes.extend(tail.iter().flat_map(|value| value.to_ne_bytes()));
    bytes
}

/// Bytes at an address of a known alignment.
#[repr(align(16))]
struct Aligned([u8; 256]);

fn point() -> impl Strategy<Value = Point> {
    (-1e9..1e9, -1e9..1e9).prop_map(|(x, y)| Point { x, y })
}

fn record() -> impl Strategy<Value = Record> {
    (any::<u32>(), any::<bool>(), point(), any::<[u16; 3]>())
        .prop_map(|(id, flag, point, tail)| Record { id, flag, point, tail })
}

fn dense() -> impl Strategy<Value = Dense> {
    (point(), any::<(u32, u32)>(), any::<[bool; 4]>(), 1..u32::MAX).prop_map(
        |(point, pair, flags, number)| Dense {
            point,
            pair,
            flags,
            number: NonZero::new(number).unwrap(),
        },
    )
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: cases(256, 4), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn packed_records_are_the_records(
        records in prop::collection::vec(record(), 0..12),
        ends in prop::collection::vec(any::<bool>(), 14),
        a in 0..14_usize,
        b in 0..14_usize,
    ) {
        let bytes: Vec<u8> = records.iter().flat_map(by_hand).collect();
        prop_assert_eq!(&bytes, &pack(&records));
        prop_assert_eq!(&bytes, &pack_iter(records.iter().copied()));
        let packed = Packed::<Record>::new(&bytes).unwrap();
        prop_assert_eq!((packed.len(), packed.is_empty()), (records.len(), records.is_empty()));
        prop_assert_eq!(packed.as_bytes(), &bytes);
        prop_assert_eq!(&packed.unpack().unwrap(), &records);
        for index in 0..records.len() + 2 {
            prop_assert_eq!(packed.get(index), records.get(index).copied());
        }
        // Takes records from both ends, in a random order.
        let (mut ours, mut theirs) = (packed.iter(), records.iter().copied());
        for front in ends {
            prop_assert_eq!(ours.len(), theirs.len());
            if front {
                prop_assert_eq!(ours.next(), theirs.next());
            } else {
                prop_assert_eq!(ours.next_back(), theirs.next_back());
            }
        }
        prop_assert_eq!(packed.iter().nth(a), records.get(a).copied());
        prop_assert_eq!(packed.iter().skip(a).count(), records.len().saturating_sub(a));
        let part = packed.slice(a..b).map(|part| part.unpack().unwrap());
        prop_assert_eq!(part, records.get(a..b).map(<[Record]>::to_vec));
        let part = packed.slice(a..=b).map(|part| part.unpack().unwrap());
        prop_assert_eq!(part, records.get(a..=b).map(<[Record]>::to_vec));
    }

    #[test]
    fn columns_are_the_fields(records in prop::collection::vec(record(), 0..12), skip in 0..14_usize) {
        fn all<F: Datatype>(packed: &Packed<'_, Record>, path: &str) -> Vec<F> {
            let column = packed.column::<F>(path).unwrap();
            assert_eq!((column.len(), column.is_empty()), (packed.len(), packed.is_empty()));
            assert!(column.get(packed.len()).is_none());
            let mut back: Vec<F> = column.iter().rev().collect();
            back.reverse();
            assert_eq!(pack(&back), pack(&column.iter().collect::<Vec<F>>()));
            back
        }
        let bytes = pack(&records);
        let packed = Packed::<Record>::new(&bytes).unwrap();
        let of = |f: fn(&Record) -> u64| records.iter().map(f).collect::<Vec<u64>>();
        let ids: Vec<u64> = all::<u32>(&packed, "id").into_iter().map(u64::from).collect();
        prop_assert_eq!(ids, of(|r| u64::from(r.id)));
        let flags: Vec<u64> = all::<bool>(&packed, "flag").into_iter().map(u64::from).collect();
        prop_assert_eq!(flags, of(|r| u64::from(r.flag)));
        let ys: Vec<u64> = all::<f64>(&packed, "point.y").into_iter().map(f64::to_bits).collect();
        prop_assert_eq!(ys, of(|r| r.point.y.to_bits()));
        let middle: Vec<u64> = all::<u16>(&packed, "tail[1]").into_iter().map(u64::from).collect();
        prop_assert_eq!(middle, of(|r| u64::from(r.tail[1])));
        prop_assert_eq!(all::<Record>(&packed, ""), records.clone());
        // Another type with the same signature.
        let pairs: Vec<u64> = all::<(f64, f64)>(&packed, "point").iter().map(|p| p.1.to_bits()).collect();
        prop_assert_eq!(pairs, of(|r| r.point.y.to_bits()));

        let mut points = vec![Point { x: 0.0, y: 0.0 }; records.len()];
        let column = packed.column::<Point>("point").unwrap();
        column.copy_to(&mut points).unwrap();
        prop_assert!(points.iter().eq(records.iter().map(|r| &r.point)));
        prop_assert_eq!(column.iter().nth(skip), records.get(skip).map(|r| r.point));
        points.push(points.first().copied().unwrap_or(Point { x: 0.0, y: 0.0 }));
        let refused = matches!(column.copy_to(&mut points), Err(Error::PackedLength { .. }));
        prop_assert!(refused);
    }

    #[test]
    fn views_are_the_records(records in prop::collection::vec(dense(), 0..6), new in dense()) {
        let bytes = bytes_of(&records);
        prop_assert_eq!(bytes, pack(&records));
        prop_assert_eq!(view::<Dense>(bytes).unwrap(), &records);
        // The same bytes at another address, which is aligned for the largest field.
        let mut memory = Aligned([0; 256]);
        let memory = &mut memory.0[..bytes.len()];
        memory.copy_from_slice(bytes);
        prop_assert_eq!(view::<Dense>(memory).unwrap(), &records);
        if let Some(last) = view_mut::<Dense>(memory).unwrap().last_mut() {
            *last = new;
            let start = memory.len() - size_of::<Dense>();
            prop_assert_eq!(&memory[start..], &pack(&[new]));
        }
    }

    #[test]
    fn other_representations_are_converted(records in prop::collection::vec(record(), 0..6)) {
        let mut by_hand = Vec::new();
        for Record { id, flag, point, tail } in &records {
            by_hand.extend(id.to_be_bytes());
            by_hand.push(u8::from(*flag));
            by_hand.extend(point.x.to_be_bytes());
            by_hand.extend(point.y.to_be_bytes());
            by_hand.extend(tail.iter().flat_map(|value| value.to_be_bytes()));
        }
        prop_assert_eq!(&pack_as(&records, Representation::BigEndian).unwrap(), &by_hand);
        prop_assert_eq!(&unpack_as::<Record>(&by_hand, Representation::BigEndian).unwrap(), &records);
        for representation in
            [Representation::Native, Representation::External32, Representation::LittleEndian]
        {
            let bytes = pack_as(&records, representation).unwrap();
            prop_assert_eq!(&unpack_as::<Record>(&bytes, representation).unwrap(), &records);
        }
    }
}

#[test]
fn a_view_needs_alignment() {
    let memory = Aligned([0; 256]);
    // On some 32-bit machines, the alignment is 4.
    let alignment = align_of::<u64>();
    for offset in 0..8 {
        let viewed = view::<u64>(&memory.0[offset..offset + 16]);
        match offset % alignment {
            0 => assert_eq!(viewed, Ok(&[0_u64, 0][..])),
            offset => assert_eq!(viewed, Err(Error::Misaligned { offset, alignment })),
        }
    }
    let error = view::<u64>(&memory.0[3..11]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the bytes begin 3 bytes after a multiple of {alignment}, the alignment of the records"
        )
    );
    // An empty slice is never misaligned.
    assert_eq!(view::<u64>(&[]), Ok(&[][..]));
    assert_eq!(view_mut::<u64>(&mut { memory.0 }[1..1]), Ok(&mut [][..]));
    assert_eq!(view::<[u64; 0]>(&[]), Ok(&[][..]));
    assert!(matches!(view::<()>(&[0]), Err(Error::PartialRecord { actual: 1, record: 0 })));
}

#[test]
fn a_view_needs_whole_and_valid_records() {
    let mut memory = Aligned([0; 256]);
    assert!(matches!(
        view::<u32>(&memory.0[..6]),
        Err(Error::PartialRecord { actual: 6, record: 4 })
    ));
    memory.0[5] = 3;
    let Err(Error::InvalidValue { record, path, value, .. }) = view::<[bool; 4]>(&memory.0[..8])
    else {
        panic!("3 is not a bool")
    };
    assert_eq!((record, path.as_str(), value), (1, "[1]", 3));
    assert!(view_mut::<[bool; 4]>(&mut memory.0[..8]).is_err());
    assert!(view_mut::<[bool; 4]>(&mut memory.0[..4]).is_ok());
}

#[test]
fn bytes_to_overwrite_are_the_records() {
    let mut numbers = [[1_u16, 2], [3, 4]];
    bytes_of_mut(&mut numbers)[2..4].fill(0xAB);
    assert_eq!(numbers, [[1, 0xABAB], [3, 4]]);
}

#[test]
fn packed_records_are_checked_once() {
    let mut bytes = pack(&[(1_u32, true), (2, false)]);
    bytes[9] = 2;
    let error = Packed::<(u32, bool)>::new(&bytes).unwrap_err();
    assert!(matches!(error, Error::InvalidValue { record: 1, value: 2, .. }), "{error}");
    let error = Packed::<(u32, bool)>::new(&bytes[..9]).unwrap_err();
    assert_eq!(error, Error::PartialRecord { actual: 9, record: 5 });
    assert!(Packed::<()>::new(&[]).unwrap().is_empty());
    assert!(Packed::<()>::new(&[1]).is_err());
}

#[test]
fn a_path_without_a_field_is_an_error() {
    let bytes =
        pack(&[(Kind::A, [Point { x: 1.0, y: 2.0 }; 2]), (Kind::B, [Point { x: 3.0, y: 4.0 }; 2])]);
    let packed = Packed::<(Kind, [Point; 2])>::new(&bytes).unwrap();
    assert!(packed.column::<f64>("1[1].y").unwrap().iter().eq([2.0, 4.0]));
    assert!(packed.column::<Kind>("0").unwrap().iter().eq([Kind::A, Kind::B]));
    for (path, parent, field) in [
        ("2", "(_, _)", "2"),
        ("1[2]", "[Point; 2]", "[2]"),
        ("1[1].z", "Point", "z"),
        ("1.x", "[Point; 2]", "x"),
        ("1[1]x", "[Point; 2]", "[1]x"),
        ("1[1].x.", "Point", "x."),
        (".1", "(_, _)", ".1"),
        ("1..x", "[Point; 2]", ".x"),
        ("1[", "[Point; 2]", "["),
        ("1[]", "[Point; 2]", "[]"),
        ("1[+1]", "[Point; 2]", "[+1]"),
        ("1[01]", "[Point; 2]", "[01]"),
        ("1[00]", "[Point; 2]", "[00]"),
        ("1[18446744073709551616]", "[Point; 2]", "[18446744073709551616]"),
        ("0.kind", "Kind", "kind"),
    ] {
        let error = packed.column::<f64>(path).unwrap_err();
        let expected =
            Error::NoField { path: path.into(), parent: parent.into(), field: field.into() };
        assert_eq!(error, expected);
    }
    let error = packed.column::<f32>("1[0].x").unwrap_err();
    assert_eq!(error.to_string(), "field `1[0].x` is f64, not f32");
    let error = packed.column::<u8>("1[0].q").unwrap_err();
    assert_eq!(error.to_string(), "field `1[0].q`: Point packs no field `q`");
}

#[test]
fn a_column_of_fewer_values_is_checked() {
    let bytes = pack(&[(1_u8, 5_u32), (2, 0), (3, 7)]);
    let packed = Packed::<(u8, u32)>::new(&bytes).unwrap();
    let error = packed.column::<Kind>("0").unwrap_err();
    assert!(matches!(error, Error::InvalidValue { record: 2, value: 3, .. }), "{error}");
    let error = packed.column::<NonZero<u32>>("1").unwrap_err();
    assert!(matches!(error, Error::InvalidValue { record: 1, value: 0, .. }), "{error}");
    let front = packed.slice(..2).unwrap();
    assert!(front.column::<Kind>("0").unwrap().iter().eq([Kind::A, Kind::B]));
}

#[test]
fn records_with_skipped_fields_have_columns() {
    let mut items = [
        Labelled { mass: 1.0, label: "one".into(), charge: 1 },
        Labelled { mass: 2.0, label: "two".into(), charge: 2 },
    ];
    let bytes = pack(&items);
    let packed = Packed::<Labelled>::new(&bytes).unwrap();
    assert!(packed.column::<u8>("charge").unwrap().iter().eq([1, 2]));
    assert!(matches!(packed.column::<u8>("label"), Err(Error::NoField { .. })));
    items[1].mass = 0.0;
    assert_eq!(packed.unpack_into(&mut items).unwrap(), bytes.len());
    assert_eq!((items[1].mass, items[1].label.as_str()), (2.0, "two"));
    assert!(matches!(packed.unpack_into(&mut items[..1]), Err(Error::PackedLength { .. })));
}

#[test]
fn one_record_is_one_record() {
    let bytes = pack(&[(7_u16, Kind::B)]);
    assert_eq!(unpack_one::<(u16, Kind)>(&bytes), Ok((7, Kind::B)));
    assert_eq!(
        unpack_one::<(u16, Kind)>(&bytes[..2]),
        Err(Error::PackedLength { expected: 3, actual: 2 })
    );
    assert!(matches!(
        unpack_one::<Kind>(&[3]),
        Err(Error::InvalidValue { record: 0, value: 3, .. })
    ));
}

#[test]
fn records_are_appended() {
    let mut out = vec![9];
    assert_eq!(pack_onto(&mut out, &[(1_u8, 2_u32)]), 5);
    assert_eq!(pack_onto::<u8>(&mut out, &[]), 0);
    assert_eq!(pack_onto(&mut out, &[true]), 1);
    assert_eq!(out[0..2], [9, 1]);
    assert_eq!(unpack_one::<u32>(&out[2..6]), Ok(2));
    assert_eq!(out[6..], [1]);
}

#[test]
fn an_iterator_may_promise_anything() {
    struct Liar(u8);

    impl Iterator for Liar {
        type Item = u8;

        fn next(&mut self) -> Option<u8> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0)
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            (usize::MAX, None)
        }
    }

    assert_eq!(pack_iter(Liar(3)), [2, 1, 0]);
    assert_eq!(pack_iter::<u64>([]), [0; 0]);
}

#[test]
fn what_cannot_be_converted_is_an_error() {
    assert_eq!(
        unpack_as::<(u16, bool)>(&[0; 4], Representation::External32),
        Err(Error::PartialRecord { actual: 4, record: 3 })
    );
    let error = unpack_as::<(u16, bool)>(&[0, 1, 1, 0, 1, 2], Representation::External32);
    assert!(matches!(error, Err(Error::InvalidValue { record: 1, .. })), "{error:?}");
    assert_eq!(unpack_as::<()>(&[], Representation::BigEndian), Ok(vec![]));
    assert!(unpack_as::<()>(&[0], Representation::BigEndian).is_err());
    assert_eq!(pack_as(&[(); 3], Representation::BigEndian), Ok(vec![]));
    assert_eq!(unpack::<u16>(&pack_as(&[1_u16], Representation::Native).unwrap()), Ok(vec![1]));
}
