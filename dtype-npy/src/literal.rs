//! Reads Python's literals, names and calls, as far as dtypes and headers of `.npy` files use them.
//!
//! The text may come from an untrusted source. Brackets nest at most [`MAX_NESTING`] levels deep, so no text exhausts the
//! stack, and a value takes memory in proportion to its text.

use std::ops::Range;

/// How deep brackets may nest.
pub(crate) const MAX_NESTING: usize = 64;

/// A value and its position in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text(String),
    Number(i128),
    Bool(bool),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    /// The last part of a name such as `np.float64`.
    Name(String),
    Call(Box<Call>),
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The last part of the function's name.
    pub(crate) function: String,
    pub(crate) arguments: Vec<Value>,
    /// The arguments with names.
    pub(crate) named: Vec<(String, Value)>,
}

impl Value {
    /// The name of the value in a message.
    pub(crate) const fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Text(_) => "a string",
            Kind::Number(_) => "a number",
            Kind::Bool(_) => "a truth value",
            Kind::List(_) => "a list",
            Kind::Tuple(_) => "a tuple",
            Kind::Dict(_) => "a dict",
            Kind::Name(_) => "a name",
            Kind::Call(_) => "a call",
        }
    }
}

/// The error for a text that is not such a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// What was found; empty at the end of the text.
    pub(crate) span: Range<usize>,
    /// What was expected there.
    pub(crate) expected: &'static str,
}

type Read<T> = Result<T, Unreadable>;

/// The value that a whole text is. A literal has no names, no calls and no negative numbers.
pub(crate) fn read(text: &str, is_literal: bool) -> Read<Value> {
    // Some editors write a byte order mark first.
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { text, at, end: at, depth: 0, is_literal };
    let value = reader.value()?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.expected("the end")),
    }
}

struct Reader<'s> {
    text: &'s str,
    at: usize,
    /// The end of the last token.
    end: usize,
    depth: usize,
    is_literal: bool,
}

impl<'s> Reader<'s> {
    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    /// Skips blanks, continued lines and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest().trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
            self.at = self.text.len() - rest.len();
            if !rest.starts_with('#') {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// The next character after blanks. It is not consumed.
    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest().chars().next()
    }

    /// Consumes a token of this length.
    fn take(&mut self, len: usize) -> &'s str {
        let token = &self.rest()[..len];
        self.at += len;
        self.end = self.at;
        token
    }

    /// Whether `sign` is next, after blanks. If so, it is consumed.
    fn takes(&mut self, sign: char) -> bool {
        let is_next = self.peek() == Some(sign);
        if is_next {
            self.take(sign.len_utf8());
        }
        is_next
    }

    /// The length of the word or number that is next.
    fn word(&self) -> usize {
        let is_end = |c: char| !c.is_alphanumeric() && c != '_';
        self.rest().find(is_end).unwrap_or(self.rest().len())
    }

    /// The error for the next token.
    fn expected(&mut self, expected: &'static str) -> Unreadable {
        let (start, len) = match self.peek() {
            // A header ends with a line break.
            None if self.is_literal => (self.text.len(), 0),
            None => (self.text.trim_end().len(), 0),
            Some(c) => (self.at, self.word().max(c.len_utf8())),
        };
        Unreadable { span: start..start + len, expected }
    }

    fn value(&mut self) -> Read<Value> {
        self.skip_blanks();
        if self.depth >= MAX_NESTING {
            return Err(self.expected("fewer nested brackets"));
        }
        self.depth += 1;
        let start = self.at;
        let kind = self.kind()?;
        self.depth -= 1;
        Ok(Value { span: start..self.end, kind })
    }

    fn kind(&mut self) -> Read<Kind> {
        match self.peek() {
            _ if self.prefix_of_text().is_some() => {
                let mut text = String::new();
                // Python joins neighbouring strings.
                while let Some(prefix) = self.prefix_of_text() {
                    self.take(prefix);
                    self.text(&mut text)?;
                    self.skip_blanks();
                }
                Ok(Kind::Text(text))
            }
            Some('0'..='9') => self.number().map(Kind::Number),
            Some('-') if !self.is_literal => {
                self.take(1);
                self.skip_blanks();
                self.number().map(|number| Kind::Number(-number))
            }
            Some('[') => Ok(Kind::List(self.items(']', "`,` or `]`")?.0)),
            Some('(') => {
                let (mut items, has_comma) = self.items(')', "`,` or `)`")?;
                // Brackets around a single value do not make a tuple.
                match items.pop() {
                    Some(only) if items.is_empty() && !has_comma => Ok(only.kind),
                    last => {
                        items.extend(last);
                        Ok(Kind::Tuple(items))
                    }
                }
            }
            Some('{') => self.dict().map(Kind::Dict),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            _ => Err(self.no_value()),
        }
    }

    fn no_value(&mut self) -> Unreadable {
        self.expected(if self.is_literal {
            "a string, a number, `True`, `False` or a bracket"
        } else {
            "a dtype"
        })
    }

    /// The length of the prefix before a string's quotation mark, if a string is next: nothing, or a `u`, which has no effect.
    fn prefix_of_text(&self) -> Option<usize> {
        let rest = self.rest();
        let prefix = usize::from(rest.starts_with(['u', 'U']));
        rest[prefix..].starts_with(['\'', '"']).then_some(prefix)
    }

    fn number(&mut self) -> Read<i128> {
        let digits = self.rest()[..self.word()].replace('_', "");
        // Python 2 marks long integers.
        let digits = digits.strip_suffix('L').unwrap_or(&digits);
        let radix = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => 16,
            [b'0', b'o' | b'O', ..] => 8,
            [b'0', b'b' | b'B', ..] => 2,
            _ => 10,
        };
        let number = match digits.get(2..) {
            Some(rest) if radix != 10 && !rest.starts_with('+') => u64::from_str_radix(rest, radix),
            _ => digits.parse::<u64>(),
        };
        let Ok(number) = number else {
            return Err(self.expected("an integer of at most 64 bits"));
        };
        if radix == 10 && number > 0 && digits.starts_with('0') {
            return Err(self.expected("a number without zeros in front"));
        }
        self.take(self.word());
        Ok(number.into())
    }

    /// The values between brackets, and whether a comma follows the last one.
    fn items(&mut self, close: char, expected: &'static str) -> Read<(Vec<Value>, bool)> {
        self.take(1);
        let (mut items, mut has_comma) = (Vec::new(), false);
        while self.peek() != Some(close) {
            items.push(self.value()?);
            has_comma = self.takes(',');
            if !has_comma {
                break;
            }
        }
        if self.takes(close) { Ok((items, has_comma)) } else { Err(self.expected(expected)) }
    }

    fn dict(&mut self) -> Read<Vec<(Value, Value)>> {
        self.take(1);
        let mut items = Vec::new();
        while self.peek() != Some('}') {
            let key = self.value()?;
            if !self.takes(':') {
                return Err(self.expected("`:`"));
            }
            items.push((key, self.value()?));
            if !self.takes(',') {
                break;
            }
        }
        if self.takes('}') { Ok(items) } else { Err(self.expected("`,` or `}`")) }
    }

    /// A truth value, a name or a call.
    fn name(&mut self) -> Read<Kind> {
        match &self.rest()[..self.word()] {
            word @ ("True" | "False") => {
                self.take(word.len());
                return Ok(Kind::Bool(word == "True"));
            }
            _ if self.is_literal => return Err(self.no_value()),
            _ => {}
        }
        let mut name = self.take(self.word());
        while self.takes('.') {
            self.skip_blanks();
            if self.word() == 0 {
                return Err(self.expected("a name"));
            }
            name = self.take(self.word());
        }
        let name = name.to_owned();
        if self.peek() != Some('(') {
            return Ok(Kind::Name(name));
        }
        self.take(1);
        let (mut arguments, mut named) = (Vec::new(), Vec::new());
        while self.peek() != Some(')') {
            let key = &self.rest()[..self.word()];
            let after = self.rest()[key.len()..].trim_start();
            if !key.is_empty() && after.starts_with('=') {
                self.take(key.len());
                self.takes('=');
                named.push((key.to_owned(), self.value()?));
            } else {
                arguments.push(self.value()?);
            }
            if !self.takes(',') {
                break;
            }
        }
        if !self.takes(')') {
            return Err(self.expected("`,` or `)`"));
        }
        Ok(Kind::Call(Box::new(Call { function: name, arguments, named })))
    }

    /// Appends the contents of a string.
    fn text(&mut self, out: &mut String) -> Read<()> {
        let mut chars = self.rest().char_indices();
        let quote = chars.next().map(|(_, quote)| quote);
        while let Some((at, c)) = chars.next() {
            match c {
                c if Some(c) == quote => {
                    self.take(at + c.len_utf8());
                    return Ok(());
                }
                '\n' => break,
                '\\' => {
                    let escaped = escaped(chars.as_str());
                    let Some((c, len)) = escaped else {
                        let start = self.at + at + 1;
                        return Err(Unreadable {
                            span: start..start,
                            expected: "an escape that is known",
                        });
                    };
                    out.push(c);
                    for _ in 0..len {
                        chars.next();
                    }
                }
                c => out.push(c),
            }
        }
        let line = self.rest().find('\n').unwrap_or(self.rest().trim_end().len());
        let end = self.at + line;
        Err(Unreadable { span: end..end, expected: "a quotation mark that closes the string" })
    }
}

/// The character that an escape stands for, and the number of its characters after the backslash.
fn escaped(rest: &str) -> Option<(char, usize)> {
    let digits = match rest.chars().next()? {
        c @ ('\\' | '\'' | '"') => return Some((c, 1)),
        'n' => return Some(('\n', 1)),
        'r' => return Some(('\r', 1)),
        't' => return Some(('\t', 1)),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        // Python keeps such a backslash, and the character after it.
        _ => return Some(('\\', 0)),
    };
    let code = rest.get(1..=digits).filter(|code| code.bytes().all(|c| c.is_ascii_hexdigit()))?;
    let c = u32::from_str_radix(code, 16).ok().and_then(char::from_u32)?;
    Some((c, 1 + digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The literal without the positions, as Python would write it.
    fn plain(value: &Value) -> String {
        let all = |items: &[Value]| items.iter().map(plain).collect::<Vec<_>>().join(", ");
        match &value.kind {
            Kind::Text(text) => format!("{text:?}"),
            Kind::Number(number) => number.to_string(),
            Kind::Bool(truth) => truth.to_string(),
            Kind::List(items) => format!("[{}]", all(items)),
            Kind::Tuple(items) => format!("({})", all(items)),
            Kind::Dict(items) => {
                let pair =
                    |(key, value): &(Value, Value)| format!("{}: {}", plain(key), plain(value));
                format!("{{{}}}", items.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
            Kind::Name(name) => name.clone(),
            Kind::Call(call) => {
                let named =
                    call.named.iter().map(|(key, value)| format!(", {key}={}", plain(value)));
                format!("{}({}{})", call.function, all(&call.arguments), named.collect::<String>())
            }
        }
    }

    #[test]
    fn reads_what_numpy_writes() {
        let header = "{'descr': [('a', '<f8'), (u'b', '|u1', (2,))], 'fortran_order': False, 'shape': (3L,), }   \n";
        let expected =
            r#"{"descr": [("a", "<f8"), ("b", "|u1", (2))], "fortran_order": false, "shape": (3)}"#;
        assert_eq!(plain(&read(header, true).unwrap()), expected);
        for (text, expected) in [
            ("()", "()"),
            (" (7) # seven", "7"),
            (r#"'a' "b\'\x41\u00e9\U0000000a""#, r#""ab'Aé\n""#),
            (r"'\q'", r#""\\q""#),
        ] {
            assert_eq!(plain(&read(text, true).unwrap()), expected);
        }
        let call = "np . dtype([('x', -1_0), np.f8], align = True)";
        let value = read(call, false).unwrap();
        assert_eq!(plain(&value), r#"dtype([("x", -10), f8], align=true)"#);
        assert_eq!(value.span, 0..call.len());
    }

    #[test]
    fn refuses_everything_else_at_its_position() {
        for (source, offset) in [
            ("", 0),
            ("  x", 2),
            ("-1", 0),
            ("18446744073709551616", 0),
            ("(1, 2", 5),
            ("[1 2]", 3),
            ("{1: 2, 3}", 8),
            ("'a", 2),
            ("'a\n'", 2),
            (r"'\ud800'", 2),
            (r"'\x4", 2),
            ("True1", 0),
            ("1 1", 2),
            ("f(1)", 0),
        ] {
            let error = read(source, true).unwrap_err();
            assert_eq!(error.span.start, offset, "{source}: {}", error.expected);
        }
        for is_literal in [true, false] {
            let deep = "[".repeat(100_000);
            assert_eq!(read(&deep, is_literal).unwrap_err().span.start, MAX_NESTING);
        }
    }
}
