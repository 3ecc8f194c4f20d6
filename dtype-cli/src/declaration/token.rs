//! Splits a declaration in C or a NumPy dtype into tokens.

use std::ops::Range;

use crate::problem::{Problem, quoted};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    /// Something that starts with a digit.
    Number,
    /// A string or a character constant, with its quotes.
    Text,
    /// One character.
    Sign,
    /// A line of C's preprocessor, without the `#`.
    Directive,
    /// The end of the text.
    End,
}

/// How comments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comments {
    /// `//` and `/* */`; a line that starts with `#` is a directive.
    C,
    /// `#`.
    Python,
}

/// A token and its position in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    /// The number of bytes before it.
    pub(super) start: usize,
}

impl Token<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// The name of the token in a message.
    pub(super) fn describe(&self) -> String {
        match self.kind {
            Kind::End => "the end".into(),
            // It may be any character, including one that moves the cursor of a terminal.
            Kind::Sign => format!("`{}`", self.text.escape_debug()),
            Kind::Directive => "a line of the preprocessor".into(),
            _ => quoted(self.text),
        }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Sign) && self.text == text
    }
}

/// The tokens of a text, the last of which is its end. Every text has tokens.
pub(super) fn tokens(source: &str, comments: Comments) -> Vec<Token<'_>> {
    let mut all = Vec::new();
    let mut at = 0;
    // Whether only space was seen in this line.
    let mut is_line_start = true;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        if c.is_whitespace() || c == '\\' {
            is_line_start |= c == '\n';
            at += c.len_utf8();
            continue;
        }
        if let Some(length) = comment(rest, comments) {
            at += length;
            continue;
        }
        let (kind, length) = if c == '#' && is_line_start {
            (Kind::Directive, directive(rest))
        } else {
            token(rest, c)
        };
        is_line_start = false;
        all.push(Token { kind, text: &rest[..length], start: at });
        at += length;
    }
    all.push(Token { kind: Kind::End, text: "", start: source.trim_end().len() });
    all
}

/// The length of a comment at the start of a text, if there is one.
fn comment(rest: &str, comments: Comments) -> Option<usize> {
    let line = || Some(rest.find('\n').unwrap_or(rest.len()));
    match comments {
        Comments::Python if rest.starts_with('#') => line(),
        Comments::C if rest.starts_with("//") => line(),
        Comments::C if rest.starts_with("/*") => {
            Some(rest[2..].find("*/").map_or(rest.len(), |end| end + 4))
        }
        _ => None,
    }
}

/// The length of a directive; a backslash continues it on the next line.
fn directive(rest: &str) -> usize {
    let mut end = 0;
    loop {
        end += rest[end..].find('\n').unwrap_or(rest.len() - end);
        let line = rest[..end].trim_end_matches('\r');
        if !line.ends_with('\\') || end >= rest.len() {
            return line.len();
        }
        end += 1;
    }
}

fn token(rest: &str, first: char) -> (Kind, usize) {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = || rest.find(|c| !in_word(c)).unwrap_or(rest.len());
    match first {
        '0'..='9' => (Kind::Number, word()),
        c if in_word(c) => (Kind::Word, word()),
        '"' | '\'' => match text_end(rest, first) {
            Some(end) => (Kind::Text, end),
            None => (Kind::Sign, 1),
        },
        c => (Kind::Sign, c.len_utf8()),
    }
}

/// The end of a string that is closed in its line.
fn text_end(rest: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Reads tokens one after another.
#[derive(Debug)]
pub(super) struct Cursor<'s> {
    tokens: Vec<Token<'s>>,
    at: usize,
    /// The last token, which stands for everything after it.
    end: Token<'s>,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(source: &'s str, comments: Comments) -> Self {
        let tokens = tokens(source, comments);
        let end = Token { kind: Kind::End, text: "", start: source.trim_end().len() };
        Self { tokens, at: 0, end }
    }

    /// The next token.
    pub(super) fn peek(&self) -> Token<'s> {
        self.peek_after(0)
    }

    /// The token that follows `number` others.
    pub(super) fn peek_after(&self, number: usize) -> Token<'s> {
        self.tokens.get(self.at + number).copied().unwrap_or(self.end)
    }

    /// The token before the next one.
    pub(super) fn last(&self) -> Token<'s> {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).copied().unwrap_or(self.peek())
    }

    pub(super) fn next(&mut self) -> Token<'s> {
        let token = self.peek();
        self.at += usize::from(token.kind != Kind::End);
        token
    }

    /// Takes the next token if it is this word or sign.
    pub(super) fn take(&mut self, text: &str) -> Option<Token<'s>> {
        self.peek().is(text).then(|| self.next())
    }

    /// Takes the next token, which must be this word or sign.
    pub(super) fn expect(&mut self, text: &str) -> Result<Token<'s>, Box<Problem>> {
        self.take(text).ok_or_else(|| self.unexpected(&format!("`{text}`")))
    }

    /// The mistake that the next token is.
    pub(super) fn unexpected(&self, expected: &str) -> Box<Problem> {
        let found = self.peek();
        let message = format!("expected {expected}, found {}", found.describe());
        Box::new(Problem::new(message, found.span(), format!("expected {expected}")))
    }

    /// Skips a bracket with everything up to its partner, or to the end of the text.
    pub(super) fn skip_brackets(&mut self) {
        let mut depth = 0_usize;
        loop {
            let token = self.peek();
            match (token.kind, token.text) {
                (Kind::End, _) => return,
                (Kind::Sign, "(" | "[" | "{") => depth += 1,
                (Kind::Sign, ")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.next();
            if depth == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_directives() {
        let source = "#define A \\\n 1\n/* # */ int x; // y\n'a\" \"\\\"b\" é→";
        let found: Vec<(Kind, &str)> =
            tokens(source, Comments::C).into_iter().map(|token| (token.kind, token.text)).collect();
        assert_eq!(
            found,
            [
                (Kind::Directive, "#define A \\\n 1"),
                (Kind::Word, "int"),
                (Kind::Word, "x"),
                (Kind::Sign, ";"),
                (Kind::Sign, "'"),
                (Kind::Word, "a"),
                (Kind::Text, "\" \""),
                // A backslash between tokens continues a line.
                (Kind::Text, "\"b\""),
                (Kind::Word, "é"),
                (Kind::Sign, "→"),
                (Kind::End, ""),
            ]
        );
        for token in tokens(source, Comments::C) {
            assert_eq!(&source[token.span()], token.text);
        }
        let python: Vec<&str> =
            tokens("'x' # 'y'\n1", Comments::Python).iter().map(|token| token.text).collect();
        assert_eq!(python, ["'x'", "1", ""]);
    }
}
