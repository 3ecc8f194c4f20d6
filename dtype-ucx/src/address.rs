//! The address of a worker, as bytes that any channel can carry.

use std::fmt;

use crate::error::Error;
use crate::process;

/// The address of a worker, to be sent to peers by any other channel: a file, a socket, an environment variable.
///
/// UCX reads its own bytes without any checks: crafted bytes make it read and write memory that does not belong to them. So
/// [`from_bytes`](Self::from_bytes) is unsafe: its caller must know where the bytes come from. Nothing in the bytes could prove
/// their origin without a secret that all processes of a job share. A checksum detects accidental damage.
///
/// ```
/// # use dtype_ucx::{Context, Error, Single, WorkerAddress};
/// # let worker = Context::with_settings([("TLS", "self")])?.worker::<Single>()?;
/// let mut bytes = worker.address()?.to_bytes();
/// // SAFETY: the bytes come from `to_bytes`.
/// assert_eq!(unsafe { WorkerAddress::from_bytes(&bytes)? }, worker.address()?);
/// bytes[20] ^= 1;
/// // SAFETY: they are damaged by accident, which the checksum finds.
/// assert!(unsafe { WorkerAddress::from_bytes(&bytes) }.is_err());
/// # Ok::<(), Error>(())
/// ```
///
/// A program without `unsafe` cannot make an address from bytes:
///
/// ```compile_fail,E0133
/// let forged = dtype_ucx::WorkerAddress::from_bytes(b"dtypeUCX");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
#[doc(alias = "ucp_address_t")]
pub struct WorkerAddress {
    /// The worker's process ([`process::id`]).
    process: u64,
    /// The worker's context ([`process::fresh`]).
    context: u64,
    /// The number of the worker ([`process::fresh`]).
    worker: u64,
    /// UCX's bytes.
    bytes: Box<[u8]>,
}

const MAGIC: [u8; 8] = *b"dtypeUCX";
/// The magic bytes and the checksum of the rest.
const HEADER: usize = 16;

impl WorkerAddress {
    /// Wraps the bytes that UCX returned for a worker of this process.
    pub(crate) fn from_ucx(context: u64, worker: u64, bytes: &[u8]) -> Self {
        Self { process: process::id(), context, worker, bytes: bytes.into() }
    }

    /// The bytes for UCX.
    pub(crate) fn for_ucx(&self) -> &[u8] {
        &self.bytes
    }

    /// The worker's process.
    pub(crate) fn process(&self) -> u64 {
        self.process
    }

    /// The number of the worker's context.
    pub(crate) fn context(&self) -> u64 {
        self.context
    }

    /// The worker's number.
    pub(crate) fn worker(&self) -> u64 {
        self.worker
    }

    /// The address as bytes: up to several hundred, depending on the number of networks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let [process, context, worker] =
            [self.process, self.context, self.worker].map(u64::to_le_bytes);
        let body = [&process[..], &context, &worker, &self.bytes].concat();
        [&MAGIC[..], &checksum(&body).to_le_bytes(), &body].concat()
    }

    /// The address in bytes that [`to_bytes`](Self::to_bytes) returned.
    ///
    /// # Errors
    ///
    /// [`Error::Address`] if the bytes are damaged, or are not an address.
    ///
    /// # Safety
    ///
    /// If the bytes are accepted, they must be unchanged bytes that `to_bytes` returned in a process of the same job. This
    /// process must trust that process as much as itself, because its worker gets the address. Any channel will do on which
    /// nothing else can write: a pipe, a message of MPI, a file that only the job's user can change. Crafted bytes are
    /// accepted, too: the checksum detects accidents, not intent.
    ///
    /// When the address is used, its worker must exist, or its process must have ended. Otherwise UCX could map, over shared
    /// memory, another file that the process has opened in the meantime. For workers of this process, this is checked.
    pub unsafe fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let refused = |what| Error::Address { len: bytes.len(), what };
        let (header, body) = bytes
            .split_at_checked(HEADER)
            .ok_or_else(|| refused("they are shorter than the header"))?;
        let (magic, sum) = header.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(refused("they do not start with `dtypeUCX`"));
        }
        if sum != checksum(body).to_le_bytes() {
            return Err(refused("the checksum is wrong"));
        }
        let numbers = body.split_first_chunk().and_then(|(process, rest)| {
            let (context, rest) = rest.split_first_chunk()?;
            let (worker, address) = rest.split_first_chunk()?;
            Some(([process, context, worker].map(|number| u64::from_le_bytes(*number)), address))
        });
        match numbers {
            Some(([process, context, worker], address)) if !address.is_empty() => {
                Ok(Self { process, context, worker, bytes: address.into() })
            }
            _ => Err(refused("there is no address in them")),
        }
    }
}

impl fmt::Debug for WorkerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerAddress")
            .field("process", &self.process)
            .field("worker", &self.worker)
            .finish_non_exhaustive()
    }
}

/// FNV-1a, 64 bits.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
