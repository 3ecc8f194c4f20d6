//! MPI's view of a type: constructors as calls, envelopes and contents, predefined datatypes, the marshalled form, and the
//! rules in which Open MPI and MPICH differ.

pub mod call;
mod decode;
mod make;
mod marshal;
mod named;
pub(super) mod nodes;
mod predefined;
pub(super) mod rules;

pub use decode::{Contents, Decoded, Envelope, Library};
pub use named::Named;
pub use predefined::{Pair, TypeClass};
