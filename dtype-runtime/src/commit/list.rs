//! Lists: many blocks at irregular places as one operation, with their places in a table.
//!
//! An operation of its own for each block would take ten times the memory that there is to say, and
//! time to decide for each block anew how it is copied. So the blocks' places stand in tables, of
//! which there is one for each [`Form`] of entry, and an operation refers to a part of one.

use alloc::vec::Vec;

use super::plan::Blocks;

/// Blocks at equal distances, of equal length, are taken out of a list when they are so many.
const REGULAR: u32 = 64;

/// A list with fewer blocks than this is written anew in another form where a block needs that; a
/// longer one ends there, and another begins.
const REWRITTEN: u32 = 64;

/// Blocks at irregular places: a part of a table of the plan.
///
/// [`Plan::blocks_of`](super::Plan::blocks_of) gives them one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// Displacement in bytes that the offsets in the table count from.
    disp: i64,
    /// Bytes of each block; of no meaning where they differ.
    len: u64,
    /// Index of the first entry.
    first: usize,
    /// Number of blocks. It fits: a type has at most 2²⁴ entries in its description, and none of them
    /// adds more than a few blocks on average.
    count: u32,
    form: Form,
    moves: Moves,
}

/// What an entry of the table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Where the block is. All have one length.
    Even,
    /// Where the block is, and how many packed bytes of the list are before it. One entry more than
    /// there are blocks says where the last one ends.
    Varied,
    /// As `Even`, beyond 32 bits.
    WideEven,
    /// As `Varied`, beyond 32 bits.
    WideVaried,
}

/// How blocks of any length that occurs in a list can be copied without looking at the length: so
/// many moves of so many bytes each, which overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// Two moves cover lengths from one width to two.
    Two(Width),
    /// Four moves cover lengths from one width to four.
    Four(Width),
    /// The lengths are too different, or too long.
    Any,
}

/// Bytes of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    W1,
    W2,
    W4,
    W8,
    W16,
    W32,
}

impl Moves {
    /// The moves for lengths from `least` to `greatest`.
    fn of(least: u64, greatest: u64) -> Self {
        let widths = [
            (1, Width::W1),
            (2, Width::W2),
            (4, Width::W4),
            (8, Width::W8),
            (16, Width::W16),
            (32, Width::W32),
        ];
        let covering = |moves: u64| {
            widths.iter().find(|(width, _)| *width <= least && greatest <= moves * width)
        };
        match (covering(2), covering(4)) {
            (Some((_, width)), _) => Self::Two(*width),
            (None, Some((_, width))) => Self::Four(*width),
            (None, None) => Self::Any,
        }
    }
}

/// The entries of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entries<'a> {
    /// Offsets of blocks that all have so many bytes.
    Even(&'a [u32], u64),
    /// Offset and packed position, one more than there are blocks.
    Varied(&'a [[u32; 2]]),
    /// As `Even`.
    WideEven(&'a [u64], u64),
    /// As `Varied`.
    WideVaried(&'a [[u64; 2]]),
}

impl Entries<'_> {
    /// The block that holds a position in the list's packed bytes, and where those of the block start. The
    /// search starts at `hint`, and is short where that is near.
    pub(crate) fn find(&self, position: u64, hint: usize) -> (usize, u64) {
        match *self {
            Self::Even(_, len) | Self::WideEven(_, len) => {
                let block = position.checked_div(len).unwrap_or(0);
                // At most as many as there are offsets, in memory.
                (usize::try_from(block).unwrap_or(usize::MAX), block * len)
            }
            Self::Varied(entries) => find(entries, position, hint),
            Self::WideVaried(entries) => find(entries, position, hint),
        }
    }

    /// About where the block is that holds a position, going by the average length.
    pub(crate) fn guess(&self, position: u64) -> usize {
        fn average<W: Copy + Into<u64>>(entries: &[[W; 2]], position: u64) -> usize {
            let last = entries.len().saturating_sub(1);
            #[expect(clippy::cast_precision_loss, reason = "a guess")]
            let share = position as f64 / span(entries, last).max(1) as f64;
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a guess"
            )]
            let guess = (share * last as f64) as usize;
            guess.min(last)
        }
        match *self {
            Self::Even(..) | Self::WideEven(..) => 0,
            Self::Varied(entries) => average(entries, position),
            Self::WideVaried(entries) => average(entries, position),
        }
    }

    /// Offset and length of block `index`.
    pub(crate) fn get(&self, index: usize) -> Option<(u64, u64)> {
        fn varied<W: Copy + Into<u64>>(entries: &[[W; 2]], index: usize) -> Option<(u64, u64)> {
            let ([offset, packed], [_, end]) = (*entries.get(index)?, *entries.get(index + 1)?);
            // In what is no list of this table an end may come before its start.
            Some((offset.into(), end.into().checked_sub(packed.into())?))
        }
        match *self {
            Self::Even(offsets, len) => Some((u64::from(*offsets.get(index)?), len)),
            Self::WideEven(offsets, len) => Some((*offsets.get(index)?, len)),
            Self::Varied(entries) => varied(entries, index),
            Self::WideVaried(entries) => varied(entries, index),
        }
    }
}

/// The last block that starts at a position or before, and where it does: by steps that double from the hint
/// on, and halves of the last step.
fn find<W: Copy + Into<u64>>(entries: &[[W; 2]], position: u64, hint: usize) -> (usize, u64) {
    let Some([_, origin]) = entries.first() else { return (0, 0) };
    let origin = (*origin).into();
    let is_before = |index: usize| entries[index][1].into() - origin <= position;
    let hint = hint.min(entries.len() - 1);
    let (mut before, mut behind, mut step) = (hint, hint, 1);
    if is_before(hint) {
        behind = loop {
            let next = before + step;
            if next >= entries.len() {
                break entries.len();
            }
            if !is_before(next) {
                break next;
            }
            (before, step) = (next, 2 * step);
        };
    } else {
        before = loop {
            let next = behind.saturating_sub(step);
            // The first block starts at 0.
            if next == 0 || is_before(next) {
                break next;
            }
            (behind, step) = (next, 2 * step);
        };
    }
    let between = &entries[before..behind];
    let block =
        before + between.partition_point(|[_, start]| (*start).into() - origin <= position) - 1;
    (block, span(entries, block))
}

/// Packed bytes of the first blocks.
fn span<W: Copy + Into<u64>>(entries: &[[W; 2]], blocks: usize) -> u64 {
    match (entries.first(), entries.get(blocks)) {
        (Some([_, start]), Some([_, end])) => (*end).into() - (*start).into(),
        _ => 0,
    }
}

impl List {
    /// The blocks from index `from` to before `to`.
    pub(crate) fn part(&self, from: usize, to: usize) -> Self {
        debug_assert!(from <= to && to <= self.count as usize, "blocks of this list");
        #[expect(clippy::cast_possible_truncation, reason = "no more than there are")]
        let count = (to - from) as u32;
        Self { first: self.first + from, count, ..*self }
    }

    /// Number of blocks.
    pub const fn count(&self) -> u64 {
        self.count as u64
    }

    /// Bytes of each block, or `None` where they differ.
    pub const fn block_len(&self) -> Option<u64> {
        match self.form {
            Form::Even | Form::WideEven => Some(self.len),
            Form::Varied | Form::WideVaried => None,
        }
    }

    /// Displacement in bytes that the offsets in the table count from.
    pub(crate) const fn disp(&self) -> i64 {
        self.disp
    }

    pub(crate) const fn moves(&self) -> Moves {
        self.moves
    }

    pub(super) const fn shifted(self, by: i64) -> Self {
        Self { disp: self.disp.wrapping_add(by), ..self }
    }
}

/// The tables of a plan, one for each form of entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tables {
    even: Vec<u32>,
    varied: Vec<[u32; 2]>,
    wide_even: Vec<u64>,
    wide_varied: Vec<[u64; 2]>,
}

impl Tables {
    /// The tables of operations among which there are no lists.
    pub(crate) const EMPTY: &'static Self = &Self::new();

    pub(super) const fn new() -> Self {
        Self {
            even: Vec::new(),
            varied: Vec::new(),
            wide_even: Vec::new(),
            wide_varied: Vec::new(),
        }
    }

    /// The entries of a list that these tables were filled for; none of any other.
    pub(crate) fn entries(&self, list: &List) -> Entries<'_> {
        fn part<T>(table: &[T], first: usize, count: usize) -> &[T] {
            table.get(first..).and_then(|rest| rest.get(..count)).unwrap_or(&[])
        }
        let (first, count) = (list.first, list.count as usize);
        match list.form {
            Form::Even => Entries::Even(part(&self.even, first, count), list.len),
            Form::Varied => Entries::Varied(part(&self.varied, first, count + 1)),
            Form::WideEven => Entries::WideEven(part(&self.wide_even, first, count), list.len),
            Form::WideVaried => Entries::WideVaried(part(&self.wide_varied, first, count + 1)),
        }
    }

    /// Packed bytes of a list.
    pub(super) fn size(&self, list: &List) -> u64 {
        match self.entries(list) {
            Entries::Even(offsets, len) => offsets.len() as u64 * len,
            Entries::WideEven(offsets, len) => offsets.len() as u64 * len,
            Entries::Varied(entries) => span(entries, entries.len().saturating_sub(1)),
            Entries::WideVaried(entries) => span(entries, entries.len().saturating_sub(1)),
        }
    }

    /// Displacement and length in bytes of each block of a list.
    pub(crate) fn blocks(&self, list: &List) -> impl Iterator<Item = (i64, u64)> {
        let (entries, disp) = (self.entries(list), list.disp);
        (0..list.count as usize).map_while(move |index| {
            let (offset, len) = entries.get(index)?;
            Some((disp.wrapping_add(offset.cast_signed()), len))
        })
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.even.shrink_to_fit();
        self.varied.shrink_to_fit();
        self.wide_even.shrink_to_fit();
        self.wide_varied.shrink_to_fit();
    }
}

/// A list that still grows, at the end of its table.
///
/// It is small enough to be kept in registers while blocks are added one after another, as long as
/// nothing but a copy leaves the loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenList {
    list: List,
    /// The last block, which is not in the table yet because the next one may touch it.
    pending: Block,
    /// The block before, which is the last one in the table.
    previous: Block,
    /// Distance from the block before that to `previous`.
    stride: i64,
    /// How many steps of the same stride between blocks of the same length led to `previous`.
    steps: u32,
    /// Packed bytes of what is in the table.
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
    /// This block does not fit behind the others.
    Misfit(Block),
    /// So many blocks at the end turned out to be regular, and were taken out.
    Regular(Blocks),
}

impl OpenList {
    /// A list that starts with a block.
    pub(super) fn new(first: Block) -> Self {
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
            packed: 0,
            least: u64::MAX,
            greatest: 0,
        }
    }

    /// The last block, which is not in the table.
    pub(super) fn pending(&self) -> Block {
        self.pending
    }

    /// Number of blocks in the table.
    pub(super) fn count(&self) -> u64 {
        self.list.count()
    }
}

impl Tables {
    /// Adds blocks to a list, behind the others, until one of them ends it.
    #[inline]
    pub(super) fn extend(
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
        // Without branches: whether two neighbours are alike is what no processor can guess. The
        // data's extent fits, so the distance does.
        let stride = block.disp.wrapping_sub(open.previous.disp);
        let same_stride = u32::from(stride == open.stride);
        let same_len = u32::from(block.len == open.previous.len);
        open.steps = (open.steps * same_stride + 1) * same_len;
        open.stride = stride;
        open.previous = block;
        if open.steps + 1 < REGULAR {
            return Ok(());
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

    /// Takes all blocks of a list out of its table.
    pub(super) fn take(&mut self, open: &OpenList) -> Vec<Block> {
        let list = &self.ended(open);
        let blocks = self.blocks(list).map(|(disp, len)| Block { disp, len }).collect();
        self.truncate(&List { count: 0, ..*list });
        blocks
    }

    /// The list in its final form.
    pub(super) fn ended(&mut self, open: &OpenList) -> List {
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
