//! Adds several blocks at once at the end of a list that still grows.
//!
//! One by one, each block waits for the block before it. For several blocks that nothing happens to, a few passes
//! without such an order establish this: no block touches its neighbour, the form of the list has room for all of
//! them, and they are too few to become regular or alike. Where something may happen, the blocks are left to
//! [`extend`](Lists::extend), which gives the same lists.

use super::open::{ALIKE, Block, OpenList, REGULAR};
use crate::plan::{EntryKind, Lists};

/// Blocks are added in batches of `MANY` while there are enough; the rest in batches of `FEW`.
const MANY: usize = 32;
const FEW: usize = 8;

/// Lengths of blocks in bytes, none of them zero.
#[derive(Clone, Copy)]
pub(in crate::commit) enum ByteLengths<'a> {
    Same(u64),
    /// One length for each block.
    Each(&'a [u64]),
}

impl Lists {
    /// Appends blocks to a list as long as nothing happens to them, and returns how many. About `more` further
    /// blocks follow the last of them.
    pub(in crate::commit) fn extend_at_once(
        &mut self,
        open: &mut OpenList,
        lengths: ByteLengths<'_>,
        places: &[i64],
        more: usize,
    ) -> usize {
        let mut list = *open;
        self.reserve(&list, places.len() + more);
        let (many, rest) = places.as_chunks::<MANY>();
        let mut done = 0;
        let all = many.iter().all(|places| {
            let added = self.add(&mut list, lengths.from(done), places);
            done += if added { MANY } else { 0 };
            added
        });
        if all {
            for places in rest.as_chunks::<FEW>().0 {
                if !self.add(&mut list, lengths.from(done), places) {
                    break;
                }
                done += FEW;
            }
        }
        *open = list;
        done
    }

    /// Appends blocks, if nothing happens to them, and returns whether it did.
    #[inline(always)]
    fn add<const N: usize>(
        &mut self,
        open: &mut OpenList,
        lengths: ByteLengths<'_>,
        places: &[i64; N],
    ) -> bool {
        match (open.list.kind, lengths) {
            (EntryKind::Even, ByteLengths::Same(len)) => self.add_even(open, len, places),
            (EntryKind::Varied, ByteLengths::Each(lengths)) => match lengths.first_chunk() {
                Some(lengths) => self.add_varied(open, lengths, places),
                None => false,
            },
            _ => false,
        }
    }

    #[inline(always)]
    fn add_even<const N: usize>(
        &mut self,
        open: &mut OpenList,
        len: u64,
        places: &[i64; N],
    ) -> bool {
        let alike = open.list.len == len && open.pending.len == len && open.previous.len == len;
        // The first block of a list has no block before it.
        if !alike || open.list.count == 0 || !has_room(open, N) {
            return false;
        }
        let Some(offsets) = offsets(open, places) else { return false };
        // In 32 bits a distance that is too small by 2³² looks the same, which does no harm.
        #[expect(clippy::cast_possible_truncation, reason = "as said")]
        if touches(offsets.first, &offsets.others, [len as u32; N]) {
            return false;
        }
        // The last block is now the pending one.
        self.even.push(offsets.first);
        self.even.extend_from_slice(&offsets.others[..N - 1]);
        open.packed += len * N as u64;
        open.advance_alike(len, places);
        true
    }

    #[inline(always)]
    fn add_varied<const N: usize>(
        &mut self,
        open: &mut OpenList,
        lengths: &[u64; N],
        places: &[i64; N],
    ) -> bool {
        let become_alike = open.alike as usize + N + 1 >= ALIKE as usize;
        if open.list.count == 0 || !has_room(open, N) || become_alike {
            return false;
        }
        let Some(offsets) = offsets(open, places) else { return false };
        let (mut bits, mut others) = (open.pending.len, [0; N]);
        for (other, len) in others.iter_mut().zip(lengths) {
            bits |= len;
            #[expect(clippy::cast_possible_truncation, reason = "all bits are looked at")]
            (*other = *len as u32);
        }
        // No length exceeds the union of all bits, so if `N` times that union fits after the packed bytes so far,
        // no sum of lengths wraps.
        let Ok(bits) = u32::try_from(bits) else { return false };
        let most = u64::from(bits) * N as u64 + open.packed;
        let (Ok(_), Ok(mut packed)) = (u32::try_from(most), u32::try_from(open.packed)) else {
            return false;
        };
        #[expect(clippy::cast_possible_truncation, reason = "no more than all bits")]
        let lengths_before = before(open.pending.len as u32, &others);
        if touches(offsets.first, &offsets.others, lengths_before) {
            return false;
        }
        let starts = before(offsets.first, &offsets.others);
        let mut entries = [[0; 2]; N];
        for index in 0..N {
            entries[index] = [starts[index], packed];
            packed += lengths_before[index];
        }
        self.varied.extend_from_slice(&entries);
        let (mut least, mut greatest) = (u32::MAX, 0);
        for len in lengths_before {
            least = least.min(len);
            greatest = greatest.max(len);
        }
        open.packed = packed.into();
        open.least = open.least.min(least.into());
        open.greatest = open.greatest.max(greatest.into());
        open.advance(lengths, places);
        true
    }

    /// Makes room for blocks that are added all at once.
    fn reserve(&mut self, list: &OpenList, blocks: usize) {
        fn reserve<T>(table: &mut alloc::vec::Vec<T>, number: usize) {
            // A table that is filled in one step gets exactly the size that it needs. With many lists, each exact
            // growth would copy all earlier entries.
            if table.is_empty() { table.reserve_exact(number) } else { table.reserve(number) }
        }
        match list.list.kind {
            EntryKind::Even => reserve(&mut self.even, blocks),
            EntryKind::Varied => reserve(&mut self.varied, blocks),
            EntryKind::WideEven | EntryKind::WideVaried => {}
        }
    }
}

impl OpenList {
    /// As [`advance`](Self::advance), where all blocks have the length of the blocks before them.
    #[inline(always)]
    fn advance_alike<const N: usize>(&mut self, len: u64, places: &[i64; N]) {
        let place = |index: usize| match index.checked_sub(1) {
            Some(index) => places[index],
            None => self.pending.disp,
        };
        let stride = |index: usize| match index.checked_sub(1) {
            Some(before) => place(index).wrapping_sub(place(before)),
            None => place(index).wrapping_sub(self.previous.disp),
        };
        let last = stride(N - 1);
        let mut steps = 1;
        while steps < N && stride(N - 1 - steps) == last {
            steps += 1;
        }
        let before = if steps == N && self.stride == last { self.steps } else { 0 };
        self.steps = before + number(steps);
        self.alike = self.alike.saturating_add(number(N));
        (self.stride, self.previous) = (last, Block { disp: place(N - 1), len });
        self.pending = Block { disp: places[N - 1], len };
        self.list.count += number(N);
    }

    /// Moves on from the pending block to the last of the blocks that were added, to which nothing happened.
    #[inline(always)]
    fn advance<const N: usize>(&mut self, lengths: &[u64; N], places: &[i64; N]) {
        // The pending block and all others except the last, which is now pending.
        let block = |index: usize| match index.checked_sub(1) {
            Some(index) => Block { disp: places[index], len: lengths[index] },
            None => self.pending,
        };
        let before = |index: usize| match index.checked_sub(1) {
            Some(index) => block(index),
            None => self.previous,
        };
        let stride = |index: usize| block(index).disp.wrapping_sub(before(index).disp);
        let stride_before = |index: usize| match index.checked_sub(1) {
            Some(index) => stride(index),
            None => self.stride,
        };
        let is_alike = |index: &usize| block(*index).len == before(*index).len;
        let is_regular = |index: &usize| is_alike(index) && stride(*index) == stride_before(*index);
        let last = (0..N).rev();
        let steps = match last.clone().find(|index| !is_regular(index)) {
            Some(index) => u32::from(is_alike(&index)) + number(N - 1 - index),
            None => self.steps + number(N),
        };
        let alike = match last.clone().find(|index| !is_alike(index)) {
            Some(index) => number(N - 1 - index),
            None => self.alike.saturating_add(number(N)),
        };
        (self.stride, self.previous) = (stride(N - 1), block(N - 1));
        self.pending = Block { disp: places[N - 1], len: lengths[N - 1] };
        (self.steps, self.alike) = (steps, alike);
        self.list.count += number(N);
    }
}

impl ByteLengths<'_> {
    /// The lengths from an index on.
    pub(in crate::commit) fn from(self, index: usize) -> Self {
        match self {
            Self::Same(len) => Self::Same(len),
            Self::Each(lengths) => Self::Each(lengths.get(index..).unwrap_or(&[])),
        }
    }

    /// The length at an index.
    pub(in crate::commit) fn get(&self, index: usize) -> u64 {
        match self {
            Self::Same(len) => *len,
            Self::Each(lengths) => lengths.get(index).copied().unwrap_or(0),
        }
    }
}

/// The number of blocks that are examined to decide whether they become a list.
const SEEN: usize = 64;

/// Whether the first of these blocks would be `number` operations, and none of them touches the next.
pub(in crate::commit) fn are_operations(
    number: usize,
    lengths: ByteLengths<'_>,
    places: &[i64],
) -> bool {
    if places.len() < number {
        return false;
    }
    // What the previous operation has: whether it is a single block, and otherwise the distance of its blocks.
    let (mut operations, mut is_single, mut distance) = (1, true, 0);
    for (index, pair) in places.windows(2).take(SEEN).enumerate() {
        let stride = pair[1].wrapping_sub(pair[0]);
        let len = lengths.get(index);
        if stride.cast_unsigned() == len {
            return false;
        }
        let continues = len == lengths.get(index + 1) && (is_single || stride == distance);
        operations += usize::from(!continues);
        (is_single, distance) = (!continues, stride);
        if operations == number {
            return true;
        }
    }
    false
}

/// Converts a number of blocks.
#[expect(clippy::cast_possible_truncation, reason = "no more than are added at once")]
const fn number(blocks: usize) -> u32 {
    blocks as u32
}

/// Whether this many further blocks are too few to become regular together with the blocks before them.
fn has_room(open: &OpenList, blocks: usize) -> bool {
    open.steps as usize + blocks + 1 < REGULAR as usize
}

/// Offsets of the pending block and of the next ones.
struct Offsets<const N: usize> {
    first: u32,
    others: [u32; N],
}

/// The offsets of the pending block and of the blocks at these displacements, if they fit.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "all bits that there are were looked at")]
fn offsets<const N: usize>(open: &OpenList, places: &[i64; N]) -> Option<Offsets<N>> {
    let offset = |place: i64| place.wrapping_sub(open.list.disp).cast_unsigned();
    let first = offset(open.pending.disp);
    let (mut bits, mut others) = (first, [0; N]);
    for (other, place) in others.iter_mut().zip(places) {
        let offset = offset(*place);
        bits |= offset;
        *other = offset as u32;
    }
    u32::try_from(bits).is_ok().then_some(Offsets { first: first as u32, others })
}

/// The element before each of these, given the one before the first.
#[inline(always)]
fn before<const N: usize>(first: u32, others: &[u32; N]) -> [u32; N] {
    let mut all = [first; N];
    all[1..].copy_from_slice(&others[..N - 1]);
    all
}

/// Whether a block starts where the block before it ends. `lengths` are the lengths of the blocks before each
/// block.
#[inline(always)]
fn touches<const N: usize>(first: u32, others: &[u32; N], lengths: [u32; N]) -> bool {
    let mut touch = others[0].wrapping_sub(first) == lengths[0];
    for index in 1..N {
        touch |= others[index].wrapping_sub(others[index - 1]) == lengths[index];
    }
    touch
}
