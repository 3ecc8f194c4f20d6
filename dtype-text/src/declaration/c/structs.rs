//! Structs in C.

use std::collections::HashMap;
use std::ops::Range;

use super::super::layout::{Base, Layout, NoData, Placement, is_gap, wrong};
use dtype_runtime::{basic, types};

use super::super::{Declared, MAX_PROBLEMS};
use super::attributes::Attributes;
use super::declarator::Declarator;
use super::specifiers::{Head, Specified};
use super::{CPP, Named, Read, Reader, by_compiler, cpp, report};
use crate::problem::{Problem, quoted};
use crate::token::{Kind, Token};

/// The fields of a struct before they are placed.
#[derive(Default)]
struct Body {
    fields: Vec<Field>,
    problems: Vec<Problem>,
    /// The names so far, with their positions.
    names: HashMap<String, Range<usize>>,
}

struct Field {
    /// `None` for a struct without a name, whose fields become fields of this one.
    name: Option<String>,
    element: Layout,
    lengths: Vec<u64>,
    is_packed: bool,
    align: Option<u64>,
    span: Range<usize>,
    /// What to report if it is no data, and data alone is wanted.
    others: Vec<Problem>,
    /// The width of a bit-field.
    width: Option<u64>,
}

impl<'s> Reader<'s, '_> {
    pub(super) fn structure(&mut self, head: Head<'s>, is_typedef: bool) -> Read<Named<'s>> {
        let Head { name, span, mut attributes } = head;
        let open = self.peek();
        if let Some(name) = name.filter(|_| !open.is("{")) {
            // If there is a second word, the first is a macro or C++; a colon is C++, too.
            let is_declarator =
                open.kind == Kind::Word || open.is(":") || open.is("<") || open.is("(");
            let after = self.text.cursor.peek_after(1);
            if open.is(":") || is_declarator && (after.is("{") || after.is(":")) {
                let message = format!(
                    "expected `{{` after the name of a struct, found {}",
                    quoted(open.text)
                );
                let problem = by_compiler(Problem::new(message, open.span(), "not read"));
                return Ok(self.declare(Some(name), span, wrong(problem)));
            }
            return Ok(self.tag("struct", name));
        }
        let start = self.text.cursor.index();
        let body = self.nested(open, Self::body);
        let end = self.text.cursor.index().saturating_sub(1);
        let base = match body {
            Ok(body) => {
                attributes.join(self.attributes(false)?, &open.span());
                if let Some(problem) = self.macro_after_body(is_typedef) {
                    attributes.refuse(Box::new(problem));
                }
                self.place(body, attributes, end, &span)
            }
            Err(problem) => {
                if self.text.cursor.index() == start {
                    self.text.cursor.skip_brackets();
                } else {
                    self.skip_body();
                }
                self.attributes(false)?;
                wrong(*problem)
            }
        };
        Ok(self.declare(name, span, base))
    }

    /// The mistake for a name after the fields that is a macro, or looks like a macro for an attribute.
    fn macro_after_body(&self, is_typedef: bool) -> Option<Problem> {
        let token = self.peek();
        let name = token.text;
        let is_upper = !name.contains(char::is_lowercase);
        let is_probable = || {
            name.starts_with("__") || is_upper && (name.contains("PACK") || name.contains("ALIGN"))
        };
        let is_macro = match token.kind {
            Kind::Macro => true,
            Kind::Word => !is_typedef && is_probable(),
            _ => false,
        };
        let message = format!("{} may be a macro for an attribute", quoted(name));
        is_macro.then(|| by_compiler(Problem::new(message, token.span(), "not read")))
    }

    /// Stores a struct.
    fn declare(
        &mut self,
        name: Option<Token<'s>>,
        span: Range<usize>,
        mut base: Base,
    ) -> Named<'s> {
        let before = name.and_then(|name| self.tags.get(name.text));
        if let Some(Named { declared: Some(before), .. }) = before
            && let Some(before) = self.declared.get(*before)
            && !matches!(base, Err(NoData::Wrong(_)))
        {
            let message = format!("`struct {}` is declared twice", before.name);
            let problem = Problem::new(message, span.clone(), "again");
            base = wrong(by_compiler(problem.and(before.span.clone(), "declared here first")));
        }
        if let Some(name) = &name {
            base = base.map(|layout| layout.named(name.text));
        }
        let declared = Some(self.declared.len());
        self.declared.push(Declared {
            name: name.map_or_else(String::new, |name| name.text.to_owned()),
            span: span.clone(),
            base: base.clone(),
            is_part: false,
        });
        let named = Named { base, declared, later: None, span };
        if let Some(name) = name {
            self.tags.insert(name.text, named.clone());
        }
        named
    }

    fn body(&mut self) -> Read<Body> {
        self.next();
        let mut body = Body::default();
        loop {
            let token = self.peek();
            let next = self.text.cursor.peek_after(1);
            match (token.kind, token.text) {
                (Kind::Sign, "}") => {
                    self.next();
                    return Ok(body);
                }
                (Kind::Sign, ";") => drop(self.next()),
                (Kind::Word, "_Static_assert" | "static_assert") => self.skip_declaration(false),
                (Kind::Word, word)
                    if CPP.contains(&word) && !self.types.contains_key(word) && !next.is(";") =>
                {
                    return Err(Box::new(cpp(token)));
                }
                (Kind::Word, _) => self.fields(&mut body)?,
                _ => return Err(self.unexpected("the name of a field")),
            }
        }
    }

    /// The fields of one declaration.
    fn fields(&mut self, body: &mut Body) -> Read<()> {
        let start = self.text.cursor.index();
        let specified = self.specifiers()?;
        let name = self.text.cursor.text_from(start);
        self.is_part(specified.named.declared);
        if self.text.cursor.take(";").is_some() {
            without_name(specified, body);
            return Ok(());
        }
        loop {
            let declarator = self.declarator()?;
            if let Some(own) = declarator.name {
                field(&specified, &name, declarator, own, body);
            } else if let Some((foreign, span)) = declarator.foreign() {
                // Bits without a name take room.
                let problems = foreign.of_field("", span);
                match (declarator.width, &specified.named.base) {
                    (Some(width), Ok(element)) if has_bits(element, width) => {
                        body.fields.push(Field {
                            name: None,
                            element: element.clone(),
                            lengths: Vec::new(),
                            is_packed: false,
                            align: None,
                            span: declarator.span,
                            others: problems,
                            width: Some(width),
                        });
                    }
                    _ => report(&mut body.problems, problems),
                }
            } else {
                let found = self.peek();
                let problem = self.unexpected("the name of a field");
                return Err(if declarator.lengths.is_empty() {
                    problem
                } else {
                    let help = format!("the length follows the name: `double {}[3]`", found.text);
                    Box::new(problem.help(help))
                });
            }
            if self.text.cursor.take(",").is_none() {
                break;
            }
        }
        let Some(_) = self.text.cursor.take(";") else {
            let previous = self.text.cursor.last();
            let problem = *self.unexpected("`;` or `,`");
            let is_end = matches!(self.peek().text, "}" | "");
            let problem = if is_end {
                problem.and(previous.end..previous.end, "a field ends with `;`")
            } else {
                problem
            };
            return Err(Box::new(problem));
        };
        Ok(())
    }

    /// Places the fields of a struct whose closing brace is the token with this number.
    fn place(
        &mut self,
        body: Body,
        attributes: Attributes,
        end: usize,
        span: &Range<usize>,
    ) -> Base {
        let mut problems = body.problems;
        report(&mut problems, attributes.problem.map(|problem| *problem));
        if !problems.is_empty() {
            problems.extend(body.fields.into_iter().flat_map(|field| field.others));
            problems.sort_by_key(|problem| problem.span.start);
            problems.truncate(MAX_PROBLEMS);
            return Err(NoData::Wrong(problems));
        }
        let pack = self.text.pack(end);
        let mut placement = Placement::default();
        for field in body.fields {
            let Field { name, element, lengths, is_packed, align, span, others, width } = field;
            placement.report(others);
            let natural = if attributes.is_packed || is_packed { 1 } else { element.align };
            // The limit of `#pragma pack` also applies to requested alignments.
            let align = natural.max(align.unwrap_or(1)).min(pack.unwrap_or(u64::MAX));
            let added = match (&name, width) {
                (_, Some(width)) => placement.add_bits(name, &element, width, align),
                (Some(name), None) => {
                    placement.add(Some(name.clone()), &element, &lengths, align, is_gap(name))
                }
                (None, None) => placement.splice(&element, align),
            };
            if let Err(error) = added {
                report(&mut problems, [Problem::new(error.to_string(), span, "too large")]);
            }
        }
        if !problems.is_empty() {
            return Err(NoData::Wrong(problems));
        }
        let align = attributes.align.unwrap_or(1);
        placement
            .finish(align, self.fields)
            .map_err(|error| Problem::new(error.to_string(), span.clone(), "in this struct").into())
    }
}

/// A type without a declarator: a struct without a name, or a declaration for later.
fn without_name(specified: Specified<'_>, body: &mut Body) {
    let Specified { named: Named { base, span, .. }, is_nameless, is_tagged, attributes, .. } =
        specified;
    if !is_nameless {
        if !is_tagged {
            let problem = Problem::new("a type alone declares no field", span, "expected a name");
            report(&mut body.problems, [problem.help("write its name: `double x;`")]);
        }
        return;
    }
    if attributes.has_effect() {
        let problem = Problem::new("attributes before a struct without a name", span, "");
        return report(&mut body.problems, [by_compiler(problem)]);
    }
    match base {
        Ok(element) => body.fields.push(Field {
            name: None,
            element,
            lengths: Vec::new(),
            is_packed: false,
            align: None,
            span,
            others: Vec::new(),
            width: None,
        }),
        Err(base) => report(&mut body.problems, base.of_field("", span)),
    }
}

/// Whether a type is an integer of at least as many bits.
fn has_bits(of: &Layout, width: u64) -> bool {
    let is_integer = match of.ty.named() {
        Some(types::Named::Basic(one)) => {
            !matches!(one.kind(), basic::Kind::Float | basic::Kind::Complex)
        }
        _ => false,
    };
    is_integer && width <= of.size.saturating_mul(8)
}

/// Adds a field; `of` is the text of its type without the declarator.
fn field(
    specified: &Specified<'_>,
    of: &str,
    declarator: Declarator<'_>,
    name: Token<'_>,
    body: &mut Body,
) {
    let mut attributes = specified.attributes.clone();
    attributes.join(declarator.attributes.clone(), &declarator.span);
    let text = name.text.to_owned();
    if let Some(before) = body.names.insert(text.clone(), name.span()) {
        let message = format!("two fields are called {}", quoted(&text));
        let problem = Problem::new(message, name.span(), "again");
        report(&mut body.problems, [problem.and(before, "the first one")]);
    }
    if let Some((foreign, span)) = declarator.foreign() {
        let problems = foreign.of_field(&text, span);
        let element = specified.named.base.as_ref().ok();
        let is_whole = |width: &u64| element.is_some_and(|one| has_bits(one, *width));
        let width = declarator.width.filter(is_whole);
        let bits = width.and(element).cloned().map(Ok);
        let Some(Ok(element)) = bits.or_else(|| declarator.with_place(of, element)) else {
            return report(&mut body.problems, problems);
        };
        return body.fields.push(Field {
            name: Some(text),
            element,
            lengths: declarator.own_lengths(),
            is_packed: attributes.is_packed,
            align: attributes.align,
            span: declarator.span,
            others: problems,
            width,
        });
    }
    if let Some(problem) = attributes.problem {
        return report(&mut body.problems, [*problem]);
    }
    match &specified.named.base {
        Ok(element) => {
            if let Err(message) = element.elements(&declarator.lengths) {
                return report(&mut body.problems, [Problem::new(message, declarator.span, "")]);
            }
            body.fields.push(Field {
                name: Some(text),
                element: element.clone(),
                lengths: declarator.lengths,
                is_packed: attributes.is_packed,
                align: attributes.align,
                span: declarator.span,
                others: Vec::new(),
                width: None,
            });
        }
        Err(base) => {
            let problems = base.clone().of_field(&text, specified.named.span.clone());
            report(&mut body.problems, problems);
        }
    }
}
