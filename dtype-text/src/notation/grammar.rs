//! Parses tokens to a tree.

use std::ops::Range;

use super::hints;
use super::tree::{Binding, Call, Expression, Field, Node, Operator, Program};
use crate::problem::{Problem, quoted};
use crate::token::{Blank, Cursor, Kind, Token, tokens};

/// How deep brackets may nest, so that no text can exhaust the stack. Names given by `let` nest no brackets.
pub const MAX_NESTING: usize = 128;

/// The signs of the notation.
const SIGNS: &str = "()[]{},;:@=+-*";

type Read<T> = Result<T, Box<Problem>>;

/// The tree of a text.
pub(super) fn parse(source: &str) -> Read<Program> {
    let tokens = tokens(source, Blank::Notation);
    let is_unknown = |token: &Token<'_>| match token.kind {
        Kind::Sign => !SIGNS.contains(token.text),
        Kind::Text => !token.text.starts_with('"'),
        _ => false,
    };
    if let Some(at) = tokens.iter().position(is_unknown) {
        let Token { text, start, .. } = tokens[at];
        // For a quote without a closing one, the mistake reaches to the end of the line.
        let line = source[start..].lines().next().unwrap_or(text);
        let text = if text == "\"" { line } else { text };
        let message = format!("unexpected {}", quoted(text));
        let problem = Problem::new(message, start..start + text.len(), "");
        return Err(Box::new(hints::for_token(problem, &tokens, at)));
    }
    check_brackets(&tokens)?;
    let mut cursor = Cursor::new(tokens.clone(), source);
    program(&mut cursor).map_err(|problem| {
        if tokens.len() == 1 {
            let message = "expected a type, found nothing";
            let problem = Problem::new(message, problem.span, "nothing here");
            return Box::new(problem.help(
                "write one, such as `vector(4, 5, 6, u16)`; `dtype help notation` says how",
            ));
        }
        Box::new(hints::for_token(*problem, &tokens, cursor.index()))
    })
}

/// Checks that brackets come in pairs and do not nest too deeply, which also limits every recursion below.
fn check_brackets(tokens: &[Token<'_>]) -> Read<()> {
    // The open brackets, each with the sign that closes it.
    let mut open: Vec<(&Token<'_>, &str)> = Vec::new();
    for token in tokens {
        let text = if token.kind == Kind::Text { "" } else { token.text };
        let close = match text {
            "(" => ")",
            "[" => "]",
            "{" => "}",
            ")" | "]" | "}" if open.is_empty() => {
                let message = format!("{} closes nothing", token.describe());
                return Err(Box::new(Problem::new(message, token.span(), "was not opened")));
            }
            ")" | "]" | "}" => "",
            _ if token.kind == Kind::End => "",
            _ => continue,
        };
        if close.is_empty() {
            let Some((before, expected)) = open.pop().filter(|(_, close)| *close != text) else {
                continue;
            };
            let sign = before.describe();
            let message = match token.kind {
                Kind::End => format!("{sign} is not closed"),
                _ => format!("{sign} is closed by {}", token.describe()),
            };
            let problem = Problem::new(message, token.span(), format!("expected `{expected}`"));
            return Err(Box::new(problem.and(before.span(), "opened here")));
        }
        if open.len() >= MAX_NESTING {
            let message = format!("brackets nest deeper than {MAX_NESTING} levels");
            let problem = Problem::new(message, token.span(), "one more level");
            return Err(Box::new(problem.help("give the inner parts names: `let inner = …;`")));
        }
        open.push((token, close));
    }
    Ok(())
}

fn program(cursor: &mut Cursor<'_>) -> Read<Program> {
    let mut bindings = Vec::new();
    while cursor.take("let").is_some() {
        if cursor.peek().kind != Kind::Word {
            return Err(cursor.unexpected("a name"));
        }
        let name = cursor.next().span();
        cursor.expect("=")?;
        let value = expression(cursor)?;
        cursor.expect(";")?;
        bindings.push(Binding { name, value });
    }
    let result = expression(cursor)?;
    let behind = if cursor.take(";").is_some() { "the end" } else { "`;` or the end" };
    match cursor.peek().kind {
        Kind::End => Ok(Program { bindings, result }),
        _ => Err(cursor.unexpected(behind)),
    }
}

/// Sums and differences of products.
fn expression(cursor: &mut Cursor<'_>) -> Read<Node> {
    arithmetic(cursor, product, &[("+", Operator::Plus), ("-", Operator::Minus)])
}

fn product(cursor: &mut Cursor<'_>) -> Read<Node> {
    arithmetic(cursor, factor, &[("*", Operator::Times)])
}

fn arithmetic<'s>(
    cursor: &mut Cursor<'s>,
    term: fn(&mut Cursor<'s>) -> Read<Node>,
    operators: &[(&str, Operator)],
) -> Read<Node> {
    let first = term(cursor)?;
    let mut rest: Vec<(Operator, Node)> = Vec::new();
    while let Some((_, operator)) = operators.iter().find(|(sign, _)| cursor.take(sign).is_some()) {
        rest.push((*operator, term(cursor)?));
    }
    let Some((_, last)) = rest.last() else { return Ok(first) };
    let span = first.span.start..last.span.end;
    Ok(Node { span, expression: Expression::Arithmetic(Box::new(first), rest) })
}

fn factor(cursor: &mut Cursor<'_>) -> Read<Node> {
    let Some(minus) = cursor.take("-") else { return primary(cursor) };
    let inner = primary(cursor)?;
    Ok(node(minus.start..inner.span.end, Expression::Negative(Box::new(inner))))
}

fn primary(cursor: &mut Cursor<'_>) -> Read<Node> {
    let token = cursor.peek();
    match (token.kind, token.text) {
        (Kind::Number, _) => Ok(node(cursor.next().span(), Expression::Number)),
        (Kind::Word, _) => named(cursor),
        (Kind::Sign, "(") => {
            cursor.next();
            let inner = expression(cursor)?;
            cursor.expect(")")?;
            Ok(inner)
        }
        (Kind::Sign, "[") => list(cursor),
        _ => Err(cursor.unexpected("a type or a number")),
    }
}

fn node(span: Range<usize>, expression: Expression) -> Node {
    Node { span, expression }
}

/// An expression that starts with a word: a name, a call or a struct.
fn named(cursor: &mut Cursor<'_>) -> Read<Node> {
    let first = cursor.next();
    let mut name = first.span();
    while is_c_word(first.text) && is_c_word(cursor.peek().text) {
        name.end = cursor.next().end;
    }
    if cursor.take("(").is_some() {
        let arguments = items(cursor, expression)?;
        let end = close(cursor, ")", "`,` or `)`")?;
        let call = Expression::Call(Call { name: name.clone(), arguments });
        return Ok(node(name.start..end, call));
    }
    if first.text != "struct" {
        return Ok(node(name, Expression::Name));
    }
    if cursor.take("{").is_none() {
        return Err(cursor.unexpected("`{` or `(`"));
    }
    let fields = items(cursor, field)?;
    let end = close(cursor, "}", "`,` or `}`")?;
    Ok(node(name.start..end, Expression::Struct(fields)))
}

/// The words that form the names of C's number types.
fn is_c_word(word: &str) -> bool {
    matches!(
        word,
        "signed" | "unsigned" | "char" | "short" | "int" | "long" | "float" | "double" | "_Complex"
    )
}

/// The end of a closing bracket.
fn close(cursor: &mut Cursor<'_>, bracket: &str, expected: &str) -> Read<usize> {
    match cursor.take(bracket) {
        Some(token) => Ok(token.end),
        None => Err(cursor.unexpected(expected)),
    }
}

/// Items separated by commas, with an optional comma after the last one, up to a closing bracket.
fn items<'s, T>(cursor: &mut Cursor<'s>, item: fn(&mut Cursor<'s>) -> Read<T>) -> Read<Vec<T>> {
    let mut all = Vec::new();
    while !matches!(cursor.peek().text, ")" | "]" | "}") {
        all.push(item(cursor)?);
        if cursor.take(",").is_none() {
            break;
        }
    }
    Ok(all)
}

/// An expression that starts with a square bracket: a list, or an array type.
fn list(cursor: &mut Cursor<'_>) -> Read<Node> {
    let start = cursor.next().start;
    let mut all = items(cursor, expression)?;
    if all.len() == 1
        && cursor.take(";").is_some()
        && let Some(element) = all.pop()
    {
        let count = expression(cursor)?;
        let end = close(cursor, "]", "`]`")?;
        return Ok(node(start..end, Expression::Array(Box::new((element, count)))));
    }
    let expected = if all.len() == 1 { "`;`, `,` or `]`" } else { "`,` or `]`" };
    let end = close(cursor, "]", expected)?;
    Ok(node(start..end, Expression::List(all)))
}

fn field(cursor: &mut Cursor<'_>) -> Read<Field> {
    let first = cursor.peek();
    let is_name = matches!(first.kind, Kind::Word | Kind::Text) && cursor.peek_after(1).is(":");
    let name = is_name.then(|| {
        cursor.next();
        cursor.next();
        first.span()
    });
    let ty = expression(cursor)?;
    let displacement = cursor.take("@").map(|_| expression(cursor)).transpose()?;
    Ok(Field { name, ty, displacement })
}
