//! Two versions of a protocol, which the sides exchange when they connect.

use dtype_message::{Error, Framing, Header, Limits, Messages, Protocol, Receiver, Schema};
use dtype_runtime::Datatype;

#[derive(Datatype, Clone, Debug, PartialEq)]
struct Reading {
    sensor: u32,
    value: f32,
}

#[derive(Messages, Debug, PartialEq)]
enum V1 {
    #[dtype(tag = 1)]
    Reading(Reading),
    #[dtype(tag = 2)]
    Log(String),
    #[dtype(tag = 3)]
    Many(Vec<Reading>),
}

mod v2 {
    use super::{Datatype, Messages};

    #[derive(Datatype, Clone, Debug)]
    pub(super) struct Reading {
        pub(super) sensor: u32,
        pub(super) value: f64,
        pub(super) quality: u8,
    }

    #[derive(Messages, Debug)]
    pub(super) enum V2 {
        #[dtype(tag = 1)]
        Reading(Reading),
        #[dtype(tag = 2)]
        Log(String),
        #[dtype(tag = 4)]
        Reset,
    }
}

const CHANGES: &str = "`value` is f64 there and f32 here; `quality: u8` is only there";

#[test]
fn changes_between_versions_are_named() {
    let (here, there) = (Protocol::of::<V1>(), Protocol::of::<v2::V2>());
    assert_eq!(here.differences(&here), []);
    let lines = |here: &Protocol, there: &Protocol| -> Vec<String> {
        here.differences(there).iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        lines(&here, &there),
        [
            format!("tag 1, `Reading`: {CHANGES}"),
            "tag 3, `Many`, is only here".into(),
            "tag 4, `Reset`, is only there".into()
        ]
    );
    assert_eq!(there.to_string().parse::<Protocol>().unwrap(), there);
    assert_eq!(
        Protocol::of::<Vec<Reading>>().to_string(),
        "\t0 list Reading\nReading\nsensor: u32\nvalue: f32\n"
    );
}

/// Two versions of the same names.
macro_rules! version {
    ($name:ident { $($items:tt)* }) => {
        mod $name {
            #![allow(dead_code, unreachable_pub, unused_imports, reason = "only their protocols are used")]
            use core::num::NonZero;
            use dtype_message::{Messages, Protocol};
            use dtype_runtime::Datatype;
            $($items)*
            pub(super) fn protocol() -> Protocol {
                Protocol::of::<Packet>()
            }
        }
    };
}

version!(before {
    #[derive(Datatype)]
    #[repr(u8)]
    pub enum State { Idle = 0, Busy = 1, Lost = 2 }
    #[derive(Datatype)]
    #[repr(i16)]
    pub enum Level { Low = -1, High = 1 }
    #[derive(Datatype)]
    pub struct Record { state: State, levels: [Level; 3], id: u32 }
    #[derive(Messages)]
    pub enum Packet {
        State(Record),
        Answer(Record),
        Bytes(Vec<u8>),
        Log(String),
        Byte(u8),
        Name(String),
    }
});

version!(after {
    #[derive(Datatype)]
    #[repr(u8)]
    pub enum State { Idle = 0, Busy = 2, Gone = 1 }
    #[derive(Datatype)]
    #[repr(i16)]
    pub enum Level { Low = -2, High = 1 }
    #[derive(Datatype)]
    pub struct Record { state: State, levels: [Level; 3], id: NonZero<u32> }
    #[derive(Messages)]
    pub enum Packet {
        State(Record),
        Answer(Vec<Record>),
        Bytes(String),
        Log(Vec<u8>),
        Byte(Vec<u8>),
        Title(String),
    }
});

/// Each of these is refused when it arrives, although the signatures are equal.
#[test]
fn what_a_reader_refuses_is_named_before() {
    let lines = |here: Protocol, there: Protocol| -> Vec<String> {
        here.differences(&there).iter().map(ToString::to_string).collect()
    };
    let records = "the variant `Busy` of `state` is 2 there and 1 here; \
                   the variant `Lost = 2` of `state` is only here; \
                   the variant `Gone = 1` of `state` is only there; \
                   the variant `Low` of `levels` is -2 there and -1 here; \
                   `id` is u32 {not 0} there and u32 here";
    assert_eq!(
        lines(before::protocol(), after::protocol()),
        [
            &format!("tag 0, `State`: {records}"),
            "tag 1, `Answer`: a list of `Record` there and one `Record` here",
            "tag 2, `Bytes`: a text there and a list of `u8` here",
            "tag 3, `Log`: a list of `u8` there and a text here",
            "tag 4, `Byte`: a list of `u8` there and one `u8` here",
            "tag 5 is `Title` there and `Name` here",
        ]
    );
    assert!(
        lines(after::protocol(), before::protocol())[0]
            .contains("`id` is u32 there and u32 {not 0} here")
    );
    // Another number of bytes is another type.
    let (here, there): (Schema, Schema) =
        ("S\ns: E {u8: A = 0}\n".parse().unwrap(), "S\ns: E {u16: A = 0}\n".parse().unwrap());
    assert_eq!(here.differences(&there)[0].to_string(), "`s` is E as u16 there and E as u8 here");
}

/// The names of variants may have any characters, and a new variant does not change the hash that frames carry.
#[test]
fn variants_are_part_of_the_schema_and_not_of_its_hash() {
    #[derive(Datatype)]
    #[dtype(name = "E {x}")]
    #[repr(u8)]
    #[allow(dead_code, reason = "only its schema is used")]
    enum Odd {
        #[dtype(rename = "a, b = 1}")]
        A = 0,
        #[dtype(rename = "{u8: c\n")]
        B = 255,
    }
    #[derive(Datatype)]
    #[dtype(name = "S {u8: y}")]
    struct Record {
        #[dtype(rename = "x {")]
        odd: Odd,
    }
    let schema = Schema::of::<Record>();
    let text = r"S \u{7b}u8: y}
x \u{7b}: E \u{7b}x} {u8: a\u{2c} b \u{3d} 1} = 0, \u{7b}u8: c\n = 255}
";
    assert_eq!(schema.to_string(), text);
    assert_eq!(schema.fields().collect::<Vec<_>>(), [(r"x \u{7b}", r"E \u{7b}x}")]);
    let header = Header::of::<Record>(1, Framing::new().with_schema()).unwrap();
    assert_eq!(header.schema_hash(), Some(schema.hash()));
    let more = text.replace("255}", "255, D = 7}").parse::<Schema>().unwrap();
    assert_eq!(more.hash(), schema.hash());
    let difference = schema.differences(&more).remove(0).to_string();
    assert_eq!(difference, r"the variant `D = 7` of `x \u{7b}` is only there");
}

#[test]
fn a_receiver_names_the_fields_and_goes_on() {
    let mut stream = Vec::new();
    let reading = v2::V2::Reading(v2::Reading { sensor: 1, value: 0.5, quality: 3 });
    for message in [reading, v2::V2::Log("hello".into()), v2::V2::Reset] {
        dtype_message::send(&mut stream, &message, Framing::compact()).unwrap();
    }
    let mut receiver =
        Receiver::<_, V1>::new(&stream[..], Limits::new()).with_sender(Protocol::of::<v2::V2>());
    let refusal = receiver.next_message().unwrap_err();
    assert!(
        refusal.to_string().ends_with(&format!(
            "expected 8 packed bytes, signature 0x{:x}; {CHANGES}",
            {
                let hash = Reading::TYPE_MAP.signature_hash();
                (hash ^ hash >> 32) & 0xFFFF_FFFF
            }
        )),
        "{refusal}"
    );
    assert_eq!(receiver.next_message().unwrap(), Some(V1::Log("hello".into())));
    assert!(matches!(receiver.next_message(), Err(Error::UnknownTag { tag: 4, .. })));
    assert!(receiver.next_message().unwrap().is_none());
}

#[test]
fn a_type_that_is_no_enum_is_explained_whatever_the_tag() {
    fn refusal<M: Messages>(tag: u32, sender: Protocol) -> String {
        let mut stream = Vec::new();
        let reading = v2::Reading { sensor: 1, value: 0.5, quality: 3 };
        dtype_message::send(&mut stream, &reading, Framing::new().with_tag(tag)).unwrap();
        let receiver = Receiver::<_, M>::new(&stream[..], Limits::new());
        match receiver.with_sender(sender).next_message() {
            Err(refusal) => refusal.to_string(),
            Ok(_) => panic!("accepted"),
        }
    }
    for refusal in [
        refusal::<Reading>(1, Protocol::of::<v2::V2>()),
        refusal::<Vec<Reading>>(7, Protocol::of::<v2::Reading>()),
        refusal::<V1>(3, Protocol::of::<Vec<v2::Reading>>()),
    ] {
        assert!(refusal.ends_with(CHANGES), "{refusal}");
    }
    // The enum's message for this tag is unknown.
    let unexplained = refusal::<Reading>(9, Protocol::of::<v2::V2>());
    assert!(!unexplained.contains("there"), "{unexplained}");
}

#[test]
fn a_refusal_says_what_the_receiver_knows() {
    #[derive(Datatype, Debug)]
    struct Other {
        id: u32,
        value: f32,
    }
    let refusal = |frame: &[u8]| {
        dtype_message::decode::<Reading>(&mut &frame[..], &Limits::new()).unwrap_err().to_string()
    };
    let mut frame = Vec::new();
    dtype_message::encode(&mut frame, &(1_i32, 0.5_f32), Framing::new()).unwrap();
    assert!(refusal(&frame).ends_with("; the fields have other types"), "{}", refusal(&frame));
    frame.clear();
    let other = Other { id: 1, value: 0.5 };
    dtype_message::encode(&mut frame, &other, Framing::new().with_schema()).unwrap();
    let text = refusal(&frame);
    assert!(text.ends_with("; the fields have other names or types"), "{text}");
}

#[cfg(feature = "tokio")]
#[test]
fn both_sides_exchange_their_protocols() {
    use std::future::Future;
    use std::task::{Context, Poll, Waker};

    use dtype_message::tokio::exchange;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    let limits = Limits::new();

    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // The room is shorter than either text.
    let run = |room| {
        runtime.block_on(async {
            let (mut here, mut there) = duplex(room);
            let other = tokio::spawn(async move {
                let theirs = exchange::<v2::V2>(&mut there, &limits).await.unwrap();
                there.write_all(b"next").await.unwrap();
                theirs
            });
            let theirs = exchange::<V1>(&mut here, &limits).await.unwrap();
            assert_eq!(
                (theirs, other.await.unwrap()),
                (Protocol::of::<v2::V2>(), Protocol::of::<V1>())
            );
            // The bytes that follow were not read.
            let mut next = String::new();
            here.read_to_string(&mut next).await.unwrap();
            assert_eq!(next, "next");
        });
    };
    run(7);
    run(1 << 16);

    let refused = |bytes: Vec<u8>| {
        runtime.block_on(async {
            let (mut here, mut there) = duplex(1 << 16);
            there.write_all(&bytes).await.unwrap();
            there.shutdown().await.unwrap();
            exchange::<V1>(&mut here, &limits).await.unwrap_err()
        })
    };
    assert!(matches!(refused(Vec::new()), Error::Io(_)));
    let mut frame = Vec::new();
    dtype_message::send(&mut frame, &"hello".to_owned(), Framing::new()).unwrap();
    assert!(matches!(refused(frame.clone()), Error::Protocol(_)));
    frame.truncate(20);
    assert!(matches!(refused(frame), Error::Truncated { .. }));

    // A peer that closes its writing side, and reads nothing.
    let (mut here, mut there) = duplex(7);
    runtime.block_on(there.shutdown()).unwrap();
    let exchanging = std::pin::pin!(exchange::<V1>(&mut here, &limits));
    let ended = exchanging.poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(ended, Poll::Ready(Err(Error::Io(_)))), "{ended:?}");
}
