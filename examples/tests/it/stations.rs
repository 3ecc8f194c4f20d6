//! The example `stations` from start to end.

use std::process::Command;

use crate::program::program;

/// The lines that the program prints.
fn run(arguments: &[&str]) -> Vec<String> {
    let output = Command::new(program("stations")).args(arguments).output();
    let output = output.expect("the example runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let out = String::from_utf8(output.stdout).expect("output is text");
    out.lines().map(str::to_owned).collect()
}

#[test]
fn every_report_arrives_in_spite_of_bad_peers() {
    // 10 stations send 20 reports each. Three stations have four damaged frames: two in the payload, and two in the header,
    // after which the station connects again.
    let lines = run(&[
        "--stations=7",
        "--damaged=3",
        "--idle=1",
        "--slow=2",
        "--not-reading=1",
        "--vanishing=4",
        "--reports=20",
        "--readings=100",
        "--connections=16",
        "--patience=3000",
    ]);
    assert_eq!(
        lines,
        [
            // The idle peer has sent two reports. The peer that does not read its replies has sent one, and has read that
            // receipt.
            "20120 readings in 203 reports received",
            "6 reports damaged and sent again",
            "connections: 11 ended in order, 6 lost, 0 idle, 2 too slow, 1 not reading, 4 vanished",
        ]
    );
}

#[test]
fn connections_wait_for_one_another() {
    let lines = run(&[
        "--stations=30",
        "--damaged=0",
        "--idle=0",
        "--slow=1",
        "--not-reading=0",
        "--vanishing=2",
        "--reports=3",
        "--readings=10",
        "--connections=2",
        "--patience=3000",
    ]);
    assert_eq!(
        lines,
        [
            "900 readings in 90 reports received",
            "0 reports damaged and sent again",
            "connections: 30 ended in order, 0 lost, 0 idle, 1 too slow, 0 not reading, 2 vanished",
        ]
    );
}
