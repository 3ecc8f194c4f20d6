//! Structs and halos from one rank to another and back, in shared memory: by the library's datatypes, packed by
//! hand, and packed by dtype, alternating.
//!
//! `MPICC=mpicc.openmpi cargo bench -p dtype-mpi --bench exchange --target-dir target/openmpi`
//!
//! Everything that is timed is compared first: the received memory, including the bytes that must not be written,
//! and the packed bytes of the contenders that pack. A time is half of a round trip.

mod halos;
mod records;
mod report;
mod rounds;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use dtype_benches::machine::Machine;
use dtype_test_support::ranks;
use mpi::traits::Communicator;

use rounds::{Bench, Link};

/// Struct arrays and halos between two ranks: MPI datatypes, packing by hand, and dtype.
#[derive(Debug, Parser)]
#[command(name = "exchange")]
struct Arguments {
    /// Three short rounds: whether it works, not how fast it is.
    #[arg(long, alias = "test")]
    quick: bool,

    /// Rounds of each row.
    #[arg(long, value_name = "N", default_value_t = 31, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,

    /// Only the rows whose name has this in it.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,

    /// Where to write the figures for programs; cargo starts this in the package's folder.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// What cargo says to all benches.
    #[arg(long, hide = true)]
    bench: bool,
}

/// After this time a message is considered lost.
const LIMIT: Duration = Duration::from_secs(600);

/// For Open MPI: a waiting rank does not yield its core to other processes, and the ranks are not bound to cores,
/// as under MPICH.
const ENVIRONMENT: [(&str, &str); 2] =
    [("OMPI_MCA_mpi_yield_when_idle", "0"), ("OMPI_MCA_hwloc_base_binding_policy", "none")];

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if std::env::var_os(ranks::RANKS).is_none() {
        let good = ranks::run(env!("DTYPE_MPI_WRAPPER"), 2, LIMIT, &ENVIRONMENT);
        return if good { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let Some(universe) = mpi::initialize() else { return ExitCode::FAILURE };
    let world = universe.world();
    match measure(&arguments, &Link::new(&world)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rank {}: {error:#}", world.rank());
            world.abort(1)
        }
    }
}

fn measure(arguments: &Arguments, link: &Link<'_>) -> Result<()> {
    ensure!(link.ranks() == 2, "the launcher is that of another library");
    let (rounds, sample) = if arguments.quick {
        (3, Duration::from_micros(50))
    } else {
        (arguments.rounds.into(), Duration::from_micros(300))
    };
    let mut bench = Bench::new(link, rounds, sample, &arguments.only);
    records::measure(&mut bench)?;
    halos::measure(&mut bench)?;
    if !link.is_first() {
        return Ok(());
    }
    let machine = Machine::here(vec![library()]);
    print!("{}", report::text(&machine, &bench.rows));
    if let Some(path) = &arguments.json {
        let text = report::json(&machine, &bench.rows);
        std::fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The library's name for itself.
fn library() -> String {
    let version = mpi::environment::library_version().unwrap_or_default();
    let line = version.lines().next().unwrap_or_default().trim_end_matches('\0').to_owned();
    let line = line.split(", package").next().unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
