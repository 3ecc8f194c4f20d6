//! Hostile macros, which must not mislead the derive.
//!
//! A derive sees the item before the attributes below it have changed it. The result must be a compile error, or a type map of
//! the changed item.

use proc_macro::{Group, TokenStream, TokenTree};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Replaces some tokens of the item: `#[replace({ from } => { to })]`.
#[proc_macro_attribute]
pub fn replace(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut groups = arguments.into_iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    });
    let (Some(from), Some(to)) = (groups.next(), groups.next()) else {
        return error("expected `#[replace({ from } => { to })]`");
    };
    let from: Vec<_> = from.into_iter().collect();
    let mut count = 0;
    let item = replaced(item, &from, &to, &mut count);
    if count == 1 { item } else { error("the tokens to be replaced occur not once") }
}

fn replaced(
    tokens: TokenStream,
    from: &[TokenTree],
    to: &TokenStream,
    count: &mut usize,
) -> TokenStream {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut output = TokenStream::new();
    let mut rest = tokens.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        let is_found = rest.len() >= from.len() && rest.iter().zip(from).all(|(a, b)| same(a, b));
        if is_found {
            *count += 1;
            output.extend(to.clone());
            rest = &rest[from.len()..];
            continue;
        }
        output.extend([match first {
            TokenTree::Group(group) => {
                let mut inner =
                    Group::new(group.delimiter(), replaced(group.stream(), from, to, count));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other.clone(),
        }]);
        rest = behind;
    }
    output
}

fn same(a: &TokenTree, b: &TokenTree) -> bool {
    let (a, b) = (a.to_string(), b.to_string());
    a.split_whitespace().eq(b.split_whitespace())
}

/// A type that differs at each expansion: `u8`, then `u32`, then `u8` again.
#[proc_macro]
pub fn fickle(_: TokenStream) -> TokenStream {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let even = CALLS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
    parse(if even { "u8" } else { "u32" })
}

fn error(message: &str) -> TokenStream {
    parse(&format!("compile_error!({message:?});"))
}

fn parse(source: &str) -> TokenStream {
    source.parse().unwrap_or_default()
}
