//! What the command suggests after a mistake can be done, and leads further.

use std::fs;
use std::process::{Command, Output};

use crate::command::{Folder, dtype, noise};

const SUBCOMMANDS: [&str; 9] =
    ["show", "info", "pack", "unpack", "dump", "frame", "compare", "notation", "completions"];

/// The parts of a text in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn help_of(subcommand: Option<&str>) -> String {
    let output = dtype().args(subcommand).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The texts of the suggestions in a message, and the lines that they would put in place of the first one.
fn suggestions(message: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut texts, mut replacements) = (Vec::new(), Vec::new());
    let mut lines = message.lines();
    while let Some(line) = lines.next() {
        let Some((_, text)) = line.split_once("help: ") else { continue };
        texts.push(text);
        let mut after = lines.clone().skip(1);
        let new = after.find(|line| !line.starts_with("1 - "));
        replacements
            .extend(new.and_then(|line| line.strip_prefix("1 + ").or(line.strip_prefix("1 | "))));
    }
    (texts, replacements)
}

/// Follows the suggestions in the message of a command that failed in a folder. Returns how many there are.
fn follow(arguments: &[String], message: &str, folder: &Folder) -> usize {
    let run = |arguments: &[String]| -> Output {
        dtype().args(arguments).current_dir(folder.path("")).output().unwrap()
    };
    let own = arguments.iter().find(|one| SUBCOMMANDS.contains(&one.as_str()));
    let (texts, replacements) = suggestions(message);
    let mut followed = 0;
    for text in texts {
        let named: Vec<&str> = quoted(text)
            .filter_map(|part| {
                let word = part.strip_prefix("dtype ").unwrap_or(part).split(' ').next()?;
                SUBCOMMANDS.contains(&word).then_some(word)
            })
            .collect();
        for part in quoted(text) {
            if part.starts_with("--") && !text.contains("--features") {
                let option = part.split(' ').next().unwrap();
                let takers: Vec<Option<&str>> = match &named[..] {
                    [] => vec![own.map(String::as_str)],
                    named => named.iter().copied().map(Some).collect(),
                };
                for taker in takers {
                    assert!(help_of(taker).contains(option), "{arguments:?}: {taker:?}: {text}");
                    followed += 1;
                }
            } else if part.starts_with('@') && part != "@FILE" && !part.contains("FILE:") {
                let wrong = part.trim_start_matches('@');
                let instead = arguments.iter().map(|one| if one == wrong { part } else { one });
                let output = run(&instead.map(str::to_owned).collect::<Vec<_>>());
                assert!(output.status.success(), "{arguments:?}: {text}: {output:?}");
                followed += 1;
            } else if part.contains("dtype ")
                && !part.contains(|c: char| c.is_ascii_uppercase())
                && !text.contains("a dataset")
            {
                let path = std::env::var("PATH").unwrap_or_default();
                let bin = std::path::Path::new(env!("CARGO_BIN_EXE_dtype")).parent().unwrap();
                let mut shell = Command::new("sh");
                shell.args(["-c", part]).current_dir(folder.path(""));
                let output = shell.env("PATH", format!("{}:{path}", bin.display())).output();
                let output = output.unwrap();
                assert!(output.status.success(), "{arguments:?}: {text}: {output:?}");
                followed += 1;
            }
        }
    }
    let mistakes = |text: &str| text.lines().filter(|line| line.starts_with("error: ")).count();
    for replacement in replacements {
        // The line is that of the last argument with the mistake, or of the only one.
        let at = arguments.iter().rposition(|one| message.contains(&format!("1 | {one}\n")));
        let Some(at) = at else { continue };
        let mut instead = arguments.to_vec();
        replacement.clone_into(&mut instead[at]);
        let output = run(&instead);
        let left = String::from_utf8(output.stderr).unwrap();
        assert!(mistakes(&left) < mistakes(message), "{instead:?}: {left}");
        followed += 1;
    }
    followed
}

/// The arguments of a command line.
fn split(command: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => parts.push(String::new()),
            (c, _) => parts.last_mut().unwrap().push(c),
        }
    }
    parts
}

#[test]
fn pinned_messages() {
    let folder = Folder::new();
    let (mut messages, mut followed) = (0, 0);
    for file in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for block in text.split("```console\n").skip(1) {
            let block = block.split("```\n").next().unwrap();
            let (command, output) = block.split_once('\n').unwrap();
            let Some(command) = command.strip_prefix("$ dtype ") else { continue };
            if let Some(message) = output.strip_prefix("? 2\n") {
                messages += 1;
                followed += follow(&split(command), message, &folder);
            }
        }
    }
    assert!(messages > 20 && followed > 8, "{messages}, {followed}");
}

#[test]
fn messages_about_files() {
    let folder = Folder::new();
    folder.file("two.rs", b"struct R { a: u8, b: f64 }");
    folder.file("f64", b"u8");
    folder.file("text", b"struct{x: u8}");
    folder.file("noise", &noise(100));
    folder.file("people.h5", b"\x89HDF\r\n\x1a\n\0\0");
    folder.file("p.h", b"#ifdef A\nstruct P { int x; };\n#endif\nstruct P { int x; };\n");
    let mut followed = 0;
    for (arguments, expected) in [
        ("text", "`@text` reads the type from it"),
        ("@two.rs", "take `--packed`"),
        ("show @two.rs", "take `--packed`"),
        ("info @two.rs", "take `--packed`"),
        ("compare @two.rs @two.rs", "take `--packed`"),
        ("pack @two.rs noise out", "take `--packed`"),
        #[cfg(not(feature = "hdf5"))]
        ("show people.h5:group/people", "--features hdf5`"),
        #[cfg(not(feature = "hdf5"))]
        ("show @people.h5", "--features hdf5`"),
        #[cfg(not(feature = "hdf5"))]
        ("dump people.h5:group/people", "--features hdf5`"),
        ("show noise", "`dtype dump TYPE noise`"),
        ("show @noise", "`dtype dump TYPE noise`"),
        ("dump noise", "`dtype dump TYPE noise`"),
        ("dump f64 noise --representation external32", "`--packed`"),
        ("dump struct{u8@-4} noise", "`--origin 4`"),
        ("pack [u8;200] noise out", "`--count`"),
        ("show @p.h:P", "cc -g -c"),
        ("show [('x','>f8')]", "`--representation big`"),
    ] {
        let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
        let output = dtype().args(&arguments).current_dir(folder.path("")).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        followed += follow(&arguments, &message, &folder);
    }
    assert!(followed > 25, "{followed}");
    for arguments in
        ["compare --packed @two.rs @two.rs", "info --packed @two.rs", "info --packed f64"]
    {
        let output = dtype().args(arguments.split(' ')).current_dir(folder.path("")).output();
        assert!(output.unwrap().status.success(), "{arguments}");
    }
}

/// Compiles a file in a folder, and says whether there is such a compiler.
fn compiled(folder: &Folder, command: &str) -> bool {
    let (compiler, options) = command.split_once(' ').unwrap();
    let mut command = Command::new(compiler);
    let output = command.args(options.split(' ')).current_dir(folder.path("")).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn the_parts_of_a_type_without_a_layout() {
    let folder = Folder::new();
    folder.file(
        "u.c",
        b"struct point { int x, y; }; typedef struct { double r; } circle;
          union u { struct point p; circle c, d; int n; } u; union w { int a; float b; } w;",
    );
    folder.file(
        "p.rs",
        b"pub enum Shape { Circle(f64, u8), Rect { w: f64, h: f64 }, Empty }
          pub static S: [Shape; 2] = [Shape::Circle(1.0, 2), Shape::Rect { w: 1.0, h: 2.0 }];
          fn main() { println!(\"{}\", S.len()); }",
    );
    for (command, file, ty, parts) in [
        ("gcc -g -c u.c", "u.o", "u", &["point", "circle"][..]),
        ("gcc -g -c u.c", "u.o", "w", &[]),
        ("clang -g -c u.c", "u.o", "u", &["point", "circle"]),
        ("rustc -g p.rs", "p", "Shape", &["p::Shape::Circle", "p::Shape::Rect", "p::Shape::Empty"]),
    ] {
        if !compiled(&folder, command) {
            continue;
        }
        let show = |ty: &str, form: &str| {
            let mut dtype = dtype();
            dtype.current_dir(folder.path("")).args(["show", "--as", form]);
            dtype.arg(format!("{file}:{ty}")).output().unwrap()
        };
        assert!(show(ty, "diagram").status.success(), "{ty}");
        let message = String::from_utf8(show(ty, "c").stderr).unwrap();
        let listed: Vec<&str> =
            message.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert_eq!(listed, parts, "{message}");
        assert_eq!(message.contains("it has no struct"), parts.is_empty(), "{message}");
        for part in parts {
            assert!(show(part, "diagram").status.success(), "{part}");
        }
    }
}

#[test]
fn objects_that_only_the_linker_compiles() {
    let folder = Folder::new();
    folder.file("p.c", b"struct P { int x; char y; } p; int main(void) { return p.x; }");
    for (compiler, what) in [("gcc", "link-time optimization"), ("clang", "bitcode")] {
        if !compiled(&folder, &format!("{compiler} -g -flto -c p.c")) {
            continue;
        }
        let info = || dtype().current_dir(folder.path("")).args(["info", "p.o:P"]).output();
        let message = String::from_utf8(info().unwrap().stderr).unwrap();
        assert!(message.contains(what), "{message}");
        let option = quoted(message.split("help: ").nth(1).unwrap()).next().unwrap();
        let options = if option == "-flto" { "-g".into() } else { format!("-g -flto {option}") };
        assert!(compiled(&folder, &format!("{compiler} {options} -c p.c")));
        assert!(info().unwrap().status.success(), "{compiler} {options}");
    }
}

/// The command that a message shows works as it stands.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_compilers_command_works() {
    let folder = Folder::new();
    let text = "#ifdef X\n#endif\nstruct P { char c; double x; };";
    folder.file("x.h", text.as_bytes());
    let dtype = std::path::Path::new(env!("CARGO_BIN_EXE_dtype"));
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let paths = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{paths}", dtype.parent().unwrap().display());
        command.current_dir(folder.path("")).env("PATH", path).args(arguments).output().unwrap()
    };
    let refused = run("dtype", &["@x.h:P"]);
    let message = String::from_utf8(refused.stderr).unwrap();
    let at = message.find("`cc ").unwrap();
    let line = message[at + 1..].split('`').next().unwrap();
    assert!(line.ends_with("x.h -o x.o && dtype x.o:P"), "{line}");
    if Command::new("cc").arg("--version").output().is_ok() {
        let shown = run("sh", &["-c", line]);
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert!(shown.contains("padding    7 bytes: 7 after `c`"), "{shown}");
    }
}
