//! Instances as records of a few runs, at equal distances.

use alloc::boxed::Box;

use super::choose::records::MAX_RECORD_DISTANCE;
use super::op::{Blocks, Op};
use super::runs::{Run, RunList};
use super::steps::Step;
use crate::isa;

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
        let steps = isa::EXECUTES_PERMUTATIONS.then(|| Step::all(&runs)).flatten();
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
}
