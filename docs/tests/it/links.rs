//! Every link and every picture of the book and of the project's pages leads somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A page: its links and pictures with their targets, and its headings as link targets.
#[derive(Default)]
struct Page {
    links: Vec<String>,
    images: Vec<String>,
    headings: BTreeSet<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The identifier of a heading: letters and digits in lower case, with `-` for spaces.
fn identifier(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn read(path: &Path) -> Page {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut page = Page::default();
    let mut heading = None;
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => page.links.push(dest_url.to_string()),
            Event::Start(Tag::Image { dest_url, .. }) => page.images.push(dest_url.to_string()),
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                page.headings.extend(heading.take().map(|heading| identifier(&heading)));
            }
            _ => {}
        }
    }
    page
}

/// The pages of the book, by their names.
fn chapters() -> BTreeMap<PathBuf, Page> {
    let files = fs::read_dir(root().join("docs/src")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.map(|path| (path.clone(), read(&path))).collect()
}

/// The pages of the book, and those beside it.
fn pages() -> BTreeMap<PathBuf, Page> {
    let others = [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "benches/results/README.md",
        "benches/program-size/limits.md",
    ]
    .map(|name| root().join(name));
    chapters().into_iter().chain(others.map(|path| (path.clone(), read(&path)))).collect()
}

/// The links that lead nowhere, in words.
fn broken(pages: &BTreeMap<PathBuf, Page>) -> Vec<String> {
    let mut broken = Vec::new();
    for (path, page) in pages {
        for link in page.links.iter().chain(&page.images) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) =
                link.split_once('#').map_or((link.as_str(), None), |(a, b)| (a, Some(b)));
            // The page with the command is made beside the chapters; what follows its `#` is a text for it.
            if let Some(file) = file.strip_prefix("play/") {
                if !root().join("docs/play").join(file).exists() {
                    broken.push(format!("{}: {link}", path.display()));
                }
                continue;
            }
            let target = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let there = match heading {
                None => target.exists(),
                Some(heading) if target.exists() => read(&target).headings.contains(heading),
                Some(_) => false,
            };
            if !there {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    broken
}

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    assert!(pages.values().map(|page| page.links.len()).sum::<usize>() > 20);
    let broken = broken(&pages);
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn broken_links_are_found() {
    let path = root().join("docs/src/introduction.md");
    let wrong = ["nothing.md", "layouts.md#nothing", "#nothing", "play/nothing.html#a=u8"];
    let right = ["layouts.md#lists", "layouts.md", "play/index.html#a=u8"];
    let links = wrong.into_iter().chain(right).map(str::to_owned).collect();
    let page = Page { links, ..Page::default() };
    assert_eq!(broken(&BTreeMap::from([(path, page)])).len(), wrong.len());
}

#[test]
fn the_summary_has_every_chapter() {
    let mut chapters = chapters();
    let summary = chapters.remove(&root().join("docs/src/SUMMARY.md")).unwrap();
    let listed: BTreeSet<_> =
        summary.links.iter().map(|link| root().join("docs/src").join(link)).collect();
    assert_eq!(listed, chapters.into_keys().collect());
}

#[test]
fn every_picture_is_shown_and_has_a_text_alternative() {
    let mut shown = BTreeSet::new();
    for (path, page) in pages() {
        shown.extend(page.images.iter().map(|image| path.with_file_name(image)));
    }
    let there = fs::read_dir(root().join("docs/src/images")).unwrap();
    for picture in there.map(|entry| entry.unwrap().path()) {
        assert!(shown.contains(&picture), "no page shows {}", picture.display());
    }
    for path in chapters().keys() {
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains("![]("), "{}: a picture without words", path.display());
    }
}
