//! Datatypes for receiving messages that may be longer than the memory for them.
//!
//! If a message is longer than contiguous memory for it, Open MPI 4.1 and 5.0 copy it whole from the sender's memory, over
//! whatever follows, and only then return the error. Into memory with a gap, they copy only what fits. So these datatypes are
//! bytes, a gap of one byte, and another byte.
//!
//! Making such a datatype takes longer than a short message. Memory may be longer than the message, so short lengths are
//! rounded up to a power of two, and the few datatypes for these are kept.

use std::os::raw::c_int;
use std::sync::OnceLock;

use dtype_runtime::types::{Combiner, Contents};
use mpi::ffi::MPI_Datatype;

use super::{Datatype, Session, make};
use crate::error::Error;
use crate::handle::Handle;

/// The powers of two whose datatypes are kept: 64 bytes to 64 KiB.
const FIRST_POWER: usize = 6;
const LAST_POWER: usize = 16;

/// The kept datatypes, until the library ends.
static KEPT: [OnceLock<Handle>; LAST_POWER - FIRST_POWER + 1] =
    [const { OnceLock::new() }; LAST_POWER - FIRST_POWER + 1];

/// A committed datatype for a message that may be too long.
pub(super) struct Cut {
    /// One instance receives one message.
    pub(super) datatype: Datatype,
    /// The bytes of memory that an instance takes.
    pub(super) room: usize,
}

impl Cut {
    /// The datatype for messages of up to `capacity` bytes, which it receives whole.
    pub(super) fn after(capacity: usize) -> Result<Self, Error> {
        let datatype = match index(capacity) {
            // SAFETY: it lives until the library ends.
            Some(at) => unsafe { Datatype::borrowed(kept(at)?) },
            None => cut_after(capacity)?,
        };
        Ok(Self { datatype, room: Self::room(capacity) })
    }

    /// The bytes of memory for the datatype for messages of up to `capacity` bytes.
    pub(super) fn room(capacity: usize) -> usize {
        let data = index(capacity).map_or(capacity, |at| 1 << (FIRST_POWER + at));
        data.saturating_add(2)
    }
}

/// Which of the kept datatypes serves a capacity.
fn index(capacity: usize) -> Option<usize> {
    let power = capacity.max(1 << FIRST_POWER).checked_next_power_of_two()?.trailing_zeros();
    Some(power as usize - FIRST_POWER).filter(|at| *at < KEPT.len())
}

fn kept(at: usize) -> Result<MPI_Datatype, Error> {
    if let Some(Handle(handle)) = KEPT[at].get() {
        return Ok(*handle);
    }
    let (handle, _) = cut_after(1 << (FIRST_POWER + at))?.into_handle();
    // If two threads make it at the same time, the library keeps both datatypes.
    Ok(KEPT[at].get_or_init(|| Handle(handle)).0)
}

/// A datatype of `bytes` bytes, at least one, a gap of one, and another byte.
fn cut_after(bytes: usize) -> Result<Datatype, Error> {
    let call = "MPI_Type_create_hindexed";
    let limit = c_int::MAX.unsigned_abs().into();
    let too_long = |_| Error::Count { call, count: bytes as u64, limit };
    let _session = Session::begin(call)?;
    let contents: Contents = Contents {
        combiner: Combiner::Hindexed,
        integers: vec![2, c_int::try_from(bytes).map_err(too_long)?, 1],
        addresses: vec![0, bytes as i64 + 1],
        large_counts: Vec::new(),
        datatypes: Vec::new(),
    };
    let mut datatype = make(&contents, &[&Datatype::named("MPI_PACKED")?])?;
    datatype.commit()?;
    Ok(datatype)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_rounded_up_to_kept_datatypes() {
        let room = |capacity| index(capacity).map(|at| 1_usize << (FIRST_POWER + at));
        for (capacity, expected) in [
            (0, Some(64)),
            (1, Some(64)),
            (64, Some(64)),
            (65, Some(128)),
            (4097, Some(8192)),
            (1 << 16, Some(1 << 16)),
            ((1 << 16) + 1, None),
            (usize::MAX, None),
        ] {
            assert_eq!(room(capacity), expected, "{capacity}");
        }
    }
}
