//! MPI datatypes on the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    dtype_cli::main()
}
