//! The columns of a type: its leaves, arrays joined, in the order of the packed record.

use alloc::string::String;
use alloc::vec::Vec;

use crate::basic::Basic;
use crate::plan::Place;
use crate::typemap::{Field, Node, TypeMap, first_of_path};

/// One dimension of the blocks of a column in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dimension {
    pub(super) count: usize,
    /// Bytes from one block to the next.
    pub(super) stride: usize,
}

/// The data of one column in a record.
#[derive(Clone, Copy)]
pub(super) struct Leaf {
    /// The basic datatype.
    map: &'static TypeMap,
    /// The position of the first block in the record, in bytes.
    pub(super) offset: usize,
    /// Bytes of each block: elements that touch.
    pub(super) block: usize,
    dimensions: [Dimension; Leaf::MAX_DIMENSIONS],
    len: usize,
    /// The elements in a record, all together.
    pub(super) elements: usize,
}

impl Leaf {
    /// The maximum number of dimensions whose blocks do not touch.
    const MAX_DIMENSIONS: usize = 8;

    /// The dimensions of the blocks, the outermost first. None if there is one block.
    #[inline]
    pub(super) const fn dimensions(&self) -> &[Dimension] {
        self.dimensions.split_at(self.len).0
    }

    /// Where the leaf is, if it is one block.
    #[inline]
    pub(super) const fn place(&self) -> Option<Place> {
        match self.len {
            0 => Some(Place { offset: self.offset, len: self.block }),
            _ => None,
        }
    }

    /// Bytes of the column in a record.
    #[inline]
    pub(super) const fn size(&self) -> usize {
        self.elements * self.map.size()
    }

    /// The basic datatype.
    pub(super) const fn basic(&self) -> Basic {
        match *self.map.node() {
            Node::Basic { basic, .. } => basic,
            // A leaf that was found is basic.
            _ => Basic::Byte,
        }
    }

    /// No data.
    pub(super) const fn none(map: &'static TypeMap) -> Self {
        Self {
            map,
            offset: 0,
            block: 0,
            dimensions: [Dimension { count: 0, stride: 0 }; Self::MAX_DIMENSIONS],
            len: 0,
            elements: 1,
        }
    }

    /// Leaf `index` of a map that has as many, counted in the order of the packed record.
    pub(super) const fn new(map: &'static TypeMap, index: usize) -> Self {
        let mut leaf = Self::none(map);
        leaf.find(map, index);
        leaf
    }

    const fn find(&mut self, map: &'static TypeMap, index: usize) {
        match *map.node() {
            Node::Basic { .. } => {
                self.map = map;
                self.block = map.size();
                // From the innermost dimension outwards, elements that touch join.
                while self.len > 0 {
                    let Dimension { count, stride } = self.dimensions[self.len - 1];
                    if stride != self.block {
                        return;
                    }
                    self.block *= count;
                    self.len -= 1;
                }
            }
            Node::Array { count, element } => {
                self.elements *= count;
                if count != 1 {
                    assert!(
                        self.len < Self::MAX_DIMENSIONS,
                        "columns of arrays that nest more than eight levels deep"
                    );
                    self.dimensions[self.len] = Dimension { count, stride: element.stride() };
                    self.len += 1;
                }
                self.find(element, index);
            }
            Node::Structure { fields, .. } => {
                let (mut before, mut i) = (0, 0);
                while i < fields.len() {
                    if let Some(field) = with_data(&fields[i]) {
                        let inside = leaves(field);
                        if index < before + inside {
                            self.offset += fields[i].offset();
                            self.find(field, index - before);
                            return;
                        }
                        before += inside;
                    }
                    i += 1;
                }
            }
        }
    }
}

/// The map of a field that has data.
const fn with_data(field: &Field) -> Option<&'static TypeMap> {
    match field.map() {
        Some(map) if map.size() > 0 => Some(map),
        _ => None,
    }
}

/// The number of columns of a type.
pub(super) const fn leaves(map: &TypeMap) -> usize {
    if map.size() == 0 {
        return 0;
    }
    match *map.node() {
        Node::Basic { .. } => 1,
        Node::Array { element, .. } => leaves(element),
        Node::Structure { fields, .. } => {
            let (mut number, mut i) = (0, 0);
            while i < fields.len() {
                if let Some(field) = with_data(&fields[i]) {
                    number += leaves(field);
                }
                i += 1;
            }
            number
        }
    }
}

/// Calls `visit` with the name of each field on the way to leaf `index`, and with the length of each array. Returns the
/// leaf.
fn walk(map: &'static TypeMap, index: usize, mut visit: impl FnMut(Step)) -> &'static TypeMap {
    let (mut map, mut index) = (map, index);
    loop {
        match *map.node() {
            Node::Basic { .. } => return map,
            Node::Array { count, element } => {
                visit(Step::Axis(count));
                map = element;
            }
            Node::Structure { fields, .. } => {
                let mut next = None;
                for field in fields {
                    let Some(inner) = with_data(field) else { continue };
                    let inside = leaves(inner);
                    if index < inside {
                        next = Some((field.name(), inner));
                        break;
                    }
                    index -= inside;
                }
                // The caller asks for a leaf that there is.
                let Some((name, inner)) = next else { return map };
                visit(Step::Field(name));
                map = inner;
            }
        }
    }
}

/// A step on the way to a leaf.
enum Step {
    Field(&'static str),
    Axis(usize),
}

/// The path of leaf `index`, and the lengths of the arrays on the way, the outermost first.
pub(super) fn path(map: &'static TypeMap, index: usize) -> (String, Vec<usize>) {
    let (mut path, mut lengths) = (String::new(), Vec::new());
    walk(map, index, |step| match step {
        Step::Axis(length) => lengths.push(length),
        Step::Field(name) => {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
        }
    });
    (path, lengths)
}

/// The map of leaf `index`, and the lengths of the arrays on the way, the outermost first.
pub(super) fn element(map: &'static TypeMap, index: usize) -> (&'static TypeMap, Vec<usize>) {
    let mut lengths = Vec::new();
    let leaf = walk(map, index, |step| {
        if let Step::Axis(length) = step {
            lengths.push(length);
        }
    });
    (leaf, lengths)
}

/// The result of following a path.
pub(super) enum Found {
    /// The column with this index.
    Leaf(usize),
    /// A struct, whose fields are columns.
    Structure(&'static TypeMap),
    /// No field, with the type that lacks the rest of the path.
    Nothing { parent: &'static TypeMap, rest: String },
}

/// The column at a path, which has names only: arrays are passed through.
pub(super) fn find(map: &'static TypeMap, path: &str) -> Found {
    let (mut map, mut before, mut rest) = (map, 0, path);
    loop {
        while let Node::Array { element, .. } = *map.node() {
            map = element;
        }
        let Node::Structure { fields, .. } = *map.node() else {
            return match rest {
                "" if map.size() > 0 => Found::Leaf(before),
                _ => Found::Nothing { parent: map, rest: rest.into() },
            };
        };
        if rest.is_empty() {
            return Found::Structure(map);
        }
        let first = first_of_path(fields, rest);
        let first = first.and_then(|(i, next)| Some((i, with_data(&fields[i])?, next)));
        let Some((index, inner, next)) = first else {
            return Found::Nothing { parent: map, rest: rest.into() };
        };
        before += fields[..index].iter().filter_map(with_data).map(leaves).sum::<usize>();
        (map, rest) = (inner, next);
    }
}
