//! Unmodified programs with and without the library, in alternation: one-way times, `MPI_Pack` and `MPI_Unpack`.
//!
//! `cargo bench -p dtype-preload --bench below -- openmpi > benches/results/preload-openmpi.txt`
//!
//! Arguments: the MPI library (`openmpi` or `mpich`), the rounds, and the seconds for each row of a round. A time is the
//! fastest of all rounds. `exchange.c` compares what arrives before it measures.

#[allow(dead_code, reason = "this uses a part")]
#[path = "../tests/launch/mod.rs"]
mod launch;

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::process::Command;

use dtype_benches::machine::Machine;
use launch::Library;

/// Rows in the order of the program: operation, name, bytes, nanoseconds.
type Rows = Vec<(String, String, u64, f64)>;

/// For Open MPI: a waiting rank does not yield its core, and the ranks are not bound to cores, as under MPICH.
const VARIABLES: [(&str, &str); 2] =
    [("OMPI_MCA_mpi_yield_when_idle", "0"), ("OMPI_MCA_hwloc_base_binding_policy", "none")];

fn measure(library: Library, program: &Path, seconds: &str, hooked: bool) -> Rows {
    let (out, _) = library.run(program, &[seconds], "on", &[hooked; 2], &VARIABLES);
    let row = |line: &str| {
        let mut words = line.splitn(4, ' ');
        let mut next = || words.next().unwrap_or_else(|| panic!("{line}"));
        let (operation, bytes, time, name) = (next(), next(), next(), next());
        (operation.to_owned(), name.to_owned(), bytes.parse().unwrap(), time.parse().unwrap())
    };
    out.lines().map(row).collect()
}

/// Keeps the faster time of each row.
fn merge(best: &mut Rows, more: Rows) {
    if best.is_empty() {
        *best = more;
        return;
    }
    for (row, other) in best.iter_mut().zip(more) {
        assert_eq!((&row.0, &row.1), (&other.0, &other.1), "the same rows each time");
        row.3 = row.3.min(other.3);
    }
}

/// The group of a row, for the means.
fn group(name: &str) -> &'static str {
    match name {
        _ if name.starts_with("transpose") => "transposes",
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
    let rounds: usize = argument(1, "5").parse().expect("a number of rounds");
    let seconds = argument(2, "0.02");

    let folder = tempfile::tempdir().expect("a folder for the program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/exchange.c");
    let program = library.compile_at(&source, folder.path());
    let (mut without, mut with) = (Rows::new(), Rows::new());
    for _ in 0..rounds {
        merge(&mut without, measure(library, &program, &seconds, false));
        merge(&mut with, measure(library, &program, &seconds, true));
    }

    let version = Command::new(format!("mpirun.{name}")).arg("--version").output().expect("mpirun");
    let version = String::from_utf8_lossy(&version.stdout);
    let mut words = version.lines().take(2).collect::<Vec<_>>().join(" ");
    words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    println!("{}", Machine::here(vec![words]).lines().join("\n"));
    println!(
        "Two ranks in shared memory: times without and with dtype-preload, the fastest of {rounds} rounds, and their ratio\n"
    );
    println!("{:<8}{:<36}{:>10}{:>12}{:>12}{:>8}", "", "", "bytes", "without", "with", "ratio");
    let mut means: BTreeMap<(String, &str), (f64, f64)> = BTreeMap::new();
    for (row, other) in without.iter().zip(&with) {
        let (operation, name, bytes, before) = row;
        let ratio = other.3 / before;
        let (before, after) = (time(*before), time(other.3));
        println!("{operation:<8}{name:<36}{bytes:>10}{before:>12}{after:>12}{ratio:>8.3}");
        let mean = means.entry((operation.clone(), group(name))).or_default();
        *mean = (mean.0 + ratio.ln(), mean.1 + 1.0);
    }
    println!("\nGeometric means of the ratios");
    for ((operation, group), (sum, number)) in means {
        println!("{operation:<8}{group:<36}{:.3}", (sum / number).exp());
    }
}
