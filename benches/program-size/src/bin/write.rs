//! `write` of a list of records.

use dtype_program_size::{input, samples};
use std::io::{Error, stdout};

fn main() -> std::io::Result<()> {
    dtype_message::write(&mut stdout(), &samples(&input()?)).map_err(Error::other)?;
    Ok(())
}
