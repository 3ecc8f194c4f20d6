//! A program that does not use dtype: the others are compared with it.

use dtype_program_size::{bytes, input, output, samples};

fn main() -> std::io::Result<()> {
    output(&bytes(&samples(&input()?)))
}
