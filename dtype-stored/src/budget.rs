//! What reading an input may take.

use std::sync::atomic::{AtomicUsize, Ordering};

/// What reading one input may take: bytes of memory, and steps of work.
///
/// A file may repeat whatever it can name: a section, a table, a member. Everything that reads one input takes the same budget,
/// so that the sum is limited. Readers count memory before they allocate it, and a step for each thing they look at. Threads may
/// share a budget. Once it is used up, every call fails.
///
/// ```
/// use dtype_stored::{Budget, Exceeded};
/// let budget = Budget::new(1000, 10);
/// let table: Vec<u64> = budget.vec(100)?;
/// assert_eq!((table.capacity() >= 100, budget.bytes_left()), (true, 200));
/// assert_eq!(budget.hold(201), Err(Exceeded::Bytes { limit: 1000 }));
/// # Ok::<(), Exceeded>(())
/// ```
#[derive(Debug)]
pub struct Budget {
    bytes: Counter,
    steps: Counter,
}

#[derive(Debug)]
struct Counter {
    limit: usize,
    /// At most one more than the limit.
    used: AtomicUsize,
}

impl Budget {
    /// A budget of this many bytes and steps.
    pub const fn new(bytes: usize, steps: usize) -> Self {
        Self { bytes: Counter::new(bytes), steps: Counter::new(steps) }
    }

    /// A budget in proportion to the length of an input in bytes: 128 MiB and 16 bytes for each of its bytes, 2²⁴ steps and 32
    /// for each.
    pub fn for_input(len: u64) -> Self {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Self::new(
            len.saturating_mul(16).saturating_add(128 << 20),
            len.saturating_mul(32).saturating_add(1 << 24),
        )
    }

    /// Counts memory that will be allocated, in bytes.
    ///
    /// # Errors
    ///
    /// [`Exceeded::Bytes`], [`Exceeded::Steps`]
    pub fn hold(&self, bytes: usize) -> Result<(), Exceeded> {
        self.bytes.add(bytes);
        self.check()
    }

    /// Takes back what [`hold`](Self::hold) has counted, for memory that is free again. A budget that is used up stays so.
    pub fn release(&self, bytes: usize) {
        let limit = self.bytes.limit;
        let less = |used: usize| (used <= limit).then(|| used.saturating_sub(bytes));
        // `None` if it is used up.
        let _ = self.bytes.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Counts work.
    ///
    /// # Errors
    ///
    /// [`Exceeded::Steps`], [`Exceeded::Bytes`]
    pub fn work(&self, steps: usize) -> Result<(), Exceeded> {
        self.steps.add(steps);
        self.check()
    }

    /// An empty vector with room for some elements, which are counted.
    ///
    /// # Errors
    ///
    /// [`Exceeded::Bytes`], [`Exceeded::Steps`], [`Exceeded::Memory`]
    pub fn vec<T>(&self, len: usize) -> Result<Vec<T>, Exceeded> {
        let bytes = len.saturating_mul(size_of::<T>());
        self.hold(bytes)?;
        let mut all = Vec::new();
        all.try_reserve_exact(len).map_err(|_| Exceeded::Memory { bytes })?;
        Ok(all)
    }

    /// The bytes that may still be allocated.
    pub fn bytes_left(&self) -> usize {
        self.bytes.limit.saturating_sub(self.bytes.used())
    }

    /// Whether something is left.
    ///
    /// # Errors
    ///
    /// [`Exceeded::Bytes`] or [`Exceeded::Steps`] after a call that has failed for that reason.
    pub fn check(&self) -> Result<(), Exceeded> {
        let Self { bytes, steps } = self;
        match (bytes.used() > bytes.limit, steps.used() > steps.limit) {
            (true, _) => Err(Exceeded::Bytes { limit: bytes.limit }),
            (_, true) => Err(Exceeded::Steps { limit: steps.limit }),
            _ => Ok(()),
        }
    }
}

impl Clone for Budget {
    /// A budget of its own, with what is left now.
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), steps: self.steps.clone() }
    }
}

impl Counter {
    /// `used` must be able to pass the limit.
    const fn new(limit: usize) -> Self {
        let limit = if limit == usize::MAX { limit - 1 } else { limit };
        Self { limit, used: AtomicUsize::new(0) }
    }

    fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    fn add(&self, more: usize) {
        let sum = |used: usize| Some(used.saturating_add(more).min(self.limit + 1));
        // The function always returns a sum.
        let _ = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }
}

impl Clone for Counter {
    fn clone(&self) -> Self {
        Self { limit: self.limit, used: AtomicUsize::new(self.used()) }
    }
}

/// Why an input is not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Exceeded {
    /// Reading the input takes more memory than its [`Budget`] has.
    #[error("reading it takes more than {limit} bytes of memory")]
    Bytes {
        /// All bytes of the budget.
        limit: usize,
    },
    /// Reading the input takes more work than its [`Budget`] has.
    #[error("reading it takes more than {limit} steps")]
    Steps {
        /// All steps of the budget.
        limit: usize,
    },
    /// The system has no memory of this size.
    #[error("could not allocate {bytes} bytes")]
    Memory {
        /// The number of bytes.
        bytes: usize,
    },
}
