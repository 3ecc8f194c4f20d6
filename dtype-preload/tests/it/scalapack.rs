//! The test programs of `ScaLAPACK`, as Debian packages them for both libraries (`scalapack-mpi-test`). With every fragment
//! compared, they print the same.
//!
//! `DTYPE_PRELOAD_SCALAPACK` names some of them, separated by commas.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use dtype_test_support::mpi_library::Library;

/// MPICH's ranks spin while they are idle, so on two cores more ranks would mostly delay one another.
fn ranks(library: Library) -> usize {
    match library {
        Library::OpenMpi => 4,
        Library::Mpich => 2,
    }
}

/// The exit status of `timeout`.
const TIMED_OUT: Option<i32> = Some(124);

const DATA: &str = "/usr/share/scalapack";

/// The programs for a library: those that do not measure time.
fn programs(library: Library) -> Vec<PathBuf> {
    let folder = format!("/usr/lib/x86_64-linux-gnu/scalapack/{}-tests", library.name());
    let folder = Path::new(&folder);
    let wanted = env::var("DTYPE_PRELOAD_SCALAPACK").ok();
    let mut programs = Vec::new();
    for folder in [folder.to_owned(), folder.join("PBLAS")] {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| {
            panic!("{}: {error}; it is in scalapack-mpi-test", folder.display())
        });
        programs.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let listed =
                wanted.as_ref().is_none_or(|wanted| wanted.split(',').any(|one| one == name));
            listed && path.is_file() && path.extension().is_none()
        }));
    }
    programs.sort();
    programs
}

/// Copies the input files of all programs, which read them from the current folder.
fn copy_input(to: &Path) {
    for folder in ["", "BLACS", "PBLAS"] {
        for entry in fs::read_dir(Path::new(DATA).join(folder))
            .expect("the input is in scalapack-test-common")
        {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
            }
        }
    }
}

/// What a program printed and wrote, without times, without the digits of residuals, which depend on the order of messages, and
/// without the test of BLACS that is skipped for one order of messages.
fn result_of(printed: &str, folder: &Path) -> String {
    let mut text = printed.to_owned();
    let mut outputs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("out"))
        })
        .collect();
    outputs.sort();
    for path in outputs {
        text += &String::from_utf8_lossy(&fs::read(&path).unwrap());
        fs::remove_file(path).unwrap();
    }
    let is_timed = |line: &str| {
        ["WALL", "CPU ", "MFLOP", "ime", "REPEATABLE"].iter().any(|word| line.contains(word))
    };
    let words = |line: &str| {
        let exact = line
            .split_whitespace()
            .filter(|word| !(word.contains('.') && word.contains(|c: char| c.is_ascii_digit())));
        exact.collect::<Vec<_>>().join(" ")
    };
    let mut lines: Vec<_> = text.lines().filter(|line| !is_timed(line)).map(words).collect();
    // The lines of several ranks come in any order.
    lines.sort();
    lines.join("\n")
}

/// Whether a program reports failed tests, as the one for eigenvalues sometimes does.
fn reports_failures(text: &str) -> bool {
    let failed = |line: &str| line.strip_suffix("tests completed and failed.")?.trim().parse().ok();
    text.lines().filter_map(failed).any(|tests: u64| tests > 0)
}

/// The lines that only one of two outputs has.
fn differences(plain: &str, compared: &str) -> String {
    let [plain, compared] = [plain, compared].map(|text| text.lines().collect::<BTreeSet<_>>());
    let alone = plain.difference(&compared).map(|line| format!("without: {line}\n"));
    alone.chain(compared.difference(&plain).map(|line| format!("with:    {line}\n"))).collect()
}

#[test]
#[ignore = "needs Debian's scalapack-mpi-test"]
fn programs_print_the_same() {
    for library in Library::all() {
        let programs = programs(library);
        assert!(!programs.is_empty(), "no program has a name of DTYPE_PRELOAD_SCALAPACK");
        let (mut calls, mut used, mut failed) = (0, 0, Vec::new());
        for program in &programs {
            let folder = tempfile::tempdir().unwrap();
            copy_input(folder.path());
            let run = |mode, hooked, seconds| {
                let output = library.start_in(
                    folder.path(),
                    seconds,
                    program,
                    &[],
                    mode,
                    &vec![hooked; ranks(library)],
                    &[],
                );
                let [out, err] =
                    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
                (output.status.code(), result_of(&out, folder.path()), err.into_owned())
            };
            let (code, plain, _) = run("off", false, 60);
            if code == TIMED_OUT || reports_failures(&plain) {
                println!("{:<60} does not pass without the library", program.display());
                continue;
            }
            // The programs of BLACS end with an error on purpose.
            let (other, compared, report) = run("verify,stats,all", true, 300);
            let differences = differences(&plain, &compared);
            if code != other || !differences.is_empty() {
                eprintln!("{}, differs:\n{differences}{report}", program.display());
                failed.push(program.clone());
            }
            let found: u64 = report
                .lines()
                .filter_map(|line| {
                    line.split_once(" calls moved")?.0.rsplit(' ').next()?.parse::<u64>().ok()
                })
                .sum();
            println!("{:<60}{found:>10} calls", program.display());
            calls += found;
            used += u64::from(found > 0);
        }
        println!(
            "{}: {} programs, {used} of them with {calls} calls compared",
            library.name(),
            programs.len()
        );
        assert!(failed.is_empty(), "{failed:?}");
        assert!(calls > 0, "{library:?}: nothing was compared");
    }
}
