//! Messages of a head and a list.

use dtype_message::{
    Decoder, Encoder, Error, Framing, Header, Incoming, Limits, Messages, Protocol, Receiver,
};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Datatype, Representation, pack, pack_as};
use dtype_test_support::counting::max_in_use;
use dtype_test_support::frames::changed;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Head {
    number: u32,
    is_last: bool,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Record {
    id: u16,
    value: f64,
}

#[derive(Messages, Clone, Debug, PartialEq)]
enum Packet {
    #[dtype(tag = 1)]
    Page { head: Head, records: Vec<Record> },
    #[dtype(tag = 2, max_records = 5)]
    Few(Head, Vec<Record>),
    #[dtype(tag = 3, max_text_bytes = 5)]
    Log(bool, String),
    #[dtype(tag = 4)]
    Nothing((), Vec<Record>),
    #[dtype(tag = 5)]
    Plain(Vec<Record>),
}

/// Far more memory than data.
#[derive(Datatype, Clone, Debug)]
#[repr(align(4096))]
struct Wide(u8);

#[derive(Messages, Debug)]
enum Pages {
    Page(u8, Vec<Wide>),
}

/// A page with another head.
#[derive(Messages)]
enum Other {
    #[dtype(tag = 1)]
    Page((u64, bool), Vec<Record>),
}

const HEAD: Head = Head { number: 7, is_last: true };

fn records(count: u16) -> Vec<Record> {
    (0..count).map(|id| Record { id, value: f64::from(id) }).collect()
}

fn page(count: u16) -> Packet {
    Packet::Page { head: HEAD, records: records(count) }
}

fn encoded<M: Messages>(message: &M, framing: Framing) -> Vec<u8> {
    let mut bytes = Vec::new();
    dtype_message::encode(&mut bytes, message, framing).unwrap();
    bytes
}

/// The result of each reader: of a stream, of memory, and of pieces.
fn read<M: Messages>(bytes: &[u8], limits: Limits) -> Vec<Result<Option<M>, Error>> {
    let mut all = vec![
        dtype_message::receive(&mut &bytes[..], &limits),
        dtype_message::decode(&mut &bytes[..], &limits),
        Receiver::new(bytes, limits).next_message(),
    ];
    for size in [1, 7, 1000] {
        let mut decoder = Decoder::<M>::new(limits);
        let mut results = bytes.chunks(size).map(|mut piece| decoder.feed(&mut piece));
        let first = results.find_map(Result::transpose).transpose();
        all.push(first.and_then(|message| match message {
            None => decoder.finish().map(|()| None),
            message => Ok(message),
        }));
    }
    all
}

fn refusals<M: Messages>(bytes: &[u8], limits: Limits) -> Vec<String> {
    let refusal = |result: Result<_, Error>| match result {
        Err(error) => format!("{error:?}"),
        Ok(_) => panic!("accepted"),
    };
    let mut all: Vec<_> = read::<M>(bytes, limits).into_iter().map(refusal).collect();
    all.dedup();
    all
}

/// The payload is the packed head and then the packed records. The header has the length of both, as one record.
#[test]
fn the_bytes_of_a_head_and_a_list() {
    let message = page(2);
    for framing in [Framing::new(), Framing::compact()] {
        let bytes = encoded(&message, framing);
        let header = Header::read(&mut &bytes[..]).unwrap().unwrap();
        assert_eq!((header.count(), header.record_size(), header.tag()), (1, 5 + 2 * 10, 1));
        let payload = [pack(&[HEAD]), pack(&records(2))].concat();
        assert_eq!(bytes[header.header_len()..][..payload.len()], payload);
        let incoming = Incoming::open(&bytes[..], &Limits::new()).unwrap().unwrap();
        assert_eq!(incoming.packed().unwrap(), payload);
    }
    let hash = |message: &Packet, framing| {
        let header = Header::read(&mut &encoded(message, framing)[..]).unwrap().unwrap();
        (header.signature_hash(), header.schema_hash())
    };
    // Part of the format.
    let (signature, schema) = hash(&message, Framing::new().with_schema());
    let combined = |head: u64, records: u64| {
        let mixed = (head.rotate_left(32) ^ records).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Some(mixed ^ mixed >> 32)
    };
    let (of_head, of_record) = (Head::TYPE_MAP.signature_hash(), Record::TYPE_MAP.signature_hash());
    assert_eq!(signature, combined(of_head, of_record));
    let hash_of = |schema: dtype_message::Schema| schema.hash();
    let (of_head, of_record) =
        (dtype_message::Schema::of::<Head>(), dtype_message::Schema::of::<Record>());
    assert_eq!(schema, combined(hash_of(of_head), hash_of(of_record)));
}

#[test]
fn there_and_back_with_every_reader() {
    let compact = Framing::compact();
    for framing in [
        Framing::new(),
        Framing::new().with_schema(),
        compact,
        compact.with_schema(),
        compact.without_checksum().without_signature(),
    ] {
        let limits = Limits::new().allow_missing_checksum().allow_missing_signature();
        for message in [
            page(0),
            page(1),
            page(300),
            page(20_000),
            Packet::Few(HEAD, records(5)),
            Packet::Log(true, "Grü".into()),
            Packet::Log(false, String::new()),
            Packet::Nothing((), records(3)),
            Packet::Nothing((), vec![]),
        ] {
            let bytes = encoded(&message, framing);
            let mut stream = Vec::new();
            let len = dtype_message::send(&mut stream, &message, framing).unwrap();
            assert!(stream == bytes && len == bytes.len() as u64);
            let mut encoder: Encoder<'_> = message.encoder(framing).unwrap();
            stream.clear();
            std::io::copy(&mut encoder, &mut stream).unwrap();
            assert!(encoder.is_complete() && stream == bytes);
            for result in read::<Packet>(&bytes, limits) {
                assert!(result.unwrap().as_ref() == Some(&message));
            }
        }
    }
}

#[test]
fn a_head_in_the_other_byte_order() {
    let other = match ByteOrder::NATIVE {
        ByteOrder::Little => Representation::BigEndian,
        ByteOrder::Big => Representation::LittleEndian,
    };
    let payload = [pack_as(&[HEAD], other).unwrap(), pack_as(&records(9), other).unwrap()].concat();
    let bytes = changed(&encoded(&page(9), Framing::new()), |frame| {
        frame[5] = 3 - frame[5];
        frame[48..48 + payload.len()].copy_from_slice(&payload);
    });
    for result in read::<Packet>(&bytes, Limits::new()) {
        assert_eq!(result.unwrap(), Some(page(9)));
    }
}

#[test]
fn other_lengths_and_types_are_refused() {
    let frame = encoded(&page(3), Framing::new());
    let with_size =
        |size: u64| changed(&frame, |frame| frame[24..32].copy_from_slice(&size.to_le_bytes()));
    // Shorter than the head, a part of a record, and more than memory holds.
    for size in [0, 4, 6, 14, 34, 36, u64::MAX / 10 * 10] {
        let refused = refusals::<Packet>(&with_size(size), Limits::UNLIMITED);
        assert!(refused.iter().all(|error| error.starts_with("Mismatch(")), "{size}: {refused:?}");
    }
    // A whole number of records, which do not arrive.
    let huge = with_size(5 + (u64::MAX >> 8) / 10 * 10);
    let (most, refused) = max_in_use(|| refusals::<Packet>(&huge, Limits::UNLIMITED));
    let is_typed =
        |error: &String| error.starts_with("Truncated") || error.contains("CountTooLarge");
    assert!(refused.iter().all(is_typed), "{refused:?}");
    assert!(most <= 4 * 64 * 1024, "{most}");
    // Two of them, or none.
    for count in [0_u64, 2, u64::MAX >> 8] {
        let several = changed(&frame, |frame| frame[16..24].copy_from_slice(&count.to_le_bytes()));
        let refused = refusals::<Packet>(&several, Limits::UNLIMITED);
        let expected = format!("RecordCount {{ expected: 1, actual: {count} }}");
        assert!(refused.iter().all(|error| *error == expected), "{refused:?}");
    }
    // A list without the head, another head, a head where there is none.
    let plain = encoded(&records(3), Framing::new().with_tag(1));
    assert!(refusals::<Packet>(&plain, Limits::new())[0].starts_with("Mismatch("));
    let headed = encoded(&Packet::Few(HEAD, records(3)), Framing::new());
    let tagged = changed(&headed, |frame| frame[40] = 5);
    let refused = &refusals::<Packet>(&tagged, Limits::new())[0];
    assert!(refused.starts_with("Mismatch("));
    let read = dtype_message::read::<Record>(&mut &frame[..], &Limits::new());
    assert!(matches!(read, Err(Error::Mismatch(_))));
    // Without a signature, the length alone is compared.
    let bare = Framing::compact().without_signature();
    let limits = Limits::new().allow_missing_signature();
    let bytes = encoded(&vec![0_u8; 7], bare.with_tag(1));
    assert!(refusals::<Packet>(&bytes, limits)[0].starts_with("Mismatch("));
}

#[test]
fn values_and_damage_are_found_in_both_parts() {
    let frame = encoded(&page(3), Framing::new());
    for at in 48..frame.len() {
        let mut damaged = frame.clone();
        damaged[at] ^= 4;
        let refused = refusals::<Packet>(&damaged, Limits::new());
        assert!(refused.iter().all(|error| error.starts_with("Checksum")), "{at}: {refused:?}");
    }
    let invalid = changed(&frame, |frame| frame[48 + 4] = 2);
    let refused = dtype_message::decode::<Packet>(&mut &invalid[..], &Limits::new());
    assert!(refused.unwrap_err().to_string().contains("is_last"));
    let text = encoded(&Packet::Log(true, "abc".into()), Framing::new());
    let invalid = changed(&text, |frame| frame[50] = 0xFF);
    assert!(refusals::<Packet>(&invalid, Limits::new())[0].starts_with("Text("));
    for end in 1..frame.len() {
        let refused = refusals::<Packet>(&frame[..end], Limits::new());
        assert!(refused.iter().all(|error| error.starts_with("Truncated")), "{end}: {refused:?}");
    }
}

#[test]
fn limits_are_of_the_list() {
    let few = encoded(&Packet::Few(HEAD, records(6)), Framing::compact());
    assert_eq!(refusals::<Packet>(&few, Limits::new()), ["RecordLimit { limit: 5, actual: 6 }"]);
    let log = encoded(&Packet::Log(true, "123456".into()), Framing::new());
    assert_eq!(refusals::<Packet>(&log, Limits::new()), ["TextLimit { limit: 5, actual: 6 }"]);
    let limits = Limits::new().with_max_payload_bytes(34);
    let long = encoded(&page(3), Framing::new());
    assert_eq!(refusals::<Packet>(&long, limits), ["PayloadLimit { limit: 34, actual: 35 }"]);
    // A list of records that take far more memory than data.
    let wide = encoded(&Pages::Page(1, vec![Wide(1); 100]), Framing::new());
    let limits = Limits::new().with_max_payload_bytes(4096 * 99);
    assert!(refusals::<Pages>(&wide, limits)[0].starts_with("PayloadLimit"));
}

#[test]
fn a_protocol_has_the_head() {
    let protocol = Protocol::of::<Packet>();
    let text = protocol.to_string();
    let block = "\t1 head Page\nHead\nnumber: u32\nis_last: bool\n\t1 list Page\nRecord\nid: u16\nvalue: f64\n";
    assert!(text.starts_with(block), "{text}");
    assert_eq!(text.parse(), Ok(protocol.clone()));
    let changed =
        text.replacen("number: u32", "number: u64", 1).replacen("value: f64", "value: f32", 1);
    let theirs: Protocol = changed.parse().unwrap();
    let lines: Vec<_> = protocol.differences(&theirs).iter().map(ToString::to_string).collect();
    let fields = "`number` is u64 there and u32 here; `value` is f32 there and f64 here";
    assert_eq!(lines, [format!("tag 1, `Page`: {fields}")]);
    let theirs: Protocol =
        text.replacen("\t1 head Page\nHead\nnumber: u32\nis_last: bool\n", "", 1).parse().unwrap();
    let lines: Vec<_> = protocol.differences(&theirs).iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        ["tag 1, `Page`: a list of `Record` there and a head `Head` and a list of `Record` here"]
    );

    // A receiver names the fields of both parts.
    let mut receiver = Receiver::<_, Packet>::new(&[][..], Limits::new());
    assert!(receiver.next_message().unwrap().is_none());
    let sent = encoded(&Other::Page((1, true), records(1)), Framing::compact());
    let receiver = Receiver::<_, Packet>::new(&sent[..], Limits::new());
    let refusal = receiver.with_sender(Protocol::of::<Other>()).next_message().unwrap_err();
    assert!(refusal.to_string().contains("`0: u64` is only there"), "{refusal}");
}

#[cfg(feature = "tokio-util")]
#[test]
fn on_streams_of_tokio() {
    use bytes::BytesMut;
    use dtype_message::Codec;
    use dtype_message::tokio::{Receiver, send};
    use tokio_util::codec::{Decoder as _, Encoder as _};

    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let messages = [page(20_000), Packet::Log(true, "abc".into()), page(0)];
        let (mut here, there) = tokio::io::duplex(777);
        let sent = messages.clone();
        let sender = tokio::spawn(async move {
            for message in &sent {
                send(&mut here, message, Framing::compact()).await.unwrap();
            }
        });
        let mut receiver = Receiver::<_, Packet>::new(there, Limits::new());
        for message in &messages {
            assert!(receiver.next_message().await.unwrap().as_ref() == Some(message));
        }
        sender.await.unwrap();

        let mut codec = Codec::<Packet>::new(Limits::new(), Framing::new());
        let (mut stream, mut src) = (BytesMut::new(), BytesMut::new());
        for message in &messages {
            codec.encode(message, &mut stream).unwrap();
        }
        let mut received = Vec::new();
        for piece in stream.chunks(1000) {
            src.extend_from_slice(piece);
            while let Some(message) = codec.decode(&mut src).unwrap() {
                received.push(message.unwrap());
            }
        }
        assert!(received == messages);
    });
}

/// Pieces of a text are text, and together they are the text.
#[test]
fn a_text_in_pieces() {
    let text = "aé€𝄞".repeat(50);
    for max in [0, 1, 2, 3, 4, 5, 7, 100, 499, 500, 501, usize::MAX] {
        let all: Vec<_> = dtype_message::pieces(&text, max).collect();
        let joined: String = all.iter().map(|(_, piece)| *piece).collect();
        assert_eq!(joined, text);
        assert!(all.iter().all(|(_, piece)| piece.len() <= max.max(4) && !piece.is_empty()));
        let lasts = all.iter().filter(|(is_last, _)| *is_last).count();
        assert!(lasts == 1 && all.last().unwrap().0, "{max}");
    }
    assert_eq!(dtype_message::pieces("", 5).collect::<Vec<_>>(), [(true, "")]);

    // A line that is longer than the limits of both sides.
    let mut stream = Vec::new();
    for (is_last, piece) in dtype_message::pieces(&text, 5) {
        dtype_message::send(&mut stream, &Packet::Log(is_last, piece.to_owned()), Framing::new())
            .unwrap();
    }
    let limits = Limits::new().with_max_payload_bytes(6);
    let mut receiver = Receiver::<_, Packet>::new(&stream[..], limits);
    let (mut line, mut is_complete) = (String::new(), false);
    while let Some(Packet::Log(is_last, piece)) = receiver.next_message().unwrap() {
        assert!(!is_complete);
        line += &piece;
        is_complete = is_last;
    }
    assert!(is_complete && line == text);
}
