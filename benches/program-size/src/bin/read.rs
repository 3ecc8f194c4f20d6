//! `read` of lists of records.

use dtype_message::Limits;
use dtype_program_size::{bytes, output};
use std::io::{Error, stdin};

fn main() -> std::io::Result<()> {
    while let Some(samples) =
        dtype_message::read(&mut stdin(), &Limits::new()).map_err(Error::other)?
    {
        output(&bytes(&samples))?;
    }
    Ok(())
}
