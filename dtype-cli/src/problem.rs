//! Mistakes in a text: what is wrong, where it is, and how to correct it.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};

use crate::value::{is_command, printable};

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
        }
    }

    /// Adds other relevant bytes.
    #[must_use]
    pub fn and(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.others.push((span, label.into()));
        self
    }

    /// The problem with its texts escaped for a terminal.
    fn printable(&self) -> Self {
        let others = self.others.iter().map(|(span, label)| (span.clone(), printable(label)));
        Self {
            message: printable(&self.message),
            span: self.span.clone(),
            label: printable(&self.label),
            others: others.collect(),
            help: self.help.as_ref().map(printable),
            replacement: self.replacement.as_deref().map(pictured),
        }
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

/// The number of bytes of text that are searched for the lines of problems, once for each problem.
const MAX_SEARCHED: usize = 4 << 20;

/// The maximum number of characters of a name that a message repeats.
const MAX_QUOTED: usize = 40;

/// A word of a text, for a message. A long word is cut, and characters that a terminal could interpret as commands are escaped.
pub(crate) fn quoted(word: &str) -> String {
    match word.char_indices().nth(MAX_QUOTED) {
        None => format!("`{}`", printable(word)),
        Some((end, _)) => format!("`{}…`", printable(&word[..end])),
    }
}

/// The lines of a text for a snippet, without anything that a terminal could interpret as a command. Each character keeps its
/// number of bytes, so positions stay the same. (The renderer itself replaces control characters of one byte.)
fn pictured(text: &str) -> String {
    let picture = |c: char| match c.len_utf8() {
        2 if is_command(c) => '·',
        3 if is_command(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    };
    text.chars().map(picture).collect()
}

/// Renders the problems of a text, each with its line and a caret at the column. `name` names the text, for example by
/// its file. Lines are cut to `width` columns around the mistake. If a long text has many problems, only the first are
/// written.
///
/// ```
/// use dtype_cli::notation;
/// let source = "vector(4, 5, 6, u46)";
/// let problems = notation::parse(source).unwrap_err();
/// let text = dtype_cli::problem::render(&problems, source, "TYPE", false, 100);
/// assert!(text.contains("unknown type `u46`"));
/// assert!(text.contains("TYPE:1:17"));
/// ```
pub fn render(
    problems: &[Problem],
    source: &str,
    name: &str,
    colour: bool,
    width: usize,
) -> String {
    let (source, name) = (&pictured(source), &printable(name));
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.term_width(width);
    let mut out = String::new();
    let shown = (MAX_SEARCHED / source.len().max(1)).clamp(1, problems.len().max(1));
    for problem in problems.iter().take(shown).map(Problem::printable) {
        if !out.is_empty() {
            out.push('\n');
        }
        let snippet = Snippet::source(source)
            .path(name)
            .annotation(AnnotationKind::Primary.span(problem.span.clone()).label(&problem.label))
            .annotations(problem.others.iter().map(|(span, label)| {
                AnnotationKind::Context.span(span.clone()).label(label.as_str())
            }));
        let mut groups: Vec<Group<'_>> =
            vec![Level::ERROR.primary_title(problem.message.as_str()).element(snippet)];
        match (&problem.help, &problem.replacement) {
            (Some(help), Some(replacement)) => {
                let patch = Patch::new(problem.span.clone(), replacement.as_str());
                let fixed = Snippet::source(source).path(name).patch(patch);
                groups.push(Level::HELP.secondary_title(help.as_str()).element(fixed));
            }
            (Some(help), None) => {
                let last = groups.remove(0);
                groups.push(last.element(Level::HELP.message(help.as_str())));
            }
            (None, _) => {}
        }
        out.push_str(&renderer.render(&groups));
        out.push('\n');
    }
    match problems.len().saturating_sub(shown) {
        0 => out,
        more => out + &format!("… and {more} more\n"),
    }
}
