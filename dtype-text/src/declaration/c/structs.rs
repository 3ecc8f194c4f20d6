//! Structs in C.

use std::collections::HashMap;
use std::ops::Range;

use dtype_runtime::Error;

use super::super::layout::{Base, Layout, NoData, Placement, is_gap, placed, wrong};
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
    /// The width of a bit-field.
    bits: Option<u64>,
    span: Range<usize>,
    /// What to report if it is no data, and data alone is wanted.
    others: Vec<Problem>,
}

impl<'s> Reader<'s, '_> {
    /// A struct or a union, with its keyword.
    pub(super) fn structure(
        &mut self,
        keyword: &str,
        head: Head<'s>,
        is_typedef: bool,
    ) -> Read<Named<'s>> {
        let is_union = keyword == "union";
        let Head { name, span, mut attributes } = head;
        let open = self.peek();
        if let Some(name) = name.filter(|_| !open.is("{")) {
            // If there is a second word, the first is a macro or C++; a colon is C++, too.
            let is_declarator =
                open.kind == Kind::Word || open.is(":") || open.is("<") || open.is("(");
            let after = self.text.cursor.peek_after(1);
            if open.is(":") || is_declarator && (after.is("{") || after.is(":")) {
                let message = format!(
                    "expected `{{` after the name of a {keyword}, found {}",
                    quoted(open.text)
                );
                let problem = by_compiler(Problem::new(message, open.span(), "not read"));
                return Ok(self.declare(Some(name), span, wrong(problem), is_union));
            }
            return Ok(self.tag(keyword, name));
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
                self.place(body, attributes, end, &span, is_union)
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
        Ok(self.declare(name, span, base, is_union))
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

    /// Stores a struct or a union. Only a struct is what a text declares, unless it has none.
    fn declare(
        &mut self,
        name: Option<Token<'s>>,
        span: Range<usize>,
        mut base: Base,
        is_union: bool,
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
            base = match base {
                Ok(layout) => Ok(layout.named(name.text)),
                Err(NoData::Foreign { what, help, place }) => {
                    let place = place.map(|place| Box::new(place.named(name.text)));
                    Err(NoData::Foreign { what, help, place })
                }
                wrong => wrong,
            };
        }
        let declared = (!is_union).then_some(self.declared.len());
        let all = if is_union { &mut self.unions } else { &mut self.declared };
        all.push(Declared {
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
                without_data(&specified, &declarator, None, problems, body);
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
        is_union: bool,
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
            let Field { name, element, lengths, is_packed, align, bits, span, others } = field;
            placement.report(others);
            if is_union {
                placement.restart();
            }
            let is_packed = attributes.is_packed || is_packed;
            let natural = if is_packed { 1 } else { element.align };
            // The limit of `#pragma pack` also applies to requested alignments.
            let align = natural.max(align.unwrap_or(1)).min(pack.unwrap_or(u64::MAX));
            let added = match (&name, bits) {
                (_, Some(width)) => {
                    let is_packed = is_packed || pack.is_some();
                    placement.add_bits(name, &element, width, align, is_packed)
                }
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
        let large =
            |error: Error| Problem::new(error.to_string(), span.clone(), "in this type").into();
        if !is_union {
            return placement.finish(align, self.fields).map_err(large);
        }
        let place = Some(Box::new(placement.finish_union(align, self.fields).map_err(large)?));
        let help = "which of its members is meant is not known: write the one that is in use, and \
                    after it `char _pad[n]` up to the union's size";
        Err(NoData::Foreign { what: "a union", help, place })
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
    let (element, others) = match placed(base, "", span.clone()) {
        Ok(placed) => placed,
        Err(problems) => return report(&mut body.problems, problems),
    };
    body.fields.push(Field {
        name: None,
        element,
        lengths: Vec::new(),
        is_packed: false,
        align: None,
        bits: None,
        span,
        others,
    });
}

/// Adds a field whose declarator makes it no data, if it has a place.
fn without_data(
    specified: &Specified<'_>,
    declarator: &Declarator<'_>,
    name: Option<(String, &str)>,
    problems: Vec<Problem>,
    body: &mut Body,
) {
    let mut attributes = specified.attributes.clone();
    attributes.join(declarator.attributes.clone(), &declarator.span);
    let of = specified.named.base.as_ref().ok();
    let bits = of.and_then(|of| declarator.bits(of)).filter(|_| attributes.align.is_none());
    let element = match (bits, &name) {
        _ if attributes.problem.is_some() => None,
        (Some(_), _) => of.cloned(),
        (None, Some((_, of_text))) => declarator.with_place(of_text, of).and_then(Result::ok),
        (None, None) => None,
    };
    let Some(element) = element else {
        report(&mut body.problems, problems);
        return report(&mut body.problems, attributes.problem.map(|problem| *problem));
    };
    body.fields.push(Field {
        name: name.map(|(name, _)| name),
        element,
        lengths: if bits.is_some() { Vec::new() } else { declarator.own_lengths() },
        is_packed: attributes.is_packed,
        align: attributes.align,
        bits,
        span: declarator.span.clone(),
        others: problems,
    });
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
        return without_data(specified, &declarator, Some((text, of)), problems, body);
    }
    if let Some(problem) = attributes.problem {
        return report(&mut body.problems, [*problem]);
    }
    let Named { base, span, .. } = specified.named.clone();
    let (element, others) = match placed(base, &text, span) {
        Ok(placed) => placed,
        Err(problems) => return report(&mut body.problems, problems),
    };
    if let Err(message) = element.elements(&declarator.lengths) {
        return report(&mut body.problems, [Problem::new(message, declarator.span, "")]);
    }
    body.fields.push(Field {
        name: Some(text),
        element,
        lengths: declarator.lengths,
        is_packed: attributes.is_packed,
        align: attributes.align,
        bits: None,
        span: declarator.span,
        others,
    });
}
