//! Constant expressions in C: the lengths of arrays.

use super::super::layout::Base;
use super::super::token::Kind;
use super::{Read, Reader};
use crate::problem::{Problem, quoted};

/// Operators by precedence, the loosest first.
const OPERATORS: &[&[&str]] = &[&["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

impl Reader<'_, '_> {
    /// The value of an expression; `None` if it does not fit 128 bits.
    pub(super) fn constant(&mut self) -> Read<Option<i128>> {
        self.operation(0)
    }

    fn operation(&mut self, level: usize) -> Read<Option<i128>> {
        let Some(operators) = OPERATORS.get(level) else { return self.factor() };
        let mut value = self.operation(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.is_operator(operator)) {
            for _ in operator.chars() {
                self.cursor.next();
            }
            let right = self.operation(level + 1)?;
            value = value.zip(right).and_then(|(a, b)| match *operator {
                "+" => a.checked_add(b),
                "-" => a.checked_sub(b),
                "*" => a.checked_mul(b),
                "/" => a.checked_div(b),
                "%" => a.checked_rem(b),
                "<<" => {
                    u32::try_from(b).ok().filter(|b| *b < 64).and_then(|b| a.checked_mul(1 << b))
                }
                _ => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
            });
        }
        Ok(value)
    }

    fn is_operator(&self, operator: &str) -> bool {
        let signs = operator.char_indices().zip(0..);
        signs.into_iter().all(|((at, c), number)| {
            let token = self.cursor.peek_after(number);
            token.is(&operator[at..at + c.len_utf8()])
        })
    }

    fn factor(&mut self) -> Read<Option<i128>> {
        let mut is_negative = false;
        while let Some(sign) = self.cursor.take("-").or_else(|| self.cursor.take("+")) {
            is_negative ^= sign.text == "-";
        }
        let token = self.cursor.peek();
        let value = match (token.kind, token.text) {
            (Kind::Number, text) => {
                let Some(value) = number_of(text) else {
                    return Err(self.cursor.unexpected("an integer"));
                };
                self.cursor.next();
                Some(value)
            }
            (Kind::Sign, "(") => self.nested(token, |reader| {
                reader.cursor.next();
                let value = reader.constant()?;
                reader.cursor.expect(")")?;
                Ok(value)
            })?,
            (Kind::Word, "sizeof") => {
                self.cursor.next();
                self.size_of()?
            }
            (Kind::Word, name) => {
                let Some(value) = self.constants.get(name) else {
                    let message = format!("the value of {} is unknown", quoted(name));
                    let problem = Problem::new(message, token.span(), "unknown name");
                    let help =
                        format!("write the number, or add the line `#define {} 3`", token.text);
                    return Err(Box::new(problem.help(help)));
                };
                let value = Some(*value);
                self.cursor.next();
                value
            }
            _ => return Err(self.cursor.unexpected("a number")),
        };
        Ok(if is_negative { value.and_then(i128::checked_neg) } else { value })
    }

    fn size_of(&mut self) -> Read<Option<i128>> {
        let open = self.cursor.expect("(")?;
        if !self.starts_type() {
            return Err(self.cursor.unexpected("a type"));
        }
        let specified = self.nested(open, Self::specifiers)?;
        self.is_part(specified.declared);
        let declarator = self.declarator()?;
        let end = self.cursor.expect(")")?;
        match specified.base {
            Base::Known(layout) if !declarator.is_indirect() => {
                Ok(layout.array(&declarator.lengths).ok().map(|array| array.size.into()))
            }
            _ => {
                let span = open.span().end..end.start;
                Err(Box::new(Problem::new("the size of this type is unknown", span, "")))
            }
        }
    }
}

/// The value of an integer constant, perhaps in brackets.
pub(super) fn number_of(text: &str) -> Option<i128> {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        text = inner.trim();
    }
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    // A sign would be accepted as well.
    let is_number = digits.starts_with(|c: char| c.is_ascii_hexdigit());
    u64::from_str_radix(digits, radix).ok().filter(|_| is_number).map(i128::from)
}
