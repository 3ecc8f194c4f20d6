//! Without an entry point of dtype: what the others are compared with.

use dtype_program_size::{bytes, input, output, samples};

fn main() -> std::io::Result<()> {
    output(&bytes(&samples(&input()?)))
}
