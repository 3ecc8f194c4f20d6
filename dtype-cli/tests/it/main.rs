//! The tests, a module for each subject.

#[path = "../command/mod.rs"]
mod command;
#[path = "../../../dtype-runtime/tests/model/mod.rs"]
mod model;

mod commands;
mod debug_info;
mod declarations;
mod dump;
mod files;
mod frame;
mod names;
mod notation;
mod pipes;
mod renamed;
