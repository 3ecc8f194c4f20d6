//! Splits characters into tokens.

use std::fmt;
use std::ops::Range;

use winnow::ascii::{multispace1, take_escaped};
use winnow::combinator::{alt, dispatch, opt, peek, preceded, repeat};
use winnow::error::EmptyError;
use winnow::prelude::*;
use winnow::stream::{ContainsToken, LocatingSlice, TokenSlice};
use winnow::token::{any, none_of, one_of, take_till, take_while};

use crate::problem::quoted;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, or a keyword.
    Word,
    /// A word that starts with a digit.
    Number,
    /// A text in quotes, in which a backslash escapes the next character.
    Text,
    Open(Bracket),
    Close(Bracket),
    Comma,
    Semicolon,
    Colon,
    At,
    Equals,
    Plus,
    Minus,
    Star,
    /// A character that is not part of the notation, or the rest of a line from a quote on that is not closed.
    Unknown,
    /// The end of the text.
    End,
}

/// The brackets that come in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Round,
    Square,
    Curly,
}

impl Bracket {
    /// The two characters of the pair.
    pub(super) fn signs(self) -> (char, char) {
        match self {
            Self::Round => ('(', ')'),
            Self::Square => ('[', ']'),
            Self::Curly => ('{', '}'),
        }
    }
}

/// A token and its position in the text.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    /// The number of bytes before it.
    pub(super) start: usize,
}

impl fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.kind, self.text)
    }
}

impl Token<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// The name of the token in a message.
    pub(super) fn describe(&self) -> String {
        match self.kind {
            Kind::End => "the end".into(),
            _ => quoted(self.text),
        }
    }
}

impl ContainsToken<&'_ Token<'_>> for Kind {
    fn contains_token(&self, token: &Token<'_>) -> bool {
        *self == token.kind
    }
}

pub(super) type Tokens<'t, 's> = TokenSlice<'t, Token<'s>>;

type Text<'s> = LocatingSlice<&'s str>;

/// The tokens of a text, the last of which is its end. Every text has tokens: a character that starts no other
/// token is [`Unknown`](Kind::Unknown).
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut text = LocatingSlice::new(source);
    // Some editors write a mark for the byte order first.
    let _: Result<_, EmptyError> = opt('\u{feff}').parse_next(&mut text);
    let parsed: Result<Vec<Token<'_>>, EmptyError> =
        repeat(0.., preceded(blank, token)).parse_next(&mut text);
    let mut tokens = parsed.unwrap_or_default();
    tokens.push(Token { kind: Kind::End, text: "", start: source.trim_end().len() });
    tokens
}

/// Space and comments.
fn blank(text: &mut Text<'_>) -> Result<(), EmptyError> {
    let comment = ('#', take_till(0.., '\n'));
    repeat(0.., alt((multispace1.void(), comment.void()))).parse_next(text)
}

fn token<'s>(text: &mut Text<'s>) -> Result<Token<'s>, EmptyError> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let kind = dispatch! {peek(any);
        '0'..='9' => take_while(1.., word).value(Kind::Number),
        c if c.is_alphabetic() || c == '_' => take_while(1.., word).value(Kind::Word),
        '"' => {
            let inside = take_escaped(take_till(1.., ['"', '\\', '\n']), '\\', none_of('\n'));
            // The rest of the line, so that no quote in it begins another search.
            alt((('"', inside, '"').value(Kind::Text), take_till(1.., '\n').value(Kind::Unknown)))
        },
        '(' => one_of('(').value(Kind::Open(Bracket::Round)),
        ')' => one_of(')').value(Kind::Close(Bracket::Round)),
        '[' => one_of('[').value(Kind::Open(Bracket::Square)),
        ']' => one_of(']').value(Kind::Close(Bracket::Square)),
        '{' => one_of('{').value(Kind::Open(Bracket::Curly)),
        '}' => one_of('}').value(Kind::Close(Bracket::Curly)),
        ',' => one_of(',').value(Kind::Comma),
        ';' => one_of(';').value(Kind::Semicolon),
        ':' => one_of(':').value(Kind::Colon),
        '@' => one_of('@').value(Kind::At),
        '=' => one_of('=').value(Kind::Equals),
        '+' => one_of('+').value(Kind::Plus),
        '-' => one_of('-').value(Kind::Minus),
        '*' => one_of('*').value(Kind::Star),
        _ => any.value(Kind::Unknown),
    };
    let spanned = kind.with_taken().with_span();
    spanned.map(|((kind, text), span)| Token { kind, text, start: span.start }).parse_next(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_in_a_token_a_space_or_a_comment() {
        let source = "a_1+0x2F # ä (\n[é→}\"\" \"#\\\" \\n\" \"\\\"a\nb";
        let found: Vec<(Kind, &str)> =
            tokens(source).into_iter().map(|token| (token.kind, token.text)).collect();
        assert_eq!(
            found,
            [
                (Kind::Word, "a_1"),
                (Kind::Plus, "+"),
                (Kind::Number, "0x2F"),
                (Kind::Open(Bracket::Square), "["),
                (Kind::Word, "é"),
                (Kind::Unknown, "→"),
                (Kind::Close(Bracket::Curly), "}"),
                (Kind::Text, r#""""#),
                (Kind::Text, r##""#\" \n""##),
                (Kind::Unknown, r#""\"a"#),
                (Kind::Word, "b"),
                (Kind::End, ""),
            ]
        );
        for token in tokens(source) {
            assert_eq!(&source[token.span()], token.text);
        }
        let marked: Vec<&str> = tokens("\u{feff}u8").iter().map(|token| token.text).collect();
        assert_eq!(marked, ["u8", ""]);
    }
}
