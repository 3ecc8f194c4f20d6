//! Two processes diffuse heat in one grid, and gather what their probes measured. This process starts itself again as the
//! other one.
//!
//! ```console
//! cargo run --release -p dtype-ucx --example halo -- --rows 400 --columns 300 --steps 500
//! ```
//!
//! Each process has half of the columns. After each step it sends the column at the cut, and receives the one of the other
//! half: a column is a `Type`, and the grid is sent from and received into as it is. Then they do everything again with grids
//! in registered memory, where each puts its column into the grid of the other, and compare. At the end the second process
//! sends its half, and what its probes measured as structs. The first one computes everything again alone, and compares.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::ops::RangeInclusive;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use dtype_runtime::types::Order;
use dtype_runtime::{Basic, Buffer, BufferMut, Committed, Datatype, Type, bytes_of, bytes_of_mut};
use dtype_ucx::{
    Context, Elements, ElementsMut, Endpoint, MemoryKey, Single, Worker, WorkerAddress,
};

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
const KEY: u64 = 4;
const READY: u64 = 5;

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
    fn step(&mut self, inner: RangeInclusive<usize>) {
        let before = self.values.clone();
        for (at, value) in self.after(&before, inner) {
            self.values[at] = value;
        }
    }

    /// The values after a step, and their indices.
    fn after<'a>(
        &self,
        before: &'a [f64],
        inner: RangeInclusive<usize>,
    ) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let (rows, width) = (self.rows, self.columns + 2);
        let cells = (1..rows - 1)
            .flat_map(move |row| inner.clone().map(move |column| row * width + column));
        cells.map(move |at| {
            let around = before[at - 1] + before[at + 1] + before[at - width] + before[at + width];
            (at, 0.5 * before[at] + 0.125 * around)
        })
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
    /// The columns at the cut: the one to send, the one to receive, and those that a step changes.
    fn columns(&self, options: &Options) -> (usize, usize, RangeInclusive<usize>) {
        let last = self.grid.columns;
        if options.second { (1, 0, 1..=last - 1) } else { (last, last + 1, 2..=last) }
    }

    fn run(&mut self, options: &Options) -> Result<()> {
        let column = self.grid.column()?;
        let last = self.grid.columns;
        let (send, receive, inner) = self.columns(options);
        for step in 0..options.steps {
            // The outgoing column is a copy, because the grid is received into at the same time.
            let origin = |column: usize| (8 * column) as i64;
            let from = Buffer::new(bytes_of(&self.grid.values)).origin(origin(send));
            let edge = column.pack_to_vec(from, 1)?;
            let to = BufferMut::new(bytes_of_mut(&mut self.grid.values)).origin(origin(receive));
            let to = ElementsMut::new(&column, to, 1)?;
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

    /// Does the same with strided puts, from the grid at the start, and compares.
    fn run_by_puts(&self, options: &Options, context: &Context, start: &Grid) -> Result<()> {
        let (send, receive, inner) = self.columns(options);
        let (rows, cells) = (start.rows, start.values.len());
        let memory = context.register(&start.values)?;
        // The other half may have another width.
        // Where the memory cannot be mapped, a column is one message that the worker unpacks.
        let key = self.worker.serve(&memory)?.to_bytes();
        let mut theirs = Vec::new();
        self.worker.scope(|scope| {
            scope.send(&self.other, KEY, &key)?;
            theirs = self.worker.recv(KEY)?.0;
            Ok(())
        })?;
        // SAFETY: the other half, which is this program, has sent the bytes of its key.
        let theirs = unsafe { MemoryKey::from_bytes(&theirs)? };
        let theirs = self.other.remote_memory::<f64>(&theirs)?;
        ensure!(theirs.len().is_multiple_of(rows), "the other half has other rows");
        let width = theirs.len() / rows;
        let column = start.column()?;
        let halo = Type::vector(rows as u64, 1, width as i64, &Type::basic(Basic::F64))?.commit();
        let at = if options.second { width - 1 } else { 0 };
        let halo = theirs.strided(&halo, 8 * at as i64, 1)?;
        for _ in 0..options.steps {
            halo.put(&memory.pack(&column, 8 * send as i64, 1)?)?;
            self.other.flush()?;
            self.meet()?;
            let before = memory.read(0..cells)?;
            // The other one may put the next column from here on.
            self.meet()?;
            for (at, value) in start.after(&before, inner.clone()) {
                memory.set(at, &value)?;
            }
        }
        let after = memory.read(0..cells)?;
        let outer = |at: &usize| at % (start.columns + 2) == receive;
        let same = (0..cells)
            .filter(|at| !outer(at))
            .all(|at| after[at].to_bits() == self.grid.values[at].to_bits());
        ensure!(same, "the exchange by puts has another result than the one by messages");
        Ok(())
    }

    /// Waits until the other one is there, too.
    fn meet(&self) -> Result<()> {
        self.worker.scope(|scope| {
            scope.recv_into(READY, &mut [(); 0])?;
            scope.send(&self.other, READY, &[(); 0])?;
            Ok(())
        })?;
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
    // SAFETY: the other half, which is this program, has written them to this one's pipe.
    let address = unsafe { WorkerAddress::from_bytes(&bytes.context("no address")?)? };
    let other = worker.connect(&address)?;
    let (first, columns) = halves(options)[usize::from(options.second)];
    let grid = Grid::new(options.rows as usize, columns, first);
    Ok(Half { worker, other, grid, measured: Vec::new() })
}

/// By messages, and then by puts.
fn both_ways(half: &mut Half, options: &Options, context: &Context) -> Result<()> {
    let (first, columns) = halves(options)[usize::from(options.second)];
    half.run(options)?;
    let start = Grid::new(options.rows as usize, columns, first);
    half.run_by_puts(options, context, &start)
}

fn address(worker: &Worker<Single>) -> Result<String> {
    let mut hex = String::new();
    for byte in worker.address()?.to_bytes() {
        write!(hex, "{byte:02x}")?;
    }
    Ok(hex)
}

fn second(options: &Options) -> Result<()> {
    let context = Context::new()?;
    let worker = context.worker()?;
    println!("{}", address(&worker)?);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let mut half = half(options, worker, line.trim())?;
    both_ways(&mut half, options, &context)?;
    // Without the columns of the other half.
    let inner = inner(&half.grid)?;
    half.other.send(HALF, Elements::new(&inner, bytes_of(&half.grid.values), 1)?)?;
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
    let context = Context::new()?;
    let worker = context.worker()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("its output")?).read_line(&mut line)?;
    writeln!(child.stdin.take().context("its input")?, "{}", address(&worker)?)?;
    let mut half = half(options, worker, line.trim())?;
    both_ways(&mut half, options, &context)?;

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
            half.worker.recv_into(HALF, ElementsMut::new(&part, to, 1)?)?;
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
        "{rows} x {columns}, {} steps in two processes, by messages and by puts: the same as alone; {} measurements in {} bytes",
        options.steps,
        measured.len(),
        message.length
    );
    Ok(())
}
