//! The compiler of types built at run time. It walks a type's constructors and writes operations directly to the builder; long
//! stretches of irregular blocks go to tables.

use alloc::vec::Vec;
use core::iter;

use super::builder::{Builder, MAX_ROTATED, OpenLoop, Position};
use super::irregular::{ALIKE, BATCH, Block, End, OpenList};
use crate::plan::{Blocks, Lists, Op, Written};
use crate::types::{Elem, Sink, Type, walk};

/// A stretch of this many consecutive operations, none of them a loop, may become a list.
const STRETCH: usize = 16;

/// Such a stretch becomes a list if its operations have at most this many blocks each, on average. A list has an entry for each
/// block, so it would be the longer form otherwise.
const BLOCKS_EACH: u64 = 8;

/// A list with fewer blocks than this is written as operations.
const MIN_BLOCKS_OF_LIST: u64 = 4;

/// Capacity for the operations that one run or one counted operation adds: it may be split in two, and joined.
const ROOM_FOR_BLOCKS: usize = 4;

/// Capacity for what rotation adds to a copy of a loop's body: a loop around the first copy, and a run before, between and
/// after the copies, each of at most one operation. Only an operation that is joined to another is split in two.
const ROOM_FOR_ENDS: usize = 2 * ROOM_FOR_BLOCKS;

/// The number of operations that are written without an allocation.
pub(super) const SCRATCH: usize = 16;

/// The least capacity of an allocation, in operations.
const MANY: usize = 4 * SCRATCH;

pub(super) struct Compiler<'a> {
    /// The operations while they are few, followed by unused ones. (Borrowed, because an array would have to be moved into this
    /// struct.)
    few: &'a mut [Op; SCRATCH],
    /// All operations once there are many, followed by unused ones.
    many: Vec<Op>,
    at: Position,
    /// Index of the first operation of the current stretch. All operations from there on are blocks in the innermost open loop,
    /// and may still become part of a list.
    stretch: usize,
    /// Index of the innermost open loop.
    around: Option<usize>,
    /// A loop that has ended and comes first in the loop around it. If it is also last there, and the outer loop continues it,
    /// the two become one.
    ended: Option<Ended>,
    lists: Lists,
    /// The list that is being written, if any. New blocks go there.
    list: Option<OpenList>,
}

pub(super) struct OpenBody {
    inner: OpenLoop,
    /// The stretch before this body began.
    stretch: usize,
    /// Index of the loop around this body.
    around: Option<usize>,
}

struct Ended {
    open: OpenBody,
    count: u64,
    stride: i64,
}

impl Sink for Compiler<'_> {
    const BYTES: bool = true;

    type Open = OpenBody;

    fn elem(&mut self, elem: Elem) {
        self.elems(iter::once(elem));
    }

    #[inline]
    fn elems(&mut self, elems: impl Iterator<Item = Elem> + Clone) {
        self.end_loop();
        let mut blocks = elems.map(|elem| Block { disp: elem.disp, len: elem.size() }).fuse();
        loop {
            let Some(open) = &mut self.list else {
                let Some(block) = blocks.next() else { return };
                self.run(block);
                continue;
            };
            if self.lists.extend_plainly(open, &mut blocks) {
                continue;
            }
            let mut some = blocks.by_ref().take(BATCH).peekable();
            if some.peek().is_none() {
                return;
            }
            if let Err(end) = self.lists.extend(open, &mut some) {
                self.cut(end);
            }
        }
    }

    fn begin(&mut self) -> OpenBody {
        self.end_loop();
        self.end_list();
        #[expect(clippy::redundant_closure_for_method_calls, reason = "of any lifetime")]
        let inner = self.build(1, |builder| builder.begin_loop());
        let open = OpenBody { inner, stretch: self.stretch, around: self.around };
        self.stretch = self.at.len;
        self.around = Some(inner.start());
        open
    }

    fn end(&mut self, open: OpenBody, loops: u64, extent: i64) {
        let (mut count, mut stride) = (loops, extent);
        if let Some(inside) = &self.ended {
            if i128::from(stride) == i128::from(inside.stride) * i128::from(inside.count) {
                (count, stride) = (count * inside.count, inside.stride);
                // The inner loop's body now belongs to the outer loop.
                let head = inside.open.inner.start();
                let len = self.at.len;
                self.ops().copy_within(head + 1..len, head);
                self.at.len -= 1;
                self.ended = None;
            } else {
                self.end_loop();
            }
        }
        self.end_list();
        self.around = open.around;
        let first = open.around.is_some_and(|outer| outer + 1 == open.inner.start());
        self.ended = Some(Ended { open, count, stride });
        if !first {
            self.end_loop();
        }
    }
}

impl<'a> Compiler<'a> {
    #[inline(always)]
    pub(super) fn new(few: &'a mut [Op; SCRATCH]) -> Self {
        Self {
            few,
            many: Vec::new(),
            at: Position::START,
            stretch: 0,
            around: None,
            ended: None,
            lists: Lists::new(),
            list: None,
        }
    }

    /// The operations, followed by the unused ones.
    fn ops(&mut self) -> &mut [Op] {
        if self.many.is_empty() { self.few } else { &mut self.many }
    }

    /// The operations.
    fn written(&self) -> &[Op] {
        let all = if self.many.is_empty() { &self.few[..] } else { &self.many };
        &all[..self.at.len]
    }

    /// Makes room for at least `needed` operations.
    #[cold]
    fn grow(&mut self, needed: usize) {
        let number = needed.next_power_of_two().max(MANY);
        if self.many.is_empty() {
            self.many.reserve_exact(number);
            self.many.extend_from_slice(self.few);
        }
        self.many.resize(number, Op::NONE);
    }

    /// Calls `write` with a builder that has room for at least `capacity` operations.
    fn build<R>(&mut self, capacity: usize, write: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let needed = self.at.len + capacity;
        if self.ops().len() < needed {
            self.grow(needed);
        }
        let ops = if self.many.is_empty() { &mut self.few[..] } else { &mut self.many };
        let mut builder = Builder::new(ops, &mut self.at);
        let result = write(&mut builder);
        debug_assert!(builder.finish().is_some(), "there is room");
        result
    }

    /// The number of operations in the current stretch.
    fn stretch(&self) -> usize {
        self.at.len.saturating_sub(self.stretch)
    }

    /// Adds a run of bytes.
    fn run(&mut self, block: Block) {
        if let Some(open) = &mut self.list {
            if let Err(end) = self.lists.extend(open, iter::once(block)) {
                self.cut(end);
            }
        } else {
            self.build(ROOM_FOR_BLOCKS, |builder| builder.run(block.disp, block.len));
            self.make_list();
        }
    }

    /// Turns the operations of the stretch into the start of a list, if they are many and irregular.
    fn make_list(&mut self) {
        let number = self.stretch();
        if number < STRETCH {
            return;
        }
        if self.blocks_of_stretch() > BLOCKS_EACH * number as u64 {
            self.stretch = self.at.len;
            return;
        }
        self.operations_to_list();
    }

    /// The number of blocks in the current stretch.
    fn blocks_of_stretch(&self) -> u64 {
        let stretch = self.written().get(self.stretch..).unwrap_or(&[]);
        let counts = stretch.iter().map(|op| match op {
            Op::Blocks(blocks) => blocks.count,
            Op::Loop { .. } | Op::List(_) | Op::Elements(_) => u64::MAX,
        });
        counts.fold(0, u64::saturating_add)
    }

    /// Starts a list with the blocks of the stretch.
    fn operations_to_list(&mut self) {
        let stretch = self.written().get(self.stretch..).unwrap_or(&[]).to_vec();
        self.at = Position { len: self.stretch, last: None };
        let all = stretch.iter().flat_map(|op| {
            let blocks = if let Op::Blocks(blocks) = *op { blocks } else { Blocks::run(0, 0) };
            (0..blocks.count).map(move |i| Block { disp: blocks.block(i), len: blocks.len })
        });
        let mut all = all.fuse();
        self.list = all.next().map(OpenList::new);
        all.for_each(|block| self.run(block));
    }

    /// Ends the list before the block that was just added, for the reason in `end`.
    #[cold]
    fn cut(&mut self, end: End) {
        let Some(mut open) = self.list.take() else { return };
        let next = open.pending();
        if let End::Alike = end {
            self.split(&mut open, ALIKE);
        } else {
            self.write_list(&open);
            self.write_end(end);
        }
        self.run(next);
    }

    /// Ends a list before its last `number` blocks, which have equal lengths and start a new list.
    fn split(&mut self, open: &mut OpenList, number: u32) {
        let mut blocks = self.lists.take_alike(open, number).into_iter();
        self.write_list(open);
        self.list = blocks.next().map(OpenList::new);
        blocks.for_each(|block| self.run(block));
    }

    /// Ends the list, if there is one.
    fn end_list(&mut self) {
        let Some(mut open) = self.list.take() else { return };
        let last = open.pending();
        let end = self.lists.settle(&mut open, last);
        if let (Ok(()) | Err(End::Alike), Some(number)) = (&end, open.alike_at_end()) {
            self.split(&mut open, number);
            return self.end_list();
        }
        self.write_list(&open);
        if let Err(end) = end {
            self.write_end(end);
        }
    }

    fn write_list(&mut self, open: &OpenList) {
        self.stretch = self.at.len;
        if open.count() < MIN_BLOCKS_OF_LIST {
            for Block { disp, len } in self.lists.take(open) {
                self.build(ROOM_FOR_BLOCKS, |builder| builder.run(disp, len));
            }
        } else {
            let list = self.lists.ended(open);
            self.build(1, |builder| builder.list(list));
            self.stretch = self.at.len;
        }
    }

    fn write_end(&mut self, end: End) {
        match end {
            // The last blocks of the list are alike; nothing follows, so they can stay there.
            End::Alike => {}
            End::Misfit(block) => self.run(block),
            End::Regular(blocks) => {
                self.build(ROOM_FOR_BLOCKS, |builder| builder.blocks(blocks));
                self.stretch = self.at.len;
            }
        }
    }

    /// Ends the loop whose end was postponed, if there is one.
    #[inline(always)]
    fn end_loop(&mut self) {
        if let Some(ended) = self.ended.take() {
            self.end_loop_now(ended);
        }
    }

    fn end_loop_now(&mut self, Ended { open, count, stride }: Ended) {
        let OpenBody { inner, stretch, .. } = open;
        let items = self.at.len - inner.start() - 1;
        self.build(items.min(MAX_ROTATED) + ROOM_FOR_ENDS, |builder| {
            builder.end_loop(inner, count, stride);
        });
        let written = self.written().get(inner.start()..).unwrap_or(&[]);
        if written.iter().all(|op| matches!(op, Op::Blocks(_))) {
            self.stretch = stretch.min(self.at.len);
            self.make_list();
        } else {
            self.stretch = self.at.len;
        }
    }

    /// Compiles a type for instances that are `extent` bytes apart.
    #[inline]
    pub(super) fn compile(&mut self, ty: &Type, extent: i64) -> Written<'_> {
        walk(ty, 0, self);
        self.finish(extent)
    }

    /// Finishes the plan, for instances that are `extent` bytes apart.
    #[inline(always)]
    fn finish(&mut self, extent: i64) -> Written<'_> {
        self.end_loop();
        self.end_list();
        let lists = self.lists.finish();
        Written { ops: self.written(), extent, lists }
    }
}

#[cfg(test)]
mod tests;
