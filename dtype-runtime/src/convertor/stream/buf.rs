//! `bytes::Buf` for the packer, so that networking crates read the packed stream from it.

use bytes::Buf;

use super::packer::Packer;

/// The packed stream without a copy: each chunk is a segment of the memory that holds the data.
///
/// [`copy_to_slice`](Buf::copy_to_slice) packs, which is faster if the segments are short.
///
/// ```
/// use bytes::{Buf, BufMut};
/// use dtype_runtime::Packer;
/// let samples = [(1_u8, 0x0203_u16), (4, 0x0506)];
/// let mut message = Vec::new();
/// message.put(Packer::new(&samples).take(4));
/// assert_eq!(message, dtype_runtime::pack(&samples)[..4]);
/// ```
impl Buf for Packer<'_> {
    /// [`Packer::remaining`], or `usize::MAX` if more bytes remain.
    fn remaining(&self) -> usize {
        usize::try_from(Packer::remaining(self)).unwrap_or(usize::MAX)
    }

    fn chunk(&self) -> &[u8] {
        Packer::chunk(self)
    }

    #[cfg(feature = "std")]
    fn chunks_vectored<'a>(&'a self, dst: &mut [std::io::IoSlice<'a>]) -> usize {
        let chunks = self.chunks();
        dst.iter_mut().zip(chunks).map(|(dst, chunk)| *dst = std::io::IoSlice::new(chunk)).count()
    }

    /// # Panics
    ///
    /// If fewer bytes remain.
    fn advance(&mut self, cnt: usize) {
        let position = self.position().saturating_add(cnt as u64);
        let result = self.set_position(position);
        assert!(result.is_ok(), "advance by {cnt} with {} bytes remaining", Buf::remaining(self));
    }

    /// # Panics
    ///
    /// If fewer bytes remain.
    fn copy_to_slice(&mut self, dst: &mut [u8]) {
        let (needed, remaining) = (dst.len(), Buf::remaining(self));
        assert!(needed <= remaining, "{needed} bytes of {remaining}");
        self.pack(dst);
    }
}
