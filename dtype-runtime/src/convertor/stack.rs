//! The convertor's stack, as a view of a position.
//!
//! Open MPI keeps this stack as the state of a conversion (`pStack` in seed `opal_convertor_t`).
//! Here it is computed from the position in the packed stream, so the two cannot disagree; it is for
//! tools and tests, nothing is executed from it.

use alloc::vec::Vec;

use crate::basic::Basic;
use crate::error::Error;
use crate::types::{Description, Entry};

/// One level of the stack (`dt_stack_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// Index of the entry in the description; −1 for the loop over the instances.
    pub index: i64,
    /// What the entry is.
    pub kind: StackType,
    /// For a loop, the repetitions of which no byte has been converted yet; for data, the basic
    /// datatypes that are not completely converted.
    pub count: u64,
    /// For a loop, what it and the loops around it add to the displacements of its entries, in
    /// bytes; for data, the displacement of the next byte.
    pub disp: i64,
}

/// What a [`StackFrame`] stands for.
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
    /// The first frame is the loop over the instances, the last one the innermost loop around the
    /// next byte, followed by a frame for data if these are begun and not done, or are the first
    /// entry, which is where an instance begins. Once all is converted, the loops stay where the
    /// last byte was. Where there is nothing to convert, because there are no instances or no
    /// data in them, nothing is begun, and there are no frames.
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`]; [`Error::Position`] when there are fewer than `position` bytes.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    /// let stack = column.description().stack(1, 16)?;
    /// // Two of the four blocks are still to be begun; the next one is at 2 × 48 bytes.
    /// assert_eq!((stack[1].count, stack[1].disp), (2, 96));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn stack(&self, count: u64, position: u64) -> Result<Vec<StackFrame>, Error> {
        let Some((Entry::EndLoop(instances), body)) = self.entries().split_last() else {
            return Ok(Vec::new());
        };
        let size = instances.size;
        let end = size.checked_mul(count).ok_or(Error::CountTooLarge { count, size })?;
        if position > end {
            return Err(Error::Position { position, end });
        }
        if end == 0 {
            // Complete before anything was set up, as seed `CONVERTOR_COMPLETED` has it.
            return Ok(Vec::new());
        }
        let mut stack = Vec::new();
        let mut level = Level { entries: body, index: 0, disp: 0, rest: position };
        let instances = Repetition { index: -1, loops: count, size, extent: self.extent() };
        level.enter(&instances, &mut stack);
        level.descend(&mut stack);
        Ok(stack)
    }
}

/// A place in the description on the way to the position.
struct Level<'a> {
    /// What is left of the body of the innermost loop.
    entries: &'a [Entry],
    /// Index of its first entry in the description.
    index: usize,
    disp: i64,
    /// Bytes from the start of `entries` to the position.
    rest: u64,
}

/// The numbers of a loop.
struct Repetition {
    index: i64,
    loops: u64,
    /// Bytes of data in one repetition.
    size: u64,
    extent: i64,
}

impl Level<'_> {
    /// Goes to the repetition that holds the position, and writes the frame.
    fn enter(&mut self, around: &Repetition, stack: &mut Vec<StackFrame>) {
        let Repetition { index, loops, size, extent } = *around;
        let (mut turn, mut rest) = match size {
            0 => (0, 0),
            _ => (self.rest / size, self.rest % size),
        };
        let begun = turn + u64::from(rest > 0);
        if turn == loops && turn > 0 {
            // All done: stay in the last repetition.
            turn -= 1;
            rest = size;
        }
        self.rest = rest;
        self.disp = self.disp.wrapping_add(extent.wrapping_mul(turn.cast_signed()));
        let (count, disp) = (loops - begun, self.disp);
        stack.push(StackFrame { index, kind: StackType::Loop, count, disp });
    }

    fn descend(mut self, stack: &mut Vec<StackFrame>) {
        while let [entry, after @ ..] = self.entries {
            let index = self.index as i64;
            match *entry {
                Entry::Elem(elem) => {
                    let unit = elem.basic.size() as u64;
                    // Data are shown while they are being converted, and where they are the very
                    // first entry.
                    if self.rest < elem.size() {
                        if self.rest > 0 || index == 0 {
                            let (whole, part) = (self.rest / unit, self.rest % unit);
                            let at = elem.extent.wrapping_mul(whole.cast_signed());
                            let disp = self.disp.wrapping_add(elem.disp).wrapping_add(at);
                            stack.push(StackFrame {
                                index,
                                kind: StackType::Basic(elem.basic),
                                count: elem.count - whole,
                                disp: disp.wrapping_add(part.cast_signed()),
                            });
                        }
                        return;
                    }
                    self.rest -= elem.size();
                    self.entries = after;
                    self.index += 1;
                }
                Entry::Loop(head) => {
                    let (inside, behind) = after.split_at(head.items);
                    let Some((Entry::EndLoop(end), body)) = inside.split_last() else { return };
                    let all = end.size * head.loops;
                    let last = behind.is_empty();
                    if self.rest < all || last && self.rest == all {
                        let (loops, size, extent) = (head.loops, end.size, head.extent);
                        self.entries = body;
                        self.index += 1;
                        self.enter(&Repetition { index, loops, size, extent }, stack);
                    } else {
                        self.rest -= all;
                        self.entries = behind;
                        self.index += head.items + 1;
                    }
                }
                Entry::EndLoop(_) => return,
            }
        }
    }
}
