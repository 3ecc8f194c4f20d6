//! Two processes diffuse heat in one grid, and gather what their probes measured. This process starts itself again as the
//! other one.
//!
//! ```console
//! cargo run --release -p dtype-ucx --example halo -- --rows 400 --columns 300 --steps 500
//! ```
//!
//! Each process has half of the columns. After each step it sends the column at the cut, and receives the one of the other
//! half: a column is a `Type`, and the grid is sent from and received into as it is. At the end the second process sends its
//! half, and what its probes measured as structs. The first one computes everything again alone, and compares.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use dtype_runtime::types::Order;
use dtype_runtime::{Basic, Buffer, BufferMut, Committed, Datatype, Type, bytes_of, bytes_of_mut};
use dtype_ucx::{Context, Elements, ElementsMut, Endpoint, Single, Worker, WorkerAddress};

#[derive(Parser, Clone, Debug)]
struct Options {
    /// Rows of the grid.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(3..=20_000))]
    rows: u32,
    /// Columns of the grid.
    #[arg(long, default_value_t = 150, value_parser = clap::value_parser!(u32).range(4..=20_000))]
    columns: u32,
    /// Steps of the simulation.
    #[arg(long, default_value_t = 200)]
    steps: u32,
    /// Started by the first process.
    #[arg(long, hide = true)]
    second: bool,
}

const HALO: u64 = 1;
const HALF: u64 = 2;
const MEASURED: u64 = 3;

/// What a probe measured: 16 bytes in memory, 13 on the wire.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Measured {
    step: u32,
    warm: bool,
    value: f64,
}

/// Some columns of the grid, with one more at either side.
struct Grid {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Grid {
    /// Columns from `first` on, hot where a diagonal runs.
    fn new(rows: usize, columns: usize, first: usize) -> Self {
        let width = columns + 2;
        let value = |at: usize| if at / width == (at % width + first) % rows { 100.0 } else { 0.0 };
        Self { rows, columns, values: (0..rows * width).map(value).collect() }
    }

    /// One step; the border of the grid, and the outer columns, are unchanged.
    fn step(&mut self, inner: std::ops::RangeInclusive<usize>) {
        let width = self.columns + 2;
        let before = self.values.clone();
        for row in 1..self.rows - 1 {
            for column in inner.clone() {
                let at = row * width + column;
                let around =
                    before[at - 1] + before[at + 1] + before[at - width] + before[at + width];
                self.values[at] = 0.5 * before[at] + 0.125 * around;
            }
        }
    }

    /// A column as a type.
    fn column(&self) -> Result<Committed> {
        let value = Type::basic(Basic::F64);
        Ok(Type::vector(self.rows as u64, 1, self.columns as i64 + 2, &value)?.commit())
    }

    fn measure(&self, step: u32, column: usize) -> Measured {
        let value = self.values[self.rows / 2 * (self.columns + 2) + column];
        Measured { step, warm: value > 1.0, value }
    }
}

/// One of the two processes.
struct Half {
    worker: Worker<Single>,
    other: Endpoint<Single>,
    grid: Grid,
    measured: Vec<Measured>,
}

impl Half {
    fn run(&mut self, options: &Options) -> Result<()> {
        let column = self.grid.column()?;
        let last = self.grid.columns;
        // The columns at the cut, and the one that moves with the half.
        let (send, receive, inner) =
            if options.second { (1, 0, 1..=last - 1) } else { (last, last + 1, 2..=last) };
        for step in 0..options.steps {
            // The outgoing column is a copy, because the grid is received into at the same time.
            let origin = |column: usize| (8 * column) as i64;
            let from = Buffer::new(bytes_of(&self.grid.values)).origin(origin(send));
            let edge = column.pack_to_vec(from, 1)?;
            let to = BufferMut::new(bytes_of_mut(&mut self.grid.values)).origin(origin(receive));
            let to = ElementsMut::of(&column, to, 1)?;
            self.worker.scope(|scope| {
                scope.recv_into(HALO, to)?;
                scope.send(&self.other, HALO, &edge)?;
                Ok(())
            })?;
            self.grid.step(inner.clone());
            self.measured.push(self.grid.measure(step, last / 2));
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    if options.second { second(&options) } else { first(&options) }
}

fn halves(options: &Options) -> [(usize, usize); 2] {
    let columns = options.columns as usize;
    [(0, columns / 2), (columns / 2, columns - columns / 2)]
}

fn half(options: &Options, worker: Worker<Single>, address: &str) -> Result<Half> {
    let bytes: Option<Vec<u8>> = (0..address.len() / 2)
        .map(|at| u8::from_str_radix(address.get(2 * at..2 * at + 2)?, 16).ok())
        .collect();
    let other = worker.connect(&WorkerAddress::from_bytes(&bytes.context("no address")?)?)?;
    let (first, columns) = halves(options)[usize::from(options.second)];
    let grid = Grid::new(options.rows as usize, columns, first);
    Ok(Half { worker, other, grid, measured: Vec::new() })
}

fn address(worker: &Worker<Single>) -> Result<String> {
    let mut hex = String::new();
    for byte in worker.address()?.to_bytes() {
        write!(hex, "{byte:02x}")?;
    }
    Ok(hex)
}

fn second(options: &Options) -> Result<()> {
    let worker = Context::new()?.worker()?;
    println!("{}", address(&worker)?);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let mut half = half(options, worker, line.trim())?;
    half.run(options)?;
    // Without the columns of the other half.
    let inner = inner(&half.grid)?;
    half.other.send(HALF, Elements::of(&inner, bytes_of(&half.grid.values), 1)?)?;
    half.other.send(MEASURED, &half.measured)?;
    half.other.close()?;
    Ok(())
}

/// The columns of a half, without those at its sides.
fn inner(grid: &Grid) -> Result<Committed> {
    let (rows, columns) = (grid.rows as u64, grid.columns as u64);
    let value = Type::basic(Basic::F64);
    let ty = Type::subarray(&[rows, columns + 2], &[rows, columns], &[0, 1], Order::C, &value)?;
    Ok(ty.commit())
}

fn first(options: &Options) -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).arg("--second");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let worker = Context::new()?.worker()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("its output")?).read_line(&mut line)?;
    writeln!(child.stdin.take().context("its input")?, "{}", address(&worker)?)?;
    let mut half = half(options, worker, line.trim())?;
    half.run(options)?;

    // The other half goes to its columns of the whole grid.
    let (rows, columns) = (options.rows as usize, options.columns as usize);
    let mut whole = Grid::new(rows, columns, 0);
    let width = columns as i64 + 2;
    for (index, (at, count)) in halves(options).into_iter().enumerate() {
        let value = Type::basic(Basic::F64);
        let part = Type::vector(rows as u64, count as u64, width, &value)?.commit();
        let to = BufferMut::new(bytes_of_mut(&mut whole.values)).origin(8 * (at as i64 + 1));
        if index == 0 {
            let packed = inner(&half.grid)?.pack_to_vec(bytes_of(&half.grid.values), 1)?;
            part.unpack(&packed, to, 1)?;
        } else {
            half.worker.recv_into(HALF, ElementsMut::of(&part, to, 1)?)?;
        }
    }
    let (measured, message) = half.worker.recv::<Measured>(MEASURED)?;
    ensure!(child.wait()?.success(), "the second process failed");

    let mut alone = Grid::new(rows, columns, 0);
    let [_, (at, count)] = halves(options);
    let mut expected = Vec::new();
    for step in 0..options.steps {
        alone.step(2..=columns - 1);
        expected.push(alone.measure(step, at + count / 2));
    }
    let inner = inner(&whole)?;
    let [found, right] = [&whole, &alone].map(|grid| inner.pack_to_vec(bytes_of(&grid.values), 1));
    ensure!(found? == right?, "the grid differs from the one computed alone");
    ensure!(measured == expected, "the probes measured something else");
    println!(
        "{rows} x {columns}, {} steps in two processes: the same as alone; {} measurements in {} bytes",
        options.steps,
        measured.len(),
        message.length
    );
    Ok(())
}
