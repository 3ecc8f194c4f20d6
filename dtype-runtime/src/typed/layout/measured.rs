//! Times of moves and kernels on this machine, beside the costs from which a plan decides (`plan/costs`):
//!
//! ```text
//! cargo test --release -p dtype-runtime --lib measured -- --ignored --nocapture
//! ```
//!
//! `DTYPE_KERNELS` selects the instruction set. All times are in sixteenths of a nanosecond.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use std::hint::black_box;
use std::time::Instant;
use std::vec::Vec;
use std::{format, println, vec};

use super::random::for_random;
use super::*;
use crate::isa::Isa;
use crate::kernel::Pack;
use crate::kernel::measured::{CopyBy, Measured, Runs, report};
use crate::plan::costs::{self, Cost};

/// Few and many records, both of which fit the first-level cache.
const FEW: usize = 64;
const MANY: usize = 512;

/// The time of a call, and that of each record: a line through the times of few and of many records.
fn fit(copy: impl Fn(usize)) -> (f64, f64) {
    let time = |count| {
        let calls = 20_000 / count;
        let rounds = (0..200).map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                copy(black_box(count));
            }
            start.elapsed().as_secs_f64() * 16e9 / calls as f64
        });
        rounds.fold(f64::MAX, f64::min)
    };
    let (few, many) = (time(FEW), time(MANY));
    let record = (many - few) / (MANY - FEW) as f64;
    (few - FEW as f64 * record, record)
}

/// Prints what the kernels of `T` cost, beside the constants, if the machine has them.
fn costs_of<T: Datatype>(name: &str) {
    assert!(size_of::<T>() <= 128);
    let (mut memory, mut packed) = (vec![0_u64; MANY * 16], vec![0_u64; MANY * 16]);
    let (memory, packed) = (memory.as_mut_ptr().cast::<u8>(), packed.as_mut_ptr().cast::<u8>());
    // SAFETY: here and below, both vectors have room for `MANY` records. All bytes are zero, and nothing else uses them.
    let (_, moves) = fit(|count| unsafe { Layout::<T>::copy::<Pack>(memory, packed, count) });
    println!("{name}: moves of a record {}, measured {moves:.1}", Layout::<T>::time_of_a_record());
    let line = |kernel, cost: Cost, (call, record): (f64, f64), steps: f64| {
        let (step, measured) = (cost.step, record / steps);
        println!(
            "  {kernel}: call {}, measured {call:.0}; step {step}, measured {measured:.1}",
            cost.call
        );
    };
    let steps_of = |all: &Shuffle| all.number() as f64 / all.records() as f64;
    if let (true, Some(all)) = (selected().permutes(), Layout::<T>::PERMUTATION) {
        let size = T::TYPE_MAP.size();
        let (costs, steps) = (choose::records::permutation(all), 1.0 / all.records() as f64);
        // SAFETY: as above; the permutation is made for the records.
        let packs = fit(|count| unsafe {
            kernel::permute_or::<Pack>(all, by_runs::<T, Pack>(), memory, packed, 0..count * size);
        });
        line("permutation, to pack", costs.pack, packs, steps);
        // SAFETY: as above.
        let unpacks = fit(|count| unsafe {
            let by_runs = by_runs::<T, Unpack>();
            kernel::permute_or::<Unpack>(all, by_runs, memory, packed, 0..count * size);
        });
        line("permutation, to unpack", costs.keep, unpacks, steps);
    }
    let costs = match selected() {
        Isa::Avx2 => costs::avx2::SHUFFLE,
        Isa::Neon => costs::neon::SHUFFLE,
        Isa::Portable | Isa::Avx512 => return,
    };
    let Some(all) = Layout::<T>::SHUFFLE else { return };
    let ways = |what| Layout::<T>::WAYS.shuffles(what);
    if ways(Use::Pack) {
        // SAFETY: as above; the shuffle packs.
        let packs = fit(|count| unsafe {
            Layout::<T>::by_shuffles::<Pack, true>(memory, packed, count);
        });
        line("shuffle, to pack", costs.pack, packs, steps_of(all));
    }
    if ways(Use::Unpack) {
        // SAFETY: as above; what is shuffled can be unpacked.
        let unpacks = fit(|count| unsafe {
            Layout::<T>::by_shuffles::<Unpack, false>(memory, packed, count);
        });
        line("shuffle, to unpack", costs.unpack, unpacks, steps_of(all));
    }
    if ways(Use::Keep) {
        // SAFETY: as above; registers that do not overlap keep the gaps.
        let keeps = fit(|count| unsafe {
            Layout::<T>::by_shuffles::<Unpack, true>(memory, packed, count);
        });
        line("shuffle, to keep gaps", costs.keep, keeps, steps_of(all));
    }
}

/// What copies the records if they are not permuted.
fn by_runs<T: Datatype, D: Way>() -> unsafe fn(*mut u8, *mut u8, Range<usize>) {
    Layout::<T>::all_by_runs::<D>
}

#[test]
#[ignore = "prints times, for those who change the costs"]
fn costs_beside_times() {
    println!("kernels: {}", selected());
    costs_of::<(f64, u32, u8)>("f64, u32, u8");
    costs_of::<(u64, u8)>("u64, u8");
    costs_of::<(u32, u16)>("u32, u16");
    costs_of::<(f64, u8, u16, u32, u8)>("f64, u8, u16, u32, u8");
    costs_of::<([f64; 3], [f64; 3], u32, u8)>("3 f64, 3 f64, u32, u8");
}

/// Measures every way to copy `count` values.
fn measured<T: Datatype, D: Way>(count: usize, use_: &str, rows: &mut Vec<Measured>) {
    let size = T::TYPE_MAP.size();
    let mut memory = vec![0_u128; (count * size_of::<T>()).div_ceil(16) + 4];
    let mut packed = vec![0_u128; (count * size).div_ceil(16) + 4];
    let (memory, packed) = (memory.as_mut_ptr().cast::<u8>(), packed.as_mut_ptr().cast::<u8>());
    let what = if D::PACKS { Use::Pack } else { Use::Keep };
    let permutation = Layout::<T>::BYTES
        .filter(|_| selected().permutes())
        .and_then(|map| Permutation::new(&map, size_of::<T>() as i64));
    // SAFETY: here and below, the memory has the bytes of the values, and so do the packed bytes; nothing else uses them.
    let chosen = || unsafe { Layout::<T>::values::<D>(memory, packed, black_box(count)) };
    // SAFETY: as above.
    let moves = || unsafe { Layout::<T>::copy::<D>(memory, packed, black_box(count)) };
    let permutes = || {
        if let Some(all) = &permutation {
            // SAFETY: as above; the permutation is that of the values.
            unsafe {
                kernel::permute::<D>(black_box(all), 0..black_box(count * size), memory, packed)
            };
        }
    };
    // SAFETY: as above; the values are shuffled, and to pack, the shuffle packs.
    let shuffles =
        || unsafe { Layout::<T>::by_shuffles::<D, true>(memory, packed, black_box(count)) };
    let mut ways: Vec<CopyBy<'_>> = vec![("chosen", &chosen), ("moves", &moves)];
    if permutation.is_some() {
        ways.push(("permutation", &permutes));
    }
    let has_shuffle = matches!(selected(), Isa::Avx2 | Isa::Neon)
        && Layout::<T>::SHUFFLE
            .as_ref()
            .is_some_and(|all| if D::PACKS { all.packs() } else { all.keeps_gaps() });
    if has_shuffle {
        ways.push(("shuffle", &shuffles));
    }
    let name = match Layout::<T>::WAYS.choose(what, count, true) {
        Slice::Moved => "moves",
        Slice::Permuted => "permutation",
        Slice::Shuffled => "shuffle",
        Slice::Strided => "in rows",
    };
    let range = match count {
        ..4 => "1 to 3",
        4..16 => "4 to 15",
        16..100 => "16 to 99",
        _ => "100 and more",
    };
    let runs = Runs(Layout::<T>::OPS.unwrap_or(&[]));
    let records = format!("{count} × {runs} every {}", size_of::<T>());
    rows.push(Measured::new(format!("{use_}, {range} values, {name}"), records, name, &ways));
}

#[test]
#[ignore = "measures, for those who change the costs"]
fn chosen_slices_are_as_fast_as_others() {
    let mut rows = Vec::new();
    for count in [1, 3, 8, 20, 50, 100, 1000] {
        for_random!(|T| {
            measured::<T, Pack>(count, "pack", &mut rows);
            measured::<T, Unpack>(count, "unpack", &mut rows);
        });
    }
    report(&rows);
}
