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
fn the_readme_and_the_book_show_what_is_printed() {
    let chapter = include_str!("../../docs/src/command.md");
    for page in [include_str!("../../README.md"), chapter] {
        let commands: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("cargo run -q -p dtype-cli -- "))
            .collect();
        assert!(!commands.is_empty());
        for command in commands {
            assert!(page.contains(&output(&arguments(command))), "{command}");
        }
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
    assert!(chapter.contains(include_str!("../examples/halo.dtype")));
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
fn an_svg_goes_to_a_file() {
    let message = output(&["show", "u8", "--svg", "-"]);
    assert!(message.contains("`--as svg` prints the picture"), "{message}");
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
