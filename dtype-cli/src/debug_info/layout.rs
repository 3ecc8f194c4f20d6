//! The layouts of types in debug information.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use dtype_runtime::Basic;
use gimli::{AttributeValue, DwAte, DwLang, DwTag, constants as dw};

use super::basic::{basic, of_header};
use super::definitions::Definitions;
use super::place::{first_bit, location};
use super::scopes::is_structure;
use super::search::search;
use super::unit::{Entry, Headers, Place, Unit};
use dtype_text::declaration::MAX_NESTING;
use dtype_text::structure::{Described, Kind, Member, Source, Structure, What};

/// The greatest number of virtual base classes of one object.
const MAX_VIRTUAL: usize = 256;

/// The memory that a type takes, and that each of its members takes beside its name, which is there in several places.
const TYPE: usize = 512;
const MEMBER: usize = 512;
const NAMES: usize = 3;

pub(super) const TOO_LARGE: &str = "too large";

const DAMAGED: &str = "damaged in this file";

/// A type of which nothing is known but why.
fn unknown(why: impl Into<Arc<str>>) -> Described {
    Described::other(why, None, None)
}

/// Reads types. Each is read once.
#[derive(Debug)]
pub(super) struct Layouts<'h, 'a> {
    pub(super) headers: &'h Headers<'a>,
    units: HashMap<usize, Option<Rc<Unit<'a>>>>,
    done: HashMap<Place, Described>,
    /// Of types of members.
    pub(super) hashes: HashMap<Place, u64>,
    /// Of types, if they are wanted.
    pub(super) names: Option<HashMap<Place, Arc<str>>>,
    /// Made when a declaration is met for the first time.
    definitions: Option<Rc<Definitions>>,
    depth: usize,
}

impl<'h, 'a> Layouts<'h, 'a> {
    /// A reader; the names of the types of members are read only if they are wanted.
    pub(super) fn new(headers: &'h Headers<'a>, with_names: bool) -> Self {
        Self {
            headers,
            units: HashMap::new(),
            done: HashMap::new(),
            hashes: HashMap::new(),
            names: with_names.then(HashMap::new),
            definitions: None,
            depth: 0,
        }
    }

    pub(super) fn unit(&mut self, number: usize) -> Option<Rc<Unit<'a>>> {
        let read = || {
            self.headers.budget().hold(TYPE).ok()?;
            self.headers.unit(number).ok().map(Rc::new)
        };
        self.units.entry(number).or_insert_with(read).clone()
    }

    /// The type at a place.
    pub(super) fn resolve(&mut self, place: Place) -> Described {
        if let Some(done) = self.done.get(&place) {
            return done.clone();
        }
        if self.depth >= MAX_NESTING {
            return unknown(format!("nested deeper than {MAX_NESTING} levels"));
        }
        if self.is_too_large() {
            return unknown(TOO_LARGE);
        }
        self.done.insert(place, unknown("a type that contains itself"));
        self.depth += 1;
        let resolved = self.unit(place.unit).and_then(|unit| {
            let entry = unit.entry(place.offset).ok()?;
            self.entry(&unit, place.unit, &entry)
        });
        self.depth -= 1;
        let mut resolved = resolved.unwrap_or_else(|| unknown(DAMAGED));
        if self.names.is_some() {
            resolved.name = self.type_name(place);
        }
        self.hold(TYPE);
        self.done.insert(place, resolved.clone());
        resolved
    }

    /// Whether the budget is used up. What was read until then is not returned.
    pub(super) fn is_too_large(&self) -> bool {
        self.headers.budget().check().is_err()
    }

    /// Counts memory. In a damaged file, each struct may be inside another one, or be a member of many without a name.
    pub(super) fn hold(&self, bytes: usize) {
        // The result is that of the next `is_too_large`.
        let _ = self.headers.budget().hold(bytes);
    }

    /// Counts work.
    pub(super) fn work(&self, steps: usize) {
        // As for `hold`.
        let _ = self.headers.budget().work(steps);
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
    fn type_of(&mut self, unit: usize, entry: &Entry<'a>) -> Described {
        let Some(value) = entry.value(dw::DW_AT_type) else {
            return unknown("of type `void`");
        };
        if matches!(value, AttributeValue::DebugInfoRefSup(_)) {
            return unknown("described in another file, to which `dwz` moved it");
        }
        match self.headers.target(unit, value) {
            Some(place) => self.resolve(place),
            None => unknown("of a type that the file does not have"),
        }
    }

    /// `None` if the entry is damaged.
    fn entry(
        &mut self,
        unit: &Rc<Unit<'a>>,
        number: usize,
        entry: &Entry<'a>,
    ) -> Option<Described> {
        let size = entry.number(dw::DW_AT_byte_size);
        let address = unit.address_size();
        let pointer = |what: &str| Described::other(what, size.or(Some(address)), power(address));
        let mut resolved = match entry.tag {
            dw::DW_TAG_base_type => of_base(unit, entry, size?),
            dw::DW_TAG_typedef => {
                let mut resolved = self.type_of(number, entry);
                let name = unit.name(entry).and_then(|name| std::str::from_utf8(name).ok());
                if let (Some(name), What::Basic(plain)) = (name, &resolved.what)
                    && let Some(basic) = of_header(name, *plain)
                {
                    resolved = Described::basic(basic);
                }
                resolved
            }
            dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_restrict_type
            | dw::DW_TAG_immutable_type
            | dw::DW_TAG_packed_type
            | dw::DW_TAG_shared_type => self.type_of(number, entry),
            dw::DW_TAG_atomic_type => {
                let mut inner = self.type_of(number, entry);
                // Compilers align atomic objects to their sizes if there are instructions for that size.
                if let Some(size @ (1 | 2 | 4 | 8 | 16)) = inner.size {
                    inner.align = inner.align.map(|align| align.max(size));
                }
                inner
            }
            dw::DW_TAG_subrange_type if size.is_none() => self.type_of(number, entry),
            dw::DW_TAG_enumeration_type => self.enumeration(number, entry, size),
            dw::DW_TAG_array_type => self.array(unit, number, entry)?,
            dw::DW_TAG_string_type => {
                match size.filter(|_| entry.value(dw::DW_AT_string_length).is_none()) {
                    Some(size) => Described::basic(Basic::CChar).array(vec![size]),
                    None => unknown("a text whose length is not fixed"),
                }
            }
            tag if is_structure(tag) || tag == dw::DW_TAG_union_type => {
                self.structure(unit, number, entry, size)?
            }
            dw::DW_TAG_pointer_type => pointer("a pointer"),
            dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => pointer("a reference"),
            dw::DW_TAG_ptr_to_member_type => {
                let target = self.headers.target(number, entry.value(dw::DW_AT_type)?);
                let target = target.and_then(|place| unit.entry(place.offset).ok());
                let is_function = target.is_some_and(|to| to.tag == dw::DW_TAG_subroutine_type);
                let words = if is_function { 2 } else { 1 };
                Described::other("a pointer to a member", Some(words * address), power(address))
            }
            dw::DW_TAG_subroutine_type => unknown("a function"),
            tag => Described::other(unknown_kind(tag), size, None),
        };
        if let Some(align) = alignment(entry).filter(|_| !is_structure(entry.tag)) {
            resolved.align = Some(align);
            if let What::Structure(structure) = &mut resolved.what {
                Arc::make_mut(structure).align = Some(align);
            }
        }
        Some(resolved)
    }

    /// An enumeration is an integer: the one that the compiler names, or one of the enumeration's size.
    fn enumeration(&mut self, number: usize, entry: &Entry<'a>, size: Option<u64>) -> Described {
        if entry.value(dw::DW_AT_type).is_some() {
            return self.type_of(number, entry);
        }
        match basic("", dw::DW_ATE_signed, size.unwrap_or(0), None) {
            Ok(basic) => Described::basic(basic),
            Err(_) => unknown("an enum without a size"),
        }
    }

    fn array(&mut self, unit: &Unit<'a>, number: usize, entry: &Entry<'a>) -> Option<Described> {
        let element = self.type_of(number, entry);
        let elsewhere = [dw::DW_AT_data_location, dw::DW_AT_allocated, dw::DW_AT_associated];
        if elsewhere.iter().any(|name| entry.value(*name).is_some()) {
            let what = "an array whose elements are elsewhere in memory";
            return Some(Described::other(what, None, power(unit.address_size())));
        }
        let mut lengths = Vec::new();
        for dimension in unit.children(entry.offset).ok()?.iter() {
            if dimension.tag != dw::DW_TAG_subrange_type {
                continue;
            }
            match length(dimension, unit.language) {
                Ok(Some(length)) => lengths.push(length),
                Ok(None) => {
                    let align = element.align;
                    return Some(Described::new(What::Open(Arc::new(element)), Some(0), align));
                }
                Err(what) => return Some(Described::other(what, None, element.align)),
            }
        }
        let ordering = entry.value(dw::DW_AT_ordering);
        if ordering == Some(AttributeValue::Ordering(dw::DW_ORD_col_major)) {
            lengths.reverse();
        }
        self.hold(lengths.len() * size_of::<u64>());
        let is_data = matches!(element.what, What::Basic(_));
        let mut array = element.array(lengths);
        // A vector (whose elements are operands of one instruction) is aligned to its size, and one of three elements takes
        // the room of four.
        if entry.is(dw::DW_AT_GNU_vector) && is_data {
            let room = entry.number(dw::DW_AT_byte_size).filter(|size| Some(*size) > array.size);
            array.size = room.or(array.size);
            array.align = array.size.and_then(power).or(array.align);
        }
        Some(array)
    }

    /// A struct, a class, a union, or an enum of Rust.
    fn structure(
        &mut self,
        unit: &Rc<Unit<'a>>,
        number: usize,
        entry: &Entry<'a>,
        size: Option<u64>,
    ) -> Option<Described> {
        if entry.is_declaration() {
            let signature = entry.value(dw::DW_AT_signature);
            let place = signature.and_then(|signature| self.headers.target(number, signature));
            let place = match place {
                Some(place) => Ok(place),
                None => self.definition(Place { unit: number, offset: entry.offset }),
            };
            return Some(place.map_or_else(unknown, |place| self.resolve(place)));
        }
        let mut members = Vec::new();
        let mut virtuals = Vec::new();
        let mut variants = None;
        for child in unit.children(entry.offset).ok()?.iter() {
            let is_static = child.is(dw::DW_AT_external) || child.is(dw::DW_AT_declaration);
            match child.tag {
                dw::DW_TAG_member | dw::DW_TAG_inheritance if !is_static => {
                    self.member(unit, number, child, &mut members, &mut virtuals);
                }
                // A list of sizes has nothing of the variants.
                dw::DW_TAG_variant_part if self.names.is_none() => {
                    let what = "an enum whose variants hold data";
                    return Some(Described::other(what, size, alignment(entry)));
                }
                dw::DW_TAG_variant_part => {
                    variants = self.variants(unit, number, child, entry, size);
                }
                _ => continue,
            }
            if self.is_too_large() {
                return Some(Described::other(TOO_LARGE, size, None));
            }
        }
        if let Some(variants) = variants {
            if members.is_empty() {
                return Some(variants);
            }
            members.push(member(None, Some(0), variants, Kind::Field));
        }
        // In C, the last member may also be an array of length 0 in place of one without a length.
        if let Some(last) = members.last_mut()
            && (last.size, last.kind) == (Some(0), Kind::Field)
            && unit.language != Some(dw::DW_LANG_Rust)
        {
            last.kind = Kind::Open;
        }
        members.append(&mut virtuals);
        if unit.language == Some(dw::DW_LANG_Rust) && unit.name(entry).is_some_and(has_optional) {
            for member in &mut members {
                member.of = initialized(member.of.clone());
            }
        }
        let Some(size) = size else {
            return Some(unknown("of a size that is known only when the program runs"));
        };
        let is_inside = members.iter().filter(|member| member.offset.is_some()).all(|member| {
            member.size.is_none() || member.bytes().is_some_and(|bytes| bytes.end <= size)
        });
        if !is_inside {
            return Some(Described::other(DAMAGED, Some(size), None));
        }
        Some(self.named(unit, entry, Structure::new(Some(size), alignment(entry), members)))
    }

    /// A struct with what its entry says beside its members.
    pub(super) fn named(
        &mut self,
        unit: &Unit<'a>,
        entry: &Entry<'a>,
        structure: Structure,
    ) -> Described {
        let name = unit.name(entry).map(String::from_utf8_lossy);
        self.hold(name.as_ref().map_or(0, |name| name.len()));
        let line = entry.number(dw::DW_AT_decl_line).filter(|line| *line > 0);
        let source = line.map(|line| Source { file: unit.file(entry), line });
        let structure = structure.named(name.map(Into::into)).declared_at(source);
        let structure = match entry.tag {
            dw::DW_TAG_union_type => structure.in_form(dtype_text::structure::Form::Union),
            _ => structure,
        };
        let (size, align) = (structure.size, structure.align);
        Described::new(What::Structure(Arc::new(structure)), size, align)
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
    pub(super) fn member(
        &mut self,
        unit: &Unit<'a>,
        number: usize,
        entry: &Entry<'a>,
        members: &mut Vec<Member>,
        virtuals: &mut Vec<Member>,
    ) {
        let own = unit.name(entry).map(|name| String::from_utf8_lossy(name).into_owned());
        self.hold(MEMBER + NAMES * own.as_ref().map_or(0, String::len));
        let line = entry.number(dw::DW_AT_decl_line);
        let is_base = entry.tag == dw::DW_TAG_inheritance;
        let of = self.type_of(number, entry);
        let align = alignment(entry).or(of.align);
        if let Some(width) = entry.number(dw::DW_AT_bit_size) {
            let place = first_bit(unit, entry, of.size);
            let first = place.map_or(0, |(_, bit)| bit);
            let kind = Kind::Bits { first, width, unit: of.size.unwrap_or(0) };
            let size = width.checked_add(first.into()).map(|bits| bits.div_ceil(8));
            let offset = place.map(|(byte, _)| byte);
            members.push(Member { size, align, line, ..member(own, offset, of, kind) });
            return;
        }
        let target = entry.value(dw::DW_AT_type).filter(|_| is_base || is_fortran(unit.language));
        let target = target.and_then(|value| self.headers.target(number, value));
        let type_name = target.and_then(|place| self.name(place));
        let virtuality = entry.value(dw::DW_AT_virtuality);
        if virtuality == Some(AttributeValue::Virtuality(dw::DW_VIRTUALITY_virtual)) {
            let inner = of.structure().map(Arc::clone);
            let kind = Kind::Base { data: 0, is_class: true };
            add_virtual(virtuals, Member { size: None, ..member(type_name, None, of, kind) });
            self.add_virtuals(inner.as_deref(), virtuals);
            return;
        }
        // Rust names the fields of tuples `__0`.
        let name = match own {
            Some(own) if is_number(&own, unit.language) => {
                own.strip_prefix("__").map(str::to_owned)
            }
            Some(own) => Some(own),
            None => type_name.clone().filter(|_| is_base),
        };
        let offset = location(unit, entry);
        let is_table = entry.is(dw::DW_AT_artificial)
            && name.as_ref().is_some_and(|name| name.starts_with("_vptr"));
        // The type that another one extends comes first, too.
        let is_parent = is_fortran(unit.language) && offset == Some(0) && type_name == name;
        if is_base {
            self.add_virtuals(of.structure().map(Arc::clone).as_deref(), virtuals);
        }
        let structure = of.structure();
        // An empty class has one byte, which another member may use.
        let is_empty = of.size == Some(1)
            && structure.is_some_and(|one| one.members.iter().all(|member| member.size == Some(0)));
        let size = if is_base && is_empty { Some(0) } else { of.size };
        let is_open = |structure: &Arc<Structure>| {
            structure.members.last().is_some_and(|member| member.kind == Kind::Open)
        };
        let kind = if is_base || is_table || is_parent {
            let ends = |structure: &Arc<Structure>| {
                structure.members.iter().filter_map(|member| Some(member.bytes()?.end)).max()
            };
            let data = structure.map(|structure| ends(structure).unwrap_or(0)).or(size);
            let data = data.unwrap_or(0).min(size.unwrap_or(u64::MAX));
            Kind::Base { data, is_class: is_base }
        } else if matches!(of.what, What::Open(_)) || structure.is_some_and(is_open) {
            Kind::Open
        } else {
            Kind::Field
        };
        if is_base {
            self.work(structure.map_or(0, |base| base.parts()));
        }
        let table = || What::Other("the pointer to the virtual functions".into());
        let of = if is_table { Described { what: table(), ..of } } else { of };
        members.push(Member { size, align, line, ..member(name, offset, of, kind) });
    }

    /// The base class of an object has its virtual base classes where that object puts them, each once.
    fn add_virtuals(&mut self, base: Option<&Structure>, virtuals: &mut Vec<Member>) {
        let members = base.map_or(&[][..], |base| &base.members);
        for member in members.iter().filter(|member| member.is_virtual()) {
            self.work(virtuals.len());
            add_virtual(virtuals, member.clone());
        }
    }
}

fn add_virtual(virtuals: &mut Vec<Member>, one: Member) {
    let is_same = |other: &Member| {
        let types = one.of.structure().zip(other.of.structure());
        one.name == other.name && types.is_none_or(|(one, other)| Arc::ptr_eq(one, other))
    };
    if virtuals.len() < MAX_VIRTUAL && !virtuals.iter().any(is_same) {
        virtuals.push(one);
    }
}

/// Whether a type of dtype-runtime has values that need not be in use, and are initialized all the same.
fn has_optional(name: &[u8]) -> bool {
    [&b"Maybe<"[..], b"FixedVec<"].iter().any(|start| name.starts_with(start))
}

/// The type inside a `MaybeUninit`, or inside each element of an array of these.
fn initialized(of: Described) -> Described {
    match &of.what {
        What::Array(array) => {
            let inner = initialized(array.element.clone());
            let array = inner.array(array.lengths.clone());
            Described { name: of.name, ..array }
        }
        What::Structure(structure) => {
            let is_wrapper = |name: &Arc<str>| {
                ["MaybeUninit<", "ManuallyDrop<", "MaybeDangling<"]
                    .iter()
                    .any(|start| name.starts_with(start))
            };
            let is_same = |member: &&Member| member.offset == Some(0) && member.size == of.size;
            match structure.members.iter().find(is_same) {
                Some(inner) if structure.name.as_ref().is_some_and(is_wrapper) => {
                    initialized(inner.of.clone())
                }
                _ => of,
            }
        }
        _ => of,
    }
}

/// A member with the size and the alignment of its type.
pub(super) fn member(
    name: Option<String>,
    offset: Option<u64>,
    of: Described,
    kind: Kind,
) -> Member {
    Member { name, offset, size: of.size, align: of.align, kind, of, line: None }
}

fn of_base<'a>(unit: &Unit<'a>, entry: &Entry<'a>, size: u64) -> Described {
    let name = unit.name(entry).map_or_else(Default::default, String::from_utf8_lossy);
    if size == 0 {
        return Described::new(What::Nothing, Some(0), Some(1));
    }
    let order = if cfg!(target_endian = "big") { dw::DW_END_little } else { dw::DW_END_big };
    if entry.value(dw::DW_AT_endianity) == Some(AttributeValue::Endianity(order)) {
        return Described::other("a number in the other byte order", Some(size), power(size));
    }
    let encoding = match entry.value(dw::DW_AT_encoding) {
        Some(AttributeValue::Encoding(encoding)) => encoding,
        _ => DwAte(0),
    };
    match basic(&name, encoding, size, unit.language) {
        Ok(basic) => Described::basic(basic),
        Err(what) => Described::other(what, Some(size), power(size)),
    }
}

/// An alignment of this many bytes.
fn power(size: u64) -> Option<u64> {
    size.is_power_of_two().then_some(size)
}

/// The number of elements in a dimension; `None` if it is open.
pub(super) fn length(
    entry: &Entry<'_>,
    language: Option<DwLang>,
) -> Result<Option<u64>, &'static str> {
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
pub(super) fn alignment(entry: &Entry<'_>) -> Option<u64> {
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

fn unknown_kind(tag: DwTag) -> String {
    let name = tag.static_string().and_then(|name| name.strip_prefix("DW_TAG_"));
    format!("of an unknown kind ({})", name.unwrap_or("without a name"))
}
