//! Collective calls on packed elements: blocks of bytes that are counted as one.

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

use super::point_to_point::{Number, number};
use super::{OnCommunicator, check, receiving, sending};
use crate::error::Error;

/// How the library counts the elements before a part.
#[cfg(large_counts)]
type Displacement = ffi::MPI_Aint;
#[cfg(not(large_counts))]
type Displacement = c_int;

/// A datatype of so many bytes, which stays alive as long as MPI runs.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) handle: MPI_Datatype,
    /// Bytes.
    pub(crate) size: usize,
}

/// Where the parts for the ranks, or from them, are in a row of elements.
pub(crate) struct Parts {
    counts: Vec<Number>,
    displacements: Vec<Displacement>,
    /// Elements of all parts.
    total: usize,
}

impl Parts {
    /// Parts one after another.
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
            parts.total = parts.total.saturating_add(count);
        }
        number(call, parts.total)?;
        Ok(parts)
    }

    fn assert_ranks(&self, ranks: Rank) {
        assert_eq!(Ok(self.counts.len()), usize::try_from(ranks), "one part for each rank");
    }
}

/// Memory with so many bytes, to be read.
fn assert_bytes(bytes: usize, elements: usize, block: Block) {
    assert!(elements.checked_mul(block.size).is_some_and(|needed| needed <= bytes));
}

/// Memory that is to be filled; of any kind, and not yet initialised.
pub(crate) struct Room {
    at: *mut c_void,
    bytes: usize,
}

impl Room {
    /// # Safety
    ///
    /// The memory must be valid for writing `bytes` bytes of any value, and nobody else access it, as long as
    /// the room is used.
    pub(crate) unsafe fn new(at: *mut u8, bytes: usize) -> Self {
        Self { at: receiving(at, bytes), bytes }
    }
}

/// All functions but `new` panic when the parts or the memory have other lengths than the communicator and the
/// counts ask for, which is the mistake of this crate.
impl OnCommunicator<'_> {
    /// This rank, and how many there are: as many as the collective calls read and write for. On an
    /// intercommunicator that would be the number of another group's, so there it is an error.
    pub(crate) fn ranks(&self) -> Result<(Rank, Rank), Error> {
        let (mut rank, mut size, mut inter, mut remote) = (0, 0, 0, 0);
        // SAFETY: the communicator is alive, and so are the places for the answers.
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

    /// Everyone's numbers, so many from each rank.
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

    /// One number for each rank, and from each.
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

    /// The greatest of everyone's numbers.
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

    /// To all other ranks.
    pub(crate) fn broadcast_own(&self, own: &[u8], block: Block) -> Result<(), Error> {
        let call = "MPI_Bcast";
        let count = number(call, own.len() / block.size)?;
        let (rank, _) = self.ranks()?;
        let at = sending(own).cast_mut();
        // SAFETY: so many blocks are there, which the root's call only reads; they, the datatype and the
        // communicator are alive.
        check(call, unsafe { MPI_Bcast(at, count, block.handle, rank, self.handle()) })
    }

    /// From another rank, the root.
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
        // SAFETY: the memory has room for so many blocks, as just checked; it, the datatype and the
        // communicator are alive.
        check(call, unsafe { MPI_Bcast(room.at, count, block.handle, root, self.handle()) })
    }

    /// From all ranks to the root, which alone has parts and room.
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
        // SAFETY: `own` has so many blocks; at the root there is a part for each rank, and room for all, as just
        // checked, and elsewhere they are not looked at.
        check(call, unsafe {
            MPI_Gatherv(from, count, ty, at, counts, displacements, ty, root, handle)
        })
    }

    /// From all ranks to all.
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
        // SAFETY: `own` has so many blocks, and there is a part for each rank, and room for all.
        check(call, unsafe {
            MPI_Allgatherv(from, count, ty, room.at, counts, displacements, ty, handle)
        })
    }

    /// From the root, which alone has parts, to all ranks.
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
        // SAFETY: at the root there is a part for each rank, within the bytes, and elsewhere they are not looked
        // at; there is room for the own part.
        check(call, unsafe {
            MPI_Scatterv(at, counts, displacements, ty, room.at, count, ty, root, handle)
        })
    }

    /// A part from each rank to each.
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

    /// Combines everyone's elements one by one, at the root or at all ranks.
    ///
    /// # Safety
    ///
    /// The operation is alive and takes elements of this block.
    pub(crate) unsafe fn reduce(
        &self,
        own: &[u8],
        block: Block,
        operation: MPI_Op,
        root: Option<Rank>,
    ) -> Result<Vec<u8>, Error> {
        let elements = own.len() / block.size;
        let most = c_int::MAX;
        let call = if root.is_some() { "MPI_Reduce" } else { "MPI_Allreduce" };
        let count = c_int::try_from(elements).map_err(|_| Error::Count {
            call,
            count: elements as u64,
            limit: u64::from(most.unsigned_abs()),
        })?;
        // Elsewhere than at the root nothing is written; zeros are bytes as good as others.
        let mut result = vec![0_u8; own.len()];
        let (from, to) = (sending(own), receiving(result.as_mut_ptr(), result.len()));
        let (ty, handle) = (block.handle, self.handle());
        // SAFETY: both have so many blocks; the operation is good by the caller's promise.
        check(call, unsafe {
            match root {
                Some(root) => ffi::MPI_Reduce(from, to, count, ty, operation, root, handle),
                None => ffi::MPI_Allreduce(from, to, count, ty, operation, handle),
            }
        })?;
        Ok(result)
    }
}
