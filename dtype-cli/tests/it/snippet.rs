//! Mistakes can be drawn, whatever the text.

use dtype_cli::snippet::render;
use dtype_text::declaration::{Language, parse};
use proptest::prelude::*;

/// Pieces of texts in all languages, and of what terminals and editors take as signs.
fn texts() -> impl Strategy<Value = String> {
    let pieces = vec![
        "struct",
        "P",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ",",
        ":",
        "=",
        "@",
        "let",
        "vector",
        "u8",
        "f46",
        "double",
        "int",
        "#define",
        "#[repr(C)]",
        "'",
        "\"",
        "x",
        "\n",
        "\r\n",
        "\t",
        " ",
        "\u{1b}[31m",
        "\u{202e}",
        "é",
        "🦀",
        "\u{feff}",
        "0",
    ];
    proptest::collection::vec(proptest::sample::select(pieces), 0..40).prop_map(|all| all.join(" "))
}

proptest! {
    #[test]
    fn every_mistake_can_be_drawn(text in texts(), width in 40_usize..160) {
        for (_, language) in Language::ALL {
            let Err(problems) = parse(&text, language, None) else { continue };
            for colour in [false, true] {
                let drawn = render(&problems, &text, "text", colour, width);
                prop_assert!(problems.iter().all(|problem| !problem.message.is_empty()));
                prop_assert_eq!(drawn.matches("text:").count() >= problems.len(), true, "{}", drawn);
                prop_assert!(!drawn.contains('\u{202e}'), "{drawn}");
            }
        }
    }
}
