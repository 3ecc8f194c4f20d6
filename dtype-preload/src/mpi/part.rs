//! A part of a call whose elements are packed here: what a send or a receive, or a rank's part of a collective operation, has.

use std::ffi::c_void;
use std::sync::Arc;

use super::abi::Word;
use super::packing::{Form, Packing};
use super::types::{Entry, find, is_left};
use crate::boundary::contain;

/// Whether elements are packed or unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Send,
    Receive,
}

/// Elements of the program that are sent or received as packed bytes.
#[derive(Clone, Debug)]
pub(super) struct Part {
    entry: Arc<Entry>,
    elements: *mut c_void,
    count: usize,
    /// Packed bytes of all elements. An `int` can count them.
    pub(super) size: usize,
}

// SAFETY: the program's elements, which MPI leaves to the call until the call ends, on any thread.
unsafe impl Send for Part {}
// SAFETY: as above.
unsafe impl Sync for Part {}

impl Part {
    /// `None` if the elements are left to the library.
    ///
    /// # Safety
    ///
    /// The library must be supported, MPI must be running, and a derived datatype must be alive.
    #[inline]
    pub(super) unsafe fn new(
        elements: *const c_void,
        count: i64,
        datatype: Word,
        direction: Direction,
    ) -> Option<Self> {
        if is_left(datatype, count) {
            return None;
        }
        // SAFETY: guaranteed by the caller.
        unsafe { Self::find(elements, count, datatype, direction) }
    }

    /// # Safety
    ///
    /// As for [`new`](Self::new).
    #[inline(never)]
    unsafe fn find(
        elements: *const c_void,
        count: i64,
        datatype: Word,
        direction: Direction,
    ) -> Option<Self> {
        let count = usize::try_from(count).ok()?;
        // SAFETY: guaranteed by the caller.
        let entry = contain(|| unsafe { find(datatype, count) }).flatten()?;
        Self::of(entry, elements, count, direction)
    }

    /// Elements of a type that is known; `None` as for [`new`](Self::new).
    #[inline]
    pub(super) fn of(
        entry: Arc<Entry>,
        elements: *const c_void,
        count: usize,
        direction: Direction,
    ) -> Option<Self> {
        let packing = Packing::new(&entry, Form::Native)?;
        let size = packing.size(elements, count)?;
        if direction == Direction::Receive && packing.committed().check_overlap(count).is_err() {
            return None;
        }
        // `size` also counts for the library, whose functions here have `int` counts.
        i32::try_from(size).ok()?;
        Some(Self { entry, elements: elements.cast_mut(), count, size })
    }

    /// Packs the elements to [`size`](Self::size) bytes.
    ///
    /// # Safety
    ///
    /// The elements must be readable, and the bytes writable.
    #[inline]
    pub(super) unsafe fn pack(&self, out: *mut u8) -> Option<()> {
        let packing = Packing::new(&self.entry, Form::Native)?;
        // SAFETY: guaranteed by the caller.
        let run =
            || unsafe { packing.pack(&self.entry, self.elements, self.count, out, self.size) };
        contain(run)?.ok()
    }

    /// Unpacks the elements from their first bytes.
    ///
    /// # Safety
    ///
    /// The elements must be writable.
    #[inline]
    pub(super) unsafe fn unpack(&self, packed: &[u8]) {
        let Some(packing) = Packing::new(&self.entry, Form::Native) else { return };
        let packed = &packed[..packed.len().min(self.size)];
        // Cannot fail: the elements do not overlap, and there are not more bytes than theirs.
        //
        // SAFETY: guaranteed by the caller.
        contain(|| unsafe { packing.unpack(&self.entry, packed, self.elements, self.count) });
    }
}
