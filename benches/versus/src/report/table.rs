//! The figures for people.

use std::fmt::Write as _;

use dtype_benches::figures::duration;
use dtype_benches::machine::Machine;

use crate::bench::who;
use crate::external::NATIVE;
use crate::streaming::WHOLE;

use super::means::Mean;
use super::row::{Group, Outcome, Row};
use super::targets::Target;

/// The whole report as text.
pub(crate) fn text(machine: &Machine, rows: &[Row], means: &[Mean], targets: &[Target]) -> String {
    let mut text = String::new();
    for line in machine.lines() {
        let _ = writeln!(text, "{line}");
    }
    let mut groups: Vec<Group> = rows.iter().map(|row| row.group).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.group == group).collect();
        section(&mut text, group, &rows);
    }
    geometric_means(&mut text, means);
    verdicts(&mut text, targets);
    text
}

/// The column whose time is given; the others are ratios.
fn reference(group: Group) -> &'static str {
    match group {
        Group::Segments | Group::Pieces => WHOLE,
        Group::External => NATIVE,
        _ => who::DTYPE,
    }
}

fn section(text: &mut String, group: Group, rows: &[&Row]) {
    let reference = reference(group);
    let mut names: Vec<&str> = Vec::new();
    for column in rows.iter().flat_map(|row| &row.columns) {
        if column.name != reference && !names.contains(&&*column.name) {
            names.push(&column.name);
        }
    }
    // Rows that compare this engine with itself show how much longer the other contestants take.
    let above = matches!(group, Group::Segments | Group::Pieces | Group::External);
    let explanation = match (names.is_empty(), above) {
        (true, _) => format!("time of {reference}"),
        (false, true) => format!("time of {reference}, and the others' time over it"),
        (false, false) => format!("time of {reference}, and that time over the others'"),
    };
    let _ = writeln!(text, "\n{}: {explanation}", group.title());
    let width = rows.iter().map(|row| row.name().chars().count()).max().unwrap_or(0);
    let _ = write!(text, "{:width$} {:>9} {:>9}", "", "bytes", reference);
    for name in &names {
        let _ = write!(text, " {name:>w$}", w = cell(name));
    }
    let _ = writeln!(text);
    for row in rows {
        let time = row.median(reference).map_or_else(|| "-".into(), duration);
        let _ = write!(text, "{:width$} {:>9} {time:>9}", row.name(), row.bytes);
        for name in &names {
            let ratio = if above { row.ratio(name, reference) } else { row.ratio(reference, name) };
            let found = ratio.map_or_else(|| absence(row, name), |ratio| format!("{ratio:.3}"));
            let _ = write!(text, " {found:>w$}", w = cell(name));
        }
        let _ = writeln!(text);
    }
}

/// The width of a column.
fn cell(name: &str) -> usize {
    name.chars().count().max(8)
}

/// The reason why a figure is missing, in one word.
fn absence(row: &Row, name: &str) -> String {
    match row.columns.iter().find(|column| column.name == name).map(|column| &column.outcome) {
        Some(Outcome::Missing(why)) => why.split(':').next().unwrap_or_default().into(),
        _ => "-".into(),
    }
}

fn geometric_means(text: &mut String, means: &[Mean]) {
    if means.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nGeometric means of this engine's time over the others'");
    let mut before = None;
    for mean in means {
        let kind = (&mean.rows, mean.who);
        if before != Some(kind) {
            if before.is_some() {
                let _ = writeln!(text);
            }
            let who = if mean.who == who::DTYPE { "" } else { " (type made at run time)" };
            let _ = write!(text, "{:<55}", format!("{}{who}", mean.rows));
            before = Some(kind);
        }
        let _ = write!(text, " {} {:.3}", mean.with, mean.ratio);
    }
    let _ = writeln!(text);
}

fn verdicts(text: &mut String, targets: &[Target]) {
    let _ = writeln!(text, "\nTargets: this engine's time over that of");
    for target in targets {
        let _ = write!(text, "{:<75} {:>5} ", target.what, target.limit);
        let _ = match (&target.found, target.is_met()) {
            (Some(found), Some(met)) => {
                let verdict = if met { "met    " } else { "not met" };
                writeln!(
                    text,
                    "{:>7.3} {verdict} mean {:.3}, worst {:.3} ({}), {} of {} rows above",
                    found.ratio, found.mean, found.worst, found.worst_row, found.above, found.rows
                )
            }
            _ => writeln!(text, "      - not measured"),
        };
    }
}
