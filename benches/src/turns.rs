//! Timing on a machine that others share: it speeds up and slows down while one looks, so two
//! candidates take turns, many short rounds each, and their ratio is the median over the pairs of
//! neighbours.

use std::time::{Duration, Instant};

/// About how long a round takes.
const ROUND: Duration = Duration::from_micros(300);

/// What came out.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Our time over theirs, the median over the pairs.
    pub ratio: f64,
    /// Median time of one call of ours.
    pub ours: Duration,
}

/// Lets the two take turns, so many pairs of rounds.
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

/// How long so many calls take, after some that are not timed: what another process did to the caches in the
/// meantime is not counted, nor is the time that others had the processor, where the system tells of it.
pub fn time_warm(repetitions: u64, mut call: impl FnMut()) -> Duration {
    (0..repetitions.div_ceil(8)).for_each(|_| call());
    let before = waited();
    let start = Instant::now();
    (0..repetitions).for_each(|_| call());
    let took = start.elapsed();
    match (before, waited()) {
        (Some(before), Some(after)) => took.saturating_sub(after.saturating_sub(before)),
        _ => took,
    }
}

/// For how long this thread was ready to run, and others ran instead.
fn waited() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

fn time(calls: u32, call: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..calls).for_each(|_| call());
    start.elapsed()
}
