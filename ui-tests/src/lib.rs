//! This crate is empty. The tests are in `tests/it`. The code that must not compile is in `tests/fail` and
//! `tests/instantiated`, with the exact messages.
