//! The instances that a range is looked up in: what they are made of, and which parts of them a range touches.
//!
//! One instance of a plan goes straight to its operations, because often one instance is a whole message. Several are
//! copied by their permutation, if there is one, or otherwise by [`Repetitions`] of the operations.

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

/// The operations that are executed for each instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repetitions<'a> {
    pub(super) ops: &'a [Op],
    pub(super) program: &'a Program,
    /// The index of the operations.
    pub(super) index: Option<&'a Index>,
    /// Packed bytes of an instance.
    pub(super) size: u64,
    /// The permutation of a constant program, if it has one. Plans look theirs up lazily.
    permutation: Option<&'a Permutation>,
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
            _ => self.repetitions().visit(range, visitor),
        }
    }

    /// What is executed for each instance.
    #[inline]
    pub(super) fn repetitions(&self) -> Repetitions<'a> {
        let count = self.count;
        match self.of {
            Of::Plan(plan) => Repetitions {
                ops: plan.ops(),
                program: plan.program(),
                index: plan.index(),
                size: plan.size(),
                permutation: None,
                extent: plan.extent(),
                count,
            },
            Of::Constant { ops, permutation, size, stride } => Repetitions {
                ops,
                program: Program::empty(),
                index: None,
                size,
                permutation,
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
    let ops = plan.ops();
    if range == (0..size) {
        let repeated = Repeated { ops, program, count: 1, stride: plan.extent(), shift: 0 };
        if let Some(taken) = visitor.instances(size, &repeated) {
            return taken;
        }
    }
    Body::of(ops, program, plan.index()).visit(range, 0, visitor)
}

impl<'a> Repetitions<'a> {
    /// As [`Instances::visit`], for a range that is not empty, and within the instances.
    fn visit<V: Visitor>(&self, range: Range<u64>, visitor: &mut V) -> ControlFlow<()> {
        let Range { start: from, end: to } = range;
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
        let permutation = self.permutation.or_else(|| self.program.of_parts_of_instances());
        let (body, size, stride) = (self.body(), self.size, self.extent);
        Iterations { body, size, stride, shift: 0, outermost: true, permutation }
            .visit(range, visitor)
    }

    pub(super) fn body(&self) -> Body<'a> {
        Body::of(self.ops, self.program, self.index)
    }
}
