//! The items of a Rust file.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenTree};

use super::super::MAX_NESTING;
use super::Reader;
use super::attributes::{is_condition, is_test};
use super::tokens::{contents, group, is_sign, parts, word};
use crate::problem::{Problem, quoted};

/// A declaration that a type can name.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The position of the name.
    pub(super) span: Range<usize>,
    /// The position of another item with this name.
    pub(super) again: Option<Range<usize>>,
    /// The contents of the attributes' brackets, also of the conditions of the modules around.
    pub(super) attributes: Vec<Group>,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Struct {
        generics: Option<Range<usize>>,
        fields: Vec<Field>,
    },
    /// `values` are the variants' own ones; `None` where a variant has the one after the last one's.
    Enum {
        has_data: bool,
        values: Vec<Option<Vec<TokenTree>>>,
    },
    Union,
    Alias(Vec<TokenTree>),
    Constant(Vec<TokenTree>),
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    /// `None` in a tuple struct.
    pub(super) name: Option<String>,
    pub(super) ty: Vec<TokenTree>,
    /// The contents of the attributes' brackets.
    pub(super) attributes: Vec<Group>,
}

/// The result of reading items.
type Read<T> = Result<T, Box<Problem>>;

impl Reader<'_, '_> {
    /// Collects the items among these tokens.
    pub(super) fn items(&mut self, tokens: &[TokenTree]) -> Read<()> {
        let mut rest = tokens;
        while !rest.is_empty() {
            let (attributes, after) = attributes(rest);
            let after = without_visibility(after);
            if is_test(&attributes) {
                rest = skip(after);
                continue;
            }
            let keyword = match after.first() {
                Some(TokenTree::Ident(ident)) => ident.to_string(),
                _ => String::new(),
            };
            let name = word(after.get(1));
            rest = match (keyword.as_str(), name) {
                ("struct" | "union", Some(name)) => self.struct_item(after, name, attributes)?,
                ("enum", Some(name)) => self.enumeration(after, name, attributes),
                ("type", Some(name)) => {
                    let (tokens, end) = up_to(after, ';');
                    let from = tokens.iter().position(|token| is_sign(Some(token), '='));
                    let ty = from.and_then(|from| tokens.get(from + 1..)).unwrap_or(&[]);
                    self.add(name, &after[1], attributes, Kind::Alias(ty.to_vec()));
                    end
                }
                ("const" | "static", Some(name)) if is_sign(after.get(2), ':') => {
                    let (tokens, end) = up_to(after, ';');
                    let from = tokens.iter().position(|token| is_sign(Some(token), '='));
                    let value = from.and_then(|from| tokens.get(from + 1..)).unwrap_or(&[]);
                    if name != "_" {
                        self.add(name, &after[1], attributes, Kind::Constant(value.to_vec()));
                    }
                    end
                }
                ("mod", Some(_)) if group(after.get(2), Delimiter::Brace).is_some() => {
                    if let Some(inner) = group(after.get(2), Delimiter::Brace) {
                        self.module(inner, attributes)?;
                    }
                    after.get(3..).unwrap_or(&[])
                }
                _ => skip(after),
            };
        }
        Ok(())
    }

    /// The items of a module, which are there on the module's conditions.
    fn module(&mut self, inner: &Group, attributes: Vec<Group>) -> Read<()> {
        if self.depth >= MAX_NESTING {
            let span = self.span(&[TokenTree::Group(inner.clone())]);
            let message = format!("modules nest deeper than {MAX_NESTING} levels");
            return Err(Box::new(Problem::new(message, span.start..span.start + 1, "one more")));
        }
        self.depth += 1;
        let outside = self.conditions.len();
        self.conditions.extend(attributes.into_iter().filter(is_condition));
        self.items(&contents(inner))?;
        self.conditions.truncate(outside);
        self.depth -= 1;
        Ok(())
    }

    fn add(&mut self, name: String, at: &TokenTree, attributes: Vec<Group>, kind: Kind) {
        let span = self.span(std::slice::from_ref(at));
        if let Some(before) = self.items.get_mut(&name) {
            // A mistake only where the name is used: the two may be in modules that have nothing to do with it.
            before.again.get_or_insert(span);
            let is_struct = |kind: &Kind| matches!(kind, Kind::Struct { .. });
            if is_struct(&kind) && !is_struct(&before.kind) {
                before.kind = kind;
                self.order.push(name);
            }
            return;
        }
        if matches!(kind, Kind::Struct { .. }) {
            self.order.push(name.clone());
        }
        let attributes = attributes.into_iter().chain(self.conditions.iter().cloned()).collect();
        self.items.insert(name, Item { span, again: None, attributes, kind });
    }

    /// A struct or a union; returns what follows it.
    fn struct_item<'t>(
        &mut self,
        tokens: &'t [TokenTree],
        name: String,
        attributes: Vec<Group>,
    ) -> Read<&'t [TokenTree]> {
        let is_union = word(tokens.first()).as_deref() == Some("union");
        let end = tokens.iter().position(|token| {
            group(Some(token), Delimiter::Brace).is_some() || is_sign(Some(token), ';')
        });
        let Some(end) = end else {
            let span = self.span(&tokens[1..2]);
            let message = format!("{} has no fields and no `;`", quoted(&name));
            return Err(Box::new(Problem::new(message, span, "expected `{ … }` or `;`")));
        };
        let head = tokens.get(2..end).unwrap_or(&[]);
        let generics = is_sign(head.first(), '<').then(|| self.span(&head[..1]));
        let kind = if is_union {
            Kind::Union
        } else if let Some(body) = group(tokens.get(end), Delimiter::Brace) {
            Kind::Struct { generics, fields: self.named_fields(body)? }
        } else if let Some(body) =
            head.iter().find_map(|token| group(Some(token), Delimiter::Parenthesis))
        {
            Kind::Struct { generics, fields: Self::tuple_fields(body) }
        } else {
            Kind::Struct { generics, fields: Vec::new() }
        };
        self.add(name, &tokens[1], attributes, kind);
        Ok(tokens.get(end + 1..).unwrap_or(&[]))
    }

    fn named_fields(&mut self, body: &Group) -> Read<Vec<Field>> {
        let tokens = contents(body);
        let mut fields: Vec<Field> = Vec::new();
        let mut names = std::collections::HashMap::new();
        for part in parts(&tokens) {
            let (attributes, rest) = attributes(part);
            let rest = without_visibility(rest);
            let (Some(name), [first, _, ty @ ..]) = (word(rest.first()), rest) else {
                let span = self.span(if rest.is_empty() { part } else { &rest[..1] });
                let message = "expected the name of a field";
                return Err(Box::new(Problem::new(message, span, "expected `name: type`")));
            };
            if !is_sign(rest.get(1), ':') || ty.is_empty() {
                let span = self.span(&rest[..2]);
                let problem =
                    Problem::new("expected `name: type`", span, "expected `:` and a type");
                return Err(Box::new(
                    problem.help("fields are separated by commas: `x: f64, y: u8`"),
                ));
            }
            let span = self.span(std::slice::from_ref(first));
            if let Some(before) = names.insert(name.clone(), span.clone()) {
                let message = format!("two fields are called {}", quoted(&name));
                let problem = Problem::new(message, span, "again");
                return Err(Box::new(problem.and(before, "the first one")));
            }
            fields.push(Field { name: Some(name), ty: ty.to_vec(), attributes });
        }
        Ok(fields)
    }

    fn tuple_fields(body: &Group) -> Vec<Field> {
        let tokens = contents(body);
        let fields = parts(&tokens).map(|part| {
            let (attributes, rest) = attributes(part);
            let ty = without_visibility(rest).to_vec();
            Field { name: None, ty, attributes }
        });
        fields.collect()
    }

    fn enumeration<'t>(
        &mut self,
        tokens: &'t [TokenTree],
        name: String,
        attributes: Vec<Group>,
    ) -> &'t [TokenTree] {
        let end = tokens.iter().position(|token| group(Some(token), Delimiter::Brace).is_some());
        let Some(end) = end else { return skip(tokens) };
        let body = group(tokens.get(end), Delimiter::Brace).map(contents).unwrap_or_default();
        let has_data = parts(&body).any(|variant| {
            let (_, rest) = self::attributes(variant);
            matches!(rest.get(1), Some(TokenTree::Group(_)))
        });
        let values = parts(&body).map(|variant| {
            let (_, rest) = self::attributes(variant);
            let value = rest.get(2..).filter(|_| is_sign(rest.get(1), '='));
            value.map(<[TokenTree]>::to_vec)
        });
        let values = values.collect();
        self.add(name, &tokens[1], attributes, Kind::Enum { has_data, values });
        tokens.get(end + 1..).unwrap_or(&[])
    }
}

/// The attributes at the start, and what follows.
fn attributes(mut tokens: &[TokenTree]) -> (Vec<Group>, &[TokenTree]) {
    let mut all = Vec::new();
    while is_sign(tokens.first(), '#') {
        let is_inner = is_sign(tokens.get(1), '!');
        let at = if is_inner { 2 } else { 1 };
        let Some(inside) = group(tokens.get(at), Delimiter::Bracket) else { break };
        if !is_inner {
            all.push(inside.clone());
        }
        tokens = tokens.get(at + 1..).unwrap_or(&[]);
    }
    (all, tokens)
}

fn without_visibility(tokens: &[TokenTree]) -> &[TokenTree] {
    match tokens {
        [TokenTree::Ident(ident), TokenTree::Group(group), rest @ ..]
            if ident == "pub" && group.delimiter() == Delimiter::Parenthesis && is_scope(group) =>
        {
            rest
        }
        [TokenTree::Ident(ident), rest @ ..] if ident == "pub" => rest,
        _ => tokens,
    }
}

/// Whether brackets after `pub` are part of it: `pub(crate)`, but not the tuple in `pub (f64, u8)`.
fn is_scope(group: &Group) -> bool {
    let first = word(group.stream().into_iter().next().as_ref());
    matches!(first.as_deref(), Some("crate" | "super" | "self" | "in"))
}

/// The tokens before a sign, and those after it.
fn up_to(tokens: &[TokenTree], sign: char) -> (&[TokenTree], &[TokenTree]) {
    match tokens.iter().position(|token| is_sign(Some(token), sign)) {
        Some(at) => (&tokens[..at], &tokens[at + 1..]),
        None => (tokens, &[]),
    }
}

/// What follows an item that does not matter: it ends with a semicolon or with a body.
fn skip(tokens: &[TokenTree]) -> &[TokenTree] {
    let mut at = 0;
    let mut has_value = false;
    while let Some(token) = tokens.get(at) {
        at += 1;
        has_value |= is_sign(Some(token), '=');
        let is_body = group(Some(token), Delimiter::Brace).is_some()
            && !has_value
            && !is_sign(tokens.get(at), ';');
        if is_body || is_sign(Some(token), ';') {
            break;
        }
    }
    &tokens[at..]
}
