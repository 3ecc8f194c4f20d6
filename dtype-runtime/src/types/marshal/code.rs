//! The byte that a node begins with. None of these may ever change its meaning.

use crate::basic::Basic;
use crate::types::{Constructor, Fortran};

// A basic datatype is its own code.
const _: () = assert!(Basic::ALL.len() < LB_MARKER as usize);

pub(super) const LB_MARKER: u8 = 0x7D;
pub(super) const UB_MARKER: u8 = 0x7E;
/// Followed by the pair's place in [`Pair::ALL`](crate::types::Pair::ALL).
pub(super) const PAIR: u8 = 0x7F;

// The numbers of the combiners in the ABI of MPI-5.0, from 102 on.
pub(super) const DUP: u8 = 0x80;
pub(super) const CONTIGUOUS: u8 = 0x81;
pub(super) const VECTOR: u8 = 0x82;
pub(super) const HVECTOR: u8 = 0x83;
pub(super) const INDEXED: u8 = 0x84;
pub(super) const HINDEXED: u8 = 0x85;
pub(super) const INDEXED_BLOCK: u8 = 0x86;
pub(super) const HINDEXED_BLOCK: u8 = 0x87;
pub(super) const STRUCTURE: u8 = 0x88;
pub(super) const SUBARRAY: u8 = 0x89;
pub(super) const DARRAY: u8 = 0x8A;
pub(super) const F90_REAL: u8 = 0x8B;
pub(super) const F90_COMPLEX: u8 = 0x8C;
pub(super) const F90_INTEGER: u8 = 0x8D;
pub(super) const RESIZED: u8 = 0x8E;
pub(super) const VALUE_INDEX: u8 = 0x8F;

/// Followed by a node without parts: its bounds, and those of what is built from it, follow
/// [`Bounds::Mpich`](crate::types::Bounds::Mpich).
pub(super) const BY_MPICH: u8 = 0x90;

// The distributions of a darray.
pub(super) const NONE: u8 = 0;
pub(super) const BLOCK: u8 = 1;
pub(super) const BLOCK_OF: u8 = 2;
pub(super) const CYCLIC: u8 = 3;
pub(super) const CYCLIC_OF: u8 = 4;

pub(super) const fn of(constructor: &Constructor) -> u8 {
    match constructor {
        Constructor::Basic(basic) => basic.code(),
        Constructor::LbMarker => LB_MARKER,
        Constructor::UbMarker => UB_MARKER,
        Constructor::Pair { name: Some(_), .. } => PAIR,
        Constructor::Pair { name: None, .. } => VALUE_INDEX,
        Constructor::Fortran { request, .. } => match request {
            Fortran::Real { .. } => F90_REAL,
            Fortran::Complex { .. } => F90_COMPLEX,
            Fortran::Integer { .. } => F90_INTEGER,
        },
        Constructor::Dup { .. } => DUP,
        Constructor::Contiguous { .. } => CONTIGUOUS,
        Constructor::Vector { .. } => VECTOR,
        Constructor::Hvector { .. } => HVECTOR,
        Constructor::Indexed { .. } => INDEXED,
        Constructor::Hindexed { .. } => HINDEXED,
        Constructor::IndexedBlock { .. } => INDEXED_BLOCK,
        Constructor::HindexedBlock { .. } => HINDEXED_BLOCK,
        Constructor::Structure { .. } => STRUCTURE,
        Constructor::Subarray { .. } => SUBARRAY,
        Constructor::Darray { .. } => DARRAY,
        Constructor::Resized { .. } => RESIZED,
    }
}
