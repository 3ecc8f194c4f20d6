//! Two ranks that send each other the same, and everyone's turns at it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dtype_benches::figures::lower_decile;
use mpi::Rank;
use mpi::topology::{Process, SimpleCommunicator};
use mpi::traits::{
    Buffer, BufferMut, Communicator, CommunicatorCollectives, Destination, Root, Source,
};

/// One end of it.
pub(crate) struct Link<'c> {
    world: &'c SimpleCommunicator,
    peer: Process<'c>,
}

impl<'c> Link<'c> {
    pub(crate) fn new(world: &'c SimpleCommunicator) -> Self {
        Self {
            world,
            peer: world.process_at_rank(Rank::from(world.rank() == 0 && world.size() > 1)),
        }
    }

    pub(crate) fn ranks(&self) -> Rank {
        self.world.size()
    }

    /// Whether this end has the clock.
    pub(crate) fn is_first(&self) -> bool {
        self.world.rank() == 0
    }

    pub(crate) fn peer(&self) -> &Process<'c> {
        &self.peer
    }

    /// Sends and receives so many times, and the other end receives and sends.
    pub(crate) fn rally(
        &self,
        times: u64,
        mut send: impl FnMut() -> Result<()>,
        mut receive: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        for _ in 0..times {
            if self.is_first() {
                send()?;
                receive()?;
            } else {
                receive()?;
                send()?;
            }
        }
        Ok(())
    }

    /// Sends and receives by the library alone, as often.
    pub(crate) fn rally_as_is(
        &self,
        times: u64,
        out: &(impl Buffer + ?Sized),
        into: &mut (impl BufferMut + ?Sized),
    ) -> Result<()> {
        self.rally(
            times,
            || {
                self.peer.send(out);
                Ok(())
            },
            || {
                self.peer.receive_into(into);
                Ok(())
            },
        )
    }

    /// What the first end says.
    fn heard(&self, mut number: u64) -> u64 {
        self.world.process_at_rank(0).broadcast_into(&mut number);
        number
    }
}

/// What goes to and fro.
pub(crate) trait Stage {
    /// Forgets what has come.
    fn clear(&mut self);

    /// Whether all has come to its place, or, if nobody unpacks it, as packed; and nothing else was written.
    fn check(&self, unpacked: bool) -> Result<()>;
}

/// One way to do it.
pub(crate) struct Way<S> {
    pub(crate) name: &'static str,
    /// There and back, so many times.
    pub(crate) exchange: fn(&mut S, &Link<'_>, u64) -> Result<()>,
}

/// One kind of message, and everyone's times: nanoseconds for one message, round by round.
pub(crate) struct Row {
    pub(crate) group: String,
    pub(crate) name: String,
    /// Packed.
    pub(crate) bytes: u64,
    pub(crate) columns: Vec<(&'static str, Vec<f64>)>,
}

impl Row {
    pub(crate) fn times(&self, name: &str) -> Option<&[f64]> {
        let column = self.columns.iter().find(|(column, _)| *column == name)?;
        Some(&column.1)
    }

    /// The time of [`who::DTYPE`] over another's. On a machine that others use one of the two ranks is interrupted in
    /// every other round, which makes it longer and never shorter; a tenth of the rounds are left alone.
    pub(crate) fn ratio(&self, other: &str) -> Option<f64> {
        let time = |name| self.times(name).map(|times| lower_decile(times.to_vec()));
        Some(time(who::DTYPE)? / time(other)?)
    }
}

pub(crate) struct Bench<'c> {
    link: &'c Link<'c>,
    rounds: usize,
    /// About how long one turn takes.
    sample: Duration,
    only: &'c str,
    pub(crate) rows: Vec<Row>,
}

impl<'c> Bench<'c> {
    pub(crate) fn new(link: &'c Link<'c>, rounds: usize, sample: Duration, only: &'c str) -> Self {
        Self { link, rounds, sample, only, rows: Vec::new() }
    }

    /// Lets all ways take turns, after each has shown that it works. Whoever comes first in a round changes.
    #[allow(clippy::cast_precision_loss, reason = "numbers of messages")]
    pub(crate) fn row<S: Stage>(
        &mut self,
        group: &str,
        name: String,
        bytes: usize,
        stage: &mut S,
        ways: &[Way<S>],
    ) -> Result<()> {
        if !name.contains(self.only) {
            return Ok(());
        }
        let mut repetitions = Vec::new();
        for way in ways {
            stage.clear();
            let done = (way.exchange)(stage, self.link, 1);
            done.and_then(|()| stage.check(way.name != who::BYTES))
                .with_context(|| format!("{name}, {}", way.name))?;
            repetitions.push(self.calibrate(stage, way)?);
        }
        let mut columns: Vec<(&str, Vec<f64>)> =
            ways.iter().map(|way| (way.name, Vec::new())).collect();
        for round in 0..self.rounds {
            for turn in 0..ways.len() {
                let one = (round + turn) % ways.len();
                let took = self.time(stage, &ways[one], repetitions[one])?;
                let messages = 2.0 * repetitions[one] as f64;
                columns[one].1.push(took.as_secs_f64() * 1e9 / messages);
            }
        }
        self.rows.push(Row { group: group.to_owned(), name, bytes: bytes as u64, columns });
        Ok(())
    }

    /// How many repetitions make a sample; the first end decides.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers of messages in milliseconds"
    )]
    fn calibrate<S>(&self, stage: &mut S, way: &Way<S>) -> Result<u64> {
        let mut times = 1;
        loop {
            // Whoever is interrupted takes longer, and more rounds of fewer messages would follow from that.
            let mut took = Duration::MAX;
            for _ in 0..ATTEMPTS {
                took = took.min(self.time(stage, way, times)?);
            }
            let enough = took * 4 >= self.sample * 3;
            if self.link.heard(enough.into()) == 1 {
                return Ok(times);
            }
            let factor = (self.sample.as_secs_f64() / took.as_secs_f64()).clamp(1.5, 8.0);
            times = self.link.heard((times as f64 * factor).ceil() as u64);
        }
    }

    /// How long it takes at this end, after some exchanges that are not timed.
    fn time<S>(&self, stage: &mut S, way: &Way<S>, times: u64) -> Result<Duration> {
        self.link.world.barrier();
        (way.exchange)(stage, self.link, times.div_ceil(8))?;
        let start = Instant::now();
        (way.exchange)(stage, self.link, times)?;
        Ok(start.elapsed())
    }
}

/// Tries of each number of repetitions.
const ATTEMPTS: usize = 4;

/// The columns.
pub(crate) mod who {
    /// As one message that is packed here.
    pub(crate) const DTYPE: &str = "dtype";
    /// The same, received without a look at its length first.
    pub(crate) const POSTED: &str = "posted";
    /// In chunks that are packed here.
    pub(crate) const PIPELINE: &str = "pipeline";
    /// By the library, with its datatype.
    pub(crate) const LIBRARY: &str = "library";
    /// By a loop into a buffer that is there already, which is sent.
    pub(crate) const LOOP: &str = "loop";
    /// As many bytes, which nobody packs.
    pub(crate) const BYTES: &str = "bytes";
}

/// Messages of more bytes are also sent in chunks.
pub(crate) const LONG: usize = 1 << 17;
