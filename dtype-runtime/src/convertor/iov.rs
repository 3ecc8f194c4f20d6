//! The segments of memory that hold packed bytes, for `writev` and for network cards that read memory themselves.

mod walk;

use core::iter::FusedIterator;
use core::mem::replace;
use core::ops::{ControlFlow, Range};

use super::cursor::Instances;
use crate::commit::Committed;
use crate::error::Error;
use crate::plan::Op;

use walk::{Taker, find, segments};

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
/// Counting segments takes time logarithmic in the number of blocks. Methods that consume all of them,
/// such as [`for_each`](Iterator::for_each) and [`sum`](Iterator::sum), take a quarter of the time that calling
/// [`next`](Iterator::next) for each takes.
#[derive(Clone, Debug)]
pub struct Iov<'a> {
    instances: Instances<'a>,
    /// The range of packed bytes that have not been looked up yet.
    range: Range<u64>,
    /// The segments found by the last look-up, of which the first `returned` were returned. Absent until the first look-up: a
    /// caller that takes all segments at once does not need them.
    found: Option<[Segment; BATCH]>,
    returned: usize,
    len: usize,
}

/// The first segment of a range.
pub(super) fn first_segment(instances: &Instances<'_>, range: Range<u64>) -> Option<Segment> {
    let mut first = [Segment::NONE];
    let found = find(*instances, range, &mut first).segments;
    first[..found].first().copied()
}

impl<'a> Iov<'a> {
    #[inline]
    pub(super) fn new(instances: Instances<'a>, range: Range<u64>) -> Self {
        Self { instances, range, found: None, returned: 0, len: 0 }
    }

    /// The segments of a constant program of `size` packed bytes, executed once.
    pub(crate) fn of_program(ops: &'a [Op], size: u64) -> Self {
        Self::new(Instances::of_program(ops, None, size, 0, 1), 0..size)
    }

    /// The position of the next segment in the packed stream, to resume there later.
    #[inline]
    pub fn position(&self) -> u64 {
        self.range.start - self.found().iter().map(|segment| segment.len).sum::<u64>()
    }

    /// The number of remaining segments, like [`count`](Iterator::count) without consuming the iterator.
    #[doc(alias = "MPIX_Type_iov_len")]
    pub fn segments(&self) -> u64 {
        let found = self.found().len() as u64;
        if self.range.is_empty() {
            return found;
        }
        self.instances.segments(self.range.clone()) + found
    }

    /// Moves the next segments into `out`, as many as fit, and returns their number. It is less than the length of `out`
    /// only at the end. The rest of `out` is unspecified.
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
    /// // To resume there, or anywhere else.
    /// let mut late = column.iov(1, iov.position() + 1866..2000)?;
    /// assert_eq!(late.fill(&mut window), 3);
    /// assert_eq!(window[2], Segment { disp: 8 * 999, len: 2 });
    /// assert_eq!(late.fill(&mut window), 0);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPIX_Type_iov")]
    #[doc(alias = "yaksa_iov")]
    #[inline]
    pub fn fill(&mut self, out: &mut [Segment]) -> usize {
        // Segments that were found before come first.
        let mut few = 0;
        if self.returned < self.len {
            few = self.found().len().min(out.len());
            out[..few].copy_from_slice(&self.found()[..few]);
            self.returned += few;
            if few == out.len() {
                return few;
            }
        }
        let found = find(self.instances, self.range.clone(), &mut out[few..]);
        self.range.start += found.bytes;
        few + found.segments
    }

    /// The segments that were found but not returned yet.
    #[inline]
    fn found(&self) -> &[Segment] {
        self.found.as_ref().map_or(&[], |found| &found[self.returned..self.len])
    }

    /// Takes the next of these segments.
    #[inline]
    fn next_found(&mut self) -> Option<Segment> {
        let next = self.found.as_ref()?[..self.len].get(self.returned)?;
        self.returned += 1;
        Some(*next)
    }

    /// Looks up the next segments.
    #[inline(never)]
    fn look_up(&mut self) {
        let found = self.found.get_or_insert([Segment::NONE; BATCH]);
        let found = find(self.instances, self.range.clone(), found);
        (self.returned, self.len) = (0, found.segments);
        self.range.start += found.bytes;
    }
}

impl Iterator for Iov<'_> {
    type Item = Segment;

    #[inline]
    fn next(&mut self) -> Option<Segment> {
        if let Some(next) = self.next_found() {
            return Some(next);
        }
        self.look_up();
        self.next_found()
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
        let folded = self.found().iter().copied().fold(init, &mut f);
        let Self { instances, range, .. } = self;
        if range.is_empty() {
            return folded;
        }
        match instances.single() {
            Some(all) if range == (0..instances.size()) => segments(*all).fold(folded, f),
            _ => {
                let mut folder = Folder { folded: Some(folded), f, last: Segment::NONE };
                let _ = instances.visit(range, &mut folder);
                folder.folded()
            }
        }
    }
}

/// Folds the segments of a range, in order.
struct Folder<B, F> {
    /// Absent only during a call of `f`.
    folded: Option<B>,
    f: F,
    /// The last segment, which may still grow. It has no bytes before the first one.
    last: Segment,
}

impl<B, F: FnMut(B, Segment) -> B> Folder<B, F> {
    fn folded(mut self) -> B {
        let Self { folded, f, last } = &mut self;
        let folded =
            folded.take().map(|folded| if last.len == 0 { folded } else { f(folded, *last) });
        folded.unwrap_or_else(|| unreachable!("it is put back after each call"))
    }
}

impl<B, F: FnMut(B, Segment) -> B> Taker for Folder<B, F> {
    #[inline(always)]
    fn take(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        let Self { folded, f, last } = self;
        if last.len > 0 && last.end() == disp {
            last.len += len;
            return ControlFlow::Continue(());
        }
        let before = replace(last, Segment { disp, len });
        if before.len > 0 {
            *folded = folded.take().map(|folded| f(folded, before));
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn apart(&mut self, mut blocks: impl Iterator<Item = Segment>) -> ControlFlow<()> {
        let Some(first) = blocks.next() else { return ControlFlow::Continue(()) };
        self.take(first.disp, first.len)?;
        let Self { folded, f, last } = self;
        // A copy, which stays in a register.
        let mut before = *last;
        let next = |folded, block| f(folded, replace(&mut before, block));
        *folded = folded.take().map(|folded| blocks.fold(folded, next));
        *last = before;
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn each_apart(&mut self, blocks: impl Iterator<Item = Segment>) -> ControlFlow<()> {
        self.apart(blocks)
    }

    fn takes_many(&self) -> bool {
        true
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
        Ok(Iov::new(Instances::of_plan(self.plan(), count as u64), range))
    }
}
