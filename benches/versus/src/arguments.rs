//! The command line.

use std::path::PathBuf;

use clap::Parser;
use regex::Regex;

/// The same work on this engine, loops written by hand, Open MPI, MPICH, Rust's serializers and memcpy.
///
/// Rounds are interleaved, figures are medians, and everything that is timed has been compared with the others
/// byte by byte before.
#[derive(Debug, Parser)]
#[command(name = "dtype-versus")]
pub(crate) struct Arguments {
    /// A few patterns and three short rounds: whether it works, not how fast it is.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Only the rows whose "group/pattern" this regular expression matches.
    #[arg(long, value_name = "REGEX")]
    pub(crate) only: Option<Regex>,

    /// Rounds of each row; slow ones have fewer, but eleven at least.
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) rounds: u16,

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
