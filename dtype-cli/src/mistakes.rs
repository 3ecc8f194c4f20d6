//! What `--errors json` prints: the mistakes of a failure for an editor, with their places.

use std::io::Write;

use dtype_text::problem::Problem;
use serde::Serialize;

use crate::failure::Failure;
use crate::json;

/// A mistake.
#[derive(Debug, Serialize)]
struct Mistake<'t> {
    message: &'t str,
    help: Option<&'t str>,
    #[serde(flatten)]
    place: Option<Place<'t>>,
}

/// Where it is in a text, and what to write instead.
#[derive(Debug, Serialize)]
struct Place<'t> {
    text: &'t str,
    start: usize,
    end: usize,
    line: usize,
    column: usize,
    label: &'t str,
    others: Vec<Other<'t>>,
    replacement: Option<&'t str>,
    choices: &'t [String],
}

/// Another place in the text.
#[derive(Debug, Serialize)]
struct Other<'t> {
    start: usize,
    end: usize,
    label: &'t str,
}

/// Prints each mistake on a line.
pub(crate) fn print(failure: &Failure, out: &mut impl Write) -> Result<(), Failure> {
    if let Failure::Notation { problems, text, name } = failure {
        let mistakes = problems.iter().map(|problem| Mistake {
            message: &problem.message,
            help: problem.help.as_deref(),
            place: Some(Place::of(problem, text, name)),
        });
        return mistakes.into_iter().try_for_each(|mistake| json::print_line(&mistake, out));
    }
    let text = failure.to_string();
    let (message, help) = text.split_once("\nhelp: ").map_or((&*text, None), |(a, b)| (a, Some(b)));
    json::print_line(&Mistake { message, help, place: None }, out)
}

impl<'t> Place<'t> {
    fn of(problem: &'t Problem, source: &str, text: &'t str) -> Self {
        let before = source.get(..problem.span.start).unwrap_or(source);
        let line = before.rfind('\n').map_or(before, |at| &before[at + 1..]);
        let others = problem.others.iter();
        Self {
            text,
            start: problem.span.start,
            end: problem.span.end,
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            label: &problem.label,
            others: others
                .map(|(span, label)| Other { start: span.start, end: span.end, label })
                .collect(),
            replacement: problem.replacement.as_deref(),
            choices: &problem.choices,
        }
    }
}
