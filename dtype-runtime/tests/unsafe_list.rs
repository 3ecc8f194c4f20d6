//! `unsafe` occurs in the files of this crate that CONTRIBUTING.md lists, and in no others.

mod sources;

use std::collections::BTreeSet;
use std::fs;

use sources::{code, rust_files, workspace};

/// The first cells of the table under the heading, without their backticks.
fn listed(text: &str) -> BTreeSet<String> {
    let (_, section) = text.split_once("## Where `unsafe` is\n").expect("there is such a section");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap().to_owned()).collect()
}

/// The files that no entry covers, and the entries without a file. An entry is a file, or a folder with `/` at its
/// end.
fn differences(listed: &BTreeSet<String>, files: &BTreeSet<String>) -> Vec<String> {
    let covers =
        |entry: &str, file: &str| entry == file || entry.ends_with('/') && file.starts_with(entry);
    let missing = files.iter().filter(|file| !listed.iter().any(|entry| covers(entry, file)));
    let stale = listed.iter().filter(|entry| !files.iter().any(|file| covers(entry, file)));
    let missing = missing.map(|file| format!("{file} has `unsafe` and is not listed"));
    missing.chain(stale.map(|entry| format!("{entry} is listed and has no `unsafe`"))).collect()
}

fn has_unsafe(text: &str) -> bool {
    code(text).split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

#[test]
fn unsafe_stands_where_contributing_says() {
    let Some(workspace) = workspace() else { return };
    let mut files = BTreeSet::new();
    for (file, text) in rust_files(&workspace.join("dtype-runtime/src")) {
        if has_unsafe(&text) && !file.ends_with("tests.rs") {
            files.insert(format!("dtype-runtime/src/{file}"));
        }
    }
    assert!(files.len() > 20, "{files:?}");
    let text = fs::read_to_string(workspace.join("CONTRIBUTING.md")).unwrap();
    let differences = differences(&listed(&text), &files);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn the_check_itself() {
    let table = "## Where `unsafe` is\n\n| file | why |\n|---|---|\n| `a/src/x.rs` | y |\n| `a/src/k/` | z |\n\n## Next\n\n| `b` | |\n";
    let listed = listed(table);
    let files = |all: &[&str]| all.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    assert_eq!(listed, files(&["a/src/x.rs", "a/src/k/"]));
    let none: [&str; 0] = [];
    assert_eq!(differences(&listed, &files(&["a/src/x.rs", "a/src/k/1.rs"])), none);
    assert_eq!(
        differences(&listed, &files(&["a/src/kk.rs", "a/src/k/1.rs"])),
        ["a/src/kk.rs has `unsafe` and is not listed", "a/src/x.rs is listed and has no `unsafe`"]
    );
    assert!(
        has_unsafe("fn f() { unsafe { g() } }")
            && !has_unsafe("// unsafe\nlet a = \"unsafe\"; not_unsafe();")
    );
}
