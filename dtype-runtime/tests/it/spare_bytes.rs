//! Bytes that a value does not use: after the end of a text or a list, and below an absent value. Packed bytes may hold anything
//! there, but values in memory hold zeros, so that packing sends nothing that no value shows.

use dtype_runtime::{
    Datatype, FixedStr, FixedVec, Maybe, Packed, Representation, Unpacker, pack, unpack, unpack_as,
    unpack_into, unpack_one,
};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Record {
    id: u16,
    name: FixedStr<6>,
    long: FixedStr<200>,
    numbers: FixedVec<u32, 3>,
    flags: Maybe<(bool, u16)>,
    inner: FixedVec<Maybe<FixedStr<3>>, 2>,
}

fn record() -> Record {
    Record {
        id: 7,
        name: "ab".parse().unwrap(),
        long: "long".parse().unwrap(),
        numbers: FixedVec::from_slice(&[5]).unwrap(),
        flags: Maybe::none(),
        inner: FixedVec::from_slice(&[Maybe::some("z".parse().unwrap())]).unwrap(),
    }
}

/// The packed bytes of the record, with other bytes in all that it does not use.
fn with_noise() -> Vec<u8> {
    let mut bytes = pack(&[record()]);
    let (name, long, numbers) = (2, 12, 216);
    let (flags, inner) = (numbers + 16, numbers + 16 + 4);
    assert_eq!(bytes.len(), inner + 4 + 2 * 8);
    let mut fill = |range: std::ops::Range<usize>| {
        assert!(bytes[range.clone()].iter().all(|&byte| byte == 0), "{range:?}");
        bytes[range].fill(0xA5);
    };
    fill(name + 4 + 2..long);
    fill(long + 4 + 4..numbers);
    fill(numbers + 4 + 4..flags);
    fill(flags + 1..inner);
    fill(inner + 4 + 1 + 4 + 1..inner + 4 + 8);
    fill(inner + 4 + 8..inner + 4 + 16);
    bytes
}

#[test]
fn what_was_removed_is_not_packed() {
    let empty = pack(&[FixedVec::<u32, 3>::new()]);
    let mut list = FixedVec::<u32, 3>::from_slice(&[0xDEAD_BEEF, 1]).unwrap();
    list.pop();
    list.pop();
    assert_eq!(pack(&[list]), empty);
    list.push(0xDEAD_BEEF).unwrap();
    list.clear();
    assert_eq!(pack(&[list]), empty);

    let mut maybe = Maybe::some(0xDEAD_BEEF_u32);
    maybe = maybe.map(|_| ()).map(|()| 0).into_option().filter(|&value| value > 0).into();
    assert_eq!(pack(&[maybe]), pack(&[Maybe::<u32>::none()]));

    let mut text = FixedStr::<6>::new("secret").unwrap();
    text.clone_from(&"a".parse().unwrap());
    assert_eq!(pack(&[text]), [&1_u32.to_ne_bytes()[..], b"a\0\0\0\0\0"].concat());
}

/// Each function that makes values of packed bytes.
#[test]
fn what_a_peer_packed_there_is_not_packed_again() {
    let (noise, expected) = (with_noise(), record());
    let clean = pack(&[expected]);
    assert_ne!(noise, clean);
    let same = |found: &[Record], how: &str| {
        assert!(found.iter().all(|record| *record == expected), "{how}");
        assert_eq!(pack(found), clean.repeat(found.len()), "{how}");
    };
    let three = [clean.clone(), noise.clone(), noise.clone()].concat();
    same(&unpack(&three).unwrap(), "unpack");
    same(&[unpack_one(&noise).unwrap()], "unpack_one");
    let mut items = [Record { id: 1, ..expected }; 3];
    unpack_into(&three, &mut items).unwrap();
    same(&items, "unpack_into");

    let packed = Packed::<Record>::new(&three).unwrap();
    same(&[packed.get(1).unwrap()], "get");
    same(&packed.iter().collect::<Vec<_>>(), "iter");
    same(&packed.unpack().unwrap(), "Packed::unpack");
    items[2].id = 1;
    packed.unpack_into(&mut items).unwrap();
    same(&items, "Packed::unpack_into");
    let names = packed.column::<FixedStr<6>>("name").unwrap();
    let mut column = [FixedStr::EMPTY; 3];
    names.copy_to(&mut column).unwrap();
    assert_eq!(pack(&column), pack(&[expected.name; 3]));
    assert_eq!(pack(&[names.get(2).unwrap()]), pack(&[expected.name]));

    for fragment in [1, 7, 300, three.len()] {
        let mut items = [Record { id: 1, ..expected }; 3];
        let mut unpacker = Unpacker::new(&mut items);
        for bytes in three.chunks(fragment) {
            assert_eq!(unpacker.unpack(bytes), Ok(bytes.len()));
        }
        same(&items, &format!("fragments of {fragment}"));
    }

    // The noise is the same in the other order, as all its bytes are equal.
    for representation in [Representation::BigEndian, Representation::LittleEndian] {
        let mut swapped = dtype_runtime::pack_as(&[expected], representation).unwrap();
        for (byte, noise) in swapped.iter_mut().zip(&noise) {
            if *noise == 0xA5 {
                *byte = 0xA5;
            }
        }
        same(&unpack_as(&swapped, representation).unwrap(), "unpack_as");
        let mut items = [Record { id: 1, ..expected }];
        let unpacker = Unpacker::new(&mut items);
        let mut unpacker = unpacker.with_representation(representation).unwrap();
        for bytes in swapped.chunks(5) {
            assert_eq!(unpacker.unpack(bytes), Ok(bytes.len()));
        }
        same(&items, "a converted stream");
    }
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(check = Sealed::is_intact)]
struct Sealed {
    name: FixedStr<6>,
    sum: u8,
}

impl Sealed {
    fn is_intact(&self) -> bool {
        pack(&[self.name]).iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)) == self.sum
    }
}

/// Otherwise the value in memory would not be the one that was checked.
#[test]
fn a_check_sees_the_value_that_will_be_in_memory() {
    let sealed = Sealed { name: "a".parse().unwrap(), sum: b'a' + 1 };
    assert!(sealed.is_intact());
    let mut bytes = pack(&[sealed]);
    bytes[5] = 3;
    assert_eq!(unpack_one::<Sealed>(&bytes), Ok(sealed));
    assert_eq!(Packed::<Sealed>::new(&bytes).unwrap().get(0), Some(sealed));
    bytes[10] += 3;
    assert!(unpack_one::<Sealed>(&bytes).is_err());
    assert!(unpack_one::<Maybe<Sealed>>(&[&[1], &bytes[..]].concat()).is_err());
}

#[test]
fn records_of_columns_have_zeros_as_well() {
    let expected = record();
    let mut columns = dtype_runtime::columns(&[expected; 2]);
    columns.get_mut::<[u8; 6]>("name.bytes").unwrap()[1][2..].fill(0xA5);
    columns.get_mut::<[u32; 3]>("numbers.items").unwrap()[0][1..].fill(7);
    columns.set::<u16>("flags.value.1", &[0, 7]).unwrap();
    let clean = pack(&[expected; 2]);
    assert_eq!(pack(&columns.to_records().unwrap()), clean);
    let mut items = [Record { id: 1, ..expected }; 2];
    columns.write_to(&mut items).unwrap();
    assert_eq!(pack(&items), clean);

    // A column as values that use some of its bytes.
    let mut lists = dtype_runtime::columns(&[[1_u32, 5, 7, 8]]);
    let list = FixedVec::<u32, 3>::from_slice(&[5]).unwrap();
    assert_eq!(pack(&lists.take::<FixedVec<u32, 3>>("").unwrap()), pack(&[list]));
}

#[test]
#[cfg(feature = "rayon")]
fn several_threads_write_zeros_as_well() {
    let (noise, expected) = (with_noise(), record());
    let count = (5 << 20) / noise.len();
    let mut items = vec![Record { id: 1, ..expected }; count];
    let bytes = noise.repeat(count);
    let mut unpacker = Unpacker::new(&mut items);
    assert_eq!(unpacker.par_unpack(&bytes), Ok(bytes.len()));
    assert_eq!(pack(&items), pack(&[expected]).repeat(count));
}

#[test]
#[cfg(feature = "ndarray")]
fn arrays_have_zeros_as_well() {
    use dtype_runtime::ndarray::ArrayDatatype;
    use ndarray::Array2;
    let name: FixedStr<6> = "ab".parse().unwrap();
    let noise = [&2_u32.to_ne_bytes()[..], b"ab\xA5\xA5\xA5\xA5"].concat().repeat(6);
    // Rows, and columns that a layout describes.
    let empty = |shape| Array2::from_elem(shape, FixedStr::<6>::EMPTY);
    for mut array in [empty((2, 3)), empty((3, 2)).reversed_axes()] {
        array.unpack_from(&noise).unwrap();
        assert_eq!(pack(&array.iter().copied().collect::<Vec<_>>()), pack(&[name; 6]));
    }
}

#[test]
fn an_invalid_value_is_named_by_its_path() {
    let mut bytes = pack(&[record()]);
    let inner = bytes.len() - 2 * 8;
    bytes[inner + 5] = 0xFF;
    let error = unpack::<Record>(&bytes).unwrap_err().to_string();
    let reason = "not a valid FixedStr: invalid utf-8 sequence of 1 bytes from index 0";
    assert_eq!(error, format!("record 0, field inner.items[0].value: {reason}"));
    bytes[inner + 1..inner + 5].copy_from_slice(&4_u32.to_ne_bytes());
    let error = unpack::<Record>(&bytes).unwrap_err().to_string();
    let reason = "not a valid FixedStr: the length is 4, and the capacity 3";
    assert_eq!(error, format!("record 0, field inner.items[0].value: {reason}"));
    bytes[inner] = 9;
    let error = unpack::<Record>(&bytes).unwrap_err().to_string();
    assert_eq!(error, "record 0, field inner.items[0].present: 0x9 is not a valid bool");
    bytes[inner - 4..inner].copy_from_slice(&9_u32.to_ne_bytes());
    let error = unpack::<Record>(&bytes).unwrap_err().to_string();
    let reason = "not a valid FixedVec: the length is 9, and the capacity 2";
    assert_eq!(error, format!("record 0, field inner: {reason}"));
}
