//! Frames of one short record take fewer steps if all of their bytes are there. The result is the same as byte by byte.

use dtype_message::{Decoder, Framing, Limits, Messages};
use dtype_runtime::{Datatype, FixedStr};

#[derive(Datatype, Clone, Debug, PartialEq)]
struct Reading {
    station: FixedStr<6>,
    valid: bool,
    value: f32,
}

#[derive(Messages, Debug, PartialEq)]
enum Message {
    #[dtype(tag = 3)]
    Reading(Reading),
    #[dtype(tag = 300)]
    Number(u64),
}

/// What a decoder makes of the bytes, in pieces of this length: the error, or the message, the header and how many bytes it left.
fn decode<M: Messages>(bytes: &[u8], piece: usize) -> Result<Option<(M, String, usize)>, String> {
    let (mut decoder, mut left) = (Decoder::<M>::new(Limits::new()), bytes.len());
    for piece in bytes.chunks(piece) {
        let mut input = piece;
        let message = decoder.feed(&mut input).map_err(|error| error.to_string())?;
        left -= piece.len() - input.len();
        if let Some(message) = message {
            assert!(decoder.is_between_frames());
            return Ok(Some((message, format!("{:?}", decoder.header()), left)));
        }
    }
    Ok(None)
}

#[test]
fn whole_frames_are_decoded_as_byte_by_byte() {
    let readings = [
        Reading { station: "Oslo".parse().unwrap(), valid: true, value: 1.5 },
        Reading { station: "Malmö".parse().unwrap(), valid: false, value: -1.0 },
    ];
    let framings = [
        Framing::compact(),
        Framing::compact().without_checksum(),
        Framing::compact().without_signature(),
        Framing::compact().with_schema(),
        Framing::new(),
        Framing::new().with_schema(),
    ];
    for framing in framings
        .into_iter()
        .flat_map(|framing| [0, 3, 127, 128, 70_000].map(|tag| framing.with_tag(tag)))
    {
        for reading in &readings {
            let mut frame = Vec::new();
            reading.append(&mut frame, framing).unwrap();
            for at in 0..frame.len() {
                for bits in [1, 0x80, 0xFF] {
                    let mut damaged = frame.clone();
                    damaged[at] ^= bits;
                    damaged.extend(&frame);
                    let (whole, bytewise) =
                        (decode::<Reading>(&damaged, damaged.len()), decode(&damaged, 1));
                    assert_eq!(whole, bytewise, "{framing:?}, byte {at}");
                    let (whole, bytewise) =
                        (decode::<Message>(&damaged, damaged.len()), decode(&damaged, 1));
                    assert_eq!(whole, bytewise, "{framing:?}, byte {at}");
                }
            }
            let found = decode::<Reading>(&frame, frame.len()).ok().flatten();
            let is_accepted = framing.has_checksum() && framing.has_signature();
            assert_eq!(
                found.map(|(found, ..)| found).as_ref(),
                Some(reading).filter(|_| is_accepted)
            );
        }
    }
}
