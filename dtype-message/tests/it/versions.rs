//! Records of another version, read by the names of their fields.

use dtype_message::{Decoder, Error, Framing, Limits, Messages, Protocol, Receiver};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Datatype, FixedStr, Maybe, Representation, pack_as};
use dtype_test_support::counting::max_in_use;
use dtype_test_support::frames::changed;

mod old {
    use super::{Datatype, FixedStr, Maybe, Messages};

    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    #[repr(u8)]
    pub(super) enum State {
        Idle = 0,
        Busy = 1,
        Gone = 7,
    }

    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    pub(super) struct Place {
        pub(super) y: f32,
        pub(super) x: f32,
    }

    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    pub(super) struct Record {
        pub(super) value: f64,
        pub(super) number: u16,
        pub(super) obsolete: [u8; 3],
        pub(super) state: State,
        pub(super) trail: [Place; 2],
        pub(super) name: FixedStr<8>,
        pub(super) limit: Maybe<f32>,
    }

    #[derive(Messages, Clone, Debug)]
    pub(super) enum Packet {
        #[dtype(tag = 1)]
        One(Record),
        #[dtype(tag = 2)]
        Many(Vec<Record>),
        #[dtype(tag = 3)]
        Page(Place, Vec<Record>),
        #[dtype(tag = 4)]
        Log(Place, String),
        #[dtype(tag = 5)]
        Same(Vec<u32>),
        #[dtype(tag = 6)]
        Swapped(Place),
    }
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
enum State {
    Idle = 1,
    Busy = 0,
    Lost = 2,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Place {
    x: f32,
    y: f32,
    #[dtype(default)]
    z: u16,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Record {
    #[dtype(default)]
    quality: Quality,
    number: u32,
    trail: [Place; 2],
    state: State,
    limit: Maybe<f32>,
    name: FixedStr<8>,
    value: f64,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Quality {
    percent: u16,
}

impl Default for Quality {
    fn default() -> Self {
        Self { percent: 0x0102 }
    }
}

#[derive(Messages, Clone, Debug, PartialEq)]
enum Packet {
    #[dtype(tag = 1)]
    One(Record),
    #[dtype(tag = 2, max_records = 70_000)]
    Many(Vec<Record>),
    #[dtype(tag = 3)]
    Page(Place, Vec<Record>),
    #[dtype(tag = 4)]
    Log(Place, String),
    #[dtype(tag = 5)]
    Same(Vec<u32>),
    #[dtype(tag = 6)]
    Swapped(Place),
}

fn sent(number: u16) -> old::Record {
    old::Record {
        value: 0.5,
        number,
        obsolete: [9; 3],
        state: if number.is_multiple_of(2) { old::State::Idle } else { old::State::Busy },
        trail: [old::Place { x: 1.0, y: 2.0 }, old::Place { x: 3.0, y: 4.0 }],
        name: FixedStr::new("Alma").unwrap(),
        limit: Maybe::some(1.5),
    }
}

fn read(number: u16) -> Record {
    Record {
        quality: Quality { percent: 0x0102 },
        number: number.into(),
        trail: [Place { x: 1.0, y: 2.0, z: 0 }, Place { x: 3.0, y: 4.0, z: 0 }],
        state: if number.is_multiple_of(2) { State::Idle } else { State::Busy },
        limit: Maybe::some(1.5),
        name: FixedStr::new("Alma").unwrap(),
        value: 0.5,
    }
}

fn pairs() -> Vec<(old::Packet, Packet)> {
    let (there, here) = (old::Place { x: 1.0, y: 2.0 }, Place { x: 1.0, y: 2.0, z: 0 });
    let many = |count: u16| {
        ((0..count).map(sent).collect::<Vec<_>>(), (0..count).map(read).collect::<Vec<_>>())
    };
    let (few, long) = (many(3), many(5000));
    vec![
        (old::Packet::One(sent(1)), Packet::One(read(1))),
        (old::Packet::Many(few.0.clone()), Packet::Many(few.1.clone())),
        (old::Packet::Many(vec![]), Packet::Many(vec![])),
        (old::Packet::Many(long.0), Packet::Many(long.1)),
        (old::Packet::Page(there, few.0), Packet::Page(here, few.1)),
        (old::Packet::Log(there, "Grüße".into()), Packet::Log(here, "Grüße".into())),
        (old::Packet::Same(vec![1, 2]), Packet::Same(vec![1, 2])),
        (old::Packet::Swapped(there), Packet::Swapped(here)),
    ]
}

fn encoded<M: Messages>(message: &M, framing: Framing) -> Vec<u8> {
    let mut bytes = Vec::new();
    dtype_message::encode(&mut bytes, message, framing).unwrap();
    bytes
}

/// The first result of a decoder that gets the bytes in pieces of this size.
fn fed<M: Messages>(
    bytes: &[u8],
    size: usize,
    sender: &Protocol,
    limits: Limits,
) -> Result<M, Error> {
    let mut decoder = Decoder::<M>::new(limits).with_version(sender.clone());
    let mut results = bytes.chunks(size).map(|mut piece| decoder.feed(&mut piece));
    results.find_map(Result::transpose).expect("a result")
}

#[test]
fn fields_are_found_by_name() {
    let theirs = Protocol::of::<old::Packet>();
    let compact = Framing::compact();
    for framing in [Framing::new(), Framing::new().with_schema(), compact, compact.with_schema()] {
        let mut stream = Vec::new();
        for (sent, expected) in pairs() {
            let bytes = encoded(&sent, framing);
            for size in [1, 7, 1000, bytes.len()] {
                let message = fed::<Packet>(&bytes, size, &theirs, Limits::new());
                assert!(message.unwrap() == expected, "{size}");
            }
            stream.extend(bytes);
        }
        let receiver = Receiver::<_, Packet>::new(&stream[..], Limits::new());
        let mut receiver = receiver.with_version(theirs.clone());
        for (_, expected) in pairs() {
            assert!(receiver.next_message().unwrap() == Some(expected));
        }
        assert!(receiver.next_message().unwrap().is_none());
        // Only for the reader that asks for it.
        let mut receiver = Receiver::<_, Packet>::new(&stream[..], Limits::new());
        assert!(matches!(receiver.next_message(), Err(Error::Mismatch(_))));
    }
}

/// Fields of one type in another order have one signature: only the names tell.
#[test]
fn fields_of_one_type_are_not_swapped() {
    #[derive(Datatype, Debug, PartialEq)]
    #[dtype(name = "Place")]
    struct Here {
        x: f32,
        y: f32,
    }
    let bytes = encoded(&old::Place { x: 1.0, y: 2.0 }, Framing::compact());
    let theirs = Protocol::of::<old::Place>();
    assert_eq!(fed::<Here>(&bytes, 5, &theirs, Limits::new()).unwrap(), Here { x: 1.0, y: 2.0 });
    let list = encoded(&vec![old::Place { x: 1.0, y: 2.0 }; 2], Framing::new().with_tag(9));
    let theirs = Protocol::of::<Vec<old::Place>>();
    let read = fed::<Vec<Here>>(&list, 1000, &theirs, Limits::new()).unwrap();
    assert_eq!(read, [Here { x: 1.0, y: 2.0 }, Here { x: 1.0, y: 2.0 }]);
}

#[test]
fn the_other_byte_order() {
    let other = match ByteOrder::NATIVE {
        ByteOrder::Little => Representation::BigEndian,
        ByteOrder::Big => Representation::LittleEndian,
    };
    let records: Vec<_> = (0..3).map(sent).collect();
    let packed = pack_as(&records, other).unwrap();
    let frame = encoded(&old::Packet::Many(records), Framing::new());
    let bytes = changed(&frame, |frame| {
        frame[5] = 3 - frame[5];
        frame[48..48 + packed.len()].copy_from_slice(&packed);
    });
    let theirs = Protocol::of::<old::Packet>();
    let message = fed::<Packet>(&bytes, 100, &theirs, Limits::new()).unwrap();
    assert_eq!(message, Packet::Many((0..3).map(read).collect()));
}

/// Each error names the field.
#[test]
fn what_cannot_be_read_is_an_error_that_names_the_field() {
    #[derive(Datatype, Debug, PartialEq)]
    #[dtype(name = "S")]
    struct Here {
        a: u32,
        list: [Inner; 2],
    }
    #[derive(Datatype, Debug, PartialEq)]
    struct Inner {
        b: f32,
    }
    let refusal = |schema: &str, payload: &[u8]| {
        let theirs: Protocol = format!("\t0 one S\n{schema}").parse().unwrap();
        // Without a signature, any bytes.
        let framing = Framing::compact().without_signature();
        let frame = match payload.len() {
            0 => encoded(&[0_u8; 12], framing),
            _ => encoded(&<[u8; 12]>::try_from(payload).unwrap(), framing),
        };
        let limits = Limits::new().allow_missing_signature();
        match fed::<Here>(&frame, 1000, &theirs, limits) {
            Err(error) => error.to_string(),
            Ok(read) => format!("{read:?}"),
        }
    };
    for (schema, reason) in [
        (
            "S\nlist[0..2].b: f32\na: u32\n",
            "Here { a: 0, list: [Inner { b: 0.0 }, Inner { b: 0.0 }] }",
        ),
        (
            "S\nlist[0..2].b: f32\nc: u32\n",
            "the field `a` is only here, and has no `#[dtype(default)]`",
        ),
        ("S\na: u64\nlist[0..2].b: f32\n", "the field `a` is u64 there and u32 here"),
        ("S\na: i16\nlist[0..2].b: f32\n", "the field `a` is i16 there and u32 here"),
        ("S\na: f32\nlist[0..2].b: f32\n", "the field `a` is f32 there and u32 here"),
        ("S\na: bool\nlist[0..2].b: f32\n", "the field `a` is bool there and u32 here"),
        ("S\na: char\nlist[0..2].b: f32\n", "the field `a` is char there and u32 here"),
        ("S\na: E {u32: A = 0}\nlist[0..2].b: f32\n", "the field `a` is E there and u32 here"),
        ("S\na: u32\nlist[0..2].b: f64\n", "the field `list.b` is f64 there and f32 here"),
        (
            "S\na: u32\nlist[0..3].b: f32\n",
            "the field `list` has the lengths [3] there and [2] here",
        ),
        ("S\na: u32\nlist: [f32; 2]\n", "the field `list` is f32 there and a structure here"),
        ("S\na: u32\nlist[0..2].b: f32\na: u32\n", "the field `a` occurs twice there"),
        ("S\na: u32\nlist[0..2].b: unknown\n", "its schema is too long, or not that of a type"),
        (
            "S\na: u32\nlist[0..18446744073709551615].b: f32\n",
            "its schema is too long, or not that of a type",
        ),
        (
            "S\na: u32\nlist[0..2].b: f32\nc: u8\n",
            "the message is not one of the sender's protocol",
        ),
        ("S\n", "the field `a` is only here"),
    ] {
        let text = refusal(schema, &[]);
        assert!(text.contains(reason), "{schema}: {text}");
    }
    // Deep, and long.
    for schema in [
        format!("S\n{}a: u32\n", "a.".repeat(5000)),
        format!("S\na: {}u32\n", "[".repeat(5000)),
        format!("S\n{}", "a: u32\n".repeat(20_000)),
    ] {
        let (most, text) = max_in_use(|| refusal(&schema, &[]));
        assert!(text.contains("its schema is too long, or not that of a type"), "{text}");
        assert!(most <= 64 * 1024 + 3 * schema.len(), "{most}");
    }
}

/// A number that another variant has here is not read as that variant.
#[test]
fn new_variants_are_errors_that_name_the_field() {
    let mut record = sent(0);
    record.state = old::State::Gone;
    let frame = encoded(&old::Packet::Many(vec![sent(0), sent(1), record]), Framing::new());
    let theirs = Protocol::of::<old::Packet>();
    for size in [1, 1000] {
        let refusal = fed::<Packet>(&frame, size, &theirs, Limits::new()).unwrap_err();
        let text = "the sender's version of the message with tag 2, `Many`, cannot be read: record 2, \
                    field state: no name has the number 0x7";
        assert_eq!(refusal.to_string(), text);
    }
    // Damage comes first.
    let mut damaged = frame.clone();
    damaged[60] ^= 1;
    let refusal = fed::<Packet>(&damaged, 7, &theirs, Limits::new());
    assert!(matches!(refusal, Err(Error::Checksum { .. })));
    // The connection goes on.
    let stream = [frame, encoded(&old::Packet::One(sent(1)), Framing::new())].concat();
    let mut receiver = Receiver::<_, Packet>::new(&stream[..], Limits::new()).with_version(theirs);
    assert!(receiver.next_message().is_err());
    assert_eq!(receiver.next_message().unwrap(), Some(Packet::One(read(1))));
}

/// The limits are those of the records here, which may be longer than the sender's.
#[test]
fn converted_records_are_within_the_limits() {
    #[derive(Datatype, Clone, Copy, Debug)]
    #[dtype(name = "S")]
    struct Wide {
        a: u8,
        #[dtype(default)]
        wide: Large,
    }
    #[derive(Datatype, Clone, Copy, Debug)]
    struct Large([u8; 1000]);
    impl Default for Large {
        fn default() -> Self {
            Self([7; 1000])
        }
    }
    #[derive(Datatype, Clone, Copy, Debug)]
    #[dtype(name = "S")]
    struct Narrow {
        a: u8,
    }
    let frame = encoded(&vec![Narrow { a: 1 }; 10_000], Framing::compact());
    let theirs = Protocol::of::<Vec<Narrow>>();
    let limits = Limits::new().with_max_payload_bytes(1_000_000);
    for size in [100, 20_000] {
        let (most, refusal) =
            max_in_use(|| fed::<Vec<Wide>>(&frame, size, &theirs, limits).unwrap_err());
        assert!(matches!(refusal, Error::PayloadLimit { actual: 10_010_000, .. }), "{refusal}");
        assert!(most <= 16 * 1024, "{most}");
        let limits = limits.with_max_payload_bytes(10_010_000);
        let (most, read) = max_in_use(|| fed::<Vec<Wide>>(&frame, size, &theirs, limits).unwrap());
        assert!(read.iter().all(|record| record.a == 1 && record.wide.0 == [7; 1000]));
        assert!(most <= 3 * 10_010_000 + 300_000, "{most}");
    }
    let refusal = fed::<Vec<Wide>>(&frame, 100, &theirs, limits.with_max_payload_bytes(9999));
    assert!(matches!(refusal, Err(Error::PayloadLimit { actual: 10_000, .. })));
}

/// A receiver of one kind reads each of the sender's kinds as that.
#[test]
fn one_kind_here_and_many_there() {
    #[derive(Datatype, Debug, PartialEq)]
    struct Here {
        x: f32,
        y: f32,
    }
    #[derive(Datatype)]
    struct Turned {
        y: f32,
        x: f32,
    }
    #[derive(Datatype)]
    struct Longer {
        y: f32,
        x: f32,
        z: f32,
    }
    #[derive(Messages)]
    enum There {
        #[dtype(tag = 1)]
        Turned(Turned),
        #[dtype(tag = 2)]
        Here(Longer),
    }
    let messages =
        [There::Here(Longer { x: 1.0, y: 2.0, z: 3.0 }), There::Turned(Turned { x: 1.0, y: 2.0 })];
    let stream: Vec<u8> =
        messages.iter().flat_map(|sent| encoded(sent, Framing::compact())).collect();
    let receiver = Receiver::<_, Here>::new(&stream[..], Limits::new());
    let mut receiver = receiver.with_version(Protocol::of::<There>());
    for _ in 0..2 {
        assert_eq!(receiver.next_message().unwrap(), Some(Here { x: 1.0, y: 2.0 }));
    }
    // A peer with many kinds, each of which it sends.
    let kinds = (0..500).map(|tag| format!("\t{tag} one T\nT\ny: f32\nx: f32\nz{tag}: f32\n"));
    let theirs: Protocol = kinds.collect::<String>().parse().unwrap();
    let (most, ()) = max_in_use(|| {
        let mut decoder = Decoder::<Here>::new(Limits::new()).with_version(theirs);
        for tag in 0..500 {
            let frame = encoded(&[1.0_f32, 2.0, 3.0], Framing::compact().with_tag(tag));
            assert_eq!(decoder.feed(&mut &frame[..]).unwrap(), Some(Here { x: 2.0, y: 1.0 }));
        }
    });
    assert!(most <= 256 * 1024, "{most}");
}

#[cfg(feature = "tokio-util")]
#[test]
fn on_streams_of_tokio() {
    use bytes::BytesMut;
    use dtype_message::Codec;
    use dtype_message::tokio::{Receiver, exchange, send};
    use tokio_util::codec::Decoder as _;

    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (mut here, mut there) = tokio::io::duplex(777);
        let sender = tokio::spawn(async move {
            exchange::<old::Packet>(&mut there, &Limits::new()).await.unwrap();
            for (sent, _) in pairs() {
                send(&mut there, &sent, Framing::compact()).await.unwrap();
            }
        });
        let theirs = exchange::<Packet>(&mut here, &Limits::new()).await.unwrap();
        let mut receiver = Receiver::<_, Packet>::new(here, Limits::new()).with_version(theirs);
        for (_, expected) in pairs() {
            assert!(receiver.next_message().await.unwrap() == Some(expected));
        }
        sender.await.unwrap();
        let codec = Codec::<Packet>::new(Limits::new(), Framing::new());
        let mut codec = codec.with_version(Protocol::of::<old::Packet>());
        for (sent, expected) in pairs() {
            let mut bytes = BytesMut::from(&encoded(&sent, Framing::new())[..]);
            assert!(codec.decode(&mut bytes).unwrap().unwrap().unwrap() == expected);
        }
    });
}
