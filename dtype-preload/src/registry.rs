//! What is known about the program's types, by the address or the handle that identifies each type.
//!
//! An identity is valid while its type is alive, and may then be given to another type. So every function that makes or frees a
//! type calls [`Registry::forget`].
//!
//! A program that makes a type for each message must not pay for this. So a type enters the table only when it is compiled, or
//! when it is known that compiling gains nothing. Before that, one slot of a small array records that there was a first
//! message. Forgetting a type that is in neither takes three loads. A second array has, for types in the table, the number of
//! elements below which this engine is not faster: leaving such a message to the MPI library takes two loads.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, TryLockError};

/// The number of slots for types that had one message.
const SLOTS: usize = 1024;

type Table<T> = HashMap<usize, Arc<T>, BuildHasherDefault<Mixer>>;

/// A `T` for each type of the program.
#[derive(Debug)]
pub(crate) struct Registry<T> {
    types: RwLock<Option<Table<T>>>,
    /// The number of types in the table.
    len: AtomicUsize,
    /// Identities of types that had one message. No type has the identity 0.
    seen: [AtomicUsize; SLOTS],
    /// Types, and the numbers of elements below which this engine is not faster.
    few: [Few; SLOTS],
    /// Changes whenever a type is removed.
    generation: AtomicUsize,
}

/// The number of elements of a type below which this engine is not faster.
///
/// Threads that write the two fields at the same time may mix them. A message is then left to the library without need, or
/// looked up in the table in vain; the result is right in both cases.
#[derive(Debug)]
struct Few {
    identity: AtomicUsize,
    fewest: AtomicUsize,
}

/// The entry of a type in a [`Registry`].
#[derive(Debug)]
pub(crate) enum Known<T> {
    Yes(Arc<T>),
    /// The type is not in the table.
    No,
    /// Another thread is changing the table. The caller does without the entry instead of blocking.
    Busy,
}

impl<T> Registry<T> {
    pub(crate) const fn new() -> Self {
        Self {
            types: RwLock::new(None),
            len: AtomicUsize::new(0),
            seen: [const { AtomicUsize::new(0) }; SLOTS],
            few: [const { Few { identity: AtomicUsize::new(0), fewest: AtomicUsize::new(0) } };
                SLOTS],
            generation: AtomicUsize::new(0),
        }
    }

    /// A number that changes whenever a type is removed. An earlier result of [`get`](Self::get) is valid while the number is
    /// the same.
    #[inline]
    pub(crate) fn generation(&self) -> usize {
        self.generation.load(Ordering::Acquire)
    }

    pub(crate) fn get(&self, identity: usize) -> Known<T> {
        if self.len.load(Ordering::Acquire) == 0 {
            return Known::No;
        }
        let types = match self.types.try_read() {
            Ok(types) => types,
            Err(TryLockError::Poisoned(types)) => types.into_inner(),
            Err(TryLockError::WouldBlock) => return Known::Busy,
        };
        match types.as_ref().and_then(|types| types.get(&identity)) {
            Some(found) => Known::Yes(Arc::clone(found)),
            None => Known::No,
        }
    }

    /// Whether there was a message of the type before. Records that there was one.
    pub(crate) fn saw_before(&self, identity: usize) -> bool {
        self.seen[slot(identity)].swap(identity, Ordering::Relaxed) == identity
    }

    /// Records that for fewer than `fewest` elements of this type, this engine is not faster.
    pub(crate) fn leave_below(&self, identity: usize, fewest: usize) {
        let few = &self.few[slot(identity)];
        few.fewest.store(fewest, Ordering::Relaxed);
        few.identity.store(identity, Ordering::Relaxed);
    }

    /// The number of elements of this type below which this engine is not faster, if it is recorded.
    #[inline]
    pub(crate) fn fewest(&self, identity: usize) -> Option<usize> {
        let few = &self.few[slot(identity)];
        (few.identity.load(Ordering::Relaxed) == identity)
            .then(|| few.fewest.load(Ordering::Relaxed))
    }

    /// Enters a type. If two threads do so at the same time, only one of the two values remains.
    pub(crate) fn enter(&self, identity: usize, value: T) -> Arc<T> {
        let value = Arc::new(value);
        let mut types = self.types.write().unwrap_or_else(PoisonError::into_inner);
        let types = types.get_or_insert_default();
        let entry = types.entry(identity).or_insert(value);
        let entry = Arc::clone(entry);
        self.len.store(types.len(), Ordering::Release);
        entry
    }

    /// Forgets a type.
    pub(crate) fn forget(&self, identity: usize) {
        let seen = &self.seen[slot(identity)];
        if seen.load(Ordering::Relaxed) == identity {
            seen.store(0, Ordering::Relaxed);
        }
        let few = &self.few[slot(identity)].identity;
        if few.load(Ordering::Relaxed) == identity {
            few.store(0, Ordering::Relaxed);
        }
        if self.len.load(Ordering::Acquire) == 0 {
            return;
        }
        let known = {
            let types = self.types.read().unwrap_or_else(PoisonError::into_inner);
            types.as_ref().is_some_and(|types| types.contains_key(&identity))
        };
        if !known {
            return;
        }
        let removed = {
            let mut types = self.types.write().unwrap_or_else(PoisonError::into_inner);
            let types = types.get_or_insert_default();
            let removed = types.remove(&identity);
            self.len.store(types.len(), Ordering::Release);
            self.generation.fetch_add(1, Ordering::Release);
            removed
        };
        drop(removed);
    }
}

/// The slot of an identity. Addresses and handles differ in their middle bits.
#[inline]
fn slot(identity: usize) -> usize {
    mixed(identity as u64) % SLOTS
}

#[inline]
fn mixed(identity: u64) -> usize {
    (identity.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

/// Hashes a single integer.
#[derive(Debug, Default)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // The hash table uses bits from both ends.
        self.0 ^= self.0 >> 32;
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_known_from_its_entry_to_its_end() {
        let registry = Registry::<u32>::new();
        assert!(matches!(registry.get(0x1000), Known::No));
        assert_eq!(*registry.enter(0x1000, 7), 7);
        assert_eq!(*registry.enter(0x1000, 8), 7, "the first value remains");
        let before = registry.generation();
        registry.forget(0x2000);
        assert_eq!(registry.generation(), before);
        assert!(matches!(registry.get(0x1000), Known::Yes(value) if *value == 7));
        registry.forget(0x1000);
        assert_ne!(registry.generation(), before);
        assert!(matches!(registry.get(0x1000), Known::No));
        assert_eq!(registry.len.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_forgotten_type_has_not_been_seen() {
        let registry = Registry::<()>::new();
        assert!(!registry.saw_before(0x40));
        assert!(registry.saw_before(0x40));
        registry.forget(0x40);
        assert!(!registry.saw_before(0x40));
    }

    #[test]
    fn a_forgotten_type_is_not_left() {
        let registry = Registry::<()>::new();
        assert_eq!(registry.fewest(0x40), None);
        registry.leave_below(0x40, 3);
        assert_eq!(registry.fewest(0x40), Some(3));
        assert_eq!(registry.fewest(0x80), None);
        registry.forget(0x80);
        assert_eq!(registry.fewest(0x40), Some(3));
        registry.forget(0x40);
        assert_eq!(registry.fewest(0x40), None);
    }

    #[test]
    fn nobody_waits_for_a_change() {
        let registry = Registry::<()>::new();
        registry.enter(1, ());
        let _change = registry.types.write().unwrap();
        assert!(matches!(registry.get(1), Known::Busy));
    }

    #[test]
    fn threads_enter_and_forget() {
        let registry = Registry::<usize>::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let registry = &registry;
                scope.spawn(move || {
                    for round in 0..if cfg!(miri) { 20 } else { 5000 } {
                        let identity = thread * 1000 + round % 7 + 1;
                        assert_eq!(*registry.enter(identity, identity), identity);
                        if let Known::Yes(value) = registry.get(identity) {
                            assert_eq!(*value, identity);
                        }
                        registry.forget(identity);
                        assert!(!matches!(registry.get(identity), Known::Yes(_)));
                    }
                });
            }
        });
        assert_eq!(registry.len.load(Ordering::Relaxed), 0);
    }
}
