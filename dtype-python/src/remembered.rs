//! What is remembered of dtypes, by their addresses.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::Python;
use pyo3::sync::MutexExt;

/// At most this many values are remembered. Then all are forgotten.
const MOST: usize = 512;

/// Values by keys, for all threads. Each value keeps the dtypes alive whose addresses are its key.
pub(crate) struct Remembered<K, V>(Mutex<Option<HashMap<K, V>>>);

impl<K: Eq + Hash, V> Remembered<K, V> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn all(&self, py: Python<'_>) -> MutexGuard<'_, Option<HashMap<K, V>>> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// What `take` returns for the value of this key. `take` runs no code of Python.
    #[inline]
    pub(crate) fn get(
        &self,
        py: Python<'_>,
        key: &K,
        take: impl FnOnce(&V) -> Option<V>,
    ) -> Option<V> {
        self.all(py).as_ref().and_then(|all| all.get(key)).and_then(take)
    }

    pub(crate) fn insert(&self, py: Python<'_>, key: K, value: V) {
        // Dropped when the lock is open: that may run code of Python.
        let _dropped;
        {
            let mut all = self.all(py);
            let all = all.get_or_insert_default();
            _dropped = ((all.len() >= MOST).then(|| std::mem::take(all)), all.insert(key, value));
        }
    }
}
