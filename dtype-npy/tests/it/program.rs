//! Runs Python programs that use NumPy.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use dtype_test_support::python;

/// The output of a Python program for this input, or `None` without NumPy.
pub(crate) fn output(program: &str, input: &str) -> Option<String> {
    let mut child = Command::new(python::with("numpy")?)
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Python prints before it has read everything: each would wait for the other when both pipes are full.
    let output = thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input.as_bytes()).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{input}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The bytes as two digits each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
