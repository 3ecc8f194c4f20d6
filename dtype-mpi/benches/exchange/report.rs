//! The figures, for people and for programs.

use std::fmt::Write as _;

use dtype_benches::figures::{duration, geometric_mean, lower_decile, median, round};
use dtype_benches::machine::Machine;
use serde_json::{Map, Value, json};

use crate::halos;
use crate::rounds::{Row, who};

/// The contenders that dtype is compared with.
const OTHERS: [&str; 5] = [who::LIBRARY, who::LOOP, who::BYTES, who::POSTED, who::PIPELINE];

/// The project's targets: the rows, whose time over whose, and the greatest mean.
const TARGETS: [(&str, &str, &str, f64); 6] = [
    ("structs × 1", who::DTYPE, who::LIBRARY, 1.0),
    ("structs × 1", who::DTYPE, who::LOOP, 1.3),
    ("structs × 1", who::POSTED, who::LIBRARY, 1.0),
    ("structs × 1", who::POSTED, who::LOOP, 1.3),
    ("structs × 1000", who::DTYPE, who::LOOP, 1.0),
    (halos::GROUP, who::DTYPE, who::LIBRARY, 1.05),
];

/// The whole report, as text.
pub(crate) fn text(machine: &Machine, rows: &[Row]) -> String {
    let mut text = String::new();
    for line in machine.lines() {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(
        text,
        "\nOne message between two ranks, in shared memory: time of {}, the lower decile of all rounds, and that time\n\
         over the others'",
        who::DTYPE
    );
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let _ = write!(text, "{:width$} {:>9} {:>9}", "", "bytes", who::DTYPE);
    for other in OTHERS {
        let _ = write!(text, " {other:>8}");
    }
    let _ = writeln!(text);
    for row in rows {
        let times = row.times(who::DTYPE).unwrap_or_default();
        let time = duration(lower_decile(times.to_vec()));
        let _ = write!(text, "{:width$} {:>9} {time:>9}", row.name, row.bytes);
        for other in OTHERS {
            let ratio = row.ratio(who::DTYPE, other).map(|ratio| format!("{ratio:.3}"));
            let _ = write!(text, " {:>8}", ratio.as_deref().unwrap_or("-"));
        }
        let _ = writeln!(text);
    }
    let _ = writeln!(text, "\nGeometric means of dtype's time over the others'");
    for mean in means(rows) {
        let _ = write!(text, "{:<width$}", mean.group);
        for (other, ratio) in mean.ratios {
            let _ = write!(text, " {other} {ratio:.3}");
        }
        let _ = writeln!(text);
    }
    let _ = writeln!(text, "\nTargets: geometric means of one's time over another's");
    for (group, one, other, limit) in TARGETS {
        let ratios = rows.iter().filter(|row| row.group == group);
        let Some(mean) = geometric_mean(ratios.filter_map(|row| row.ratio(one, other))) else {
            continue;
        };
        let verdict = if mean <= limit { "met" } else { "not met" };
        let name = format!("{group}: {one} over {other}");
        let _ = writeln!(text, "{name:<36} {limit:>5} {mean:>7.3} {verdict}");
    }
    text
}

/// Means over the rows of one kind.
struct Mean {
    group: String,
    ratios: Vec<(&'static str, f64)>,
}

fn means(rows: &[Row]) -> Vec<Mean> {
    let mut groups: Vec<&str> = rows.iter().map(|row| row.group.as_str()).collect();
    groups.dedup();
    let of = |group: String, kind: &dyn Fn(&Row) -> bool| {
        let over = |other: &'static str| {
            let ratios =
                rows.iter().filter(|row| kind(row)).filter_map(|row| row.ratio(who::DTYPE, other));
            geometric_mean(ratios).map(|mean| (other, mean))
        };
        Mean { group, ratios: OTHERS.into_iter().filter_map(over).collect() }
    };
    let mut means: Vec<Mean> =
        groups.iter().map(|&group| of(group.to_owned(), &|row| row.group == group)).collect();
    means.push(of("all structs".into(), &|row| row.group.starts_with("structs")));
    means
}

/// The whole report, as JSON with a line for each row.
pub(crate) fn json(machine: &Machine, rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| {
        let times: Map<String, Value> = row
            .columns
            .iter()
            .map(|(name, times)| {
                let value = json!({
                    "lower_decile": round(lower_decile(times.clone())),
                    "median": round(median(times.clone())),
                    "least": times.iter().copied().reduce(f64::min).map(round),
                    "most": times.iter().copied().reduce(f64::max).map(round),
                    "rounds": times.len(),
                });
                ((*name).to_owned(), value)
            })
            .collect();
        json!({ "group": row.group, "name": row.name, "bytes": row.bytes, "times": times })
    });
    let means = means(rows).into_iter().map(|mean| {
        let ratios: Map<String, Value> = mean
            .ratios
            .into_iter()
            .map(|(other, ratio)| (other.to_owned(), round(ratio).into()))
            .collect();
        json!({ "rows": mean.group, "who": who::DTYPE, "ratios": ratios })
    });
    let list = |lines: Vec<String>| lines.join(",\n");
    format!(
        "{{\n\"machine\": {},\n\"unit\": \"nanoseconds for one message: the lower decile, the median, the least and the most of all \
         rounds\",\n\"rows\": [\n{}\n],\n\"geometric_means\": [\n{}\n]\n}}\n",
        json!(machine),
        list(lines.map(|line| line.to_string()).collect()),
        list(means.map(|line| line.to_string()).collect()),
    )
}
