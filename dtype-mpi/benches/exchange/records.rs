//! Arrays of structs.

use anyhow::{Result, ensure};
use dtype_benches::{Hole, Nested, Shape, Tail};
use dtype_mpi::traits::{PackedDestination, PackedSource};
use dtype_mpi::{Pipeline, ReceiveBuffer, SendBuffer};
use mpi::traits::{Destination, Source};

use crate::rounds::{Bench, LONG, Link, Stage, Way, who};

/// Records of one message.
pub(crate) const COUNTS: [usize; 4] = [1, 16, 1000, 65_536];

/// The section for which means are computed.
pub(crate) fn group(count: usize) -> String {
    format!("structs × {count}")
}

pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    for count in COUNTS {
        row::<Tail>(bench, count)?;
        row::<Hole>(bench, count)?;
        row::<Nested>(bench, count)?;
    }
    Ok(())
}

fn row<T: Shape>(bench: &mut Bench<'_>, count: usize) -> Result<()> {
    let source: Vec<T> = (0..count).map(T::sample).collect();
    let packed = dtype_runtime::pack(&source);
    let mut by_hand = vec![0; packed.len()];
    T::pack_by_hand(&source, &mut by_hand);
    ensure!(packed == by_hand, "{}: a loop packs other bytes", T::NAME);
    let bytes = packed.len();
    let arrived = vec![T::default(); count];
    let mut stage = Records { source, arrived, packed, came: vec![0; bytes] };
    let mut ways = vec![
        Way { name: who::DTYPE, exchange: Records::here },
        Way { name: who::POSTED, exchange: Records::posted },
        Way { name: who::LIBRARY, exchange: Records::library },
        Way { name: who::LOOP, exchange: Records::by_hand },
        Way { name: who::BYTES, exchange: Records::bytes },
    ];
    if bytes > LONG {
        ways.push(Way { name: who::PIPELINE, exchange: Records::pipeline });
    }
    bench.row(&group(count), format!("{{{}}} × {count}", T::NAME), bytes, &mut stage, &ways)
}

struct Records<T> {
    source: Vec<T>,
    arrived: Vec<T>,
    /// The output of the packing loop.
    packed: Vec<u8>,
    /// The output of the unpacking loop.
    came: Vec<u8>,
}

impl<T: Shape> Stage for Records<T> {
    fn clear(&mut self) {
        self.arrived.fill(T::default());
        self.came.fill(0);
    }

    fn check(&self, unpacked: bool) -> Result<()> {
        let good = if unpacked { self.arrived == self.source } else { self.came == self.packed };
        ensure!(good, "other records came");
        Ok(())
    }
}

impl<T: Shape> Records<T> {
    fn here(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        link.rally(
            times,
            || Ok(link.peer().send_packed(&self.source, 0)?),
            || Ok(link.peer().recv_packed_into(&mut self.arrived, 0).map(drop)?),
        )
    }

    fn posted(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        link.rally(
            times,
            || Ok(link.peer().send_packed(&self.source, 0)?),
            || {
                let request = link.peer().immediate_recv_packed_into(&mut self.arrived, 0)?;
                Ok(request.wait().map(drop)?)
            },
        )
    }

    fn pipeline(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        let pipeline = Pipeline::default();
        link.rally(
            times,
            || Ok(pipeline.send(link.peer(), &self.source, 0)?),
            || Ok(pipeline.recv_into(link.peer(), &mut self.arrived, 0).map(drop)?),
        )
    }

    fn library(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        let out = SendBuffer::new(&self.source)?;
        let mut into = ReceiveBuffer::new(&mut self.arrived)?;
        link.rally_as_is(times, &out, &mut into)
    }

    fn by_hand(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        link.rally(
            times,
            || {
                T::pack_by_hand(&self.source, &mut self.packed);
                link.peer().send(&self.packed[..]);
                Ok(())
            },
            || {
                link.peer().receive_into(&mut self.came[..]);
                T::unpack_by_hand(&self.came, &mut self.arrived);
                Ok(())
            },
        )
    }

    fn bytes(&mut self, link: &Link<'_>, times: u64) -> Result<()> {
        link.rally_as_is(times, &self.packed[..], &mut self.came[..])
    }
}
