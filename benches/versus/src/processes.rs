//! The run in several processes, one after another.
//!
//! Where a process's stack, heap and code lie, and which pages of memory it gets, changes some times by half, and stays the
//! same as long as the process lives. So even many rounds in one process may give an unusual time. Memory lies elsewhere in
//! each process, and the rounds of all processes count alike.

use std::env;
use std::iter;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use dtype_benches::machine::Machine;
use serde::{Deserialize, Serialize};

use crate::arguments::Arguments;
use crate::report::row::{Outcome, Row};

/// The results of one process, or of all together.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) machine: Machine,
    pub(crate) rows: Vec<Row>,
}

/// Runs this program once for each process.
pub(crate) fn run(arguments: &Arguments) -> Result<Run> {
    let number = arguments.processes();
    let mut all: Option<Run> = None;
    for process in 1..=number {
        eprintln!("process {process} of {number}");
        let one = one(arguments).with_context(|| format!("process {process}"))?;
        match &mut all {
            Some(all) => all.append(one)?,
            None => all = Some(one),
        }
    }
    all.context("no process")
}

fn one(arguments: &Arguments) -> Result<Run> {
    let program = env::current_exe().context("the program's own file")?;
    let output = Command::new(&program)
        .args(arguments.of_one_process())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| program.display().to_string())?;
    ensure!(output.status.success(), "{}", output.status);
    serde_json::from_slice(&output.stdout).context("its output")
}

impl Run {
    /// Appends the rounds of another process to those of the same rows.
    fn append(&mut self, other: Self) -> Result<()> {
        ensure!(
            self.rows.len() == other.rows.len(),
            "{} rows instead of {}",
            other.rows.len(),
            self.rows.len()
        );
        for (row, other) in iter::zip(&mut self.rows, other.rows) {
            let row_name = row.name();
            ensure!(row_name == other.name(), "{} instead of {row_name}", other.name());
            for (column, other) in iter::zip(&mut row.columns, other.columns) {
                match (&mut column.outcome, other.outcome) {
                    (Outcome::Times(all), Outcome::Times(more)) => all.extend(more),
                    (Outcome::Missing(_), Outcome::Missing(_)) => {}
                    // A ratio compares two times of one round, so both must have the same processes.
                    _ => bail!("{row_name}: only some processes measured {}", column.name),
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::report::row::{Column, Group};

    use super::*;

    fn measured(family: &str, times: &[f64]) -> Run {
        let column = |name: &'static str, outcome| Column { name: name.into(), outcome };
        let row = Row {
            group: Group::Structs,
            family: family.into(),
            parameters: "× 1".into(),
            work: "pack".into(),
            bytes: 1,
            columns: vec![
                column("a", Outcome::Times(times.to_vec())),
                column("b", Outcome::Missing("missing".into())),
            ],
        };
        Run { machine: Machine::here(Vec::new()), rows: vec![row] }
    }

    #[test]
    fn rounds_of_all_processes_count() {
        let mut all = measured("f", &[1.0, 2.0]);
        let text = serde_json::to_vec(&measured("f", &[3.0])).unwrap();
        all.append(serde_json::from_slice(&text).unwrap()).unwrap();
        assert_eq!(all.rows[0].columns[0].times(), Some(&[1.0, 2.0, 3.0][..]));
        assert_eq!(all.rows[0].columns[1].times(), None);
    }

    #[test]
    fn rows_that_only_some_processes_measured_are_refused() {
        let mut missing = measured("f", &[]);
        missing.rows[0].columns[0].outcome = Outcome::Missing("missing".into());
        assert!(measured("f", &[1.0]).append(missing).is_err());
    }

    #[test]
    fn rows_of_other_work_are_refused() {
        assert!(measured("f", &[1.0]).append(measured("g", &[1.0])).is_err());
        let none = Run { rows: Vec::new(), ..measured("f", &[1.0]) };
        assert!(measured("f", &[1.0]).append(none).is_err());
    }
}
