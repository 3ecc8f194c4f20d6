//! Constant expressions in C: numbers, characters, constants, operators, and what the caller knows.

use super::super::MAX_NESTING;
use super::super::token::{Cursor, Kind, Token};
use super::{Read, by_compiler};
use crate::problem::{Problem, quoted};

/// A number. Operators are read where the result is the same in every type of C that the operands may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) number: i128,
    pub(super) is_unsigned: bool,
}

impl Value {
    pub(super) fn int(number: i128) -> Self {
        Self { number, is_unsigned: false }
    }

    /// Whether an operator may have this number as an operand or as its result.
    fn is_plain(self) -> bool {
        let least = if self.is_unsigned { 0 } else { i32::MIN.into() };
        (least..=i32::MAX.into()).contains(&self.number)
    }
}

/// The operators, by how tightly they bind.
const OPERATORS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// What the caller knows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Constant<'t, 's> {
    Name(&'s str),
    /// The size of the type with these words.
    Size(&'t [Token<'s>]),
}

/// The value of a constant; `None` if that is not known.
type Known<'k, 's> = &'k mut dyn FnMut(Constant<'_, 's>) -> Option<Value>;

/// The value of the expression that starts here.
pub(super) fn constant<'s>(cursor: &mut Cursor<'s>, known: Known<'_, 's>) -> Read<Value> {
    expression(cursor, known, 0, 0)
}

fn expression<'s>(
    cursor: &mut Cursor<'s>,
    known: Known<'_, 's>,
    least: usize,
    depth: usize,
) -> Read<Value> {
    let start = cursor.peek();
    if depth >= MAX_NESTING {
        let message = format!("expressions nest deeper than {MAX_NESTING} levels");
        return Err(Box::new(Problem::new(message, start.span(), "one more level")));
    }
    let mut value = operand(cursor, known, depth)?;
    while let Some((operator, level)) = operator(cursor).filter(|(_, level)| *level >= least) {
        for _ in 0..operator.len() {
            cursor.next();
        }
        let right = expression(cursor, known, level + 1, depth + 1)?;
        let span = start.start..cursor.last().end.max(start.start);
        value = binary(value, operator, right)
            .ok_or_else(|| Box::new(Problem::new("the value of this is unknown", span, "")))?;
    }
    let next = cursor.peek();
    if next.is("?") {
        let message = "conditional expressions are not evaluated";
        return Err(Box::new(by_compiler(Problem::new(message, next.span(), "a condition"))));
    }
    Ok(value)
}

/// The operator here and its level. Signs are tokens of one character.
fn operator(cursor: &Cursor<'_>) -> Option<(&'static str, usize)> {
    let [first, second] = [cursor.peek(), cursor.peek_after(1)];
    let pair = format!("{}{}", first.text, second.text);
    let is_pair =
        first.kind == Kind::Sign && second.kind == Kind::Sign && first.end == second.start;
    let find = |text: &str| {
        OPERATORS.iter().enumerate().find_map(|(level, operators)| {
            operators.iter().find(|operator| **operator == text).map(|operator| (*operator, level))
        })
    };
    let pair = is_pair.then(|| find(&pair)).flatten();
    pair.or_else(|| (first.kind == Kind::Sign).then(|| find(first.text)).flatten())
}

fn operand<'s>(cursor: &mut Cursor<'s>, known: Known<'_, 's>, depth: usize) -> Read<Value> {
    let token = cursor.peek();
    match (token.kind, token.text) {
        (Kind::Number, text) => {
            let value = number(text).ok_or_else(|| {
                let message = format!("expected an integer, found {}", quoted(text));
                Box::new(Problem::new(message, token.span(), "expected an integer"))
            })?;
            cursor.next();
            Ok(value)
        }
        (Kind::Text, text) => {
            let inside = text.trim_matches('\'').as_bytes();
            let [character @ b' '..=b'~'] = inside else {
                return Err(cursor.unexpected("a number"));
            };
            cursor.next();
            Ok(Value::int((*character).into()))
        }
        (Kind::Sign, "(") => {
            cursor.next();
            let value = expression(cursor, known, 0, depth + 1)?;
            cursor.expect(")")?;
            Ok(value)
        }
        (Kind::Sign, sign @ ("-" | "+" | "~" | "!")) => {
            cursor.next();
            let value = expression(cursor, known, OPERATORS.len(), depth + 1)?;
            let number = match sign {
                "-" => -value.number,
                "~" => !value.number,
                "!" => i128::from(value.number == 0),
                _ => value.number,
            };
            let result = Value { number, ..value };
            if value.is_plain() && result.is_plain() {
                return Ok(result);
            }
            let span = token.start..cursor.last().end;
            Err(Box::new(Problem::new("the value of this is unknown", span, "")))
        }
        (Kind::Word, "sizeof") => {
            cursor.next();
            cursor.expect("(")?;
            let mut words = Vec::new();
            while cursor.peek().kind == Kind::Word {
                words.push(cursor.next());
            }
            cursor.expect(")")?;
            let span = token.start..cursor.last().end;
            let unknown = || Box::new(Problem::new("the size of this type is unknown", span, ""));
            known(Constant::Size(&words)).ok_or_else(unknown)
        }
        (Kind::Word, name) => {
            cursor.next();
            known(Constant::Name(name)).ok_or_else(|| {
                let message = format!("the value of {} is unknown", quoted(name));
                let problem = Problem::new(message, token.span(), "unknown name");
                Box::new(problem.help(format!("write the number, or add `#define {name} …`")))
            })
        }
        _ => Err(cursor.unexpected("a number")),
    }
}

fn binary(left: Value, operator: &str, right: Value) -> Option<Value> {
    let (a, b) = (left.number, right.number);
    let truth = |condition: bool| Some(Value::int(condition.into()));
    let is_shift = matches!(operator, "<<" | ">>");
    let is_unsigned = left.is_unsigned || right.is_unsigned && !is_shift;
    let is_known = [left, right].iter().all(|one| Value { is_unsigned, ..*one }.is_plain());
    if !is_known {
        return None;
    }
    let number = match operator {
        "||" => return truth(a != 0 || b != 0),
        "&&" => return truth(a != 0 && b != 0),
        "==" => return truth(a == b),
        "!=" => return truth(a != b),
        "<" => return truth(a < b),
        ">" => return truth(a > b),
        "<=" => return truth(a <= b),
        ">=" => return truth(a >= b),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "<<" | ">>" if a < 0 || !(0..31).contains(&b) => return None,
        "<<" => a << b,
        ">>" => a >> b,
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a.checked_div(b)?,
        _ => a.checked_rem(b)?,
    };
    Some(Value { number, is_unsigned }).filter(|result| result.is_plain())
}

/// An integer constant.
fn number(text: &str) -> Option<Value> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x', ..] => (&digits[2..], 16),
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', b'0'..=b'9', ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let is_number = digits.starts_with(|c: char| c.is_ascii_hexdigit());
    let number = u64::from_str_radix(digits, radix).ok().filter(|_| is_number)?;
    let is_suffix = matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu");
    is_suffix.then_some(Value { number: number.into(), is_unsigned: suffix.contains('u') })
}
