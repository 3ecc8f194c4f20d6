//! A program that looks for a function finds the same with and without the library under test, or finds one that works.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use dtype_test_support::mpi_library::{Library, preload};

/// The functions and data that the library exports.
fn exported() -> Vec<String> {
    let mut command = Command::new("nm");
    let output = command.args(["-D", "--defined-only"]).arg(preload()).output();
    let output = output.expect("nm is among the tools of a C compiler");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
}

/// A program that prints which of the names it finds by a weak reference and by `dlsym`.
fn program(names: &[String]) -> String {
    let mut source =
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <mpi.h>\n#include <stdio.h>\n"
            .to_owned();
    // The weak references have other names, because the header declares some of the functions.
    for (number, name) in names.iter().enumerate() {
        writeln!(source, "extern char weak{number} __asm__(\"{name}\") __attribute__((weak));")
            .unwrap();
    }
    source += "int main(int argc, char **argv) {\n    MPI_Init(&argc, &argv);\n";
    for (number, name) in names.iter().enumerate() {
        let found = format!(
            "&weak{number} || dlsym(RTLD_DEFAULT, \"{name}\") || dlsym(RTLD_NEXT, \"{name}\")"
        );
        writeln!(source, "    if ({found})\n        puts(\"{name}\");").unwrap();
    }
    source + "    MPI_Finalize();\n    return 0;\n}\n"
}

/// The functions that the MPI library may lack: this library's own function, the inside of the other MPI library, UCX, and the
/// calls with large counts, which `large_counts_work` makes. Open MPI 4.1 has persistent collective operations under other names;
/// `collectives.c` uses them. No program ends a session in a library that begins none.
fn may_be_new(library: Library, name: &str) -> bool {
    name.starts_with("dtype_preload_")
        || name.starts_with("ucp_dt_")
        || library == Library::Mpich && (name.starts_with("opal_") || name.starts_with("ompi_"))
        || name.contains("MPI_") && name.ends_with("_c")
        || name.contains("MPI_Request_get_status_")
        || name == "MPIX_Request_is_complete"
        || name.ends_with("MPI_Session_finalize")
        || name.contains("MPI_") && name.ends_with("_init")
}

#[test]
fn no_function_is_found_that_the_library_lacks() {
    let names = exported();
    assert!(names.iter().any(|name| name == "MPI_Pack"), "{names:?}");
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("symbols.c");
    fs::write(&source, program(&names)).unwrap();
    for library in Library::all() {
        let program = library.compile_at(&source, folder.path());
        let find = |hooked, mode| {
            let (out, _) = library.run(&program, &[], mode, &[hooked], &[]);
            out.lines().map(str::to_owned).collect::<BTreeSet<_>>()
        };
        let plain = find(false, "on");
        for mode in ["on", "off"] {
            let hooked = find(true, mode);
            assert!(plain.is_subset(&hooked), "{library:?}");
            let new: Vec<_> =
                hooked.difference(&plain).filter(|name| !may_be_new(library, name)).collect();
            assert!(new.is_empty(), "{library:?} lacks {new:?}");
        }
    }
}

#[test]
fn large_counts_work() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile("large.c", folder.path());
        let run = |hooked, mode| library.run(&program, &[], mode, &[hooked], &[]).0;
        let plain = run(false, "on");
        assert!(["0 found\n", "16 found\n"].contains(&&*plain), "{library:?}: {plain}");
        for mode in ["on", "off", "verify,all"] {
            assert_eq!(run(true, mode), "16 found\n", "{library:?} {mode}");
        }
        // Open MPI without its checks of arguments.
        let unchecked = [("OMPI_MCA_mpi_param_check", "0")];
        let (found, _) = library.run(&program, &[], "on", &[true], &unchecked);
        assert_eq!(found, "16 found\n", "{library:?}");
    }
}

/// The program is linked with a tool, so the tool comes after the library under test in the search order.
#[test]
fn a_tool_sees_the_calls() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    for library in Library::all() {
        let [tool, program] = ["libtool.so", "program"].map(|name| folder.path().join(name));
        let compile = |arguments: &[&Path]| {
            let status = Command::new(library.compiler()).args(arguments).status().unwrap();
            assert!(status.success());
        };
        let [shared, pic, o] = ["-shared", "-fPIC", "-o"].map(Path::new);
        compile(&[shared, pic, &sources.join("tool.c"), o, &tool]);
        compile(&[&sources.join("forks.c"), &tool, o, &program]);
        let run = |hooked, mode| library.run(&program, &[], mode, &[hooked], &[]).0;
        let plain = run(false, "off");
        assert_eq!(plain.matches("pack").count(), 14, "{library:?}: {plain}");
        assert_eq!(run(true, "off"), plain, "{library:?}");
        // The engine packs without a call of MPICH's own functions.
        if library == Library::OpenMpi {
            assert_eq!(run(true, "on"), plain);
        }
    }
}
