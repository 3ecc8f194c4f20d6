//! A checksum that depends on the order of the bytes.

use dtype_runtime::convertor::Checksum;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Polynomial(pub(crate) u64);

impl Checksum for Polynomial {
    fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.wrapping_mul(257).wrapping_add(byte.into());
        }
    }
}
