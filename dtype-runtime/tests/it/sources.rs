//! The source files of the crates of this workspace, as text without comments, strings and tests.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names of the crates' folders.
pub(crate) fn crates(workspace: &Path) -> Vec<String> {
    let mut all: Vec<String> = fs::read_dir(workspace)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("dtype-") && workspace.join(name).join("src").is_dir())
        .collect();
    // The crates of one library share a folder.
    all.push("dtype-ucx/callbacks".to_owned());
    all.retain(|name| workspace.join(name).join("src").is_dir());
    all.sort();
    all
}

/// The paths of all Rust files below a folder, relative to it and with `/`, and the texts of these files.
pub(crate) fn rust_files(folder: &Path) -> Vec<(String, String)> {
    fn collect(folder: &Path, prefix: &str, all: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                collect(&entry.path(), &format!("{name}/"), all);
            } else if entry.path().extension().is_some_and(|extension| extension == "rs") {
                all.push((name, fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    let mut all = Vec::new();
    collect(folder, "", &mut all);
    all.sort();
    all
}

/// The code of a file without comments, the contents of strings, and the module `tests` at the end.
pub(crate) fn code(text: &str) -> String {
    let bytes: Vec<char> = text.chars().collect();
    let starts = |at: usize, what: &str| {
        what.chars().enumerate().all(|(i, c)| bytes.get(at + i) == Some(&c))
    };
    let (mut at, mut code) = (0, String::new());
    while at < bytes.len() {
        if starts(at, "//") {
            while at < bytes.len() && bytes[at] != '\n' {
                at += 1;
            }
        } else if starts(at, "/*") {
            at += 2;
            while at < bytes.len() && !starts(at, "*/") {
                at += 1;
            }
            at += 2;
        } else if starts(at, "'\"'") || starts(at, "'\\\"'") {
            at += if starts(at, "'\"'") { 3 } else { 4 };
        } else if bytes[at] == '"' || is_raw_string(&bytes, at) {
            let hashes = bytes[at..].iter().skip_while(|c| **c == 'r').take_while(|c| **c == '#');
            let hashes = hashes.count();
            let raw = bytes[at] == 'r';
            at += usize::from(raw) + hashes + 1;
            let end = format!("\"{}", "#".repeat(hashes));
            while at < bytes.len() && !starts(at, &end) {
                at += if !raw && bytes[at] == '\\' { 2 } else { 1 };
            }
            at += end.len();
            code.push_str("\"\"");
        } else {
            code.push(bytes[at]);
            at += 1;
        }
    }
    let tests = ["mod tests {", "pub(super) mod tests {", "pub(crate) mod tests {"];
    let starts = tests.iter().filter_map(|head| code.find(&format!("#[cfg(test)]\n{head}")));
    let end = starts.min().unwrap_or(code.len());
    code.truncate(end);
    code
}

fn is_raw_string(text: &[char], at: usize) -> bool {
    let follows_name =
        at > 0 && (text[at - 1].is_alphanumeric() || text[at - 1] == '_' || text[at - 1] == '#');
    text[at] == 'r'
        && !follows_name
        && text[at + 1..].iter().find(|c| **c != '#') == Some(&'"')
        && !text[at + 1..].is_empty()
}
