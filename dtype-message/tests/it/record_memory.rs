//! The memory of the records of a message is limited, if it is far more than their payload.

use std::fmt::Debug;

use dtype_message::{Decoder, Error, Framing, Incoming, Limits, Messages, Receiver};
use dtype_runtime::Datatype;
use dtype_test_support::counting::max_in_use;
use dtype_test_support::frames::changed;

/// One byte of data.
#[derive(Datatype, Clone, Copy, Debug, Default)]
#[repr(align(4096))]
struct Page(u8);

/// One byte of data in 32.
#[derive(Datatype, Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Line(u8);

/// One byte of data in 16.
#[derive(Datatype, Clone, Copy, Debug, Default)]
#[repr(align(16))]
struct Short(u8);

#[derive(Messages, Debug)]
enum Kinds {
    Pages(Vec<Page>),
    Lines(Vec<Line>),
    Shorts(Vec<Short>),
    Bytes(Vec<u8>),
}

#[test]
fn the_memory_of_records_is_limited() {
    const COUNT: usize = 1000;
    for framing in [Framing::new(), Framing::compact()] {
        let mut frame = Vec::new();
        dtype_message::send(&mut frame, &vec![Page(7); COUNT], framing).unwrap();
        readers::<Page>(&frame, COUNT);
        let other_order = |frame: &mut [u8]| frame[5] = 3 - frame[5];
        if framing == Framing::new() {
            readers::<Page>(&changed(&frame, other_order), COUNT);
        }
        frame.clear();
        dtype_message::send(&mut frame, &vec![Line(7); COUNT], framing).unwrap();
        readers::<Line>(&frame, COUNT);
        // The records take little more memory than the payload.
        frame.clear();
        dtype_message::send(&mut frame, &vec![Short(7); COUNT], framing).unwrap();
        let limits = Limits::new().with_max_payload_bytes(COUNT as u64);
        let records = dtype_message::read::<Short>(&mut &frame[..], &limits).unwrap().unwrap();
        assert_eq!(records.len(), COUNT);
    }

    // Many kinds of messages on one stream: a refused message takes no memory, and the next one arrives.
    let mut stream = Vec::new();
    for kind in [
        Kinds::Pages(vec![Page(7); COUNT]),
        Kinds::Lines(vec![Line(7); COUNT]),
        Kinds::Shorts(vec![Short(7); COUNT]),
        Kinds::Bytes(vec![7; COUNT]),
    ] {
        dtype_message::send(&mut stream, &kind, Framing::compact()).unwrap();
    }
    let limits = Limits::new().with_max_payload_bytes(COUNT as u64);
    for size in [1, 100, stream.len()] {
        let mut decoder = Decoder::<Kinds>::new(limits);
        let mut results = Vec::new();
        let (most, ()) = max_in_use(|| {
            for mut piece in stream.chunks(size) {
                while let Some(result) = decoder.feed(&mut piece).transpose() {
                    results.push(result);
                }
            }
        });
        assert!(most <= 64 * COUNT, "{most}");
        assert!(
            matches!(
                &results[..],
                [
                    Err(Error::PayloadLimit { .. }),
                    Err(Error::PayloadLimit { .. }),
                    Ok(Kinds::Shorts(records)),
                    Ok(Kinds::Bytes(bytes)),
                ] if (records.len(), bytes.len()) == (COUNT, COUNT)
            ),
            "{results:?}"
        );
    }
}

/// Reads a message within limits; returns the number of its records.
type Reader<'a> = &'a dyn Fn(&Limits) -> Result<usize, Error>;

/// Every reader makes records up to the limit, and refuses a record that takes one byte more.
fn readers<T: Datatype + Default + Debug>(frame: &[u8], count: usize) {
    let limit = (count * size_of::<T>()) as u64;
    let within = Limits::new().with_max_payload_bytes(limit);
    let beyond = within.with_max_payload_bytes(limit - 1);
    let is_refused = |result: Result<usize, Error>| match result {
        Err(Error::PayloadLimit { limit: l, actual }) => (l, actual) == (limit - 1, limit),
        _ => false,
    };
    let len = |records: Option<Vec<T>>| records.unwrap().len();
    let read = |limits: &Limits| dtype_message::read::<T>(&mut &frame[..], limits).map(len);
    let receive =
        |limits: &Limits| dtype_message::receive::<Vec<T>>(&mut &frame[..], limits).map(len);
    let reusing = |limits: &Limits| {
        let mut records = Vec::<T>::new();
        dtype_message::read_reusing(&mut &frame[..], &mut records, limits).map(Option::unwrap)
    };
    let decode =
        |limits: &Limits| dtype_message::decode::<Vec<T>>(&mut &frame[..], limits).map(len);
    let receiver =
        |limits: &Limits| Receiver::<_, Vec<T>>::new(frame, *limits).next_message().map(len);
    let pieces = |limits: &Limits| {
        let mut decoder = Decoder::<Vec<T>>::new(*limits);
        let mut results = frame.chunks(7).map(|mut piece| decoder.feed(&mut piece));
        results.find_map(Result::transpose).unwrap().map(|records| records.len())
    };
    let all: [(&str, Reader<'_>); 6] = [
        ("read", &read),
        ("receive", &receive),
        ("read_reusing", &reusing),
        ("decode", &decode),
        ("Receiver", &receiver),
        ("Decoder", &pieces),
    ];
    for (name, reader) in all {
        assert_eq!(reader(&within).unwrap(), count, "{name}");
        let (most, refused) = max_in_use(|| reader(&beyond));
        let report = format!("{name}: {refused:?}, {most} bytes");
        assert!(is_refused(refused) && most <= 3 * 64 * 1024, "{report}");
    }
    // Readers that write to the caller's memory.
    let mut items: Vec<T> = (0..count).map(|_| T::default()).collect();
    let message = Incoming::open(frame, &beyond).unwrap().unwrap();
    assert_eq!(message.read_into(&mut items).unwrap(), count);
}
