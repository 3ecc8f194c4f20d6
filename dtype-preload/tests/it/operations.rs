//! For each kind of MPI operation, this engine moves the bytes, and moves the right ones.

use std::collections::BTreeMap;

use dtype_test_support::mpi_library::Library;

/// A line of the program's output: the bytes moved for an operation on each of the two ranks.
type Moved = BTreeMap<String, [u64; 2]>;

fn operations(
    library: Library,
    mode: &str,
    hooked: [bool; 2],
    variables: &[(&str, &str)],
) -> Moved {
    let folder = tempfile::tempdir().unwrap();
    let program = library.compile("operations.c", folder.path());
    let file = folder.path().join("file");
    let (out, err) = library.run(&program, &[file.to_str().unwrap()], mode, &hooked, variables);
    let lines = out.lines().map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [name, first, second, verdict] = words[..] else { panic!("{line}\n{err}") };
        assert_eq!(verdict, "right", "{library:?} {hooked:?} {variables:?}: {line}");
        (name.to_owned(), [first, second].map(|number| number.parse().unwrap()))
    });
    lines.collect()
}

/// The packed bytes of 1000 records.
const ALL: u64 = 9000;

/// The packed bytes of the values in 1000 records.
const VALUES: u64 = 8000;

/// The minimum that this engine moves on each rank, for each operation.
fn expected(library: Library) -> Vec<(&'static str, [u64; 2])> {
    let both = [ALL, ALL];
    let mut expected = vec![
        ("Send", both),
        ("Ssend", both),
        ("Isend", [2 * ALL; 2]),
        ("Sendrecv", [2 * ALL; 2]),
        ("Persistent", [4 * ALL; 2]),
        ("Mprobe", both),
        ("Freed-while-pending", [2 * ALL; 2]),
        ("Committed-again", [2 * ALL; 2]),
        ("Shorter-message", [ALL / 2; 2]),
        ("Gather", both),
        ("Gatherv", [ALL / 2; 2]),
        ("Scatter", both),
        ("Allgather", both),
        ("Alltoall", both),
        ("Alltoallw", both),
        ("Iallgather", both),
        ("Ialltoall", both),
        ("Neighbor_alltoall", [2 * ALL; 2]),
        ("Pack", [2 * ALL; 2]),
        ("Packed-to-records", [ALL, ALL + 7992]),
    ];
    match library {
        Library::OpenMpi => expected.extend([
            ("Bsend", [ALL / 2; 2]),
            ("Bcast", both),
            ("Sendrecv-self", both),
            ("Put", both),
            ("Get", both),
            ("File", both),
        ]),
        Library::Mpich => expected.extend([
            // MPICH packs buffered messages itself, so only the receiver uses this engine.
            ("Bsend", [0, ALL / 2]),
            ("Pack_external", [2 * VALUES; 2]),
            ("Pack_external_c", [2 * VALUES; 2]),
            ("Large-counts", [2 * VALUES; 2]),
            ("Null", [0; 2]),
            ("Among-many", [32 * VALUES; 2]),
            ("Handle-again", [32 * VALUES; 2]),
            ("Renamed", [16 * VALUES; 2]),
            // The first call on each of four communicators is left to the library.
            ("Communicators", [(4 * 7 + 8) * VALUES; 2]),
        ]),
    }
    expected
}

fn moves_the_bytes(library: Library, variables: &[(&str, &str)]) {
    let moved = operations(library, "verify,stats", [true, true], variables);
    let mut missing = Vec::new();
    for (name, least) in expected(library) {
        let found = moved.get(name).unwrap_or_else(|| panic!("{name} was not tried"));
        if found.iter().zip(least).any(|(&found, least)| found < least) {
            missing.push(format!("{name}: {found:?} of {least:?}"));
        }
    }
    assert!(missing.is_empty(), "{library:?} {variables:?}: {missing:#?}");
    assert_eq!(moved["Pack-no-room"], [0, 0]);
    if library == Library::Mpich {
        assert_eq!(moved["Uncommitted"], [0, 0]);
    }
}

#[test]
fn every_operation_is_done_here() {
    for library in Library::all() {
        moves_the_bytes(library, &[]);
    }
}

/// Open MPI packs with the same convertor, whatever transports the bytes.
#[test]
fn every_operation_is_done_here_over_ucx() {
    if Library::all().contains(&Library::OpenMpi) {
        moves_the_bytes(Library::OpenMpi, &[("OMPI_MCA_pml", "ucx")]);
    }
}

#[test]
fn ranks_with_and_without_understand_each_other() {
    for library in Library::all() {
        for hooked in [[true, false], [false, true]] {
            let moved = operations(library, "stats", hooked, &[]);
            for (rank, &hooked) in hooked.iter().enumerate() {
                assert_eq!(moved["Isend"][rank] > 0, hooked, "{library:?}: {moved:?}");
            }
        }
    }
}

#[test]
fn bytes_are_counted_without_a_report() {
    for library in Library::all() {
        let moved = operations(library, "on", [true, true], &[]);
        assert!(moved["Isend"].iter().all(|&moved| moved >= 2 * ALL), "{library:?}: {moved:?}");
    }
}

#[test]
fn off_is_off() {
    for library in Library::all() {
        for mode in ["off", "off,stats", "nonsense"] {
            let moved = operations(library, mode, [true, true], &[]);
            assert!(moved.values().all(|&moved| moved == [0, 0]), "{library:?}: {moved:?}");
        }
    }
}

/// Packing outside of any other call of MPI, and after the last one.
#[test]
fn packing_after_the_end_is_the_same_as_without() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile("ended.c", folder.path());
        // Open MPI 4.1 has no sessions.
        let sessions: &[&[&str]] = match library {
            Library::OpenMpi => &[&[]],
            Library::Mpich => &[&[], &["session"]],
        };
        for (call, session) in ["", "pack", "external"]
            .into_iter()
            .flat_map(|call| sessions.iter().map(move |session| (call, session)))
        {
            for hooked in [false, true] {
                let arguments = [&[call], *session].concat();
                let output = library.start(&program, &arguments, "on", &[hooked], &[]);
                let text = String::from_utf8_lossy(&output.stdout);
                // MPI ends a program that packs then.
                let (ended, code) = (text.contains("ended"), output.status.success());
                let what = format!("{library:?} {arguments:?} {hooked}: {text}");
                assert_eq!((ended, code), (true, call.is_empty()), "{what}");
                assert!(!text.contains("packed"), "{what}");
            }
        }
    }
}
