//! The next frame is found in a stream that is cut or damaged anywhere.

use dtype_message::{Framing, Header, Search, find_frame, write_framed};
use proptest::prelude::*;

/// A stream of frames, and where each starts.
fn stream(frames: &[(bool, Vec<u16>)]) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    for (is_compact, records) in frames {
        let framing = if *is_compact { Framing::compact() } else { Framing::new() };
        if !is_compact {
            starts.push(bytes.len());
        }
        write_framed(&mut bytes, records, framing).unwrap();
    }
    (bytes, starts)
}

/// Searches a stream whose bytes come in pieces of this size, from an offset on.
fn search(bytes: &[u8], from: usize, piece: usize) -> Option<usize> {
    let (mut start, mut end) = (from, from);
    loop {
        end = bytes.len().min(end + piece);
        match find_frame(&bytes[start..end]) {
            Search::Found(at) => return Some(start + at),
            Search::Skipped(_) if end == bytes.len() => return None,
            Search::Skipped(number) => {
                assert!(end - start - number < Header::FULL_LEN, "{start} {number} {end}");
                start += number;
            }
        }
    }
}

/// The first place from an offset on where a whole header is.
fn first_header(bytes: &[u8], from: usize) -> Option<usize> {
    (from..bytes.len()).find(|at| {
        bytes[*at..].first_chunk().is_some_and(|header| Header::from_bytes(header).is_ok())
    })
}

/// Frames whose records have the bytes of the magic number often.
fn frames() -> impl Strategy<Value = Vec<(bool, Vec<u16>)>> {
    let number = prop_oneof![Just(0x44D7), Just(0x4D54), Just(0xD7D7), any::<u16>()];
    proptest::collection::vec((any::<bool>(), proptest::collection::vec(number, 0..40)), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_next_frame_is_found(
        frames in frames(),
        cut in any::<(prop::sample::Index, prop::sample::Index)>(),
        changes in proptest::collection::vec(any::<(prop::sample::Index, u8)>(), 0..4),
        piece in 1_usize..200,
    ) {
        let (mut bytes, starts) = stream(&frames);
        let (one, other) = (cut.0.index(bytes.len() + 1), cut.1.index(bytes.len() + 1));
        let cut = one.min(other)..one.max(other);
        bytes.drain(cut.clone());
        let mut last_change = cut.start;
        for (at, change) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = bytes[at].wrapping_add(change);
                last_change = last_change.max(at + 1);
            }
        }
        for from in (0..bytes.len()).step_by(7) {
            prop_assert_eq!(search(&bytes, from, piece), first_header(&bytes, from));
        }
        // The first whole frame behind all damage.
        let behind = starts.iter().filter(|start| **start >= cut.end).map(|start| start - cut.len());
        let expected = behind.into_iter().find(|start| *start >= last_change);
        prop_assert_eq!(search(&bytes, last_change, piece), expected);
    }

    #[test]
    fn noise_holds_no_frame(noise in proptest::collection::vec(prop_oneof![Just(0xD7), Just(b'D'), Just(b'T'), Just(b'M'), Just(1), any::<u8>()], 0..500)) {
        prop_assert_eq!(search(&noise, 0, 64), None);
    }
}
