//! Converts the values of a range while copying them, or checks that they can be converted.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{ControlFlow, Range};
use core::slice;

use super::partial::Partials;
use crate::commit::Each;
use crate::convertor::copier::copy_range;
use crate::convertor::cursor::{Instances, Level, Repeated, Splittable, Visitor};
use crate::convertor::ranges::{at, copy_permuted, length, try_copy_range};
use crate::error::Error;
use crate::kernel::elements::{Records, bytewise, reversed_blocks, value as bytewise_value};
use crate::kernel::integers::{Task, integers};
use crate::kernel::{Steps, Way, reverse};
use crate::plan::{Blocks, Elements, Op, Part, Program, Split, Values, split};
use crate::representation::{Form, Misfit, WIDEST};

/// Converts a range of a stream in which all values have `width` bytes, which are reversed: the range is copied unchanged
/// between memory and a stage, and reversed between the stage and `packed`. The stage stays in the first-level cache, so this
/// takes little longer than the copy. Only long blocks are reversed directly between memory and `packed`.
///
/// The range may begin or end inside a value. Bytes 1 and 2 of a value of 4 bytes, for example, are bytes 2 and 1 of its
/// reverse.
///
/// # Safety
///
/// The plan for bytes must be that of the instances. The values that the range names must be valid for `D` at their
/// displacements from `memory`, and so must `packed` for the length of the range; the two must not overlap. If `D` reads
/// memory, all data of the instances must be readable; if it writes memory, they must not overlap.
pub(super) unsafe fn reversed<D: Way>(
    instances: &Instances<'_>,
    width: u8,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    if let Some((plan, count)) = instances.plan()
        && range == (0..instances.size())
        && let Some(blocks) = plan.program().single()
        && let Some(all) = blocks.repeated(count, plan.extent()).map(Blocks::normalized)
        && all.len >= MIN_DIRECT
    {
        // SAFETY: the instances consist of these blocks, which the caller guarantees. The blocks are whole values: lemma
        // WHOLE-RUNS (`commit/convert.rs`).
        return unsafe { reversed_blocks::<D>(width, &all, memory, packed) };
    }
    let (start, value) = (range.start, u64::from(width));
    let here = |position: u64| packed.wrapping_add(length(position - start));
    let Split { head, whole, tail } = split(range, value);
    let mut stage = [MaybeUninit::<u8>::uninit(); STAGE];
    let stage = stage.as_mut_ptr().cast::<u8>();
    let mut search_hint = 0;
    let mut copy = |range: Range<u64>| {
        // SAFETY: the range is one of the two below: whole values of the range, or bytes of one of its values; the caller
        // guarantees both. The stage has room for them, and if `D` unpacks, they were written there first.
        unsafe { copy_range::<D>(instances, range, memory, stage, &mut search_hint) };
    };
    for Part { item, bytes } in [head, tail].into_iter().flatten() {
        let first = item * value;
        let native = first + value - bytes.end..first + value - bytes.start;
        let len = length(bytes.end - bytes.start);
        let packed = here(first + bytes.start);
        // SAFETY: bytes of a value of the range, as many bytes in the stage, and as many packed bytes.
        unsafe {
            if D::PACKS {
                copy(native);
                reverse_bytes(stage, packed, len);
            } else {
                reverse_bytes(packed, stage, len);
                copy(native);
            }
        }
    }
    let (mut next, end) = (whole.start * value, whole.end * value);
    while next < end {
        // The end may be close to 2⁶⁴.
        let bytes = (end - next).min(STAGE as u64);
        let (values, len) = (next..next + bytes, length(bytes));
        let (packed, steps) = (here(next), Steps { memory: 0, packed: 0 });
        next = values.end;
        // SAFETY: whole values of the range, as many bytes of the stage, and as many packed bytes. The stage takes the place of
        // memory and holds the values one after another.
        unsafe {
            if D::PACKS {
                copy(values);
                reverse::<D>(width, len, 1, steps, stage, packed);
            } else {
                reverse::<D>(width, len, 1, steps, stage, packed);
                copy(values);
            }
        }
    }
}

/// The least length of blocks that are reversed directly from or to memory. For shorter ones, a copy and a reversal of whole
/// registers are faster.
const MIN_DIRECT: u64 = 64;

/// Bytes of the stage: few enough for the first-level cache, together with the same data in memory and in the packed stream.
const STAGE: usize = 8192;

/// Copies some bytes in reverse order.
///
/// # Safety
///
/// `from` must be valid for reading `len` bytes and `to` for writing `len` bytes, and the two must not overlap.
unsafe fn reverse_bytes(from: *const u8, to: *mut u8, len: usize) {
    for at in 0..len {
        // SAFETY: the caller guarantees the bytes on both sides; this is one of them.
        unsafe { to.add(len - 1 - at).write(from.add(at).read()) };
    }
}

/// Converts some bytes of a value whose conversion is byte by byte.
///
/// # Safety
///
/// The bytes of the value, which starts at `memory`, and as many from `packed` on must be valid for `D`.
unsafe fn convert_bytes<D: Way>(form: Form, bytes: Range<usize>, memory: *mut u8, packed: *mut u8) {
    let start = bytes.start;
    for byte in bytes {
        let memory = memory.wrapping_add(form.byte(byte));
        let (from, to) = D::ends(memory, packed.wrapping_add(byte - start));
        // SAFETY: the caller guarantees the bytes; this is one of them.
        unsafe { to.copy_from_nonoverlapping(from, 1) };
    }
}

/// Converts a range of the stream of `count` instances value by value, or checks that all of its values can be converted. Where
/// the range has only a part of a value, `partials` may hold the value's other bytes.
///
/// # Safety
///
/// The values that the range names must be valid for `D` at their displacements from `memory`, and so must `packed` for the
/// length of the range; the two must not overlap. For a check, the side that `D` writes need not be valid. If `D` reads memory,
/// all data of the instances must be readable; if it writes memory, they must not overlap.
pub(super) unsafe fn each<D: Way>(
    task: Task,
    each: &Each,
    count: u64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    partials: &mut Partials,
) -> Result<(), Error> {
    let (position, program, values) = (range.start, each.plan.program(), each.values.as_ref());
    let (error, way) = (None, PhantomData);
    let mut converter =
        Converter::<D> { task, program, values, memory, packed, position, partials, error, way };
    let _ = Instances::of_plan(&each.plan, count).visit(range, &mut converter);
    converter.error.map_or(Ok(()), Err)
}

/// # Invariant
///
/// Visits the values of a range. Only [`each`] makes a `Converter`, and it visits exactly the range passed to `each`. So every
/// visited value is valid for `D` at its displacement from `memory`, and its packed bytes from `packed` on, which advances by
/// the bytes visited; for a check, only the side that `D` reads is valid. The blocks that say "values of the range" rely on
/// this.
struct Converter<'a, D> {
    task: Task,
    /// The program of the operations.
    program: &'a Program,
    /// The values of an instance, if they are few and converted byte by byte.
    values: Option<&'a Values>,
    memory: *mut u8,
    /// The address of the next packed byte of the fragment.
    packed: *mut u8,
    /// The position of that byte in the stream.
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

    /// Moves past values that are complete, and forgets the parts of them that arrived earlier.
    fn advance_whole(&mut self, len: u64) -> ControlFlow<()> {
        if self.converts() {
            self.partials.forget_all(self.position..self.position + len);
        }
        self.advance(len);
        ControlFlow::Continue(())
    }

    /// Converts or checks a value, with its address in memory, its address in the packed stream, and its position.
    ///
    /// # Safety
    ///
    /// The bytes of the value at `memory` and at `packed` must be valid for `D`, and must not overlap. For a check, only the
    /// side that `D` reads must be valid.
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
        // SAFETY: to convert, the caller guarantees both addresses. For a check, the caller guarantees the one that is read,
        // and the other is an array with room for any value.
        let Err(misfit) = (unsafe { value::<D>(form, memory, packed) }) else {
            return ControlFlow::Continue(());
        };
        self.error = Some(error::<D>(misfit, form, position));
        ControlFlow::Break(())
    }

    /// Converts some packed bytes of an instance from its values, in half the time that its operations take.
    ///
    /// # Safety
    ///
    /// The bytes must be the next ones of the range, and `values` those of the instance, whose origin is at `memory`.
    unsafe fn convert_range_of_instance(
        &mut self,
        values: &Values,
        range: Range<u64>,
        memory: *mut u8,
    ) {
        let (mut position, mut packed) = (0, self.packed);
        for op in values.ops() {
            let Op::Elements(all) = op else { continue };
            let len = all.blocks.len;
            for index in 0..all.blocks.count {
                let (start, end) = (position.max(range.start), (position + len).min(range.end));
                if start < end {
                    let memory = at(memory, all.blocks.block(index));
                    // SAFETY: a value of the range, or those of its bytes that are in the range. `Values` has only values that
                    // are converted byte by byte and whose width is a power of two.
                    unsafe {
                        if end - start == len {
                            bytewise_value::<D>(all.form, memory, packed);
                        } else {
                            let bytes = length(start - position)..length(end - position);
                            convert_bytes::<D>(all.form, bytes, memory, packed);
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

    fn elements(&mut self, elements: &Elements) -> ControlFlow<()> {
        let (memory, packed) = (self.memory, self.packed);
        // SAFETY: values of the range.
        let done = unsafe {
            match self.task {
                Task::Check => {
                    elements.form.is_bytewise()
                        || integers::<D>(elements, Task::Check, memory, packed) == Some(true)
                }
                Task::Convert => {
                    bytewise::<D>(elements, self.program, memory, packed)
                        || integers::<D>(elements, Task::Convert, memory, packed).is_some()
                }
            }
        };
        let Blocks { len, count, .. } = elements.blocks;
        for index in 0..if done { 0 } else { count } {
            let memory = at(memory, elements.blocks.block(index));
            let packed = packed.wrapping_add(length(index * len));
            // SAFETY: values of the range.
            unsafe { self.value(elements.form, memory, packed, self.position + index * len)? };
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
                unsafe { convert_bytes::<D>(form, from..from + there, memory, self.packed) };
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
            // SAFETY: the fragment has as many bytes left.
            let arrived = unsafe { slice::from_raw_parts(self.packed, there) };
            let mut partial = self.partials.with(start, from, arrived);
            let whole = partial.whole(form.packed_size()).map(<[u8]>::as_mut_ptr);
            if let Some(whole) = whole {
                // SAFETY: a value of the range; the array has all bytes of it.
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

    fn repeated(&mut self, repeated: &Repeated<'_>) -> Option<ControlFlow<()>> {
        if !self.converts() {
            return None;
        }
        let Repeated { ops, level, count, stride, shift, .. } = *repeated;
        let (memory, packed) = (at(self.memory, shift), self.packed);
        // SAFETY: values of the range.
        if let Some(bytes) = unsafe { copy_permuted::<D>(repeated, memory, packed) } {
            return Some(self.advance_whole(bytes));
        }
        let values = self.values.filter(|_| matches!(level, Level::Instances(_)));
        let records = match values {
            Some(values) => Records::of_instances(values, stride, count),
            None => Records::new(ops, stride, count),
        };
        match (records, values) {
            // SAFETY: values of the range.
            (Some(records), _) => unsafe {
                records.execute::<D>(memory, packed);
                Some(self.advance_whole(records.packed_size()))
            },
            (None, Some(values)) => {
                for instance in 0..count {
                    let memory = at(memory, stride.wrapping_mul(instance.cast_signed()));
                    // SAFETY: values of the range.
                    unsafe { self.convert_range_of_instance(values, 0..values.size(), memory) };
                }
                Some(ControlFlow::Continue(()))
            }
            (None, None) => None,
        }
    }

    /// Only if all values are converted byte by byte, so that no value is partial.
    fn take_range(&mut self, of: &Splittable<'_>, bytes: &Range<u64>) -> Option<ControlFlow<()>> {
        if !self.converts() {
            return None;
        }
        // SAFETY: bytes of the range. All data of the instances are readable if memory is read, and do not overlap if it is
        // written, as the caller of `each` guarantees.
        let done =
            unsafe { try_copy_range::<D>(of, bytes.clone(), self.memory, self.packed, &mut 0) };
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
                unsafe {
                    self.convert_range_of_instance(values, bytes.clone(), at(self.memory, *shift));
                }
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
/// The bytes of the value at `memory` and at `packed` must be valid for `D`, and must not overlap.
unsafe fn value<D: Way>(form: Form, memory: *mut u8, packed: *mut u8) -> Result<(), Misfit> {
    let (from, to) = D::ends(memory, packed);
    let sizes = [form.memory_size(), form.packed_size()];
    let [from_size, to_size] = if D::PACKS { sizes } else { [sizes[1], sizes[0]] };
    let (mut before, mut after) = ([0; WIDEST], [0; WIDEST]);
    let (before, after) = (&mut before[..from_size], &mut after[..to_size]);
    // SAFETY: the caller guarantees the value; the arrays have room for it.
    unsafe { before.as_mut_ptr().copy_from_nonoverlapping(from, from_size) };
    if D::PACKS {
        form.to_packed(before, after)?;
    } else {
        form.to_memory(before, after)?;
    }
    // SAFETY: the caller guarantees that many bytes there; the array has as many.
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
