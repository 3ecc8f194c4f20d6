//! `encode` of one record.

use dtype_message::{Framing, encode};
use dtype_program_size::{input, output, samples};
use std::io::Error;

fn main() -> std::io::Result<()> {
    let mut out = Vec::new();
    for sample in samples(&input()?) {
        encode(&mut out, &sample, Framing::compact()).map_err(Error::other)?;
    }
    output(&out)
}
