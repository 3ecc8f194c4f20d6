//! The number of cases of a property.

use proptest::test_runner::Config;

/// `PROPTEST_CASES`, or else `usual`, or `interpreted` under Miri, which takes a thousand times as long for each case.
pub(crate) fn cases(usual: u32, interpreted: u32) -> u32 {
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return Config::default().cases;
    }
    if cfg!(miri) { interpreted } else { usual }
}
