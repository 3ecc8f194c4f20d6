//! The same work, side by side in one run: this engine, typed and dynamic; loops written by hand; Open MPI and
//! MPICH, the newest releases and the system's, each in a process of its own; the `mpi` crate on them; Rust's serializers;
//! and memcpy.
//!
//! `cargo run --release -p dtype-versus`
//!
//! Times on one machine say little about another machine, and on a shared machine they say little about the next minute. So all
//! contestants run alternately, in short rounds, in several processes. A figure is the ratio of two times of one round, and the
//! median over all rounds. Before anything is timed, the program checks that all contestants give the same packed bytes and the
//! same unpacked memory.

#![forbid(unsafe_code)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "what is measured here fits into memory"
)]

mod arguments;
mod bench;
mod checked;
mod classes;
mod creation;
mod ddtbench;
mod external;
mod library;
mod messages;
mod parallel;
mod processes;
mod report;
mod slices;
mod streaming;
mod structs;
mod wire;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use dtype_benches::machine::Machine;

use arguments::Arguments;
use bench::{Bench, who};
use library::Library;
use processes::Run;
use report::row::Row;
use report::{chart, json, means, table, targets};

type Measure = fn(&mut Bench) -> Result<()>;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let (Some(figures), Some(svg)) = (&arguments.redraw, &arguments.svg) {
        return redraw(figures, svg);
    }
    if cfg!(debug_assertions) {
        eprintln!("this was compiled without optimization, and measures that: use --release");
    }
    let Run { machine, rows } =
        if arguments.processes() > 1 { processes::run(&arguments)? } else { measure(&arguments)? };
    if arguments.all_times {
        println!("{}", serde_json::to_string(&Run { machine, rows })?);
        return Ok(());
    }
    let (means, targets) = (means::all(&rows), targets::all(&rows));
    print!("{}", table::text(&machine, &rows, &means, &targets));
    if let Some(path) = arguments.json {
        let text = json::text(&machine, &rows, &means, &targets);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    if let Some(path) = arguments.svg {
        draw(&path, &machine.lines(), &rows)?;
    }
    Ok(())
}

/// Measures everything in this process.
fn measure(arguments: &Arguments) -> Result<Run> {
    let libraries = Library::all(arguments)?;
    let yaksa = Library::yaksa(who::YAKSA)?;
    let machine = Machine::here(libraries.iter().map(Library::description).collect());
    let mut bench = Bench::new(arguments, libraries, yaksa);
    let groups: [(&str, Measure); 10] = [
        ("structs", structs::measure),
        ("messages", messages::measure),
        ("values to check", checked::measure),
        ("DDTBench", ddtbench::measure),
        ("classes", classes::measure),
        ("slices in segments", slices::measure),
        ("layouts in segments", streaming::measure),
        ("external32", external::measure),
        ("creation", creation::measure),
        ("all cores", parallel::measure),
    ];
    for (name, measure) in groups {
        eprintln!("measuring {name}");
        measure(&mut bench)?;
    }
    Ok(Run { machine, rows: bench.rows })
}

fn draw(path: &Path, machine: &[String], rows: &[Row]) -> Result<()> {
    chart::draw(path, machine, rows).map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// Draws the chart of an earlier run.
fn redraw(figures: &Path, svg: &Path) -> Result<()> {
    let read = || json::read(&fs::read_to_string(figures)?);
    let (machine, rows) = read().with_context(|| figures.display().to_string())?;
    draw(svg, &machine, &rows)
}
