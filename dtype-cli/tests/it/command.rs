//! Runs the command, in a folder of its own.
#![allow(dead_code, reason = "each test uses some of it")]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder that is gone when the test ends.
#[derive(Debug)]
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The names of all files.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// The command.
pub(crate) fn dtype() -> Command {
    Command::new(env!("CARGO_BIN_EXE_dtype"))
}

fn run(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap()
}

/// Runs a command that ends well.
pub(crate) fn done(command: &mut Command) -> Vec<u8> {
    let Output { status, stdout, stderr } = run(command);
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    stdout
}

/// Runs a command that fails, and gives its message.
pub(crate) fn failed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = run(command);
    assert_eq!(status.code(), Some(2), "{command:?}");
    assert!(stdout.is_empty());
    String::from_utf8(stderr).unwrap()
}

/// Runs a command with bytes on standard input, and gives its output and its message. A command that ends before it has
/// read all of them is fine.
pub(crate) fn fed(command: &mut Command, input: &[u8]) -> Output {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Bytes that look random and are the same every time.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}
