//! mpi4py's own tests, with mpi4py and an MPI library as Python packages. What fails with the library under test also fails
//! without it.
//!
//! `DTYPE_PRELOAD_MPI4PY` names virtual environments with an MPI library, `mpi4py` and `numpy`, separated by colons. In the folder
//! `mpi4py` of the first is mpi4py's source, which has the tests. The environments are tested at the same time.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use dtype_test_support::mpi_library::{Library, preload};

/// These start other processes, which other tests do. Intel MPI cannot start any with `tcp`, and UCX without a network does not
/// reach them.
const EXCEPT: &str = "spawn|dynproc|pool";

/// The modules about messages and datatypes.
const MESSAGES: &str = "cco|p2p|pack|datatype|request|msgspec|msgzero|dtlib|rma|session|threads";

/// The tests that ran, and those of them that failed.
fn run(
    folder: &Path,
    main: &Path,
    ranks: usize,
    mode: Option<&str>,
    modules: &str,
) -> (usize, BTreeSet<String>) {
    let python = folder.join("bin/python");
    let mut command = Command::new("timeout");
    command.arg("900").arg(folder.join("bin/mpirun")).args(["-n", &ranks.to_string(), "env"]);
    if let Some(mode) = mode {
        command.arg(format!("LD_PRELOAD={}", preload().display()));
        command.arg(format!("DTYPE_PRELOAD={mode}"));
    }
    command.arg(&python).arg(main).args(["-e", EXCEPT, "-i", modules]);
    let output = Library::environment(&mut command).output().expect("timeout can be started");
    let text = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    let number = |line: &str| line.strip_prefix("Ran ")?.split(' ').next()?.parse::<usize>().ok();
    let numbers: Vec<_> = text.lines().filter_map(number).collect();
    // A rank that has ended otherwise does not say how many tests it has run.
    assert_eq!(numbers.len(), ranks, "{} {mode:?}: {text}", folder.display());
    let failed = |line: &str| {
        let is_failure = line.starts_with("FAIL: ") || line.starts_with("ERROR: ");
        is_failure.then(|| line.split_once(": ").map(|(_, test)| test.to_owned())).flatten()
    };
    (numbers[0], text.lines().filter_map(failed).collect())
}

#[test]
#[ignore = "needs mpi4py and MPI libraries as Python packages"]
fn mpi4py_passes_its_tests() {
    let folders = env::var_os("DTYPE_PRELOAD_MPI4PY").expect("DTYPE_PRELOAD_MPI4PY names folders");
    let folders: Vec<PathBuf> =
        env::split_paths(&folders).map(|path| path.canonicalize().expect("it is there")).collect();
    let main = &folders[0].join("mpi4py/test/main.py");
    thread::scope(|scope| {
        for folder in &folders {
            scope.spawn(move || {
                for (mode, ranks, modules) in [("on", 1, "."), ("verify,all", 2, MESSAGES)] {
                    let (ran, failed) = run(folder, main, ranks, Some(mode), modules);
                    let what = format!("{} {mode} {ranks}: {ran} tests", folder.display());
                    println!("{what}, {} fail", failed.len());
                    assert!(ran > 500, "{what}");
                    if !failed.is_empty() {
                        let (_, plain) = run(folder, main, ranks, None, modules);
                        let worse: Vec<_> = failed.difference(&plain).collect();
                        assert!(worse.is_empty(), "{what}, and these fail: {worse:#?}");
                    }
                }
            });
        }
    });
}
