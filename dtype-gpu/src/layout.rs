//! The data of instances as nested repetitions: a plan whose outermost loop is over the instances. Every packed position is a
//! sum of quotients.

use dtype_runtime::Committed;
use dtype_runtime::plan::{Op, Plan, items};

/// An iteration repeated any number of times. Its packed bytes come after those of the iteration before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// Displacement in bytes of the first iteration.
    pub(crate) disp: i64,
    /// Number of iterations. `u64::MAX` means any number: the outermost repetition is over the instances, or parts of them.
    pub(crate) count: u64,
    /// Bytes from one iteration to the next, modulo 2⁶⁴.
    pub(crate) stride: i64,
    /// Packed bytes of an iteration, at least 1.
    pub(crate) size: u64,
    pub(crate) body: Body,
}

/// What an iteration consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Bytes without a gap.
    Run,
    /// Blocks at these displacements.
    List(Vec<Block>),
    /// Repetitions, one after another.
    Several(Vec<Repeat>),
}

/// A block of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) disp: i64,
    pub(crate) len: u64,
}

impl Block {
    /// The block as a repetition of one iteration.
    pub(crate) fn repeat(self) -> Repeat {
        let Self { disp, len: size } = self;
        Repeat { disp, count: 1, stride: 0, size, body: Body::Run }
    }
}

/// Numbers of a row of the table.
const ROW: usize = 6;

/// The widest word in bytes.
pub(crate) const WIDEST: u64 = 16;

/// The widest word, in bytes, that divides all of these numbers.
pub(crate) fn widest_word(numbers: impl IntoIterator<Item = u64>) -> u64 {
    1 << numbers.into_iter().fold(WIDEST, |all, number| all | number).trailing_zeros()
}

impl Repeat {
    /// The instances of a type; `None` if they have no data.
    pub(crate) fn of(committed: &Committed) -> Option<Self> {
        let plan = committed.plan();
        let size = committed.size();
        let body = body(plan, plan.ops());
        (size > 0)
            .then(|| Self { disp: 0, count: u64::MAX, stride: plan.extent(), size, body }.joined())
    }

    /// The same repetition with fewer levels. A body of a single repetition is joined with this one if the distances are equal,
    /// or if one of the two has a single iteration.
    fn joined(mut self) -> Self {
        while let Body::Several(inner) = &mut self.body
            && let [only] = inner.as_mut_slice()
        {
            let (stride, count) = if only.count == 1 {
                (self.stride, self.count)
            } else if only.stride.wrapping_mul(only.count.cast_signed()) == self.stride
                || self.count == 1
            {
                (only.stride, self.count.saturating_mul(only.count))
            } else {
                break;
            };
            let disp = self.disp.wrapping_add(only.disp);
            let body = core::mem::replace(&mut only.body, Body::Run);
            self = Self { disp, count, stride, size: only.size, body };
        }
        self
    }

    /// Whether the packed bytes are a plain copy of the memory.
    pub(crate) fn is_run(&self) -> bool {
        self.body == Body::Run && u64::try_from(self.stride) == Ok(self.size)
    }

    /// The widest word, in bytes, that divides every run and its displacement.
    pub(crate) fn unit(&self) -> u64 {
        let inner = match &self.body {
            Body::Run => self.size,
            Body::List(blocks) => {
                widest_word(blocks.iter().map(|block| block.disp.cast_unsigned() | block.len))
            }
            Body::Several(all) => widest_word(all.iter().map(Self::unit)),
        };
        let stride = if self.count == 1 { 0 } else { self.stride };
        widest_word([inner, self.disp.cast_unsigned(), stride.cast_unsigned()])
    }

    /// The repetitions as a table for the kernel `walk`, whose comments describe the rows.
    pub(crate) fn table(&self) -> Vec<u64> {
        let mut table = vec![0; ROW];
        self.write(0, 0, &mut table);
        table
    }

    /// Writes the row at `at` of this repetition, which starts at packed byte `start` of its parent's iteration.
    fn write(&self, at: usize, start: u64, table: &mut Vec<u64>) {
        let first = table.len();
        let number = match &self.body {
            Body::Run => 0,
            Body::List(blocks) => {
                let mut before = 0;
                for block in blocks {
                    table.extend([before, block.disp.cast_unsigned()]);
                    before += block.len;
                }
                blocks.len() as u64 | 1 << 63
            }
            Body::Several(all) => {
                table.resize(first + ROW * all.len(), 0);
                let mut before = 0;
                for (index, repeat) in all.iter().enumerate() {
                    repeat.write(first + ROW * index, before, table);
                    before += repeat.size * repeat.count;
                }
                all.len() as u64
            }
        };
        let (disp, stride) = (self.disp.cast_unsigned(), self.stride.cast_unsigned());
        table[at..at + ROW].copy_from_slice(&[
            start,
            disp,
            self.size,
            stride,
            first as u64,
            number,
        ]);
    }

    /// The runs of an iteration in packed order, joined where they touch; `None` if there are more than `most`.
    pub(crate) fn runs(&self, most: usize) -> Option<Vec<Block>> {
        let mut runs = Vec::new();
        self.add_iteration(0, most, &mut runs)?;
        Some(runs)
    }

    fn add_iteration(&self, shift: i64, most: usize, runs: &mut Vec<Block>) -> Option<()> {
        let mut push = |disp: i64, len: u64| {
            let disp = disp.wrapping_add(shift);
            match runs.last_mut() {
                Some(last) if last.disp.wrapping_add(last.len.cast_signed()) == disp => {
                    last.len += len;
                }
                _ => runs.push(Block { disp, len }),
            }
            (runs.len() <= most).then_some(())
        };
        match &self.body {
            Body::Run => push(0, self.size),
            Body::List(blocks) => blocks.iter().try_for_each(|block| push(block.disp, block.len)),
            Body::Several(all) => all.iter().try_for_each(|repeat| {
                // If there are more iterations than runs, the runs would touch, and the plan has joined those.
                let least = most as u64 * WIDEST;
                if repeat.count > least {
                    return None;
                }
                (0..repeat.count.cast_signed()).try_for_each(|iteration| {
                    let way = repeat.disp.wrapping_add(repeat.stride.wrapping_mul(iteration));
                    repeat.add_iteration(shift.wrapping_add(way), most, runs)
                })
            }),
        }
    }
}

/// The operations of a body.
fn body(plan: &Plan, ops: &[Op]) -> Body {
    let mut all = Vec::new();
    for (op, inner) in items(ops) {
        let repeat = match op {
            Op::Blocks(blocks) => {
                let (disp, size, count) = (blocks.disp, blocks.len, blocks.count);
                Repeat { disp, count, stride: blocks.stride, size, body: Body::Run }
            }
            Op::List(list) => {
                let blocks: Vec<_> =
                    plan.blocks_of(list).map(|(disp, len)| Block { disp, len }).collect();
                let size = blocks.iter().map(|block| block.len).sum();
                Repeat { disp: 0, count: 1, stride: 0, size, body: Body::List(blocks) }
            }
            Op::Loop { count, stride, .. } => {
                let body = body(plan, inner);
                let size = body.size();
                Repeat { disp: 0, count: *count, stride: *stride, size, body }.joined()
            }
            // Only plans that convert have other operations, and the plan of a committed type does not convert.
            _ => unreachable!("{op:?}"),
        };
        if repeat.size > 0 && repeat.count > 0 {
            all.push(repeat);
        }
    }
    Body::Several(all)
}

impl Body {
    /// Packed bytes of an iteration that consists of repetitions.
    fn size(&self) -> u64 {
        let Self::Several(all) = self else { return 0 };
        all.iter().map(|repeat| repeat.size * repeat.count).sum()
    }
}
