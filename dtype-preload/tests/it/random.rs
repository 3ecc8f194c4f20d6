//! Random types. Every fragment is compared with the library's.

use std::env;

use dtype_test_support::mpi_library::Library;

fn variable(name: &str, default: &str) -> String {
    env::var(name).unwrap_or_else(|_| default.to_owned())
}

#[test]
fn random_types_are_the_same_here_and_there() {
    let types = variable("DTYPE_PRELOAD_TYPES", "300");
    let seed = variable("DTYPE_PRELOAD_SEED", "1");
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile("random.c", folder.path());
        let arguments = [types.as_str(), seed.as_str()];
        let (out, err) = library.run(&program, &arguments, "verify,stats", &[true, true], &[]);
        assert_eq!(out.trim(), format!("{types} types"), "{err}");
        assert!(err.contains(" calls moved "), "the engine was used: {err}");
    }
}

/// With Open MPI, calls for external32 are left to the library, so this shows that the program expects the right bytes.
#[test]
fn random_types_are_the_same_in_external32() {
    let types = variable("DTYPE_PRELOAD_TYPES", "300");
    let seed = variable("DTYPE_PRELOAD_SEED", "1");
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile("external.c", folder.path());
        for mode in ["on", "verify,stats"] {
            let arguments = [types.as_str(), seed.as_str()];
            let (out, err) = library.run(&program, &arguments, mode, &[true], &[]);
            assert_eq!(out.trim(), format!("{types} types"), "{err}");
            let used = err.contains(" calls moved ") && !err.contains(": 0 calls moved ");
            assert!(used || mode == "on", "the engine was used: {err}");
        }
    }
}
