//! With `MPI_THREAD_MULTIPLE`, threads make, use and free types at the same time.

use dtype_test_support::mpi_library::Library;

#[test]
fn threads_make_and_free_types_while_others_send() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile("threads.c", folder.path());
        for mode in ["verify,stats", "on"] {
            let (out, err) = library.run(&program, &["40"], mode, &[true, true], &[]);
            // The lines of the two ranks may be mixed.
            assert_eq!(
                out.split_whitespace().collect::<String>(),
                "rightright",
                "{library:?}: {err}"
            );
            assert_eq!(err.contains(" calls moved "), mode != "on", "{library:?}: {err}");
        }
    }
}
