//! Mistakes in a text, shown in their lines.

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use dtype_text::printable::{is_command, printable};
use dtype_text::problem::Problem;

/// The number of bytes of text that are searched for the lines of problems, once for each problem.
const MAX_SEARCHED: usize = 4 << 20;

/// The problem with its texts escaped for a terminal.
fn escaped(problem: &Problem) -> Problem {
    let others = problem.others.iter().map(|(span, label)| (span.clone(), printable(label)));
    Problem {
        message: printable(&problem.message),
        label: printable(&problem.label),
        others: others.collect(),
        help: problem.help.as_ref().map(printable),
        replacement: problem.replacement.as_deref().map(pictured),
        ..problem.clone()
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
/// use dtype_text::notation;
/// let source = "vector(4, 5, 6, u46)";
/// let problems = notation::parse(source).unwrap_err();
/// let text = dtype_cli::snippet::render(&problems, source, "TYPE", false, 100);
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
    for problem in problems.iter().take(shown).map(escaped) {
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
