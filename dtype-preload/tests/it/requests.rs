//! Requests, statuses and errors are the same with and without this engine.

use dtype_test_support::mpi_library::Library;

/// What the program says, and the bytes that were moved.
fn run(library: Library, mode: &str, hooked: [bool; 2]) -> (Vec<String>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let program = library.compile("requests.c", folder.path());
    let (out, _) = library.run(&program, &[], mode, &hooked, &[]);
    // UCX reports messages that are received when MPI ends.
    let lines = out.lines().filter(|line| !line.contains("UCX"));
    let (moved, said): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("moved "));
    let moved = moved.iter().map(|line| line["moved ".len()..].parse::<u64>().unwrap()).sum();
    (said.into_iter().map(str::to_owned).collect(), moved)
}

#[test]
fn a_program_sees_the_same() {
    for library in Library::all() {
        let (plain, _) = run(library, "on", [false; 2]);
        assert!(plain.len() > 40, "{plain:#?}");
        for (mode, hooked) in [
            ("on", [true, true]),
            ("on", [true, false]),
            ("on", [false, true]),
            ("verify,all", [true, true]),
        ] {
            let (said, moved) = run(library, mode, hooked);
            for (plain, said) in plain.iter().zip(&said) {
                assert_eq!(plain, said, "{library:?} {mode} {hooked:?}");
            }
            assert_eq!(plain.len(), said.len(), "{library:?} {mode} {hooked:?}");
            assert!(moved > 1_000_000, "{library:?} {mode} {hooked:?}: {moved}");
        }
    }
}
