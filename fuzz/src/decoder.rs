//! The decoder without I/O, on any bytes in any fragments, and views of packed bytes.
//!
//! The reference is the blocking reader, which reads a header and the rest of its frame. However the bytes are split, the
//! decoder must return the same messages and the same errors in the same order. It must skip every refused frame whose end is
//! known, and be lost if the end is unknown. Its memory is bounded by the limits, whatever a header announces.

use std::fmt::Debug;

use dtype_message::{Decoder, Error, Framing, Header, Incoming, Limits, Messages};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Datatype, Packed, pack, unpack, view};
use dtype_test_support::counting::{in_use, max_in_use};
use dtype_test_support::frames::{FRAME, announce, seal};

use crate::frames::{describe, written_in};

/// The last byte is a `bool`, so that damaged records are often refused.
type Record = (u16, bool);

#[derive(Messages, Debug, PartialEq)]
enum Packet {
    #[dtype(tag = 0)]
    Nothing,
    #[dtype(tag = 1)]
    One(Record),
    #[dtype(tag = 2)]
    Many(Vec<Record>),
    #[dtype(tag = 3)]
    Text(String),
    #[dtype(tag = 4)]
    Letters(Vec<char>),
    #[dtype(tag = 300)]
    Nobody(Vec<()>),
}

/// The sizes of fragments, which are taken in turn from a start that the input selects.
const SIZES: [usize; 12] = [1, 2, 1, 3, 40, 5, 8, 13, 1, 300, 21, 4];

/// Decodes a stream. If the first byte of the input is even, the stream is the rest of the input. Otherwise the input describes
/// frames.
pub fn run(input: &[u8]) {
    let Some(([mode, size, limit], rest)) = input.split_first_chunk().map(|(a, b)| (*a, b)) else {
        return;
    };
    let bytes = if mode & 1 == 0 { rest.to_vec() } else { made(rest) };
    let mut limits = Limits::new()
        .with_max_payload_bytes(u64::from(limit) * 8)
        .with_max_records(u64::from(limit) * 4);
    if mode & 2 != 0 {
        limits = limits.allow_missing_checksum();
    }
    if mode & 4 != 0 {
        limits = limits.allow_missing_signature();
    }
    let split = if mode & 8 == 0 { Split::Turns(size.into()) } else { Split::Needs };
    decode_beside_the_reader(&bytes, &limits, split);
    if mode & 16 != 0 {
        look_at::<Record>(&bytes);
        look_at::<(char, u8)>(&bytes);
        look_at::<[u16; 3]>(&bytes);
        view_of::<[bool; 3]>(&bytes);
        view_of::<char>(&bytes);
        view_of::<Nested>(&bytes);
    }
}

/// The way the bytes are split.
#[derive(Clone, Copy)]
enum Split {
    /// Fragments with the lengths in [`SIZES`], beginning with this one.
    Turns(usize),
    /// As many bytes as the decoder says it needs.
    Needs,
}

/// Writes frames and changes them, as the bytes of `input` describe.
fn made(mut input: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    // The start of the last frame, and whether it is a full frame.
    let mut last = None;
    while let Some((&command, rest)) = input.split_first() {
        input = rest;
        if stream.len() > 4096 {
            break;
        }
        let mut take = |count: usize| {
            let (taken, rest) = input.split_at(count.min(input.len()));
            input = rest;
            taken
        };
        if command % 8 == 7 {
            let &[what, at, value] = take(3) else { break };
            if let Some((start, is_full)) = last {
                change(&mut stream, start, is_full, [what, at, value]);
            }
            continue;
        }
        if command % 8 == 6 {
            let count = usize::from(command / 8);
            stream.extend_from_slice(take(count));
            continue;
        }
        let (count, framing, order) = described(take(1).first().copied().unwrap_or(0), command / 8);
        let start = stream.len();
        last = Some((start, !framing.is_compact()));
        let content = take(4 * count);
        let number = |two: &[u8]| two.iter().map(|&byte| u16::from(byte)).sum::<u16>();
        let mut numbers = content.chunks(2).map(|two| (number(two), number(two) % 2 == 1));
        let put = |stream: &mut Vec<u8>, packet: &Packet| {
            dtype_message::encode(stream, packet, framing).expect("it is small");
        };
        match command % 8 {
            0 => put(&mut stream, &Packet::Nothing),
            1 => {
                let record = [numbers.next_back().unwrap_or((7, true))];
                stream.extend(written_in(order, framing.with_tag(1), &record));
            }
            2 => {
                let records: Vec<Record> = numbers.collect();
                stream.extend(written_in(order, framing.with_tag(2), &records));
            }
            3 => put(&mut stream, &Packet::Text(String::from_utf8_lossy(content).into_owned())),
            4 => {
                let letters: Vec<char> = content.iter().map(|&byte| byte.into()).collect();
                stream.extend(written_in(order, framing.with_tag(4), &letters));
            }
            _ => put(&mut stream, &Packet::Nobody(vec![(); content.len()])),
        }
    }
    stream
}

/// The number of records, the framing and the byte order that two bytes select.
fn described(count: u8, how: u8) -> (usize, Framing, ByteOrder) {
    let framing = if how & 1 == 0 { Framing::new() } else { Framing::compact() };
    let framing = if how & 2 == 0 { framing } else { framing.without_checksum() };
    let framing = if how & 4 == 0 { framing } else { framing.without_signature() };
    let framing = if how & 8 == 0 { framing } else { framing.with_schema() };
    let order = match how & 16 {
        0 => ByteOrder::NATIVE,
        _ => match ByteOrder::NATIVE {
            ByteOrder::Little => ByteOrder::Big,
            ByteOrder::Big => ByteOrder::Little,
        },
    };
    (usize::from(count % 16), framing, order)
}

/// Changes the stream from `start` on.
fn change(stream: &mut Vec<u8>, start: usize, is_full: bool, [what, at, value]: [u8; 3]) {
    let frame = &mut stream[start..];
    let len = frame.len();
    let place = usize::from(at) % len.max(1);
    match what % 4 {
        _ if frame.is_empty() => {}
        0 => frame[place] ^= value,
        1 => stream.truncate(start + place),
        // A change that the checksums do not show.
        2 => {
            frame[place] ^= value;
            if is_full {
                seal(frame);
            }
        }
        _ if is_full && len >= FRAME => {
            announce(frame, u64::from(value) << (at % 57));
            seal(frame);
        }
        _ => frame[place] = value,
    }
}

/// The outcome of one frame.
#[derive(Debug)]
enum Outcome {
    Message(Packet),
    Refused(Error),
}

impl Outcome {
    fn of(result: Result<Packet, Error>) -> Self {
        match result {
            Ok(packet) => Self::Message(packet),
            Err(error) => Self::Refused(error),
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Message(one), Self::Message(other)) => one == other,
            (Self::Refused(one), Self::Refused(other)) => describe(one) == describe(other),
            _ => false,
        }
    }
}

/// The rest of a stream, as the blocking reader reads it.
struct Reader<'a> {
    bytes: &'a [u8],
    limits: Limits,
    state: State,
    /// The error that the end of a refused compact frame will give. The frame may have been refused because of damage.
    owed: Option<Error>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Between,
    /// The stream ends inside a frame.
    Cut,
    Lost,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], limits: &Limits) -> Self {
        Self { bytes, limits: *limits, state: State::Between, owed: None }
    }

    /// The next outcome, if enough of the frame has arrived to accept or refuse it.
    fn next(&mut self) -> Option<Outcome> {
        if let Some(error) = self.owed.take() {
            self.state = State::Lost;
            return Some(Outcome::Refused(error));
        }
        if self.state != State::Between || self.bytes.is_empty() {
            return None;
        }
        let mut input = self.bytes;
        let header = match Header::read(&mut input) {
            Ok(header) => header.expect("the stream has not ended"),
            // The blocking reader reads as many bytes as every header has. A decoder finds a mistake earlier.
            Err(Error::Truncated { .. }) if Header::decode(self.bytes).is_ok() => {
                self.state = State::Cut;
                return None;
            }
            Err(error) => {
                self.state = State::Lost;
                let earlier = Header::decode(self.bytes).err();
                return Some(Outcome::Refused(earlier.unwrap_or(error)));
            }
        };
        let mut rest = input;
        let result = Incoming::new(header, &mut rest, &self.limits).and_then(Incoming::receive);
        if matches!(result, Err(Error::Truncated { .. })) {
            self.state = State::Cut;
            return None;
        }
        if matches!(result, Err(Error::Checksum { .. })) && header.is_compact() {
            self.state = State::Lost;
        } else {
            let rest = header.frame_len() - header.header_len() as u64;
            match usize::try_from(rest).ok().and_then(|rest| input.get(rest..)) {
                Some(next) => {
                    let frame = &self.bytes[..self.bytes.len() - next.len()];
                    self.owed = result.as_ref().err().and_then(|_| damage(&header, frame));
                    self.bytes = next;
                }
                None => self.state = State::Cut,
            }
        }
        Some(Outcome::of(result))
    }
}

/// The checksum error of a compact frame, if the frame has a checksum that is wrong.
fn damage(header: &Header, frame: &[u8]) -> Option<Error> {
    let (covered, checksum) = frame.split_last_chunk()?;
    let (expected, actual) = (crc32c::crc32c(covered), u32::from_le_bytes(*checksum));
    let has_checksum = header.is_compact() && header.checksum_len() > 0;
    (has_checksum && expected != actual).then_some(Error::Checksum { expected, actual })
}

fn decode_beside_the_reader(bytes: &[u8], limits: &Limits, split: Split) {
    let mut reader = Reader::new(bytes, limits);
    let before = in_use();
    let mut decoder = Decoder::<Packet>::new(*limits);
    // The limit of the memory: a list of records or letters, at most twice as large as its packed bytes, and its successor
    // while it grows; one record with a converter from another byte order; or the text of an error.
    let payload = bytes.len().min(limits.max_payload_bytes() as usize);
    let bound = 6 * payload + 4096;
    let (mut turn, mut rest) = (0, bytes);
    while !rest.is_empty() && !decoder.is_lost() {
        let size = match split {
            Split::Turns(start) => SIZES[(start + turn) % SIZES.len()],
            Split::Needs => decoder.needs(),
        };
        turn += 1;
        assert!(size > 0);
        let (fragment, after) = rest.split_at(size.min(rest.len()));
        rest = after;
        let mut fragment = fragment;
        loop {
            let held = in_use() - before;
            let (most, result) = max_in_use(|| decoder.feed(&mut fragment));
            assert!(held + most <= bound, "{held} + {most} bytes of memory, at most {bound}");
            let Some(result) = result.transpose() else { break };
            let outcome = Outcome::of(result);
            let expected = reader.next();
            assert!(
                expected.as_ref().is_some_and(|expected| outcome.is(expected)),
                "{outcome:?}, and the reader {expected:?}"
            );
            if decoder.is_lost() {
                break;
            }
        }
        // The decoder takes all bytes, until an error after which it is lost. It needs bytes of one frame only.
        assert!(fragment.is_empty() || decoder.is_lost());
    }
    drop(format!("{decoder:?}"));
    if let Some(outcome) = reader.next() {
        panic!("the reader has {outcome:?}");
    }
    assert_eq!(decoder.is_lost(), reader.state == State::Lost);
    match decoder.finish() {
        Ok(()) => {
            assert_eq!(reader.state, State::Between);
            assert!(decoder.is_between_frames() && reader.bytes.is_empty());
        }
        Err(Error::Lost) => assert_eq!(reader.state, State::Lost),
        Err(error) => {
            assert_eq!(reader.state, State::Cut, "{error}");
            assert!(matches!(error, Error::Truncated { .. }));
            assert!(!decoder.is_between_frames());
        }
    }
    assert!(!decoder.is_lost() || decoder.feed(&mut &b"x"[..]).is_err());
    decode_one(bytes, limits);
}

/// Decodes the first frame as a datagram.
fn decode_one(bytes: &[u8], limits: &Limits) {
    let mut reader = Reader::new(bytes, limits);
    let mut input = bytes;
    let result = dtype_message::decode::<Packet>(&mut input, limits);
    match (result, reader.next()) {
        (Ok(None), None) => assert!(bytes.is_empty()),
        (Ok(Some(packet)), Some(expected)) => {
            assert!(Outcome::Message(packet).is(&expected));
            assert_eq!(input.len(), reader.bytes.len());
        }
        (Err(Error::Truncated { .. }), None) => assert_eq!(reader.state, State::Cut),
        (Err(error), Some(expected)) => {
            assert!(Outcome::Refused(error).is(&expected));
            assert!(reader.state != State::Between || input.len() == reader.bytes.len());
        }
        (result, expected) => panic!("{result:?}, and the reader {expected:?}"),
    }
}

/// Checks that packed records, read one by one, equal the unpacked ones.
fn look_at<T: Datatype + Copy + Debug + PartialEq>(bytes: &[u8]) {
    let (packed, records) = (Packed::<T>::new(bytes), unpack::<T>(bytes));
    match (packed, records) {
        (Ok(packed), Ok(records)) => {
            assert_eq!(packed.len(), records.len());
            assert!(packed.iter().eq(records.iter().copied()));
            assert_eq!(packed.get(records.len()), None);
            assert_eq!(packed.get(records.len() / 2), records.get(records.len() / 2).copied());
        }
        (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
        (packed, records) => panic!("{packed:?}, and unpacked {records:?}"),
    }
}

/// A struct without padding, and with a value that some bytes do not make.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Nested {
    flags: [(bool, u8); 2],
    letter: char,
}

/// Checks that records in place equal the unpacked ones, if the bytes are aligned.
fn view_of<T: Datatype + Copy + Debug + PartialEq>(bytes: &[u8]) {
    let is_aligned = bytes.as_ptr().cast::<T>().is_aligned();
    match (view::<T>(bytes), unpack::<T>(bytes)) {
        (Ok(records), Ok(copies)) => {
            assert_eq!(records, copies);
            assert_eq!(pack(records), bytes);
        }
        (Err(_), Err(_)) => {}
        (Err(_), Ok(_)) => assert!(!is_aligned),
        (Ok(records), Err(error)) => panic!("{records:?}, and unpacked {error}"),
    }
}
