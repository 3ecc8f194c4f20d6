//! `#if` and its relatives: which lines of a text apply.
//!
//! Many conditions cannot be known: they depend on headers that are not read, and on options of the compiler. All
//! branches of such a condition are read, and a struct whose layout it can change is a mistake.

use std::ops::Range;

use super::super::token::Token;
use super::Read;
use super::macros::Macros;
use super::truth::{is_defined, truth};
use crate::problem::Problem;

#[derive(Clone, Copy, Debug)]
enum Branch {
    /// The condition is not known.
    Open,
    /// This branch applies, and no later one.
    Taken,
    /// A later branch may apply.
    Waiting,
    /// No further branch applies.
    Done,
}

/// A line of a condition that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its first branch starts.
    Start,
    /// Another branch starts.
    Next {
        is_else: bool,
    },
    End,
}

/// A condition whose `#endif` has not been read.
#[derive(Debug)]
struct Group {
    branch: Branch,
    /// The positions of its `#if` and its `#else`.
    start: Range<usize>,
    last: Option<Range<usize>>,
}

#[derive(Debug, Default)]
pub(super) struct Conditions<'s> {
    groups: Vec<Group>,
    /// The numbers of the unknown branches around this place, and for `#ifndef NAME` the name.
    open: Vec<(usize, Option<&'s str>)>,
    /// The number of the last unknown branch.
    last: usize,
}

impl<'s> Conditions<'s> {
    /// Whether the lines here apply, or may do so.
    pub(super) fn applies(&self) -> bool {
        !matches!(self.branch(), Some(Branch::Waiting | Branch::Done))
    }

    fn branch(&self) -> Option<Branch> {
        self.groups.last().map(|group| group.branch)
    }

    /// The innermost unknown branch; 0 if there is none. Branches that start later have greater numbers.
    pub(super) fn segment(&self) -> usize {
        self.open.last().map_or(0, |(segment, _)| *segment)
    }

    /// The name that gets a value here only if it has none: `#ifndef N`, `#define N 4`.
    pub(super) fn undefined(&self) -> Option<&'s str> {
        self.open.last().and_then(|(_, undefined)| *undefined)
    }

    /// Reads a directive at a position, and says what it is of an unknown condition. `next` is a directive that follows it
    /// at once.
    pub(super) fn directive(
        &mut self,
        (word, span): (&str, Range<usize>),
        rest: &[Token<'s>],
        macros: &mut Macros<'s>,
        next: Option<&Token<'s>>,
    ) -> Read<Option<Line>> {
        self.check(word, &span)?;
        let rest = rest.split_last().map_or(rest, |(_, before)| before);
        let name = rest.first().map_or("", |name| name.text);
        match word {
            "if" | "ifdef" | "ifndef" if !self.applies() => self.begin(Branch::Done, span),
            "if" | "ifdef" | "ifndef" => {
                let value = match word {
                    "if" => truth(rest, macros),
                    "ifdef" => is_defined(name, macros),
                    _ if macros.is_new(name) && is_guard(name, next) => Some(true),
                    _ => is_defined(name, macros).map(|value| !value),
                };
                self.begin(branch(value), span);
                return Ok(self.start(value, Some(name).filter(|_| word == "ifndef")));
            }
            "elif" | "elifdef" | "elifndef" | "else" => match self.branch() {
                Some(Branch::Open) => {
                    self.enter();
                    return Ok(Some(Line::Next { is_else: word == "else" }));
                }
                Some(Branch::Taken) => self.replace(Branch::Done),
                Some(Branch::Waiting) => {
                    let value = match word {
                        "else" => Some(true),
                        "elif" => truth(rest, macros),
                        "elifdef" => is_defined(name, macros),
                        _ => is_defined(name, macros).map(|value| !value),
                    };
                    self.replace(branch(value));
                    return Ok(self.start(value, None));
                }
                Some(Branch::Done) | None => {}
            },
            "endif" => {
                if let Some(Group { branch: Branch::Open, .. }) = self.groups.pop() {
                    self.open.pop();
                    return Ok(Some(Line::End));
                }
            }
            _ => {}
        }
        Ok(None)
    }

    /// Refuses a branch or an end without a condition, and a branch after the last one.
    fn check(&mut self, word: &str, span: &Range<usize>) -> Read<()> {
        if !matches!(word, "elif" | "elifdef" | "elifndef" | "else" | "endif") {
            return Ok(());
        }
        let Some(group) = self.groups.last_mut() else {
            let message = format!("`#{word}` without `#if`");
            return Err(Box::new(Problem::new(
                message,
                span.clone(),
                "no condition starts before",
            )));
        };
        if let (Some(last), true) = (&group.last, word != "endif") {
            let problem = Problem::new(format!("`#{word}` after `#else`"), span.clone(), "again");
            return Err(Box::new(problem.and(last.clone(), "the last branch")));
        }
        if word == "else" {
            group.last = Some(span.clone());
        }
        Ok(())
    }

    /// Refuses a condition that has not ended with the text.
    pub(super) fn end(&self) -> Read<()> {
        let Some(open) = self.groups.last() else { return Ok(()) };
        let problem = Problem::new("`#if` without `#endif`", open.start.clone(), "not ended");
        Err(Box::new(problem.help("the end of the text may be missing")))
    }

    fn begin(&mut self, branch: Branch, start: Range<usize>) {
        self.groups.push(Group { branch, start, last: None });
    }

    /// Enters a branch, which is an unknown one if its condition has no value.
    fn start(&mut self, value: Option<bool>, undefined: Option<&'s str>) -> Option<Line> {
        if value.is_some() {
            return None;
        }
        self.last += 1;
        self.open.push((self.last, undefined));
        Some(Line::Start)
    }

    fn replace(&mut self, branch: Branch) {
        if let Some(group) = self.groups.last_mut() {
            group.branch = branch;
        }
    }

    /// Enters another branch of the innermost unknown condition.
    fn enter(&mut self) {
        self.last += 1;
        if let Some(open) = self.open.last_mut() {
            *open = (self.last, None);
        }
    }
}

fn branch(value: Option<bool>) -> Branch {
    match value {
        None => Branch::Open,
        Some(true) => Branch::Taken,
        Some(false) => Branch::Waiting,
    }
}

/// Whether the next directive defines this name as nothing: then the condition keeps a header from being read twice.
fn is_guard(name: &str, next: Option<&Token<'_>>) -> bool {
    next.is_some_and(|next| {
        let inside = next.inside();
        matches!(&*inside, [define, defined, _] if define.text == "define" && defined.text == name)
    })
}
