//! Creation and commit of irregular types, alternating between this project and the MPI library that it was built
//! for.
//!
//! `MPICC=mpicc.openmpi cargo bench -p dtype-mpi --target-dir target/openmpi`
//!
//! The times include freeing the type, for both.

use std::hint::black_box;
use std::time::{Duration, Instant};

use dtype_runtime::{Basic, Type};
use mpi::ffi::{self, MPI_Datatype};

/// Blocks of each type.
const BLOCKS: i32 = 100_000;

/// Rounds for each figure; the two alternate.
const ROUNDS: usize = 51;

fn main() {
    // `cargo bench -- --test` only checks that it runs.
    let rounds = if std::env::args().any(|argument| argument == "--test") { 1 } else { ROUNDS };
    let _universe = mpi::initialize().expect("MPI is started once");
    let version = mpi::environment::library_version().unwrap_or_default();
    println!("{}", version.lines().next().unwrap_or_default().trim_end_matches('\0'));
    println!("{BLOCKS} irregular blocks of f64: create, commit and free, medians");

    // The same gaps on every machine.
    let mut state = 1_u64;
    let mut random = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        i32::try_from((state >> 33) % n).unwrap_or(0)
    };
    let mut at = 0;
    let places: Vec<i32> = (0..BLOCKS)
        .map(|_| {
            at += 4 + random(5);
            at
        })
        .collect();
    let lengths: Vec<i32> = (0..BLOCKS).map(|_| 1 + random(3)).collect();
    let old = &Type::basic(Basic::F64);
    let wide_places: Vec<i64> = places.iter().map(|&place| place.into()).collect();
    let wide_lengths: Vec<u64> =
        lengths.iter().map(|&length| u64::from(length.unsigned_abs())).collect();

    row(
        "indexed",
        rounds,
        || Type::indexed(black_box(&wide_lengths), black_box(&wide_places), old),
        |new| {
            // SAFETY: MPI runs, the arrays have as many elements, and `new` lives.
            unsafe {
                let count = black_box(BLOCKS);
                let double = ffi::RSMPI_DOUBLE;
                ffi::MPI_Type_indexed(count, lengths.as_ptr(), places.as_ptr(), double, new);
            }
        },
    );
    row(
        "indexed_block",
        rounds,
        || Type::indexed_block(1, black_box(&wide_places), old),
        |new| {
            // SAFETY: as above.
            unsafe {
                let (count, double) = (black_box(BLOCKS), ffi::RSMPI_DOUBLE);
                ffi::MPI_Type_create_indexed_block(count, 1, places.as_ptr(), double, new);
            }
        },
    );
}

fn row(
    name: &str,
    rounds: usize,
    ours: impl Fn() -> Result<Type, dtype_runtime::Error>,
    theirs: impl Fn(*mut MPI_Datatype),
) {
    let mut times: Vec<(Duration, Duration)> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            drop(black_box(ours().map(|ty| ty.commit())));
            let our_time = start.elapsed();
            let start = Instant::now();
            // SAFETY: MPI runs; `theirs` makes a datatype, which is committed and freed once.
            unsafe {
                let mut new = ffi::RSMPI_DATATYPE_NULL;
                theirs(&raw mut new);
                ffi::MPI_Type_commit(&raw mut new);
                black_box(new);
                ffi::MPI_Type_free(&raw mut new);
            }
            (our_time, start.elapsed())
        })
        .collect();
    let ratio = |&(ours, theirs): &(Duration, Duration)| ours.as_secs_f64() / theirs.as_secs_f64();
    times.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let (ours, theirs) = times[rounds / 2];
    println!("{name:<14} {ours:>10.2?} here, {theirs:>10.2?} there: {:.2}", ratio(&(ours, theirs)));
}
