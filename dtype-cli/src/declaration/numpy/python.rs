//! Python literals, as far as dtypes are written with them.

use std::ops::Range;

use super::super::MAX_NESTING;
use super::super::token::{self, Comments, Cursor};
use crate::problem::Problem;

/// A value and its position in the text.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Text(String),
    Number(i128),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    /// The last part of a name such as `np.float64`.
    Name(String),
    /// A call with its name, its arguments, and its arguments with names.
    Call(String, Vec<Value>, Vec<(String, Value)>),
}

impl Value {
    /// The name of the value in a message.
    pub(super) fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Text(_) => "a string",
            Kind::Number(_) => "a number",
            Kind::List(_) => "a list",
            Kind::Tuple(_) => "a tuple",
            Kind::Dict(_) => "a dict",
            Kind::Name(_) => "a name",
            Kind::Call(..) => "a call",
        }
    }
}

type Read<T> = Result<T, Box<Problem>>;

/// The value of a whole text.
pub(super) fn read(source: &str) -> Read<Value> {
    let mut reader = Reader { cursor: Cursor::new(source, Comments::Python), depth: 0 };
    let value = reader.value()?;
    match reader.cursor.peek().kind {
        token::Kind::End => Ok(value),
        _ => Err(reader.cursor.unexpected("the end")),
    }
}

struct Reader<'s> {
    cursor: Cursor<'s>,
    depth: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Read<Value> {
        let token = self.cursor.peek();
        if self.depth >= MAX_NESTING {
            let message = format!("brackets nest deeper than {MAX_NESTING} levels");
            return Err(Box::new(Problem::new(message, token.span(), "one more level")));
        }
        self.depth += 1;
        let kind = self.kind();
        self.depth -= 1;
        let end = self.cursor.last().span().end;
        Ok(Value { span: token.start..end.max(token.start), kind: kind? })
    }

    fn kind(&mut self) -> Read<Kind> {
        let token = self.cursor.peek();
        match (token.kind, token.text) {
            _ if self.is_text() => {
                let mut text = String::new();
                // Python joins neighbouring strings.
                while self.is_text() {
                    if self.cursor.peek().kind == token::Kind::Word {
                        self.cursor.next();
                    }
                    text += &unescaped(self.cursor.next().text);
                }
                Ok(Kind::Text(text))
            }
            (token::Kind::Number, _) => self.number(),
            (token::Kind::Sign, "-") => {
                self.cursor.next();
                match self.number()? {
                    Kind::Number(number) => Ok(Kind::Number(-number)),
                    other => Ok(other),
                }
            }
            (token::Kind::Sign, "[") => Ok(Kind::List(self.items("[", "]")?.0)),
            (token::Kind::Sign, "(") => {
                let (mut items, has_comma) = self.items("(", ")")?;
                // Brackets around one value are no tuple.
                match items.pop() {
                    Some(only) if items.is_empty() && !has_comma => Ok(only.kind),
                    last => {
                        items.extend(last);
                        Ok(Kind::Tuple(items))
                    }
                }
            }
            (token::Kind::Sign, "{") => self.dict(),
            (token::Kind::Word, _) => self.name(),
            _ => Err(self.cursor.unexpected("a dtype")),
        }
    }

    /// Whether a string is next: `'x'`, or `u'x'`, which means the same.
    fn is_text(&self) -> bool {
        let (first, second) = (self.cursor.peek(), self.cursor.peek_after(1));
        let has_letter = matches!(first.text, "u" | "U") && first.span().end == second.start;
        first.kind == token::Kind::Text || has_letter && second.kind == token::Kind::Text
    }

    fn number(&mut self) -> Read<Kind> {
        let number = self.cursor.peek().text.replace('_', "").parse::<u64>();
        let Ok(number) = number else { return Err(self.cursor.unexpected("an integer")) };
        self.cursor.next();
        Ok(Kind::Number(number.into()))
    }

    /// The values between brackets, and whether a comma follows the last one.
    fn items(&mut self, open: &str, close: &str) -> Read<(Vec<Value>, bool)> {
        self.cursor.expect(open)?;
        let mut items = Vec::new();
        let mut has_comma = false;
        while !self.cursor.peek().is(close) {
            items.push(self.value()?);
            has_comma = self.cursor.take(",").is_some();
            if !has_comma {
                break;
            }
        }
        if self.cursor.take(close).is_none() {
            return Err(self.cursor.unexpected(&format!("`,` or `{close}`")));
        }
        Ok((items, has_comma))
    }

    fn dict(&mut self) -> Read<Kind> {
        self.cursor.expect("{")?;
        let mut all = Vec::new();
        while !self.cursor.peek().is("}") {
            let key = self.value()?;
            self.cursor.expect(":")?;
            all.push((key, self.value()?));
            if self.cursor.take(",").is_none() {
                break;
            }
        }
        if self.cursor.take("}").is_none() {
            return Err(self.cursor.unexpected("`,` or `}`"));
        }
        Ok(Kind::Dict(all))
    }

    /// A name, or a call.
    fn name(&mut self) -> Read<Kind> {
        let mut name = self.cursor.next().text;
        while self.cursor.take(".").is_some() {
            if self.cursor.peek().kind != token::Kind::Word {
                return Err(self.cursor.unexpected("a name"));
            }
            name = self.cursor.next().text;
        }
        let name = name.to_owned();
        if self.cursor.take("(").is_none() {
            return Ok(Kind::Name(name));
        }
        let (mut arguments, mut named) = (Vec::new(), Vec::new());
        while !self.cursor.peek().is(")") {
            if self.cursor.peek_after(1).is("=") {
                let key = self.cursor.next().text.to_owned();
                self.cursor.next();
                named.push((key, self.value()?));
            } else {
                arguments.push(self.value()?);
            }
            if self.cursor.take(",").is_none() {
                break;
            }
        }
        if self.cursor.take(")").is_none() {
            return Err(self.cursor.unexpected("`,` or `)`"));
        }
        Ok(Kind::Call(name, arguments, named))
    }
}

/// The contents of a string literal.
fn unescaped(literal: &str) -> String {
    let mut chars = literal.get(1..literal.len().saturating_sub(1)).unwrap_or("").chars();
    let mut out = String::new();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let digits = match chars.next() {
            Some('n') => {
                out.push('\n');
                continue;
            }
            Some('t') => {
                out.push('\t');
                continue;
            }
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            other => {
                out.extend(other);
                continue;
            }
        };
        let code: String = chars.by_ref().take(digits).collect();
        let code = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
        out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings() {
        assert_eq!(unescaped(r"'a\'b\\\x41\u00e9\U0000000a'"), "a'b\\Aé\n");
        assert_eq!(unescaped(r"'\"), "");
        assert_eq!(unescaped("'"), "");
    }
}
