//! The segments of memory that hold packed bytes, for `writev` and for network cards that read memory themselves.

use core::iter::FusedIterator;
use core::ops::{ControlFlow, Range};

use super::cursor::{Instances, Repeated, Visitor};
use crate::commit::Committed;
use crate::error::Error;
use crate::plan::{Blocks, Entries, List, Lists, Op, Plan, Program, Segments, items};

/// The number of segments that are looked up at a time.
const AT_ONCE: usize = 32;

/// At least this many iterations, of at most so many segments, are looked up once for all of them.
const FEWEST_ALIKE: u64 = 4;
const MOST_ALIKE: usize = 16;

/// Rows of at least this many blocks are looked up row by row.
const LONG_ROW: u64 = 8;

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

    /// The first segments of a range, instead of those found before; returns their bytes.
    fn look_up(&mut self, instances: &Instances<'_>, range: Range<u64>) -> u64 {
        let found = find(*instances, range, &mut self.segments);
        (self.taken, self.len) = (0, found.segments);
        found.bytes
    }

    /// The segments that have not been taken.
    fn rest(&self) -> &[Segment] {
        &self.segments[self.taken..self.len]
    }

    /// The bytes of those.
    #[inline(never)]
    fn bytes(self) -> u64 {
        self.rest().iter().map(|segment| segment.len).sum()
    }

    /// Moves the next segments into `room`, as many as there are and fit; returns their number, and the others.
    #[inline(never)]
    fn moved(mut self, room: &mut [Segment]) -> (usize, Option<Self>) {
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

/// What was found.
struct Found {
    segments: usize,
    /// The bytes of the segments.
    bytes: u64,
}

/// Finds the first segments of a range, as many as there are and fit into `room`.
fn find<R: Room + ?Sized>(instances: Instances<'_>, range: Range<u64>, room: &mut R) -> Found {
    let mut finder = Finder { room, found: 0, bytes: 0 };
    let _ = match instances.single() {
        // All of them, without the divisions that find where the range starts and ends.
        Some(all) if range == (0..instances.size()) && !range.is_empty() => {
            finder.apart(segments(*all))
        }
        _ => instances.visit(range, &mut finder),
    };
    Found { segments: finder.found, bytes: finder.bytes }
}

/// [`find`] for a slice.
#[inline(always)]
fn fill(instances: &Instances<'_>, range: Range<u64>, room: &mut [Segment]) -> Found {
    match instances.plan() {
        Some((plan, count)) => fill_of_plan(plan, count, range, room),
        None => find(*instances, range, room),
    }
}

/// Numbers in registers instead of [`Instances`] in memory.
#[inline(never)]
fn fill_of_plan(plan: &Plan, count: u64, range: Range<u64>, room: &mut [Segment]) -> Found {
    find(Instances::of_plan(plan, count), range, room)
}

/// Room for segments: an array, whose length the compiler knows, or a slice.
trait Room: AsRef<[Segment]> + AsMut<[Segment]> {}

impl<R: AsRef<[Segment]> + AsMut<[Segment]> + ?Sized> Room for R {}

/// Finds the segments of a range, in order.
struct Finder<'a, R: ?Sized> {
    room: &'a mut R,
    /// The number of segments in `room`.
    found: usize,
    /// The bytes of all segments that were found.
    bytes: u64,
}

impl<R: Room + ?Sized> Finder<'_, R> {
    /// Adds segments that touch neither the last one nor each other, as many as there is room for; returns their number.
    #[inline(always)]
    fn put(&mut self, segments: impl Iterator<Item = Segment>) -> usize {
        let room = self.room.as_mut().get_mut(self.found..).unwrap_or_default();
        let (mut found, mut bytes) = (0, 0);
        for (room, segment) in room.iter_mut().zip(segments) {
            *room = segment;
            found += 1;
            bytes += segment.len;
        }
        self.found += found;
        self.bytes += bytes;
        found
    }
}

impl<R: Room + ?Sized> Taker for Finder<'_, R> {
    #[inline]
    fn take(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        if let Some(last) = self.room.as_mut()[..self.found].last_mut()
            && last.end() == disp
        {
            last.len += len;
            self.bytes += len;
            return ControlFlow::Continue(());
        }
        let next = self.room.as_mut().get_mut(self.found);
        let Some(next) = next else { return ControlFlow::Break(()) };
        *next = Segment { disp, len };
        self.found += 1;
        self.bytes += len;
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn apart(&mut self, mut blocks: impl Iterator<Item = Segment>) -> ControlFlow<()> {
        let Some(first) = blocks.next() else { return ControlFlow::Continue(()) };
        self.take(first.disp, first.len)?;
        let number = blocks.size_hint().0;
        if self.put(blocks) == number { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    #[inline(always)]
    fn each_apart(&mut self, mut blocks: impl Iterator<Item = Segment>) -> ControlFlow<()> {
        let Some(first) = blocks.next() else { return ControlFlow::Continue(()) };
        self.take(first.disp, first.len)?;
        self.put(blocks.by_ref());
        if blocks.next().is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn takes_many(&self) -> bool {
        self.room.as_ref().len() >= MOST_ALIKE
    }
}

/// Folds the segments of a range, in order.
struct Folder<B, F> {
    /// Absent only while `f` has it.
    folded: Option<B>,
    f: F,
    /// The last segment, which may go on. Of no bytes before the first one.
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
        let before = core::mem::replace(last, Segment { disp, len });
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
        // In a register.
        let mut before = *last;
        let next = |folded, block| f(folded, core::mem::replace(&mut before, block));
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

/// What takes segments, in order, and joins those that touch.
trait Taker: Sized {
    /// A segment, or more of the last one.
    fn take(&mut self, disp: i64, len: u64) -> ControlFlow<()>;

    /// Blocks of which no two neighbours touch; the first may touch what came before. They know their number (`size_hint`), so
    /// that the compiler makes several at a time.
    fn apart(&mut self, blocks: impl Iterator<Item = Segment>) -> ControlFlow<()>;

    /// As [`apart`](Self::apart), for blocks that do not know their number.
    fn each_apart(&mut self, blocks: impl Iterator<Item = Segment>) -> ControlFlow<()>;

    /// Whether it is worth a table to make many segments fast.
    fn takes_many(&self) -> bool;

    /// Iterations, in order.
    fn iterations(&mut self, repeated: &Repeated<'_>) -> ControlFlow<()> {
        let Repeated { ops, program, count, stride, mut shift } = *repeated;
        if let [Op::Blocks(only)] = ops
            && only.count == 1
        {
            let all = Blocks { count, stride, ..only.shifted(shift) };
            return self.apart(segments(all.normalized()));
        }
        if let Some(row) = repeated.row() {
            let mut rows = segments(Blocks { count, stride, ..row.shifted(shift) });
            return rows
                .try_for_each(|Segment { disp, .. }| self.apart(segments(Blocks { disp, ..row })));
        }
        if count >= FEWEST_ALIKE && self.takes_many() {
            let mut one = [Segment::NONE; MOST_ALIKE];
            if let Some(one) = repeated.alike(&mut one) {
                return self.each_apart(shifted_each(repeated, move || one.iter().copied()));
            }
        }
        for _ in 0..count {
            self.once(ops, program, shift)?;
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
                self.take(disp.wrapping_add(shift), len)
            }
            Op::Blocks(blocks) => self.apart(segments(blocks.shifted(shift).normalized())),
            Op::List(list) => self.listed(&list, program.lists(), shift),
            // Converted values differ in memory from the stream: they are no segments.
            Op::Elements(_) => ControlFlow::Continue(()),
            Op::Loop { count, stride, .. } => {
                self.iterations(&Repeated { ops: body, program, count, stride, shift })
            }
        }
    }

    /// The blocks of a list. Neighbours do not touch: they would be one block.
    fn listed(&mut self, list: &List, lists: &Lists, shift: i64) -> ControlFlow<()> {
        let disp = list.disp().wrapping_add(shift);
        let at = |offset: u64, len| Segment { disp: disp.wrapping_add(offset.cast_signed()), len };
        match lists.entries(list) {
            Entries::Even(offsets, len) => {
                self.apart(offsets.iter().map(|offset| at((*offset).into(), len)))
            }
            Entries::Varied(entries) => self.apart(
                entries
                    .iter()
                    .zip(entries.get(1..).unwrap_or_default())
                    .map(|([offset, start], [_, end])| at((*offset).into(), (end - start).into())),
            ),
            Entries::WideEven(offsets, len) => {
                self.apart(offsets.iter().map(|offset| at(*offset, len)))
            }
            Entries::WideVaried(entries) => self.apart(
                entries
                    .iter()
                    .zip(entries.get(1..).unwrap_or_default())
                    .map(|([offset, start], [_, end])| at(*offset, end - start)),
            ),
        }
    }
}

impl<T: Taker> Visitor for T {
    #[inline]
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        self.take(disp, len)
    }

    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        self.apart(segments(blocks.normalized()))
    }

    fn list(&mut self, list: &List, lists: &Lists, shift: i64) -> ControlFlow<()> {
        self.listed(list, lists, shift)
    }

    /// Whole iterations, without a descent to each operation.
    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        Some(self.iterations(repeated))
    }
}

/// The segments of blocks of which no two neighbours touch.
#[inline(always)]
fn segments(blocks: Blocks) -> impl Iterator<Item = Segment> {
    let Blocks { disp, len, count, stride } = blocks;
    (0..count).map(move |index| {
        let disp = disp.wrapping_add(stride.wrapping_mul(index.cast_signed()));
        Segment { disp, len }
    })
}

/// The segments of iterations that do not touch one another, each of which has the same segments.
#[inline(always)]
fn shifted_each<I: Iterator<Item = Segment>>(
    repeated: &Repeated<'_>,
    one: impl Fn() -> I,
) -> impl Iterator<Item = Segment> {
    let Repeated { count, stride, shift, .. } = *repeated;
    (0..count).flat_map(move |iteration| {
        let shift = shift.wrapping_add(stride.wrapping_mul(iteration.cast_signed()));
        one().map(move |segment| segment.shifted(shift))
    })
}

impl Repeated<'_> {
    /// The blocks of an iteration for a shift of 0, if they are many, no two of them touch, nor do two iterations.
    fn row(&self) -> Option<Blocks> {
        let [Op::Blocks(row)] = self.ops else { return None };
        let row = row.normalized();
        let touches_next = row.last_end() == row.disp.wrapping_add(self.stride);
        (row.count >= LONG_ROW && !touches_next).then_some(row)
    }

    /// The segments of an iteration for a shift of 0, if they are few and the iterations do not touch one another.
    fn alike<'s>(&self, one: &'s mut [Segment; MOST_ALIKE]) -> Option<&'s [Segment]> {
        let mut finder = Finder { room: &mut *one, found: 0, bytes: 0 };
        let all = finder.once(self.ops, self.program, 0);
        let found = finder.found;
        if all.is_break() {
            return None;
        }
        let one = &one[..found];
        let ([first, .., last] | [first @ last]) = one else { return None };
        (last.end() != first.disp.wrapping_add(self.stride)).then_some(one)
    }
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
    #[inline]
    pub fn position(&self) -> u64 {
        // By value, as in `fill`.
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
    /// For windows of 64 segments this takes half of the time of [`next`](Iterator::next).
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
        // By value: an iterator to which nothing has a pointer stays in registers, as long as it has no buffer.
        let (few, rest) = match self.first.take() {
            None => (0, None),
            Some(first) => first.moved(room),
        };
        self.first = rest;
        // Those that are left in the buffer come first next time.
        if few == room.len() {
            return few;
        }
        let found = fill(&self.instances, self.range.clone(), &mut room[few..]);
        self.range.start += found.bytes;
        few + found.segments
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
        self.range.start += first.look_up(&self.instances, self.range.clone());
    }

    fn with_segments<R>(&self, look: impl FnOnce(&Instances<'a>, &[Segments; 3]) -> R) -> R {
        match self.segments {
            Some(segments) => look(&self.instances, segments),
            None => look(&self.instances, &self.instances.segments()),
        }
    }
}

/// Folds the segments of a range.
fn fold<B, F: FnMut(B, Segment) -> B>(
    instances: Instances<'_>,
    range: Range<u64>,
    folded: B,
    f: F,
) -> B {
    if range.is_empty() {
        return folded;
    }
    let mut folder = Folder { folded: Some(folded), f, last: Segment::NONE };
    let _ = instances.visit(range, &mut folder);
    folder.folded()
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
    #[inline]
    fn fold<B, F: FnMut(B, Segment) -> B>(self, init: B, mut f: F) -> B {
        // The buffer is large. Without one, as here at first, it is not even moved.
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
        // Made anew for the call, so that until here they stay in registers.
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
    /// The segments of memory that hold a range of the packed bytes of `count` instances, relative to the origin. The
    /// range may start anywhere; [`Iov::position`] is where to resume.
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
        let end = self.packed_size(count)? as u64;
        if range.end > end || range.start > range.end {
            return Err(Error::Position { position: range.end.max(range.start), end });
        }
        if !self.displacements_fit(count) {
            return Err(Error::Overflow { call: "iov", quantity: "displacement" });
        }
        let instances = Instances::of_plan(self.plan(), count as u64);
        Ok(Iov::new(instances, self.plan().segments(), range))
    }
}
