//! Commit in `const` evaluation: operations are written directly from the constant type map.

use self::What::{Data, Gaps, Packed};
use super::builder::{Builder, Position};
use crate::plan::Op;
use crate::typemap::{Field, Node, TypeMap};

/// Type maps with more entries than this are not compiled in `const` evaluation, because the interpreter would take too long;
/// such types are committed at run time.
const MAX_ENTRIES: usize = 4096;

/// The operations of one value, as a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstantOps<const N: usize> {
    ops: [Op; N],
    /// `None` if there are more than `N` operations.
    len: Option<usize>,
}

impl<const N: usize> ConstantOps<N> {
    /// The data in the order of the type map: what packing copies.
    pub(crate) const fn packed(map: &TypeMap) -> Self {
        Self::of(map, Packed)
    }

    /// The data in the order of their addresses.
    pub(crate) const fn data(map: &TypeMap) -> Self {
        Self::of(map, Data)
    }

    /// The bytes that are not data, in the order of their addresses.
    pub(crate) const fn gaps(map: &TypeMap) -> Self {
        Self::of(map, Gaps)
    }

    /// The operations, or `None` if there are more than `N`.
    pub(crate) const fn ops(&self) -> Option<&[Op]> {
        match self.len {
            Some(len) => Some(self.ops.split_at(len).0),
            None => None,
        }
    }

    /// The operations that `lower` writes for `map`.
    const fn of(map: &TypeMap, what: What) -> Self {
        let mut ops = [Op::NONE; N];
        // Without gaps, the fields matter only for the packed order.
        let by_fields = !map.is_dense() || matches!(what, Packed);
        if by_fields && map.entries() > MAX_ENTRIES {
            return Self { ops, len: None };
        }
        let mut at = Position::START;
        let mut builder = Builder::new(&mut ops, &mut at);
        lower(map, 0, what, &mut builder);
        let len = builder.finish();
        Self { ops, len }
    }
}

/// Which bytes of a value to lower.
#[derive(Clone, Copy)]
enum What {
    Packed,
    Data,
    Gaps,
}

const fn lower(map: &TypeMap, base: usize, what: What, out: &mut Builder<'_>) {
    // If all or none of the bytes are of this kind, there is no need to look at the parts, of which there may be very many.
    match what {
        Packed | Data if map.size() == 0 => return,
        Gaps if map.is_dense() => return,
        Data if map.is_dense() => return out.run(signed(base), map.size() as u64),
        Packed | Data | Gaps => {}
    }
    match *map.node() {
        Node::Basic { basic, .. } => {
            if !matches!(what, Gaps) {
                out.run(signed(base), basic.size() as u64);
            }
        }
        Node::Array { mut count, mut element } => {
            // An array of arrays is lowered as one longer array.
            while let Node::Array { count: inner, element: innermost } = *element.node() {
                count *= inner;
                element = innermost;
            }
            if count == 1 {
                lower(element, base, what, out);
            } else {
                let open = out.begin_loop();
                lower(element, base, what, out);
                out.end_loop(open, count as u64, signed(element.stride()));
            }
        }
        Node::Structure { fields, .. } => match what {
            Packed => {
                let mut i = 0;
                while i < fields.len() {
                    if let Some(field) = fields[i].map() {
                        lower(field, base + fields[i].offset(), what, out);
                    }
                    i += 1;
                }
            }
            Data | Gaps => lower_by_address(map, fields, base, what, out),
        },
    }
}

const fn lower_by_address(
    map: &TypeMap,
    fields: &[Field],
    base: usize,
    what: What,
    out: &mut Builder<'_>,
) {
    let ascending = is_ascending(fields);
    let mut end = 0;
    let mut i = 0;
    while i < fields.len() {
        let next = if ascending { Some(&fields[i]) } else { first_from(fields, end) };
        i += 1;
        let Some(field) = next else { break };
        let Some(inner) = occupied(field) else { continue };
        if matches!(what, Gaps) {
            out.run(signed(base + end), (field.offset() - end) as u64);
        }
        lower(inner, base + field.offset(), what, out);
        end = field.offset() + inner.stride();
    }
    if matches!(what, Gaps) {
        out.run(signed(base + end), (map.stride() - end) as u64);
    }
}

/// The map of a field, if the field is not skipped and has bytes.
const fn occupied(field: &Field) -> Option<&'static TypeMap> {
    match field.map() {
        Some(map) if map.stride() > 0 => Some(map),
        _ => None,
    }
}

/// Whether the fields lie in memory in the order of their declaration, as is nearly always the case.
const fn is_ascending(fields: &[Field]) -> bool {
    let mut end = 0;
    let mut i = 0;
    while i < fields.len() {
        if let Some(map) = occupied(&fields[i]) {
            if fields[i].offset() < end {
                return false;
            }
            end = fields[i].offset() + map.stride();
        }
        i += 1;
    }
    true
}

/// The field with the least offset that is at least `end`.
const fn first_from(fields: &[Field], end: usize) -> Option<&Field> {
    let mut first: Option<&Field> = None;
    let mut i = 0;
    while i < fields.len() {
        let field = &fields[i];
        match first {
            Some(first) if first.offset() <= field.offset() => {}
            _ if occupied(field).is_some() && field.offset() >= end => first = Some(field),
            _ => {}
        }
        i += 1;
    }
    first
}

/// The offset as a signed number. It fits: no object is larger than `isize::MAX`.
const fn signed(offset: usize) -> i64 {
    (offset as u64).cast_signed()
}

#[cfg(test)]
mod tests;
