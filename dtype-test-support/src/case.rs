//! Instances of a random datatype in a memory, with the results of the naive reference.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]
use std::fmt;
use std::ops::Range;

use dtype_runtime::{Committed, Error};

use crate::model::{Map, Tree, has_duplicates};

/// `count` instances of a type in memory that has a few spare bytes on both sides.
pub struct Case {
    tree: Tree,
    pub committed: Committed,
    pub map: Map,
    pub count: usize,
    /// The displacement of each byte of the packed stream.
    pub bytes: Vec<i64>,
    pub memory: Vec<u8>,
    /// The offset of displacement 0 in the memory.
    pub origin: usize,
}

impl Case {
    const SPARE: i64 = 3;

    pub fn new(tree: &Tree, count: usize) -> Self {
        let (committed, map) = (tree.build().unwrap().commit(), tree.map());
        let bytes = map.bytes(count);
        let start = bytes.iter().min().map_or(0, |first| *first.min(&0)) - Self::SPARE;
        let end = bytes.iter().max().map_or(0, |last| last + 1).max(0) + Self::SPARE;
        let memory = (0..end - start).map(|i| (i * 31 + 7).to_le_bytes()[0]).collect();
        let origin = usize::try_from(-start).unwrap();
        Self { tree: tree.clone(), committed, map, count, bytes, memory, origin }
    }

    /// The offset in the memory of a displacement.
    pub fn at(&self, displacement: i64) -> usize {
        usize::try_from(self.origin as i64 + displacement).unwrap()
    }

    /// The packed bytes of all instances.
    pub fn packed(&self) -> Vec<u8> {
        self.bytes.iter().map(|&at| self.memory[self.at(at)]).collect()
    }

    /// A packed stream of that length with other bytes.
    pub fn stream(&self) -> Vec<u8> {
        (0..self.bytes.len()).map(|i| (i * 7 + 1) as u8).collect()
    }

    /// Memory of the same size with one byte repeated, before anything is unpacked.
    pub fn blank(&self) -> Vec<u8> {
        vec![0x5A; self.memory.len()]
    }

    /// Writes a range of a packed stream to a memory, byte by byte.
    pub fn write(&self, packed: &[u8], range: Range<usize>, memory: &mut [u8]) {
        for i in range {
            memory[self.at(self.bytes[i])] = packed[i];
        }
    }

    /// The blank memory after a whole stream has been unpacked to it.
    pub fn unpacked(&self, packed: &[u8]) -> Vec<u8> {
        let mut memory = self.blank();
        self.write(packed, 0..packed.len(), &mut memory);
        memory
    }

    /// Whether a byte of memory is named twice. Unpacking is refused then.
    pub fn overlaps(&self) -> bool {
        has_duplicates(&self.bytes)
    }

    /// The error of unpacking if the instances overlap.
    pub fn overlap(&self) -> Error {
        Error::Overlap { count: self.count as u64 }
    }
}

/// The calls that make the type, which a failing property prints.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} instances of {:?}", self.count, self.tree)
    }
}
