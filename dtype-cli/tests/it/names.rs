//! Names that are long, or hold what a terminal takes as commands.

use std::ffi::OsStr;

use crate::command::{Folder, done, dtype, failed, fed};

/// A file with a type.
fn ty(folder: &Folder, text: &str) -> String {
    format!("@{}", folder.file("type.dtype", text.as_bytes()).display())
}

/// A width of a format has 16 bits.
#[test]
fn names_of_more_than_65535_characters() {
    let folder = Folder::new();
    let long = "x".repeat(70_000);
    let ty = ty(&folder, &format!("struct{{{long}: u8, y: u16}}"));
    for arguments in [&["show", &ty][..], &["info", &ty], &["show", &ty, "--as=json"]] {
        assert!(String::from_utf8(done(dtype().args(arguments))).unwrap().contains(&long));
    }
    let picture = String::from_utf8(done(dtype().args(["show", &ty]))).unwrap();
    let line = picture.lines().find(|line| line.starts_with("b  y")).unwrap();
    assert_eq!(line.find("u16"), Some(3 + 70_000 + 2));
    for form in ["table", "csv", "json", "hex"] {
        let output = fed(dtype().args(["dump", &ty, "-", "--as", form]), &[1, 2, 3, 4]);
        assert!(output.status.success() && output.stdout.len() > 70_000, "{form}: {output:?}");
    }
    // The short names of the key are aligned with one another.
    let output = fed(dtype().args(["dump", &ty, "-", "--as=hex"]), &[1, 2, 3, 4]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("x  u8\nb  y  u16\n"));
}

/// The path of each field repeats the names of the structs around it.
#[test]
fn names_that_are_repeated_take_little_memory() {
    let folder = Folder::new();
    let long = "x".repeat(400_000);
    let wide = ty(&folder, &format!("struct{{{long}: [struct{{x: u8, y: u16}}; 8000]}}"));
    for form in ["table", "csv"] {
        let message = failed(dtype().args(["dump", &wide, "/dev/null", "--as", form]));
        assert!(message.contains("the columns' names have more than 16777216 bytes"), "{message}");
    }
    let many = "u8, ".repeat(1100);
    let ty = ty(&folder, &format!("struct{{{long}: struct{{{many}}}}}"));
    for form in ["diagram", "svg", "json"] {
        let message = failed(dtype().args(["show", &ty, "--as", form]));
        assert!(message.contains("the fields' names have more than 16777216 bytes"), "{message}");
    }
    let output = fed(dtype().args(["dump", &ty, "-", "--as=hex"]), &[0; 1100]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.len() < 20 << 20);
    assert!(text.contains("*  further fields\n"));
    let names = String::from_utf8(done(dtype().args(["compare", &ty, &ty]))).unwrap();
    assert!(names.contains("the same type"));
    // The name of a struct is written for each of its fields.
    let members: Vec<String> = (0..4000).map(|i| format!("f{i}")).collect();
    let header = format!("struct {long} {{ char {}; }};", members.join(", "));
    let header = format!("@{}", folder.file("long.h", header.as_bytes()).display());
    for form in ["c-struct", "rust-struct"] {
        assert!(done(dtype().args(["show", &header, "--as", form])).len() < 4 << 20, "{form}");
    }
}

/// What a terminal takes as commands, and signs that turn the direction of the text behind them.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\r\u{7f}\u{85}\u{9b}2J\u{61c}\u{200f}\u{202e}\u{2066}";

/// Whether a terminal shows all of an output; its own colours are left out.
#[track_caller]
fn assert_plain(output: &[u8], what: &str) {
    let text = std::str::from_utf8(output).unwrap();
    let colours = |text: &str| {
        let (code, rest) = text.split_once('m')?;
        code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';').then(|| rest.to_owned())
    };
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        plain += &colours(part).unwrap_or_else(|| panic!("{what}: {text:?}"));
    }
    let is_shown = |c: char| {
        let turns = matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        c == '\n' || !c.is_control() && !turns
    };
    assert!(plain.chars().all(is_shown), "{what}: {text:?}");
}

/// Runs a command with and without colours; returns its output and its message without them.
fn plain(arguments: &[impl AsRef<OsStr> + std::fmt::Debug], input: &[u8]) -> (String, String) {
    ["--colour=always", "--colour=never"]
        .map(|colour| {
            let output = fed(dtype().args(arguments).arg(colour), input);
            let what = format!("{arguments:?}");
            assert_plain(&output.stdout, &what);
            assert_plain(&output.stderr, &what);
            let [out, err] =
                [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            (out, err)
        })
        .into_iter()
        .next_back()
        .unwrap()
}

#[test]
fn arguments_are_no_commands_to_the_terminal() {
    for arguments in [
        &["man", EVIL][..],
        &["completions", EVIL],
        &["help", EVIL],
        &["show", "f64", "--as", EVIL],
        &["show", "f64", EVIL],
        &["show", "f64", &format!("--{EVIL}")],
        &["show", "f64", "--width", EVIL],
        &["dump", "f64", "-", "--records", EVIL],
        &["pack", "f64", "-", "-", "--count", EVIL],
        &[EVIL, "info", "f64"],
        &["info", EVIL],
        &["compare", EVIL, "f64"],
        &["info", &format!("@{EVIL}")],
        &["info", &format!("{EVIL}: f64"), "--from", "c"],
        &["dump", "f64", EVIL],
        &["frame", EVIL],
        &["pack", "f64", EVIL, "-"],
        &["unpack", "f64", "-", "-", "--over", EVIL],
        &["pack", "f64", "-", &format!("none/{EVIL}")],
    ] {
        let (_, message) = plain(arguments, &[]);
        assert!(message.starts_with("error: "), "{arguments:?}: {message}");
        assert!(!message.contains('\u{1b}'), "{arguments:?}: {message}");
    }
    let (_, message) = plain(&["man", "\u{1b}[2J"], &[]);
    assert_eq!(message, "error: unknown subcommand `\\u{1b}[2J`\n");
    let (_, message) = plain(&["show", "f64", "--as", "\u{1b}[2J\n"], &[]);
    assert!(
        message.starts_with(r"error: invalid value '\u{1b}[2J\n' for '--as <FORM>'"),
        "{message}"
    );
}

/// A line of a message cannot be forged by a line in a file's name.
#[cfg(unix)]
#[test]
fn paths_are_no_commands_to_the_terminal() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let file = folder.file(&format!("a\nnote: b{EVIL}.h"), b"struct P { int x }");
    let argument = format!("@{}", file.display());
    let (_, message) = plain(&["info", &argument], &[]);
    assert!(
        message.contains(r"/a\nnote: b\u{1b}[2J\u{1b}]0;x\u{7}\r\u{7f}\u{85}\u{9b}2J"),
        "{message}"
    );
    assert!(message.contains(r".h:1:18"), "{message}");
    let (_, message) = plain(&["info", &file.display().to_string()], &[]);
    assert!(message.contains("a file has this name"), "{message}");
    let missing = OsStr::from_bytes(b"no\xff\x9b\x1b.bin");
    for arguments in [
        [OsStr::new("dump"), OsStr::new("f64"), missing],
        [OsStr::new("frame"), missing, OsStr::new("f64")],
    ] {
        let (_, message) = plain(&arguments, &[]);
        assert!(message.contains(r"cannot read no\xff\x9b\u{1b}.bin: "), "{message}");
    }
}

/// The caret stands below what it means.
#[test]
fn texts_are_no_commands_to_the_terminal() {
    for (language, before, wrong) in [
        ("c", "struct P { /* EVIL */ int EVIL x; ", "double y"),
        ("notation", "struct{aEVIL: u8, ", "f46"),
        ("rust", "#[repr(C)] struct P { x: u8, /* EVIL */ y: ", "f46"),
        ("numpy", "[('aEVIL', 'u1'), ('b', ", "'f46'"),
    ] {
        let text = format!("{before}{wrong}").replace("EVIL", EVIL);
        plain(&["info", "--from", language, &text], &[]);
        plain(&["info", "--from", language, "-"], text.as_bytes());
    }
    for sign in EVIL.chars().filter(|c| *c != '\r') {
        let text = format!("[('a{sign}', 'u1'), ('b', 'f46')]");
        let (_, message) = plain(&["info", "--from", "numpy", &text], &[]);
        let lines: Vec<&str> = message.lines().collect();
        let column = |line: &str, sign: &str| line.find(sign).map(|at| line[..at].chars().count());
        let at = lines.iter().position(|line| line.contains("^^^^^")).unwrap();
        assert_eq!(column(lines[at], "^"), column(lines[at - 1], "'f46'"), "{message}");
    }
}

#[test]
fn names_are_no_commands_to_the_terminal() {
    let escaped: Vec<String> = EVIL.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect();
    let escaped = escaped.concat();
    let named = &format!("[('a{escaped}\\n', 'u1'), ('b', 'u1')]");
    let other = &format!("[('b', 'u1'), ('a{escaped}\\n', 'u1')]");
    let twice = &format!("[('a{escaped}', 'u1'), ('a{escaped}', 'u1')]");
    for form in [
        "diagram",
        "svg",
        "description",
        "optimized",
        "plan",
        "c",
        "rust",
        "c-struct",
        "rust-struct",
        "tree",
        "numpy",
        "notation",
        "json",
    ] {
        let (shown, _) = plain(&["show", "--from=numpy", named, "--as", form], &[]);
        assert!(!shown.is_empty(), "{form}");
    }
    for arguments in [
        &["--from=numpy", named][..],
        &["info", "--from=numpy", named],
        &["info", "--from=numpy", named, "--json"],
        &["compare", "--from=numpy", named, other],
        &["compare", "--from=numpy", named, other, "--json"],
    ] {
        assert!(!plain(arguments, &[]).0.is_empty());
    }
    for form in ["table", "csv", "json", "hex"] {
        let dump = ["dump", "--from=numpy", named, "-", "--as", form];
        assert!(!plain(&dump, &[1, 2, 3, 4]).0.is_empty());
    }
    let (_, message) = plain(&["info", "--from=numpy", twice], &[]);
    assert!(message.contains(r"two fields are called `a\u{1b}[2J\u{1b}]0;x\u{7}"), "{message}");
    // JSON has the name itself.
    let (json, _) = plain(&["show", "--from=numpy", named, "--json"], &[]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["fields"][0]["path"], format!("a{EVIL}\n"));
}

#[test]
fn values_are_no_commands_to_the_terminal() {
    let text: Vec<u8> = (0..=255).collect();
    let chars: Vec<u8> = EVIL.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect();
    for (ty, bytes) in [("[c_char; 256]", &text), ("c_char", &text), ("char", &chars)] {
        for form in ["table", "csv", "json", "hex"] {
            let (shown, _) = plain(&["dump", ty, "-", "--as", form], bytes);
            assert!(!shown.is_empty());
        }
    }
    // The names in a schema, and a type that a message holds.
    let schema = "struct\u{202e}\nname\u{61c}: f64\n".to_owned();
    let mut stream = Vec::new();
    dtype_message::send(&mut stream, &schema, dtype_message::Framing::new()).unwrap();
    for form in ["text", "json"] {
        let (shown, _) = plain(&["frame", "-", "--as", form, "--dump"], &stream);
        assert!(shown.contains("schema"), "{shown}");
    }
}
