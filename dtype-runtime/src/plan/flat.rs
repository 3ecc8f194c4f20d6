//! An instance as one list of its runs, for fragments of nested types.
//!
//! If loops, lists and blocks nest, a fragment starts and ends somewhere in each level, and each level has a part before the
//! whole items and a part after them. With many levels, the short parts take longer to find and copy than the rest. In one list
//! of all runs, a fragment starts at one place and ends at another. So a list of moderate length is worth its memory once
//! fragments have cut an instance several times.
//!
//! Take two rows of two lists each, and the runs of each list at 0 and 6:
//!
//! ```text
//! operations    loop 2 × 100, loop 2 × 20, list 0..4, 6..8
//! runs          0..4, 6..8, 20..24, 26..28, 100..104, 106..108, 120..124, 126..128
//! ```

use alloc::vec::Vec;

use super::list::{EntryKind, List, Lists, Moves};
use super::op::{Blocks, Op, split_first};

/// More runs than this are not written out: their table would not stay in the caches beside the data.
const MAX_RUNS: usize = 4096;

/// If an operation copies at least this many runs on average, most of a long fragment is copied by a kernel for rows.
const LONG_ROW: usize = 16;

/// A fragment of fewer bytes than this is short.
const SHORT_FRAGMENT: u64 = 4096;

/// An instance as a list.
#[derive(Clone, Debug)]
pub(crate) struct Flat {
    pub(crate) list: List,
    /// The list's tables.
    pub(crate) lists: Lists,
    /// Whether the operations copy many runs at a time, so that only short fragments are copied by the list.
    pub(super) has_rows: bool,
}

impl Flat {
    /// Whether the list copies `bytes` bytes faster than the operations do.
    pub(super) const fn is_for(&self, bytes: u64) -> bool {
        !self.has_rows || bytes < SHORT_FRAGMENT
    }
}

/// The list of all runs of an instance. `None` where a list gains nothing (blocks, a list, and rows of blocks have kernels of
/// their own), and where there are too many runs, or runs too far apart.
pub(super) fn flat(ops: &[Op], lists: &Lists) -> Option<Flat> {
    if let [_] | [Op::Loop { .. }, Op::Blocks(_)] = ops {
        return None;
    }
    let mut all = Runs { list: Vec::new(), rows: 0, left: 4 * MAX_RUNS };
    if !all.add(ops, lists, 0) {
        return None;
    }
    let Runs { list: runs, rows, .. } = all;
    let (first, rest) = runs.split_first()?;
    let mut lists = Lists::new();
    let mut list = List {
        disp: runs.iter().map(|(disp, _)| *disp).min()?,
        len: first.1,
        first: 0,
        count: u32::try_from(runs.len()).ok()?,
        kind: EntryKind::Even,
        moves: Moves::Any,
    };
    let offset = |disp: i64| u32::try_from(disp.checked_sub(list.disp)?).ok();
    if rest.iter().all(|(_, len)| *len == first.1) {
        lists.even = runs.iter().map(|(disp, _)| offset(*disp)).collect::<Option<_>>()?;
    } else {
        let mut before = 0_u32;
        let mut entry = |(disp, len): &(i64, u64)| {
            let start = before;
            before = before.checked_add(u32::try_from(*len).ok()?)?;
            Some([offset(*disp)?, start])
        };
        lists.varied =
            runs.iter().chain([&(list.disp, 0)]).map(&mut entry).collect::<Option<_>>()?;
        let lengths = || runs.iter().map(|(_, len)| *len);
        list.moves = Moves::for_lengths(lengths().min()?, lengths().max()?);
        list.kind = EntryKind::Varied;
    }
    Some(Flat { list, lists, has_rows: runs.len() >= rows * LONG_ROW })
}

/// Runs in packed order: their displacements, and their lengths in bytes.
struct Runs {
    list: Vec<(i64, u64)>,
    /// How many operations were executed, counting repetitions.
    rows: usize,
    /// How many more steps may be taken. A run that touches the run before it needs no entry, but its step takes time.
    left: usize,
}

impl Runs {
    /// Adds the runs of operations. Returns false if there are too many, or if values are converted.
    fn add(&mut self, ops: &[Op], lists: &Lists, shift: i64) -> bool {
        let mut rest = ops;
        while let Some((op, body, after)) = split_first(rest) {
            rest = after;
            self.rows += usize::from(body.is_empty());
            let added = match *op {
                Op::Blocks(blocks) => self.blocks(&blocks, shift),
                Op::List(list) => {
                    lists.blocks(&list).all(|(disp, len)| self.push(disp.wrapping_add(shift), len))
                }
                Op::Elements(_) => false,
                Op::Loop { count, stride, .. } => (0..count).all(|iteration| {
                    let way = stride.wrapping_mul(iteration.cast_signed());
                    self.step() && self.add(body, lists, shift.wrapping_add(way))
                }),
            };
            if !added {
                return false;
            }
        }
        true
    }

    fn blocks(&mut self, all: &Blocks, shift: i64) -> bool {
        (0..all.count).all(|block| self.push(all.block(block).wrapping_add(shift), all.len))
    }

    /// Takes a step. Returns false if none is left.
    fn step(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    /// Adds a run, joined to the run before it where they touch.
    fn push(&mut self, disp: i64, len: u64) -> bool {
        if let Some((last, bytes)) = self.list.last_mut()
            && last.checked_add_unsigned(*bytes) == Some(disp)
        {
            *bytes += len;
        } else if self.list.len() < MAX_RUNS {
            self.list.push((disp, len));
        } else {
            return false;
        }
        self.step()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_written_out() {
        let run = |disp, len| Op::Blocks(Blocks::run(disp, len));
        let each = |count, stride, items| Op::Loop { count, stride, items };
        let runs = |ops: &[Op]| {
            let Flat { list, lists, .. } = flat(ops, Lists::none())?;
            Some(lists.blocks(&list).collect::<Vec<_>>())
        };
        let rows = [each(2, 100, 3), each(2, 20, 2), run(0, 4), run(6, 2)];
        let expected = [(0, 4), (6, 2), (20, 4), (26, 2), (100, 4), (106, 2), (120, 4), (126, 2)];
        assert_eq!(runs(&rows).as_deref(), Some(&expected[..]));
        // Backwards, with runs of equal length; the last two touch.
        let back = [each(2, -10, 2), run(5, 3), run(0, 3), run(20, 2), run(22, 1)];
        assert_eq!(runs(&back).unwrap(), [(5, 3), (0, 3), (-5, 3), (-10, 3), (20, 3)]);
        let kind = |ops: &[Op]| flat(ops, Lists::none()).unwrap().list.kind;
        assert_eq!((kind(&rows), kind(&back)), (EntryKind::Varied, EntryKind::Even));
        // Layouts without a list: those with a kernel of their own, too many runs, too many steps, and runs too far apart.
        assert_eq!(runs(&[run(0, 4)]), None);
        assert_eq!(runs(&[each(4, 9, 1), run(0, 4)]), None);
        assert_eq!(runs(&[each(MAX_RUNS as u64 + 1, 9, 1), run(0, 4), run(-9, 1)]), None);
        assert_eq!(runs(&[each(u64::MAX, 9, 0), run(0, 4), run(8, 1)]), None);
        assert_eq!(runs(&[each(u64::MAX, 4, 1), run(0, 4), run(-8, 1)]), None);
        assert_eq!(runs(&[run(0, 4), run(1 << 40, 4)]), None);
    }

    #[test]
    fn rows_of_many_blocks_are_lists_only_for_short_fragments() {
        let rows = |count| {
            let row = |disp| Op::Blocks(Blocks { disp, len: 4, count, stride: 8 });
            let each = Op::Loop { count: 2, stride: 10_000, items: 2 };
            flat(&[each, row(0), row(5000)], Lists::none()).unwrap()
        };
        let [short, long] = [LONG_ROW as u64 - 1, LONG_ROW as u64].map(rows);
        assert!(!short.has_rows && short.is_for(u64::MAX));
        assert!(long.has_rows && long.is_for(SHORT_FRAGMENT - 1) && !long.is_for(SHORT_FRAGMENT));
    }

    #[test]
    fn lists_have_as_many_runs_as_a_cache_holds() {
        let each = |count| {
            let run = Op::Blocks(Blocks::run(0, 4));
            let body = [Op::Loop { count, stride: 8, items: 1 }, run];
            flat(&[body[0], body[1], run], Lists::none())
        };
        assert_eq!(each(MAX_RUNS as u64 - 1).unwrap().list.count(), MAX_RUNS as u64);
        assert!(each(MAX_RUNS as u64).is_none());
    }
}
