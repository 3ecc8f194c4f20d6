//! Constant expressions in C: the lengths of arrays, and the values of enums.
//!
//! An expression that is not understood has no value, which is a mistake only where the value matters: its tokens are
//! skipped, and the text is read on.

use super::super::layout::{Base, Layout};
use super::super::token::{Kind, Token};
use super::cpp::cpp;
use super::number::Number;
use super::{Read, Reader, wrong};
use crate::problem::{Problem, quoted};
use dtype_runtime::types::Named;

/// Operators with two operands, and how tightly they bind. Those with two signs come first.
const OPERATORS: &[(&str, usize)] = &[
    ("||", 0),
    ("&&", 1),
    ("==", 5),
    ("!=", 5),
    ("<=", 6),
    (">=", 6),
    ("<<", 7),
    (">>", 7),
    ("|", 2),
    ("^", 3),
    ("&", 4),
    ("<", 6),
    (">", 6),
    ("+", 8),
    ("-", 8),
    ("*", 9),
    ("/", 9),
    ("%", 9),
];

/// The operator with which these tokens start, and how tightly it binds.
pub(super) fn operator(tokens: &[Token<'_>]) -> Option<(&'static str, usize)> {
    let first = tokens.first().filter(|first| first.kind == Kind::Sign)?;
    // The positions of tokens that a macro stands for are those of its name.
    let end = first.text.as_bytes().as_ptr_range().end;
    let second = tokens.get(1).filter(|second| second.text.as_ptr() == end);
    let found = OPERATORS.iter().find(|(operator, _)| match operator.split_at(1) {
        (sign, "") => first.is(sign),
        (sign, rest) => first.is(sign) && second.is_some_and(|second| second.is(rest)),
    });
    found.copied()
}

/// The value of an expression, or why it has none.
pub(super) type Value = Result<Number, Box<Problem>>;

/// What stands before an operand.
enum Prefix {
    Sign(&'static str),
    Cast(Base),
}

impl Reader<'_, '_> {
    /// The value of the expression here.
    pub(super) fn constant(&mut self) -> Value {
        let start = self.cursor.index();
        let value = self.conditional();
        let end = self.cursor.peek();
        let is_end = end.kind == Kind::End || [",", ";", ")", "]", "}"].iter().any(|s| end.is(s));
        if value.is_ok() && is_end {
            return value;
        }
        let value = value.and_then(|_| Err(self.cursor.unexpected("the end of the expression")));
        self.cursor.rewind(start);
        self.skip_expression();
        value
    }

    /// Skips an expression up to the sign that ends it.
    fn skip_expression(&mut self) {
        loop {
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::End, _) | (Kind::Sign, "," | ";" | ")" | "]" | "}") => return,
                (Kind::Sign, "(" | "[" | "{") => self.cursor.skip_brackets(),
                _ => drop(self.cursor.next()),
            }
        }
    }

    /// `condition ? one : other`
    fn conditional(&mut self) -> Value {
        let condition = self.operation(0)?;
        let Some(question) = self.cursor.take("?") else { return Ok(condition) };
        self.nested(question, |reader| {
            let one = reader.conditional()?;
            reader.cursor.expect(":")?;
            let other = reader.conditional()?;
            let (chosen, beside) = if condition.value == 0 { (other, one) } else { (one, other) };
            chosen
                .beside(beside)
                .map_err(|message| Box::new(Problem::new(message, question.span(), "")))
        })
    }

    /// Operands with operators that bind at least as tightly as this.
    fn operation(&mut self, least: usize) -> Value {
        let start = self.cursor.peek().start;
        let mut value = self.operand()?;
        let here = |reader: &Self| operator(&[reader.cursor.peek(), reader.cursor.peek_after(1)]);
        while let Some((operator, binds)) = here(self).filter(|(_, binds)| *binds >= least) {
            for _ in operator.chars() {
                self.cursor.next();
            }
            let right = self.operation(binds + 1)?;
            value = value.binary(operator, right).map_err(|message| {
                let span = start..self.cursor.last().end.max(start);
                Box::new(Problem::new(message, span, ""))
            })?;
        }
        Ok(value)
    }

    fn operand(&mut self) -> Value {
        let mut prefixes = Vec::new();
        let start = self.cursor.peek().start;
        loop {
            let sign = ["-", "+", "~", "!"].into_iter().find(|sign| self.cursor.peek().is(sign));
            if let Some(sign) = sign {
                self.cursor.next();
                prefixes.push(Prefix::Sign(sign));
            } else if self.cursor.peek().is("(") && self.starts_type(1) {
                let open = self.cursor.next();
                let base = self.nested(open, Self::type_in_brackets)?;
                prefixes.push(Prefix::Cast(base));
            } else {
                break;
            }
        }
        let mut value = self.primary()?;
        for prefix in prefixes.into_iter().rev() {
            let span = start..self.cursor.last().end.max(start);
            let problem = |message: &str| Box::new(Problem::new(message, span, ""));
            value = match prefix {
                Prefix::Sign(sign) => value.prefixed(sign).map_err(problem)?,
                Prefix::Cast(base) => {
                    let cast = match &base {
                        Base::Known(layout) => match layout.ty.named() {
                            Some(Named::Basic(basic)) => value.cast(basic),
                            _ => None,
                        },
                        _ => None,
                    };
                    cast.ok_or_else(|| problem("this is no cast to a type of integers"))?
                }
            };
        }
        Ok(value)
    }

    /// A number, a name, an expression in brackets, or the size or alignment of a type.
    fn primary(&mut self) -> Value {
        let token = self.cursor.peek();
        let value = match (token.kind, token.text) {
            (Kind::Number, text) => match Number::parse(text) {
                Some(number) => number,
                None => return Err(self.cursor.unexpected("an integer")),
            },
            (Kind::Text, text) => match Number::character(text) {
                Some(number) => number,
                None => return Err(self.cursor.unexpected("an integer")),
            },
            (Kind::Sign, "(") => {
                return self.nested(token, |reader| {
                    reader.cursor.next();
                    let value = reader.conditional()?;
                    reader.cursor.expect(")")?;
                    Ok(value)
                });
            }
            (Kind::Word, "sizeof" | "_Alignof" | "alignof" | "__alignof__" | "__alignof") => {
                self.cursor.next();
                if let Some(size) = self.text_size().filter(|_| token.text == "sizeof") {
                    return Ok(Number::size(size));
                }
                let layout = self.measured()?;
                let is_size = token.text == "sizeof";
                return Ok(Number::size(if is_size { layout.size } else { layout.align }));
            }
            (Kind::Word, name) if self.is_scope(1) => {
                let help = "write the number";
                return Err(Box::new(cpp(&format!("the scope `{name}::`"), token.span(), help)));
            }
            (Kind::Word, name) => {
                if let Some(value) = self.constants.get(name) {
                    value.clone()?
                } else {
                    let message = format!("the value of {} is unknown", quoted(name));
                    let problem = Problem::new(message, token.span(), "unknown name");
                    let help = format!("write the number, or add the line `#define {name} 3`");
                    return Err(Box::new(problem.help(help)));
                }
            }
            _ => return Err(self.cursor.unexpected("a number")),
        };
        self.cursor.next();
        Ok(value)
    }

    /// The bytes of the string here, which may be in brackets; `None` if it has escapes, or is none.
    fn text_size(&mut self) -> Option<u64> {
        let number = usize::from(self.cursor.peek().is("("));
        let token = self.cursor.peek_after(number);
        let is_plain = token.kind == Kind::Text && !token.text.contains('\\');
        let inside = token.text.strip_prefix('"').filter(|_| is_plain)?;
        if number == 1 && !self.cursor.peek_after(2).is(")") {
            return None;
        }
        for _ in 0..=2 * number {
            self.cursor.next();
        }
        // The zero at its end takes the place of the quote.
        Some(inside.len() as u64)
    }

    /// The type in brackets whose size or alignment is asked for.
    fn measured(&mut self) -> Read<Layout> {
        let open = self.cursor.expect("(")?;
        if !self.starts_type(0) {
            return Err(self.cursor.unexpected("a type"));
        }
        let base = self.nested(open, Self::type_in_brackets)?;
        match base {
            Base::Known(layout) => Ok(layout),
            Base::Wrong(problems) if !problems.is_empty() => Err(Box::new(problems[0].clone())),
            _ => {
                let span = open.end..self.cursor.last().start.max(open.end);
                Err(Box::new(Problem::new("the size of this type is unknown", span, "")))
            }
        }
    }

    /// A type without a name, up to its closing bracket.
    pub(super) fn type_in_brackets(&mut self) -> Read<Base> {
        let specified = self.specifiers()?;
        self.is_part(specified.declared);
        let declarator = self.declarator()?;
        self.cursor.expect(")")?;
        if let Some(problem) =
            declarator.attributes.problem.clone().or(specified.attributes.problem)
        {
            return Ok(wrong(*problem));
        }
        // Only a pointer itself has a size: not what it points to.
        if declarator.pointer.is_some() && declarator.lengths.is_empty() {
            return Ok(Base::Known(Layout::basic(crate::notation::USIZE)));
        }
        if declarator.is_indirect() {
            return Ok(Base::Foreign { what: "no data", help: "" });
        }
        Ok(match specified.base {
            Base::Known(layout) if !declarator.lengths.is_empty() => {
                match layout.array(&declarator.lengths) {
                    Ok(array) => Base::Known(array),
                    Err(error) => wrong(Problem::new(error.to_string(), declarator.span, "")),
                }
            }
            base => base,
        })
    }
}
