//! The examples in C, Fortran and Python do the same with and without the library.

use std::fs;
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

/// With each of the three bindings: the module of Fortran 90, the include file, and the module of Fortran 2008.
#[test]
fn halos_in_fortran() {
    let folder = tempfile::tempdir().unwrap();
    let module = fs::read_to_string(example("halo.f90")).unwrap();
    let include = module
        .replace("    use mpi\n", "")
        .replace("    implicit none\n", "    implicit none\n    include 'mpif.h'\n");
    let typed = module
        .replace("use mpi\n", "use mpi_f08\n")
        .replace(
            "integer :: faces(3), column,",
            "type(MPI_Datatype) :: faces(3), column\n    integer ::",
        )
        .replace("integer :: status(MPI_STATUS_SIZE)", "type(MPI_Status) :: status");
    for library in Library::all() {
        // Intel's wheel has no modules, and MPICH's of Fortran 2008 does not fit.
        let is_intel = library.command("mpif90").to_string_lossy().contains("/impi-rt-");
        for source in
            if is_intel { vec![&module, &include] } else { vec![&module, &include, &typed] }
        {
            let [text, program] = ["halo.f90", library.name()].map(|name| folder.path().join(name));
            fs::write(&text, source).unwrap();
            let compiler = library.command("mpif90");
            let mut command = Command::new(&compiler);
            command.args(["-O1", "-Wall"]).arg(&text).arg("-o").arg(&program);
            let output = command.current_dir(folder.path()).output();
            let output =
                output.unwrap_or_else(|error| panic!("{compiler:?} cannot be started: {error}"));
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            compare(library, &program, &[], 2, "three faces, right");
        }
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
