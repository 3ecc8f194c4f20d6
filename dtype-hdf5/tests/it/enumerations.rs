//! Enumerations: what a value means is the name of its member, not its number.

use dtype_hdf5::{Error, ReadOptions};
use dtype_runtime::{Datatype, FixedVec, Maybe};
use hdf5_metno::types::{
    CompoundField, CompoundType, EnumMember, EnumType, FloatSize, IntSize, TypeDescriptor,
};
use hdf5_metno::{Dataset, File};
use hdf5_metno_sys::LOCK;
use hdf5_metno_sys::h5t::{H5T_STD_I32BE, H5Tenum_create, H5Tenum_insert};

/// A file in memory.
fn file() -> File {
    // It has a name, too, which no other open file has.
    let name = format!("enumerations-{:?}.h5", std::thread::current().id());
    let path = std::env::temp_dir().join(name);
    File::with_options().with_fapl(|fapl| fapl.core_filebacked(false)).create(path).unwrap()
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(i32)]
enum Kind {
    A = 0,
    B = 1,
    C = 2,
}
use Kind::{A, B, C};

fn members(size: IntSize, members: &[(&str, i64)]) -> TypeDescriptor {
    let members = members
        .iter()
        .map(|(name, value)| EnumMember { name: (*name).to_owned(), value: value.cast_unsigned() });
    TypeDescriptor::Enum(EnumType { size, signed: true, members: members.collect() })
}

/// A dataset that can grow, of these members, with these numbers in it.
fn numbers(file: &File, name: &str, all: &[(&str, i64)], values: &[i32]) -> Dataset {
    let datatype = hdf5_metno::Datatype::from_descriptor(&members(IntSize::U4, all)).unwrap();
    let builder = file.new_dataset_builder().chunk(8).empty_as(&datatype);
    let dataset = builder.shape(0..).create(name).unwrap();
    dtype_hdf5::append(&dataset, values).unwrap();
    dataset
}

#[test]
fn numbers_that_differ_are_converted_by_name() {
    let file = file();
    let dataset = numbers(&file, "turned", &[("A", 1), ("B", 0), ("C", 2)], &[0, 1, 2]);
    assert_eq!(dtype_hdf5::read::<Kind>(&dataset).unwrap(), [B, A, C]);
    assert_eq!(dtype_hdf5::read_range::<Kind>(&dataset, 1..3).unwrap(), [A, C]);
    dtype_hdf5::append(&dataset, &[A, B, C]).unwrap();
    dtype_hdf5::write_at(&dataset, 2, &[A]).unwrap();
    assert_eq!(dtype_hdf5::read::<i32>(&dataset).unwrap(), [0, 1, 1, 1, 0, 2]);
    // Numbers that no variant has.
    let dataset = numbers(&file, "far", &[("C", -1), ("A", 70_000), ("B", 7)], &[7, -1, 70_000]);
    assert_eq!(dtype_hdf5::read::<Kind>(&dataset).unwrap(), [B, C, A]);
    dtype_hdf5::write(&dataset, &[A, C, B]).unwrap();
    assert_eq!(dtype_hdf5::read::<i32>(&dataset).unwrap(), [70_000, -1, 7]);
    // The same numbers, in another order.
    let dataset = numbers(&file, "same", &[("C", 2), ("A", 0), ("B", 1)], &[0, 1, 2]);
    assert_eq!(dtype_hdf5::read::<Kind>(&dataset).unwrap(), [A, B, C]);
}

/// As their numbers, but not as the numbers of an enum, whose names may differ.
#[test]
fn numbers_with_names_are_converted_to_numbers_without() {
    let file = file();
    let dataset = numbers(&file, "named", &[("A", -1), ("B", 300)], &[-1, 300]);
    let options = ReadOptions::strict().with_number_conversion();
    let wide = dtype_hdf5::read_with::<i64>(&dataset, &options).unwrap().records;
    assert_eq!(wide, [-1, 300]);
    let error = dtype_hdf5::read_with::<u16>(&dataset, &options).unwrap_err().to_string();
    assert!(error.contains("not a valid u16: -1 is not one of its numbers"), "{error}");
    let error = dtype_hdf5::read_with::<Wide>(&dataset, &options).unwrap_err();
    assert!(matches!(error, Error::Format { .. }), "{error}");
    assert!(matches!(dtype_hdf5::read_with::<f64>(&dataset, &options), Err(Error::Format { .. })));
    let truths = dtype_hdf5::create(&file, "truths", &[true]).unwrap();
    assert!(matches!(dtype_hdf5::read_with::<i64>(&truths, &options), Err(Error::Format { .. })));
}

#[derive(Datatype, Debug)]
#[repr(i64)]
enum Wide {
    A = 0,
    B = 1,
}

#[test]
fn names_are_known_where_values_go() {
    let file = file();
    let fewer = numbers(&file, "fewer", &[("B", 0), ("A", 1)], &[1, 0]);
    assert_eq!(dtype_hdf5::read::<Kind>(&fewer).unwrap(), [A, B]);
    for error in [
        dtype_hdf5::write(&fewer, &[A, B]),
        dtype_hdf5::append(&fewer, &[A]),
        dtype_hdf5::write_at(&fewer, 0, &[A]),
    ] {
        let message = "the item does not have the member `C` in the dataset";
        assert_eq!(error.unwrap_err().to_string(), message);
    }
    assert_eq!(dtype_hdf5::read::<i32>(&fewer).unwrap(), [1, 0]);

    let more = [("A", 1), ("B", 0), ("C", 2), ("D", 3)];
    let more = numbers(&file, "more", &more, &[0, 0]);
    let error = dtype_hdf5::read::<Kind>(&more).unwrap_err();
    let message = "the item has the member `D` in the dataset, expected only `A`, `B`, `C`";
    assert_eq!(error.to_string(), message);
    dtype_hdf5::write(&more, &[A, C]).unwrap();
    assert_eq!(dtype_hdf5::read::<i32>(&more).unwrap(), [1, 2]);

    // Another spelling is another name.
    let lower = numbers(&file, "lower", &[("a", 0), ("b", 1), ("c", 2)], &[0]);
    let error = dtype_hdf5::read::<Kind>(&lower).unwrap_err();
    assert!(matches!(error, Error::UnknownMember { ref member, .. } if member == "a"), "{error}");
}

#[test]
fn a_number_without_a_name_is_an_error() {
    let file = file();
    let unnamed = |dataset: &Dataset| dtype_hdf5::read::<Kind>(dataset).unwrap_err().to_string();
    let turned = numbers(&file, "turned", &[("A", 1), ("B", 0), ("C", 2)], &[0, 1, 3]);
    let message = "record 2: no member of the dataset's enumeration has the number 0x3";
    assert_eq!(unnamed(&turned), message);
    // A variant has this number, but the file does not say which.
    let fewer = numbers(&file, "fewer", &[("A", 0), ("B", 1)], &[0, 2]);
    let message = "record 1: no member of the dataset's enumeration has the number 0x2";
    assert_eq!(unnamed(&fewer), message);
    let same = numbers(&file, "same", &[("A", 0), ("B", 1), ("C", 2)], &[0, -1]);
    assert_eq!(unnamed(&same), "record 1: 0xffffffff is not a valid Kind");
}

/// The same fields with an enum, or its integers.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Cell<K> {
    kinds: [[K; 2]; 3],
    tag: u8,
}
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Block<K> {
    id: f64,
    cells: [Cell<K>; 2],
    kind: K,
}

fn blocks<K: Copy>(of: impl Fn(usize) -> K) -> [Block<K>; 5] {
    std::array::from_fn(|block| Block {
        id: [0.5, 1.5, 2.5, 3.5, 4.5][block],
        cells: std::array::from_fn(|cell| Cell {
            kinds: std::array::from_fn(|i| std::array::from_fn(|j| of(block + cell + i * j + j))),
            tag: [7, 8][cell],
        }),
        kind: of(block),
    })
}

/// A compound with these members at every place of a [`Block`]'s enum, with gaps and in another order.
fn compound(all: &[(&str, i64)]) -> TypeDescriptor {
    let array = |of, length| TypeDescriptor::FixedArray(Box::new(of), length);
    let one = || members(IntSize::U4, all);
    let field =
        |name: &str, ty: TypeDescriptor, offset, index| CompoundField::new(name, ty, offset, index);
    let cell = TypeDescriptor::Compound(CompoundType {
        fields: vec![
            field("tag", TypeDescriptor::Unsigned(IntSize::U1), 0, 0),
            field("kinds", array(array(one(), 2), 3), 4, 1),
        ],
        size: 32,
    });
    TypeDescriptor::Compound(CompoundType {
        fields: vec![
            field("kind", one(), 0, 0),
            field("id", TypeDescriptor::Float(FloatSize::U8), 8, 1),
            field("cells", array(cell, 2), 16, 2),
        ],
        size: 96,
    })
}

#[test]
fn fields_and_arrays_at_every_depth_are_converted() {
    let file = file();
    let make = |name: &str, all| {
        let datatype = hdf5_metno::Datatype::from_descriptor(&compound(all)).unwrap();
        file.new_dataset_builder().empty_as(datatype).shape(5).create(name).unwrap()
    };
    let dataset = make("turned", &[("A", 2), ("B", 0), ("C", 1)]);
    let (numbers, kinds) = (blocks(|i| [0, 1, 2][i % 3]), blocks(|i| [B, C, A][i % 3]));
    dtype_hdf5::write(&dataset, &numbers).unwrap();
    assert_eq!(dtype_hdf5::read::<Block<Kind>>(&dataset).unwrap(), kinds);
    dtype_hdf5::write(&dataset, &blocks(|i| [C, A, B][i % 3])).unwrap();
    let expected = blocks(|i| [1, 2, 0][i % 3]);
    assert_eq!(dtype_hdf5::read::<Block<i32>>(&dataset).unwrap(), expected);

    let mut numbers = numbers;
    numbers[3].cells[1].kinds[2][0] = 9;
    dtype_hdf5::write(&dataset, &numbers).unwrap();
    assert_eq!(
        dtype_hdf5::read::<Block<Kind>>(&dataset).unwrap_err().to_string(),
        "record 3, field cells[1].kinds[2][0]: no member of the dataset's enumeration has the number 0x9"
    );
    let other = make("other", &[("A", 0), ("B", 1), ("X", 2)]);
    let error = dtype_hdf5::read::<Block<Kind>>(&other).unwrap_err().to_string();
    assert_eq!(
        error,
        "field `cells.kinds` has the member `X` in the dataset, expected only `A`, `B`, `C`"
    );
    let error = dtype_hdf5::write(&other, &kinds).unwrap_err().to_string();
    assert_eq!(error, "field `cells.kinds` does not have the member `C` in the dataset");
}

#[test]
fn numbers_of_either_byte_order_are_converted() {
    let file = file();
    let big = {
        let _guard = LOCK.lock();
        // SAFETY: calls of the library with its own handle; each value has the four bytes of the base. Nothing else refers to
        // the new datatype.
        unsafe {
            let id = H5Tenum_create(*H5T_STD_I32BE);
            for (name, value) in [(c"A", 1_i32), (c"B", -2), (c"C", 0)] {
                H5Tenum_insert(id, name.as_ptr(), value.to_be_bytes().as_ptr().cast());
            }
            hdf5_metno::from_id::<hdf5_metno::Datatype>(id)
        }
    };
    let builder = file.new_dataset_builder().empty_as(big.unwrap());
    let dataset = builder.shape(3).create("big").unwrap();
    dtype_hdf5::write(&dataset, &[-2, 0, 1]).unwrap();
    assert_eq!(dtype_hdf5::read::<Kind>(&dataset).unwrap(), [B, C, A]);
    dtype_hdf5::write(&dataset, &[C, A, B]).unwrap();
    assert_eq!(dtype_hdf5::read::<i32>(&dataset).unwrap(), [0, 1, -2]);
}

#[test]
fn integers_of_another_width_are_refused() {
    let file = file();
    let make = |name: &str, descriptor: &TypeDescriptor| {
        let datatype = hdf5_metno::Datatype::from_descriptor(descriptor).unwrap();
        file.new_dataset_builder().empty_as(datatype).shape(2).create(name).unwrap()
    };
    let all = [("A", 0), ("B", 1), ("C", 2)];
    let narrow = make("narrow", &members(IntSize::U1, &all));
    let unsigned = EnumMember { name: "A".to_owned(), value: 0 };
    let unsigned = EnumType { size: IntSize::U4, signed: false, members: vec![unsigned] };
    let unsigned = make("unsigned", &TypeDescriptor::Enum(unsigned));
    for (dataset, found) in [(narrow, "i8"), (unsigned, "u32")] {
        let message = format!("the item is an enumeration of {found} in the dataset, expected i32");
        assert_eq!(dtype_hdf5::read::<Kind>(&dataset).unwrap_err().to_string(), message);
        assert_eq!(dtype_hdf5::write(&dataset, &[A, B]).unwrap_err().to_string(), message);
    }
}

#[test]
fn truth_values_are_compared_by_name() {
    let file = file();
    let make = |name: &str, all: &[(&str, i64)]| {
        let datatype = members(IntSize::U1, all);
        let datatype = hdf5_metno::Datatype::from_descriptor(&datatype).unwrap();
        file.new_dataset_builder().empty_as(datatype).shape(2).create(name).unwrap()
    };
    let turned = make("turned", &[("TRUE", 0), ("FALSE", 1)]);
    dtype_hdf5::write(&turned, &[true, false]).unwrap();
    assert_eq!(turned.read_raw::<i8>().unwrap(), [0, 1]);
    assert_eq!(dtype_hdf5::read::<bool>(&turned).unwrap(), [true, false]);
    let far = make("far", &[("TRUE", -1), ("FALSE", 0)]);
    dtype_hdf5::write(&far, &[true, false]).unwrap();
    assert_eq!(far.read_raw::<i8>().unwrap(), [-1, 0]);
    assert_eq!(dtype_hdf5::read::<bool>(&far).unwrap(), [true, false]);
    let message = "the item is bool in the dataset, expected i8";
    assert_eq!(dtype_hdf5::read::<i8>(&far).unwrap_err().to_string(), message);
    for (name, all) in [
        ("other", &[("NO", 0), ("YES", 1)][..]),
        ("fewer", &[("FALSE", 0)]),
        ("more", &[("FALSE", 0), ("TRUE", 1), ("UNKNOWN", 2)]),
    ] {
        let message = "the item is an enumeration of i8 in the dataset, expected bool";
        let error = dtype_hdf5::read::<bool>(&make(name, all)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

/// Names of variants say what they mean, also if they are those of a truth value.
#[test]
fn an_enum_may_have_the_names_of_truth_values() {
    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    #[repr(i8)]
    enum Switch {
        #[dtype(rename = "TRUE")]
        On = 5,
        #[dtype(rename = "FALSE")]
        Off = 7,
    }
    let file = file();
    let dataset = dtype_hdf5::create(&file, "bools", &[true, false]).unwrap();
    assert_eq!(dtype_hdf5::read::<Switch>(&dataset).unwrap(), [Switch::On, Switch::Off]);
    dtype_hdf5::write(&dataset, &[Switch::Off, Switch::On]).unwrap();
    assert_eq!(dtype_hdf5::read::<bool>(&dataset).unwrap(), [false, true]);
}

/// A value that is absent, or beyond the end of a list, is none, whatever its number is.
#[test]
fn optional_values_and_lists_are_converted_by_name() {
    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    struct Some<K: Copy> {
        one: Maybe<K>,
        many: FixedVec<K, 3>,
        maybes: [Maybe<[K; 2]>; 2],
    }
    fn all<K: Copy>([a, b, c]: [K; 3]) -> [Some<K>; 2] {
        [
            Some {
                one: Maybe::some(b),
                many: FixedVec::from_slice(&[a, c]).unwrap(),
                maybes: [Maybe::none(), Maybe::some([c, b])],
            },
            Some {
                one: Maybe::none(),
                many: FixedVec::from_slice(&[c, b, a]).unwrap(),
                maybes: [Maybe::some([a, a]), Maybe::none()],
            },
        ]
    }
    let compound = |fields: &[(&str, TypeDescriptor)]| {
        let mut offset = 0;
        let fields = fields.iter().enumerate().map(|(index, (name, ty))| {
            offset += ty.size();
            CompoundField::new(name, ty.clone(), offset - ty.size(), index)
        });
        let fields: Vec<_> = fields.collect();
        TypeDescriptor::Compound(CompoundType { fields, size: offset })
    };
    let array = |of, length| TypeDescriptor::FixedArray(Box::new(of), length);
    let kind = || members(IntSize::U4, &[("A", 1), ("B", 2), ("C", 5)]);
    let maybe = |of| compound(&[("present", TypeDescriptor::Boolean), ("value", of)]);
    let list =
        compound(&[("len", TypeDescriptor::Unsigned(IntSize::U4)), ("items", array(kind(), 3))]);
    let datatype = compound(&[
        ("one", maybe(kind())),
        ("many", list),
        ("maybes", array(maybe(array(kind(), 2)), 2)),
    ]);
    let file = file();
    let datatype = hdf5_metno::Datatype::from_descriptor(&datatype).unwrap();
    let dataset = file.new_dataset_builder().empty_as(datatype).shape(2).create("some").unwrap();
    dtype_hdf5::write(&dataset, &all([1, 2, 5])).unwrap();
    let kinds = dtype_hdf5::read::<Some<Kind>>(&dataset).unwrap();
    assert_eq!(kinds, all([A, B, C]));
    dtype_hdf5::write(&dataset, &all([C, A, B])).unwrap();
    assert_eq!(dtype_hdf5::read::<Some<i32>>(&dataset).unwrap(), all([5, 1, 2]));
    // A number without a name is an error where there is a value.
    let mut wrong = all([1, 2, 5]);
    wrong[1].many.as_mut_slice()[2] = 3;
    dtype_hdf5::write(&dataset, &wrong).unwrap();
    let error = dtype_hdf5::read::<Some<Kind>>(&dataset).unwrap_err().to_string();
    let message =
        "record 1, field many.items[2]: no member of the dataset's enumeration has the number 0x3";
    assert_eq!(error, message);
}

/// The number of values has names, too, and below an absent value there may be any number.
#[test]
fn numbers_below_absent_values_have_no_names() {
    #[derive(Datatype, Clone, Copy)]
    struct Parts<P: Copy> {
        present: P,
        value: i32,
    }
    let optional = |name: &str, truth: [i64; 2], kinds: [i64; 3]| {
        let present = members(IntSize::U1, &[("FALSE", truth[0]), ("TRUE", truth[1])]);
        let value = members(IntSize::U4, &[("A", kinds[0]), ("B", kinds[1]), ("C", kinds[2])]);
        let fields = vec![
            CompoundField::new("present", present, 0, 0),
            CompoundField::new("value", value, 4, 1),
        ];
        let datatype = TypeDescriptor::Compound(CompoundType { fields, size: 8 });
        let datatype = hdf5_metno::Datatype::from_descriptor(&datatype).unwrap();
        (name.to_owned(), datatype)
    };
    let file = file();
    for (name, datatype) in [
        optional("same", [0, 1], [0, 1, 2]),
        optional("turned", [1, 0], [0, 1, 2]),
        optional("kinds", [0, 1], [2, 0, 1]),
        optional("both", [5, 0], [2, 0, 1]),
    ] {
        let dataset = file.new_dataset_builder().empty_as(&datatype).shape(3).create(&*name);
        let dataset = dataset.unwrap();
        let parts = |present, value| Parts { present, value };
        let two = if name == "kinds" || name == "both" { 1 } else { 2 };
        dtype_hdf5::write(&dataset, &[parts(false, 77), parts(true, two), parts(false, -1)])
            .unwrap();
        let found = dtype_hdf5::read::<Maybe<Kind>>(&dataset).unwrap();
        assert_eq!(found, [Maybe::none(), Maybe::some(C), Maybe::none()], "{name}");
        dtype_hdf5::write(&dataset, &[parts(false, 77), parts(true, 9), parts(false, -1)]).unwrap();
        let error = dtype_hdf5::read::<Maybe<Kind>>(&dataset).unwrap_err().to_string();
        assert!(error.starts_with("record 1"), "{error}");
    }
}
