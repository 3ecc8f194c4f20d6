//! The variants of an enum with data, as Rust describes them: each is a struct as long as the enum, and a number tells which one is
//! in use.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use gimli::constants as dw;

use super::layout::{Layouts, alignment, member};
use super::unit::{Entry, Unit};
use dtype_text::structure::{Described, Form, Inside, Kind, Member, Structure, Tag, What};

/// The greatest number of parts of a variant that are searched for the one with the bytes of the number.
const MAX_SEARCHED: usize = 1 << 10;

impl<'a> Layouts<'_, 'a> {
    /// The enum whose variants an entry has; `None` if it is damaged. `outer` is the entry around it.
    pub(super) fn variants(
        &mut self,
        unit: &Rc<Unit<'a>>,
        number: usize,
        part: &Entry<'a>,
        outer: &Entry<'a>,
        size: Option<u64>,
    ) -> Option<Described> {
        let (mut tags, mut members, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for child in unit.children(part.offset).ok()?.iter() {
            match child.tag {
                dw::DW_TAG_member => {
                    self.member(unit, number, child, &mut tags, &mut Vec::new());
                }
                dw::DW_TAG_variant => {
                    let mut inside = Vec::new();
                    for child in unit.children(child.offset).ok()?.iter() {
                        if child.tag == dw::DW_TAG_member {
                            self.member(unit, number, child, &mut inside, &mut Vec::new());
                        }
                    }
                    let variant = match inside.len() {
                        1 => inside.pop()?,
                        _ => nameless(Structure::new(size, None, inside)),
                    };
                    members.push(variant);
                    numbers.push(which(child));
                }
                _ => {}
            }
            if self.is_too_large() {
                return None;
            }
        }
        let is_inside = |member: &Member| {
            let end = member.bytes().map(|bytes| bytes.end);
            end.zip(size).is_some_and(|(end, size)| end <= size)
        };
        if !members.iter().chain(&tags).all(is_inside) {
            return None;
        }
        let mut tag = Tag { numbers, ..Tag::default() };
        if let Some(number) = tags.pop() {
            tag.bytes = number.bytes();
            tag.type_name = Arc::clone(&number.of.name);
            for variant in &mut members {
                let niche = add_tag(variant, &number);
                tag.niche = tag.niche.take().or(niche);
            }
        }
        let structure = Structure::new(size, alignment(outer), members);
        // Variants are in the order of their declaration, as their numbers are.
        Some(self.named(unit, outer, structure.in_form(Form::Enum(tag))))
    }
}

/// The number of a variant; `None` for the one that all other numbers mean.
fn which(variant: &Entry<'_>) -> Option<i128> {
    let value = variant.value(dw::DW_AT_discr_value)?;
    value.udata_value().map(i128::from).or_else(|| value.sdata_value().map(i128::from))
}

fn nameless(structure: Structure) -> Member {
    let (size, align) = (structure.size, structure.align);
    let of = Described::new(What::Structure(Arc::new(structure)), size, align);
    member(None, Some(0), of, Kind::Field)
}

/// Adds the number to a variant that has no field at its bytes; otherwise returns the path of that field.
fn add_tag(variant: &mut Member, number: &Member) -> Option<String> {
    let (Some(bytes), Some(start)) = (number.bytes(), variant.offset) else { return None };
    let of = variant.of.structure()?;
    let is_there = |other: &Range<u64>| {
        other.start.saturating_add(start) < bytes.end
            && bytes.start < other.end.saturating_add(start)
    };
    if !of.members.iter().filter_map(Member::bytes).any(|other| is_there(&other)) {
        let mut members: Vec<Member> =
            of.declared.iter().map(|at| of.members[*at].clone()).collect();
        let offset = bytes.start.checked_sub(start);
        members.push(Member {
            name: Some("(tag)".into()),
            offset,
            kind: Kind::Tag,
            ..number.clone()
        });
        let (name, source) = (of.name.clone(), of.source.clone());
        let whole = Structure::new(of.size, of.align, members).named(name).declared_at(source);
        variant.of.what = What::Structure(Arc::new(whole));
        return None;
    }
    let (leaves, _) = of.leaves(Inside::All, false, MAX_SEARCHED);
    let found = leaves.iter().find(|leaf| {
        let from = leaf.offset.unwrap_or(u64::MAX);
        is_there(&(from..from.saturating_add(leaf.bytes().unwrap_or(0))))
    });
    let name = variant.name.as_deref().unwrap_or_default();
    found.map(|leaf| format!("{name}.{}", leaf.path))
}
