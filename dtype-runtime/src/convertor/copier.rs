//! Copies a range of a packed stream: a fragment of a message.

use core::marker::PhantomData;
use core::ops::{ControlFlow, Range};

use super::cursor::{Instances, Level, Repeated, Splittable, Visitor};
use super::ranges::{at, length, try_copy_instances, try_copy_range};
use crate::kernel::{self, Way};
use crate::plan::{Blocks, List, Lists, Program};

/// Copies a range of the packed stream of instances, to or from `packed`. `search_hint` is a guess at the list block in which
/// the range starts; the caller passes it on to the next range of the stream.
///
/// # Safety
///
/// `memory + displacement` must be valid for `D` on every byte that the range names, and so must `packed` for the
/// length of the range. The two must not overlap. If `D` reads memory, all data of the instances must be readable,
/// because all data of a small record are loaded to copy a part of it; if it writes memory, they must not overlap.
#[inline(always)]
pub(super) unsafe fn copy_range<D: Way>(
    instances: &Instances<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    search_hint: &mut usize,
) {
    if range.is_empty() {
        return;
    }
    if let Some((plan, count)) = instances.plan() {
        // SAFETY: bytes of the instances, which the caller guarantees. The cursor would end up at the same copy, after more
        // steps.
        unsafe {
            if range == (0..instances.size()) {
                return kernel::execute::<D>(plan, count, memory, packed);
            }
            if try_copy_instances::<D>(plan, count, range.clone(), memory, packed, search_hint) {
                return;
            }
        }
    }
    let program = instances.program();
    let mut copier = Copier::<D> { program, memory, packed, search_hint, direction: PhantomData };
    let _ = instances.visit(range, &mut copier);
}

/// Copies the blocks of a range.
///
/// # Invariant
///
/// Only [`copy_range`] makes a `Copier`, and it visits exactly the range passed to `copy_range`. So everything visited is valid
/// for `D` at its displacement from `memory`, and from `packed` on, which advances by the bytes visited. The blocks that say
/// "of the range" rely on this.
struct Copier<'a, D> {
    /// The program of the operations.
    program: &'a Program,
    memory: *mut u8,
    /// The address of the next packed byte of the range.
    packed: *mut u8,
    search_hint: &'a mut usize,
    direction: PhantomData<D>,
}

impl<D: Way> Visitor for Copier<'_, D> {
    fn run(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        // SAFETY: bytes of the range.
        unsafe { kernel::run::<D>(at(self.memory, disp), self.packed, length(len)) };
        self.packed = self.packed.wrapping_add(length(len));
        ControlFlow::Continue(())
    }

    fn blocks(&mut self, blocks: &Blocks) -> ControlFlow<()> {
        // SAFETY: bytes of the range.
        self.packed =
            unsafe { kernel::blocks::<D>(blocks, self.program, self.memory, self.packed) };
        ControlFlow::Continue(())
    }

    fn list(&mut self, list: &List, lists: &Lists, shift: i64) -> ControlFlow<()> {
        // SAFETY: bytes of the range, and the list belongs to the tables.
        self.packed =
            unsafe { kernel::list::<D>(list, lists, at(self.memory, shift), self.packed) };
        ControlFlow::Continue(())
    }

    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let Repeated { ops, program, level, count, stride, shift } = *repeated;
        let memory = at(self.memory, shift);
        // SAFETY: bytes of the range, and the operations belong to the program.
        self.packed = unsafe {
            if let Level::Instances(plan) = level {
                kernel::execute::<D>(plan, count, memory, self.packed);
                self.packed.wrapping_add(length(plan.size() * count))
            } else {
                kernel::repeated::<D>(ops, program, count, stride, memory, self.packed)
            }
        };
        Some(ControlFlow::Continue(()))
    }

    #[inline]
    fn take_range(&mut self, of: &Splittable<'_>, bytes: &Range<u64>) -> Option<ControlFlow<()>> {
        // `copy_range` has tried `try_copy_instances` already.
        if matches!(of, Splittable::Repeated(Repeated { level: Level::Instances(_), .. })) {
            return None;
        }
        // SAFETY: bytes of the range. All data of the instances are readable if memory is read, and do not overlap if it is
        // written, as the caller of `copy_range` guarantees.
        let done = unsafe {
            try_copy_range::<D>(of, bytes.clone(), self.memory, self.packed, self.search_hint)
        };
        self.packed =
            self.packed.wrapping_add(if done { length(bytes.end - bytes.start) } else { 0 });
        done.then_some(ControlFlow::Continue(()))
    }
}
