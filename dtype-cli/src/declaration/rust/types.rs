//! The types of fields in Rust.

use proc_macro2::{Delimiter, Group, TokenTree};

use super::super::MAX_NESTING;
use super::super::layout::{Base, Layout};
use super::items::Kind;
use super::tokens::{contents, is_sign, word};
use super::{Reader, names, refused, wrong};
use crate::problem::{Problem, quoted};
use dtype_runtime::{Basic, Type};

impl Reader<'_, '_> {
    /// The type that some tokens name.
    pub(super) fn ty(&mut self, tokens: &[TokenTree]) -> Base {
        if self.depth >= MAX_NESTING {
            let span = self.span(tokens);
            let message = format!("types nest deeper than {MAX_NESTING} levels");
            return wrong(Problem::new(message, span, "one more level"));
        }
        self.depth += 1;
        let base = self.inner_type(tokens);
        self.depth -= 1;
        base
    }

    fn inner_type(&mut self, tokens: &[TokenTree]) -> Base {
        let first = match tokens.first() {
            Some(TokenTree::Punct(punct)) => punct.as_char(),
            _ => ' ',
        };
        match (first, tokens) {
            (_, []) => wrong(Problem::new("expected a type, found nothing", 0..0, "")),
            ('&', _) => Base::Foreign {
                what: "a reference",
                help: "what it refers to is not part of the struct: write that type itself",
            },
            ('*', _) => Base::Foreign {
                what: "a pointer",
                help: "what it points to is not part of the struct: describe that by a type of its \
                       own, or write `usize` to treat the address as a number",
            },
            (_, [TokenTree::Group(group)]) => self.bracketed(group),
            (_, [TokenTree::Ident(ident), ..])
                if matches!(ident.to_string().as_str(), "fn" | "extern" | "unsafe") =>
            {
                Base::Foreign { what: "a function pointer", help: "a function cannot be sent" }
            }
            (_, [TokenTree::Ident(ident), ..])
                if matches!(ident.to_string().as_str(), "dyn" | "impl") =>
            {
                Base::Foreign { what: "not of a fixed type", help: "write the type that is meant" }
            }
            _ => self.path(tokens),
        }
    }

    fn bracketed(&mut self, group: &Group) -> Base {
        let inside = contents(group);
        match group.delimiter() {
            Delimiter::Bracket => {
                let (element, length) = match self.array_parts(group) {
                    Ok(parts) => parts,
                    Err(base) => return base,
                };
                match self.ty(&element) {
                    Base::Known(element) => match element.array(&[length]) {
                        Ok(array) => Base::Known(array),
                        Err(error) => refused(&error, self.span(&inside)),
                    },
                    other => other,
                }
            }
            Delimiter::Parenthesis if inside.is_empty() => nothing(),
            Delimiter::Parenthesis if !inside.iter().any(|token| is_sign(Some(token), ',')) => {
                self.ty(&inside)
            }
            Delimiter::Parenthesis => Base::Foreign {
                what: "a tuple, whose fields have no fixed places",
                help: "write a struct with `#[repr(C)]`",
            },
            _ => {
                let span = self.span(&[TokenTree::Group(group.clone())]);
                wrong(Problem::new("expected a type", span, "not a type"))
            }
        }
    }

    /// Element and length of an array type.
    pub(super) fn array_parts(&mut self, group: &Group) -> Result<(Vec<TokenTree>, u64), Base> {
        let inside = contents(group);
        let middle = inside.iter().position(|token| is_sign(Some(token), ';'));
        let Some(middle) = middle else {
            let is_list = inside.iter().any(|token| is_sign(Some(token), ','));
            if is_list {
                let span = self.span(&[TokenTree::Group(group.clone())]);
                let problem = Problem::new("expected a type, found a list", span, "not a type");
                return Err(wrong(problem.help("an array type is `[f64; 3]`")));
            }
            return Err(Base::Foreign {
                what: "a slice, which has no fixed size",
                help: "write an array, such as `[f64; 3]`",
            });
        };
        let length = self.length(&inside[middle + 1..]).map_err(|problem| wrong(*problem))?;
        Ok((inside[..middle].to_vec(), length))
    }

    /// `path::to::Name<arguments>`
    fn path(&mut self, tokens: &[TokenTree]) -> Base {
        let span = self.span(tokens);
        let mut last = None;
        let mut arguments: &[TokenTree] = &[];
        let mut rest = tokens;
        loop {
            match rest {
                [TokenTree::Punct(a), TokenTree::Punct(b), after @ ..]
                    if a.as_char() == ':' && b.as_char() == ':' =>
                {
                    rest = after;
                }
                [TokenTree::Ident(_), after @ ..] if arguments.is_empty() => {
                    last = word(rest.first());
                    rest = after;
                    if !is_sign(rest.first(), ':')
                        && !is_sign(rest.first(), '<')
                        && !rest.is_empty()
                    {
                        let span = self.span(&rest[..1]);
                        let problem =
                            Problem::new("expected `,` or `}` after a type", span, "unexpected");
                        return wrong(problem);
                    }
                }
                [TokenTree::Punct(open), inside @ ..]
                    if open.as_char() == '<' && last.is_some() && arguments.is_empty() =>
                {
                    let Some((close, between)) = inside.split_last() else { break };
                    if !is_sign(Some(close), '>') {
                        break;
                    }
                    arguments = between;
                    rest = &[];
                }
                _ => break,
            }
        }
        match last {
            Some(name) if rest.is_empty() => self.type_name(&name, arguments, span),
            _ => wrong(Problem::new("expected a type", span, "not a type")),
        }
    }

    fn type_name(
        &mut self,
        name: &str,
        arguments: &[TokenTree],
        span: std::ops::Range<usize>,
    ) -> Base {
        // Names of the text come first, as in Rust.
        if let Some(base) = self.named(name) {
            let is_struct =
                self.items.get(name).is_some_and(|item| matches!(item.kind, Kind::Struct { .. }));
            if is_struct {
                self.parts.insert(name.to_owned());
            }
            return base;
        }
        if let Some(basic) = names::primitive(name) {
            return Base::Known(Layout::basic(basic));
        }
        if let Some((what, help)) = names::foreign(name) {
            return Base::Foreign { what, help };
        }
        match name {
            "PhantomData" | "PhantomPinned" => return nothing(),
            "Wrapping" | "Saturating" | "NonZero" | "Reverse" => return self.ty(arguments),
            "Complex" => {
                let part = match self.ty(arguments) {
                    Base::Known(part) => part.ty,
                    other => return other,
                };
                let parts = [(Basic::F32, Basic::C32), (Basic::F64, Basic::C64)];
                let found = parts.into_iter().find(|(basic, _)| part == Type::basic(*basic));
                if let Some((_, complex)) = found {
                    return Base::Known(Layout::basic(complex));
                }
            }
            _ => {}
        }
        let problem =
            Problem::new(format!("unknown type {}", quoted(name)), span.clone(), "unknown name");
        let declared = self.items.keys().map(String::as_str);
        let near = self.hints.nearest(name, declared, names::all().map(|name: &str| name));
        wrong(match near {
            Some(near) => problem.help(format!("did you mean `{near}`?")).instead(near),
            None => problem.help("add its declaration to the text"),
        })
    }
}

/// A type without data.
fn nothing() -> Base {
    match Layout::nothing() {
        Ok(layout) => Base::Known(layout),
        Err(error) => refused(&error, 0..0),
    }
}
