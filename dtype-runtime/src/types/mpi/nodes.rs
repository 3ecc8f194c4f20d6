//! The nodes of types, each listed once, however often the types in memory repeat it.

pub(super) mod code;
pub(super) mod varint;
mod writer;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::types::Type;

/// Nodes sorted by height, and nodes of the same height by their bytes. A node refers to others by their numbers,
/// so two nodes are equal exactly when their bytes are.
pub(in crate::types) struct Table {
    /// All nodes, one after another.
    pub(super) bytes: Vec<u8>,
    number_of_nodes: u64,
    numbers: BTreeMap<*const (), u64>,
    /// Whether to treat types that differ only in the rules for their bounds as different.
    distinguish_rules: bool,
}

impl Table {
    /// Makes the table of these types and of all their parts. It takes time linear in the memory of the types, not in the trees
    /// that they represent, times the logarithm of the number of types.
    pub(in crate::types) fn new(roots: &[&Type], distinguish_rules: bool) -> Self {
        let (bytes, numbers) = (Vec::new(), BTreeMap::new());
        let mut table = Self { bytes, number_of_nodes: 0, numbers, distinguish_rules };
        let (mut written, mut nodes) = (Vec::new(), Vec::new());
        for types in by_height(roots) {
            written.clear();
            nodes.clear();
            for ty in types {
                let start = written.len();
                table.write(ty, &mut written);
                nodes.push((start..written.len(), ty));
            }
            let bytes = |node: &(core::ops::Range<usize>, &Type)| &written[node.0.clone()];
            nodes.sort_unstable_by(|a, b| bytes(a).cmp(bytes(b)));
            for same in nodes.chunk_by(|a, b| bytes(a) == bytes(b)) {
                table.bytes.extend_from_slice(bytes(&same[0]));
                let number = table.number_of_nodes;
                table.numbers.extend(same.iter().map(|(_, ty)| (ty.as_ptr(), number)));
                table.number_of_nodes += 1;
            }
        }
        table
    }

    /// The number of the last node; with a single root this is the root.
    pub(super) fn last(&self) -> u64 {
        self.number_of_nodes - 1
    }

    /// The number of the node of a type that is in the table.
    pub(in crate::types) fn number(&self, ty: &Type) -> u64 {
        self.numbers[&ty.as_ptr()]
    }
}

/// Whether these are all equal. Use it only for types that are equal only if they are clones of one type.
pub(super) fn same_address(types: &[&Type]) -> bool {
    types.windows(2).all(|pair| pair[0].as_ptr() == pair[1].as_ptr())
}

/// The types in memory by height, starting with types without parts. Each type is visited once.
fn by_height<'a>(roots: &[&'a Type]) -> Vec<Vec<&'a Type>> {
    let mut heights = Heights { all: Vec::new(), known: BTreeMap::new() };
    for root in roots {
        heights.visit(root);
    }
    heights.all
}

struct Heights<'a> {
    all: Vec<Vec<&'a Type>>,
    known: BTreeMap<*const (), usize>,
}

impl<'a> Heights<'a> {
    /// The height of a type. The recursion is as deep as the type, which is limited.
    fn visit(&mut self, ty: &'a Type) -> usize {
        if let Some(height) = self.known.get(&ty.as_ptr()) {
            return *height;
        }
        let parts = (0..).map_while(|index| ty.constructor().part(index));
        let height = parts.map(|part| self.visit(part) + 1).max().unwrap_or(0);
        if self.all.len() <= height {
            self.all.resize_with(height + 1, Vec::new);
        }
        self.all[height].push(ty);
        self.known.insert(ty.as_ptr(), height);
        height
    }
}
