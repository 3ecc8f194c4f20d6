//! The type at the start of a declaration in C.

use std::ops::Range;

use super::super::layout::{Base, Layout};
use super::super::token::{Kind, Token};
use super::attributes::Attributes;
use super::names::{self, Words};
use super::{Named, Read, Reader, wrong};
use crate::problem::{Problem, quoted};

/// Words around a type that do not change its layout.
const QUALIFIERS: &[&str] = &[
    "const",
    "volatile",
    "static",
    "extern",
    "register",
    "inline",
    "__inline",
    "__inline__",
    "_Thread_local",
    "thread_local",
    "__thread",
    "restrict",
    "__restrict",
    "__restrict__",
    "__const",
    "__volatile__",
    "_Noreturn",
    "auto",
];

/// Words that say how something is stored, which a field is not.
const STORAGE: &[&str] = &[
    "static",
    "extern",
    "register",
    "inline",
    "thread_local",
    "_Thread_local",
    "__thread",
    "typedef",
];

/// Whether a word stands beside a type or a name and is not a name itself.
pub(super) fn is_beside_type(word: &str) -> bool {
    const OTHERS: &[&str] = &[
        "__attribute__",
        "__attribute",
        "__declspec",
        "__packed",
        "__extension__",
        "typedef",
        "alignas",
        "_Alignas",
        "asm",
        "__asm__",
        "_Atomic",
    ];
    QUALIFIERS.contains(&word) || OTHERS.contains(&word)
}

/// What a type declares in a struct if no name follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Its members: a struct or a union without a tag.
    Members,
    /// The type alone: something with a tag, or an enum.
    TypeOnly,
    /// Nothing, which is a mistake.
    Other,
}

/// A type, and the words around it.
#[derive(Debug)]
pub(super) struct Specified<'s> {
    pub(super) base: Base,
    /// The index of the struct in the list of declared ones.
    pub(super) declared: Option<usize>,
    /// A tag that is not declared yet.
    pub(super) later: Option<(&'s str, Option<u64>)>,
    pub(super) form: Form,
    pub(super) is_typedef: bool,
    /// A word that says how something is stored, such as `static`.
    pub(super) storage: Option<Token<'s>>,
    pub(super) attributes: Attributes,
    pub(super) span: Range<usize>,
}

impl<'s> Reader<'s, '_> {
    /// Whether a type starts after `number` tokens.
    pub(super) fn starts_type(&self, number: usize) -> bool {
        let token = self.cursor.peek_after(number);
        let is_name = |name: &str| {
            let mut words = Words::default();
            let keyword =
                matches!(name, "struct" | "union" | "enum" | "const" | "volatile" | "_Atomic");
            let known = || names::header(name).is_some() || self.types.contains_key(name);
            keyword || words.add(name) || known()
        };
        let is_scope = self.is_scope(number) || token.is("std") && self.is_scope(number + 1);
        is_scope || token.kind == Kind::Word && is_name(token.text)
    }

    /// The words and attributes up to the first declarator.
    pub(super) fn specifiers(&mut self) -> Read<Specified<'s>> {
        let first = self.cursor.peek();
        let mut words = Words::default();
        let mut found: Option<Named<'s>> = None;
        let mut attributes = Attributes::default();
        let (mut form, mut is_typedef, mut is_atomic) = (Form::Other, false, false);
        let (mut align, mut storage) = (None, None);
        loop {
            let is_open = found.is_none() && words.number == 0;
            if !is_open && self.cursor.peek().is("[") && self.cursor.peek_after(1).is("[") {
                // Behind a type, these are attributes of the type, to which `packed` does nothing.
                let of_type = self.standard_attributes()?;
                align = of_type.last.or(align);
                attributes.join(Attributes { problem: of_type.problem, ..Attributes::default() });
                continue;
            }
            attributes.join(self.attributes()?);
            if is_open {
                self.scope()?;
            }
            let token = self.cursor.peek();
            if STORAGE.contains(&token.text) {
                storage = Some(token);
            }
            match (token.kind, token.text) {
                (Kind::Word, "typedef") => is_typedef = true,
                (Kind::Word, "_Atomic") => {
                    is_atomic = true;
                    if is_open && self.cursor.peek_after(1).is("(") {
                        self.cursor.next();
                        let open = self.cursor.next();
                        let base = self.nested(open, Self::type_in_brackets)?;
                        found = Some(Named::of(base, open.span()));
                        continue;
                    }
                }
                (Kind::Word, word) if QUALIFIERS.contains(&word) => {}
                (Kind::Word, word @ ("struct" | "union" | "enum")) if is_open => {
                    let (named, new) = match word {
                        "struct" => self.struct_specifier(is_typedef)?,
                        "union" => self.union_specifier()?,
                        _ => (self.enum_specifier(is_typedef)?, Form::TypeOnly),
                    };
                    (found, form) = (Some(named), new);
                    continue;
                }
                (Kind::Word, word) if found.is_none() && words.add(word) => {}
                (Kind::Word, word) if is_open => found = Some(self.type_name(word, token)),
                _ => break,
            }
            self.cursor.next();
        }
        let span = first.start..self.cursor.last().end.max(first.start);
        let mut named = match found {
            Some(named) => named,
            None if words.number == 0 => return Err(self.cursor.unexpected("a type")),
            None => Named::of(of_words(words, &span), span.clone()),
        };
        if is_atomic {
            atomic(&mut named.base);
        }
        if let (Base::Known(layout), Some(align)) = (&mut named.base, align) {
            layout.align = align;
        }
        named.later = named.later.map(|(tag, before)| (tag, align.or(before)));
        let Named { base, declared, later, .. } = named;
        Ok(Specified { base, declared, later, form, is_typedef, storage, attributes, span })
    }

    /// A type with a name of its own.
    fn type_name(&mut self, word: &'s str, token: Token<'s>) -> Named<'s> {
        if let Some(named) = self.alias(word) {
            return named;
        }
        let base = if names::is_reversed(word) {
            let message =
                format!("{} has the bytes of its values in the other order", quoted(word));
            let problem = Problem::new(message, token.span(), "not this machine's byte order");
            wrong(problem.help(
                "a type describes values of this machine: write an integer of this size, such as \
                 `uint32_t`, and convert with `--representation big` or `little`",
            ))
        } else if let Some(basic) = names::header(word) {
            Base::Known(Layout::basic(basic))
        } else {
            let message = format!("unknown type {}", quoted(word));
            let problem = Problem::new(message, token.span(), "unknown name");
            // The struct that was probably meant.
            self.is_part(self.tags.get(word).and_then(|named| named.declared));
            if let Some(tag) = self.tags.get(word) {
                let keyword = match &tag.base {
                    _ if tag.declared.is_some() => "struct",
                    Base::Foreign { .. } => "union",
                    _ => "enum",
                };
                let tagged = format!("{keyword} {word}");
                wrong(problem.help(format!("did you mean `{tagged}`?")).instead(tagged))
            } else {
                let near = self.hints.nearest(
                    word,
                    self.types.keys().copied(),
                    names::all().map(|name: &str| name),
                );
                wrong(match near {
                    Some(near) => problem.help(format!("did you mean `{near}`?")).instead(near),
                    None => problem.help(
                        "add its `typedef` to the text; files named by `#include` are not read",
                    ),
                })
            }
        };
        Named::of(base, token.span())
    }

    fn union_specifier(&mut self) -> Read<(Named<'s>, Form)> {
        let keyword = self.cursor.next();
        self.attributes()?;
        let name = (self.cursor.peek().kind == Kind::Word).then(|| self.cursor.next());
        let has_body = self.cursor.peek().is("{");
        if has_body {
            // What its members declare has a layout of its own.
            let _ = self.braces(Self::body)?;
            self.attributes_of_type()?;
        }
        let base = Base::Foreign {
            what: "a union",
            help: "which of its members is meant is not known: write the one that is in use, and \
                   after it `char _pad[n]` up to the union's size",
        };
        let named = Named::of(base, name.unwrap_or(keyword).span());
        if let Some(name) = name {
            self.tags.insert(name.text, named.clone());
        }
        let is_nameless = has_body && name.is_none();
        Ok((named, if is_nameless { Form::Members } else { Form::TypeOnly }))
    }
}

/// The type that some words name together.
fn of_words(words: Words, span: &Range<usize>) -> Base {
    if words.is_void && words.number == 1 {
        return Base::Foreign { what: "of type `void`", help: "`void` has no values" };
    }
    if let Some(basic) = words.basic() {
        return Base::Known(Layout::basic(basic));
    }
    let problem = Problem::new("these words form no type", span.clone(), "");
    wrong(problem.help("for example `unsigned long long` is one"))
}

/// The layout of an atomic object: GCC aligns those of a size for which there are instructions to that size.
fn atomic(base: &mut Base) {
    if let Base::Known(layout) = base
        && matches!(layout.size, 1 | 2 | 4 | 8 | 16)
    {
        layout.align = layout.align.max(layout.size);
    }
}
