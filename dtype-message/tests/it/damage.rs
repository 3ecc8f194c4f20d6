//! Messages that were damaged on the way or forged: each is refused with nothing changed, or is a valid message.

use dtype_message::{Header, Incoming, Limits};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Basic, Type, pack, unpack};
use dtype_test_support::frames::{Drops, announce, changed, seal};
use dtype_test_support::numbers::Numbers;
use proptest::prelude::*;

/// The last byte is a `bool`, so that damaged records are often refused.
type Record = (u16, bool);

const LIMITS: Limits = Limits::new().with_max_payload_bytes(1 << 20).with_max_records(1 << 20);

fn frame(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    dtype_message::write(&mut bytes, records).unwrap();
    bytes
}

/// The frame of the records by a machine with the header's byte order.
fn written(header: &Header, records: &[Record]) -> Vec<u8> {
    let mut frame = Vec::new();
    dtype_message::write_framed(&mut frame, records, header.framing()).unwrap();
    if header.byte_order() != ByteOrder::NATIVE {
        let end = frame.len() - header.checksum_len();
        for record in frame[header.header_len()..end].chunks_exact_mut(3) {
            record[..2].reverse();
        }
        if !header.is_compact() {
            frame[5] = 3 - frame[5];
            seal(&mut frame);
            return frame;
        }
        frame[0] ^= 1;
        if header.checksum_len() > 0 {
            let checksum = crc32c::crc32c(&frame[..end]);
            frame[end..].copy_from_slice(&checksum.to_le_bytes());
        }
    }
    frame
}

/// Reads one message in every form. An accepted message is a frame that the writer would have written.
fn read_all_forms(bytes: &[u8]) -> Option<Vec<Record>> {
    let mut input = bytes;
    let read = dtype_message::read::<Record>(&mut input, &LIMITS);
    if let Ok(Some(records)) = &read {
        let header = Header::read(&mut &bytes[..]).unwrap().unwrap();
        assert_eq!(written(&header, records), bytes[..bytes.len() - input.len()]);
    }
    let read = read.ok().flatten();

    let before = [(0xEEEE, true); 50];
    let mut items = before;
    match dtype_message::read_into(&mut &bytes[..], &mut items) {
        Ok(Some(count)) => assert_eq!(&items[..count], read.as_ref().unwrap()),
        Ok(None) => assert!(bytes.is_empty()),
        Err(_) => assert_eq!(items, before),
    }
    let mut records = before[..3].to_vec();
    match dtype_message::read_reusing(&mut &bytes[..], &mut records, &LIMITS) {
        Ok(Some(_)) => assert_eq!(&records, read.as_ref().unwrap()),
        _ => assert_eq!(records, before[..3]),
    }
    // A different layout, which accepts any byte for the `bool`.
    let ty =
        Type::structure(&[1, 1], &[0, 5], &[Type::basic(Basic::U16), Type::basic(Basic::Bool)]);
    let ty = ty.unwrap().commit();
    let mut memory = [0xEE; 300];
    match dtype_message::read_with(&mut &bytes[..], &ty, &mut memory, 50) {
        Ok(Some(count)) => {
            let mut packed = vec![0; 3 * count];
            ty.pack(&memory, count, &mut packed).unwrap();
            // A type made at run time has no names, so it does not refuse a record for its names.
            let has_other_names =
                Header::read(&mut &bytes[..]).unwrap().unwrap().schema_hash().is_some();
            assert!(unpack::<Record>(&packed).ok() == read || (has_other_names && read.is_none()));
        }
        _ => assert_eq!(memory, [0xEE; 300]),
    }
    read
}

#[test]
fn every_change_of_one_byte_is_found() {
    for records in [&[][..], &[(1, true)], &[(7, false), (0xFFFF, true), (3, true)]] {
        let good = frame(records);
        assert_eq!(read_all_forms(&good).as_deref(), Some(records));
        for at in 0..good.len() {
            for change in 1..=255 {
                let mut bytes = good.clone();
                bytes[at] ^= change;
                assert_eq!(read_all_forms(&bytes), None, "byte {at} by {change:#x}");
            }
        }
    }
}

/// One change of the header makes a frame of the other byte order, if the checksums are corrected.
#[test]
fn a_frame_may_be_in_either_byte_order() {
    for records in [&[][..], &[(7, false), (0xFF01, true)]] {
        let other = changed(&frame(records), |frame| frame[5] = 3 - frame[5]);
        let swapped: Vec<Record> = records.iter().map(|(a, b)| (a.swap_bytes(), *b)).collect();
        assert_eq!(read_all_forms(&other), Some(swapped));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn there_and_back(records: Vec<Record>, size in 1_usize..100, cut: prop::sample::Index) {
        let bytes = frame(&records);
        prop_assert_eq!(&bytes[48..bytes.len() - 4], &pack(&records)[..]);
        let mut input = Drops::new(&bytes, size);
        prop_assert_eq!(dtype_message::read(&mut input, &LIMITS).unwrap(), Some(records));
        prop_assert!(input.bytes.is_empty());
        let end = cut.index(bytes.len());
        let mut input = Drops::new(&bytes[..end], size);
        let read = dtype_message::read::<Record>(&mut input, &LIMITS);
        let noticed = if end == 0 { matches!(read, Ok(None)) } else { read.is_err() };
        prop_assert!(noticed);
    }

    #[test]
    fn parts_of_two_frames_are_none(a: [Record; 4], b: [Record; 4], at in 0_usize..64) {
        let (first, second) = (frame(&a), frame(&b));
        let mixed = [&first[..at], &second[at..]].concat();
        let read = read_all_forms(&mixed);
        prop_assert!(read.is_none() || mixed == first || mixed == second);
    }

    #[test]
    fn noise_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(read_all_forms(&bytes), None);
    }
}

/// Mutations of streams of frames. Most of them have corrected checksums, so that the later checks run. `FUZZ_CASES` sets the
/// number of cases, and the seed is fixed.
#[test]
fn mutated_streams_are_refused_or_right() {
    let cases = std::env::var("FUZZ_CASES").map_or(30_000, |cases| cases.parse().unwrap());
    let mut numbers = Numbers(0x5EED);
    let (mut taken, mut refused) = (0_u64, 0_u64);
    for _ in 0..cases {
        let count = numbers.index(6);
        let records: Vec<Record> =
            (0..count).map(|_| (u16::from(numbers.byte()), numbers.byte() & 1 == 1)).collect();
        let mut bytes = frame(&records);
        for _ in 0..numbers.index(3) {
            mutate(&mut bytes, &mut numbers);
        }
        if numbers.index(8) > 0 {
            seal(&mut bytes);
        }
        if numbers.index(4) == 0 {
            bytes.extend(frame(&[(1, false)]));
        }
        match read_all_forms(&bytes) {
            Some(_) => taken += 1,
            None => refused += 1,
        }
        // The stream until its end or its first error. Either may come.
        let mut input = Drops::new(&bytes, 1 + numbers.index(9));
        while let Ok(Some(message)) = Incoming::open(&mut input, &LIMITS) {
            let skipped = if numbers.index(2) == 0 {
                message.skip().is_ok()
            } else {
                message.packed().is_ok()
            };
            if !skipped {
                break;
            }
        }
    }
    println!("{taken} taken, {refused} refused");
    assert!(taken > cases / 5 && refused > cases / 5, "{taken} taken, {refused} refused");
}

/// Changes bytes. The numbers in the header change more often than other bytes.
fn mutate(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    let at = numbers.index(bytes.len());
    match numbers.index(8) {
        0 => bytes.insert(at, numbers.byte()),
        1 => drop(bytes.remove(at)),
        2 => bytes[at] = numbers.byte(),
        3 => bytes[at] ^= 1 << numbers.index(8),
        4 => bytes.truncate(at.max(1)),
        5 if bytes.len() >= 48 => announce(bytes, numbers.next() >> numbers.index(64)),
        6 if bytes.len() >= 48 => {
            let field = 8 * (2 + numbers.index(3));
            let number = numbers.next() >> numbers.index(64);
            bytes[field..field + 8].copy_from_slice(&number.to_le_bytes());
        }
        _ if bytes.len() > 52 => {
            let last = bytes.len() - 5;
            bytes[last] = numbers.byte() & 1;
        }
        _ => bytes[at] = 0,
    }
}
