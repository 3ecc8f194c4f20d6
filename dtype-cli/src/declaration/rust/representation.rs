//! `#[repr(…)]`.

use std::ops::Range;

use dtype_runtime::Basic;
use proc_macro2::{Delimiter, Group, TokenTree};

use super::super::layout::{Base, Layout, MAX_ALIGN};
use super::constants::number_of;
use super::tokens::{contents, parts, word};
use super::{Reader, names, wrong};
use crate::problem::{Problem, quoted};

/// What the attributes of an item say about its layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Representation {
    pub(super) is_c: bool,
    pub(super) is_transparent: bool,
    /// The greatest alignment of a field.
    pub(super) packed: Option<u64>,
    /// The least alignment of the struct.
    pub(super) align: Option<u64>,
    /// The integer of an enum.
    integer: Option<Basic>,
}

impl Reader<'_, '_> {
    pub(super) fn representation(
        &self,
        attributes: &[Group],
    ) -> Result<Representation, Box<Problem>> {
        let mut all = Representation::default();
        for attribute in attributes.iter().map(contents) {
            let [name, TokenTree::Group(arguments)] = &*attribute else { continue };
            if word(Some(name)).as_deref() != Some("repr") {
                continue;
            }
            let arguments = contents(arguments);
            for argument in parts(&arguments) {
                self.argument(&mut all, argument)?;
            }
        }
        Ok(all)
    }

    fn argument(
        &self,
        all: &mut Representation,
        argument: &[TokenTree],
    ) -> Result<(), Box<Problem>> {
        let name = word(argument.first()).unwrap_or_default();
        let number = match argument.get(1) {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                let number = number_of(&group.stream().to_string());
                let number = number.and_then(|number| u64::try_from(number).ok());
                if let Some(number) =
                    number.filter(|align| align.is_power_of_two() && *align <= MAX_ALIGN)
                {
                    Some(number)
                } else {
                    let message = "an alignment is a power of two, at most 2^28";
                    let span = self.span(argument);
                    return Err(Box::new(Problem::new(message, span, "not an alignment")));
                }
            }
            _ => None,
        };
        match (name.as_str(), number) {
            ("C", _) => all.is_c = true,
            ("transparent", _) => all.is_transparent = true,
            ("packed", number) => all.packed = Some(number.unwrap_or(1)),
            ("align", Some(number)) => all.align = all.align.max(Some(number)),
            ("Rust", _) => {}
            (name, _) => {
                if let Some(basic) = names::primitive(name) {
                    all.integer = Some(basic);
                } else {
                    let span = self.span(argument);
                    let message = format!("unknown representation {}", quoted(name));
                    let problem = Problem::new(message, span, "unknown name");
                    return Err(Box::new(problem.help(
                        "expected `C`, `packed`, `packed(n)`, `align(n)` or `transparent`",
                    )));
                }
            }
        }
        Ok(())
    }
}

impl Representation {
    pub(super) fn has_integer(&self) -> bool {
        self.integer.is_some()
    }

    /// The integer that an enum is.
    pub(super) fn of_enum(&self, has_data: bool, name: &str, span: &Range<usize>) -> Base {
        if has_data {
            return Base::Foreign {
                what: "an enum whose variants hold data",
                help: "which variant is meant is not known: write a struct for the one in use",
            };
        }
        match (self.integer, self.is_c) {
            (Some(basic), _) => Base::Known(Layout::basic(basic)),
            (None, true) => Base::Known(Layout::basic(Basic::Int)),
            (None, false) => {
                let message = format!("the size of the enum {} is not fixed", quoted(name));
                let problem = Problem::new(message, span.clone(), "expected `#[repr(…)]`");
                wrong(problem.help("add the integer that it is, for example `#[repr(u8)]`"))
            }
        }
    }
}
