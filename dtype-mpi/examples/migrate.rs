//! Particles that move between ranks. A cloud spreads from one corner of a box that is divided among the ranks.
//! After every step each particle moves to the rank that owns its part of the box.
//!
//! ```console
//! MPICC=mpicc.openmpi cargo build --release -p dtype-mpi --examples --target-dir target/openmpi
//! mpirun.openmpi -n 4 target/openmpi/release/examples/migrate
//! ```
//!
//! The number of particles per destination differs each time; the all-to-all itself communicates it. The particles
//! contain an enum and a `bool`, so received bytes are checked before they become particles. Their vectors are from
//! `glam`, and their matrix is from `nalgebra`.
//!
//! At the end each rank computes from the start which particles it must have. They do not interact, so the result
//! is equal bit for bit on every rank. Rank 0 checks that each particle's number occurs exactly once.

mod division;
mod job;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use dtype_mpi::traits::PackedCollectives;
use dtype_runtime::{Datatype, packed_size};
use glam::DVec3;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::CommunicatorCollectives;
use nalgebra::{Matrix3, Vector3};

use job::Table;

/// Particles that move between the parts of a box.
#[derive(Debug, Parser)]
#[command(name = "migrate")]
struct Arguments {
    /// Particles in all.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1..))]
    particles: u32,

    /// Steps.
    #[arg(long, default_value_t = 100)]
    steps: u32,
}

/// What a particle is; a neutron decays.
#[derive(Datatype, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Electron,
    Neutron,
    Proton,
}

/// 130 bytes of data in 136 bytes of memory.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Particle {
    number: u64,
    /// In a box whose edges have the length 1.
    position: DVec3,
    /// In lengths per step.
    velocity: DVec3,
    kind: Kind,
    /// Whether a wall has reflected it.
    reflected: bool,
    /// The sum of the second moments of its positions.
    moments: Matrix3<f64>,
}

impl Particle {
    /// The initial state of a particle, in one corner of the box.
    fn new(number: u64) -> Self {
        let mut noise = Noise(number);
        let position = 0.25 * noise.vector();
        let velocity = 0.03 * (noise.vector() - DVec3::splat(0.4));
        let kind = [Kind::Electron, Kind::Neutron, Kind::Proton][usize::from(noise.byte() % 3)];
        Self { number, position, velocity, kind, reflected: false, moments: Matrix3::zeros() }
    }

    /// Advances it by one step.
    fn advance(&mut self, step: u32) {
        let moved = self.position + self.velocity;
        // A wall reflects it. No velocity crosses the whole box in one step.
        let beyond = moved.cmplt(DVec3::ZERO) | moved.cmpge(DVec3::ONE);
        self.velocity = DVec3::select(beyond, -self.velocity, self.velocity);
        self.position = DVec3::select(beyond, self.position, moved);
        self.reflected |= beyond.any();
        let place = Vector3::from(self.position.to_array());
        self.moments += place * place.transpose();
        if self.kind == Kind::Neutron && u64::from(step) == 5 + self.number % 90 {
            self.kind = Kind::Proton;
        }
    }
}

/// Pseudorandom numbers, determined by the seed.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }

    /// Components from 0 to 1, exclusive.
    fn vector(&mut self) -> DVec3 {
        let [x, y, z] = [(); 3].map(|()| {
            let high = u32::try_from(self.next() >> 32).unwrap_or(0);
            f64::from(high) / (f64::from(u32::MAX) + 1.0)
        });
        DVec3::new(x, y, z)
    }
}

/// A grid of domains in the box, one for each rank.
struct Domains([usize; 3]);

impl Domains {
    /// The rank that owns a position.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "places are from 0 to 1, and numbers of ranks small"
    )]
    fn owner(&self, place: DVec3) -> usize {
        let index = |component: f64, parts: usize| {
            ((component * parts as f64) as usize).min(parts.saturating_sub(1))
        };
        let [x, y, z] = self.0;
        (index(place.x, x) * y + index(place.y, y)) * z + index(place.z, z)
    }
}

fn main() -> ExitCode {
    job::run(migrate)
}

fn migrate(world: &SimpleCommunicator, arguments: &Arguments) -> Result<Option<Table>> {
    let (rank, ranks) = job::ranks(world)?;
    let domains = Domains(division::grid(ranks));
    let number = u64::from(arguments.particles);
    let mut own: Vec<Particle> = (0..number).map(Particle::new).collect();
    own.retain(|particle| domains.owner(particle.position) == rank);

    let progress = job::progress(world, arguments.steps.into())?;
    let mut left = 0;
    let mut exchanging = Duration::ZERO;
    let start = Instant::now();
    for step in 1..=arguments.steps {
        for particle in &mut own {
            particle.advance(step);
        }
        let before = Instant::now();
        left += exchange(world, &domains, rank, &mut own)?;
        exchanging += before.elapsed();
        ensure!(
            own.iter().all(|particle| domains.owner(particle.position) == rank),
            "after step {step} a particle is where it does not belong"
        );
        let mut all = 0_u64;
        world.all_reduce_into(&(own.len() as u64), &mut all, SystemOperation::sum());
        ensure!(all == number, "after step {step} there are {all} particles of {number}");
        progress.inc(1);
    }
    let time = start.elapsed();
    progress.finish_and_clear();

    verify(arguments, &own)?;
    let [mut moved, mut least, mut most] = [0_u64; 3];
    world.all_reduce_into(&left, &mut moved, SystemOperation::sum());
    world.all_reduce_into(&(own.len() as u64), &mut least, SystemOperation::min());
    world.all_reduce_into(&(own.len() as u64), &mut most, SystemOperation::max());
    let numbers: Vec<u64> = own.iter().map(|particle| particle.number).collect();
    let Some(numbers) = world.gather_packed(&numbers, 0)? else { return Ok(None) };
    let mut numbers = numbers.elements;
    numbers.sort_unstable();
    ensure!(
        numbers.iter().copied().eq(0..number),
        "some particle is lost, or there twice, among {} of {number}",
        numbers.len()
    );

    let exchanged = moved * packed_size::<Particle>(1) as u64;
    let mut table = Table::new(["particles in a box", ""]);
    let [x, y, z] = domains.0;
    table.line(["ranks".into(), format!("{x} × {y} × {z}")]);
    table.line(["particles".into(), number.to_string()]);
    table.line(["at one rank".into(), format!("{least} to {most}")]);
    table.line(["steps".into(), arguments.steps.to_string()]);
    table.line(["moved to another rank".into(), moved.to_string()]);
    table.line(["exchanged".into(), job::bytes(exchanged)]);
    table.line(["time".into(), job::seconds(time)]);
    table.line(["of which exchange".into(), job::seconds(exchanging)]);
    table.line(["exchange rate".into(), job::rate(exchanged, exchanging, "B")]);
    let steps = number * u64::from(arguments.steps);
    table.line(["rate".into(), job::rate(steps, time, "particles")]);
    table.line(["verified".into(), "each there once, as computed alone".into()]);
    Ok(Some(table))
}

/// Sends the particles that have left to their ranks, and receives the new ones. Returns how many have left.
fn exchange(
    world: &SimpleCommunicator,
    domains: &Domains,
    rank: usize,
    own: &mut Vec<Particle>,
) -> Result<u64> {
    let (_, ranks) = job::ranks(world)?;
    let owner = |particle: &Particle| domains.owner(particle.position);
    let mut leaving: Vec<Particle> =
        own.extract_if(.., |particle| owner(particle) != rank).collect();
    leaving.sort_by_cached_key(owner);
    let mut counts = vec![0; ranks];
    for particle in &leaving {
        counts[owner(particle)] += 1;
    }
    let arrived = world.all_to_all_packed(&leaving, &counts)?;
    own.extend(arrived.elements);
    Ok(leaving.len() as u64)
}

/// Checks the particles at the end.
fn verify(arguments: &Arguments, own: &[Particle]) -> Result<()> {
    for found in own {
        let mut expected = Particle::new(found.number);
        for step in 1..=arguments.steps {
            expected.advance(step);
        }
        ensure!(*found == expected, "there is {found:?}, and should be {expected:?}");
    }
    Ok(())
}
