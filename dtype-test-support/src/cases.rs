//! The number of cases of a property.

use proptest::test_runner::Config;

/// The number in `PROPTEST_CASES`, if it is set. If not: `interpreted` under Miri, where each case takes a thousand times as
/// long; otherwise `thorough` if `CI` is set, and a quarter of `thorough` if not.
pub fn cases(thorough: u32, interpreted: u32) -> u32 {
    if std::env::var_os("PROPTEST_CASES").is_some() {
        Config::default().cases
    } else if cfg!(miri) {
        interpreted
    } else if std::env::var_os("CI").is_some() {
        thorough
    } else {
        thorough.div_ceil(4)
    }
}
