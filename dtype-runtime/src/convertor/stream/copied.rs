//! Streams of this machine's bytes.

use alloc::vec::Vec;
use core::convert::Infallible;
use core::ops::Range;

use super::records::Checks;
use super::sealed::{Described, Shared, Transfer};
use crate::convertor::native::Native;
use crate::convertor::stack::StackFrame;
use crate::error::Error;
use crate::kernel::{Pack, Unpack};

impl Transfer for Native {
    type PackError = Infallible;
    type Error = Error;

    fn signature_hash(&self) -> u64 {
        self.signature_hash()
    }

    #[inline(always)]
    unsafe fn pack(
        &mut self,
        range: Range<u64>,
        out: &mut [u8],
        search_hint: &mut usize,
    ) -> Result<(), Infallible> {
        // SAFETY: the caller guarantees the range and that the data are readable. `out` is as long as the range, and borrowed
        // exclusively, so it does not overlap data that must not be written.
        unsafe { self.copy::<Pack>(range, out.as_mut_ptr(), search_hint) };
        Ok(())
    }

    #[inline(always)]
    unsafe fn unpack(
        &mut self,
        checks: &mut Option<Checks>,
        range: Range<u64>,
        bytes: &[u8],
        search_hint: &mut usize,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the range, and that the data are writable and do not overlap; without checks, any bytes
        // may be written. `bytes` is as long as the range and only read, so it does not overlap the data, which nothing else
        // accesses.
        unsafe {
            if let Some(checks) = checks {
                return checks.unpack(self, range.start, bytes, search_hint);
            }
            self.copy::<Unpack>(range, bytes.as_ptr().cast_mut(), search_hint);
        }
        Ok(())
    }
}

impl Described for Native {
    fn stack(&self, position: u64) -> Vec<StackFrame> {
        // The count and the position were checked earlier.
        let description = self.ty().description().at(self.stride());
        description.stack(self.count(), position).unwrap_or_default()
    }
}

impl Shared for Native {
    fn native(&self) -> &Native {
        self
    }

    fn split_off(&mut self, _middle: u64) -> Self {
        self.clone()
    }

    /// Any byte can be copied by itself.
    #[cfg(feature = "rayon")]
    fn item(&self) -> u64 {
        1
    }

    #[cfg(feature = "rayon")]
    unsafe fn put_shared(&self, range: Range<u64>, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the caller guarantees that the bytes of the range are writable, do not overlap, and are accessed by nothing
        // else.
        // `bytes` is as long as the range and only read.
        unsafe { self.copy::<Unpack>(range, bytes.as_ptr().cast_mut(), &mut 0) };
        Ok(())
    }
}
