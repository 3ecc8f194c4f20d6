//! The runs of a record: a few operations, with their loops written out.

use super::plan::Op;

/// A range of data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Displacement in bytes from the record's origin.
    pub(crate) disp: isize,
    /// How many bytes.
    pub(crate) len: usize,
}

/// The runs of one record, in packed order.
#[derive(Debug)]
pub(crate) struct RunList {
    runs: [Run; Self::MOST],
    len: usize,
    /// So many runs may still be added: those that touch take no room, but time.
    left: usize,
}

impl RunList {
    /// A record with at most this many runs gets code or a loop for each; one with more is packed by walking the
    /// operations.
    pub(crate) const MOST: usize = 64;

    pub(crate) const EMPTY: Self =
        Self { runs: [Run { disp: 0, len: 0 }; Self::MOST], len: 0, left: 4 * Self::MOST };

    /// The runs of operations, if they are few enough.
    pub(crate) const fn expand(ops: &[Op]) -> Option<Self> {
        let mut list = Self::EMPTY;
        if list.add(ops, 0) { Some(list) } else { None }
    }

    /// The runs.
    #[inline]
    pub(crate) const fn all(&self) -> &[Run] {
        self.runs.split_at(self.len).0
    }

    /// One of the runs. Of a constant list it has to be a constant for whoever copies it, or a few bytes take ten times
    /// as long.
    #[inline(always)]
    pub(crate) const fn run(&self, index: usize) -> Run {
        self.runs[index]
    }

    const fn add(&mut self, ops: &[Op], shift: i64) -> bool {
        let mut i = 0;
        while i < ops.len() {
            match ops[i] {
                Op::Blocks(blocks) => {
                    let mut block = 0;
                    while block < blocks.count {
                        if !self.push(blocks.block(block).wrapping_add(shift), blocks.len) {
                            return false;
                        }
                        block += 1;
                    }
                    i += 1;
                }
                // Their places are not constant, or their bytes not those of memory.
                Op::List(_) | Op::Elements(_) => return false,
                Op::Loop { count, stride, items } => {
                    let body = ops.split_at(i + 1).1.split_at(items).0;
                    let mut turn = 0;
                    while turn < count {
                        let before = self.left;
                        let shift = shift.wrapping_add(stride.wrapping_mul(turn.cast_signed()));
                        // A loop over nothing would take its time for nothing.
                        if !self.add(body, shift) || self.left == before {
                            return false;
                        }
                        turn += 1;
                    }
                    i += items + 1;
                }
            }
        }
        true
    }

    /// Adds a run, to the one before where they touch.
    #[expect(clippy::cast_possible_truncation, reason = "data in memory")]
    const fn push(&mut self, disp: i64, len: u64) -> bool {
        let (disp, len) = (disp as isize, len as usize);
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        if self.len > 0 {
            let last = &mut self.runs[self.len - 1];
            if last.disp.wrapping_add_unsigned(last.len) == disp {
                last.len += len;
                return true;
            }
        }
        if self.len == Self::MOST {
            return false;
        }
        self.runs[self.len] = Run { disp, len };
        self.len += 1;
        true
    }
}
