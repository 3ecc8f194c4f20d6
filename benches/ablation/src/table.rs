//! The printed table.

use dtype_ablation_engine::{Class, Work};
use dtype_benches::figures::geometric_mean;

use crate::measure::{Line, Row};

/// The columns of single kinds of work. The mean of all follows them.
const COLUMNS: [Work; 6] = Work::IN_PLACE;

/// The names of the columns.
pub(crate) fn head() -> String {
    let names = COLUMNS.map(|work| format!("{:>13}", work.name())).concat();
    format!("{:24}{names}{:>13}", "mean (worst)", "all")
}

/// A line of the table: the geometric mean and the worst ratio of each kind of work.
pub(crate) fn line(line: Line, rows: &[Row]) -> String {
    let cell = |wanted: &dyn Fn(&Row) -> bool| {
        let ratios = || rows.iter().filter(|row| wanted(row)).map(|row| row.ratio);
        let worst = ratios().fold(0.0, f64::max);
        let mean = geometric_mean(ratios());
        let text = mean.map_or("-".into(), |mean| format!("{mean:.2} ({worst:.2})"));
        format!("{text:>13}")
    };
    let cells = COLUMNS.map(|column| cell(&|row| row.work.name() == column.name())).concat();
    format!("{:24}{cells}{}", line.name(), cell(&|_| true))
}

/// A class's mean over all ratios, and its worst row; `None` if nothing of the class was measured.
pub(crate) fn class(class: Class, rows: &[Row]) -> Option<String> {
    let rows = || rows.iter().filter(|row| row.line.class == class);
    let mean = geometric_mean(rows().map(|row| row.ratio))?;
    let worst = rows().max_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
    let Row { line, work, of, ratio } = worst;
    Some(format!(
        "{:16}{mean:.3}, worst {ratio:.2}: {}, {}: {of}",
        class.name(),
        line.name(),
        work.name(),
    ))
}
