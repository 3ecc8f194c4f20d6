//! Unmodified programs with and without the library, in alternation: one-way times, `MPI_Pack` and `MPI_Unpack`.
//!
//! `cargo bench -p dtype-preload --bench below -- openmpi > benches/results/preload-openmpi.txt`
//!
//! `DTYPE_PRELOAD_MPICH=$(.ci/newest-mpi impi)/bin cargo bench -p dtype-preload --bench below -- mpich`
//!
//! Arguments: the MPI library (`openmpi` or `mpich`; a variable leads to another one with its ABI), the rounds, the seconds for each row of a round, and a part of the names
//! of the rows. A time is the fastest of all rounds. In each round the program also runs with the library loaded and switched
//! off: what differs there comes from where the buffers of a process happen to lie, which decides about up to half of the time
//! of a large message. The programs compare what arrives before they measure.

#[allow(dead_code, reason = "this uses a part")]
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use dtype_benches::machine::Machine;
use dtype_test_support::mpi_library::Library;

/// A row of the program: operation, name and packed bytes.
type Row = (String, String, u64);

/// The nanoseconds of the rows of a round.
type Round = Vec<f64>;

/// For Open MPI: a waiting rank does not yield its core, and the ranks are not bound to cores, as under MPICH. Bytes without
/// gaps take the way of all others, through shared memory, and are not read from the other process.
const VARIABLES: [(&str, &str); 3] = [
    ("OMPI_MCA_mpi_yield_when_idle", "0"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
];

/// The operation of the row that has the library's version as its name.
const VERSION: &str = "version";

/// The operation of the rows that send packed bytes as they are.
const TRANSPORT: &str = "bytes";

/// The operation of the rows in which the program packs by a loop, sends bytes and unpacks by a loop.
const LOOP: &str = "loop";

/// The ways to run the program: whether the library is loaded, and what `DTYPE_PRELOAD` says.
const WAYS: [(bool, &str); 3] = [(false, "on"), (true, "on"), (true, "off")];

/// A program, and its first arguments.
type Program = (PathBuf, Vec<String>);

/// The programs for a library. Debian's mpi4py is made for Open MPI.
fn programs(library: Library, folder: &Path) -> Vec<Program> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches");
    let executable = library.compile_at(&sources.join("exchange.c"), folder);
    let mut programs = vec![(executable, Vec::new())];
    let python = PathBuf::from("/usr/bin/python3");
    let has_mpi4py = || {
        let status = Command::new(&python).args(["-c", "import mpi4py, numpy"]).status();
        status.is_ok_and(|status| status.success())
    };
    if library == Library::OpenMpi && has_mpi4py() {
        let script = sources.join("exchange.py").display().to_string();
        programs.push((python, vec![script]));
    }
    programs
}

/// The rows, their times, and whether dtype-preload moved their bytes, as far as it counts them. The arguments are the seconds
/// for each row, and a part of the names.
fn measure(
    library: Library,
    programs: &[Program],
    arguments: [&str; 2],
    (hooked, mode): (bool, &str),
) -> (Vec<Row>, Round, Vec<bool>) {
    let mut out = String::new();
    for (program, first) in programs {
        let arguments: Vec<_> = first.iter().map(String::as_str).chain(arguments).collect();
        out += &library.run(program, &arguments, mode, &[hooked; 2], &VARIABLES).0;
    }
    let row = |line: &str| {
        let mut words = line.splitn(5, ' ');
        let mut next = || words.next().unwrap_or_else(|| panic!("{line}"));
        let (operation, bytes, time, moved, name) = (next(), next(), next(), next(), next());
        let row = (operation.to_owned(), name.to_owned(), bytes.parse().unwrap());
        (row, time.parse::<f64>().unwrap(), moved == "1")
    };
    out.lines().map(row).collect()
}

/// The group of a row, for the means.
fn group(name: &str) -> &'static str {
    match name {
        _ if name.starts_with("transpose") => "transposes",
        _ if name.ends_with("mpi4py") => "mpi4py",
        _ if !name.starts_with('{') => "DDTBench",
        _ if name.ends_with(" x 1") => "structs x 1",
        _ if name.ends_with(" x 16") => "structs x 16",
        _ => "structs x 1000 and more",
    }
}

fn time(nanoseconds: f64) -> String {
    if nanoseconds < 10_000.0 {
        format!("{nanoseconds:.0} ns")
    } else {
        format!("{:.1} µs", nanoseconds / 1e3)
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|one| !one.starts_with("--")).collect();
    let argument = |at: usize, default: &str| arguments.get(at).cloned().unwrap_or(default.into());
    let name = argument(0, "openmpi");
    let library = [Library::OpenMpi, Library::Mpich].into_iter().find(|one| one.name() == name);
    let library = library.unwrap_or_else(|| panic!("{name} is neither openmpi nor mpich"));
    let rounds: usize = argument(1, "12").parse().expect("a number of rounds");
    let (seconds, wanted) = (argument(2, "0.01"), argument(3, ""));

    let folder = tempfile::tempdir().expect("a folder for the program");
    let programs = programs(library, folder.path());
    // The engine counts what it moves at a cost, so it does that in a run that is not timed.
    let (rows, _, is_moved) = measure(library, &programs, ["0.0001", &wanted], (true, "stats"));
    let mut rounds_of: [Vec<Round>; WAYS.len()] = Default::default();
    for round in 0..rounds {
        for turn in 0..WAYS.len() {
            let way = (round + turn) % WAYS.len();
            let (found, times, _) = measure(library, &programs, [&seconds, &wanted], WAYS[way]);
            assert_eq!(rows, found, "the same rows each time");
            rounds_of[way].push(times);
        }
    }

    let version = rows.iter().find(|row| row.0 == VERSION).map(|row| row.1.clone());
    let words = version.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    println!("{}", Machine::here(vec![words]).lines().join("\n"));
    println!(
        "Two ranks in shared memory: times without and with dtype-preload, the fastest of {rounds} rounds; the ratio of \
         with to without, of loaded but off to without, of the packed bytes sent as MPI_BYTE to without (the part of the \
         time that is the transport's), and of with to a loop that packs, bytes, and a loop that unpacks; and who moves the \
         bytes with dtype-preload\n"
    );
    println!(
        "{:<8}{:<36}{:>10}{:>12}{:>12}{:>8}{:>8}{:>8}{:>8}  by",
        "", "", "bytes", "without", "with", "ratio", "off", "plain", "loop"
    );
    let (mut moved, mut slower) = (0, Vec::new());
    let mut means: BTreeMap<(&str, &str), ([f64; 2], f64)> = BTreeMap::new();
    for (at, (operation, name, bytes)) in rows.iter().enumerate() {
        if [VERSION, TRANSPORT, LOOP].contains(&&**operation) {
            continue;
        }
        let fastest = |rounds: &[Round], at: usize| {
            rounds.iter().map(|times| times[at]).fold(f64::INFINITY, f64::min)
        };
        let [without, with, off] = rounds_of.each_ref().map(|rounds| fastest(rounds, at));
        let ratios = [with / without, off / without];
        let (before, after) = (time(without), time(with));
        let beside = |other: &str| {
            let is_its = |row: &Row| operation == "send" && row.0 == other && row.1 == *name;
            rows.iter().position(is_its).map(|at| fastest(&rounds_of[0], at))
        };
        let ratio = |part: Option<f64>, of: Option<f64>| {
            part.zip(of).map_or_else(String::new, |(part, of)| format!("{:.3}", part / of))
        };
        let plain = ratio(beside(TRANSPORT), Some(without));
        let by_hand = ratio(Some(with), beside(LOOP));
        let by = if is_moved[at] { "dtype" } else { "library" };
        println!(
            "{operation:<8}{name:<36}{bytes:>10}{before:>12}{after:>12}{:>8.3}{:>8.3}{plain:>8}{by_hand:>8}  {by}",
            ratios[0], ratios[1]
        );
        moved += usize::from(is_moved[at]);
        if is_moved[at] && ratios[0] > 1.05 {
            slower.push(format!("{operation} {name} ({:.2})", ratios[0]));
        }
        let (sums, number) = means.entry((operation, group(name))).or_default();
        *number += 1.0;
        for (sum, ratio) in sums.iter_mut().zip(ratios) {
            *sum += ratio.ln();
        }
    }
    println!("\nGeometric means of the ratios, with and off");
    for ((operation, group), (sums, number)) in means {
        let [with, off] = sums.map(|sum| (sum / number).exp());
        println!("{operation:<8}{group:<36}{with:.3}{off:>8.3}");
    }
    println!("\nRows above 1.05 of the {moved} that the engine moves: {}", slower.len());
    for row in slower {
        println!("{row}");
    }
}
