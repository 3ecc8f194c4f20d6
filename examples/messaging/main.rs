//! Sends real records to a second process and has them sent back.
//!
//! `cargo run --release --example messaging` reads the airports of `examples/data/airports.csv`, starts a second
//! process of the same program, sends it the array as a message over a loopback TCP connection and compares the
//! array that comes back. An argument can name another file, with at least the columns iata, name, state, latitude
//! and longitude.

#![forbid(unsafe_code)]

mod peer;
mod report;

use std::fs::File;
use std::io::{ErrorKind, Write, stdout};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use dtype_examples::airports::{self, Airport};
use dtype_message::Limits;
use dtype_runtime::{pack, pack_into, unpack_into};
use indicatif::{ProgressBar, ProgressStyle};
use thiserror::Error;

use crate::peer::Peer;
use crate::report::Throughput;

/// The limit of records that each side accepts. The world has some 40 000 airports.
const LIMITS: Limits = Limits::new().with_max_records(1_000_000).with_max_payload_bytes(64 << 20);

/// How long packing and unpacking without a connection are measured.
const MEASURED: Duration = Duration::from_millis(300);

/// Packs airport records, sends them to a second process, and verifies what comes back.
#[derive(Parser)]
struct Arguments {
    /// CSV file with the columns iata, name, state, latitude and longitude.
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/data/airports.csv"))]
    path: PathBuf,
    /// How many times the array travels there and back.
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Be the second process: connect to this address and send back what comes.
    #[arg(long, hide = true)]
    echo: Option<SocketAddr>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let result = match arguments.echo {
        Some(address) => peer::echo(address),
        None => send_and_verify(&arguments, &mut stdout().lock()),
    };
    match result {
        // The reader has closed the output and needs no more.
        Err(error) if is_closed_pipe(&error) => Ok(()),
        result => result,
    }
}

/// Whether the output could not be written because the reader has closed it. Failures of the connection have a context, so they
/// are told apart first.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<PrintError>();
    error.is_some_and(|PrintError(error)| error.kind() == ErrorKind::BrokenPipe)
}

/// The output could not be written.
#[derive(Debug, Error)]
#[error("cannot print")]
struct PrintError(#[source] std::io::Error);

fn send_and_verify(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    // The path of the repository's file is absolute. A path relative to the current folder is shorter to read.
    let here = std::env::current_dir().unwrap_or_default();
    let path = arguments.path.strip_prefix(here).unwrap_or(&arguments.path).display();
    let file = File::open(&arguments.path).with_context(|| format!("cannot open {path}"))?;
    let airports = airports::read(file).with_context(|| format!("cannot read {path}"))?;
    writeln!(out, "Airports from {path}: {}\n", airports.len()).map_err(PrintError)?;
    report::layout::<Airport>(out).map_err(PrintError)?;
    report::sizes::<Airport>(airports.len(), out).map_err(PrintError)?;

    let alone = alone(&airports)?;
    let mut peer = Peer::start()?;
    let there_and_back = match trips(&mut peer, &airports, arguments.repetitions) {
        Ok(throughput) => throughput,
        // If the other process has failed, its error comes first.
        Err(error) => return Err(peer.stop_after(error)),
    };
    peer.finish()?;
    let lines = [
        ("pack", alone.0),
        ("unpack, with the regions checked", alone.1),
        ("packed, sent, unpacked, packed, sent, unpacked", there_and_back),
    ];
    let repetitions = arguments.repetitions;
    writeln!(out, "Sent to a second process and back, {repetitions} times over;")
        .and_then(|()| writeln!(out, "every record came back as it was.\n"))
        .and_then(|()| report::throughput(&lines, out))
        .and_then(|()| out.flush())
        .map_err(PrintError)?;
    Ok(())
}

/// Sends the array there and back this number of times, and compares it each time.
fn trips(peer: &mut Peer, airports: &[Airport], repetitions: u32) -> Result<Throughput> {
    // Unpacking overwrites records that have names of their own, which must not change.
    let mut returned: Vec<Airport> =
        airports.iter().map(|a| Airport { name: a.name.clone(), ..Airport::default() }).collect();
    let packed = pack(airports);
    let bar = ProgressBar::new(repetitions.into());
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} trips, {eta} left")?);
    let mut elapsed = Duration::ZERO;
    for trip in 1..=repetitions {
        let start = Instant::now();
        dtype_message::write(&mut peer.stream(), airports).context("cannot send the records")?;
        let came = dtype_message::read_reusing(&mut peer.stream(), &mut returned, &LIMITS)
            .context("cannot receive the records")?;
        elapsed += start.elapsed();
        ensure!(
            came.is_some(),
            "the other process closed the connection before trip {trip} was over"
        );
        if trip == 1 {
            compare(airports, &returned)?;
        } else {
            ensure!(pack(&returned) == packed, "trip {trip} returned other records");
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Throughput::new(packed.len() * 2, repetitions, elapsed))
}

/// Compares field by field; the message names the record that differs.
fn compare(sent: &[Airport], returned: &[Airport]) -> Result<()> {
    ensure!(
        sent.len() == returned.len(),
        "{} records were sent, {} came back",
        sent.len(),
        returned.len()
    );
    for (index, (sent, returned)) in sent.iter().zip(returned).enumerate() {
        ensure!(sent == returned, "record {index} was {sent:?} and came back as {returned:?}");
    }
    Ok(())
}

/// Packs and unpacks without a connection, as often as it takes to measure the time.
fn alone(airports: &[Airport]) -> Result<(Throughput, Throughput)> {
    let mut packed = pack(airports);
    let mut records = airports.to_vec();
    let pack = measure(packed.len(), || pack_into(airports, &mut packed))?;
    let unpack = measure(packed.len(), || unpack_into(&packed, &mut records))?;
    compare(airports, &records)?;
    Ok((pack, unpack))
}

fn measure<E>(bytes: usize, mut work: impl FnMut() -> Result<usize, E>) -> Result<Throughput>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let start = Instant::now();
    let mut repetitions = 0;
    while start.elapsed() < MEASURED {
        // A look at the clock takes as long as packing a short array, so it comes after several rounds.
        for _ in 0..16 {
            std::hint::black_box(work()?);
        }
        repetitions += 16;
    }
    Ok(Throughput::new(bytes, repetitions, start.elapsed()))
}
