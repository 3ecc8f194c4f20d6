//! The instances that a range is looked up in: what they are made of, and which parts of them a range touches.
//!
//! One instance of a plan goes straight to its operations, because often one instance is a whole message. Several are
//! copied by their permutation, if there is one, or executed as the three [`Parts`] of the plan.

use core::ops::{ControlFlow, Range};

use super::{Body, Fragment, Iterations, Repeated, Visitor, of_blocks};
use crate::plan::{Blocks, Index, Op, Permutation, Plan, Program};

/// Instances of a type, as the operations that name their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instances<'a> {
    of: Of<'a>,
    count: u64,
}

/// What the instances are described by.
#[derive(Clone, Copy, Debug)]
enum Of<'a> {
    Plan(&'a Plan),
    /// A constant program for one value.
    Constant {
        ops: &'a [Op],
        permutation: Option<&'a Permutation>,
        /// Packed bytes of a value.
        size: u64,
        /// Bytes from one value to the next.
        stride: i64,
    },
}

/// What instances are executed as: all but a single instance of a plan. Segments are numbered in these parts, too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    pub(super) prologue: &'a [Op],
    pub(super) steady: &'a [Op],
    pub(super) epilogue: &'a [Op],
    pub(super) program: &'a Program,
    /// The index of `steady`.
    pub(super) index: Option<&'a Index>,
    /// Packed bytes of the three.
    pub(super) sizes: [u64; 3],
    /// The permutation of a constant program, if it has one. That of a plan is looked up where it is needed.
    pub(super) permutation: Option<&'a Permutation>,
    /// How many times `steady` is executed.
    pub(super) repetitions: u64,
    /// Bytes from one instance to the next.
    pub(super) extent: i64,
    pub(super) count: u64,
}

impl<'a> Instances<'a> {
    /// `count` instances of the type that a plan was made for.
    #[inline]
    pub(crate) fn of_plan(plan: &'a Plan, count: u64) -> Self {
        Self { of: Of::Plan(plan), count }
    }

    /// `count` values, `stride` bytes apart, of a type whose data a constant program of `size` bytes names.
    #[inline]
    pub(crate) fn of_program(
        ops: &'a [Op],
        permutation: Option<&'a Permutation>,
        size: u64,
        stride: i64,
        count: u64,
    ) -> Self {
        Self { of: Of::Constant { ops, permutation, size, stride }, count }
    }

    /// The plan, and the number of instances, if there is a plan.
    #[inline(always)]
    pub(in crate::convertor) fn plan(&self) -> Option<(&'a Plan, u64)> {
        match self.of {
            Of::Plan(plan) => Some((plan, self.count)),
            Of::Constant { .. } => None,
        }
    }

    /// The program that the operations belong to.
    #[inline]
    pub(crate) fn program(&self) -> &'a Program {
        match self.of {
            Of::Plan(plan) => plan.program(),
            Of::Constant { .. } => Program::empty(),
        }
    }

    /// Packed bytes of all instances; the caller knows that they fit.
    #[inline]
    pub(crate) fn size(&self) -> u64 {
        let one = match self.of {
            Of::Plan(plan) => plan.size(),
            Of::Constant { size, .. } => size,
        };
        one * self.count
    }

    /// The bytes of the instances, if there is one, and it is blocks at equal distances.
    #[inline]
    pub(in crate::convertor) fn single(&self) -> Option<&'a Blocks> {
        if self.count == 1 { self.program().single() } else { None }
    }

    /// Hands the parts of a range of packed bytes to a visitor, in order, until the visitor breaks off. The part
    /// of the range past the last byte is omitted.
    #[inline(always)]
    pub(crate) fn visit<V: Visitor>(&self, range: Range<u64>, visitor: &mut V) -> ControlFlow<()> {
        let size = self.size();
        let range = range.start..range.end.min(size);
        if range.is_empty() {
            return ControlFlow::Continue(());
        }
        match self.of {
            Of::Plan(plan) if self.count == 1 => of_one(plan, range, size, visitor),
            // A part of one value is not worth a permutation.
            Of::Constant { ops, .. } if self.count == 1 && range != (0..size) => {
                Body::of(ops, Program::empty(), None).visit(range, 0, visitor)
            }
            _ => self.parts().visit(range, visitor),
        }
    }

    /// What the instances are executed as.
    #[inline]
    pub(super) fn parts(&self) -> Parts<'a> {
        let count = self.count;
        match self.of {
            Of::Plan(plan) => {
                let [prologue, steady, epilogue] = plan.program().parts();
                Parts {
                    prologue,
                    steady,
                    epilogue,
                    program: plan.program(),
                    index: plan.index(),
                    sizes: plan.sizes(),
                    permutation: None,
                    repetitions: plan.repetitions(count),
                    extent: plan.extent(),
                    count,
                }
            }
            Of::Constant { ops, permutation, size, stride } => Parts {
                prologue: &[],
                steady: ops,
                epilogue: &[],
                program: Program::empty(),
                index: None,
                sizes: [0, size, 0],
                permutation,
                repetitions: count,
                extent: stride,
                count,
            },
        }
    }
}

/// A range of one instance of a plan, which has `size` packed bytes. The range is not empty, and within the instance.
#[inline]
fn of_one<V: Visitor>(
    plan: &Plan,
    range: Range<u64>,
    size: u64,
    visitor: &mut V,
) -> ControlFlow<()> {
    let program = plan.program();
    if let Some(all) = program.single() {
        return of_blocks(all, range, visitor);
    }
    let ops = program.instance();
    let is_repeated = plan.prologue().is_empty();
    if is_repeated && range == (0..size) {
        let repeated = Repeated { ops, program, count: 1, stride: plan.extent(), shift: 0 };
        if let Some(taken) = visitor.instances(size, &repeated) {
            return taken;
        }
    }
    let index = if is_repeated { plan.index() } else { None };
    Body::of(ops, program, index).visit(range, 0, visitor)
}

impl Parts<'_> {
    /// As [`Instances::visit`], for a range that is not empty, and within the instances.
    fn visit<V: Visitor>(&self, range: Range<u64>, visitor: &mut V) -> ControlFlow<()> {
        let Range { start: from, end: to } = range;
        let [prologue, steady, epilogue] = self.sizes;
        let constant = self.permutation.map(|all| (all, 0));
        if let Some((permutation, disp)) = constant.or_else(|| self.program.of_any_bytes(to - from))
        {
            let first = permutation.record_of(from);
            let into = from - first * permutation.size() as u64;
            let shift = (permutation.stride() as i64).wrapping_mul(first.cast_signed());
            let shift = shift.wrapping_add(disp);
            let part = Fragment { permutation, bytes: into..into + (to - from), shift };
            if let Some(taken) = visitor.permuted(&part) {
                return taken;
            }
        }
        if from < prologue {
            self.body(self.prologue, None).visit(from..to.min(prologue), 0, visitor)?;
        }
        let after = prologue + steady * self.repetitions;
        if from.max(prologue) < to.min(after) {
            let iterations = Iterations {
                body: self.body(self.steady, self.index),
                size: steady,
                stride: self.extent,
                shift: 0,
                outermost: true,
                permutation: self.of_repetitions(),
            };
            let range = from.max(prologue) - prologue..to.min(after) - prologue;
            iterations.visit(range, visitor)?;
        }
        if to > after && epilogue > 0 {
            let last = self.extent.wrapping_mul((self.count - 1).cast_signed());
            let range = from.max(after) - after..to - after;
            self.body(self.epilogue, None).visit(range, last, visitor)?;
        }
        ControlFlow::Continue(())
    }
}

impl<'a> Parts<'a> {
    /// The permutation of the repetitions, if these are the instances.
    fn of_repetitions(&self) -> Option<&'a Permutation> {
        match self.permutation {
            None if self.prologue.is_empty() => self.program.of_parts_of_instances(),
            permutation => permutation,
        }
    }

    /// The operations of one of the parts.
    pub(super) fn body(&self, ops: &'a [Op], index: Option<&'a Index>) -> Body<'a> {
        Body::of(ops, self.program, index)
    }
}
