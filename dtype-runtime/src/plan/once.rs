//! A value that is computed when it is first needed, and kept. Without the standard library it is computed in advance,
//! because threads cannot wait for each other there.

use alloc::boxed::Box;
use core::fmt;
#[cfg(feature = "std")]
use core::sync::atomic::{AtomicU8, Ordering};
#[cfg(feature = "std")]
use std::sync::OnceLock;

/// A value that follows from the fields beside it. It plays no part in comparisons. A clone has the value where
/// the original has it.
pub(super) struct Once<T> {
    #[cfg(feature = "std")]
    value: OnceLock<Box<T>>,
    /// Calls of [`count`](Self::count) so far.
    #[cfg(feature = "std")]
    calls: AtomicU8,
    #[cfg(not(feature = "std"))]
    value: Option<Box<T>>,
}

#[cfg(feature = "std")]
impl<T> Once<T> {
    /// Whether the value must be computed in advance.
    pub(super) const IS_PREPARED: bool = false;

    /// A value that has not been computed.
    pub(super) const fn new() -> Self {
        Self { value: OnceLock::new(), calls: AtomicU8::new(0) }
    }

    /// A value that is known.
    pub(super) fn of(value: T) -> Self {
        Self { value: OnceLock::from(Box::new(value)), calls: AtomicU8::new(0) }
    }

    /// The value, if it is known.
    #[inline(always)]
    pub(super) fn known(&self) -> Option<&T> {
        self.value.get().map(|value| &**value)
    }

    /// Computes the value after some calls, when knowing it is likely to pay. Calls that several threads make at the same
    /// time may count as one.
    pub(super) fn count(&self, compute: impl FnOnce() -> T) {
        const ENOUGH: u8 = 64;
        match self.calls.load(Ordering::Relaxed) {
            ENOUGH.. => _ = self.work_out(compute),
            calls => self.calls.store(calls + 1, Ordering::Relaxed),
        }
    }

    /// The value; `None` if it should have been prepared and was not.
    #[inline]
    #[expect(clippy::unnecessary_wraps, reason = "without the standard library there may be none")]
    pub(super) fn get(&self, compute: impl FnOnce() -> T) -> Option<&T> {
        // A known value is found by code that is inlined into the caller.
        match self.known() {
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
    pub(super) const IS_PREPARED: bool = true;

    pub(super) const fn new() -> Self {
        Self { value: None }
    }

    pub(super) fn of(value: T) -> Self {
        Self { value: Some(Box::new(value)) }
    }

    #[inline(always)]
    pub(super) fn known(&self) -> Option<&T> {
        self.value.as_deref()
    }

    #[expect(clippy::unused_self, reason = "here it is known")]
    pub(super) fn count(&self, _compute: impl FnOnce() -> T) {}

    #[inline]
    pub(super) fn get(&self, _compute: impl FnOnce() -> T) -> Option<&T> {
        self.known()
    }
}

impl<T: Clone> Clone for Once<T> {
    fn clone(&self) -> Self {
        Self {
            value: self.value.clone(),
            #[cfg(feature = "std")]
            calls: AtomicU8::new(0),
        }
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
