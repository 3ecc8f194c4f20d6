//! The tests, a module for each example.

mod gather;
mod messaging;
mod peer_in_c;
mod peer_in_python;
mod program;
mod stations;
mod telemetry;
