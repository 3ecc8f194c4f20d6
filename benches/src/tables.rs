//! The recorded runs in `benches/results` as one page of tables, `tables.md`; and the figures of it that other pages quote.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::figures::geometric_mean;

/// The recorded means of a run: a ratio for each label of a row and name of a contestant.
type Means = BTreeMap<(String, String), f64>;

/// The rows of the side by side comparison, by their labels in the run and here.
const SIZES: [(&str, &str); 4] = [
    ("× 1", "1 record"),
    ("× 1000", "1000 records"),
    ("× 65536", "65 536 records"),
    ("× 1000000", "1 000 000 records"),
];

const SERIALIZERS: [(&str, &str); 9] = [
    ("bincode", "bincode 2"),
    ("postcard", "postcard"),
    ("rkyv", "rkyv"),
    ("borsh", "borsh"),
    ("bitcode", "bitcode"),
    ("speedy", "speedy"),
    ("zerocopy", "zerocopy"),
    ("rsmpi, Open MPI", "rsmpi on Open MPI"),
    ("rsmpi, MPICH", "rsmpi on MPICH"),
];

const MESSAGES: [(&str, &str); 5] = [
    ("structs × 1", "1 struct"),
    ("structs × 16", "16 structs"),
    ("structs × 1000", "1000 structs"),
    ("structs × 65536", "65 536 structs"),
    ("halos", "halos"),
];

/// The folder of the recorded runs.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

/// The page for the runs in a folder.
///
/// # Errors
///
/// If a run is missing, or has no figures.
pub fn page(folder: &Path) -> Result<String> {
    let read = |name: &str| -> Result<String> {
        std::fs::read_to_string(folder.join(name))
            .with_context(|| format!("{name} is not recorded"))
    };
    let mut page = String::from(
        "# Tables\n\nWritten by `cargo run -p dtype-benches --bin tables` from the runs in this folder: do not edit. A figure is the time \
         of dtype over\nthe time of the other, so below 1 dtype is faster. [README.md](README.md) says how each run is made.\n",
    );
    let newest = read("versus.txt")?;
    side_by_side(&mut page, &newest);
    let older = ["versus-zen-4.txt", "versus-xeon.txt", "versus-zen-3.txt"];
    let runs = older.iter().map(|name| Ok((*name, read(name)?))).collect::<Result<Vec<_>>>()?;
    other_processors(&mut page, &newest, &runs);
    targets(&mut page, &newest, &runs);
    serializers(&mut page, &newest);
    ranks(&mut page, &read)?;
    unmodified(&mut page, &read("preload-openmpi.txt")?, &read("preload-mpich.txt")?);
    ucx(&mut page, &read("ucx.txt")?);
    checks(&mut page, &read("checked.txt")?);
    Ok(page)
}

/// The pages whose tables quote the page of tables.
pub const QUOTING: [&str; 5] = [
    "README.md",
    "docs/src/figures.md",
    "docs/src/how-it-works.md",
    "docs/src/on-mpi.md",
    "docs/src/coming-from-other-crates.md",
];

/// Another page with the figures of this page of tables, where a row and a column have the same labels, in either order.
pub fn quoted(text: &str, tables: &str) -> String {
    let mut known: BTreeMap<_, Option<String>> = BTreeMap::new();
    each_figure(tables, |labels, figure| {
        let only = known.entry(labels).or_insert_with(|| Some(figure.to_owned()));
        if only.as_deref() != Some(figure) {
            // Two tables have these labels.
            *only = None;
        }
        None
    });
    each_figure(text, |labels, _| known.get(&labels).cloned().flatten())
}

/// Calls `change` with the labels and the text of each cell that begins with a digit. Returns the page with the new texts.
fn each_figure(
    page: &str,
    mut change: impl FnMut(BTreeSet<String>, &str) -> Option<String>,
) -> String {
    let mut header: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for line in page.lines() {
        let Some(inner) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) else {
            header.clear();
            lines.push(line.to_owned());
            continue;
        };
        let cells: Vec<_> = inner.split('|').map(str::trim).collect();
        if header.is_empty() {
            header = cells;
            lines.push(line.to_owned());
            continue;
        }
        let mut changed = line.to_owned();
        let mut new = vec![cells[0].to_owned()];
        for (label, figure) in header.iter().zip(&cells).skip(1) {
            let labels = BTreeSet::from([cells[0].replace('`', ""), label.replace('`', "")]);
            let is_figure = figure.starts_with(|c: char| c.is_ascii_digit());
            let other = if is_figure { change(labels, figure) } else { None };
            new.push(other.unwrap_or_else(|| (*figure).to_owned()));
        }
        if new.iter().zip(&cells).any(|(new, old)| new != old) {
            changed = format!("| {} |", new.join(" | "));
        }
        lines.push(changed);
    }
    lines.join("\n") + "\n"
}

/// The lines below `Geometric means`, up to the next empty line.
fn means(run: &str) -> Means {
    let all = run.lines().skip_while(|line| !line.starts_with("Geometric means")).skip(1);
    let mut means = Means::new();
    for line in all.take_while(|line| !line.is_empty()) {
        let Some((label, rest)) = line.split_once("  ") else { continue };
        let mut name = Vec::new();
        for word in rest.split_whitespace() {
            match word.parse() {
                Ok(ratio) => {
                    means.insert((label.to_owned(), name.join(" ")), ratio);
                    name.clear();
                }
                Err(_) => name.push(word),
            }
        }
    }
    means
}

/// A ratio with at least two digits.
fn cell(ratio: Option<&f64>) -> String {
    match ratio {
        Some(ratio) if *ratio < 0.1 => format!("{ratio:.3}"),
        Some(ratio) => format!("{ratio:.2}"),
        None => String::new(),
    }
}

fn find<'a>(means: &'a Means, label: &str, name: &str) -> Option<&'a f64> {
    means.get(&(label.to_owned(), name.to_owned()))
}

/// Writes a table whose first column has labels.
fn table(page: &mut String, title: &str, columns: &[&str], rows: &[(String, Vec<String>)]) {
    let _ = write!(
        page,
        "\n{title}\n\n| | {} |\n|---|{}\n",
        columns.join(" | "),
        "--:|".repeat(columns.len())
    );
    for (label, cells) in rows {
        let _ = writeln!(page, "| {label} | {} |", cells.join(" | "));
    }
}

/// The first three lines of a run: the machine, its system, and the libraries.
fn machine(run: &str) -> String {
    run.lines().take(3).collect::<Vec<_>>().join("; ")
}

/// The labels of the rows in a run of `versus`, and here.
fn labels() -> Vec<(String, String)> {
    let mut labels = Vec::new();
    for (form, more) in [("", ""), (" (type made at run time)", ", type made at run time")] {
        for (size, name) in SIZES {
            for work in ["pack", "unpack"] {
                labels.push((
                    format!("structs {size}, {work}{form}"),
                    format!("{name}{more}, {work}"),
                ));
            }
        }
    }
    for work in ["pack", "unpack"] {
        labels.push((format!("DDTBench, {work}"), format!("DDTBench, {work}")));
    }
    labels.push(("create and commit".to_owned(), "create and commit, all constructors".to_owned()));
    labels
}

fn side_by_side(page: &mut String, run: &str) {
    let means = means(run);
    let with = [
        ("loop", "loop"),
        ("Open MPI", "Open MPI"),
        ("MPICH", "MPICH"),
        ("memcpy, span", "memcpy of the span"),
    ];
    let rows = labels().into_iter().map(|(label, name)| {
        // A layout's span has holes of any size.
        let is_array = label.starts_with("structs");
        let cells = with.iter().map(|(with, _)| {
            cell(find(&means, &label, with).filter(|_| is_array || *with != "memcpy, span"))
        });
        (name, cells.collect())
    });
    let title = format!(
        "## Side by side\n\n{}: geometric means over seven structs, or over the layouts of DDTBench.",
        machine(run)
    );
    table(page, &title, &with.map(|(_, name)| name), &rows.collect::<Vec<_>>());
}

fn other_processors(page: &mut String, newest: &str, older: &[(&str, String)]) {
    let _ = write!(page, "\n## On other processors\n\n");
    let mut runs = vec![("newest", newest)];
    for ((file, run), name) in older.iter().zip(["Zen 4", "Xeon", "Zen 3"]) {
        let _ = writeln!(page, "- {name}, `{file}`: {}", machine(run));
        runs.push((name, run));
    }
    let means: Vec<_> = runs.iter().map(|(_, run)| means(run)).collect();
    for with in ["loop", "Open MPI", "MPICH"] {
        let columns: Vec<_> = runs.iter().map(|(name, _)| format!("{with}, {name}")).collect();
        let rows = labels().into_iter().map(|(label, name)| {
            (name, means.iter().map(|means| cell(find(means, &label, with))).collect::<Vec<_>>())
        });
        let rows: Vec<_> =
            rows.filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty())).collect();
        let columns: Vec<_> = columns.iter().map(String::as_str).collect();
        table(
            page,
            &format!("Over {}:", if with == "loop" { "a loop" } else { with }),
            &columns,
            &rows,
        );
    }
}

/// The mean and the worst row of each target of `versus`, in each run that has the target.
fn targets(page: &mut String, newest: &str, older: &[(&str, String)]) {
    let mut runs = vec![target_ratios(newest)];
    runs.extend(older.iter().map(|(_, run)| target_ratios(run)));
    let rows = runs[0].iter().map(|(label, _)| {
        let of = |run: &Vec<(String, [f64; 2])>| {
            let ratios = run.iter().find(|(other, _)| other == label);
            ratios.map(|(_, both)| both.map(|ratio| cell(Some(&ratio))).join(", "))
        };
        (label.clone(), runs.iter().map(|run| of(run).unwrap_or_default()).collect())
    });
    let title = "## Targets of `versus`\n\nThe geometric mean, and the worst row; the runs say which are met.";
    table(page, title, &["newest", "Zen 4", "Xeon", "Zen 3"], &rows.collect::<Vec<_>>());
}

fn target_ratios(run: &str) -> Vec<(String, [f64; 2])> {
    let ratios = |line: &str| {
        let (front, ratios) = line.split_at(line.rfind(" mean ")?);
        let (mean, worst) = ratios.strip_prefix(" mean ")?.split_once(", worst ")?;
        let (label, _) = front.split_once("  ")?;
        let worst = worst.split(' ').next()?;
        Some((label.replace('|', "or"), [mean.parse().ok()?, worst.parse().ok()?]))
    };
    run.lines().skip_while(|line| !line.starts_with("Targets")).filter_map(ratios).collect()
}

fn serializers(page: &mut String, run: &str) {
    let means = means(run);
    let rows = SERIALIZERS.map(|(with, name)| {
        let of = |work| cell(find(&means, &format!("structs, new vectors, {work}"), with));
        (name.to_owned(), vec![of("to bytes"), of("back")])
    });
    table(page, "## Serializers", &["to bytes", "back"], &rows);
}

/// Messages between two ranks, beside the library and beside a loop.
fn ranks(page: &mut String, read: &dyn Fn(&str) -> Result<String>) -> Result<()> {
    let mut rows = Vec::new();
    let mut machines = String::new();
    for (library, name) in [("openmpi", "Open MPI"), ("mpich", "MPICH")] {
        for processor in ["", "-zen-5", "-xeon", "-zen-3"] {
            let file = format!("exchange-{library}{processor}.txt");
            let run = read(&file)?;
            let version = run.lines().nth(2).and_then(|line| line.split(['v', ' ']).next_back());
            let name = format!("{name} {}", version.unwrap_or_default());
            let label = if processor.is_empty() { name } else { format!("{name}, `{file}`") };
            let _ = write!(machines, "\n- `{file}`: {}", machine(&run));
            let means = means(&run);
            let both = |label| {
                let of = |with| cell(find(&means, label, with));
                format!("{}, {}", of("library"), of("loop"))
            };
            rows.push((label, MESSAGES.map(|(label, _)| both(label)).to_vec()));
        }
    }
    let title = format!(
        "## Between two MPI ranks\n\nOver the library with its datatype, and over a loop and a send of its buffer:\n{machines}"
    );
    table(page, &title, &MESSAGES.map(|(_, name)| name), &rows);
    Ok(())
}

fn unmodified(page: &mut String, openmpi: &str, mpich: &str) {
    let [first, second] = [openmpi, mpich].map(with_and_off);
    let rows = first
        .iter()
        .map(|(label, ratio)| (label.clone(), vec![cell(Some(ratio)), cell(second.get(label))]));
    let title = format!(
        "## Unmodified MPI programs\n\nWith `dtype-preload` over the same program without it: {}; {}.",
        machine(openmpi),
        mpich.lines().nth(2).unwrap_or_default()
    );
    table(page, &title, &["Open MPI", "MPICH"], &rows.collect::<Vec<_>>());
}

/// The first ratio of each mean of `below`: with the library loaded.
fn with_and_off(run: &str) -> BTreeMap<String, f64> {
    let all = run.lines().skip_while(|line| !line.starts_with("Geometric means")).skip(1);
    let lines = all.take_while(|line| !line.is_empty());
    let ratio = |line: &str| {
        let (label, rest) = line.split_at_checked(36)?;
        let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
        Some((label, rest.split_whitespace().next()?.parse().ok()?))
    };
    lines.filter_map(ratio).collect()
}

fn ucx(page: &mut String, run: &str) {
    let rows = run.lines().filter_map(|line| {
        let (label, ratio) =
            line.strip_suffix("  (geometric mean)")?.trim_end().rsplit_once(' ')?;
        Some((label.trim_end().to_owned(), vec![ratio.to_owned()]))
    });
    table(
        page,
        "## Through UCX\n\nOver packing by hand and sending the bytes:",
        &["by hand"],
        &rows.collect::<Vec<_>>(),
    );
}

/// Means and worst rows of the records with values to check: a new vector and in place, for each number of records.
fn checks(page: &mut String, run: &str) {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for line in run.lines() {
        // Each ratio is followed by a time in brackets.
        let words: Vec<_> = line.split('(').collect();
        let ratios =
            words.iter().filter_map(|word| word.split_whitespace().next_back()?.parse().ok());
        let ratios: Vec<f64> = ratios.collect();
        if words.len() == 9 && ratios.len() == 8 {
            columns.resize(8, Vec::new());
            columns.iter_mut().zip(ratios).for_each(|(column, ratio)| column.push(ratio));
        }
    }
    let of = |column: &[f64]| {
        let worst = column.iter().copied().fold(0.0, f64::max);
        [cell(geometric_mean(column.iter().copied()).as_ref()), cell(Some(&worst))]
    };
    let rows = ["1", "10", "1 000", "65 536"].iter().zip(columns.chunks(2)).map(|(count, pair)| {
        ((*count).to_owned(), pair.iter().flat_map(|column| of(column)).collect())
    });
    let title = format!(
        "## Values to check\n\n{} kinds of records, over a loop that makes the same checks:",
        columns.first().map_or(0, Vec::len)
    );
    table(page, &title, &["new", "worst", "in place", "worst in place"], &rows.collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_that_of_the_recorded_runs() {
        let written = std::fs::read_to_string(folder().join("tables.md")).unwrap();
        let page = page(&folder()).unwrap();
        assert!(page == written, "run `cargo run -p dtype-benches --bin tables`");
        let is_figure = |cell: &str| cell.trim().starts_with(|c: char| c.is_ascii_digit());
        assert!(page.split('|').filter(|cell| is_figure(cell)).count() >= 400);
    }

    #[test]
    fn quoted_figures_are_those_of_the_tables() {
        let tables = "| | a | b |\n|---|--:|--:|\n| x | 1 | 2 |\n\n| | a |\n|---|--:|\n| y | 3 |\n| x | 4 |\n";
        let text = "| | b | `a` |\n|---|--:|--:|\n| x | 0.5 | 0.6 |\n| y |  | 7 |\nno 8 table\n";
        let expected = "| | b | `a` |\n|---|--:|--:|\n| x | 2 | 0.6 |\n| y |  | 3 |\nno 8 table\n";
        assert_eq!(quoted(text, tables), expected);
    }

    #[test]
    fn means_have_names_of_several_words() {
        let run = "x 9\nGeometric means of a over b\nall, pack   Open MPI 0.131 memcpy, span 2.0\n\nnone  loop 3\n";
        let all = means(run);
        assert_eq!(all.len(), 2);
        assert_eq!(find(&all, "all, pack", "Open MPI"), Some(&0.131));
        assert_eq!(find(&all, "all, pack", "memcpy, span"), Some(&2.0));
        assert_eq!(
            [cell(Some(&0.0444)), cell(Some(&0.177)), cell(Some(&2.2)), cell(None)],
            ["0.044", "0.18", "2.20", ""]
        );
    }
}
