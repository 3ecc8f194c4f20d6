//! The command line.

use clap::Parser;
use regex::Regex;

/// This engine's time over that of another build of it, on random types.
///
/// Both pack and unpack the same bytes, which is checked first, and take turns in one process.
#[derive(Debug, Parser)]
#[command(name = "dtype-ablation")]
pub(crate) struct Arguments {
    /// The commit that the working tree is compared with; without one, the working tree is compared with itself.
    pub(crate) commit: Option<String>,

    /// One pair of rounds for each row: checks that everything works. The times mean nothing.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Only the lines whose name, such as "small structs × 7", matches this regular expression.
    #[arg(long, value_name = "REGEX")]
    pub(crate) only: Option<Regex>,

    /// The seed of the random types.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u32,

    /// Pairs of rounds for each row and each load of the builds.
    #[arg(long, value_name = "N", default_value_t = 17, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,

    /// Fail if the mean of a line is above this ratio.
    #[arg(long, value_name = "RATIO")]
    pub(crate) limit: Option<f64>,
}

impl Arguments {
    /// Pairs of rounds for each row while the builds are loaded once.
    pub(crate) fn pairs(&self) -> usize {
        if self.quick { 1 } else { self.rounds.into() }
    }
}
