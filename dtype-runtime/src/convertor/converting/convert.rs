//! Converts the values of a range as they are copied.

use core::marker::PhantomData;
use core::ops::{ControlFlow, Range};
use core::slice;

use super::partial::Partials;
use crate::convertor::copier::copy_range;
use crate::convertor::cursor::{Fragment, Instances, Repeated, Visitor};
use crate::kernel::elements::{Records, bytewise};
use crate::kernel::integers::{Task, integers};
use crate::kernel::{Reversing, Way, permute, permuted_records};
use crate::plan::{Elements, Program};
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
    let value = u64::from(width);
    let Range { start, end } = range;
    let here = |position: u64| packed.wrapping_add(length(position - start));
    // A part of a value, whole values, a part of a value: any of them may be missing.
    let first = start.next_multiple_of(value).min(end);
    let last = (end - end % value).max(first);
    // SAFETY: together the parts are the range, whose values and packed bytes the caller guarantees. `Reversing`
    // requires blocks of whole values: lemma WHOLE-PARTS.
    unsafe {
        part_of_value::<D>(instances, width, start..first, memory, packed);
        let (all, to) = (first..last, here(first));
        match width {
            2 => copy_range::<Reversing<D, 2>>(instances, all, memory, to, None, &mut 0),
            4 => copy_range::<Reversing<D, 4>>(instances, all, memory, to, None, &mut 0),
            8 => copy_range::<Reversing<D, 8>>(instances, all, memory, to, None, &mut 0),
            _ => copy_range::<Reversing<D, 16>>(instances, all, memory, to, None, &mut 0),
        }
        part_of_value::<D>(instances, width, last..end, memory, here(last));
    }
}

/// Converts some bytes of a single value, possibly none.
///
/// # Safety
///
/// As [`reversed`].
unsafe fn part_of_value<D: Way>(
    instances: &Instances<'_>,
    width: u8,
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

    if part.is_empty() {
        return;
    }
    let value = u64::from(width);
    let position = part.start - part.start % value;
    let mut run = RunDisplacement(None);
    let _ = instances.visit(position..position + value, &mut run);
    let Some(disp) = run.0 else { return };
    let (into, len) = (part.start - position, part.end - part.start);
    // SAFETY: bytes of a value of the range, and as many of the packed ones.
    unsafe {
        bytes::<D>(Form::Reversed { width }, at(memory, disp), length(into), packed, length(len));
    }
}

/// Converts `len` bytes of a value, from byte `into` in the stream on, one by one.
///
/// # Safety
///
/// These bytes of the value, which starts at `memory`, and as many from `packed` on must be valid for `D`.
pub(super) unsafe fn bytes<D: Way>(
    form: Form,
    memory: *mut u8,
    into: usize,
    packed: *mut u8,
    len: usize,
) {
    for index in 0..len {
        let memory = memory.wrapping_add(form.byte(into + index));
        // SAFETY: one of the bytes that the caller guarantees.
        unsafe { D::copy(memory, packed.wrapping_add(index), 1) };
    }
}

/// Converts a range of a stream value by value; the instances are those of the plan that was made for it. Values
/// that cannot be converted have been found before, by [`check`](super::check::check).
///
/// # Safety
///
/// As [`reversed`].
pub(super) unsafe fn each<D: Way>(
    instances: &Instances<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    partials: &mut Partials,
) {
    let position = range.start;
    let (program, way) = (instances.program(), PhantomData);
    let mut converter = Converter::<D> { program, memory, packed, position, partials, way };
    let _ = instances.visit(range, &mut converter);
}

/// # Invariant
///
/// Only [`each`] makes it, and it visits exactly the range that was given there. So every visited value is valid
/// for `D`: at its displacement from `memory`, and with its packed bytes from `packed` on, which advances by the
/// bytes visited. The blocks that say "values of the range" rest on this.
struct Converter<'a, D> {
    /// The program of the operations.
    program: &'a Program,
    memory: *mut u8,
    /// Offset of the next bytes in the fragment,
    packed: *mut u8,
    /// and their position in the stream.
    position: u64,
    partials: &'a mut Partials,
    way: PhantomData<D>,
}

impl<D: Way> Converter<'_, D> {
    fn advance(&mut self, len: u64) {
        self.packed = self.packed.wrapping_add(length(len));
        self.position += len;
    }

    /// Moves past values that are complete, and forgets parts of them that came before.
    fn advance_whole(&mut self, len: u64) {
        self.partials.forget_all(self.position..self.position + len);
        self.advance(len);
    }
}

impl<D: Way> Visitor for Converter<'_, D> {
    /// A plan of values does not contain runs.
    fn run(&mut self, _disp: i64, _len: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn elements(&mut self, all: &Elements) -> ControlFlow<()> {
        // SAFETY: values of the range.
        let done = unsafe {
            bytewise::<D>(all, self.program, self.memory, self.packed)
                || integers::<D>(all, Task::Convert, self.memory, self.packed).is_some()
        };
        if !done {
            for index in 0..all.blocks.count {
                let memory = at(self.memory, all.blocks.block(index));
                let packed = self.packed.wrapping_add(length(index * all.blocks.len));
                // SAFETY: likewise.
                let converted = unsafe { value::<D>(all.form, memory, packed) };
                debug_assert_eq!(converted, Ok(()), "checked before");
            }
        }
        self.advance_whole(all.blocks.len * all.blocks.count);
        ControlFlow::Continue(())
    }

    fn part_of_element(&mut self, element: &Elements, into: u64, len: u64) -> ControlFlow<()> {
        let form = element.form;
        let memory = at(self.memory, element.blocks.disp);
        let (from, bytes_there) = (length(into), length(len));
        if form.is_bytewise() {
            // SAFETY: bytes of a value of the range.
            unsafe { bytes::<D>(form, memory, from, self.packed, bytes_there) };
        } else if D::PACKS {
            let mut whole = [0; WIDEST];
            // SAFETY: a value of the range; the array has room for it, and the fragment for the part.
            unsafe {
                let converted = value::<D>(form, memory, whole.as_mut_ptr());
                debug_assert_eq!(converted, Ok(()), "checked before");
                self.packed.copy_from_nonoverlapping(whole.as_ptr().add(from), bytes_there);
            }
        } else {
            // SAFETY: as many bytes are left in the fragment.
            let came = unsafe { slice::from_raw_parts(self.packed, bytes_there) };
            let start = self.position - into;
            let mut partial = self.partials.with(start, from, came);
            match partial.whole(form.packed_size()) {
                None => self.partials.keep(start, partial),
                Some(whole) => {
                    // SAFETY: a value of the range, all bytes of which are present.
                    let converted = unsafe { value::<D>(form, memory, whole.as_mut_ptr()) };
                    debug_assert_eq!(converted, Ok(()), "checked before");
                    self.partials.forget(start);
                }
            }
        }
        self.advance(len);
        ControlFlow::Continue(())
    }

    fn part(&mut self, part: &Fragment<'_>) -> Option<ControlFlow<()>> {
        let Range { start, end } = part.bytes;
        let bytes = length(start)..length(end);
        let memory = at(self.memory, part.shift);
        // SAFETY: bytes of the range, and the permutation belongs to a record, whose other data are readable, too,
        // if memory is read.
        let done = unsafe { permute::<D>(part.permutation, bytes, memory, self.packed) };
        done.then(|| {
            self.advance(end - start);
            ControlFlow::Continue(())
        })
    }

    fn repeated(&mut self, all: &Repeated<'_>) -> Option<ControlFlow<()>> {
        let Repeated { ops, program, count, stride, shift } = *all;
        let (memory, packed) = (at(self.memory, shift), self.packed);
        // SAFETY: values of the range.
        let end = unsafe { permuted_records::<D>(ops, program, count, stride, memory, packed) };
        if let Some(end) = end {
            self.advance_whole((end.addr() - packed.addr()) as u64);
            return Some(ControlFlow::Continue(()));
        }
        let records = Records::of(ops, stride, count)?;
        // SAFETY: likewise.
        unsafe { records.execute::<D>(memory, packed) };
        self.advance_whole(records.packed_size());
        Some(ControlFlow::Continue(()))
    }
}

/// Converts one value.
///
/// # Safety
///
/// Its bytes at `memory` and at `packed` must be valid for `D`, and not overlap.
pub(super) unsafe fn value<D: Way>(
    form: Form,
    memory: *mut u8,
    packed: *mut u8,
) -> Result<(), Misfit> {
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

#[expect(clippy::cast_possible_truncation, reason = "displacements of data, in memory")]
pub(super) fn at(memory: *mut u8, disp: i64) -> *mut u8 {
    memory.wrapping_offset(disp as isize)
}

#[expect(clippy::cast_possible_truncation, reason = "bytes of one fragment")]
pub(super) fn length(bytes: u64) -> usize {
    bytes as usize
}
