//! Messages: records are read as they were written, whatever the stream, and errors name what is wrong.

use std::error::Error as _;
use std::io::ErrorKind;

use dtype_message::{Error, Header, Incoming, Limits, Part, Protocol};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{
    Basic, Buffer, BufferMut, Datatype, Packer, Representation, Type, pack, unpack,
};
use dtype_test_support::frames;
use dtype_test_support::frames::{Counts, Drops, FRAME, Fails, Lies, announce, changed};

#[derive(Datatype, Clone, Debug, Default, PartialEq)]
struct Sample {
    value: u32,
    flag: bool,
}

/// The fields that a `Sample` has on the wire, with the same names.
#[derive(Datatype, Clone, Debug, Default, PartialEq)]
#[dtype(name = "Sample")]
struct Noted {
    value: u32,
    #[dtype(skip)]
    note: String,
    flag: bool,
}

#[derive(Datatype, Default)]
struct Note {
    #[dtype(skip)]
    _text: String,
}

/// Longer than a piece.
type Long = [u64; 10_000];

/// The maximum number of records. Under Miri, a hundred records in every form take too long.
const MAX_RECORDS: u32 = if cfg!(miri) { 10 } else { 100 };

/// The maximum payload: the bytes of twice as many records.
const MAX_BYTES: u64 = 10 * MAX_RECORDS as u64;

const LIMITS: Limits =
    Limits::new().with_max_payload_bytes(MAX_BYTES).with_max_records(MAX_RECORDS as u64);

fn samples(count: u32) -> Vec<Sample> {
    (0..count).map(|i| Sample { value: i * 7, flag: i % 3 == 0 }).collect()
}

fn frame<T: Datatype>(items: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let length = dtype_message::write(&mut bytes, items).unwrap();
    assert_eq!(length, bytes.len() as u64);
    bytes
}

/// Reads in every form. Checks that all forms refuse the bytes and leave the destination unchanged, or that no form does.
fn outcome(bytes: &[u8]) -> Result<Option<Vec<Sample>>, Error> {
    const ROOM: usize = 2 * MAX_RECORDS as usize;
    let result = dtype_message::read::<Sample>(&mut &bytes[..], &LIMITS);
    let count = result.as_ref().map(|records| records.as_ref().map(Vec::len)).map_err(text);

    let before = Sample { value: 99, flag: true };
    let mut items = vec![before.clone(); ROOM];
    let into = dtype_message::read_into(&mut &bytes[..], &mut items).map_err(|error| text(&error));
    let written = into.as_ref().map_or(0, |count| count.unwrap_or(0));
    assert!(items[written..].iter().all(|item| *item == before));

    let noted = Noted { value: 99, note: "kept".to_owned(), flag: true };
    let mut records = vec![noted.clone(); 2];
    let over = dtype_message::read_reusing(&mut &bytes[..], &mut records, &LIMITS);
    let over = over.map_err(|error| text(&error));
    assert_eq!(over, count);
    if !matches!(over, Ok(Some(_))) {
        assert_eq!(records, vec![noted; 2]);
    }

    let (ty, mut memory) = (Type::of::<Sample>().commit(), vec![0xEE; ROOM * size_of::<Sample>()]);
    let by = dtype_message::read_with(&mut &bytes[..], &ty, &mut memory, ROOM);
    if let Ok(Some(records)) = &result {
        assert_eq!(&items[..records.len()], records);
        assert_eq!((into, by.unwrap()), (count, Some(records.len())));
        let mut packed = vec![0; records.len() * 5];
        ty.pack(&memory, records.len(), &mut packed).unwrap();
        assert_eq!(packed, pack(records));
    } else if by.is_err() {
        assert!(memory.iter().all(|byte| *byte == 0xEE));
    }
    result
}

fn text(error: &Error) -> String {
    format!("{error:?}")
}

macro_rules! refused {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("{other:?}"),
        }
    };
}

/// Refused with the error of an operation on the packed bytes.
macro_rules! records_refused {
    ($result:expr, $pattern:pat) => {
        refused!($result, Error::Records(error) if matches!(*error, $pattern))
    };
}

/// The frame byte by byte.
#[test]
#[cfg(target_endian = "little")]
fn golden() {
    let frame =
        frame(&[Sample { value: 0x0403_0201, flag: true }, Sample { value: 5, flag: false }]);
    #[rustfmt::skip]
    let golden = [
        0xD7, 0x44, 0x54, 0x4D,                         // magic
        1, 1, 0, 0,                                     // version, little-endian, flags
        0xF2, 0x47, 0xCC, 0x27, 0x18, 0x37, 0xC2, 0x61, // signature hash
        2, 0, 0, 0, 0, 0, 0, 0,                         // records
        5, 0, 0, 0, 0, 0, 0, 0,                         // packed bytes of each
        0, 0, 0, 0, 0, 0, 0, 0,                         // no schema
        0, 0, 0, 0,                                     // tag
        0xEB, 0x98, 0x46, 0x05,                         // checksum of the header
        1, 2, 3, 4, 1, 5, 0, 0, 0, 0,                   // records
        0xD6, 0x82, 0x17, 0xC4,                         // checksum
    ];
    assert_eq!(frame, golden);
    let hash = Sample::TYPE_MAP.signature_hash();
    assert_eq!(golden[8..16], hash.to_le_bytes());
    assert_eq!(Type::of::<Sample>().signature_hash(), hash);
    let header = Header::read(&mut &frame[..]).unwrap().unwrap();
    assert_eq!((header.count(), header.record_size(), header.payload_len()), (2, 5, 10));
    assert_eq!((header.signature_hash(), header.byte_order()), (Some(hash), ByteOrder::Little));
    assert_eq!((header.tag(), header.schema_hash(), header.frame_len()), (0, None, 62));
    assert_eq!(*header.to_bytes(), golden[..48]);
}

#[test]
fn messages_in_a_row_and_the_end() {
    let mut bytes = frame(&samples(3));
    bytes.extend(frame::<Sample>(&[]));
    bytes.extend(frame(&samples(1)));
    for size in [1, 2, 7, 48, 1000] {
        let mut input = Drops::new(&bytes, size);
        for count in [3, 0, 1] {
            let read = dtype_message::read::<Sample>(&mut input, &LIMITS).unwrap();
            assert_eq!(read, Some(samples(count)));
        }
        assert_eq!(dtype_message::read::<Sample>(&mut input, &LIMITS).unwrap(), None);
        assert_eq!(dtype_message::read_into(&mut input, &mut samples(2)).unwrap(), None);
    }
    for count in 0..5 {
        assert_eq!(outcome(&frame(&samples(count))).unwrap(), Some(samples(count)));
    }
    assert_eq!(outcome(&[]).unwrap(), None);
}

/// Messages longer than a piece, of lengths near a piece's end, and messages of single records longer than a piece.
#[test]
#[cfg_attr(miri, ignore = "so many kilobytes take Miri minutes")]
fn long_messages() {
    let piece = 64 * 1024;
    for count in [piece / 5, piece / 5 + 1, 3 * (piece / 5), 100_000] {
        let sent = samples(u32::try_from(count).unwrap());
        let mut output = Counts::new(usize::MAX);
        dtype_message::write(&mut output, &sent).unwrap();
        assert_eq!(output.bytes.len(), FRAME + 5 * count);
        assert_eq!(output.calls, count.div_ceil(piece / 5));
        assert!(output.longest <= piece + FRAME);
        for size in [1000, piece + 1] {
            let mut input = Drops::new(&output.bytes, size);
            let read = dtype_message::read::<Sample>(&mut input, &Limits::new()).unwrap().unwrap();
            assert!(read == sent);
        }
        let mut items = vec![Sample::default(); count];
        assert_eq!(
            dtype_message::read_into(&mut &output.bytes[..], &mut items).unwrap(),
            Some(count)
        );
        assert!(items == sent);
    }
    let bytes: Vec<u8> = (0..251).cycle().take(3 * size_of::<Long>()).collect();
    let sent: Vec<Long> = unpack(&bytes).unwrap();
    let bytes = frame(&sent);
    assert!(dtype_message::read::<Long>(&mut &bytes[..], &Limits::new()).unwrap().unwrap() == sent);
    assert!(dtype_message::read_into(&mut &bytes[..], &mut sent.clone()[..2]).is_err());
}

#[test]
#[cfg_attr(miri, ignore = "so many kilobytes take Miri minutes")]
fn types_made_at_run_time() {
    // The columns of a matrix, the last one first. The reader stores the columns as rows.
    let column = Type::vector(100, 1, 200, &Type::basic(Basic::F64)).unwrap();
    let backwards = Type::resized(&column, 0, -8).unwrap().commit();
    let matrix: Vec<f64> = (0..20_000).map(f64::from).collect();
    let matrix: Vec<u8> = matrix.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let mut stream = Counts::new(usize::MAX);
    dtype_message::write_with(&mut stream, &backwards, Buffer::new(&matrix).origin(199 * 8), 200)
        .unwrap();
    assert_eq!(stream.calls, 3);
    let mut packed = vec![0; 160_000];
    backwards.pack(Buffer::new(&matrix).origin(199 * 8), 200, &mut packed).unwrap();
    let message = Incoming::open(&stream.bytes[..], &Limits::new()).unwrap().unwrap();
    assert_eq!(message.packed().unwrap(), packed);

    let mut again = vec![0; matrix.len()];
    let read = dtype_message::read_with(
        &mut &stream.bytes[..],
        &backwards,
        BufferMut::new(&mut again).origin(199 * 8),
        200,
    );
    assert_eq!((read.unwrap(), again == matrix), (Some(200), true));
    let rows = dtype_message::read::<[f64; 100]>(&mut &stream.bytes[..], &Limits::new());
    let rows = rows.unwrap().unwrap();
    assert_eq!(
        (rows.len(), rows[0][..2].to_vec(), rows[199][99]),
        (200, vec![199.0, 399.0], 19_800.0)
    );

    // Records longer than a piece. The first one's origin is outside the memory.
    let far = Type::hindexed_block(70_000, &[100], &Type::basic(Basic::U8)).unwrap();
    let far = Type::resized(&far, 0, -70_000).unwrap().commit();
    let memory: Vec<u8> = (0_u8..210).cycle().take(210_000).collect();
    let mut stream = Vec::new();
    dtype_message::write_with(&mut stream, &far, Buffer::new(&memory).origin(139_900), 3).unwrap();
    let mut packed = vec![0; 210_000];
    far.pack(Buffer::new(&memory).origin(139_900), 3, &mut packed).unwrap();
    assert_eq!(stream[48..210_048], packed);
}

#[test]
fn memory_that_a_type_does_not_fit() {
    let pair = Type::vector(2, 1, 3, &Type::basic(Basic::U8)).unwrap().commit();
    let mut stream = Vec::new();
    let refusal = dtype_message::write_with(&mut stream, &pair, b"abc", 1);
    records_refused!(refusal, dtype_runtime::Error::OutOfBounds { end: 4, len: 3, .. });
    let refusal = dtype_message::write_with(&mut stream, &pair, b"abc", usize::MAX);
    records_refused!(refusal, dtype_runtime::Error::OutOfBounds { .. });
    assert_eq!(stream, []);

    dtype_message::write_with(&mut stream, &pair, b"abcd", 1).unwrap();
    let input = &mut &stream[..];
    let refusal = dtype_message::read_with(input, &pair, &mut [0; 3], 1);
    records_refused!(refusal, dtype_runtime::Error::OutOfBounds { .. });
    // The payload has not been read, so it can still be read with the header.
    let header = Header::from_bytes(stream[..48].first_chunk().unwrap()).unwrap();
    let message = Incoming::new(header, input, &LIMITS).unwrap();
    assert_eq!(message.packed().unwrap(), b"ad");

    let twice = Type::hvector(2, 1, 0, &Type::basic(Basic::U8)).unwrap().commit();
    let refusal = dtype_message::read_with(&mut &stream[..], &twice, &mut [0; 3], 1);
    records_refused!(refusal, dtype_runtime::Error::Overlap { count: 1 });
    refused!(
        dtype_message::read_with(&mut &stream[..], &pair, &mut [0; 3], 0),
        Error::RecordLimit { limit: 0, actual: 1 }
    );
    refused!(
        dtype_message::read_into(&mut &frame(&samples(3))[..], &mut samples(2)),
        Error::RecordLimit { limit: 2, actual: 3 }
    );
}

#[test]
fn each_field_of_the_header_is_checked() {
    let good = frame(&samples(3));
    let with = |change: &dyn Fn(&mut [u8])| outcome(&changed(&good, change));
    refused!(with(&|b| b[0] = b'X'), Error::Magic { actual: [b'X', b'D', b'T', b'M'] });
    refused!(with(&|b| b[4] = 2), Error::Version { actual: 2 });
    refused!(with(&|b| b[5] = 0), Error::ByteOrderMark { actual: 0 });
    refused!(with(&|b| b[5] = 3), Error::ByteOrderMark { actual: 3 });
    refused!(with(&|b| b[6] = 1), Error::Reserved { offset: 6, actual: 1 });
    refused!(with(&|b| b[7] = 1), Error::Reserved { offset: 6, actual: 0x100 });
    let hash = Sample::TYPE_MAP.signature_hash();
    refused!(
        with(&|b| b[8] ^= 1),
        Error::Mismatch(mismatch)
            if (mismatch.expected.signature_hash, mismatch.actual.signature_hash)
                == (Some(hash), Some(hash ^ 1))
    );
    // The header's own checksum covers these fields, so only a sender could have written them wrongly.
    refused!(
        with(&|b| b[16] = 4),
        Error::Truncated { part: Part::Payload, expected: 20, actual: 19 }
    );
    refused!(
        with(&|b| b[24] = 6),
        Error::Mismatch(mismatch) if (mismatch.expected.size, mismatch.actual.size) == (5, 6)
    );
    refused!(
        with(&|b| b[32] = 16),
        Error::Mismatch(mismatch) if mismatch.actual.schema_hash == Some(16)
    );
    refused!(
        with(&|b| {
            b[16] = 5;
            b[24] = 3;
        }),
        Error::Mismatch(mismatch) if (mismatch.expected.size, mismatch.actual.size) == (5, 3)
    );
    // A product that would wrap around to the right length: 2⁶³ records of 2 bytes.
    refused!(
        with(&|b| {
            b[16..40].fill(0);
            (b[23], b[24]) = (0x80, 2);
        }),
        Error::PayloadLength { count: 0x8000_0000_0000_0000, record_size: 2 }
    );
    refused!(
        outcome(&[&good[..47], &[!good[47]], &good[48..]].concat()),
        Error::HeaderChecksum { .. }
    );
}

#[test]
fn limits() {
    let announced = |count| outcome(&changed(&frame(&samples(3)), |b| announce(b, count)));
    let (limit, most) = (MAX_BYTES, u64::from(MAX_RECORDS));
    refused!(announced(1 << 60), Error::PayloadLimit { limit: l, .. } if l == limit);
    refused!(
        announced(2 * most + 1),
        Error::PayloadLimit { limit: l, actual } if (l, actual) == (limit, limit + 5)
    );
    refused!(
        announced(most + 1),
        Error::RecordLimit { limit, actual } if (limit, actual) == (most, most + 1)
    );
    refused!(
        announced(most),
        Error::Truncated { part: Part::Payload, expected, actual: 19 } if expected == 5 * most
    );
    assert_eq!(outcome(&frame(&samples(MAX_RECORDS))).unwrap(), Some(samples(MAX_RECORDS)));
    // Only the header of a message that is too large is read.
    let bytes = frame(&samples(3));
    let input = &mut &bytes[..];
    let refusal = dtype_message::read::<Sample>(input, &LIMITS.with_max_records(2));
    refused!(refusal, Error::RecordLimit { limit: 2, actual: 3 });
    assert_eq!(input.len(), 15 + 4);
}

/// Without data, and with a destructor.
#[derive(Datatype, Debug, Default)]
struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {
        std::hint::black_box(self);
    }
}

#[test]
fn records_without_data() {
    assert_eq!(
        dtype_message::read::<()>(&mut &frame(&[(); 7])[..], &LIMITS).unwrap(),
        Some(vec![(); 7])
    );
    let announced = |count| changed(&frame(&[()]), |b| announce(b, count));
    refused!(
        dtype_message::read::<()>(&mut &announced(0xFFFF_FFFF)[..], &Limits::new()),
        Error::RecordLimit { limit: 0x4000_0000, actual: 0xFFFF_FFFF }
    );
    let most = usize::MAX as u64;
    let many = dtype_message::read::<()>(&mut &announced(most)[..], &Limits::UNLIMITED);
    assert_eq!(many.unwrap().unwrap().len(), usize::MAX);
    if most < u64::MAX {
        records_refused!(
            dtype_message::read::<()>(&mut &announced(most + 1)[..], &Limits::UNLIMITED),
            dtype_runtime::Error::CountTooLarge { size: 0, .. }
        );
    }

    // A destructor of each record would take for ever.
    for count in [1 << (usize::BITS - 1), Limits::MAX_RECORDS_WITHOUT_DATA + 1] {
        let hostile = announced(count);
        let limit = Limits::MAX_RECORDS_WITHOUT_DATA;
        let mut kept = Vec::<Dropped>::new();
        for refusal in [
            dtype_message::read::<Dropped>(&mut &hostile[..], &Limits::UNLIMITED).map(drop),
            dtype_message::decode::<Vec<Dropped>>(&mut &hostile[..], &Limits::UNLIMITED).map(drop),
            dtype_message::read_reusing(&mut &hostile[..], &mut kept, &Limits::UNLIMITED).map(drop),
        ] {
            refused!(refusal, Error::RecordLimit { limit: l, actual } if (l, actual) == (limit, count));
        }
    }
    let most = announced(Limits::MAX_RECORDS_WITHOUT_DATA);
    let read = dtype_message::read::<Dropped>(&mut &most[..], &Limits::UNLIMITED).unwrap();
    assert_eq!(read.unwrap().len() as u64, Limits::MAX_RECORDS_WITHOUT_DATA);

    // Records without data still take memory, so the limit of the payload applies to their memory.
    let mut notes = vec![Note::default()];
    let few = MAX_BYTES / 25;
    let allowed = changed(&frame(&notes), |b| announce(b, few));
    let read = dtype_message::read_reusing(&mut &allowed[..], &mut notes, &LIMITS);
    assert_eq!((read.unwrap(), notes.len() as u64), (Some(notes.len()), few));
    let hostile = changed(&frame(&notes), |b| announce(b, 1 << 30));
    refused!(
        dtype_message::read_reusing(
            &mut &hostile[..],
            &mut notes,
            &LIMITS.with_max_records(u64::MAX)
        ),
        Error::PayloadLimit { limit: MAX_BYTES, .. }
    );
    let read = dtype_message::read_into(&mut &allowed[..], &mut notes);
    assert_eq!(read.unwrap(), Some(notes.len()));

    let nothing = Type::contiguous(0, &Type::basic(Basic::U8)).unwrap().commit();
    let mut stream = Vec::new();
    dtype_message::write_with(&mut stream, &nothing, &[], usize::MAX).unwrap();
    assert_eq!(stream.len(), FRAME);
    let read = dtype_message::read_with(&mut &stream[..], &nothing, &mut [], usize::MAX);
    assert_eq!(read.unwrap(), Some(usize::MAX));
}

/// Records as a machine with the other byte order sends them.
fn from_afar(items: &[Sample]) -> Vec<u8> {
    let other = match ByteOrder::NATIVE {
        ByteOrder::Little => Representation::BigEndian,
        ByteOrder::Big => Representation::LittleEndian,
    };
    let mut packer = Packer::new(items).with_representation(other).unwrap();
    changed(&frame(items), |frame| {
        frame[5] = 3 - frame[5];
        let end = frame.len() - 4;
        packer.pack(&mut frame[48..end]).unwrap();
    })
}

#[test]
fn the_other_byte_order() {
    let [a, b, c, d] = 7_u32.swap_bytes().to_ne_bytes();
    assert_eq!(from_afar(&samples(2))[48..58], [0, 0, 0, 0, 1, a, b, c, d, 0]);
    for count in [0, 1, 2, MAX_RECORDS] {
        let sent = samples(count);
        let bytes = from_afar(&sent);
        assert_eq!(outcome(&bytes).unwrap().unwrap(), sent);
        let message = Incoming::open(&bytes[..], &LIMITS).unwrap().unwrap();
        assert_eq!(message.packed().unwrap(), bytes[48..bytes.len() - 4]);
    }
    // Several pieces take Miri minutes.
    if cfg!(miri) {
        return;
    }
    let sent = samples(40_000);
    let read = dtype_message::read::<Sample>(&mut &from_afar(&sent)[..], &Limits::new());
    assert_eq!(read.unwrap().unwrap(), sent);
    let mut wrong = from_afar(&sent);
    wrong[48 + 5 * 30_000 + 4] = 2;
    frames::seal(&mut wrong);
    records_refused!(
        dtype_message::read::<Sample>(&mut &wrong[..], &Limits::new()),
        dtype_runtime::Error::InvalidValue { record: 30_000, .. }
    );
}

#[test]
#[cfg_attr(miri, ignore = "so many kilobytes take Miri minutes")]
fn a_wrong_value_is_named_and_the_next_message_is_there() {
    let sent = samples(40_000);
    let mut bytes = frame(&sent);
    let at = 48 + 5 * 30_000 + 4;
    bytes[at] = 2;
    let damaged = bytes.clone();
    frames::seal(&mut bytes);
    let next = frame(&samples(1));
    for (bytes, wrong) in [(bytes, true), (damaged, false)] {
        let stream = [&bytes[..], &next].concat();
        let limits = Limits::new();
        let (mut items, mut records) = (samples(40_000), samples(7));
        for form in 0..3 {
            let input = &mut &stream[..];
            let error = match form {
                0 => dtype_message::read::<Sample>(input, &limits).unwrap_err(),
                1 => dtype_message::read_into(input, &mut items).unwrap_err(),
                _ => dtype_message::read_reusing(input, &mut records, &limits).unwrap_err(),
            };
            match error {
                Error::Records(error) if wrong => {
                    let dtype_runtime::Error::InvalidValue { record, path, .. } = *error else {
                        panic!("{error}");
                    };
                    assert_eq!((record, &*path), (30_000, "flag"));
                }
                // The checksum finds the damage, whatever the changed byte means.
                Error::Checksum { .. } if !wrong => {}
                other => panic!("{other:?}"),
            }
            assert!(dtype_message::read::<Sample>(input, &limits).unwrap() == Some(samples(1)));
        }
        assert!(items == sent && records == samples(7));
    }
}

#[test]
fn records_that_fail_verification_are_never_dropped() {
    #[derive(Datatype, Debug)]
    struct Handle(u8);

    impl Drop for Handle {
        fn drop(&mut self) {
            assert_eq!(self.0, 1, "a handle that was not sent");
        }
    }

    let mut bytes = frame(&[Handle(1), Handle(1)]);
    bytes[49] = 5;
    refused!(dtype_message::read::<Handle>(&mut &bytes[..], &LIMITS), Error::Checksum { .. });
    refused!(dtype_message::read::<Handle>(&mut &bytes[..50], &LIMITS), Error::Truncated { .. });
    bytes[49] = 1;
    assert_eq!(dtype_message::read::<Handle>(&mut &bytes[..], &LIMITS).unwrap().unwrap().len(), 2);
}

#[test]
fn every_early_end_is_found() {
    let bytes = frame(&samples(3));
    let ends: Vec<usize> =
        if cfg!(miri) { vec![1, 47, 48, 50, 62, 63, 66] } else { (1..bytes.len()).collect() };
    for end in ends {
        let (part, expected, actual) = match end {
            ..48 => (Part::Header, 48, end),
            48..63 => (Part::Payload, 15, end - 48),
            _ => (Part::Checksum, 4, end - 63),
        };
        refused!(
            outcome(&bytes[..end]),
            Error::Truncated { part: p, expected: e, actual: a }
                if (p, e, a) == (part, expected, actual as u64)
        );
        refused!(
            dtype_message::read::<Sample>(&mut Fails(&bytes[..end], ErrorKind::WouldBlock), &LIMITS),
            Error::Io(error) if error.kind() == ErrorKind::WouldBlock
        );
        refused!(
            dtype_message::read::<Sample>(&mut Lies(&bytes[..end]), &LIMITS),
            Error::Io(error) if error.kind() == ErrorKind::InvalidData
        );
        let message = Incoming::open(&bytes[..end.max(48)], &LIMITS).unwrap().unwrap();
        assert!(message.skip().is_err());
    }
    // After `WouldBlock`, reading can be repeated if no byte of the message was read.
    let mut input = Fails(&[], ErrorKind::WouldBlock);
    refused!(dtype_message::read::<Sample>(&mut input, &LIMITS), Error::Io(_));
    input.0 = &bytes;
    assert_eq!(dtype_message::read::<Sample>(&mut input, &LIMITS).unwrap(), Some(samples(3)));
}

#[test]
#[cfg_attr(miri, ignore = "so many kilobytes take Miri minutes")]
fn a_message_is_skipped() {
    let bytes = [frame(&samples(50_000)), frame(&[1_u8]), frame(&samples(2))].concat();
    let mut input = &bytes[..];
    let message = Incoming::open(&mut input, &Limits::UNLIMITED).unwrap().unwrap();
    assert_eq!(message.header().count(), 50_000);
    assert_eq!(message.skip().unwrap(), 250_000);
    let message = Incoming::open(&mut input, &Limits::UNLIMITED).unwrap().unwrap();
    assert!(message.header().check::<Sample>().is_err());
    assert!(message.header().check_type(&Type::basic(Basic::U8)).is_ok());
    assert_eq!(message.skip().unwrap(), 1);
    assert_eq!(dtype_message::read::<Sample>(&mut input, &LIMITS).unwrap(), Some(samples(2)));
}

#[test]
#[cfg_attr(miri, ignore = "so many kilobytes take Miri minutes")]
fn a_writer_that_fails() {
    for room in [0, 48, 70_000] {
        let refusal = dtype_message::write(&mut Counts::new(room), &samples(50_000));
        refused!(refusal, Error::Io(error) if error.kind() == ErrorKind::BrokenPipe);
    }
    // A message of 4 EiB, all of whose bytes are at one place in memory, takes no memory to write.
    let huge = Type::hvector(1 << 62, 1, 0, &Type::basic(Basic::U8)).unwrap().commit();
    let refusal = dtype_message::write_with(&mut Counts::new(1 << 20), &huge, &[0], 1);
    refused!(refusal, Error::Io(error) if error.kind() == ErrorKind::BrokenPipe);
}

#[test]
fn errors_say_why() {
    let error = Error::from(dtype_runtime::Error::SignatureMismatch { expected: 1, actual: 2 });
    assert!(error.to_string().starts_with("found signature hash 0x"));
    let error = dtype_message::read::<u16>(&mut &frame(&samples(2))[..], &LIMITS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the message with tag 0 does not hold records of the type `u16`: a record has 5 packed \
         bytes, signature 0x61c2371827cc47f2; expected 2 packed bytes, signature \
         0x16074f2a019b5dcc"
    );
    let error = Error::from(std::io::Error::from(ErrorKind::BrokenPipe));
    // The text has the cause, so a program that also prints the sources does not print it twice.
    assert_eq!(error.to_string(), "the stream of messages failed: broken pipe");
    assert!(error.source().is_none());
    let text = dtype_message::receive::<String>(&mut &frame(&[b'a', 0xFF])[..], &LIMITS);
    let error = text.unwrap_err();
    assert!(
        error.to_string().ends_with("invalid utf-8 sequence of 1 bytes from index 1"),
        "{error}"
    );
    assert!(error.source().is_none());
    let error = Error::from("\t7".parse::<Protocol>().unwrap_err());
    assert!(error.to_string().contains("malformed: block 0 of the protocol"), "{error}");
    assert!(error.source().is_none());
    let error = outcome(&frame(&samples(2))[..50]).unwrap_err();
    assert_eq!(error.to_string(), "the stream ended after 2 of 10 bytes of a frame's payload");
    assert!(error.source().is_none());
}
