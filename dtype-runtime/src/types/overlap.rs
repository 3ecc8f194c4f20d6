//! Whether a layout names a byte of memory twice.
//!
//! The result of unpacking into such a layout would depend on the order of the copies, so it is refused (MPI-4.1 section 5.1.1:
//! a datatype with overlapping entries must not be used to receive).
//!
//! Expanding every loop would answer the question, but a type of a few words can represent 2⁶⁰ blocks. Three proofs settle
//! nearly every layout without expansion, because they look at loops and not at each repetition. They can prove that nothing
//! overlaps, but not that something does.
//!
//! 1. *Nesting* ([`nests`]): a loop's body fits between its repetitions. In `vector(4, 1, 6, f64)` the body has 8
//!    bytes, the stride is 48: disjoint, and the whole covers bytes 0 to 152, which is the body of the next outer loop.
//! 2. *Strides by size* ([`NestedBlocks::is_disjoint`]): nesting fails for a transpose. Take the columns of a 3 × 3 matrix of
//!    bytes, one after another: an outer loop of 3 with stride 1 around an inner loop of 3 with stride 3. The inner
//!    loop covers 7 bytes, more than the outer stride. But the order of loops does not affect the set of bytes. Sorted
//!    by size, the loop with stride 1 comes first and covers 3 bytes, so repetitions with stride 3 do not overlap.
//! 3. *Modulo the strides* ([`NestedBlocks::is_disjoint_modulo_strides`]): each block alone is disjoint by proof 2, but the
//!    ranges of several interleave. Two columns of f64, at 0 and at 8, both with stride 16: modulo 16, the greatest
//!    common divisor of all strides, the first column lies at 0 to 8 and the second at 8 to 16, in every repetition.
//!
//! If no proof applies, the blocks are expanded and sorted, up to [`MAX_BLOCKS`] of them. That is exact.

use alloc::vec::Vec;

use super::{Entry, Item, items};

/// The maximum number of blocks to expand. A layout that needs more is reported as overlapping, so unpacking into it is
/// refused.
const MAX_BLOCKS: u64 = 1 << 22;

/// Bytes from `start` to before `end`. Wider than 64 bits, so that sums need no checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Extent {
    start: i128,
    end: i128,
}

/// A repetition around a block.
#[derive(Clone, Copy)]
struct Dimension {
    count: u64,
    stride: i64,
}

/// Whether `count` instances, with a stride of `extent` bytes, of the type with this description name a byte
/// more than once.
pub(crate) fn overlaps(entries: &[Entry], count: u64, extent: i64) -> bool {
    let Some((_, body)) = entries.split_last() else { return false };
    let instances = Dimension { count, stride: extent };
    if body.is_empty() || count == 0 || nests(body, instances).is_some() {
        return false;
    }
    let mut nested = NestedBlocks::default();
    let outermost = nested.enter(instances, None);
    nested.collect(body, outermost);
    !nested.is_disjoint() && nested.expanded_blocks_touch()
}

/// The blocks of a description, each with the loops around it.
#[derive(Default)]
struct NestedBlocks {
    blocks: Vec<Block>,
    /// Each loop, with the index of the loop around it.
    loops: Vec<(Dimension, Option<usize>)>,
}

struct Block {
    start: i64,
    len: u64,
    /// Index of the innermost loop.
    innermost: Option<usize>,
}

/// The range of bytes that a loop covers, if its body names no byte twice and fits between its repetitions.
fn nests(body: &[Entry], around: Dimension) -> Option<Extent> {
    let mut parts = Vec::new();
    for item in items(body) {
        match item {
            Item::Elem(elem) => {
                let start = i128::from(elem.disp);
                let inner = Extent { start, end: start + elem.basic.size() as i128 };
                parts.push(hull_of_copies(
                    inner,
                    Dimension { count: elem.count, stride: elem.extent },
                )?);
            }
            Item::Loop(head, inside) => {
                let dimension = Dimension { count: head.loops, stride: head.extent };
                parts.push(nests(inside, dimension)?);
            }
        }
    }
    hull_of_copies(hull_of_disjoint(&mut parts)?, around)
}

/// The range that a repeated range covers, if the repetitions are disjoint.
fn hull_of_copies(inner: Extent, Dimension { count, stride }: Dimension) -> Option<Extent> {
    let stride = i128::from(stride);
    if count > 1 && stride.abs() < inner.end - inner.start {
        return None;
    }
    let last = stride * i128::from(count.saturating_sub(1));
    Some(Extent { start: inner.start + last.min(0), end: inner.end + last.max(0) })
}

/// The range that covers these ranges, if no two of them share a byte.
fn hull_of_disjoint(parts: &mut [Extent]) -> Option<Extent> {
    if !parts.is_sorted() {
        parts.sort_unstable();
    }
    let disjoint = parts.windows(2).all(|pair| pair[0].end <= pair[1].start);
    match (disjoint, &*parts) {
        (true, [first, .., last]) => Some(Extent { start: first.start, end: last.end }),
        (true, [only]) => Some(*only),
        _ => None,
    }
}

impl NestedBlocks {
    /// Adds a loop inside another, unless it has a single iteration.
    fn enter(&mut self, dimension: Dimension, around: Option<usize>) -> Option<usize> {
        if dimension.count == 1 {
            return around;
        }
        self.loops.push((dimension, around));
        Some(self.loops.len() - 1)
    }

    fn collect(&mut self, body: &[Entry], around: Option<usize>) {
        for item in items(body) {
            match item {
                Item::Elem(elem) => {
                    let (start, len) = (elem.disp, elem.size());
                    self.blocks.push(Block { start, len, innermost: around });
                }
                Item::Loop(head, inside) => {
                    let dimension = Dimension { count: head.loops, stride: head.extent };
                    let inner = self.enter(dimension, around);
                    self.collect(inside, inner);
                }
            }
        }
    }

    /// The loops around a block, innermost first.
    fn around(&self, block: &Block) -> impl Iterator<Item = Dimension> {
        let mut next = block.innermost;
        core::iter::from_fn(move || {
            let (dimension, around) = self.loops[next?];
            next = around;
            Some(dimension)
        })
    }

    /// Whether each block's repetitions are disjoint by proof 2, and the repetitions of different blocks do not
    /// overlap: because they cover different ranges, or by [`is_disjoint_modulo_strides`].
    ///
    /// [`is_disjoint_modulo_strides`]: Self::is_disjoint_modulo_strides
    fn is_disjoint(&self) -> bool {
        let mut dimensions = Vec::new();
        let mut hulls = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            dimensions.clear();
            dimensions.extend(self.around(block));
            dimensions.sort_unstable_by_key(|dimension| dimension.stride.unsigned_abs());
            let start = i128::from(block.start);
            let one = Extent { start, end: start + i128::from(block.len) };
            let all =
                dimensions.iter().try_fold(one, |inner, &around| hull_of_copies(inner, around));
            let Some(hull) = all else { return false };
            hulls.push(hull);
        }
        hull_of_disjoint(&mut hulls).is_some() || self.is_disjoint_modulo_strides()
    }

    /// Whether all blocks are disjoint modulo the greatest common divisor of all strides, given that no block
    /// overlaps itself.
    fn is_disjoint_modulo_strides(&self) -> bool {
        let modulus = self
            .loops
            .iter()
            .fold(0, |all, (dimension, _)| common_divisor(all, dimension.stride.unsigned_abs()));
        if modulus == 0 {
            return false;
        }
        let modulus = i128::from(modulus);
        let mut parts = Vec::with_capacity(self.blocks.len() + 1);
        for block in &self.blocks {
            let start = i128::from(block.start).rem_euclid(modulus);
            let end = start + i128::from(block.len);
            parts.push(Extent { start, end: end.min(modulus) });
            if end > modulus {
                parts.push(Extent { start: 0, end: end - modulus });
            }
        }
        hull_of_disjoint(&mut parts).is_some()
    }

    /// Expands the blocks and looks for two that share a byte.
    fn expanded_blocks_touch(&self) -> bool {
        let number = |block: &Block| {
            self.around(block).try_fold(1_u64, |n, dimension| n.checked_mul(dimension.count))
        };
        let total = self.blocks.iter().try_fold(0_u64, |n, block| n.checked_add(number(block)?));
        if total.is_none_or(|total| total > MAX_BLOCKS) {
            return true;
        }
        let mut expanded = Vec::new();
        for block in &self.blocks {
            let start = i128::from(block.start);
            let first = expanded.len();
            expanded.push(Extent { start, end: start + i128::from(block.len) });
            for dimension in self.around(block) {
                let inner = expanded.len();
                for iteration in 1..dimension.count {
                    let shift = i128::from(iteration) * i128::from(dimension.stride);
                    for index in first..inner {
                        let Extent { start, end } = expanded[index];
                        expanded.push(Extent { start: start + shift, end: end + shift });
                    }
                }
            }
        }
        hull_of_disjoint(&mut expanded).is_none()
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use crate::{Basic, Flags, Type};

    /// Two columns of f64, interleaved: far more blocks than the limit on expansion.
    #[test]
    fn interleaved_columns_are_disjoint() {
        let column = Type::vector(1 << 40, 1, 2, &Type::basic(Basic::F64)).unwrap();
        let both =
            |second| Type::structure(&[1, 1], &[0, second], &[column.clone(), column.clone()]);
        assert!(!both(8).unwrap().flags().contains(Flags::OVERLAP));
        assert!(both(7).unwrap().flags().contains(Flags::OVERLAP));
        assert!(both(16).unwrap().flags().contains(Flags::OVERLAP));
    }

    /// A transpose: the resize makes the columns neighbours.
    #[test]
    fn transposes_are_disjoint() {
        let column = Type::vector(2000, 1, 2000, &Type::basic(Basic::F64)).unwrap();
        let next = Type::resized(&column, 0, 8).unwrap();
        let matrix = |columns| Type::contiguous(columns, &next).unwrap().flags();
        assert!(!matrix(2000).contains(Flags::OVERLAP));
        assert!(matrix(2001).contains(Flags::OVERLAP));
    }

    #[test]
    fn more_data_than_room_overlap_at_once() {
        let mut ty = Type::basic(Basic::U64);
        for _ in 0..30 {
            ty = Type::hvector(2, 1, 1, &ty).unwrap();
        }
        assert!(ty.flags().contains(Flags::OVERLAP));
    }
}
