//! How one instance is copied. Most calls copy a few bytes, so this is decided when a type is committed.

use super::op::Op;
use crate::isa::{self, WIDTH};

/// A run of at most this many bytes is copied by a few moves.
pub(crate) const SHORT: u64 = 64;

/// How one instance is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum One {
    /// Operation by operation.
    Operations,
    /// As two short runs.
    Two(TwoRuns),
    /// By the permutation of the instances, if there is one. For instances of several operations and few bytes.
    Small,
}

/// Two runs of at most [`SHORT`] bytes each: an instance's displacements and lengths, without the rest of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TwoRuns {
    /// The displacements in bytes.
    pub(crate) disps: [i32; 2],
    /// The lengths in bytes.
    pub(crate) lens: [u16; 2],
}

impl TwoRuns {
    /// These operations as two short runs, if that is what they are.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "short runs")]
    pub(super) fn from_ops(ops: &[Op]) -> Option<Self> {
        let ((first, second), lens) = match ops {
            [Op::Blocks(all)] if all.count == 2 => ((all.disp, all.block(1)), [all.len; 2]),
            [Op::Blocks(one), Op::Blocks(other)] if one.count == 1 && other.count == 1 => {
                ((one.disp, other.disp), [one.len, other.len])
            }
            _ => return None,
        };
        if lens.iter().any(|len| *len > SHORT) {
            return None;
        }
        let disps = [i32::try_from(first).ok()?, i32::try_from(second).ok()?];
        Some(Self { disps, lens: lens.map(|len| len as u16) })
    }
}

/// How one instance of these operations, with `size` packed bytes, is copied.
#[inline(always)]
pub(super) fn one(ops: &[Op], size: u64) -> One {
    /// With fewer operations, a benchmark loop shows no difference, but a program that has just written the values, or soon
    /// reads them, stalls: processors forward a store to a later load of the same bytes only if neither is masked.
    const MIN_PERMUTED: usize = 3;

    if isa::EXECUTES_PERMUTATIONS && ops.len() >= MIN_PERMUTED && size <= WIDTH as u64 {
        return One::Small;
    }
    TwoRuns::from_ops(ops).map_or(One::Operations, One::Two)
}
