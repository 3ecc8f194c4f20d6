//! The instances whose packed bytes the cursor looks up.

use core::ops::{ControlFlow, Range};

use super::{Iterations, Level, Operations, Visitor};
use crate::plan::{Blocks, Op, Permutation, Plan, Program};

/// Instances of a type, as the operations that name their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instances<'a> {
    of: Of<'a>,
    count: u64,
}

/// The description of the instances.
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

impl<'a> Instances<'a> {
    /// `count` instances of the type of a plan.
    #[inline]
    pub(crate) fn of_plan(plan: &'a Plan, count: u64) -> Self {
        Self { of: Of::Plan(plan), count }
    }

    /// `count` values of a Rust type, `stride` bytes apart. The operations of its constant program name `size` packed bytes.
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

    /// The plan and the number of instances; `None` for values of a constant program.
    #[inline(always)]
    pub(in crate::convertor) fn plan(&self) -> Option<(&'a Plan, u64)> {
        match self.of {
            Of::Plan(plan) => Some((plan, self.count)),
            Of::Constant { .. } => None,
        }
    }

    /// The number of instances.
    pub(in crate::convertor) fn count(&self) -> u64 {
        self.count
    }

    /// The program that the operations belong to.
    #[inline]
    pub(crate) fn program(&self) -> &'a Program {
        match self.of {
            Of::Plan(plan) => plan.program(),
            Of::Constant { .. } => Program::empty(),
        }
    }

    /// Packed bytes of all instances; the caller must know that the number fits.
    #[inline]
    pub(crate) fn size(&self) -> u64 {
        self.size_of_one() * self.count
    }

    /// Packed bytes of an instance.
    #[inline]
    pub(in crate::convertor) fn size_of_one(&self) -> u64 {
        match self.of {
            Of::Plan(plan) => plan.size(),
            Of::Constant { size, .. } => size,
        }
    }

    /// The blocks of a single instance that is blocks at equal distances.
    #[inline]
    pub(in crate::convertor) fn single(&self) -> Option<&'a Blocks> {
        if self.count == 1 { self.program().single() } else { None }
    }

    /// Passes the parts of a range of packed bytes to a visitor, in order, until the visitor breaks off. The part of the range
    /// past the last byte is omitted.
    #[inline(always)]
    pub(crate) fn visit<V: Visitor>(&self, range: Range<u64>, visitor: &mut V) -> ControlFlow<()> {
        let range = range.start..range.end.min(self.size());
        if range.is_empty() {
            return ControlFlow::Continue(());
        }
        self.iterations().visit(range, self.size_of_one(), visitor)
    }

    /// The operations that are executed for each instance.
    #[inline(always)]
    pub(super) fn iterations(&self) -> Iterations<'a> {
        let (body, level, stride) = match self.of {
            Of::Plan(plan) => {
                let body = Operations::new(plan.ops(), plan.program(), plan.index());
                (body, Level::Instances(plan), plan.extent())
            }
            Of::Constant { ops, permutation, stride, .. } => {
                (Operations::new(ops, Program::empty(), None), Level::Values(permutation), stride)
            }
        };
        Iterations { body, level, count: self.count, stride, shift: 0 }
    }
}
