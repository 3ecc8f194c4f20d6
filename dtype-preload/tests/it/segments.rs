//! One-sided operations and files, for which Open MPI requests segments of memory: `verify` finds no wrong segment.

use dtype_test_support::mpi_library::Library;

#[test]
fn segments_are_the_same_here_and_there() {
    let library = Library::OpenMpi;
    if !Library::all().contains(&library) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let file = file.to_str().unwrap();
    let program = library.compile("segments.c", folder.path());
    let run = |mode, hooked| library.run(&program, &[file], mode, &[hooked; 2], &[]);
    let (plain, _) = run("on", false);
    assert!(plain.ends_with(" operations\n"), "{plain}");
    for mode in ["verify", "verify,all"] {
        let (out, err) = run(mode, true);
        assert_eq!(out, plain, "{mode}: {err}");
        assert!(!err.contains("nothing is verified"), "{mode}: {err}");
    }
}
