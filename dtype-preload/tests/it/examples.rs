//! The examples in C, Fortran and Python do the same with and without the library.

use std::path::{Path, PathBuf};
use std::process::Command;

use dtype_test_support::mpi_library::Library;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name)
}

/// Runs a program without the library, with it, and with every fragment compared. The output is the same each time, and the
/// engine is used.
fn compare(library: Library, program: &Path, arguments: &[&str], ranks: usize, prints: &str) {
    let without = vec![false; ranks];
    let with = vec![true; ranks];
    let (plain, _) = library.run(program, arguments, "on", &without, &[]);
    assert_eq!(plain.trim(), prints, "{library:?}");
    for mode in ["on", "verify,stats"] {
        let (out, err) = library.run(program, arguments, mode, &with, &[]);
        assert_eq!(out, plain, "{library:?} {mode}");
        assert_eq!(err.contains(" calls moved "), mode != "on", "{library:?}: {err}");
        assert!(!err.contains(": 0 calls moved "), "{library:?}: {err}");
    }
}

#[test]
fn particles_in_c() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile_at(&example("particles.c"), folder.path());
        compare(library, &program, &[], 3, "20000 particles to the next of 3 ranks, right");
    }
}

#[test]
fn halos_in_fortran() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = folder.path().join(library.name());
        let compiler = format!("mpif90.{}", library.name());
        let mut command = Command::new(&compiler);
        command.args(["-O1", "-Wall"]).arg(example("halo.f90")).arg("-o").arg(&program);
        let output = command.current_dir(folder.path()).output();
        let output = output.unwrap_or_else(|error| panic!("{compiler} cannot be started: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        compare(library, &program, &[], 2, "three faces, right");
    }
}

/// The library is that of the system's mpi4py, which in Debian is Open MPI.
#[test]
fn records_in_python() {
    if Library::all().contains(&Library::OpenMpi) {
        let python = Path::new("/usr/bin/python3");
        let script = example("records.py");
        let arguments = [script.to_str().unwrap()];
        compare(Library::OpenMpi, python, &arguments, 2, "100000 records each way, right");
    }
}
