//! The example `gather` from start to end, as a user runs it.

use std::process::Command;

use crate::program::program;

#[test]
fn the_traces_arrive() {
    let output = Command::new(program("gather")).output().expect("the example runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is text");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    assert!(out.contains("500 traces of 16024 bytes in memory, 16013 of them data\n"), "{out}");
    assert!(out.contains("8006500 bytes gathered from"), "{out}");
    assert!(out.contains("every trace as it was"), "{out}");
}
