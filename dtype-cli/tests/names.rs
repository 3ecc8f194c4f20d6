//! Names that are long, or hold what a terminal takes as commands.

mod command;

use std::time::Instant;

use command::{Folder, done, dtype, failed, fed};

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
    let start = Instant::now();
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
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn names_are_no_commands_to_the_terminal() {
    let named = r"[('a\x1b[31m\x1b]0;owned\x07\n\x9b', 'u1'), ('b', 'u1')]";
    let twice = r"[('a\x1b[31m', 'u1'), ('a\x1b[31m', 'u1')]";
    let is_plain = |text: &[u8]| {
        let text = String::from_utf8(text.to_vec()).unwrap();
        text.chars().all(|c| !c.is_control() || c == '\n')
    };
    for arguments in [
        &["--from=numpy", named][..],
        &["show", "--from=numpy", named, "--as=svg"],
        &["show", "--from=numpy", named, "--as=numpy"],
        &["show", "--from=numpy", named, "--as=notation"],
        &["show", "--from=numpy", named, "--as=c-struct"],
        &["info", "--from=numpy", named],
    ] {
        assert!(is_plain(&done(dtype().args(arguments))), "{arguments:?}");
    }
    let picture = String::from_utf8(done(dtype().args(["show", "--from=numpy", named]))).unwrap();
    assert!(picture.contains(r"a\u{1b}[31m\u{1b}]0;owned\u{7}\n\u{9b}  u8"), "{picture}");
    let message = failed(dtype().args(["info", "--from=numpy", twice]));
    assert!(is_plain(message.as_bytes()) && message.contains(r"`a\u{1b}[31m`"), "{message}");
    let message = failed(dtype().args(["info", "struct{a\u{9b}\x1b[31m: f46}"]));
    assert!(is_plain(message.as_bytes()) && message.contains("struct{a·"), "{message}");
    // JSON has the name itself.
    let json = done(dtype().args(["show", "--from=numpy", named, "--json"]));
    assert!(is_plain(&json));
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["fields"][0]["path"], "a\x1b[31m\x1b]0;owned\x07\n\u{9b}");
}
