//! Repetitions of a few single blocks: an array of structs.
//!
//! Walking the blocks of one record after another would decide for each block anew how long it is.
//! So they are taken the other way round: one block of many records, with a loop that knows its
//! length, then the next block of the same records, a tile at a time, so that the second block finds
//! in the cache what the first one brought there.

use super::blocks::{Direction, Steps, strided};
use crate::commit::Op;

/// Bytes of memory and packed stream that a tile spans: a part of the first-level cache.
const TILE: usize = 8192;

/// Fewer repetitions than this are not worth the setup.
const FEWEST: usize = 4;

/// Records of single blocks.
pub(super) struct Record<'a> {
    ops: &'a [Op],
    /// Packed bytes of one record.
    size: usize,
    /// Bytes of memory from one record to the next.
    stride: isize,
    count: usize,
    /// Records in a tile.
    tile: usize,
}

impl<'a> Record<'a> {
    /// `count` repetitions of operations that are all single blocks and close together.
    pub(super) fn of(ops: &'a [Op], stride: i64, count: u64) -> Option<Self> {
        let (stride, count) = (isize::try_from(stride).ok()?, usize::try_from(count).ok()?);
        let tile = TILE.checked_div(stride.unsigned_abs())?;
        if count < FEWEST || tile < FEWEST || ops.len() > TILE / 64 {
            return None;
        }
        let mut size = 0;
        for op in ops {
            match op {
                Op::Blocks(blocks) if blocks.count == 1 => {
                    size += usize::try_from(blocks.len).ok()?;
                }
                _ => return None,
            }
        }
        (size <= TILE / FEWEST).then_some(Self { ops, size, stride, count, tile })
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
            for op in self.ops {
                let Op::Blocks(block) = op else { continue };
                #[expect(clippy::cast_possible_truncation, reason = "a block in memory")]
                let (disp, len) = (block.disp as isize, block.len as usize);
                // SAFETY: the caller vouches for this block in every record; the pointers wrap, as
                // the origin need not lie in the memory.
                unsafe {
                    strided::<D>(len, records, steps, memory.wrapping_offset(disp), field);
                }
                field = field.wrapping_add(D::advance(len));
            }
            memory = memory.wrapping_offset(self.stride.wrapping_mul(records.cast_signed()));
            packed = packed.wrapping_add(D::advance(self.size * records));
            left -= records;
        }
        packed
    }
}
