//! The packer as what networking crates read from.

use bytes::Buf;

use super::packer::Packer;

/// The packed stream without a copy: each chunk is a piece of the memory that the data are in.
///
/// [`copy_to_slice`](Buf::copy_to_slice) packs, which is faster where the pieces are short.
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
    /// [`Packer::remaining`], or `usize::MAX` where that is more.
    fn remaining(&self) -> usize {
        usize::try_from(Packer::remaining(self)).unwrap_or(usize::MAX)
    }

    fn chunk(&self) -> &[u8] {
        Packer::chunk(self)
    }

    fn chunks_vectored<'a>(&'a self, dst: &mut [std::io::IoSlice<'a>]) -> usize {
        let pieces = self.chunks();
        dst.iter_mut().zip(pieces).map(|(dst, piece)| *dst = std::io::IoSlice::new(piece)).count()
    }

    /// # Panics
    ///
    /// As the trait has it, when fewer bytes are remaining.
    fn advance(&mut self, cnt: usize) {
        let position = self.position().saturating_add(cnt as u64);
        let result = self.set_position(position);
        assert!(result.is_ok(), "advance by {cnt} with {} bytes remaining", Buf::remaining(self));
    }

    /// # Panics
    ///
    /// As the trait has it, when fewer bytes are remaining.
    fn copy_to_slice(&mut self, dst: &mut [u8]) {
        let (wanted, remaining) = (dst.len(), Buf::remaining(self));
        assert!(wanted <= remaining, "{wanted} bytes of {remaining}");
        self.pack(dst);
    }
}
