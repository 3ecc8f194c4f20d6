//! What the commands print, word for word: `tests/commands/*.trycmd`. `TRYCMD=overwrite` updates them.

use std::process::Command;

#[cfg(target_endian = "little")]
#[test]
fn commands() {
    trycmd::TestCases::new().case("tests/commands/*.trycmd");
}

/// What the command prints; a failure's message if it fails.
fn output(arguments: &[&str]) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let command =
        Command::new(env!("CARGO_BIN_EXE_dtype")).args(arguments).current_dir(root).output();
    let output = command.unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    String::from_utf8(text).unwrap()
}

/// The arguments of a command as a shell takes them: every second part is in single quotes.
fn arguments(command: &str) -> Vec<&str> {
    let parts = command.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| match i % 2 {
            0 => part.split_whitespace().collect(),
            _ => vec![part],
        })
        .collect()
}

#[test]
fn the_book_shows_what_is_printed() {
    let chapter = include_str!("../../../docs/src/command.md");
    let commands: Vec<&str> = chapter
        .lines()
        .filter_map(|line| line.strip_prefix("cargo run -q -p dtype-cli -- "))
        .collect();
    assert!(!commands.is_empty());
    for command in commands {
        assert!(chapter.contains(&output(&arguments(command))), "{command}");
    }
    let mut shown = 0;
    let next = chapter.lines().skip(1);
    for (command, next) in chapter.lines().zip(next) {
        // The output follows, unless another command or the end of the block does.
        let Some(command) = command.strip_prefix("$ dtype ") else { continue };
        if next.starts_with("$ ") || next.starts_with("```") {
            continue;
        }
        assert!(chapter.contains(&output(&arguments(command))), "{command}");
        shown += 1;
    }
    assert!(shown >= 2);
    assert!(chapter.contains(include_str!("../../examples/halo.dtype")));
}

/// What a picture shows: the field or the gap and its bytes, with the number of its row, of each box.
fn boxes(svg: &str) -> Vec<(String, usize)> {
    let mut rows = Vec::new();
    let boxes = svg.lines().filter(|line| line.starts_with("<rect") && line.contains("<title>"));
    let boxes = boxes.map(|line| {
        let within = |start, end| line.split_once(start).unwrap().1.split_once(end).unwrap().0;
        let (row, title) = (within(" y=\"", "\""), within("<title>", "</title>"));
        if rows.last() != Some(&row) {
            rows.push(row);
        }
        // The name of a Rust type, such as an enum's, before its basic datatype is not known elsewhere.
        let (name, ty) = title.split_once(": ").unwrap_or(("", title));
        (format!("{name}: {}", ty.rsplit(": ").next().unwrap()), rows.len())
    });
    boxes.collect()
}

/// The text of an option in a link.
fn decoded(option: &str) -> String {
    let mut parts = option.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

/// Every picture of a type is a link to the page `docs/play`, with a text that gives the same picture there.
#[test]
fn the_books_pictures_are_those_of_their_links() {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
    let mut pictures = 0;
    for chapter in std::fs::read_dir(book).unwrap().map(|entry| entry.unwrap().path()) {
        if chapter.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        for image in read(&chapter).split("](images/").skip(1) {
            let (name, after) = image.split_once(')').unwrap();
            let picture = boxes(&read(&chapter.with_file_name("images").join(name)));
            let Some(link) = after.strip_prefix("](play/index.html#") else {
                assert!(picture.is_empty(), "{name} is no link");
                continue;
            };
            let mut arguments: Vec<String> = ["show", "--as", "svg"].map(Into::into).to_vec();
            for option in link.split_once(')').unwrap().0.split('&') {
                match option.split_once('=').unwrap() {
                    ("a", text) => arguments.push(decoded(text)),
                    ("packed", _) => arguments.push("--packed".into()),
                    (option, value) => arguments.extend([format!("--{option}"), value.into()]),
                }
            }
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let drawn = boxes(&output(&arguments));
            assert!(!drawn.is_empty(), "{name}: {}", output(&arguments));
            assert!(
                picture.is_empty() || drawn == picture,
                "{name}: {drawn:#?} is not {picture:#?}"
            );
            pictures += 1;
        }
    }
    assert!(pictures >= 27, "{pictures}");
}

#[test]
fn the_examples_are_types() {
    assert!(
        output(&["info", "@dtype-cli/examples/particle.dtype"])
            .starts_with("size       31 bytes\n")
    );
    assert!(
        output(&["info", "@dtype-cli/examples/halo.dtype"]).starts_with("size       48 bytes\n")
    );
}

#[test]
fn options_before_a_subcommand() {
    let c = "struct P { int x; };";
    assert_eq!(output(&["--from", "c", "info", c]), output(&["info", c, "--from", "c"]));
    assert_eq!(output(&["--colour", "never", "show", "f64"]), output(&["show", "f64"]));
    assert_eq!(output(&["--from=c", "--colour=never", c]), output(&[c]));
    assert!(output(&["f64", "info", "f64"]).contains("cannot be given before a subcommand"));
    assert!(output(&["--from", "c"]).contains("<TYPE>"));
    assert!(output(&["show", "f64", "--instances", "281474976710657"]).contains("is not in 0..="));
    assert!(output(&["--help"]).contains("Usage: dtype [OPTIONS] <TYPE>\n"));
}

#[test]
fn memory_is_compared() {
    let status = |a: &str, b: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dtype"));
        let output = command.args(["compare", "--memory", "--json", a, b]).output().unwrap();
        let json = serde_json::from_slice::<serde_json::Value>(&output.stdout);
        let same = json.map_or(serde_json::Value::Null, |json| json["same_memory"].clone());
        (output.status.code().unwrap(), same.as_bool())
    };
    let c = "struct P { char tag[4]; long n; };";
    for (a, b) in [
        (c, "#[repr(C)] struct P { tag: [i8; 4], n: i64 }"),
        (c, "#[repr(C)] struct Q { label: [u8; 4], _pad: [u8; 4], count: u64 }"),
        (c, "[('tag', 'S4'), ('', 'V4'), ('n', 'u8')]"),
        ("struct P { unsigned char a; double x[2]; };", "struct{u8, f64, f64}"),
        ("struct P { double _Complex z; };", "#[repr(C)] struct P { re: f64, im: f64 }"),
        ("struct P { _Bool b; wchar_t w; };", "#[repr(C)] struct P { b: bool, w: i32 }"),
        // The order of packing does not change the memory.
        ("struct{u8@8, f64@0}", "struct{f64@0, u8@8}"),
        ("vector(2, 2, 3, u16)", "struct{u16@0, u16@2, u16@6, u16@8}"),
        // By their descriptions, and not element by element.
        ("[long; 1_000_000_000_000]", "[u64; 1_000_000_000_000]"),
    ] {
        assert_eq!(status(a, b), (0, Some(true)), "{a} and {b}");
        assert_eq!(status(b, a), (0, Some(true)), "{b} and {a}");
    }
    for (a, b) in [
        (c, "#[repr(C)] struct P { tag: [i8; 4], n: i32 }"),
        (c, "#[repr(C)] struct P { tag: [i8; 4], n: f64 }"),
        (c, "#[repr(C)] struct P { tag: i32, n: i64 }"),
        (c, "#[repr(C, packed)] struct P { tag: [i8; 4], n: i64 }"),
        ("u8", "bool"),
        ("struct{f64, u8}", "resized(struct{f64, u8}, 0, 24)"),
        ("struct{u8@0}", "resized(u8, -1, 2)"),
        ("MPI_LONG_DOUBLE", "MPI_REAL16"),
        ("u16", "struct{u8, u8}"),
        ("[u16; 1_000_000_000_000]", "[u8; 1_000_000_000_000]"),
    ] {
        assert_eq!(status(a, b), (1, Some(false)), "{a} and {b}");
        assert_eq!(status(b, a), (1, Some(false)), "{b} and {a}");
    }
    // Too long to be compared, but for their bounds.
    let (a, b) = ("[u8; 1_000_000_000_000]", "[u8; 1_000_000_000_001]");
    assert_eq!(status(a, b), (1, Some(false)));
    for page in [output(&["man", "compare"]), output(&["completions", "bash"])] {
        assert!(page.replace('\\', "").contains("--memory"));
    }
}

#[test]
fn completions_and_man_pages() {
    for (shell, word) in [
        ("bash", "complete"),
        ("elvish", "edit:"),
        ("fish", "complete"),
        ("powershell", "Register"),
        ("zsh", "#compdef"),
    ] {
        let script = output(&["completions", shell]);
        assert!(script.contains(word) && script.contains("compare"), "{shell}");
    }
    assert!(output(&["man"]).contains(".TH dtype 1"));
    let version = concat!("\"dtype ", env!("CARGO_PKG_VERSION"), "\"");
    assert!(output(&["man", "show"]).contains(version));
    assert!(output(&["man", "notation"]).contains("subarray([sizes]"));
    assert!(output(&["help", "notation"]).contains("subarray([sizes]"));
    assert!(output(&["notation"]).contains("unsigned long long"));
}
