//! A value shared by several owners.
//!
//! Programs make and drop types and committed types by the hundred thousand, and then updating the counts of an `Arc` takes
//! more time than everything else. An `Arc` has two counts, one of them for weak references, which are not used here, and it
//! updates both at the end even if there is no other owner. Here there is one count, and the last owner leaves it unchanged.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A value on the heap or in a static. Each clone is an owner, in any thread. The last owner of a value on the heap drops it.
pub(crate) struct Shared<T> {
    counted: NonNull<Counted<T>>,
    /// Owns a value, and may drop it.
    owns: PhantomData<T>,
}

/// Memory for a value and the number of its owners.
///
/// It is allocated before the value exists, so that the compiler can write each field directly to it, instead of
/// building the value elsewhere and copying it.
pub(crate) struct UninitShared<T>(Box<MaybeUninit<Counted<T>>>);

/// A value in a static, which is never dropped.
pub(crate) struct Static<T>(Counted<T>);

struct Counted<T> {
    /// The number of owners, or [`UNCOUNTED`].
    owners: AtomicUsize,
    value: T,
}

/// The value for owners that are not counted. No count reaches it: see [`too_many_owners`].
const UNCOUNTED: usize = usize::MAX;

// SAFETY: as for `Arc`. Every owner can reach the value, in any thread, and any owner may be the one that drops
// it.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above: a shared reference is enough to make another owner.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> UninitShared<T> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(Box::new_uninit())
    }

    /// The value with one owner.
    #[inline(always)]
    pub(crate) fn fill(self, value: T) -> Shared<T> {
        let counted = Box::write(self.0, Counted { owners: AtomicUsize::new(1), value });
        Shared { counted: NonNull::from(Box::leak(counted)), owns: PhantomData }
    }
}

impl<T> Static<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Counted { owners: AtomicUsize::new(UNCOUNTED), value })
    }
}

impl<T> From<&'static Static<T>> for Shared<T> {
    #[inline]
    fn from(value: &'static Static<T>) -> Self {
        Self { counted: NonNull::from(&value.0), owns: PhantomData }
    }
}

impl<T> Shared<T> {
    /// The address of the value, the same for all owners.
    pub(crate) fn address(&self) -> *const () {
        self.counted.as_ptr().cast_const().cast()
    }

    #[inline]
    fn counted(&self) -> &Counted<T> {
        // SAFETY: the pointer comes from a static, or from a box that was leaked. Only the last owner takes the box back, when
        // that owner is dropped, and this owner has not been dropped.
        unsafe { self.counted.as_ref() }
    }

    /// Drops the value and its memory.
    ///
    /// # Safety
    ///
    /// The owners must be counted, and this must be the last of them, which is not used afterwards.
    #[inline(never)]
    unsafe fn drop_value(&mut self) {
        // SAFETY: the owners are counted, so the pointer comes from a box that was leaked. No other owner has it.
        drop(unsafe { Box::from_raw(self.counted.as_ptr()) });
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.counted().value
    }
}

impl<T> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        // A new owner is cloned from an existing one, and that owner proves that the value exists.
        let owners = &self.counted().owners;
        if owners.load(Ordering::Relaxed) != UNCOUNTED {
            let before = owners.fetch_add(1, Ordering::Relaxed);
            if before > isize::MAX.cast_unsigned() {
                too_many_owners();
            }
        }
        Self { counted: self.counted, owns: PhantomData }
    }
}

impl<T> Drop for Shared<T> {
    #[inline]
    fn drop(&mut self) {
        let owners = &self.counted().owners;
        // A count of one is this owner, so no other owner is left that could make another. Both ways to detect the
        // last owner acquire what the other owners released, so they have finished with the value before it is
        // dropped.
        let is_last = match owners.load(Ordering::Acquire) {
            UNCOUNTED => false,
            1 => true,
            _ => owners.fetch_sub(1, Ordering::AcqRel) == 1,
        };
        if is_last {
            // SAFETY: the owners are counted, and this is the last one, as just seen.
            unsafe { self.drop_value() };
        }
    }
}

/// Owners that are forgotten instead of dropped stay counted. This ends the process long before the count could
/// wrap, because a value that is dropped too early would be unsound.
#[cold]
#[inline(never)]
fn too_many_owners() -> ! {
    /// Panics while panicking, which aborts with or without the standard library.
    struct Twice;

    impl Drop for Twice {
        fn drop(&mut self) {
            panic!("more owners than can be counted");
        }
    }

    let _twice = Twice;
    panic!("more owners than can be counted")
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::sync::Arc;
    use core::panic::{RefUnwindSafe, UnwindSafe};

    /// Counts how often it is dropped.
    struct Witness(Arc<AtomicUsize>);

    impl Drop for Witness {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_last_owner_drops_the_value() {
        let drops = Arc::new(AtomicUsize::new(0));
        let first = UninitShared::new().fill(Witness(drops.clone()));
        let second = first.clone();
        assert_eq!(first.address(), second.address());
        assert!(Arc::ptr_eq(&second.0, &drops));
        drop(first);
        assert_eq!(drops.load(Ordering::Relaxed), 0);
        let third = second.clone();
        drop(second);
        assert_eq!(drops.load(Ordering::Relaxed), 0);
        drop(third);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_static_has_any_number_of_owners() {
        static VALUE: Static<AtomicUsize> = Static::new(AtomicUsize::new(5));
        let first = Shared::from(&VALUE);
        let second = first.clone();
        drop(first);
        second.fetch_add(1, Ordering::Relaxed);
        drop(second);
        let third: Shared<AtomicUsize> = Shared::from(&VALUE);
        assert_eq!(third.load(Ordering::Relaxed), 6);
        assert_eq!(third.counted().owners.load(Ordering::Relaxed), UNCOUNTED);
    }

    /// Callers may rely on the same auto traits and niche that `Arc` would have.
    #[test]
    fn types_can_be_shared_and_caught() {
        fn has_all<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
        has_all::<crate::Type>();
        has_all::<crate::Committed>();
        assert_eq!(size_of::<Option<crate::Type>>(), size_of::<usize>());
    }

    #[cfg(feature = "std")]
    #[test]
    fn owners_in_many_threads_drop_it_once() {
        for _ in 0..if cfg!(miri) { 5 } else { 200 } {
            let drops = Arc::new(AtomicUsize::new(0));
            let all: alloc::vec::Vec<_> = {
                let shared = UninitShared::new().fill(Witness(drops.clone()));
                (0..4).map(|_| shared.clone()).collect()
            };
            std::thread::scope(|scope| {
                for owner in all {
                    scope.spawn(move || {
                        for _ in 0..50 {
                            drop(owner.clone());
                        }
                        assert_eq!(owner.0.load(Ordering::Relaxed), 0);
                    });
                }
            });
            assert_eq!(drops.load(Ordering::Relaxed), 1);
        }
    }
}
