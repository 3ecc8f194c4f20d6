//! `pack`.

use dtype_program_size::{input, output, samples};

fn main() -> std::io::Result<()> {
    output(&dtype_runtime::pack(&samples(&input()?)))
}
