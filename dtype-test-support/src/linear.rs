//! Compares the times of a short input and of a long one: what a machine is busy with slows both down.

use std::time::Instant;

/// How many times as long the long input is.
pub const TIMES: usize = 64;

/// Checks that time grows in proportion to the length: the long input takes about as long as [`TIMES`] short ones. Both are
/// timed in turn, for about the same time.
#[track_caller]
pub fn assert_linear(what: &str, mut short: impl FnMut(), mut long: impl FnMut()) {
    let mut ratio = || {
        let start = Instant::now();
        long();
        let time = start.elapsed();
        let start = Instant::now();
        (0..TIMES).for_each(|_| short());
        time.as_secs_f64() / start.elapsed().as_secs_f64()
    };
    // Quadratic time gives 64, in each round.
    let ratios: Vec<f64> = (0..3).map(|_| ratio()).take_while(|ratio| *ratio >= 10.0).collect();
    assert!(ratios.len() < 3, "{ratios:.1?} for {what}");
}
