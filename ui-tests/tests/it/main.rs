//! The derives. Each file in `pass` has code as users write it, with a test of what the code does. The files in `lints` deny
//! lints, which the output of the derives must satisfy. `refused` has the code that must not compile.

#![allow(
    missing_debug_implementations,
    missing_docs,
    rust_2018_idioms,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    reason = "users' code need not keep to the rules of this workspace"
)]

pub mod lints;
#[allow(dead_code, reason = "the tests use the layouts of types, not their fields")]
mod pass;
mod refused;
