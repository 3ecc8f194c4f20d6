//! The example `peer-in-python`, with the Python that the environment variable `DTYPE_PYTHON` names, which has the package `dtype`.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

use crate::program::program;

/// Runs the service, and the client in Python with further arguments. Returns whether the service succeeded, what it wrote, and
/// the client's output.
fn run(arguments: &[&str]) -> Option<(bool, String, Output)> {
    let Some(python) = std::env::var_os("DTYPE_PYTHON") else {
        eprintln!("left out: peer-in-python: DTYPE_PYTHON names no Python");
        return None;
    };
    let mut service = Command::new(program("peer-in-python"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(service.stdout.take().expect("a pipe"));
    let mut port = String::new();
    lines.read_line(&mut port).expect("the service prints its port");
    let output = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peer-in-python/client.py"))
        .arg(port.trim())
        .args(arguments)
        .output()
        .expect("Python starts");
    let mut said = String::new();
    lines.read_to_string(&mut said).expect("the output is text");
    let end = service.wait_with_output().expect("the service ends");
    said += &String::from_utf8_lossy(&end.stderr);
    Some((end.status.success(), said, output))
}

#[test]
fn rust_and_python_exchange_arrays() {
    let Some((succeeded, said, client)) = run(&[]) else { return };
    let (out, err) =
        (String::from_utf8_lossy(&client.stdout), String::from_utf8_lossy(&client.stderr));
    assert!(client.status.success(), "{err}\n{said}");
    assert!(succeeded, "{said}");
    assert_eq!(out.lines().count(), 3, "{out}");
    assert!(said.contains("300000 readings, "), "{said}");
    assert!(!said.contains("refused"), "{said}");
}

#[test]
fn both_sides_name_the_field_that_differs() {
    let Some((succeeded, said, client)) = run(&["--other"]) else { return };
    let err = String::from_utf8_lossy(&client.stderr);
    assert!(!client.status.success() && succeeded);
    assert!(said.contains("refused: "), "{said}");
    assert!(said.contains("`temperature` is f64 there and f32 here"), "{said}");
    assert!(
        err.contains("TypeError: ") && err.contains("`temperature` is f32 there and f64 here"),
        "{err}"
    );
    for field in ["station", "time", "valid"] {
        assert!(!err.contains(&format!("`{field}`")), "{err}");
    }
}
