//! A value that is computed when first needed, and kept. Without the standard library it is computed in advance, because
//! threads have no way there to block until another thread has computed it.

use alloc::boxed::Box;
#[cfg(feature = "std")]
use std::sync::OnceLock;

/// A value that is derived from the fields beside it, so comparisons ignore it. A clone has the value if the original has it.
#[derive(Clone, Debug)]
pub(super) struct Once<T>(
    #[cfg(feature = "std")] OnceLock<Box<T>>,
    #[cfg(not(feature = "std"))] Option<Box<T>>,
);

#[cfg(feature = "std")]
impl<T> Once<T> {
    /// Whether the value must be computed in advance.
    pub(super) const IS_PREPARED: bool = false;

    /// A value that has not been computed.
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// A value that is computed already.
    pub(super) fn known(value: T) -> Self {
        Self(OnceLock::from(Box::new(value)))
    }

    /// The value; `None` if it should have been prepared and was not.
    #[inline(always)]
    #[expect(clippy::unnecessary_wraps, reason = "without the standard library there may be none")]
    pub(super) fn get(&self, compute: impl FnOnce() -> T) -> Option<&T> {
        // Only this branch is inlined into the caller.
        match self.0.get() {
            Some(value) => Some(value),
            None => Some(self.compute(compute)),
        }
    }

    #[cold]
    #[inline(never)]
    fn compute(&self, compute: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(|| Box::new(compute()))
    }
}

#[cfg(not(feature = "std"))]
impl<T> Once<T> {
    pub(super) const IS_PREPARED: bool = true;

    pub(super) const fn new() -> Self {
        Self(None)
    }

    pub(super) fn known(value: T) -> Self {
        Self(Some(Box::new(value)))
    }

    #[inline(always)]
    pub(super) fn get(&self, _compute: impl FnOnce() -> T) -> Option<&T> {
        self.0.as_deref()
    }
}

impl<T> PartialEq for Once<T> {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl<T> Eq for Once<T> {}
