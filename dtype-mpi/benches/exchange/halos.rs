//! Rows, columns and faces of grids, from the outermost cells of one grid to the rim of another.

use anyhow::{Context, Result, ensure};
use dtype_mpi::traits::{PackedDestination, PackedSource};
use dtype_mpi::{Layout, Pipeline, ReceiveBuffer, SendBuffer};
use dtype_runtime::{Datatype, Order, Type};
use mpi::traits::{Destination, Equivalence, Source};

use crate::rounds::{Bench, LONG, Link, Stage, Way, who};

/// The section.
pub(crate) const GROUP: &str = "halos";

/// The element types of grids.
trait Cell: Datatype + Equivalence + Copy + PartialEq + From<u16> + 'static {}

impl<E: Datatype + Equivalence + Copy + PartialEq + From<u16> + 'static> Cell for E {}

pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    for edge in [64, 512, 2048] {
        let all = [1, edge + 2, edge + 2];
        let name = |what: &str| format!("{what} of {edge}×{edge} f64");
        row::<f64>(
            bench,
            name("row"),
            Part { all, size: [1, 1, edge], from: [0, 1, 1], to: [0, edge + 1, 1] },
        )?;
        row::<f64>(
            bench,
            name("column"),
            Part { all, size: [1, edge, 1], from: [0, 1, 1], to: [0, 1, edge + 1] },
        )?;
    }
    // As in DDTBench's NAS_MG, whose grids have their halo in them.
    for [x, y, z] in [[34, 18, 18], [130, 66, 66], [258, 130, 130]] {
        let (all, name) = ([z, y, x], |face: &str| format!("NAS_MG {face} {x}×{y}×{z} f64"));
        let from = [1; 3];
        row::<f64>(
            bench,
            name("x"),
            Part { all, size: [z - 2, y - 2, 1], from, to: [1, 1, x - 1] },
        )?;
        row::<f64>(
            bench,
            name("y"),
            Part { all, size: [z - 2, 1, x - 2], from, to: [1, y - 1, 1] },
        )?;
        row::<f64>(
            bench,
            name("z"),
            Part { all, size: [1, y - 2, x - 2], from, to: [z - 1, 1, 1] },
        )?;
    }
    // As one array of DDTBench's WRF, of x, levels, and y, which runs slowest; three cells deep.
    let all = [52, 65, 32];
    let x = Part { all, size: [44, 65, 3], from: [4, 0, 5], to: [4, 0, 29] };
    row::<f32>(bench, "WRF x 3×65×44/32×65×52 f32".into(), x)?;
    let y = Part { all, size: [3, 65, 23], from: [5, 0, 5], to: [49, 0, 5] };
    row::<f32>(bench, "WRF y 23×65×3/32×65×52 f32".into(), y)
}

/// A part of a grid, and its destination in the grid; the last index runs fastest.
struct Part {
    all: [usize; 3],
    size: [usize; 3],
    from: [usize; 3],
    to: [usize; 3],
}

impl Part {
    fn layout<E: Cell>(&self, starts: [usize; 3]) -> Result<Layout> {
        let [all, size, starts] =
            [self.all, self.size, starts].map(|lengths| lengths.map(|length| length as u64));
        Ok(Layout::new(&Type::subarray(&all, &size, &starts, Order::C, &Type::of::<E>())?)?)
    }

    /// The start of each of the part's rows.
    fn rows(&self, [z, y, x]: [usize; 3]) -> impl Iterator<Item = usize> + use<> {
        let ([_, height, width], [planes, rows, _]) = (self.all, self.size);
        (z..z + planes).flat_map(move |z| (y..y + rows).map(move |y| (z * height + y) * width + x))
    }

    /// The loop that a programmer would write.
    fn pack<E: Cell>(&self, grid: &[E], out: &mut [E]) {
        let length = self.size[2];
        if length == 1 {
            for (out, row) in out.iter_mut().zip(self.rows(self.from)) {
                *out = grid[row];
            }
            return;
        }
        for (out, row) in out.chunks_exact_mut(length).zip(self.rows(self.from)) {
            out.copy_from_slice(&grid[row..row + length]);
        }
    }

    fn unpack<E: Cell>(&self, packed: &[E], grid: &mut [E]) {
        let length = self.size[2];
        if length == 1 {
            for (&packed, row) in packed.iter().zip(self.rows(self.to)) {
                grid[row] = packed;
            }
            return;
        }
        for (packed, row) in packed.chunks_exact(length).zip(self.rows(self.to)) {
            grid[row..row + length].copy_from_slice(packed);
        }
    }
}

fn row<E: Cell>(bench: &mut Bench<'_>, name: String, part: Part) -> Result<()> {
    let cells: usize = part.all.iter().product();
    let number = |i: usize| u16::try_from(1 + i % 65_521).map(E::from);
    let source = (0..cells).map(number).collect::<Result<Vec<E>, _>>()?;
    let mut expected = vec![E::from(0); cells];
    let mut packed = vec![E::from(0); part.size.iter().product()];
    part.pack(&source, &mut packed);
    part.unpack(&packed, &mut expected);
    let (sent, received) = (part.layout::<E>(part.from)?, part.layout::<E>(part.to)?);
    let mut bytes = vec![0; size_of_val(&packed[..])];
    let written = sent.packer(&source, 0, 1)?.pack(&mut bytes);
    let same = written == bytes.len() && bytes == dtype_runtime::pack(&packed);
    ensure!(same, "{name}: a loop packs other bytes");
    let (arrived, came) = (vec![E::from(0); cells], packed.clone());
    let mut stage = Halo { part, sent, received, source, arrived, expected, packed, came };
    let mut ways = vec![
        Way { name: who::DTYPE, exchange: Halo::here },
        Way { name: who::LIBRARY, exchange: Halo::library },
        Way { name: who::LOOP, exchange: Halo::by_hand },
        Way { name: who::BYTES, exchange: Halo::bytes },
    ];
    if bytes.len() > LONG {
        ways.push(Way { name: who::PIPELINE, exchange: Halo::pipeline });
    }
    bench.row(GROUP, name, bytes.len(), &mut stage, &ways)
}

struct Halo<E> {
    part: Part,
    sent: Layout,
    received: Layout,
    source: Vec<E>,
    arrived: Vec<E>,
    /// The expected cells.
    expected: Vec<E>,
    /// The output of the packing loop.
    packed: Vec<E>,
    /// The output of the unpacking loop.
    came: Vec<E>,
}

impl<E: Cell> Stage for Halo<E> {
    fn clear(&mut self) {
        self.arrived.fill(E::from(0));
        self.came.fill(E::from(0));
    }

    fn check(&self, unpacked: bool) -> Result<()> {
        let good = if unpacked { self.arrived == self.expected } else { self.came == self.packed };
        ensure!(good, "other cells came");
        Ok(())
    }
}

impl<E: Cell> Halo<E> {
    fn here(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        link.rally(
            times,
            || Ok(link.peer().send_layout(&self.sent, &self.source, 0, 1, 0)?),
            || {
                let peer = link.peer();
                let received = peer.recv_layout(&self.received, &mut self.arrived, 0, 1, 0)?;
                (received.count == size_of_val(&self.packed[..]))
                    .then_some(())
                    .context("a part came")
            },
        )
    }

    fn pipeline(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        let pipeline = Pipeline::default();
        link.rally(
            times,
            || {
                let out = self.sent.packer(&self.source, 0, 1)?;
                Ok(pipeline.send_stream(link.peer(), out, 0)?)
            },
            || {
                let mut into = self.received.unpacker(&mut self.arrived, 0, 1)?;
                pipeline.recv_stream(link.peer(), &mut into, 0)?;
                into.is_complete().then_some(()).context("a part came")
            },
        )
    }

    fn library(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        let out = SendBuffer::from_layout(&self.sent, &self.source, 0, 1)?;
        let mut into = ReceiveBuffer::from_layout(&self.received, &mut self.arrived, 0, 1)?;
        link.rally_as_is(times, &out, &mut into)
    }

    fn by_hand(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        link.rally(
            times,
            || {
                self.part.pack(&self.source, &mut self.packed);
                link.peer().send(&self.packed[..]);
                Ok(())
            },
            || {
                link.peer().receive_into(&mut self.came[..]);
                self.part.unpack(&self.came, &mut self.arrived);
                Ok(())
            },
        )
    }

    fn bytes(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        link.rally_as_is(times, &self.packed[..], &mut self.came[..])
    }
}
