//! The traits that add methods to the ranks and communicators of the [`mpi`] crate: `use dtype_mpi::traits::*;` in
//! addition to `use mpi::traits::*;`.

pub use crate::checked::{CheckedDestination, CheckedSource};
pub use crate::collective::PackedCollectives;
pub use crate::packed::{PackedDestination, PackedSource};
