//! Imports run one way: files do not import each other in a cycle of any length, and no module imports from a higher floor.
//!
//! The test reads the `use` declarations, and the paths in bodies that start with `crate`, `super` or `self`. A name that a
//! module imports or re-exports counts as the item it names. A module's root and the files below it may refer to each other, as
//! is usual in Rust, and these files may import names from the root. A path in a macro that starts with `$crate` counts for the
//! macro's caller.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{code, crates, rust_files, workspace};

/// The floors of `dtype-runtime`, the lowest one first. Modules on one floor do not import each other.
const FLOORS: &[&[&str]] = &[
    &["shared", "isa"],
    &["basic"],
    &["error"],
    &["representation"],
    &["signature"],
    &["typemap"],
    &["datatype"],
    &["types"],
    &["plan"],
    &["commit", "kernel"],
    &["convertor"],
    &["typed"],
    &["columns", "fields"],
    &["explain", "ndarray", "outline"],
    &["serialize", "private", "lib"],
];

/// A crate's files, by module path.
struct Crate {
    /// Module path, such as `["plan", "op"]`; empty for the crate's root.
    modules: BTreeMap<Vec<String>, Module>,
}

struct Module {
    file: String,
    /// All paths in the file, as written.
    paths: Vec<Vec<String>>,
    /// The names that its `use` declarations import, with the paths they stand for.
    names: BTreeMap<String, Vec<String>>,
}

impl Crate {
    fn read(files: &[(String, String)]) -> Self {
        let mut modules = BTreeMap::new();
        for (file, text) in files {
            if file.ends_with("tests.rs") {
                continue;
            }
            let mut path: Vec<String> =
                file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            if path == ["lib"] || path == ["main"] {
                path.clear();
            }
            let (paths, names) = paths_and_names(&code(text));
            modules.insert(path, Module { file: file.clone(), paths, names });
        }
        Self { modules }
    }

    /// The module that contains what a path names, if the path stands in module `from`.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
        let mut at = from.to_vec();
        let mut rest = path;
        let mut is_relative = false;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()?),
                _ => break,
            }
            is_relative = true;
            rest = after;
        }
        if !is_relative {
            return None;
        }
        while let Some((name, after)) = rest.split_first() {
            let mut inner = at.clone();
            inner.push(name.clone());
            if self.modules.contains_key(&inner) {
                (at, rest) = (inner, after);
                continue;
            }
            let imported = self.modules.get(&at)?.names.get(name);
            if let Some(target) = imported
                && depth < 8
                && target != path
                && !from.starts_with(&at)
            {
                // In a `use`, a path may also start with one of the file's own modules.
                let mut target = target.clone();
                let mut own = at.clone();
                own.extend(target.first().cloned());
                if self.modules.contains_key(&own) {
                    target.insert(0, "self".to_owned());
                }
                target.extend_from_slice(after);
                return self.resolve(&at, &target, depth + 1).or(Some(at));
            }
            break;
        }
        Some(at)
    }

    /// The modules that each module imports from, except itself.
    fn edges(&self) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
        let mut edges = BTreeMap::new();
        for (from, module) in &self.modules {
            let targets = module.paths.iter().filter_map(|path| self.resolve(from, path, 0));
            let targets = targets.filter(|to| to != from && self.modules.contains_key(to));
            edges.insert(from.clone(), targets.collect::<BTreeSet<_>>());
        }
        edges
    }

    /// The groups of files that import each other.
    fn cycles(&self) -> Vec<Vec<String>> {
        let mut edges = self.edges();
        for (from, targets) in &mut edges {
            targets.retain(|to| !to.starts_with(from) && !from.starts_with(to));
        }
        let reach = |start: &Vec<String>| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![start.clone()]);
            while let Some(at) = open.pop() {
                for next in edges.get(&at).into_iter().flatten() {
                    if seen.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
            }
            seen
        };
        let reached: BTreeMap<_, _> = edges.keys().map(|from| (from, reach(from))).collect();
        let mut groups = BTreeSet::new();
        for (from, all) in &reached {
            if all.contains(*from) {
                let mutual = all.iter().filter(|other| reached[other].contains(*from));
                groups.insert(mutual.map(|path| self.modules[path].file.clone()).collect());
            }
        }
        groups.into_iter().collect()
    }

    /// The imports from the same floor or from a higher one.
    fn climbs(&self, floors: &[&[&str]]) -> Vec<String> {
        let room = |path: &Vec<String>| path.first().map_or("lib".to_owned(), Clone::clone);
        let floor = |room: &str| floors.iter().position(|rooms| rooms.contains(&room));
        let mut all = Vec::new();
        for (from, targets) in self.edges() {
            let source = &self.modules[&from].file;
            let Some(here) = floor(&room(&from)) else {
                all.push(format!("{source} is on no floor"));
                continue;
            };
            for to in targets.iter().filter(|to| !to.is_empty() && room(to) != room(&from)) {
                if floor(&room(to)).is_some_and(|there| there >= here) {
                    all.push(format!("{source} imports {}", self.modules[to].file));
                }
            }
        }
        all
    }
}

/// The paths in some code that start with `crate`, `super` or `self`, and the names that `use` declares. In a `use`, every path
/// counts.
fn paths_and_names(code: &str) -> (Vec<Vec<String>>, BTreeMap<String, Vec<String>>) {
    let tokens = tokens(code);
    let (mut paths, mut names) = (Vec::new(), BTreeMap::new());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "use" {
            at += 1;
            let mut leaves = Vec::new();
            at = tree(&tokens, at, &[], &mut leaves);
            for (path, name) in leaves {
                paths.push(path.clone());
                names.insert(name, path);
            }
        } else if ["crate", "super", "self"].contains(&tokens[at].as_str())
            && tokens.get(at + 1).is_some_and(|token| token == "::")
            && (at == 0 || !["::", "$"].contains(&tokens[at - 1].as_str()))
        {
            let mut path = vec![tokens[at].clone()];
            while tokens.get(at + 1).is_some_and(|token| token == "::")
                && tokens.get(at + 2).is_some_and(|token| is_name(token))
            {
                path.push(tokens[at + 2].clone());
                at += 2;
            }
            paths.push(path);
            at += 1;
        } else {
            at += 1;
        }
    }
    (paths, names)
}

/// Reads one tree of a `use`, and returns the index of the token after it.
fn tree(
    tokens: &[String],
    mut at: usize,
    prefix: &[String],
    leaves: &mut Vec<(Vec<String>, String)>,
) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token != "}") {
                    at = tree(tokens, at, &path, leaves);
                    at += usize::from(tokens.get(at).is_some_and(|token| token == ","));
                }
                return at + 1;
            }
            "*" => {
                leaves.push((path, "*".to_owned()));
                return at + 1;
            }
            name if is_name(name) => {
                path.push(token.clone());
                at += 1;
                if tokens.get(at).is_some_and(|token| token == "::") {
                    continue;
                }
                let mut name = token.clone();
                if name == "self" {
                    path.pop();
                    name = path.last().cloned().unwrap_or_default();
                }
                if tokens.get(at).is_some_and(|token| token == "as") {
                    name.clone_from(&tokens[at + 1]);
                    at += 2;
                }
                leaves.push((path, name));
                return at;
            }
            _ => return at + 1,
        }
    }
    at
}

fn is_name(token: &str) -> bool {
    token.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut name = String::from(c);
            while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                name.push(c);
            }
            tokens.push(name);
        } else if c == ':' && chars.next_if_eq(&':').is_some() {
            tokens.push("::".to_owned());
        } else if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    tokens
}

#[test]
fn no_two_files_import_each_other() {
    let workspace = workspace();
    let names = crates(&workspace);
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let all = Crate::read(&rust_files(&workspace.join(&name).join("src")));
        assert!(
            all.edges().values().map(BTreeSet::len).sum::<usize>() > 0,
            "{name} imports nothing"
        );
        assert_eq!(all.cycles(), Vec::<Vec<String>>::new(), "in {name}");
    }
}

#[test]
fn imports_of_the_runtime_run_down() {
    let workspace = workspace();
    let all = Crate::read(&rust_files(&workspace.join("dtype-runtime/src")));
    let climbs = all.climbs(FLOORS);
    assert!(climbs.is_empty(), "these run up, or along a floor:\n{}", climbs.join("\n"));
}

#[cfg(test)]
mod the_check_itself {
    use super::*;

    fn planted(files: &[(&str, &str)]) -> Crate {
        let files: Vec<_> = files.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        Crate::read(&files)
    }

    #[test]
    fn finds_cycles_through_uses_bodies_and_re_exports() {
        let uses = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use super::a::A;"),
        ];
        assert_eq!(planted(&uses).cycles(), [["a.rs", "b.rs"]]);
        let body = [
            ("a.rs", "use crate::{x::X, b};"),
            ("b.rs", "fn f() { crate::a::f::<u8>() }"),
            ("lib.rs", ""),
        ];
        assert_eq!(planted(&body).cycles(), [["a.rs", "b.rs"]]);
        // An item that another module re-exports counts as an item of the module that defines it. A root forms no cycle with
        // its own files.
        let files = [
            ("lib.rs", "mod a; mod x;"),
            ("x.rs", "use crate::a::C;"),
            ("a.rs", "mod b; mod c; use self::b::B; pub use c::C;"),
            ("a/b.rs", "use super::C; use super::c;"),
            ("a/c.rs", "use crate::a::B; use crate::x::f;"),
        ];
        assert_eq!(planted(&files).cycles(), [["a/c.rs", "x.rs"]]);
        let around = [
            ("a.rs", "use super::b;"),
            ("b.rs", "use super::c;"),
            ("c.rs", "use super::a;"),
            ("lib.rs", ""),
        ];
        assert_eq!(planted(&around).cycles(), [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn leaves_out_comments_strings_and_tests() {
        let files = [
            ("lib.rs", ""),
            ("a.rs", "use crate::b;"),
            (
                "b.rs",
                "// use crate::a;\n/* crate::a::A */ const A: &str = \"crate::a\";\n#[cfg(test)]\nmod tests { use crate::a; }",
            ),
        ];
        assert_eq!(planted(&files).cycles(), Vec::<Vec<String>>::new());
        let (paths, _) =
            paths_and_names(&code(r##"const A: &str = r#"a " crate::b"#; use crate::c;"##));
        assert_eq!(paths, [["crate", "c"]]);
    }

    #[test]
    fn finds_imports_that_run_up() {
        let files = [
            ("lib.rs", "use a::A;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", ""),
            ("c.rs", "use crate::a::A; use crate::d::D;"),
            ("d.rs", ""),
            ("e.rs", ""),
        ];
        let floors: &[&[&str]] = &[&["a"], &["b"], &["c", "d"], &["lib"]];
        let expected = ["a.rs imports b.rs", "c.rs imports d.rs", "e.rs is on no floor"];
        assert_eq!(planted(&files).climbs(floors), expected);
    }
}
