//! Empty: the tests are in `tests/it`, and the code that must not compile in `tests/fail` and `tests/instantiated`, with the
//! exact messages.
