//! The segments of memory that hold packed bytes, for `writev` and for network cards that read memory themselves.

use core::iter::FusedIterator;
use core::ops::{ControlFlow, Range};

use super::cursor::{Instances, Repeated, Visitor, of_blocks};
use crate::commit::Committed;
use crate::error::Error;
use crate::plan::{Blocks, Entries, List, Op, Program, Segments, items};

/// The number of segments that are looked up at a time.
const AT_ONCE: usize = 32;

/// At least this many iterations, of at most so many segments, are looked up once for all of them.
const FEWEST_ALIKE: u64 = 4;
const MOST_ALIKE: usize = 16;

/// A segment of memory: bytes of data that are contiguous both in memory and in the packed stream. (A
/// [`StridedCopy`](super::StridedCopy) is something else: equally spaced blocks, for a backend.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Displacement in bytes of the first byte, from the origin of the first instance.
    pub disp: i64,
    /// The number of bytes.
    pub len: u64,
}

impl Segment {
    const NONE: Self = Self { disp: 0, len: 0 };

    /// The displacement after the last byte.
    const fn end(self) -> i64 {
        self.disp.wrapping_add(self.len.cast_signed())
    }
}

/// The segments of memory of a range of the packed stream, in the order of the stream. Segments that touch are
/// joined, even where one instance ends and the next begins.
///
/// Counting and skipping segments takes time logarithmic in the number of blocks. Methods that consume all of them, such
/// as [`for_each`](Iterator::for_each) and [`sum`](Iterator::sum), take a third of the time that [`next`](Iterator::next)
/// takes for each.
#[derive(Clone, Debug)]
pub struct Iov<'a> {
    instances: Instances<'a>,
    /// Of the instances, if they are known.
    segments: Option<&'a [Segments; 3]>,
    /// The range of packed bytes that have not been looked up yet.
    range: Range<u64>,
    /// Those that were looked up last. Whoever takes all segments at once may never need a buffer.
    first: Option<FirstSegments<AT_ONCE>>,
}

/// The first segments of a range, at most `N`, each of them maximal.
#[derive(Clone, Debug)]
pub(super) struct FirstSegments<const N: usize> {
    segments: [Segment; N],
    len: usize,
    /// The number of them that have been taken.
    taken: usize,
}

impl<const N: usize> FirstSegments<N> {
    const fn new() -> Self {
        Self { segments: [Segment::NONE; N], len: 0, taken: 0 }
    }

    /// The first segments of a range.
    pub(super) fn of(instances: &Instances<'_>, range: Range<u64>) -> Self {
        let mut found = Self::new();
        found.look_up(instances, range);
        found
    }

    /// The first segments of a range, instead of those found before.
    fn look_up(&mut self, instances: &Instances<'_>, range: Range<u64>) {
        self.taken = 0;
        self.len = find(instances, range, &mut self.segments);
    }

    /// The segments that have not been taken.
    fn rest(&self) -> &[Segment] {
        &self.segments[self.taken..self.len]
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

/// Finds the first segments of a range, as many as there are and fit into `room`; returns their number.
fn find<R: Room + ?Sized>(instances: &Instances<'_>, range: Range<u64>, room: &mut R) -> usize {
    let mut finder = Finder { room, found: 0, full: None };
    let _ = instances.visit(range, &mut finder);
    finder.found
}

/// Room for segments: an array, whose length the compiler knows, or a slice.
trait Room: AsRef<[Segment]> + AsMut<[Segment]> {}

impl<R: AsRef<[Segment]> + AsMut<[Segment]> + ?Sized> Room for R {}

/// Finds the segments of a range, in order.
struct Finder<'a, R: ?Sized> {
    room: &'a mut R,
    /// The number of segments in `room`.
    found: usize,
    /// What takes the segments found where there is no room for another one. Without it, the visit ends there.
    full: Option<Take<'a>>,
}

type Take<'a> = &'a mut dyn FnMut(&[Segment]);

impl<R: Room + ?Sized> Finder<'_, R> {
    /// Adds a segment that does not touch the one before it.
    #[inline(always)]
    fn add(&mut self, segment: Segment) -> ControlFlow<()> {
        if self.found == self.room.as_ref().len() {
            let Some(full) = &mut self.full else { return ControlFlow::Break(()) };
            full(self.room.as_ref());
            self.found = 0;
        }
        if let Some(next) = self.room.as_mut().get_mut(self.found) {
            *next = segment;
            self.found += 1;
        }
        ControlFlow::Continue(())
    }

    /// Adds blocks of which no two neighbours touch.
    #[inline(always)]
    fn apart(&mut self, mut blocks: impl Iterator<Item = Segment>) -> ControlFlow<()> {
        let Some(first) = blocks.next() else { return ControlFlow::Continue(()) };
        self.run(first.disp, first.len)?;
        while let Some(block) = blocks.next() {
            self.add(block)?;
            // As many as there is room for, without asking for each.
            let room = self.room.as_mut().iter_mut().skip(self.found);
            self.found += room.zip(blocks.by_ref()).map(|(room, block)| *room = block).count();
        }
        ControlFlow::Continue(())
    }

    /// Iterations, in order, until there is no room for another segment.
    fn iterations(&mut self, repeated: &Repeated<'_>) -> ControlFlow<()> {
        let Repeated { ops, program, count, stride, mut shift } = *repeated;
        if let [Op::Blocks(only)] = ops
            && only.count == 1
        {
            return self.blocks(&Blocks { count, stride, ..only.shifted(shift) });
        }
        // Not where a single segment is looked for.
        if self.room.as_ref().len() >= MOST_ALIKE && count >= FEWEST_ALIKE {
            let mut one = [Segment::NONE; MOST_ALIKE];
            let mut finder = Finder { room: &mut one, found: 0, full: None };
            let all = finder.once(ops, program, 0);
            let one = &finder.room[..finder.found];
            if all.is_continue()
                && let [first, .., last] | [first @ last] = one
                && last.end() != first.disp.wrapping_add(stride)
            {
                return self.alike(one, count, stride, shift);
            }
        }
        for _ in 0..count {
            self.once(ops, program, shift)?;
            shift = shift.wrapping_add(stride);
        }
        ControlFlow::Continue(())
    }

    /// Adds the segments of iterations that do not touch one another: those of `one`, shifted for each.
    fn alike(
        &mut self,
        one: &[Segment],
        count: u64,
        stride: i64,
        mut shift: i64,
    ) -> ControlFlow<()> {
        let mut rest = one;
        if let [first, others @ ..] = one {
            // It may touch what came before.
            self.run(first.disp.wrapping_add(shift), first.len)?;
            rest = others;
        }
        for _ in 0..count {
            for Segment { disp, len } in rest {
                self.add(Segment { disp: disp.wrapping_add(shift), len: *len })?;
            }
            rest = one;
            shift = shift.wrapping_add(stride);
        }
        ControlFlow::Continue(())
    }

    /// One execution of operations.
    fn once(&mut self, ops: &[Op], program: &Program, shift: i64) -> ControlFlow<()> {
        items(ops).try_for_each(|(op, body)| self.operation(op, body, program, shift))
    }

    /// One execution of an operation.
    fn operation(
        &mut self,
        op: &Op,
        body: &[Op],
        program: &Program,
        shift: i64,
    ) -> ControlFlow<()> {
        match *op {
            Op::Blocks(Blocks { disp, len, count: 1, .. }) => {
                self.run(disp.wrapping_add(shift), len)
            }
            Op::Blocks(blocks) => self.blocks(&blocks.shifted(shift)),
            Op::List(list) => self.list(&list, program, shift),
            // Converted values differ in memory from the stream: they are no segments.
            Op::Elements(_) => ControlFlow::Continue(()),
            Op::Loop { count, stride, .. } => {
                self.iterations(&Repeated { ops: body, program, count, stride, shift })
            }
        }
    }
}

impl<R: Room + ?Sized> Visitor for Finder<'_, R> {
    #[inline]
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        if let Some(last) = self.room.as_mut()[..self.found].last_mut()
            && last.end() == disp
        {
            last.len += len;
            return ControlFlow::Continue(());
        }
        self.add(Segment { disp, len })
    }

    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        self.apart(segments(&blocks.normalized()))
    }

    fn list(&mut self, list: &List, program: &Program, shift: i64) -> ControlFlow<()> {
        let disp = list.disp().wrapping_add(shift);
        let at = |offset: u64, len| Segment { disp: disp.wrapping_add(offset.cast_signed()), len };
        match program.entries(list) {
            Entries::Even(offsets, len) => {
                self.apart(offsets.iter().map(|offset| at((*offset).into(), len)))
            }
            Entries::Varied(entries) => self.apart(
                entries
                    .iter()
                    .zip(entries.iter().skip(1))
                    .map(|([offset, start], [_, end])| at((*offset).into(), (end - start).into())),
            ),
            Entries::WideEven(offsets, len) => {
                self.apart(offsets.iter().map(|offset| at(*offset, len)))
            }
            Entries::WideVaried(entries) => self.apart(
                entries
                    .iter()
                    .zip(entries.iter().skip(1))
                    .map(|([offset, start], [_, end])| at(*offset, end - start)),
            ),
        }
    }

    /// Whole iterations, without a descent to each operation.
    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        Some(self.iterations(repeated))
    }
}

/// Folds the segments of blocks of which no two touch, without a buffer.
struct Each<B, F> {
    /// Absent only while `f` has it.
    folded: Option<B>,
    f: F,
}

impl<B, F: FnMut(B, Segment) -> B> Each<B, F> {
    #[inline(always)]
    fn all(&mut self, segments: impl Iterator<Item = Segment>) -> ControlFlow<()> {
        self.folded = self.folded.take().map(|folded| segments.fold(folded, &mut self.f));
        ControlFlow::Continue(())
    }

    fn folded(self) -> B {
        self.folded.unwrap_or_else(|| unreachable!("it is put back after each call"))
    }
}

impl<B, F: FnMut(B, Segment) -> B> Visitor for Each<B, F> {
    #[inline]
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        self.all(core::iter::once(Segment { disp, len }))
    }

    #[inline]
    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        self.all(segments(blocks))
    }
}

/// The segments of blocks of which no two neighbours touch.
#[inline(always)]
fn segments(blocks: &Blocks) -> impl Iterator<Item = Segment> {
    let Blocks { disp, len, count, stride } = *blocks;
    let mut next = disp;
    (0..count).map(move |_| {
        let disp = next;
        next = next.wrapping_add(stride);
        Segment { disp, len }
    })
}

impl<'a> Iov<'a> {
    #[inline]
    pub(super) fn new(
        instances: Instances<'a>,
        segments: Option<&'a [Segments; 3]>,
        range: Range<u64>,
    ) -> Self {
        Self { instances, segments, range, first: None }
    }

    /// The segments of a constant program of `size` packed bytes, executed once.
    pub(crate) fn of_program(ops: &'a [Op], size: u64) -> Self {
        Self::new(Instances::of_program(ops, None, size, 0, 1), None, 0..size)
    }

    /// The position of the next segment in the packed stream, to resume there later.
    pub fn position(&self) -> u64 {
        let buffered = self.buffered();
        self.range.start - buffered.iter().map(|segment| segment.len).sum::<u64>()
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
            // In this order, because there may be nearly 2⁶⁴ segments.
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
                first.taken += few;
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
    /// For windows of 64 segments this takes 0.6 of the time of [`next`](Iterator::next).
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
    pub fn fill(&mut self, room: &mut [Segment]) -> usize {
        let buffered = self.buffered();
        let few = buffered.len().min(room.len());
        let (first, room) = room.split_at_mut(few);
        first.copy_from_slice(&buffered[..few]);
        if let Some(first) = &mut self.first {
            first.taken += few;
        }
        // Those that are left in the buffer come first next time.
        if room.is_empty() {
            return few;
        }
        let found = find(&self.instances, self.range.clone(), room);
        self.range.start += room[..found].iter().map(|segment| segment.len).sum::<u64>();
        few + found
    }

    /// The segments that were looked up and not taken.
    #[inline]
    fn buffered(&self) -> &[Segment] {
        self.first.as_ref().map_or(&[], FirstSegments::rest)
    }

    /// Looks up the next segments.
    #[inline(never)]
    fn look_up(&mut self) {
        let first = self.first.get_or_insert_with(FirstSegments::new);
        first.look_up(&self.instances, self.range.clone());
        self.range.start += first.rest().iter().map(|segment| segment.len).sum::<u64>();
    }

    fn with_segments<R>(&self, look: impl FnOnce(&Instances<'a>, &[Segments; 3]) -> R) -> R {
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

    /// Exact.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let segments = usize::try_from(self.segments()).ok();
        (segments.unwrap_or(usize::MAX), segments)
    }

    fn count(self) -> usize {
        usize::try_from(self.segments()).unwrap_or(usize::MAX)
    }

    /// Visits all of the range at once, where `next` returns to it for every few segments.
    fn fold<B, F: FnMut(B, Segment) -> B>(mut self, init: B, mut f: F) -> B {
        let folded = self.buffered().iter().copied().fold(init, &mut f);
        let Self { instances, range, first, .. } = &mut self;
        if let Some(all) = instances.single()
            && !range.is_empty()
        {
            let mut each = Each { folded: Some(folded), f };
            let _ = of_blocks(all, range.clone(), &mut each);
            return each.folded();
        }
        let mut folded = Some(folded);
        let mut take = |segments: &[Segment]| {
            folded = folded.take().map(|folded| segments.iter().copied().fold(folded, &mut f));
        };
        let room = &mut first.get_or_insert_with(FirstSegments::new).segments;
        let mut finder = Finder { room: &mut *room, found: 0, full: Some(&mut take) };
        let _ = instances.visit(range.clone(), &mut finder);
        let found = finder.found;
        take(&room[..found]);
        folded.unwrap_or_else(|| unreachable!("it is put back after each call"))
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
    /// The segments of memory that hold a range of the packed bytes of `count` instances, relative to the origin. The
    /// range may start anywhere; [`Iov::position`] is where to resume.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`] if the packed bytes of all instances do not fit a `usize`; [`Error::Position`] if the range
    /// ends past the last byte, or before it starts.
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
        let end = self.packed_size(count)? as u64;
        if range.end > end || range.start > range.end {
            return Err(Error::Position { position: range.end.max(range.start), end });
        }
        let instances = Instances::of_plan(self.plan(), count as u64);
        Ok(Iov::new(instances, self.plan().segments(), range))
    }
}
