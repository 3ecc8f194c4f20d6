//! Datatypes as text: the [notation] of the command `dtype`, [declarations](declaration) of structs in C and Rust, and dtypes of
//! NumPy, read and written.
//!
//! Texts come from people and from files. A mistake in one is a [`Problem`](problem::Problem) with its place, and mostly with
//! what to write instead; texts have at most [`notation::MAX_LENGTH`] bytes.

#![forbid(unsafe_code)]

pub mod datatype;
pub mod declaration;
mod known;
mod names;
pub mod notation;
pub mod printable;
pub mod problem;
pub mod structure;
mod token;
