//! A value that is computed when it is first needed, and kept.
//!
//! Without the standard library, threads cannot wait for each other, so there the value is computed in advance.

use alloc::boxed::Box;
use core::fmt;
#[cfg(feature = "std")]
use std::sync::OnceLock;

/// A value that follows from the fields beside it. It plays no part in comparisons. A clone has the value where
/// the original has it.
pub(super) struct Once<T> {
    #[cfg(feature = "std")]
    value: OnceLock<Box<T>>,
    #[cfg(not(feature = "std"))]
    value: Option<Box<T>>,
}

#[cfg(feature = "std")]
impl<T> Once<T> {
    /// A value that has not been computed.
    pub(super) const fn new() -> Self {
        Self { value: OnceLock::new() }
    }

    /// Computes the value in advance where it cannot be computed later.
    #[expect(clippy::unused_self, reason = "here it is done later")]
    pub(super) fn prepare(&mut self, _compute: impl FnOnce() -> T) {}

    /// The value; `None` if it should have been prepared and was not.
    #[inline]
    #[expect(clippy::unnecessary_wraps, reason = "without the standard library there may be none")]
    pub(super) fn get(&self, compute: impl FnOnce() -> T) -> Option<&T> {
        // A known value is found by code that is inlined into the caller.
        match self.value.get() {
            Some(value) => Some(value),
            None => Some(self.work_out(compute)),
        }
    }

    #[cold]
    #[inline(never)]
    fn work_out(&self, compute: impl FnOnce() -> T) -> &T {
        self.value.get_or_init(|| Box::new(compute()))
    }
}

#[cfg(not(feature = "std"))]
impl<T> Once<T> {
    pub(super) const fn new() -> Self {
        Self { value: None }
    }

    pub(super) fn prepare(&mut self, compute: impl FnOnce() -> T) {
        self.value = Some(Box::new(compute()));
    }

    #[inline]
    pub(super) fn get(&self, _compute: impl FnOnce() -> T) -> Option<&T> {
        self.value.as_deref()
    }
}

impl<T: Clone> Clone for Once<T> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone() }
    }
}

impl<T> PartialEq for Once<T> {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl<T> Eq for Once<T> {}

impl<T: fmt::Debug> fmt::Debug for Once<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
