//! Compiles every file in `pass` and runs it, and sees that no file in `fail` compiles.
//!
//! The words of a message are the compiler's in part, and differ from one version of it to the next.
//! They are pinned to one version; on any other the files in `fail` are left out, and `pass` is
//! compiled all the same. To see what changed, and to pin it: `TRYBUILD=overwrite cargo test`.

use std::process::Command;

/// The compiler whose words the `.stderr` files hold.
const PINNED: &str = "rustc 1.95.";

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/pass/*.rs");
    let version = compiler();
    if version.starts_with(PINNED) {
        cases.compile_fail("tests/fail/*.rs");
    } else {
        println!(
            "the messages are pinned to {PINNED}x and this is {}: tests/fail is skipped",
            version.trim()
        );
    }
}

fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc can be run");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
