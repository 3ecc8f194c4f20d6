//! Python literals, as far as the headers of `.npy` files are written with them.
//!
//! The text may come from anyone. Brackets nest at most [`MAX_NESTING`] levels deep, so no text exhausts the stack, and a
//! value takes memory in proportion to its text.

use core::iter::Peekable;
use core::str::CharIndices;

/// How deep brackets may nest.
pub(crate) const MAX_NESTING: usize = 64;

/// A literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    /// An integer that is not negative.
    Number(u64),
    Bool(bool),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Dict(Vec<(Value, Value)>),
}

impl Value {
    /// The name of the value in a message.
    pub(crate) const fn describe(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Number(_) => "a number",
            Self::Bool(_) => "a truth value",
            Self::List(_) => "a list",
            Self::Tuple(_) => "a tuple",
            Self::Dict(_) => "a dict",
        }
    }
}

/// A text that is not a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The position in bytes in the text.
    pub(crate) offset: usize,
    /// What was expected there.
    pub(crate) expected: &'static str,
}

type Read<T> = Result<T, Unreadable>;

/// The value of a whole text.
pub(crate) fn read(text: &str) -> Read<Value> {
    let mut reader = Reader { chars: text.char_indices().peekable(), end: text.len(), depth: 0 };
    let value = reader.value()?;
    reader.skip_blanks();
    match reader.chars.peek() {
        None => Ok(value),
        Some(_) => Err(reader.expected("the end of the header")),
    }
}

struct Reader<'s> {
    chars: Peekable<CharIndices<'s>>,
    /// The length of the text in bytes.
    end: usize,
    depth: usize,
}

impl Reader<'_> {
    fn expected(&mut self, expected: &'static str) -> Unreadable {
        let offset = self.chars.peek().map_or(self.end, |(offset, _)| *offset);
        Unreadable { offset, expected }
    }

    fn skip_blanks(&mut self) {
        while self.chars.next_if(|(_, c)| c.is_ascii_whitespace()).is_some() {}
    }

    /// The next character after blanks, which is not consumed.
    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.chars.peek().map(|(_, c)| *c)
    }

    /// Whether `sign` is next, after blanks; it is consumed then.
    fn take(&mut self, sign: char) -> bool {
        self.skip_blanks();
        self.chars.next_if(|(_, c)| *c == sign).is_some()
    }

    fn value(&mut self) -> Read<Value> {
        let first = self.peek();
        if self.depth >= MAX_NESTING {
            return Err(self.expected("fewer nested brackets"));
        }
        self.depth += 1;
        let value = match first {
            Some('\'' | '"') => {
                let mut text = String::new();
                // Python joins neighbouring strings.
                while matches!(self.peek(), Some('\'' | '"')) {
                    self.text(&mut text)?;
                }
                Value::Text(text)
            }
            Some('0'..='9') => Value::Number(self.number()?),
            Some('[') => Value::List(self.items('[', ']', "`,` or `]`")?.0),
            Some('(') => {
                let (mut items, has_comma) = self.items('(', ')', "`,` or `)`")?;
                // Brackets around one value are no tuple.
                match items.pop() {
                    Some(only) if items.is_empty() && !has_comma => only,
                    last => {
                        items.extend(last);
                        Value::Tuple(items)
                    }
                }
            }
            Some('{') => Value::Dict(self.dict()?),
            Some('T' | 'F') => Value::Bool(self.truth()?),
            _ => return Err(self.expected("a string, a number, `True`, `False` or a bracket")),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn truth(&mut self) -> Read<bool> {
        let mut at = self.chars.clone();
        let mut word = String::new();
        while let Some((_, c)) = at.next_if(|(_, c)| c.is_ascii_alphanumeric() && word.len() < 6) {
            word.push(c);
        }
        let truth = match word.as_str() {
            "True" => true,
            "False" => false,
            _ => return Err(self.expected("`True` or `False`")),
        };
        self.chars = at;
        Ok(truth)
    }

    fn number(&mut self) -> Read<u64> {
        let too_large = self.expected("a number of at most 64 bits");
        let mut number = 0_u64;
        while let Some((_, digit)) = self.chars.next_if(|(_, c)| c.is_ascii_digit()) {
            let digit = u64::from(digit.to_digit(10).unwrap_or(0));
            let next = number.checked_mul(10).and_then(|tens| tens.checked_add(digit));
            number = next.ok_or(too_large)?;
        }
        // Python 2 marks long integers.
        let _ = self.chars.next_if(|(_, c)| *c == 'L');
        Ok(number)
    }

    /// The values between brackets, and whether a comma follows the last one.
    fn items(
        &mut self,
        open: char,
        close: char,
        expected: &'static str,
    ) -> Read<(Vec<Value>, bool)> {
        self.take(open);
        let (mut items, mut has_comma) = (Vec::new(), false);
        while self.peek() != Some(close) {
            items.push(self.value()?);
            has_comma = self.take(',');
            if !has_comma {
                break;
            }
        }
        if self.take(close) { Ok((items, has_comma)) } else { Err(self.expected(expected)) }
    }

    fn dict(&mut self) -> Read<Vec<(Value, Value)>> {
        self.take('{');
        let mut all = Vec::new();
        while self.peek() != Some('}') {
            let key = self.value()?;
            if !self.take(':') {
                return Err(self.expected("`:`"));
            }
            all.push((key, self.value()?));
            if !self.take(',') {
                break;
            }
        }
        if self.take('}') { Ok(all) } else { Err(self.expected("`,` or `}`")) }
    }

    /// Appends the contents of a string.
    fn text(&mut self, out: &mut String) -> Read<()> {
        let Some((_, quote)) = self.chars.next() else { return Err(self.expected("a string")) };
        loop {
            let closing = "a quotation mark that closes the string";
            let Some((_, c)) = self.chars.next_if(|(_, c)| *c != '\n') else {
                return Err(self.expected(closing));
            };
            match c {
                c if c == quote => return Ok(()),
                '\\' => out.push(self.escaped()?),
                c => out.push(c),
            }
        }
    }

    /// The character that an escape stands for, after its backslash.
    fn escaped(&mut self) -> Read<char> {
        let unknown = self.expected("an escape that is known");
        let digits = match self.chars.next().map(|(_, c)| c) {
            Some(c @ ('\\' | '\'' | '"')) => return Ok(c),
            Some('n') => return Ok('\n'),
            Some('r') => return Ok('\r'),
            Some('t') => return Ok('\t'),
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => return Err(unknown),
        };
        let mut code = 0;
        for _ in 0..digits {
            let digit = self.chars.next().and_then(|(_, c)| c.to_digit(16));
            code = code << 4 | digit.ok_or(unknown)?;
        }
        char::from_u32(code).ok_or(unknown)
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn reads_what_numpy_writes() {
        let text = |text: &str| Value::Text(text.to_owned());
        let header = "{'descr': [('a', '<f8'), ('b', '|u1', (2,))], 'fortran_order': False, 'shape': (3L,), }   \n";
        let fields = vec![
            Value::Tuple(vec![text("a"), text("<f8")]),
            Value::Tuple(vec![text("b"), text("|u1"), Value::Tuple(vec![Value::Number(2)])]),
        ];
        let expected = Value::Dict(vec![
            (text("descr"), Value::List(fields)),
            (text("fortran_order"), Value::Bool(false)),
            (text("shape"), Value::Tuple(vec![Value::Number(3)])),
        ]);
        assert_eq!(read(header), Ok(expected));
        assert_eq!(read("()"), Ok(Value::Tuple(vec![])));
        assert_eq!(read(" (7) "), Ok(Value::Number(7)));
        assert_eq!(read(r#"'a' "b\'\x41\u00e9\U0000000a""#), Ok(text("ab'Aé\n")));
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
            (r"'\q'", 2),
            (r"'\ud800'", 2),
            ("True1", 0),
            ("1 1", 2),
        ] {
            let error = read(source).unwrap_err();
            assert_eq!(error.offset, offset, "{source}: {}", error.expected);
        }
        let deep = "[".repeat(100_000);
        assert_eq!(read(&deep).unwrap_err().offset, MAX_NESTING);
    }
}
