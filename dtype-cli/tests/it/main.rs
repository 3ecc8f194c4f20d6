//! The tests, a module for each subject.

mod command;
mod commands;
mod compared;
mod debug_info;
mod dump;
mod files;
mod frame;
#[cfg(feature = "hdf5")]
mod hdf5;
mod hints;
mod messages_in_c;
mod names;
mod npy;
mod own_types;
#[cfg(feature = "parquet")]
mod parquet;
mod pipes;
mod record_structs;
mod signature_in_python;
mod snippet;
mod validity;

use dtype_test_support::linear;
