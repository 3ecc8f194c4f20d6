//! `Receiver`, for lists of records.

use dtype_message::{Limits, Receiver};
use dtype_program_size::{Sample, bytes, output};
use std::io::{Error, stdin};

fn main() -> std::io::Result<()> {
    let mut receiver = Receiver::<_, Vec<Sample>>::new(stdin(), Limits::new());
    while let Some(samples) = receiver.next_message().map_err(Error::other)? {
        output(&bytes(&samples))?;
    }
    Ok(())
}
