//! Messages whose types the receiver looks up.

use std::io::Read;

use dtype_message::{Decoder, Encoder, Error, Framing, Limits, PackedMessage};
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

fn messages(stream: &[u8], piece: usize) -> Vec<PackedMessage> {
    let (mut decoder, mut all) = (Decoder::<PackedMessage>::new(Limits::new()), Vec::new());
    for mut bytes in stream.chunks(piece) {
        while let Some(message) = decoder.feed(&mut bytes).unwrap() {
            all.push(message);
        }
    }
    decoder.finish().unwrap();
    all
}

#[test]
fn messages_arrive_in_pieces_of_any_size() {
    let stream = stream();
    let expected = messages(&stream, stream.len());
    for piece in [1, 2, 3, 7, 48, 1000, 65_536, 65_537] {
        assert_eq!(messages(&stream, piece), expected, "{piece}");
    }
    let facts: Vec<_> =
        expected.iter().map(|it| (it.header.tag(), it.header.count(), it.packed.len())).collect();
    let one = |tag| [(tag, 2, 6), (tag, 2000, 200_000), (tag, 1, 0)];
    assert_eq!(facts, [one(1), one(2)].concat());

    // A relay sends what it received; only the tag is its own.
    let (mut again, mut tagged) = (Vec::new(), Vec::new());
    for message in &expected {
        let tag = message.header.tag();
        dtype_message::send(&mut again, message, Framing::new().with_tag(tag)).unwrap();
        dtype_message::encode(&mut tagged, message, Framing::new().with_tag(9)).unwrap();
    }
    assert_eq!(again, stream);
    assert!(messages(&tagged, 100).iter().all(|message| message.header.tag() == 9));
}

#[test]
fn records_are_unpacked_by_a_type_made_later() {
    let message = &messages(&stream(), 1000)[0];
    let pair = Type::of::<(u16, bool)>().commit();
    let mut memory = [0; 8];
    message.header.check_type(&pair).unwrap();
    message.unpack(pair.unpacker(&mut memory, 2).unwrap()).unwrap();
    let size = size_of::<(u16, bool)>();
    // SAFETY: two pairs were unpacked, each as long as a pair.
    let read =
        |i: usize| unsafe { memory.as_ptr().add(i * size).cast::<(u16, bool)>().read_unaligned() };
    assert_eq!([read(0), read(1)], [(1, true), (2, false)]);

    for count in [1, 3] {
        let mut memory = [0; 12];
        let error = message.unpack(pair.unpacker(&mut memory, count).unwrap()).unwrap_err();
        let (expected, actual) = (3 * count as u64, 6);
        let Error::Records(error) = error else { panic!("{error}") };
        assert_eq!(*error, dtype_runtime::Error::PackedLength { expected, actual });
        assert_eq!(memory, [0; 12]);
    }
    let other = Type::of::<(u16, u8)>().commit();
    assert!(matches!(message.header.check_type(&other), Err(Error::Mismatch(_))));
}

#[test]
fn more_records_than_the_limit_are_refused() {
    let refused = dtype_message::decode::<PackedMessage>(
        &mut &stream()[..],
        &Limits::new().with_max_records(1),
    );
    assert!(matches!(refused, Err(Error::RecordLimit { limit: 1, actual: 2 })));
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
            let message = dtype_message::decode::<PackedMessage>(&mut &stream[..], &limits);
            let message = message.unwrap().unwrap();
            message.header.check_type(&ty).unwrap();
            let mut memory = [0xA5; 8];
            let unpacker = ty.unpacker(&mut memory, 2).unwrap();
            let result = message.unpack(unpacker.with_checks(&checks).unwrap());
            assert_eq!(result.is_err(), wrong.is_some(), "{result:?}");
            assert_eq!(memory == [0xA5; 8], wrong.is_some());
        }
    }
}

/// Whatever the reader's buffers, and whoever asks, the bytes are those of one frame.
#[test]
fn an_encoder_is_read_in_buffers_of_any_size() {
    let items: Vec<(u32, u64, u8)> = (0..20_000_u32).map(|i| (i, 3 * u64::from(i), 7)).collect();
    let ty = Type::of::<(u32, u64, u8)>().commit();
    for framing in [Framing::new(), Framing::compact(), Framing::compact().without_checksum()] {
        let mut expected = Vec::new();
        dtype_message::encode(&mut expected, &items, framing).unwrap();
        for sizes in
            [&[1_000_000][..], &[70_000], &[65_536 + 100, 1, 3], &[65_536, 80_000], &[1000]]
        {
            let from_type = {
                // SAFETY: the memory of the items, whose data are initialised; packing reads nothing else.
                let packer = unsafe {
                    dtype_runtime::Packer::from_raw(&ty, items.as_ptr().cast(), items.len())
                };
                let header = dtype_message::Header::of_type(&ty, items.len(), framing).unwrap();
                Encoder::with_packer(header, packer.unwrap()).unwrap()
            };
            for mut encoder in [Encoder::new(&items, framing).unwrap(), from_type] {
                let (mut read, mut sizes) = (Vec::new(), sizes.iter().cycle());
                while !encoder.is_complete() {
                    let mut buffer = vec![0; *sizes.next().unwrap()];
                    let filled = encoder.read(&mut buffer).unwrap();
                    assert!(filled > 0);
                    read.extend_from_slice(&buffer[..filled]);
                }
                assert_eq!(encoder.read(&mut [0; 100]).unwrap(), 0);
                assert!(read == expected);
            }
        }
    }
}
