//! The pieces of memory that packed bytes are in, for those who can take them from there: `writev`, and
//! network cards.

use core::iter::FusedIterator;
use core::ops::{ControlFlow, Range};

use super::cursor::{Instances, Visitor};
use super::packer::Packer;
use crate::commit::{Chain, Committed, Op};
use crate::error::Error;

/// How many pieces are looked up at a time.
const AT_ONCE: usize = 32;

/// A piece of memory: bytes of data that follow one another both in memory and in the packed stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Displacement in bytes of the first, from the origin of the first instance.
    pub disp: i64,
    /// How many bytes.
    pub len: u64,
}

/// The pieces of memory of a range of the packed stream, in the order of the stream. Pieces that touch are
/// one, also where one instance ends and the next begins.
///
/// Pieces are counted, and skipped, in a time that grows with the logarithm of the number of blocks.
#[derive(Clone, Debug)]
pub struct Iov<'a> {
    instances: Instances<'a>,
    /// Of the instances, if they are known.
    chains: Option<&'a [Chain; 3]>,
    /// The packed bytes that are not looked up yet.
    range: Range<u64>,
    found: Found<AT_ONCE>,
}

/// The first pieces of a range, no more than `N`, each with all that touches it.
#[derive(Clone, Debug)]
pub(super) struct Found<const N: usize> {
    segments: [Segment; N],
    len: usize,
    /// How many of them have been given away.
    given: usize,
}

impl<const N: usize> Found<N> {
    pub(super) fn new() -> Self {
        Self { segments: [Segment { disp: 0, len: 0 }; N], len: 0, given: 0 }
    }
}

impl<const N: usize> Iterator for Found<N> {
    type Item = Segment;

    #[inline]
    fn next(&mut self) -> Option<Segment> {
        let next = self.segments[..self.len].get(self.given)?;
        self.given += 1;
        Some(*next)
    }
}

impl<const N: usize> Visitor for Found<N> {
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        if let Some(last) = self.segments[..self.len].last_mut()
            && last.disp.wrapping_add(last.len.cast_signed()) == disp
        {
            last.len += len;
        } else if self.len < N {
            self.segments[self.len] = Segment { disp, len };
            self.len += 1;
        } else {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl<'a> Iov<'a> {
    #[inline]
    pub(super) fn new(
        instances: Instances<'a>,
        chains: Option<&'a [Chain; 3]>,
        range: Range<u64>,
    ) -> Self {
        Self { instances, chains, range, found: Found::new() }
    }

    /// The pieces of a constant program of so many packed bytes, executed once.
    pub(crate) fn of_program(ops: &'a [Op], size: u64) -> Self {
        Self::new(Instances::of_program(ops, None, size, 0, 1), None, 0..size)
    }

    /// Where in the packed stream the next piece starts: to go on from there another time.
    pub fn position(&self) -> u64 {
        let waiting = &self.found.segments[self.found.given..self.found.len];
        self.range.start - waiting.iter().map(|segment| segment.len).sum::<u64>()
    }

    /// How many pieces are left. As [`count`](Iterator::count), but they stay.
    #[doc(alias = "MPIX_Type_iov_len")]
    pub fn segments(&self) -> u64 {
        let waiting = (self.found.len - self.found.given) as u64;
        let Range { start, end } = self.range;
        if start >= end {
            return waiting;
        }
        self.with_chains(|instances, chains| {
            let [first, last] = [start, end - 1].map(|at| instances.number_of(chains, at));
            // In this order, as there may be nearly as many as 64 bits can count.
            last - first + 1 + waiting
        })
    }

    /// Goes on behind the next pieces, so many or as many as are left, and returns how many that were: to go on
    /// with a piece whose number is known, another time.
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
    #[doc(alias = "yaksa_iov")]
    #[inline]
    pub fn skip_segments(&mut self, segments: u64) -> u64 {
        let waiting = self.found.len - self.found.given;
        if let Ok(few) = usize::try_from(segments)
            && few <= waiting
        {
            self.found.given += few;
            return segments;
        }
        let rest = segments - waiting as u64;
        let Range { start, end } = self.range;
        let (to, skipped) = if start >= end {
            (end, 0)
        } else {
            self.with_chains(|instances, chains| {
                let number = if start == 0 { 0 } else { instances.number_of(chains, start) };
                let to = instances.start_of(chains, number.saturating_add(rest));
                if to < end {
                    return (to, rest);
                }
                (end, instances.number_of(chains, end - 1) - number + 1)
            })
        };
        (self.found.len, self.found.given) = (0, 0);
        self.range.start = to;
        waiting as u64 + skipped
    }

    fn with_chains<R>(&self, look: impl FnOnce(&Instances<'a>, &[Chain; 3]) -> R) -> R {
        match self.chains {
            Some(chains) => look(&self.instances, chains),
            None => look(&self.instances, &self.instances.chains()),
        }
    }
}

impl Iterator for Iov<'_> {
    type Item = Segment;

    #[inline]
    fn next(&mut self) -> Option<Segment> {
        if self.found.given == self.found.len {
            (self.found.len, self.found.given) = (0, 0);
            let _ = self.instances.visit(self.range.clone(), &mut self.found);
            let bytes: u64 =
                self.found.segments[..self.found.len].iter().map(|segment| segment.len).sum();
            self.range.start += bytes;
        }
        self.found.next()
    }

    /// Exact.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let segments = usize::try_from(self.segments()).ok();
        (segments.unwrap_or(usize::MAX), segments)
    }

    fn count(self) -> usize {
        usize::try_from(self.segments()).unwrap_or(usize::MAX)
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
    /// The pieces of memory that a range of the packed bytes of `count` instances is in, relative to the
    /// origin. It starts anywhere, at once: [`Iov::position`] is where to go on.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::Position`] when the range ends behind the last byte, or before it
    /// starts.
    ///
    /// ```
    /// use dtype_runtime::convertor::Segment;
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(3, 1, 4, &Type::basic(Basic::U16))?.commit();
    /// let pieces: Vec<Segment> = column.iov(1, 1..6)?.collect();
    /// let segment = |disp, len| Segment { disp, len };
    /// assert_eq!(pieces, [segment(1, 1), segment(8, 2), segment(16, 2)]);
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
        Ok(Iov::new(instances, self.plan().chains(), range))
    }
}

impl<'a> Packer<'a> {
    /// The rest of the stream where it is in memory, piece by piece, without a copy: what `writev` takes.
    ///
    /// ```
    /// use dtype_runtime::Packer;
    /// #[repr(C)]
    /// #[derive(dtype_runtime::Datatype)]
    /// struct Sample {
    ///     value: u16,
    ///     flag: u8,
    /// }
    /// let samples = [Sample { value: 0x0101, flag: 2 }, Sample { value: 0x0303, flag: 4 }];
    /// let pieces: Vec<&[u8]> = Packer::new(&samples).chunks().collect();
    /// assert_eq!(pieces, [&[1, 1, 2], &[3, 3, 4]]);
    /// ```
    pub fn chunks(&self) -> impl FusedIterator<Item = &'a [u8]> + use<'a, '_> {
        self.segments().map(|segment| self.lend(segment))
    }
}
