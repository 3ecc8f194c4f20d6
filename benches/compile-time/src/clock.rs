//! How long the compiler runs.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::Result;

/// The kernel's unit of time in `/proc`, which is part of Linux's user interface.
const TICK: Duration = Duration::from_millis(10);

/// How long `work` takes: the processor time of the processes that it starts, where the system reports that, so that other
/// processes do not count; elsewhere the elapsed time.
pub(crate) fn time(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let before = of_children();
    let start = Instant::now();
    work()?;
    let passed = start.elapsed();
    Ok(match (before, of_children()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => passed,
    })
}

/// Whether `time` measures processor time here.
pub(crate) fn is_processor_time() -> bool {
    of_children().is_some()
}

/// The processor time of all descendants that have ended and been reaped.
fn of_children() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in parentheses, which may contain anything.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some(TICK * (ticks()? + ticks()?))
}
