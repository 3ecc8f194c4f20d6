//! What the preprocessor does with a text: macros without arguments, conditions and pragmas.
//!
//! The reader sees the tokens that remain. What it has to know about the lines that are gone is beside them, with the
//! number of the token that follows the line.

use std::ops::Range;

use super::super::token::{Comments, Cursor, Kind, Token, tokens};
use super::Read;
use super::conditions::{Conditions, Line};
use super::macros::Macros;
use super::pragma::{Pragmas, Rules};

/// The lines of the preprocessor that the reader has to know about.
#[derive(Debug)]
pub(super) struct Lines {
    /// The lines of conditions that are neither surely true nor surely false.
    conditions: Vec<(usize, Range<usize>)>,
    /// The changes of what pragmas say about layouts.
    rules: Vec<(usize, Rules)>,
}

impl Lines {
    /// A condition after the token with one number, up to the one with another.
    pub(super) fn condition(&self, tokens: Range<usize>) -> Option<Range<usize>> {
        let first = self.conditions.partition_point(|(index, _)| *index <= tokens.start);
        let found = self.conditions.get(first).filter(|(index, _)| *index <= tokens.end);
        found.map(|(_, span)| span.clone())
    }

    /// What pragmas say at the token with this number.
    pub(super) fn rules(&self, token: usize) -> Rules {
        let after = self.rules.partition_point(|(index, _)| *index <= token);
        after.checked_sub(1).map_or(Rules::default(), |last| self.rules[last].1)
    }
}

/// Expands macros and leaves out what conditions exclude.
pub(super) fn preprocess(source: &str) -> Read<(Cursor<'_>, Lines)> {
    let mut pass = Pass { out: Vec::new(), conditions: Vec::new(), rules: Vec::new() };
    let (mut macros, mut pragmas) = (Macros::default(), Pragmas::default());
    let mut branches = Conditions::default();
    let all = tokens(source, Comments::C);
    let mut at = 0;
    while let Some(token) = all.get(at) {
        if token.kind == Kind::Directive {
            let inside = token.inside();
            let (word, rest) = inside.split_first().map_or(("", &[][..]), |(a, b)| (a.text, b));
            let span = token.start..inside.first().map_or(token.end, |word| word.end);
            let guard = all.get(at + 1).filter(|next| next.kind == Kind::Directive);
            let segment = branches.segment();
            if let Some(line) = branches.directive((word, span), rest, &mut macros, guard)? {
                pass.conditions.push((pass.out.len(), token.span()));
                pragmas.branch(line);
                if line != Line::Start {
                    macros.leave(segment);
                }
            } else if branches.applies() {
                match word {
                    "define" => macros.define(rest, branches.segment(), branches.undefined()),
                    "undef" => macros.undefine(rest, branches.segment()),
                    "pragma" => pragmas.line(rest),
                    _ => {}
                }
            }
            pass.note(&pragmas);
            at += 1;
            continue;
        }
        if !branches.applies() && token.kind != Kind::End {
            at += 1;
            continue;
        }
        let is_call = all.get(at + 1).is_some_and(|next| next.is("("));
        if token.kind == Kind::Word && macros.is_expanded(token.text) {
            let expanded = macros.expand(*token, is_call)?;
            let mut done = 0;
            while done < expanded.len() {
                done += pass.add(&expanded[done..], &mut pragmas);
            }
            at += 1;
        } else {
            let token = Token { kind: macros.kind(token, is_call), ..*token };
            at += if token.kind == Kind::Macro || token.kind == Kind::Branches {
                pass.out.push(token);
                1
            } else {
                pass.add(&all[at..], &mut pragmas)
            };
        }
    }
    branches.end()?;
    let Pass { out, conditions, rules } = pass;
    Ok((Cursor::of(out, source), Lines { conditions, rules }))
}

struct Pass<'s> {
    out: Vec<Token<'s>>,
    conditions: Vec<(usize, Range<usize>)>,
    rules: Vec<(usize, Rules)>,
}

impl<'s> Pass<'s> {
    /// Adds the first of these tokens, or the pragma that they start with, and says how many it took.
    fn add(&mut self, rest: &[Token<'s>], pragmas: &mut Pragmas<'s>) -> usize {
        let taken = match rest {
            // `_Pragma("pack(1)")`
            [word, open, text, close, ..]
                if word.is("_Pragma")
                    && open.is("(")
                    && text.kind == Kind::Text
                    && close.is(")") =>
            {
                let inside = text.text.trim_matches('"');
                pragmas.line(&tokens(inside, Comments::C));
                4
            }
            // `__pragma(pack(1))`
            [word, open, inside @ ..] if word.is("__pragma") && open.is("(") => {
                let mut depth = 1_usize;
                let length = inside.iter().position(|token| {
                    depth += usize::from(token.is("("));
                    depth -= usize::from(token.is(")"));
                    depth == 0
                });
                let length = length.unwrap_or(inside.len());
                pragmas.line(&inside[..length]);
                length + 3
            }
            [first, ..] => {
                self.out.push(*first);
                return 1;
            }
            [] => return 0,
        };
        self.note(pragmas);
        taken
    }

    /// Keeps what pragmas say from here on.
    fn note(&mut self, pragmas: &Pragmas<'s>) {
        let now = pragmas.rules();
        if self.rules.last().map_or(Rules::default(), |(_, rules)| *rules) != now {
            self.rules.push((self.out.len(), now));
        }
    }
}
