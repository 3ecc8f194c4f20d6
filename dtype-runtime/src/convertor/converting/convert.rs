//! Converts the values of a range as they are copied, or checks that they can be converted.

use core::marker::PhantomData;
use core::ops::{ControlFlow, Range};
use core::slice;

use super::partial::Partials;
use crate::commit::Each;
use crate::convertor::copier::copy_range;
use crate::convertor::cursor::{Instances, Level, Repeated, Splittable, Visitor};
use crate::convertor::part::{at, copy_part, copy_permuted, length};
use crate::error::Error;
use crate::kernel::elements::{Records, bytewise, value as bytewise_value};
use crate::kernel::integers::{Task, integers};
use crate::kernel::{Way, execute, reversing};
use crate::plan::{Blocks, Elements, Op, Part, Program, Split, Values, split};
use crate::representation::{Form, Misfit, WIDEST};

/// Converts a range of a stream in which all values have `width` bytes, which are reversed; the instances are
/// those of the plan for bytes.
///
/// Lemma WHOLE-PARTS: every block of that plan, and every part of the range that starts and ends at a multiple of
/// `width`, consists of whole values. All basic datatypes of the type have `width` bytes (`commit/convert.rs`
/// chooses `How::Reversed` only then), the plan is made of their runs, and a compiler only joins blocks, whose
/// lengths are then sums of multiples of `width`; packed positions of values are multiples of `width` for the same
/// reason.
///
/// # Safety
///
/// The values that the range names must be valid for `D` at their displacements from `memory`, and so must
/// `packed` for the length of the range; the two must not overlap. If `D` reads memory, all data of the instances
/// must be readable.
pub(super) unsafe fn reversed<D: Way>(
    instances: &Instances<'_>,
    width: u8,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: passed on to the caller.
    unsafe {
        if let Some((plan, count)) = instances.plan()
            && range == (0..instances.size())
        {
            return reversing!(execute::<D>(width)(plan, count, memory, packed));
        }
        reversing!(by_values::<D>(width)(instances, range, memory, packed));
    }
}

/// [`reversed`] in the direction `D`, which [reverses](crate::kernel::Reversing) values of a constant width.
///
/// # Safety
///
/// As there.
unsafe fn by_values<D: Way>(
    instances: &Instances<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    let (start, value) = (range.start, D::UNIT as u64);
    let here = |position: u64| packed.wrapping_add(length(position - start));
    let Split { head, whole, tail } = split(range, value);
    // SAFETY: together the parts are the range, whose values and packed bytes the caller guarantees. `D`
    // requires blocks of whole values: lemma WHOLE-PARTS.
    unsafe {
        if !whole.is_empty() {
            let all = whole.start * value..whole.end * value;
            let to = here(all.start);
            copy_range::<D>(instances, all, memory, to, &mut 0);
        }
        for Part { item, bytes } in [head, tail].into_iter().flatten() {
            let first = item * value;
            let to = here(first + bytes.start);
            part_of_value::<D>(instances, first, bytes, memory, to);
        }
    }
}

/// Converts some bytes of the value at position `first`, one by one.
///
/// # Safety
///
/// As [`by_values`].
unsafe fn part_of_value<D: Way>(
    instances: &Instances<'_>,
    first: u64,
    part: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    /// Finds the only run of a range.
    struct RunDisplacement(Option<i64>);

    impl Visitor for RunDisplacement {
        fn run(&mut self, disp: i64, _len: u64) -> ControlFlow<()> {
            self.0 = Some(disp);
            ControlFlow::Break(())
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "at most 16")]
    let width = D::UNIT as u8;
    let mut run = RunDisplacement(None);
    let _ = instances.visit(first..first + u64::from(width), &mut run);
    let Some(disp) = run.0 else { return };
    let form = Form::Reversed { width };
    // SAFETY: bytes of a value of the range, and as many packed ones.
    unsafe {
        part_of_bytes::<D>(form, length(part.start)..length(part.end), at(memory, disp), packed);
    }
}

/// Converts some bytes of a value that is converted byte by byte.
///
/// # Safety
///
/// The bytes of the value, which starts at `memory`, and as many from `packed` on must be valid for `D`.
unsafe fn part_of_bytes<D: Way>(form: Form, bytes: Range<usize>, memory: *mut u8, packed: *mut u8) {
    let start = bytes.start;
    for byte in bytes {
        let memory = memory.wrapping_add(form.byte(byte));
        let (from, to) = D::ends(memory, packed.wrapping_add(byte - start));
        // SAFETY: one of the bytes that the caller guarantees.
        unsafe { to.copy_from_nonoverlapping(from, 1) };
    }
}

/// Converts a range of the stream of `count` instances value by value, or checks that all of its values can be converted. If the
/// range has only a part of a value, `partials` has its other bytes.
///
/// # Safety
///
/// As [`reversed`]; to check, the side that `D` writes need not be valid.
pub(super) unsafe fn each<D: Way>(
    task: Task,
    all: &Each,
    count: u64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    partials: &mut Partials,
) -> Result<(), Error> {
    let (position, program, values) = (range.start, all.plan.program(), all.values.as_ref());
    let (error, way) = (None, PhantomData);
    let mut converter =
        Converter::<D> { task, program, values, memory, packed, position, partials, error, way };
    let _ = Instances::of_plan(&all.plan, count).visit(range, &mut converter);
    converter.error.map_or(Ok(()), Err)
}

/// # Invariant
///
/// Only [`each`] makes it, and it visits exactly the range that was given there. So every visited value is valid
/// for `D`: at its displacement from `memory`, and with its packed bytes from `packed` on, which advances by the
/// bytes visited; to check, where `D` reads it. The blocks that say "values of the range" rest on this.
struct Converter<'a, D> {
    task: Task,
    /// The program of the operations.
    program: &'a Program,
    /// The values of an instance, if they are few and converted byte by byte.
    values: Option<&'a Values>,
    memory: *mut u8,
    /// Offset of the next bytes in the fragment,
    packed: *mut u8,
    /// and their position in the stream.
    position: u64,
    partials: &'a mut Partials,
    /// The first value that cannot be converted.
    error: Option<Error>,
    way: PhantomData<D>,
}

impl<D: Way> Converter<'_, D> {
    fn converts(&self) -> bool {
        self.task == Task::Convert
    }

    fn advance(&mut self, len: u64) {
        self.packed = self.packed.wrapping_add(length(len));
        self.position += len;
    }

    /// Moves past values that are complete, and forgets parts of them that came before.
    fn advance_whole(&mut self, len: u64) -> ControlFlow<()> {
        if self.converts() {
            self.partials.forget_all(self.position..self.position + len);
        }
        self.advance(len);
        ControlFlow::Continue(())
    }

    /// Converts or checks a value, given its address in memory and in the packed stream, and its position.
    ///
    /// # Safety
    ///
    /// As [`value`]; to check, only where `D` reads.
    unsafe fn value(
        &mut self,
        form: Form,
        memory: *mut u8,
        packed: *mut u8,
        position: u64,
    ) -> ControlFlow<()> {
        let mut scratch = [0; WIDEST];
        let scratch = scratch.as_mut_ptr();
        let (memory, packed) = match self.task {
            Task::Convert => (memory, packed),
            Task::Check if D::PACKS => (memory, scratch),
            Task::Check => (scratch, packed),
        };
        // SAFETY: the caller guarantees both ends, or one, and the other is an array that has room for any value.
        let Err(misfit) = (unsafe { value::<D>(form, memory, packed) }) else {
            return ControlFlow::Continue(());
        };
        self.error = Some(error::<D>(misfit, form, position));
        ControlFlow::Break(())
    }

    /// Converts some packed bytes of an instance, value by value, in half the time that its operations take.
    ///
    /// # Safety
    ///
    /// These must be the next bytes of the range, and `values` those of the instance, whose origin is at `memory`.
    unsafe fn part_of_instance(&mut self, values: &Values, range: Range<u64>, memory: *mut u8) {
        let (mut position, mut packed) = (0, self.packed);
        for op in values.ops() {
            let Op::Elements(all) = op else { continue };
            let len = all.blocks.len;
            for index in 0..all.blocks.count {
                let (start, end) = (position.max(range.start), (position + len).min(range.end));
                if start < end {
                    let memory = at(memory, all.blocks.block(index));
                    // SAFETY: a value of the range, or the bytes of it that are in the range; `Values` has only values that
                    // are converted byte by byte, whose number of bytes is a power of two.
                    unsafe {
                        if end - start == len {
                            bytewise_value::<D>(all.form, memory, packed);
                        } else {
                            let bytes = length(start - position)..length(end - position);
                            part_of_bytes::<D>(all.form, bytes, memory, packed);
                        }
                    }
                    packed = packed.wrapping_add(length(end - start));
                }
                position += len;
            }
        }
        self.advance(range.end - range.start);
    }
}

impl<D: Way> Visitor for Converter<'_, D> {
    /// A plan of values does not contain runs.
    fn run(&mut self, _disp: i64, _len: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn elements(&mut self, all: &Elements) -> ControlFlow<()> {
        let (memory, packed) = (self.memory, self.packed);
        // SAFETY: values of the range.
        let done = unsafe {
            match self.task {
                Task::Check => {
                    all.form.is_bytewise()
                        || integers::<D>(all, Task::Check, memory, packed) == Some(true)
                }
                Task::Convert => {
                    bytewise::<D>(all, self.program, memory, packed)
                        || integers::<D>(all, Task::Convert, memory, packed).is_some()
                }
            }
        };
        let Blocks { len, count, .. } = all.blocks;
        for index in 0..if done { 0 } else { count } {
            let memory = at(memory, all.blocks.block(index));
            let packed = packed.wrapping_add(length(index * len));
            // SAFETY: likewise.
            unsafe { self.value(all.form, memory, packed, self.position + index * len)? };
        }
        self.advance_whole(len * count)
    }

    fn part_of_element(&mut self, element: &Elements, into: u64, len: u64) -> ControlFlow<()> {
        let (form, start) = (element.form, self.position - into);
        let memory = at(self.memory, element.blocks.disp);
        let (from, there) = (length(into), length(len));
        if form.is_bytewise() {
            if self.converts() {
                // SAFETY: bytes of a value of the range.
                unsafe { part_of_bytes::<D>(form, from..from + there, memory, self.packed) };
            }
        } else if D::PACKS {
            let mut whole = [0; WIDEST];
            // SAFETY: a value of the range; the array has room for it, and the fragment for the part.
            unsafe {
                self.value(form, memory, whole.as_mut_ptr(), start)?;
                if self.converts() {
                    self.packed.copy_from_nonoverlapping(whole.as_ptr().add(from), there);
                }
            }
        } else {
            // SAFETY: as many bytes are left in the fragment.
            let came = unsafe { slice::from_raw_parts(self.packed, there) };
            let mut partial = self.partials.with(start, from, came);
            let whole = partial.whole(form.packed_size()).map(<[u8]>::as_mut_ptr);
            if let Some(whole) = whole {
                // SAFETY: a value of the range, all bytes of which are in the array.
                unsafe { self.value(form, memory, whole, start)? };
            }
            if self.converts() {
                match whole {
                    Some(_) => self.partials.forget(start),
                    None => self.partials.keep(start, partial),
                }
            }
        }
        self.advance(len);
        ControlFlow::Continue(())
    }

    fn repeated(&mut self, all: &Repeated<'_>) -> Option<ControlFlow<()>> {
        if !self.converts() {
            return None;
        }
        let Repeated { ops, level, count, stride, shift, .. } = *all;
        let (memory, packed) = (at(self.memory, shift), self.packed);
        // SAFETY: values of the range.
        if let Some(bytes) = unsafe { copy_permuted::<D>(all, memory, packed) } {
            return Some(self.advance_whole(bytes));
        }
        let values = self.values.filter(|_| matches!(level, Level::Instances(_)));
        let records = match values {
            Some(values) => Records::of_instances(values, stride, count),
            None => Records::new(ops, stride, count),
        };
        match (records, values) {
            // SAFETY: likewise.
            (Some(records), _) => unsafe {
                records.execute::<D>(memory, packed);
                Some(self.advance_whole(records.packed_size()))
            },
            (None, Some(values)) => {
                for instance in 0..count {
                    let memory = at(memory, stride.wrapping_mul(instance.cast_signed()));
                    // SAFETY: likewise.
                    unsafe { self.part_of_instance(values, 0..values.size(), memory) };
                }
                Some(ControlFlow::Continue(()))
            }
            (None, None) => None,
        }
    }

    /// Only where all values are converted byte by byte, so that none is partial.
    fn part(&mut self, of: &Splittable<'_>, bytes: &Range<u64>) -> Option<ControlFlow<()>> {
        if !self.converts() {
            return None;
        }
        // SAFETY: bytes of the range. All data of the instances are readable if memory is read, and do not overlap if it is
        // written, as the caller of `each` guarantees.
        let done = unsafe { copy_part::<D>(of, bytes.clone(), self.memory, self.packed, &mut 0) };
        if done {
            return Some(self.advance_whole(bytes.end - bytes.start));
        }
        match (of, self.values) {
            (
                Splittable::Repeated(Repeated {
                    level: Level::Instances(_), count: 1, shift, ..
                }),
                Some(values),
            ) => {
                // SAFETY: bytes of the range, in one instance.
                unsafe { self.part_of_instance(values, bytes.clone(), at(self.memory, *shift)) };
                Some(ControlFlow::Continue(()))
            }
            _ => None,
        }
    }
}

/// Converts one value.
///
/// # Safety
///
/// Its bytes at `memory` and at `packed` must be valid for `D`, and not overlap.
unsafe fn value<D: Way>(form: Form, memory: *mut u8, packed: *mut u8) -> Result<(), Misfit> {
    let (from, to) = D::ends(memory, packed);
    let sizes = [form.memory_size(), form.packed_size()];
    let [from_size, to_size] = if D::PACKS { sizes } else { [sizes[1], sizes[0]] };
    let (mut before, mut after) = ([0; WIDEST], [0; WIDEST]);
    let (before, after) = (&mut before[..from_size], &mut after[..to_size]);
    // SAFETY: the caller guarantees it; the arrays have as many bytes.
    unsafe { before.as_mut_ptr().copy_from_nonoverlapping(from, from_size) };
    if D::PACKS {
        form.to_packed(before, after)?;
    } else {
        form.to_memory(before, after)?;
    }
    // SAFETY: likewise.
    unsafe { to.copy_from_nonoverlapping(after.as_ptr(), to_size) };
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "at most 16")]
fn error<D: Way>(misfit: Misfit, form: Form, position: u64) -> Error {
    match (misfit, form) {
        (Misfit::Float, Form::Float { memory, packed, .. }) => {
            Error::FloatRange { position, format: if D::PACKS { packed } else { memory } }
        }
        (misfit, form) => {
            let value = if let Misfit::Integer(value) = misfit { value } else { 0 };
            let bytes = if D::PACKS { form.packed_size() } else { form.memory_size() };
            Error::IntegerRange { position, value, bytes: bytes as u8 }
        }
    }
}

/// Checks that a position is not inside a value that can only be converted as a whole.
pub(super) fn check_boundary(instances: &Instances<'_>, position: u64) -> Result<(), Error> {
    struct Inside(Option<u64>);

    impl Visitor for Inside {
        fn run(&mut self, _disp: i64, _len: u64) -> ControlFlow<()> {
            ControlFlow::Break(())
        }

        fn part_of_element(&mut self, element: &Elements, into: u64, _: u64) -> ControlFlow<()> {
            if into > 0 && !element.form.is_bytewise() {
                self.0 = Some(element.blocks.len);
            }
            ControlFlow::Break(())
        }
    }

    let mut inside = Inside(None);
    let _ = instances.visit(position..position.saturating_add(1), &mut inside);
    inside.0.map_or(Ok(()), |record| Err(Error::InsideRecord { position, record }))
}
