//! The number of cases of a property.

use proptest::test_runner::Config;

/// `PROPTEST_CASES`, or else `thorough` where `CI` is set, a quarter of that elsewhere, and `interpreted` under Miri, which takes
/// a thousand times as long for each case.
pub(crate) fn cases(thorough: u32, interpreted: u32) -> u32 {
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
