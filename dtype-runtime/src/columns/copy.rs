//! Copies records to columns and back: some leaves for several records at a time, the others in loops over the records.

use alloc::borrow::Cow;
use core::marker::PhantomData;
use core::ptr;

use super::leaf::{self, Dimension, Leaf};
use crate::datatype::Datatype;
use crate::kernel::{self, Direction, Steps, Way};
use crate::plan::{Constant, Gather, MAX_COLUMNS, Place};
use crate::typed::assert_stride;

/// The number of leaves that are constants.
const MAX_CONSTANT: usize = MAX_COLUMNS;

/// Bytes of the longest leaf that is copied several records at a time: half a register.
const MAX_LEN: usize = 32;

/// The leaves of a type.
pub(super) struct Leaves<T>(PhantomData<T>);

impl<T: Datatype> Leaves<T> {
    pub(super) const COUNT: usize = leaf::leaves(T::TYPE_MAP);

    /// The first leaves. Those from [`COUNT`](Self::COUNT) on have no meaning.
    const FIRST: &'static [Leaf; MAX_CONSTANT] = &{
        assert_stride::<T>();
        let mut all = [Leaf::none(T::TYPE_MAP); MAX_CONSTANT];
        let mut index = 0;
        while index < Self::COUNT && index < MAX_CONSTANT {
            all[index] = Leaf::new(T::TYPE_MAP, index);
            index += 1;
        }
        all
    };

    /// The leaves that are copied several records at a time.
    const TOGETHER: &'static Option<Gather> = &{
        let mut places = [Place { offset: 0, len: 0 }; MAX_COLUMNS];
        let (mut number, mut index) = (0, 0);
        // If there are more leaves, none of them is a constant.
        while index < Self::COUNT && Self::COUNT <= MAX_CONSTANT {
            if let Some(place) = Self::FIRST[index].place()
                && place.len <= MAX_LEN
            {
                places[number] = place;
                number += 1;
            }
            index += 1;
        }
        Gather::new(places, number, size_of::<T>())
    };

    /// Whether a leaf is copied for several records at a time.
    fn is_together(leaf: &Leaf) -> bool {
        Self::TOGETHER.is_some() && leaf.place().is_some_and(|place| place.len <= MAX_LEN)
    }

    /// All leaves. They are constants unless there are many.
    pub(super) fn all() -> Cow<'static, [Leaf]> {
        match Self::FIRST.get(..Self::COUNT) {
            Some(all) => Cow::Borrowed(all),
            None => (0..Self::COUNT).map(|index| Leaf::new(T::TYPE_MAP, index)).collect(),
        }
    }

    /// The number of records in a batch: all, if the leaves are not copied one after another.
    pub(super) fn at_a_time() -> usize {
        let together = const {
            match Self::TOGETHER {
                Some(all) => all.number() == Self::COUNT,
                None => false,
            }
        };
        if together && kernel::is_gathering() { usize::MAX } else { Self::TILE }
    }

    /// As many records as stay in the first-level cache together with their columns.
    pub(super) const TILE: usize = {
        let fitting = 16_384 / if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        if fitting < 64 { 64 } else { fitting / 64 * 64 }
    };
}

impl<T: Datatype> Constant for Leaves<T> {
    const GATHER: &'static Gather = match Self::TOGETHER {
        Some(all) => all,
        None => &Gather::NONE,
    };
}

/// Copies `count` records, the first at `memory`, to the columns or back. The first is record `first` of the columns, which
/// begin at `starts`.
///
/// # Safety
///
/// The leaves must be those of `T`. `memory` must be valid for `D` on their data in `count` records, and each column on the bytes
/// of `count` records from record `first` on. No two of them must overlap.
pub(super) unsafe fn each<T: Datatype, D: Way>(
    leaves: &[Leaf],
    first: usize,
    count: usize,
    memory: *mut u8,
    starts: impl Iterator<Item = Option<*mut u8>>,
) {
    let stride = size_of::<T>();
    let (mut columns, mut number) = ([ptr::null_mut(); MAX_COLUMNS], 0);
    for (leaf, start) in leaves.iter().zip(starts) {
        // The caller has checked that no column was taken.
        let Some(start) = start else { return };
        let column = start.wrapping_add(first * leaf.size());
        if Leaves::<T>::is_together(leaf) {
            columns[number] = column;
            number += 1;
        } else {
            // SAFETY: the caller guarantees this leaf's data in the records, and the bytes of its column.
            unsafe { copy::<D>(leaf, stride, count, memory, column) };
        }
    }
    if const { Leaves::<T>::TOGETHER.is_some() } {
        // SAFETY: the caller guarantees the data of the other leaves in the records, and the bytes of their columns.
        unsafe { kernel::columns::<D, Leaves<T>>(count, memory, &columns) };
    }
}

/// Copies the values of one column of `count` records.
///
/// # Safety
///
/// `memory` must be valid for `D` on the leaf's data in `count` records of `stride` bytes, and `column` on `count · leaf.size()`
/// bytes. The two must not overlap.
unsafe fn copy<D: Direction>(
    leaf: &Leaf,
    stride: usize,
    count: usize,
    memory: *mut u8,
    column: *mut u8,
) {
    let memory = memory.wrapping_add(leaf.offset);
    let record = Steps { memory: stride.cast_signed(), packed: leaf.size() };
    // SAFETY: the blocks of the leaf, in the order of the column, for which the caller guarantees both sides.
    unsafe {
        match *leaf.dimensions() {
            [] => kernel::strided::<D>(leaf.block, count, record, memory, column),
            [Dimension { count: blocks, stride }] => {
                let block = Steps { memory: stride.cast_signed(), packed: leaf.block };
                kernel::grid::<D>(leaf.block, [(blocks, block), (count, record)], memory, column);
            }
            ref dimensions => {
                for i in 0..count {
                    let memory = memory.wrapping_add(i * stride);
                    nested::<D>(
                        leaf.block,
                        dimensions,
                        memory,
                        column.wrapping_add(i * leaf.size()),
                    );
                }
            }
        }
    }
}

/// Copies the blocks of one record, and returns the end of the column's bytes.
///
/// # Safety
///
/// `memory` must be valid for `D` on `block` bytes at each combination of the dimensions, and `column` on as many bytes as all
/// these blocks have. The two must not overlap.
unsafe fn nested<D: Direction>(
    block: usize,
    dimensions: &[Dimension],
    memory: *mut u8,
    column: *mut u8,
) -> *mut u8 {
    // SAFETY: a block at `memory`, or the blocks of the inner dimensions at each step of the outermost: the caller guarantees
    // all of them, and as many bytes of the column.
    unsafe {
        match *dimensions {
            [] => {
                D::copy(memory, column, block);
                column.wrapping_add(block)
            }
            [Dimension { count, stride }, ref inner @ ..] => {
                let mut column = column;
                for i in 0..count {
                    column = nested::<D>(block, inner, memory.wrapping_add(i * stride), column);
                }
                column
            }
        }
    }
}
