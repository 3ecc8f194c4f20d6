//! Two ranks that send each other the same message, timed for all contenders in rotation.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dtype_benches::figures::lower_decile;
use mpi::Rank;
use mpi::topology::{Process, SimpleCommunicator};
use mpi::traits::{
    Buffer, BufferMut, Communicator, CommunicatorCollectives, Destination, Root, Source,
};

/// One end of the exchange.
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

    /// Whether this end measures the time.
    pub(crate) fn is_first(&self) -> bool {
        self.world.rank() == 0
    }

    pub(crate) fn peer(&self) -> &Process<'c> {
        &self.peer
    }

    /// Sends and receives `times` times, while the other end receives and sends.
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

    /// Sends and receives as often, with the library alone.
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

    /// The number from the first end.
    fn heard(&self, mut number: u64) -> u64 {
        self.world.process_at_rank(0).broadcast_into(&mut number);
        number
    }
}

/// The data that are exchanged.
pub(crate) trait Stage {
    /// Clears the received data.
    fn clear(&mut self);

    /// Checks that all data arrived at their destination, or, if nothing unpacks them, as packed; and that nothing
    /// else was written.
    fn check(&self, unpacked: bool) -> Result<()>;
}

/// One way to exchange them.
pub(crate) struct Way<S> {
    pub(crate) name: &'static str,
    /// Makes the given number of round trips.
    pub(crate) exchange: fn(&mut S, &Link<'_>, u64) -> Result<()>,
}

/// One kind of message, and the times of all contenders: nanoseconds per message, round by round.
pub(crate) struct Row {
    pub(crate) group: String,
    pub(crate) name: String,
    /// The number of packed bytes.
    pub(crate) bytes: u64,
    pub(crate) columns: Vec<(&'static str, Vec<f64>)>,
}

impl Row {
    pub(crate) fn times(&self, name: &str) -> Option<&[f64]> {
        let column = self.columns.iter().find(|(column, _)| *column == name)?;
        Some(&column.1)
    }

    /// One contender's time over another's. On a machine that others use one of the two ranks is interrupted in
    /// every other round, which makes it longer and never shorter; a tenth of the rounds are left alone.
    pub(crate) fn ratio(&self, one: &str, other: &str) -> Option<f64> {
        let time = |name| self.times(name).map(|times| lower_decile(times.to_vec()));
        Some(time(one)? / time(other)?)
    }
}

pub(crate) struct Bench<'c> {
    link: &'c Link<'c>,
    rounds: usize,
    /// The approximate duration of one sample.
    sample: Duration,
    only: &'c str,
    pub(crate) rows: Vec<Row>,
}

impl<'c> Bench<'c> {
    pub(crate) fn new(link: &'c Link<'c>, rounds: usize, sample: Duration, only: &'c str) -> Self {
        Self { link, rounds, sample, only, rows: Vec::new() }
    }

    /// Runs all ways in rotation, after each has shown that it works. The first way differs from round to round.
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

    /// The number of repetitions in a sample; the first end decides.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers of messages in milliseconds"
    )]
    fn calibrate<S>(&self, stage: &mut S, way: &Way<S>) -> Result<u64> {
        let mut times = 1;
        loop {
            // An interruption lengthens the time, which would lead to more rounds of fewer messages.
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

    /// The time at this end, after some exchanges that are not timed.
    fn time<S>(&self, stage: &mut S, way: &Way<S>, times: u64) -> Result<Duration> {
        self.link.world.barrier();
        (way.exchange)(stage, self.link, times.div_ceil(8))?;
        let start = Instant::now();
        (way.exchange)(stage, self.link, times)?;
        Ok(start.elapsed())
    }
}

/// Attempts for each number of repetitions.
const ATTEMPTS: usize = 4;

/// The columns.
pub(crate) mod who {
    /// As one message that dtype packs.
    pub(crate) const DTYPE: &str = "dtype";
    /// The same, received without probing its length first.
    pub(crate) const POSTED: &str = "posted";
    /// In chunks that dtype packs.
    pub(crate) const PIPELINE: &str = "pipeline";
    /// By the library, with its datatype.
    pub(crate) const LIBRARY: &str = "library";
    /// By a loop into an existing buffer, which is sent.
    pub(crate) const LOOP: &str = "loop";
    /// The same number of bytes, without packing.
    pub(crate) const BYTES: &str = "bytes";
}

/// Longer messages are also sent in chunks.
pub(crate) const LONG: usize = 1 << 17;
