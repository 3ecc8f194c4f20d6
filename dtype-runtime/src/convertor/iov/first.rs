//! The first segments of a range, as many as there is room for.

use core::ops::Range;

use super::Segment;
use super::walk::{Found, find};
use crate::convertor::cursor::Instances;
use crate::plan::Plan;

/// The first segments of a range, at most `N`. Each is maximal.
#[derive(Clone, Debug)]
pub(in crate::convertor) struct FirstSegments<const N: usize> {
    segments: [Segment; N],
    len: usize,
    /// How many of the segments have been taken.
    taken: usize,
}

impl<const N: usize> FirstSegments<N> {
    pub(super) const fn new() -> Self {
        Self { segments: [Segment::NONE; N], len: 0, taken: 0 }
    }

    /// The first segments of a range.
    pub(in crate::convertor) fn in_range(instances: &Instances<'_>, range: Range<u64>) -> Self {
        let mut found = Self::new();
        found.look_up(instances, range);
        found
    }

    /// Finds the first segments of a range, which replace the earlier ones; returns their number of bytes.
    pub(super) fn look_up(&mut self, instances: &Instances<'_>, range: Range<u64>) -> u64 {
        let found = find(*instances, range, &mut self.segments);
        (self.taken, self.len) = (0, found.segments);
        found.bytes
    }

    /// The segments that have not been taken.
    pub(super) fn rest(&self) -> &[Segment] {
        &self.segments[self.taken..self.len]
    }

    /// Takes the next `few` segments; there must be as many.
    #[inline]
    pub(super) fn skip(&mut self, few: usize) {
        self.taken += few;
    }

    /// The number of bytes of the segments that have not been taken.
    #[inline(never)]
    pub(super) fn bytes(self) -> u64 {
        self.rest().iter().map(|segment| segment.len).sum()
    }

    /// Moves the next segments into `room`, as many as there are and fit. Returns their number and the remaining segments.
    #[inline(never)]
    pub(super) fn moved(mut self, room: &mut [Segment]) -> (usize, Option<Self>) {
        let rest = self.rest();
        let few = rest.len().min(room.len());
        room[..few].copy_from_slice(&rest[..few]);
        self.taken += few;
        let rest = (self.taken < self.len).then_some(self);
        (few, rest)
    }
}

impl<const N: usize> Iterator for FirstSegments<N> {
    type Item = Segment;

    #[inline]
    fn next(&mut self) -> Option<Segment> {
        let next = self.segments[..self.len].get(self.taken)?;
        self.taken += 1;
        Some(*next)
    }
}

/// [`find`] for a slice.
#[inline(always)]
pub(super) fn fill(instances: &Instances<'_>, range: Range<u64>, room: &mut [Segment]) -> Found {
    match instances.plan() {
        Some((plan, count)) => fill_of_plan(plan, count, range, room),
        None => find(*instances, range, room),
    }
}

/// Takes numbers in registers instead of [`Instances`] in memory.
#[inline(never)]
fn fill_of_plan(plan: &Plan, count: u64, range: Range<u64>, room: &mut [Segment]) -> Found {
    find(Instances::of_plan(plan, count), range, room)
}
