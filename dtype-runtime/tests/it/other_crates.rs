//! The types of `ordered-float`, `uuid` and `zerocopy`, alone and as fields.

use crate::interchangeable::interchangeable;
use dtype_runtime::{
    Basic, Datatype, Error, Packed, Representation, Type, Unpacker, pack, pack_as, unpack,
    unpack_as, unpack_into, view,
};
use ordered_float::{NotNan, OrderedFloat};
use uuid::{Uuid, uuid};
use zerocopy::byteorder::{BE, F64, I16, LE, U16, U32, U64, Usize};

#[test]
fn wrappers_have_the_signature_of_their_value() {
    interchangeable::<Uuid, [u8; 16]>();
    interchangeable::<OrderedFloat<f32>, f32>();
    interchangeable::<OrderedFloat<[f64; 2]>, [f64; 2]>();
    interchangeable::<NotNan<f32>, f32>();
    interchangeable::<NotNan<f64>, f64>();
    interchangeable::<U16<BE>, [u8; 2]>();
    interchangeable::<U32<LE>, [u8; 4]>();
    interchangeable::<F64<BE>, [u8; 8]>();
    interchangeable::<Usize<BE>, [u8; size_of::<usize>()]>();
    // Numbers of a fixed byte order and numbers in the stream's order have different signatures.
    assert_ne!(U32::<BE>::TYPE_MAP.signature_hash(), u32::TYPE_MAP.signature_hash());
}

#[test]
fn uuids_are_their_bytes() {
    let id = uuid!("67e55044-10b1-426f-9247-bb680e5fe0c8");
    let bytes = pack(&[id, Uuid::nil(), Uuid::max()]);
    assert_eq!(bytes[..16], *id.as_bytes());
    assert_eq!(unpack::<Uuid>(&bytes), Ok(vec![id, Uuid::nil(), Uuid::max()]));
    assert_eq!(view::<Uuid>(&bytes).unwrap(), [id, Uuid::nil(), Uuid::max()]);
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Reading {
    channel: u8,
    value: NotNan<f64>,
    error: OrderedFloat<f32>,
    extremes: [NotNan<f32>; 2],
}

fn reading(value: f64, maximum: f32) -> Vec<u8> {
    pack(&[(3_u8, value, f32::NAN, [f32::NEG_INFINITY, maximum])])
}

#[test]
fn a_nan_is_not_a_not_nan() {
    let bytes = reading(f64::INFINITY, -0.0);
    let good = unpack::<Reading>(&bytes).unwrap();
    assert_eq!(good[0].value, f64::INFINITY);
    assert!(good[0].error.is_nan());
    assert_eq!(pack(&good), bytes);
    assert_eq!(Packed::<Reading>::new(&bytes).unwrap().get(0).unwrap().channel, 3);

    // NaNs of both signs, quiet and signalling, at each place.
    for bits in [0x7FF8_0000_0000_0000, 0xFFF0_0000_0000_0001_u64] {
        let error = unpack::<Reading>(&reading(f64::from_bits(bits), 1.0)).unwrap_err();
        let text = format!("record 0, field value: {bits:#x} is not a valid NotNan<f64>");
        assert_eq!(error.to_string(), text);
    }
    let bytes = reading(1.0, f32::from_bits(0x7F80_0001));
    let mut kept = good.clone();
    let error = unpack_into(&bytes, &mut kept).unwrap_err();
    let text = "record 0, field extremes[1]: 0x7f800001 is not a valid NotNan<f32>";
    assert_eq!(error.to_string(), text);
    assert_eq!(pack(&kept), pack(&good));
    assert!(Packed::<Reading>::new(&bytes).is_err());
}

#[test]
fn a_nan_is_found_among_many() {
    let values = [f64::INFINITY, f64::MAX, -0.0, f64::NEG_INFINITY];
    let nans = [0x7FF0_0000_0000_0001, 0x7FFF_FFFF_FFFF_FFFF, 0xFFF0_0000_0000_0001, u64::MAX];
    let narrow = [0x7F80_0001, 0x7FFF_FFFF, 0xFF80_0001, u32::MAX];
    let readings: Vec<Vec<u8>> =
        (0..33).map(|i| reading(values[i % 4], if i % 3 == 0 { f32::MAX } else { -1.0 })).collect();
    let bytes = readings.concat();
    assert_eq!(pack(&unpack::<Reading>(&bytes).unwrap()), bytes);
    for place in 0..readings.len() {
        for (wide, narrow) in nans.into_iter().zip(narrow) {
            for nan in [reading(f64::from_bits(wide), 0.0), reading(0.0, f32::from_bits(narrow))] {
                let mut bad = readings.clone();
                bad[place] = nan;
                let error = unpack::<Reading>(&bad.concat()).unwrap_err();
                assert!(
                    matches!(error, Error::InvalidValue { record, .. } if record == place),
                    "{place}: {error}"
                );
            }
        }
    }
}

#[test]
fn a_nan_is_found_in_any_representation_and_in_fragments() {
    let bytes = pack_as(&[(f64::NAN, 1_u8)], Representation::External32).unwrap();
    let result = unpack_as::<(NotNan<f64>, u8)>(&bytes, Representation::External32);
    assert!(matches!(result, Err(Error::InvalidValue { .. })), "{result:?}");

    let mut values = [NotNan::new(7.0_f64).unwrap(); 2];
    let bytes = pack(&[1.5, f64::NAN]);
    let mut unpacker = Unpacker::new(&mut values);
    let result = bytes.chunks(3).try_for_each(|bytes| unpacker.unpack(bytes).map(drop));
    assert!(result.is_err());
    assert_eq!(values[1], 7.0);
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct UdpHeader {
    source: U16<BE>,
    destination: U16<BE>,
    length: U16<BE>,
    checksum: I16<LE>,
}

#[test]
fn numbers_of_a_fixed_order_are_never_swapped() {
    let packet = [0x14, 0xE9, 0x00, 0x35, 0, 12, 1, 0];
    let header = view::<UdpHeader>(&packet).unwrap()[0];
    assert_eq!((header.source.get(), header.destination.get()), (5353, 53));
    assert_eq!((header.length.get(), header.checksum.get()), (12, 1));
    assert_eq!(pack(&[header]), packet);

    let numbers = [(U32::<BE>::new(1), U64::<LE>::new(2), 3_u16)];
    let be = pack_as(&numbers, Representation::BigEndian).unwrap();
    let le = pack_as(&numbers, Representation::LittleEndian).unwrap();
    assert_eq!(be, [0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
    assert_eq!(le, [0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0]);
    let same = unpack_as::<(U32<BE>, U64<LE>, u16)>(&be, Representation::BigEndian).unwrap();
    assert_eq!(same, numbers);
    let basics: Vec<_> = Type::of::<UdpHeader>().type_map().map(|entry| entry.basic).collect();
    assert_eq!(basics, [Basic::U8; 8]);
}
