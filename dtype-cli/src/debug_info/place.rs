//! The place of a member: its first byte, and the first bit of a bit-field.

use gimli::{AttributeValue, Operation, RunTimeEndian, constants as dw};

use super::unit::{Entry, Unit};

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
