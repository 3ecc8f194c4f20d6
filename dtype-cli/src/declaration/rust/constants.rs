//! Constant expressions in Rust: the lengths of arrays.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenTree};

use super::super::MAX_NESTING;
use super::Reader;
use super::items::{Item, Kind};
use super::tokens::{contents, is_sign};
use crate::problem::{Problem, quoted};

/// Reads the tokens of an expression.
struct Expression<'t> {
    tokens: &'t [TokenTree],
    span: Range<usize>,
}

/// The value; `None` if it does not fit 128 bits.
type Value = Result<Option<i128>, Box<Problem>>;

impl Reader<'_, '_> {
    /// The length of an array.
    pub(super) fn length(&mut self, tokens: &[TokenTree]) -> Result<u64, Box<Problem>> {
        let span = self.span(tokens);
        let value = self.constant(tokens, &span)?;
        value.and_then(|value| u64::try_from(value).ok()).ok_or_else(|| {
            let message = "the length of an array is from 0 to 2^64 - 1";
            Box::new(Problem::new(message, span, "out of range"))
        })
    }

    pub(super) fn constant(&mut self, tokens: &[TokenTree], span: &Range<usize>) -> Value {
        if self.depth >= MAX_NESTING {
            let message = format!("expressions nest deeper than {MAX_NESTING} levels");
            return Err(Box::new(Problem::new(message, span.clone(), "")));
        }
        self.depth += 1;
        let mut expression = Expression { tokens, span: span.clone() };
        let value = self.sum(&mut expression);
        self.depth -= 1;
        let value = value?;
        match expression.tokens.first() {
            None => Ok(value),
            Some(token) => {
                let span = self.span(std::slice::from_ref(token));
                let problem = Problem::new("this is not a length", span, "unexpected");
                Err(Box::new(problem.help("a length is an integer, a constant of the text, or a sum or a product of these")))
            }
        }
    }

    fn sum(&mut self, expression: &mut Expression<'_>) -> Value {
        let mut value = self.product(expression)?;
        while let Some(sign) = expression.sign(&['+', '-']) {
            let right = self.product(expression)?;
            value = value.zip(right).and_then(|(a, b)| match sign {
                '+' => a.checked_add(b),
                _ => a.checked_sub(b),
            });
        }
        Ok(value)
    }

    fn product(&mut self, expression: &mut Expression<'_>) -> Value {
        let mut value = self.factor(expression)?;
        while let Some(sign) = expression.sign(&['*', '/']) {
            let right = self.factor(expression)?;
            value = value.zip(right).and_then(|(a, b)| match sign {
                '*' => a.checked_mul(b),
                _ => a.checked_div(b),
            });
        }
        Ok(value)
    }

    fn factor(&mut self, expression: &mut Expression<'_>) -> Value {
        let Some((first, rest)) = expression.tokens.split_first() else {
            return Err(Box::new(Problem::new("expected a length", expression.span.clone(), "")));
        };
        let span = self.span(std::slice::from_ref(first));
        expression.tokens = rest;
        match first {
            TokenTree::Literal(literal) => {
                let value = number_of(&literal.to_string());
                let message =
                    format!("expected an integer, found {}", quoted(&literal.to_string()));
                value.map(Some).ok_or_else(|| Box::new(Problem::new(message, span, "")))
            }
            TokenTree::Group(group) if group.delimiter() != Delimiter::Bracket => {
                self.constant(&contents(group), &span)
            }
            TokenTree::Ident(ident) => {
                let name = expression.path_end(ident.to_string(), &span)?;
                let known = self.values.get(&name).copied();
                let tokens = match self.items.get(&name) {
                    Some(item @ Item { kind: Kind::Constant(tokens), .. }) if known.is_none() => {
                        self.check(&name, item)?;
                        Some(tokens.clone())
                    }
                    _ => None,
                };
                if known.is_none() && tokens.is_none() {
                    let message = format!("the value of {} is unknown", quoted(&name));
                    let problem = Problem::new(message, span, "unknown name");
                    let help = format!("write the number, or add `const {name}: usize = …;`");
                    return Err(Box::new(problem.help(help)));
                }
                let value = match (known, tokens) {
                    (Some(value), _) => value,
                    (None, tokens) => self.constant(&tokens.unwrap_or_default(), &span)?,
                };
                self.values.insert(name, value);
                // `N as usize`
                if let [TokenTree::Ident(word), TokenTree::Ident(ty), after @ ..] =
                    expression.tokens
                    && word == "as"
                    && value.is_none_or(|value| fits(value, &ty.to_string()))
                {
                    expression.tokens = after;
                }
                Ok(value)
            }
            _ => Err(Box::new(Problem::new("expected a length", span, "expected a number"))),
        }
    }
}

impl Expression<'_> {
    /// The name at the end of a path to a constant of the text: of `crate::N`, for example. What other paths lead to
    /// is not known.
    fn path_end(&mut self, first: String, span: &Range<usize>) -> Result<String, Box<Problem>> {
        let mut name = first;
        while is_sign(self.tokens.first(), ':') && is_sign(self.tokens.get(1), ':') {
            let next = self.tokens.get(2);
            let is_here = matches!(name.as_str(), "crate" | "self" | "super");
            let Some(TokenTree::Ident(ident)) = next.filter(|_| is_here) else {
                let message = format!("the value at the path {} is unknown", quoted(&name));
                let problem = Problem::new(message, span.clone(), "not a constant of the text");
                return Err(Box::new(problem.help("write the number")));
            };
            name = ident.to_string();
            self.tokens = &self.tokens[3..];
        }
        Ok(name)
    }

    /// Takes the next token if it is one of these signs.
    fn sign(&mut self, signs: &[char]) -> Option<char> {
        match self.tokens.split_first() {
            Some((TokenTree::Punct(punct), rest)) if signs.contains(&punct.as_char()) => {
                self.tokens = rest;
                Some(punct.as_char())
            }
            _ => None,
        }
    }
}

/// Whether a cast to an integer type leaves a value as it is.
fn fits(value: i128, ty: &str) -> bool {
    let bits = match ty.trim_start_matches(['u', 'i']) {
        "size" => usize::BITS,
        digits => digits.parse().unwrap_or(0),
    };
    let (least, bits) = if ty.starts_with('i') {
        (-(1_i128 << (bits.clamp(1, 127) - 1)), bits.saturating_sub(1))
    } else {
        (0, bits)
    };
    value >= least && bits > 0 && (bits >= 127 || value < 1 << bits)
}

/// The value of an integer literal.
pub(super) fn number_of(text: &str) -> Option<i128> {
    let digits = text.replace('_', "");
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits.as_str()),
    };
    let suffixes = ["usize", "u128", "u64", "u32", "u16", "u8", "i64", "i32", "i16", "i8"];
    let suffix = suffixes.iter().find_map(|suffix| digits.strip_suffix(suffix));
    u64::from_str_radix(suffix.unwrap_or(digits), radix).ok().map(i128::from)
}
