//! The pieces of memory that packed bytes are in, for those who can take them from there: `writev`, and
//! network cards.

use core::iter::FusedIterator;
use core::ops::{ControlFlow, Range};

use super::cursor::{Instances, Visitor};
use super::packer::Packer;
use crate::commit::{Committed, Op};
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
#[derive(Clone, Debug)]
pub struct Iov<'a> {
    instances: Instances<'a>,
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
    pub(super) fn new(instances: Instances<'a>, range: Range<u64>) -> Self {
        Self { instances, range, found: Found::new() }
    }

    /// The pieces of a constant program of so many packed bytes, executed once.
    pub(crate) fn of_program(ops: &'a [Op], size: u64) -> Self {
        Self::new(Instances::of_program(ops, size, 0, 1), 0..size)
    }

    /// Where in the packed stream the next piece starts: to go on from there another time.
    pub fn position(&self) -> u64 {
        let waiting = &self.found.segments[self.found.given..self.found.len];
        self.range.start - waiting.iter().map(|segment| segment.len).sum::<u64>()
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
    pub fn iov(&self, count: usize, range: Range<u64>) -> Result<Iov<'_>, Error> {
        let end = self.packed_size(count)? as u64;
        if range.end > end || range.start > range.end {
            return Err(Error::Position { position: range.end.max(range.start), end });
        }
        Ok(Iov::new(Instances::of_plan(self.plan(), count as u64), range))
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
