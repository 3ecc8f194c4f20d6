//! Structs: fields at given displacements, or where C puts them.

use std::ops::Range;

use dtype_runtime::Type;

use super::super::tree::{Expression, Field, Node};
use super::Evaluator;
use crate::problem::{Problem, quoted};

/// One block of a structure.
struct Block {
    length: u64,
    displacement: i64,
    ty: Type,
}

impl Evaluator<'_> {
    pub(super) fn structure(&mut self, fields: &[Field], span: &Range<usize>) -> Option<Type> {
        let mut blocks = Vec::with_capacity(fields.len());
        let mut names: Vec<Option<String>> = Vec::with_capacity(fields.len());
        // The end of the previous field, if it is known.
        let mut end = Some(0);
        for field in fields {
            names.push(field.name.as_ref().and_then(|name| self.field_name(name)));
            let block = self.field(field, end);
            end = block.as_ref().and_then(|block| self.end_of(block, &field.ty));
            blocks.push(block);
        }
        self.check_names(fields, &names);
        let blocks: Vec<Block> = blocks.into_iter().collect::<Option<_>>()?;
        let lengths: Vec<u64> = blocks.iter().map(|block| block.length).collect();
        let displacements: Vec<i64> = blocks.iter().map(|block| block.displacement).collect();
        let types: Vec<Type> = blocks.into_iter().map(|block| block.ty).collect();
        match Type::structure(&lengths, &displacements, &types) {
            Ok(ty) => {
                self.fields.add(&ty, names);
                Some(ty)
            }
            Err(error) => {
                self.wrong(Problem::new(error.to_string(), span.clone(), "in this struct"))
            }
        }
    }

    /// A field; an array type becomes a block with the array's length.
    fn field(&mut self, field: &Field, end: Option<i64>) -> Option<Block> {
        let block = match &field.ty.expression {
            Expression::Array(array) => {
                let (ty, count) = (self.ty(&array.0, "a type"), self.count(&array.1));
                ty.zip(count)
            }
            _ => self.ty(&field.ty, "a type").map(|ty| (ty, 1)),
        };
        let given = field.displacement.as_ref().map(|node| self.offset(node));
        let (ty, length) = block?;
        let displacement = match given {
            Some(displacement) => displacement?,
            // If the end of the previous field is not known, a mistake was reported.
            None => self.behind(end?, &ty, &field.ty)?,
        };
        Some(Block { length, displacement, ty })
    }

    /// The first displacement after `end` that has the alignment of a type.
    fn behind(&mut self, end: i64, ty: &Type, node: &Node) -> Option<i64> {
        let align = i64::try_from(ty.align()).ok()?;
        let beyond = end.rem_euclid(align);
        if beyond == 0 {
            return Some(end);
        }
        let place = end.checked_add(align - beyond);
        if place.is_none() { self.beyond(node) } else { place }
    }

    /// The end of a block: the upper bound of its last instance.
    fn end_of(&mut self, block: &Block, node: &Node) -> Option<i64> {
        let Block { length, displacement, ty } = block;
        let Some(last) = length.checked_sub(1) else { return Some(*displacement) };
        let end = i64::try_from(last)
            .ok()
            .and_then(|last| ty.extent().checked_mul(last))
            .and_then(|reach| reach.max(0).checked_add(ty.ub()))
            .and_then(|end| end.checked_add(*displacement));
        if end.is_none() {
            return self.beyond(node);
        }
        end
    }

    fn beyond<T>(&mut self, node: &Node) -> Option<T> {
        let message = "the end of this field does not fit 64 bits";
        self.wrong(Problem::new(message, node.span.clone(), ""))
    }

    /// The name of a field: a word, or a text in quotes.
    fn field_name(&mut self, place: &Range<usize>) -> Option<String> {
        let text = self.text(place);
        if !text.starts_with('"') {
            return Some(text.to_owned());
        }
        match serde_json::from_str::<String>(text) {
            Ok(name) if !name.is_empty() => Some(name),
            Ok(_) => self.wrong(Problem::new("a name has no characters", place.clone(), "")),
            Err(_) => {
                let problem = Problem::new("not a text as in JSON", place.clone(), "not a name");
                self.wrong(
                    problem.help("its escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u00e9`"),
                )
            }
        }
    }

    /// Checks that names are unique within a struct.
    fn check_names(&mut self, fields: &[Field], names: &[Option<String>]) {
        let mut seen = std::collections::HashMap::new();
        for (field, name) in fields.iter().zip(names) {
            let (Some(place), Some(name)) = (&field.name, name) else { continue };
            if let Some(before) = seen.insert(name, place.clone()) {
                let message = format!("two fields are called {}", quoted(name));
                let problem = Problem::new(message, place.clone(), "again");
                self.report(problem.and(before, "the first one"));
            }
        }
    }
}
