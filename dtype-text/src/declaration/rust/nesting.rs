//! Limits the depth of a text's syntax tree, because its parser and its destructor are recursive.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::super::MAX_NESTING;
use super::range;
use crate::problem::Problem;

/// The greatest number of tokens in one expression, type or pattern, together with those of the brackets around it. Each token
/// may be a level of the tree.
const MAX_TOKENS: usize = if cfg!(target_family = "wasm") { 1024 } else { 4096 };

/// The bytes of stack for a tree of that depth. A program for WebAssembly has no other stack than the one that it is linked
/// with: `-C link-arg=-zstack-size=67108864`.
#[cfg_attr(target_family = "wasm", expect(dead_code, reason = "the linker knows the number"))]
pub(super) const STACK: usize = MAX_TOKENS * (64 << 10);

/// Checks that no part of a text is nested deeper.
pub(super) fn check(tokens: TokenStream) -> Result<(), Box<Problem>> {
    // The brackets around the current token, and the number of tokens before it in the current part.
    let mut levels = vec![(tokens.into_iter().peekable(), 0)];
    while let Some((tokens, count)) = levels.last_mut() {
        let Some(token) = tokens.next() else {
            levels.pop();
            continue;
        };
        *count += 1;
        let all = *count;
        let next = tokens.peek();
        let span = token.span();
        let (is_end, inside) = match token {
            TokenTree::Punct(punct) => (matches!(punct.as_char(), ',' | ';'), None),
            TokenTree::Group(group) => {
                let goes_on = match next {
                    Some(TokenTree::Ident(word)) => word == "else",
                    Some(TokenTree::Punct(sign)) => sign.as_char() != '#',
                    _ => false,
                };
                (group.delimiter() == Delimiter::Brace && !goes_on, Some(group.stream()))
            }
            _ => (false, None),
        };
        if is_end {
            *count = 0;
        }
        if all > MAX_TOKENS || inside.is_some() && levels.len() >= MAX_NESTING {
            let message = format!("types and expressions nest deeper than {MAX_NESTING} levels");
            return Err(Box::new(Problem::new(message, range(span), "one more level")));
        }
        levels.extend(inside.map(|inside| (inside.into_iter().peekable(), all)));
    }
    Ok(())
}
