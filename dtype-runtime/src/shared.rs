//! A value shared by several owners.

use alloc::sync::Arc;
use core::ops::Deref;
use core::ptr;

/// A value on the heap or in a static. The owners of one in a static are not counted.
pub(crate) enum Shared<T: 'static> {
    Counted(Arc<T>),
    Static(&'static T),
}

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self::Counted(Arc::new(value))
    }

    /// The address of the value, the same for all owners.
    pub(crate) fn address(&self) -> *const () {
        ptr::from_ref(&**self).cast()
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Counted(value) => value,
            Self::Static(value) => value,
        }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Counted(value) => Self::Counted(value.clone()),
            Self::Static(value) => Self::Static(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::panic::{RefUnwindSafe, UnwindSafe};

    /// Callers may rely on the same auto traits that `Arc` would have.
    #[test]
    fn types_can_be_shared_and_caught() {
        fn has_all<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
        has_all::<crate::Type>();
        has_all::<crate::Committed>();
        assert_eq!(size_of::<Option<crate::Type>>(), size_of::<crate::Type>());
    }
}
