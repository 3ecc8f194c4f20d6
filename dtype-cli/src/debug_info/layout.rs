//! The layouts of types in debug information.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use dtype_runtime::types::{Argument, Combiner, Named};
use dtype_runtime::{Error as TypeError, Type};
use gimli::{AttributeValue, DwAte, DwLang, DwTag, constants as dw};

use super::basic::{basic, of_header};
use super::body::{Body, LeftOut, Virtual, first_bit, left_out, location};
use super::definitions::Definitions;
use super::scopes::{is_structure, is_type};
use super::search::{Found, search};
use super::unit::{Entry, Headers, Place, Reading, Unit, Value};
use dtype_text::declaration::MAX_NESTING;
use dtype_text::declaration::layout::{Layout, Member, structure as build};
use dtype_text::notation::FieldNames;
use dtype_text::structure::{self, Kind, Structure};

/// The greatest number of parts of a type that are named.
const MAX_PARTS: usize = 256;

/// The memory that a type takes, and that each of its members takes beside its name, which is there in several places.
const TYPE: usize = 512;
const MEMBER: usize = 512;
const NAMES: usize = 3;

/// The memory that a hash takes.
const HASH: usize = 64;

/// The greatest number of entries that are read to tell the type of a member from others.
const MAX_HASHED: usize = 16;

/// The greatest number of types of one name that are told apart.
const MAX_DIFFERENT: usize = 256;

const TOO_LARGE: &str = "too large";

const DAMAGED: &str = "damaged in this file";

impl LeftOut {
    /// The bytes of its texts.
    fn bytes(&self) -> usize {
        self.name.len() + self.what.len()
    }
}

/// A type.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    /// The datatype, or else a description of the type.
    pub(super) data: Result<Layout, String>,
    /// The size in bytes; `None` if it is not known.
    pub(super) size: Option<u64>,
    /// The alignment in bytes; `None` if it is not known.
    align: Option<u64>,
    /// The members that are not data.
    pub(super) left_out: Rc<[LeftOut]>,
    /// The virtual base classes, of which a part of a larger object does not know the places.
    pub(super) virtuals: Rc<[Virtual]>,
    /// All members, if the type is a struct or a union.
    pub(super) structure: Option<Arc<Structure>>,
    /// Whether it ends with an array without a length.
    is_open: bool,
}

impl Resolved {
    fn foreign(what: impl Into<String>, size: Option<u64>, align: Option<u64>) -> Self {
        Self {
            data: Err(what.into()),
            size,
            align,
            left_out: Rc::default(),
            virtuals: Rc::default(),
            structure: None,
            is_open: false,
        }
    }

    /// A type of which nothing is known but why.
    fn unknown(why: impl Into<String>) -> Self {
        Self::foreign(why, None, None)
    }

    fn of(layout: Layout) -> Self {
        let (size, align) = (Some(layout.size), Some(layout.align));
        Self { data: Ok(layout), ..Self::foreign("", size, align) }
    }

    /// What a constructor makes, or its error.
    fn made(layout: Result<Layout, TypeError>) -> Self {
        layout.map_or_else(|error| Self::unknown(error.to_string()), Self::of)
    }
}

/// Reads types. Each is read once.
#[derive(Debug)]
pub(super) struct Layouts<'h, 'a> {
    pub(super) headers: &'h Headers<'a>,
    units: HashMap<usize, Option<Rc<Unit<'a>>>>,
    done: HashMap<Place, Rc<Resolved>>,
    /// Of types of members.
    hashes: HashMap<Place, u64>,
    /// Made when a declaration is met for the first time.
    definitions: Option<Rc<Definitions>>,
    pub(super) names: FieldNames,
    depth: usize,
}

impl<'h, 'a> Layouts<'h, 'a> {
    pub(super) fn new(headers: &'h Headers<'a>) -> Self {
        let names = FieldNames::default();
        let (units, done) = (HashMap::new(), HashMap::new());
        Self { headers, units, done, hashes: HashMap::new(), definitions: None, names, depth: 0 }
    }

    pub(super) fn unit(&mut self, number: usize) -> Option<Rc<Unit<'a>>> {
        let read = || {
            self.headers.budget().hold(TYPE).ok()?;
            self.headers.unit(number).ok().map(Rc::new)
        };
        self.units.entry(number).or_insert_with(read).clone()
    }

    /// The type at a place.
    pub(super) fn resolve(&mut self, place: Place) -> Rc<Resolved> {
        if let Some(done) = self.done.get(&place) {
            return Rc::clone(done);
        }
        if self.depth >= MAX_NESTING {
            let what = format!("nested deeper than {MAX_NESTING} levels");
            return Rc::new(Resolved::unknown(what));
        }
        if self.is_too_large() {
            return Rc::new(Resolved::unknown(TOO_LARGE));
        }
        let cycle = Resolved::unknown("a type that contains itself");
        self.done.insert(place, Rc::new(cycle));
        self.depth += 1;
        let resolved = self.unit(place.unit).and_then(|unit| {
            let entry = unit.entry(place.offset).ok()?;
            self.entry(&unit, place.unit, &entry)
        });
        self.depth -= 1;
        let damaged = || Resolved::unknown(DAMAGED);
        let resolved = Rc::new(resolved.unwrap_or_else(damaged));
        self.hold(TYPE + resolved.data.as_ref().err().map_or(0, String::len));
        self.done.insert(place, Rc::clone(&resolved));
        resolved
    }

    /// Whether the budget is used up. What was read until then is not returned.
    fn is_too_large(&self) -> bool {
        self.headers.budget().check().is_err()
    }

    /// Counts memory. In a damaged file, each struct may be inside another one, or be a member of many without a name.
    pub(super) fn hold(&self, bytes: usize) {
        // The result is that of the next `is_too_large`.
        let _ = self.headers.budget().hold(bytes);
    }

    /// Counts work.
    fn work(&self, steps: usize) {
        // As for `hold`.
        let _ = self.headers.budget().work(steps);
    }

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

    fn name(&mut self, place: Place) -> Option<String> {
        let unit = self.unit(place.unit)?;
        let name = unit.name(&unit.entry(place.offset).ok()?)?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    /// The names of the structs that an enum of Rust has as variants, or a union as members.
    pub(super) fn parts(&mut self, of: &Found) -> Vec<String> {
        let Some(unit) = self.unit(of.place.unit) else { return Vec::new() };
        let mut parts = Vec::new();
        let Ok(children) = unit.children(of.place.offset) else { return parts };
        for child in children.iter() {
            let part = match child.tag {
                dw::DW_TAG_structure_type | dw::DW_TAG_class_type => {
                    let own = unit.name(child).map(String::from_utf8_lossy);
                    own.map(|own| format!("{}::{own}", of.name))
                }
                dw::DW_TAG_member if of.tag == dw::DW_TAG_union_type => {
                    let target = child.value(dw::DW_AT_type);
                    let target = target.and_then(|value| self.headers.target(of.place.unit, value));
                    target.and_then(|place| self.name_of_struct(place))
                }
                _ => None,
            };
            parts.extend(part.filter(|part| !parts.contains(part)));
            if parts.len() >= MAX_PARTS {
                break;
            }
        }
        parts
    }

    /// The name of a struct or of a typedef.
    fn name_of_struct(&mut self, place: Place) -> Option<String> {
        let unit = self.unit(place.unit)?;
        let entry = unit.entry(place.offset).ok()?;
        let is_named = is_structure(entry.tag) || entry.tag == dw::DW_TAG_typedef;
        unit.name(&entry)
            .filter(|_| is_named)
            .map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// Whether a typedef gives a struct its only name.
    pub(super) fn is_of_nameless(&mut self, place: Place) -> bool {
        let target = self.unit(place.unit).and_then(|unit| {
            let target = unit.entry(place.offset).ok()?.value(dw::DW_AT_type)?;
            self.headers.target(place.unit, target)
        });
        let Some(target) = target else { return false };
        let Some(unit) = self.unit(target.unit) else { return false };
        let entry = unit.entry(target.offset);
        entry.is_ok_and(|entry| is_structure(entry.tag) && unit.name(&entry).is_none())
    }

    /// The type that an entry has.
    fn type_of(&mut self, unit: usize, entry: &Entry<'a>) -> Rc<Resolved> {
        let Some(value) = entry.value(dw::DW_AT_type) else {
            return Rc::new(Resolved::unknown("of type `void`"));
        };
        if matches!(value, AttributeValue::DebugInfoRefSup(_)) {
            let what = "described in another file, to which `dwz` moved it";
            return Rc::new(Resolved::unknown(what));
        }
        match self.headers.target(unit, value) {
            Some(place) => self.resolve(place),
            None => Rc::new(Resolved::unknown("of a type that the file does not have")),
        }
    }

    /// `None` if the entry is damaged.
    fn entry(&mut self, unit: &Rc<Unit<'a>>, number: usize, entry: &Entry<'a>) -> Option<Resolved> {
        let size = entry.number(dw::DW_AT_byte_size);
        let address = unit.address_size();
        let pointer = |what: &str| Resolved::foreign(what, size.or(Some(address)), power(address));
        let mut resolved = match entry.tag {
            dw::DW_TAG_base_type => of_base(unit, entry, size?),
            dw::DW_TAG_typedef => self.typedef(unit, number, entry),
            dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_restrict_type
            | dw::DW_TAG_immutable_type
            | dw::DW_TAG_packed_type
            | dw::DW_TAG_shared_type => Resolved::clone(&*self.type_of(number, entry)),
            dw::DW_TAG_atomic_type => {
                let mut inner = Resolved::clone(&*self.type_of(number, entry));
                // Compilers align atomic objects to their sizes if there are instructions for that size.
                if let Some(size @ (1 | 2 | 4 | 8 | 16)) = inner.size {
                    inner.align = inner.align.map(|align| align.max(size));
                }
                inner
            }
            dw::DW_TAG_subrange_type if size.is_none() => {
                Resolved::clone(&*self.type_of(number, entry))
            }
            dw::DW_TAG_enumeration_type => self.enumeration(number, entry, size),
            dw::DW_TAG_array_type => self.array(unit, number, entry)?,
            dw::DW_TAG_string_type => {
                match size.filter(|_| entry.value(dw::DW_AT_string_length).is_none()) {
                    Some(size) => {
                        let character = Layout::basic(dtype_runtime::Basic::CChar);
                        Resolved::made(character.array(&[size]))
                    }
                    None => Resolved::unknown("a text whose length is not fixed"),
                }
            }
            tag if is_structure(tag) => self.structure(unit, number, entry, size)?,
            dw::DW_TAG_union_type => {
                let mut members = self.structure(unit, number, entry, size)?;
                members.data = Err("a union".into());
                members
            }
            dw::DW_TAG_pointer_type => pointer("a pointer"),
            dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => pointer("a reference"),
            dw::DW_TAG_ptr_to_member_type => {
                let target = self.headers.target(number, entry.value(dw::DW_AT_type)?);
                let target = target.and_then(|place| unit.entry(place.offset).ok());
                let is_function = target.is_some_and(|to| to.tag == dw::DW_TAG_subroutine_type);
                let words = if is_function { 2 } else { 1 };
                Resolved::foreign("a pointer to a member", Some(words * address), power(address))
            }
            dw::DW_TAG_subroutine_type => Resolved::unknown("a function"),
            tag => Resolved::foreign(unknown(tag), size, None),
        };
        if let Some(align) = alignment(entry).filter(|_| !is_structure(entry.tag)) {
            resolved.align = Some(align);
            if let Some(structure) = &mut resolved.structure {
                Arc::make_mut(structure).align = Some(align);
            }
        }
        Some(resolved)
    }

    fn typedef(&mut self, unit: &Unit<'a>, number: usize, entry: &Entry<'a>) -> Resolved {
        let mut resolved = Resolved::clone(&*self.type_of(number, entry));
        let name = unit.name(entry).and_then(|name| std::str::from_utf8(name).ok());
        if let (Some(name), Ok(layout)) = (name, &mut resolved.data)
            && let Some(Named::Basic(plain)) = layout.ty.named()
            && let Some(basic) = of_header(name, plain)
        {
            *layout = Layout::basic(basic);
        }
        resolved
    }

    /// An enumeration is an integer: the one that the compiler names, or one of the enumeration's size.
    fn enumeration(&mut self, number: usize, entry: &Entry<'a>, size: Option<u64>) -> Resolved {
        if entry.value(dw::DW_AT_type).is_some() {
            return Resolved::clone(&*self.type_of(number, entry));
        }
        let size = size.unwrap_or(0);
        match basic("", dw::DW_ATE_signed, size, None) {
            Ok(basic) => Resolved::of(Layout::basic(basic)),
            Err(_) => Resolved::unknown("an enum without a size"),
        }
    }

    fn array(&mut self, unit: &Unit<'a>, number: usize, entry: &Entry<'a>) -> Option<Resolved> {
        let element = self.type_of(number, entry);
        let elsewhere = [dw::DW_AT_data_location, dw::DW_AT_allocated, dw::DW_AT_associated];
        if elsewhere.iter().any(|name| entry.value(*name).is_some()) {
            let what = "an array whose elements are elsewhere in memory";
            return Some(Resolved::foreign(what, None, power(unit.address_size())));
        }
        let mut lengths = Vec::new();
        for dimension in unit.children(entry.offset).ok()?.iter() {
            if dimension.tag != dw::DW_TAG_subrange_type {
                continue;
            }
            match length(dimension, unit.language) {
                Ok(Some(length)) => lengths.push(length),
                Ok(None) => {
                    let what = "an array without a length, whose elements follow the struct";
                    let open = Resolved::foreign(what, Some(0), element.align);
                    return Some(Resolved { is_open: true, ..open });
                }
                Err(what) => return Some(Resolved::foreign(what, None, element.align)),
            }
        }
        let ordering = entry.value(dw::DW_AT_ordering);
        if ordering == Some(AttributeValue::Ordering(dw::DW_ORD_col_major)) {
            lengths.reverse();
        }
        Some(match &element.data {
            Ok(layout) => {
                let mut array = Resolved::made(layout.array(&lengths));
                let inner = element.left_out.iter();
                let prefix = "[]".repeat(lengths.len());
                self.hold(inner.clone().map(|one| prefix.len() + one.bytes()).sum());
                if self.is_too_large() {
                    return Some(Resolved::unknown(TOO_LARGE));
                }
                array.left_out = inner
                    .map(|one| LeftOut { name: format!("{prefix}.{}", one.name), ..one.clone() })
                    .collect();
                // A vector (whose elements are operands of one instruction) is aligned to its size.
                let vector = array
                    .size
                    .filter(|size| entry.is(dw::DW_AT_GNU_vector) && size.is_power_of_two());
                array.align = vector.or(element.align);
                // A vector of three elements takes the room of four.
                match entry.number(dw::DW_AT_byte_size).filter(|_| entry.is(dw::DW_AT_GNU_vector)) {
                    Some(size) => padded(array, size),
                    None => array,
                }
            }
            Err(what) => {
                let length = lengths.iter().try_fold(1_u64, |all, length| all.checked_mul(*length));
                let size =
                    element.size.zip(length).and_then(|(size, length)| size.checked_mul(length));
                Resolved::foreign(format!("an array; each element is {what}"), size, element.align)
            }
        })
    }

    /// A struct, a class or a union.
    fn structure(
        &mut self,
        unit: &Rc<Unit<'a>>,
        number: usize,
        entry: &Entry<'a>,
        size: Option<u64>,
    ) -> Option<Resolved> {
        if entry.is_declaration() {
            let signature = entry.value(dw::DW_AT_signature);
            let place = signature.and_then(|signature| self.headers.target(number, signature));
            let place = match place {
                Some(place) => Ok(place),
                None => self.definition(Place { unit: number, offset: entry.offset }),
            };
            return Some(
                place
                    .map_or_else(Resolved::unknown, |place| Resolved::clone(&*self.resolve(place))),
            );
        }
        let mut body = Body::default();
        for child in unit.children(entry.offset).ok()?.iter() {
            match child.tag {
                dw::DW_TAG_member | dw::DW_TAG_inheritance => {}
                dw::DW_TAG_variant_part => {
                    let what = "an enum whose variants hold data";
                    return Some(Resolved::foreign(what, size, None));
                }
                _ => continue,
            }
            let is_static = child.is(dw::DW_AT_external) || child.is(dw::DW_AT_declaration);
            if is_static {
                continue;
            }
            self.member(unit, number, child, &mut body);
            if self.is_too_large() {
                return Some(Resolved::foreign(TOO_LARGE, size, None));
            }
        }
        let virtuals: Rc<[Virtual]> = body.virtuals.clone().into();
        let structure = body.structure(size, alignment(entry), unit.language);
        let (Some(size), align) = (size, structure.align) else {
            return Some(Resolved::unknown("of a size that is known only when the program runs"));
        };
        let ends = structure.members.iter().filter(|member| member.offset.is_some());
        let is_inside = ends.clone().all(|member| match member.size {
            Some(_) => member.bytes().is_some_and(|bytes| bytes.end <= size),
            None => true,
        });
        let is_inside = is_inside
            && body.data.iter().all(|member| {
                let bytes = u64::try_from(member.element.extent()).ok();
                let bytes = bytes.and_then(|bytes| bytes.checked_mul(member.length));
                bytes
                    .and_then(|bytes| bytes.checked_add(member.offset))
                    .is_some_and(|end| end <= size)
            });
        if !is_inside {
            return Some(Resolved::foreign(DAMAGED, Some(size), None));
        }
        let built = build(body.data, size, align.unwrap_or(1), &mut self.names);
        let Ok(layout) = &built else { return Some(Resolved::made(built)) };
        if let Some(name) = unit.name(entry) {
            self.hold(name.len());
            self.names.add_type(&layout.ty, &String::from_utf8_lossy(name));
        }
        let is_open = structure.members.last().is_some_and(|member| member.kind == Kind::Open);
        Some(Resolved {
            align,
            left_out: body.left_out.into(),
            virtuals,
            structure: Some(Arc::new(structure)),
            is_open,
            ..Resolved::made(built)
        })
    }

    /// The type that an entry of this or another unit declares; an error says why it is not known.
    fn definition(&mut self, declaration: Place) -> Result<Place, &'static str> {
        const MISSING: &str = "a struct that this file only declares";
        const DIFFERENT: &str = "a struct that is only declared here, and differs in other units";
        let definitions = match self.definitions.take() {
            Some(definitions) => definitions,
            // If the budget is used up, nothing is returned.
            None => Rc::new(Definitions::of(&search(self.headers, None).unwrap_or_default())),
        };
        self.definitions = Some(Rc::clone(&definitions));
        let all = definitions.of_declaration(declaration);
        let is_near = all.iter().any(|other| other.unit == declaration.unit);
        let mut all =
            all.iter().filter(|other| !is_near || other.unit == declaration.unit).copied();
        let first = all.next().ok_or(MISSING)?;
        let shape = self.shape(first);
        if all.any(|other| self.shape(other) != shape) { Err(DIFFERENT) } else { Ok(first) }
    }

    /// Adds a member or a base class.
    fn member(&mut self, unit: &Unit<'a>, number: usize, entry: &Entry<'a>, body: &mut Body) {
        let own = unit.name(entry).map(|name| String::from_utf8_lossy(name).into_owned());
        self.hold(MEMBER + NAMES * own.as_ref().map_or(0, String::len));
        let is_base = entry.tag == dw::DW_TAG_inheritance;
        let of = self.type_of(number, entry);
        if let Some(width) = entry.number(dw::DW_AT_bit_size) {
            let align = alignment(entry).or(of.align);
            return body.add_bits(own, width, first_bit(unit, entry, of.size), of.size, align);
        }
        let virtuality = entry.value(dw::DW_AT_virtuality);
        let target = entry.value(dw::DW_AT_type);
        let target = target.and_then(|value| self.headers.target(number, value));
        let type_name = target.filter(|_| is_base || is_fortran(unit.language));
        let type_name = type_name.and_then(|place| self.name(place));
        if virtuality == Some(AttributeValue::Virtuality(dw::DW_VIRTUALITY_virtual)) {
            let name = type_name.unwrap_or_default().into();
            body.add_virtuals(&[(target, name, of.align)]);
            body.add_virtuals(&of.virtuals);
            return;
        }
        let align = alignment(entry).or(of.align);
        let name = own.clone().filter(|name| !is_number(name, unit.language));
        // Rust names the fields of tuples `__0`.
        let shown = match &own {
            Some(own) if name.is_none() => own.strip_prefix("__").map(str::to_owned),
            Some(own) => Some(own.clone()),
            None => type_name.clone().filter(|_| is_base),
        };
        let Some(offset) = location(unit, entry) else {
            body.leave_out(shown.clone(), None, "at a place that is not fixed".into());
            let kind = Kind::Field;
            body.members.push(structure::Member {
                name: shown,
                offset: None,
                size: of.size,
                align,
                kind,
                base: None,
            });
            return;
        };
        let is_table = entry.is(dw::DW_AT_artificial)
            && own.as_ref().is_some_and(|name| name.starts_with("_vptr"));
        // The type that another one extends comes first, too.
        let is_parent = is_fortran(unit.language) && offset == 0 && type_name == own;
        let is_spliced = is_base || name.is_none() && of.structure.is_some();
        let prefix = if is_spliced { String::new() } else { name.clone().unwrap_or_default() };
        // The base class of an object has its virtual base classes where that object puts them.
        if is_base {
            body.add_virtuals(&of.virtuals);
        }
        let inner = if is_base { &[][..] } else { &*of.virtuals };
        for one in of.left_out.iter().cloned().chain(left_out(inner)) {
            let dot = if prefix.is_empty() || one.name.starts_with('[') { "" } else { "." };
            let inner = format!("{prefix}{dot}{}", one.name);
            self.hold(inner.len() + one.what.len());
            if self.is_too_large() {
                return;
            }
            let offset = one.offset.map(|inner| offset.saturating_add(inner));
            body.leave_out(Some(inner), offset, one.what);
        }
        // An empty class has one byte, which another member may use.
        let is_empty = of.size == Some(1)
            && of.structure.as_ref().is_some_and(|structure| {
                structure.members.iter().all(|member| member.size == Some(0))
            });
        let size = if is_base && is_empty { Some(0) } else { of.size };
        let data_end = |structure: &Structure| {
            let ends = structure.members.iter().filter_map(|member| Some(member.bytes()?.end));
            ends.max().unwrap_or(0)
        };
        let kind = if is_base || is_table || is_parent {
            let data = of.structure.as_deref().map(data_end).or(size);
            Kind::Base { data: data.unwrap_or(0).min(size.unwrap_or(u64::MAX)) }
        } else if of.is_open {
            Kind::Open
        } else {
            Kind::Field
        };
        let base = of.structure.clone().filter(|_| is_base && !is_empty);
        self.work(base.as_ref().map_or(0, |base| base.parts()));
        body.members.push(structure::Member {
            name: shown,
            offset: Some(offset),
            size,
            align,
            kind,
            base,
        });
        if is_base && is_empty && of.data.is_ok() {
            return;
        }
        let what = match &of.data {
            Ok(layout) => return self.add_data(layout, name, offset, is_spliced, body),
            Err(_) if is_table => "the pointer to the virtual functions",
            Err(what) => what,
        };
        body.leave_out(name.or(type_name.filter(|_| is_base)), Some(offset), what.to_owned());
    }

    /// Adds the data of a member, or the members of the type that it is.
    fn add_data(
        &mut self,
        layout: &Layout,
        name: Option<String>,
        offset: u64,
        is_spliced: bool,
        body: &mut Body,
    ) {
        let is_nothing = layout.size == 0 && layout.members.is_empty() && layout.ty.size() == 0;
        if is_nothing && name.is_none() {
            return;
        }
        if !is_spliced {
            let (element, length) = rows(&layout.ty);
            return body.data.push(Member { name, offset, element, length });
        }
        self.hold(layout.members.iter().map(Member::bytes).sum());
        if self.is_too_large() {
            return;
        }
        body.data.extend(layout.members.iter().map(|member| Member {
            offset: member.offset.saturating_add(offset),
            ..member.clone()
        }));
    }
}

fn of_base<'a>(unit: &Unit<'a>, entry: &Entry<'a>, size: u64) -> Resolved {
    let name = unit.name(entry).map_or_else(Default::default, String::from_utf8_lossy);
    if size == 0 {
        return Resolved::made(Layout::nothing());
    }
    let order = if cfg!(target_endian = "big") { dw::DW_END_little } else { dw::DW_END_big };
    if entry.value(dw::DW_AT_endianity) == Some(AttributeValue::Endianity(order)) {
        return Resolved::foreign("a number in the other byte order", Some(size), power(size));
    }
    let encoding = match entry.value(dw::DW_AT_encoding) {
        Some(AttributeValue::Encoding(encoding)) => encoding,
        _ => DwAte(0),
    };
    match basic(&name, encoding, size, unit.language) {
        Ok(basic) => Resolved::of(Layout::basic(basic)),
        Err(what) => Resolved::foreign(what, Some(size), power(size)),
    }
}

/// An alignment of this many bytes.
fn power(size: u64) -> Option<u64> {
    size.is_power_of_two().then_some(size)
}

/// The number of elements in a dimension; `None` if it is open.
fn length(entry: &Entry<'_>, language: Option<DwLang>) -> Result<Option<u64>, &'static str> {
    const LATE: &str = "an array whose length is known only when the program runs";
    let number = |name| match entry.value(name) {
        None => Ok(None),
        Some(AttributeValue::Sdata(number)) => Ok(Some(number.cast_unsigned())),
        Some(value) => value.udata_value().map(Some).ok_or(LATE),
    };
    if let Some(count) = number(dw::DW_AT_count)? {
        return Ok(Some(count));
    }
    let Some(upper) = number(dw::DW_AT_upper_bound)? else { return Ok(None) };
    let first = language.and_then(DwLang::default_lower_bound).map_or(0, |first| first as u64);
    let lower = number(dw::DW_AT_lower_bound)?.unwrap_or(first);
    // An empty array ends before it starts.
    let length = upper.wrapping_sub(lower).wrapping_add(1);
    Ok(Some(if length.cast_signed() < 0 { 0 } else { length }))
}

/// The alignment that an attribute in the source file sets.
fn alignment(entry: &Entry<'_>) -> Option<u64> {
    entry.number(dw::DW_AT_alignment).filter(|align| align.is_power_of_two())
}

fn is_fortran(language: Option<DwLang>) -> bool {
    let all = [dw::DW_LANG_Fortran90, dw::DW_LANG_Fortran95, dw::DW_LANG_Fortran03];
    let newer = [dw::DW_LANG_Fortran08, dw::DW_LANG_Fortran18];
    language.is_some_and(|language| all.contains(&language) || newer.contains(&language))
}

/// Whether this is a number, as Rust names fields of tuples.
fn is_number(name: &str, language: Option<DwLang>) -> bool {
    let number = name.strip_prefix("__");
    let is_number = number.is_some_and(|number| number.parse::<u32>().is_ok());
    language == Some(dw::DW_LANG_Rust) && is_number
}

/// An array as its first dimension and the type that it repeats.
fn rows(ty: &Type) -> (Type, u64) {
    let call = ty.call().filter(|call| call.combiner == Combiner::Contiguous);
    match call.as_ref().map(|call| &*call.arguments) {
        Some([Argument::Count(length), Argument::Type(row)]) => (Type::clone(row), *length),
        _ => (ty.clone(), 1),
    }
}

/// A type with padding at its end, up to a size.
fn padded(resolved: Resolved, size: u64) -> Resolved {
    let Ok(layout) = &resolved.data else { return resolved };
    let Some(extent) = i64::try_from(size).ok().filter(|_| size > layout.size) else {
        return resolved;
    };
    let align = power(size).or(resolved.align).unwrap_or(1);
    let padded = Type::resized(&layout.ty, 0, extent);
    Resolved::made(padded.map(|ty| Layout { ty, size, align, ..layout.clone() }))
}

fn unknown(tag: DwTag) -> String {
    let name = tag.static_string().and_then(|name| name.strip_prefix("DW_TAG_"));
    format!("of an unknown kind ({})", name.unwrap_or("without a name"))
}
