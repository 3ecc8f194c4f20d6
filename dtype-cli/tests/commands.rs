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
            let arguments: Vec<&str> = command.split(' ').collect();
            assert!(page.contains(&output(&arguments)), "{command}");
        }
    }
    let mistake = chapter.lines().find_map(|line| line.strip_prefix("$ dtype '")).unwrap();
    assert!(chapter.contains(&output(&[mistake.trim_end_matches('\'')])), "{mistake}");
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
    assert!(output(&["man", "notation"]).contains("subarray([sizes]"));
    assert!(output(&["help", "notation"]).contains("subarray([sizes]"));
    assert!(output(&["notation"]).contains("unsigned long long"));
}
