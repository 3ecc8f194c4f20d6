//! Whether the condition of an `#if` holds, as far as that is known.

use super::super::token::{Kind, Token};
use super::constants::operator;
use super::macros::Macros;
use super::number::Number;
use super::predefined::is_absent;

/// How deep the operands of a condition may nest; a deeper one is not known.
const MAX_DEPTH: usize = 64;

/// The greatest value that is the same whether a number has a sign or not.
const GREATEST: i128 = i64::MAX as i128;

/// The values that an expression may have: all from the least to the greatest. None is negative or greater than
/// [`GREATEST`], unless nothing is known.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Values {
    least: i128,
    greatest: i128,
}

impl Values {
    const ANY: Self = Self { least: i128::MIN, greatest: i128::MAX };

    fn exactly(value: i128) -> Self {
        if (0..=GREATEST).contains(&value) {
            Self { least: value, greatest: value }
        } else {
            Self::ANY
        }
    }

    fn of(truth: Option<bool>) -> Self {
        truth.map_or(Self { least: 0, greatest: 1 }, |truth| Self::exactly(truth.into()))
    }

    fn truth(self) -> Option<bool> {
        match (self.least, self.greatest) {
            (0, 0) => Some(false),
            (1.., _) => Some(true),
            _ => None,
        }
    }

    fn is_less(self, other: Self) -> Option<bool> {
        if self.greatest < other.least {
            Some(true)
        } else {
            (self.least >= other.greatest).then_some(false)
        }
    }

    fn is_equal(self, other: Self) -> Option<bool> {
        if self.greatest < other.least || other.greatest < self.least {
            return Some(false);
        }
        (self == other && self.least == self.greatest).then_some(true)
    }

    fn binary(self, operator: &str, other: Self) -> Self {
        let not = |truth: Option<bool>| truth.map(|truth| !truth);
        let truth = match operator {
            "||" => match (self.truth(), other.truth()) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            "&&" => match (self.truth(), other.truth()) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            "==" => self.is_equal(other),
            "!=" => not(self.is_equal(other)),
            "<" => self.is_less(other),
            ">" => other.is_less(self),
            "<=" => not(other.is_less(self)),
            ">=" => not(self.is_less(other)),
            _ => return self.computed(operator, other).map_or(Self::ANY, Self::exactly),
        };
        Self::of(truth)
    }

    /// The result of a computation with two numbers, if it is known.
    fn computed(self, operator: &str, other: Self) -> Option<i128> {
        let [a, b] = [self, other].map(|one| (one.least == one.greatest).then_some(one.least));
        let (a, b) = (a?, b?);
        match operator {
            "*" => a.checked_mul(b),
            "/" => a.checked_div(b),
            "%" => a.checked_rem(b),
            "+" => Some(a + b),
            "-" => Some(a - b),
            "&" => Some(a & b),
            "|" => Some(a | b),
            "^" => Some(a ^ b),
            "<<" if b < 63 => Some(a << b),
            ">>" if b < 63 => Some(a >> b),
            _ => None,
        }
    }
}

/// Whether a name is defined, if that is known.
pub(super) fn is_defined(name: &str, macros: &Macros<'_>) -> Option<bool> {
    if macros.is_sure(name) {
        return Some(true);
    }
    let value = predefined(name).filter(|_| macros.is_new(name));
    value.and_then(Values::truth)
}

/// The value of a macro that the text has not defined: 0 if no compiler of this system defines it.
fn predefined(name: &str) -> Option<Values> {
    if cfg!(unix) && name == "__GNUC__" {
        // Compilers other than GCC say that they are version 4.
        return Some(Values { least: 4, greatest: GREATEST });
    }
    is_absent(name).then(|| Values::exactly(0))
}

/// Whether a condition holds, if that is known. Its end is not among the tokens.
pub(super) fn truth<'s>(tokens: &[Token<'s>], macros: &mut Macros<'s>) -> Option<bool> {
    let tokens = expanded(tokens, macros)?;
    let mut condition = Condition { tokens: &tokens, macros, depth: 0 };
    let value = condition.conditional()?;
    condition.tokens.is_empty().then(|| value.truth())?
}

/// The tokens of a condition with what its macros stand for, but for the operands of `defined`.
fn expanded<'s>(tokens: &[Token<'s>], macros: &mut Macros<'s>) -> Option<Vec<Token<'s>>> {
    let mut all = Vec::new();
    for (number, token) in tokens.iter().enumerate() {
        let before = |count: usize| number.checked_sub(count).map(|index| tokens[index]);
        let is_operand = match before(1) {
            Some(open) if open.is("(") => before(2).is_some_and(|word| word.is("defined")),
            word => word.is_some_and(|word| word.is("defined")),
        };
        let is_call = tokens.get(number + 1).is_some_and(|next| next.is("("));
        if !is_operand && token.kind == Kind::Word && macros.is_expanded(token.text) {
            all.extend(macros.expand(*token, is_call).ok()?);
        } else {
            all.push(Token { kind: macros.kind(token, is_call && !is_operand), ..*token });
        }
    }
    Some(all)
}

/// Reads a condition. `None` is a mistake in it, or what is not understood.
struct Condition<'t, 's> {
    tokens: &'t [Token<'s>],
    macros: &'t Macros<'s>,
    depth: usize,
}

impl<'s> Condition<'_, 's> {
    fn next(&mut self) -> Option<Token<'s>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn take(&mut self, text: &str) -> bool {
        let is_here = self.tokens.first().is_some_and(|first| first.is(text));
        is_here && self.next().is_some()
    }

    /// `condition ? one : other`
    fn conditional(&mut self) -> Option<Values> {
        let condition = self.operation(0)?;
        if !self.take("?") {
            return Some(condition);
        }
        self.depth += 1;
        let one = self.conditional()?;
        let other = self.take(":").then(|| self.conditional())??;
        self.depth -= 1;
        Some(match condition.truth() {
            Some(true) => one,
            Some(false) => other,
            None if one == other => one,
            None => Values::ANY,
        })
    }

    /// Operands with operators that bind at least as tightly as this.
    fn operation(&mut self, least: usize) -> Option<Values> {
        let mut value = self.operand()?;
        while let Some((sign, binds)) = operator(self.tokens).filter(|(_, binds)| *binds >= least) {
            self.tokens = &self.tokens[sign.len()..];
            value = value.binary(sign, self.operation(binds + 1)?);
        }
        Some(value)
    }

    fn operand(&mut self) -> Option<Values> {
        if self.depth > MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let token = self.next()?;
        let value = match (token.kind, token.text) {
            (Kind::Sign, "!") => {
                let value = self.operand()?.truth();
                Values::of(value.map(|value| !value))
            }
            (Kind::Sign, "+") => self.operand()?,
            (Kind::Sign, "-" | "~") => {
                self.operand()?;
                Values::ANY
            }
            (Kind::Sign, "(") => {
                let value = self.conditional()?;
                self.take(")").then_some(value)?
            }
            (Kind::Number, text) => Values::exactly(Number::parse(text)?.value),
            (Kind::Text, text) => Values::exactly(Number::character(text)?.value),
            (Kind::Word, "defined") => {
                let has_bracket = self.take("(");
                let name = self.next()?;
                let is_closed = !has_bracket || self.take(")");
                Values::of(is_closed.then(|| is_defined(name.text, self.macros))?)
            }
            (Kind::Word, name) if self.macros.is_new(name) => {
                predefined(name).unwrap_or(Values::ANY)
            }
            (Kind::Word | Kind::Branches, _) => Values::ANY,
            _ => return None,
        };
        self.depth -= 1;
        Some(value)
    }
}
