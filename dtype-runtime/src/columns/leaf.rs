//! The columns of a type: its leaves, in the order of the packed record. All elements of an array are one leaf.

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
    /// The number of elements in a record.
    pub(super) elements: usize,
}

impl Leaf {
    /// The maximum number of dimensions whose blocks do not touch.
    const MAX_DIMENSIONS: usize = 8;

    /// The dimensions of the blocks, the outermost first. There are none for a single block.
    #[inline]
    pub(super) const fn dimensions(&self) -> &[Dimension] {
        self.dimensions.split_at(self.len).0
    }

    /// The offset of the leaf, if it is a single block.
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
            // Leaves are always basic.
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

    /// Leaf `index` of a map, in the order of the packed record. The map must have more leaves than that.
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
                // From the innermost dimension outwards, elements that touch are joined.
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

/// A leaf, and the fields and arrays around it.
pub(super) struct Route {
    /// The map of the leaf.
    pub(super) map: &'static TypeMap,
    /// The names of the fields, with dots between them.
    pub(super) path: String,
    /// The lengths of the arrays, the outermost first.
    pub(super) lengths: Vec<usize>,
}

/// The route to leaf `index` of a map. The map must have more leaves than that.
pub(super) fn route(map: &'static TypeMap, index: usize) -> Route {
    let (mut route, mut index) = (Route { map, path: String::new(), lengths: Vec::new() }, index);
    loop {
        match *route.map.node() {
            Node::Basic { .. } => return route,
            Node::Array { count, element } => {
                route.lengths.push(count);
                route.map = element;
            }
            Node::Structure { fields, .. } => {
                let next = fields.iter().find_map(|field| {
                    let map = with_data(field)?;
                    let inside = leaves(map);
                    if index < inside {
                        return Some((field.name(), map));
                    }
                    index -= inside;
                    None
                });
                // The map has such a leaf.
                let Some((name, map)) = next else { return route };
                if !route.path.is_empty() {
                    route.path.push('.');
                }
                route.path.push_str(name);
                route.map = map;
            }
        }
    }
}

/// The result of following a path.
pub(super) enum Found {
    /// The column with this index.
    Leaf(usize),
    /// A struct, whose fields are columns.
    Structure(&'static TypeMap),
    /// No field, with the type that the path fails in, and the rest of the path.
    Nothing { parent: &'static TypeMap, rest: String },
}

/// The column at a path. The path has only names; arrays need no index.
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
