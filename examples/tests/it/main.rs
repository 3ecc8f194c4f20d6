//! The tests, a module for each example.

#[path = "../program/mod.rs"]
mod program;

mod gather;
mod messaging;
mod peer_in_c;
mod stations;
mod telemetry;
