//! Costs of the ways to copy records. From them a plan decides how many records are worth the call of a kernel.
//!
//! All times are in sixteenths of a nanosecond. A kernel costs one call, and then one step for every few records (for one
//! register, say). The alternative, inlined moves, costs some time for each record. So `n` steps are worth the call if
//!
//! ```text
//! call + n · step ≤ n · moves          moves: the time of the moves that one step replaces
//! ```
//!
//! The times were measured on a Zen 3, except those of permutations, which a Zen 3 does not execute: they were measured on a
//! Zen 5. On other processors the decisions may be off by a few records; the bytes copied are the same. The test
//! `typed::layout::measured` prints the times of a machine beside these constants.

/// What a kernel costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// The call, including what a kernel loads before its first step.
    pub(crate) call: usize,
    /// Each step.
    pub(crate) step: usize,
}

/// An inlined move of up to 16 bytes, one of several that copy a record.
pub(crate) const MOVE: usize = 4;

/// A permutation, which loads an index and masks before its first step. Its steps take next to nothing beside the moves that
/// they replace.
pub(crate) const PERMUTATION: Cost = Cost { call: 36 * MOVE, step: 0 };

/// A register that a shuffle packs; unpacks to new values; unpacks with the gaps kept.
pub(crate) const SHUFFLE_PACKS: Cost = Cost { call: 56, step: 11 };
pub(crate) const SHUFFLE_UNPACKS: Cost = Cost { call: 56, step: 8 };
pub(crate) const SHUFFLE_KEEPS: Cost = Cost { call: 56, step: 11 };

/// Values tested where they are, in two loads; and values gathered from four loads.
pub(crate) const TESTS_IN_PLACE: Cost = Cost { call: 64, step: 4 };
pub(crate) const TESTS: Cost = Cost { call: 64, step: 9 };

impl Cost {
    /// The least number of steps with which a call is faster than another way, which takes `time` for the work of one step;
    /// `None` if no number of steps is enough.
    pub(crate) const fn fewest_steps(self, time: usize) -> Option<usize> {
        match time.checked_sub(self.step) {
            None | Some(0) => None,
            Some(gain) => Some(self.call.div_ceil(gain)),
        }
    }
}

/// The approximate time to store a run of `len` bytes by inlined moves, where the compiler knows the length. Moves that overlap
/// take longer, because more of them cross a cache line.
pub(crate) const fn inlined(len: usize) -> usize {
    match len {
        3 | 5 | 6 | 9 | 10 | 12 => 2 * MOVE,
        7 | 11 | 13..16 => 10,
        _ => {
            let (moves, rest) = (len.div_ceil(16), len % 16);
            if rest == 0 {
                5 * moves
            } else if rest.is_power_of_two() {
                5 * (moves - 1) + MOVE
            } else {
                5 * (moves - 2) + 2 * 7
            }
        }
    }
}

/// The approximate time to test one value: in one range; in two ranges whose bits differ; in a set; by a call.
pub(crate) const TEST_OF_RANGE: usize = 2;
pub(crate) const TEST_OF_RANGES: usize = 4;
pub(crate) const TEST_OF_SET: usize = 6;
pub(crate) const TEST_BY_CALL: usize = 16;

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

    #[test]
    fn moves_that_overlap_take_longer() {
        assert_eq!([1, 2, 4, 8, 16].map(inlined), [4, 4, 4, 4, 5]);
        // Two moves that touch, and two that overlap.
        assert_eq!([3, 5, 6, 9, 10, 12].map(inlined), [8; 6]);
        assert_eq!([7, 11, 13, 14, 15].map(inlined), [10; 5]);
        // Moves of 16 bytes, and a shorter one that touches or overlaps the last.
        assert_eq!([32, 48, 64].map(inlined), [10, 15, 20]);
        assert_eq!([17, 20, 33, 40].map(inlined), [9, 9, 14, 14]);
        assert_eq!([19, 31, 35, 47].map(inlined), [14, 14, 19, 19]);
    }
}
