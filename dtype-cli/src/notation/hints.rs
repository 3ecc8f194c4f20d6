//! Hints for what other languages write differently.

use super::token::{Bracket, Kind, Token};
use crate::problem::{Problem, quoted};

/// NumPy's formats whose names are not types here, and the types that they are.
const NUMPY: &[(&str, &str)] = &[
    ("f2", "f16"),
    ("f4", "f32"),
    ("f8", "f64"),
    ("i1", "i8"),
    ("i2", "i16"),
    ("i4", "i32"),
    ("u1", "u8"),
    ("u2", "u16"),
    ("u4", "u32"),
    ("c8", "c32"),
    ("c16", "c64"),
];

/// A format of NumPy as a type.
fn of_numpy(name: &str) -> Option<&'static str> {
    // `i8` and `u8` are types here, but only NumPy writes `<i8`.
    let after_sign = [("i8", "i64"), ("u8", "u64")];
    NUMPY.iter().chain(&after_sign).find(|(format, _)| *format == name).map(|(_, ty)| *ty)
}

/// Adds a hint for an unknown name, if it is a format of NumPy or a width that no integer has, and says whether it is.
pub(super) fn for_name(problem: Problem, name: &str) -> (Problem, bool) {
    if let Some((format, ty)) = NUMPY.iter().find(|(format, _)| *format == name) {
        let bytes = &format[1..];
        let help = format!("NumPy's `{format}`, of {bytes} bytes, is `{ty}`");
        return (problem.help(help).instead(*ty), true);
    }
    let width = name.strip_prefix(['u', 'i']).and_then(|width| width.parse::<u32>().ok());
    match width.filter(|width| matches!(width, 24 | 40 | 48 | 56)) {
        Some(width) => {
            let bytes = width / 8;
            let help = format!("no integer has {width} bits; `[u8; {bytes}]` are its bytes");
            (problem.help(help), true)
        }
        None => (problem, false),
    }
}

/// The hint for a token that is not allowed at its position.
pub(super) fn for_token(problem: Problem, tokens: &[Token<'_>], at: usize) -> Problem {
    let token = |at: Option<usize>| at.and_then(|at| tokens.get(at));
    let (before, found, after) = (token(at.checked_sub(1)), token(Some(at)), token(Some(at + 1)));
    match (before, found, after) {
        // `double[3]`
        (Some(before), Some(found), _)
            if found.kind == Kind::Open(Bracket::Square) && before.kind == Kind::Word =>
        {
            let length = after.filter(|after| after.kind == Kind::Number);
            let length = length.map_or("3", |after| after.text);
            problem.help(format!("an array type is `[{}; {length}]`", before.text))
        }
        // `x: f64 y: u8`
        (_, Some(found), Some(after)) if (found.kind, after.kind) == (Kind::Word, Kind::Colon) => {
            problem.help("fields are separated by commas")
        }
        // `double x[3]`
        (Some(before), Some(found), _)
            if found.kind == Kind::Word
                && before.kind == Kind::Word
                && innermost(tokens, at) == Some((Bracket::Curly, true)) =>
        {
            let help = format!("a field is `{}: {}`", found.text, before.text);
            problem.help(help + "; a struct as C declares it starts with `struct` and a name")
        }
        // `(4, 5)`
        (_, Some(found), _)
            if found.kind == Kind::Comma
                && innermost(tokens, at) == Some((Bracket::Round, false)) =>
        {
            problem.help("a list is `[4, 5]`, and a struct is `struct{u8, f64}`")
        }
        // `<f8`
        (_, Some(found), Some(after)) if matches!(found.text, "<" | ">" | "=" | "|") => {
            match of_numpy(after.text) {
                Some(ty) => problem.help(format!("NumPy's {} is `{ty}`", quoted(after.text))),
                None => problem,
            }
        }
        // `'f8'`
        (_, Some(found), _) if found.text.starts_with(['\'', '"']) => problem
            .help("only the name of a field has quotes, double ones; `--from numpy` reads a dtype"),
        _ => problem,
    }
}

/// The innermost bracket around a token, and whether a word precedes it: a call, or a struct.
fn innermost(tokens: &[Token<'_>], at: usize) -> Option<(Bracket, bool)> {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().take(at).rev() {
        match token.kind {
            Kind::Close(_) => depth += 1,
            Kind::Open(_) if depth > 0 => depth -= 1,
            Kind::Open(bracket) => {
                let before = i.checked_sub(1).and_then(|i| tokens.get(i));
                return Some((bracket, before.is_some_and(|before| before.kind == Kind::Word)));
            }
            _ => {}
        }
    }
    None
}
