//! The part before the names in a declaration of C: a type with its qualifiers and attributes.

use std::ops::Range;

use super::super::layout::{Base, Layout, foreign, wrong};
use super::attributes::Attributes;
use super::{CPP, Named, Read, Reader, by_compiler, cpp};
use crate::names::{self, Words};
use crate::problem::{Problem, quoted};
use crate::token::{Kind, Token};

/// The part before the body of a struct, a union or an enum. Without a body, there is a name.
pub(super) struct Head<'s> {
    pub(super) name: Option<Token<'s>>,
    /// The position of the name, or of the keyword.
    pub(super) span: Range<usize>,
    pub(super) attributes: Attributes,
}

/// A type as a declaration names it.
pub(super) struct Specified<'s> {
    pub(super) named: Named<'s>,
    /// Whether the type is a struct or a union without a name, whose members belong to the struct around it.
    pub(super) is_nameless: bool,
    /// Whether the specifiers declare a struct, a union or an enum with a name.
    pub(super) is_tagged: bool,
    pub(super) is_typedef: bool,
    pub(super) attributes: Attributes,
}

impl<'s> Reader<'s, '_> {
    pub(super) fn specifiers(&mut self) -> Read<Specified<'s>> {
        let first = self.peek();
        let mut words = Words::default();
        let mut found: Option<Named<'s>> = None;
        let mut attributes = Attributes::default();
        let (mut is_nameless, mut is_tagged, mut is_typedef) = (false, false, false);
        loop {
            let is_open = found.is_none() && words.is_empty();
            let more = self.attributes(true)?;
            let token = self.peek();
            attributes.join(more, &token.span());
            match (token.kind, token.text) {
                (Kind::Word, "typedef") => is_typedef = true,
                (
                    Kind::Word,
                    "const" | "volatile" | "static" | "extern" | "register" | "inline" | "__const",
                ) => {}
                (Kind::Word, word @ ("struct" | "union" | "enum")) if is_open => {
                    let head = self.head()?;
                    is_nameless = word != "enum" && head.name.is_none();
                    is_tagged = true;
                    found = Some(match word {
                        "struct" | "union" => self.structure(word, head, is_typedef)?,
                        _ => self.enumeration(head)?,
                    });
                    continue;
                }
                (Kind::Word, word) if found.is_none() && words.add(word) => {}
                (Kind::Word, word)
                    if is_open && CPP.contains(&word) && !self.types.contains_key(word) =>
                {
                    return Err(Box::new(cpp(token)));
                }
                (Kind::Word, _) if is_open => found = Some(self.type_name(token)),
                _ => break,
            }
            self.next();
        }
        let span = first.start..self.text.cursor.last().end.max(first.start);
        let named = match found {
            Some(named) => Named { span, ..named },
            None if words.is_empty() => {
                return Err(self.unexpected("a type"));
            }
            None => Named::of(of_words(words, &span), span),
        };
        Ok(Specified { named, is_nameless, is_tagged, is_typedef, attributes })
    }

    fn head(&mut self) -> Read<Head<'s>> {
        let keyword = self.next();
        let attributes = self.attributes(true)?;
        let name = (self.peek().kind == Kind::Word).then(|| self.next());
        let span = name.unwrap_or(keyword).span();
        if name.is_none() && !self.peek().is("{") {
            return Err(self.unexpected("a name or `{`"));
        }
        Ok(Head { name, span, attributes })
    }

    /// The struct, union or enum with a tag, which may be declared later.
    pub(super) fn tag(&self, keyword: &str, tag: Token<'s>) -> Named<'s> {
        if let Some(known) = self.tags.get(tag.text) {
            return known.clone();
        }
        let message = format!("`{keyword} {}` is not declared", tag.text);
        let problem = Problem::new(message, tag.span(), "unknown name");
        let base = wrong(problem.help("add its declaration before this one"));
        Named { later: Some(tag.text), ..Named::of(base, tag.span()) }
    }

    /// The meaning of a typedef, perhaps a struct that was declared after it.
    pub(super) fn alias(&self, name: &str) -> Option<Named<'s>> {
        let named = self.types.get(name)?;
        let later = named.later.and_then(|tag| self.tags.get(tag));
        Some(later.unwrap_or(named).clone())
    }

    /// A type with a name of its own.
    fn type_name(&mut self, token: Token<'s>) -> Named<'s> {
        let word = token.text;
        if let Some(named) = self.alias(word) {
            return named;
        }
        if let Some(basic) = names::of_c(word) {
            return Named::of(Ok(Layout::basic(basic)), token.span());
        }
        let problem =
            Problem::new(format!("unknown type {}", quoted(word)), token.span(), "unknown name");
        let base = if let Some(tag) = self.tags.get(word).cloned() {
            // This struct was probably meant.
            self.is_part(tag.declared);
            let keyword = match &tag.base {
                _ if tag.declared.is_some() => "struct",
                _ if self.unions.iter().any(|union| union.name == word) => "union",
                _ => "enum",
            };
            let tagged = format!("{keyword} {word}");
            wrong(problem.help(format!("did you mean `{tagged}`?")).instead(tagged))
        } else if let Some(mistake) = self.mistakes.first() {
            // A declaration that was skipped may have declared it.
            wrong(mistake.clone())
        } else {
            let known = self.types.keys().copied();
            let near = self.hints.nearest(word, known, names::all_in_c().map(|(name, _)| name));
            wrong(match near {
                Some(near) => problem.help(format!("did you mean `{near}`?")).instead(near),
                None => by_compiler(problem),
            })
        };
        Named::of(base, token.span())
    }

    /// Stores the names that a typedef declares.
    pub(super) fn typedefs(&mut self, specified: &Specified<'s>) -> Read<()> {
        loop {
            let declarator = self.declarator()?;
            let Some(name) = declarator.name else {
                return Err(self.unexpected("a name"));
            };
            if !self.peek().is(",") && !self.peek().is(";") {
                return Err(self.unexpected("`;` or `,`"));
            }
            let mut attributes = specified.attributes.clone();
            attributes.join(declarator.attributes.clone(), &declarator.span);
            let foreign = declarator.foreign();
            let is_alias = foreign.is_none();
            let base =
                foreign.map_or_else(|| specified.named.base.clone(), |(foreign, _)| Err(foreign));
            let mut problem = attributes.problem.take();
            let mut base = base.and_then(|layout| {
                let array = layout.elements(&declarator.lengths);
                array.map_err(|message| Problem::new(message, declarator.span, "").into())
            });
            match (&mut base, attributes.align) {
                (Ok(layout), Some(align)) => layout.align = align,
                // Where such a union lies is not known here.
                (Err(union), align) if align.is_some() || !declarator.lengths.is_empty() => {
                    union.take_place();
                }
                _ => {}
            }
            let later = specified.named.later.filter(|_| is_alias && declarator.lengths.is_empty());
            if later.is_some() && attributes.align.is_some() {
                let message = "the alignment of a struct that is declared later";
                problem =
                    problem.or(Some(Box::new(by_compiler(Problem::new(message, name.span(), "")))));
            }
            let later = later.filter(|_| problem.is_none());
            if let Some(problem) = problem {
                base = wrong(*problem);
            }
            let declared = specified.named.declared.filter(|_| is_alias);
            if let Some(one) = declared.and_then(|index| self.declared.get_mut(index))
                && declarator.lengths.is_empty()
                && one.name.is_empty()
            {
                name.text.clone_into(&mut one.name);
                one.span = name.span();
            }
            let named = Named { base, declared, later, span: name.span() };
            self.types.insert(name.text, named);
            if self.text.cursor.take(",").is_none() {
                break;
            }
        }
        self.text.cursor.expect(";").map(drop)
    }
}

/// The type that some words name together.
fn of_words(words: Words, span: &Range<usize>) -> Base {
    if words.is_void() {
        return foreign("of type `void`", "`void` has no values");
    }
    words.basic().map(Layout::basic).ok_or_else(|| {
        let problem = Problem::new("these words form no type", span.clone(), "");
        problem.help("for example `unsigned long long` is one").into()
    })
}
