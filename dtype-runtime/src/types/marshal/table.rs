//! The nodes of types, each once, however many types in memory are equal to it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::types::Type;

/// Nodes in the order of their height and, among those of one height, of their bytes. A node refers to others
/// by their numbers, so two nodes are equal exactly when their bytes are.
pub(in crate::types) struct Table {
    /// All nodes, one after another.
    pub(super) bytes: Vec<u8>,
    number_of_nodes: u64,
    numbers: BTreeMap<*const (), u64>,
    /// Whether types that differ in the rules for their bounds alone are different.
    pub(super) tells_rules: bool,
}

impl Table {
    /// The table of these types and everything that they are made of. It takes time in proportion to the
    /// memory of the types, not to the trees that they stand for, times the logarithm of their number.
    pub(in crate::types) fn of(roots: &[&Type]) -> Self {
        Self::made(roots, true)
    }

    /// As [`of`](Self::of), with one node for types that the same calls made, by whatever rules.
    pub(in crate::types) fn by_calls(roots: &[&Type]) -> Self {
        Self::made(roots, false)
    }

    fn made(roots: &[&Type], tells_rules: bool) -> Self {
        let (bytes, numbers) = (Vec::new(), BTreeMap::new());
        let mut table = Self { bytes, number_of_nodes: 0, numbers, tells_rules };
        let (mut written, mut nodes) = (Vec::new(), Vec::new());
        for level in levels(roots) {
            written.clear();
            nodes.clear();
            for ty in level {
                let start = written.len();
                table.write(ty, &mut written);
                nodes.push((start..written.len(), ty));
            }
            let bytes = |node: &(core::ops::Range<usize>, &Type)| &written[node.0.clone()];
            nodes.sort_unstable_by(|a, b| bytes(a).cmp(bytes(b)));
            for same in nodes.chunk_by(|a, b| bytes(a) == bytes(b)) {
                table.bytes.extend_from_slice(bytes(&same[0]));
                let number = table.number_of_nodes;
                table.numbers.extend(same.iter().map(|(_, ty)| (ty.address(), number)));
                table.number_of_nodes += 1;
            }
        }
        table
    }

    /// The number of the last node; a single root's.
    pub(super) fn last(&self) -> u64 {
        self.number_of_nodes - 1
    }

    /// The number of the node of a type that is in the table.
    pub(in crate::types) fn number(&self, ty: &Type) -> u64 {
        self.numbers[&ty.address()]
    }
}

/// A type on the way to the one that is looked at.
struct Frame<'a> {
    ty: &'a Type,
    next: usize,
    height: usize,
}

/// The types in memory by height: those that are made of no other first. None is looked at twice.
fn levels<'a>(roots: &[&'a Type]) -> Vec<Vec<&'a Type>> {
    let mut levels: Vec<Vec<&'a Type>> = Vec::new();
    let mut heights = BTreeMap::new();
    let mut stack = Vec::new();
    for root in roots {
        if !heights.contains_key(&root.address()) {
            stack.push(Frame { ty: root, next: 0, height: 0 });
        }
        while let Some(frame) = stack.last_mut() {
            let Some(part) = frame.ty.constructor().part(frame.next) else {
                let height = frame.height;
                if levels.len() <= height {
                    levels.resize_with(height + 1, Vec::new);
                }
                levels[height].push(frame.ty);
                heights.insert(frame.ty.address(), height);
                stack.pop();
                continue;
            };
            match heights.get(&part.address()) {
                Some(height) => {
                    frame.height = frame.height.max(height + 1);
                    frame.next += 1;
                }
                None => stack.push(Frame { ty: part, next: 0, height: 0 }),
            }
        }
    }
    levels
}
