//! What is wrong with a text, where, and what would be right.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// The bytes of the text that are wrong.
    pub span: Range<usize>,
    /// What is said at the place; may be empty.
    pub label: String,
    /// Other places that play a part, and what is said there.
    pub others: Vec<(Range<usize>, String)>,
    /// What would help, in a sentence.
    pub help: Option<String>,
    /// What to write in the place of what is wrong; goes with the help.
    pub replacement: Option<String>,
}

impl Problem {
    /// A mistake at a place.
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

    /// With another place that plays a part.
    #[must_use]
    pub fn and(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.others.push((span, label.into()));
        self
    }

    /// With what would help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With what to write instead.
    #[must_use]
    pub fn instead(mut self, replacement: impl Into<String>) -> Self {
        self.replacement = Some(replacement.into());
        self
    }
}

/// So many bytes of text are searched for the lines of problems, which takes time for each of them.
const MOST_SEARCHED: usize = 4 << 20;

/// So many characters of a name are repeated in a message.
const MOST_QUOTED: usize = 40;

/// A word of a text, for a message: what is too long is cut.
pub(crate) fn quoted(word: &str) -> String {
    match word.char_indices().nth(MOST_QUOTED) {
        None => format!("`{word}`"),
        Some((end, _)) => format!("`{}…`", &word[..end]),
    }
}

/// The problems of a text as people read them: each with the line that it is in and a caret at the column. `name` is
/// what the text is called, a file's name, say; lines are cut to `width` columns around the place. Of many problems in
/// a long text the first ones are written.
///
/// ```
/// use dtype_cli::notation;
/// let source = "vector(4, 5, 6, u46)";
/// let problems = notation::parse(source).unwrap_err();
/// let text = dtype_cli::problem::render(&problems, source, "TYPE", false, 100);
/// assert!(text.contains("`u46` is no type"));
/// assert!(text.contains("TYPE:1:17"));
/// ```
pub fn render(
    problems: &[Problem],
    source: &str,
    name: &str,
    colour: bool,
    width: usize,
) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.term_width(width);
    let mut out = String::new();
    let shown = (MOST_SEARCHED / source.len().max(1)).clamp(1, problems.len().max(1));
    for problem in problems.iter().take(shown) {
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
