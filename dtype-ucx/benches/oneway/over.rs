//! The same messages over an MPI library's, which sends them with its own datatypes through UCX: this program, as two processes,
//! and a C program, as two ranks, run in turns, and a time is the fastest of all turns. `dtype-preload/benches/exchange.c` is
//! that program: the rows that both have are those with the same layout and the same number of bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use dtype_benches::figures::{duration, geometric_mean};

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    #[value(name = "openmpi")]
    OpenMpi,
    Mpich,
}

/// A layout, and its packed bytes.
type Row = (String, u64);
/// Nanoseconds.
type Times = BTreeMap<Row, f64>;

/// Turns of a run, and seconds for each row of the C program in a turn; and if only whether it works is of interest.
const TURNS: (usize, &str) = (5, "0.03");
const QUICK: (usize, &str) = (1, "0.0001");

/// As in Open MPI's documentation: its UCX may use any transport, a waiting rank keeps its core, and the ranks are not bound, as
/// under MPICH.
const OPEN_MPI: [(&str, &str); 8] = [
    ("OMPI_MCA_pml", "ucx"),
    ("OMPI_MCA_opal_common_ucx_tls", "any"),
    ("OMPI_MCA_opal_common_ucx_devices", "any"),
    ("OMPI_MCA_mpi_yield_when_idle", "0"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
];

impl Library {
    fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
        }
    }

    /// A command with the suffix that Debian gives it.
    fn command(self, name: &str) -> Command {
        Command::new(format!("{name}.{}", self.name()))
    }

    fn compile(self, folder: &Path) -> Result<PathBuf> {
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../dtype-preload/benches/exchange.c");
        let executable = folder.join(self.name());
        let mut compiler = self.command("mpicc");
        compiler.args(["-std=gnu11", "-O1"]).arg(&source).arg("-o").arg(&executable).arg("-lm");
        let output = compiler.output().with_context(|| format!("{compiler:?}"))?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(executable)
    }

    /// One turn.
    fn measure(self, program: &Path, seconds: &str) -> Result<Times> {
        let mut command = self.command("mpirun");
        command.args(["-n", "2"]).arg(program).arg(seconds);
        if env::var_os("UCX_TLS").is_none() {
            command.env("UCX_TLS", "self,sm");
        }
        let lines = output(command.envs(OPEN_MPI))?;
        // Operation, bytes, nanoseconds, name.
        let row = |line: &str| {
            let mut words = line.split(' ');
            let (operation, bytes, time) = (words.next()?, words.next()?, words.next()?);
            let layout = words.next()?.to_owned();
            (operation == "send").then_some(())?;
            Some(((layout, bytes.parse().ok()?), time.parse().ok()?))
        };
        let times: Times = lines.lines().filter_map(row).collect();
        ensure!(!times.is_empty(), "no times in what {} printed:\n{lines}", self.name());
        Ok(times)
    }
}

/// What a program that must succeed prints.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let [out, err] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    ensure!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    Ok(out)
}

/// One turn of this program.
fn own_times(quick: bool) -> Result<Times> {
    let mut command = Command::new(env::current_exe()?);
    if env::var_os("UCX_TLS").is_none() {
        command.env("UCX_TLS", "self,sm");
    }
    if quick {
        command.arg("--quick");
    }
    let lines = output(command.arg("--lines"))?;
    let row = |line: &str| {
        let mut parts = line.split('\t');
        let (name, bytes, time) = (parts.next()?, parts.next()?, parts.next()?);
        Some(((layout(name), bytes.parse().ok()?), time.parse().ok()?))
    };
    Ok(lines.lines().filter_map(row).collect())
}

/// What the C program calls the layout of a row.
fn layout(name: &str) -> String {
    match name.strip_prefix("NAS_MG ") {
        Some(face) => format!("NAS_MG_{}", face.split(' ').next().unwrap_or_default()),
        // A value of 8 bytes, whatever it is.
        None => name.split(' ').next().unwrap_or_default().replace("{u8,u64}", "{u8,f64}"),
    }
}

/// The rows of one kind have one mean.
fn kind(layout: &str) -> &'static str {
    if layout.starts_with('{') {
        "structs"
    } else if layout.starts_with("NAS_MG") {
        "faces of NAS_MG"
    } else if layout.starts_with("FFT2") {
        "FFT2"
    } else {
        "other layouts of DDTBench"
    }
}

fn keep_fastest(fastest: &mut Times, times: Times) {
    for (row, time) in times {
        let fastest = fastest.entry(row).or_insert(time);
        *fastest = fastest.min(time);
    }
}

pub(super) fn run(libraries: &[Library], quick: bool) -> Result<()> {
    let folder = env::temp_dir().join(format!("dtype-ucx-over-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = run_in(&folder, libraries, quick);
    std::fs::remove_dir_all(&folder)?;
    result
}

fn run_in(folder: &Path, libraries: &[Library], quick: bool) -> Result<()> {
    let programs: Vec<_> =
        libraries.iter().map(|library| library.compile(folder)).collect::<Result<_>>()?;
    let load = || std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let before = load();
    let (mut ours, mut theirs) = (Times::new(), vec![Times::new(); libraries.len()]);
    let (turns, seconds) = if quick { QUICK } else { TURNS };
    for _ in 0..turns {
        keep_fastest(&mut ours, own_times(quick)?);
        for ((library, program), times) in libraries.iter().zip(&programs).zip(&mut theirs) {
            keep_fastest(times, library.measure(program, seconds)?);
        }
    }
    if quick {
        // A time of two messages says nothing.
        let common = |times: &&Times| ours.keys().any(|row| times.contains_key(row));
        ensure!(
            theirs.iter().filter(common).count() == libraries.len(),
            "no row is in both programs"
        );
        println!("{} rows: measured", ours.len());
        return Ok(());
    }
    println!("load average when started: {}, at the end: {}", before.trim(), load().trim());
    println!(
        "one-way times through UCX, the fastest of {turns} turns; the ratio is that of dtype to the library"
    );
    print!("{:<20} {:>9}  {:>9}", "", "bytes", "dtype");
    for library in libraries {
        print!("  {:>9}  ratio", library.name());
    }
    println!();
    let mut means = BTreeMap::<(&str, usize), Vec<f64>>::new();
    for (row @ (layout, bytes), &own) in &ours {
        if theirs.iter().all(|times| !times.contains_key(row)) {
            continue;
        }
        print!("{layout:<20} {bytes:>9}  {:>9}", duration(own));
        for (number, times) in theirs.iter().enumerate() {
            match times.get(row) {
                Some(&time) => {
                    means.entry((kind(layout), number)).or_default().push(own / time);
                    print!("  {:>9}  {:>5.2}", duration(time), own / time);
                }
                None => print!("  {:>9}  {:>5}", "", ""),
            }
        }
        println!();
    }
    ensure!(!means.is_empty(), "no row of this program is one of the MPI program");
    println!();
    let kinds: BTreeSet<&str> = means.keys().map(|&(kind, _)| kind).collect();
    for kind in kinds {
        print!("{:<42}", format!("{kind} (geometric mean)"));
        for number in 0..libraries.len() {
            let ratios = means.get(&(kind, number)).cloned().unwrap_or_default();
            let mean = geometric_mean(ratios).map_or(String::new(), |mean| format!("{mean:.2}"));
            print!("{mean:>16}");
        }
        println!();
    }
    Ok(())
}
