//! Lists while they are written.

use alloc::vec::Vec;

use super::{Form, List, Lists, Moves};
use crate::commit::plan::Blocks;

/// Blocks at equal distances, of equal length, are taken out of a list when they are so many.
pub(super) const REGULAR: u32 = 64;

/// So many blocks of equal length in a row, at the end of a list of different lengths, become a list of their
/// own, which is shorter and faster. They are often many: a single pair that touches makes a list of equal blocks
/// one of different lengths.
pub(super) const ALIKE: u32 = 128;

/// A list with fewer blocks than this is written anew in another form where a block needs that; a
/// longer one ends there, and another begins.
const REWRITTEN: u32 = 64;

/// A list that still grows, at the end of its table.
///
/// It is small enough to be kept in registers while blocks are added one after another, as long as
/// nothing but a copy leaves the loop.
#[derive(Clone, Copy, Debug)]
pub(in crate::commit) struct OpenList {
    pub(super) list: List,
    /// The last block, which is not in the table yet because the next one may touch it.
    pub(super) pending: Block,
    /// The block before, which is the last one in the table.
    pub(super) previous: Block,
    /// Distance from the block before that to `previous`.
    pub(super) stride: i64,
    /// How many steps of the same stride between blocks of the same length led to `previous`.
    pub(super) steps: u32,
    /// How many blocks in a row have had the length of `previous`, the first not counted.
    pub(super) alike: u32,
    /// Packed bytes of what is in the table.
    pub(super) packed: u64,
    pub(super) least: u64,
    pub(super) greatest: u64,
}

/// A run of bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::commit) struct Block {
    pub(in crate::commit) disp: i64,
    pub(in crate::commit) len: u64,
}

/// Why a list has to end.
#[derive(Clone, Copy, Debug)]
pub(in crate::commit) enum End {
    /// This block does not fit behind the others.
    Misfit(Block),
    /// So many blocks at the end turned out to be regular, and were taken out.
    Regular(Blocks),
    /// Many blocks at the end, of a list of different lengths, have turned out to be equally long.
    Alike,
}

impl OpenList {
    /// A list that starts with a block.
    pub(in crate::commit) fn new(first: Block) -> Self {
        // Offsets are not negative, and the next blocks may be before this one or behind it.
        let disp = first.disp.wrapping_sub(1 << 31);
        let Block { len, .. } = first;
        let (form, moves) = (Form::Even, Moves::Any);
        Self {
            list: List { disp, len, first: 0, count: 0, form, moves },
            pending: first,
            previous: Block { disp: 0, len: 0 },
            stride: 0,
            steps: 0,
            alike: 0,
            packed: 0,
            least: u64::MAX,
            greatest: 0,
        }
    }

    /// The last block, which is not in the table.
    pub(in crate::commit) fn pending(&self) -> Block {
        self.pending
    }

    /// Number of blocks in the table.
    pub(in crate::commit) fn count(&self) -> u64 {
        self.list.count()
    }
}

impl Lists {
    /// Adds blocks to a list, behind the others, until one of them ends it.
    #[inline]
    pub(in crate::commit) fn extend(
        &mut self,
        open: &mut OpenList,
        blocks: impl Iterator<Item = Block>,
    ) -> Result<(), End> {
        let mut list = *open;
        let mut result = Ok(());
        // Not by `try_for_each`, which keeps the list in memory.
        for block in blocks {
            let pending = list.pending;
            if pending.disp.wrapping_add(pending.len.cast_signed()) == block.disp {
                list.pending.len += block.len;
                continue;
            }
            list.pending = block;
            result = self.settle(&mut list, pending);
            if result.is_err() {
                break;
            }
        }
        *open = list;
        result
    }

    /// Puts a block that will not grow any more into the table.
    #[inline(always)]
    pub(in crate::commit) fn settle(
        &mut self,
        open: &mut OpenList,
        block: Block,
    ) -> Result<(), End> {
        if open.list.count == 0 {
            open.list.first = self.even.len();
        }
        if !self.put(&open.list, block, open.packed) {
            match self.put_otherwise(*open, block) {
                Some(list) => open.list = list,
                None => return Err(End::Misfit(block)),
            }
        }
        open.list.count += 1;
        open.packed += block.len;
        open.least = open.least.min(block.len);
        open.greatest = open.greatest.max(block.len);
        // Without branches: whether two neighbours are alike is what no processor can guess. The
        // data's extent fits, so the distance does.
        let stride = block.disp.wrapping_sub(open.previous.disp);
        let same_stride = u32::from(stride == open.stride);
        let same_len = u32::from(block.len == open.previous.len);
        open.steps = (open.steps * same_stride + 1) * same_len;
        open.alike = open.alike.saturating_add(1) * same_len;
        open.stride = stride;
        open.previous = block;
        if open.steps + 1 < REGULAR {
            let is_varied = matches!(open.list.form, Form::Varied | Form::WideVaried);
            return if open.alike + 1 == ALIKE && is_varied { Err(End::Alike) } else { Ok(()) };
        }
        let regular = self.take_regular(*open);
        // No more than there are: each step led to a block of this list, from another of it.
        open.list.count -= REGULAR;
        open.packed -= regular.len * regular.count;
        Err(End::Regular(regular))
    }

    /// Adds an entry for a block if the form of the list has room for what it says.
    #[inline(always)]
    fn put(&mut self, list: &List, block: Block, packed: u64) -> bool {
        let offset = block.disp.wrapping_sub(list.disp).cast_unsigned();
        match list.form {
            Form::Even => match u32::try_from(offset) {
                Ok(offset) if block.len == list.len => self.even.push(offset),
                _ => return false,
            },
            Form::Varied => match (u32::try_from(offset), u32::try_from(packed + block.len)) {
                #[expect(clippy::cast_possible_truncation, reason = "less than the sum")]
                (Ok(offset), Ok(_)) => self.varied.push([offset, packed as u32]),
                _ => return false,
            },
            Form::WideEven if block.len == list.len => self.wide_even.push(offset),
            Form::WideEven => return false,
            Form::WideVaried => self.wide_varied.push([offset, packed]),
        }
        true
    }

    /// Writes the list anew in a form that has room for a block, and adds the block's entry; `None` if
    /// the list is too long for that.
    #[cold]
    fn put_otherwise(&mut self, open: OpenList, block: Block) -> Option<List> {
        let mut list = open.list;
        if list.count >= REWRITTEN {
            return None;
        }
        let offset = block.disp.wrapping_sub(list.disp).cast_unsigned();
        let narrow = matches!(list.form, Form::Even | Form::Varied)
            && u32::try_from(offset).is_ok()
            && u32::try_from(open.packed + block.len).is_ok();
        let even = list.block_len() == Some(block.len);
        let blocks = self.take(&open);
        (list.form, list.first) = match (narrow, even) {
            (true, true) => (Form::Even, self.even.len()),
            (true, false) => (Form::Varied, self.varied.len()),
            (false, true) => (Form::WideEven, self.wide_even.len()),
            (false, false) => (Form::WideVaried, self.wide_varied.len()),
        };
        let mut packed = 0;
        for block in blocks.into_iter().chain([block]) {
            let fits = self.put(&list, block, packed);
            debug_assert!(fits, "the form was chosen for it");
            packed += block.len;
        }
        Some(list)
    }

    /// Takes the last blocks, which are regular, out again.
    #[cold]
    fn take_regular(&mut self, open: OpenList) -> Blocks {
        let OpenList { list, previous: Block { disp, len }, stride, .. } = open;
        self.truncate(&List { count: list.count - REGULAR, ..list });
        let disp = disp.wrapping_sub(stride.wrapping_mul(i64::from(REGULAR) - 1));
        Blocks { disp, len, count: REGULAR.into(), stride }
    }

    /// Takes the blocks at the end that are equally long out of a list of different lengths.
    #[cold]
    pub(in crate::commit) fn take_alike(&mut self, open: &mut OpenList) -> Vec<Block> {
        let (count, Block { len, .. }) = (open.list.count - ALIKE, open.previous);
        let List { disp, first, form, .. } = open.list;
        let block = |offset: u64| Block { disp: disp.wrapping_add(offset.cast_signed()), len };
        let from = first + count as usize;
        let blocks = match form {
            Form::Varied => {
                let entries = self.varied.get(from..).unwrap_or(&[]).iter();
                entries.map(|[offset, _]| block(u64::from(*offset))).collect()
            }
            Form::WideVaried => {
                let entries = self.wide_varied.get(from..).unwrap_or(&[]).iter();
                entries.map(|[offset, _]| block(*offset)).collect()
            }
            // All of them are alike, as it is.
            Form::Even | Form::WideEven => return Vec::new(),
        };
        open.list.count = count;
        open.packed -= len * u64::from(ALIKE);
        self.truncate(&open.list);
        blocks
    }

    /// Takes all blocks of a list out of its table.
    pub(in crate::commit) fn take(&mut self, open: &OpenList) -> Vec<Block> {
        let list = &self.ended(open);
        let blocks = self.blocks(list).map(|(disp, len)| Block { disp, len }).collect();
        self.truncate(&List { count: 0, ..*list });
        blocks
    }

    /// The list in its final form.
    pub(in crate::commit) fn ended(&mut self, open: &OpenList) -> List {
        let packed = open.packed;
        match open.list.form {
            Form::Even | Form::WideEven => {}
            #[expect(clippy::cast_possible_truncation, reason = "checked with the last block")]
            Form::Varied => self.varied.push([0, packed as u32]),
            Form::WideVaried => self.wide_varied.push([0, packed]),
        }
        List { moves: Moves::of(open.least, open.greatest), ..open.list }
    }

    /// Drops what is in a table behind the blocks of a list.
    fn truncate(&mut self, list: &List) {
        let end = list.first + list.count as usize;
        match list.form {
            Form::Even => self.even.truncate(end),
            Form::Varied => self.varied.truncate(end),
            Form::WideEven => self.wide_even.truncate(end),
            Form::WideVaried => self.wide_varied.truncate(end),
        }
    }
}
