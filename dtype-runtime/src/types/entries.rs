//! The type map of a type, expanded pair by pair while it is read.

use alloc::vec::Vec;

use super::{Description, Elem, Entry, Type};
use crate::basic::Basic;

/// One pair of a type map: a basic datatype and its displacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapEntry {
    /// The basic datatype.
    pub basic: Basic,
    /// Displacement in bytes from the origin.
    pub displacement: i64,
}

/// The type map of one instance, pair by pair, in order. It is expanded while it is read: even for a billion elements, the cost
/// is only that of the pairs that the caller reads.
#[derive(Clone, Debug)]
pub struct TypeMapEntries {
    walk: ElemWalk,
    current: Option<Elem>,
}

impl Type {
    /// The flattened type map: every basic datatype with its displacement, in order (MPI-4.1
    /// section 5.1).
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let backwards = Type::vector(3, 1, -1, &Type::basic(Basic::I16))?;
    /// let displacements: Vec<i64> = backwards.type_map().map(|entry| entry.displacement).collect();
    /// assert_eq!(displacements, [0, -2, -4]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn type_map(&self) -> TypeMapEntries {
        TypeMapEntries { walk: ElemWalk::new(self.description()), current: None }
    }
}

impl Iterator for TypeMapEntries {
    type Item = MapEntry;

    fn next(&mut self) -> Option<MapEntry> {
        let elem = match self.current.take() {
            Some(elem) => elem,
            None => self.walk.next()?,
        };
        if elem.count > 1 {
            let disp = elem.disp.wrapping_add(elem.extent);
            self.current = Some(Elem { count: elem.count - 1, disp, ..elem });
        }
        Some(MapEntry { basic: elem.basic, displacement: elem.disp })
    }
}

/// The elements of a description with the loops expanded, displacements included.
#[derive(Clone, Debug)]
pub(crate) struct ElemWalk {
    description: Description,
    index: usize,
    loops: Vec<Turn>,
    /// The sum that the open loops add to the displacements.
    shift: i64,
}

/// A loop that is being walked.
#[derive(Clone, Debug)]
struct Turn {
    first: usize,
    left: u64,
    extent: i64,
    /// The shift around the loop.
    outer: i64,
}

impl ElemWalk {
    pub(crate) fn new(description: Description) -> Self {
        Self { description, index: 0, loops: Vec::new(), shift: 0 }
    }
}

impl Iterator for ElemWalk {
    type Item = Elem;

    fn next(&mut self) -> Option<Elem> {
        loop {
            let entry = *self.description.entries().get(self.index)?;
            self.index += 1;
            match entry {
                Entry::Elem(elem) => {
                    let disp = elem.disp.wrapping_add(self.shift);
                    return Some(Elem { disp, ..elem });
                }
                Entry::Loop(head) => self.loops.push(Turn {
                    first: self.index,
                    left: head.loops,
                    extent: head.extent,
                    outer: self.shift,
                }),
                // With no open loop, this is the end of the instance and of the list.
                Entry::EndLoop(_) => {
                    let turn = self.loops.last_mut()?;
                    turn.left -= 1;
                    if turn.left > 0 {
                        self.index = turn.first;
                        self.shift = self.shift.wrapping_add(turn.extent);
                    } else {
                        self.shift = turn.outer;
                        self.loops.pop();
                    }
                }
            }
        }
    }
}
