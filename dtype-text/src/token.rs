//! Splits a text in the notation or in C into tokens.

use std::ops::Range;

use crate::problem::{Problem, quoted};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A word that starts with a digit.
    Number,
    /// A text in double or single quotes, which are part of the token.
    Text,
    /// One character.
    Sign,
    /// A line of C's preprocessor, with the `#`.
    Directive,
    /// The name of a macro that is more than a number.
    Macro,
    /// The end of the text.
    End,
}

/// The rules for what separates tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blank {
    /// Space, and comments from `#` to the end of the line.
    Notation,
    /// Space, backslashes, and comments as `//` and `/* */`; a line that starts with `#` is a directive.
    C,
}

/// A token and its position in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'s> {
    pub(crate) kind: Kind,
    pub(crate) text: &'s str,
    /// The number of bytes before it.
    pub(crate) start: usize,
    /// The number of bytes up to its end.
    pub(crate) end: usize,
}

impl<'s> Token<'s> {
    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The tokens of a directive after its `#`.
    pub(crate) fn inside(&self) -> Vec<Token<'s>> {
        let mut all = tokens(self.text.get(1..).unwrap_or(""), Blank::C);
        for token in &mut all {
            token.start += self.start + 1;
            token.end += self.start + 1;
        }
        all
    }

    /// The name of the token in a message.
    pub(crate) fn describe(&self) -> String {
        match self.kind {
            Kind::End => "the end".into(),
            Kind::Directive => "a line of the preprocessor".into(),
            Kind::Macro => format!("the macro {}", quoted(self.text)),
            _ => quoted(self.text),
        }
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Sign) && self.text == text
    }
}

/// The tokens of a text. The last one marks its end, so there is always a token.
pub(crate) fn tokens(source: &str, blank: Blank) -> Vec<Token<'_>> {
    let mut all = Vec::new();
    let mut quotes = Quotes::default();
    // Some editors write a byte order mark first.
    let mut at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    // Whether only space was seen in this line.
    let mut is_line_start = true;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        if c.is_whitespace() || c == '\\' && blank == Blank::C {
            is_line_start |= c == '\n';
            at += c.len_utf8();
            continue;
        }
        if let Some(length) = comment(rest, blank) {
            at += length;
            continue;
        }
        let (kind, length) = match c {
            '#' if is_line_start => (Kind::Directive, directive(source, at, &mut quotes)),
            '"' | '\'' => match quotes.length(source, at, c) {
                Some(length) => (Kind::Text, length),
                None => (Kind::Sign, 1),
            },
            c => token(rest, c),
        };
        is_line_start = false;
        all.push(Token { kind, text: &rest[..length], start: at, end: at + length });
        at += length;
    }
    all.push(end_of(source));
    all
}

fn end_of(source: &str) -> Token<'_> {
    let end = source.trim_end().len();
    Token { kind: Kind::End, text: "", start: end, end }
}

/// The length of a comment at the start of a text, if there is one.
fn comment(rest: &str, blank: Blank) -> Option<usize> {
    match blank {
        Blank::Notation => rest.starts_with('#').then(|| rest.find('\n').unwrap_or(rest.len())),
        Blank::C if rest.starts_with("//") => Some(line(rest)),
        Blank::C if rest.starts_with("/*") => {
            Some(rest[2..].find("*/").map_or(rest.len(), |end| end + 4))
        }
        Blank::C => None,
    }
}

/// The length of a line; a backslash continues it on the next one.
fn line(rest: &str) -> usize {
    let ends = rest.match_indices('\n').map(|(at, _)| at);
    let is_end = |at: &usize| !rest[..*at].trim_end_matches([' ', '\t', '\r']).ends_with('\\');
    ends.into_iter().find(is_end).unwrap_or(rest.len())
}

/// The length of a directive. A comment inside it may continue it on further lines, and a string may hold the signs
/// of a comment.
fn directive(source: &str, start: usize, quotes: &mut Quotes) -> usize {
    let mut at = start;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        at += match c {
            '\n' => break,
            '\\' => 1 + continuation(&rest[1..]).unwrap_or(0),
            '/' => comment(rest, Blank::C).unwrap_or(1),
            '"' | '\'' => quotes.length(source, at, c).unwrap_or(1),
            c => c.len_utf8(),
        };
    }
    source[start..at].trim_end().len()
}

/// The length of the space after a backslash up to the next line, if only space follows it.
fn continuation(rest: &str) -> Option<usize> {
    let space = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
    rest[space..].starts_with('\n').then_some(space + 1)
}

fn token(rest: &str, first: char) -> (Kind, usize) {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = || rest.find(|c| !in_word(c)).unwrap_or(rest.len());
    match first {
        '0'..='9' => (Kind::Number, word()),
        c if in_word(c) => (Kind::Word, word()),
        c => (Kind::Sign, c.len_utf8()),
    }
}

/// Finds the ends of strings and character constants.
#[derive(Debug, Default)]
struct Quotes {
    /// For `"` and `'`, the end of the last line in which one was not closed. All others before that are not closed, either, so
    /// the line is searched only once.
    open: [usize; 2],
}

impl Quotes {
    /// The length of a string that starts here, if it is closed in its line.
    fn length(&mut self, source: &str, start: usize, quote: char) -> Option<usize> {
        let open = &mut self.open[usize::from(quote == '\'')];
        if start < *open {
            return None;
        }
        let mut is_escaped = false;
        for (at, c) in source[start..].char_indices().skip(1) {
            match c {
                '\n' => {
                    *open = start + at;
                    return None;
                }
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                c if c == quote => return Some(at + 1),
                _ => {}
            }
        }
        *open = source.len();
        None
    }
}

/// Reads tokens one after another.
#[derive(Debug)]
pub(crate) struct Cursor<'s> {
    tokens: Vec<Token<'s>>,
    at: usize,
    /// The last token, which is returned for all positions after it.
    end: Token<'s>,
    /// The partners of brackets, once one is skipped.
    partners: Vec<Option<usize>>,
}

impl<'s> Cursor<'s> {
    /// Reads these tokens of a text.
    pub(crate) fn new(tokens: Vec<Token<'s>>, source: &'s str) -> Self {
        Self { tokens, at: 0, end: end_of(source), partners: Vec::new() }
    }

    /// The number of tokens before the next one.
    pub(crate) fn index(&self) -> usize {
        self.at
    }

    /// Goes back to the token with this number.
    pub(crate) fn rewind(&mut self, index: usize) {
        self.at = index;
    }

    /// The next token.
    pub(crate) fn peek(&self) -> Token<'s> {
        self.peek_after(0)
    }

    /// The token that follows `number` others.
    pub(crate) fn peek_after(&self, number: usize) -> Token<'s> {
        self.tokens.get(self.at + number).copied().unwrap_or(self.end)
    }

    /// The token before the next one.
    pub(crate) fn last(&self) -> Token<'s> {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).copied().unwrap_or(self.peek())
    }

    /// The text of the tokens from the one with this number up to the next one, without what is between braces.
    pub(crate) fn text_from(&self, index: usize) -> String {
        let tokens = self.tokens.get(index..self.at).unwrap_or_default();
        let words = tokens.iter().map(|token| token.text).take_while(|text| *text != "{");
        let mut text = words.collect::<Vec<_>>().join(" ");
        if tokens.iter().any(|token| token.text == "{") {
            text += " {…}";
        }
        text
    }

    pub(crate) fn next(&mut self) -> Token<'s> {
        let token = self.peek();
        self.at += usize::from(token.kind != Kind::End);
        token
    }

    /// Takes the next token if it is this word or sign.
    pub(crate) fn take(&mut self, text: &str) -> Option<Token<'s>> {
        self.peek().is(text).then(|| self.next())
    }

    /// Takes the next token, which must be this word or sign.
    pub(crate) fn expect(&mut self, text: &str) -> Result<Token<'s>, Box<Problem>> {
        self.take(text).ok_or_else(|| self.unexpected(&format!("`{text}`")))
    }

    /// The mistake for an unexpected next token.
    pub(crate) fn unexpected(&self, expected: &str) -> Box<Problem> {
        let found = self.peek();
        let message = format!("expected {expected}, found {}", found.describe());
        let problem = Problem::new(message, found.span(), format!("expected {expected}"));
        Box::new(problem)
    }

    /// Skips a bracket and everything up to its partner. Brackets of other kinds are ignored, because one of them may have no
    /// partner. Round brackets without one are skipped alone; others enclose the rest of the text.
    pub(crate) fn skip_brackets(&mut self) {
        if self.partners.is_empty() {
            self.partners = partners(&self.tokens);
        }
        self.at = match self.partners.get(self.at) {
            Some(Some(partner)) => partner + 1,
            _ if self.peek().is("(") => self.at + 1,
            _ => self.tokens.len(),
        };
    }
}

/// For each token, the number of the token that closes it, if it is a bracket that is closed.
fn partners(tokens: &[Token<'_>]) -> Vec<Option<usize>> {
    let mut all = vec![None; tokens.len()];
    let mut open: [Vec<usize>; 3] = Default::default();
    for (number, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Sign) {
        if let Some(kind) = "([{".find(token.text) {
            open[kind].push(number);
        } else if let Some(opened) = ")]}".find(token.text).and_then(|kind| open[kind].pop()) {
            all[opened] = Some(number);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_directives() {
        let source = "#define A \\\n 1\n/* # */ int x; // y\n'a\" \"\\\"b\" é→";
        let found: Vec<(Kind, &str)> =
            tokens(source, Blank::C).into_iter().map(|token| (token.kind, token.text)).collect();
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
        for token in tokens(source, Blank::C) {
            assert_eq!(&source[token.span()], token.text);
        }
        let source = "\u{feff}#define A \"/*\" // /*\nx // \\\n y\n #define B 1 /*\n # */ + 1\nz";
        let texts = |source| -> Vec<&str> {
            tokens(source, Blank::C).iter().map(|token| token.text).collect()
        };
        assert_eq!(
            texts(source),
            ["#define A \"/*\" // /*", "x", "#define B 1 /*\n # */ + 1", "z", ""]
        );
        let inside = tokens(source, Blank::C)[2].inside();
        let found: Vec<&str> = inside.iter().map(|token| &source[token.span()]).collect();
        assert_eq!(found, ["define", "B", "1", "+", "1", ""]);
    }
}
