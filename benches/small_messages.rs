//! Messages of one small record: the time of a compact frame divided by that of bincode and postcard after a length.
//!
//! `cargo bench -p dtype-benches --bench small_messages`
//!
//! The length takes four bytes, as in the codecs for length-delimited frames. `bare` is a frame without checksum and
//! signature, against the length alone; `checked` has both, against the length and a CRC-32C. Each call writes, or
//! reads, 64 different records. The two alternate, as in `ratios`.

use core::fmt::Debug;
use core::hint::black_box;

use bincode::config::{Configuration, Fixint, LittleEndian};
use dtype_benches::figures::geometric_mean;
use dtype_benches::turns::versus;
use dtype_message::{Framing, Limits};
use dtype_runtime::Datatype;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Pairs of rounds for each figure.
const PAIRS: usize = 301;

const RECORDS: usize = 64;

const FIXED: Configuration<LittleEndian, Fixint> =
    bincode::config::standard().with_fixed_int_encoding();

/// The largest message that the hand-written framing accepts.
const MAX_CAPACITY: usize = 1 << 20;

macro_rules! record {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $ty:ty),* } = |$i:ident| $value:expr) => {
        #[derive(Datatype, Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[derive(bincode::Encode, bincode::Decode)]
        $(#[$meta])*
        struct $name { $($field: $ty),* }

        impl Record for $name {
            fn sample($i: u32) -> Self { $value }
        }
    };
}

trait Record:
    Datatype
    + Copy
    + Debug
    + PartialEq
    + Serialize
    + DeserializeOwned
    + bincode::Encode
    + bincode::Decode<()>
{
    /// Values that need most of their bits.
    fn sample(i: u32) -> Self;
}

#[derive(
    Datatype,
    Clone,
    Copy,
    Debug,
    PartialEq,
    serde::Serialize,
    serde::Deserialize,
    bincode::Encode,
    bincode::Decode,
)]
#[repr(u8)]
enum Side {
    Buy,
    Sell,
}

record! { Ping { nonce: u64 } = |i| Self { nonce: u64::from(i).wrapping_mul(0x9E37_79B9_7F4A_7C15) } }

record! { Move { player: u32, x: f32, y: f32, crouched: bool } = |i| {
    let player = i.wrapping_mul(0x9E37_79B9);
    Self { player, x: 0.5, y: -1.25, crouched: i.is_multiple_of(2) }
} }

record! { Order { id: u64, price: f64, quantity: u32, side: Side } = |i| Self {
    id: u64::from(i).wrapping_mul(0x9E37_79B9_7F4A_7C15),
    price: f64::from(i) * 0.01,
    quantity: i.wrapping_mul(0x9E37_79B9),
    side: if i.is_multiple_of(2) { Side::Buy } else { Side::Sell },
} }

/// A serializer without a frame.
trait Serializer {
    fn put<R: Record>(record: &R, to: &mut [u8]) -> usize;
    fn get<R: Record>(bytes: &[u8]) -> Option<R>;
}

enum Bincode {}

impl Serializer for Bincode {
    fn put<R: Record>(record: &R, to: &mut [u8]) -> usize {
        bincode::encode_into_slice(record, to, FIXED).expect("there is room")
    }

    fn get<R: Record>(bytes: &[u8]) -> Option<R> {
        let (record, len) = bincode::decode_from_slice(bytes, FIXED).ok()?;
        (len == bytes.len()).then_some(record)
    }
}

enum Postcard {}

impl Serializer for Postcard {
    fn put<R: Record>(record: &R, to: &mut [u8]) -> usize {
        postcard::to_slice(record, to).expect("there is room").len()
    }

    fn get<R: Record>(bytes: &[u8]) -> Option<R> {
        let (record, rest) = postcard::take_from_bytes(bytes).ok()?;
        rest.is_empty().then_some(record)
    }
}

/// Length, record and, if `CHECKED`, CRC-32C of both.
fn put<S: Serializer, R: Record, const CHECKED: bool>(record: &R, out: &mut Vec<u8>) {
    let mut frame = [0; 64];
    let len = S::put(record, &mut frame[4..60]);
    frame[..4].copy_from_slice(&u32::try_from(len).expect("it is short").to_le_bytes());
    let mut end = 4 + len;
    if CHECKED {
        let checksum = crc32c::crc32c(&frame[..end]);
        frame[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
        end += 4;
    }
    out.extend_from_slice(&frame[..end]);
}

fn get<S: Serializer, R: Record, const CHECKED: bool>(input: &mut &[u8]) -> Option<R> {
    let (len, rest) = input.split_first_chunk()?;
    let len = usize::try_from(u32::from_le_bytes(*len)).ok().filter(|len| *len <= MAX_CAPACITY)?;
    let (frame, mut rest) = (*input, rest);
    let bytes = rest.split_off(..len)?;
    if CHECKED {
        let (checksum, after) = rest.split_first_chunk()?;
        if crc32c::crc32c(&frame[..4 + len]) != u32::from_le_bytes(*checksum) {
            return None;
        }
        rest = after;
    }
    *input = rest;
    S::get(bytes)
}

/// The ratios of writing and reading, and the lengths of the two streams in bytes per record.
struct Row {
    ratios: [f64; 2],
    lengths: [usize; 2],
}

fn row<S: Serializer, R: Record, const CHECKED: bool>(pairs: usize) -> Row {
    let records: Vec<R> = (1..).take(RECORDS).map(R::sample).collect();
    let (framing, limits) = if CHECKED {
        (Framing::compact(), Limits::new())
    } else {
        let limits = Limits::new().allow_missing_checksum().allow_missing_signature();
        (Framing::compact().without_checksum().without_signature(), limits)
    };
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    let write = versus(
        pairs,
        || {
            theirs.clear();
            for record in black_box(&records) {
                put::<S, R, CHECKED>(record, &mut theirs);
            }
            black_box(&theirs);
        },
        || {
            ours.clear();
            for record in black_box(&records) {
                dtype_message::encode(&mut ours, record, framing).expect("it is small");
            }
            black_box(&ours);
        },
    );
    let read = versus(
        pairs,
        || {
            let mut input = black_box(&theirs[..]);
            while !input.is_empty() {
                black_box(get::<S, R, CHECKED>(&mut input).expect("a record"));
            }
        },
        || {
            let mut input = black_box(&ours[..]);
            while let Some(record) =
                dtype_message::decode::<R>(&mut input, &limits).expect("a record")
            {
                black_box(record);
            }
        },
    );
    let (mut a, mut b) = (&theirs[..], &ours[..]);
    for record in records {
        assert_eq!(get::<S, R, CHECKED>(&mut a), Some(record));
        assert_eq!(dtype_message::decode::<R>(&mut b, &limits).expect("a record"), Some(record));
    }
    Row {
        ratios: [write.ratio, read.ratio],
        lengths: [theirs.len(), ours.len()].map(|n| n / RECORDS),
    }
}

fn block<S: Serializer, const CHECKED: bool>(name: &str, pairs: usize) {
    let rows = [
        ("u64", row::<S, Ping, CHECKED>(pairs)),
        ("u32, 2 × f32, bool", row::<S, Move, CHECKED>(pairs)),
        ("u64, f64, u32, enum", row::<S, Order, CHECKED>(pairs)),
    ];
    println!("{name:<22} {:>6} {:>6}  bytes per message", "write", "read");
    for (record, Row { ratios: [write, read], lengths: [theirs, ours] }) in &rows {
        println!("{record:<22} {write:>6.2} {read:>6.2}  {ours}; theirs {theirs}");
    }
    let mean = |i: usize| geometric_mean(rows.iter().map(|(_, row)| row.ratios[i]));
    let [write, read] = [0, 1].map(|i| mean(i).unwrap_or(f64::NAN));
    println!("{:<22} {write:>6.2} {read:>6.2}\n", "geometric means");
}

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let pairs = if quick { 1 } else { PAIRS };
    println!("time of a compact message over that of a length and a serializer's bytes\n");
    block::<Bincode, false>("bare, bincode", pairs);
    block::<Postcard, false>("bare, postcard", pairs);
    block::<Bincode, true>("checked, bincode", pairs);
    block::<Postcard, true>("checked, postcard", pairs);
}
