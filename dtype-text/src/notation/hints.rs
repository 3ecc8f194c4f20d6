//! Hints for types that other languages write differently.

use dtype_npy::Dtype;
use dtype_runtime::Basic;

use crate::problem::{Problem, quoted};
use crate::token::{Kind, Token};

/// A format of NumPy, a letter and a number of bytes, as a type.
fn of_numpy(name: &str) -> Option<&'static str> {
    let bytes = name.strip_prefix(['f', 'i', 'u', 'c'])?;
    bytes.parse::<u8>().ok()?;
    Dtype::parse_native(&format!("'{name}'")).ok()?.basic().map(Basic::name)
}

/// Adds a hint for an unknown name, if it is a format of NumPy or a width that no integer has, and says whether it is.
pub(super) fn for_name(problem: Problem, name: &str) -> (Problem, bool) {
    if let Some(ty) = of_numpy(name) {
        let help = format!("NumPy's `{name}`, of {} bytes, is `{ty}`", &name[1..]);
        return (problem.help(help).instead(ty), true);
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
        (Some(before), Some(found), _) if found.is("[") && before.kind == Kind::Word => {
            let length = after.filter(|after| after.kind == Kind::Number);
            let length = length.map_or("3", |after| after.text);
            problem.help(format!("an array type is `[{}; {length}]`", before.text))
        }
        // `x: f64 y: u8`
        (_, Some(found), Some(after)) if found.kind == Kind::Word && after.is(":") => {
            problem.help("fields are separated by commas")
        }
        // `double x[3]`
        (Some(before), Some(found), _)
            if found.kind == Kind::Word
                && before.kind == Kind::Word
                && innermost(tokens, at) == Some(("{", true)) =>
        {
            let help = format!("a field is `{}: {}`", found.text, before.text);
            problem.help(help + "; a struct as C declares it starts with `struct` and a name")
        }
        // `(4, 5)`
        (_, Some(found), _) if found.is(",") && innermost(tokens, at) == Some(("(", false)) => {
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
fn innermost<'s>(tokens: &[Token<'s>], at: usize) -> Option<(&'s str, bool)> {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().take(at).rev() {
        match token.text {
            _ if token.kind == Kind::Text => {}
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" if depth > 0 => depth -= 1,
            bracket @ ("(" | "[" | "{") => {
                let before = i.checked_sub(1).and_then(|i| tokens.get(i));
                return Some((bracket, before.is_some_and(|before| before.kind == Kind::Word)));
            }
            _ => {}
        }
    }
    None
}
