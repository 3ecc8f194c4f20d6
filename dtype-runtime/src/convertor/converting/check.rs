//! Finds values that cannot be converted, before anything is written.

use core::marker::PhantomData;
use core::ops::{ControlFlow, Range};
use core::slice;

use super::convert::{at, length, value};
use super::partial::Partials;
use crate::convertor::cursor::{Instances, Visitor};
use crate::error::Error;
use crate::kernel::Way;
use crate::kernel::integers::{Task, integers};
use crate::plan::Elements;
use crate::representation::{Form, Misfit, WIDEST};

/// Checks that all values of a range that [`each`](super::convert::each) would convert can be converted.
///
/// # Safety
///
/// The source that `D` reads must be readable: the memory of the values that the range names, or `packed` for the
/// length of the range.
pub(super) unsafe fn check<D: Way>(
    instances: &Instances<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    partials: &Partials,
) -> Result<(), Error> {
    let (position, error) = (range.start, None);
    let way = PhantomData::<D>;
    let mut checker = Checker { memory, packed, position, partials, error, way };
    let _ = instances.visit(range, &mut checker);
    checker.error.map_or(Ok(()), Err)
}

/// # Invariant
///
/// Only [`check`] makes it, and it visits exactly the range that was given there. So every visited value is
/// readable where `D` reads it: at its displacement from `memory`, or from `packed` on, which advances by the
/// bytes visited. The blocks that say "a value of the range" rest on this.
struct Checker<'a, D> {
    memory: *mut u8,
    /// Offset of the next bytes in the fragment,
    packed: *mut u8,
    /// and their position in the stream.
    position: u64,
    partials: &'a Partials,
    error: Option<Error>,
    way: PhantomData<D>,
}

impl<D: Way> Checker<'_, D> {
    /// Checks a value, given its address in memory and in the packed stream.
    ///
    /// # Safety
    ///
    /// The value must be readable where `D` reads it.
    unsafe fn check(
        &mut self,
        form: Form,
        memory: *mut u8,
        packed: *mut u8,
        position: u64,
    ) -> ControlFlow<()> {
        let mut scratch = [0; WIDEST];
        let scratch = scratch.as_mut_ptr();
        let (memory, packed) = if D::PACKS { (memory, scratch) } else { (scratch, packed) };
        // SAFETY: the caller guarantees one end, and the other is an array that has room for any value.
        let Err(misfit) = (unsafe { value::<D>(form, memory, packed) }) else {
            return ControlFlow::Continue(());
        };
        self.error = Some(error::<D>(misfit, form, position));
        ControlFlow::Break(())
    }

    fn advance(&mut self, len: u64) {
        self.packed = self.packed.wrapping_add(length(len));
        self.position += len;
    }
}

impl<D: Way> Visitor for Checker<'_, D> {
    /// A plan of values does not contain runs.
    fn run(&mut self, _disp: i64, _len: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn elements(&mut self, all: &Elements) -> ControlFlow<()> {
        // SAFETY: values of the range.
        let fit = all.form.is_bytewise()
            || unsafe { integers::<D>(all, Task::Check, self.memory, self.packed) } == Some(true);
        if !fit {
            for index in 0..all.blocks.count {
                let bytes = index * all.blocks.len;
                let memory = at(self.memory, all.blocks.block(index));
                let packed = self.packed.wrapping_add(length(bytes));
                // SAFETY: a value of the range.
                unsafe { self.check(all.form, memory, packed, self.position + bytes)? };
            }
        }
        self.advance(all.blocks.len * all.blocks.count);
        ControlFlow::Continue(())
    }

    fn part_of_element(&mut self, element: &Elements, into: u64, len: u64) -> ControlFlow<()> {
        let form = element.form;
        let start = self.position - into;
        if form.is_bytewise() {
            // These values can always be converted.
        } else if D::PACKS {
            let memory = at(self.memory, element.blocks.disp);
            // SAFETY: a value of the range.
            unsafe { self.check(form, memory, self.packed, start)? };
        } else {
            // SAFETY: as many bytes are left in the fragment.
            let came = unsafe { slice::from_raw_parts(self.packed, length(len)) };
            let mut partial = self.partials.with(start, length(into), came);
            if let Some(whole) = partial.whole(form.packed_size()) {
                // SAFETY: the bytes of the value are in a slice.
                unsafe { self.check(form, self.memory, whole.as_mut_ptr(), start)? };
            }
        }
        self.advance(len);
        ControlFlow::Continue(())
    }
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
