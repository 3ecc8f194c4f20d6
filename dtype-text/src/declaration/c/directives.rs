//! Reads lines of the preprocessor: `#define N 3`, `#pragma pack`, `#include` and the guard of a header.

use std::collections::{HashMap, HashSet};

use super::constants::constant;
use super::{Read, by_compiler};
use crate::problem::{Problem, quoted};
use crate::token::{Blank, Cursor, Kind, Token, tokens};

/// A text without its lines of the preprocessor.
#[derive(Debug)]
pub(super) struct Text<'s> {
    pub(super) cursor: Cursor<'s>,
    /// The macros that are numbers.
    pub(super) values: HashMap<&'s str, i128>,
    /// The limits of `#pragma pack`, each with the number of the token from which on it applies.
    packs: Vec<(usize, Option<u64>)>,
}

impl Text<'_> {
    /// The limit of `#pragma pack` at the token with this number.
    pub(super) fn pack(&self, index: usize) -> Option<u64> {
        let after = self.packs.partition_point(|(start, _)| *start <= index);
        after.checked_sub(1).and_then(|last| self.packs[last].1)
    }
}

/// Reads the lines of the preprocessor.
pub(super) fn read(source: &str) -> Read<Text<'_>> {
    let tokens = tokens(source, Blank::C);
    let guard = guard(&tokens);
    let mut rest = Vec::with_capacity(tokens.len());
    let mut values: HashMap<&str, i128> = HashMap::new();
    // Macros that are not numbers, or that are defined several times. Using one is a mistake.
    let mut others: HashSet<&str> = HashSet::new();
    let mut packs = Vec::new();
    let (mut pack, mut stack) = (None, Vec::new());
    let is_pragma = |token: &&Token<'_>| matches!(token.text, "_Pragma" | "__pragma");
    for token in &tokens {
        let inside = if token.kind == Kind::Directive { token.inside() } else { Vec::new() };
        if let Some(pragma) = inside.iter().chain([token]).find(is_pragma) {
            let problem = Problem::new("pragmas of macros are not read", pragma.span(), "");
            return Err(Box::new(by_compiler(problem)));
        }
        if token.kind != Kind::Directive {
            let is_macro = token.kind == Kind::Word && others.contains(token.text);
            rest.push(Token { kind: if is_macro { Kind::Macro } else { token.kind }, ..*token });
            continue;
        }
        let [word, name] = [0, 1].map(|number| inside.get(number).map_or("", |one| one.text));
        match (word, name) {
            _ if guard.is_some_and(|guard| guard.contains(&token.start)) => {}
            ("define", name) => {
                let body = &inside[2.min(inside.len())..];
                let is_call =
                    body.first().is_some_and(|open| open.is("(") && open.start == inside[1].end);
                let mut cursor = Cursor::new(body.to_vec(), source);
                let value = constant(&mut cursor, &|name| values.get(name).copied());
                let value = value.ok().filter(|_| !is_call && cursor.peek().kind == Kind::End);
                let before = values.remove(name);
                match value.filter(|value| before.is_none_or(|before| before == *value)) {
                    Some(value) => drop(values.insert(name, value)),
                    None => drop(others.insert(name)),
                }
            }
            ("pragma", "pack") => {
                let mut cursor = Cursor::new(inside[2..].to_vec(), source);
                set_pack(&mut cursor, &mut pack, &mut stack).map_err(|()| {
                    let problem =
                        Problem::new("this `#pragma pack` is not supported", token.span(), "");
                    Box::new(by_compiler(problem))
                })?;
                packs.push((rest.len(), pack));
            }
            ("pragma", "scalar_storage_order" | "ms_struct" | "options") => {
                let message = format!("the pragma {} changes layouts", quoted(name));
                return Err(Box::new(by_compiler(Problem::new(message, token.span(), ""))));
            }
            ("include" | "undef" | "error" | "warning" | "line" | "ident" | "pragma" | "", _) => {}
            _ => {
                let message = "conditions are not evaluated";
                let problem = Problem::new(message, token.span(), "a line of the preprocessor");
                return Err(Box::new(by_compiler(problem)));
            }
        }
    }
    Ok(Text { cursor: Cursor::new(rest, source), values, packs })
}

/// The starts of the three lines that keep a header from being read twice, if they enclose the whole text.
fn guard(tokens: &[Token<'_>]) -> Option<[usize; 3]> {
    let mut lines = tokens.iter().filter(|token| token.kind == Kind::Directive);
    let (first, second) = (lines.next()?, lines.next()?);
    // The last token marks the end.
    let last = tokens.iter().rev().nth(1).filter(|last| last.kind == Kind::Directive)?;
    let is_guard = match (&*words(first), &*words(second), &*words(last)) {
        (["ifndef", name, ""], ["define", defined, ..], ["endif", ..]) => name == defined,
        _ => false,
    };
    (is_guard && tokens.first()?.start == first.start).then_some([
        first.start,
        second.start,
        last.start,
    ])
}

fn words<'s>(line: &Token<'s>) -> Vec<&'s str> {
    line.inside().iter().map(|word| word.text).collect()
}

/// `(n)`, `()`, `(push)`, `(push, n)` or `(pop)`.
fn set_pack(
    cursor: &mut Cursor<'_>,
    pack: &mut Option<u64>,
    stack: &mut Vec<Option<u64>>,
) -> Result<(), ()> {
    cursor.take("(").ok_or(())?;
    let mut is_open = true;
    if cursor.take("push").is_some() {
        stack.push(*pack);
        is_open = cursor.take(",").is_some();
    } else if cursor.take("pop").is_some() {
        *pack = stack.pop().ok_or(())?;
        is_open = false;
    } else if cursor.peek().is(")") {
        *pack = None;
        is_open = false;
    }
    if is_open {
        let number = cursor.next();
        let limit = number.text.parse().ok().filter(|limit| matches!(limit, 1 | 2 | 4 | 8 | 16));
        *pack = Some(limit.ok_or(())?);
    }
    let is_closed = cursor.take(")").is_some() && cursor.peek().kind == Kind::End;
    is_closed.then_some(()).ok_or(())
}
