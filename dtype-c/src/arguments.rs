//! The pointers that C programs pass, made into values that safe code checks and uses.
//!
//! Each wrapper is made once, at the start of a function, where the function's promise about the pointer is at hand.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;

use dtype_runtime::Error;

use crate::error::Failure;
use crate::handle::{self, Object};

/// A handle.
pub(crate) struct In<'a, T: Object>(*const T, PhantomData<&'a T::Value>);

impl<T: Object> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Object> Copy for In<'_, T> {}

impl<'a, T: Object> In<'a, T> {
    /// # Safety
    ///
    /// The pointer must be null or a pointer that this library returned, and its object not be released during `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *const T) -> Self {
        Self(pointer, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn get(self, argument: &'static str) -> Result<&'a T::Value, Failure> {
        // SAFETY: what `new` was promised.
        unsafe { handle::get(self.0, argument) }
    }

    pub(crate) fn retain(self, argument: &'static str) -> Result<(), Failure> {
        // SAFETY: what `new` was promised.
        unsafe { handle::retain(self.0, argument) }
    }
}

/// A place for a result.
pub(crate) struct Out<T>(*mut T);

/// A place that exists.
pub(crate) struct Place<T>(NonNull<T>);

impl<T> Out<T> {
    /// # Safety
    ///
    /// The pointer must be null or valid for writing a `T` until the function returns.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *mut T) -> Self {
        Self(pointer)
    }

    #[inline(always)]
    pub(crate) fn place(self, argument: &'static str) -> Result<Place<T>, Failure> {
        let place = NonNull::new(self.0).ok_or(Failure::Null(argument))?;
        if place.is_aligned() { Ok(Place(place)) } else { Err(misaligned(argument)) }
    }

    /// For a result that the caller may not want.
    #[inline(always)]
    pub(crate) fn put_if_wanted(self, value: T) {
        if let Ok(place) = self.place("out") {
            place.put(value);
        }
    }
}

impl<T> Place<T> {
    #[inline(always)]
    pub(crate) fn put(self, value: T) {
        // SAFETY: not null and aligned, so valid for writing, as `Out::new` was promised.
        unsafe { self.0.write(value) }
    }
}

impl<T: Object> Place<*mut T> {
    pub(crate) fn put_new(self, value: T::Value) {
        self.put(handle::new::<T>(value));
    }
}

/// An array that the library reads.
pub(crate) struct Array<'a, T>(*const T, usize, PhantomData<&'a [T]>);

impl<'a, T> Array<'a, T> {
    /// # Safety
    ///
    /// The pointer must be null, or valid for reading so many `T` during `'a`, in which nothing writes them.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *const T, number: usize) -> Self {
        Self(pointer, number, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn get(self, argument: &'static str) -> Result<&'a [T], Failure> {
        let Self(pointer, number, _) = self;
        check::<T>(pointer, number, argument)?;
        if number == 0 {
            return Ok(&[]);
        }
        // SAFETY: not null and aligned, so valid for so many values, as `new` was promised; they are in one allocation, as all
        // arrays of C are. Memory from other languages counts as initialised.
        Ok(unsafe { slice::from_raw_parts(pointer, number) })
    }
}

/// An array that the library writes.
pub(crate) struct Room<'a, T>(*mut T, usize, PhantomData<&'a mut [T]>);

impl<'a, T> Room<'a, T> {
    /// # Safety
    ///
    /// The pointer must be null, or valid for writing so many `T` during `'a`, in which nothing else accesses them; any bytes
    /// make a `T`.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *mut T, number: usize) -> Self {
        Self(pointer, number, PhantomData)
    }

    /// Where the array is, before anything is written.
    pub(crate) fn address(&self) -> *const T {
        self.0
    }

    pub(crate) fn len(&self) -> usize {
        self.1
    }

    #[inline(always)]
    pub(crate) fn get(self, argument: &'static str) -> Result<&'a mut [T], Failure> {
        let Self(pointer, number, _) = self;
        check::<T>(pointer, number, argument)?;
        if number == 0 {
            return Ok(&mut []);
        }
        // SAFETY: not null and aligned, so valid for so many values that nothing else accesses, as `new` was promised. Memory
        // from other languages counts as initialised, and any bytes make a value.
        Ok(unsafe { slice::from_raw_parts_mut(pointer, number) })
    }
}

impl Room<'_, u8> {
    /// Writes all of these bytes to the front, and sets `size` to their number, even if there is no room for them.
    pub(crate) fn fill(self, size: Out<usize>, bytes: &[u8]) -> Result<(), Failure> {
        let (size, out) = (size.place("size")?, self.get("out")?);
        size.put(bytes.len());
        let (needed, available) = (bytes.len() as u64, out.len() as u64);
        let out = out.get_mut(..bytes.len());
        out.ok_or(Error::DestinationTooSmall { needed, available })?.copy_from_slice(bytes);
        Ok(())
    }

    /// As [`fill`](Self::fill), with a zero byte at the end, and without any before it.
    pub(crate) fn fill_text(self, size: Out<usize>, text: String) -> Result<(), Failure> {
        let mut bytes = text.into_bytes();
        bytes.retain(|byte| *byte != 0);
        bytes.push(0);
        self.fill(size, &bytes)
    }
}

/// Checks a pointer to so many values.
#[inline(always)]
fn check<T>(pointer: *const T, number: usize, argument: &'static str) -> Result<(), Failure> {
    if number == 0 {
        return Ok(());
    }
    if pointer.is_null() {
        return Err(Failure::Null(argument));
    }
    if number > isize::MAX as usize / size_of::<T>() {
        let most = isize::MAX as usize / size_of::<T>();
        return Err(Failure::argument(format!(
            "{argument}: {number} elements, expected at most {most}"
        )));
    }
    if pointer.is_aligned() { Ok(()) } else { Err(misaligned(argument)) }
}

#[cold]
fn misaligned(argument: &str) -> Failure {
    Failure::argument(format!("{argument} is not aligned"))
}

/// A number that must not be negative.
pub(crate) fn natural(number: i64, argument: &'static str) -> Result<u64, Failure> {
    u64::try_from(number)
        .map_err(|_| Failure::argument(format!("{argument} is {number}, expected at least 0")))
}

/// Numbers that must not be negative.
pub(crate) fn naturals(numbers: &[i64], argument: &'static str) -> Result<Vec<u64>, Failure> {
    numbers.iter().map(|number| natural(*number, argument)).collect()
}

/// A text.
pub(crate) fn text<'a>(bytes: Array<'a, u8>, argument: &'static str) -> Result<&'a str, Failure> {
    let text = std::str::from_utf8(bytes.get(argument)?);
    text.map_err(|error| {
        Failure::Other(crate::error::DTYPE_ERROR_TEXT, format!("{argument} is not UTF-8: {error}"))
    })
}
