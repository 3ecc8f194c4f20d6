//! The byte that a node begins with. The meaning of a code must never change.

use crate::basic::Basic;
use crate::types::Constructor;
use crate::types::mpi::Named;
use crate::types::mpi::call::Combiner;

// A basic datatype is its own code.
const _: () = assert!(Basic::ALL.len() < LB_MARKER as usize);

pub(in crate::types::mpi) const LB_MARKER: u8 = 0x7D;
pub(in crate::types::mpi) const UB_MARKER: u8 = 0x7E;
/// Followed by the pair's index in [`Pair::ALL`](crate::types::Pair::ALL).
pub(in crate::types::mpi) const PAIR: u8 = 0x7F;

/// Followed by a node without parts. Its bounds, and the bounds of what is built from it, follow
/// [`BoundsRule::Mpich`](crate::types::BoundsRule::Mpich).
pub(in crate::types::mpi) const BY_MPICH: u8 = 0x90;

// The distributions of a darray.
pub(in crate::types::mpi) const NONE: u8 = 0;
pub(in crate::types::mpi) const BLOCK: u8 = 1;
pub(in crate::types::mpi) const BLOCK_OF: u8 = 2;
pub(in crate::types::mpi) const CYCLIC: u8 = 3;
pub(in crate::types::mpi) const CYCLIC_OF: u8 = 4;

/// The first code of a call, that of [`Combiner::Dup`]. The others follow in the order of the combiners' ABI numbers.
const FIRST_CALL: i32 = 0x80;

// If MPI adds a combiner, give it a code outside this range: the next code is that of `BY_MPICH`.
const _: () = {
    let last = Combiner::ALL[Combiner::ALL.len() - 1];
    assert!(for_call(last) < BY_MPICH);
};

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0x80 to 0x8F")]
const fn for_call(combiner: Combiner) -> u8 {
    (FIRST_CALL + combiner.abi_value() - Combiner::Dup.abi_value()) as u8
}

/// The code of the call or the name that made a type.
pub(in crate::types::mpi) fn for_constructor(constructor: &Constructor) -> u8 {
    match constructor.named() {
        Some(Named::Basic(basic)) => basic.code(),
        Some(Named::LbMarker) => LB_MARKER,
        Some(Named::UbMarker) => UB_MARKER,
        Some(Named::Pair(_)) => PAIR,
        None => for_call(constructor.combiner()),
    }
}

/// The call that has this code.
pub(in crate::types::mpi) fn call(code: u8) -> Option<Combiner> {
    let after_first = i32::from(code).checked_sub(FIRST_CALL).filter(|number| *number >= 0)?;
    Combiner::from_abi_value(Combiner::Dup.abi_value() + after_first)
}
