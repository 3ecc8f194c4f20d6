//! The figures for programs.

use anyhow::{Context, Result};
use dtype_benches::figures::{median, round};
use dtype_benches::machine::Machine;
use serde_json::{Map, Value, json};

use crate::bench::who;

use super::means::Mean;
use super::row::{Column, Group, Outcome, Row};
use super::targets::Target;

/// The machine, the rows and the means as JSON, with a line for each row.
pub(crate) fn text(machine: &Machine, rows: &[Row], means: &[Mean], targets: &[Target]) -> String {
    let mut parts = Vec::new();
    if let Value::Object(members) = value(machine, rows, means, targets) {
        for (name, member) in members {
            let text = match member {
                Value::Array(lines) => {
                    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
                    format!("[\n{}\n]", lines.join(",\n"))
                }
                other => other.to_string(),
            };
            parts.push(format!("{}: {text}", Value::String(name)));
        }
    }
    format!("{{\n{}\n}}\n", parts.join(",\n"))
}

fn value(machine: &Machine, rows: &[Row], means: &[Mean], targets: &[Target]) -> Value {
    json!({
        "machine": machine,
        "unit": "nanoseconds for one call: the median, the least and the most of all rounds",
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "geometric_means": means
            .iter()
            .map(|mean| json!({
                "rows": mean.rows, "who": mean.who, "with": mean.with, "ratio": round(mean.ratio),
            }))
            .collect::<Vec<_>>(),
        "targets": targets
            .iter()
            .map(|target| json!({
                "what": target.what,
                "limit": target.limit,
                "ratio": target.found.as_ref().map(|found| round(found.ratio)),
                "worst_row": target.found.as_ref().map(|found| &found.worst_row),
                "met": target.is_met(),
            }))
            .collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    let columns: Map<String, Value> = row
        .columns
        .iter()
        .map(|column| {
            let value = match &column.outcome {
                Outcome::Missing(why) => json!({ "missing": why }),
                Outcome::Times(times) => json!({
                    "median": round(median(times.clone())),
                    "least": times.iter().copied().reduce(f64::min).map(round),
                    "most": times.iter().copied().reduce(f64::max).map(round),
                    "rounds": times.len(),
                }),
            };
            (column.name.clone().into_owned(), value)
        })
        .collect();
    json!({
        "group": row.group.key(),
        "family": row.family,
        "parameters": row.parameters,
        "work": row.work,
        "bytes": row.bytes,
        "times": columns,
    })
}

/// The machine and the rows of an earlier run, with what the chart needs: only the median of each contestant's times.
pub(crate) fn read(text: &str) -> Result<(Vec<String>, Vec<Row>)> {
    let all: Value = serde_json::from_str(text)?;
    let machine = serde_json::from_value::<Machine>(all["machine"].clone())?.lines();
    let rows = all["rows"].as_array().context("no rows")?;
    let rows = rows.iter().filter_map(|row| charted(row).transpose()).collect::<Result<_>>()?;
    Ok((machine, rows))
}

/// The row, if its group is in the chart.
fn charted(row: &Value) -> Result<Option<Row>> {
    let text = |member: &str| row[member].as_str().with_context(|| format!("no {member}: {row}"));
    let key = text("group")?;
    let groups = [Group::Structs, Group::Ddtbench, Group::Creation];
    let Some(group) = groups.into_iter().find(|group| group.key() == key) else {
        return Ok(None);
    };
    let columns = [who::DTYPE, who::LOOP, who::OPEN_MPI, who::MPICH].into_iter();
    let columns = columns.filter_map(|name| {
        let median = row["times"][name]["median"].as_f64()?;
        Some(Column { name: name.into(), outcome: Outcome::Times(vec![median]) })
    });
    Ok(Some(Row {
        group,
        family: text("family")?.to_owned(),
        parameters: text("parameters")?.to_owned(),
        work: text("work")?.to_owned().into(),
        bytes: row["bytes"].as_u64().context("no bytes")?,
        columns: columns.collect(),
    }))
}
