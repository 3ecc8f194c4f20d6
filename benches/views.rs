//! Reading packed records in place: its time divided by that of `unpack`, which copies all of them first.
//!
//! `cargo bench -p dtype-benches --bench views`
//!
//! - `13 of 16 B`: packed records of a padded struct, by `Packed`. The time includes the check of the bytes.
//! - `all data`: records without padding, by `view`.
//!
//! The two alternate, as in `ratios`.

use std::hint::black_box;

use dtype_benches::turns::versus;
use dtype_runtime::{Datatype, Packed, bytes_of, pack, unpack, view};

/// Pairs of rounds for each figure.
const PAIRS: usize = 101;

/// 13 of 16 bytes are data, and one byte is checked.
#[derive(Datatype, Clone, Copy)]
struct Sample {
    time: u64,
    value: f32,
    valid: bool,
}

/// A record without padding.
#[derive(Datatype, Clone, Copy)]
#[repr(C)]
struct Dense {
    time: u64,
    value: f64,
}

fn samples(count: usize) -> Vec<Sample> {
    (0..=u16::MAX)
        .cycle()
        .take(count)
        .zip(0..)
        .map(|(i, time)| Sample { time: 2 * time, value: i.into(), valid: i % 3 == 0 })
        .collect()
}

fn sum(times: impl Iterator<Item = u64>) -> u64 {
    times.fold(0, u64::wrapping_add)
}

fn unpacked(bytes: &[u8]) -> Vec<Sample> {
    unpack(black_box(bytes)).expect("they are samples")
}

fn packed(bytes: &[u8]) -> Packed<'_, Sample> {
    Packed::new(black_box(bytes)).expect("they are samples")
}

/// Prints the ratios for this number of records.
fn row(count: usize, pairs: usize) {
    let bytes = pack(&samples(count));
    let dense: Vec<_> =
        (0_u32..).take(count).map(|i| Dense { time: i.into(), value: i.into() }).collect();
    let dense = bytes_of(&dense);
    let middle = black_box(count / 2);
    let wanted = 2 * middle as u64;

    let all = || {
        black_box(sum(unpacked(&bytes).iter().map(|sample| sample.time)));
    };
    let get = versus(pairs, all, || {
        let packed = packed(&bytes);
        black_box(sum((0..packed.len()).filter_map(|i| packed.get(i)).map(|sample| sample.time)));
    });
    let iter = versus(pairs, all, || {
        black_box(sum(packed(&bytes).iter().map(|sample| sample.time)));
    });
    let column = versus(pairs, all, || {
        let packed = packed(&bytes);
        black_box(sum(packed.column::<u64>("time").expect("there is one").iter()));
    });
    let one = versus(
        pairs,
        || {
            black_box(unpacked(&bytes).get(middle).map(|sample| sample.value));
        },
        || {
            black_box(packed(&bytes).get(middle).map(|sample| sample.value));
        },
    );
    // The bytes were checked above.
    let checked = packed(&bytes);
    let search = versus(
        pairs,
        || {
            let samples = unpacked(&bytes);
            let at = samples.partition_point(|sample| sample.time < wanted);
            black_box(samples.get(at).map(|sample| sample.value));
        },
        || {
            let at = checked.partition_point(|sample| sample.time < wanted);
            black_box(checked.get(at).map(|sample| sample.value));
        },
    );
    let in_place = versus(
        pairs,
        || {
            let records = unpack::<Dense>(black_box(dense)).expect("any bytes will do");
            black_box(sum(records.iter().map(|record| record.time)));
        },
        || {
            let records = view::<Dense>(black_box(dense)).expect("they are aligned");
            black_box(sum(records.iter().map(|record| record.time)));
        },
    );
    let cells = [get, iter, column, one, search, in_place].map(|figure| figure.ratio);
    print!("{count:>9}");
    for ratio in cells {
        print!(" {ratio:>11.4}");
    }
    println!();
}

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let pairs = if quick { 1 } else { PAIRS };
    println!("time over that of unpack and the same work on the records");
    println!("{:>9} {:^59} {:>11}", "", "13 of 16 B", "all data");
    println!(
        "{:>9} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}",
        "records", "get, all", "iter, all", "column", "get, one", "search", "view"
    );
    for count in [1, 10, 1000, 100_000] {
        row(count, pairs);
    }
}
