//! Handles: what the opaque pointers of `dtype.h` point to.
//!
//! A handle counts its references, knows what kind of object it is for, and is never given back to the allocator: when the last
//! reference is released, it becomes the handle of another object, the longest released one first. So a released handle, or one
//! of another kind, can be told from a live one until then, and reading it is sound at any time.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{DTYPE_ERROR_BUSY, DTYPE_ERROR_HANDLE, DTYPE_ERROR_LIMIT, Failure};

/// The kind of a handle without an object.
const RELEASED: u32 = 0;

/// How many handles are allocated at once.
const AT_ONCE: usize = 64;

/// So many released handles are kept before one is used again.
const RESTING: usize = 256;

/// A handle. Its fields are only changed atomically, so that even a wrong call reads them soundly.
#[derive(Debug)]
pub(crate) struct Handle {
    kind: AtomicU32,
    references: AtomicU32,
    /// A `Box` of the kind's type.
    object: AtomicPtr<()>,
}

/// The handles that have no object.
static FREE: Mutex<VecDeque<&'static Handle>> = Mutex::new(VecDeque::new());

/// A pointer type of `dtype.h`.
///
/// # Safety
///
/// No two kinds have the same number, and the type is a transparent wrapper of [`Handle`].
pub(crate) unsafe trait Object {
    /// What the handle owns, which several threads may use.
    type Value: Send + Sync;
    const KIND: u32;
    /// The kind, for messages.
    const NAME: &'static str;
}

/// Defines the pointer types.
macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident = $kind:literal, $text:literal, $value:ty;)*) => {$(
        $(#[$doc])*
        #[allow(non_camel_case_types, reason = "the name in dtype.h")]
        #[repr(transparent)]
        #[derive(Debug)]
        pub struct $name(#[allow(dead_code, reason = "accessed as what it wraps")] $crate::handle::Handle);

        // SAFETY: the numbers in the only use of this macro differ, and the struct is a transparent wrapper.
        unsafe impl $crate::handle::Object for $name {
            type Value = $value;
            const KIND: u32 = $kind;
            const NAME: &'static str = $text;
        }
    )*};
}

pub(crate) use objects;

/// A new handle with one reference.
pub(crate) fn new<T: Object>(value: T::Value) -> *mut T {
    let object = Box::into_raw(Box::new(value)).cast();
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    if free.len() <= RESTING {
        let empty = || Handle {
            kind: AtomicU32::new(RELEASED),
            references: AtomicU32::new(0),
            object: AtomicPtr::new(ptr::null_mut()),
        };
        let more: Vec<Handle> = std::iter::repeat_with(empty).take(AT_ONCE).collect();
        // Those that were just allocated come first.
        more.leak().iter().for_each(|handle| free.push_front(handle));
    }
    // There is one, as just made sure.
    let handle = free.pop_front().unwrap_or_else(|| unreachable!("more handles were made"));
    drop(free);
    handle.object.store(object, Ordering::Relaxed);
    handle.references.store(1, Ordering::Relaxed);
    handle.kind.store(T::KIND, Ordering::Release);
    ptr::from_ref(handle).cast_mut().cast()
}

/// The handle behind a pointer.
///
/// # Safety
///
/// The pointer must be null, or one that [`new`] has returned, for an object of any kind.
#[inline(always)]
unsafe fn handle<T: Object>(
    pointer: *const T,
    argument: &'static str,
) -> Result<&'static Handle, Failure> {
    // SAFETY: not null, so a handle, as the caller guarantees. Handles are never freed, and changed only atomically.
    let handle = unsafe { pointer.cast::<Handle>().as_ref() };
    let handle = handle.ok_or_else(|| Failure::null(argument))?;
    if handle.kind.load(Ordering::Acquire) == T::KIND {
        Ok(handle)
    } else {
        Err(dead(argument, T::NAME))
    }
}

#[cold]
fn dead(argument: &str, expected: &str) -> Failure {
    Failure::Other(DTYPE_ERROR_HANDLE, format!("{argument} is not {expected} that lives"))
}

/// The object behind a pointer.
///
/// # Safety
///
/// The pointer must be null, or one that [`new`] has returned, for an object of any kind. No other thread may release the last
/// reference in the lifetime `'a`.
#[inline(always)]
pub(crate) unsafe fn get<'a, T: Object>(
    pointer: *const T,
    argument: &'static str,
) -> Result<&'a T::Value, Failure> {
    // SAFETY: as the caller guarantees. A live handle of this kind owns a box of this kind's type, for as long as it has a
    // reference.
    unsafe {
        let handle = handle(pointer, argument)?;
        Ok(&*handle.object.load(Ordering::Relaxed).cast::<T::Value>())
    }
}

/// Adds a reference.
///
/// # Safety
///
/// As [`get`].
pub(crate) unsafe fn retain<T: Object>(
    pointer: *const T,
    argument: &'static str,
) -> Result<(), Failure> {
    // SAFETY: as the caller guarantees.
    let handle = unsafe { handle(pointer, argument)? };
    let more = |number: u32| number.checked_add(1);
    let added = handle.references.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    added
        .map(drop)
        .map_err(|_| Failure::new(DTYPE_ERROR_LIMIT, "an object has at most 2^32 - 1 references"))
}

/// Removes a reference, and drops the object with the last one. Does nothing for null, a released handle, and one of another
/// kind.
///
/// # Safety
///
/// As [`get`], and the caller owns a reference to the object, if it lives.
pub(crate) unsafe fn release<T: Object>(pointer: *mut T) {
    // SAFETY: as the caller guarantees.
    let Ok(handle) = (unsafe { handle(pointer.cast_const(), "object") }) else { return };
    // It is 0 if another thread has just removed the last one, which the caller must not let happen.
    if handle.references.fetch_sub(1, Ordering::AcqRel) != 1 {
        return;
    }
    handle.kind.store(RELEASED, Ordering::Relaxed);
    let object = handle.object.swap(ptr::null_mut(), Ordering::Relaxed);
    // SAFETY: the box that `new` made for this kind. No reference to the handle is left, so nothing else uses the object.
    drop(unsafe { Box::from_raw(object.cast::<T::Value>()) });
    FREE.lock().unwrap_or_else(PoisonError::into_inner).push_back(handle);
}

/// An object that one thread at a time may use.
#[derive(Debug)]
pub(crate) struct Exclusive<T> {
    is_busy: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `lock` gives one thread at a time access to the value, which may move between threads.
unsafe impl<T: Send> Sync for Exclusive<T> {}

impl<T> Exclusive<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { is_busy: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Access to the value until the guard is dropped; an error if another call has it.
    #[inline(always)]
    pub(crate) fn lock(&self) -> Result<Guard<'_, T>, Failure> {
        if self.is_busy.swap(true, Ordering::Acquire) {
            Err(Failure::new(DTYPE_ERROR_BUSY, "another thread is in a call with this object"))
        } else {
            Ok(Guard(self))
        }
    }
}

/// Exclusive access to a value.
pub(crate) struct Guard<'a, T>(&'a Exclusive<T>);

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: only one guard exists at a time, and the value is borrowed through it.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: only one guard exists at a time, and it is borrowed exclusively.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.is_busy.store(false, Ordering::Release);
    }
}
