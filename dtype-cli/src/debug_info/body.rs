//! The parts of a struct, as its entry lists them.

use std::rc::Rc;

use gimli::{AttributeValue, DwLang, Operation, RunTimeEndian, constants as dw};

use super::unit::{Entry, Place, Unit};
use dtype_text::declaration::layout::Member as Data;
use dtype_text::structure::{Kind, Member, Structure};

/// The greatest number of members without data that are named for one struct.
const MAX_LEFT_OUT: usize = 256;

/// A member that is not a datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The member's name after those of the structs around it: `cells[].next`. If the member has no name, this ends with a dot,
    /// or is empty.
    pub name: String,
    /// In bytes from the start of the struct; `None` if the place depends on the object around the struct.
    pub offset: Option<u64>,
    /// A description of its type: `a pointer`.
    pub what: String,
}

/// A virtual base class: the place of its type, its name and its alignment. However many base classes have it, an object has it once.
pub(super) type Virtual = (Option<Place>, Rc<str>, Option<u64>);

/// The parts of a struct.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) data: Vec<Data>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) members: Vec<Member>,
    pub(super) virtuals: Vec<Virtual>,
}

impl Body {
    pub(super) fn leave_out(&mut self, name: Option<String>, offset: Option<u64>, what: String) {
        if self.left_out.len() < MAX_LEFT_OUT {
            let name = name.unwrap_or_default();
            self.left_out.push(LeftOut { name, offset, what });
        }
    }

    /// Adds a bit-field with its first byte and its first bit there; `unit` is the size of its type.
    pub(super) fn add_bits(
        &mut self,
        name: Option<String>,
        width: u64,
        place: Option<(u64, u8)>,
        unit: Option<u64>,
        align: Option<u64>,
    ) {
        let plural = if width == 1 { "" } else { "s" };
        let offset = place.map(|(byte, _)| byte);
        self.leave_out(name.clone(), offset, format!("a bit-field of {width} bit{plural}"));
        let first = place.map_or(0, |(_, bit)| bit);
        let size = width.checked_add(first.into()).map(|bits| bits.div_ceil(8));
        let kind = Kind::Bits { first, width, unit: unit.unwrap_or(0) };
        self.members.push(Member { name, offset, size, align, kind, base: None });
    }

    /// Adds virtual base classes, each once.
    pub(super) fn add_virtuals(&mut self, more: &[Virtual]) {
        for one in more {
            if self.virtuals.len() < MAX_LEFT_OUT && !self.virtuals.contains(one) {
                self.virtuals.push(one.clone());
            }
        }
    }

    /// The struct; virtual base classes are members without a place.
    pub(super) fn structure(
        &mut self,
        size: Option<u64>,
        asked: Option<u64>,
        language: Option<DwLang>,
    ) -> Structure {
        // In C, the last member may also be an array of length 0 in place of one without a length.
        if let Some(last) = self.members.last_mut()
            && (last.size, last.kind) == (Some(0), Kind::Field)
            && language != Some(dw::DW_LANG_Rust)
        {
            last.kind = Kind::Open;
        }
        for (_, name, align) in std::mem::take(&mut self.virtuals) {
            self.members.push(Member {
                name: Some((*name).to_owned()),
                offset: None,
                size: None,
                align,
                kind: Kind::Base { data: 0 },
                base: None,
            });
        }
        Structure::new(size, asked, std::mem::take(&mut self.members))
    }
}

/// What is left out of an object that has virtual base classes.
pub(super) fn left_out(virtuals: &[Virtual]) -> impl Iterator<Item = LeftOut> {
    virtuals.iter().map(|(_, name, _)| LeftOut {
        name: (**name).to_owned(),
        offset: None,
        what: "a virtual base class".into(),
    })
}

/// The displacement of a member: a number, or the program of DWARF 2 that adds one.
pub(super) fn location(unit: &Unit<'_>, entry: &Entry<'_>) -> Option<u64> {
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

/// The first byte of a bit-field and the first bit in it; `unit` is the size of its type. `None` if the entry is damaged.
///
/// DWARF 4 and 5 count bits from the start of the struct. Before, they counted from the high end of a whole integer, which is
/// its last byte on a little-endian machine.
pub(super) fn first_bit(
    within: &Unit<'_>,
    entry: &Entry<'_>,
    unit: Option<u64>,
) -> Option<(u64, u8)> {
    if let Some(bit) = entry.number(dw::DW_AT_data_bit_offset) {
        return Some((bit / 8, (bit % 8) as u8));
    }
    let start = location(within, entry)?;
    let Some(from_high) = entry.value(dw::DW_AT_bit_offset) else { return Some((start, 0)) };
    // In a packed struct, a bit-field may reach past the integer: Clang writes such a negative number in 8 bytes.
    let from_high =
        from_high.sdata_value().or_else(|| from_high.udata_value().map(u64::cast_signed))?;
    let storage = entry.number(dw::DW_AT_byte_size).or(unit)?;
    let width = entry.number(dw::DW_AT_bit_size)?;
    let bit = from_high_end(within.endian(), storage, from_high, width);
    let byte = start.checked_add_signed(i64::try_from(bit.div_euclid(8)).ok()?)?;
    Some((byte, u8::try_from(bit.rem_euclid(8)).ok()?))
}

/// The first bit of a bit-field of `width` bits, counted from the start of an integer of `storage` bytes; `from_high` counts from
/// its high end.
fn from_high_end(endian: RunTimeEndian, storage: u64, from_high: i64, width: u64) -> i128 {
    let from_high = i128::from(from_high);
    match endian {
        RunTimeEndian::Big => from_high,
        RunTimeEndian::Little => i128::from(storage) * 8 - from_high - i128::from(width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct { unsigned a : 3, b : 5, c : 9; }`, as `gcc -gdwarf-4` describes it for both orders of bytes: from the same offsets,
    /// little-endian machines get the bits from the low end on.
    #[test]
    fn bits_count_from_the_high_end() {
        for (from_high, width, little, big) in
            [(29, 3, 0, 29), (24, 5, 3, 24), (15, 9, 8, 15), (0, 3, 29, 0), (-4, 6, 30, -4)]
        {
            let bit = |endian| from_high_end(endian, 4, from_high, width);
            assert_eq!((bit(RunTimeEndian::Little), bit(RunTimeEndian::Big)), (little, big));
        }
    }
}
