//! Lists of irregular blocks while they are being written.
//!
//! Blocks are added one at a time. Each may be an ordinary entry, or one of three things may happen:
//!
//! - It touches the block before it, and the two become one.
//! - It is the 64th block at an equal distance: these 64 leave the list and become one counted operation.
//! - It does not fit the form of the table's entries, and the list is rewritten or ends.
//!
//! So the last block is kept *pending*, outside the table, until the next block shows that it will not grow.
//!
//! An example: blocks of 4 bytes at displacements 10, 30, 34, 50.
//!
//! ```text
//! block    pending   table (offsets from the list's displacement)
//! 10..14   10..14
//! 30..34   30..34    10
//! 34..38   30..38    10              touches: the pending block grows
//! 50..54   50..54    10, 30          8 bytes after 4: the list becomes one of different lengths
//! ```

use alloc::vec::Vec;

use crate::plan::{Blocks, EntryKind, List, Lists, Moves};

/// This many blocks of equal length at equal distances leave a list and become an operation.
pub(super) const REGULAR: u32 = 64;

/// This many consecutive blocks of equal length, at the end of a list of different lengths, become a list of their own, which
/// is shorter and faster. Such blocks are common: a single pair that touches turns a list of equal blocks into one of different
/// lengths.
pub(super) const ALIKE: u32 = 128;

/// As [`ALIKE`], for blocks at the end of a list after which nothing follows.
const ALIKE_AT_END: u32 = 32;

/// If the next block does not fit the form of a list, a list with fewer blocks than this is rewritten in a form that it fits. A
/// longer list ends, and the block starts another one.
const MAX_REWRITTEN: u32 = 64;

/// A list that still grows, at the end of its table.
///
/// It is small enough to stay in registers while blocks are added one after another, as long as the loop passes on only a copy
/// of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenList {
    list: List,
    /// The last block, which is not in the table yet because the next one may touch it.
    pending: Block,
    /// The block before `pending`, which is the last one in the table.
    previous: Block,
    /// Distance from the block before `previous` to `previous`.
    stride: i64,
    /// Number of consecutive steps of this stride, between blocks of the same length, that lead to `previous`.
    steps: u32,
    /// Number of consecutive blocks with the length of `previous`, not counting the first.
    alike: u32,
    /// Packed bytes of the blocks in the table.
    packed: u64,
    least: u64,
    greatest: u64,
}

/// A run of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) disp: i64,
    pub(super) len: u64,
}

/// Why a list has to end.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// This block does not fit the form of the list.
    Misfit(Block),
    /// The blocks at the end were regular, and were taken out.
    Regular(Blocks),
    /// Many blocks at the end of a list of different lengths have one length.
    Alike,
}

impl OpenList {
    /// A list that starts with a block.
    pub(super) fn new(first: Block) -> Self {
        // Offsets are not negative, but later blocks may lie before this one as well as after it.
        let disp = first.disp.wrapping_sub(1 << 31);
        let Block { len, .. } = first;
        let (kind, moves) = (EntryKind::Even, Moves::Any);
        Self {
            list: List { disp, len, first: 0, count: 0, kind, moves },
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
    pub(super) fn pending(&self) -> Block {
        self.pending
    }

    /// The number of blocks at the end of a list of different lengths that have one length, if there are enough for a list of
    /// their own now that no other block follows.
    pub(super) fn alike_at_end(&self) -> Option<u32> {
        let is_varied = matches!(self.list.kind, EntryKind::Varied | EntryKind::WideVaried);
        let number = self.alike.saturating_add(1);
        (is_varied && number >= ALIKE_AT_END).then_some(number)
    }

    /// Number of blocks in the table.
    pub(super) fn count(&self) -> u64 {
        self.list.count()
    }
}

/// The number of blocks that [`Lists::extend_plainly`] checks before it writes any.
pub(super) const BATCH: usize = 128;

impl Lists {
    /// Appends the next [`BATCH`] blocks to a list of equal ones if they are all ordinary entries: a first pass checks this,
    /// and a second one writes them. Otherwise returns `false` and leaves the blocks to [`extend`](Self::extend), which gives
    /// the same list.
    pub(super) fn extend_plainly(
        &mut self,
        open: &mut OpenList,
        blocks: &mut (impl Iterator<Item = Block> + Clone),
    ) -> bool {
        let OpenList { list: List { disp: origin, len, kind, count, .. }, pending, .. } = *open;
        if !matches!(kind, EntryKind::Even) || count == 0 || pending.len != len {
            return false;
        }
        let offset = |disp: i64| disp.wrapping_sub(origin).cast_unsigned();
        let (mut last, mut before) = (pending.disp, open.previous.disp);
        let (mut stride, mut steps, mut most_steps) = (open.stride, open.steps, 0);
        let (mut bits, mut number, mut is_plain) = (0, 0, true);
        for block in blocks.clone().take(BATCH) {
            // `last` goes into the table, unless this block touches it.
            let distance = last.wrapping_sub(before);
            steps = if distance == stride { steps + 1 } else { 1 };
            most_steps = most_steps.max(steps);
            bits |= offset(last);
            is_plain &= block.len == len;
            is_plain &= block.disp.wrapping_sub(last).cast_unsigned() != len;
            (before, stride, last) = (last, distance, block.disp);
            number += 1;
        }
        let fits = u32::try_from(bits).is_ok() && most_steps + 1 < REGULAR;
        if !is_plain || !fits || number == 0 {
            return false;
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the first pass has looked at all bits"
        )]
        let entry = |disp| offset(disp) as u32;
        self.even.push(entry(pending.disp));
        let settled = blocks.clone().take(number as usize - 1);
        self.even.extend(settled.map(|block| entry(block.disp)));
        blocks.by_ref().take(number as usize).for_each(drop);
        open.list.count += number;
        open.packed += len * u64::from(number);
        open.alike = open.alike.saturating_add(number);
        (open.stride, open.steps) = (stride, steps);
        (open.previous, open.pending) = (Block { disp: before, len }, Block { disp: last, len });
        true
    }

    /// Appends blocks to a list until one of them ends it.
    #[inline]
    pub(super) fn extend(
        &mut self,
        open: &mut OpenList,
        blocks: impl Iterator<Item = Block>,
    ) -> Result<(), End> {
        let mut list = *open;
        let mut result = Ok(());
        // `try_for_each` would keep the list in memory.
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
    pub(super) fn settle(&mut self, open: &mut OpenList, block: Block) -> Result<(), End> {
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
        // Without branches, because no processor can predict whether two neighbours have the same length. The data's extent
        // fits 64 bits, so the distance fits too.
        let stride = block.disp.wrapping_sub(open.previous.disp);
        let same_stride = u32::from(stride == open.stride);
        let same_len = u32::from(block.len == open.previous.len);
        open.steps = (open.steps * same_stride + 1) * same_len;
        open.alike = open.alike.saturating_add(1) * same_len;
        open.stride = stride;
        open.previous = block;
        if open.steps + 1 < REGULAR {
            let is_varied = matches!(open.list.kind, EntryKind::Varied | EntryKind::WideVaried);
            return if open.alike + 1 == ALIKE && is_varied { Err(End::Alike) } else { Ok(()) };
        }
        let regular = self.take_regular(*open);
        // The count is at least `REGULAR`: each step led from one block of this list to another.
        open.list.count -= REGULAR;
        open.packed -= regular.len * regular.count;
        Err(End::Regular(regular))
    }

    /// Adds an entry for a block, if its displacement and length fit the form of the list.
    #[inline(always)]
    fn put(&mut self, list: &List, block: Block, packed: u64) -> bool {
        let offset = block.disp.wrapping_sub(list.disp).cast_unsigned();
        match list.kind {
            EntryKind::Even => match u32::try_from(offset) {
                Ok(offset) if block.len == list.len => self.even.push(offset),
                _ => return false,
            },
            EntryKind::Varied => match (u32::try_from(offset), u32::try_from(packed + block.len)) {
                #[expect(clippy::cast_possible_truncation, reason = "less than the sum")]
                (Ok(offset), Ok(_)) => self.varied.push([offset, packed as u32]),
                _ => return false,
            },
            EntryKind::WideEven if block.len == list.len => self.wide_even.push(offset),
            EntryKind::WideEven => return false,
            EntryKind::WideVaried => self.wide_varied.push([offset, packed]),
        }
        true
    }

    /// Rewrites the list in a form that a block fits, and adds the block's entry; `None` if the list is too long to rewrite.
    #[cold]
    fn put_otherwise(&mut self, open: OpenList, block: Block) -> Option<List> {
        let mut list = open.list;
        if list.count >= MAX_REWRITTEN {
            return None;
        }
        let offset = block.disp.wrapping_sub(list.disp).cast_unsigned();
        let narrow = matches!(list.kind, EntryKind::Even | EntryKind::Varied)
            && u32::try_from(offset).is_ok()
            && u32::try_from(open.packed + block.len).is_ok();
        let even = list.block_len() == Some(block.len);
        let blocks = self.take(&open);
        (list.kind, list.first) = match (narrow, even) {
            (true, true) => (EntryKind::Even, self.even.len()),
            (true, false) => (EntryKind::Varied, self.varied.len()),
            (false, true) => (EntryKind::WideEven, self.wide_even.len()),
            (false, false) => (EntryKind::WideVaried, self.wide_varied.len()),
        };
        let mut packed = 0;
        for block in blocks.into_iter().chain([block]) {
            let fits = self.put(&list, block, packed);
            debug_assert!(fits, "the form was chosen for it");
            packed += block.len;
        }
        Some(list)
    }

    /// Removes the last blocks, which are regular.
    #[cold]
    fn take_regular(&mut self, open: OpenList) -> Blocks {
        let OpenList { list, previous: Block { disp, len }, stride, .. } = open;
        self.truncate(&List { count: list.count - REGULAR, ..list });
        let disp = disp.wrapping_sub(stride.wrapping_mul(i64::from(REGULAR) - 1));
        Blocks { disp, len, count: REGULAR.into(), stride }
    }

    /// Removes the last `number` blocks of a list of different lengths. They have one length.
    #[cold]
    pub(super) fn take_alike(&mut self, open: &mut OpenList, number: u32) -> Vec<Block> {
        let (count, Block { len, .. }) = (open.list.count - number, open.previous);
        let List { disp, first, kind, .. } = open.list;
        let block = |offset: u64| Block { disp: disp.wrapping_add(offset.cast_signed()), len };
        let from = first + count as usize;
        let blocks = match kind {
            EntryKind::Varied => {
                let entries = self.varied.get(from..).unwrap_or(&[]).iter();
                entries.map(|[offset, _]| block(u64::from(*offset))).collect()
            }
            EntryKind::WideVaried => {
                let entries = self.wide_varied.get(from..).unwrap_or(&[]).iter();
                entries.map(|[offset, _]| block(*offset)).collect()
            }
            // All blocks of such a list have one length already.
            EntryKind::Even | EntryKind::WideEven => return Vec::new(),
        };
        open.list.count = count;
        open.packed -= len * u64::from(number);
        self.truncate(&open.list);
        blocks
    }

    /// Removes all blocks of a list from its table.
    pub(super) fn take(&mut self, open: &OpenList) -> Vec<Block> {
        let list = &self.ended(open);
        let blocks = self.blocks(list).map(|(disp, len)| Block { disp, len }).collect();
        self.truncate(&List { count: 0, ..*list });
        blocks
    }

    /// The list in its final form.
    pub(super) fn ended(&mut self, open: &OpenList) -> List {
        let packed = open.packed;
        match open.list.kind {
            EntryKind::Even | EntryKind::WideEven => {}
            #[expect(clippy::cast_possible_truncation, reason = "checked with the last block")]
            EntryKind::Varied => self.varied.push([0, packed as u32]),
            EntryKind::WideVaried => self.wide_varied.push([0, packed]),
        }
        List { moves: Moves::for_lengths(open.least, open.greatest), ..open.list }
    }

    /// Removes the entries after the blocks of a list from its table.
    fn truncate(&mut self, list: &List) {
        let end = list.first + list.count as usize;
        match list.kind {
            EntryKind::Even => self.even.truncate(end),
            EntryKind::Varied => self.varied.truncate(end),
            EntryKind::WideEven => self.wide_even.truncate(end),
            EntryKind::WideVaried => self.wide_varied.truncate(end),
        }
    }
}
