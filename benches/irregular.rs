//! Datatypes of 100 000 irregular blocks: the time to create and to commit one, and the memory that it then holds.
//!
//! `cargo bench -p dtype-benches --bench irregular`
//!
//! Times are medians. The allocator counts the memory, which includes the arguments kept for decoding.

use core::hint::black_box;
use std::time::{Duration, Instant};

use dtype_runtime::{Basic, Error, Type};
use dtype_test_support::counting::{Counting, in_use};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Blocks of each type.
const BLOCKS: u32 = 100_000;

/// Rounds for each figure.
const ROUNDS: usize = 101;

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let rounds = if quick { 1 } else { ROUNDS };
    let (mut lengths, mut places) = (Vec::new(), Vec::new());
    let (mut random, mut at) = (88_172_645_463_325_252_u64, 0_i64);
    for _ in 0..BLOCKS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        lengths.push(1 + random % 3);
        places.push(at);
        at += 1 + i64::from((random % 3) as u8) + i64::from(((random >> 20) % 7) as u8) + 1;
    }
    let bytes: Vec<i64> = places.iter().map(|place| 8 * place).collect();
    let f64 = Type::basic(Basic::F64);

    println!("{BLOCKS} irregular blocks of f64");
    println!("{:<15} {:>11} {:>11} {:>16}", "", "create", "commit", "bytes per block");
    row("indexed", rounds, || Type::indexed(&lengths, &places, &f64));
    row("indexed_block", rounds, || Type::indexed_block(1, &places, &f64));
    row("hindexed", rounds, || Type::hindexed(&lengths, &bytes, &f64));
}

/// Prints the figures of one type.
fn row(name: &str, rounds: usize, create: impl Fn() -> Result<Type, Error>) {
    let (mut creations, mut commits) = (Vec::new(), Vec::new());
    let mut held = 0;
    for _ in 0..rounds {
        let before = in_use();
        let start = Instant::now();
        let ty = black_box(create());
        creations.push(start.elapsed());
        let Ok(ty) = ty else { return println!("{name:<15} {ty:?}") };
        let start = Instant::now();
        let committed = black_box(ty.commit());
        commits.push(start.elapsed());
        drop(ty);
        held = in_use() - before;
        drop(committed);
    }
    let [create, commit] = [creations, commits].map(|times| format!("{:.3?}", median(times)));
    let each = f64::from(u32::try_from(held).unwrap_or(u32::MAX)) / f64::from(BLOCKS);
    println!("{name:<15} {create:>11} {commit:>11} {each:>16.2}");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
