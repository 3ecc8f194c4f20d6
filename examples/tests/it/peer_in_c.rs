//! The example `peer-in-c`: its service is compiled with the C compiler of this machine.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::program::program;

#[test]
fn rust_and_c_exchange_messages() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/peer-in-c");
    let service = program("peer-in-c").with_file_name("peer-in-c-service");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&service)
        .arg(format!("{folder}/service.c"))
        .output();
    let Ok(compiled) = compiled else {
        eprintln!("left out: peer-in-c: no C compiler here");
        return;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));

    let mut service = Command::new(service).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut port = String::new();
    let mut lines = BufReader::new(service.stdout.take().expect("a pipe"));
    lines.read_line(&mut port).expect("the service prints its port");
    let address = format!("127.0.0.1:{}", port.trim());
    let output = Command::new(program("peer-in-c")).arg(address).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let once =
        "station 7: 21.5 °C, 2 readings\nstation 3: 100.0 °C, 1 readings\nrefused: not readings\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), once.repeat(2));
    assert!(service.wait().expect("the service ends").success());
}
