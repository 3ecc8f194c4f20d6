//! The paths of fields, with the names of the notation in the place of numbers.

use std::collections::HashMap;

use dtype_runtime::Type;

use crate::notation::Parsed;

/// What is known of the structure that a type is, or repeats.
struct Structure {
    /// The parts and what they are called, if it is one.
    members: Vec<(Option<String>, Type)>,
}

/// Translates paths such as `0[].1` to `cells[].mass`.
pub(crate) struct FieldPaths<'a> {
    parsed: &'a Parsed,
    /// By where the type is kept. A picture has many fields of one structure.
    structures: HashMap<usize, Structure>,
}

impl<'a> FieldPaths<'a> {
    pub(crate) fn new(parsed: &'a Parsed) -> Self {
        Self { parsed, structures: HashMap::new() }
    }

    /// The path with names, as far as there are names.
    pub(crate) fn named(&mut self, path: &str) -> String {
        let mut at = Some(self.parsed.ty.clone());
        let mut out = String::with_capacity(path.len());
        for (i, part) in path.split('.').enumerate() {
            let dot = if i > 0 { "." } else { "" };
            let digits = part.trim_end_matches("[]");
            // Where a structure in an array is the whole type, the path starts with its brackets.
            let (lead, number) = match digits.strip_prefix("[]") {
                Some(number) => ("[]", number),
                None => ("", digits),
            };
            let member = number.trim_start_matches('.').parse::<usize>().ok().and_then(|number| {
                let ty = at.take()?;
                self.member(&ty, number)
            });
            let (name, ty) = member.unwrap_or((None, None));
            at = ty;
            out += dot;
            out += lead;
            out += name.as_deref().unwrap_or(number);
            out += &part[digits.len()..];
        }
        out
    }

    /// What member of the structure that a type is or repeats is called, and its type.
    fn member(&mut self, ty: &Type, number: usize) -> Option<(Option<String>, Option<Type>)> {
        let key = ty.address().addr();
        if !self.structures.contains_key(&key) {
            let structure = self.structure(ty);
            self.structures.insert(key, structure);
        }
        let structure = self.structures.get(&key)?;
        let (name, ty) = structure.members.get(number)?;
        Some((name.clone(), Some(ty.clone())))
    }

    fn structure(&self, ty: &Type) -> Structure {
        let mut at = ty.clone();
        // Constructors of one type only repeat it or change its bounds.
        let members = loop {
            let Ok(contents) = at.contents() else { break Vec::new() };
            if contents.combiner == dtype_runtime::Combiner::Structure {
                let names = self.parsed.fields.of(&at).unwrap_or(&[]);
                let names = names.iter().cloned().chain(std::iter::repeat(None));
                break names.zip(contents.datatypes).collect();
            }
            match contents.datatypes.into_iter().next() {
                Some(inner) => at = inner,
                None => break Vec::new(),
            }
        };
        Structure { members }
    }
}
