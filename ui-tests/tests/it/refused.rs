//! No file in `tests/fail` and `tests/instantiated` compiles, and each gives the messages that are pinned beside it.
//!
//! A message has words of the compiler, which change from one version to the next, so other compilers skip these tests. To see
//! what has changed, and to pin it: `TRYBUILD=overwrite cargo test -p dtype-ui-tests`.

use std::process::Command;

use trybuild::TestCases;

/// The compiler whose words the `.stderr` files hold.
const PINNED: &str = "rustc 1.95.";

#[test]
fn by_cargo_check() {
    if is_pinned() {
        TestCases::new().compile_fail("tests/fail/*.rs");
    }
}

/// `cargo check` does not instantiate functions. trybuild runs `cargo build` if another file is expected to compile.
#[test]
fn by_cargo_build() {
    if is_pinned() {
        let cases = TestCases::new();
        cases.pass("tests/instantiated/*/accepted.rs");
        cases.compile_fail("tests/instantiated/*/refused.rs");
    }
}

fn is_pinned() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc can be run");
    let version = String::from_utf8_lossy(&output.stdout);
    let is_pinned = version.starts_with(PINNED);
    if !is_pinned {
        println!("skipped: the messages are pinned to {PINNED}x, and this is {}", version.trim());
    }
    is_pinned
}
