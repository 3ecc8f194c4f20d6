//! The pointers that C programs pass, made into values that safe code checks and uses.
//!
//! Each wrapper is made once, where a function begins and its promise about the pointer is at hand, with the argument's name for
//! errors.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;

use dtype_runtime::Error;

use crate::error::{DTYPE_ERROR_TEXT, Failure};
use crate::handle::{self, Object};

/// A handle.
pub(crate) struct In<'a, T: Object>(*const T, &'static str, PhantomData<&'a T::Value>);

impl<'a, T: Object> In<'a, T> {
    /// # Safety
    ///
    /// The pointer must be null or a pointer that this library returned, and its object not be released during `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *const T, name: &'static str) -> Self {
        Self(pointer, name, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn get(self) -> Result<&'a T::Value, Failure> {
        // SAFETY: what `new` was promised.
        unsafe { handle::get(self.0, self.1) }
    }

    pub(crate) fn retain(self) -> Result<(), Failure> {
        // SAFETY: what `new` was promised.
        unsafe { handle::retain(self.0, self.1) }
    }
}

/// A place for a result.
pub(crate) struct Out<T>(*mut T, &'static str);

/// A place that exists.
pub(crate) struct Place<T>(NonNull<T>);

impl<T> Out<T> {
    /// # Safety
    ///
    /// The pointer must be null or valid for writing a `T` until the function returns.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *mut T, name: &'static str) -> Self {
        Self(pointer, name)
    }

    #[inline(always)]
    pub(crate) fn place(self) -> Result<Place<T>, Failure> {
        let place = NonNull::new(self.0).ok_or_else(|| Failure::null(self.1))?;
        if place.is_aligned() { Ok(Place(place)) } else { Err(misaligned(self.1)) }
    }

    #[inline(always)]
    pub(crate) fn put(self, value: T) -> Result<(), Failure> {
        self.place().map(|place| place.put(value))
    }

    /// For a result that the caller may not want.
    #[inline(always)]
    pub(crate) fn put_if_wanted(self, value: T) -> Result<(), Failure> {
        if self.0.is_null() { Ok(()) } else { self.put(value) }
    }
}

impl<T: Object> Out<*mut T> {
    pub(crate) fn put_new(self, value: T::Value) -> Result<(), Failure> {
        self.place().map(|place| place.put(handle::new(value)))
    }
}

impl<T> Place<T> {
    #[inline(always)]
    pub(crate) fn put(self, value: T) {
        // SAFETY: not null and aligned, so valid for writing, as `Out::new` was promised.
        unsafe { self.0.write(value) }
    }
}

/// An array that the library reads.
pub(crate) struct Array<'a, T>(*const T, usize, &'static str, PhantomData<&'a [T]>);

impl<'a, T> Array<'a, T> {
    /// # Safety
    ///
    /// The pointer must be null, or valid for reading `number` of `T` during `'a`, in which nothing writes them.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *const T, number: usize, name: &'static str) -> Self {
        Self(pointer, number, name, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn get(self) -> Result<&'a [T], Failure> {
        let Self(pointer, number, name, _) = self;
        check::<T>(pointer, number, name)?;
        if number == 0 {
            return Ok(&[]);
        }
        // SAFETY: not null and aligned, so valid for `number` values, as `new` was promised; they are in one allocation, as all
        // arrays of C are. Memory from other languages counts as initialised.
        Ok(unsafe { slice::from_raw_parts(pointer, number) })
    }

    /// The value behind a pointer that may be null.
    pub(crate) fn optional(self) -> Result<Option<&'a T>, Failure> {
        if self.0.is_null() { Ok(None) } else { self.get().map(<[T]>::first) }
    }
}

impl Array<'_, i64> {
    /// Numbers that must not be negative.
    pub(crate) fn naturals(self) -> Result<Vec<u64>, Failure> {
        let name = self.2;
        self.get()?.iter().map(|number| natural(*number, name)).collect()
    }
}

impl<'a> Array<'a, u8> {
    pub(crate) fn text(self) -> Result<&'a str, Failure> {
        let name = self.2;
        let text = std::str::from_utf8(self.get()?);
        text.map_err(|error| {
            Failure::Other(DTYPE_ERROR_TEXT, format!("{name} is not UTF-8: {error}"))
        })
    }
}

/// An array that the library writes.
pub(crate) struct Room<'a, T>(*mut T, usize, &'static str, PhantomData<&'a mut [T]>);

impl<'a, T> Room<'a, T> {
    /// # Safety
    ///
    /// The pointer must be null, or valid for writing `number` of `T` during `'a`, in which nothing else accesses them; any bytes
    /// make a `T`.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *mut T, number: usize, name: &'static str) -> Self {
        Self(pointer, number, name, PhantomData)
    }

    /// Where the array is, before anything is written.
    #[inline(always)]
    pub(crate) fn place(&self) -> (*const T, usize) {
        (self.0, self.1)
    }

    #[inline(always)]
    pub(crate) fn get(self) -> Result<&'a mut [T], Failure> {
        let Self(pointer, number, name, _) = self;
        check::<T>(pointer, number, name)?;
        if number == 0 {
            return Ok(&mut []);
        }
        // SAFETY: not null and aligned, so valid for `number` values that nothing else accesses, as `new` was promised. Memory
        // from other languages counts as initialised, and any bytes make a value.
        Ok(unsafe { slice::from_raw_parts_mut(pointer, number) })
    }
}

impl Room<'_, u8> {
    /// Writes all of these bytes to the front, and sets `size` to their number, even if there is no room for them.
    pub(crate) fn fill(self, size: Out<usize>, bytes: &[u8]) -> Result<(), Failure> {
        let (size, out) = (size.place()?, self.get()?);
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

/// Checks a pointer to `number` values.
#[inline(always)]
fn check<T>(pointer: *const T, number: usize, name: &'static str) -> Result<(), Failure> {
    let is_fine = pointer.is_aligned() && number <= isize::MAX as usize / size_of::<T>();
    if number == 0 || is_fine && !pointer.is_null() {
        return Ok(());
    }
    Err(if pointer.is_null() { Failure::null(name) } else { misaligned(name) })
}

#[cold]
fn misaligned(name: &str) -> Failure {
    Failure::argument(format!("{name} is not aligned, or has more elements than memory"))
}

/// A number that must not be negative.
pub(crate) fn natural(number: i64, name: &'static str) -> Result<u64, Failure> {
    let text = || format!("{name} is {number}, expected at least 0");
    u64::try_from(number).map_err(|_| Failure::argument(text()))
}
