//! Attributes and alignments in C.

use super::super::token::Kind;
use super::{Read, Reader, alignment};
use crate::problem::Problem;

/// The attributes that change a layout.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    pub(super) is_packed: bool,
    /// The greatest alignment asked for.
    pub(super) align: Option<u64>,
}

impl Attributes {
    pub(super) fn join(&mut self, other: Self) {
        self.is_packed |= other.is_packed;
        self.align = self.align.max(other.align);
    }
}

impl Reader<'_, '_> {
    /// All attributes here: `__attribute__((…))`, `[[…]]`, `alignas(…)` and `__declspec(…)`.
    pub(super) fn attributes(&mut self) -> Read<Attributes> {
        let mut all = Attributes::default();
        loop {
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::Word, "__attribute__" | "__attribute" | "__declspec") => {
                    self.cursor.next();
                    self.cursor.expect("(")?;
                    all.join(self.attribute_list(")")?);
                }
                (Kind::Sign, "[") if self.cursor.peek_after(1).is("[") => {
                    self.cursor.next();
                    self.cursor.next();
                    all.join(self.attribute_list("]")?);
                    self.cursor.expect("]")?;
                }
                (Kind::Word, "alignas" | "_Alignas") => {
                    self.cursor.next();
                    all.align = all.align.max(self.alignment()?);
                }
                (Kind::Word, "__packed") => {
                    self.cursor.next();
                    all.is_packed = true;
                }
                (Kind::Word, "__extension__") => drop(self.cursor.next()),
                _ => return Ok(all),
            }
        }
    }

    /// Attributes up to the closing bracket.
    fn attribute_list(&mut self, close: &str) -> Read<Attributes> {
        let mut all = Attributes::default();
        loop {
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::End, _) => return Err(self.cursor.unexpected(&format!("`{close}`"))),
                (Kind::Sign, text) if text == close => {
                    self.cursor.next();
                    return Ok(all);
                }
                // The second bracket of `__attribute__((`.
                (Kind::Sign, "(") => {
                    let inner = self.nested(token, |reader| {
                        reader.cursor.next();
                        reader.attribute_list(")")
                    })?;
                    all.join(inner);
                }
                (Kind::Word, "packed" | "__packed__") => {
                    self.cursor.next();
                    all.is_packed = true;
                }
                (Kind::Word, "aligned" | "__aligned__" | "align") => {
                    self.cursor.next();
                    let align =
                        if self.cursor.peek().is("(") { self.alignment()? } else { Some(16) };
                    all.align = all.align.max(align);
                }
                _ => {
                    self.cursor.next();
                    if self.cursor.peek().is("(") {
                        self.cursor.skip_brackets();
                    }
                }
            }
        }
    }

    /// `(number)` or `(type)`.
    fn alignment(&mut self) -> Read<Option<u64>> {
        self.cursor.expect("(")?;
        let start = self.cursor.peek().start;
        let align = if self.starts_type() {
            let specified = self.specifiers()?;
            match specified.base {
                super::Base::Known(layout) => Some(layout.align),
                _ => None,
            }
        } else {
            let value = self.constant()?;
            // `alignas(0)` has no effect.
            if value != Some(0) && value.is_some_and(|value| alignment(value).is_none()) {
                let span = start..self.cursor.last().span().end;
                let message = "an alignment is a power of two, at most 2^28";
                return Err(Box::new(Problem::new(message, span, "not an alignment")));
            }
            value.and_then(alignment)
        };
        self.cursor.expect(")")?;
        Ok(align)
    }
}
