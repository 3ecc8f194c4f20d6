//! What moves and tests cost that every machine has. Measured on a Zen 3.

use super::Cost;

/// An inlined move of up to 16 bytes, one of several that copy a record.
const MOVE: usize = 4;

/// The move of a record that is a single one. Processors make two in each cycle, and the compiler joins the packed bytes of
/// several.
pub(crate) const LONE_MOVE: usize = 2;

/// The time to copy a run of `len` bytes by inlined moves, where the compiler knows the length. Moves that overlap take longer,
/// because more of them cross a cache line.
pub(crate) const fn moves(len: usize) -> usize {
    match len {
        0 => 0,
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

/// The time to copy one of many runs of `len` bytes at equal distances, whose length is known at run time only.
pub(crate) const fn strided(len: usize) -> usize {
    match len {
        0 => 0,
        1 | 2 | 4 | 8 | 16 | 32 => 5,
        3..=31 => 17,
        33..=64 => 14,
        _ => 14 * len / 64,
    }
}

/// A call of the kernel that copies records run by run, beyond the moves. A step is a run of all records of a tile: its call,
/// and the branch that ends it.
pub(crate) const RECORDS: Cost = Cost { call: 150, step: 100 };

/// The time to test one value: in one range; in two ranges whose bits differ; in a set; by a call.
pub(crate) const TEST_OF_RANGE: usize = 2;
pub(crate) const TEST_OF_RANGES: usize = 4;
pub(crate) const TEST_OF_SET: usize = 6;
pub(crate) const TEST_BY_CALL: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_that_overlap_take_longer() {
        assert_eq!([0, 1, 2, 4, 8, 16].map(moves), [0, 4, 4, 4, 4, 5]);
        // Two moves that touch, and two that overlap.
        assert_eq!([3, 5, 6, 9, 10, 12].map(moves), [8; 6]);
        assert_eq!([7, 11, 13, 14, 15].map(moves), [10; 5]);
        // Moves of 16 bytes, and a shorter one that touches or overlaps the last.
        assert_eq!([32, 48, 64].map(moves), [10, 15, 20]);
        assert_eq!([17, 20, 33, 40].map(moves), [9, 9, 14, 14]);
        assert_eq!([19, 31, 35, 47].map(moves), [14, 14, 19, 19]);
    }
}
