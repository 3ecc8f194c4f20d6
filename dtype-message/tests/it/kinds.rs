//! Compact frames, tags, schemas, and messages of several kinds. The decoder and the encoder, which work without a stream.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dtype_message::{
    Decoded, Decoder, Encoder, Error, Framing, Header, Incoming, Limits, Messages, Part,
    Protection, Receiver, Schema,
};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Basic, Datatype, Packer, Representation, Type, pack};
use dtype_test_support::frames;
use dtype_test_support::frames::{Drops, Fails, Lies};
use dtype_test_support::fused::{Fused, PANICS};
use proptest::prelude::*;

#[derive(Datatype, Clone, Debug, PartialEq)]
struct Sample {
    value: u32,
    flag: bool,
}

#[derive(Datatype, Clone, Debug, PartialEq)]
struct Move {
    x: f32,
    y: f32,
}

#[derive(Datatype, Clone, Debug, PartialEq)]
struct Look {
    yaw: f32,
    pitch: f32,
}

#[derive(Messages, Clone, Debug, PartialEq)]
enum Packet {
    #[dtype(tag = 3)]
    Move(Move),
    Look(Look),
    #[dtype(tag = 200)]
    Chat(String),
    Samples(Vec<Sample>),
    Raw(Vec<u8>),
    Ping,
    Answer(Sample, Vec<Move>),
    Page {
        head: (u16, Look),
        samples: Vec<Sample>,
    },
    Reason(u64, String),
}

const LIMITS: Limits = Limits::new().with_max_payload_bytes(1 << 20).with_max_records(1 << 20);
const ANY: Limits = LIMITS.allow_missing_checksum().allow_missing_signature();

/// Every framing that a sender can choose, with this tag.
fn framings(tag: u32) -> Vec<Framing> {
    let compact = Framing::compact();
    let all = [
        Framing::new(),
        Framing::new().with_schema(),
        Framing::new().without_checksum().without_signature(),
        compact,
        compact.with_schema(),
        compact.without_checksum(),
        compact.without_signature(),
        compact.without_checksum().without_signature(),
        compact.without_signature().with_schema(),
    ];
    all.map(|framing| framing.with_tag(tag)).to_vec()
}

fn packets() -> Vec<Packet> {
    let samples = |count| (0..count).map(|i| Sample { value: i, flag: i % 2 == 0 }).collect();
    vec![
        Packet::Move(Move { x: 1.0, y: -2.0 }),
        Packet::Look(Look { yaw: 0.5, pitch: 3.0 }),
        Packet::Chat("Grüße".to_owned()),
        Packet::Chat(String::new()),
        Packet::Samples(samples(0)),
        Packet::Samples(samples(1)),
        Packet::Samples(samples(300)),
        Packet::Samples(samples(14_000)),
        Packet::Raw(vec![1, 2, 3]),
        Packet::Ping,
        Packet::Answer(Sample { value: 1, flag: true }, vec![Move { x: 1.0, y: -2.0 }; 3]),
        Packet::Answer(Sample { value: 2, flag: false }, vec![]),
        Packet::Page { head: (7, Look { yaw: 0.5, pitch: 3.0 }), samples: samples(200) },
        Packet::Reason(9, "Grüße".to_owned()),
        Packet::Page { head: (8, Look { yaw: 0.5, pitch: 3.0 }), samples: samples(50_000) },
    ]
}

fn encoded<M: Messages>(message: &M, framing: Framing) -> Vec<u8> {
    let mut bytes = Vec::new();
    dtype_message::encode(&mut bytes, message, framing).unwrap();
    bytes
}

/// All messages and errors of a stream that arrives in pieces of this size.
fn fed<M: Messages + std::fmt::Debug>(
    bytes: &[u8],
    size: usize,
    limits: Limits,
) -> Vec<Result<M, String>> {
    let mut decoder = Decoder::<M>::new(limits);
    let mut results = Vec::new();
    for mut piece in bytes.chunks(size) {
        loop {
            let (before, needs) = (piece.len(), decoder.needs());
            let result = decoder.feed(&mut piece);
            // `needs` never reaches past the current frame.
            assert!(before <= needs || before - piece.len() >= needs || result.is_err());
            match result {
                Ok(Some(message)) => results.push(Ok(message)),
                Ok(None) => {
                    assert!(piece.is_empty());
                    break;
                }
                Err(error) => {
                    results.push(Err(format!("{error:?}")));
                    if decoder.is_lost() {
                        assert_eq!(decoder.needs(), 0);
                        assert!(matches!(decoder.feed(&mut piece), Err(Error::Lost)));
                        return results;
                    }
                }
            }
        }
    }
    if let Err(error) = decoder.finish() {
        results.push(Err(format!("{error:?}")));
    }
    results
}

macro_rules! refused {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("{other:?}"),
        }
    };
}

/// The compact frame byte by byte.
#[test]
#[cfg(target_endian = "little")]
fn golden() {
    let samples = vec![Sample { value: 0x0403_0201, flag: true }, Sample { value: 5, flag: false }];
    #[rustfmt::skip]
    let golden = [
        0x96,                           // compact: checksum, signature, number of records
        0xAC, 0x02,                     // tag 300
        2,                              // records
        5,                              // packed bytes of each
        0xEA, 0x70, 0x0E, 0x46,         // 32 bits of the signature's hash
        1, 2, 3, 4, 1, 5, 0, 0, 0, 0,   // records
        0x55, 0x74, 0x2A, 0x8A,         // checksum
    ];
    assert_eq!(encoded(&samples, Framing::compact().with_tag(300)), golden);
    let hash = Sample::TYPE_MAP.signature_hash();
    let hash = u32::try_from((hash ^ (hash >> 32)) & 0xFFFF_FFFF).unwrap();
    assert_eq!(golden[5..9], hash.to_le_bytes());
    let Decoded::Header(header, 9) = Header::decode(&golden).unwrap() else { panic!() };
    assert_eq!((header.tag(), header.count(), header.record_size()), (300, 2, 5));
    assert_eq!((header.header_len(), header.payload_len(), header.frame_len()), (9, 10, 23));
    assert_eq!(header.signature_hash(), Some(hash.into()));

    let bare = Framing::compact().with_tag(7).without_checksum().without_signature();
    assert_eq!(encoded(&[1_u16, 2], bare), [0x80, 7, 4, 1, 0, 2, 0]);
}

#[test]
fn a_small_message_takes_little_more_than_its_records() {
    let record = (1_u32, 2_u32);
    let length = |framing| encoded(&record, framing).len() - 8;
    assert_eq!(length(Framing::new()), 52);
    assert_eq!(length(Framing::compact().with_tag(127)), 11);
    assert_eq!(length(Framing::compact().without_checksum()), 7);
    assert_eq!(length(Framing::compact().without_checksum().without_signature()), 3);
    assert_eq!(encoded(&vec![record; 127], Framing::compact()).len(), 127 * 8 + 12);
}

#[test]
fn every_framing_there_and_back() {
    for framing in framings(70_000) {
        let (bytes, sent) = (encoded(&vec![7_u16, 8], framing), Some(vec![7_u16, 8]));
        let Decoded::Header(header, len) = Header::decode(&bytes).unwrap() else { panic!() };
        assert_eq!((len, header.frame_len()), (header.header_len(), bytes.len() as u64));
        assert_eq!(header.tag(), 70_000);
        // A header made from the framing is equal: it has no fields that the frame lacks.
        assert_eq!(Header::of::<u16>(2, header.framing()).unwrap(), header);
        assert_eq!(dtype_message::read::<u16>(&mut &bytes[..], &ANY).unwrap(), sent);
        assert_eq!(dtype_message::decode::<Vec<u16>>(&mut &bytes[..], &ANY).unwrap(), sent);
        let mut stream = Vec::new();
        dtype_message::write_framed(&mut stream, &[7_u16, 8], framing).unwrap();
        assert_eq!(stream, bytes);
        stream.clear();
        let mut encoder = Encoder::new(&[7_u16, 8], framing).unwrap();
        std::io::copy(&mut encoder, &mut stream).unwrap();
        assert!(encoder.is_complete() && stream == bytes);
        // For each prefix, `decode` returns a lower bound of the header's length.
        for end in 0..len {
            let Decoded::Needs(needs) = Header::decode(&bytes[..end]).unwrap() else { panic!() };
            assert!(end < needs && needs <= len);
        }
    }
}

#[test]
fn packets_in_every_framing_and_in_pieces_of_any_size() {
    let packets = packets();
    for framing in framings(0) {
        let mut stream = Vec::new();
        for packet in &packets {
            let start = stream.len();
            let length = dtype_message::send(&mut stream, packet, framing).unwrap();
            assert_eq!(
                (length, &stream[start..]),
                ((stream.len() - start) as u64, &*encoded(packet, framing))
            );
        }
        let sent: Vec<Result<Packet, String>> = packets.iter().cloned().map(Ok).collect();
        for size in [1, 2, 3, 7, 64, 1000, stream.len()] {
            assert!(fed::<Packet>(&stream, size, ANY) == sent, "{framing:?} {size}");
        }
        let mut input = Drops::new(&stream, 999);
        for packet in &packets {
            assert_eq!(dtype_message::receive(&mut input, &ANY).unwrap().as_ref(), Some(packet));
        }
        assert_eq!(dtype_message::receive::<Packet>(&mut input, &ANY).unwrap(), None);
        let mut receiver = Receiver::<_, Packet>::new(Drops::new(&stream, 999), ANY);
        for packet in &packets {
            assert_eq!(receiver.next_message().unwrap().as_ref(), Some(packet));
        }
        assert_eq!(receiver.next_message().unwrap(), None);
    }
}

#[test]
fn a_wrong_message_costs_that_message_alone() {
    let full = Framing::new();
    let good = Packet::Move(Move { x: 1.0, y: 2.0 });
    let mut damaged = encoded(&Packet::Chat("hello".to_owned()), full);
    damaged[50] ^= 1;
    let mut broken = encoded(&Packet::Samples(vec![Sample { value: 1, flag: true }]), full);
    broken[52] = 2;
    frames::seal(&mut broken);
    let stream = [
        encoded(&good, full),
        encoded(&1_u8, full.with_tag(99)),
        encoded(&1_u8, full.with_tag(3)),
        encoded(&vec![Move { x: 0.0, y: 0.0 }; 2], full.with_tag(3)),
        encoded(&vec![0xFF_u8, 0xFE], full.with_tag(200)),
        damaged,
        broken,
        encoded(&Packet::Raw(vec![0; 2000]), full),
        encoded(&Packet::Raw(vec![0; 70_000]), full),
        encoded(&good, full),
    ]
    .concat();
    let limits = LIMITS.with_max_payload_bytes(1999);
    let results = fed::<Packet>(&stream, stream.len(), limits);
    for size in [1, 5, 100, 5000] {
        assert_eq!(fed::<Packet>(&stream, size, limits), results);
    }
    let starts = [
        "UnknownTag { tag: 99, expected: \"Packet\" }",
        "Mismatch(",
        "RecordCount { expected: 1, actual: 2 }",
        "Text(",
        "Checksum {",
        "Records(InvalidValue {",
        "PayloadLimit { limit: 1999, actual: 2000 }",
        "PayloadLimit { limit: 1999, actual: 70000 }",
    ];
    assert_eq!(results.len(), starts.len() + 2);
    assert_eq!((results.first().unwrap(), results.last().unwrap()), (&Ok(good.clone()), &Ok(good)));
    for (result, start) in results[1..].iter().zip(starts) {
        assert!(result.as_ref().unwrap_err().starts_with(start), "{result:?}");
    }
    // The blocking reader returns the same results.
    let mut receiver = Receiver::<_, Packet>::new(&stream[..], limits);
    for result in results {
        let next = receiver.next_message().map_err(|error| format!("{error:?}"));
        assert_eq!(next.map(Option::unwrap), result);
        assert!(!receiver.is_lost());
    }
    assert_eq!(receiver.next_message().unwrap(), None);
}

/// A stream with a time limit for each read: the receiver tells whether a peer that sends nothing is idle.
#[test]
fn an_idle_peer_is_told_from_one_in_a_frame() {
    let bytes = encoded(&Packet::Chat("hello".to_owned()), Framing::new());
    let stream = [&bytes[..], &bytes[..20]].concat();
    let timed_out = Fails(&stream, std::io::ErrorKind::WouldBlock);
    let mut receiver = Receiver::<_, Packet>::new(timed_out, LIMITS);
    assert!(receiver.is_between_frames() && receiver.has_started().unwrap());
    assert!(receiver.next_message().unwrap().is_some());
    refused!(receiver.next_message(), Error::Io(_));
    assert!(!receiver.is_between_frames() && receiver.has_started().unwrap());
    let mut idle =
        Receiver::<_, Packet>::new(Fails(&bytes, std::io::ErrorKind::WouldBlock), LIMITS);
    assert!(idle.next_message().unwrap().is_some());
    refused!(idle.has_started(), Error::Io(_));
    refused!(idle.next_message(), Error::Io(_));
    assert!(idle.is_between_frames() && !idle.is_lost());
    let mut ended = Receiver::<_, Packet>::new(&b""[..], LIMITS);
    assert!(!ended.has_started().unwrap() && ended.next_message().unwrap().is_none());
}

/// Records, bytes of text and bytes of payload are three numbers.
#[test]
fn each_limit_has_its_own_number() {
    const FEW: Limits = Limits::new().with_max_records(256);
    const SHORT: Limits = Limits::new().with_max_text_bytes(256);
    for framing in [Framing::new(), Framing::compact()] {
        let (text, bytes) = ("x".repeat(300), vec![0_u8; 300]);
        let text = encoded(&Packet::Chat(text), framing);
        let bytes = encoded(&Packet::Raw(bytes), framing);
        for size in [1, 10, 1000] {
            let results = |stream: &[u8], limits| fed::<Packet>(stream, size, limits);
            assert!(matches!(&results(&text, FEW)[..], [Ok(Packet::Chat(_))]));
            assert!(matches!(&results(&bytes, SHORT)[..], [Ok(Packet::Raw(_))]));
            let [Err(refusal)] = &results(&text, SHORT)[..] else { panic!() };
            assert_eq!(refusal, "TextLimit { limit: 256, actual: 300 }");
            let [Err(refusal)] = &results(&bytes, FEW)[..] else { panic!() };
            assert_eq!(refusal, "RecordLimit { limit: 256, actual: 300 }");
        }
        let read = |limits| dtype_message::receive::<Packet>(&mut &text[..], &limits);
        let refusal = read(SHORT).unwrap_err().to_string();
        assert_eq!(refusal, "a message of 300 bytes of text exceeds the limit of 256");
        assert!(read(FEW).is_ok());
        // The payload is a number of its own, for text and for records.
        for frame in [&text, &bytes] {
            let limits = LIMITS.with_max_payload_bytes(299);
            let refusal = dtype_message::decode::<Packet>(&mut &frame[..], &limits).unwrap_err();
            assert_eq!(refusal.to_string(), "a message of 300 bytes exceeds the limit of 299");
        }
    }
    // Readers that know the type, without an enum.
    let frame = encoded(&vec![0_u8; 300], Framing::new());
    let open = || Incoming::open(&frame[..], &FEW).unwrap().unwrap();
    refused!(open().read::<u8>(), Error::RecordLimit { limit: 256, actual: 300 });
    refused!(open().read_into(&mut [0_u8; 300]), Error::RecordLimit { limit: 256, actual: 300 });
    let reused = open().read_reusing(&mut Vec::<u8>::new());
    refused!(reused, Error::RecordLimit { limit: 256, actual: 300 });
    let ty = Type::basic(Basic::U8).commit();
    let with = open().read_with(&ty, &mut [0; 300], 300);
    refused!(with, Error::RecordLimit { limit: 256, actual: 300 });
    assert_eq!(open().packed().unwrap().len(), 300);
}

/// A variant can be stricter than the receiver, but not more lenient.
#[test]
fn a_kind_of_message_has_limits_of_its_own() {
    const MOST: u64 = 2;
    #[derive(Messages, Debug, PartialEq)]
    enum Kinds {
        #[dtype(max_records = MOST)]
        Few(Vec<u16>),
        #[dtype(tag = 7, max_text_bytes = 3 + 1, max_payload_bytes = 100)]
        Short(String),
        #[dtype(max_payload_bytes = 8)]
        Small(Vec<u16>),
        #[dtype(max_records = 0)]
        Never(u8),
        Any(Vec<u16>),
    }
    let cases = [
        (Kinds::Few(vec![0; 3]), "RecordLimit { limit: 2, actual: 3 }"),
        (Kinds::Few(vec![0; 2]), ""),
        (Kinds::Short("12345".into()), "TextLimit { limit: 4, actual: 5 }"),
        (Kinds::Short("1234".into()), ""),
        (Kinds::Small(vec![0; 5]), "PayloadLimit { limit: 8, actual: 10 }"),
        (Kinds::Small(vec![0; 4]), ""),
        (Kinds::Never(1), "RecordLimit { limit: 0, actual: 1 }"),
        (Kinds::Any(vec![0; 50]), ""),
        (Kinds::Any(vec![0; 51]), "RecordLimit { limit: 50, actual: 51 }"),
    ];
    for (framing, (sent, refusal)) in [Framing::new(), Framing::compact()]
        .into_iter()
        .flat_map(|f| cases.iter().map(move |c| (f, c)))
    {
        let frame = encoded(sent, framing);
        let limits = LIMITS.with_max_records(50);
        let read = dtype_message::receive::<Kinds>(&mut &frame[..], &limits);
        let decoded = dtype_message::decode::<Kinds>(&mut &frame[..], &limits);
        for result in [read, decoded] {
            match result {
                Ok(read) => assert!(refusal.is_empty() && read.as_ref() == Some(sent), "{sent:?}"),
                Err(error) => assert_eq!(format!("{error:?}"), *refusal),
            }
        }
        for size in [1, 1000] {
            let results = fed::<Kinds>(&frame, size, limits);
            assert!(results.len() == 1 && results[0].is_ok() == refusal.is_empty(), "{results:?}");
        }
    }
}

#[test]
fn after_damage_a_compact_stream_is_lost() {
    let mut stream = encoded(&Packet::Chat("hello".to_owned()), Framing::compact());
    stream[12] ^= 1;
    stream.extend(encoded(&Packet::Ping, Framing::compact()));
    for size in [1, 4, 1000] {
        let results = fed::<Packet>(&stream, size, LIMITS);
        assert!(matches!(&results[..], [Err(error)] if error.starts_with("Checksum")));
    }
    let mut receiver = Receiver::<_, Packet>::new(&stream[..], LIMITS);
    refused!(receiver.next_message(), Error::Checksum { .. });
    assert!(receiver.is_lost());
    refused!(receiver.next_message(), Error::Lost);
    // A datagram has no next message to find.
    refused!(dtype_message::decode::<Packet>(&mut &stream[..], &LIMITS), Error::Checksum { .. });
}

/// The refusal of a frame may be due to damage. Then the frame does not end where its header says, and its payload, which
/// anyone may have filled, would become frames.
#[test]
fn a_refused_compact_frame_is_checked_too() {
    let compact = Framing::compact();
    let forged = encoded(&"forged".to_owned(), compact);
    let payload = [&b"abcd"[..], &forged, b".."].concat();
    let good = encoded(&"good".to_owned(), compact);
    let frame = encoded(&payload, compact);
    for size in [1, 3, 1000] {
        let stream = [&frame[..], &good].concat();
        let results = fed::<String>(&stream, size, LIMITS);
        assert!(matches!(&results[..], [Err(_), Ok(text)] if text == "good"), "{results:?}");
        for bit in 0..8 * frame.len() {
            let mut stream = stream.clone();
            stream[bit / 8] ^= 1 << (bit % 8);
            let results = fed::<String>(&stream, size, LIMITS);
            assert!(results.iter().all(Result::is_err), "bit {bit}, by {size}: {results:?}");
        }
    }
}

#[test]
fn decoding_moves_past_a_refused_frame() {
    let good = encoded(&"good".to_owned(), Framing::new());
    for (framing, len) in framings(0).into_iter().flat_map(|f| [10, 70_000].map(|len| (f, len))) {
        let stream = [encoded(&vec![1_u8; len], framing), good.clone()].concat();
        let (mut input, limits) = (&stream[..], ANY.with_max_payload_bytes(9));
        assert!(dtype_message::decode::<String>(&mut input, &limits).is_err(), "{framing:?}");
        assert_eq!(dtype_message::decode(&mut input, &limits).unwrap(), Some("good".to_owned()));
    }
}

/// A loop over the messages in memory ends, even if the loop continues after errors.
#[test]
fn decoding_takes_everything_behind_a_damaged_header() {
    for framing in framings(0) {
        let mut stream = encoded(&"good".to_owned(), framing).repeat(2);
        stream[0] = 0;
        let mut input = &stream[..];
        refused!(dtype_message::decode::<String>(&mut input, &ANY), Error::Magic { .. });
        assert!(input.is_empty(), "{framing:?}");
    }
}

/// A stream that ends inside a skipped frame is reported like one that ends inside any other frame.
#[test]
fn the_end_of_a_stream_inside_a_refused_frame() {
    for framing in [Framing::new(), Framing::compact()] {
        let frame = encoded(&vec![0_u8; 100], framing);
        let header = frame.len() - 104;
        for (came, part, expected, actual) in
            [(50, Part::Payload, 100, 50), (100, Part::Checksum, 4, 0), (102, Part::Checksum, 4, 2)]
        {
            let mut decoder = Decoder::<String>::new(LIMITS.with_max_payload_bytes(99));
            let mut input = &frame[..header + came];
            refused!(decoder.feed(&mut input), Error::PayloadLimit { .. });
            assert!(matches!(decoder.feed(&mut input), Ok(None)) && input.is_empty());
            assert_eq!(decoder.needs(), 104 - came);
            let end = Error::Truncated { part, expected, actual };
            assert_eq!(format!("{:?}", decoder.finish()), format!("{:?}", Err::<(), _>(end)));
        }
    }
    // Without a payload and a checksum, no byte is left to skip.
    let frame = encoded(&Vec::<u32>::new(), Framing::compact().without_checksum());
    let mut decoder = Decoder::<String>::new(LIMITS);
    for at in 0..frame.len() - 1 {
        assert!(matches!(decoder.feed(&mut &frame[at..=at]), Ok(None)));
    }
    assert!(decoder.feed(&mut &frame[frame.len() - 1..]).is_err());
    assert!(decoder.is_between_frames() && decoder.needs() == 1 && decoder.finish().is_ok());
}

#[test]
fn a_wrong_header_is_refused_at_its_first_wrong_byte() {
    let frame = encoded(&1_u8, Framing::new());
    refused!(Header::decode(b"HELLO"), Error::Magic { actual } if actual == *b"HELL");
    assert!(matches!(Header::decode(b"H"), Ok(Decoded::Needs(4))));
    assert!(matches!(Header::decode(&frame[..1]), Ok(Decoded::Needs(48))));
    refused!(Header::decode(&[&frame[..4], &[77]].concat()), Error::Version { actual: 77 });
    // A reader reads only the bytes that it needs to find the mistake.
    refused!(dtype_message::read::<u8>(&mut &b"HELLO"[..], &LIMITS), Error::Magic { .. });
}

#[test]
fn every_change_of_one_byte_is_found() {
    let packets = [
        Packet::Move(Move { x: 1.0, y: 2.0 }),
        Packet::Chat("hello".to_owned()),
        Packet::Samples(vec![Sample { value: 5, flag: true }; 3]),
        Packet::Ping,
    ];
    for (packet, framing) in packets.iter().flat_map(|packet| {
        [Framing::new(), Framing::compact(), Framing::compact().with_schema()].map(|f| (packet, f))
    }) {
        let good = encoded(packet, framing);
        assert_eq!(dtype_message::decode(&mut &good[..], &LIMITS).unwrap().as_ref(), Some(packet));
        for at in 0..good.len() {
            for change in 1..=255_u8 {
                let mut bytes = good.clone();
                bytes[at] ^= change;
                let read = dtype_message::decode::<Packet>(&mut &bytes[..], &LIMITS);
                assert!(read.is_err(), "byte {at} by {change:#x}: {read:?}");
                if change.is_power_of_two() {
                    let results = fed::<Packet>(&bytes, 3, LIMITS);
                    assert!(results.iter().all(Result::is_err), "byte {at} by {change:#x}");
                }
            }
        }
    }
}

#[test]
fn every_early_end_is_found() {
    for framing in framings(200) {
        let packet = Packet::Chat("hello".to_owned());
        let bytes = encoded(&packet, framing);
        for end in 1..bytes.len() {
            let cut = &bytes[..end];
            refused!(dtype_message::decode::<Packet>(&mut &cut[..], &ANY), Error::Truncated { .. });
            refused!(
                dtype_message::receive::<Packet>(&mut &cut[..], &ANY),
                Error::Truncated { .. }
            );
            let mut receiver = Receiver::<_, Packet>::new(cut, ANY);
            refused!(receiver.next_message(), Error::Truncated { .. });
            assert!(receiver.is_lost());
            let results = fed::<Packet>(cut, 1, ANY);
            assert!(matches!(&results[..], [Err(error)] if error.starts_with("Truncated")));
            // After `WouldBlock`, reading continues at the same position.
            let mut receiver =
                Receiver::<_, Packet>::new(Pauses { bytes: &bytes, pause: Some(end) }, ANY);
            refused!(receiver.next_message(), Error::Io(_));
            assert_eq!(receiver.next_message().unwrap().as_ref(), Some(&packet));
        }
    }
    let mut receiver = Receiver::<_, Packet>::new(Lies(&[]), LIMITS);
    refused!(receiver.next_message(), Error::Io(_));
    assert!(receiver.is_lost());
    let mut receiver =
        Receiver::<_, Packet>::new(Fails(&[], std::io::ErrorKind::ConnectionReset), LIMITS);
    refused!(receiver.next_message(), Error::Io(_));
    assert!(receiver.is_lost());
    let cut = &encoded(&1_u32, Framing::new())[..30];
    refused!(
        dtype_message::decode::<u32>(&mut &cut[..], &LIMITS),
        Error::Truncated { part: Part::Header, expected: 48, actual: 30 }
    );
}

/// Would block once, after a given number of bytes.
struct Pauses<'a> {
    bytes: &'a [u8],
    pause: Option<usize>,
}

impl std::io::Read for Pauses<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.pause {
            Some(0) => {
                self.pause = None;
                Err(std::io::ErrorKind::WouldBlock.into())
            }
            Some(left) => {
                let count = left.min(buffer.len());
                self.pause = Some(left - count);
                self.bytes.read(&mut buffer[..count])
            }
            None => self.bytes.read(buffer),
        }
    }
}

#[test]
fn frames_need_checksum_and_signature_unless_the_receiver_allows_others() {
    let compact = Framing::compact();
    let unchecked = encoded(&7_u32, compact.without_checksum());
    let unsigned = encoded(&7_u32, compact.without_signature());
    let decode = |bytes: &[u8], limits: &Limits| {
        dtype_message::decode::<u32>(&mut &bytes[..], limits).map(Option::unwrap)
    };
    refused!(decode(&unchecked, &LIMITS), Error::Unprotected { missing: Protection::Checksum });
    refused!(decode(&unsigned, &LIMITS), Error::Unprotected { missing: Protection::Signature });
    assert_eq!(decode(&unchecked, &LIMITS.allow_missing_checksum()).unwrap(), 7);
    assert_eq!(decode(&unsigned, &LIMITS.allow_missing_signature()).unwrap(), 7);
    refused!(
        dtype_message::read_into(&mut &unchecked[..], &mut [0_u32]),
        Error::Unprotected { missing: Protection::Checksum }
    );
    // If the signature is missing, only the size is compared.
    let limits = LIMITS.allow_missing_signature();
    let float = dtype_message::decode::<f32>(&mut &unsigned[..], &limits);
    assert_eq!(float.unwrap(), Some(f32::from_bits(7)));
    refused!(dtype_message::decode::<u16>(&mut &unsigned[..], &limits), Error::Mismatch(_));
}

#[test]
fn names_count_where_the_sender_says_so() {
    let sent = Move { x: 1.0, y: 2.0 };
    for framing in [Framing::new(), Framing::compact()] {
        let bytes = encoded(&sent, framing);
        // As in MPI: only the basic types in their order count.
        let taken = dtype_message::decode::<Look>(&mut &bytes[..], &LIMITS).unwrap();
        assert_eq!(taken, Some(Look { yaw: 1.0, pitch: 2.0 }));
        let bytes = encoded(&sent, framing.with_schema());
        assert_eq!(
            dtype_message::decode::<Move>(&mut &bytes[..], &LIMITS).unwrap().as_ref(),
            Some(&sent)
        );
        let refusal = dtype_message::decode::<Look>(&mut &bytes[..], &LIMITS).unwrap_err();
        let Error::Mismatch(mismatch) = refusal else { panic!("{refusal}") };
        let mut hashes = [Schema::of::<Look>().hash(), Schema::of::<Move>().hash()];
        if framing.is_compact() {
            hashes = hashes.map(|hash| (hash ^ (hash >> 32)) & 0xFFFF_FFFF);
        }
        assert_eq!(mismatch.type_name, "Look");
        assert_eq!([mismatch.expected.schema_hash, mismatch.actual.schema_hash], hashes.map(Some));
    }

    // A type made at run time has no names, so its frames need the signature.
    let pair = Type::contiguous(2, &Type::basic(Basic::F32)).unwrap().commit();
    let mut memory = [0; 8];
    let full = encoded(&sent, Framing::new().with_schema());
    dtype_message::read_with(&mut &full[..], &pair, &mut memory, 1).unwrap();
    assert_eq!(memory[..], pack(&[1.0_f32, 2.0]));
    let compact = encoded(&sent, Framing::compact().with_schema());
    let error = dtype_message::read_with(&mut &compact[..], &pair, &mut memory, 1).unwrap_err();
    assert!(matches!(error, Error::NoSignature { tag: 0 }));
    assert_eq!(
        error.to_string(),
        "the message with tag 0 has a schema instead of a signature, expected a signature: \
         a type made at run time has no schema"
    );
    let other = Type::contiguous(3, &Type::basic(Basic::U8)).unwrap().commit();
    let error = dtype_message::read_with(&mut &full[..], &other, &mut memory, 1).unwrap_err();
    assert!(error.to_string().contains("records of the type `u8 × 3`"), "{error}");
}

/// A line break in a name does not end a line of the schema, and every schema can be read.
#[test]
fn names_in_a_schema_are_escaped() {
    #[derive(Datatype, Clone, Copy)]
    #[dtype(name = "E\r\nz: u8\u{9b}\t")]
    #[repr(u8)]
    enum Kind {
        Free = 0,
    }
    #[derive(Datatype)]
    #[dtype(name = "S\nx: u8\\n\u{1b}\u{c2}é\u{a0}")]
    struct Named {
        kind: Kind,
        other: [Kind; 2],
    }
    let sent = Named { kind: Kind::Free, other: [Kind::Free; 2] };
    assert!(matches!((sent.kind, sent.other), (Kind::Free, [Kind::Free, Kind::Free])));
    let schema = Schema::of::<Named>();
    assert_eq!(schema.type_name(), "S\\nx: u8\\\\n\\u{1b}\u{c2}é\u{a0}");
    let kind = r"E\r\nz: u8\u{9b}\t";
    let array = format!("[{kind}; 2]");
    assert_eq!(schema.fields().collect::<Vec<_>>(), [("kind", kind), ("other", &array)]);
    assert_eq!(schema.to_string().parse(), Ok(schema.clone()));
    let framing = Framing::new().with_schema();
    let header = Header::of::<Named>(1, framing).unwrap();
    assert_eq!(header.schema_hash(), Some(schema.hash()));
}

#[test]
fn the_header_of_a_compact_frame_is_checked() {
    let bare = [0x80, 7, 1];
    let decode = |bytes: &[u8]| Header::decode(bytes);
    assert!(matches!(decode(&bare).unwrap(), Decoded::Header(header, 3) if header.count() == 1));
    refused!(decode(&[0xA0, 7, 1]), Error::Reserved { offset: 0, actual: 0xA0 });
    refused!(decode(&[0x8C, 7, 1]), Error::Reserved { offset: 0, actual: 0x8C });
    // Numbers that are encoded longer than necessary, or too large.
    refused!(decode(&[0x80, 0x87, 0]), Error::Number { offset: 1 });
    refused!(decode(&[0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0x10, 1]), Error::Number { offset: 1 });
    refused!(decode(&[0x90, 7, 1, 1]), Error::Number { offset: 2 });
    let longest = [[0xFF; 9].as_slice(), &[1]].concat();
    let header = [&[0x80, 7], &longest[..]].concat();
    assert!(
        matches!(decode(&header).unwrap(), Decoded::Header(header, 12) if header.payload_len() == u64::MAX)
    );
    let header = [&[0x80, 7], &[0xFF; 9][..], &[2]].concat();
    refused!(decode(&header), Error::Number { offset: 2 });
    let header = [&[0x90, 7, 2], &longest[..]].concat();
    refused!(decode(&header), Error::PayloadLength { count: 2, record_size: u64::MAX });
    // A message of 2⁶⁴ − 1 bytes is skipped while it arrives.
    let mut decoder = Decoder::<u8>::new(ANY);
    refused!(
        decoder.feed(&mut &[&[0x80, 7], &longest[..]].concat()[..]),
        Error::PayloadLimit { actual: u64::MAX, .. }
    );
    assert!(!decoder.is_lost() && decoder.needs() == usize::MAX);
    assert!(decoder.feed(&mut &[0; 100][..]).unwrap().is_none());
    assert_eq!(decoder.needs(), usize::MAX - 100);
    // Here the length of payload and checksum together does not fit 64 bits.
    let mut decoder = Decoder::<Vec<u8>>::new(Limits::UNLIMITED);
    let announced = Header::of::<u8>(usize::MAX, Framing::new()).unwrap().to_bytes();
    assert!(decoder.feed(&mut &announced[..]).unwrap().is_none());
    assert_eq!(decoder.needs(), usize::MAX);
    assert!(decoder.feed(&mut &[0; 100][..]).unwrap().is_none());
    // Four bytes are enough to recognise that the stream is not a frame.
    refused!(decode(b"GET "), Error::Magic { actual: [b'G', b'E', b'T', b' '] });
}

#[test]
fn the_other_byte_order() {
    let other = match ByteOrder::NATIVE {
        ByteOrder::Little => Representation::BigEndian,
        ByteOrder::Big => Representation::LittleEndian,
    };
    let samples: Vec<Sample> = (0..300).map(|i| Sample { value: i, flag: i % 3 == 0 }).collect();
    let framing = Framing::compact().without_checksum();
    for count in [1, 300] {
        let mut bytes = encoded(&samples[..count].to_vec(), framing);
        bytes[0] ^= 1;
        let start = bytes.len() - 5 * count;
        let mut packer = Packer::new(&samples[..count]).with_representation(other).unwrap();
        packer.pack(&mut bytes[start..]).unwrap();
        for size in [1, 7, 5000] {
            let results = fed::<Vec<Sample>>(&bytes, size, ANY);
            assert_eq!(results, [Ok(samples[..count].to_vec())]);
        }
        let message = Incoming::open(&bytes[..], &ANY).unwrap().unwrap();
        assert_eq!(message.read::<Sample>().unwrap(), samples[..count]);
        if count == 1 {
            let one = dtype_message::decode::<Sample>(&mut &bytes[..], &ANY).unwrap();
            assert_eq!(one.as_ref(), samples.first());
        }
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

    let mut bytes = encoded(&vec![Handle(1), Handle(1)], Framing::new());
    bytes[49] = 5;
    for size in [1, 1000] {
        let mut decoder = Decoder::<Vec<Handle>>::new(LIMITS);
        let refused = bytes.chunks(size).any(|mut piece| decoder.feed(&mut piece).is_err());
        assert!(refused);
        drop(decoder);
        let mut decoder = Decoder::<Vec<Handle>>::new(LIMITS);
        for mut piece in bytes[..50].chunks(size) {
            assert!(decoder.feed(&mut piece).unwrap().is_none());
        }
    }
    let mut bytes = encoded(&Handle(1), Framing::compact());
    let end = bytes.len();
    bytes[end - 5] = 5;
    refused!(dtype_message::decode::<Handle>(&mut &bytes[..], &LIMITS), Error::Checksum { .. });
}

/// The decoder takes neither the rest of the frame nor later bytes for a message.
#[test]
fn a_decoder_is_lost_after_a_check_that_panics() {
    for (framing, place) in framings(0).into_iter().flat_map(|f| (0..4).map(move |i| (f, i))) {
        let mut records = [5, 6, 7, 8].map(|number| Fused { flag: true, number }).to_vec();
        records[place].number = 77;
        let stream = encoded(&records, framing).repeat(3);
        for size in (1..12).chain([stream.len()]) {
            let mut decoder = Decoder::<Vec<Fused>>::new(ANY);
            PANICS.set(true);
            for mut fragment in stream.chunks(size) {
                let fed = catch_unwind(AssertUnwindSafe(|| decoder.feed(&mut fragment)));
                let is_lost = matches!(fed, Err(_) | Ok(Err(Error::Lost)));
                assert!(is_lost || PANICS.get() && matches!(fed, Ok(Ok(None))), "{fed:?}, {size}");
                assert_eq!(decoder.is_lost(), is_lost);
                assert_eq!(decoder.needs() == 0, is_lost);
            }
            assert!(!PANICS.take() && matches!(decoder.finish(), Err(Error::Lost)));
        }
        let mut receiver = Receiver::<_, Vec<Fused>>::new(&stream[..], ANY);
        PANICS.set(true);
        assert!(catch_unwind(AssertUnwindSafe(|| receiver.next_message().is_ok())).is_err());
        assert!(matches!(receiver.next_message(), Err(Error::Lost)) && receiver.is_lost());
    }
}

#[test]
fn an_encoder_continues_at_its_position() {
    let items: Vec<u32> = (0..50_000).collect();
    let bytes = encoded(&items, Framing::new());
    let mut encoder = Encoder::new(&items, Framing::new()).unwrap();
    let mut sent = Vec::new();
    while !encoder.is_complete() {
        let chunk = encoder.chunk();
        assert!(!chunk.is_empty() && chunk.len() <= 65_536 + 52);
        let again = chunk.to_vec();
        assert_eq!(encoder.chunk(), again);
        let taken = again.len().min(30_001);
        sent.extend_from_slice(&again[..taken]);
        encoder.advance(taken);
    }
    assert!(sent == bytes && encoder.chunk().is_empty());
    encoder.advance(usize::MAX);
    assert!(encoder.chunk().is_empty());

    let mut whole = Encoder::new(&items, Framing::new()).unwrap();
    whole.chunk();
    whole.advance(usize::MAX);
    assert_eq!(whole.chunk(), &bytes[65_536 + 48..][..65_536]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// Pieces of any size give the same results, whatever is wrong with the bytes.
    #[test]
    fn pieces_make_no_difference(
        packets in prop::collection::vec((0_usize..14, 0_usize..9), 0..6),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        size in 1_usize..200,
        cut in any::<prop::sample::Index>(),
    ) {
        let (all, framings) = (packets_to_choose(), framings(0));
        let mut stream = Vec::new();
        for (packet, framing) in packets {
            stream.extend(encoded(&all[packet], framings[framing]));
        }
        if !stream.is_empty() {
            stream.truncate(cut.index(stream.len()) + 1);
            for (at, byte) in changes {
                let at = at.index(stream.len());
                stream[at] = byte;
            }
        }
        let limits = ANY.with_max_payload_bytes(1400);
        let whole = fed::<Packet>(&stream, stream.len().max(1), limits);
        prop_assert_eq!(fed::<Packet>(&stream, size, limits), whole.clone());
        prop_assert_eq!(fed::<Packet>(&stream, 1, limits), whole);
    }

    #[test]
    fn noise_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1_usize..50) {
        let results = fed::<Packet>(&bytes, size, LIMITS);
        prop_assert!(results.iter().all(Result::is_err));
    }
}

/// All packets but the long one.
fn packets_to_choose() -> Vec<Packet> {
    let mut packets = packets();
    packets[7] = Packet::Raw(vec![9; 1399]);
    packets
}
