//! The command line.

use std::path::PathBuf;

use clap::Parser;
use regex::Regex;

/// The same work on this engine, loops written by hand, Open MPI, MPICH, Rust's serializers and memcpy.
///
/// Rounds are interleaved and figures are medians. Everything that is timed has first been compared with the others,
/// byte by byte.
#[derive(Debug, Parser)]
#[command(name = "dtype-versus")]
pub(crate) struct Arguments {
    /// A few patterns and three short rounds, to see whether it works, not how fast it is.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Only the rows whose "group/pattern" matches this regular expression.
    #[arg(long, value_name = "REGEX")]
    pub(crate) only: Option<Regex>,

    /// Rounds of each row; slow rows have fewer, but at least eleven.
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) rounds: u16,

    /// Measure nothing; draw the chart of `--svg` again, from the medians of an earlier run's `--json`.
    #[arg(long, value_name = "FILE", requires = "svg", conflicts_with_all = ["quick", "only", "json"])]
    pub(crate) redraw: Option<PathBuf>,

    /// Where to write the figures for programs.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Where to write the chart.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// The compiler wrapper of Open MPI.
    #[arg(long, value_name = "WRAPPER", default_value = "mpicc.openmpi")]
    pub(crate) openmpi: PathBuf,

    /// The compiler wrapper of MPICH.
    #[arg(long, value_name = "WRAPPER", default_value = "mpicc.mpich")]
    pub(crate) mpich: PathBuf,
}
