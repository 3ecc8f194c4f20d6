//! Collective calls on packed elements. Each element is a block of bytes, which counts as one.

use std::os::raw::{c_int, c_void};

use mpi::Rank;
use mpi::ffi::{self, MPI_Datatype, MPI_Op};
#[cfg(not(large_counts))]
use mpi::ffi::{MPI_Allgatherv, MPI_Alltoallv, MPI_Bcast, MPI_Gatherv, MPI_Scatterv};
#[cfg(large_counts)]
use mpi::ffi::{
    MPI_Allgatherv_c as MPI_Allgatherv, MPI_Alltoallv_c as MPI_Alltoallv, MPI_Bcast_c as MPI_Bcast,
    MPI_Gatherv_c as MPI_Gatherv, MPI_Scatterv_c as MPI_Scatterv,
};

use super::code::check;
use super::point_to_point::{Number, number, number_limit};
use super::{OnCommunicator, receiving, sending};
use crate::error::Error;

/// The library's type for the number of elements before a part.
#[cfg(large_counts)]
type Displacement = ffi::MPI_Aint;
#[cfg(not(large_counts))]
type Displacement = c_int;

/// A datatype of a number of bytes, which lives for as long as MPI runs.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) handle: MPI_Datatype,
    /// Bytes.
    pub(crate) size: usize,
}

/// Where the parts for or from each rank lie in a row of elements.
pub(crate) struct Parts {
    counts: Vec<Number>,
    displacements: Vec<Displacement>,
    /// The number of elements in all parts.
    total: usize,
}

impl Parts {
    /// Parts that follow one another.
    pub(crate) fn new(call: &'static str, counts: &[usize]) -> Result<Self, Error> {
        let mut parts = Self {
            counts: Vec::with_capacity(counts.len()),
            displacements: Vec::with_capacity(counts.len()),
            total: 0,
        };
        for &count in counts {
            let before = number(call, parts.total)?;
            #[allow(
                clippy::useless_conversion,
                clippy::unnecessary_fallible_conversions,
                reason = "a count and a displacement have different types under one library"
            )]
            let displacement = Displacement::try_from(before).map_err(|_| Error::Count {
                call,
                count: parts.total as u64,
                limit: isize::MAX as u64,
            })?;
            parts.displacements.push(displacement);
            parts.counts.push(number(call, count)?);
            let total = parts.total.checked_add(count);
            parts.total = total.ok_or_else(|| {
                let limit = number_limit();
                Error::Count { call, count: u64::MAX, limit }
            })?;
        }
        number(call, parts.total)?;
        Ok(parts)
    }

    /// The number of elements in all parts.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    fn assert_ranks(&self, ranks: Rank) {
        assert_eq!(Ok(self.counts.len()), usize::try_from(ranks), "one part for each rank");
    }
}

/// Checks that `bytes` bytes hold `elements` blocks.
fn assert_bytes(bytes: usize, elements: usize, block: Block) {
    assert!(elements.checked_mul(block.size).is_some_and(|needed| needed <= bytes));
}

/// Memory to fill. It may hold any values, and may be uninitialised.
pub(crate) struct Room {
    at: *mut c_void,
    bytes: usize,
}

impl Room {
    /// # Safety
    ///
    /// The memory must be valid for writing `bytes` bytes of any value, and no other code may access it, for as
    /// long as the room is used.
    pub(crate) unsafe fn new(at: *mut u8, bytes: usize) -> Self {
        Self { at: receiving(at, bytes), bytes }
    }
}

/// All functions but `new` panic if the lengths of the parts or of the memory do not match the communicator and the counts.
/// Only a bug in this crate can cause that.
impl OnCommunicator<'_> {
    /// This rank, and the number of ranks that collective calls read from and write to. On an intercommunicator, that number
    /// would be the size of the other group, so this returns an error there.
    pub(crate) fn ranks(&self) -> Result<(Rank, Rank), Error> {
        let (mut rank, mut size, mut inter, mut remote) = (0, 0, 0, 0);
        // SAFETY: the communicator is alive, and so is the memory for the answers.
        unsafe {
            check("MPI_Comm_rank", ffi::MPI_Comm_rank(self.handle(), &raw mut rank))?;
            check("MPI_Comm_size", ffi::MPI_Comm_size(self.handle(), &raw mut size))?;
            check("MPI_Comm_test_inter", ffi::MPI_Comm_test_inter(self.handle(), &raw mut inter))?;
        }
        if inter == 0 {
            return Ok((rank, size));
        }
        // SAFETY: as above; it is an intercommunicator.
        check("MPI_Comm_remote_size", unsafe {
            ffi::MPI_Comm_remote_size(self.handle(), &raw mut remote)
        })?;
        Err(Error::Intercommunicator { local: size, remote })
    }

    /// Gathers all ranks' numbers, N from each rank.
    pub(crate) fn all_gather<const N: usize>(&self, own: [i64; N]) -> Result<Vec<[i64; N]>, Error> {
        let (_, size) = self.ranks()?;
        let mut all = vec![[0; N]; usize::try_from(size).unwrap_or(0)];
        let number = c_int::try_from(N).unwrap_or(c_int::MAX);
        // SAFETY: `own` has N numbers, and `all` N for each rank; the communicator is alive.
        let code = unsafe {
            let int64 = ffi::RSMPI_INT64_T;
            let (from, to) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
            ffi::MPI_Allgather(from, number, int64, to, number, int64, self.handle())
        };
        check("MPI_Allgather", code)?;
        Ok(all)
    }

    /// Sends one number to each rank, and receives one from each.
    pub(crate) fn all_to_all(&self, own: &[i64]) -> Result<Vec<i64>, Error> {
        let (_, size) = self.ranks()?;
        assert_eq!(Ok(own.len()), usize::try_from(size), "one number for each rank");
        let mut all = vec![0_i64; own.len()];
        // SAFETY: both have one number for each rank; the communicator is alive.
        let code = unsafe {
            let int64 = ffi::RSMPI_INT64_T;
            let (from, to) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
            ffi::MPI_Alltoall(from, 1, int64, to, 1, int64, self.handle())
        };
        check("MPI_Alltoall", code)?;
        Ok(all)
    }

    /// The greatest of all ranks' numbers.
    pub(crate) fn greatest(&self, own: c_int) -> Result<c_int, Error> {
        let mut greatest = 0;
        // SAFETY: both are one number, and live through the call; the communicator is alive.
        let code = unsafe {
            ffi::MPI_Allreduce(
                (&raw const own).cast(),
                (&raw mut greatest).cast(),
                1,
                ffi::RSMPI_INT32_T,
                ffi::RSMPI_MAX,
                self.handle(),
            )
        };
        check("MPI_Allreduce", code)?;
        Ok(greatest)
    }

    /// Sends to all other ranks.
    pub(crate) fn broadcast_own(&self, own: &[u8], block: Block) -> Result<(), Error> {
        let call = "MPI_Bcast";
        let count = number(call, own.len() / block.size)?;
        let (rank, _) = self.ranks()?;
        let at = sending(own).cast_mut();
        // SAFETY: the memory has `count` blocks, which the root's call only reads; they, the datatype and the
        // communicator are alive.
        check(call, unsafe { MPI_Bcast(at, count, block.handle, rank, self.handle()) })
    }

    /// Receives from the root, which is another rank.
    pub(crate) fn broadcast(
        &self,
        room: &Room,
        count: usize,
        block: Block,
        root: Rank,
    ) -> Result<(), Error> {
        let call = "MPI_Bcast";
        assert_bytes(room.bytes, count, block);
        let count = number(call, count)?;
        // SAFETY: the memory has room for all blocks, as just checked; it, the datatype and the
        // communicator are alive.
        check(call, unsafe { MPI_Bcast(room.at, count, block.handle, root, self.handle()) })
    }

    /// Gathers from all ranks at the root; only the root has parts and room.
    pub(crate) fn gather(
        &self,
        own: &[u8],
        block: Block,
        to: Option<(&Parts, &Room)>,
        root: Rank,
    ) -> Result<(), Error> {
        let call = "MPI_Gatherv";
        let (rank, size) = self.ranks()?;
        assert_eq!(to.is_some(), rank == root, "the root has room");
        let count = number(call, own.len() / block.size)?;
        let (counts, displacements, at) = match to {
            None => (std::ptr::null(), std::ptr::null(), std::ptr::null_mut()),
            Some((parts, room)) => {
                parts.assert_ranks(size);
                assert_bytes(room.bytes, parts.total, block);
                (parts.counts.as_ptr(), parts.displacements.as_ptr(), room.at)
            }
        };
        let (from, ty, handle) = (sending(own), block.handle, self.handle());
        // SAFETY: `own` has the number of blocks that its count says; at the root there is a part for each rank,
        // and room for all, as just checked; elsewhere the library ignores them.
        check(call, unsafe {
            MPI_Gatherv(from, count, ty, at, counts, displacements, ty, root, handle)
        })
    }

    /// Gathers from all ranks at all ranks.
    pub(crate) fn gather_to_all(
        &self,
        own: &[u8],
        block: Block,
        (parts, room): (&Parts, &Room),
    ) -> Result<(), Error> {
        let call = "MPI_Allgatherv";
        let (_, size) = self.ranks()?;
        parts.assert_ranks(size);
        assert_bytes(room.bytes, parts.total, block);
        let count = number(call, own.len() / block.size)?;
        let (counts, displacements) = (parts.counts.as_ptr(), parts.displacements.as_ptr());
        let (from, ty, handle) = (sending(own), block.handle, self.handle());
        // SAFETY: `own` has the number of blocks that its count says; there is a part for each rank, and room for
        // all.
        check(call, unsafe {
            MPI_Allgatherv(from, count, ty, room.at, counts, displacements, ty, handle)
        })
    }

    /// Divides the root's elements among all ranks. Only the root has parts.
    pub(crate) fn scatter(
        &self,
        from: Option<(&Parts, &[u8])>,
        block: Block,
        (count, room): (usize, &Room),
        root: Rank,
    ) -> Result<(), Error> {
        let call = "MPI_Scatterv";
        let (rank, size) = self.ranks()?;
        assert_eq!(from.is_some(), rank == root, "the root has elements");
        assert_bytes(room.bytes, count, block);
        let count = number(call, count)?;
        let (counts, displacements, at) = match from {
            None => (std::ptr::null(), std::ptr::null(), std::ptr::null()),
            Some((parts, bytes)) => {
                parts.assert_ranks(size);
                assert_bytes(bytes.len(), parts.total, block);
                (parts.counts.as_ptr(), parts.displacements.as_ptr(), sending(bytes))
            }
        };
        let (ty, handle) = (block.handle, self.handle());
        // SAFETY: at the root there is a part for each rank, within the bytes; elsewhere the library ignores them;
        // there is room for this rank's part.
        check(call, unsafe {
            MPI_Scatterv(at, counts, displacements, ty, room.at, count, ty, root, handle)
        })
    }

    /// Exchanges a part between each pair of ranks.
    pub(crate) fn exchange(
        &self,
        (parts, bytes): (&Parts, &[u8]),
        block: Block,
        (to, room): (&Parts, &Room),
    ) -> Result<(), Error> {
        let (_, size) = self.ranks()?;
        parts.assert_ranks(size);
        to.assert_ranks(size);
        assert_bytes(bytes.len(), parts.total, block);
        assert_bytes(room.bytes, to.total, block);
        let (from, ty) = (sending(bytes), block.handle);
        let (counts, displacements) = (parts.counts.as_ptr(), parts.displacements.as_ptr());
        let (to_counts, to_displacements) = (to.counts.as_ptr(), to.displacements.as_ptr());
        // SAFETY: there is a part for each rank on both sides, within the bytes and the room, as just checked.
        check("MPI_Alltoallv", unsafe {
            MPI_Alltoallv(
                from,
                counts,
                displacements,
                ty,
                room.at,
                to_counts,
                to_displacements,
                ty,
                self.handle(),
            )
        })
    }

    /// Combines all ranks' elements one by one, at the root or at all ranks.
    ///
    /// # Safety
    ///
    /// The operation must be alive and take elements of this block.
    pub(crate) unsafe fn reduce(
        &self,
        own: &[u8],
        block: Block,
        operation: MPI_Op,
        root: Option<Rank>,
    ) -> Result<Vec<u8>, Error> {
        let elements = own.len() / block.size;
        let call = if root.is_some() { "MPI_Reduce" } else { "MPI_Allreduce" };
        let count = c_int::try_from(elements).map_err(|_| Error::Count {
            call,
            count: elements as u64,
            limit: u64::from(c_int::MAX.unsigned_abs()),
        })?;
        // Only the root's result is written; elsewhere the zeros remain.
        let mut result = vec![0_u8; own.len()];
        let (from, to) = (sending(own), receiving(result.as_mut_ptr(), result.len()));
        let (ty, handle) = (block.handle, self.handle());
        // SAFETY: both have the blocks that the count says; the caller guarantees that the operation is alive.
        check(call, unsafe {
            match root {
                Some(root) => ffi::MPI_Reduce(from, to, count, ty, operation, root, handle),
                None => ffi::MPI_Allreduce(from, to, count, ty, operation, handle),
            }
        })?;
        Ok(result)
    }
}
