//! Runs the requests of `dtype-versus`, which it reads from standard input, with the MPI library that it is linked
//! to.
//!
//! `dtype_benches::peer` has the requests and the answers. `dtype-versus` builds and starts this program.

#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "calls the MPI library")]
mod calls;
#[expect(unsafe_code, reason = "calls functions that Open MPI exports")]
mod convertor;
#[expect(unsafe_code, reason = "lends memory and a datatype to MPI")]
mod layout;
#[expect(unsafe_code, reason = "reads records of packed bytes")]
mod records;

use std::io::{self, BufReader};

use anyhow::{Context, Result, bail};
use calls::Calls;
use dtype_benches::Shape;
use dtype_benches::peer::{Reply, Request, Work, receive, send};
use dtype_benches::turns::time_warm;
use dtype_runtime::Type;
use layout::Layout;
use mpi::topology::SimpleCommunicator;
use records::{Records, Series};

fn main() -> Result<()> {
    // Alive until the end: MPI is finalized with it.
    let universe = mpi::initialize().context("nothing else has initialised MPI")?;
    let mut peer = Peer { world: universe.world(), layout: None, records: None, calls: None };
    let (mut requests, mut replies) = (BufReader::new(io::stdin()), io::stdout());
    while let Some(request) = receive(&mut requests)? {
        let reply =
            peer.answer(request).unwrap_or_else(|error| Reply::Failed(format!("{error:#}")));
        send(&mut replies, &reply)?;
    }
    Ok(())
}

/// What the requests have prepared.
struct Peer {
    world: SimpleCommunicator,
    layout: Option<Layout>,
    records: Option<Box<dyn Series>>,
    calls: Option<Calls>,
}

impl Peer {
    fn answer(&mut self, request: Request) -> Result<Reply> {
        Ok(match request {
            Request::Name => Reply::Name(name()?),
            Request::Layout { ty, count, origin, length } => {
                // Frees the memory of the previous layout, which may be large.
                self.layout = None;
                let ty = Type::unmarshal(&ty)?;
                let layout = self.layout.insert(Layout::new(&ty, count, origin, length)?);
                Reply::Bytes(layout.packed().to_vec())
            }
            Request::Unpack => Reply::Fingerprint(layout(&mut self.layout)?.unpack_over()?),
            Request::Records { shape, packed } => {
                self.records = None;
                let series = self.records.insert(series(&shape, &packed, &self.world)?);
                Reply::Bytes(series.encode())
            }
            Request::Decode => Reply::Bytes(records(&mut self.records)?.decode()),
            Request::Calls { ty } => {
                let calls = self.calls.insert(Calls::of(&Type::unmarshal(&ty)?)?);
                Reply::Size(calls.size()?)
            }
            Request::Pieces { .. } => bail!("MPI has no call that lists pieces"),
            Request::Time { work, repetitions } => {
                let time = match work {
                    Work::Pack => layout(&mut self.layout)?.time_packing(repetitions),
                    Work::Unpack => layout(&mut self.layout)?.time_unpacking(repetitions),
                    Work::PackFragments => {
                        layout(&mut self.layout)?.time_packing_fragments(repetitions)?
                    }
                    Work::UnpackFragments => {
                        layout(&mut self.layout)?.time_unpacking_fragments(repetitions)?
                    }
                    Work::Encode => records(&mut self.records)?.time_encoding(repetitions),
                    Work::Decode => records(&mut self.records)?.time_decoding(repetitions),
                    Work::Create => {
                        let calls = self.calls.as_mut().context("no calls were prepared")?;
                        time_warm(repetitions, || calls.make_and_free())
                    }
                    Work::List | Work::ListInWindows => bail!("MPI has no call for {work:?}"),
                };
                Reply::Time(u64::try_from(time.as_nanos())?)
            }
        })
    }
}

fn layout(prepared: &mut Option<Layout>) -> Result<&mut Layout> {
    prepared.as_mut().context("no layout was prepared")
}

fn records(prepared: &mut Option<Box<dyn Series>>) -> Result<&mut Box<dyn Series>> {
    prepared.as_mut().context("no records were prepared")
}

/// The records of a shape, by the shape's name.
fn series(shape: &str, packed: &[u8], world: &SimpleCommunicator) -> Result<Box<dyn Series>> {
    Ok(match shape {
        records::Tail::NAME => Box::new(Records::<records::Tail>::new(packed, world)?),
        records::Hole::NAME => Box::new(Records::<records::Hole>::new(packed, world)?),
        records::Small::NAME => Box::new(Records::<records::Small>::new(packed, world)?),
        records::Body::NAME => Box::new(Records::<records::Body>::new(packed, world)?),
        records::Mixed::NAME => Box::new(Records::<records::Mixed>::new(packed, world)?),
        records::Scattered::NAME => Box::new(Records::<records::Scattered>::new(packed, world)?),
        records::Nested::NAME => Box::new(Records::<records::Nested>::new(packed, world)?),
        other => bail!("no shape is {other}"),
    })
}

/// The library's name for itself, in one line.
fn name() -> Result<String> {
    let version = mpi::environment::library_version()?;
    let line = version.lines().next().unwrap_or_default();
    let line = line.split_once(", package").map_or(line, |(name, _)| name);
    let words: Vec<&str> = line.trim_end_matches('\0').split_whitespace().collect();
    Ok(words.join(" "))
}
