//! The command line.

use clap::Parser;

/// What #[derive(Datatype)] costs to compile, beside serde's two derives on the same 500 structs.
#[derive(Debug, Parser)]
#[command(name = "dtype-compile-time")]
pub(crate) struct Arguments {
    /// A few structs and one round: checks that everything works. The times mean nothing.
    #[arg(long)]
    pub(crate) quick: bool,

    /// The number of rounds. Each compiles every crate once in every mode.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) rounds: u16,
}
