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

/// What a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Packs.
    Pack,
    /// Unpacks to memory without values, whose gaps may be written.
    Unpack,
    /// Unpacks, and keeps the gaps.
    Keep,
    /// Copies between two memories of the same layout.
    Move,
    /// Writes zeros to memory.
    Zero,
}

/// One value for each use of a kernel that copies several records at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Uses<T> {
    pub(crate) pack: T,
    pub(crate) unpack: T,
    pub(crate) keep: T,
}

impl<T: Copy> Uses<T> {
    /// The value for a use. Moving is like packing: what a load costs, and a masked store.
    pub(crate) const fn of(&self, what: Use) -> T {
        match what {
            Use::Pack | Use::Move => self.pack,
            Use::Unpack => self.unpack,
            Use::Keep | Use::Zero => self.keep,
        }
    }
}

/// More records than there can be: another way is faster for any number.
pub(crate) const NEVER: usize = usize::MAX;

impl Uses<usize> {
    /// Never.
    pub(crate) const NEVER: Self = Self { pack: NEVER, unpack: NEVER, keep: NEVER };

    /// Whether no number of records is enough for any use.
    pub(crate) const fn is_never(&self) -> bool {
        self.pack == NEVER && self.unpack == NEVER && self.keep == NEVER
    }
}

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
