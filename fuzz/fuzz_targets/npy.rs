//! NumPy's files: see `dtype_fuzz::npy`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dtype_fuzz::npy::run(input));
