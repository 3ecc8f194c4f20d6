//! What the pages quote of the recorded runs agrees with the tables made of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The cells of a page's tables that begin with a digit, by the set of their row's and their column's label.
fn figures(page: &str) -> BTreeMap<BTreeSet<String>, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
    let text = fs::read_to_string(path).unwrap();
    let mut figures: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let (mut header, mut row, mut cell) = (Vec::new(), Vec::new(), None);
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::TableCell) => cell = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(cell) = &mut cell {
                    cell.push_str(&text);
                }
            }
            Event::End(TagEnd::TableCell) => row.extend(cell.take()),
            Event::End(TagEnd::TableHead) => header = std::mem::take(&mut row),
            Event::End(TagEnd::TableRow) => {
                let row = std::mem::take(&mut row);
                for (label, figure) in header.iter().zip(&row).skip(1) {
                    if figure.starts_with(|c: char| c.is_ascii_digit()) {
                        let labels = BTreeSet::from([row[0].clone(), label.clone()]);
                        figures.entry(labels).or_default().insert(figure.clone());
                    }
                }
            }
            _ => {}
        }
    }
    figures
}

#[test]
fn figures_agree_on_all_pages() {
    let known = figures("benches/results/tables.md");
    assert!(known.len() >= 100, "{}", known.len());
    for (page, least) in [
        ("README.md", 10),
        ("docs/src/figures.md", 30),
        ("docs/src/how-it-works.md", 20),
        ("docs/src/on-mpi.md", 10),
        ("docs/src/coming-from-other-crates.md", 18),
    ] {
        let figures = figures(page);
        assert!(figures.len() >= least, "{page}: {}", figures.len());
        for (labels, figure) in figures {
            assert_eq!(known.get(&labels), Some(&figure), "{page}: {labels:?}");
        }
    }
}

#[test]
fn the_picture_is_that_of_the_recorded_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [recorded, shown] = ["../benches/results/versus.svg", "src/images/versus.svg"]
        .map(|path| fs::read(root.join(path)).unwrap());
    assert!(recorded == shown, "run `benches/record tables`");
}
