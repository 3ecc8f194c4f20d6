//! mpi4py's own tests, with mpi4py and Open MPI as Python packages. In every mode, the same tests pass.
//!
//! `DTYPE_PRELOAD_MPI4PY` names a virtual environment with `mpi4py`, `openmpi` and `numpy`. In its folder `mpi4py` is mpi4py's
//! source, which has the tests.

use std::env;
use std::path::Path;

use dtype_test_support::mpi_library::Library;

/// The test modules about datatypes and what depends on them.
const TESTS: [&str; 5] =
    ["test_pack", "test_datatype", "test_session", "test_util_dtlib", "test_rma"];

#[test]
#[ignore = "needs mpi4py and Open MPI as Python packages"]
fn mpi4py_passes_its_tests() {
    let folder = env::var("DTYPE_PRELOAD_MPI4PY").expect("DTYPE_PRELOAD_MPI4PY names a folder");
    let folder = Path::new(&folder).canonicalize().expect("there is that folder");
    let python = folder.join("bin/python");
    let main = folder.join("mpi4py/test/main.py");
    let arguments = [&[main.to_str().unwrap()], &TESTS[..]].concat();
    let run = |mode, hooked| {
        let (_, err) = Library::OpenMpi.run(&python, &arguments, mode, &[hooked], &[]);
        let ran = err.lines().find(|line| line.starts_with("Ran ")).map(str::to_owned);
        let ran = ran.unwrap_or_else(|| panic!("{mode} {hooked}: {err}"));
        ran.split_once(" in ").map(|(tests, _)| tests.to_owned())
    };
    let plain = run("on", false);
    for mode in ["on", "off", "verify,all"] {
        assert_eq!(run(mode, true), plain, "{mode}");
    }
}
