//! Mistakes in a text: what is wrong, where it is, and how to correct it.

use std::ops::Range;

use crate::printable::printable;

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The problem, in a sentence without a full stop.
    pub message: String,
    /// The bytes of the text that are wrong.
    pub span: Range<usize>,
    /// The label at these bytes; may be empty.
    pub label: String,
    /// Other relevant bytes, each with a label.
    pub others: Vec<(Range<usize>, String)>,
    /// A suggestion, in a sentence.
    pub help: Option<String>,
    /// The replacement text that goes with the suggestion.
    pub replacement: Option<String>,
    /// The names to choose from, where the text declares several structs.
    pub choices: Vec<String>,
}

impl Problem {
    /// A mistake at these bytes.
    pub fn new(message: impl Into<String>, span: Range<usize>, label: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            span,
            label: label.into(),
            others: Vec::new(),
            help: None,
            replacement: None,
            choices: Vec::new(),
        }
    }

    /// Adds other relevant bytes.
    #[must_use]
    pub fn and(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.others.push((span, label.into()));
        self
    }

    /// Adds a suggestion.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a replacement text.
    #[must_use]
    pub fn instead(mut self, replacement: impl Into<String>) -> Self {
        self.replacement = Some(replacement.into());
        self
    }
}

/// The maximum number of characters of a name that a message repeats.
const MAX_QUOTED: usize = 40;

/// A word of a text, for a message. A long word is cut, and characters that a terminal could interpret as commands are escaped.
pub fn quoted(word: &str) -> String {
    match word.char_indices().nth(MAX_QUOTED) {
        None => format!("`{}`", printable(word)),
        Some((end, _)) => format!("`{}…`", printable(&word[..end])),
    }
}
