//! Requests: thousands outstanding, completed in random order, by all functions, and by several threads.

use dtype_test_support::mpi_library::Library;

#[test]
fn outstanding_requests_end_with_the_right_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile("outstanding.c", folder.path());
        for (mode, hooked, arguments) in [
            ("on", [true, true], ["2", "2000", "1", "1"]),
            ("on", [true, true], ["2", "1000", "4", "2"]),
            ("verify,all", [true, true], ["2", "500", "2", "3"]),
            ("everywhere", [true, true], ["2", "500", "2", "6"]),
            ("on", [true, false], ["2", "1000", "1", "4"]),
            ("on", [false, true], ["2", "1000", "2", "5"]),
        ] {
            // With threads, Open MPI 4.1.4 alone now and then mixes up requests.
            let [rounds, requests, threads, seed] = arguments;
            let threads = if library == Library::OpenMpi { "1" } else { threads };
            let arguments = [rounds, requests, threads, seed];
            let (out, err) = library.run(&program, &arguments, mode, &hooked, &[]);
            // The lines of the two ranks may be mixed.
            let out: String = out.split_whitespace().collect();
            assert_eq!(out, "rightright", "{library:?} {mode} {hooked:?} {arguments:?}: {err}");
        }
    }
}
