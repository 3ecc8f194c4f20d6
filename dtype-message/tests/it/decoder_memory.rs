//! The memory that a decoder takes: one message within the limits, whatever a header announces.

use dtype_message::{Decoder, Framing, Limits, Messages};
use dtype_test_support::counting::max_in_use;
use dtype_test_support::frames::{announce, changed};

/// The maximum of the memory that a decoder takes while a stream is fed to it in pieces of this many bytes.
fn most_of_decoder<M: Messages>(stream: &[u8], piece: usize, limits: Limits) -> usize {
    let (most, ()) = max_in_use(|| {
        let mut decoder = Decoder::<M>::new(limits);
        for mut bytes in stream.chunks(piece) {
            while !bytes.is_empty() {
                // After an error, the decoder skips the refused frame.
                drop(decoder.feed(&mut bytes));
            }
        }
    });
    most
}

#[test]
fn a_decoder_holds_one_message_within_the_limits() {
    let (chunk, limits) = (64 * 1024, Limits::new().with_max_payload_bytes(50_000));
    let records = vec![(1_u8, 2_u32); 10_000];
    let (mut one, mut stream) = (Vec::new(), Vec::new());
    dtype_message::write(&mut one, &records).unwrap();
    for _ in 0..20 {
        stream.extend_from_slice(&one);
    }
    // Each packed record of 5 bytes becomes 8 bytes. A growing list exists twice for a moment, and a part of a record is kept.
    let bound = 50_000 * 8 / 5 * 3 + 1024;
    for piece in [1, 7, 4096, chunk, stream.len()] {
        let took = most_of_decoder::<Vec<(u8, u32)>>(&stream, piece, limits);
        println!("pieces of {piece}: {took}");
        assert!(took <= bound, "{took}");
        // Records that are refused, for their number or for their type, are not kept at all.
        let few = limits.with_max_payload_bytes(49_999);
        assert!(most_of_decoder::<Vec<(u8, u32)>>(&stream, piece, few) <= 2048);
        assert!(most_of_decoder::<Vec<u64>>(&stream, piece, limits) <= 2048);
        assert!(most_of_decoder::<String>(&stream, piece, limits) <= 2048);
    }

    // Whatever a header announces, memory grows with the bytes that arrive.
    let hostile = changed(&one, |b| announce(b, 1 << 40));
    for end in [48, 1000, 20_000] {
        for piece in [1, 4096] {
            let took = most_of_decoder::<Vec<(u8, u32)>>(&hostile[..end], piece, Limits::UNLIMITED);
            assert!(took <= end * 8 / 5 * 3 + 1024, "{took}");
        }
    }

    // The same for compact frames, and for text.
    for framing in [Framing::new(), Framing::compact()] {
        let mut text = Vec::new();
        dtype_message::encode(&mut text, &"x".repeat(50_000), framing).unwrap();
        for piece in [1, 4096] {
            let took = most_of_decoder::<String>(&text, piece, limits);
            assert!(took <= 3 * 50_000 + 1024, "{took}");
        }
    }
}
