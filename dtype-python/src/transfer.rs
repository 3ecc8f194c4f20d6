//! Copies between the memory of arrays: in pieces that signals can interrupt, on one thread or several.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use dtype_runtime::Error;
use dtype_runtime::convertor::Conversion;
use pyo3::prelude::*;

use crate::error::of_engine;
use crate::memory::Side;

/// Packed bytes between two looks for signals: about a millisecond.
const PIECE: usize = 4 << 20;

/// Copies of fewer packed bytes keep the interpreter: they take less time than another thread would to get it.
const KEPT: usize = 1 << 16;

/// The least number of packed bytes for a thread of its own.
const FOR_A_THREAD: usize = 1 << 20;

/// Packed bytes between two memories: a part of the first-level cache.
const STAGE: usize = 8 << 10;

/// One copy, from one array or stream of bytes to another.
pub(crate) struct Copy<'a> {
    pub(crate) from: Side,
    pub(crate) to: Side,
    /// Whether both sides have the same datatype.
    pub(crate) is_same: bool,
    /// Reverses the bytes of the values of packed items.
    pub(crate) reversal: Option<&'a Conversion>,
    /// The packed bytes of all items, and of one item.
    pub(crate) len: usize,
    pub(crate) size: usize,
}

impl Copy<'_> {
    /// A copy of `count` items of `size` packed bytes.
    pub(crate) fn new(from: Side, to: Side, count: usize, size: usize) -> Self {
        Self { from, to, is_same: false, reversal: None, len: size * count, size }
    }

    /// The number of packed bytes that are copied at a time, of about `limit`: whole items if there are several in it.
    fn step(&self, limit: usize) -> usize {
        match limit / self.size.max(1) {
            0 if self.reversal.is_some() => self.size,
            0 => limit,
            items => items * self.size,
        }
    }

    /// Copies a range of the packed bytes.
    ///
    /// # Safety
    ///
    /// As for [`Copies::execute`].
    unsafe fn range(&self, range: Range<usize>) -> Result<(), Error> {
        // SAFETY: the caller guarantees both sides, for all of their packed bytes. Bytes of a side that is bytes are where the range says.
        unsafe {
            if self.reversal.is_none() {
                if self.to.is_bytes {
                    return self.from.pack(range.clone(), self.to.at(range.start));
                }
                if self.from.is_bytes {
                    return self.to.unpack(self.from.at(range.start), range);
                }
                if self.is_same
                    && let (Some((from, count)), Some((to, _))) =
                        (self.from.whole(&range), self.to.whole(&range))
                {
                    return self.to.ty.copy_raw(from, to, count);
                }
            }
            self.staged(range)
        }
    }

    /// Copies a range through a stage, which stays in the first-level cache.
    ///
    /// # Safety
    ///
    /// As for [`Copies::execute`].
    unsafe fn staged(&self, range: Range<usize>) -> Result<(), Error> {
        let step = self.step(STAGE).min(range.len());
        let allocate = |len: usize| {
            let mut stage = Vec::<u8>::new();
            let refused = Error::Allocation { count: 1, stride: len };
            stage.try_reserve_exact(len).map_err(|_| refused)?;
            stage.resize(len, 0);
            Ok::<_, Error>(stage)
        };
        let mut stage = allocate(step)?;
        let mut reversed = allocate(if self.reversal.is_some() { step } else { 0 })?;
        let mut next = range.start;
        while next < range.end {
            let part = next..range.end.min(next + step);
            let len = part.len();
            next = part.end;
            // SAFETY: the caller guarantees both sides. The stages have room for a step, and are apart from both.
            unsafe {
                self.from.pack(part.clone(), stage.as_mut_ptr())?;
                let bytes = match self.reversal {
                    None => stage.as_ptr(),
                    Some(reversal) => {
                        reversal.pack_raw(stage.as_ptr(), len / self.size, &mut reversed[..len])?;
                        reversed.as_ptr()
                    }
                };
                if self.to.is_bytes {
                    self.to.at(part.start).copy_from_nonoverlapping(bytes, len);
                } else {
                    self.to.unpack(bytes, part)?;
                }
            }
        }
        Ok(())
    }
}

/// Copies between arrays that have the same number of records, all at once.
pub(crate) struct Copies<'a> {
    pub(crate) all: Vec<Copy<'a>>,
    /// Records: items, or rows of a column. Each copy has the same number of packed bytes for every record.
    pub(crate) records: usize,
}

impl Copies<'_> {
    /// Copies a range: of packed bytes if there is one copy, and otherwise of records.
    ///
    /// # Safety
    ///
    /// As for [`execute`](Self::execute).
    unsafe fn range(&self, range: Range<usize>) -> Result<(), Error> {
        if let [only] = &self.all[..] {
            // SAFETY: passed on to the caller.
            return unsafe { only.range(range) };
        }
        // Records that stay in the first-level cache from one copy to the next.
        let block = (2 * STAGE / self.record().max(1)).max(1);
        for start in range.clone().step_by(block) {
            let end = range.end.min(start + block);
            for copy in &self.all {
                let record = copy.len / self.records;
                // SAFETY: passed on to the caller.
                unsafe { copy.range(start * record..end * record)? };
            }
        }
        Ok(())
    }

    /// The packed bytes of a record in all copies.
    fn record(&self) -> usize {
        self.all.iter().map(|copy| copy.len).sum::<usize>() / self.records.max(1)
    }

    /// Copies all records. A long copy releases the interpreter, and looks for signals between its pieces. It calls `progress` there
    /// and at the end, with the packed bytes that are copied and those of the whole.
    ///
    /// # Errors
    ///
    /// What a handler of a signal raised, such as `KeyboardInterrupt`, or `progress`: then a part was copied.
    ///
    /// # Safety
    ///
    /// The arrays must be alive during the call; those that are written must be writable, and their items must not overlap one
    /// another nor any other array.
    #[inline]
    pub(crate) unsafe fn execute(
        &self,
        py: Python<'_>,
        threads: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let len: usize = self.all.iter().map(|copy| copy.len).sum();
        let report = |copied: usize| {
            progress.map_or(Ok(()), |progress| progress.call1((copied, len)).map(drop))
        };
        let (end, step) = match &self.all[..] {
            _ if len == 0 => return report(0),
            [only] => (len, only.step(PIECE)),
            _ => (self.records, (PIECE / self.record().max(1)).max(1)),
        };
        if len <= KEPT {
            // SAFETY: passed on to the caller.
            unsafe { self.range(0..end) }.map_err(of_engine)?;
            return report(len);
        }
        let threads = threads.clamp(1, (len / FOR_A_THREAD).max(1));
        let (next, copied) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let is_stopped = AtomicBool::new(false);
        let failure = Mutex::new(None);
        let one = || {
            // No end of a range exceeds the last one by more than a step, which is at most the length of a record or a piece.
            let start = next.fetch_add(step, Ordering::Relaxed);
            if start >= end || is_stopped.load(Ordering::Relaxed) {
                return false;
            }
            let range = start..end.min(start.saturating_add(step));
            copied.fetch_add(range.len(), Ordering::Relaxed);
            // SAFETY: passed on to the caller. No two ranges overlap.
            if let Err(error) = unsafe { self.range(range) } {
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                is_stopped.store(true, Ordering::Relaxed);
            }
            true
        };
        let mut signal = Ok(());
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // With fewer threads than asked for, the copy only takes longer.
                let _ = std::thread::Builder::new().spawn_scoped(scope, || while one() {});
            }
            while py.detach(one) {
                let copied = copied.load(Ordering::Relaxed) * (len / end);
                signal = py
                    .check_signals()
                    .and_then(|()| if copied < len { report(copied) } else { Ok(()) });
                if signal.is_err() {
                    is_stopped.store(true, Ordering::Relaxed);
                }
            }
            // The scope waits for the other threads, which need no interpreter to end.
        });
        signal?;
        let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or_else(|| report(len), |error| Err(of_engine(error)))
    }
}
