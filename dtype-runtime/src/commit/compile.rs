//! The compiler of types built at run time: the walk over a type's constructors writes straight to
//! the builder, and long stretches of irregular blocks to tables.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::iter;
use core::ops::Range;

use super::builder::{Builder, Ends, MAX_ROTATED, OpenLoop, Position};
use super::list::{Block, End, Lengths, Lists, OpenList, are_operations};
use super::plan::{Blocks, Op};
use crate::types::{Elem, Sink, Type, walk};

/// So many operations in a row, none of them a loop, may become a list.
const STRETCH: usize = 16;

/// They do if they have no more blocks than this each, on average: a list is made of single blocks,
/// and would not be the shorter form.
const BLOCKS_EACH: u64 = 8;

/// A list with fewer blocks than this is written as operations.
const FEWEST: u64 = 8;

/// Room for what one run or one counted operation adds: it may be cut in two, and joined.
const ROOM_FOR_BLOCKS: usize = 4;

/// Where blocks cannot be added at once, so many are added one by one.
const ONE_BY_ONE: usize = 32;

/// So many operations are written without memory of their own.
const SCRATCH: usize = 16;

/// Hands over what a type is compiled to, for instances that are `extent` bytes apart. [`Plan::of_apart`] and
/// [`Plan::of_touching`] do the same for blocks at equal distances, and in less time.
pub(super) fn compile<R>(ty: &Type, extent: i64, then: impl FnOnce(Compiled<'_>) -> R) -> R {
    let mut compiler = Compiler::new();
    walk(ty, 0, &mut compiler);
    compiler.finish(extent, then)
}

/// What a type is compiled to.
pub(super) struct Compiled<'a> {
    pub(super) ops: &'a [Op],
    /// Those that are in each of the repetitions.
    pub(super) repeated: Range<usize>,
    /// Bytes from one repetition to the next.
    pub(super) extent: i64,
    pub(super) lists: Option<Box<Lists>>,
    /// What an instance is, if that is blocks at equal distances.
    pub(super) single: Option<Blocks>,
}

struct Compiler {
    /// The operations while they are few, with room behind them.
    few: [Op; SCRATCH],
    /// The operations from then on, likewise.
    many: Vec<Op>,
    at: Position,
    /// Index of the operation from which on all are blocks in the innermost open loop, and none is
    /// known to stay one.
    stretch: usize,
    /// Index of the innermost open loop.
    around: Option<usize>,
    /// A loop that was ended and is the first thing in the loop around it. If it is the only thing as
    /// well, and the loop around it continues it, the two are one.
    ended: Option<Ended>,
    lists: Lists,
    /// The list that is being written. While there is one, what comes goes there.
    list: Option<OpenList>,
}

struct Open {
    inner: OpenLoop,
    /// The stretch around it.
    stretch: usize,
    /// Index of the loop around it.
    around: Option<usize>,
}

struct Ended {
    open: Open,
    count: u64,
    stride: i64,
}

impl Sink for Compiler {
    const BYTES: bool = true;

    type Open = Open;

    fn elem(&mut self, elem: Elem) {
        self.elems(iter::once(elem));
    }

    #[inline]
    fn elems(&mut self, elems: impl Iterator<Item = Elem>) {
        self.end_loop();
        let mut blocks = elems.map(|elem| Block { disp: elem.disp, len: elem.size() });
        loop {
            if let Some(open) = &mut self.list {
                match self.lists.extend(open, &mut blocks) {
                    Ok(()) => return,
                    Err(end) => self.cut(end),
                }
            } else {
                let Some(block) = blocks.next() else { return };
                self.run(block);
            }
        }
    }

    fn runs(&mut self, lengths: &[u64], places: &[i64], more: usize) {
        self.add(Lengths::Each(lengths), places, more);
    }

    fn equal_runs(&mut self, length: u64, places: &[i64], more: usize) {
        self.add(Lengths::Same(length), places, more);
    }

    fn begin(&mut self) -> Open {
        self.end_loop();
        self.end_list();
        #[expect(clippy::redundant_closure_for_method_calls, reason = "of any lifetime")]
        let inner = self.build(1, |builder| builder.begin_loop());
        let open = Open { inner, stretch: self.stretch, around: self.around };
        self.stretch = self.at.len;
        self.around = Some(inner.start());
        open
    }

    fn end(&mut self, open: Open, loops: u64, extent: i64) {
        let (mut count, mut stride) = (loops, extent);
        if let Some(inside) = &self.ended {
            if i128::from(stride) == i128::from(inside.stride) * i128::from(inside.count) {
                (count, stride) = (count * inside.count, inside.stride);
                // What is in the inner loop is in the outer one now.
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

impl Compiler {
    #[inline(always)]
    fn new() -> Self {
        Self {
            few: [Op::NONE; SCRATCH],
            many: Vec::new(),
            at: Position::START,
            stretch: 0,
            around: None,
            ended: None,
            lists: Lists::new(),
            list: None,
        }
    }

    /// The operations, with the room behind them.
    fn ops(&mut self) -> &mut [Op] {
        if self.many.is_empty() { &mut self.few } else { &mut self.many }
    }

    /// The operations.
    fn written(&self) -> &[Op] {
        let all = if self.many.is_empty() { &self.few[..] } else { &self.many };
        &all[..self.at.len]
    }

    /// Makes room for so many operations, and for more.
    #[cold]
    fn grow(&mut self, needed: usize) {
        if self.many.is_empty() {
            self.many.reserve_exact(needed.max(4 * SCRATCH));
            self.many.extend_from_slice(&self.few);
        }
        self.many.resize(needed.max(2 * self.many.len()), Op::NONE);
    }

    /// Lets the builder write, with room for so many operations.
    fn build<R>(&mut self, room: usize, write: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let needed = self.at.len + room;
        if self.ops().len() < needed {
            self.grow(needed);
        }
        let ops = if self.many.is_empty() { &mut self.few[..] } else { &mut self.many };
        let mut builder = Builder::new(ops, &mut self.at);
        let result = write(&mut builder);
        debug_assert!(builder.finish().is_some(), "there is room");
        result
    }

    /// Adds runs of bytes, behind which come about so many more.
    fn add(&mut self, lengths: Lengths<'_>, places: &[i64], more: usize) {
        self.end_loop();
        let mut done = 0;
        while let Some(rest) = places.get(done..).filter(|rest| !rest.is_empty()) {
            let Some(open) = &mut self.list else {
                done += self.start(lengths.from(done), rest);
                continue;
            };
            done += self.lists.extend_at_once(open, lengths.from(done), rest, more);
            // Up to the next ones that may be added at once. The first one of a list never is.
            let number = if open.count() == 0 { 1 } else { ONE_BY_ONE };
            let few = places.len().min(done + number);
            let mut blocks =
                (done..few).map(|index| Block { disp: places[index], len: lengths.get(index) });
            let end = self.lists.extend(open, &mut blocks);
            done = few - blocks.len();
            if let Err(end) = end {
                self.cut(end);
            }
        }
    }

    /// Adds the first of some blocks to a list, if they are irregular enough to become one, or as many of them to the
    /// operations as can be before they may; and returns how many.
    fn start(&mut self, lengths: Lengths<'_>, places: &[i64]) -> usize {
        // Where nothing is written that they could continue.
        let is_first = self.at.len == self.stretch && self.at.last.is_none();
        if is_first && are_operations(STRETCH, lengths, places) {
            self.list = Some(OpenList::new(Block { disp: places[0], len: lengths.get(0) }));
            return 1;
        }
        let number = self.at.len.saturating_sub(self.stretch);
        let few = STRETCH.saturating_sub(number).clamp(1, places.len());
        // Each adds one operation at most.
        self.build(few, |builder| {
            for (index, place) in places[..few].iter().enumerate() {
                builder.run(*place, lengths.get(index));
            }
        });
        self.make_list();
        few
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
        let number = self.at.len.saturating_sub(self.stretch);
        if number < STRETCH {
            return;
        }
        let stretch = self.written()[self.stretch..].to_vec();
        let counts = stretch.iter().map(|op| match op {
            Op::Blocks(blocks) => blocks.count,
            Op::Loop { .. } | Op::List(_) | Op::Elements(_) => u64::MAX,
        });
        let blocks = counts.fold(0, u64::saturating_add);
        if blocks > BLOCKS_EACH * number as u64 {
            self.stretch = self.at.len;
            return;
        }
        self.at = Position { len: self.stretch, last: None };
        let all = stretch.iter().flat_map(|op| {
            let blocks = if let Op::Blocks(blocks) = *op { blocks } else { Blocks::run(0, 0) };
            (0..blocks.count).map(move |i| Block { disp: blocks.block(i), len: blocks.len })
        });
        let mut all = all.fuse();
        self.list = all.next().map(OpenList::new);
        all.for_each(|block| self.run(block));
    }

    /// Ends the list before the block that was added last, for the reason given.
    #[cold]
    fn cut(&mut self, end: End) {
        let Some(mut open) = self.list.take() else { return };
        let next = open.pending();
        if let End::Alike = end {
            let mut blocks = self.lists.take_alike(&mut open).into_iter();
            self.write_list(&open);
            self.list = blocks.next().map(OpenList::new);
            blocks.for_each(|block| self.run(block));
        } else {
            self.write_list(&open);
            self.write_end(end);
        }
        self.run(next);
    }

    /// Ends the list, if there is one.
    fn end_list(&mut self) {
        let Some(mut open) = self.list.take() else { return };
        let last = open.pending();
        let end = self.lists.settle(&mut open, last);
        self.write_list(&open);
        if let Err(end) = end {
            self.write_end(end);
        }
    }

    fn write_list(&mut self, open: &OpenList) {
        self.stretch = self.at.len;
        if open.count() < FEWEST {
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
            // The last ones of a list, which are as well where they are.
            End::Alike => {}
            End::Misfit(block) => self.run(block),
            End::Regular(blocks) => {
                self.build(ROOM_FOR_BLOCKS, |builder| builder.blocks(blocks));
                self.stretch = self.at.len;
            }
        }
    }

    /// Ends the loop whose end was put off, if there is one.
    fn end_loop(&mut self) {
        let Some(Ended { open, count, stride }) = self.ended.take() else { return };
        let Open { inner, stretch, .. } = open;
        let room = room_for_end(self.at.len - inner.start() - 1);
        self.build(room, |builder| builder.end_loop(inner, count, stride));
        let written = self.written().get(inner.start()..).unwrap_or(&[]);
        if written.iter().all(|op| matches!(op, Op::Blocks(_))) {
            self.stretch = stretch.min(self.at.len);
            self.make_list();
        } else {
            self.stretch = self.at.len;
        }
    }

    /// Hands over what was written, for instances that are so many bytes apart.
    #[inline(always)]
    fn finish<R>(&mut self, extent: i64, then: impl FnOnce(Compiled<'_>) -> R) -> R {
        self.end_loop();
        self.end_list();
        let lists = self.lists.finish();
        let single = match self.written() {
            [Op::Blocks(blocks)] => Some(*blocks),
            _ => None,
        };
        let repeated = self.join_ends(extent);
        then(Compiled { ops: self.written(), repeated, extent, lists, single })
    }

    /// Joins the last run of what was written to the first one of the next instance, if they touch, and returns what is
    /// in each of the repetitions.
    fn join_ends(&mut self, extent: i64) -> Range<usize> {
        let number = self.at.len;
        let Some(ends) = Ends::of(self.written(), 0, number, extent) else { return 0..number };
        // The first run, and twice what is between, with a run behind.
        let needed = 2 * number + 3;
        if self.ops().len() < needed {
            self.grow(needed);
        }
        let ops = self.ops();
        let cut = [ends.between(ops, 0), ends.between(ops, number - 1)];
        let (mut from, mut to) = (0, number);
        match cut[0] {
            Some(front) => ops[0] = front,
            None => from = 1,
        }
        if number > 1 {
            match cut[1] {
                Some(back) => ops[number - 1] = back,
                None => to -= 1,
            }
        }
        let each = to - from;
        ops.copy_within(from..to, 1);
        ops.copy_within(1..=each, each + 2);
        ops[0] = Op::Blocks(ends.head);
        ops[each + 1] = Op::Blocks(ends.seam(extent));
        ops[2 * each + 2] = Op::Blocks(ends.tail);
        self.at = Position { len: 2 * each + 3, last: None };
        1..each + 2
    }
}

/// Room for what the end of a loop over so many operations adds.
fn room_for_end(items: usize) -> usize {
    if items > MAX_ROTATED {
        return 0;
    }
    // Rotation writes the body twice, with a loop around the first, and a run before, between and behind. Each adds
    // one operation at most; cut in two is only what is joined to another.
    items + 2 * ROOM_FOR_BLOCKS
}

#[cfg(test)]
mod tests;
