//! Calls of the convertor: see `dtype_fuzz::convertor`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dtype_fuzz::convertor::run(input));
