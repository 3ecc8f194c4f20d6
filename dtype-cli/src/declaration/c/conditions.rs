//! `#if` and its relatives: which lines of a text apply.
//!
//! Many conditions cannot be known: they depend on headers that are not read, and on options of the compiler. All
//! branches of such a condition are read, and a struct whose layout it can change is a mistake.

use super::super::token::{Kind, Token};
use super::macros::Macros;
use super::number::Number;

/// Macros that a C compiler of this system has.
const DEFINED: &[&str] = if cfg!(unix) { &["__GNUC__", "__STDC__"] } else { &["__STDC__"] };

/// Macros that it does not have.
const UNDEFINED: &[&str] =
    if cfg!(unix) { &["__cplusplus", "_MSC_VER", "_WIN32"] } else { &["__cplusplus"] };

/// How deep the brackets and the `!` of a condition may nest; a deeper one is not known.
const MAX_DEPTH: usize = 64;

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

#[derive(Debug, Default)]
pub(super) struct Conditions<'s> {
    branches: Vec<Branch>,
    /// The numbers of the unknown branches around this place, and for `#ifndef NAME` the name.
    open: Vec<(usize, Option<&'s str>)>,
    /// The number of the last unknown branch.
    last: usize,
}

impl<'s> Conditions<'s> {
    /// Whether the lines here apply, or may do so.
    pub(super) fn applies(&self) -> bool {
        !matches!(self.branches.last(), Some(Branch::Waiting | Branch::Done))
    }

    /// The innermost unknown branch; 0 if there is none. Branches that start later have greater numbers.
    pub(super) fn segment(&self) -> usize {
        self.open.last().map_or(0, |(segment, _)| *segment)
    }

    /// The name that gets a value here only if it has none: `#ifndef N`, `#define N 4`.
    pub(super) fn undefined(&self) -> Option<&'s str> {
        self.open.last().and_then(|(_, undefined)| *undefined)
    }

    /// Reads a directive, and says what it is of an unknown condition. `next` is a directive that follows it at once.
    pub(super) fn directive(
        &mut self,
        word: &str,
        rest: &[Token<'s>],
        macros: &Macros<'s>,
        next: Option<&Token<'s>>,
    ) -> Option<Line> {
        let rest = rest.split_last().map_or(rest, |(_, before)| before);
        match word {
            "if" | "ifdef" | "ifndef" if !self.applies() => self.branches.push(Branch::Done),
            "if" | "ifdef" | "ifndef" => {
                let name = rest.first().map_or("", |name| name.text);
                let value = match word {
                    "if" => self.value(rest, macros),
                    "ifdef" => self.is_defined(name, macros),
                    _ if macros.is_new(name) && is_guard(name, next) => Some(true),
                    _ => self.is_defined(name, macros).map(|value| !value),
                };
                self.branches.push(branch(value));
                return self.start(value, Some(name).filter(|_| word == "ifndef"));
            }
            "elif" | "elifdef" | "elifndef" | "else" => match self.branches.last() {
                Some(Branch::Open) => {
                    self.enter();
                    return Some(Line::Next { is_else: word == "else" });
                }
                Some(Branch::Taken) => self.replace(Branch::Done),
                Some(Branch::Waiting) => {
                    let value = match word {
                        "else" => Some(true),
                        "elif" => self.value(rest, macros),
                        _ => None,
                    };
                    self.replace(branch(value));
                    return self.start(value, None);
                }
                Some(Branch::Done) | None => {}
            },
            "endif" => {
                if let Some(Branch::Open) = self.branches.pop() {
                    self.open.pop();
                    return Some(Line::End);
                }
            }
            _ => {}
        }
        None
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
        if let Some(last) = self.branches.last_mut() {
            *last = branch;
        }
    }

    /// Enters another branch of the innermost unknown condition.
    fn enter(&mut self) {
        self.last += 1;
        if let Some(open) = self.open.last_mut() {
            *open = (self.last, None);
        }
    }

    fn is_defined(&self, name: &str, macros: &Macros<'_>) -> Option<bool> {
        let is_around =
            |segment| self.open.binary_search_by_key(&segment, |(open, _)| *open).is_ok();
        let is_sure = |segment: usize| segment == 0 || is_around(segment);
        if macros.segment(name).is_some_and(is_sure) {
            return Some(true);
        }
        known(name).filter(|_| macros.is_new(name))
    }

    /// The value of a condition that consists of `defined`, numbers, `!`, `&&`, `||` and brackets.
    fn value(&self, tokens: &[Token<'s>], macros: &Macros<'s>) -> Option<bool> {
        let mut condition = Condition { tokens, conditions: self, macros, depth: 0 };
        let value = condition.either()?;
        condition.tokens.is_empty().then_some(value)?
    }
}

/// Whether the compiler defines a name, if that is known.
fn known(name: &str) -> Option<bool> {
    DEFINED.contains(&name).then_some(true).or(UNDEFINED.contains(&name).then_some(false))
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

/// Reads a condition. The outer `None` is a mistake in it, or what is not understood; the inner one is a value that
/// is not known.
struct Condition<'t, 's> {
    tokens: &'t [Token<'s>],
    conditions: &'t Conditions<'s>,
    macros: &'t Macros<'s>,
    depth: usize,
}

type Known = Option<Option<bool>>;

impl Condition<'_, '_> {
    fn take(&mut self, text: &str) -> bool {
        let rest = self.tokens.split_first().filter(|(first, _)| first.is(text)).map(|(_, b)| b);
        rest.inspect(|rest| self.tokens = rest).is_some()
    }

    fn either(&mut self) -> Known {
        let mut value = self.both()?;
        while self.take("|") {
            let right = if self.take("|") { self.both()? } else { return None };
            value = match (value, right) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        Some(value)
    }

    fn both(&mut self) -> Known {
        let mut value = self.one()?;
        while self.take("&") {
            let right = if self.take("&") { self.one()? } else { return None };
            value = match (value, right) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
        Some(value)
    }

    fn one(&mut self) -> Known {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = self.factor();
        self.depth -= 1;
        value
    }

    fn factor(&mut self) -> Known {
        if self.take("!") {
            return self.one().map(|value| value.map(|value| !value));
        }
        if self.take("(") {
            let value = self.either()?;
            return self.take(")").then_some(value);
        }
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        match first.kind {
            Kind::Number => Number::parse(first.text).map(|number| Some(number.value != 0)),
            Kind::Word if first.text == "defined" => {
                let has_bracket = self.take("(");
                let (name, rest) = self.tokens.split_first()?;
                self.tokens = rest;
                let is_closed = !has_bracket || self.take(")");
                is_closed.then_some(self.conditions.is_defined(name.text, self.macros))
            }
            Kind::Word => Some(known(first.text).filter(|_| self.macros.is_new(first.text))),
            _ => None,
        }
    }
}
