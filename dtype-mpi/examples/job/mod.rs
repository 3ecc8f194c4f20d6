//! A job of several ranks, from its arguments to its exit status.

mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;

pub(crate) use table::{Table, bytes, rate, seconds};

/// Runs the work on all ranks, with the arguments of the command line, and prints the table that rank 0 makes.
///
/// A rank that fails reports the error and ends the job, because the others may be waiting for it.
pub(crate) fn run<A: Parser>(
    work: impl FnOnce(&SimpleCommunicator, &A) -> Result<Option<Table>>,
) -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("MPI was initialised before");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    let rank = world.rank();
    let arguments = match A::try_parse() {
        Ok(arguments) => arguments,
        // All ranks have the same arguments, so all of them fail here, and only one prints the reason.
        Err(error) => {
            if rank == 0 {
                let _ = error.print();
            }
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let result = catch_unwind(AssertUnwindSafe(|| work(&world, &arguments)));
    match result {
        Ok(Ok(table)) => {
            if let Some(table) = table {
                print!("{table}");
            }
            ExitCode::SUCCESS
        }
        Ok(Err(error)) => {
            eprintln!("rank {rank}: {error:#}");
            world.abort(1)
        }
        // The panic has printed its message.
        Err(_) => {
            eprintln!("rank {rank} panicked");
            world.abort(1)
        }
    }
}

/// A progress bar at rank 0, if it has a terminal.
pub(crate) fn progress(world: &impl Communicator, steps: u64) -> Result<ProgressBar> {
    if world.rank() != 0 {
        return Ok(ProgressBar::hidden());
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg} {eta}")?;
    Ok(ProgressBar::new(steps).with_style(style))
}

/// This rank and the number of ranks, as indices and lengths.
pub(crate) fn ranks(world: &impl Communicator) -> Result<(usize, usize)> {
    let number = |rank| usize::try_from(rank).context("MPI counts ranks from 0");
    Ok((number(world.rank())?, number(world.size())?))
}
