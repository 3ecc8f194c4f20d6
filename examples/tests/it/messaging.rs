//! The example `messaging` from start to end, as a user runs it.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::program::program;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(program("messaging"));
    command.args(arguments);
    command
}

fn messaging(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the example runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

/// A file that is deleted when this value is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, contents: &str) -> Self {
        let name = format!("dtype-messaging-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, contents).expect("the file can be written");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the path is text")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn the_airports_go_there_and_back() {
    let output = messaging(&["--repetitions", "3"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    assert!(out.contains("airports.csv: 3376\n"), "{out}");
    assert!(out.contains("■■■■■■■■ ■■■■■■■■ ■ ■ ■ ■ ■ ■ ■□"), "{out}");
    assert!(out.contains("every record came back as it was"), "{out}");
    assert!(out.contains("77648 bytes, 23 each"), "{out}");
    assert_eq!(err, "", "no progress bar outside of a terminal");
}

#[test]
fn another_file() {
    let file = Scratch::new(
        "good.csv",
        "state,iata,name,latitude,longitude\nAK,ANC,Anchorage,61.17,-149.99\n",
    );
    let output = messaging(&[file.path(), "--repetitions", "1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("good.csv: 1\n"));
}

#[test]
fn a_malformed_line_is_named() {
    let file = Scratch::new(
        "bad.csv",
        "iata,name,state,latitude,longitude\nANC,Anchorage,AK,61.17,-149.99\nX,Y,AK,far,0\n",
    );
    let output = messaging(&[file.path()]);
    assert!(!output.status.success());
    let err = text(&output.stderr);
    assert!(err.contains("line 3, column latitude: \"far\" is not a number"), "{err}");
}

#[test]
fn a_missing_file_is_named() {
    let output = messaging(&["no/such/file.csv"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("cannot open no/such/file.csv"));
}

#[test]
fn a_reader_that_closes_the_output_is_no_error() {
    use std::process::Stdio;
    let mut child = command(&["--repetitions", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example starts");
    // Closes the pipe before anything is read from it.
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the example ends");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn the_second_process_needs_the_first() {
    // A port that was free a moment ago, so that nobody listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let output = messaging(&["--echo", &port.to_string()]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("cannot connect"));
}
