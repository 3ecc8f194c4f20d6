//! Timing on a shared machine, whose speed changes during a run: two candidates alternate in many short rounds, and
//! their ratio is the median over the pairs of neighbouring rounds.

use std::time::{Duration, Instant};

/// About how long a round takes.
const ROUND: Duration = Duration::from_micros(300);

/// The ratio of two candidates.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Our time divided by theirs, the median over the pairs.
    pub ratio: f64,
    /// Median time of one of our calls.
    pub ours: Duration,
}

/// Runs both candidates alternately, for this number of pairs of rounds.
pub fn versus(pairs: usize, mut theirs: impl FnMut(), mut ours: impl FnMut()) -> Figure {
    let calls = calls_per_round(&mut theirs);
    let mut rounds: Vec<(Duration, Duration)> =
        (0..pairs).map(|_| (time(calls, &mut theirs), time(calls, &mut ours))).collect();
    let ratio = |(theirs, ours): &(Duration, Duration)| ours.as_secs_f64() / theirs.as_secs_f64();
    rounds.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let median = ratio(&rounds[pairs / 2]);
    rounds.sort_by_key(|(_, ours)| *ours);
    Figure { ratio: median, ours: rounds[pairs / 2].1 / calls }
}

fn calls_per_round(call: &mut impl FnMut()) -> u32 {
    let mut calls = 1;
    while time(calls, call) < ROUND {
        calls *= 2;
    }
    calls
}

/// The minimum number of untimed calls before the timed ones. After another process's turn, Intel's Xeon needs two calls to
/// bring 30 MB into its last cache: the second call still takes one and a half times as long as the third.
const FEWEST_BEFORE: u64 = 3;

/// How long this number of calls takes. Untimed calls come first, so the caches are as these calls leave them. Where the system
/// reports it, the time when other threads had the processor is subtracted.
pub fn time_warm(repetitions: u64, mut call: impl FnMut()) -> Duration {
    let mut result = Duration::ZERO;
    // The call stands once in the source, so that the compiler inlines every candidate, or none.
    for repetitions in [repetitions.div_ceil(8).max(FEWEST_BEFORE), repetitions] {
        let before = waited();
        let start = Instant::now();
        (0..repetitions).for_each(|_| call());
        let took = start.elapsed();
        result = match (before, waited()) {
            (Some(before), Some(after)) => took.saturating_sub(after.saturating_sub(before)),
            _ => took,
        };
    }
    result
}

/// How long this thread was ready to run while other threads ran.
fn waited() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

fn time(calls: u32, call: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..calls).for_each(|_| call());
    start.elapsed()
}
