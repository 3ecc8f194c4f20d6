//! The functions of `dtype.h`: the engine, the frames and the pictures for C, C++, Fortran and Julia.
//!
//! `dtype.h` says what each function does and what it asks of its caller. What is said here is for readers of the code: each
//! function is defined by the macro of `boundary`, which makes pointers into values that check themselves; no panic and no
//! unchecked pointer gets further. A Rust program has no use for this crate but to test it.

mod arguments;
mod boundary;
mod columns;
mod commit;
mod error;
mod fragments;
mod frames;
mod handle;
mod memory;
mod pack;
mod text;
mod types;

pub use columns::*;
pub use commit::*;
pub use error::*;
pub use fragments::*;
pub use frames::*;
pub use pack::*;
pub use types::*;

/// The version of this library, as `0xMMmmpp`.
#[unsafe(no_mangle)]
pub extern "C" fn dtype_version() -> u32 {
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    number(env!("CARGO_PKG_VERSION_MAJOR")) << 16
        | number(env!("CARGO_PKG_VERSION_MINOR")) << 8
        | number(env!("CARGO_PKG_VERSION_PATCH"))
}

/// The functions that return a code, and the structs: a test compares them with `dtype.h`.
#[doc(hidden)]
pub mod declared {
    use super::boundary::{Declaration, Layout};
    use super::{COLUMNS, COMMITTED, FRAGMENTS, FRAMES, PACKING, TYPES};
    use super::{COMMITTED_STRUCTS, FRAME_STRUCTS, SEGMENT_STRUCTS, TYPE_STRUCTS};

    pub const FUNCTIONS: [&[Declaration]; 6] =
        [TYPES, COMMITTED, PACKING, FRAGMENTS, COLUMNS, FRAMES];
    pub const STRUCTS: [&[Layout]; 4] =
        [TYPE_STRUCTS, COMMITTED_STRUCTS, SEGMENT_STRUCTS, FRAME_STRUCTS];
}
