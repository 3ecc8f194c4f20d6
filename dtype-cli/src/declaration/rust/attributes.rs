//! Attributes that decide which fields and items there are, and what the derive of dtype-runtime makes of them.

use proc_macro2::{Delimiter, Group, TokenTree};

use super::Reader;
use super::tokens::{contents, group, parts, word};
use crate::problem::{Problem, quoted};

/// The words of `#[dtype(…)]` that leave the layout as it is.
const HARMLESS: &[&str] = &["bound", "check", "crate", "name"];

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

    /// Whether `#[dtype(skip)]` says that a field is not data. Other attributes of the derive that change the layout are
    /// mistakes, on fields as on items.
    pub(super) fn is_skipped(&self, attributes: &[Group]) -> Result<bool, Box<Problem>> {
        let mut is_skipped = false;
        for (name, inside) in attributes.iter().map(named) {
            if name != "dtype" {
                continue;
            }
            for part in parts(&inside) {
                let name = word(part.first()).unwrap_or_default();
                if name == "skip" && part.len() == 1 {
                    is_skipped = true;
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
        Ok(is_skipped)
    }
}
