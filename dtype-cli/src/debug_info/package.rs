//! The indices of a package (`.dwp`): which parts of the other sections each unit has for itself.

use std::ops::Range;

use gimli::{DebugCuIndex, DebugTuIndex, EndianSlice, IndexSectionId, RunTimeEndian, UnitIndex};

/// The parts of sections that a unit has for itself. In a file that is no package, these are the whole sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) abbreviations: Range<usize>,
    pub(super) string_offsets: Range<usize>,
}

impl Default for Parts {
    fn default() -> Self {
        Self { abbreviations: 0..usize::MAX, string_offsets: 0..usize::MAX }
    }
}

/// The parts of all units, by the place of the unit.
#[derive(Debug, Default)]
pub(super) struct Package {
    /// Units of `.debug_info.dwo`, in the order of their places.
    info: Vec<(Range<usize>, Parts)>,
    /// Units of `.debug_types.dwo`.
    types: Vec<(Range<usize>, Parts)>,
}

impl Package {
    /// Reads the indices; both are empty in a file that is no package.
    pub(super) fn read(
        units: &[u8],
        types: &[u8],
        endian: RunTimeEndian,
    ) -> Result<Self, gimli::Error> {
        let mut this = Self::default();
        this.add(&DebugCuIndex::from(EndianSlice::new(units, endian)).index()?)?;
        this.add(&DebugTuIndex::from(EndianSlice::new(types, endian)).index()?)?;
        for all in [&mut this.info, &mut this.types] {
            all.sort_by_key(|(unit, _)| unit.start);
        }
        Ok(this)
    }

    fn add(
        &mut self,
        index: &UnitIndex<EndianSlice<'_, RunTimeEndian>>,
    ) -> Result<(), gimli::Error> {
        for row in 1..=index.unit_count() {
            let (mut info, mut types) = (None, None);
            let mut parts = Parts::default();
            for part in index.sections(row)? {
                let start = part.offset as usize;
                let range = start..start.saturating_add(part.size as usize);
                match part.section {
                    IndexSectionId::DebugInfo => info = Some(range),
                    IndexSectionId::DebugTypes => types = Some(range),
                    IndexSectionId::DebugAbbrev => parts.abbreviations = range,
                    IndexSectionId::DebugStrOffsets => parts.string_offsets = range,
                    _ => {}
                }
            }
            self.info.extend(info.map(|unit| (unit, parts.clone())));
            self.types.extend(types.map(|unit| (unit, parts)));
        }
        Ok(())
    }

    /// The parts of the unit whose header is at a place.
    pub(super) fn parts(&self, is_types: bool, offset: usize) -> Parts {
        let all = if is_types { &self.types } else { &self.info };
        let after = all.partition_point(|(unit, _)| unit.start <= offset);
        let found = after.checked_sub(1).and_then(|at| all.get(at));
        let found = found.filter(|(unit, _)| unit.contains(&offset));
        found.map_or_else(Parts::default, |(_, parts)| parts.clone())
    }
}

/// A part of a section; as much of it as the section has.
pub(super) fn part<'s>(section: &'s [u8], range: &Range<usize>) -> &'s [u8] {
    let end = range.end.min(section.len());
    section.get(range.start..end).unwrap_or_default()
}
