//! Addresses and keys from bytes. A process of these tests has made the bytes, and a test changes at most the part that this
//! crate itself reads.

use dtype_ucx::{Error, MemoryKey, WorkerAddress};

pub(crate) fn address_of(bytes: &[u8]) -> Result<WorkerAddress, Error> {
    // SAFETY: the part that UCX reads is unchanged, or the test does not use the address.
    unsafe { WorkerAddress::from_bytes(bytes) }
}

pub(crate) fn key_of(bytes: &[u8]) -> Result<MemoryKey, Error> {
    // SAFETY: the part that UCX reads is unchanged, or the test does not use the key.
    unsafe { MemoryKey::from_bytes(bytes) }
}
