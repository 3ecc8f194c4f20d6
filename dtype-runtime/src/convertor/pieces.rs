//! The pieces of a fragment, for memory that is not reached by loads and stores.

use core::ops::{ControlFlow, Range};

use super::cursor::{Instances, Repeated, Visitor};
use crate::commit::{Blocks, Op};

/// Blocks of the memory behind a [`Backend`](super::Backend), with their places in a fragment: what one strided
/// copy moves, which has a distance of its own on each side.
///
/// The memory's and the fragment's bytes are counted from their first ones.
///
/// ```
/// use dtype_runtime::convertor::Piece;
/// // Two blocks of 3 bytes: 10 to 12 of the memory at 0 of the fragment, 18 to 20 at 5.
/// let piece = Piece { offset: 10, len: 3, count: 2, stride: 8, place: 0, step: 5 };
/// assert!(piece.blocks().eq([(10, 0), (18, 5)]));
/// assert_eq!(piece.pitch(), Some(8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where the first block starts in the memory, in bytes.
    pub offset: u64,
    /// Bytes of each block, at least one.
    pub len: usize,
    /// Number of blocks, at least one.
    pub count: usize,
    /// Bytes from the start of one block to that of the next in the memory. It may be negative, or, where the
    /// type names bytes more than once, shorter than a block; of no meaning for a single block.
    pub stride: i64,
    /// Where the first block starts in the fragment, in bytes.
    pub place: usize,
    /// Bytes from the start of one block to that of the next in the fragment, never fewer than a block has.
    pub step: usize,
}

impl Piece {
    /// Where each block starts in the memory and in the fragment, in bytes.
    pub fn blocks(self) -> impl ExactSizeIterator<Item = (u64, usize)> {
        (0..self.count).map(move |index| {
            let way = self.stride.wrapping_mul(index as i64);
            let place = self.place.wrapping_add(self.step.wrapping_mul(index));
            (self.offset.wrapping_add_signed(way), place)
        })
    }

    /// Bytes from one row of the memory to the next, if the blocks can be the rows of a two-dimensional copy,
    /// which wants rows in ascending order that do not overlap: the pitch of `cuMemcpy2DAsync`. The pitch in the
    /// fragment is [`step`](Self::step). `None` means one copy for each of the [`blocks`](Self::blocks).
    pub fn pitch(&self) -> Option<u64> {
        let len = self.len as u64;
        if self.count == 1 {
            return Some(len);
        }
        u64::try_from(self.stride).ok().filter(|pitch| *pitch >= len)
    }
}

impl Piece {
    /// Both in one, if `next` continues this one.
    fn followed_by(&self, next: &Self) -> Option<Self> {
        let last = self.count - 1;
        let offset =
            self.offset.wrapping_add_signed(self.stride.wrapping_mul(last.cast_signed() as i64));
        let stride = next.offset.wrapping_sub(offset).cast_signed();
        // What the pieces of repetitions interleave with was before.
        let step = next.place.checked_sub(self.place + self.step * last)?;
        if self.count == 1 && next.count == 1 && (stride, step) == (self.len as i64, self.len) {
            let len = self.len + next.len;
            return Some(Self { len, step: len, ..*self });
        }
        let continues =
            |piece: &Self| piece.count == 1 || (piece.stride, piece.step) == (stride, step);
        let both = self.len == next.len && step >= self.len && continues(self) && continues(next);
        both.then_some(Self { count: self.count + next.count, stride, step, ..*self })
    }
}

/// The pieces of one fragment. They are worked out while they are handed over, each time anew, so there may be
/// any number of them, and nothing is allocated.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    instances: Instances<'a>,
    range: Range<u64>,
    /// Where displacement 0 of the first instance is in the memory.
    origin: u64,
}

impl<'a> Pieces<'a> {
    /// The range must be no longer than a slice can be.
    pub(super) fn new(instances: Instances<'a>, range: Range<u64>, origin: u64) -> Self {
        Self { instances, range, origin }
    }

    /// Bytes of the fragment, each of which is in one block of one piece.
    #[expect(clippy::cast_possible_truncation, reason = "no longer than a slice")]
    pub fn bytes(&self) -> usize {
        (self.range.end - self.range.start) as usize
    }

    /// Hands the pieces over, until one is refused. Their order is the engine's choice, and means nothing: they
    /// may be copied in any.
    ///
    /// # Errors
    ///
    /// The first one that `take` returns.
    pub fn try_for_each<E>(&self, take: impl FnMut(Piece) -> Result<(), E>) -> Result<(), E> {
        let Self { instances, range, origin } = self;
        let mut giver = Giver { origin: *origin, place: 0, held: None, take, result: Ok(()) };
        let visited = instances.visit(range.clone(), &mut giver);
        if visited.is_continue() {
            let _ = giver.release();
        }
        giver.result
    }

    /// Hands all pieces over, as [`try_for_each`](Self::try_for_each) does.
    pub fn for_each(&self, mut take: impl FnMut(Piece)) {
        let Ok(()) = self.try_for_each(|piece| {
            take(piece);
            Ok::<(), core::convert::Infallible>(())
        });
    }
}

/// Makes pieces of what the cursor finds.
struct Giver<F, E> {
    origin: u64,
    /// Where the next block is in the fragment.
    place: usize,
    /// The last piece, which the next one may touch.
    held: Option<Piece>,
    take: F,
    result: Result<(), E>,
}

impl<F: FnMut(Piece) -> Result<(), E>, E> Giver<F, E> {
    /// Hands over what was held back.
    fn release(&mut self) -> ControlFlow<()> {
        if let Some(piece) = self.held.take() {
            self.result = (self.take)(piece);
        }
        if self.result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Blocks that start at a displacement in the memory and a place in the fragment.
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a fragment")]
    fn give(&mut self, blocks: &Blocks, place: usize, step: usize) -> ControlFlow<()> {
        let Blocks { disp, len, count, stride } = *blocks;
        let (len, count) = (len as usize, count as usize);
        let offset = self.origin.wrapping_add_signed(disp);
        let piece = Piece { offset, len, count, stride, place, step };
        if let Some(both) = self.held.and_then(|held| held.followed_by(&piece)) {
            self.held = Some(both);
            return ControlFlow::Continue(());
        }
        let released = self.release();
        self.held = Some(piece);
        released
    }
}

impl<F: FnMut(Piece) -> Result<(), E>, E> Visitor for Giver<F, E> {
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        self.blocks(&Blocks { disp, len, count: 1, stride: 0 })
    }

    #[expect(clippy::cast_possible_truncation, reason = "bytes of a fragment")]
    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        let blocks = blocks.normalized();
        let place = self.place;
        self.place += (blocks.len * blocks.count) as usize;
        self.give(&blocks, place, blocks.len as usize)
    }

    /// The same block of all repetitions is one piece, where that makes fewer of them.
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a fragment")]
    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let Repeated { ops, count, stride, shift, .. } = *repeated;
        let (mut blocks, mut size) = (0_u64, 0_u64);
        for op in ops {
            let Op::Blocks(all) = op else { return None };
            blocks += all.count;
            size += all.len * all.count;
        }
        if u128::from(blocks) >= u128::from(count) * ops.len() as u128 {
            return None;
        }
        let mut place = self.place;
        self.place += (size * count) as usize;
        for op in ops {
            let Op::Blocks(all) = op else { continue };
            for index in 0..all.count {
                let disp = all.block(index).wrapping_add(shift);
                let column = Blocks { disp, len: all.len, count, stride };
                if self.give(&column, place, size as usize).is_break() {
                    return Some(ControlFlow::Break(()));
                }
                place += all.len as usize;
            }
        }
        Some(ControlFlow::Continue(()))
    }
}
