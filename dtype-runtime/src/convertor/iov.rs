//! The segments of memory that hold packed bytes, for `writev` and for network cards that read memory themselves.

mod first;
mod fold;
mod walk;

use core::iter::FusedIterator;
use core::ops::Range;

use super::cursor::Instances;
use crate::commit::Committed;
use crate::error::Error;
use crate::plan::{Op, Segments};

pub(super) use first::FirstSegments;
use first::fill;
use fold::fold;
use walk::segments;

/// The number of segments that are looked up at a time.
const BATCH: usize = 32;

/// A segment of memory: bytes of data that are contiguous both in memory and in the packed stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Displacement in bytes of the first byte, from the origin of the first instance.
    pub disp: i64,
    /// The number of bytes.
    pub len: u64,
}

impl Segment {
    const NONE: Self = Self { disp: 0, len: 0 };

    const fn shifted(self, by: i64) -> Self {
        Self { disp: self.disp.wrapping_add(by), ..self }
    }

    /// The displacement after the last byte.
    const fn end(self) -> i64 {
        self.disp.wrapping_add(self.len.cast_signed())
    }
}

/// The segments of memory of a range of the packed stream, in the order of the stream. Segments that touch are
/// joined, even where one instance ends and the next begins.
///
/// Counting and skipping segments takes time logarithmic in the number of blocks. Methods that consume all of them,
/// such as [`for_each`](Iterator::for_each) and [`sum`](Iterator::sum), take a quarter of the time that calling
/// [`next`](Iterator::next) for each takes.
#[derive(Clone, Debug)]
pub struct Iov<'a> {
    instances: Instances<'a>,
    /// The segments of an instance, if they are known.
    segments: Option<&'a Segments>,
    /// The range of packed bytes that have not been looked up yet.
    range: Range<u64>,
    /// The segments found by the last look-up. Allocated late, because a caller that takes all segments at once does not need
    /// them.
    first: Option<FirstSegments<BATCH>>,
}
impl<'a> Iov<'a> {
    #[inline]
    pub(super) fn new(
        instances: Instances<'a>,
        segments: Option<&'a Segments>,
        range: Range<u64>,
    ) -> Self {
        Self { instances, segments, range, first: None }
    }

    /// The segments of a constant program of `size` packed bytes, executed once.
    pub(crate) fn of_program(ops: &'a [Op], size: u64) -> Self {
        Self::new(Instances::of_program(ops, None, size, 0, 1), None, 0..size)
    }

    /// The position of the next segment in the packed stream, to resume there later.
    #[inline]
    pub fn position(&self) -> u64 {
        // By value, for the same reason as in `fill`.
        let buffered = self.first.clone().map_or(0, FirstSegments::bytes);
        self.range.start - buffered
    }

    /// The number of remaining segments, like [`count`](Iterator::count) without consuming the iterator.
    #[doc(alias = "MPIX_Type_iov_len")]
    pub fn segments(&self) -> u64 {
        let buffered = self.buffered().len() as u64;
        let Range { start, end } = self.range;
        if start >= end {
            return buffered;
        }
        self.with_segments(|instances, segments| {
            let [first, last] = [start, end - 1].map(|at| instances.number_of(segments, at));
            // In this order to avoid overflow: there may be nearly 2⁶⁴ segments.
            last - first + 1 + buffered
        })
    }

    /// Skips up to `segments` segments and returns the number skipped, in time logarithmic in the number of
    /// blocks. Use it to resume at a known segment number.
    ///
    /// ```
    /// use dtype_runtime::convertor::Segment;
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(1000, 1, 4, &Type::basic(Basic::U16))?.commit();
    /// assert_eq!(column.iov(1, 0..2000)?.segments(), 1000);
    /// // In windows of 64.
    /// let mut number = 0;
    /// for first in (0..1000).step_by(64) {
    ///     let mut iov = column.iov(1, 0..2000)?;
    ///     assert_eq!(iov.skip_segments(first), first);
    ///     for segment in iov.take(64) {
    ///         assert_eq!(segment, Segment { disp: 8 * number, len: 2 });
    ///         number += 1;
    ///     }
    /// }
    /// assert_eq!(number, 1000);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[inline]
    pub fn skip_segments(&mut self, segments: u64) -> u64 {
        let buffered = self.buffered().len();
        if let Ok(few) = usize::try_from(segments)
            && few <= buffered
        {
            if let Some(first) = &mut self.first {
                first.skip(few);
            }
            return segments;
        }
        let rest = segments - buffered as u64;
        let Range { start, end } = self.range;
        let (to, skipped) = if start >= end {
            (end, 0)
        } else {
            self.with_segments(|instances, segments| {
                let number = if start == 0 { 0 } else { instances.number_of(segments, start) };
                let to = instances.start_of(segments, number.saturating_add(rest));
                if to < end {
                    return (to, rest);
                }
                (end, instances.number_of(segments, end - 1) - number + 1)
            })
        };
        self.first = None;
        self.range.start = to;
        buffered as u64 + skipped
    }

    /// Moves the next segments into `room`, as many as fit, and returns their number. It is less than the length of `room`
    /// only at the end. The rest of `room` is unspecified.
    ///
    /// For windows of 64 segments, this takes half the time of [`next`](Iterator::next).
    ///
    /// ```
    /// use dtype_runtime::convertor::Segment;
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(1000, 1, 4, &Type::basic(Basic::U16))?.commit();
    /// let mut iov = column.iov(1, 0..2000)?;
    /// let mut window = [Segment::default(); 64];
    /// assert_eq!(iov.fill(&mut window), 64);
    /// assert_eq!(window[63], Segment { disp: 8 * 63, len: 2 });
    /// assert_eq!(iov.position(), 2 * 64);
    ///
    /// iov.skip_segments(930);
    /// assert_eq!(iov.fill(&mut window), 6);
    /// assert_eq!(window[5], Segment { disp: 8 * 999, len: 2 });
    /// assert_eq!(iov.fill(&mut window), 0);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPIX_Type_iov")]
    #[doc(alias = "yaksa_iov")]
    #[inline]
    pub fn fill(&mut self, room: &mut [Segment]) -> usize {
        // By value: an iterator that nothing points to stays in registers, as long as it has no buffer.
        let (few, rest) = match self.first.take() {
            None => (0, None),
            Some(first) => first.moved(room),
        };
        self.first = rest;
        // Segments that remain in the buffer come first in the next call.
        if few == room.len() {
            return few;
        }
        let found = fill(&self.instances, self.range.clone(), &mut room[few..]);
        self.range.start += found.bytes;
        few + found.segments
    }

    /// The segments that were found but not taken yet.
    #[inline]
    fn buffered(&self) -> &[Segment] {
        self.first.as_ref().map_or(&[], FirstSegments::rest)
    }

    /// Looks up the next segments.
    #[inline(never)]
    fn look_up(&mut self) {
        let first = self.first.get_or_insert_with(FirstSegments::new);
        self.range.start += first.look_up(&self.instances, self.range.clone());
    }

    fn with_segments<R>(&self, look: impl FnOnce(&Instances<'a>, &Segments) -> R) -> R {
        match self.segments {
            Some(segments) => look(&self.instances, segments),
            None => look(&self.instances, &self.instances.segments()),
        }
    }
}

impl Iterator for Iov<'_> {
    type Item = Segment;

    #[inline]
    fn next(&mut self) -> Option<Segment> {
        if let Some(first) = &mut self.first
            && let Some(next) = first.next()
        {
            return Some(next);
        }
        self.look_up();
        self.first.as_mut()?.next()
    }

    /// The hint is exact.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let segments = usize::try_from(self.segments()).ok();
        (segments.unwrap_or(usize::MAX), segments)
    }

    fn count(self) -> usize {
        usize::try_from(self.segments()).unwrap_or(usize::MAX)
    }

    /// Visits the whole range at once, while `next` starts again for every few segments.
    #[inline]
    fn fold<B, F: FnMut(B, Segment) -> B>(self, init: B, mut f: F) -> B {
        // The buffer is large, so it is not moved. At first there is none.
        let Self { instances, range, first, .. } = self;
        let folded = match first {
            None => init,
            Some(first) => first.fold(init, &mut f),
        };
        if let Some(all) = instances.single()
            && range == (0..instances.size())
            && !range.is_empty()
        {
            return segments(*all).fold(folded, f);
        }
        // Made only for this call, so that its parts stay in registers until then.
        match instances.plan() {
            Some((plan, count)) => fold(Instances::of_plan(plan, count), range, folded, f),
            None => fold(instances, range, folded, f),
        }
    }

    fn nth(&mut self, n: usize) -> Option<Segment> {
        self.skip_segments(n as u64);
        self.next()
    }

    fn last(mut self) -> Option<Segment> {
        self.skip_segments(self.segments().checked_sub(1)?);
        self.next()
    }
}

impl FusedIterator for Iov<'_> {}

impl Committed {
    /// The segments of memory that hold a range of the packed bytes of `count` instances, relative to the origin. The range may
    /// start anywhere; To resume later, start at [`Iov::position`].
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`] if the packed bytes of all instances do not fit a `usize`; [`Error::Position`] if the range
    /// ends past the last byte, or before it starts; [`Error::Overflow`] if a displacement in all instances does not fit 64
    /// bits.
    ///
    /// ```
    /// use dtype_runtime::convertor::Segment;
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U16))?.commit();
    /// let segments: Vec<Segment> = column.iov(1, 1..6)?.collect();
    /// let segment = |disp, len| Segment { disp, len };
    /// assert_eq!(segments, [segment(1, 1), segment(8, 2), segment(16, 2)]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPIX_Type_iov")]
    #[inline]
    pub fn iov(&self, count: usize, range: Range<u64>) -> Result<Iov<'_>, Error> {
        self.check_range(count, &range)?;
        if !self.displacements_fit(count) {
            return Err(Error::Overflow { call: "iov", quantity: "displacement" });
        }
        let instances = Instances::of_plan(self.plan(), count as u64);
        Ok(Iov::new(instances, self.plan().segments(), range))
    }
}
