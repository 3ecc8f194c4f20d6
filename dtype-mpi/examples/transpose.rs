//! Transposes a matrix whose rows are divided among the ranks, by one all-to-all: no block is copied before or
//! after it.
//!
//! ```console
//! MPICC=mpicc.openmpi cargo build --release -p dtype-mpi --examples --target-dir target/openmpi
//! mpirun.openmpi -n 4 target/openmpi/release/examples/transpose
//! ```
//!
//! Each rank receives a block of columns: a vector, resized to the width of the block, so that the next rank's
//! block begins after it. Received elements are written column by column into the rows of the transpose, by a
//! vector of vectors that is resized in the same way. Each is one datatype, with one instance per rank.
//!
//! The library transposes with its datatypes, alternating with the same types packed by this project. Both results
//! are checked element by element.

mod job;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use dtype_mpi::{Layout, ReceiveBuffer, SendBuffer};
use dtype_runtime::{Basic, Type};
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::CommunicatorCollectives;

use job::Table;

/// The transpose of a matrix that is divided among the ranks.
#[derive(Debug, Parser)]
#[command(name = "transpose")]
struct Arguments {
    /// Rows; more, if it takes more for all ranks to have the same number.
    #[arg(long, default_value_t = 2048, value_parser = clap::value_parser!(u16).range(1..))]
    rows: u16,

    /// Columns; more, if it takes more for all ranks to have the same number.
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u16).range(1..))]
    columns: u16,

    /// How often.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
}

/// A matrix, and this rank's part of it.
struct Matrix {
    rank: usize,
    ranks: usize,
    /// The number of rows per rank.
    rows: usize,
    /// The number of columns per rank, which become rows of the transpose.
    columns: usize,
}

impl Matrix {
    /// All rows and columns.
    fn shape(&self) -> [usize; 2] {
        [self.rows * self.ranks, self.columns * self.ranks]
    }

    /// The value of an element.
    #[allow(clippy::cast_precision_loss, reason = "two numbers of 16 bits")]
    fn value(&self, row: usize, column: usize) -> f64 {
        (row * self.shape()[1] + column) as f64
    }

    /// The rows of this rank.
    fn own(&self) -> Vec<f64> {
        let [_, width] = self.shape();
        let first = self.rank * self.rows;
        (0..self.rows * width).map(|i| self.value(first + i / width, i % width)).collect()
    }

    /// The columns for one rank; the next rank's begin where they end in the first row.
    fn sent(&self) -> Result<Layout> {
        let [_, width] = self.shape();
        let (rows, columns) = (self.rows as u64, self.columns as u64);
        let block = Type::vector(rows, columns, i64::try_from(width)?, &Type::basic(Basic::F64))?;
        Ok(Layout::new(&Type::resized(&block, 0, extent(self.columns)?)?)?)
    }

    /// The layout of the rows from one rank: each is a column of the transpose, with the next one beside it.
    fn received(&self) -> Result<Layout> {
        let [width, _] = self.shape();
        let (rows, columns) = (self.rows as u64, self.columns as u64);
        let column = Type::vector(columns, 1, i64::try_from(width)?, &Type::basic(Basic::F64))?;
        let block = Type::hvector(rows, 1, extent(1)?, &column)?;
        Ok(Layout::new(&Type::resized(&block, 0, extent(self.rows)?)?)?)
    }

    /// Compares each element of this rank's part of the transpose.
    fn verify(&self, transposed: &[f64]) -> Result<()> {
        let [width, _] = self.shape();
        let first = self.rank * self.columns;
        ensure!(transposed.len() == self.columns * width, "{} elements", transposed.len());
        for (i, &found) in transposed.iter().enumerate() {
            let (row, column) = (first + i / width, i % width);
            let expected = self.value(column, row);
            ensure!(
                found.to_bits() == expected.to_bits(),
                "row {row}, column {column} of the transpose has {found}, not {expected}"
            );
        }
        Ok(())
    }
}

/// The size of `elements` elements in bytes.
fn extent(elements: usize) -> Result<i64> {
    Ok(i64::try_from(elements * size_of::<f64>())?)
}

fn main() -> ExitCode {
    job::run(transpose)
}

fn transpose(world: &SimpleCommunicator, arguments: &Arguments) -> Result<Option<Table>> {
    let (rank, ranks) = job::ranks(world)?;
    let matrix = Matrix {
        rank,
        ranks,
        rows: usize::from(arguments.rows).div_ceil(ranks),
        columns: usize::from(arguments.columns).div_ceil(ranks),
    };
    let own = matrix.own();
    let layouts = [matrix.sent()?, matrix.received()?];
    let mut buffers = [vec![0; size_of_val(&own[..])], vec![0; size_of_val(&own[..])]];

    let progress = job::progress(world, arguments.rounds.into())?;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..arguments.rounds {
        let by_library = |transposed: &mut [f64]| library(world, &layouts, &own, transposed);
        times[0].push(round(world, &matrix, by_library)?);
        let by_engine =
            |transposed: &mut [f64]| here(world, &layouts, &own, transposed, &mut buffers);
        times[1].push(round(world, &matrix, by_engine)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    // All ranks have verified their parts by then.
    world.barrier();
    if rank > 0 {
        return Ok(None);
    }

    let [rows, columns] = matrix.shape();
    // A rank's own block is not exchanged.
    let exchanged = (rows * columns * size_of::<f64>()) as u64 / ranks as u64 * (ranks as u64 - 1);
    println!("transpose of {rows} × {columns} numbers, {ranks} ranks, {} rounds", arguments.rounds);
    let mut table = Table::new(["", "exchanged", "time, median", "rate", ""]);
    for (name, mut times) in ["by the library", "packed here"].into_iter().zip(times) {
        times.sort_unstable();
        let time = times[times.len() / 2];
        let (bytes, rate) = (job::bytes(exchanged), job::rate(exchanged, time, "B"));
        table.line([name.into(), bytes, job::seconds(time), rate, "verified".into()]);
    }
    Ok(Some(table))
}

/// Makes one transpose and verifies it. Returns the time of the slowest rank.
fn round(
    world: &SimpleCommunicator,
    matrix: &Matrix,
    transpose: impl FnOnce(&mut [f64]) -> Result<()>,
) -> Result<Duration> {
    let mut transposed = vec![f64::NAN; matrix.columns * matrix.shape()[0]];
    world.barrier();
    let start = Instant::now();
    transpose(&mut transposed)?;
    let own = start.elapsed().as_secs_f64();
    matrix.verify(&transposed)?;
    let mut slowest = 0.0;
    world.all_reduce_into(&own, &mut slowest, SystemOperation::max());
    Ok(Duration::try_from_secs_f64(slowest)?)
}

/// The library packs and unpacks both datatypes.
fn library(
    world: &SimpleCommunicator,
    [sent, received]: &[Layout; 2],
    own: &[f64],
    transposed: &mut [f64],
) -> Result<()> {
    let (_, ranks) = job::ranks(world)?;
    let out = SendBuffer::from_layout(sent, own, 0, ranks)?;
    let mut into = ReceiveBuffer::from_layout(received, transposed, 0, ranks)?;
    world.all_to_all_into(&out, &mut into);
    Ok(())
}

/// The library moves bytes, which this project packs and unpacks.
fn here(
    world: &SimpleCommunicator,
    [sent, received]: &[Layout; 2],
    own: &[f64],
    transposed: &mut [f64],
    [out, into]: &mut [Vec<u8>; 2],
) -> Result<()> {
    let (_, ranks) = job::ranks(world)?;
    sent.packer(own, 0, ranks)?.pack(out);
    world.all_to_all_into(&out[..], &mut into[..]);
    received.unpacker(transposed, 0, ranks)?.unpack(into)?;
    Ok(())
}
