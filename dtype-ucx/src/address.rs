//! The address of a worker, as bytes for any other channel.

use crate::error::Error;

/// The address of a worker, to be sent to peers by any other channel: a file, a socket, an environment variable.
///
/// UCX reads its own bytes without any checks, so [`from_bytes`](Self::from_bytes) accepts only what
/// [`to_bytes`](Self::to_bytes) returned, as a checksum tells. That protects from mistakes, not from malice: UCX trusts
/// its peers, and a program must take addresses only from programs that it trusts as much as itself.
///
/// ```
/// # use dtype_ucx::{Context, Error, Single, WorkerAddress};
/// # let worker = Context::with_settings([("TLS", "self")])?.worker::<Single>()?;
/// let mut bytes = worker.address()?.to_bytes();
/// assert_eq!(WorkerAddress::from_bytes(&bytes)?, worker.address()?);
/// bytes[20] ^= 1;
/// assert!(WorkerAddress::from_bytes(&bytes).is_err());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "ucp_address_t")]
pub struct WorkerAddress(Box<[u8]>);

const MAGIC: [u8; 8] = *b"dtypeUCX";
/// The magic bytes and the checksum.
const HEADER: usize = 16;

impl WorkerAddress {
    /// Bytes that UCX returned.
    pub(crate) fn of_ucx(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// The bytes for UCX.
    pub(crate) fn for_ucx(&self) -> &[u8] {
        &self.0
    }

    /// The address as bytes: some hundred, depending on the number of networks.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&MAGIC[..], &checksum(&self.0).to_le_bytes(), &self.0].concat()
    }

    /// The address in bytes that [`to_bytes`](Self::to_bytes) returned.
    ///
    /// # Errors
    ///
    /// [`Error::Address`] for any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let refused = |what| Error::Address { len: bytes.len(), what };
        let (header, address) = bytes
            .split_at_checked(HEADER)
            .ok_or_else(|| refused("they are shorter than the header"))?;
        let (magic, sum) = header.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(refused("they do not start with `dtypeUCX`"));
        }
        if address.is_empty() || sum != checksum(address).to_le_bytes() {
            return Err(refused("the checksum is wrong"));
        }
        Ok(Self(address.into()))
    }
}

/// FNV-1a, 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
