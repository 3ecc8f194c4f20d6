//! Repetitions of a few short runs: an array of structs.
//!
//! Walking the runs of one record after another would decide for each run anew how long it is.
//! So they are taken the other way round: one run of many records, with a loop that knows its
//! length, then the next run of the same records, a tile at a time, so that the second run finds
//! in the cache what the first one brought there.

use super::blocks::{Direction, Steps, strided};
use crate::commit::{Op, RunList};

/// Bytes of memory and packed stream that a tile spans: a part of the first-level cache.
const TILE: usize = 8192;

/// Fewer repetitions than this are not worth the setup.
const FEWEST: usize = 4;

/// Records of a few runs.
pub(super) struct Record {
    runs: RunList,
    /// Packed bytes of one record.
    size: usize,
    /// Bytes of memory from one record to the next.
    stride: isize,
    count: usize,
    /// Records in a tile.
    tile: usize,
}

impl Record {
    /// `count` repetitions of operations that are a few runs, close together.
    pub(super) fn of(ops: &[Op], stride: i64, count: u64) -> Option<Self> {
        let (stride, count) = (isize::try_from(stride).ok()?, usize::try_from(count).ok()?);
        let tile = TILE.checked_div(stride.unsigned_abs())?;
        if count < FEWEST || tile < FEWEST {
            return None;
        }
        let runs = RunList::expand(ops)?;
        let lengths = runs.all().iter().map(|run| run.len);
        let size = lengths.fold(0, usize::saturating_add);
        (size <= TILE / FEWEST).then_some(Self { runs, size, stride, count, tile })
    }

    /// How many runs a record is.
    pub(super) fn runs(&self) -> usize {
        self.runs.all().len()
    }

    /// # Safety
    ///
    /// As [`super::repeated`].
    pub(super) unsafe fn execute<D: Direction>(
        &self,
        mut memory: *mut u8,
        mut packed: *mut u8,
    ) -> *mut u8 {
        let steps = Steps { memory: self.stride, packed: D::advance(self.size) };
        let mut left = self.count;
        while left > 0 {
            let records = left.min(self.tile);
            let mut field = packed;
            for run in self.runs.all() {
                // SAFETY: the caller vouches for this run in every record; the pointers wrap, as
                // the origin need not lie in the memory.
                unsafe {
                    let memory = memory.wrapping_offset(run.disp);
                    strided::<D>(run.len, records, steps, memory, field);
                }
                field = field.wrapping_add(D::advance(run.len));
            }
            memory = memory.wrapping_offset(self.stride.wrapping_mul(records.cast_signed()));
            packed = packed.wrapping_add(D::advance(self.size * records));
            left -= records;
        }
        packed
    }
}
