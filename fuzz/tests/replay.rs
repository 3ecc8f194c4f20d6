//! Replays each input of the corpora with any compiler, without the fuzzer. So a mistake that was found does not come back
//! unnoticed.

use std::fs;
use std::path::{Path, PathBuf};

/// The kept inputs of a target, ordered by name.
fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    inputs
}

/// Runs a target on its corpus. If it fails, the message names the input.
fn replay(target: &str, run: fn(&[u8])) {
    let inputs = corpus(target);
    assert!(inputs.len() > 10, "a corpus of {} inputs", inputs.len());
    for path in inputs {
        let input = fs::read(&path).unwrap();
        let result = std::panic::catch_unwind(|| run(&input));
        assert!(result.is_ok(), "{target}: {}", path.display());
    }
}

#[test]
fn frames() {
    replay("frames", dtype_fuzz::frames::run);
}

#[test]
fn decoder() {
    replay("decoder", dtype_fuzz::decoder::run);
}

#[test]
fn types() {
    replay("types", dtype_fuzz::types::run);
}

#[test]
fn convertor() {
    replay("convertor", dtype_fuzz::convertor::run);
}

#[test]
fn c() {
    replay("c", dtype_fuzz::c::run);
}

#[test]
fn npy() {
    replay("npy", dtype_fuzz::npy::run);
}
