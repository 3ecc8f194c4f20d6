//! Messages whose types the receiver looks up.

use dtype_message::{Decoder, Error, Frame, Framing, Limits};
use dtype_runtime::convertor::ValueChecks;
use dtype_runtime::{Basic, Type};

fn stream() -> Vec<u8> {
    let mut stream = Vec::new();
    for framing in [Framing::new().with_tag(1), Framing::compact().with_tag(2)] {
        dtype_message::send(&mut stream, &vec![(1_u16, true), (2, false)], framing).unwrap();
        dtype_message::send(&mut stream, &vec![[7_u8; 100]; 2000], framing).unwrap();
        dtype_message::send(&mut stream, &(), framing).unwrap();
    }
    stream
}

fn frames(stream: &[u8], piece: usize) -> Vec<Frame> {
    let (mut decoder, mut all) = (Decoder::<Frame>::new(Limits::new()), Vec::new());
    for mut bytes in stream.chunks(piece) {
        while let Some(frame) = decoder.feed(&mut bytes).unwrap() {
            all.push(frame);
        }
    }
    decoder.finish().unwrap();
    all
}

#[test]
fn frames_arrive_in_pieces_of_any_size() {
    let stream = stream();
    let expected = frames(&stream, stream.len());
    for piece in [1, 2, 3, 7, 48, 1000, 65_536, 65_537] {
        assert_eq!(frames(&stream, piece), expected, "{piece}");
    }
    let facts: Vec<_> = expected
        .iter()
        .map(|it| (it.header().tag(), it.header().count(), it.payload().len()))
        .collect();
    let one = |tag| [(tag, 2, 6), (tag, 2000, 200_000), (tag, 1, 0)];
    assert_eq!(facts, [one(1), one(2)].concat());

    // A relay sends what it received; only the tag is its own.
    let (mut again, mut tagged) = (Vec::new(), Vec::new());
    for frame in &expected {
        let tag = frame.header().tag();
        dtype_message::send(&mut again, frame, Framing::new().with_tag(tag)).unwrap();
        dtype_message::encode(&mut tagged, frame, Framing::new().with_tag(9)).unwrap();
    }
    assert_eq!(again, stream);
    assert!(frames(&tagged, 100).iter().all(|frame| frame.header().tag() == 9));
}

#[test]
fn records_are_unpacked_by_a_type_made_later() {
    let frame = &frames(&stream(), 1000)[0];
    let pair = Type::of::<(u16, bool)>().commit();
    let mut memory = [0; 8];
    assert_eq!(frame.unpack(&pair, &mut memory, 2).unwrap(), 2);
    let size = size_of::<(u16, bool)>();
    // SAFETY: two pairs were unpacked, each as long as a pair.
    let read =
        |i: usize| unsafe { memory.as_ptr().add(i * size).cast::<(u16, bool)>().read_unaligned() };
    assert_eq!([read(0), read(1)], [(1, true), (2, false)]);

    assert!(matches!(
        frame.unpack(&pair, &mut memory, 1),
        Err(Error::RecordLimit { limit: 1, actual: 2 })
    ));
    let other = Type::of::<(u16, u8)>().commit();
    assert!(matches!(frame.unpack(&other, &mut memory, 2), Err(Error::Mismatch(_))));
    assert!(matches!(frame.unpack(&pair, &mut memory[..5], 2), Err(Error::Records(_))));
}

/// Payloads of the other byte order are converted, and their values checked, before anything is written.
#[test]
fn wrong_values_are_not_written() {
    let [number, flag] = [Basic::U16, Basic::Bool].map(Type::basic);
    let ty = Type::structure(&[1, 1], &[0, 2], &[number, flag]).unwrap();
    let mut checks = ValueChecks::new(&ty).unwrap();
    checks.restrict(0..1, "id", &[1, 2]).unwrap();
    let ty = ty.commit();
    let mut bytes = Vec::new();
    // The native payload, and then the same in the other byte order.
    dtype_message::encode(
        &mut bytes,
        &vec![(1_u16, true), (2, false)],
        Framing::compact().without_checksum(),
    )
    .unwrap();
    let (start, mut reversed) = (bytes.len() - 6, bytes.clone());
    reversed[0] ^= 1;
    for record in 0..2 {
        reversed[start + 3 * record..][..2].reverse();
    }
    for stream in [bytes, reversed] {
        for (offset, wrong) in [(0, None), (5, Some(2)), (3, Some(0x77))] {
            let mut stream = stream.clone();
            if let Some(wrong) = wrong {
                stream[start + offset] = wrong;
            }
            let limits = Limits::new().allow_missing_checksum();
            let frame = dtype_message::decode::<Frame>(&mut &stream[..], &limits).unwrap().unwrap();
            let mut memory = [0xA5; 8];
            let count = frame.check(&ty, 2).unwrap();
            let unpacker = ty.unpacker(&mut memory, count).unwrap();
            let result = frame.unpack_by(unpacker, Some(&checks));
            assert_eq!(result.is_err(), wrong.is_some(), "{result:?}");
            assert_eq!(memory == [0xA5; 8], wrong.is_some());
        }
    }
}
