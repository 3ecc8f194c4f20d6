//! `unpack`.

use dtype_program_size::{bytes, input, output};
use std::io::Error;

fn main() -> std::io::Result<()> {
    output(&bytes(&dtype_runtime::unpack(&input()?).map_err(Error::other)?))
}
