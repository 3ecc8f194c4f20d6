//! Every way in which a frame can be wrong.

use super::*;
use proptest::prelude::*;

#[derive(Datatype, Clone, Debug, Default, PartialEq)]
struct Sample {
    value: u32,
    flag: bool,
    #[dtype(skip)]
    note: String,
}

const LIMITS: Limits = Limits { frame: 1000, records: 100 };

fn samples(count: u32) -> Vec<Sample> {
    (0..count)
        .map(|i| Sample { value: i * 7, flag: i % 3 == 0, note: format!("note {i}") })
        .collect()
}

/// Two frames of three and two records.
fn stream() -> Vec<u8> {
    let mut bytes = Vec::new();
    send(&samples(5), 19, &mut bytes).unwrap();
    assert_eq!(bytes.len(), 2 * HEADER + 5 * 5);
    bytes
}

fn outcome(bytes: &[u8]) -> Result<Vec<Sample>, FrameError> {
    let mut records = vec![Sample { note: "kept".to_owned(), ..Sample::default() }];
    let before = records.clone();
    match receive(&mut &bytes[..], LIMITS, &mut records) {
        Ok(_) => Ok(records),
        Err(error) => {
            assert_eq!(records, before, "a refused array changes nothing");
            Err(error)
        }
    }
}

/// The first frame with other bytes in its header, and the checksum made right again.
fn with(change: impl FnOnce(&mut [u8])) -> Result<Vec<Sample>, FrameError> {
    let mut bytes = stream();
    change(&mut bytes);
    let header: [u8; HEADER] = bytes[..HEADER].try_into().unwrap();
    let right = sum(&header, &bytes[HEADER..HEADER + 15]);
    bytes[32..36].copy_from_slice(&right.to_be_bytes());
    outcome(&bytes)
}

macro_rules! refused {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("{other:?}"),
        }
    };
}

#[test]
fn an_array_arrives() {
    let records = outcome(&stream()).unwrap();
    assert_eq!(records[0].note, "kept");
    assert_eq!(records[1].note, "");
    let data = |s: &Sample| (s.value, s.flag);
    assert!(records.iter().map(data).eq(samples(5).iter().map(data)));
}

#[test]
fn a_shorter_array_an_empty_one_and_none() {
    let mut bytes = Vec::new();
    send(&samples(1), 1000, &mut bytes).unwrap();
    send::<Sample>(&[], 1000, &mut bytes).unwrap();
    let (mut records, mut input) = (samples(3), &bytes[..]);
    assert!(receive(&mut input, LIMITS, &mut records).unwrap());
    assert_eq!(records, samples(1));
    assert!(receive(&mut input, LIMITS, &mut records).unwrap());
    assert_eq!(records, []);
    assert!(!receive(&mut input, LIMITS, &mut records).unwrap());
}

#[test]
fn a_frame_smaller_than_a_record_holds_one() {
    let mut bytes = Vec::new();
    send(&samples(2), 1, &mut bytes).unwrap();
    assert_eq!(bytes.len(), 2 * (HEADER + 5));
}

#[test]
fn each_field_of_the_header_is_checked() {
    refused!(with(|b| b[0] = b'X'), FrameError::Magic(magic) if magic == *b"XTYP");
    refused!(with(|b| b[5] = 2), FrameError::Version(2));
    refused!(with(|b| b[6] = 3 - NATIVE), FrameError::ByteOrder { actual } if actual == 3 - NATIVE);
    refused!(with(|b| b[7] = 9), FrameError::LastMark(9));
    let hash = Sample::TYPE_MAP.signature_hash();
    refused!(
        with(|b| b[15] ^= 1),
        FrameError::Records(dtype_runtime::Error::SignatureMismatch { expected, actual })
            if expected == hash && actual == hash ^ 1
    );
    refused!(
        with(|b| {
            b[24..28].fill(0);
            b[28..32].fill(0);
        }),
        FrameError::Empty
    );
    refused!(with(|b| b[23] = 4), FrameError::Order { expected: 0, actual: 4 });
    refused!(with(|b| b[27] = 4), FrameError::Length { count: 4, expected: 20, actual: 15 });
    refused!(with(|b| b[31] = 16), FrameError::Length { count: 3, expected: 15, actual: 16 });
}

#[test]
fn limits_hold_before_anything_is_read() {
    // 2³⁰ records of 5 bytes do not fit the length; 2²⁸ do.
    let announce = |count: u32| {
        with(|b| {
            b[24..28].copy_from_slice(&count.to_be_bytes());
            b[28..32].copy_from_slice(&(count.wrapping_mul(5)).to_be_bytes());
        })
    };
    refused!(announce(1 << 30), FrameError::Length { expected: 0x1_4000_0000, .. });
    refused!(announce(1 << 28), FrameError::FrameLimit { limit: 1000, actual: 0x5000_0000 });
    let mut bytes = Vec::new();
    send(&samples(101), 100, &mut bytes).unwrap();
    refused!(outcome(&bytes), FrameError::RecordLimit { limit: 100, actual: 101 });
}

#[test]
fn a_changed_byte_is_found() {
    let mut bytes = stream();
    bytes[HEADER] ^= 1;
    refused!(outcome(&bytes), FrameError::Checksum { .. });
}

#[test]
fn a_wrong_record_with_a_right_checksum_is_found() {
    refused!(
        with(|b| b[HEADER + 5 + 4] = 2),
        FrameError::Records(dtype_runtime::Error::InvalidValue { record: 1, value: 2, .. })
    );
}

#[test]
fn every_early_end_is_found() {
    let bytes = stream();
    for end in 1..bytes.len() {
        refused!(outcome(&bytes[..end]), FrameError::Truncated { .. });
    }
    let part = "a frame's records";
    refused!(
        outcome(&bytes[..HEADER + 4]),
        FrameError::Truncated { part: p, expected: 15, actual: 4 } if p == part
    );
    // The first frame alone: the array lacks its end.
    refused!(
        outcome(&bytes[..HEADER + 15]),
        FrameError::Truncated { part: "a header", expected: HEADER, actual: 0 }
    );
}

proptest! {
    /// Whatever happens to the bytes on the way, what is accepted is what was sent.
    #[test]
    fn damaged_streams(
        changes in proptest::collection::vec((0_usize..97, 1_u8..), 0..4),
        end in 0_usize..98,
    ) {
        let good = stream();
        let mut bytes = good.clone();
        for (at, change) in changes {
            bytes[at] ^= change;
        }
        bytes.truncate(end);
        let (mut records, sent) = (Vec::new(), samples(5));
        match receive::<Sample>(&mut &bytes[..], LIMITS, &mut records) {
            Err(_) => prop_assert!(records.is_empty()),
            Ok(false) => prop_assert!(bytes.is_empty()),
            Ok(true) => {
                prop_assert_eq!(bytes, good);
                prop_assert!(
                    records.iter().map(|s| s.value).eq(sent.iter().map(|s| s.value))
                );
            }
        }
    }

    /// Noise is refused, at once and without a large allocation.
    #[test]
    fn noise(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let result = receive::<Sample>(&mut &bytes[..], LIMITS, &mut Vec::new());
        prop_assert!(result.is_err() || bytes.is_empty());
    }
}
