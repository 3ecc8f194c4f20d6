//! `packed`, `aligned` and `alignas` in C.

use super::super::layout::{Base, MAX_ALIGN};
use super::super::token::Kind;
use super::{Read, Reader, by_compiler};
use crate::problem::{Problem, quoted};

/// Attributes that leave layouts as they are.
const HARMLESS: &[&str] = &[
    "aligned",
    "alloc_size",
    "always_inline",
    "access",
    "cold",
    "const",
    "deprecated",
    "designated_init",
    "format",
    "leaf",
    "malloc",
    "may_alias",
    "noinline",
    "nonnull",
    "noreturn",
    "nothrow",
    "pure",
    "returns_nonnull",
    "unavailable",
    "unused",
    "used",
    "visibility",
    "warn_unused_result",
];

/// The attributes that change a layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    pub(super) is_packed: bool,
    /// The last alignment of an attribute, which is the one that counts for a type.
    pub(super) last: Option<u64>,
    /// The greatest alignment of an attribute, which is the one that counts for a field.
    pub(super) most: Option<u64>,
    /// The greatest alignment of `alignas`.
    pub(super) alignas: Option<u64>,
    /// The problem with the attributes, if there is one.
    pub(super) problem: Option<Box<Problem>>,
}

impl Attributes {
    /// Adds the attributes that follow these.
    pub(super) fn join(&mut self, other: Self) {
        self.is_packed |= other.is_packed;
        self.last = other.last.or(self.last);
        self.most = self.most.max(other.most);
        self.alignas = self.alignas.max(other.alignas);
        self.problem = self.problem.take().or(other.problem);
    }

    pub(super) fn refuse(&mut self, problem: Box<Problem>) {
        self.problem = self.problem.take().or(Some(problem));
    }
}

impl Reader<'_, '_> {
    /// All attributes here: `__attribute__((…))` and `alignas(…)`.
    pub(super) fn attributes(&mut self) -> Read<Attributes> {
        self.attributes_with(true)
    }

    /// The attributes after the body of a type, where `alignas` belongs to what is declared.
    pub(super) fn attributes_of_type(&mut self) -> Read<Attributes> {
        self.attributes_with(false)
    }

    fn attributes_with(&mut self, has_alignas: bool) -> Read<Attributes> {
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
                    let align = self.alignment(&mut attributes)?;
                    attributes.alignas = attributes.alignas.max(align);
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
            "aligned" if has_value => {
                let align = self.alignment(attributes)?;
                attributes.last = align.or(attributes.last);
                attributes.most = attributes.most.max(align);
                return Ok(());
            }
            "aligned" => {
                attributes.last = Some(16);
                attributes.most = attributes.most.max(Some(16));
            }
            _ if HARMLESS.contains(&name) => {}
            _ => {
                let message = format!("the attribute {} is not read", quoted(token.text));
                attributes.refuse(Box::new(by_compiler(Problem::new(message, token.span(), ""))));
            }
        }
        if has_value {
            self.text.cursor.skip_brackets();
        }
        Ok(())
    }

    /// `(number)` or `(type)`. A mistake in the number is one of the struct.
    fn alignment(&mut self, attributes: &mut Attributes) -> Read<Option<u64>> {
        let open = self.text.cursor.expect("(")?;
        let is_type = self.peek().kind == Kind::Word && !self.values.contains_key(self.peek().text);
        if is_type && !self.peek().is("sizeof") {
            let specified = self.nested(open, Self::specifiers)?;
            let close = self.text.cursor.expect(")")?;
            if let Base::Known(layout) = specified.base {
                return Ok(Some(layout.align));
            }
            let span = open.end..close.start;
            let problem = Problem::new("the alignment of this type is unknown", span, "");
            attributes.refuse(Box::new(by_compiler(problem)));
            return Ok(None);
        }
        let start = self.peek().start;
        let value = self.nested(open, Self::constant)?;
        let span = start..self.text.cursor.last().end.max(start);
        self.text.cursor.expect(")")?;
        let align = u64::try_from(value.number).ok();
        match align.filter(|align| align.is_power_of_two() && *align <= MAX_ALIGN) {
            Some(align) => Ok(Some(align)),
            // `alignas(0)` has no effect.
            None if value.number == 0 => Ok(None),
            None => {
                let message = "an alignment is a power of two, at most 2^28";
                attributes.refuse(Box::new(Problem::new(message, span, "not an alignment")));
                Ok(None)
            }
        }
    }
}
