//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use regex::Regex;

/// The same work on this engine, loops written by hand, Open MPI, MPICH, Rust's serializers and memcpy.
///
/// Rounds are interleaved, and figures are medians over the rounds of several processes. Before anything is timed, all results
/// are compared byte by byte.
#[derive(Debug, Parser)]
#[command(name = "dtype-versus")]
pub(crate) struct Arguments {
    /// A few patterns and three short rounds: checks that everything works. The times mean nothing.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Only the rows whose "group/pattern" matches this regular expression.
    #[arg(long, value_name = "REGEX")]
    pub(crate) only: Option<Regex>,

    /// The number of processes that measure everything, one after another: memory lies elsewhere in each. A quick run has one.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    processes: u16,

    /// Rounds of each row in each process. Slow rows have at most eleven.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) rounds: u16,

    /// Measure in this process, and print all times as JSON. The program starts itself with this option.
    #[arg(long, hide = true, conflicts_with_all = ["json", "svg"])]
    pub(crate) all_times: bool,

    /// Measure nothing; draw the chart of `--svg` again, from the medians of an earlier run's `--json`.
    #[arg(long, value_name = "FILE", requires = "svg", conflicts_with_all = ["quick", "only", "json"])]
    pub(crate) redraw: Option<PathBuf>,

    /// Where to write the figures for programs.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Where to write the chart. The chart for dark pages is written beside it, with `-dark` after the name.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// The MPI libraries to compare with.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Libraries::All)]
    pub(crate) libraries: Libraries,

    /// The compiler wrapper of the system's Open MPI.
    #[arg(long, value_name = "WRAPPER", default_value = "mpicc.openmpi")]
    pub(crate) openmpi: PathBuf,

    /// The compiler wrapper of the system's MPICH.
    #[arg(long, value_name = "WRAPPER", default_value = "mpicc.mpich")]
    pub(crate) mpich: PathBuf,
}

/// Some of the MPI libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Libraries {
    /// The newest releases, which are installed from `PyPI` below `target`.
    Newest,
    /// Those of the system.
    System,
    /// Both.
    All,
}

impl Libraries {
    /// The name on the command line.
    const fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::System => "system",
            Self::All => "all",
        }
    }
}

impl Arguments {
    /// The number of processes that measure.
    pub(crate) fn processes(&self) -> u16 {
        if self.quick || self.all_times { 1 } else { self.processes }
    }

    /// The arguments of one of several processes.
    pub(crate) fn of_one_process(&self) -> Vec<OsString> {
        let mut all = vec!["--all-times".into(), "--rounds".into(), self.rounds.to_string().into()];
        all.extend(["--libraries".into(), self.libraries.name().into()]);
        all.extend(["--openmpi".into(), self.openmpi.clone().into()]);
        all.extend(["--mpich".into(), self.mpich.clone().into()]);
        if let Some(only) = &self.only {
            all.extend(["--only".into(), only.as_str().into()]);
        }
        all
    }
}
