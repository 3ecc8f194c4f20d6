//! MPI datatypes on the command line.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    dtype_cli::main()
}
