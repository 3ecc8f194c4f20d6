//! The memory of arrays, and datatypes for it.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use dtype_runtime::plan::Op;
use dtype_runtime::{Committed, Error, Packer, Type};
use numpy::{PyUntypedArray, PyUntypedArrayMethods, npyffi};
use pyo3::prelude::*;

/// The items of an array.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// The first item.
    pub(crate) origin: *mut u8,
    pub(crate) count: usize,
    pub(crate) itemsize: usize,
    /// The lengths of the axes, and the bytes from one item to the next along each, the outermost first; none if the items follow
    /// one another. Axes that are one in memory are one here.
    axes: Axes,
}

type Axes = Vec<(usize, isize)>;

impl Memory {
    /// Contiguous items.
    pub(crate) fn items(origin: *mut u8, count: usize, itemsize: usize) -> Self {
        Self { origin, count, itemsize, axes: Vec::new() }
    }

    /// The same items, seen from `offset` bytes after the start of each.
    pub(crate) fn at(&self, offset: usize) -> Self {
        Self { origin: self.origin.wrapping_add(offset), ..self.clone() }
    }

    /// The memory of an array whose items have `itemsize` bytes.
    #[inline]
    pub(crate) fn of(array: &Bound<'_, PyUntypedArray>, itemsize: usize) -> Self {
        // SAFETY: the pointer is that of an array, whose fields can be read: no other thread changes them while this one is
        // attached, unless it assigns a shape or strides to an array that is in use elsewhere, which NumPy does not protect either.
        let origin =
            unsafe { (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data.cast::<u8>() };
        let shape = array.shape();
        if array.is_c_contiguous() {
            // The lengths of an array without items may overflow when multiplied.
            let count = if shape.contains(&0) { 0 } else { shape.iter().product() };
            return Self { origin, count, itemsize, axes: Vec::new() };
        }
        let mut axes: Axes = Vec::with_capacity(shape.len());
        let mut count = 1;
        for (length, stride) in shape.iter().copied().zip(array.strides().iter().copied()) {
            count *= length;
            match axes.last_mut() {
                _ if length == 1 => {}
                // The last axis ends where this one starts again.
                Some((outer, step)) if *step == stride.wrapping_mul(length.cast_signed()) => {
                    (*outer, *step) = (*outer * length, stride);
                }
                _ => axes.push((length, stride)),
            }
        }
        if matches!(axes[..], [])
            || matches!(axes[..], [(_, step)] if step == itemsize.cast_signed())
        {
            axes.clear();
        }
        Self { origin, count, itemsize, axes }
    }

    /// The addresses from the first to the last byte of the items.
    pub(crate) fn span(&self) -> Range<usize> {
        let start = self.origin.addr();
        if self.axes.is_empty() {
            return start..start + self.count * self.itemsize;
        }
        let (mut from, mut to) = (start, start + self.itemsize);
        for (length, stride) in &self.axes {
            let last = stride.wrapping_mul(length.saturating_sub(1).cast_signed());
            if last < 0 {
                from = from.wrapping_add_signed(last);
            } else {
                to = to.wrapping_add_signed(last);
            }
        }
        from..to
    }

    /// Whether an address is in both.
    #[inline]
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let (a, b) = (self.span(), other.span());
        a.start < b.end && b.start < a.end && self.count > 0 && other.count > 0
    }
}

/// A datatype of items, for arrays with any strides.
#[derive(Debug)]
pub(crate) struct Item {
    ty: Committed,
    /// Whether the packed bytes are the memory itself.
    is_bytes: bool,
    /// Datatypes of items in arrays that are not contiguous, the last used one last.
    strided: Mutex<Vec<(Axes, Committed)>>,
}

/// How many layouts of strided arrays are remembered for a dtype.
const STRIDED: usize = 4;

impl Item {
    pub(crate) fn new(ty: &Type) -> Self {
        let ty = ty.commit();
        ty.prepare();
        let is_bytes = match ty.plan().ops() {
            [Op::Blocks(all)] => {
                all.count == 1 && all.disp == 0 && u64::try_from(ty.extent()) == Ok(all.len)
            }
            _ => false,
        };
        Self { ty, is_bytes, strided: Mutex::default() }
    }

    /// The datatype of an item.
    pub(crate) fn ty(&self) -> &Committed {
        &self.ty
    }

    /// The packed bytes of an item.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        // The items are in memory, so their sizes fit.
        usize::try_from(self.ty.size()).unwrap_or(usize::MAX)
    }

    /// The items of an array.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] for strides that no memory has.
    #[inline]
    pub(crate) fn side(&self, memory: &Memory) -> Result<Side, Error> {
        let origin = memory.origin;
        let Some(((outer, stride), inner)) = memory.axes.split_first() else {
            let (ty, count) = (self.ty.clone(), memory.count);
            return Ok(Side {
                ty,
                origin,
                count,
                size: self.size(),
                is_bytes: self.is_bytes,
                is_dense: true,
            });
        };
        let mut known = self.strided.lock().unwrap_or_else(PoisonError::into_inner);
        // The outermost length is the number of instances.
        let fits = |(axes, _): &(Axes, Committed)| axes[0].1 == *stride && axes[1..] == *inner;
        let ty = if let Some(at) = known.iter().position(fits) {
            let last = known.len() - 1;
            known.swap(at, last);
            known[last].1.clone()
        } else {
            let mut ty = self.ty.as_type().clone();
            for (length, stride) in inner.iter().rev() {
                ty = Type::hvector(*length as u64, 1, *stride as i64, &ty)?;
            }
            let ty = Type::resized(&ty, 0, *stride as i64)?.commit();
            if known.len() == STRIDED {
                known.remove(0);
            }
            known.push((memory.axes.clone(), ty.clone()));
            ty
        };
        Ok(Side { ty, origin, count: *outer, size: self.size(), is_bytes: false, is_dense: false })
    }
}

/// One side of a copy: instances of a datatype in memory, as a stream of packed bytes.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) ty: Committed,
    origin: *mut u8,
    count: usize,
    /// The packed bytes of an item.
    size: usize,
    /// Whether the packed bytes are the memory itself.
    pub(crate) is_bytes: bool,
    /// Whether the instances are items that follow one another.
    pub(crate) is_dense: bool,
}

// SAFETY: threads copy different ranges of a side at the same time. Each range is memory of its own where it is written: the
// instances of a side that is written to were found not to overlap.
unsafe impl Send for Side {}
// SAFETY: as above.
unsafe impl Sync for Side {}

impl Side {
    /// A contiguous memory of packed bytes, in which an item has `size`.
    #[inline]
    pub(crate) fn bytes(item: &Item, origin: *mut u8, count: usize) -> Self {
        Self {
            ty: item.ty.clone(),
            origin,
            count,
            size: item.size(),
            is_bytes: true,
            is_dense: true,
        }
    }

    /// Checks that no byte would be written twice.
    pub(crate) fn check_overlap(&self) -> Result<(), Error> {
        self.ty.check_overlap(self.count)
    }

    /// The packed byte at `position` of a side that is bytes.
    pub(crate) fn at(&self, position: usize) -> *mut u8 {
        self.origin.wrapping_add(position)
    }

    /// The origin of the item with this number, of a dense side.
    fn item(&self, number: usize) -> *mut u8 {
        // An item is in memory, so its extent fits.
        let extent = isize::try_from(self.ty.extent()).unwrap_or(0);
        self.origin.wrapping_offset(extent * number.cast_signed())
    }

    /// The items in a range of packed bytes, if the range is whole items of a dense side: the first one, and their number.
    pub(crate) fn whole(&self, range: &Range<usize>) -> Option<(*mut u8, usize)> {
        let (first, count) = (range.start.checked_div(self.size)?, range.len() / self.size);
        let is_whole = first * self.size == range.start && count * self.size == range.len();
        (self.is_dense && is_whole).then(|| (self.item(first), count))
    }

    /// The stream, from its start.
    ///
    /// # Safety
    ///
    /// The array of this side must live as long as the packer.
    pub(crate) unsafe fn packer(&self) -> Result<Packer<'static>, Error> {
        // SAFETY: the datatype names bytes of the array's items only, which the caller keeps alive. Of bytes that other threads
        // write meanwhile, either is packed, as in `pack`.
        unsafe { Packer::from_raw(&self.ty, self.origin, self.count) }
    }

    /// Packs a range of the stream.
    ///
    /// # Safety
    ///
    /// The array of this side must be alive, `out` writable for the length of the range, and apart from the array's memory.
    #[inline]
    pub(crate) unsafe fn pack(&self, range: Range<usize>, out: *mut u8) -> Result<(), Error> {
        // SAFETY: an array's items lie in the array's memory, and the datatypes of this side name bytes of these items only. Code of
        // other threads may write to the array meanwhile, as to any array that NumPy copies: then the copy has some of the old bytes and
        // some of the new ones. Every byte is copied once and none is looked at, so nothing depends on which.
        unsafe {
            if let Some((items, count)) = self.whole(&range) {
                let out = std::slice::from_raw_parts_mut(out, range.len());
                return self.ty.pack_raw(items, count, out).map(drop);
            }
            self.ty.pack_range_raw(self.origin, self.count, stream(range), out)
        }
    }

    /// Unpacks a range of the stream.
    ///
    /// # Safety
    ///
    /// As for [`pack`](Self::pack); the array must be writable, its items must not overlap, and `packed` must be readable.
    #[inline]
    pub(crate) unsafe fn unpack(
        &self,
        packed: *const u8,
        range: Range<usize>,
    ) -> Result<(), Error> {
        // SAFETY: as in `pack`, with memory that is written instead of read. Any bytes are items of an array.
        unsafe {
            if let Some((items, count)) = self.whole(&range) {
                let packed = std::slice::from_raw_parts(packed, range.len());
                return self.ty.unpack_raw(packed, items, count).map(drop);
            }
            self.ty.unpack_range_raw(packed, stream(range), self.origin, self.count)
        }
    }
}

fn stream(range: Range<usize>) -> Range<u64> {
    range.start as u64..range.end as u64
}
