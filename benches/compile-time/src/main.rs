//! What deriving costs at compile time: 500 structs without a derive, with `#[derive(Datatype)]`, and with serde's
//! two derives, each set in its own crate.
//!
//! `cargo run --release -p dtype-compile-time`
//!
//! The crates are written below the target directory, the same in every run. Their dependencies are built first; then the
//! crates are compiled in alternation, and in each round the time of the structs without derives is subtracted. The figures are
//! medians over the rounds. Two more crates measure the code that is generated where structs are used: one calls `pack` and
//! `unpack`, the other calls bincode's functions for structs with serde's derives.

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

/// The number of structs in a quick run.
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
