//! The bodies of structs in C.

use super::super::Declared;
use super::super::layout::{Base, Layout, Placement, is_gap};
use super::super::token::{Kind, Token};
use super::attributes::{Attributes, ORDER};
use super::cpp::{LEAVE_OUT, cpp, function};
use super::declarator::Declarator;
use super::enums::twice;
use super::pragma::{Pack, Rules};
use super::specifiers::{Form, Specified, is_beside_type};
use super::{Named, Read, Reader, is_probably_macro, report, undefined_macro, wrong};
use crate::problem::{Problem, quoted};

/// The fields of a struct before they are placed.
#[derive(Default)]
pub(super) struct Body {
    fields: Vec<Field>,
    problems: Vec<Problem>,
    /// The names so far, with their positions.
    names: std::collections::HashMap<String, std::ops::Range<usize>>,
}

struct Field {
    /// `None` for a struct without a name, whose fields become fields of this one.
    name: Option<String>,
    element: Layout,
    lengths: Vec<u64>,
    is_packed: bool,
    align: Option<u64>,
    span: std::ops::Range<usize>,
}

impl<'s> Reader<'s, '_> {
    pub(super) fn struct_specifier(&mut self, is_typedef: bool) -> Read<(Named<'s>, Form)> {
        /// The number of tokens between a struct's name and its fields that are searched for base classes.
        const MOST_BASES: usize = 32;
        let start = self.cursor.index();
        let keyword = self.cursor.next();
        let mut attributes = self.attributes()?;
        let mut name = (self.cursor.peek().kind == Kind::Word).then(|| self.cursor.next());
        let after = self.cursor.index();
        let between = self.attributes()?;
        if self.cursor.peek().is("{") {
            attributes.join(between);
        } else {
            // They belong to what is declared.
            self.cursor.rewind(after);
        }
        if let Some(before) = name {
            name = self.name_after_macro(before, &mut attributes);
        }
        let open = self.cursor.peek();
        if !open.is("{") {
            let Some(name) = name else { return Err(self.cursor.unexpected("a name or `{`")) };
            if open.is(":") {
                // Reported only where the struct matters: C++ around it is none of this reader's business.
                let problem = Problem::new(
                    format!("{} has base classes", quoted(name.text)),
                    open.span(),
                    "C++",
                );
                let problem = problem.help("write their fields out, in front of its own");
                // So that the text has one struct that is not part of another.
                for number in 1..MOST_BASES {
                    let token = self.cursor.peek_after(number);
                    if token.is("{") {
                        break;
                    }
                    self.is_part(self.tags.get(token.text).and_then(|named| named.declared));
                }
                return Ok((self.declare(Some(name), name.span(), wrong(problem)), Form::TypeOnly));
            }
            let known = self.tags.get(name.text).cloned();
            return Ok((known.unwrap_or_else(|| Named::later("struct", name)), Form::TypeOnly));
        }
        self.inside.push(name.map_or("", |name| name.text));
        let body = self.braces(Self::body);
        self.inside.pop();
        let body = body?;
        let end = self.cursor.index().saturating_sub(1);
        attributes.join(self.attributes_of_type()?);
        let span = name.map_or(keyword.span(), |name| name.span());
        let problem = self.condition(start).or_else(|| self.macro_after_body(is_typedef));
        let base = match (problem, body) {
            (_, Err(problem)) | (Some(problem), _) => wrong(problem),
            (None, Ok(body)) => self.place(body, attributes, self.lines.rules(end), &span),
        };
        let form = if name.is_some() { Form::TypeOnly } else { Form::Members };
        Ok((self.declare(name, span, base), form))
    }

    /// Keeps a struct.
    fn declare(
        &mut self,
        name: Option<Token<'s>>,
        span: std::ops::Range<usize>,
        mut base: Base,
    ) -> Named<'s> {
        if let Some(name) = name
            && !matches!(base, Base::Wrong(_))
            && let Some(Named { declared: Some(before), .. }) = self.tags.get(name.text)
            && let Some(before) = self.declared.get(*before)
        {
            let problem = twice(&format!("struct {}", name.text), span.clone());
            base = wrong(problem.and(before.span.clone(), "declared here first"));
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

    /// The name of a struct, before which there may be words that this text does not define: macros for attributes.
    fn name_after_macro(
        &mut self,
        first: Token<'s>,
        attributes: &mut Attributes,
    ) -> Option<Token<'s>> {
        /// The number of tokens that such macros have with their arguments.
        const LONGEST: usize = 32;
        if self.cursor.peek().is("final") {
            let problem = Box::new(cpp("`final`", self.cursor.next().span(), LEAVE_OUT));
            attributes.join(Attributes { problem: Some(problem), ..Attributes::default() });
            return Some(first);
        }
        let mut number = 0;
        if self.cursor.peek().is("(") {
            let mut close = 1..LONGEST;
            number = close.find(|number| self.cursor.peek_after(*number).is(")"))? + 1;
        }
        let start = number;
        while number < LONGEST && self.cursor.peek_after(number).kind == Kind::Word {
            number += 1;
        }
        if number == start || !self.cursor.peek_after(number).is("{") {
            return Some(first);
        }
        let message = format!("{} is not the name of the struct", quoted(first.text));
        let problem = Problem::new(message, first.span(), "unknown name");
        let help = "if it is a macro, write what it stands for, for example \
                    `__attribute__((packed))`";
        let problem = Some(Box::new(problem.help(help)));
        attributes.join(Attributes { problem, ..Attributes::default() });
        for _ in 0..number {
            self.cursor.next();
        }
        Some(self.cursor.last())
    }

    pub(super) fn body(&mut self) -> Read<Body> {
        let mut body = Body::default();
        loop {
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::End, _) => return Err(self.cursor.unexpected("`}`")),
                (Kind::Sign, "}") => {
                    self.cursor.next();
                    return Ok(body);
                }
                (Kind::Sign, ";") => drop(self.cursor.next()),
                (Kind::Word, "_Static_assert" | "static_assert") => self.skip_declaration(),
                _ => self.fields(&mut body)?,
            }
        }
    }

    /// `type name, name;`
    fn fields(&mut self, body: &mut Body) -> Read<()> {
        let first = self.cursor.peek();
        if let Some(problem) = self.cpp_member(first) {
            return Err(problem);
        }
        if self.is_call(first) {
            let message =
                format!("{} is neither a type nor a macro of this text", quoted(first.text));
            let problem = Problem::new(message, first.span(), "not defined in this text");
            return Err(Box::new(problem.help("if it is a macro, write what it stands for")));
        }
        let specified = self.specifiers()?;
        if let Some(problem) = Self::cpp_storage(&specified) {
            return Err(problem);
        }
        if self.cursor.peek().is(";") {
            self.nameless(body, &specified);
            return Ok(());
        }
        self.names(body, &specified)
    }

    /// Whether a name with brackets starts here that is neither a type nor an attribute.
    pub(super) fn is_call(&self, first: Token<'_>) -> bool {
        first.kind == Kind::Word
            && self.cursor.peek_after(1).is("(")
            && !self.cursor.peek_after(2).is("*")
            && !self.starts_type(0)
            && !is_beside_type(first.text)
    }

    /// The names of fields of one type.
    fn names(&mut self, body: &mut Body, specified: &Specified<'s>) -> Read<()> {
        loop {
            let start = self.cursor.peek();
            let declarator = self.declarator()?;
            let next = self.cursor.peek();
            let is_operator = declarator.name.is_some_and(|name| name.is("operator"));
            if let (Some(span), None) = (&declarator.function, &declarator.pointer)
                && !next.is(",")
                && !next.is(";")
            {
                return Err(function(span.clone()));
            }
            if is_operator && !next.is(",") && !next.is(";") {
                return Err(function(declarator.span));
            }
            if next.is("=") || next.is("{") {
                return Err(Box::new(cpp("an initial value in a struct", next.span(), LEAVE_OUT)));
            }
            self.field(body, specified, declarator).map_err(|problem| {
                // `double[3] x;`
                let is_swapped = start.is("[") && self.cursor.peek().kind == Kind::Word;
                if is_swapped {
                    let help = "C writes the length after the name: `double x[3];`";
                    Box::new(problem.as_ref().clone().help(help))
                } else {
                    problem
                }
            })?;
            if self.cursor.take(",").is_none() {
                break;
            }
        }
        if self.cursor.take(";").is_some() {
            return Ok(());
        }
        let next = self.cursor.peek();
        if is_probably_macro(next.text) {
            return Err(Box::new(undefined_macro(next)));
        }
        let mut problem = self.cursor.unexpected("`;` or `,`");
        if next.kind == Kind::Word || next.is("}") {
            let end = self.cursor.last().end;
            problem.others.push((end..end, "a field ends with `;`".into()));
        }
        Err(problem)
    }

    /// A type without a name after it: the fields of a struct without a tag are fields of the struct around it.
    fn nameless(&mut self, body: &mut Body, specified: &Specified<'s>) {
        self.is_part(specified.declared);
        let span = specified.span.clone();
        match (&specified.base, specified.form) {
            // It declares only a type.
            (_, Form::TypeOnly) => {}
            (Base::Wrong(problems), _) => report(&mut body.problems, problems.iter().cloned()),
            (_, Form::Other) => {
                let problem =
                    Problem::new("a type alone declares no field", span, "no name follows");
                report(&mut body.problems, [problem.help("write `double x;`, for example")]);
            }
            (Base::Known(element), Form::Members) => {
                for member in &*element.members {
                    if let Some(name) = &member.name {
                        Self::unique(body, name, &specified.span);
                    }
                }
                // Attributes before the struct have no effect, and those after it are its own.
                let alignas = specified.attributes.alignas;
                body.fields.push(Field {
                    name: None,
                    element: element.clone(),
                    lengths: Vec::new(),
                    is_packed: false,
                    align: alignas,
                    span,
                });
            }
            (Base::Foreign { what, help }, Form::Members) => {
                let message = format!("a field without a name is {what}");
                report(&mut body.problems, [Problem::new(message, span, *what).help(*help)]);
            }
        }
    }

    fn field(
        &mut self,
        body: &mut Body,
        specified: &Specified<'s>,
        declarator: Declarator<'s>,
    ) -> Read<()> {
        let name = match declarator.name {
            Some(name) => name.text.to_owned(),
            // The width of a bit-field without a name.
            None if declarator.bits.is_some() => "(no name)".to_owned(),
            None => return Err(self.cursor.unexpected("the name of a field")),
        };
        self.is_part(specified.declared);
        let foreign = declarator.foreign().map(|base| (base, declarator.foreign_span()));
        let base = foreign.unwrap_or_else(|| (specified.base.clone(), specified.span.clone()));
        match base {
            (Base::Known(element), _) => {
                let span = declarator.name.map_or(declarator.span.clone(), |name| name.span());
                Self::unique(body, &name, &span);
                let mut attributes = specified.attributes.clone();
                attributes.join(declarator.attributes);
                if let Some(problem) = attributes.problem {
                    report(&mut body.problems, [*problem]);
                } else if let Err(message) = element.elements(&declarator.lengths) {
                    report(&mut body.problems, [Problem::new(message, declarator.span, "")]);
                } else {
                    body.fields.push(Field {
                        name: Some(name),
                        element,
                        lengths: declarator.lengths,
                        is_packed: attributes.is_packed,
                        align: attributes.most.max(attributes.alignas),
                        span: declarator.span,
                    });
                }
            }
            (Base::Wrong(problems), _) => report(&mut body.problems, problems),
            (Base::Foreign { what, help }, span) => {
                let message = format!("field {} is {what}", quoted(&name));
                report(&mut body.problems, [Problem::new(message, span, what).help(help)]);
            }
        }
        Ok(())
    }

    /// Reports a name that another field has.
    fn unique(body: &mut Body, name: &str, span: &std::ops::Range<usize>) {
        if let Some(before) = body.names.insert(name.to_owned(), span.clone()) {
            let message = format!("two fields are called {}", quoted(name));
            let problem = Problem::new(message, span.clone(), "again");
            report(&mut body.problems, [problem.and(before, "the first one")]);
        }
    }

    /// Gives each field its displacement.
    fn place(
        &mut self,
        body: Body,
        attributes: Attributes,
        rules: Rules,
        span: &std::ops::Range<usize>,
    ) -> Base {
        let mut problems = body.problems;
        report(&mut problems, attributes.problem.map(|problem| *problem));
        if rules.is_reversed {
            let message = "`#pragma scalar_storage_order` changes the byte order of the fields";
            report(&mut problems, [Problem::new(message, span.clone(), "").help(ORDER)]);
        }
        if !problems.is_empty() {
            return Base::Wrong(problems);
        }
        let mut placement = Placement::default();
        for field in body.fields {
            let Field { name, element, lengths, is_packed, align, span } = field;
            let natural = if attributes.is_packed || is_packed { 1 } else { element.align };
            let align = natural.max(align.unwrap_or(1));
            // A limit of `#pragma pack` is one for alignments that are asked for, too.
            let align = match rules.pack {
                Pack::Natural => align,
                Pack::Bytes(limit) => align.min(limit),
                Pack::Unsure if align == 1 => align,
                Pack::Unsure => {
                    let message = "whether `#pragma pack` holds here depends on a condition";
                    let problem = Problem::new(message, span, "");
                    let help = "remove the condition around the pragma, or the pragma";
                    report(&mut problems, [problem.help(help)]);
                    continue;
                }
            };
            let added = match &name {
                Some(name) => {
                    placement.add(Some(name.clone()), &element, &lengths, align, is_gap(name))
                }
                None => placement.splice(&element, align),
            };
            if let Err(error) = added {
                report(&mut problems, [Problem::new(error.to_string(), span, "too large")]);
            }
        }
        if !problems.is_empty() {
            return Base::Wrong(problems);
        }
        let align = attributes.last.max(attributes.alignas).unwrap_or(1);
        match placement.finish(align, self.fields) {
            Ok(layout) => Base::Known(layout),
            Err(error) => wrong(Problem::new(error.to_string(), span.clone(), "in this struct")),
        }
    }
}
