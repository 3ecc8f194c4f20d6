//! The paths of fields, with the names from the notation instead of numbers.

use std::collections::HashMap;

use dtype_runtime::Type;
use dtype_show::{Diagram, View};

use crate::members;

use dtype_text::notation::{Block, FieldNames, Parsed};

/// The maximum number of bytes of the paths of a type's fields, all together. Each path repeats the names of the
/// structs around its field, so they can be far longer than the text of the type.
pub(crate) const MAX_NAME_BYTES: usize = 16 << 20;

/// The picture of a type, with the names of its fields as `shown` writes them, and with the members that are no data. An error is
/// the number of bytes that names have at most, if these have more.
pub(crate) fn picture(
    parsed: &Parsed,
    view: &View,
    shown: fn(&str) -> String,
) -> Result<Diagram, usize> {
    let layout = parsed.fields.layout();
    let mut diagram = if let Some(others) = layout.and_then(members::others) {
        Diagram::with_others(&parsed.ty, &others, view)
    } else {
        let name = layout.and_then(|layout| layout.name.as_deref());
        Diagram::of_type(&parsed.ty, view).named(&name.map(shown).unwrap_or_default())
    };
    if !parsed.fields.is_empty() {
        let mut paths = FieldPaths::of_picture(parsed, &diagram)?.into_iter();
        diagram.rename_fields(|field| shown(&paths.next().unwrap_or_else(|| field.path.clone())));
    }
    Ok(diagram)
}

/// Translates paths such as `0[].1` to `cells[].mass`.
pub(crate) struct FieldPaths<'a> {
    parsed: &'a Parsed,
    /// The members of the structure that a type is or repeats, by the address of the type. A picture has many fields of
    /// one structure.
    structures: HashMap<usize, Vec<Block>>,
}

impl<'a> FieldPaths<'a> {
    pub(crate) fn new(parsed: &'a Parsed) -> Self {
        Self { parsed, structures: HashMap::new() }
    }

    /// The paths of a picture's fields, or the number of bytes that they have at most, if they have more.
    fn of_picture(parsed: &'a Parsed, picture: &Diagram) -> Result<Vec<String>, usize> {
        let mut paths = Self::new(parsed);
        let mut left = MAX_NAME_BYTES;
        let fields = picture.fields_of_datatype().iter().map(|field| {
            let path = paths.named(&field.path);
            left = left.checked_sub(path.len()).ok_or(MAX_NAME_BYTES)?;
            Ok(path)
        });
        fields.collect()
    }

    /// The path with names, if there are any. In a picture's path, the numbers of members are separated by dots, and brackets
    /// mark repetitions.
    pub(crate) fn named(&mut self, path: &str) -> String {
        let mut at = Some(self.parsed.ty.clone());
        let mut out = String::with_capacity(path.len());
        for (i, part) in path.split('.').enumerate() {
            let number = part.trim_end_matches("[]");
            out += if i > 0 { "." } else { "" };
            if number.is_empty() {
                // Here the whole type is repeated.
                out += part;
                continue;
            }
            // The parts of a pair have names of their own.
            let member = number.parse().ok().zip(at.take());
            let member = member.and_then(|(number, ty): (usize, Type)| self.member(&ty, number));
            let (name, ty) = member.unzip();
            at = ty;
            out += name.flatten().as_deref().unwrap_or(number);
            out += &part[number.len()..];
        }
        out
    }

    /// The name and the type of a structure's member. A type is that structure, or repeats it.
    fn member(&mut self, ty: &Type, number: usize) -> Option<(Option<String>, Type)> {
        let names = &self.parsed.fields;
        let key = ty.as_ptr().addr();
        let members = self.structures.entry(key).or_insert_with(|| members(names, ty));
        members.get(number).map(|member| (member.name.clone(), member.ty.clone()))
    }
}

fn members(names: &FieldNames, ty: &Type) -> Vec<Block> {
    let mut at = ty.clone();
    // Constructors with one type argument only repeat it or change its bounds.
    loop {
        if let Some(members) = names.members(&at) {
            return members;
        }
        let inner = at.call().and_then(|call| call.types().next().map(|inner| Type::clone(inner)));
        match inner {
            Some(inner) => at = inner,
            None => return Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dtype_text::notation::parse;

    #[test]
    fn names_take_the_place_of_numbers() {
        let parsed = parse(
            "let cell = struct{mass: f64, spin: struct{x: u8, u8}};
             vector(2, 1, 3, struct{id: u32, cells: [cell; 3], struct{last: dup(cell)}, MPI_2INT})",
        );
        let parsed = parsed.unwrap();
        let paths: Vec<String> = {
            let mut paths = FieldPaths::new(&parsed);
            let picture = Diagram::of_type(&parsed.ty, &dtype_show::View::default());
            picture.fields().iter().map(|field| paths.named(&field.path)).collect()
        };
        assert_eq!(
            paths,
            [
                "[].id",
                "[].cells[].mass",
                "[].cells[].spin.x",
                "[].cells[].spin.1",
                "[].2.last.mass",
                "[].2.last.spin.x",
                "[].2.last.spin.1",
                "[].3.value",
                "[].3.index",
            ]
        );
    }
}
