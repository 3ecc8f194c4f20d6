//! The units of DWARF: their headers, and the attributes of their entries.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::ops::{ControlFlow, Deref};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use dtype_stored::Budget;
use gimli::Reader as _;
use gimli::{
    Abbreviations, Attribute, AttributeSpecification, AttributeValue, DebugAbbrevOffset, DebugInfo,
    DebugLine, DebugStrOffsets, DebugStrOffsetsBase, DebugTypes, DwAt, DwLang, DwTag, EndianSlice,
    EntriesRaw, LineProgramHeader, RunTimeEndian, UnitHeader, UnitOffset, UnitType,
    constants as dw,
};

use super::Error;
use super::abbreviations::Tables;
use super::package::{Package, part};
use super::sections::{Sections, Slice};

pub(super) type Value<'a> = AttributeValue<Slice<'a>>;

/// The greatest length of a name in bytes. Names of templates are long.
const MAX_NAME: usize = 1 << 14;

/// In place of a name that `dwz` moved to another file.
const NAMED_ELSEWHERE: &[u8] = b"(named in another file)";

/// How many bytes of a text are compared or copied in a step.
const BYTES_AT_ONCE: usize = 16;

/// How many steps are counted together.
const STEPS: usize = 1 << 12;

/// Whether an attribute is kept: those that this module's users read. An entry can have any number of others, and most take no
/// byte of it.
fn is_kept(name: DwAt) -> bool {
    matches!(
        name,
        dw::DW_AT_GNU_dwo_name
            | dw::DW_AT_GNU_vector
            | dw::DW_AT_abstract_origin
            | dw::DW_AT_alignment
            | dw::DW_AT_allocated
            | dw::DW_AT_artificial
            | dw::DW_AT_associated
            | dw::DW_AT_bit_offset
            | dw::DW_AT_bit_size
            | dw::DW_AT_byte_size
            | dw::DW_AT_comp_dir
            | dw::DW_AT_containing_type
            | dw::DW_AT_count
            | dw::DW_AT_data_bit_offset
            | dw::DW_AT_data_location
            | dw::DW_AT_data_member_location
            | dw::DW_AT_decl_file
            | dw::DW_AT_decl_line
            | dw::DW_AT_declaration
            | dw::DW_AT_discr_value
            | dw::DW_AT_dwo_name
            | dw::DW_AT_encoding
            | dw::DW_AT_endianity
            | dw::DW_AT_export_symbols
            | dw::DW_AT_external
            | dw::DW_AT_language
            | dw::DW_AT_lower_bound
            | dw::DW_AT_name
            | dw::DW_AT_ordering
            | dw::DW_AT_signature
            | dw::DW_AT_specification
            | dw::DW_AT_stmt_list
            | dw::DW_AT_str_offsets_base
            | dw::DW_AT_string_length
            | dw::DW_AT_type
            | dw::DW_AT_upper_bound
            | dw::DW_AT_virtuality
    )
}

/// An entry: its unit's number, and its place in the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) unit: usize,
    pub(super) offset: usize,
}

/// The headers of all units in a file.
#[derive(Debug)]
pub(super) struct Headers<'a> {
    objects: &'a [Sections<'a>],
    /// Each header with the number of its object. Headers of one object are in the order of its section.
    all: Vec<(usize, UnitHeader<Slice<'a>>)>,
    /// The types of type units, by object number and signature.
    signatures: HashMap<(usize, u64), Place>,
    /// Of each object.
    packages: Vec<Package>,
    tables: Tables,
    budget: &'a Budget,
}

impl<'a> Headers<'a> {
    pub(super) fn read(objects: &'a [Sections<'a>], budget: &'a Budget) -> Result<Self, Error> {
        // With room for vectors and maps that grow, and for the place of a table.
        const HEADER: usize = 3 * size_of::<(usize, UnitHeader<Slice<'_>>)>() + 128;
        let mut all = Vec::new();
        let mut packages = Vec::new();
        for (number, sections) in objects.iter().enumerate() {
            let Sections { unit_index, type_index, endian, .. } = sections;
            packages.push(Package::read(unit_index, type_index, *endian)?);
            let mut units = DebugInfo::from(sections.slice(&sections.info)).units();
            while let Some(header) = units.next()? {
                budget.hold(HEADER)?;
                all.push((number, header));
            }
            let mut units = DebugTypes::from(sections.slice(&sections.types)).units();
            while let Some(header) = units.next()? {
                budget.hold(HEADER)?;
                all.push((number, header));
            }
        }
        let mut signatures = HashMap::new();
        for (unit, (object, header)) in all.iter().enumerate() {
            if let UnitType::Type { type_signature, type_offset }
            | UnitType::SplitType { type_signature, type_offset } = header.type_()
            {
                let place = Place { unit, offset: type_offset.0 };
                signatures.insert((*object, type_signature.0), place);
            }
        }
        Ok(Self { objects, all, signatures, packages, tables: Tables::default(), budget })
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn budget(&self) -> &'a Budget {
        self.budget
    }

    pub(super) fn unit(&self, number: usize) -> Result<Unit<'a>, gimli::Error> {
        let (object, header) = self.all[number];
        let (sections, budget) = (&self.objects[object], self.budget);
        let (is_types, offset) = match (header.debug_info_offset(), header.debug_types_offset()) {
            (Some(offset), _) => (false, offset.0),
            (None, offset) => (true, offset.map_or(0, |offset| offset.0)),
        };
        let parts = self.packages[object].parts(is_types, offset);
        // A table is known by its place in the whole section.
        let section = part(&sections.abbreviations, &(0..parts.abbreviations.end));
        let table = header.debug_abbrev_offset().0.saturating_add(parts.abbreviations.start);
        let table = DebugAbbrevOffset(table);
        let table = self.tables.get(object, table, sections.slice(section), budget)?;
        Unit::read(sections, header, table, parts.string_offsets.start, budget)
    }

    /// The member of an archive that a unit is in.
    pub(super) fn member(&self, unit: usize) -> Option<&'a str> {
        self.objects[self.all[unit].0].member.as_deref()
    }

    /// The entry that an attribute of unit `from` refers to.
    pub(super) fn target(&self, from: usize, value: Value<'_>) -> Option<Place> {
        let object = self.all[from].0;
        match value {
            AttributeValue::UnitRef(UnitOffset(offset)) => Some(Place { unit: from, offset }),
            AttributeValue::DebugInfoRef(target) => {
                let start = |header: &UnitHeader<Slice<'_>>| header.debug_info_offset();
                let after = self.all.partition_point(|(number, header)| {
                    let is_before = start(header).is_some_and(|start| start.0 <= target.0);
                    *number < object || *number == object && is_before
                });
                let unit = after.checked_sub(1)?;
                let offset = target.to_unit_offset(&self.all[unit].1)?.0;
                (self.all[unit].0 == object).then_some(Place { unit, offset })
            }
            AttributeValue::DebugTypesRef(wanted) => {
                self.signatures.get(&(object, wanted.0)).copied()
            }
            _ => None,
        }
    }
}

impl Sections<'_> {
    fn slice<'s>(&'s self, section: &'s [u8]) -> Slice<'s> {
        EndianSlice::new(section, self.endian)
    }
}

/// The bytes from an offset to the next zero. Many entries may refer to one text, so a long text is not searched.
fn terminated(section: &[u8], offset: usize) -> Option<&[u8]> {
    let rest = section.get(offset..)?;
    let rest = &rest[..rest.len().min(MAX_NAME)];
    CStr::from_bytes_until_nul(rest).ok().map(CStr::to_bytes)
}

/// An entry with its attributes.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) tag: DwTag,
    pub(super) offset: usize,
    attributes: Vec<Attribute<Slice<'a>>>,
}

impl<'a> Entry<'a> {
    pub(super) fn value(&self, name: DwAt) -> Option<Value<'a>> {
        debug_assert!(is_kept(name), "{name} is not kept");
        let found = self.attributes.iter().find(|attribute| attribute.name() == name);
        found.map(Attribute::value)
    }

    /// A number that is known without running a program.
    pub(super) fn number(&self, name: DwAt) -> Option<u64> {
        self.value(name)?.udata_value()
    }

    /// The declaration that the entry completes, or the function of which it is an instance.
    pub(super) fn origin(&self) -> Option<Value<'a>> {
        let names = [dw::DW_AT_specification, dw::DW_AT_abstract_origin];
        names.into_iter().find_map(|name| self.value(name))
    }

    /// Whether the members of a type are at another entry.
    pub(super) fn is_declaration(&self) -> bool {
        self.is(dw::DW_AT_declaration) || self.value(dw::DW_AT_signature).is_some()
    }

    pub(super) fn is(&self, flag: DwAt) -> bool {
        matches!(self.value(flag), Some(AttributeValue::Flag(true)))
    }
}

/// How much of an entry is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Whole,
    /// Its tag and its place, which takes less time.
    Tag,
    /// The entries below it are seen all the same.
    Nothing,
}

/// The entries below another one, which count as memory as long as they are there.
#[derive(Debug)]
pub(super) struct Children<'a> {
    all: Vec<Entry<'a>>,
    bytes: usize,
    budget: &'a Budget,
}

impl<'a> Deref for Children<'a> {
    type Target = [Entry<'a>];

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl Drop for Children<'_> {
    fn drop(&mut self) {
        self.budget.release(self.bytes);
    }
}

/// A unit, with everything that is needed to read its entries.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    sections: &'a Sections<'a>,
    header: UnitHeader<Slice<'a>>,
    abbreviations: Arc<Abbreviations>,
    budget: &'a Budget,
    strings: DebugStrOffsetsBase,
    pub(super) root: Entry<'a>,
    pub(super) language: Option<DwLang>,
    /// The table of source files, read when it is needed.
    files: OnceCell<Option<LineProgramHeader<Slice<'a>>>>,
}

impl<'a> Unit<'a> {
    fn read(
        sections: &'a Sections<'a>,
        header: UnitHeader<Slice<'a>>,
        abbreviations: Arc<Abbreviations>,
        first_string: usize,
        budget: &'a Budget,
    ) -> Result<Self, gimli::Error> {
        let root = Entry { tag: dw::DW_TAG_null, offset: 0, attributes: Vec::new() };
        let first: DebugStrOffsetsBase<usize> =
            DebugStrOffsetsBase::default_for_encoding_and_file(header.encoding(), sections.kind);
        let strings = DebugStrOffsetsBase(first.0.saturating_add(first_string));
        let (language, files) = (None, OnceCell::new());
        let mut unit =
            Self { sections, header, abbreviations, budget, strings, root, language, files };
        unit.root = unit.entry(header.root_offset().0)?;
        if let Some(AttributeValue::DebugStrOffsetsBase(base)) =
            unit.root.value(dw::DW_AT_str_offsets_base)
        {
            unit.strings = base;
        }
        if let Some(AttributeValue::Language(language)) = unit.root.value(dw::DW_AT_language) {
            unit.language = Some(language);
        }
        Ok(unit)
    }

    pub(super) fn endian(&self) -> RunTimeEndian {
        self.sections.endian
    }

    pub(super) fn budget(&self) -> &'a Budget {
        self.budget
    }

    pub(super) fn encoding(&self) -> gimli::Encoding {
        self.header.encoding()
    }

    /// Bytes of an address.
    pub(super) fn address_size(&self) -> u64 {
        self.header.address_size().into()
    }

    /// The entry at a place in the unit.
    pub(super) fn entry(&self, offset: usize) -> Result<Entry<'a>, gimli::Error> {
        let mut entry = None;
        self.entries(
            Some(offset),
            |_| Reading::Whole,
            |_, found| {
                entry = Some(found.clone());
                ControlFlow::Break(())
            },
        )?;
        entry.ok_or(gimli::Error::MissingUnitDie)
    }

    /// The entries directly below another one.
    pub(super) fn children(&self, offset: usize) -> Result<Children<'a>, gimli::Error> {
        let mut children = Children { all: Vec::new(), bytes: 0, budget: self.budget };
        self.entries(
            Some(offset),
            |_| Reading::Whole,
            |depth, entry| {
                match depth {
                    0 if entry.offset != offset => return ControlFlow::Break(()),
                    1 => {
                        let bytes = size_of_val(&*entry.attributes) + 2 * size_of::<Entry<'_>>();
                        if self.budget.hold(bytes).is_err() {
                            return ControlFlow::Break(());
                        }
                        children.bytes += bytes;
                        children.all.push(entry.clone());
                    }
                    _ => {}
                }
                ControlFlow::Continue(())
            },
        )?;
        Ok(children)
    }

    /// Calls `visit` with the depth of each entry from `start` on whose tag is not skipped. Ends early if the budget is used up.
    pub(super) fn entries(
        &self,
        start: Option<usize>,
        reading: impl Fn(DwTag) -> Reading,
        mut visit: impl FnMut(isize, &Entry<'a>) -> ControlFlow<()>,
    ) -> Result<(), gimli::Error> {
        let start = start.map(UnitOffset);
        let mut entries = self.header.entries_raw(&self.abbreviations, start)?;
        let mut entry = Entry { tag: dw::DW_TAG_null, offset: 0, attributes: Vec::new() };
        let mut steps = 0;
        while !entries.is_empty() {
            let depth = entries.next_depth();
            entry.offset = entries.next_offset().0;
            let abbreviation = entries.read_abbreviation()?;
            // Attributes take time even where they take no bytes.
            steps += 1 + abbreviation.map_or(0, |abbreviation| abbreviation.attributes().len());
            if steps >= STEPS && self.budget.work(std::mem::take(&mut steps)).is_err() {
                break;
            }
            let Some(abbreviation) = abbreviation else {
                // The end of the entries below the first one.
                if start.is_some() && depth <= 1 {
                    break;
                }
                continue;
            };
            entry.tag = abbreviation.tag();
            match reading(entry.tag) {
                Reading::Whole => {
                    kept(&mut entries, abbreviation.attributes(), &mut entry.attributes)?;
                }
                Reading::Tag => {
                    entry.attributes.clear();
                    entries.skip_attributes(abbreviation.attributes())?;
                }
                Reading::Nothing => {
                    entries.skip_attributes(abbreviation.attributes())?;
                    continue;
                }
            }
            if visit(depth, &entry).is_break() {
                break;
            }
        }
        // The next call fails if the budget is used up.
        let _ = self.budget.work(steps);
        Ok(())
    }

    /// The text of an attribute; `None` if it is missing, or is longer than a name can be.
    pub(super) fn text(&self, entry: &Entry<'a>, name: DwAt) -> Option<&'a [u8]> {
        self.text_of(entry.value(name)?)
    }

    fn text_of(&self, value: Value<'a>) -> Option<&'a [u8]> {
        let Sections { strings, line_strings, .. } = self.sections;
        let text = match value {
            AttributeValue::String(text) => Some(text.slice()),
            AttributeValue::DebugStrRef(offset) => terminated(strings, offset.0),
            AttributeValue::DebugLineStrRef(offset) => terminated(line_strings, offset.0),
            AttributeValue::DebugStrOffsetsIndex(index) => {
                let offsets = self.sections.slice(&self.sections.string_offsets);
                let offsets = DebugStrOffsets::from(offsets);
                let offset = offsets.get_str_offset(self.header.format(), self.strings, index);
                terminated(strings, offset.ok()?.0)
            }
            AttributeValue::DebugStrRefSup(_) => Some(NAMED_ELSEWHERE),
            _ => None,
        }?;
        // Many entries may refer to one long text.
        self.budget.work(text.len() / BYTES_AT_ONCE).ok()?;
        Some(text)
    }

    /// The name of an entry, or of the declaration that it completes.
    pub(super) fn name(&self, entry: &Entry<'a>) -> Option<&'a [u8]> {
        let own = self.text(entry, dw::DW_AT_name).filter(|name| !name.is_empty());
        match entry.origin() {
            Some(AttributeValue::UnitRef(UnitOffset(offset))) if own.is_none() => {
                self.text(&self.entry(offset).ok()?, dw::DW_AT_name)
            }
            _ => own,
        }
    }

    /// The source file; `None` for a unit of types that several have.
    pub(super) fn source(&self) -> Option<Cow<'a, str>> {
        self.name(&self.root).map(String::from_utf8_lossy)
    }

    /// The source file that declares an entry; empty if it is not known.
    pub(super) fn file(&self, entry: &Entry<'a>) -> Arc<str> {
        let path = || {
            let index = match entry.value(dw::DW_AT_decl_file)? {
                AttributeValue::FileIndex(index) => index,
                other => other.udata_value()?,
            };
            let header = self.files.get_or_init(|| self.read_files()).as_ref()?;
            let file = header.file(index)?;
            let text = |value| Some(String::from_utf8_lossy(self.text_of(value)?));
            let name = text(file.path_name())?;
            let folder = header.directory(file.directory_index()).and_then(text);
            // The first folder is that in which the compiler ran.
            let folder = folder.filter(|_| file.directory_index() > 0).unwrap_or_default();
            Some(Path::new(&*folder).join(&*name).to_string_lossy().into_owned())
        };
        let path = path().unwrap_or_default();
        let _ = self.budget.hold(path.len());
        path.into()
    }

    fn read_files(&self) -> Option<LineProgramHeader<Slice<'a>>> {
        // What an entry of a table takes for each of its bytes.
        const FILE: usize = 32;
        let AttributeValue::DebugLineRef(offset) = self.root.value(dw::DW_AT_stmt_list)? else {
            return None;
        };
        let section = self.sections.slice(&self.sections.lines);
        let length = self.header_length(offset.0)?;
        self.budget.hold(FILE * length).ok()?;
        self.budget.work(length).ok()?;
        let address = self.header.address_size();
        let program = DebugLine::from(section).program(offset, address, None, None).ok()?;
        Some(program.header().clone())
    }

    /// The greatest number of bytes that the table of files at an offset can have.
    fn header_length(&self, offset: usize) -> Option<usize> {
        const START: usize = 64;
        let lines = &self.sections.lines;
        let mut start = self.sections.slice(lines.get(offset..)?);
        let (_, format) = start.read_initial_length().ok()?;
        let version = start.read_u16().ok()?;
        if version >= 5 {
            start.skip(2).ok()?;
        }
        Some(START + start.read_word(format).ok()?.min(lines.len()))
    }

    /// The file to which the compiler wrote the types of this unit.
    pub(super) fn split(&self) -> Option<PathBuf> {
        let names = [dw::DW_AT_dwo_name, dw::DW_AT_GNU_dwo_name];
        let text = |name| Some(String::from_utf8_lossy(self.text(&self.root, name)?));
        let file = names.into_iter().find_map(text)?;
        let folder = text(dw::DW_AT_comp_dir).unwrap_or_default();
        Some(Path::new(&*folder).join(&*file))
    }
}

/// Reads the attributes that are kept, the first of each name.
fn kept<'a>(
    entries: &mut EntriesRaw<'_, Slice<'a>>,
    all: &[AttributeSpecification],
    attributes: &mut Vec<Attribute<Slice<'a>>>,
) -> Result<(), gimli::Error> {
    attributes.clear();
    for one in all {
        let is_new = || attributes.iter().all(|attribute| attribute.name() != one.name());
        if is_kept(one.name()) && is_new() {
            attributes.push(entries.read_attribute(*one)?);
        } else {
            entries.skip_attributes(slice::from_ref(one))?;
        }
    }
    Ok(())
}
