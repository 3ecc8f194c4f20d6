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
        // These leave long sends to the library, unless they are told that all ranks receive packed bytes.
        let sends_short = plain[0].starts_with("MPICH Version")
            && ["4.1.", "4.2.", "4.3."].iter().any(|version| plain[0].contains(version));
        let mut by_receivers = 0;
        for (mode, hooked) in [
            ("on", [true, true]),
            ("everywhere", [true, true]),
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
            match mode {
                "on" if hooked == [true, true] => by_receivers = moved,
                "everywhere" if sends_short => assert!(moved > by_receivers * 3 / 2, "{moved}"),
                "everywhere" => assert!(moved >= by_receivers, "{library:?}: {moved}"),
                _ => {}
            }
        }
    }
}

/// Open MPI 4.1 has no sessions, and MPICH 4.0.2 alone ends in a signal when a request is freed in a session.
#[test]
fn a_freed_receive_ends_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all().into_iter().filter(|&library| library == Library::Mpich) {
        let program = library.compile("session.c", folder.path());
        let run = |hooked| library.start(&program, &[], "on", &[hooked], &[]);
        if run(false).status.success() {
            let output = run(true);
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "0 wrong", "{output:?}");
        }
    }
}
