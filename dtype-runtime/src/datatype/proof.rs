//! Reading values in constants, to prove the layout of foreign types.

/// Whether `value` begins with the bytes of `array`.
///
/// # Safety
///
/// The first `size_of::<A>()` bytes of `value` must be initialised, or the call must be evaluated at compile time, where
/// reading an uninitialised byte is a compile error.
pub(super) const unsafe fn begins_with<V: Copy, A: Copy>(value: V, array: A) -> bool {
    if size_of::<V>() < size_of::<A>() {
        return false;
    }
    let (value, array) = ((&raw const value).cast::<u8>(), (&raw const array).cast::<u8>());
    let mut i = 0;
    while i < size_of::<A>() {
        // SAFETY: `i` is less than the size of `A`, which is at most the size of `V`; the caller guarantees that the
        // bytes are initialised.
        if unsafe { value.add(i).read() != array.add(i).read() } {
            return false;
        }
        i += 1;
    }
    true
}
