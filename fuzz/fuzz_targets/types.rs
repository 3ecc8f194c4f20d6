//! Marshalled types: see `dtype_fuzz::types`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dtype_fuzz::types::run(input));
