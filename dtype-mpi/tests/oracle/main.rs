//! In a process of its own, which initialises MPI on one thread: compares the engine with a real MPI library on random types.
//!
//! Every type is made by the same calls on both sides. What is compared: size, bounds and true bounds, envelopes and contents
//! at every level, the packed bytes of one to three instances, the memory after unpacking them, and the type that the library's
//! datatype is decoded to. Each difference must belong to one of the [classes] of explained differences. A class is a property
//! of types and has an allowance. A class that explains nothing any more also fails the run.
//!
//! `DTYPE_ORACLE_TYPES` is the number of types, 20 000 by default, and `DTYPE_ORACLE_SEED` a number that other
//! types come from.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "everything here is small"
)]

mod array;
mod classes;
mod compare;
mod leaves;
mod library;
mod mpich;
mod openmpi;
mod packing;
mod tally;

use std::process::ExitCode;
use std::str::FromStr;

use dtype_test_support::model::trees_of;
use leaves::Leaves;
use library::Library;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tally::Tally;

fn main() -> ExitCode {
    // Dropped at the end, which finalizes MPI.
    let _universe = mpi::initialize().expect("nothing else has initialised MPI");
    library::return_errors();
    let library = Library::here();
    println!("{}", library::version());

    let types = setting("DTYPE_ORACLE_TYPES", 20_000);
    let seed = setting("DTYPE_ORACLE_SEED", 1_u64);
    println!("{types} types, DTYPE_ORACLE_SEED={seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);

    let mut leaves = Leaves::of_library();
    let trees = trees_of(leaves.strategy(), 0);
    let mut tally = Tally::new(library);
    let mut generated = 0;
    while tally.types() < types {
        let tree = trees.new_tree(&mut runner).expect("few trees are refused").current();
        generated += 1;
        // A third of the random types have parts without data, on which the libraries agree least.
        if classes::has_hollow_part(&tree) && generated % 8 != 0 {
            continue;
        }
        leaves.see(&tree);
        tally.add(&tree);
    }
    let complete = leaves.report();
    let explained = tally.report();
    if complete && explained { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A number from the environment.
fn setting<T: FromStr>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, not a number")),
        Err(_) => default,
    }
}
