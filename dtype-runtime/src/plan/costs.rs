//! What ways to copy records cost: the numbers by which a plan decides how many records are worth a kernel.
//!
//! All times are in sixteenths of a nanosecond. A kernel takes a call, and then a step for some records: a register, say. The
//! other way is inlined moves, which take some time for each record. So `n` steps are worth the call if
//!
//! ```text
//! call + n · step ≤ n · moves          moves: the time of the moves that one step replaces
//! ```
//!
//! The times were measured on a Zen 3, but for those of permutations, which it does not execute: they are of a Zen 5. On other
//! processors the decisions are a few records off, and the bytes the same.

/// What a kernel costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// The call, with what a kernel loads before its first step.
    pub(crate) call: usize,
    /// Each step.
    pub(crate) step: usize,
}

/// An inlined move of up to 16 bytes, one of several of a record.
pub(crate) const MOVE: usize = 4;

/// A permutation, which loads an index and masks before its first step. Its steps take next to nothing beside the moves that
/// they replace.
pub(crate) const PERMUTATION: Cost = Cost { call: 36 * MOVE, step: 0 };

/// A register that a shuffle packs, unpacks to new values, and unpacks between what it keeps.
pub(crate) const SHUFFLE_PACKS: Cost = Cost { call: 56, step: 11 };
pub(crate) const SHUFFLE_UNPACKS: Cost = Cost { call: 56, step: 8 };
pub(crate) const SHUFFLE_KEEPS: Cost = Cost { call: 56, step: 11 };

/// Two loads of values that are tested where they are, and four loads of which values are gathered.
pub(crate) const TESTS_IN_PLACE: Cost = Cost { call: 64, step: 4 };
pub(crate) const TESTS: Cost = Cost { call: 64, step: 9 };

impl Cost {
    /// With how many steps at least a call is faster than another way, which takes `time` for what one step does; `None` if
    /// there is no such number.
    pub(crate) const fn fewest_steps(self, time: usize) -> Option<usize> {
        match time.checked_sub(self.step) {
            None | Some(0) => None,
            Some(gain) => Some(self.call.div_ceil(gain)),
        }
    }
}

/// About how long it takes to store a run of `len` bytes, whose length is a constant, by inlined moves. Moves that overlap take
/// longer, as more of them lie in two lines.
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

/// About how long it takes to test one value: whether it is in a range, in two ranges whose bits differ, in a set, and by a call.
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
        // Nothing is gained, or lost.
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
        // Of 16 bytes each, with a shorter one that touches the last, or one that overlaps it.
        assert_eq!([32, 48, 64].map(inlined), [10, 15, 20]);
        assert_eq!([17, 20, 33, 40].map(inlined), [9, 9, 14, 14]);
        assert_eq!([19, 31, 35, 47].map(inlined), [14, 14, 19, 19]);
    }
}
