//! What tells types of one name apart.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

use gimli::{AttributeValue, constants as dw};

use super::layout::Layouts;
use super::place::{first_bit, location};
use super::scopes::is_type;
use super::search::Found;
use super::unit::{Place, Reading, Value};
use dtype_text::declaration::MAX_NESTING;

/// The memory that a hash takes.
const HASH: usize = 64;

/// The greatest number of entries that are read to tell the type of a member from others.
const MAX_HASHED: usize = 16;

/// The greatest number of types of one name that are told apart.
const MAX_DIFFERENT: usize = 256;

impl<'a> Layouts<'_, 'a> {
    /// What tells types of one name apart: a hash of the size, and of the names, the places and the types of the members.
    pub(super) fn shape(&mut self, mut place: Place) -> u64 {
        let mut hasher = DefaultHasher::new();
        for _ in 0..MAX_NESTING {
            let Some(unit) = self.unit(place.unit).filter(|_| !self.is_too_large()) else { break };
            let Ok(entry) = unit.entry(place.offset) else { break };
            let target = entry.value(dw::DW_AT_type).filter(|_| entry.tag == dw::DW_TAG_typedef);
            if let Some(next) = target.and_then(|value| self.headers.target(place.unit, value)) {
                place = next;
                continue;
            }
            entry.number(dw::DW_AT_byte_size).hash(&mut hasher);
            let reading = |tag| match tag {
                dw::DW_TAG_member | dw::DW_TAG_inheritance => Reading::Whole,
                _ => Reading::Tag,
            };
            let mut types = Vec::new();
            // What cannot be read is as far as the same.
            let _ = unit.entries(Some(place.offset), reading, |depth, child| {
                if depth == 0 && child.offset != place.offset {
                    return ControlFlow::Break(());
                }
                if depth == 1 && reading(child.tag) == Reading::Whole {
                    let width = child.number(dw::DW_AT_bit_size);
                    (unit.name(child), location(&unit, child), width).hash(&mut hasher);
                    if width.is_some() {
                        first_bit(&unit, child, None).hash(&mut hasher);
                    }
                    types.push(child.value(dw::DW_AT_type));
                }
                ControlFlow::Continue(())
            });
            for value in types.into_iter().flatten() {
                self.type_hash(place.unit, value).hash(&mut hasher);
            }
            break;
        }
        hasher.finish()
    }

    /// The types that are not the same as one before.
    pub(super) fn different<'s>(&mut self, all: impl Iterator<Item = &'s Found>) -> Vec<&'s Found> {
        // A path names one type in a program in Rust, which has a copy of it in many units.
        let mut paths = HashSet::new();
        let mut is_new =
            |one: &&Found| !one.is_rust || paths.insert((one.name.clone(), one.size, one.line));
        let all: Vec<&Found> = all.filter(|one| is_new(one)).collect();
        if all.len() < 2 {
            return all;
        }
        let mut seen = HashSet::new();
        let mut different = Vec::new();
        for one in all {
            if different.len() < MAX_DIFFERENT && seen.insert((&one.name, self.shape(one.place))) {
                different.push(one);
            }
        }
        different
    }

    /// A hash of a member's type, as far as compilers agree on it: the name of a struct, the encoding of a number, and what is
    /// around them.
    fn type_hash(&mut self, number: usize, value: Value<'a>) -> Option<u64> {
        let first = self.headers.target(number, value)?;
        if let Some(hash) = self.hashes.get(&first) {
            return Some(*hash);
        }
        let mut hasher = DefaultHasher::new();
        let mut next = Some(first);
        for _ in 0..MAX_HASHED {
            let Some(place) = next else { break };
            let Some(unit) = self.unit(place.unit) else { break };
            let Ok(entry) = unit.entry(place.offset) else { break };
            match entry.tag {
                dw::DW_TAG_typedef | dw::DW_TAG_const_type | dw::DW_TAG_volatile_type => {}
                dw::DW_TAG_base_type => {
                    let encoding = match entry.value(dw::DW_AT_encoding) {
                        Some(AttributeValue::Encoding(encoding)) => encoding.0,
                        _ => 0,
                    };
                    (encoding, entry.number(dw::DW_AT_byte_size)).hash(&mut hasher);
                }
                tag if is_type(tag) => {
                    let is_class = tag == dw::DW_TAG_class_type;
                    let tag = if is_class { dw::DW_TAG_structure_type } else { tag };
                    (tag.0, unit.name(&entry)).hash(&mut hasher);
                    break;
                }
                tag => tag.0.hash(&mut hasher),
            }
            next = entry
                .value(dw::DW_AT_type)
                .and_then(|value| self.headers.target(place.unit, value));
        }
        let hash = hasher.finish();
        self.hold(HASH);
        self.hashes.insert(first, hash);
        Some(hash)
    }
}
