//! Ranks in Rust and a rank in Python in one job: Rust keeps the particles, and NumPy moves them.
//!
//! ```console
//! MPICC=mpicc.openmpi cargo build --release -p dtype-mpi --examples --target-dir target/openmpi
//! mpirun.openmpi -n 2 target/openmpi/release/examples/python : -n 1 python3 -m mpi4py dtype-mpi/examples/python.py
//! ```
//!
//! The last rank is `python.py`, with mpi4py and NumPy, and the same MPI library. It has no copy of the struct: rank 0 sends it
//! the dtypes of a particle in memory and packed. Python receives what the library sends from where it is in memory, and what
//! was packed here, as it likes: with the datatype of the one dtype or of the other. The four pairs take turns.
//!
//! What comes back is checked before it becomes particles, and is compared with the same steps in Rust, bit for bit. At the end
//! Python sends a `bool` that is 2. The error names the record and the field, and nothing is written.

mod job;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use dtype_mpi::SendBuffer;
use dtype_mpi::traits::{PackedDestination, PackedSource};
use dtype_npy::{NumpyOptions, numpy_dtype};
use dtype_runtime::{Datatype, packed_size};
use mpi::Tag;
use mpi::topology::{Process, SimpleCommunicator};
use mpi::traits::{Communicator, Destination};

use job::Table;

/// The tags of the messages, as in `python.py`.
const DTYPE: Tag = 1;
const PARTICLES: Tag = 2;
const MOVED: Tag = 3;
const DAMAGED: Tag = 4;

/// Particles that Python moves.
#[derive(Debug, Parser)]
#[command(name = "python")]
struct Arguments {
    /// Particles of each rank in Rust.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    particles: u32,

    /// Steps.
    #[arg(long, default_value_t = 20)]
    steps: u32,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Electron = 1,
    Proton = 2,
}

/// What has happened to a particle.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct History {
    hits: u16,
    reflected: bool,
}

/// 56 bytes of data in 64 bytes of memory, in the compiler's order.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Particle {
    kind: Kind,
    number: u32,
    /// In a box whose edges have the length 1.
    position: [f64; 3],
    /// In lengths per step.
    velocity: [f64; 3],
    history: History,
}

impl Particle {
    fn new(number: u32) -> Self {
        let part = |factor: u32| f64::from(number.wrapping_mul(factor) % 1021) / 1021.0;
        Self {
            kind: if number.is_multiple_of(3) { Kind::Electron } else { Kind::Proton },
            number,
            position: [part(7), part(11), part(13)],
            velocity: [part(17), part(19), part(23)].map(|part| (part - 0.5) / 8.0),
            history: History { hits: 0, reflected: false },
        }
    }

    /// Advances it by one step, as `python.py` does.
    fn advance(&mut self) {
        for (position, velocity) in self.position.iter_mut().zip(&mut self.velocity) {
            let moved = *position + *velocity;
            if (0.0..1.0).contains(&moved) {
                *position = moved;
            } else {
                *velocity = -*velocity;
                self.history.hits = self.history.hits.wrapping_add(1);
                self.history.reflected = true;
            }
        }
    }
}

fn main() -> ExitCode {
    job::run(exchange)
}

fn exchange(world: &SimpleCommunicator, arguments: &Arguments) -> Result<Option<Table>> {
    let (rank, ranks) = job::ranks(world)?;
    ensure!(ranks >= 2, "the last rank of the job is to be python.py");
    let python = world.process_at_rank(world.size() - 1);
    if rank == 0 {
        describe(&python, arguments.steps)?;
    }
    let first = u32::try_from(rank)?.wrapping_mul(arguments.particles);
    let numbers = (0..arguments.particles).map(|i| first.wrapping_add(i));
    let mut own: Vec<Particle> = numbers.map(Particle::new).collect();
    let mut expected = own.clone();

    let progress = job::progress(world, arguments.steps.into())?;
    let mut exchanging = Duration::ZERO;
    for step in 0..arguments.steps {
        let start = Instant::now();
        if step % 4 < 2 {
            python.send_with_tag(&SendBuffer::new(&own)?, PARTICLES);
        } else {
            python.send_packed(&own, PARTICLES)?;
        }
        python.recv_packed_into(&mut own, MOVED)?;
        exchanging += start.elapsed();
        expected.iter_mut().for_each(Particle::advance);
        if let Some((found, expected)) = own.iter().zip(&expected).find(|(a, b)| a != b) {
            bail!("after step {step} there is {found:?}, and should be {expected:?}");
        }
        progress.inc(1);
    }
    progress.finish_and_clear();

    let error = python.recv_packed_into(&mut own, DAMAGED);
    let error = error.err().context("a bool of 2 was received")?.to_string();
    ensure!(error.contains("field history.reflected: 0x2 is not a valid bool"), "{error}");
    ensure!(own == expected, "a damaged message was written");

    if rank > 0 {
        return Ok(None);
    }
    let sent = u64::from(arguments.particles) * u64::from(arguments.steps);
    let bytes = 2 * sent * packed_size::<Particle>(1) as u64;
    let mut table = Table::new(["particles moved in Python", ""]);
    table.line(["ranks".into(), format!("{} in Rust, one in Python", ranks - 1)]);
    table.line(["particles of a rank".into(), arguments.particles.to_string()]);
    table.line(["steps".into(), arguments.steps.to_string()]);
    table.line(["sent and received by rank 0".into(), job::bytes(bytes)]);
    table.line(["time, with Python's".into(), job::seconds(exchanging)]);
    table.line(["rate".into(), job::rate(sent, exchanging, "particles")]);
    table.line(["verified".into(), "all as computed in Rust".into()]);
    table.line(["refused".into(), "a bool that is 2".into()]);
    Ok(Some(table))
}

/// Sends Python what it needs to know: how particles look in memory and packed, and how many steps there are.
fn describe(python: &Process<'_>, steps: u32) -> Result<()> {
    for options in [NumpyOptions::memory(), NumpyOptions::packed()] {
        let dtype = numpy_dtype::<Particle>(&options)?;
        python.send_with_tag(dtype.expression.as_bytes(), DTYPE);
    }
    python.send_with_tag(&steps, DTYPE);
    Ok(())
}
