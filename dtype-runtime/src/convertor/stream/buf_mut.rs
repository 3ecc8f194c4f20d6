//! A `bytes::BufMut` that borrows the unpacker, so that networking crates write the packed stream to it.

use bytes::buf::UninitSlice;
use bytes::{Buf, BufMut};

use super::unpacker::Unpacker;
use crate::convertor::iov::{Segment, first_segment};
use crate::error::Error;

/// The packed stream of an [`Unpacker`], to be written without a copy: each chunk is a segment of the destination
/// memory. Made by [`Unpacker::buf_mut`].
///
/// Bytes written to a chunk are in the memory at once; [`advance_mut`](BufMut::advance_mut) moves the position.
/// [`put_slice`](BufMut::put_slice) and [`put`](BufMut::put) unpack, which is faster if the segments are short.
///
/// ```
/// use bytes::{Buf, BufMut};
/// use dtype_runtime::{Basic, Type, Unpacker};
/// // Every other byte.
/// let ty = Type::vector(3, 1, 2, &Type::basic(Basic::U8))?.commit();
/// let mut memory = *b"......";
/// let mut unpacker = ty.unpacker(&mut memory, 1)?;
/// unpacker.buf_mut()?.put(&b"ab"[..]);
/// assert_eq!(unpacker.position(), 2);
/// unpacker.buf_mut()?.put_u8(b'c');
/// assert_eq!(&memory, b"a.b.c.");
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct UnpackerBuf<'u, 'a> {
    /// # Invariant
    ///
    /// It does not check values: [`Unpacker::buf_mut`] refuses an unpacker that must.
    unpacker: &'u mut Unpacker<'a>,
}

impl<'a> Unpacker<'a> {
    /// The stream from the position on as a [`BufMut`], which lends the destination memory itself. The unpacker then continues
    /// after the bytes written there.
    ///
    /// # Errors
    ///
    /// [`Error::Checked`] if values have to be checked before they are written, which a `BufMut` cannot do.
    ///
    /// ```
    /// use dtype_runtime::{Error, Unpacker};
    /// let mut flags = [(0_u16, false); 3];
    /// let refused = Unpacker::new(&mut flags).buf_mut().err();
    /// assert_eq!(refused, Some(Error::Checked { record: 3 }));
    /// ```
    pub fn buf_mut(&mut self) -> Result<UnpackerBuf<'_, 'a>, Error> {
        match &self.checks {
            Some(checks) => Err(Error::Checked { record: checks.record() }),
            None => Ok(UnpackerBuf { unpacker: self }),
        }
    }
}

// SAFETY: a chunk is memory that the unpacker may write, borrowed exclusively with it, and has the reported
// length; the position only moves within the unpacker's part of the stream.
unsafe impl BufMut for UnpackerBuf<'_, '_> {
    /// [`Unpacker::remaining`], or `usize::MAX` if more bytes remain.
    fn remaining_mut(&self) -> usize {
        usize::try_from(self.unpacker.remaining()).unwrap_or(usize::MAX)
    }

    /// # Panics
    ///
    /// If fewer bytes remain.
    unsafe fn advance_mut(&mut self, cnt: usize) {
        let remaining = self.remaining_mut();
        assert!(cnt <= remaining, "advance by {cnt} with {remaining} bytes remaining");
        self.unpacker.progress.advance(cnt);
    }

    #[expect(clippy::cast_possible_truncation, reason = "a segment of memory")]
    fn chunk_mut(&mut self) -> &mut UninitSlice {
        let Unpacker { mode, progress, .. } = &*self.unpacker;
        let Some(Segment { disp, len }) = first_segment(&mode.instances(), progress.rest()) else {
            return UninitSlice::new(&mut []);
        };
        let (start, len) = (mode.origin().wrapping_offset(disp as isize), len as usize);
        // SAFETY: these are `len` bytes of data at the position. They are writable, by the promise that the unpacker was made
        // with, and nothing else accesses them while the unpacker is borrowed exclusively. Nothing is checked, so any bytes
        // make valid values, and the slice does not accept uninitialised bytes.
        unsafe { UninitSlice::from_raw_parts_mut(start, len) }
    }

    /// # Panics
    ///
    /// If fewer bytes remain.
    fn put<T: Buf>(&mut self, mut src: T) {
        let (needed, remaining) = (src.remaining(), self.remaining_mut());
        assert!(needed <= remaining, "{needed} bytes to {remaining}");
        while src.has_remaining() {
            let chunk = src.chunk();
            let bytes = chunk.len();
            self.put_slice(chunk);
            src.advance(bytes);
        }
    }

    /// # Panics
    ///
    /// If fewer bytes remain.
    fn put_slice(&mut self, src: &[u8]) {
        let (needed, remaining) = (src.len(), self.remaining_mut());
        assert!(needed <= remaining, "{needed} bytes to {remaining}");
        let unpacked = self.unpacker.unpack(src);
        debug_assert_eq!(unpacked, Ok(needed), "nothing is checked, and there is room");
    }
}
