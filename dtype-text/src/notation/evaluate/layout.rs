//! Structs: fields at given displacements, or where C puts them.

use std::collections::HashMap;
use std::ops::Range;

use dtype_runtime::Type;

use super::super::fields::Block;
use super::super::tree::{Expression, Field, Node};
use super::Evaluator;
use crate::problem::{Problem, quoted};

impl Evaluator<'_> {
    pub(super) fn structure(&mut self, fields: &[Field], span: &Range<usize>) -> Option<Type> {
        let mut blocks = Vec::with_capacity(fields.len());
        let mut names = HashMap::new();
        // The end of the previous field, if it is known.
        let mut end = Some(0);
        for field in fields {
            let name = field.name.as_ref().and_then(|place| self.field_name(place, &mut names));
            let block = self.field(field, name, end);
            end = block.as_ref().and_then(|block| self.end_of(block, &field.ty));
            blocks.push(block);
        }
        let blocks: Vec<Block> = blocks.into_iter().collect::<Option<_>>()?;
        match self.fields.structure(blocks) {
            Ok(ty) => Some(ty),
            Err(error) => {
                self.wrong(Problem::new(error.to_string(), span.clone(), "in this struct"))
            }
        }
    }

    /// A field; an array type becomes a block with the array's length.
    fn field(&mut self, field: &Field, name: Option<String>, end: Option<i64>) -> Option<Block> {
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
        Some(Block { name, length, displacement, ty })
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
        let Block { length, displacement, ty, .. } = block;
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

    /// The name of a field: a word, or a text in quotes. `names` are the names of the struct so far.
    fn field_name(
        &mut self,
        place: &Range<usize>,
        names: &mut HashMap<String, Range<usize>>,
    ) -> Option<String> {
        let text = self.text(place);
        let name = if text.starts_with('"') {
            match unquoted(text) {
                Some(name) if !name.is_empty() => name,
                Some(_) => {
                    return self.wrong(Problem::new("a name has no characters", place.clone(), ""));
                }
                None => {
                    let message = "not a text as in JSON";
                    let problem = Problem::new(message, place.clone(), "not a name");
                    let help = "its escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u00e9`";
                    return self.wrong(problem.help(help));
                }
            }
        } else {
            text.to_owned()
        };
        if let Some(before) = names.insert(name.clone(), place.clone()) {
            let message = format!("two fields are called {}", quoted(&name));
            let problem = Problem::new(message, place.clone(), "again");
            self.report(problem.and(before, "the first one"));
        }
        Some(name)
    }
}

/// The characters of a text in double quotes as in JSON.
fn unquoted(text: &str) -> Option<String> {
    let mut units = Vec::new();
    let mut chars = text.strip_prefix('"')?.strip_suffix('"')?.chars();
    while let Some(char) = chars.next() {
        let char = match char {
            '\\' => match chars.next()? {
                char @ ('"' | '\\' | '/') => char,
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let digits: String = chars.by_ref().take(4).collect();
                    let is_hex = digits.len() == 4 && digits.chars().all(|c| c.is_ascii_hexdigit());
                    units.push(u16::from_str_radix(&digits, 16).ok().filter(|_| is_hex)?);
                    continue;
                }
                _ => return None,
            },
            '"' | ..' ' => return None,
            char => char,
        };
        units.extend(char.encode_utf16(&mut [0; 2]).iter());
    }
    String::from_utf16(&units).ok()
}
