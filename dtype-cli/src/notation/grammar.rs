//! Parses tokens to a tree.

use std::ops::Range;

use winnow::combinator::{cut_err, delimited, opt, peek, preceded, repeat, separated, terminated};
use winnow::error::{AddContext, ErrMode, ParserError};
use winnow::prelude::*;
use winnow::stream::Stream;
use winnow::token::{any, one_of};

use super::hints;
use super::token::{Bracket, Kind, Token, Tokens};
use super::tree::{Binding, Call, Expression, Field, Node, Operator, Program};
use crate::problem::Problem;

/// How deep brackets may nest, so that no text can exhaust the stack. Names given by `let` nest no brackets.
pub const MAX_NESTING: usize = 128;

/// The items expected where a text cannot continue.
#[derive(Debug, Default)]
struct Expected {
    what: Vec<&'static str>,
}

impl<I: Stream> ParserError<I> for Expected {
    type Inner = Self;

    fn from_input(_: &I) -> Self {
        Self::default()
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

impl<I: Stream> AddContext<I, &'static str> for Expected {
    fn add_context(mut self, _: &I, _: &I::Checkpoint, context: &'static str) -> Self {
        if self.what.is_empty() {
            self.what.push(context);
        }
        self
    }
}

type Parsed<T> = Result<T, ErrMode<Expected>>;

/// The tree of a text.
pub(super) fn parse(tokens: &[Token<'_>]) -> Result<Program, Box<Problem>> {
    if let Some(at) = tokens.iter().position(|token| token.kind == Kind::Unknown) {
        let token = &tokens[at];
        let message = format!("unexpected {}", token.describe());
        let problem = Problem::new(message, token.span(), "");
        return Err(Box::new(hints::for_token(problem, tokens, at)));
    }
    check_brackets(tokens)?;
    let mut input = Tokens::new(tokens);
    program(&mut input).map_err(|error| {
        let what = error.into_inner().map(|expected| expected.what).unwrap_or_default();
        // The input stops where it cannot continue, and the last token always remains.
        let at = (tokens.len() - input.eof_offset()).min(tokens.len().saturating_sub(1));
        let Some(found) = tokens.get(at) else {
            return Box::new(Problem::new("the text is empty", 0..0, ""));
        };
        let problem = unexpected(tokens, found, what.first().copied().unwrap_or("an expression"));
        Box::new(hints::for_token(problem, tokens, at))
    })
}

/// The message for a token that is not allowed at its position.
fn unexpected(tokens: &[Token<'_>], found: &Token<'_>, expected: &str) -> Problem {
    if tokens.len() == 1 {
        let problem = Problem::new("expected a type, found nothing", found.span(), "nothing here");
        return problem
            .help("write one, such as `vector(4, 5, 6, u16)`; `dtype help notation` says how");
    }
    let message = format!("expected {expected}, found {}", found.describe());
    Problem::new(message, found.span(), format!("expected {expected}"))
}

/// Checks that brackets come in pairs and do not nest too deep, which also limits every recursion below.
fn check_brackets(tokens: &[Token<'_>]) -> Result<(), Box<Problem>> {
    let mut open: Vec<(Bracket, &Token<'_>)> = Vec::new();
    for token in tokens {
        match token.kind {
            Kind::Open(bracket) if open.len() < MAX_NESTING => open.push((bracket, token)),
            Kind::Open(_) => {
                let message = format!("brackets nest deeper than {MAX_NESTING} levels");
                let problem = Problem::new(message, token.span(), "one more level");
                return Err(Box::new(problem.help("give the inner parts names: `let inner = …;`")));
            }
            Kind::Close(bracket) => match open.pop() {
                Some((opened, _)) if opened == bracket => {}
                Some((opened, before)) => {
                    let (sign, expected) = (before.describe(), opened.signs().1);
                    let message = format!("{sign} is closed by {}", token.describe());
                    let problem =
                        Problem::new(message, token.span(), format!("expected `{expected}`"));
                    return Err(Box::new(problem.and(before.span(), "opened here")));
                }
                None => {
                    let message = format!("{} closes nothing", token.describe());
                    return Err(Box::new(Problem::new(message, token.span(), "was not opened")));
                }
            },
            Kind::End => {
                if let Some((bracket, opened)) = open.pop() {
                    let (sign, expected) = (opened.describe(), bracket.signs().1);
                    let message = format!("{sign} is not closed");
                    let problem =
                        Problem::new(message, token.span(), format!("expected `{expected}`"));
                    return Err(Box::new(problem.and(opened.span(), "opened here")));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn program(input: &mut Tokens<'_, '_>) -> Parsed<Program> {
    let bindings = repeat(0.., binding).parse_next(input)?;
    let result = expression(input)?;
    let semicolon = opt(one_of(Kind::Semicolon)).parse_next(input)?;
    let behind = if semicolon.is_some() { "the end" } else { "`;` or the end" };
    one_of(Kind::End).context(behind).parse_next(input)?;
    Ok(Program { bindings, result })
}

fn binding(input: &mut Tokens<'_, '_>) -> Parsed<Binding> {
    keyword("let").parse_next(input)?;
    let name = cut_err(one_of(Kind::Word)).context("a name").parse_next(input)?;
    cut_err(one_of(Kind::Equals)).context("`=`").parse_next(input)?;
    let value = cut_err(expression).parse_next(input)?;
    cut_err(one_of(Kind::Semicolon)).context("`;`").parse_next(input)?;
    Ok(Binding { name: name.span(), value })
}

/// A word with a fixed meaning.
fn keyword<'t, 's: 't>(
    word: &'static str,
) -> impl Parser<Tokens<'t, 's>, &'t Token<'s>, ErrMode<Expected>> {
    any.verify(move |token: &&Token<'_>| token.kind == Kind::Word && token.text == word)
}

/// Sums and differences of terms.
fn expression(input: &mut Tokens<'_, '_>) -> Parsed<Node> {
    arithmetic(input, product, &[Kind::Plus, Kind::Minus])
}

/// Products of factors.
fn product(input: &mut Tokens<'_, '_>) -> Parsed<Node> {
    arithmetic(input, factor, &[Kind::Star])
}

fn arithmetic<'t, 's: 't>(
    input: &mut Tokens<'t, 's>,
    mut term: impl FnMut(&mut Tokens<'t, 's>) -> Parsed<Node>,
    signs: &[Kind],
) -> Parsed<Node> {
    let first = term(input)?;
    let mut rest: Vec<(Operator, Node)> = Vec::new();
    let mut sign = opt(one_of(|token: &Token<'_>| signs.contains(&token.kind)));
    while let Some(sign) = sign.parse_next(input)? {
        let operator = match sign.kind {
            Kind::Plus => Operator::Plus,
            Kind::Minus => Operator::Minus,
            _ => Operator::Times,
        };
        rest.push((operator, term(input)?));
    }
    let Some((_, last)) = rest.last() else { return Ok(first) };
    let span = first.span.start..last.span.end;
    Ok(Node { span, expression: Expression::Arithmetic(Box::new(first), rest) })
}

fn factor(input: &mut Tokens<'_, '_>) -> Parsed<Node> {
    let Some(minus) = opt(one_of(Kind::Minus)).parse_next(input)? else { return primary(input) };
    let inner = primary(input)?;
    let span = minus.start..inner.span.end;
    Ok(Node { span, expression: Expression::Negative(Box::new(inner)) })
}

fn primary(input: &mut Tokens<'_, '_>) -> Parsed<Node> {
    let what = "a type or a number";
    let token = peek(any).context(what).parse_next(input)?;
    match token.kind {
        Kind::Number => {
            any.map(|token: &Token<'_>| node(token.span(), Expression::Number)).parse_next(input)
        }
        Kind::Word => named(input),
        Kind::Open(Bracket::Round) => {
            let (open, close) = (one_of(Kind::Open(Bracket::Round)), close(Bracket::Round, "`)`"));
            delimited(open, expression, close).parse_next(input)
        }
        Kind::Open(Bracket::Square) => list(input),
        _ => {
            one_of(Kind::Word).context(what).map(|_| node(0..0, Expression::Name)).parse_next(input)
        }
    }
}

fn node(span: Range<usize>, expression: Expression) -> Node {
    Node { span, expression }
}

/// A closing bracket.
fn close<'t, 's: 't>(
    bracket: Bracket,
    expected: &'static str,
) -> impl Parser<Tokens<'t, 's>, &'t Token<'s>, ErrMode<Expected>> {
    cut_err(one_of(Kind::Close(bracket))).context(expected)
}

/// An expression that starts with a word: a name, a call or a struct.
fn named(input: &mut Tokens<'_, '_>) -> Parsed<Node> {
    let first = any.parse_next(input)?;
    let mut name = first.span();
    if is_c_word(first.text) {
        while let Some(next) =
            opt(any.verify(|token: &&Token<'_>| is_c_word(token.text))).parse_next(input)?
        {
            name.end = next.span().end;
        }
    }
    match peek(any).parse_next(input)?.kind {
        Kind::Open(Bracket::Round) => {
            let open = one_of(Kind::Open(Bracket::Round));
            let end = close(Bracket::Round, "`,` or `)`").map(Token::span);
            let (arguments, end) = (preceded(open, items), end).parse_next(input)?;
            let call = Expression::Call(Call { name: name.clone(), arguments });
            Ok(node(name.start..end.end, call))
        }
        Kind::Open(Bracket::Curly) if first.text == "struct" => {
            let open = one_of(Kind::Open(Bracket::Curly));
            let end = close(Bracket::Curly, "`,` or `}`").map(Token::span);
            let fields = separated(0.., field, one_of(Kind::Comma));
            let fields = terminated(fields, opt(one_of(Kind::Comma)));
            let (fields, end) = (preceded(open, fields), end).parse_next(input)?;
            Ok(node(name.start..end.end, Expression::Struct(fields)))
        }
        _ if first.text == "struct" => one_of(Kind::Open(Bracket::Curly))
            .context("`{` or `(`")
            .map(|_| node(name.clone(), Expression::Name))
            .parse_next(input),
        _ => Ok(node(name, Expression::Name)),
    }
}

/// The words that form the names of C's number types.
fn is_c_word(word: &str) -> bool {
    matches!(
        word,
        "signed" | "unsigned" | "char" | "short" | "int" | "long" | "float" | "double" | "_Complex"
    )
}

/// Expressions separated by commas, with an optional comma after the last one.
fn items(input: &mut Tokens<'_, '_>) -> Parsed<Vec<Node>> {
    let item = begin_or_close(expression);
    let all = separated(0.., item, one_of(Kind::Comma));
    terminated(all, opt(one_of(Kind::Comma))).parse_next(input)
}

/// An item, unless the list ends here: a mistake inside an item is an error in the text, not the end of the list.
fn begin_or_close<'t, 's: 't, T>(
    mut item: impl FnMut(&mut Tokens<'t, 's>) -> Parsed<T>,
) -> impl FnMut(&mut Tokens<'t, 's>) -> Parsed<T> {
    move |input| {
        let next = peek(any).parse_next(input)?;
        if matches!(next.kind, Kind::Close(_) | Kind::End) {
            return Err(ErrMode::Backtrack(Expected::default()));
        }
        item(input).map_err(ErrMode::cut)
    }
}

/// An expression that starts with a square bracket: a list, or an array type.
fn list(input: &mut Tokens<'_, '_>) -> Parsed<Node> {
    let open = one_of(Kind::Open(Bracket::Square)).parse_next(input)?;
    let mut all = items(input)?;
    let next = peek(any).parse_next(input)?;
    if next.kind == Kind::Semicolon && all.len() == 1 {
        any.parse_next(input)?;
        let count = cut_err(expression).parse_next(input)?;
        let end = close(Bracket::Square, "`]`").parse_next(input)?;
        let span = open.start..end.span().end;
        if let Some(element) = all.pop() {
            return Ok(node(span, Expression::Array(Box::new((element, count)))));
        }
    }
    let expected = if all.len() == 1 { "`;`, `,` or `]`" } else { "`,` or `]`" };
    let end = close(Bracket::Square, expected).parse_next(input)?;
    Ok(node(open.start..end.span().end, Expression::List(all)))
}

fn field(input: &mut Tokens<'_, '_>) -> Parsed<Field> {
    begin_or_close(|input: &mut Tokens<'_, '_>| {
        let name = one_of(|token: &Token<'_>| matches!(token.kind, Kind::Word | Kind::Text));
        let name = opt(terminated(name, one_of(Kind::Colon))).parse_next(input)?;
        let ty = expression(input)?;
        let displacement =
            opt(preceded(one_of(Kind::At), cut_err(expression))).parse_next(input)?;
        Ok(Field { name: name.map(Token::span), ty, displacement })
    })(input)
}
