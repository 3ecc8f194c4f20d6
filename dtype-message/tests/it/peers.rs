//! The memory that a peer can make the other side hold: with protocols, schemas, names, and frames of every kind, for each
//! reader.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::ops::Range;

use dtype_message::{
    Decoder, Difference, Error, Framing, Header, Limits, Messages, Protocol, Receiver, Schema,
    exchange,
};
use dtype_runtime::Datatype;
use dtype_test_support::counting::{in_use, max_in_use};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
enum State {
    Idle = 0,
    Busy = 1,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Reading {
    sensor: u32,
    state: State,
}

#[derive(Messages, Debug, PartialEq)]
enum Packet {
    One(Reading),
    Many(Vec<Reading>),
    Bytes(Vec<u8>),
    Log(String),
    Ping,
}

/// The lines for these numbers.
fn lines(numbers: Range<u32>, line: impl Fn(u32) -> String) -> String {
    numbers.map(line).collect()
}

/// Protocols that a peer may send: many kinds, many fields, long names, many variants, many paths that are equal.
fn hostile_protocols() -> Vec<(&'static str, String)> {
    let kinds = |form| lines(0..10_000, |tag| format!("\t{tag} {form} T\nT\n"));
    let block = |schema: String| format!("\t0 one One\n{schema}");
    let variants: Vec<_> = (0..12_000).map(|i| format!("V{i} = {i}")).collect();
    vec![
        ("kinds", kinds("one")),
        ("lists", kinds("list")),
        ("fields", block(format!("Reading\n{}", lines(0..12_000, |i| format!("{i}: u8\n"))))),
        ("no fields", block(format!("Reading\n{}", ": \n".repeat(50_000)))),
        ("one field", block(format!("Reading\n{}", "sensor: u32\n".repeat(20_000)))),
        ("a long name", block(format!("{}\nsensor: u32\n", "x".repeat(250_000)))),
        ("a long path", block(format!("Reading\n{}: u8\n", "x".repeat(250_000)))),
        ("a long type", block(format!("Reading\nsensor: {}\n", "x".repeat(250_000)))),
        ("a long message", format!("\t0 one {}\nReading\n", "x".repeat(250_000))),
        (
            "variants",
            block(format!("Reading\nsensor: u32\nstate: State {{u8: {}}}\n", variants.join(", "))),
        ),
    ]
}

fn frame<M: Messages>(message: &M, framing: Framing) -> Vec<u8> {
    let mut bytes = Vec::new();
    dtype_message::encode(&mut bytes, message, framing).unwrap();
    bytes
}

#[test]
#[cfg_attr(miri, ignore = "megabytes take Miri minutes")]
fn a_protocol_takes_little_more_than_its_text() {
    let own = Protocol::of::<Packet>();
    for (what, text) in hostile_protocols() {
        let bytes = frame(&text, Framing::new());
        // Any reader of text: the protocol is what stays.
        let before = in_use();
        let (most, protocol) = max_in_use(|| text.parse::<Protocol>().unwrap());
        let kept = in_use() - before;
        let bound = text.len() * 3 / 2 + 64;
        assert!(kept <= bound && most <= bound, "{what}: {kept}, {most}");

        let (most, differences) = max_in_use(|| own.differences(&protocol));
        assert!(most <= 3 * text.len() + 64 * 1024, "{what}: {most}");
        let nested = |difference: &dtype_message::ProtocolDifference| match difference {
            dtype_message::ProtocolDifference::Records { differences, .. } => differences.len(),
            _ => 1,
        };
        let count: usize = differences.iter().map(nested).sum();
        assert!(count <= 2 * Difference::MAX + 2, "{what}: {count}");
        let lines: Vec<_> = differences.iter().map(ToString::to_string).collect();
        assert!(lines.concat().len() <= 40_000, "{what}: {}", lines.concat().len());

        let schema: Schema = protocol.schema(0).unwrap();
        let (most, _) = max_in_use(|| Schema::of::<Reading>().differences(&schema));
        assert!(most <= 3 * text.len() + 64 * 1024, "{what}: {most}");

        // A receiver keeps it for as long as the connection, and uses it for each refusal.
        let mut stream = frame(&1_u64, Framing::new());
        stream.extend(frame(&Packet::Ping, Framing::new()));
        let (most, ()) = max_in_use(|| {
            let receiver = Receiver::<_, Packet>::new(&stream[..], Limits::new());
            let mut receiver = receiver.with_sender(protocol);
            let refusal = receiver.next_message().unwrap_err().to_string();
            assert!(refusal.len() < 40_000, "{what}: {}", refusal.len());
        });
        assert!(most <= 3 * text.len() + 200 * 1024, "{what}: {most}");

        // The limits of the caller are those of the protocol, too.
        let limits = Limits::new().with_max_payload_bytes(4096);
        let short = limits.with_max_payload_bytes(u64::MAX).with_max_text_bytes(4096);
        for limits in [limits, short] {
            let mut sent = Vec::new();
            let (most, refusal) =
                max_in_use(|| exchange::<Packet>(&mut &bytes[..], &mut sent, &limits).unwrap_err());
            let is_limit = matches!(
                refusal,
                Error::PayloadLimit { limit: 4096, .. } | Error::TextLimit { limit: 4096, .. }
            );
            assert!(is_limit && most <= 16 * 1024, "{what}: {refusal}, {most}");
        }
        let mut sent = Vec::new();
        let theirs = exchange::<Packet>(&mut &bytes[..], &mut sent, &Limits::UNLIMITED).unwrap();
        assert_eq!(theirs.to_string(), text);
        assert_eq!(sent, frame(&own.to_string(), Framing::new()));
    }
    // More text than any program has.
    let text = "\t0 one T\nT\n".to_owned() + &": \n".repeat(400_000);
    let bytes = frame(&text, Framing::new());
    let refusal = exchange::<Packet>(&mut &bytes[..], &mut Vec::new(), &Limits::UNLIMITED);
    assert!(matches!(refusal, Err(Error::PayloadLimit { limit: 0x10_0000, .. })), "{refusal:?}");
}

/// The number of the others is said.
#[test]
fn differences_beyond_the_limit_are_counted() {
    let own = Protocol::of::<Packet>();
    let text = lines(100..600, |tag| format!("\t{tag} one T\nT\n"));
    let differences = own.differences(&text.parse().unwrap());
    assert_eq!(differences.len(), Difference::MAX + 1);
    // Five are only here.
    assert_eq!(differences.last().unwrap().to_string(), "and 405 more");
    let fields = lines(0..500, |i| format!("{i}: u8\n"));
    let theirs: Schema = format!("Reading\n{fields}").parse().unwrap();
    let differences = Schema::of::<Reading>().differences(&theirs);
    assert_eq!(differences.last().unwrap().to_string(), "and 402 more");
    let long = Schema::of::<Reading>().differences(&"x".repeat(5000).parse().unwrap());
    let name = "x".repeat(Difference::MAX_NAME);
    assert_eq!(long[0].to_string(), format!("the type is `{name}…` there and `Reading` here"));
}

/// Both sides may have more to say than the stream holds.
#[test]
#[cfg_attr(miri, ignore = "Miri has no sockets")]
fn blocking_sides_exchange_their_protocols() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = std::thread::spawn(move || {
        let stream = TcpStream::connect(address).unwrap();
        exchange::<Vec<u32>>(&mut &stream, &mut &stream, &Limits::new()).unwrap()
    });
    let (stream, _) = listener.accept().unwrap();
    let theirs = exchange::<Packet>(&mut &stream, &mut &stream, &Limits::new()).unwrap();
    assert_eq!(
        (theirs, peer.join().unwrap()),
        (Protocol::of::<Vec<u32>>(), Protocol::of::<Packet>())
    );

    let (mut sent, limits) = (Vec::new(), Limits::new());
    let ended = exchange::<Packet>(&mut std::io::empty(), &mut sent, &limits);
    assert!(
        matches!(ended, Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::UnexpectedEof)
    );
    let other = frame(&"hello".to_owned(), Framing::new());
    let refused = exchange::<Packet>(&mut &other[..], &mut sent, &limits);
    assert!(matches!(refused, Err(Error::Protocol(_))));
}

/// Frames of each kind whose header announces more than follows, and more than the limits.
fn announcements() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for framing in [Framing::new(), Framing::compact()] {
        for (tag, of) in [
            (1, Header::of::<Reading> as fn(usize, Framing) -> _),
            (2, Header::of::<u8>),
            (3, Header::of::<u8>),
            (4, Header::of::<()>),
            (9, Header::of::<u64>),
        ] {
            for count in [5000, 1 << 30, usize::MAX >> 4] {
                let header: Header = of(count, framing.with_tag(tag)).unwrap();
                let mut bytes = header.to_bytes().to_vec();
                bytes.resize(bytes.len() + 200_000, 0);
                all.push(bytes);
            }
        }
    }
    all
}

const LIMITS: Limits = Limits::new().with_max_payload_bytes(4096);
/// A reader's own buffer, and the message.
const ROOM: usize = 64 * 1024 + 3 * 4096;

#[test]
#[cfg_attr(miri, ignore = "megabytes take Miri minutes")]
fn frames_of_every_kind_take_no_more_than_the_limits() {
    for bytes in announcements() {
        let (blocking, ()) = max_in_use(|| {
            let mut receiver = Receiver::<_, Packet>::new(&bytes[..], LIMITS);
            while !receiver.is_lost() {
                assert!(receiver.next_message().is_err());
            }
        });
        let (one, ()) = max_in_use(|| {
            assert!(dtype_message::receive::<Packet>(&mut &bytes[..], &LIMITS).is_err());
            assert!(dtype_message::decode::<Packet>(&mut &bytes[..], &LIMITS).is_err());
        });
        let (pieces, ()) = max_in_use(|| {
            let mut decoder = Decoder::<Packet>::new(LIMITS);
            for mut piece in bytes.chunks(7) {
                while !piece.is_empty() && !decoder.is_lost() {
                    assert!(!matches!(decoder.feed(&mut piece), Ok(Some(_))));
                }
            }
        });
        assert!(blocking <= ROOM && one <= ROOM && pieces <= ROOM, "{blocking} {one} {pieces}");
    }
}

#[cfg(feature = "tokio-util")]
#[test]
#[cfg_attr(miri, ignore = "megabytes take Miri minutes")]
fn the_readers_of_tokio_take_no_more() {
    use bytes::BytesMut;
    use dtype_message::Codec;
    use tokio::io::AsyncWriteExt;
    use tokio_util::codec::Decoder as _;

    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for bytes in announcements() {
        let receiver = max_in_use(|| {
            runtime.block_on(async {
                let mut receiver =
                    dtype_message::tokio::Receiver::<_, Packet>::new(&bytes[..], LIMITS);
                while !receiver.is_lost() {
                    assert!(receiver.next_message().await.is_err());
                }
            });
        });
        let (codec, ()) = max_in_use(|| {
            let mut codec = Codec::<Packet>::new(LIMITS, Framing::new());
            let mut src = BytesMut::new();
            for piece in bytes.chunks(1000) {
                src.extend_from_slice(piece);
                while let Ok(Some(item)) = codec.decode(&mut src) {
                    assert!(item.is_err());
                }
                src.clear();
            }
        });
        assert!(receiver.0 <= ROOM && codec <= 2 * ROOM, "{} {codec}", receiver.0);
    }
    for (what, text) in hostile_protocols() {
        let bytes = frame(&text, Framing::new());
        let (mut here, mut there) = tokio::io::duplex(2 * bytes.len());
        runtime.block_on(there.write_all(&bytes)).unwrap();
        let exchanging = dtype_message::tokio::exchange::<Packet>(&mut here, &LIMITS);
        let (most, refusal) = max_in_use(|| runtime.block_on(exchanging));
        assert!(matches!(refusal, Err(Error::PayloadLimit { limit: 4096, .. })), "{refusal:?}");
        assert!(most <= ROOM, "{what}: {most}");
    }
}

/// What a peer sends may never end: nothing but a message within the limits is kept.
#[test]
#[cfg_attr(miri, ignore = "megabytes take Miri minutes")]
fn an_endless_stream_of_refused_frames_takes_one_buffer() {
    let refused = frame(&vec![0_u64; 1000], Framing::new().with_tag(9)).repeat(100);
    let mut receiver =
        Receiver::<_, Packet>::new(refused.as_slice().chain(std::io::empty()), LIMITS);
    let (most, ()) = max_in_use(|| {
        while !receiver.is_lost() {
            assert!(!matches!(receiver.next_message(), Ok(Some(_))));
        }
    });
    assert!(most <= ROOM, "{most}");
}
