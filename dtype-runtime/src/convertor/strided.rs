//! The copies that make up a fragment, for memory that is not reached by loads and stores.

use core::ops::{ControlFlow, Range};

use super::cursor::{Instances, Repeated, Visitor};
use crate::plan::{Blocks, Op};

/// One strided copy between the memory of a [`Backend`](super::Backend) and a fragment: `count` blocks of `len`
/// bytes, with separate strides in the memory and in the fragment.
///
/// Offsets are in bytes, from the first byte of the memory and of the fragment. (A
/// [`Segment`](super::Segment) is something else: bytes that are contiguous on both sides.)
///
/// ```
/// use dtype_runtime::convertor::{Backend, StridedCopies};
/// use dtype_runtime::{Basic, Type};
/// struct Device([u8; 32]);
///
/// impl Backend for Device {
///     type Error = std::convert::Infallible;
///
///     fn size(&self) -> u64 {
///         32
///     }
///
///     fn read(&mut self, copies: &StridedCopies<'_>, out: &mut [u8]) -> Result<(), Self::Error> {
///         copies.for_each(|copy| {
///             // Two blocks of 3 bytes: 10 to 12 of the memory to 0 of the fragment, 18 to 20 to 3.
///             assert!(copy.blocks().eq([(10, 0), (18, 3)]));
///             assert_eq!(copy.pitch(), Some(8));
///             for (memory, fragment) in copy.blocks() {
///                 let block = &self.0[memory as usize..][..copy.len];
///                 out[fragment..fragment + copy.len].copy_from_slice(block);
///             }
///         });
///         Ok(())
///     }
/// #     fn write(&mut self, _: &StridedCopies<'_>, _: &[u8]) -> Result<(), Self::Error> { Ok(()) }
/// }
///
/// let blocks = Type::vector(2, 3, 8, &Type::basic(Basic::U8))?.commit();
/// let mut packer = blocks.packer_with(Device([7; 32]), 10, 1)?;
/// assert_eq!(packer.pack(&mut [0; 6]), Ok(6));
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StridedCopy {
    /// Where the first block starts in the memory, in bytes.
    pub memory_offset: u64,
    /// Bytes of each block, at least one.
    pub len: usize,
    /// Number of blocks, at least one.
    pub count: usize,
    /// Bytes from the start of one block to the start of the next in the memory. It may be negative, or, if the type
    /// names bytes more than once, shorter than a block. Unspecified for a single block.
    pub memory_stride: i64,
    /// Where the first block starts in the fragment, in bytes.
    pub fragment_offset: usize,
    /// Bytes from the start of one block to the start of the next in the fragment, at least `len`.
    pub fragment_stride: usize,
}

impl StridedCopy {
    /// Where each block starts in the memory and in the fragment, in bytes.
    pub fn blocks(self) -> impl ExactSizeIterator<Item = (u64, usize)> {
        (0..self.count).map(move |index| {
            let advance = self.memory_stride.wrapping_mul(index as i64);
            let fragment = self.fragment_stride.wrapping_mul(index);
            let memory = self.memory_offset.wrapping_add_signed(advance);
            (memory, self.fragment_offset.wrapping_add(fragment))
        })
    }

    /// Bytes from one row of the memory to the next, if the blocks can be the rows of a two-dimensional copy,
    /// whose rows ascend and do not overlap: the pitch of `cuMemcpy2DAsync`. The pitch in the fragment is
    /// [`fragment_stride`](Self::fragment_stride). `None` means one copy for each of the [`blocks`](Self::blocks).
    pub fn pitch(&self) -> Option<u64> {
        let len = self.len as u64;
        if self.count == 1 {
            return Some(len);
        }
        u64::try_from(self.memory_stride).ok().filter(|pitch| *pitch >= len)
    }

    /// Both in one, if `next` continues this one.
    fn followed_by(&self, next: &Self) -> Option<Self> {
        let last = self.count - 1;
        let way = self.memory_stride.wrapping_mul(last.cast_signed() as i64);
        let last_offset = self.memory_offset.wrapping_add_signed(way);
        let stride = next.memory_offset.wrapping_sub(last_offset).cast_signed();
        // The copies of repeated operations interleave in the fragment: then `next` may start before the last block.
        let step =
            next.fragment_offset.checked_sub(self.fragment_offset + self.fragment_stride * last)?;
        if self.count == 1 && next.count == 1 && (stride, step) == (self.len as i64, self.len) {
            let len = self.len + next.len;
            return Some(Self { len, fragment_stride: len, ..*self });
        }
        let continues = |copy: &Self| {
            copy.count == 1 || (copy.memory_stride, copy.fragment_stride) == (stride, step)
        };
        if self.len != next.len || !continues(self) || !continues(next) {
            return None;
        }
        let count = self.count + next.count;
        Some(Self { count, memory_stride: stride, fragment_stride: step, ..*self })
    }
}

/// The copies of one fragment. Each call computes them as it hands them over, so their number is not limited and
/// nothing is allocated.
#[derive(Clone, Debug)]
pub struct StridedCopies<'a> {
    instances: Instances<'a>,
    range: Range<u64>,
    /// The offset of displacement 0 of the first instance in the memory, modulo 2⁶⁴.
    origin: u64,
}

impl<'a> StridedCopies<'a> {
    /// The range must be no longer than a slice can be.
    pub(super) fn new(instances: Instances<'a>, range: Range<u64>, origin: u64) -> Self {
        Self { instances, range, origin }
    }

    /// The number of bytes of the fragment. Each of them is in one block of one copy.
    #[expect(clippy::cast_possible_truncation, reason = "no longer than a slice")]
    pub fn bytes(&self) -> usize {
        (self.range.end - self.range.start) as usize
    }

    /// Hands the copies to `take`, until it returns an error. Their order is unspecified, and they may be executed
    /// in any order.
    ///
    /// # Errors
    ///
    /// The first error that `take` returns.
    pub fn try_for_each<E>(&self, take: impl FnMut(StridedCopy) -> Result<(), E>) -> Result<(), E> {
        let Self { instances, range, origin } = self;
        let mut builder =
            CopyBuilder { origin: *origin, fragment: 0, last: None, take, result: Ok(()) };
        let visited = instances.visit(range.clone(), &mut builder);
        if visited.is_continue() {
            let _ = builder.hand_over();
        }
        builder.result
    }

    /// Hands all copies over, as [`try_for_each`](Self::try_for_each) does.
    pub fn for_each(&self, mut take: impl FnMut(StridedCopy)) {
        let Ok(()) = self.try_for_each(|copy| {
            take(copy);
            Ok::<(), core::convert::Infallible>(())
        });
    }
}

/// Makes copies of the blocks that the cursor finds.
struct CopyBuilder<F, E> {
    origin: u64,
    /// Offset of the next block in the fragment.
    fragment: usize,
    /// The last copy, which the next one may continue.
    last: Option<StridedCopy>,
    take: F,
    result: Result<(), E>,
}

impl<F: FnMut(StridedCopy) -> Result<(), E>, E> CopyBuilder<F, E> {
    /// Hands over the last copy.
    fn hand_over(&mut self) -> ControlFlow<()> {
        if let Some(copy) = self.last.take() {
            self.result = (self.take)(copy);
        }
        if self.result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Adds blocks that start at a displacement in the memory and an offset in the fragment.
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a fragment")]
    fn add(&mut self, blocks: &Blocks, offset: usize, stride: usize) -> ControlFlow<()> {
        let copy = StridedCopy {
            memory_offset: self.origin.wrapping_add_signed(blocks.disp),
            len: blocks.len as usize,
            count: blocks.count as usize,
            memory_stride: blocks.stride,
            fragment_offset: offset,
            fragment_stride: stride,
        };
        if let Some(both) = self.last.and_then(|last| last.followed_by(&copy)) {
            self.last = Some(both);
            return ControlFlow::Continue(());
        }
        let handed_over = self.hand_over();
        self.last = Some(copy);
        handed_over
    }
}

impl<F: FnMut(StridedCopy) -> Result<(), E>, E> Visitor for CopyBuilder<F, E> {
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        self.blocks(&Blocks { disp, len, count: 1, stride: 0 })
    }

    #[expect(clippy::cast_possible_truncation, reason = "bytes of a fragment")]
    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        let blocks = blocks.normalized();
        let offset = self.fragment;
        self.fragment += (blocks.len * blocks.count) as usize;
        self.add(&blocks, offset, blocks.len as usize)
    }

    /// One copy for each block, through all iterations, if that gives fewer copies.
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
        let mut offset = self.fragment;
        self.fragment += (size * count) as usize;
        for op in ops {
            let Op::Blocks(all) = op else { continue };
            for index in 0..all.count {
                let disp = all.block(index).wrapping_add(shift);
                let column = Blocks { disp, len: all.len, count, stride };
                if self.add(&column, offset, size as usize).is_break() {
                    return Some(ControlFlow::Break(()));
                }
                offset += all.len as usize;
            }
        }
        Some(ControlFlow::Continue(()))
    }
}
