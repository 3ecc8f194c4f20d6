//! Frames of messages: see `dtype_fuzz::frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dtype_fuzz::frames::run(input));
