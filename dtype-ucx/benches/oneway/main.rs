//! One-way times between two processes: structs, faces of grids and the layouts of `DDTBench` sent as they are, over packing
//! them by hand and sending the bytes; and the same by active messages, and by puts into registered memory. This process
//! starts itself again as the other one.
//!
//! `cargo bench -p dtype-ucx --bench oneway`, with the transports of `UCX_TLS`; `-- --quick` only checks that everything
//! arrives, `-- --only NAS_MG` measures some rows. The two alternate in short rounds, and a ratio is the median over the
//! rounds. It needs two otherwise idle cores.
//!
//! `-- --over openmpi --over mpich` measures the messages over those of MPI libraries instead, which go through UCX, too.

mod active;
mod ddtbench;
mod over;
mod puts;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use dtype_benches::figures::{duration, geometric_mean, lower_decile, ratio};
use dtype_benches::{Hole, Nested, Shape, Tail};
use dtype_runtime::{Committed, Order, Type, bytes_of, bytes_of_mut};
use dtype_ucx::{Context, Elements, ElementsMut, Endpoint, Single, Worker, WorkerAddress};

#[derive(Parser, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
struct Arguments {
    /// Three short rounds: whether it works, not how fast it is.
    #[arg(long, alias = "test")]
    quick: bool,
    /// Only the rows whose name has this in it.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Compare with the datatypes of an MPI library, alternately; may be given twice.
    #[arg(long, value_name = "LIBRARY")]
    over: Vec<over::Library>,
    /// Print only name, bytes and nanoseconds of messages: what the comparison reads.
    #[arg(long, hide = true)]
    lines: bool,
    /// Started by the first process.
    #[arg(long, hide = true)]
    second: bool,
    /// What cargo says to all benches.
    #[arg(long, hide = true)]
    bench: bool,
}

const TAG: u64 = 1;

/// One of the two processes.
struct Side {
    context: Context,
    worker: Worker<Single>,
    peer: Endpoint<Single>,
    arguments: Arguments,
    /// The ratios of the section.
    ratios: RefCell<Vec<f64>>,
}

/// What one process does with its data to send a message, and to receive one.
trait Row {
    fn send(&mut self, side: &Side) -> Result<()>;
    fn receive(&mut self, side: &Side) -> Result<()>;
    fn send_by_hand(&mut self, side: &Side) -> Result<()>;
    fn receive_by_hand(&mut self, side: &Side) -> Result<()>;
    /// Fails if other data came than expected, and clears them.
    fn check(&mut self) -> Result<()>;
    /// Bytes of the message.
    fn size(&self) -> usize;
}

type Step<R> = fn(&mut R, &Side) -> Result<()>;

impl Side {
    /// Nanoseconds of one message, half of a round trip.
    fn rally<R>(&self, row: &mut R, times: u32, send: Step<R>, receive: Step<R>) -> Result<f64> {
        let start = Instant::now();
        for _ in 0..times {
            if self.arguments.second {
                receive(row, self)?;
                send(row, self)?;
            } else {
                send(row, self)?;
                receive(row, self)?;
            }
        }
        Ok(start.elapsed().as_secs_f64() * 1e9 / f64::from(2 * times))
    }

    /// Checks what has come, on both sides before either continues: a put changes the memory of the other one.
    fn check<R: Row>(&self, row: &mut R) -> Result<()> {
        row.check()?;
        let [send, receive]: [Step<()>; 2] = [
            |(), side| Ok(side.peer.send(TAG, &[(); 0])?),
            |(), side| {
                side.worker.recv_into(TAG, &mut [(); 0])?;
                Ok(())
            },
        ];
        self.rally(&mut (), 1, send, receive).map(drop)
    }

    fn measure<R: Row>(&self, name: &str, mut row: R) -> Result<()> {
        if !name.contains(&self.arguments.only) {
            return Ok(());
        }
        // So many that one direction takes about a millisecond. Both processes compute the same number.
        let times = u32::try_from(2_000_000 / (row.size() + 1000)).unwrap_or(1).clamp(2, 1000);
        let lines = self.arguments.lines;
        let (rounds, times) = match (self.arguments.quick, lines) {
            (true, _) => (3, 2),
            (false, true) => (11, times),
            (false, false) => (101, times),
        };
        let (mut ours, mut by_hand) = (Vec::new(), Vec::new());
        for round in 0..=rounds {
            let one = self.rally(&mut row, times, R::send, R::receive)?;
            if round == 0 {
                self.check(&mut row).context(name.to_owned())?;
            }
            if lines {
                ours.push(one);
                continue;
            }
            let other = self.rally(&mut row, times, R::send_by_hand, R::receive_by_hand)?;
            // The first round is for the caches and the connection.
            if round > 0 {
                ours.push(one);
                by_hand.push(other);
            } else {
                self.check(&mut row).context(name.to_owned())?;
            }
        }
        if lines {
            let fastest = ours.into_iter().fold(f64::INFINITY, f64::min);
            if !self.arguments.second {
                println!("{name}\t{}\t{fastest}", row.size());
            }
            return Ok(());
        }
        if self.arguments.quick {
            if !self.arguments.second {
                println!("{name}: arrived");
            }
            return Ok(());
        }
        let ratio = ratio(&ours, &by_hand);
        self.ratios.borrow_mut().push(ratio);
        if !self.arguments.second {
            let (size, ours, by_hand) = (row.size(), lower_decile(ours), lower_decile(by_hand));
            println!(
                "{name:<48} {size:>9}  {:>9}  {:>9}  {ratio:.2}",
                duration(ours),
                duration(by_hand)
            );
        }
        Ok(())
    }

    fn section(&self, name: &str) {
        let mean = geometric_mean(self.ratios.take());
        if let (Some(mean), false) = (mean, self.arguments.second) {
            println!("{name:<48} {:>9}  {:>9}  {:>9}  {mean:.2}  (geometric mean)\n", "", "", "");
        }
    }
}

/// An array of structs.
struct Records<T> {
    source: Vec<T>,
    arrived: Vec<T>,
    packed: Vec<u8>,
}

impl<T: Shape> Records<T> {
    fn new(count: usize) -> Self {
        let source: Vec<T> = (0..count).map(T::sample).collect();
        let packed = dtype_runtime::pack(&source);
        Self { arrived: vec![T::default(); count], source, packed }
    }
}

impl<T: Shape> Row for Records<T> {
    fn send(&mut self, side: &Side) -> Result<()> {
        Ok(side.peer.send(TAG, &self.source)?)
    }

    fn receive(&mut self, side: &Side) -> Result<()> {
        side.worker.recv_into(TAG, &mut self.arrived)?;
        Ok(())
    }

    fn send_by_hand(&mut self, side: &Side) -> Result<()> {
        T::pack_by_hand(&self.source, &mut self.packed);
        Ok(side.peer.send(TAG, &self.packed)?)
    }

    fn receive_by_hand(&mut self, side: &Side) -> Result<()> {
        side.worker.recv_into(TAG, &mut self.packed)?;
        T::unpack_by_hand(&self.packed, &mut self.arrived);
        Ok(())
    }

    fn check(&mut self) -> Result<()> {
        ensure!(self.arrived == self.source, "other records came");
        self.arrived.fill(T::default());
        Ok(())
    }

    fn size(&self) -> usize {
        self.packed.len()
    }
}

/// A part of a grid, and where it goes in the grid; the last index runs fastest.
struct Face {
    all: [usize; 3],
    size: [usize; 3],
    from: [usize; 3],
    to: [usize; 3],
    sent: Committed,
    received: Committed,
    source: Vec<f64>,
    arrived: Vec<f64>,
    expected: Vec<f64>,
    packed: Vec<f64>,
}

impl Face {
    fn new(all: [usize; 3], size: [usize; 3], from: [usize; 3], to: [usize; 3]) -> Result<Self> {
        let ty = |starts: [usize; 3]| -> Result<Committed> {
            let [all, size, starts] = [all, size, starts].map(|list| list.map(|i| i as u64));
            Ok(Type::subarray(&all, &size, &starts, Order::C, &Type::of::<f64>())?.commit())
        };
        let cells: usize = all.iter().product();
        let value = |i: usize| u16::try_from(i % 65_521).map(|value| f64::from(value) + 1.0);
        let source = (0..cells).map(value).collect::<Result<Vec<f64>, _>>()?;
        let (expected, packed) = (vec![0.0; cells], vec![0.0; size.iter().product()]);
        let (sent, received, arrived) = (ty(from)?, ty(to)?, vec![0.0; cells]);
        let mut face =
            Self { all, size, from, to, sent, received, source, arrived, expected, packed };
        face.pack();
        face.unpack();
        std::mem::swap(&mut face.expected, &mut face.arrived);
        Ok(face)
    }

    /// The first cell of each row of the part.
    fn rows(&self, [z, y, x]: [usize; 3]) -> impl Iterator<Item = usize> + use<> {
        let ([_, height, width], [planes, rows, _]) = (self.all, self.size);
        (z..z + planes).flat_map(move |z| (y..y + rows).map(move |y| (z * height + y) * width + x))
    }

    /// The loop that a programmer would write.
    fn pack(&mut self) {
        let (rows, length) = (self.rows(self.from), self.size[2]);
        if length == 1 {
            for (packed, row) in self.packed.iter_mut().zip(rows) {
                *packed = self.source[row];
            }
        } else {
            for (packed, row) in self.packed.chunks_exact_mut(length).zip(rows) {
                packed.copy_from_slice(&self.source[row..row + length]);
            }
        }
    }

    fn unpack(&mut self) {
        let packed = std::mem::take(&mut self.packed);
        self.unpack_from(&packed);
        self.packed = packed;
    }

    fn unpack_from(&mut self, packed: &[f64]) {
        let (rows, length) = (self.rows(self.to), self.size[2]);
        if length == 1 {
            for (&packed, row) in packed.iter().zip(rows) {
                self.arrived[row] = packed;
            }
        } else {
            for (packed, row) in packed.chunks_exact(length).zip(rows) {
                self.arrived[row..row + length].copy_from_slice(packed);
            }
        }
    }
}

impl Row for Face {
    fn send(&mut self, side: &Side) -> Result<()> {
        let elements = Elements::new(&self.sent, bytes_of(&self.source), 1)?;
        Ok(side.peer.send(TAG, elements)?)
    }

    fn receive(&mut self, side: &Side) -> Result<()> {
        let elements = ElementsMut::new(&self.received, bytes_of_mut(&mut self.arrived), 1)?;
        side.worker.recv_into(TAG, elements)?;
        Ok(())
    }

    fn send_by_hand(&mut self, side: &Side) -> Result<()> {
        self.pack();
        Ok(side.peer.send(TAG, &self.packed)?)
    }

    fn receive_by_hand(&mut self, side: &Side) -> Result<()> {
        side.worker.recv_into(TAG, &mut self.packed)?;
        self.unpack();
        Ok(())
    }

    fn check(&mut self) -> Result<()> {
        ensure!(self.arrived == self.expected, "other cells came");
        self.arrived.fill(0.0);
        Ok(())
    }

    fn size(&self) -> usize {
        size_of_val(&self.packed[..])
    }
}

fn rows(side: &Side) -> Result<()> {
    for count in [1, 16, 1000, 20_000] {
        for_shapes(side, count)?;
        side.section(&format!("structs × {count}"));
    }
    // As in DDTBench's NAS_MG, whose grids have their halo in them.
    for [x, y, z] in [[34, 18, 18], [130, 66, 66], [258, 130, 130]] {
        let (all, from) = ([z, y, x], [1; 3]);
        let name = |face: &str| format!("NAS_MG {face} {x}×{y}×{z} f64");
        side.measure(&name("x"), Face::new(all, [z - 2, y - 2, 1], from, [1, 1, x - 1])?)?;
        side.measure(&name("y"), Face::new(all, [z - 2, 1, x - 2], from, [1, y - 1, 1])?)?;
        side.measure(&name("z"), Face::new(all, [1, y - 2, x - 2], from, [z - 1, 1, 1])?)?;
    }
    side.section("NAS_MG");
    for edge in [64, 512, 2048] {
        let all = [1, edge + 2, edge + 2];
        let name = |what: &str| format!("{what} of {edge}×{edge} f64");
        let row = Face::new(all, [1, 1, edge], [0, 1, 1], [0, edge + 1, 1])?;
        side.measure(&name("row"), row)?;
        let column = Face::new(all, [1, edge, 1], [0, 1, 1], [0, 1, edge + 1])?;
        side.measure(&name("column"), column)?;
    }
    side.section("rows and columns");
    ddtbench::rows(side)?;
    if side.arguments.lines {
        return Ok(());
    }
    active::rows(side)?;
    puts::rows(side)
}

fn for_shapes(side: &Side, count: usize) -> Result<()> {
    side.measure(&format!("{{{}}} × {count}", Tail::NAME), Records::<Tail>::new(count))?;
    side.measure(&format!("{{{}}} × {count}", Hole::NAME), Records::<Hole>::new(count))?;
    side.measure(&format!("{{{}}} × {count}", Nested::NAME), Records::<Nested>::new(count))
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if !arguments.over.is_empty() && !arguments.second {
        return over::run(&arguments.over, arguments.quick);
    }
    let context = Context::new()?;
    let worker: Worker<Single> = context.worker()?;
    let mut address = String::new();
    for byte in worker.address()?.to_bytes() {
        write!(address, "{byte:02x}")?;
    }
    let (mut child, mut line) = (None, String::new());
    if arguments.second {
        println!("{address}");
        std::io::stdin().lock().read_line(&mut line)?;
    } else {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(std::env::args_os().skip(1)).arg("--second");
        let mut second = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        BufReader::new(second.stdout.take().context("its output")?).read_line(&mut line)?;
        writeln!(second.stdin.take().context("its input")?, "{address}")?;
        child = Some(second);
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        if !arguments.lines {
            println!("load average when started: {}", load.trim());
        }
        if !arguments.quick && !arguments.lines {
            println!("{:<48} {:>9}  {:>9}  {:>9}  ratio", "", "bytes", "dtype", "by hand");
        }
    }
    let line = line.trim();
    let bytes: Option<Vec<u8>> = (0..line.len() / 2)
        .map(|at| u8::from_str_radix(line.get(2 * at..2 * at + 2)?, 16).ok())
        .collect();
    let bytes = bytes.context("the peer has no address")?;
    // SAFETY: the other process, which is this program, has printed the bytes of its address.
    let address = unsafe { WorkerAddress::from_bytes(&bytes)? };
    let peer = worker.connect(&address)?;
    let side = Side { context, worker, peer, arguments, ratios: RefCell::default() };
    rows(&side)?;
    side.peer.close()?;
    if let Some(mut child) = child {
        ensure!(child.wait()?.success(), "the second process failed");
    }
    Ok(())
}
