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
    /// The packed bytes of all items, and of one.
    pub(crate) len: usize,
    pub(crate) size: usize,
}

impl Copy<'_> {
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
    /// As for [`execute`](Self::execute).
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
                    && let (Some((from, count)), Some((to, _))) = (self.from.whole(&range), self.to.whole(&range))
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
    /// As for [`execute`](Self::execute).
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

    /// Copies all items. A long copy releases the interpreter, and looks for signals between its pieces.
    ///
    /// # Errors
    ///
    /// What a handler of a signal raised, such as `KeyboardInterrupt`: then a part was copied.
    ///
    /// # Safety
    ///
    /// The two arrays must be alive during the call, the one that is written must be writable, and its items must not overlap one
    /// another nor the other array.
    #[inline]
    pub(crate) unsafe fn execute(&self, py: Python<'_>, threads: usize) -> PyResult<()> {
        if self.len <= KEPT {
            if self.len > 0 {
                // SAFETY: passed on to the caller.
                unsafe { self.range(0..self.len) }.map_err(of_engine)?;
            }
            return Ok(());
        }
        let threads = threads.clamp(1, (self.len / FOR_A_THREAD).max(1));
        let step = self.step(PIECE);
        let (next, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let failure = Mutex::new(None);
        let one = || {
            // No end of a range exceeds the length by more than a step, which is at most the length of an item or a piece.
            let start = next.fetch_add(step, Ordering::Relaxed);
            if start >= self.len || is_stopped.load(Ordering::Relaxed) {
                return false;
            }
            // SAFETY: passed on to the caller. No two ranges overlap.
            if let Err(error) = unsafe { self.range(start..self.len.min(start.saturating_add(step))) } {
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
            while py.detach(&one) {
                signal = py.check_signals();
                if signal.is_err() {
                    is_stopped.store(true, Ordering::Relaxed);
                }
            }
            // The scope waits for the other threads, which need no interpreter to end.
        });
        signal?;
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(of_engine(error)),
            None => Ok(()),
        }
    }
}
