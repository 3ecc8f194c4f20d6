//! Collective operations that move data, of ranks with and without the library under test in one job.

use dtype_test_support::mpi_library::Library;

#[test]
fn each_rank_has_the_right_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile("collectives.c", folder.path());
        let all: &[(&str, &[bool])] = &[
            ("on", &[false; 3]),
            ("on", &[true; 2]),
            ("on", &[true; 4]),
            ("verify,all", &[true; 3]),
            ("everywhere", &[true; 2]),
            ("on", &[true, false]),
            ("on", &[false, true]),
            ("on", &[true, false, true]),
            ("on", &[false, true, false, true]),
        ];
        for (mode, hooked) in all {
            // Long messages as well, where no rank is left to a library that cannot receive them.
            let records: &[_] =
                if *mode == "everywhere" { &["10", "300", "6000"] } else { &["10", "300"] };
            let (out, err) = library.run(&program, records, mode, hooked, &[]);
            let what = format!("{library:?} {mode} {hooked:?}: {out} {err}");
            let moved = out.trim().strip_prefix("right, ").unwrap_or_else(|| panic!("{what}"));
            // The least of all ranks, some of which are left alone. In MPICH 4.1 to 4.3, all collective operations are.
            let is_left = ["4.1.", "4.2.", "4.3."].iter().any(|version| moved.contains(version))
                && *mode != "everywhere";
            let is_none = moved.starts_with("0 moved");
            assert_eq!(
                is_none,
                is_left && moved.contains("MPICH") || hooked.contains(&false),
                "{what}"
            );
        }
    }
}
