//! Sends seismic traces to another process's socket without packing them: the kernel gathers the data from their
//! memory (`writev`), without the padding and without the fields that only this program needs.
//!
//! ```console
//! cargo run --release --example gather
//! ```
//!
//! A trace is a header and a few thousand samples, with a note of this program's own among them. Pieces of this length are
//! cheaper to gather than to copy. Records of a few bytes are cheaper to copy: the example `messaging` packs such records.

#![forbid(unsafe_code)]

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use dtype_runtime::{Datatype, Packer, Type, Unpacker};

/// One recording.
#[derive(Datatype, Clone, Debug, PartialEq)]
struct Trace {
    station: u32,
    channel: u8,
    /// Where this program keeps the file. The receiver does not need this field.
    #[dtype(skip)]
    file: usize,
    start: f64,
    samples: [f32; 4000],
}

impl Trace {
    fn sample(i: u16) -> Self {
        let station = u32::from(i) * 7;
        let samples = core::array::from_fn(|j| f32::from(i) + f32::from(j.to_le_bytes()[0]));
        Self { station, channel: i.to_le_bytes()[0], file: 1, start: f64::from(i), samples }
    }

    fn empty() -> Self {
        Self { station: 0, channel: 0, file: 2, start: 0.0, samples: [0.0; 4000] }
    }
}

/// The number of slices that one call takes: Linux's limit.
const AT_ONCE: usize = 1024;

/// Sends the rest of the stream straight from memory, and returns the number of pieces.
fn gather(packer: &Packer<'_>, output: &mut impl Write) -> io::Result<usize> {
    let mut number = 0;
    let mut pieces = packer.chunks().peekable();
    while pieces.peek().is_some() {
        let mut slices: Vec<IoSlice<'_>> =
            pieces.by_ref().take(AT_ONCE).map(IoSlice::new).collect();
        number += slices.len();
        let mut rest = &mut slices[..];
        while !rest.is_empty() {
            match output.write_vectored(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut rest, written),
                // A signal arrived before anything was written.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(number)
}

/// Receives the bytes of the traces, straight from the socket's buffer into their fields.
fn receive(traces: &mut [Trace], input: &mut impl Read) -> io::Result<Duration> {
    let start = Instant::now();
    let mut unpacker = Unpacker::new(traces);
    io::copy(&mut input.take(unpacker.remaining()), &mut unpacker)?;
    if unpacker.is_complete() {
        Ok(start.elapsed())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

fn main() -> Result<()> {
    let traces: Vec<Trace> = (0..500).map(Trace::sample).collect();
    let ty = Type::of::<Trace>();
    println!(
        "{} traces of {} bytes in memory, {} of them data",
        traces.len(),
        size_of::<Trace>(),
        ty.size()
    );

    let listener = TcpListener::bind("127.0.0.1:0").context("no port of this machine is free")?;
    // The listener holds the connection until it is accepted.
    let mut output = TcpStream::connect(listener.local_addr()?)?;
    let (mut input, _) = listener.accept()?;
    let mut received = vec![Trace::empty(); traces.len()];
    let (pieces, time) = thread::scope(|scope| -> Result<_> {
        let receiver = scope.spawn(|| receive(&mut received, &mut input));
        let pieces = gather(&Packer::new(&traces), &mut output);
        // After this, the receiver sees the end, even if sending has failed.
        output.shutdown(Shutdown::Write)?;
        let time = receiver.join().ok().context("the receiver has panicked")??;
        Ok((pieces?, time))
    })?;

    for (sent, got) in traces.iter().zip(&received) {
        // The note was not sent, so it is unchanged.
        ensure!(got.file == 2, "a skipped field was written");
        ensure!(Trace { file: sent.file, ..got.clone() } == *sent, "a trace changed on the way");
    }
    let bytes = ty.size() * traces.len() as u64;
    let rate = u32::try_from(bytes).map_or(f64::NAN, f64::from) / time.as_secs_f64() / 1e9;
    println!("{bytes} bytes gathered from {pieces} pieces, none of them copied by this program");
    println!("there in {time:.1?} ({rate:.1} GB/s), every trace as it was");
    Ok(())
}
