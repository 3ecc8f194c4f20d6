//! Packed records in the other byte order.
//!
//! The engine can convert a stream to and from any representation while copying it, with kernels for many layouts. The packed
//! records of a frame are in one of two byte orders, so it is enough to reverse the bytes of each value here, and programs do
//! not need the engine for it.

use dtype_runtime::basic::Kind;
use dtype_runtime::typemap::{Field, Node, TypeMap};

/// Reverses the bytes of each value in packed records of a type. Bytes after the last whole record are unchanged.
pub(crate) fn reverse_values(map: &TypeMap, records: &mut [u8]) {
    if let Some(count) = records.len().checked_div(map.size()) {
        reverse(map, records, Every { first: 0, distance: map.size(), count });
    }
}

/// The positions of equal parts of records: `count` of them, `distance` bytes apart.
#[derive(Clone, Copy)]
struct Every {
    first: usize,
    distance: usize,
    count: usize,
}

/// Reverses the values that begin at each of the positions. The innermost loop goes over the records or over an array in them,
/// whichever is longer.
fn reverse(map: &TypeMap, bytes: &mut [u8], every: Every) {
    let Every { first, distance, count } = every;
    match *map.node() {
        _ if map.size() == 0 => {}
        Node::Basic { basic, .. } => {
            let values = if basic.kind() == Kind::Complex { 2 } else { 1 };
            let width = basic.size() / values;
            for index in 0..values {
                reverse_each(width, bytes, Every { first: first + index * width, ..every });
            }
        }
        Node::Array { count: elements, element } => {
            let element_size = element.size();
            if elements > count {
                for index in 0..count {
                    let first = first + index * distance;
                    reverse(
                        element,
                        bytes,
                        Every { first, distance: element_size, count: elements },
                    );
                }
            } else {
                for index in 0..elements {
                    reverse(element, bytes, Every { first: first + index * element_size, ..every });
                }
            }
        }
        Node::Structure { fields, .. } => {
            let mut first = first;
            for field in fields.iter().filter_map(Field::map) {
                reverse(field, bytes, Every { first, ..every });
                first += field.size();
            }
        }
    }
}

/// Reverses `width` bytes at each of the positions.
fn reverse_each(width: usize, bytes: &mut [u8], every: Every) {
    match width {
        1 => {}
        2 => reverse_arrays::<2>(bytes, every),
        4 => reverse_arrays::<4>(bytes, every),
        8 => reverse_arrays::<8>(bytes, every),
        16 => reverse_arrays::<16>(bytes, every),
        _ => {
            for index in 0..every.count {
                let first = every.first + index * every.distance;
                bytes[first..first + width].reverse();
            }
        }
    }
}

fn reverse_arrays<const WIDTH: usize>(bytes: &mut [u8], every: Every) {
    let Every { first, distance, count } = every;
    let Some(before_last) = count.checked_sub(1).map(|others| others * distance) else { return };
    let bytes = bytes.get_mut(first..).unwrap_or_default();
    let Some((parts, last)) = bytes.split_at_mut_checked(before_last) else { return };
    if distance == WIDTH {
        // The optimizer vectorizes this loop over values that touch.
        for value in parts.as_chunks_mut::<WIDTH>().0 {
            value.reverse();
        }
    } else {
        // The parts have one length, so the loop need not compare lengths.
        for part in parts.chunks_exact_mut(distance) {
            if let Some(value) = part.first_chunk_mut::<WIDTH>() {
                value.reverse();
            }
        }
    }
    if let Some(value) = last.first_chunk_mut::<WIDTH>() {
        value.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dtype_runtime::representation::ByteOrder;
    use dtype_runtime::{Datatype, Representation, pack, pack_as};

    /// Compares with the engine's conversion.
    fn check<T: Datatype>(records: &[T]) {
        let other = match ByteOrder::NATIVE {
            ByteOrder::Little => Representation::BigEndian,
            ByteOrder::Big => Representation::LittleEndian,
        };
        for count in 0..=records.len() {
            let mut packed = pack(&records[..count]);
            reverse_values(T::TYPE_MAP, &mut packed);
            assert_eq!(packed, pack_as(&records[..count], other).unwrap());
        }
    }

    #[test]
    fn every_value_is_reversed() {
        check(&[1_u8, 2]);
        check(&[0x0102_u16, 0x0304, 5]);
        check(&[(1_u8, 0x0102_0304_u32, 'x', true), (2, 3, 'y', false)]);
        check(&[1.5_f64, -2.5]);
        check(&[1_u128 << 90 | 7]);
        check(&[((), [(1_u16, [2_u64, 3]); 5], [[4_i32; 2]; 3]); 2]);
        // Arrays longer and shorter than the number of records, arrays of records without data, and no records.
        check(&[([(1_u16, 2_u8); 9], [(); 4]); 3]);
        check(&[([(1_u16, 2_u8); 2], [0_u64; 0]); 12]);
        check(&[(), ()]);
    }
}
