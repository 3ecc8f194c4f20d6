//! Lists of irregular blocks while they grow.
//!
//! Blocks arrive one after another, and one of three things may happen to the next block:
//!
//! - It touches the block before it, and the two become one.
//! - It is the 64th at an equal distance: these 64 leave the list and become one counted operation.
//! - The table's entries have no room for it, and the list is rewritten or ends.
//!
//! So the last block is kept *pending*, outside the table, until the next one shows that it does not grow.
//!
//! An example: blocks of 4 bytes at displacements 10, 30, 34, 50.
//!
//! ```text
//! block    pending   table (offsets from the list's displacement)
//! 10..14   10..14
//! 30..34   30..34    10
//! 34..38   30..38    10              touches: the pending block grows
//! 50..54   50..54    10, 30          8 bytes after 4: the list becomes one of different lengths
//! ```
//!
//! `open` adds blocks one by one. `batch` is a fast version for several blocks to which none of the three things
//! happens. The test `blocks_that_come_at_once_become_what_they_become_one_by_one` checks that both give the same
//! lists.

mod batch;
mod open;

pub(super) use batch::{ByteLengths, are_operations};
pub(super) use open::{ALIKE, Block, End, OpenList};
