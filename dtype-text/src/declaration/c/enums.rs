//! Enums in C.

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind as Values;

use super::super::layout::{Layout, wrong};
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
        // The least and the greatest value.
        let (mut values, mut next) = ((0, 0), Some(0));
        let mut problem = None;
        while self.text.cursor.take("}").is_none() {
            let constant = self.peek();
            if constant.kind != Kind::Word {
                return Err(self.unexpected("a name or `}`"));
            }
            self.next();
            self.attributes(true)?;
            if self.text.cursor.take("=").is_some() {
                next = match self.constant() {
                    Ok(value) => Some(value),
                    Err(mistake) => {
                        problem = problem.or(Some(mistake));
                        self.skip_value();
                        None
                    }
                };
            }
            if let Some(number) = next {
                values = (number.min(values.0), number.max(values.1));
                self.values.insert(constant.text, number);
            } else {
                self.values.remove(constant.text);
            }
            next = next.map(|number| number + 1);
            if self.text.cursor.take(",").is_none() && !self.peek().is("}") {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        attributes.join(self.attributes(false)?, &span);
        let integer = integer(values).filter(|_| !attributes.has_effect());
        let base = match (problem.or(attributes.problem), integer) {
            (Some(problem), _) => wrong(*problem),
            (None, Some(basic)) => Ok(Layout::basic(basic)),
            (None, None) => {
                let problem = Problem::new("the integer of this enum is unknown", span.clone(), "");
                wrong(by_compiler(problem))
            }
        };
        let named = Named::of(base, span);
        if let Some(Token { text, .. }) = name {
            self.tags.insert(text, named.clone());
        }
        Ok(named)
    }

    /// Skips a value that is not understood.
    fn skip_value(&mut self) {
        while !matches!(self.peek().text, "," | "}" | ";") && self.peek().kind != Kind::End {
            if self.peek().is("(") {
                self.text.cursor.skip_brackets();
            } else {
                self.next();
            }
        }
    }
}

/// The integer of an enum: `int` if that has its values, as in GCC.
fn integer((least, greatest): (i128, i128)) -> Option<Basic> {
    let all = [Basic::Int, Basic::Unsigned, Basic::Long, Basic::UnsignedLong];
    all.into_iter().find(|basic| {
        let bits = basic.size() * 8;
        let (low, high) = if basic.kind() == Values::Unsigned {
            (0, (1_i128 << bits) - 1)
        } else {
            (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
        };
        low <= least && greatest <= high
    })
}
