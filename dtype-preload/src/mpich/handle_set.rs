//! Sets of handles.

use std::sync::atomic::{AtomicU64, Ordering};

use super::numbers::Handle;

/// MPICH numbers the objects that it allocates in blocks of this size.
const BLOCK: usize = 1024;

/// One block for the objects that MPICH has room for from the start, and one for each further 1024 objects that are alive at
/// the same time.
const BLOCKS: usize = 1 + 64;

/// The kind of object that is a communicator, in a handle.
pub(super) const COMMUNICATOR: usize = 1;

/// The kind of object that is a datatype, in a handle.
pub(super) const DATATYPE: usize = 3;

/// A set of handles of objects of one kind that are not predefined, with a bit for each.
///
/// Nothing is ever evicted, so a handle that is not in the set was never inserted, or was removed. Handles beyond the set's
/// room are never in it.
#[derive(Debug)]
pub(super) struct HandleSet<const OBJECT: usize> {
    words: [AtomicU64; BLOCKS * BLOCK / 64],
}

impl<const OBJECT: usize> HandleSet<OBJECT> {
    pub(super) const fn new() -> Self {
        Self { words: [const { AtomicU64::new(0) }; BLOCKS * BLOCK / 64] }
    }

    #[inline]
    pub(super) fn contains(&self, handle: Handle) -> bool {
        self.bit(handle).is_some_and(|(word, bit)| word.load(Ordering::Acquire) & bit != 0)
    }

    pub(super) fn insert(&self, handle: Handle) {
        if let Some((word, bit)) = self.bit(handle) {
            word.fetch_or(bit, Ordering::Release);
        }
    }

    pub(super) fn remove(&self, handle: Handle) {
        if let Some((word, bit)) = self.bit(handle)
            && word.load(Ordering::Relaxed) & bit != 0
        {
            word.fetch_and(!bit, Ordering::Release);
        }
    }

    #[inline]
    fn bit(&self, handle: Handle) -> Option<(&AtomicU64, u64)> {
        let handle = handle.cast_unsigned() as usize;
        // The two highest bits are the kind of the handle, the next four the kind of the object.
        if handle >> 26 & 0xF != OBJECT {
            return None;
        }
        let (block, index) = match handle >> 30 {
            0b10 => (0, handle & 0x03FF_FFFF),
            0b11 => (1 + (handle >> 12 & 0x3FFF), handle & 0xFFF),
            _ => return None,
        };
        if index >= BLOCK {
            return None;
        }
        Some((self.words.get(block * (BLOCK / 64) + index / 64)?, 1 << (index % 64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handles() -> impl Iterator<Item = Handle> {
        let numbers =
            [0x8C00_0000_u32, 0x8C00_0005, 0xCC00_0000, 0xCC00_0005, 0xCC03_F3FF, 0x8C00_03FF];
        numbers.into_iter().map(u32::cast_signed)
    }

    #[test]
    fn each_handle_is_on_its_own() {
        let set = HandleSet::<DATATYPE>::new();
        for one in handles() {
            set.insert(one);
            assert!(handles().all(|other| set.contains(other) == (other == one)), "{one:x}");
            handles().filter(|&other| other != one).for_each(|other| set.remove(other));
            assert!(set.contains(one), "{one:x}");
            set.remove(one);
            assert!(!set.contains(one), "{one:x}");
        }
    }

    #[test]
    fn other_handles_are_never_in_it() {
        let set = HandleSet::<DATATYPE>::new();
        let others = [0, 0x0C00_0000, 0x4C00_0805, 0x8C00_0400, 0xCC00_0400, 0xCC04_0000, u32::MAX];
        // Handles of other kinds.
        let others = others.into_iter().chain([0x4400_0000, 0x8400_0000, 0xC400_0005]);
        for one in others.map(u32::cast_signed) {
            set.insert(one);
            assert!(!set.contains(one), "{one:x}");
            set.remove(one);
        }
        assert!(handles().all(|one| !set.contains(one)));
    }

    #[test]
    fn threads_share_a_word() {
        let set = HandleSet::<DATATYPE>::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let set = &set;
                scope.spawn(move || {
                    let handle = (0xCC00_0000_u32 + thread).cast_signed();
                    for _ in 0..if cfg!(miri) { 20 } else { 5000 } {
                        set.insert(handle);
                        assert!(set.contains(handle));
                        set.remove(handle);
                        assert!(!set.contains(handle));
                    }
                });
            }
        });
    }
}
