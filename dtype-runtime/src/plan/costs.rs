//! Times of the ways to copy. From them [`choose`](super::choose) takes the fastest.
//!
//! All times are in sixteenths of a nanosecond. There is a file for each set of instructions: what that set's kernels cost. The
//! test `typed::layout::measured` prints the times of a machine beside these constants. On a processor other than the one that
//! a constant was measured on, a decision may be off by a few records; the bytes copied are the same.

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod neon;
pub(crate) mod portable;

pub(crate) use portable::{moves, strided};

/// What a kernel costs that copies several records in each step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// The call, including what a kernel loads before its first step.
    pub(crate) call: usize,
    /// Each step.
    pub(crate) step: usize,
}

impl Cost {
    /// The least number of steps with which the kernel is faster than another way, which takes `time` for the work of one step;
    /// `None` if no number of steps is enough.
    ///
    /// ```text
    /// call + n · step ≤ n · time
    /// ```
    pub(crate) const fn fewest_steps(self, time: usize) -> Option<usize> {
        match time.checked_sub(self.step) {
            None | Some(0) => None,
            Some(gain) => Some(self.call.div_ceil(gain)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_worth_it_once_its_steps_have_gained_its_time() {
        let cost = Cost { call: 56, step: 8 };
        // A step gains no time, or loses some.
        assert_eq!((cost.fewest_steps(0), cost.fewest_steps(8)), (None, None));
        // 56 for 1 each, 28 for 2, and 19 for 3, as 18 gain only 54.
        assert_eq!([9, 10, 11].map(|time| cost.fewest_steps(time)), [56, 28, 19].map(Some));
        assert_eq!(cost.fewest_steps(1000), Some(1));
    }
}
