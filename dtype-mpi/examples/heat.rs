//! Heat in a plate, on any number of ranks. Each rank has a block of the cells with a rim around it. In every step
//! the rims are filled with the neighbours' outermost rows and columns.
//!
//! ```console
//! MPICC=mpicc.openmpi cargo build --release -p dtype-mpi --examples --target-dir target/openmpi
//! mpirun.openmpi -n 4 target/openmpi/release/examples/heat
//! ```
//!
//! The rows and columns are packed when their sends start, so the block is not borrowed while messages are in transit: the
//! program computes the cells that do not need a neighbour.
//!
//! At the end rank 0 computes the whole plate alone. Every rank computes a cell from the same five numbers by the
//! same operations, and a maximum does not depend on the order of its operands. Both results must therefore be
//! equal bit for bit.

mod division;
mod job;

use std::ops::Range;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use dtype_mpi::traits::{PackedDestination, PackedSource};
use dtype_mpi::{Exchange, Layout, Neighbours};
use dtype_runtime::{Basic, Order, Type};
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};
use ndarray::{Array2, Zip, s};

use job::Table;

/// Heat in a plate with one hot edge, until it hardly changes any more.
#[derive(Debug, Parser)]
#[command(name = "heat")]
struct Arguments {
    /// Rows of cells.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u16).range(1..))]
    rows: u16,

    /// Columns of cells.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u16).range(1..))]
    columns: u16,

    /// Steps at most.
    #[arg(long, default_value_t = 1000)]
    steps: u32,

    /// It is over when no cell changes by more in a step, in kelvins.
    #[arg(long, default_value_t = 0.01)]
    tolerance: f64,

    /// Steps from one comparison of all ranks' changes to the next.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
}

fn main() -> ExitCode {
    job::run(heat)
}

fn heat(world: &SimpleCommunicator, arguments: &Arguments) -> Result<Option<Table>> {
    let plate = [usize::from(arguments.rows), usize::from(arguments.columns)];
    let (rank, ranks) = job::ranks(world)?;
    let mut blocks = division::grid::<2>(ranks);
    if plate[0] < plate[1] {
        blocks.reverse();
    }
    ensure!(
        blocks[0] <= plate[0] && blocks[1] <= plate[1],
        "{} × {} blocks for {} × {} cells: some ranks would have none",
        blocks[0],
        blocks[1],
        plate[0],
        plate[1]
    );
    let lengths = [i32::try_from(blocks[0])?, i32::try_from(blocks[1])?];
    let cartesian = world
        .create_cartesian_communicator(&lengths, &[false; 2], false)
        .context("every rank has a block")?;
    let cells = |rank: usize| {
        let (row, column) = (rank / blocks[1], rank % blocks[1]);
        [part(plate[0], blocks[0], row), part(plate[1], blocks[1], column)]
    };

    let progress = job::progress(world, arguments.steps.into())?;
    let mut block = Block::new(plate, cells(rank));
    let rim = block.shape().map(|length| length + 2);
    let mut halo = Exchange::halo_of::<f64>(&cartesian, &rim, 1, Neighbours::Faces)?;
    let start = Instant::now();
    let (steps, change) = until_steady(arguments, |look| {
        step(&mut halo, &mut block)?;
        progress.inc(1);
        if !look {
            return Ok(f64::NAN);
        }
        let mut greatest = 0.0;
        world.all_reduce_into(&block.change, &mut greatest, SystemOperation::max());
        progress.set_message(format!("changed by {greatest:.4} K"));
        Ok(greatest)
    })?;
    let time = start.elapsed();
    progress.finish_and_clear();

    let sent = halo.bytes() * u64::from(steps);
    let mut exchanged = 0_u64;
    world.all_reduce_into(&sent, &mut exchanged, SystemOperation::sum());
    let Some(whole) = gather(world, plate, &block, cells)? else { return Ok(None) };
    let (alone, alone_time) = verify(arguments, plate, &whole, (steps, change))?;

    let updates = plate[0] as u64 * plate[1] as u64 * u64::from(steps);
    let mut table = Table::new(["heat in a plate", ""]);
    table.line(["ranks".into(), format!("{} × {}", blocks[0], blocks[1])]);
    table.line(["cells".into(), format!("{} × {}", plate[0], plate[1])]);
    table.line(["steps".into(), steps.to_string()]);
    table.line(["last change".into(), format!("{change:.6} K")]);
    table.line(["exchanged".into(), job::bytes(exchanged)]);
    table.line(["time".into(), job::seconds(time)]);
    table.line(["rate".into(), job::rate(updates, time, "cells")]);
    table.line(["exchange rate".into(), job::rate(exchanged, time, "B")]);
    table.line(["rank 0 alone".into(), job::seconds(alone_time)]);
    table.line([format!("verified, {} cells", alone.len()), "equal bit for bit".into()]);
    Ok(Some(table))
}

/// The range of `cells` cells that belongs to one of `blocks` blocks; the lengths differ by at most one.
fn part(cells: usize, blocks: usize, block: usize) -> Range<usize> {
    cells * block / blocks..cells * (block + 1) / blocks
}

/// The temperatures of a block of cells, in kelvins above the cold edges, with a rim of one cell around it.
struct Block {
    /// Ranges in the plate including its edge; they begin with the rim.
    cells: [Range<usize>; 2],
    now: Array2<f64>,
    next: Array2<f64>,
    /// The greatest change of a cell in the last step.
    change: f64,
}

impl Block {
    fn new(plate: [usize; 2], cells: [Range<usize>; 2]) -> Self {
        let rim = cells.each_ref().map(|cells| cells.len() + 2);
        let now = Array2::from_shape_fn(rim, |(row, column)| {
            edge(plate, [cells[0].start + row, cells[1].start + column])
        });
        Self { cells, next: now.clone(), now, change: 0.0 }
    }

    /// Rows and columns without the rim.
    fn shape(&self) -> [usize; 2] {
        self.cells.each_ref().map(ExactSizeIterator::len)
    }

    /// Computes a part of the next temperatures.
    fn relax(&mut self, rows: Range<usize>, columns: Range<usize>) {
        let (top, bottom) = (rows.start, rows.end);
        let (left, right) = (columns.start, columns.end);
        let now = &self.now;
        // Cell 0 is the first one after the rim.
        let change = Zip::from(self.next.slice_mut(s![top + 1..=bottom, left + 1..=right]))
            .and(now.slice(s![top + 1..=bottom, left + 1..=right]))
            .and(now.slice(s![top..bottom, left + 1..=right]))
            .and(now.slice(s![top + 2..bottom + 2, left + 1..=right]))
            .and(now.slice(s![top + 1..=bottom, left..right]))
            .and(now.slice(s![top + 1..=bottom, left + 2..right + 2]))
            .fold(self.change, |change, next, &old, &north, &south, &west, &east| {
                *next = 0.25 * ((north + south) + (west + east));
                change.max((*next - old).abs())
            });
        self.change = change;
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// All current temperatures; a new array is contiguous.
    fn memory(&self) -> &[f64] {
        self.now.as_slice().unwrap_or_default()
    }

    fn memory_mut(&mut self) -> &mut [f64] {
        self.now.as_slice_mut().unwrap_or_default()
    }

    /// A part of the block and its rim as a datatype.
    fn part(&self, sizes: [usize; 2], starts: [usize; 2]) -> Result<Layout> {
        let shape = self.shape();
        subarray([shape[0] + 2, shape[1] + 2], sizes, starts)
    }
}

fn subarray(all: [usize; 2], sizes: [usize; 2], starts: [usize; 2]) -> Result<Layout> {
    let [all, sizes, starts] = [all, sizes, starts].map(|pair| pair.map(|length| length as u64));
    let part = Type::subarray(&all, &sizes, &starts, Order::C, &Type::basic(Basic::F64))?;
    Ok(Layout::new(&part)?)
}

/// The initial temperature at a position in the plate with its edge. The upper edge is hot, most of all in the
/// middle.
#[allow(
    clippy::cast_precision_loss,
    reason = "there are fewer columns than a number has digits for"
)]
fn edge(plate: [usize; 2], [row, column]: [usize; 2]) -> f64 {
    let along = column as f64 / (plate[1] + 1) as f64;
    if row == 0 { 400.0 * along * (1.0 - along) } else { 0.0 }
}

/// Makes one step.
fn step(halo: &mut Exchange<'_>, block: &mut Block) -> Result<()> {
    let [rows, columns] = block.shape();
    let messages = halo.start(block.memory())?;
    block.change = 0.0;
    let inner = [rows, columns].map(|length| 1..length.max(2) - 1);
    block.relax(inner[0].clone(), inner[1].clone());
    messages.finish(block.memory_mut())?;
    block.relax(0..1, 0..columns);
    block.relax(rows.max(2) - 1..rows, 0..columns);
    block.relax(inner[0].clone(), 0..1);
    block.relax(inner[0].clone(), columns.max(2) - 1..columns);
    block.swap();
    Ok(())
}

/// Makes steps until the changes are small enough or the limit is reached. The greatest change of all cells is
/// compared at intervals. Returns the number of steps and the last of these changes.
fn until_steady(
    arguments: &Arguments,
    mut step: impl FnMut(bool) -> Result<f64>,
) -> Result<(u32, f64)> {
    let mut change = f64::NAN;
    for done in 1..=arguments.steps {
        let look = done % arguments.every == 0 || done == arguments.steps;
        let now = step(look)?;
        if look {
            change = now;
        }
        if look && change <= arguments.tolerance {
            return Ok((done, change));
        }
    }
    Ok((arguments.steps, change))
}

/// Gathers the whole plate at rank 0: each block is received from the sender's memory directly into its part of the
/// plate.
fn gather(
    world: &SimpleCommunicator,
    plate: [usize; 2],
    block: &Block,
    cells: impl Fn(usize) -> [Range<usize>; 2],
) -> Result<Option<Array2<f64>>> {
    let (root, inner) = (world.process_at_rank(0), block.part(block.shape(), [1, 1])?);
    let send = root.immediate_send_stream(inner.packer(block.memory(), 0, 1)?, 0)?;
    let mut whole = None;
    if world.rank() == 0 {
        let mut plate_now = vec![f64::NAN; plate[0] * plate[1]];
        for rank in 0..world.size() {
            let [rows, columns] = cells(usize::try_from(rank)?);
            let place = subarray(plate, [rows.len(), columns.len()], [rows.start, columns.start])?;
            let mut unpacker = place.unpacker(&mut plate_now, 0, 1)?;
            world.process_at_rank(rank).recv_stream(&mut unpacker, 0)?;
            ensure!(unpacker.is_complete(), "rank {rank} has sent a part of its block");
        }
        whole = Some(Array2::from_shape_vec(plate, plate_now)?);
    }
    send.wait()?;
    Ok(whole)
}

/// Computes the same on one rank and compares. Returns the number of cells, and the time.
fn verify(
    arguments: &Arguments,
    plate: [usize; 2],
    found: &Array2<f64>,
    (steps, change): (u32, f64),
) -> Result<(Array2<f64>, std::time::Duration)> {
    let start = Instant::now();
    let mut block = Block::new(plate, plate.map(|length| 0..length));
    let expected = until_steady(arguments, |_| {
        block.change = 0.0;
        block.relax(0..plate[0], 0..plate[1]);
        block.swap();
        Ok(block.change)
    })?;
    let time = start.elapsed();
    ensure!(
        (steps, change.to_bits()) == (expected.0, expected.1.to_bits()),
        "{steps} steps with a last change of {change}, alone {} with {}",
        expected.0,
        expected.1
    );
    let alone = block.now.slice(s![1..=plate[0], 1..=plate[1]]).to_owned();
    for (place, &expected) in alone.indexed_iter() {
        let found = found[place];
        ensure!(
            found.to_bits() == expected.to_bits(),
            "cell {place:?} has {found}, and alone {expected}"
        );
    }
    Ok((alone, time))
}
