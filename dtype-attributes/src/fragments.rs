//! Fragments that `macro_rules!` put into the item, where the output repeats them.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::{Expr, ExprUnary, Type};

/// Puts parentheses around each fragment that would otherwise fall apart, such as a `$n:expr` of `1 + 2`.
///
/// A fragment is a group of tokens with invisible delimiters. The compiler ignores these delimiters in the output of a
/// derive: `8 * $n` would be `8 * 1 + 2`.
pub fn parenthesised(tokens: TokenStream) -> TokenStream {
    changed(&tokens).unwrap_or(tokens)
}

/// `None` if nothing changes. Only groups that change are made anew, because that loses the spans of their delimiters.
fn changed(tokens: &TokenStream) -> Option<TokenStream> {
    let mut tokens: Vec<_> = tokens.clone().into_iter().collect();
    let mut is_changed = false;
    for i in 0..tokens.len() {
        let TokenTree::Group(group) = &tokens[i] else { continue };
        let is_argument = i > 0
            && is_one_of("<,", &tokens[i - 1])
            && tokens.get(i + 1).is_some_and(|next| is_one_of(">,", next));
        if let Some(group) = group_changed(group, is_argument) {
            tokens[i] = group.into();
            is_changed = true;
        }
    }
    is_changed.then(|| tokens.into_iter().collect())
}

fn is_one_of(puncts: &str, token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if puncts.contains(punct.as_char()))
}

fn group_changed(group: &Group, is_argument: bool) -> Option<Group> {
    let falls_apart =
        group.delimiter() == Delimiter::None && falls_apart(group.stream(), is_argument);
    let inner = changed(&group.stream());
    if !falls_apart && inner.is_none() {
        return None;
    }
    let inner = inner.unwrap_or_else(|| group.stream());
    // With the derive's own hygiene, so that no lint calls the parentheses unnecessary.
    let (delimiter, span) = if falls_apart {
        (Delimiter::Parenthesis, Span::call_site().located_at(group.span()))
    } else {
        (group.delimiter(), group.span())
    };
    let mut changed = Group::new(delimiter, inner);
    changed.set_span(span);
    Some(changed)
}

/// Whether the tokens of a fragment have another meaning next to other tokens.
///
/// `is_argument`: whether the tokens next to it separate the arguments of a generic type. An argument such as `-1` must not be
/// in parentheses.
fn falls_apart(fragment: TokenStream, is_argument: bool) -> bool {
    match syn::parse2(fragment.clone()) {
        Ok(Expr::Unary(ExprUnary { expr, .. })) => !(is_argument && matches!(*expr, Expr::Lit(_))),
        Ok(Expr::Binary(_) | Expr::Cast(_) | Expr::Range(_) | Expr::Reference(_)) => true,
        // `&dyn A + B` is not a type.
        _ => matches!(
            syn::parse2(fragment),
            Ok(Type::TraitObject(object)) if object.bounds.len() > 1
        ),
    }
}
