//! The example `telemetry` from start to end.

use std::process::Command;

use crate::program::program;

#[test]
fn every_datagram_is_accounted_for() {
    let output = Command::new(program("telemetry")).output().expect("the example runs");
    let out = String::from_utf8(output.stdout).expect("output is text");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("1000 readings sent"), "{out}");
    assert!(out.contains("50 lost, 20 damaged, 40 twice, 40 late"), "{out}");
}
