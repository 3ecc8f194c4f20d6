//! What deriving costs at compile time: 500 structs without a derive, with `#[derive(Datatype)]`, and with serde's
//! two derives, each set in its own crate.
//!
//! `cargo run --release -p dtype-compile-time`
//!
//! The crates are written below the target directory, the same in every run. Their dependencies are built first;
//! then the crates are compiled in alternation, and in each round the time of the structs without derives is
//! subtracted. The figures are medians over the rounds. Code that is generated where the structs are used is
//! measured in another pair of crates: calls of `pack` and `unpack`, and of bincode's functions for the types that
//! derive serde's traits.

#![forbid(unsafe_code)]
#![allow(clippy::format_collect, reason = "a few hundred lines are written, once")]

mod arguments;
mod clock;
mod crates;
mod figures;
mod structs;
mod subject;

use anyhow::Result;
use clap::Parser;

use arguments::Arguments;
use crates::{Crates, Mode};
use figures::{Figures, Round};
use subject::Subject;

/// Enough that the fixed cost of a crate, such as loading the macros, disappears.
const STRUCTS: u32 = 500;

/// To check only that everything compiles.
const FEW: u32 = 40;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (structs, rounds, modes) = if arguments.quick {
        (FEW, 1, Mode::QUICK.as_slice())
    } else {
        (STRUCTS, arguments.rounds, Mode::ALL.as_slice())
    };
    let crates = Crates::write(&structs::all(structs))?;
    for &mode in modes {
        eprintln!("building the dependencies: {}", mode.name());
        for subject in Subject::ALL {
            crates.build(mode, subject)?;
        }
    }
    let mut figures = Figures::default();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        for &mode in modes {
            let mut times = Round::default();
            for subject in Subject::ALL {
                crates.touch(subject)?;
                times.push(subject, clock::time(|| crates.build(mode, subject))?);
            }
            figures.push(mode, times);
        }
    }
    print!("{}", figures.text(structs));
    Ok(())
}
