//! Enums in C.

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind as Values;

use super::super::layout::{Base, Layout};
use super::super::token::{Kind, Token};
use super::constants::Value;
use super::{Named, Read, Reader, by_compiler, wrong};
use crate::problem::Problem;

impl<'s> Reader<'s, '_> {
    /// An enum, with its constants if there is a body.
    pub(super) fn enumeration(&mut self) -> Read<Named<'s>> {
        let keyword = self.next();
        let mut attributes = self.attributes()?;
        let name = (self.peek().kind == Kind::Word).then(|| self.next());
        let span = name.unwrap_or(keyword).span();
        if !self.peek().is("{") {
            let Some(name) = name else { return Err(self.unexpected("a name or `{`")) };
            return Ok(self.tag("enum", name));
        }
        let open = self.next();
        // Whether all values are known, the least and the greatest.
        let (mut values, mut next) = ((0, 0), Some(0));
        let mut problem = None;
        while self.text.cursor.take("}").is_none() {
            let constant = self.peek();
            if constant.kind != Kind::Word {
                return Err(self.unexpected("a name or `}`"));
            }
            self.next();
            self.attributes()?;
            if self.text.cursor.take("=").is_some() {
                next = match self.nested(open, Self::constant) {
                    Ok(value) => Some(value.number),
                    Err(mistake) => {
                        problem = problem.or(Some(mistake));
                        self.skip_value();
                        None
                    }
                };
            }
            if let Some(number) = next {
                values = (number.min(values.0), number.max(values.1));
                self.values.insert(constant.text, Value::int(number));
            } else {
                self.values.remove(constant.text);
            }
            next = next.map(|number| number + 1);
            if self.text.cursor.take(",").is_none() && !self.peek().is("}") {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        attributes.join(self.attributes_of_type()?);
        let base = match problem.or(attributes.problem) {
            Some(problem) => wrong(*problem),
            None => integer(values, attributes.is_packed).map_or_else(
                || {
                    wrong(by_compiler(Problem::new(
                        "no integer has all these values",
                        span.clone(),
                        "",
                    )))
                },
                |basic| Base::Known(Layout::basic(basic)),
            ),
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

/// The integer of an enum: `int` if that has its values, as in GCC; the least one if it is packed.
fn integer((least, greatest): (i128, i128), is_packed: bool) -> Option<Basic> {
    let usual = [Basic::Int, Basic::Unsigned, Basic::Long, Basic::UnsignedLong];
    let small = [
        Basic::UnsignedChar,
        Basic::SignedChar,
        Basic::UnsignedShort,
        Basic::Short,
        Basic::Unsigned,
        Basic::Int,
        Basic::UnsignedLong,
        Basic::Long,
    ];
    let all: &[Basic] = if is_packed { &small } else { &usual };
    let fits = |basic: &&Basic| {
        let bits = basic.size() * 8;
        let (low, high) = if basic.kind() == Values::Unsigned {
            (0, (1_i128 << bits) - 1)
        } else {
            (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
        };
        low <= least && greatest <= high
    };
    all.iter().find(fits).copied()
}
