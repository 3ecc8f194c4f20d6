//! MPI's view of a type: the constructors as calls, envelopes and contents, the predefined datatypes, the marshalled form, and
//! the rules by which the two libraries differ.

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
