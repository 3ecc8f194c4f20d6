//! The examples' programs, which cargo builds beside the tests.

use std::path::PathBuf;

/// The path of an example's program.
pub(crate) fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its own path");
    let target = test.parent().and_then(|deps| deps.parent()).expect("tests are in target/*/deps");
    let program = target.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "{} has not been built", program.display());
    program
}
