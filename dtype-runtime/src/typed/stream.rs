//! Slices of Rust types, packed and unpacked in fragments.

use core::ops::Range;

use super::layout::Layout;
use super::validate::checked;
use crate::convertor::{Compiled, Constant, CopyRange, Native, Packer, Unpacker, ValidateTyped};
use crate::datatype::Datatype;
use crate::kernel::{Pack, Unpack, Way};
use crate::types::Type;

impl<T: Datatype> Layout<T> {
    /// What a convertor needs to know about `T`, if the operations of `T` are a constant. `pack` and `unpack` copy exactly what
    /// the operations name: all three were computed from the map of `T` (`convertor/native.rs` relies on this). They require
    /// that the memory holds values, as it does for every [`native`](Self::native).
    const CONSTANT: Option<&'static Constant> = match Self::OPS {
        None => None,
        Some(ops) => Some(&Constant {
            ops,
            permutation: Self::PERMUTATION,
            size: T::TYPE_MAP.size() as u64,
            stride: size_of::<T>() as i64,
            pack: Self::compiled_copy::<Pack>(),
            unpack: Self::compiled_copy::<Unpack>(),
            fingerprint: T::TYPE_MAP.fingerprint(),
            ty: Type::of::<T>,
        }),
    };

    const fn compiled_copy<D: Way>() -> Option<CopyRange> {
        if Self::COPIES_RANGES { Some(copy_range::<T, D>) } else { None }
    }

    #[inline]
    fn compiled() -> Compiled {
        match Self::CONSTANT {
            Some(constant) => Compiled::Constant(constant),
            None => Compiled::Committed(Type::of_record::<T>().commit()),
        }
    }

    /// The memory of `count` values, which the caller borrows for it: shared to pack, exclusively to unpack.
    #[inline]
    fn native(items: *mut T, count: usize) -> Native {
        Native::new(Self::compiled(), items.cast(), count as u64)
            // This cannot fail, because the packed items are no larger than their memory.
            .unwrap_or_else(|| unreachable!("{count} items have more data than memory"))
    }
}

/// # Safety
///
/// The values that lie in the range as a whole must be readable, and to unpack writable; of other values, the data of the range
/// must be valid for what `D` does. `packed` must be valid for what `D` does on as many bytes as the range has; the two must
/// not overlap. If `D` reads memory, all data of the records in the range must be readable.
#[expect(clippy::cast_possible_truncation, reason = "bytes in memory")]
unsafe fn copy_range<T: Datatype, D: Way>(memory: *mut u8, packed: *mut u8, range: Range<u64>) {
    let (start, end) = (range.start as usize, range.end as usize);
    // The divisor is a constant.
    let first = start.checked_div(T::TYPE_MAP.size()).unwrap_or(0);
    let before = first * T::TYPE_MAP.size();
    let memory = memory.wrapping_add(first * size_of::<T>());
    // SAFETY: the caller guarantees both pointers on the range, which is now counted from the record that it starts in, at the
    // address of that record.
    unsafe { Layout::<T>::copy_range::<D>(memory, packed, start - before..end - before) }
}

impl<'a> Packer<'a> {
    /// A packer of the items, whose stream is what [`pack`](crate::pack) returns. It allocates only if the
    /// type has more than 64 separate ranges of data.
    pub fn new<T: Datatype>(items: &'a [T]) -> Self {
        let native = Layout::<T>::native(items.as_ptr().cast_mut(), items.len());
        // SAFETY: by the promise of `Datatype` the data bytes lie in the items and are initialised. The items
        // are borrowed for `'a`, and neither data bytes nor padding change through a shared reference.
        unsafe { Self::from_native(native) }
    }
}

impl<'a> Unpacker<'a> {
    /// An unpacker into the items; padding and skipped fields are unchanged. It allocates only if the type
    /// has more than 64 separate ranges of data, or values that must be checked.
    pub fn new<T: Datatype>(items: &'a mut [T]) -> Self {
        let native = Layout::<T>::native(items.as_mut_ptr(), items.len());
        let restricted = const { T::TYPE_MAP.is_restricted() };
        let checks: Option<ValidateTyped> = if restricted { Some(checked::<T>) } else { None };
        // SAFETY: by the promise of `Datatype` the data bytes lie in the items, no byte is named twice, and
        // bytes that `checked` returns make values; where the map is not restricted, all bytes do. The items
        // are borrowed exclusively for `'a`.
        unsafe { Self::from_native(native, checks) }
    }
}
