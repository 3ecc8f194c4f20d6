//! Constant expressions in C: numbers, names of numbers, and a few operators.

use super::super::MAX_NESTING;
use super::Read;
use crate::problem::{Problem, quoted};
use crate::token::{Cursor, Kind};

/// The operators, by how tightly they bind. They are evaluated only if the result is the same in every C type that the operands
/// may have.
const OPERATORS: [&[&str]; 4] = [&["|"], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

/// The value of a name; `None` if that is not known.
type Known<'k> = &'k dyn Fn(&str) -> Option<i128>;

/// The value of the expression that starts here.
pub(super) fn constant(cursor: &mut Cursor<'_>, known: Known<'_>) -> Read<i128> {
    let value = expression(cursor, known, 0, 0)?;
    let next = cursor.peek();
    if next.kind != Kind::Sign || matches!(next.text, "]" | ")" | "}" | "," | ";") {
        return Ok(value);
    }
    let message = match next.text {
        "?" => "conditional expressions are not evaluated".to_owned(),
        other => format!("the operator {} is not evaluated", quoted(other)),
    };
    Err(Box::new(Problem::new(message, next.span(), "")))
}

fn expression(cursor: &mut Cursor<'_>, known: Known<'_>, least: usize, depth: usize) -> Read<i128> {
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
    Ok(value)
}

/// The operator here and its level. Signs are tokens of one character.
fn operator(cursor: &Cursor<'_>) -> Option<(&'static str, usize)> {
    let [first, second] = [cursor.peek(), cursor.peek_after(1)];
    let is_here = |operator: &str| {
        let rest = operator.strip_prefix(first.text).filter(|_| first.kind == Kind::Sign);
        rest.is_some_and(|rest| rest.is_empty() || rest == second.text && first.end == second.start)
    };
    let mut all = OPERATORS
        .iter()
        .zip(0..)
        .flat_map(|(operators, level)| operators.iter().map(move |operator| (*operator, level)));
    all.find(|(operator, _)| is_here(operator))
}

fn operand(cursor: &mut Cursor<'_>, known: Known<'_>, depth: usize) -> Read<i128> {
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
        (Kind::Sign, "(") => {
            cursor.next();
            let value = expression(cursor, known, 0, depth + 1)?;
            cursor.expect(")")?;
            Ok(value)
        }
        // Negating an unsigned number gives another number.
        (Kind::Sign, "-") if !cursor.peek_after(1).text.ends_with(['u', 'U']) => {
            cursor.next();
            let inner = cursor.peek();
            match number(inner.text).filter(|value| is_plain(*value)) {
                Some(value) => {
                    cursor.next();
                    Ok(-value)
                }
                None => Err(cursor.unexpected("an integer")),
            }
        }
        (Kind::Word, name) => {
            cursor.next();
            known(name).ok_or_else(|| {
                let message = format!("the value of {} is unknown", quoted(name));
                let problem = Problem::new(message, token.span(), "unknown name");
                let help = format!("write the number, or add `#define {name} …`");
                Box::new(if name == "sizeof" { problem } else { problem.help(help) })
            })
        }
        _ => Err(cursor.unexpected("a number")),
    }
}

/// Whether a number is an operand with the same value in every type that it may have.
fn is_plain(number: i128) -> bool {
    (0..=i32::MAX.into()).contains(&number)
}

fn binary(a: i128, operator: &str, b: i128) -> Option<i128> {
    if !is_plain(a) || !is_plain(b) {
        return None;
    }
    let result = match operator {
        "|" => a | b,
        "<<" | ">>" if b > 30 => return None,
        "<<" => a << b,
        ">>" => a >> b,
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a.checked_div(b)?,
        _ => a.checked_rem(b)?,
    };
    is_plain(result).then_some(result)
}

/// An integer constant.
fn number(text: &str) -> Option<i128> {
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
    is_suffix.then_some(number.into())
}
