//! The values of a record: a few operations that convert, with their loops written out.

use super::op::{Blocks, Elements, Op, split_first};
use crate::representation::Form;

/// The values of one record, in packed order. Values at equal distances are together.
#[derive(Debug)]
pub(crate) struct ValueList {
    list: [Elements; Self::MOST],
    len: usize,
    /// Number of groups that may still be added. One that continues the group before takes no space, but takes time.
    left: usize,
}

impl ValueList {
    /// The most groups of values. A record with more of them is converted by walking the operations.
    const MOST: usize = 64;

    const EMPTY: Self = Self {
        list: [Elements { blocks: Blocks::run(0, 0), form: Form::Same { width: 0 } }; Self::MOST],
        len: 0,
        left: 4 * Self::MOST,
    };

    /// The values of operations that convert; `None` if there are too many, or bytes are copied.
    pub(crate) fn expand(ops: &[Op]) -> Option<Self> {
        let mut list = Self::EMPTY;
        list.add(ops, 0)?;
        Some(list)
    }

    /// The values.
    pub(crate) fn all(&self) -> &[Elements] {
        &self.list[..self.len]
    }

    /// Packed bytes of the record; `None` if they do not fit.
    pub(crate) fn size(&self) -> Option<usize> {
        self.all().iter().try_fold(0_usize, |sum, Elements { blocks, .. }| {
            sum.checked_add(usize::try_from(blocks.len.checked_mul(blocks.count)?).ok()?)
        })
    }

    /// Adds the values of operations; `None` if there is no room for them.
    fn add(&mut self, ops: &[Op], shift: i64) -> Option<()> {
        let mut rest = ops;
        while let Some((op, body, after)) = split_first(rest) {
            rest = after;
            match *op {
                Op::Elements(all) => self.push(all.shifted(shift))?,
                Op::Loop { count, stride, .. } => {
                    let before = self.left;
                    for iteration in 0..count {
                        let way = stride.wrapping_mul(iteration.cast_signed());
                        self.add(body, shift.wrapping_add(way))?;
                        // Stop at a loop over nothing: it would only take time.
                        if self.left == before {
                            return None;
                        }
                    }
                }
                Op::Blocks(_) | Op::List(_) => return None,
            }
        }
        Some(())
    }

    /// Adds values, joined to those before where they continue them.
    fn push(&mut self, new: Elements) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if let Some(last) = self.list[..self.len].last_mut()
            && let Some(both) = last.followed_by(new)
        {
            *last = both;
            return Some(());
        }
        *self.list.get_mut(self.len)? = new;
        self.len += 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn value(disp: i64, width: u8) -> Op {
        let blocks = Blocks::run(disp, width.into());
        Op::Elements(Elements { blocks, form: Form::Reversed { width } })
    }

    fn places(ops: &[Op]) -> Option<Vec<(i64, u64, u64)>> {
        let list = ValueList::expand(ops)?;
        Some(
            list.all()
                .iter()
                .map(|all| (all.blocks.disp, all.blocks.len, all.blocks.count))
                .collect(),
        )
    }

    #[test]
    fn loops_are_written_out() {
        let pairs = Op::Loop { count: 2, stride: 16, items: 2 };
        let ops = [value(0, 4), pairs, value(8, 4), value(16, 8), value(40, 2)];
        let expected = [(0, 4, 2), (16, 8, 1), (24, 4, 1), (32, 8, 1), (40, 2, 1)];
        assert_eq!(places(&ops).unwrap(), expected);
        assert_eq!(ValueList::expand(&ops).unwrap().size(), Some(30));
        // Values that follow at the same distance are together.
        let ops = [Op::Loop { count: 3, stride: 8, items: 2 }, value(0, 2), value(4, 2)];
        assert_eq!(places(&ops).unwrap(), [(0, 2, 6)]);
    }

    #[test]
    fn some_records_have_too_many_values() {
        let pairs = |count| [Op::Loop { count, stride: 16, items: 2 }, value(0, 4), value(8, 8)];
        assert_eq!(places(&pairs(32)).unwrap().len(), 64);
        assert_eq!(places(&pairs(33)), None);
        assert_eq!(places(&[Op::Loop { count: u64::MAX, stride: 0, items: 0 }]), None);
        let one = |count| [Op::Loop { count, stride: 4, items: 1 }, value(0, 4)];
        assert_eq!(places(&one(256)).unwrap(), [(0, 4, 256)]);
        assert_eq!(places(&one(257)), None);
        assert_eq!(places(&[Op::Blocks(Blocks::run(0, 4))]), None);
    }
}
