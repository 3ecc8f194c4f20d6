//! Whether a layout names a byte of memory twice.
//!
//! Unpacking into such a layout would leave the result to the order of the copies, so it is refused
//! (MPI-4.1 section 5.1.1: a datatype with overlapping entries must not be used to receive). The
//! answer is exact. Two proofs settle nearly every layout without expanding a loop: a loop's body
//! fits between its repetitions, or the strides around each block, sorted by size, each clear what
//! lies within (which is what interleaved columns and transposes look like). Where neither applies,
//! the blocks are expanded and sorted.

use alloc::vec::Vec;

use super::Entry;

/// How many blocks are expanded at most. A layout that needs more is called overlapping; what is
/// lost is that unpacking into it is refused.
const MAX_BLOCKS: u64 = 1 << 24;

/// Bytes from `start` to before `end`; wider than 64 bits because sums are not checked one by one.
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

/// Whether `count` instances, `extent` bytes apart, of the type with this description name a byte
/// more than once.
pub(crate) fn overlaps(entries: &[Entry], count: u64, extent: i64) -> bool {
    let body = entries.strip_suffix(&entries[entries.len().saturating_sub(1)..]).unwrap_or(entries);
    let instances = Dimension { count, stride: extent };
    if body.is_empty() || count == 0 || nests(body, instances).is_some() {
        return false;
    }
    let mut blocks = Vec::new();
    collect(body, &mut Vec::from([instances]), &mut blocks);
    !lattices_are_disjoint(&blocks) && expanded_blocks_touch(&blocks)
}

/// A block with the loops around it, outermost first.
struct Block {
    start: i64,
    len: u64,
    dimensions: Vec<Dimension>,
}

/// The bytes between the first and the last of a loop, if its body names none twice and fits between
/// its repetitions.
fn nests(body: &[Entry], around: Dimension) -> Option<Extent> {
    let mut parts = Vec::new();
    let mut rest = body;
    while let [entry, after @ ..] = rest {
        rest = after;
        match entry {
            Entry::Elem(elem) => {
                let start = i128::from(elem.disp);
                let inner = Extent { start, end: start + elem.basic.size() as i128 };
                parts.push(repeated(inner, Dimension { count: elem.count, stride: elem.extent })?);
            }
            Entry::Loop(head) => {
                let (inside, outside) = after.split_at(head.items);
                let dimension = Dimension { count: head.loops, stride: head.extent };
                parts.push(nests(&inside[..head.items - 1], dimension)?);
                rest = outside;
            }
            Entry::EndLoop(_) => {}
        }
    }
    repeated(hull_of_disjoint(&mut parts)?, around)
}

/// What a range covers when it is repeated, if the repetitions are disjoint.
fn repeated(inner: Extent, Dimension { count, stride }: Dimension) -> Option<Extent> {
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

/// The blocks of a description, each with all the loops around it.
fn collect(body: &[Entry], around: &mut Vec<Dimension>, blocks: &mut Vec<Block>) {
    let mut rest = body;
    while let [entry, after @ ..] = rest {
        rest = after;
        match entry {
            Entry::Elem(elem) => {
                let mut dimensions = around.clone();
                let len = if elem.is_run() {
                    elem.size()
                } else {
                    dimensions.push(Dimension { count: elem.count, stride: elem.extent });
                    elem.basic.size() as u64
                };
                dimensions.retain(|dimension| dimension.count > 1);
                blocks.push(Block { start: elem.disp, len, dimensions });
            }
            Entry::Loop(head) => {
                let (inside, outside) = after.split_at(head.items);
                around.push(Dimension { count: head.loops, stride: head.extent });
                collect(&inside[..head.items - 1], around, blocks);
                around.pop();
                rest = outside;
            }
            Entry::EndLoop(_) => {}
        }
    }
}

/// Whether each block's repetitions clear one another when the strides are taken by size, and no two
/// blocks' repetitions come into the same range.
fn lattices_are_disjoint(blocks: &[Block]) -> bool {
    let hull = |block: &Block| {
        let start = i128::from(block.start);
        let mut dimensions = block.dimensions.clone();
        dimensions.sort_unstable_by_key(|dimension| dimension.stride.unsigned_abs());
        dimensions
            .iter()
            .try_fold(Extent { start, end: start + i128::from(block.len) }, |inner, &dimension| {
                repeated(inner, dimension)
            })
    };
    let Some(mut hulls) = blocks.iter().map(hull).collect::<Option<Vec<_>>>() else { return false };
    hull_of_disjoint(&mut hulls).is_some()
}

/// Expands the blocks and looks for two that share a byte.
fn expanded_blocks_touch(blocks: &[Block]) -> bool {
    let number = |block: &Block| {
        block.dimensions.iter().try_fold(1_u64, |n, dimension| n.checked_mul(dimension.count))
    };
    let total = blocks.iter().try_fold(0_u64, |n, block| n.checked_add(number(block)?));
    if total.is_none_or(|total| total > MAX_BLOCKS) {
        return true;
    }
    let mut expanded = Vec::new();
    for block in blocks {
        let start = i128::from(block.start);
        let first = expanded.len();
        expanded.push(Extent { start, end: start + i128::from(block.len) });
        for dimension in &block.dimensions {
            let inner = expanded.len();
            for turn in 1..dimension.count {
                let shift = i128::from(turn) * i128::from(dimension.stride);
                for index in first..inner {
                    let Extent { start, end } = expanded[index];
                    expanded.push(Extent { start: start + shift, end: end + shift });
                }
            }
        }
    }
    hull_of_disjoint(&mut expanded).is_none()
}
