//! The macros of a text. One without arguments is replaced by what it stands for, as the preprocessor does it.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::MAX_NESTING;
use super::super::token::{Comments, Kind, Token, tokens};
use super::{Read, predefined};
use crate::problem::Problem;

/// The maximum number of tokens that all macros of a text expand to, since each one can double the last one's.
const MOST_EXPANDED: usize = 1 << 20;

#[derive(Debug)]
struct Macro<'s> {
    body: Rc<[Token<'s>]>,
    has_arguments: bool,
    /// The branch of conditions in which it is defined.
    segment: usize,
    /// Whether it depends on a condition what it stands for.
    is_unsure: bool,
}

#[derive(Debug)]
pub(super) struct Macros<'s> {
    all: HashMap<&'s str, Macro<'s>>,
    /// The names that are defined in unknown branches which have not ended, with the numbers of the branches.
    inside: Vec<(usize, &'s str)>,
    /// The number of tokens that macros may still expand to.
    left: usize,
}

impl Default for Macros<'_> {
    /// Those that the compiler defines.
    fn default() -> Self {
        let mut macros = Self { all: HashMap::new(), inside: Vec::new(), left: MOST_EXPANDED };
        for line in tokens(&predefined::LINES, Comments::C) {
            if let [_, rest @ ..] = &*line.inside() {
                macros.define(rest, 0, None);
            }
        }
        macros
    }
}

impl<'s> Macros<'s> {
    /// `NAME value`, in a branch of conditions. That branch may be the one where the name `undefined` is not defined.
    pub(super) fn define(&mut self, line: &[Token<'s>], segment: usize, undefined: Option<&str>) {
        let Some((name, rest)) = line.split_first().filter(|(name, _)| name.kind == Kind::Word)
        else {
            return;
        };
        let body = rest.split_last().map_or(&[][..], |(_, body)| body);
        let has_arguments = body.first().is_some_and(|open| open.is("(") && open.start == name.end);
        let mut new = Macro { body: body.into(), has_arguments, segment, is_unsure: false };
        if let Some(old) = self.all.get(name.text) {
            let texts = |one: &Macro<'s>| -> Vec<&'s str> {
                one.body.iter().map(|token| token.text).collect()
            };
            let is_same = old.has_arguments == has_arguments && texts(old) == texts(&new);
            if old.segment < segment {
                // Whether this definition replaces the older one depends on a condition.
                new.is_unsure = old.is_unsure || !is_same;
                new.segment = old.segment;
            }
        }
        if segment > 0 && undefined != Some(name.text) {
            self.inside.push((segment, name.text));
        }
        self.all.insert(name.text, new);
    }

    /// Leaves an unknown branch: what it defines may not be defined after it.
    pub(super) fn leave(&mut self, segment: usize) {
        while let Some((_, name)) = self.inside.pop_if(|(inside, _)| *inside >= segment) {
            if let Some(one) = self.all.get_mut(name).filter(|one| one.segment >= segment) {
                one.is_unsure = true;
            }
        }
    }

    pub(super) fn undefine(&mut self, line: &[Token<'s>], segment: usize) {
        let Some(name) = line.first() else { return };
        match self.all.get_mut(name.text) {
            Some(old) if old.segment < segment => old.is_unsure = true,
            _ => drop(self.all.remove(name.text)),
        }
    }

    /// Whether a macro is defined, and what it stands for is sure.
    pub(super) fn is_sure(&self, name: &str) -> bool {
        self.all.get(name).is_some_and(|one| !one.is_unsure)
    }

    /// Whether the text has not said anything about this name.
    pub(super) fn is_new(&self, name: &str) -> bool {
        !self.all.contains_key(name)
    }

    /// Whether the name is replaced.
    pub(super) fn is_expanded(&self, name: &str) -> bool {
        self.all.get(name).is_some_and(|one| !one.has_arguments && !one.is_unsure)
    }

    /// What a token is that is not replaced.
    pub(super) fn kind(&self, token: &Token<'s>, is_call: bool) -> Kind {
        match self.all.get(token.text).filter(|_| token.kind == Kind::Word) {
            Some(one) if one.has_arguments && is_call => Kind::Macro,
            Some(one) if one.is_unsure && !one.has_arguments => Kind::Branches,
            _ => token.kind,
        }
    }

    /// What a name stands for, at its position. A bracket may follow it.
    pub(super) fn expand(&mut self, name: Token<'s>, is_call: bool) -> Read<Vec<Token<'s>>> {
        let mut out = Vec::new();
        self.replace(name, name, is_call, &mut Vec::new(), &mut out)?;
        Ok(out)
    }

    /// Expands a token at the place of another one; `active` are the names inside whose bodies it is.
    fn replace(
        &mut self,
        token: Token<'s>,
        place: Token<'s>,
        is_call: bool,
        active: &mut Vec<&'s str>,
        out: &mut Vec<Token<'s>>,
    ) -> Read<()> {
        if self.left == 0 || active.len() > MAX_NESTING {
            let message = if self.left == 0 {
                format!("the macros of this text expand to more than {MOST_EXPANDED} tokens")
            } else {
                format!("macros nest deeper than {MAX_NESTING} levels")
            };
            return Err(Box::new(Problem::new(message, place.span(), "in this macro")));
        }
        self.left -= 1;
        let is_macro = token.kind == Kind::Word && self.is_expanded(token.text);
        if is_macro
            && !active.contains(&token.text)
            && let Some(body) = self.all.get(token.text).map(|one| Rc::clone(&one.body))
        {
            active.push(token.text);
            for (number, inner) in body.iter().enumerate() {
                let is_call = body.get(number + 1).map_or(is_call, |next: &Token<'_>| next.is("("));
                self.replace(*inner, place, is_call, active, out)?;
            }
            active.pop();
            return Ok(());
        }
        // A macro does not expand inside itself.
        let kind = if is_macro { token.kind } else { self.kind(&token, is_call) };
        out.push(Token { kind, start: place.start, end: place.end, ..token });
        Ok(())
    }
}
