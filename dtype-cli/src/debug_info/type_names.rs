//! The names of types, as the source has them.

use std::sync::Arc;

use gimli::{AttributeValue, DwLang, constants as dw};

use super::layout::{Layouts, length};
use super::unit::{Entry, Place, Unit};
use dtype_text::declaration::MAX_NESTING;

/// The greatest length of a name that is put together from others.
const MAX_NAME: usize = 1 << 12;

/// What a pointer to a function writes in place of its own name.
const POINTER: &str = "(*)";

impl<'a> Layouts<'_, 'a> {
    /// The name of the type at a place.
    pub(super) fn type_name(&mut self, place: Place) -> Arc<str> {
        self.known(place, 0)
    }

    /// Each name is put together once: in a damaged file, functions may have one another as arguments.
    fn known(&mut self, place: Place, depth: usize) -> Arc<str> {
        let known = self.names.as_ref().and_then(|names| names.get(&place));
        if let Some(known) = known {
            return Arc::clone(known);
        }
        let name: Arc<str> = self.spelled(place, depth).into();
        self.hold(name.len());
        if let Some(names) = &mut self.names {
            names.insert(place, Arc::clone(&name));
        }
        name
    }

    /// The own name of the type at a place.
    pub(super) fn name(&mut self, place: Place) -> Option<String> {
        let unit = self.unit(place.unit)?;
        let name = unit.name(&unit.entry(place.offset).ok()?)?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    fn spelled(&mut self, place: Place, depth: usize) -> String {
        self.work(1);
        let is_short = depth < MAX_NESTING && !self.is_too_large();
        let Some(unit) = self.unit(place.unit).filter(|_| is_short) else { return "…".into() };
        let Ok(entry) = unit.entry(place.offset) else { return "…".into() };
        let own = unit.name(&entry).map(String::from_utf8_lossy);
        let word = match entry.tag {
            dw::DW_TAG_structure_type => "struct",
            dw::DW_TAG_class_type => "class",
            dw::DW_TAG_union_type => "union",
            dw::DW_TAG_enumeration_type => "enum",
            _ => "",
        };
        match own {
            Some(own) if !word.is_empty() && is_c(unit.language) => return format!("{word} {own}"),
            Some(own) => return own.into_owned(),
            None if !word.is_empty() => {
                // A declaration may have its name in the unit of its type.
                let signature = entry.value(dw::DW_AT_signature);
                let place = signature.and_then(|value| self.headers.target(place.unit, value));
                return match place {
                    Some(place) => self.known(place, depth + 1).to_string(),
                    None => format!("{word} {{…}}"),
                };
            }
            None => {}
        }
        let name = self.derived(&unit, place.unit, &entry, depth);
        if name.len() <= MAX_NAME { name } else { "…".into() }
    }

    /// The name of a type without one of its own, from that of its parts.
    fn derived(
        &mut self,
        unit: &Unit<'a>,
        number: usize,
        entry: &Entry<'a>,
        depth: usize,
    ) -> String {
        let of = self.part(number, entry, depth);
        let with_sign = |sign: &str| match of.find(POINTER) {
            // A pointer to a pointer to a function.
            Some(at) => format!("{}{sign}{}", &of[..=at], &of[at + 1..]),
            None if of.ends_with(['*', '&']) => format!("{of}{sign}"),
            None => format!("{of} {sign}"),
        };
        let with_word = |word: &str| {
            if of.ends_with('*') { format!("{of}{word}") } else { format!("{word} {of}") }
        };
        match entry.tag {
            dw::DW_TAG_pointer_type => match of.split_once(" (") {
                Some((result, arguments)) if of.ends_with(')') && !of.contains(POINTER) => {
                    format!("{result} {POINTER}({arguments}")
                }
                _ => with_sign("*"),
            },
            dw::DW_TAG_reference_type => with_sign("&"),
            dw::DW_TAG_rvalue_reference_type => with_sign("&&"),
            dw::DW_TAG_const_type => with_word("const"),
            dw::DW_TAG_volatile_type => with_word("volatile"),
            dw::DW_TAG_restrict_type => with_word("restrict"),
            dw::DW_TAG_atomic_type => with_word("_Atomic"),
            dw::DW_TAG_array_type | dw::DW_TAG_subroutine_type => {
                let Ok(children) = unit.children(entry.offset) else { return of };
                let mut lengths = String::new();
                let mut arguments = Vec::new();
                for child in children.iter() {
                    match child.tag {
                        dw::DW_TAG_subrange_type => {
                            let length = length(child, unit.language).ok().flatten();
                            let length = length.map_or_else(String::new, |one| one.to_string());
                            lengths += "[";
                            lengths += &length;
                            lengths += "]";
                        }
                        dw::DW_TAG_formal_parameter => {
                            arguments.push(self.part(number, child, depth));
                        }
                        dw::DW_TAG_unspecified_parameters => arguments.push("...".into()),
                        _ => {}
                    }
                    if lengths.len() + arguments.iter().map(String::len).sum::<usize>() > MAX_NAME {
                        return "…".into();
                    }
                }
                match entry.tag {
                    dw::DW_TAG_array_type => format!("{of}{lengths}"),
                    _ => format!("{of} ({})", arguments.join(", ")),
                }
            }
            dw::DW_TAG_ptr_to_member_type => {
                let class = entry.value(dw::DW_AT_containing_type);
                let class = class.and_then(|value| self.headers.target(number, value));
                let class = class.map(|place| self.known(place, depth + 1));
                format!("{of} {}::*", class.as_deref().unwrap_or_default())
            }
            _ => of,
        }
    }

    /// The name of the type that an entry has.
    fn part(&mut self, number: usize, entry: &Entry<'a>, depth: usize) -> String {
        let Some(value) = entry.value(dw::DW_AT_type) else { return "void".into() };
        if matches!(value, AttributeValue::DebugInfoRefSup(_)) {
            return "(named in another file)".into();
        }
        match self.headers.target(number, value) {
            Some(place) => self.known(place, depth + 1).to_string(),
            None => "…".into(),
        }
    }
}

/// Whether structs are named with the word `struct`.
fn is_c(language: Option<DwLang>) -> bool {
    let all = [dw::DW_LANG_C, dw::DW_LANG_C89, dw::DW_LANG_C99, dw::DW_LANG_C11, dw::DW_LANG_C17];
    language.is_some_and(|language| all.contains(&language))
}
