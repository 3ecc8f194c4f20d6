//! One build of the engine, with the work on random types that `dtype-ablation` times.
//!
//! The bench compiles this crate with two versions of `dtype-runtime`, and loads both libraries into one process. So this crate
//! uses only what every version has: constructors of types, commit, packing, unpacking, and the derive. The timed loops are
//! part of the library, so that a call of the engine costs as much as in any other program.
//!
//! The bench depends on it, too: for the [classes](Class), the names of their types, and the interface.

#![deny(unsafe_code)]
#![allow(clippy::cast_possible_truncation, reason = "the types fit into memory")]

mod class;
#[expect(unsafe_code, reason = "exports functions that borrow the memory of their caller")]
mod interface;
#[expect(unsafe_code, reason = "fills and uses memory that is lent")]
mod layouts;
#[path = "../../../src/noise.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "a module of another crate, not all of which is needed here"
)]
mod noise;
#[expect(unsafe_code, reason = "makes records of memory that is lent")]
mod records;
#[expect(unsafe_code, reason = "fills and uses memory that is lent")]
mod timed;

pub use class::{Class, Work};
pub use interface::{Buffers, Engine, SYMBOL, Sizes, Subject, name};
