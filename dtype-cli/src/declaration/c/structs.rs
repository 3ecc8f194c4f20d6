//! The bodies of structs in C.

use super::super::Declared;
use super::super::layout::{Base, Layout, Placement, is_gap};
use super::super::token::Kind;
use super::attributes::Attributes;
use super::declarator::Declarator;
use super::specifiers::Specified;
use super::{Named, Read, Reader, report, wrong};
use crate::problem::{Problem, quoted};

/// The fields of a struct before they are placed.
#[derive(Default)]
struct Body {
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
    attributes: Attributes,
    span: std::ops::Range<usize>,
}

impl<'s> Reader<'s, '_> {
    pub(super) fn struct_specifier(&mut self) -> Read<Named> {
        let keyword = self.cursor.next();
        let mut attributes = self.attributes()?;
        let name = (self.cursor.peek().kind == Kind::Word).then(|| self.cursor.next());
        attributes.join(self.attributes()?);
        let pack = self.pack_now;
        let open = self.cursor.peek();
        if !open.is("{") {
            let Some(name) = name else { return Err(self.cursor.unexpected("a name or `{`")) };
            return Ok(self.tags.get(name.text).cloned().unwrap_or_else(|| {
                let message = format!("`struct {}` is not declared", name.text);
                let problem = Problem::new(message, name.span(), "unknown name");
                let base = wrong(problem.help("add its declaration before this one"));
                Named { base, declared: None }
            }));
        }
        let body = self.nested(open, |reader| {
            reader.cursor.next();
            reader.body()
        })?;
        attributes.join(self.attributes()?);
        let span = name.map_or(keyword.span(), |name| name.span());
        let mut base = self.place(body, attributes, pack, &span);
        if let Some(name) = name
            && let Some(Named { declared: Some(before), .. }) = self.tags.get(name.text)
            && let Some(before) = self.declared.get(*before)
        {
            let message = format!("`struct {}` is declared twice", name.text);
            let problem = Problem::new(message, span.clone(), "again");
            base = wrong(
                problem
                    .and(before.span.clone(), "declared here first")
                    .help("all branches of `#if` are read: remove the one that does not apply"),
            );
        }
        let declared = Some(self.declared.len());
        self.declared.push(Declared {
            name: name.map_or_else(String::new, |name| name.text.to_owned()),
            span,
            base: base.clone(),
            is_part: false,
        });
        let named = Named { base, declared };
        if let Some(name) = name {
            self.tags.insert(name.text, named.clone());
        }
        Ok(named)
    }

    fn body(&mut self) -> Read<Body> {
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
                (Kind::Directive, text) => {
                    self.cursor.next();
                    self.directive(text);
                }
                (Kind::Word, "_Static_assert" | "static_assert") => self.skip_declaration(),
                _ => self.fields(&mut body)?,
            }
        }
    }

    /// `type name, name;`
    fn fields(&mut self, body: &mut Body) -> Read<()> {
        let number = self.declared.len();
        let specified = self.specifiers()?;
        if self.cursor.peek().is(";") {
            // `struct P;` without a body only repeats a name.
            let is_new = specified.declared.is_some_and(|index| index >= number);
            self.nameless(body, &specified, is_new);
            return Ok(());
        }
        loop {
            let start = self.cursor.peek();
            let declarator = self.declarator()?;
            self.field(body, &specified, declarator).map_err(|problem| {
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
        let mut problem = self.cursor.unexpected("`;` or `,`");
        if self.cursor.peek().kind == Kind::Word || self.cursor.peek().is("}") {
            let end = self.cursor.last().span().end;
            problem.others.push((end..end, "a field ends with `;`".into()));
        }
        Err(problem)
    }

    /// A struct or a union without a name: its fields are fields of the struct around it.
    fn nameless(&mut self, body: &mut Body, specified: &Specified, is_new: bool) {
        self.is_part(specified.declared);
        match &specified.base {
            Base::Known(element) if is_new => {
                for member in &*element.members {
                    if let Some(name) = &member.name {
                        Self::unique(body, name, &specified.span);
                    }
                }
                let attributes =
                    Attributes { is_packed: specified.is_packed, align: specified.align };
                body.fields.push(Field {
                    name: None,
                    element: element.clone(),
                    lengths: Vec::new(),
                    attributes,
                    span: specified.span.clone(),
                });
            }
            // A type alone declares no field.
            Base::Known(_) => {}
            Base::Wrong(problems) => report(&mut body.problems, problems.iter().cloned()),
            Base::Foreign { what, help } => {
                let message = format!("a field without a name is {what}");
                let problem = Problem::new(message, specified.span.clone(), *what);
                report(&mut body.problems, [problem.help(*help)]);
            }
        }
    }

    fn field(
        &mut self,
        body: &mut Body,
        specified: &Specified,
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
                let attributes = Attributes {
                    is_packed: declarator.is_packed || specified.is_packed,
                    align: declarator.align.max(specified.align),
                };
                body.fields.push(Field {
                    name: Some(name),
                    element,
                    lengths: declarator.lengths,
                    attributes,
                    span: declarator.span,
                });
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
        pack: Option<u64>,
        span: &std::ops::Range<usize>,
    ) -> Base {
        let mut problems = body.problems;
        if !problems.is_empty() {
            return Base::Wrong(problems);
        }
        let mut placement = Placement::default();
        for field in body.fields {
            let Field { name, element, lengths, attributes: own, span } = field;
            let is_packed = attributes.is_packed || own.is_packed;
            let natural = if is_packed { 1 } else { element.align };
            // A limit of `#pragma pack` is one for alignments that are asked for, too.
            let align = natural.max(own.align.unwrap_or(1)).min(pack.unwrap_or(u64::MAX));
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
        match placement.finish(attributes.align.unwrap_or(1), self.fields) {
            Ok(layout) => Base::Known(layout),
            Err(error) => wrong(Problem::new(error.to_string(), span.clone(), "in this struct")),
        }
    }
}
