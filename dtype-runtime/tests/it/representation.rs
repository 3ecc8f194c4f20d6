//! Packed streams in other representations, compared with a naive reference.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use crate::fragments::{fragments, lengths, shuffled};
use crate::polynomial::Polynomial;
use dtype_runtime::basic::Kind;
use dtype_runtime::convertor::{self, Checksum, Conversion};
use dtype_runtime::representation::{Architecture, ByteOrder, LongDouble, Widths};
use dtype_runtime::{
    Basic, Buffer, BufferMut, Datatype, Error, Packer, Representation, Type, Unpacker, pack,
};
use dtype_test_support::case::Case;
use dtype_test_support::model::{Tree, config, trees, trees_of, trees_with_lists};
use proptest::prelude::*;

/// A machine with the byte order of this one.
fn host_with(widths: Widths) -> Architecture {
    Architecture::from_widths(ByteOrder::NATIVE, widths).unwrap()
}

/// Machines that differ from this one in every property of an [`Architecture`].
fn representations() -> Vec<Representation> {
    let machine = |order, widths| Architecture::from_widths(order, widths).unwrap();
    let (little, big, host) = (ByteOrder::Little, ByteOrder::Big, Widths::HOST);
    let old = machine(big, Widths { long: 4, address: 4, ..host });
    let narrow = Widths { long: 4, wide_char: 2, ..host };
    let wide = machine(little, Widths { logical: 8, long_double: LongDouble::Binary128, ..host });
    let odd = machine(big, Widths { logical: 1, long_double: LongDouble::X87In12, ..host });
    let double = machine(little, Widths { long_double: LongDouble::Binary64, ..narrow });
    let narrow = machine(little, narrow);
    let mut all = vec![
        Representation::Native,
        Representation::External32,
        Representation::LittleEndian,
        Representation::BigEndian,
    ];
    all.extend([old, narrow, wide, odd, double].map(Representation::Foreign));
    all
}

/// The bytes of an integer, in a given width.
fn integer(value: i64, size: usize, order: ByteOrder) -> Vec<u8> {
    let bytes = i128::from(value).to_be_bytes();
    let mut bytes = bytes[16 - size..].to_vec();
    if order == ByteOrder::Little {
        bytes.reverse();
    }
    bytes
}

/// The bytes of an integer as a `long double`.
fn long_double(value: i32, format: LongDouble, order: ByteOrder) -> Vec<u8> {
    let value = f64::from(value);
    let bits = value.to_bits();
    let sign = u128::from(bits >> 63);
    let exponent = u128::from(bits >> 52 & 0x7ff);
    let fraction = u128::from(bits & 0xf_ffff_ffff_ffff);
    let wide = if value == 0.0 { 0 } else { exponent + 16383 - 1023 };
    let bits = match format {
        LongDouble::Binary64 => u128::from(bits),
        LongDouble::X87In12 | LongDouble::X87In16 => {
            let leading = u128::from(value != 0.0) << 63;
            sign << 79 | wide << 64 | leading | fraction << 11
        }
        LongDouble::Binary128 => sign << 127 | wide << 112 | fraction << 60,
        other => panic!("{other}"),
    };
    let mut bytes = bits.to_be_bytes()[16 - format.size()..].to_vec();
    if order == ByteOrder::Little {
        bytes.reverse();
    }
    bytes
}

/// A value of a basic datatype, as it is in this machine's memory and in another machine's stream.
fn value(basic: Basic, number: usize, there: Architecture) -> (Vec<u8>, Vec<u8>) {
    let (here, order) = (Architecture::HOST, there.byte_order());
    let number = (number * 7919 % 121) as i32 - if basic.kind() == Kind::Integer { 60 } else { 0 };
    let long_doubles = [Basic::LongDouble, Basic::LongDoubleComplex, Basic::CxxLongDoubleComplex];
    let parts = if basic.kind() == Kind::Complex { 2_u8 } else { 1 };
    let (mut memory, mut packed) = (Vec::new(), Vec::new());
    for part in 0..parts {
        let number = number + i32::from(part);
        if long_doubles.contains(&basic) {
            memory.extend(long_double(number, here.widths().long_double, ByteOrder::NATIVE));
            packed.extend(long_double(number, there.widths().long_double, order));
        } else {
            // A small number stands for any bits of its width.
            let number = i64::from(number);
            let parts = usize::from(parts);
            memory.extend(integer(number, basic.size() / parts, ByteOrder::NATIVE));
            packed.extend(integer(number, there.size_of(basic) / parts, order));
        }
    }
    (memory, packed)
}

/// A random type without overlaps, a number of instances, and a machine.
fn conversions() -> impl Strategy<Value = Converted> {
    // Numbers of one width: they are copied, and then their bytes are reversed.
    let numbers = proptest::sample::select(vec![Basic::F64, Basic::U64]).prop_map(Tree::Basic);
    let tree = prop_oneof![trees(), trees_with_lists(4), trees_of(numbers, 1)];
    (tree, 0_usize..6, 0_usize..9).prop_filter_map("overlaps", |(tree, count, which)| {
        let case = Case::new(&tree, count);
        (!case.overlaps()).then(|| Converted::new(case, representations()[which]))
    })
}

/// Values in a memory, and the stream of these values that another machine packs.
#[derive(Debug)]
struct Converted {
    case: Case,
    conversion: Conversion,
    packed: Vec<u8>,
    /// The blank memory after the stream has been unpacked to it.
    unpacked: Vec<u8>,
}

impl Converted {
    fn new(mut case: Case, representation: Representation) -> Self {
        let there = representation.architecture();
        let mut packed = Vec::new();
        let mut unpacked = case.blank();
        for instance in 0..case.count as i64 {
            for &(basic, at) in &case.map.data {
                let (here, there) = value(basic, packed.len() + 3, there);
                let at = case.at(at + instance * case.map.extent());
                case.memory[at..at + here.len()].copy_from_slice(&here);
                unpacked[at..at + here.len()].copy_from_slice(&here);
                packed.extend(there);
            }
        }
        let conversion = case.committed.conversion(representation).unwrap();
        Self { case, conversion, packed, unpacked }
    }

    /// Whether a value has another width on the other machine, or is converted in parts of unequal widths.
    fn has_widths(&self) -> bool {
        let there = self.conversion.representation().architecture();
        self.case.map.data.iter().any(|(basic, _)| {
            there.size_of(*basic) != basic.size()
                || basic.size() > 16
                || there.widths().long_double != Architecture::HOST.widths().long_double
        })
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn any_type_is_packed_for_any_machine(converted in conversions()) {
        let Converted { case, conversion, packed, .. } = &converted;
        prop_assert_eq!(conversion.packed_size(case.count), Ok(packed.len()));
        let mut whole = vec![0xA5; packed.len() + 1];
        let written = conversion.pack(Buffer::new(&case.memory).origin(case.origin as i64), case.count, &mut whole);
        prop_assert_eq!(written, Ok(packed.len()));
        prop_assert_eq!(whole.pop(), Some(0xA5));
        prop_assert_eq!(&whole, packed);
    }

    #[cfg(feature = "std")]
    #[test]
    fn reading_and_writing_are_packing_and_unpacking(converted in conversions()) {
        use std::io::{Read, Write};
        let Converted { case, conversion, packed, unpacked } = &converted;
        let mut read = Vec::new();
        let mut packer = conversion.packer(Buffer::new(&case.memory).origin(case.origin as i64), case.count).unwrap();
        packer.read_to_end(&mut read).unwrap();
        prop_assert_eq!(&read, packed);
        let mut target = case.blank();
        let mut unpacker = conversion.unpacker(BufferMut::new(&mut target).origin(case.origin as i64), case.count).unwrap();
        unpacker.write_all(packed).unwrap();
        prop_assert_eq!(&target, unpacked);
    }

    #[test]
    fn a_converting_packer_continues_from_any_position(
        converted in conversions(),
        lengths in lengths(),
        seed: u64,
    ) {
        let Converted { case, conversion, packed, .. } = &converted;
        let mut packer = conversion.packer(Buffer::new(&case.memory).origin(case.origin as i64), case.count).unwrap();
        for piece in shuffled(fragments(packed.len(), &lengths), seed) {
            packer.set_position(piece.start as u64).unwrap();
            let mut out = vec![0xA5; piece.len() + 2];
            prop_assert_eq!(packer.pack(&mut out[1..=piece.len()]), Ok(piece.len()));
            prop_assert_eq!(packer.position(), piece.end as u64);
            prop_assert_eq!(&out[1..=piece.len()], &packed[piece.clone()]);
            prop_assert_eq!((out[0], out[piece.len() + 1]), (0xA5, 0xA5));
        }
    }

    #[test]
    fn any_type_is_unpacked_from_any_machine(
        converted in conversions(),
        lengths in lengths(),
        seed: u64,
    ) {
        let Converted { case, conversion, packed, unpacked } = &converted;
        let mut target = case.blank();
        let read = conversion.unpack(packed, BufferMut::new(&mut target).origin(case.origin as i64), case.count);
        prop_assert_eq!(read, Ok(packed.len()));
        prop_assert_eq!(&target, unpacked);
        let mut target = case.blank();
        let mut unpacker = conversion.unpacker(BufferMut::new(&mut target).origin(case.origin as i64), case.count).unwrap();
        for piece in shuffled(fragments(packed.len(), &lengths), seed) {
            unpacker.set_position(piece.start as u64).unwrap();
            prop_assert_eq!(unpacker.unpack(&packed[piece.clone()]), Ok(piece.len()));
        }
        prop_assert_eq!(unpacker.incomplete(), 0);
        drop(unpacker);
        prop_assert_eq!(&target, unpacked);
    }

    #[test]
    fn two_threads_unpack_unless_the_middle_is_inside_a_value(
        converted in conversions(),
        middle: usize,
    ) {
        let Converted { case, conversion, packed, unpacked } = &converted;
        let middle = middle % (packed.len() + 1);
        let mut target = case.blank();
        let unpacker = conversion.unpacker(BufferMut::new(&mut target).origin(case.origin as i64), case.count).unwrap();
        match unpacker.split_at(middle as u64) {
            Ok((mut front, mut back)) => {
                let (first, second) = packed.split_at(middle);
                std::thread::scope(|scope| {
                    scope.spawn(|| assert_eq!(front.unpack(first), Ok(first.len())));
                    scope.spawn(|| assert_eq!(back.unpack(second), Ok(second.len())));
                });
                prop_assert_eq!((front.is_complete(), back.is_complete()), (true, true));
                prop_assert!(back.set_position(middle as u64).is_ok());
                if middle > 0 {
                    prop_assert!(back.set_position(middle as u64 - 1).is_err());
                }
                drop((front, back));
                prop_assert_eq!(&target, unpacked);
            }
            Err(error) => {
                prop_assert!(matches!(error, Error::InsideRecord { .. }), "{}", error);
                prop_assert!(converted.has_widths());
            }
        }
    }
}

fn packed(mut stream: Packer<'_, convertor::Converted>) -> Vec<u8> {
    let mut bytes = vec![0; stream.remaining() as usize];
    stream.pack(&mut bytes).unwrap();
    bytes
}

/// MPI-4.1 section 14.5.2, with the bytes that Open MPI and MPICH write.
#[test]
fn external32() {
    let of = |stream: Packer<'_>| {
        packed(stream.with_representation(Representation::External32).unwrap())
    };
    assert_eq!(of(Packer::new(&[1_i32, -2])), [0, 0, 0, 1, 255, 255, 255, 254]);
    assert_eq!(of(Packer::new(&[1_f32, 2.0])), [0x3f, 0x80, 0, 0, 0x40, 0, 0, 0]);
    assert_eq!(of(Packer::new(&[(true, 'a')])), [1, 0, 0, 0, 0x61]);
    let complex = Type::basic(Basic::C32).commit();
    let memory: Vec<u8> = [1_f32, 0.0, 2.0, 1.0].iter().flat_map(|x| x.to_ne_bytes()).collect();
    let stream = complex.packer(&memory, 2).unwrap();
    assert_eq!(of(stream), [0x3f, 0x80, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0x3f, 0x80, 0, 0]);
    let long = Type::basic(Basic::Long).commit();
    let memory: Vec<u8> = [1, -2].into_iter().flat_map(core::ffi::c_long::to_ne_bytes).collect();
    let stream = long.packer(&memory, 2).unwrap();
    assert_eq!(of(stream), [0, 0, 0, 1, 255, 255, 255, 254]);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn values_that_do_not_fit_change_nothing() {
    let long = Type::basic(Basic::Long).commit();
    let conversion = long.conversion(Representation::External32).unwrap();
    let value = 1_i64 << 31;
    let memory = [7_i64, value, 9].map(i64::to_ne_bytes).concat();
    let mut out = [0xA5; 12];
    let refused = Error::IntegerRange { position: 4, value: value.into(), bytes: 4 };
    assert_eq!(conversion.pack(&memory, 3, &mut out), Err(refused.clone()));
    assert_eq!(out, [0xA5; 12]);
    assert_eq!(refused.to_string(), "packed byte 4: the integer 2147483648 does not fit 4 bytes");
    // The same if the fragment ends inside the value. The position is then before the value.
    let mut packer = conversion.packer(&memory, 3).unwrap();
    assert_eq!(packer.pack(&mut out[..4]), Ok(4));
    assert_eq!(packer.pack(&mut out[..1]), Err(refused));
    assert_eq!(packer.position(), 4);
    packer.set_position(8).unwrap();
    assert_eq!((packer.pack(&mut out), packer.is_complete()), (Ok(4), true));

    // From a machine with a logical of 8 bytes to a machine with one of 4.
    let wide = host_with(Widths { logical: 8, ..Widths::HOST });
    let logical = Type::basic(Basic::Logical).commit();
    let conversion = logical.conversion(Representation::Foreign(wide)).unwrap();
    let bytes = [1_i64, -1 << 40].map(i64::to_ne_bytes).concat();
    let mut memory = [0xA5; 8];
    let refused = Error::IntegerRange { position: 8, value: -1 << 40, bytes: 4 };
    assert_eq!(conversion.unpack(&bytes, &mut memory, 2), Err(refused.clone()));
    assert_eq!(memory, [0xA5; 8]);
    let mut unpacker = conversion.unpacker(&mut memory, 2).unwrap();
    for (at, byte) in bytes.iter().enumerate().take(15) {
        assert_eq!(unpacker.unpack(&[*byte]), Ok(1), "{at}");
    }
    assert_eq!((unpacker.unpack(&bytes[15..]), unpacker.incomplete()), (Err(refused), 1));
    assert_eq!(unpacker.position(), 15);
    drop(unpacker);
    assert_eq!(memory, [1_i32.to_ne_bytes(), [0xA5; 4]].concat()[..]);
}

/// Values at equal strides, with equal widths in the stream, are converted in different ways.
#[test]
#[cfg(all(target_pointer_width = "64", unix))]
fn neighbours_of_one_width_have_their_own_conversions() {
    let widths = Widths { long: 4, ..Widths::HOST };
    let old = Architecture::from_widths(ByteOrder::Big, widths).unwrap();
    let basics = [Basic::Long, Basic::I32, Basic::UnsignedLong, Basic::F32];
    let ty = Type::structure(&[1; 4], &[0, 8, 16, 24], &basics.map(Type::basic)).unwrap();
    let conversion = ty.commit().conversion(Representation::Foreign(old)).unwrap();
    // Four bytes follow each value of four bytes. Together they would not fit four bytes.
    let memory = [
        (-5_i64).to_ne_bytes(),
        [6_i32.to_ne_bytes(), [0x77; 4]].concat().try_into().unwrap(),
        (u64::from(u32::MAX) - 1).to_ne_bytes(),
        [1.5_f32.to_ne_bytes(), [0x77; 4]].concat().try_into().unwrap(),
    ]
    .concat();
    let expected = [
        (-5_i32).to_be_bytes(),
        6_i32.to_be_bytes(),
        (u32::MAX - 1).to_be_bytes(),
        1.5_f32.to_be_bytes(),
    ]
    .concat();
    assert_eq!(conversion.pack_to_vec(&memory, 1).unwrap(), expected);
    let mut unpacked = vec![0x77; 32];
    conversion.unpack(&expected, &mut unpacked, 1).unwrap();
    assert_eq!(unpacked, memory);
    // Each integer has the sign of its type.
    let mut large = memory.clone();
    large[..8].copy_from_slice(&i64::from(u32::MAX).to_ne_bytes());
    let refused = Error::IntegerRange { position: 0, value: u32::MAX.into(), bytes: 4 };
    assert_eq!(conversion.pack_to_vec(&large, 1), Err(refused));
}

/// Records of a fixed and of a wider integer, more of them than one thread takes at once.
#[test]
#[cfg(feature = "rayon")]
fn all_threads_refuse_the_value_that_one_thread_refuses() {
    const RECORDS: usize = 60_000;
    let ty = Type::structure(&[1, 2], &[0, 4], &[Basic::I32, Basic::Logical].map(Type::basic));
    let ty = ty.unwrap().commit();
    let wide = host_with(Widths { logical: 8, ..Widths::HOST });
    let conversion = ty.conversion(Representation::Foreign(wide)).unwrap();
    let record = |n: i32| {
        [&n.to_ne_bytes()[..], &i64::from(n).to_ne_bytes(), &i64::from(-n).to_ne_bytes()].concat()
    };
    let bytes: Vec<u8> = (0..RECORDS as i32).flat_map(record).collect();
    let expected: Vec<u8> =
        (0..RECORDS as i32).flat_map(|n| [n, n, -n].map(i32::to_ne_bytes).concat()).collect();
    let wrong = |records: &[usize]| {
        let mut wrong = bytes.clone();
        for at in records {
            wrong[20 * at + 12..20 * at + 20].copy_from_slice(&(1_i64 << 40).to_ne_bytes());
        }
        wrong
    };
    let refused =
        |at: usize| Error::IntegerRange { position: 20 * at as u64 + 12, value: 1 << 40, bytes: 4 };
    for start in [0, 1, 20_000] {
        let mut memory = vec![0x5A; 12 * RECORDS];
        let mut unpacker = conversion.unpacker(&mut memory, RECORDS).unwrap();
        unpacker.set_position(20 * start as u64).unwrap();
        let error = unpacker.par_unpack(&wrong(&[55_000, 30_001, 40_000])[20 * start..]);
        assert_eq!((error, unpacker.position()), (Err(refused(30_001)), 20 * start as u64));
        assert_eq!(unpacker.par_unpack(&bytes[20 * start..]), Ok(bytes.len() - 20 * start));
        drop(unpacker);
        assert!(memory[..12 * start].iter().all(|byte| *byte == 0x5A));
        assert!(memory[12 * start..] == expected[12 * start..]);
    }
    // Nothing is written if any record is refused.
    let mut memory = vec![0x5A; 12 * RECORDS];
    let mut unpacker = conversion.unpacker(&mut memory, RECORDS).unwrap();
    assert!(unpacker.par_unpack(&wrong(&[59_999])).is_err());
    drop(unpacker);
    assert!(memory.iter().all(|byte| *byte == 0x5A));
    // A wrong value after the last whole record is refused by the next call.
    let (one, length) = (wrong(&[2]), 2 * 20 + 20);
    let mut unpacker = conversion.unpacker(&mut memory, RECORDS).unwrap();
    assert_eq!(unpacker.par_unpack(&one[..length - 1]), Ok(length - 1));
    let mut unpacker = conversion.unpacker(&mut memory, RECORDS).unwrap();
    assert_eq!(unpacker.par_unpack(&one[..12]), Ok(12));
    // A call that starts inside a record continues on one thread.
    assert_eq!(unpacker.par_unpack(&bytes[12..]), Ok(bytes.len() - 12));
    drop(unpacker);
    assert!(memory == expected);
    let tail = Type::contiguous(2, &Type::basic(Basic::Logical)).unwrap().commit();
    let conversion = tail.conversion(Representation::Foreign(wide)).unwrap();
    let values = [1_i64, 2, 1 << 40, 3].map(i64::to_ne_bytes).concat();
    let mut memory = [0; 16];
    let mut unpacker = conversion.unpacker(&mut memory, 2).unwrap();
    let refused = Error::IntegerRange { position: 16, value: 1 << 40, bytes: 4 };
    // One thread takes a few bytes, and refuses the value at once.
    assert_eq!(unpacker.par_unpack(&values[..24]), Err(refused));
    assert_eq!(unpacker.position(), 0);
    drop(unpacker);
    assert_eq!(memory, [0; 16]);
}

/// Some bytes of a value arrive, then the whole value, and then other bytes of it, which are not combined with the first ones.
#[test]
#[cfg(target_pointer_width = "64")]
fn a_value_that_came_in_part_comes_as_a_whole() {
    let fields = [Basic::U16, Basic::Long].map(Type::basic);
    let record = Type::structure(&[1; 2], &[0, 8], &fields).unwrap();
    for ty in [Type::basic(Basic::Long), Type::resized(&record, 0, 16).unwrap()] {
        let committed = ty.commit();
        let conversion = committed.conversion(Representation::External32).unwrap();
        let size = conversion.packed_size(1).unwrap();
        let first = size - 4;
        let mut memory = vec![0xA5; 16 * 9];
        let mut unpacker = conversion.unpacker(&mut memory, 9).unwrap();
        let number = |byte: u8| [vec![byte; first], vec![0, 0, byte, byte]].concat();
        // Two bytes of each `long` arrive: the second half of the first one, and the first half of the others.
        for record in 0..9 {
            let into = if record == 0 { size - 2 } else { first };
            unpacker.set_position((record * size + into) as u64).unwrap();
            assert_eq!(unpacker.unpack(&[0, 1]), Ok(2));
        }
        assert_eq!(unpacker.incomplete(), 9);
        // All bytes of some values arrive, and half of the last value.
        unpacker.set_position(0).unwrap();
        let bytes = (1..=8).flat_map(number).chain(vec![9; first]).chain([0, 0]);
        assert_eq!(unpacker.unpack(&bytes.collect::<Vec<u8>>()), Ok(9 * size - 2));
        assert_eq!(unpacker.incomplete(), 1);
        unpacker.set_position((3 * size - 2) as u64).unwrap();
        assert_eq!((unpacker.unpack(&[7, 7]), unpacker.incomplete()), (Ok(2), 2));
        unpacker.set_position((9 * size - 2) as u64).unwrap();
        assert_eq!((unpacker.unpack(&[9, 9]), unpacker.incomplete()), (Ok(2), 1));
        drop(unpacker);
        let place = usize::try_from(ty.extent()).unwrap();
        for record in 0..9_u8 {
            let at = usize::from(record) * place + place - 8;
            let expected = i64::from_be_bytes([0, 0, 0, 0, 0, 0, record + 1, record + 1]);
            assert_eq!(memory[at..at + 8], expected.to_ne_bytes(), "{record}");
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn long_doubles() {
    let pi: [u8; 16] = [0x35, 0xc2, 0x68, 0x21, 0xa2, 0xda, 0x0f, 0xc9, 0, 0x40, 9, 9, 9, 9, 9, 9];
    let committed = Type::basic(Basic::LongDouble).commit();
    let quad = committed.conversion(Representation::External32).unwrap();
    let mut bytes = [0; 16];
    quad.pack(&pi, 1, &mut bytes).unwrap();
    assert_eq!(u128::from_be_bytes(bytes), 0x4000_921f_b544_42d1_846a_0000_0000_0000);
    let mut back = [0xA5; 16];
    quad.unpack(&bytes, &mut back, 1).unwrap();
    assert_eq!((&back[..10], &back[10..]), (&pi[..10], &[0; 6][..]));
    // A `double` has the rounded value. The largest values do not fit it.
    let double = host_with(Widths { long_double: LongDouble::Binary64, ..Widths::HOST });
    let double = committed.conversion(Representation::Foreign(double)).unwrap();
    double.pack(&pi, 1, &mut bytes).unwrap();
    assert_eq!(bytes[..8], std::f64::consts::PI.to_le_bytes());
    let large = [0, 0, 0, 0, 0, 0, 0, 0x80, 0xfe, 0x7f, 0, 0, 0, 0, 0, 0];
    let refused = Error::FloatRange { position: 0, format: LongDouble::Binary64 };
    assert_eq!(double.pack(&large, 1, &mut bytes), Err(refused.clone()));
    assert_eq!(refused.to_string(), "packed byte 0: the number does not fit binary64");
    // A format that only its own machine can convert.
    let sum = host_with(Widths { long_double: LongDouble::DoubleDouble, ..Widths::HOST });
    let refused = committed.conversion(Representation::Foreign(sum)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "c_longdouble cannot be converted between x87 in 16 bytes on this machine and double-double on the other"
    );
    assert!(Type::basic(Basic::F64).commit().conversion(Representation::Foreign(sum)).is_ok());
}

#[test]
fn impossible_machines_are_refused() {
    let host = Widths::HOST;
    let refused = [
        Widths { long: 3, ..host },
        Widths { address: 2, ..host },
        Widths { wide_char: 1, ..host },
        Widths { logical: 16, ..host },
    ];
    let refused = refused.map(|widths| {
        Architecture::from_widths(ByteOrder::NATIVE, widths).unwrap_err().to_string()
    });
    assert_eq!(
        refused,
        [
            "long cannot be 3 bytes wide, expected one of [4, 8]",
            "address cannot be 2 bytes wide, expected one of [4, 8]",
            "wchar_t cannot be 1 bytes wide, expected one of [2, 4]",
            "LOGICAL cannot be 16 bytes wide, expected one of [1, 2, 4, 8]",
        ]
    );
}

#[derive(Datatype, Clone, Debug, PartialEq)]
struct Checked {
    letter: char,
    #[dtype(skip)]
    skipped: u16,
    flag: bool,
    numbers: [u16; 2],
}

fn checked(n: u32) -> Checked {
    let letter = char::from_u32(0x4E00 + n).unwrap();
    Checked { letter, skipped: 7, flag: n % 2 == 1, numbers: [n as u16, 0x0102] }
}

#[test]
fn values_that_have_to_be_checked() {
    let items: Vec<Checked> = (0..20).map(checked).collect();
    let bytes = packed(Packer::new(&items).with_representation(Representation::BigEndian).unwrap());
    assert_eq!(&bytes[9..18], [0, 0, 0x4E, 1, 1, 0, 1, 1, 2]);
    for length in [1, 2, 4, 8, 9, 10, 31, 200] {
        let mut target = vec![Checked { skipped: 9, ..checked(0) }; 20];
        let mut unpacker =
            Unpacker::new(&mut target).with_representation(Representation::BigEndian).unwrap();
        for piece in bytes.chunks(length) {
            assert_eq!(unpacker.unpack(piece), Ok(piece.len()));
        }
        assert!(unpacker.is_complete() && unpacker.incomplete() == 0);
        let wanted: Vec<Checked> =
            items.iter().map(|item| Checked { skipped: 9, ..item.clone() }).collect();
        assert_eq!(target, wanted);
    }
    // The fourth record has a surrogate, which is no character.
    let mut wrong = bytes.clone();
    wrong[3 * 9 + 2] = 0xD8;
    let mut target = vec![checked(99); 20];
    let before = target.clone();
    let mut unpacker =
        Unpacker::new(&mut target).with_representation(Representation::BigEndian).unwrap();
    assert_eq!(unpacker.unpack(&wrong[..11]), Ok(11));
    let refused = unpacker.unpack(&wrong[11..]).unwrap_err();
    assert_eq!(refused.to_string(), "record 3, field letter: 0xd803 is not a valid char");
    assert_eq!((unpacker.position(), unpacker.incomplete()), (11, 1));
    assert!(unpacker.set_position(13).is_err());
    unpacker.set_position(9).unwrap();
    assert_eq!(unpacker.unpack(&bytes[9..]), Ok(171));
    drop(unpacker);
    assert!(target.iter().zip(&items).all(|(a, b)| (a.letter, a.flag) == (b.letter, b.flag)));
    // The records on both sides of a split.
    let mut target = before;
    let unpacker =
        Unpacker::new(&mut target).with_representation(Representation::BigEndian).unwrap();
    let (mut front, mut back) = unpacker.split_at(45).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| back.unpack(&bytes[45..]).unwrap());
        scope.spawn(|| front.unpack(&bytes[..45]).unwrap());
    });
    assert!(target.iter().zip(&items).all(|(a, b)| a.letter == b.letter));
    let unpacker =
        Unpacker::new(&mut target).with_representation(Representation::BigEndian).unwrap();
    assert_eq!(unpacker.split_at(44).err(), Some(Error::InsideRecord { position: 44, record: 9 }));
}

#[test]
fn the_native_representation_is_the_stream_itself() {
    let items: Vec<Checked> = (0..20).map(checked).collect();
    let same = packed(Packer::new(&items).with_representation(Representation::Native).unwrap());
    assert_eq!(same, pack(&items));
    let mut numbers = [0_u32; 4];
    let part = Unpacker::new(&mut numbers).split_at(4).unwrap().1;
    let refused = part.with_representation(Representation::BigEndian).err();
    assert_eq!(refused, Some(Error::OutsidePart { position: 0, start: 4, end: 16 }));
}

#[test]
fn checksums_are_those_of_the_converted_bytes() {
    let items: Vec<Checked> = (0..20).map(checked).collect();
    let big = Representation::BigEndian;
    let mut bytes = packed(Packer::new(&items).with_representation(big).unwrap());
    let mut expected = Polynomial(7);
    bytes[..20].chunks(3).for_each(|bytes| expected.update(bytes));
    let mut packer =
        Packer::new(&items).with_representation(big).unwrap().with_checksum(Polynomial(7));
    assert_eq!((packer.pack(&mut [0; 9]), packer.pack(&mut [0; 11])), (Ok(9), Ok(11)));
    assert_eq!(packer.checksum().0, expected.0);
    let mut target = vec![checked(0); 20];
    let unpacker = Unpacker::new(&mut target).with_representation(big).unwrap();
    let mut unpacker = unpacker.with_checksum(Polynomial(7));
    assert_eq!(unpacker.unpack(&bytes[..20]), Ok(20));
    assert_eq!(unpacker.checksum().0, expected.0);
    bytes[22] = 9;
    assert!(unpacker.unpack(&bytes[20..]).is_err());
    assert_eq!(unpacker.checksum().0, expected.0);
}
