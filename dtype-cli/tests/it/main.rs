//! The tests, a module for each subject.

mod command;
mod commands;
mod debug_info;
mod declarations;
mod dump;
mod files;
mod frame;
#[cfg(feature = "hdf5")]
mod hdf5;
mod hints;
mod linear;
mod messages_in_c;
mod names;
mod notation;
mod npy;
mod own_types;
#[cfg(feature = "parquet")]
mod parquet;
mod pipes;
mod record_structs;
mod renamed;
mod signature_in_python;
mod validity;
