//! Fragments against the whole: the cost of packing and unpacking a message in fragments, lending its memory in
//! windows, jumping into the middle of it, and copying it without packing.
//!
//! `cargo bench -p dtype-benches --bench streaming`
//!
//! The figures are ratios within one run, as in `ratios`.

use core::hint::black_box;
use std::time::Instant;

use dtype_benches::turns::versus;
use dtype_benches::{Hole, Mixed, Shape, Tail};
use dtype_runtime::convertor::Segment;
use dtype_runtime::plan::Op;
use dtype_runtime::{Basic, Committed, Packer, Type, Unpacker, pack_into, unpack_into};

/// Pairs of rounds for each figure.
const PAIRS: usize = 101;

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let pairs = if quick { 1 } else { PAIRS };
    println!("time over that of the whole in one call");
    println!("{:<34} {:>9} {:>15} {:>15}", "", "bytes", "8 KiB fragments", "1 KiB fragments");
    println!("{:<34} {:>9} {:>7} {:>7} {:>7} {:>7}", "", "", "pack", "unpack", "pack", "unpack");
    for count in [1000, 65_536] {
        slice::<Tail>(count, pairs);
        slice::<Hole>(count, pairs);
        slice::<Mixed>(count, pairs);
    }
    let layouts = layouts();
    for (name, committed) in &layouts {
        layout(name, committed, pairs);
    }
    println!();
    println!("windows of 64 pieces over all in one go; copying over packing and unpacking");
    for (name, committed) in &layouts {
        pieces(name, committed, pairs);
    }
    println!();
    for (name, committed) in &layouts {
        println!("{name:<34} set_position and one byte: {:.0} ns", jump(committed));
    }
}

/// The layouts that the literature on streaming measures.
fn layouts() -> Vec<(&'static str, Committed)> {
    let [i32, f64] = [Basic::I32, Basic::F64].map(Type::basic);
    // Irregular, but the same on every machine.
    let mut state = 1_u64;
    let mut random = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    let mut at = 0;
    let places: Vec<i64> = (0..64_000)
        .map(|_| {
            at += 4 + random(3).cast_signed();
            at
        })
        .collect();
    let lengths: Vec<u64> = (0..64_000).map(|_| 1 + random(3)).collect();
    let record = Type::of::<(i32, f64, i16)>();
    vec![
        ("vector(17160, 1, 7, i32)", Type::vector(17_160, 1, 7, &i32)),
        ("indexed_block(64000, 1, f64)", Type::indexed_block(1, &places, &f64)),
        ("indexed(64000, 1 to 3, f64)", Type::indexed(&lengths, &places, &f64)),
        ("contiguous(4096, {i32, f64, i16})", Type::contiguous(4096, &record)),
    ]
    .into_iter()
    .filter_map(|(name, ty)| Some((name, ty.ok()?.commit())))
    .collect()
}

fn slice<S: Shape>(count: usize, pairs: usize) {
    let items: Vec<S> = (0..count).map(S::sample).collect();
    let size = Type::of::<S>().size();
    let bytes = usize::try_from(size).unwrap_or(0) * count;
    let (mut whole, mut parts) = (vec![0; bytes], vec![0; bytes]);
    let mut target = items.clone();
    let mut row = Vec::new();
    for fragment in [8192, 1024] {
        let pack = versus(
            pairs,
            || drop(black_box(pack_into(black_box(&items), black_box(&mut whole)))),
            || {
                let mut packer = Packer::new(black_box(&items));
                parts.chunks_mut(fragment).for_each(|out| {
                    black_box(packer.pack(black_box(out)));
                });
            },
        );
        assert_eq!(whole, parts);
        let mut again = items.clone();
        let unpack = versus(
            pairs,
            || drop(black_box(unpack_into(black_box(&whole), black_box(&mut target)))),
            || {
                let mut unpacker = Unpacker::new(black_box(&mut again));
                for bytes in whole.chunks(fragment) {
                    drop(black_box(unpacker.unpack(black_box(bytes))));
                }
            },
        );
        assert_eq!(again, target);
        row.extend([pack.ratio, unpack.ratio]);
    }
    let name = format!("{} × {count}", S::NAME);
    println!(
        "{name:<34} {bytes:>9} {:>7.2} {:>7.2} {:>7.2} {:>7.2}",
        row[0], row[1], row[2], row[3]
    );
}

/// Memory for one instance.
fn memory(committed: &Committed) -> Vec<u8> {
    let length = usize::try_from(committed.true_ub()).unwrap_or(0);
    (0..length).map(|i| i.to_le_bytes()[0]).collect()
}

fn layout(name: &str, committed: &Committed, pairs: usize) {
    let from = memory(committed);
    let bytes = usize::try_from(committed.size()).unwrap_or(0);
    let (mut whole, mut parts) = (vec![0; bytes], vec![0; bytes]);
    let (mut target, mut again) = (vec![0; from.len()], vec![0; from.len()]);
    let mut row = Vec::new();
    for fragment in [8192, 1024] {
        let pack = versus(
            pairs,
            || drop(black_box(committed.pack(black_box(&from), 1, black_box(&mut whole)))),
            || {
                let Ok(mut packer) = committed.packer(black_box(&from), 1) else { return };
                parts.chunks_mut(fragment).for_each(|out| {
                    black_box(packer.pack(black_box(out)));
                });
            },
        );
        assert_eq!(whole, parts);
        let unpack = versus(
            pairs,
            || drop(black_box(committed.unpack(black_box(&whole), black_box(&mut target), 1))),
            || {
                let Ok(mut unpacker) = committed.unpacker(black_box(&mut again), 1) else {
                    return;
                };
                for bytes in whole.chunks(fragment) {
                    drop(black_box(unpacker.unpack(black_box(bytes))));
                }
            },
        );
        assert_eq!(target, again);
        row.extend([pack.ratio, unpack.ratio]);
    }
    println!(
        "{name:<34} {bytes:>9} {:>7.2} {:>7.2} {:>7.2} {:>7.2}",
        row[0], row[1], row[2], row[3]
    );
}

fn pieces(name: &str, committed: &Committed, pairs: usize) {
    let size = committed.size();
    let windows = versus(
        pairs,
        || {
            if let Ok(iov) = committed.iov(1, 0..size) {
                iov.for_each(|segment| _ = black_box(segment));
            }
        },
        || {
            let mut position = 0;
            while position < size {
                let Ok(mut iov) = committed.iov(1, position..size) else { return };
                iov.by_ref().take(64).for_each(|segment| _ = black_box(segment));
                position = iov.position();
            }
        },
    );
    let filled = versus(
        pairs,
        || {
            if let Ok(iov) = committed.iov(1, 0..size) {
                iov.for_each(|segment| _ = black_box(segment));
            }
        },
        || {
            let Ok(mut iov) = committed.iov(1, 0..size) else { return };
            let mut window = [Segment::default(); 64];
            while iov.fill(black_box(&mut window)) > 0 {
                for segment in window {
                    _ = black_box(segment);
                }
            }
        },
    );
    let from = memory(committed);
    let (mut target, mut again) = (vec![0; from.len()], vec![0; from.len()]);
    let mut packed = vec![0; usize::try_from(size).unwrap_or(0)];
    let copy = versus(
        pairs,
        || {
            drop(black_box(committed.pack(black_box(&from), 1, &mut packed)));
            drop(black_box(committed.unpack(&packed, black_box(&mut target), 1)));
        },
        || drop(black_box(committed.copy(black_box(&from), black_box(&mut again), 1))),
    );
    assert_eq!(target, again);
    let lists = committed.plan().ops().iter().filter(|op| matches!(op, Op::List(_))).count();
    println!(
        "{name:<34} windows {:>5.2} filled {:>5.2} copy {:>5.2} (lists: {lists})",
        windows.ratio, filled.ratio, copy.ratio
    );
}

/// Nanoseconds to set a position and pack a byte there.
fn jump(committed: &Committed) -> f64 {
    const JUMPS: u32 = 10_000;
    let from = memory(committed);
    let Ok(mut packer) = committed.packer(&from, 1) else { return f64::NAN };
    let size = committed.size();
    let start = Instant::now();
    let mut position = 0;
    for _ in 0..JUMPS {
        position = (position + 7919 * 13) % size;
        let _ = packer.set_position(black_box(position));
        black_box(packer.pack(&mut [0]));
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(JUMPS)
}
