//! `decode` of one record.

use dtype_message::{Limits, decode};
use dtype_program_size::{bytes, input, output};
use std::io::Error;

fn main() -> std::io::Result<()> {
    let (all, mut samples) = (input()?, Vec::new());
    let mut rest = &all[..];
    while let Some(sample) = decode(&mut rest, &Limits::new()).map_err(Error::other)? {
        samples.push(sample);
    }
    output(&bytes(&samples))
}
