//! The rounds: all contestants for the same work, alternately.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use dtype_benches::peer::Work;
use dtype_benches::turns::time_warm;
use dtype_runtime::Type;
use regex::Regex;

use crate::arguments::Arguments;
use crate::library::Library;
use crate::report::row::{Column, Outcome, Row};

/// The names of the contestants, which are the columns' names.
pub(crate) mod who {
    /// This engine: the derive's code for structs, a committed type for other layouts.
    pub(crate) const DTYPE: &str = "dtype";
    /// This engine on structs, by a type made at run time.
    pub(crate) const DYNAMIC: &str = "dtype, dynamic";
    /// The loop that a person would write.
    pub(crate) const LOOP: &str = "loop";
    /// The newest release, from `PyPI`.
    pub(crate) const OPEN_MPI: &str = "Open MPI";
    pub(crate) const MPICH: &str = "MPICH";
    /// The library that the system has.
    pub(crate) const SYSTEM_OPEN_MPI: &str = "Open MPI (system)";
    pub(crate) const SYSTEM_MPICH: &str = "MPICH (system)";
    /// MPICH's engine, by its own functions.
    pub(crate) const YAKSA: &str = "Yaksa";
    pub(crate) const YAKSA_WINDOWS: &str = "Yaksa, windows";
    /// A memcpy of the packed size.
    pub(crate) const MEMCPY: &str = "memcpy";
    /// A memcpy of all the memory from the first to the last byte of data.
    pub(crate) const SPAN: &str = "memcpy, span";
    pub(crate) const RSMPI_OPEN_MPI: &str = "rsmpi, Open MPI";
    pub(crate) const RSMPI_MPICH: &str = "rsmpi, MPICH";
    pub(crate) const RSMPI_SYSTEM_OPEN_MPI: &str = "rsmpi, Open MPI (system)";
    pub(crate) const RSMPI_SYSTEM_MPICH: &str = "rsmpi, MPICH (system)";
}

/// The value of a call that cannot fail here. Errors are not handled in place: the compiler would put that code among the
/// measured code.
#[inline]
pub(crate) fn done<T>(result: Result<T, dtype_runtime::Error>) -> T {
    #[cold]
    #[inline(never)]
    fn failed(error: &dtype_runtime::Error) -> ! {
        panic!("a call failed that had succeeded before: {error}")
    }
    match result {
        Ok(value) => value,
        Err(error) => failed(&error),
    }
}

/// Does the work this number of times, and returns how long it took.
type Timer<S> = dyn FnMut(&mut S, u64) -> Duration;

/// A contestant for the work of a row. All contestants in this process work on one stage.
pub(crate) struct Contestant<S> {
    name: &'static str,
    how: How<S>,
}

enum How<S> {
    Here(Box<Timer<S>>),
    Library(Which, Work),
    /// Why the contestant is missing.
    Missing(String),
}

#[derive(Clone, Copy)]
enum Which {
    /// The number of an MPI library, which has a process of its own.
    Mpi(usize),
    Yaksa,
}

impl<S> Contestant<S> {
    /// A contestant that runs in this process.
    pub(crate) fn here(name: &'static str, mut call: impl FnMut(&mut S) + 'static) -> Self {
        let time = move |stage: &mut S, times| time_warm(times, || call(stage));
        Self { name, how: How::Here(Box::new(time)) }
    }
}

/// The settings, the MPI libraries, and the rows with their results.
pub(crate) struct Bench {
    pub(crate) quick: bool,
    pub(crate) libraries: Vec<Library>,
    pub(crate) yaksa: Library,
    pub(crate) rows: Vec<Row>,
    only: Option<Regex>,
    rounds: usize,
    sample: Duration,
}

/// Rows get the requested number of rounds only if a round is shorter than this.
const LONG_ROUND: Duration = Duration::from_millis(250);

/// The maximum number of rounds of slow rows.
const FEW_ROUNDS: usize = 11;

impl Bench {
    pub(crate) fn new(arguments: &Arguments, libraries: Vec<Library>, yaksa: Library) -> Self {
        let (rounds, sample) = if arguments.quick {
            (3, Duration::from_micros(50))
        } else {
            (arguments.rounds.into(), Duration::from_micros(800))
        };
        let only = arguments.only.clone();
        Self { quick: arguments.quick, libraries, yaksa, rows: Vec::new(), only, rounds, sample }
    }

    /// Whether the arguments select the row.
    pub(crate) fn wants(&self, group: &str, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.is_match(&format!("{group}/{name}")))
    }

    /// The MPI libraries: ready for the work, or missing.
    pub(crate) fn libraries<S>(&mut self, work: Work) -> Vec<Contestant<S>> {
        let contestant = |(number, library): (usize, &mut Library)| {
            let by_crate = matches!(work, Work::Encode | Work::Decode);
            let name = if by_crate { library.by_crate } else { library.name };
            let in_fragments = matches!(work, Work::PackFragments | Work::UnpackFragments);
            let has_no_call = in_fragments && !library.has_fragments();
            let how = match library.process() {
                Ok(_) if has_no_call => How::Missing("no call".into()),
                Ok(_) => How::Library(Which::Mpi(number), work),
                Err(why) => How::Missing(why.into()),
            };
            Contestant { name, how }
        };
        self.libraries.iter_mut().enumerate().map(contestant).collect()
    }

    /// Checks that every MPI library packs instances to these bytes, and unpacks them to memory with this fingerprint. The
    /// packed values are [`DATA`](dtype_benches::peer::DATA), and unpacking overwrites
    /// [`BACKGROUND`](dtype_benches::peer::BACKGROUND).
    pub(crate) fn compare(
        &mut self,
        ty: &Type,
        count: usize,
        origin: usize,
        length: usize,
        packed: &[u8],
        unpacked: u64,
    ) -> Result<()> {
        for library in &mut self.libraries {
            let name = library.name;
            let Ok(process) = library.process() else { continue };
            let there = process.layout(ty, count, origin, length).context(name)?;
            ensure!(there == packed, "{name} packs other bytes");
            ensure!(
                process.unpack().context(name)? == unpacked,
                "{name} unpacks to another memory"
            );
        }
        Ok(())
    }

    /// Yaksa: ready for the work, or missing.
    pub(crate) fn yaksa<S>(&mut self, name: &'static str, work: Work) -> Contestant<S> {
        let how = match self.yaksa.process() {
            Ok(_) => How::Library(Which::Yaksa, work),
            Err(why) => How::Missing(why.into()),
        };
        Contestant { name, how }
    }

    /// Runs the contestants in turn. Each round begins with another contestant, and every other round runs them in reverse.
    /// Otherwise each contestant would always find the caches as the same other one left them.
    pub(crate) fn turns<S>(
        &mut self,
        stage: &mut S,
        mut contestants: Vec<Contestant<S>>,
    ) -> Result<Vec<Column>> {
        let mut columns = Vec::new();
        let mut repetitions = Vec::new();
        let mut round = Duration::ZERO;
        for contestant in &mut contestants {
            let (times, outcome) = if let How::Missing(why) = &contestant.how {
                (0, Outcome::Missing(why.clone()))
            } else {
                let (times, took) = self.calibrate(stage, contestant)?;
                round += took;
                (times, Outcome::Times(Vec::new()))
            };
            repetitions.push(times);
            columns.push(Column { name: contestant.name.into(), outcome });
        }
        let few = round > LONG_ROUND;
        let rounds = if few { self.rounds.min(FEW_ROUNDS) } else { self.rounds };
        let everyone = contestants.len();
        for round in 0..rounds {
            for turn in 0..everyone {
                let turn = if round % 2 == 0 { turn } else { everyone - 1 - turn };
                let one = (round + turn) % everyone;
                if let Outcome::Times(samples) = &mut columns[one].outcome {
                    let took = self.time(stage, &mut contestants[one], repetitions[one])?;
                    samples.push(took.as_secs_f64() * 1e9 / repetitions[one] as f64);
                }
            }
        }
        Ok(columns)
    }

    fn time<S>(
        &mut self,
        stage: &mut S,
        contestant: &mut Contestant<S>,
        times: u64,
    ) -> Result<Duration> {
        match &mut contestant.how {
            How::Here(time) => Ok(time(stage, times)),
            How::Library(which, work) => {
                let library = match *which {
                    Which::Mpi(number) => &mut self.libraries[number],
                    Which::Yaksa => &mut self.yaksa,
                };
                match library.process() {
                    Ok(process) => process.time(*work, times),
                    Err(why) => bail!("{why}"),
                }
            }
            How::Missing(why) => bail!("{why}"),
        }
    }

    /// The number of repetitions that make a sample, and how long they take.
    fn calibrate<S>(
        &mut self,
        stage: &mut S,
        contestant: &mut Contestant<S>,
    ) -> Result<(u64, Duration)> {
        let mut times = 1;
        loop {
            let took = self.time(stage, contestant, times)?;
            if took * 4 >= self.sample * 3 {
                return Ok((times, took));
            }
            // Increase the number in steps, because a single short sample may have been disturbed.
            let factor = (self.sample.as_secs_f64() / took.as_secs_f64()).clamp(1.5, 8.0);
            times = (times as f64 * factor).ceil() as u64;
        }
    }
}
