//! Messages on tokio's streams: whole, in pieces, cancelled, damaged.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::BytesMut;
use dtype_message::tokio::{Receiver, receive, send, write_all};
use dtype_message::{Codec, Encoder, Error, Framing, Limits, Messages};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio_util::codec::{Decoder as _, Encoder as _};

#[derive(Messages, Clone, Debug, PartialEq)]
enum Packet {
    Numbers(Vec<u32>),
    Chat(String),
    Ping,
}

fn packets() -> Vec<Packet> {
    vec![
        Packet::Chat("hello".to_owned()),
        Packet::Numbers((0..50_000).collect()),
        Packet::Ping,
        Packet::Numbers(vec![]),
    ]
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

#[test]
fn there_and_back_through_a_narrow_pipe() {
    run(async {
        for (framing, width) in [(Framing::new(), 7), (Framing::compact(), 1000)] {
            let (mut here, there) = duplex(width);
            let sender = tokio::spawn(async move {
                for packet in packets() {
                    let length = send(&mut here, &packet, framing).await.unwrap();
                    let mut bytes = Vec::new();
                    dtype_message::encode(&mut bytes, &packet, framing).unwrap();
                    assert_eq!(length, bytes.len() as u64);
                }
                // Other bytes follow the messages.
                here.write_all(b"end").await.unwrap();
            });
            let mut there = there;
            for packet in packets() {
                let read = receive::<Packet>(&mut there, &Limits::new()).await.unwrap();
                assert!(read == Some(packet));
            }
            let mut rest = Vec::new();
            there.read_to_end(&mut rest).await.unwrap();
            assert_eq!(rest, b"end");
            sender.await.unwrap();
        }
    });
}

/// Polls a future once and drops it, as a time-out or a `select!` does.
fn cancelled<T>(work: impl Future<Output = T>) -> Option<T> {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

#[test]
fn a_receiver_that_is_cancelled_at_every_byte_loses_nothing() {
    run(async {
        let mut bytes = Vec::new();
        let packets = [Packet::Chat("hello".to_owned()), Packet::Numbers(vec![1, 2, 3])];
        for packet in &packets {
            dtype_message::encode(&mut bytes, packet, Framing::new()).unwrap();
        }
        let (mut here, there) = duplex(64);
        let mut receiver = Receiver::<_, Packet>::new(there, Limits::new());
        let mut received = Vec::new();
        for byte in bytes {
            assert!(cancelled(receiver.next_message()).is_none());
            here.write_all(&[byte]).await.unwrap();
            received.extend(cancelled(receiver.next_message()).map(|read| read.unwrap().unwrap()));
        }
        assert_eq!(received, packets);
        drop(here);
        assert_eq!(receiver.next_message().await.unwrap(), None);
        assert!(receiver.is_lost());
    });
}

#[test]
fn an_idle_peer_is_told_from_one_in_a_frame() {
    run(async {
        for framing in [Framing::new(), Framing::compact()] {
            let mut bytes = Vec::new();
            dtype_message::encode(&mut bytes, &Packet::Chat("hello".to_owned()), framing).unwrap();
            let (mut here, there) = duplex(1024);
            let mut receiver = Receiver::<_, Packet>::new(there, Limits::new());
            let (mut codec, mut src) =
                (Codec::<Packet>::new(Limits::new(), framing), BytesMut::new());
            for _ in 0..3 {
                assert!(
                    receiver.is_between_frames() && cancelled(receiver.has_started()).is_none()
                );
                for byte in &bytes[..bytes.len() - 1] {
                    here.write_all(&[*byte]).await.unwrap();
                    assert!(receiver.has_started().await.unwrap());
                    assert!(cancelled(receiver.next_message()).is_none());
                    assert!(!receiver.is_between_frames());
                    src.extend_from_slice(&[*byte]);
                    assert!(codec.decode(&mut src).unwrap().is_none());
                    assert!(!codec.is_between_frames());
                }
                // The end of a frame and the start of the next one arrive at once.
                let end = bytes.len() - 1;
                let more = [&bytes[end..], &bytes[..5]].concat();
                here.write_all(&more).await.unwrap();
                assert!(receiver.next_message().await.unwrap().is_some());
                assert!(!receiver.is_between_frames() && receiver.has_started().await.unwrap());
                here.write_all(&bytes[5..]).await.unwrap();
                assert!(receiver.next_message().await.unwrap().is_some());
                src.extend_from_slice(&bytes[end..]);
                assert!(codec.decode(&mut src).unwrap().is_some() && codec.is_between_frames());
            }
            // The rest of a frame that was refused has not arrived.
            let mut unknown = Vec::new();
            dtype_message::encode(&mut unknown, &vec![1_u8; 9], framing.with_tag(9)).unwrap();
            here.write_all(&unknown[..unknown.len() - 5]).await.unwrap();
            assert!(receiver.next_message().await.is_err() && !receiver.is_between_frames());
            here.write_all(&unknown[unknown.len() - 5..]).await.unwrap();
            assert!(cancelled(receiver.next_message()).is_none() && receiver.is_between_frames());
            drop(here);
            assert!(!receiver.has_started().await.unwrap() && receiver.is_lost());
        }
    });
}

#[test]
fn a_writer_that_is_cancelled_goes_on() {
    run(async {
        let numbers: Vec<u32> = (0..40_000).collect();
        let (mut here, mut there) = duplex(777);
        let mut encoder = Encoder::new(&numbers, Framing::new()).unwrap();
        let mut sent = Vec::new();
        let mut buffer = [0; 500];
        while cancelled(write_all(&mut here, &mut encoder)).is_none() {
            let count = there.read(&mut buffer).await.unwrap();
            sent.extend_from_slice(&buffer[..count]);
        }
        drop(here);
        there.read_to_end(&mut sent).await.unwrap();
        let read = dtype_message::decode::<Vec<u32>>(&mut &sent[..], &Limits::new()).unwrap();
        assert!(read == Some(numbers));
    });
}

#[test]
fn a_peer_that_vanishes_and_frames_that_are_damaged() {
    run(async {
        let mut bytes = Vec::new();
        for packet in [Packet::Chat("hello".to_owned()), Packet::Ping] {
            dtype_message::encode(&mut bytes, &packet, Framing::new()).unwrap();
        }
        let end = bytes.len();
        bytes[50] ^= 1;
        dtype_message::encode(&mut bytes, &1_u8, Framing::new().with_tag(9)).unwrap();
        dtype_message::encode(&mut bytes, &Packet::Ping, Framing::new()).unwrap();

        let mut receiver = Receiver::<_, Packet>::new(&bytes[..bytes.len() - 1], Limits::new());
        assert!(matches!(receiver.next_message().await, Err(Error::Checksum { .. })));
        assert_eq!(receiver.next_message().await.unwrap(), Some(Packet::Ping));
        assert!(matches!(receiver.next_message().await, Err(Error::UnknownTag { tag: 9, .. })));
        assert!(!receiver.is_lost());
        assert!(matches!(receiver.next_message().await, Err(Error::Truncated { .. })));
        assert!(receiver.is_lost());

        for cut in 1..end {
            let result = receive::<Packet>(&mut &bytes[..cut], &Limits::new()).await;
            assert!(matches!(result, Err(Error::Truncated { .. } | Error::Checksum { .. })));
        }
        assert_eq!(receive::<Packet>(&mut &b""[..], &Limits::new()).await.unwrap(), None);
    });
}

#[test]
fn the_codec_continues_after_a_refused_frame() {
    let mut codec = Codec::<Packet>::new(Limits::new(), Framing::new());
    let mut bytes = BytesMut::new();
    for packet in packets() {
        codec.encode(&packet, &mut bytes).unwrap();
    }
    let mut unknown = Vec::new();
    dtype_message::encode(&mut unknown, &1_u8, Framing::new().with_tag(9)).unwrap();
    bytes.extend_from_slice(&unknown);
    codec.encode(Packet::Ping, &mut bytes).unwrap();

    let (mut src, mut received) = (BytesMut::new(), Vec::new());
    for piece in bytes.chunks(1000) {
        src.extend_from_slice(piece);
        while let Some(item) = codec.decode(&mut src).unwrap() {
            received.push(item);
        }
        assert!(src.is_empty());
    }
    assert!(codec.decode_eof(&mut src).unwrap().is_none());
    let last = received.pop().unwrap().unwrap();
    assert!(matches!(received.pop(), Some(Err(Error::UnknownTag { tag: 9, .. }))));
    received.push(Ok(last));
    let received: Vec<Packet> = received.into_iter().map(Result::unwrap).collect();
    assert!(received[..4] == packets() && received[4..] == [Packet::Ping]);

    // The stream ends inside a frame, or continues with bytes that are not a frame.
    src.extend_from_slice(&unknown[..20]);
    assert!(matches!(codec.decode_eof(&mut src), Err(Error::Truncated { .. })));
    let mut codec = Codec::<Packet>::new(Limits::new(), Framing::new());
    src.extend_from_slice(b"GET / HTTP/1.1");
    assert!(matches!(codec.decode(&mut src), Err(Error::Magic { .. })));
}

/// The futures are `Send`, so runtimes with many threads can spawn them.
#[test]
fn futures_can_be_sent() {
    fn is_send<T: Send>(_: &T) {}
    let (mut here, mut there) = duplex(10);
    let packet = Packet::Ping;
    is_send(&send(&mut here, &packet, Framing::new()));
    is_send(&receive::<Packet>(&mut there, &Limits::new()));
    let mut receiver = Receiver::<_, Packet>::new(there, Limits::new());
    is_send(&receiver.next_message());
}
