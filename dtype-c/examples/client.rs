//! The other side of service.c: a program in Rust that derives the same types.
//!
//! Usage: client PATH, where PATH is the compiled service.

use std::env;
use std::error::Error;
use std::process::{Command, Stdio};

use dtype_message::{Framing, Limits, Messages};
use dtype_runtime::Datatype;

#[derive(Datatype, Clone, Copy, Debug)]
#[repr(u8)]
enum Unit {
    Celsius = 0,
    Pascal = 1,
    Metres = 5,
    /// What the service does not know.
    Kelvin = 9,
}

#[derive(Datatype, Clone, Copy, Debug)]
struct Reading {
    value: f64,
    unit: Unit,
    valid: bool,
    sensor: u32,
}

#[derive(Messages, Debug, PartialEq)]
enum Answer {
    #[dtype(tag = 2)]
    Summary((u64, f64)),
    #[dtype(tag = 3)]
    Refused(u64),
}

fn main() -> Result<(), Box<dyn Error>> {
    let service = env::args_os().nth(1).ok_or("usage: client PATH")?;
    let mut service = Command::new(service).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut to = service.stdin.take().ok_or("no pipe")?;
    let mut from = service.stdout.take().ok_or("no pipe")?;

    let units = [Unit::Celsius, Unit::Pascal, Unit::Metres];
    let mut readings: Vec<Reading> = (0..1000)
        .map(|i: u32| Reading {
            value: i.into(),
            unit: units[i as usize % 3],
            valid: i.is_multiple_of(2),
            sensor: i,
        })
        .collect();
    dtype_message::send(&mut to, &readings, Framing::new().with_tag(1))?;
    let answer = dtype_message::receive::<Answer>(&mut from, &Limits::new())?;
    println!("{answer:?}");
    assert_eq!(answer, Some(Answer::Summary((500, 249_500.0))));

    readings[77].unit = Unit::Kelvin;
    dtype_message::send(&mut to, &readings, Framing::compact().with_tag(1))?;
    let answer = dtype_message::receive::<Answer>(&mut from, &Limits::new())?;
    println!("{answer:?}");
    assert_eq!(answer, Some(Answer::Refused(77)));

    drop(to);
    assert!(service.wait()?.success());
    Ok(())
}
