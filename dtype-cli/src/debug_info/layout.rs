//! The layouts of types in debug information.

use std::collections::HashMap;
use std::rc::Rc;

use dtype_runtime::types::{Argument, Combiner, Named};
use dtype_runtime::{Error as TypeError, Type};
use gimli::{AttributeValue, DwAte, DwLang, DwTag, Operation, constants as dw};

use super::basic::{basic, of_header};
use super::search::{Found, is_structure};
use super::unit::{Entry, Headers, Place, Unit};
use crate::declaration::MAX_NESTING;
use crate::declaration::layout::{Layout, Member, structure};
use crate::notation::{FieldNames, Span};

/// The greatest number of members without data that are named for one struct.
const MAX_LEFT_OUT: usize = 256;

/// The greatest number of parts of a type that are named.
const MAX_PARTS: usize = 256;

/// The memory that a type takes, and that each of its members takes beside its name, which is there in several places.
const TYPE: usize = 512;
const MEMBER: usize = 512;
const NAMES: usize = 3;

const TOO_LARGE: &str = "too large";

/// A member that is not a datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The member's name after those of the structs around it: `cells[].next`. If the member has no name, this ends with a dot,
    /// or is empty.
    pub name: String,
    /// In bytes from the start of the struct.
    pub offset: u64,
    /// A description of its type: `a pointer`.
    pub what: String,
}

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
    /// The size in bytes; `None` if the debug information does not have it.
    pub(super) size: Option<u64>,
    pub(super) align: u64,
    /// The members that are not data.
    pub(super) left_out: Rc<[LeftOut]>,
    /// The bytes of all members, with and without data, if the type is a struct whose layout the compiler chose.
    pub(super) spans: Rc<[Span]>,
}

impl Resolved {
    fn foreign(what: impl Into<String>, size: Option<u64>, align: u64) -> Self {
        Self { data: Err(what.into()), size, align, left_out: Rc::default(), spans: Rc::default() }
    }

    fn of(layout: Layout) -> Self {
        let (size, align) = (Some(layout.size), layout.align);
        Self { data: Ok(layout), size, align, left_out: Rc::default(), spans: Rc::default() }
    }

    /// What a constructor makes, or its error.
    fn made(layout: Result<Layout, TypeError>) -> Self {
        layout.map_or_else(|error| Self::foreign(error.to_string(), None, 1), Self::of)
    }
}

/// Reads types. Each is read once.
#[derive(Debug)]
pub(super) struct Layouts<'h, 'a> {
    headers: &'h Headers<'a>,
    units: HashMap<usize, Option<Rc<Unit<'a>>>>,
    done: HashMap<Place, Rc<Resolved>>,
    pub(super) names: FieldNames,
    depth: usize,
}

impl<'h, 'a> Layouts<'h, 'a> {
    pub(super) fn new(headers: &'h Headers<'a>) -> Self {
        let names = FieldNames::default();
        let (units, done) = (HashMap::new(), HashMap::new());
        Self { headers, units, done, names, depth: 0 }
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
            return Rc::new(Resolved::foreign(what, None, 1));
        }
        if self.is_too_large() {
            return Rc::new(Resolved::foreign(TOO_LARGE, None, 1));
        }
        let cycle = Resolved::foreign("a type that contains itself", None, 1);
        self.done.insert(place, Rc::new(cycle));
        self.depth += 1;
        let resolved = self.unit(place.unit).and_then(|unit| {
            let entry = unit.entry(place.offset).ok()?;
            self.entry(&unit, place.unit, &entry)
        });
        self.depth -= 1;
        let damaged = || Resolved::foreign("damaged in this file", None, 1);
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

    /// The size of a type and the names and places of its members, without their types.
    pub(super) fn shape(&mut self, mut place: Place) -> Vec<(Option<&'a [u8]>, Option<u64>)> {
        for _ in 0..MAX_NESTING {
            let Some(unit) = self.unit(place.unit).filter(|_| !self.is_too_large()) else { break };
            let Ok(entry) = unit.entry(place.offset) else { break };
            let target = entry.value(dw::DW_AT_type).filter(|_| entry.tag == dw::DW_TAG_typedef);
            if let Some(next) = target.and_then(|value| self.headers.target(place.unit, value)) {
                place = next;
                continue;
            }
            let children = unit.children(entry.offset).ok();
            let members = children
                .iter()
                .flat_map(|all| all.iter())
                .filter(|child| child.tag == dw::DW_TAG_member);
            let members = members.map(|child| (unit.name(child), location(&unit, child)));
            return [(None, entry.number(dw::DW_AT_byte_size))]
                .into_iter()
                .chain(members)
                .collect();
        }
        Vec::new()
    }

    /// The names of the structs that an enum of Rust has as variants, or a union as members.
    pub(super) fn parts(&mut self, of: &Found) -> Vec<String> {
        let Some(unit) = self.unit(of.place.unit) else { return Vec::new() };
        let children = unit.children(of.place.offset, &mut self.work).unwrap_or_default();
        let mut parts = Vec::new();
        for child in &children {
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
            return Rc::new(Resolved::foreign("of type `void`", None, 1));
        };
        if matches!(value, AttributeValue::DebugInfoRefSup(_)) {
            let what = "described in another file, to which `dwz` moved it";
            return Rc::new(Resolved::foreign(what, None, 1));
        }
        match self.headers.target(unit, value) {
            Some(place) => self.resolve(place),
            None => Rc::new(Resolved::foreign("of a type that the file does not have", None, 1)),
        }
    }

    /// `None` if the entry is damaged.
    fn entry(&mut self, unit: &Rc<Unit<'a>>, number: usize, entry: &Entry<'a>) -> Option<Resolved> {
        let size = entry.number(dw::DW_AT_byte_size);
        let address = unit.address_size();
        let pointer = |what: &str| Resolved::foreign(what, size.or(Some(address)), address.max(1));
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
                    inner.align = inner.align.max(size);
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
                    None => Resolved::foreign("a text whose length is not fixed", None, 1),
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
                Resolved::foreign("a pointer to a member", Some(words * address), address.max(1))
            }
            dw::DW_TAG_subroutine_type => Resolved::foreign("a function", None, 1),
            tag => Resolved::foreign(unknown(tag), size, 1),
        };
        resolved.align = alignment(entry).unwrap_or(resolved.align);
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
            Err(_) => Resolved::foreign("an enum without a size", Some(size), 1),
        }
    }

    fn array(&mut self, unit: &Unit<'a>, number: usize, entry: &Entry<'a>) -> Option<Resolved> {
        let element = self.type_of(number, entry);
        let elsewhere = [dw::DW_AT_data_location, dw::DW_AT_allocated, dw::DW_AT_associated];
        if elsewhere.iter().any(|name| entry.value(*name).is_some()) {
            let what = "an array whose elements are elsewhere in memory";
            return Some(Resolved::foreign(what, None, unit.address_size()));
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
                    return Some(Resolved::foreign(what, Some(0), element.align));
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
                    return Some(Resolved::foreign(TOO_LARGE, None, 1));
                }
                array.left_out = inner
                    .map(|one| LeftOut { name: format!("{prefix}.{}", one.name), ..one.clone() })
                    .collect();
                // A vector (whose elements are operands of one instruction) is aligned to its size.
                let vector = array
                    .size
                    .filter(|size| entry.is(dw::DW_AT_GNU_vector) && size.is_power_of_two());
                array.align = vector.unwrap_or(element.align);
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
        if entry.is(dw::DW_AT_declaration) {
            if let Some(signature) = entry.value(dw::DW_AT_signature)
                && let Some(place) = self.headers.target(number, signature)
            {
                return Some(Resolved::clone(&*self.resolve(place)));
            }
            let what = "a struct that this file only declares";
            return Some(Resolved::foreign(what, None, 1));
        }
        let size = size?;
        let mut body = Body { align: 1, ..Body::default() };
        for child in unit.children(entry.offset).ok()?.iter() {
            match child.tag {
                dw::DW_TAG_member | dw::DW_TAG_inheritance => {}
                dw::DW_TAG_variant_part => {
                    let what = "an enum whose variants hold data";
                    return Some(Resolved::foreign(what, Some(size), body.align));
                }
                _ => continue,
            }
            let is_static = child.is(dw::DW_AT_external) || child.is(dw::DW_AT_declaration);
            if is_static {
                continue;
            }
            self.member(unit, number, child, &mut body);
            if self.is_too_large() {
                return Some(Resolved::foreign(TOO_LARGE, Some(size), 1));
            }
        }
        let is_inside = body.members.iter().all(|member| {
            let bytes = u64::try_from(member.element.extent()).ok();
            let bytes = bytes.and_then(|bytes| bytes.checked_mul(member.length));
            bytes.and_then(|bytes| bytes.checked_add(member.offset)).is_some_and(|end| end <= size)
        });
        if !is_inside {
            return Some(Resolved::foreign("damaged in this file", Some(size), 1));
        }
        let spans = body.spans(size);
        if spans.iter().any(|span| span.offset % span.align != 0) {
            body.align = 1;
        }
        let built = structure(body.members, size, body.align, &mut self.names);
        let Ok(layout) = &built else { return Some(Resolved::made(built)) };
        if let Some(name) = unit.name(entry) {
            self.hold(name.len());
            self.names.add_type(&layout.ty, &String::from_utf8_lossy(name));
        }
        let (left_out, spans) = (body.left_out.into(), spans.into());
        Some(Resolved { left_out, spans, ..Resolved::made(built) })
    }

    /// Adds a member or a base class.
    fn member(&mut self, unit: &Unit<'a>, number: usize, entry: &Entry<'a>, body: &mut Body) {
        let own = unit.name(entry).map(|name| String::from_utf8_lossy(name).into_owned());
        self.hold(MEMBER + NAMES * own.as_ref().map_or(0, String::len));
        let is_base = entry.tag == dw::DW_TAG_inheritance;
        let of = self.type_of(number, entry);
        if let Some(bits) = entry.number(dw::DW_AT_bit_size) {
            let plural = if bits == 1 { "" } else { "s" };
            let (start, size) = bit_field(unit, entry, bits);
            body.leave_out(own.clone(), start, format!("a bit-field of {bits} bit{plural}"));
            body.add_bits(own, start, size, of.align);
            return;
        }
        let virtuality = entry.value(dw::DW_AT_virtuality);
        let is_virtual = virtuality == Some(AttributeValue::Virtuality(dw::DW_VIRTUALITY_virtual));
        let Some(offset) = location(unit, entry).filter(|_| !is_virtual) else {
            let what =
                if is_virtual { "a virtual base class" } else { "at a place that is not fixed" };
            body.leave_out(own, 0, what.into());
            body.is_unsure = true;
            return;
        };
        let align = alignment(entry).unwrap_or(of.align);
        body.align = body.align.max(align);
        let is_table = entry.is(dw::DW_AT_artificial)
            && own.as_ref().is_some_and(|name| name.starts_with("_vptr"));
        let name = own.filter(|name| !is_number(name, unit.language));
        let is_spliced = is_base || name.is_none() && !of.spans.is_empty();
        let prefix = if is_spliced { String::new() } else { name.clone().unwrap_or_default() };
        for one in &*of.left_out {
            let dot = if prefix.is_empty() || one.name.starts_with('[') { "" } else { "." };
            let inner = format!("{prefix}{dot}{}", one.name);
            self.hold(inner.len() + one.what.len());
            if self.is_too_large() {
                return;
            }
            body.leave_out(Some(inner), offset.saturating_add(one.offset), one.what.clone());
        }
        match &of.data {
            // An empty class has one byte, which another member may use.
            Ok(layout) if is_base && layout.ty.size() == 0 && of.left_out.is_empty() => return,
            Ok(layout)
                if layout.size == 0
                    && layout.members.is_empty()
                    && layout.ty.size() == 0
                    && name.is_none() => {}
            Ok(layout) if is_spliced => {
                self.hold(layout.members.iter().map(Member::bytes).sum());
                if self.is_too_large() {
                    return;
                }
                body.members.extend(layout.members.iter().map(|member| Member {
                    offset: member.offset.saturating_add(offset),
                    ..member.clone()
                }));
            }
            Ok(layout) => {
                let (element, length) = rows(&layout.ty);
                body.members.push(Member { name: name.clone(), offset, element, length });
            }
            Err(_) if is_table => {
                body.leave_out(name.clone(), offset, "the pointer to the virtual functions".into());
            }
            Err(what) => {
                self.hold(what.len());
                body.leave_out(name.clone(), offset, what.clone());
            }
        }
        let size = of.size;
        let name = name.or_else(|| is_base.then(|| "the base class".into()));
        body.placed.push((name, offset, size, align));
    }
}

/// The parts of a struct.
#[derive(Debug, Default)]
struct Body {
    members: Vec<Member>,
    left_out: Vec<LeftOut>,
    /// Each member with its name, its offset, its size, if that is known, and its alignment.
    placed: Vec<(Option<String>, u64, Option<u64>, u64)>,
    align: u64,
    /// Whether the offsets of some members are not known.
    is_unsure: bool,
}

impl Body {
    fn leave_out(&mut self, name: Option<String>, offset: u64, what: String) {
        if self.left_out.len() < MAX_LEFT_OUT {
            let name = name.unwrap_or_default();
            self.left_out.push(LeftOut { name, offset, what });
        }
    }

    /// Adds the bytes of a bit-field. Neighbours that share a byte are one block.
    fn add_bits(&mut self, name: Option<String>, start: u64, size: u64, align: u64) {
        self.align = self.align.max(align);
        let end = start.saturating_add(size);
        match self.placed.last_mut() {
            Some((_, before, Some(bytes), _))
                if *before <= start && start < before.saturating_add(*bytes) =>
            {
                *bytes = (*bytes).max(end - *before);
            }
            _ => {
                let align = if start.is_multiple_of(align) { align } else { 1 };
                self.placed.push((name, start, Some(size), align));
            }
        }
    }

    /// The bytes of the members in the order of their addresses; empty if some are not known.
    fn spans(&self, size: u64) -> Vec<Span> {
        if self.is_unsure {
            return Vec::new();
        }
        let mut placed: Vec<_> = self.placed.iter().collect();
        placed.sort_by_key(|(_, offset, ..)| *offset);
        let ends = placed.iter().skip(1).map(|(_, offset, ..)| *offset).chain([size]);
        placed
            .iter()
            .zip(ends)
            .enumerate()
            .map(|(number, ((name, offset, bytes, align), next))| Span {
                name: name.clone().unwrap_or_else(|| number.to_string()),
                offset: *offset,
                // The debug information does not have the size of a Fortran descriptor.
                size: bytes.unwrap_or_else(|| next.saturating_sub(*offset)),
                align: *align,
            })
            .collect()
    }
}

fn of_base<'a>(unit: &Unit<'a>, entry: &Entry<'a>, size: u64) -> Resolved {
    let name = unit.name(entry).map_or_else(Default::default, String::from_utf8_lossy);
    if size == 0 {
        return Resolved::made(Layout::nothing());
    }
    let order = if cfg!(target_endian = "big") { dw::DW_END_little } else { dw::DW_END_big };
    if entry.value(dw::DW_AT_endianity) == Some(AttributeValue::Endianity(order)) {
        return Resolved::foreign("a number in the other byte order", Some(size), size);
    }
    let encoding = match entry.value(dw::DW_AT_encoding) {
        Some(AttributeValue::Encoding(encoding)) => encoding,
        _ => DwAte(0),
    };
    match basic(&name, encoding, size, unit.language) {
        Ok(basic) => Resolved::of(Layout::basic(basic)),
        Err(what) => Resolved::foreign(what, Some(size), 1),
    }
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

/// The displacement of a member: a number, or the program of DWARF 2 that adds one.
fn location(unit: &Unit<'_>, entry: &Entry<'_>) -> Option<u64> {
    match entry.value(dw::DW_AT_data_member_location) {
        None => Some(0),
        Some(AttributeValue::Exprloc(program)) => {
            let mut operations = program.operations(unit.encoding());
            let first = operations.next().ok()??;
            match (first, operations.next()) {
                (
                    Operation::PlusConstant { value } | Operation::UnsignedConstant { value },
                    Ok(None),
                ) => Some(value),
                _ => None,
            }
        }
        Some(value) => value.udata_value(),
    }
}

/// The first byte of a bit-field and the number of bytes that it has a part of.
fn bit_field(unit: &Unit<'_>, entry: &Entry<'_>, bits: u64) -> (u64, u64) {
    if let Some(bit) = entry.number(dw::DW_AT_data_bit_offset) {
        let end = bit.saturating_add(bits).div_ceil(8);
        return (bit / 8, end - bit / 8);
    }
    // Before DWARF 4, the offset is that of a whole integer.
    let size = entry.number(dw::DW_AT_byte_size).unwrap_or_else(|| bits.div_ceil(8));
    (location(unit, entry).unwrap_or(0), size)
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
    let align = if size.is_power_of_two() { size } else { resolved.align };
    let padded = Type::resized(&layout.ty, 0, extent);
    Resolved::made(padded.map(|ty| Layout {
        ty,
        size,
        align,
        members: [].into(),
        restriction: None,
    }))
}

fn unknown(tag: DwTag) -> String {
    let name = tag.static_string().and_then(|name| name.strip_prefix("DW_TAG_"));
    format!("of an unknown kind ({})", name.unwrap_or("without a name"))
}
