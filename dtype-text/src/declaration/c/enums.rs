//! Enums in C.

use std::ops::Range;

use dtype_runtime::Basic;

use super::super::layout::{Base, Layout, wrong};
use super::specifiers::Head;
use super::{Named, Read, Reader, by_compiler};
use crate::problem::Problem;
use crate::token::{Kind, Token};

impl<'s> Reader<'s, '_> {
    /// An enum, with its constants if there is a body.
    pub(super) fn enumeration(&mut self, head: Head<'s>) -> Read<Named<'s>> {
        let Head { name, span, mut attributes } = head;
        if let Some(name) = name.filter(|_| !self.peek().is("{")) {
            return Ok(self.tag("enum", name));
        }
        self.next();
        let mut base = Ok(Layout::basic(Basic::Int));
        if let Err(problem) = self.constants(&mut base) {
            base = base.and(wrong(*problem));
            self.skip_body();
        }
        attributes.join(self.attributes(false)?, &span);
        if let Some(problem) = attributes.problem.take() {
            base = base.and(wrong(*problem));
        }
        if attributes.has_effect() {
            base = base.and(unknown(span.clone()));
        }
        let named = Named::of(base, span);
        if let Some(Token { text, .. }) = name {
            self.tags.insert(text, named.clone());
        }
        Ok(named)
    }

    /// Reads the constants, up to the closing brace.
    fn constants(&mut self, base: &mut Base) -> Read<()> {
        let mut next = Some(0_i128);
        while self.text.cursor.take("}").is_none() {
            let constant = self.peek();
            if constant.kind != Kind::Word {
                return Err(self.unexpected("a name or `}`"));
            }
            self.next();
            self.attributes(true)?;
            let mut refuse = |other: Base| {
                if base.is_ok() {
                    *base = other;
                }
            };
            if self.text.cursor.take("=").is_some() {
                next = self.constant().map_err(|mistake| refuse(wrong(*mistake))).ok();
                if next.is_none() {
                    self.skip_to(&[",", "}", ";"]);
                }
            }
            match next {
                Some(number) => drop(self.values.insert(constant.text, number)),
                None => drop(self.values.remove(constant.text)),
            }
            // With other constants, compilers choose other integers.
            if next.is_some_and(|number| i32::try_from(number).is_err()) {
                refuse(unknown(constant.span()));
            }
            next = next.map(|number| number + 1);
            if self.text.cursor.take(",").is_none() && !self.peek().is("}") {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        Ok(())
    }

    /// Skips the rest of a value that is not understood, up to one of these signs.
    pub(super) fn skip_to(&mut self, ends: &[&str]) {
        while !ends.contains(&self.peek().text) && self.peek().kind != Kind::End {
            if self.peek().is("(") {
                self.text.cursor.skip_brackets();
            } else {
                self.next();
            }
        }
    }
}

/// The mistake of an enum that is no `int`.
fn unknown(at: Range<usize>) -> Base {
    let message = "the integer of this enum is unknown";
    wrong(by_compiler(Problem::new(message, at, "")))
}
