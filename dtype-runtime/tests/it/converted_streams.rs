//! Properties that a converted stream shares with its native stream, and with its parts: the signature, values that have
//! arrived in part, and positions in errors.

use dtype_runtime::convertor::Checksum;
use dtype_runtime::representation::{Architecture, ByteOrder, Widths};
use dtype_runtime::{
    Basic, BufferMut, Datatype, Error, Packer, Representation, Type, TypeMap, Unpacker, pack,
};

/// A machine like this one, but with a `LOGICAL` of 8 bytes.
fn wide() -> Representation {
    let widths = Widths { logical: 8, ..Widths::HOST };
    Representation::Foreign(Architecture::from_widths(ByteOrder::NATIVE, widths).unwrap())
}

/// The signature depends on the values, and not on their representation.
#[test]
fn the_signature_does_not_depend_on_the_representation() {
    let mut items = [(1_u16, 2.5_f64), (3, 4.5)];
    let native = Packer::new(&items).signature_hash();
    for representation in [Representation::Native, Representation::External32] {
        let packer = Packer::new(&items).with_representation(representation).unwrap();
        assert_eq!(packer.signature_hash(), native);
        let unpacker = Unpacker::new(&mut items).with_representation(representation).unwrap();
        assert_eq!(unpacker.signature_hash(), native);
    }
}

/// The first bytes of a value arrive before the stream is split. The part that has the value gets the others.
#[test]
fn a_part_keeps_the_values_that_arrived_in_part() {
    let conversion = Type::basic(Basic::Long).commit().conversion(Representation::External32);
    let mut memory = [0xA5; 32];
    let mut unpacker = conversion.unwrap().unpacker(BufferMut::new(&mut memory), 4).unwrap();
    for (position, bytes) in [(4, &[0_u8, 0, 0][..]), (12, &[0, 0])] {
        unpacker.set_position(position).unwrap();
        assert_eq!(unpacker.unpack(bytes), Ok(bytes.len()));
    }
    unpacker.set_position(0).unwrap();
    let (mut front, mut back) = unpacker.split_at(8).unwrap();
    assert_eq!((front.incomplete(), back.incomplete()), (1, 1));
    front.set_position(7).unwrap();
    back.set_position(14).unwrap();
    assert_eq!((front.unpack(&[2]), back.unpack(&[1, 4])), (Ok(1), Ok(2)));
    assert_eq!((front.incomplete(), back.incomplete()), (0, 0));
    let expected = [[0xA5; 8], 2_i64.to_ne_bytes(), [0xA5; 8], 0x0104_i64.to_ne_bytes()].concat();
    assert_eq!(memory[..], expected);
}

#[test]
fn a_stream_is_split_between_values_only() {
    let conversion = Type::basic(Basic::Long).commit().conversion(Representation::External32);
    let conversion = conversion.unwrap();
    let mut memory = [0xA5; 32];
    for position in 0..=16 {
        let unpacker = conversion.unpacker(BufferMut::new(&mut memory), 4).unwrap();
        let refused = unpacker.split_at(position).err();
        let inside = Error::InsideRecord { position, record: 4 };
        assert_eq!(refused, (position % 4 != 0).then_some(inside));
    }
}

/// A stream that lacks its start or its end cannot change its representation.
#[test]
fn a_part_of_a_stream_is_not_converted() {
    let mut numbers = [0_u32; 4];
    let (front, back) = Unpacker::new(&mut numbers).split_at(4).unwrap();
    let (middle, last) = back.split_at(12).unwrap();
    for (part, start, end) in [(front, 0, 4), (middle, 4, 12), (last, 12, 16)] {
        let refused = part.with_representation(Representation::External32).err();
        assert_eq!(refused, Some(Error::OutsidePart { position: 0, start, end }));
    }
}

/// Positions close to 2⁶⁴. All instances lie at the same number.
#[test]
fn a_stream_ends_at_the_greatest_position() {
    let other = match ByteOrder::NATIVE {
        ByteOrder::Little => Representation::BigEndian,
        ByteOrder::Big => Representation::LittleEndian,
    };
    let same = Type::resized(&Type::basic(Basic::U32), 0, 0).unwrap().commit();
    let (conversion, count) = (same.conversion(other).unwrap(), usize::MAX / 4);
    let mut packer = conversion.packer(&[1, 2, 3, 4], count).unwrap();
    for bytes in [1, 4, 17, 100] {
        packer.set_position(packer.position() + packer.remaining() - bytes as u64).unwrap();
        let mut out = [0xA5; 200];
        assert_eq!(packer.pack(&mut out), Ok(bytes));
        let (packed, rest) = out.split_at(bytes);
        assert!(packed.iter().rev().eq([1, 2, 3, 4].iter().cycle().take(bytes)), "{packed:?}");
        assert!(rest.iter().all(|byte| *byte == 0xA5));
    }
}

/// The bytes before a refused value are packed and summed. The next call returns the error.
#[test]
fn a_summed_packer_stops_before_a_refused_value() {
    struct Sum(u64);

    impl Checksum for Sum {
        fn update(&mut self, bytes: &[u8]) {
            self.0 += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        }
    }

    let longs = Type::basic(Basic::Long).commit();
    let external = longs.conversion(Representation::External32).unwrap();
    let mut numbers = vec![1_i64; 20_000];
    numbers[15_000] = 1 << 31;
    let memory = pack(&numbers);
    let mut out = vec![0xA5; 80_000];
    let mut packer = external.packer(&memory, numbers.len()).unwrap().with_checksum(Sum(0));
    let before = packer.pack(&mut out).unwrap();
    assert!(0 < before && before <= 60_000, "{before}");
    assert!(out[..before].chunks(4).all(|number| *number == [0, 0, 0, 1]));
    assert_eq!(packer.stream().position(), before as u64);
    assert_eq!(packer.checksum().0, before as u64 / 4);
    let rest = 60_000 - before;
    assert_eq!(packer.pack(&mut out[..rest]), Ok(rest));
    let refused = Error::IntegerRange { position: 60_000, value: 1 << 31, bytes: 4 };
    assert_eq!(packer.pack(&mut out), Err(refused));
    assert_eq!((packer.stream().position(), packer.checksum().0), (60_000, 15_000));
}

/// A `LOGICAL` of Fortran, 4 bytes here.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
struct Logical(i32);

// SAFETY: the bytes are those of an `i32`, and all bytes are valid.
unsafe impl Datatype for Logical {
    const TYPE_MAP: &'static TypeMap = &TypeMap::basic(Basic::Logical);
}

/// If records are checked one by one, the error still has the position in the whole stream.
#[test]
fn a_value_that_does_not_fit_a_checked_record_is_named_by_its_position() {
    let wide = wide();
    let record = |flag: u8, value: i64| [&[flag][..], &value.to_ne_bytes()].concat();
    let bytes = [record(1, 7), record(0, -8), record(1, 1 << 40), record(0, 9)].concat();
    for length in [1, 9, 10, 36] {
        let mut items = [(false, Logical(5)); 4];
        let mut unpacker = Unpacker::new(&mut items).with_representation(wide).unwrap();
        let refused = bytes.chunks(length).find_map(|piece| unpacker.unpack(piece).err());
        let expected = Error::IntegerRange { position: 19, value: 1 << 40, bytes: 4 };
        assert_eq!(refused, Some(expected), "pieces of {length}");
        let before = unpacker.position();
        // The records that were complete before the refused call are written, and no others.
        let written = usize::try_from(before).unwrap() / 9;
        let values = [(true, Logical(7)), (false, Logical(-8))];
        let mut expected = [(false, Logical(5)); 4];
        expected[..written].copy_from_slice(&values[..written]);
        assert_eq!(items, expected);
    }
}

/// The same for a number: this one is rounded up to infinity where a `long double` has a shorter significand.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_number_that_does_not_fit_a_checked_record_is_named_by_its_position() {
    use dtype_runtime::representation::LongDouble;

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C, align(16))]
    struct Extended([u8; 16]);

    // SAFETY: all bytes are valid, and the size and the alignment are those of a `long double`.
    unsafe impl Datatype for Extended {
        const TYPE_MAP: &'static TypeMap = &TypeMap::basic(Basic::LongDouble);
    }

    let one = (0x3FFF_u128 << 112).to_be_bytes();
    let greatest = ((0x7FFE_u128 << 112) | (u128::MAX >> 16)).to_be_bytes();
    let record = |number: [u8; 16]| [&[1][..], &number].concat();
    let bytes = [record(one), record(one), record(greatest)].concat();
    let mut items = [(false, Extended([0; 16])); 3];
    let mut unpacker =
        Unpacker::new(&mut items).with_representation(Representation::External32).unwrap();
    let expected = Error::FloatRange { position: 35, format: LongDouble::X87In16 };
    assert_eq!(unpacker.unpack(&bytes), Err(expected.clone()));
    assert_eq!(unpacker.unpack(&bytes[..34]), Ok(34));
    assert_eq!(unpacker.unpack(&bytes[34..]), Err(expected));
    assert_eq!(pack(&items[..2]), pack(&[items[1]; 2]));
    assert!(items[0].0 && !items[2].0);
}

#[cfg(feature = "rayon")]
mod parallel {
    use super::*;

    /// The error names the first value that does not fit, and nothing is written, even if several threads share the bytes.
    #[test]
    fn all_cores_refuse_a_value_before_anything_is_written() {
        let wide = wide();
        let logicals = Type::basic(Basic::Logical).commit();
        let conversion = logicals.conversion(wide).unwrap();
        for wrong in [[5, 190_000], [100_000, 150_000]] {
            let mut values = vec![-3_i64; 200_000];
            for index in wrong {
                values[index] = (1 << 40) + index as i64;
            }
            let mut memory = vec![0xA5; 800_000];
            let mut unpacker = conversion.unpacker(&mut memory, 200_000).unwrap();
            let (position, value) = (8 * wrong[0] as u64, (1 << 40) + wrong[0] as i128);
            let refused = Err(Error::IntegerRange { position, value, bytes: 4 });
            assert_eq!(unpacker.par_unpack(&pack(&values)), refused);
            assert_eq!(unpacker.position(), 0);
            drop(unpacker);
            assert!(memory.iter().all(|byte| *byte == 0xA5));
        }
    }

    /// Several threads check the values, too.
    #[test]
    fn all_cores_write_no_value_that_is_not_valid() {
        let items: Vec<(bool, u64)> = (0..200_000).map(|i| (i % 3 == 0, i)).collect();
        let mut bytes = vec![0; 9 * items.len()];
        let mut packer =
            Packer::new(&items).with_representation(Representation::External32).unwrap();
        assert_eq!(packer.pack(&mut bytes), Ok(bytes.len()));
        let good = bytes.clone();
        bytes[9 * 170_000] = 2;
        let mut target = vec![(false, 7); items.len()];
        let unpacker = Unpacker::new(&mut target).with_representation(Representation::External32);
        let mut unpacker = unpacker.unwrap();
        let refused = unpacker.par_unpack(&bytes).unwrap_err();
        assert_eq!(refused.to_string(), "record 170000, field 0: 0x2 is not a valid bool");
        assert_eq!(unpacker.par_unpack(&good), Ok(good.len()));
        drop(unpacker);
        assert_eq!(target, items);
    }
}
