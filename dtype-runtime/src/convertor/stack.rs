//! The convertor's stack, computed from a position.
//!
//! In Open MPI, this stack is the state of a conversion (`pStack` of its `opal_convertor_t`). Here it is computed from the
//! position in the packed stream, so the two cannot disagree. It is for tools and tests: packing and unpacking do not use it.

use alloc::vec::Vec;

use crate::basic::Basic;
use crate::error::Error;
use crate::types::{Description, Entry};

/// One frame of the stack (`dt_stack_t` of Open MPI).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackFrame {
    /// Index of the entry in the description; −1 for the loop over the instances.
    pub index: i64,
    /// The kind of the entry.
    pub kind: StackType,
    /// For a loop, the number of iterations that have not begun; for data, the number of basic datatypes that are
    /// not completely converted.
    pub count: u64,
    /// The number of bytes to *add* to the displacements in the description ([`Elem::disp`](crate::types::Elem)) in
    /// the current state of the loops: where the next byte would lie if the displacement in its entry were 0.
    ///
    /// For a loop, this is the `disp` of the enclosing frame plus the loop's extent for each completed iteration;
    /// for data, the `disp` of the enclosing frame plus the data's extent for each completed basic datatype, plus
    /// the converted bytes of the incomplete one.
    pub disp: i64,
}

/// The kind of entry that a [`StackFrame`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackType {
    /// A loop (`OPAL_DATATYPE_LOOP`).
    Loop,
    /// Data of this basic datatype.
    Basic(Basic),
}

impl Description {
    /// The stack of a convertor that has converted `position` bytes of `count` instances.
    ///
    /// The first frame is the loop over the instances; the frames after it are the loops around the next byte,
    /// from the outermost to the innermost. A frame for data follows if the entry is partly converted, or if it is
    /// the first entry of the description, where every instance begins. Once everything is converted, the loops
    /// remain in their last iteration. If there is nothing to convert (no instances, or no data in them), the
    /// stack is empty.
    ///
    /// A frame's [`disp`](StackFrame::disp) does not contain the displacement of an entry, but is added to it: the
    /// next byte of an entry `elem` on top of the stack lies at `elem.disp + frame.disp`.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::Position`] if `position` is past the end.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    /// let stack = column.description().stack(1, 16)?;
    /// // Two of the four blocks have not begun; the next one is at 2 × 48 bytes.
    /// assert_eq!((stack[1].count, stack[1].disp), (2, 96));
    ///
    /// // Three numbers at displacement 8: at the start 0 is added to it, after one number 2.
    /// let numbers = Type::hindexed(&[3], &[8], &Type::basic(Basic::U16))?.description();
    /// assert_eq!(numbers.stack(2, 0)?[1].disp, 0);
    /// assert_eq!(numbers.stack(2, 2)?[1].disp, 2);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn stack(&self, count: u64, position: u64) -> Result<Vec<StackFrame>, Error> {
        let Some((Entry::EndLoop(instances), body)) = self.entries().split_last() else {
            return Ok(Vec::new());
        };
        let size = instances.size;
        let end = size.checked_mul(count).ok_or_else(|| Error::count_too_large(count, size))?;
        if position > end {
            return Err(Error::Position { position, end });
        }
        if end == 0 {
            // Open MPI then sets `CONVERTOR_COMPLETED` and does not prepare a stack.
            return Ok(Vec::new());
        }
        let mut stack = Vec::new();
        let mut descent = Descent { entries: body, index: 0, disp: 0, rest: position };
        let instances = Iterations { index: -1, loops: count, size, extent: self.extent() };
        descent.enter(&instances, &mut stack);
        descent.descend(&mut stack);
        Ok(stack)
    }
}

/// How far the descent from the description's start to the position has come.
struct Descent<'a> {
    /// The rest of the body of the innermost loop.
    entries: &'a [Entry],
    /// Index of the first of these entries in the description.
    index: usize,
    /// The sum that the loops add to the displacements of the entries, in bytes.
    disp: i64,
    /// Packed bytes from the start of `entries` to the position.
    rest: u64,
}

/// The properties of a loop.
struct Iterations {
    index: i64,
    loops: u64,
    /// Bytes of data in one iteration.
    size: u64,
    extent: i64,
}

impl Descent<'_> {
    /// Moves to the iteration that holds the position, and pushes the loop's frame.
    fn enter(&mut self, around: &Iterations, stack: &mut Vec<StackFrame>) {
        let Iterations { index, loops, size, extent } = *around;
        // Every loop has data, and at least one iteration.
        let (mut iteration, mut rest) = (self.rest / size, self.rest % size);
        let begun = iteration + u64::from(rest > 0);
        if iteration == loops {
            // Everything is converted: remain in the last iteration.
            iteration -= 1;
            rest = size;
        }
        self.rest = rest;
        self.disp = self.disp.wrapping_add(extent.wrapping_mul(iteration.cast_signed()));
        let (count, disp) = (loops - begun, self.disp);
        stack.push(StackFrame { index, kind: StackType::Loop, count, disp });
    }

    fn descend(mut self, stack: &mut Vec<StackFrame>) {
        while let [entry, after @ ..] = self.entries {
            let index = self.index as i64;
            match *entry {
                Entry::Elem(elem) => {
                    let unit = elem.basic.size() as u64;
                    if self.rest < elem.size() {
                        // Data have a frame while they are partly converted, and if they are the first entry of the
                        // description.
                        if self.rest > 0 || index == 0 {
                            let (whole, part) = (self.rest / unit, self.rest % unit);
                            let advance = elem.extent.wrapping_mul(whole.cast_signed());
                            stack.push(StackFrame {
                                index,
                                kind: StackType::Basic(elem.basic),
                                count: elem.count - whole,
                                disp: self.disp.wrapping_add(advance).wrapping_add_unsigned(part),
                            });
                        }
                        return;
                    }
                    self.rest -= elem.size();
                    self.entries = after;
                    self.index += 1;
                }
                Entry::Loop(head) => {
                    let (inside, outside) = after.split_at(head.items);
                    let Some((Entry::EndLoop(end), body)) = inside.split_last() else { return };
                    let all = end.size * head.loops;
                    let last = outside.is_empty();
                    if self.rest < all || last && self.rest == all {
                        let (loops, size, extent) = (head.loops, end.size, head.extent);
                        self.entries = body;
                        self.index += 1;
                        self.enter(&Iterations { index, loops, size, extent }, stack);
                    } else {
                        self.rest -= all;
                        self.entries = outside;
                        self.index += head.items + 1;
                    }
                }
                Entry::EndLoop(_) => return,
            }
        }
    }
}
