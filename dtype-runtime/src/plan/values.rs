//! The values of a record: a few converting operations, with their loops unrolled.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use super::list::Lists;
use super::op::{Elements, Op, size, split_first};

/// The values of one instance in packed order. Each is converted byte by byte.
#[derive(Debug)]
pub(crate) struct Values {
    /// Operations without loops.
    ops: Box<[Op]>,
    size: u64,
}

impl Values {
    /// The values of these operations; `None` if there are too many, if they have too many bytes, or if some are not converted
    /// byte by byte.
    pub(crate) fn from_ops(ops: &[Op]) -> Option<Self> {
        let ops = values(ops)?;
        let size = bytewise_size(&ops)?;
        Some(Self { ops: ops.into(), size })
    }

    /// The values, as operations without loops.
    pub(crate) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The packed bytes of the values.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }
}

/// The packed bytes of these values, if they are few and all are converted byte by byte.
pub(crate) fn bytewise_size(values: &[Op]) -> Option<u64> {
    /// Records with more packed bytes than this are faster converted one by one.
    const MAX_WIDTH: u64 = 256;
    let has_kernel = |op: &Op| match op {
        Op::Elements(all) => all.form.is_bytewise() && all.blocks.len.is_power_of_two(),
        _ => false,
    };
    let size = size(values, Lists::none());
    (0 < size && size <= MAX_WIDTH && values.iter().all(has_kernel)).then_some(size)
}

/// The values of one record, in packed order, as operations without loops. Values at equal distances are one operation. `None`
/// if there are too many, or if any operation only copies bytes.
pub(crate) fn values(ops: &[Op]) -> Option<Cow<'_, [Op]>> {
    if ops.iter().all(|op| matches!(op, Op::Elements(_))) {
        return (ops.len() <= ValueList::MAX_VALUES).then_some(Cow::Borrowed(ops));
    }
    let mut list = ValueList { ops: Vec::new(), left: 4 * ValueList::MAX_VALUES };
    list.add(ops, 0)?;
    Some(Cow::Owned(list.ops))
}

struct ValueList {
    ops: Vec<Op>,
    /// How many more operations may be added. One that continues the operation before it needs no entry, but its step takes
    /// time.
    left: usize,
}

impl ValueList {
    /// The most operations. A record with more of them is converted by walking its loops.
    const MAX_VALUES: usize = 256;

    /// Adds the values of operations; `None` if there are too many.
    fn add(&mut self, ops: &[Op], shift: i64) -> Option<()> {
        let mut rest = ops;
        while let Some((op, body, after)) = split_first(rest) {
            rest = after;
            match *op {
                Op::Elements(all) => self.push(all.shifted(shift))?,
                Op::Loop { count, stride, .. } => {
                    for iteration in 0..count {
                        let before = self.left;
                        let way = stride.wrapping_mul(iteration.cast_signed());
                        self.add(body, shift.wrapping_add(way))?;
                        // Stop at a loop over nothing: its iterations would only take time.
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
        if let Some(Op::Elements(last)) = self.ops.last_mut()
            && let Some(both) = last.followed_by(new)
        {
            *last = both;
        } else if self.ops.len() < Self::MAX_VALUES {
            self.ops.push(Op::Elements(new));
        } else {
            return None;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::op::Blocks;
    use super::*;
    use crate::representation::{ByteOrder, Form};

    fn value(disp: i64, width: u8) -> Op {
        let blocks = Blocks::run(disp, width.into());
        Op::Elements(Elements { blocks, form: Form::Reversed { width } })
    }

    fn places(ops: &[Op]) -> Option<Vec<(i64, u64, u64)>> {
        let place = |op: &Op| {
            let Op::Elements(Elements { blocks, .. }) = op else { panic!("{op:?}") };
            (blocks.disp, blocks.len, blocks.count)
        };
        Some(values(ops)?.iter().map(place).collect())
    }

    #[test]
    fn loops_are_written_out() {
        let pairs = Op::Loop { count: 2, stride: 16, items: 2 };
        let ops = [value(0, 4), pairs, value(8, 4), value(16, 8), value(40, 2)];
        let expected = [(0, 4, 2), (16, 8, 1), (24, 4, 1), (32, 8, 1), (40, 2, 1)];
        assert_eq!(places(&ops).unwrap(), expected);
        // Values that continue at the same distance become one operation.
        let ops = [Op::Loop { count: 3, stride: 8, items: 2 }, value(0, 2), value(4, 2)];
        assert_eq!(places(&ops).unwrap(), [(0, 2, 6)]);
    }

    #[test]
    fn only_records_of_a_few_bytes_are_kept_as_a_list() {
        let all = Values::from_ops(&[value(0, 4), value(8, 8)]).unwrap();
        assert_eq!((all.ops().len(), all.size()), (2, 12));
        let eights = |count| [Op::Loop { count, stride: 16, items: 2 }, value(0, 4), value(8, 4)];
        assert_eq!(Values::from_ops(&eights(32)).unwrap().size(), 256);
        assert!(Values::from_ops(&eights(33)).is_none());
        // A width that is not a power of two, values not converted byte by byte, and no values.
        assert!(Values::from_ops(&[value(0, 4), value(8, 10)]).is_none());
        let form = Form::Integer { memory: 8, packed: 4, signed: true, order: ByteOrder::Big };
        let long = Elements { blocks: Blocks::run(0, 4), form };
        assert!(Values::from_ops(&[value(8, 4), Op::Elements(long)]).is_none());
        assert!(Values::from_ops(&[]).is_none());
    }

    #[test]
    fn some_records_have_too_many_values() {
        let pairs = |count| [Op::Loop { count, stride: 16, items: 2 }, value(0, 4), value(8, 8)];
        assert_eq!(places(&pairs(128)).unwrap().len(), 256);
        assert_eq!(places(&[&pairs(128)[..], &[value(-9, 2)]].concat()), None);
        assert_eq!(places(&pairs(129)), None);
        assert_eq!(places(&[Op::Loop { count: u64::MAX, stride: 0, items: 0 }]), None);
        let one = |count| [Op::Loop { count, stride: 4, items: 1 }, value(0, 4)];
        assert_eq!(places(&one(1024)).unwrap(), [(0, 4, 1024)]);
        assert_eq!(places(&one(1025)), None);
        assert_eq!(places(&[Op::Blocks(Blocks::run(0, 4))]), None);
    }
}
