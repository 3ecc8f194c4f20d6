//! The record of the programs that measure the size of an entry point, and their input and output.

use std::io::{Read, Result, Write, stdin, stdout};

use dtype_runtime::Datatype;

/// A record as services send it: padding, an invariant, numbers of several widths.
#[derive(Datatype, Clone, Copy, Debug, Default)]
pub struct Sample {
    /// The time of the measurement.
    pub time: f64,
    /// The number of the sensor.
    pub sensor: u32,
    /// Whether the sensor was calibrated.
    pub valid: bool,
    /// Three components.
    pub value: [f32; 3],
}

/// All of the input.
///
/// # Errors
///
/// As [`Read::read_to_end`].
pub fn input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes all bytes to standard output.
///
/// # Errors
///
/// As [`Write::write_all`].
pub fn output(bytes: &[u8]) -> Result<()> {
    stdout().write_all(bytes)
}

/// Makes samples from the bytes of the input.
pub fn samples(bytes: &[u8]) -> Vec<Sample> {
    let sample =
        |&byte| Sample { time: f64::from(byte), sensor: u32::from(byte), ..Sample::default() };
    bytes.iter().map(sample).collect()
}

/// The bytes of all fields of the samples. So the compiler cannot drop a field.
pub fn bytes(samples: &[Sample]) -> Vec<u8> {
    let sum = |s: &Sample| {
        s.time
            + f64::from(s.sensor)
            + f64::from(s.value.iter().sum::<f32>())
            + f64::from(u8::from(s.valid))
    };
    samples.iter().flat_map(|sample| sum(sample).to_le_bytes()).collect()
}
