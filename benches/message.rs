//! Messages to and from memory: their time divided by the time of packing, or unpacking, and a checksum.
//!
//! `cargo bench -p dtype-benches --bench message`
//!
//! The two alternate, as in `ratios`.

use core::hint::black_box;

use dtype_benches::turns::{Figure, versus};
use dtype_benches::{Body, Hole, Shape, Tail};
use dtype_message::Limits;
use dtype_runtime::{pack_into, packed_size, unpack, unpack_into};

/// Pairs of rounds for each figure.
const PAIRS: usize = 101;

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let pairs = if quick { 1 } else { PAIRS };
    println!("time over that of the bare operation and CRC-32C; GB/s of packed bytes in brackets");
    println!(
        "{:<18} {:>7} {:>15} {:>15} {:>15}",
        "struct", "records", "write", "read", "read_into"
    );
    for count in [10, 1000, 65_536, 1 << 20] {
        row::<Tail>(count, pairs);
        row::<Hole>(count, pairs);
        row::<Body>(count, pairs);
    }
}

/// Prints the figures of one struct.
fn row<S: Shape>(count: usize, pairs: usize) {
    let mut items: Vec<S> = (0..count).map(S::sample).collect();
    let bytes = packed_size::<S>(count);
    let mut packed = vec![0; bytes];
    let mut stream = Vec::with_capacity(bytes + 1000);

    let write = versus(
        pairs,
        || {
            let length = pack_into(black_box(&items), &mut packed);
            black_box((length.is_ok(), crc32c::crc32c(&packed)));
        },
        || {
            stream.clear();
            let length = dtype_message::write(&mut stream, black_box(&items));
            black_box(length.is_ok());
        },
    );
    let read = versus(
        pairs,
        || {
            let sum = crc32c::crc32c(black_box(&packed));
            black_box((sum, unpack::<S>(&packed).is_ok()));
        },
        || {
            let mut input = black_box(&stream[..]);
            black_box(dtype_message::read::<S>(&mut input, &Limits::new()).is_ok());
        },
    );
    let mut others = items.clone();
    let read_into = versus(
        pairs,
        || {
            let sum = crc32c::crc32c(black_box(&packed));
            black_box((sum, unpack_into(&packed, &mut others).is_ok()));
        },
        || {
            let mut input = black_box(&stream[..]);
            black_box(dtype_message::read_into(&mut input, &mut items).is_ok());
        },
    );
    assert_eq!(items, others);

    let cell = |figure: &Figure| {
        let rate = u32::try_from(bytes).map_or(f64::NAN, f64::from);
        let rate = rate / figure.ours.as_secs_f64() / 1e9;
        format!("{:.2} ({rate:.1})", figure.ratio)
    };
    let [a, b, c] = [&write, &read, &read_into].map(cell);
    println!("{:<18} {count:>7} {a:>15} {b:>15} {c:>15}", S::NAME);
}
