//! `packed`, `aligned` and `alignas` in C.

use std::ops::Range;

use super::super::layout::MAX_ALIGN;
use super::{Read, Reader, by_compiler};
use crate::problem::{Problem, quoted};
use crate::token::Kind;

/// Attributes of types and fields that do not change a layout.
const HARMLESS: &[&str] = &["deprecated", "designated_init", "may_alias", "unused"];

/// The attributes that change a layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    pub(super) is_packed: bool,
    /// The least alignment.
    pub(super) align: Option<u64>,
    /// The problem with the attributes, if there is one.
    pub(super) problem: Option<Box<Problem>>,
}

impl Attributes {
    /// Adds the attributes that follow these; both belong to the code at `span`. Two alignments are refused, because it depends
    /// on the declaration which of them counts.
    pub(super) fn join(&mut self, other: Self, span: &Range<usize>) {
        self.is_packed |= other.is_packed;
        self.problem = self.problem.take().or(other.problem);
        if self.align.is_some() && other.align.is_some() {
            let twice = Problem::new("two alignments of one type", span.clone(), "");
            self.refuse(Box::new(by_compiler(twice)));
        }
        self.align = self.align.or(other.align);
    }

    fn aligned(align: u64) -> Self {
        Self { align: Some(align), ..Self::default() }
    }

    /// Whether they change a layout.
    pub(super) fn has_effect(&self) -> bool {
        self.is_packed || self.align.is_some()
    }

    pub(super) fn refuse(&mut self, problem: Box<Problem>) {
        self.problem = self.problem.take().or(Some(problem));
    }
}

impl Reader<'_, '_> {
    /// All attributes at this position: `__attribute__((…))` and, if `has_alignas`, `alignas(…)`.
    pub(super) fn attributes(&mut self, has_alignas: bool) -> Read<Attributes> {
        let mut attributes = Attributes::default();
        loop {
            let token = self.peek();
            match (token.kind, token.text) {
                (Kind::Word, "__attribute__" | "__attribute") => {
                    self.next();
                    self.text.cursor.expect("(")?;
                    self.text.cursor.expect("(")?;
                    while self.text.cursor.take(")").is_none() {
                        self.attribute(&mut attributes)?;
                    }
                    self.text.cursor.expect(")")?;
                }
                (Kind::Word, "alignas" | "_Alignas") if has_alignas => {
                    self.next();
                    self.alignment(&mut attributes)?;
                }
                (Kind::Word, "__extension__") => drop(self.next()),
                _ => return Ok(attributes),
            }
        }
    }

    fn attribute(&mut self, attributes: &mut Attributes) -> Read<()> {
        if self.text.cursor.take(",").is_some() {
            return Ok(());
        }
        let token = self.peek();
        if token.kind != Kind::Word {
            return Err(self.unexpected("`)`"));
        }
        self.next();
        let plain = token.text.strip_prefix("__").and_then(|name| name.strip_suffix("__"));
        let name = plain.unwrap_or(token.text);
        let has_value = self.peek().is("(");
        match name {
            "packed" => attributes.is_packed = true,
            "aligned" if has_value => return self.alignment(attributes),
            "aligned" => attributes.join(Attributes::aligned(16), &token.span()),
            _ if HARMLESS.contains(&name) => {}
            _ => {
                let message = format!("the attribute {} is not supported", quoted(token.text));
                attributes.refuse(Box::new(by_compiler(Problem::new(message, token.span(), ""))));
            }
        }
        if has_value {
            self.text.cursor.skip_brackets();
        }
        Ok(())
    }

    /// Reads `(number)`. Anything else is a mistake of the type or the field that has the attribute.
    fn alignment(&mut self, attributes: &mut Attributes) -> Read<()> {
        let open = self.text.cursor.index();
        self.text.cursor.expect("(")?;
        let start = self.peek().start;
        let value = self.constant();
        let span = start..self.text.cursor.last().end.max(start);
        if value.is_err() || !self.peek().is(")") {
            self.text.cursor.rewind(open);
            self.text.cursor.skip_brackets();
            let problem = Problem::new("this alignment is not supported", span, "");
            attributes.refuse(Box::new(by_compiler(problem)));
            return Ok(());
        }
        self.next();
        let align = value.ok().and_then(|value| u64::try_from(value).ok());
        if let Some(align) = align.filter(|align| align.is_power_of_two() && *align <= MAX_ALIGN) {
            attributes.join(Attributes::aligned(align), &span);
        } else {
            let message = "an alignment is a power of two, at most 2^28";
            attributes.refuse(Box::new(Problem::new(message, span, "not an alignment")));
        }
        Ok(())
    }
}
