//! The lines on standard error: one report for each rank in the mode `stats`, and one line wherever nothing is verified or
//! counted.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use dtype_test_support::mpi_library::{Library, preload};

fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains("dtype-preload")).collect()
}

#[test]
fn each_rank_writes_one_short_report() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile("forks.c", folder.path());
        let (_, err) = library.run(&program, &[], "stats,verify", &[true; 3], &[]);
        let mut ranks = Vec::new();
        for report in err.split("dtype-preload: rank ").skip(1) {
            ranks.push(&report[..1]);
            assert!(report.len() < 4096, "{library:?}: {err}");
            let types: Vec<_> =
                report.lines().filter_map(|line| line.strip_prefix("  type ")).collect();
            let sizes: Vec<_> = types.iter().filter_map(|line| line.split("; ").nth(1)).collect();
            let expected = [9, 6, 5, 4, 3].map(|size| format!("size {size}, extent 16"));
            assert_eq!(sizes, expected, "{library:?}: {err}");
            assert!(types.iter().zip('1'..).all(|(line, number)| line.starts_with(number)));
            assert!(
                report.lines().any(|line| line.starts_with("  2 more types: 4 calls, ")),
                "{err}"
            );
        }
        // Forked children write no report, and no rank writes two.
        ranks.sort_unstable();
        assert_eq!(ranks, ["0", "1", "2"], "{library:?}: {err}");
    }
}

#[test]
fn a_rank_says_that_nothing_was_compared() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile("forks.c", folder.path());
        for (mode, said) in [
            ("verify", "nothing is verified: "),
            ("verify,all", "nothing is verified: "),
            ("verify,off", "nothing is verified: DTYPE_PRELOAD has the word off"),
            ("off,stats", "nothing is counted: DTYPE_PRELOAD has the word off"),
            ("off,stats,verify", "nothing is verified or counted: DTYPE_PRELOAD has the word off"),
            ("on", ""),
            ("off", ""),
        ] {
            let (_, err) = library.run(&program, &["contiguous"], mode, &[true], &[]);
            match (said, &*lines(&err)) {
                ("", []) => {}
                (said, [line]) => {
                    assert!(line.contains(&format!("rank 0: {said}")), "{library:?} {mode}: {err}");
                    let is_advised = mode == "verify" && line.contains("taken over and compared");
                    assert_eq!(
                        line.contains("the word all"),
                        is_advised,
                        "{library:?} {mode}: {err}"
                    );
                }
                _ => panic!("{library:?} {mode}: {err}"),
            }
        }
    }
}

#[test]
fn a_rank_says_why_nothing_was_counted() {
    let folder = tempfile::tempdir().unwrap();
    for library in Library::all() {
        let program = library.compile("alone.c", folder.path());
        let name = match library {
            Library::OpenMpi => "Open MPI ",
            Library::Mpich => "MPICH ",
        };
        for (what, why) in [
            ("contiguous", "no message had a datatype with gaps"),
            ("long", "all messages with gaps were left to the MPI library: 2"),
            ("self", "no message had a datatype with gaps; not seen are "),
        ] {
            for (mode, done) in [
                ("stats", "counted"),
                ("verify", "verified"),
                ("stats,verify", "verified or counted"),
            ] {
                let (out, err) = library.run(&program, &[what], mode, &[true], &[]);
                let lines = lines(&err);
                if library == Library::OpenMpi && what == "self" {
                    // Its convertor copies these messages as well.
                    let counted = lines.iter().filter(|line| line.contains("calls moved "));
                    assert_eq!(counted.count(), usize::from(mode.contains("stats")), "{err}");
                    assert_eq!(lines.len(), usize::from(mode.contains("stats")), "{err}");
                    continue;
                }
                let [line] = lines[..] else { panic!("{library:?} {what} {mode}: {err}") };
                let start = format!("dtype-preload: rank 0: nothing is {done}: ");
                assert!(line.starts_with(&(start + name)) && line.contains(why), "{line}");
                assert_eq!(line.contains("the word all"), what == "long", "{line}");
                assert_eq!(out.trim(), "0 moved");
            }
        }
        // Most messages are seen, and the report names those that are not.
        let (_, err) = library.run(&program, &["self"], "stats", &[true; 2], &[]);
        assert_eq!(err.matches("calls moved ").count(), 2, "{err}");
        let named = err.matches("  not counted: one-sided operations, ").count();
        assert_eq!(named, if library == Library::Mpich { 2 } else { 0 }, "{err}");
        // The number of bytes needs no report.
        let (out, err) = library.run(&program, &["self"], "on", &[true; 2], &[]);
        assert!(!out.contains("0 moved\n0 moved") && lines(&err).is_empty(), "{out}{err}");
    }
}

/// A program linked with an MPI library that is unknown.
struct Stub {
    program: PathBuf,
    version: Option<&'static str>,
}

fn cc(arguments: &[&OsStr]) {
    let output = Command::new("cc").args(["-Wall", "-Wextra", "-Werror"]).args(arguments).output();
    let output = output.expect("there is a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

impl Stub {
    /// The program is linked with the library, or with its object file.
    fn new(folder: &Path, is_shared: bool, version: Option<&'static str>) -> Self {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let [stub, commits] = ["stub.c", "commits.c"].map(|name| sources.join(name));
        let (library, program) = (folder.join("libmpi.so"), folder.join("program"));
        let o = OsStr::new("-o");
        if is_shared {
            cc(&["-shared".as_ref(), "-fPIC".as_ref(), stub.as_ref(), o, library.as_ref()]);
            cc(&[commits.as_ref(), library.as_ref(), o, program.as_ref()]);
        } else {
            cc(&[commits.as_ref(), stub.as_ref(), o, program.as_ref()]);
        }
        Self { program, version }
    }

    fn command(&self, mode: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("LD_PRELOAD", preload())
            .env("DTYPE_PRELOAD", mode)
            .env("PMI_RANK", "3");
        if let Some(version) = self.version {
            command.env("STUB_VERSION", version);
        }
        command
    }

    /// What the program writes to standard error.
    fn says(&self, mode: &str, arguments: &[&str]) -> String {
        let output = self.command(mode, arguments).output().unwrap();
        assert!(output.status.success(), "{}", output.status);
        String::from_utf8(output.stderr).unwrap()
    }
}

/// Checks that in these modes one line starts with the given text and ends with the reason, and that other modes print none.
fn says_why(stub: &Stub, arguments: &[&str], why: &str) {
    for (mode, done) in
        [("verify", "verified"), ("stats", "counted"), ("stats,verify,all", "verified or counted")]
    {
        let said = stub.says(mode, arguments);
        assert_eq!(said, format!("dtype-preload: rank 3: nothing is {done}: {why}\n"), "{mode}");
    }
    for mode in ["", "on", "off", "all"] {
        assert_eq!(stub.says(mode, arguments), "", "{mode}");
    }
}

#[test]
fn a_library_that_is_not_known_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (version, why) in [
        (
            Some("MPICH Version:\t3.4.2\nMPICH Device:\tch4:ucx"),
            "MPICH 3.4.2: only MPICH 4.0 and newer are known",
        ),
        (
            Some("Intel(R) MPI Library 2019.9 for Linux* OS\n"),
            "Intel MPI 2019.9: only 2021 and newer are known",
        ),
        (
            Some("Another MPI 1.0\n"),
            "Another MPI 1.0: only Open MPI, MPICH, Intel MPI, MVAPICH and Cray's are known",
        ),
        (Some("MPICH Version:\t4.0.2"), "MPICH 4.0.2: it lacks functions of MPI 4.0"),
        (None, "it does not say its version"),
    ] {
        let stub = Stub::new(folder.path(), true, version);
        says_why(&stub, &[], &format!("everything is left to the MPI library: {why}"));
    }
}

#[test]
fn a_program_that_does_not_call_is_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let stub = Stub::new(folder.path(), true, Some("MPICH Version:\t4.0.2"));
    says_why(
        &stub,
        &["nothing"],
        "the program has used no derived datatype, or its MPI library is not known",
    );
    let stub = Stub::new(folder.path(), false, None);
    says_why(&stub, &[], "the program is linked with its MPI library statically");
    for arguments in [&[] as &[_], &["nothing"]] {
        let stub = Stub::new(folder.path(), true, Some("MPICH Version:\t4.0.2"));
        let said = stub.says("stats,verfy", arguments);
        assert!(
            said.contains("DTYPE_PRELOAD has the word \"verfy\"") && said.lines().count() == 1,
            "{said}"
        );
    }
}

#[test]
fn a_closed_pipe_ends_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let stub = Stub::new(folder.path(), true, None);
    for mode in ["stats", "verfy"] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut command = stub.command(mode, &[]);
        let status = command.stderr(writer).status().unwrap();
        assert!(status.success(), "{mode}: {status}");
    }
}

/// A program without MPI is, for example, a shell between the launcher and the real program.
#[test]
fn a_program_without_mpi_says_nothing() {
    let stub = Stub { program: "/bin/sh".into(), version: None };
    for mode in ["verify", "stats", "off,verify", "verfy"] {
        assert_eq!(stub.says(mode, &["-c", "exit 0"]), "", "{mode}");
    }
}
