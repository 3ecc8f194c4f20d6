//! The runs of a record: a few operations with their loops written out.

use alloc::boxed::Box;

use super::choose::MAX_RECORD_DISTANCE;
use super::steps::Step;
use super::op::{Blocks, Elements, Op, split_first};
use crate::kernels;
use crate::representation::Form;

/// A range of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Displacement in bytes from the record's origin.
    pub(crate) disp: isize,
    /// Number of bytes.
    pub(crate) len: usize,
}

/// With at least this many blocks, an instance that is blocks at equal distances is copied as such, even if its last block
/// touches the first one of the next instance.
const MIN_UNLINKED: u64 = 8;

/// Instances as records at equal distances, each of a few runs.
///
/// Where the last run of an instance touches the first run of the next, the two become one run, the *link*. A record then
/// begins after the first run of an instance and ends with the link, and the stream begins with the end of a record that would
/// precede the first instance. For runs of 2 and 4 bytes at 0 and 12, and an extent of 16:
///
/// ```text
/// memory     0 – 1   12 – 15 16 – 17   28 – 31 32 – 33   44 – 47
/// instance   0       0       1         1       2         2
/// record     –1      0       0         1       1         2
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Records {
    /// The runs of one record, in packed order.
    pub(crate) runs: Box<[Run]>,
    /// Packed bytes of a record.
    pub(crate) size: usize,
    /// Bytes of memory from one record to the next.
    pub(crate) stride: isize,
    /// How many packed bytes at the start of the stream belong to the link before the first record; 0 if there is no link.
    before: usize,
    /// The steps that copy a record, if they are faster than its runs.
    pub(crate) steps: Option<Box<[Step]>>,
}

impl Records {
    /// The instances as records; `None` if there are no runs, or more than a few in each. Operations with a kernel of their own
    /// are not made records: lists, conversions, and several blocks, if they are the only operation or the records are far
    /// apart.
    pub(super) fn new(instance: &[Op], stride: i64) -> Option<Self> {
        let are_runs = instance.iter().all(|op| matches!(op, Op::Blocks(Blocks { count: 1, .. })));
        if !are_runs && stride.unsigned_abs() > MAX_RECORD_DISTANCE {
            return None;
        }
        let stride = isize::try_from(stride).ok()?;
        let list = RunList::expand(instance)?;
        let (size, link) = (list.size()?, list.link(stride));
        let is_row = match instance {
            [Op::Blocks(all)] if all.count > 1 => link.is_none() || all.count >= MIN_UNLINKED,
            _ => false,
        };
        if size == 0 || is_row {
            return None;
        }
        let (runs, before): (Box<[Run]>, _) = match (link, list.all()) {
            (Some(link), [first, between @ .., _]) => {
                (between.iter().copied().chain([link]).collect(), first.len)
            }
            (_, all) => (all.into(), 0),
        };
        let steps = kernels::EXECUTES_PERMUTATIONS.then(|| Step::all(&runs)).flatten();
        Some(Self { runs, size, stride, before, steps })
    }

    /// Whether whole records are copied run by run, several at a time.
    #[inline]
    pub(crate) fn are_run_by_run(&self) -> bool {
        (self.runs.len() > 1 || self.before > 0)
            && self.stride.unsigned_abs() as u64 <= MAX_RECORD_DISTANCE
    }

    /// The record that holds a position of the stream: its displacement, and how many of its packed bytes come before the
    /// position.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "bytes and displacements in memory")]
    pub(crate) fn find(&self, position: u64) -> (isize, usize) {
        match position.checked_sub(self.before as u64) {
            Some(after) => {
                let (number, from) = (after / self.size as u64, after % self.size as u64);
                (self.stride.wrapping_mul(number as isize), from as usize)
            }
            None => (self.stride.wrapping_neg(), self.size - self.before + position as usize),
        }
    }
}

/// The runs of one record, in packed order.
#[derive(Debug)]
pub(crate) struct RunList {
    runs: [Run; Self::MAX_RUNS],
    len: usize,
    /// Which runs are packed with the last byte first, one bit each.
    reversed: u64,
    /// How many more runs may be added. A run that touches the run before it needs no entry, but its step takes time.
    left: usize,
}

impl RunList {
    /// A record with at most this many runs is copied run by run; one with more runs is copied by walking its operations.
    pub(crate) const MAX_RUNS: usize = 64;

    pub(crate) const EMPTY: Self = Self {
        runs: [Run { disp: 0, len: 0 }; Self::MAX_RUNS],
        len: 0,
        reversed: 0,
        left: 4 * Self::MAX_RUNS,
    };

    /// The runs of operations that copy bytes; `None` if there are too many, or if values are converted.
    pub(crate) const fn expand(ops: &[Op]) -> Option<Self> {
        let mut list = Self::EMPTY;
        if list.add(ops, 0, false) { Some(list) } else { None }
    }

    /// As [`expand`](Self::expand), but values may have their bytes reversed.
    pub(super) const fn expand_values(ops: &[Op]) -> Option<Self> {
        let mut list = Self::EMPTY;
        if list.add(ops, 0, true) { Some(list) } else { None }
    }

    /// The runs.
    #[inline]
    pub(crate) const fn all(&self) -> &[Run] {
        self.runs.split_at(self.len).0
    }

    /// The bytes of all runs; `None` if the number does not fit. (Runs that overlap can have more bytes than there is memory.)
    pub(crate) fn size(&self) -> Option<usize> {
        self.all().iter().try_fold(0_usize, |sum, run| sum.checked_add(run.len))
    }

    /// The last run joined to the first run of the next record, if the two touch.
    fn link(&self, stride: isize) -> Option<Run> {
        let [first, .., last] = self.all() else { return None };
        let touches = last.disp.wrapping_add_unsigned(last.len) == first.disp.wrapping_add(stride);
        touches.then(|| Run { disp: last.disp, len: last.len + first.len })
    }

    /// The runs from behind the first one to the end of the first one of the next record, `stride` bytes further, if that run
    /// touches the last one; `None` if it does not.
    pub(crate) const fn linked(&self, stride: usize) -> Option<Self> {
        if self.len < 2 {
            return None;
        }
        let (first, last) = (self.runs[0], self.runs[self.len - 1]);
        if last.disp + last.len.cast_signed() != first.disp + stride.cast_signed() {
            return None;
        }
        let (mut list, mut index) = (Self::EMPTY, 1);
        while index < self.len {
            list.runs[index - 1] = self.runs[index];
            index += 1;
        }
        list.len = self.len - 1;
        list.runs[list.len - 1].len += first.len;
        Some(list)
    }

    /// The run with this index. In a constant list, the run must be a constant too, or copying a few bytes takes ten times as
    /// long.
    #[inline(always)]
    pub(crate) const fn run(&self, index: usize) -> Run {
        self.runs[index]
    }

    /// Whether a run is packed with the last byte first.
    pub(super) const fn is_reversed(&self, index: usize) -> bool {
        self.reversed >> index & 1 == 1
    }

    /// Adds the runs of operations. Returns whether there was room for them.
    const fn add(&mut self, ops: &[Op], shift: i64, converts: bool) -> bool {
        let mut rest = ops;
        while let Some((op, body, after)) = split_first(rest) {
            rest = after;
            let (blocks, reversed) = match *op {
                Op::Blocks(blocks) => (blocks, false),
                Op::Elements(Elements { blocks, form: Form::Same { .. } }) if converts => {
                    (blocks, false)
                }
                Op::Elements(Elements { blocks, form: Form::Reversed { .. } }) if converts => {
                    (blocks, true)
                }
                // Lists look up displacements, and elements compute bytes.
                Op::List(_) | Op::Elements(_) => return false,
                Op::Loop { count, stride, .. } => {
                    let mut iteration = 0;
                    while iteration < count {
                        let before = self.left;
                        let way = stride.wrapping_mul(iteration.cast_signed());
                        // Stop at a loop over nothing: its iterations would only take time.
                        if !self.add(body, shift.wrapping_add(way), converts) || self.left == before
                        {
                            return false;
                        }
                        iteration += 1;
                    }
                    continue;
                }
            };
            let mut block = 0;
            while block < blocks.count {
                let disp = blocks.block(block).wrapping_add(shift);
                if !self.push(disp, blocks.len, reversed) {
                    return false;
                }
                block += 1;
            }
        }
        true
    }

    /// Adds a run, joined to the run before it where they touch.
    #[expect(clippy::cast_possible_truncation, reason = "data in memory")]
    const fn push(&mut self, disp: i64, len: u64, reversed: bool) -> bool {
        let (disp, len) = (disp as isize, len as usize);
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        if self.len > 0 && !reversed && !self.is_reversed(self.len - 1) {
            let last = &mut self.runs[self.len - 1];
            if last.disp.wrapping_add_unsigned(last.len) == disp {
                last.len += len;
                return true;
            }
        }
        if self.len == Self::MAX_RUNS {
            return false;
        }
        self.runs[self.len] = Run { disp, len };
        self.reversed |= (reversed as u64) << self.len;
        self.len += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_by_position() {
        let run = |disp, len| Op::Blocks(Blocks::run(disp, len));
        let all = Records::new(&[run(8, 20), run(40, 6)], 64).unwrap();
        assert_eq!((all.size, all.find(0), all.find(25)), (26, (0, 0), (0, 25)));
        assert_eq!((all.find(26), all.find(2 * 26 + 3)), ((64, 0), (128, 3)));
        // The second run touches the first one of the next instance, 64 bytes before this one.
        let linked = Records::new(&[run(104, 6), run(20, 20), run(38, 2)], -64).unwrap();
        assert_eq!(*linked.runs, [Run { disp: 20, len: 20 }, Run { disp: 38, len: 8 }]);
        assert_eq!((linked.find(0), linked.find(5), linked.find(6)), ((64, 22), (64, 27), (0, 0)));
        assert_eq!(linked.find(6 + 28), (-64, 0));
    }

    #[test]
    fn some_instances_are_no_records() {
        let run = |disp, len| Op::Blocks(Blocks::run(disp, len));
        let blocks = |count| Op::Blocks(Blocks { disp: 0, len: 4, count, stride: 8 });
        assert_eq!(Records::new(&[], 8), None);
        assert_eq!(Records::new(&[blocks(3)], 32), None);
        // Linked: two of these blocks are a run of 8.
        let runs = |count, stride| Records::new(&[blocks(count)], stride).map(|all| all.runs.len());
        assert_eq!([runs(3, 20), runs(7, 52), runs(8, 60)], [Some(2), Some(6), None]);
        assert!(Records::new(&[run(40, 2), blocks(3)], 64).is_some());
        assert_eq!(Records::new(&[run(40, 2), blocks(3)], 4096), None);
        assert!(Records::new(&[run(40, 2), run(0, 4)], 4096).is_some());
        // Runs that overlap, with more bytes than there are addresses.
        assert_eq!(Records::new(&[run(0, 1 << 63), run(9, 1 << 63)], 8), None);
    }

    #[test]
    fn single_runs_and_distant_records_are_not_copied_run_by_run() {
        let run = |disp, len| Op::Blocks(Blocks::run(disp, len));
        let is_run_by_run =
            |instance: &[Op], stride| Records::new(instance, stride).unwrap().are_run_by_run();
        assert!(!is_run_by_run(&[run(0, 4)], 8));
        // The second run touches the first one of the next instance.
        assert!(is_run_by_run(&[run(0, 2), run(6, 2)], 8));
        let far = MAX_RECORD_DISTANCE.cast_signed();
        let two = [run(0, 2), run(4, 2)];
        assert!([8, far, -far].into_iter().all(|stride| is_run_by_run(&two, stride)));
        assert!([far + 1, -far - 1].into_iter().all(|stride| !is_run_by_run(&two, stride)));
        // Several blocks of distant records are left to a kernel of their own.
        let row = [run(40, 2), Op::Blocks(Blocks { disp: 0, len: 4, count: 3, stride: 8 })];
        assert!(Records::new(&row, far).is_some() && Records::new(&row, far + 1).is_none());
    }

    #[test]
    fn operations_are_expanded_to_a_few_runs() {
        let run = |disp, len| Op::Blocks(Blocks::run(disp, len));
        let each = |count, stride, items| Op::Loop { count, stride, items };
        let runs = |ops: &[Op]| {
            let all = RunList::expand(ops)?;
            Some(all.all().iter().map(|run| (run.disp, run.len)).collect::<alloc::vec::Vec<_>>())
        };
        let nest = [each(2, 10, 2), run(0, 2), run(4, 3), run(17, 1)];
        assert_eq!(runs(&nest).unwrap(), [(0, 2), (4, 3), (10, 2), (14, 4)]);
        assert_eq!(runs(&[each(3, 4, 1), run(0, 4)]).unwrap(), [(0, 12)]);
        // A loop over no bytes, too many runs, and too many runs that touch.
        assert_eq!(runs(&[each(u64::MAX, 4, 0), run(0, 4)]), None);
        let blocks = |count, stride| [Op::Blocks(Blocks { disp: 0, len: 4, count, stride })];
        assert_eq!([64, 65].map(|count| runs(&blocks(count, 8)).is_some()), [true, false]);
        assert_eq!([256, 257].map(|count| runs(&blocks(count, 4)).is_some()), [true, false]);
    }

    #[test]
    fn values_are_runs_only_where_they_may_be_converted() {
        let values = |form| {
            let blocks = Blocks { disp: 0, len: 4, count: 2, stride: 4 };
            [Op::Elements(Elements { blocks, form })]
        };
        let [same, reversed] = [Form::Same { width: 4 }, Form::Reversed { width: 4 }].map(values);
        assert!(RunList::expand(&same).is_none() && RunList::expand(&reversed).is_none());
        let runs = |ops: &[Op]| {
            let all = RunList::expand_values(ops).unwrap();
            let run = |at| (all.run(at).disp, all.run(at).len, all.is_reversed(at));
            (0..all.all().len()).map(run).collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(runs(&same), [(0, 8, false)]);
        assert_eq!(runs(&reversed), [(0, 4, true), (4, 4, true)]);
    }
}
