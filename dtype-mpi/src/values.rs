//! Packed bytes and values: which bytes fit, which must be checked, and which need no copy.

use std::alloc::{self, Layout};
use std::borrow::Cow;
use std::{ptr, slice};

use dtype_runtime::Datatype as Described;

use crate::error::Error;
use crate::raw::point_to_point::Envelope;
use crate::spare;

/// Whether the values in memory equal their packed bytes, and any bytes are valid values.
pub(crate) const fn is_plain<T: Described>() -> bool {
    T::TYPE_MAP.is_packed() && !T::TYPE_MAP.is_restricted()
}

/// The packed bytes of elements: borrowed if they equal the memory.
pub(crate) fn packed<T: Described>(elements: &[T]) -> Cow<'_, [u8]> {
    if const { T::TYPE_MAP.is_packed() } {
        let at = elements.as_ptr().cast();
        // SAFETY: all bytes of a `T` are data, which is initialised; the lifetime is the same.
        Cow::Borrowed(unsafe { slice::from_raw_parts(at, size_of_val(elements)) })
    } else {
        Cow::Owned(dtype_runtime::pack(elements))
    }
}

/// Calls `send` with the packed bytes of elements.
#[inline]
pub(crate) fn with_packed<T: Described, R>(elements: &[T], send: impl FnOnce(&[u8]) -> R) -> R {
    if const { T::TYPE_MAP.is_packed() } {
        return send(&packed(elements));
    }
    let mut bytes = spare::take(dtype_runtime::packed_size::<T>(elements.len()));
    dtype_runtime::pack_onto(&mut bytes, elements);
    let sent = send(&bytes);
    spare::keep(bytes);
    sent
}

/// The number of whole elements in `bytes` bytes.
pub(crate) fn whole<T: Described>(bytes: u64) -> Result<usize, Error> {
    let element = T::TYPE_MAP.size() as u64;
    let elements = bytes.checked_div(element).unwrap_or(0);
    if elements * element != bytes {
        return Err(Error::Partial { bytes, elements, element });
    }
    usize::try_from(elements).map_err(|_| Error::Allocation { bytes: usize::MAX })
}

/// The number of whole elements in a message, if there is room for them.
pub(crate) fn fits<T: Described>(message: Envelope, room: usize) -> Result<usize, Error> {
    fits_bytes(message, dtype_runtime::packed_size::<T>(room) as u64)?;
    whole::<T>(message.bytes)
}

pub(crate) fn fits_bytes(message: Envelope, capacity: u64) -> Result<(), Error> {
    let Envelope { source: source_rank, tag, bytes } = message;
    if bytes > capacity {
        return Err(Error::Truncated { source_rank, tag, bytes, capacity });
    }
    Ok(())
}

/// Where to receive packed bytes.
pub(crate) enum Memory {
    /// Directly in the elements: at this address, with room for all.
    Elements(*mut u8),
    /// In a separate vector, which is returned.
    Bytes,
}

/// New elements, whose memory `receive` fills.
///
/// # Safety
///
/// The elements must be [plain](is_plain), and `receive` must fill all bytes of all of them, or return an error.
pub(crate) unsafe fn filled<T: Described>(
    count: usize,
    receive: impl FnOnce(*mut u8) -> Result<(), Error>,
) -> Result<Vec<T>, Error> {
    let mut elements = with_capacity::<T>(count)?;
    receive(elements.as_mut_ptr().cast())?;
    // SAFETY: there is room for `count` elements, and by the caller's promise all of their bytes are data that were
    // received; any bytes are valid values.
    unsafe { elements.set_len(count) };
    Ok(elements)
}

/// New elements from the bytes that `receive` receives. Some libraries fill only part of the elements' memory without an error;
/// the rest is then zeros.
pub(crate) fn receive_vec_or_zeros<T: Described>(
    count: usize,
    receive: impl FnOnce(Memory) -> Result<Vec<u8>, Error>,
) -> Result<Vec<T>, Error> {
    if const { is_plain::<T>() } {
        let mut elements = zeroed::<T>(count)?;
        receive(Memory::Elements(elements.as_mut_ptr().cast()))?;
        return Ok(elements);
    }
    let bytes = receive(Memory::Bytes)?;
    unpack_vec(&bytes, count)
}

/// A new vector of `count` elements from their packed bytes.
pub(crate) fn unpack_vec<T: Described>(bytes: &[u8], count: usize) -> Result<Vec<T>, Error> {
    if T::TYPE_MAP.size() > 0 || count == 0 {
        return Ok(dtype_runtime::unpack(bytes)?);
    }
    // Elements without data are all the same, so checking one is enough, however many a rank announces.
    std::mem::forget(dtype_runtime::unpack_one::<T>(bytes)?);
    let mut elements = with_capacity(count)?;
    // SAFETY: there is room for `count` elements. They have no data, so each is a value like the one that was just made.
    unsafe { elements.set_len(count) };
    Ok(elements)
}

fn with_capacity<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut elements = Vec::new();
    let bytes = size_of::<T>().saturating_mul(count);
    elements.try_reserve_exact(count).map_err(|_| Error::Allocation { bytes })?;
    Ok(elements)
}

/// Elements of zeros, to be overwritten. The system provides zeroed memory only when it is touched, so elements
/// that are announced but never arrive use none.
pub(crate) fn zeroed<T: Described>(count: usize) -> Result<Vec<T>, Error> {
    const {
        assert!(!T::TYPE_MAP.skips_fields(), "this type skips fields: use `recv_into`");
    }
    if T::TYPE_MAP.is_restricted() {
        unreachable!("zeros may be no values");
    }
    let bytes = size_of::<T>().saturating_mul(count);
    let layout = Layout::array::<T>(count).map_err(|_| Error::Allocation { bytes })?;
    if layout.size() == 0 {
        let mut elements = with_capacity(count)?;
        // SAFETY: there is room for `count` elements, which have no bytes to initialise; they are valid values,
        // because any bytes are valid for a type that is not restricted and skips no fields.
        unsafe { elements.set_len(count) };
        return Ok(elements);
    }
    // SAFETY: the size is not zero.
    let at = unsafe { alloc::alloc_zeroed(layout) };
    if at.is_null() {
        return Err(Error::Allocation { bytes });
    }
    // SAFETY: memory of the global allocator with the layout of `count` elements, owned by nothing else; zeros are
    // valid values of a type that is not restricted and skips no fields.
    let elements = unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(at.cast::<T>(), count)) };
    Ok(elements.into_vec())
}

#[cfg(test)]
mod tests {
    use dtype_runtime::Datatype;

    use super::*;

    #[derive(Datatype)]
    #[repr(C)]
    struct Pair<T: Datatype>(T, T);

    #[derive(Datatype)]
    struct Reordered {
        _a: u8,
        _b: u16,
        _c: u8,
    }

    #[test]
    fn only_what_is_packed_in_memory_is_plain() {
        assert!(is_plain::<Pair<f64>>() && is_plain::<[Pair<[u8; 3]>; 4]>());
        assert!(is_plain::<()>() && is_plain::<[f64; 0]>());
        assert!(!is_plain::<Pair<bool>>() && !is_plain::<(u8, u16)>());
        // All bytes are data, but the fields are declared in another order than they lie in memory.
        assert!(Reordered::TYPE_MAP.is_dense() && !is_plain::<Reordered>());
        assert!(!is_plain::<[Reordered; 2]>() && !is_plain::<(Reordered, ())>());
        let packed = packed(&[Reordered { _a: 1, _b: 0x0202, _c: 3 }]).into_owned();
        assert_eq!(packed, [1, 2, 2, 3]);
    }

    #[test]
    fn memory_of_zeros() {
        assert_eq!(zeroed::<[u16; 3]>(1000).unwrap(), [[0; 3]; 1000]);
        assert_eq!(zeroed::<f64>(0).unwrap(), []);
        assert_eq!(zeroed::<()>(usize::MAX).unwrap().len(), usize::MAX);
        let bytes = usize::MAX / 8 * 8;
        for count in [usize::MAX / 8, 1 << 59] {
            let bytes = if count == 1 << 59 { 1 << 62 } else { bytes };
            assert_eq!(zeroed::<u64>(count).unwrap_err(), Error::Allocation { bytes });
        }
        let half = receive_vec_or_zeros::<[u8; 4]>(2, |memory| {
            let Memory::Elements(at) = memory else { panic!("they are plain") };
            // SAFETY: there is room for eight bytes.
            unsafe { at.write_bytes(7, 4) };
            Ok(Vec::new())
        });
        assert_eq!(half.unwrap(), [[7; 4], [0; 4]]);
    }

    #[test]
    fn parts_of_elements_are_refused() {
        assert_eq!(whole::<(u32, u8)>(10), Ok(2));
        assert_eq!(whole::<(u32, u8)>(0), Ok(0));
        let partial = Error::Partial { bytes: 11, elements: 2, element: 5 };
        assert_eq!(whole::<(u32, u8)>(11), Err(partial));
        assert!(whole::<()>(1).is_err() && whole::<()>(0) == Ok(0));
    }
}
