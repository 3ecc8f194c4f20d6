//! The results.

use std::fmt::Write;
use std::time::Duration;

use crate::clock;
use crate::crates::Mode;
use crate::subject::{ONE_CALLED_OF, Subject};

/// The time of each subject in one round.
#[derive(Default)]
pub(crate) struct Round(Vec<(Subject, Duration)>);

impl Round {
    pub(crate) fn push(&mut self, subject: Subject, time: Duration) {
        self.0.push((subject, time));
    }
}

/// Two subjects, and a baseline that is subtracted from both.
struct Pair {
    ours: Subject,
    theirs: Subject,
    without: Subject,
}

const DERIVES: Pair =
    Pair { ours: Subject::Datatype, theirs: Subject::Serde, without: Subject::Plain };
const CALLS: Pair =
    Pair { ours: Subject::Packing, theirs: Subject::Bincode, without: Subject::Nothing };

/// The times of all rounds.
#[derive(Default)]
pub(crate) struct Figures {
    rounds: Vec<(Mode, Round)>,
}

impl Figures {
    pub(crate) fn push(&mut self, mode: Mode, round: Round) {
        self.rounds.push((mode, round));
    }

    /// The tables, for this number of structs.
    pub(crate) fn text(&self, structs: u32) -> String {
        let clock = if clock::is_processor_time() { "processor time" } else { "time" };
        let called = structs.div_ceil(ONE_CALLED_OF);
        let mut text = format!("ms of {clock} for each struct; medians\n\n");
        let _ = writeln!(text, "{:32}{:>12}{:>12}{:>8}", "", "ours", "theirs", "ratio");
        let pairs = [
            ("Datatype, serde's two derives", structs, DERIVES),
            ("pack + unpack, serde's bincode", called, CALLS),
        ];
        for (name, count, Pair { ours, theirs, without }) in pairs {
            let _ = writeln!(text, "{name}, {count} structs");
            for mode in Mode::ALL {
                let cost = |round: &Round, of| round.of(of) - round.of(without);
                let each = |of| {
                    let median = self.median(mode, |round| cost(round, of))?;
                    Some(1e3 * median / f64::from(count))
                };
                let ratio = self.median(mode, |round| cost(round, ours) / cost(round, theirs));
                if let (Some(ours), Some(theirs), Some(ratio)) = (each(ours), each(theirs), ratio) {
                    let name = mode.name();
                    let _ = writeln!(text, "    {name:28}{ours:12.3}{theirs:12.3}{ratio:8.2}");
                }
            }
        }
        text
    }

    fn median(&self, mode: Mode, figure: impl Fn(&Round) -> f64) -> Option<f64> {
        let rounds = self.rounds.iter().filter(|(of, _)| *of == mode);
        let mut all: Vec<_> = rounds.map(|(_, round)| figure(round)).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    }
}

impl Round {
    /// A subject's time in seconds.
    fn of(&self, subject: Subject) -> f64 {
        let time = self.0.iter().find(|(of, _)| *of == subject);
        time.map_or(f64::NAN, |(_, time)| time.as_secs_f64())
    }
}
