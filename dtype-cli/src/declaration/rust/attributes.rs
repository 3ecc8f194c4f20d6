//! Attributes that decide which fields and items there are, and what the derive of dtype-runtime makes of them.

use proc_macro2::{Delimiter, Group, TokenTree};

use super::Reader;
use super::tokens::{contents, group, parts, word};
use crate::problem::{Problem, quoted};

/// The words of `#[dtype(…)]` that leave the layout as it is.
const HARMLESS: &[&str] = &["bound", "check", "crate", "name"];

/// What the attributes of the derive say about a field.
#[derive(Debug, Default)]
pub(super) struct Derived {
    /// It is not data.
    pub(super) is_skipped: bool,
    /// The name in place of its own.
    pub(super) rename: Option<String>,
}

/// The name of an attribute, and what is in its brackets.
fn named(attribute: &Group) -> (String, Vec<TokenTree>) {
    let tokens = contents(attribute);
    let inside = group(tokens.get(1), Delimiter::Parenthesis).map(contents);
    (word(tokens.first()).unwrap_or_default(), inside.unwrap_or_default())
}

/// Whether an item is only there in tests.
pub(super) fn is_test(attributes: &[Group]) -> bool {
    attributes.iter().map(named).any(|(name, inside)| {
        name == "cfg" && inside.len() == 1 && word(inside.first()).as_deref() == Some("test")
    })
}

/// Whether an attribute is a condition of the item below it.
pub(super) fn is_condition(attribute: &Group) -> bool {
    named(attribute).0 == "cfg"
}

impl Reader<'_, '_> {
    /// The first condition on which an item or a field, or its layout, depends.
    pub(super) fn condition(&self, attributes: &[Group]) -> Result<(), Box<Problem>> {
        for attribute in attributes {
            let (name, inside) = named(attribute);
            let is_layout = || {
                let mut words = parts(&inside).skip(1).map(|part| word(part.first()));
                words.any(|word| matches!(word.as_deref(), Some("repr" | "dtype" | "cfg")))
            };
            if name == "cfg" || name == "cfg_attr" && is_layout() {
                let span = self.span(&[TokenTree::Group(attribute.clone())]);
                let message = "conditions of compilation are not evaluated";
                let problem = Problem::new(message, span, "a condition");
                let help = if name == "cfg" {
                    "remove the attribute if the program has what follows it, and both if it does not"
                } else {
                    "write the attribute without the condition, or remove it"
                };
                return Err(Box::new(problem.help(help)));
            }
        }
        Ok(())
    }

    /// What the attributes of the derive say. Those that change the layout, except `#[dtype(skip)]`, are mistakes, on fields
    /// as on items.
    pub(super) fn derived(&self, attributes: &[Group]) -> Result<Derived, Box<Problem>> {
        let mut derived = Derived::default();
        for (name, inside) in attributes.iter().map(named) {
            if name != "dtype" {
                continue;
            }
            for part in parts(&inside) {
                let name = word(part.first()).unwrap_or_default();
                if name == "skip" && part.len() == 1 {
                    derived.is_skipped = true;
                } else if name == "rename" {
                    derived.rename = Some(self.renamed(part)?);
                } else if !HARMLESS.contains(&name.as_str()) {
                    let span = self.span(part);
                    let message = format!("the attribute {} is not read", quoted(&name));
                    let problem = Problem::new(message, span, "changes the layout");
                    return Err(Box::new(problem.help(match name.as_str() {
                        "with" | "remote" => {
                            "the fields are those of another type: describe that one"
                        }
                        _ => {
                            "the layout that it asks for is written in the notation, for example \
                             `resized(type, lb, extent)`; `dtype help notation` explains it"
                        }
                    })));
                }
            }
        }
        Ok(derived)
    }

    /// The name in `rename = "…"`.
    fn renamed(&self, part: &[TokenTree]) -> Result<String, Box<Problem>> {
        let value = part.get(2..).unwrap_or(&[]).iter().cloned().collect();
        let name = syn::parse2::<syn::LitStr>(value).map(|name| name.value()).unwrap_or_default();
        if name.is_empty() || name.contains('\0') {
            let message = "expected `rename = \"name\"`";
            return Err(Box::new(Problem::new(message, self.span(part), "expected a name")));
        }
        Ok(name)
    }
}
