//! The builder: appends runs and loops to the operations of a plan, and merges them.
//!
//! It merges as it goes and looks back at one operation only, so it takes linear time. It consists of `const fn`s over a slice
//! that the caller provides, so the `const` evaluation of derived types and the compiler of types built at run time share it.
//! At run time, `compile` also adds several runs at once, which gives the same operations as adding them one by one, and it
//! makes lists of irregular blocks.
//!
//! Beyond the rules of the optimized description, it merges:
//!
//! - runs that touch;
//! - equal blocks at equal distances, into one counted operation;
//! - a loop over a single run, into a counted operation; and a loop over a counted operation, into a longer one, if each
//!   iteration continues the one before;
//! - the last run of an iteration with the first run of the next, where they touch: the first run moves before the
//!   loop, and the rest of the last iteration after it.
//!
//! The packed stream has the order of the type map, so nothing is ever reordered.

use crate::plan::{Blocks, List, Op};

/// The greatest number of operations in a loop's body that is rotated for fusion. Rotation repeats the body after the loop, so
/// this bounds the growth.
pub(super) const MAX_ROTATED: usize = 16;

/// Collects operations in a slice.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    ops: &'a mut [Op],
    /// The position. A reference, because passing the position by value to and from each call would take more time.
    at: &'a mut Position,
    overflow: bool,
}

/// How far a builder has written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// The number of operations.
    pub(super) len: usize,
    /// Index of the last operation of the innermost open loop, if it may still grow.
    pub(super) last: Option<usize>,
}

impl Position {
    pub(super) const START: Self = Self { len: 0, last: None };
}

/// A loop that has been started and not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenLoop {
    start: usize,
    last: Option<usize>,
}

impl OpenLoop {
    /// Index of the loop's own operation.
    pub(super) fn start(&self) -> usize {
        self.start
    }
}

impl<'a> Builder<'a> {
    /// Continues writing to `ops` where another builder stopped, or at [`Position::START`].
    #[inline(always)]
    pub(super) const fn new(ops: &'a mut [Op], at: &'a mut Position) -> Self {
        Self { ops, at, overflow: false }
    }

    /// The number of operations, or `None` if the slice was too short for them.
    pub(super) const fn finish(self) -> Option<usize> {
        if self.overflow { None } else { Some(self.at.len) }
    }

    const fn push_op(&mut self, op: Op) {
        if self.at.len == self.ops.len() {
            self.overflow = true;
            return;
        }
        self.ops[self.at.len] = op;
        self.at.last = Some(self.at.len);
        self.at.len += 1;
    }

    /// Adds one run of bytes.
    pub(super) const fn run(&mut self, disp: i64, len: u64) {
        self.add(Blocks::run(disp, len));
    }

    /// Adds blocks, merged with the operation before them where possible.
    pub(super) const fn blocks(&mut self, blocks: Blocks) {
        self.add(blocks.normalized());
    }

    /// Adds normalized blocks. Inlined, because little code remains for a single run.
    #[inline(always)]
    const fn add(&mut self, new: Blocks) {
        if new.len == 0 || new.count == 0 || self.overflow {
            return;
        }
        let Some(index) = self.at.last else { return self.push_op(Op::Blocks(new)) };
        let Op::Blocks(old) = self.ops[index] else { return self.push_op(Op::Blocks(new)) };

        // Blocks that touch in memory become one copy, even if that splits a counted operation.
        if old.last_end() == new.disp && (old.count == 1 || new.count == 1) {
            let joined = Blocks::run(old.block(old.count - 1), old.len + new.len);
            if old.count == 1 {
                self.at.len = index;
                self.at.last = None;
                self.push_op(Op::Blocks(joined));
            } else {
                self.ops[index] = Op::Blocks(Blocks { count: old.count - 1, ..old }.normalized());
                self.push_op(Op::Blocks(joined));
            }
            if new.count > 1 {
                let rest = Blocks { disp: new.block(1), count: new.count - 1, ..new };
                self.push_op(Op::Blocks(rest.normalized()));
            }
            return;
        }
        match old.followed_by(new) {
            Some(both) => self.ops[index] = Op::Blocks(both),
            None => self.push_op(Op::Blocks(new)),
        }
    }

    /// Adds a list, which is never merged with anything.
    pub(super) const fn list(&mut self, list: List) {
        self.push_op(Op::List(list));
    }

    /// Starts a loop. Pass the returned value to [`end_loop`](Self::end_loop).
    pub(super) const fn begin_loop(&mut self) -> OpenLoop {
        let open = OpenLoop { start: self.at.len, last: self.at.last };
        // Overwritten when the loop ends.
        self.push_op(Op::Loop { count: 0, stride: 0, items: 0 });
        self.at.last = None;
        open
    }

    /// Ends the innermost loop.
    pub(super) const fn end_loop(&mut self, open: OpenLoop, count: u64, stride: i64) {
        if self.overflow {
            return;
        }
        let first = open.start + 1;
        let items = self.at.len - first;
        let last_before = open.last;
        if items == 0 || count == 0 {
            self.at.len = open.start;
            self.at.last = last_before;
            return;
        }
        if items == 1
            && let Op::Blocks(body) = self.ops[first]
            && let Some(all) = body.repeated(count, stride)
        {
            self.at.len = open.start;
            self.at.last = last_before;
            return self.blocks(all);
        }
        if items <= MAX_ROTATED
            && count > 1
            && let Some(rotation) = Rotation::of(self.ops, first, self.at.len, stride)
        {
            self.at.len = open.start;
            self.at.last = last_before;
            return self.rotated(&rotation, count, stride);
        }
        self.ops[open.start] = Op::Loop { count, stride, items };
        self.at.last = Some(open.start);
    }

    /// Writes a loop whose iterations touch: the first run; the loop from the second run of an iteration to the
    /// first run of the next; and the rest of the last iteration.
    const fn rotated(&mut self, rotation: &Rotation, count: u64, stride: i64) {
        let seam = rotation.seam;
        self.blocks(rotation.head);
        if count == 2 {
            self.middle(rotation, 0);
            self.blocks(seam);
        } else {
            let open = self.begin_loop();
            self.middle(rotation, 0);
            self.blocks(seam);
            // The loop is not rotated again: the seam does not touch the start of the rotated body, because otherwise that
            // start would have been merged with the head.
            self.end_loop(open, count - 1, stride);
        }
        let shift = stride.wrapping_mul((count - 1).cast_signed());
        self.middle(rotation, shift);
        self.blocks(rotation.tail.shifted(shift));
    }

    /// Writes the body without its first and its last run.
    const fn middle(&mut self, rotation: &Rotation, shift: i64) {
        let mut i = 0;
        while i < rotation.len {
            match rotation.body[i] {
                Op::Blocks(blocks) => self.blocks(blocks.shifted(shift)),
                Op::List(list) => self.list(list.shifted(shift)),
                Op::Elements(_) => self.push_op(rotation.body[i].shifted(shift)),
                // A loop inside the body is copied unchanged, but its operations are shifted.
                Op::Loop { count, stride, items } => {
                    self.push_op(Op::Loop { count, stride, items });
                    let head = self.at.last;
                    let end = i + items;
                    while i < end {
                        i += 1;
                        self.push_op(rotation.body[i].shifted(shift));
                    }
                    self.at.last = head;
                }
            }
            i += 1;
        }
    }
}

/// A loop's body taken apart at its first and its last run, which touch from one iteration to the next.
///
/// An example: 5 iterations, stride 16, over the runs `0..1`, `2..5` and `7..16`. Each `7..16` ends where the next
/// `0..1` starts, so the two are one run, and the loop is rotated by one run:
///
/// ```text
/// before  loop 5    0..1  2..5  7..16
/// after   head      0..1
///         loop 4          2..5  7..17        the last run is the seam: 9 bytes of this iteration, 1 of the next
///         middle                      66..69 the last iteration, without its first run
///         tail                        71..80
/// ```
///
/// Rotation writes the body twice, so only short bodies are rotated.
#[derive(Debug)]
struct Rotation {
    /// The first run.
    head: Blocks,
    /// The operations between the two runs.
    body: [Op; MAX_ROTATED],
    len: usize,
    /// The last run.
    tail: Blocks,
    /// The run that spans from one iteration into the next.
    seam: Blocks,
}

impl Rotation {
    /// Takes `ops[first..end]` apart if its last run touches the first run of the next iteration.
    const fn of(ops: &[Op], first: usize, end: usize, stride: i64) -> Option<Self> {
        let Some(ends) = Ends::of(ops, first, end, stride) else { return None };
        let Ends { head, tail, .. } = ends;
        let seam = ends.seam(stride);
        let mut rotation = Self { head, body: [Op::NONE; MAX_ROTATED], len: 0, tail, seam };
        let mut i = first;
        while i < end {
            rotation.body[rotation.len] = ends.between(ops, i);
            rotation.len += 1;
            i += 1;
        }
        Some(rotation)
    }
}

/// The first and the last run of a loop's body, which touch from one iteration to the next.
#[derive(Clone, Copy, Debug)]
struct Ends {
    /// The first run.
    head: Blocks,
    /// The last run.
    tail: Blocks,
    /// Indices of the operations that hold the two runs.
    first: usize,
    last: usize,
}

impl Ends {
    /// The ends of `ops[first..end]`, if the last run touches the first run of the next iteration.
    const fn of(ops: &[Op], first: usize, end: usize, stride: i64) -> Option<Self> {
        // The body must end with a top-level operation, not with one inside an inner loop.
        let mut i = first;
        let mut last = first;
        while i < end {
            last = i;
            i += match ops[i] {
                Op::Blocks(_) | Op::List(_) | Op::Elements(_) => 1,
                Op::Loop { items, .. } => items + 1,
            };
        }
        let (Op::Blocks(front), Op::Blocks(back)) = (ops[first], ops[last]) else { return None };
        if last == first && front.count == 1 {
            // A single run, whose iterations are already blocks.
            return None;
        }
        let head = Blocks::run(front.disp, front.len);
        let tail = Blocks::run(back.block(back.count - 1), back.len);
        if tail.last_end() as i128 != head.disp as i128 + stride as i128 {
            return None;
        }
        Some(Self { head, tail, first, last })
    }

    /// The operation at an index without the two runs. Blocks may then have a count of 0.
    const fn between(&self, ops: &[Op], index: usize) -> Op {
        let Op::Blocks(mut blocks) = ops[index] else { return ops[index] };
        if index == self.first {
            blocks = Blocks { disp: blocks.block(1), count: blocks.count - 1, ..blocks };
        }
        if index == self.last {
            blocks.count -= 1;
        }
        Op::Blocks(blocks)
    }

    /// The run that spans from one iteration into the next.
    const fn seam(&self, stride: i64) -> Blocks {
        let next = self.head.shifted(stride);
        Blocks::run(self.tail.disp, self.tail.len + next.len)
    }
}

#[cfg(test)]
pub(super) mod tests;
