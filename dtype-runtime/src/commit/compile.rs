//! The compiler of types built at run time: the walk over a type's constructors writes straight to
//! the builder, and long stretches of irregular blocks to tables.

use alloc::vec;
use alloc::vec::Vec;
use core::iter;

use super::builder::{Builder, OpenLoop, Position, Rotation};
use super::chain::Chain;
use super::index::{self, Index};
use super::list::{Block, End, OpenList, Tables};
use super::patterns::Patterns;
use super::plan::{Blocks, Op, Plan};
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

/// Room for what the end of a loop adds. Rotation writes a body of at most 16 operations twice, each
/// of which may be cut in two, with a run before, between and behind.
const ROOM_FOR_LOOP: usize = 128;

/// Compiles a type, for instances that are `extent` bytes apart.
pub(super) fn compile(ty: &Type, extent: i64) -> Plan {
    let mut compiler = Compiler {
        ops: Vec::new(),
        at: Position::START,
        stretch: 0,
        loops: Vec::new(),
        ended: None,
        tables: Tables::new(),
        list: None,
    };
    walk(ty, 0, &mut compiler);
    compiler.finish(extent)
}

struct Compiler {
    /// The operations, with room behind them.
    ops: Vec<Op>,
    at: Position,
    /// Index of the operation from which on all are blocks in the innermost open loop, and none is
    /// known to stay one.
    stretch: usize,
    loops: Vec<Open>,
    /// A loop that was ended and is the first thing in the loop around it. If it is the only thing as
    /// well, and the loop around it continues it, the two are one.
    ended: Option<Ended>,
    tables: Tables,
    /// The list that is being written. While there is one, what comes goes there.
    list: Option<OpenList>,
}

struct Open {
    inner: OpenLoop,
    /// The stretch around it.
    stretch: usize,
}

struct Ended {
    open: Open,
    count: u64,
    stride: i64,
}

impl Sink for Compiler {
    const BYTES: bool = true;

    type Open = ();

    fn elem(&mut self, elem: Elem) {
        self.elems(iter::once(elem));
    }

    #[inline]
    fn elems(&mut self, elems: impl Iterator<Item = Elem>) {
        self.end_loop();
        let mut blocks = elems.map(|elem| Block { disp: elem.disp, len: elem.size() });
        loop {
            if let Some(open) = &mut self.list {
                match self.tables.extend(open, &mut blocks) {
                    Ok(()) => return,
                    Err(end) => self.cut(end),
                }
            } else {
                let Some(block) = blocks.next() else { return };
                self.run(block);
            }
        }
    }

    fn begin(&mut self) {
        self.end_loop();
        self.end_list();
        #[expect(clippy::redundant_closure_for_method_calls, reason = "of any lifetime")]
        let inner = self.build(1, |builder| builder.begin_loop());
        self.loops.push(Open { inner, stretch: self.stretch });
        self.stretch = self.at.len;
    }

    fn end(&mut self, (): (), loops: u64, extent: i64) {
        let (mut count, mut stride) = (loops, extent);
        if let Some(inside) = &self.ended {
            if i128::from(stride) == i128::from(inside.stride) * i128::from(inside.count) {
                (count, stride) = (count * inside.count, inside.stride);
                // What is in the inner loop is in the outer one now.
                let head = inside.open.inner.start();
                self.ops.copy_within(head + 1..self.at.len, head);
                self.at.len -= 1;
                self.ended = None;
            } else {
                self.end_loop();
            }
        }
        self.end_list();
        let Some(open) = self.loops.pop() else { return };
        let first =
            self.loops.last().is_some_and(|outer| outer.inner.start() + 1 == open.inner.start());
        self.ended = Some(Ended { open, count, stride });
        if !first {
            self.end_loop();
        }
    }
}

impl Compiler {
    /// Lets the builder write, with room for so many operations.
    fn build<R>(&mut self, room: usize, write: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let needed = self.at.len + room;
        if self.ops.len() < needed {
            self.ops.resize(needed.max(2 * self.ops.len()), Op::NONE);
        }
        let mut builder = Builder::resume(&mut self.ops, self.at);
        let result = write(&mut builder);
        self.at = builder.position();
        result
    }

    /// Adds a run of bytes.
    fn run(&mut self, block: Block) {
        if let Some(open) = &mut self.list {
            if let Err(end) = self.tables.extend(open, iter::once(block)) {
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
        let stretch = self.ops[self.stretch..self.at.len].to_vec();
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
            let mut blocks = self.tables.take_alike(&mut open).into_iter();
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
        let end = self.tables.settle(&mut open, last);
        self.write_list(&open);
        if let Err(end) = end {
            self.write_end(end);
        }
    }

    fn write_list(&mut self, open: &OpenList) {
        self.stretch = self.at.len;
        if open.count() < FEWEST {
            for Block { disp, len } in self.tables.take(open) {
                self.build(ROOM_FOR_BLOCKS, |builder| builder.run(disp, len));
            }
        } else {
            let list = self.tables.ended(open);
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
        let Open { inner, stretch } = open;
        self.build(ROOM_FOR_LOOP, |builder| builder.end_loop(inner, count, stride));
        let written = self.ops[..self.at.len].get(inner.start()..).unwrap_or(&[]);
        if written.iter().all(|op| matches!(op, Op::Blocks(_))) {
            self.stretch = stretch.min(self.at.len);
            self.make_list();
        } else {
            self.stretch = self.at.len;
        }
    }

    /// The plan for instances that are so many bytes apart.
    fn finish(mut self, extent: i64) -> Plan {
        self.end_loop();
        self.end_list();
        self.ops.truncate(self.at.len);
        self.ops.shrink_to_fit();
        self.tables.shrink_to_fit();
        let (ops, mut tables) = (self.ops, self.tables);
        let (prologue, steady, epilogue) = match Rotation::of(&ops, 0, ops.len(), extent) {
            None => (Vec::new(), ops, Vec::new()),
            Some(rotation) => {
                let middle = &rotation.body[..rotation.len];
                let with = |last| [middle, &[Op::Blocks(last)]].concat();
                let prologue = vec![Op::Blocks(rotation.head)];
                (prologue, with(rotation.seam(extent)), with(rotation.tail))
            }
        };
        let mut patterns = Patterns::new();
        patterns.add_steady(&steady, extent);
        patterns.add_inside(&prologue);
        patterns.add_inside(&epilogue);
        tables.set_patterns(patterns);
        let sizes = [&prologue, &steady, &epilogue].map(|ops| index::size(ops, &tables));
        let chains = [&prologue, &steady, &epilogue].map(|ops| Chain::of(ops, &tables));
        let index = Index::of(&steady, &tables);
        Plan { prologue, steady, epilogue, extent, tables, sizes, chains, index }
    }
}
