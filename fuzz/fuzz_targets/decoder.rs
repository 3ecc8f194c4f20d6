//! The decoder without I/O: see `dtype_fuzz::decoder`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dtype_fuzz::decoder::run(input));
