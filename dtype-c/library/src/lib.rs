//! The functions of `dtype.h` as a library.

pub use dtype_c::*;
