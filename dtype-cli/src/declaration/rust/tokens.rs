//! Rust tokens: signs, names, groups, and lists.

use proc_macro2::{Delimiter, Group, TokenTree};

/// Whether a token is this sign.
pub(super) fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// A token that is a name; a raw one without its `r#`.
pub(super) fn word(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => {
            let name = ident.to_string();
            Some(name.strip_prefix("r#").map_or(name.clone(), str::to_owned))
        }
        _ => None,
    }
}

/// The tokens of a group.
pub(super) fn contents(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

pub(super) fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// The parts between commas, except for an empty one at the end. Commas between angle brackets do not separate.
pub(super) fn parts(tokens: &[TokenTree]) -> impl Iterator<Item = &[TokenTree]> {
    let mut depth = 0_usize;
    let mut is_arrow = false;
    let mut all = tokens.split(move |token| {
        let sign = match token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match sign {
            '<' => depth += 1,
            '>' if !is_arrow => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_arrow = sign == '-';
        sign == ',' && depth == 0
    });
    let mut next = all.next();
    std::iter::from_fn(move || {
        let part = next.take()?;
        next = all.next();
        (next.is_some() || !part.is_empty()).then_some(part)
    })
}
