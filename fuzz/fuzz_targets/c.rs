//! The functions of `dtype.h`: see `dtype_fuzz::c`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dtype_fuzz::c::run(input));
