//! The rules by which compilers place members, and what another order gives.
//!
//! A compiler places the members one after another, each at the next multiple of its alignment, and rounds the size up to the
//! strictest of these alignments. Where these rules give the places that the members really have, they also tell what
//! another order would give.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::{Kind, Member, Structure};

/// An order of members and the size that it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The size in bytes.
    pub size: u64,
    /// Indices of members.
    pub members: Vec<usize>,
}

/// Bits from the start of a struct. The largest struct has more of them than a `u64` counts.
type Bit = u128;

impl Member {
    pub(super) fn start(&self) -> Option<Bit> {
        let first = if let Kind::Bits { first, .. } = self.kind { first } else { 0 };
        Some(Bit::from(self.offset?) * 8 + Bit::from(first))
    }

    /// The bits that it takes after the first `at` bits of a struct. With less than the alignment of its type, a bit-field
    /// follows the one before it at once.
    pub(crate) fn place(&self, at: Bit, align: u64) -> Option<Range<Bit>> {
        let unit = Bit::from(align) * 8;
        Some(match self.kind {
            Kind::Bits { width, unit: bytes, .. } => {
                let width = Bit::from(width);
                let is_packed = self.align.is_none_or(|natural| align < natural);
                let crosses = (at % unit + width).div_ceil(unit) > Bit::from(bytes) * 8 / unit;
                let start = if crosses && !is_packed { at.next_multiple_of(unit) } else { at };
                start..start + width
            }
            Kind::Base { data, .. } => {
                let start = at.next_multiple_of(unit);
                start..start + Bit::from(data) * 8
            }
            Kind::Field | Kind::Open | Kind::Tag => {
                let start = at.next_multiple_of(unit);
                start..start + Bit::from(self.size?) * 8
            }
        })
    }
}

impl Structure {
    /// The strictest alignment of the members, unless one of them has less, or the size is no multiple of it.
    pub(super) fn strictest(&self) -> Option<u64> {
        let mut strictest = 1;
        for member in &self.members {
            let align = member.align?;
            let is_bits = matches!(member.kind, Kind::Bits { .. });
            if !is_bits && !member.offset.unwrap_or(0).is_multiple_of(align) {
                return None;
            }
            strictest = strictest.max(align);
        }
        self.size?.is_multiple_of(strictest).then_some(strictest)
    }

    /// The alignments of the members with which the rules give their places: those of their types, those of a packed struct,
    /// or less for the members at odd places.
    pub(super) fn aligns(&self, asked: u64) -> Option<Vec<u64>> {
        self.size?;
        let natural: Option<Vec<u64>> = self.members.iter().map(|member| member.align).collect();
        let natural = natural?;
        let strictest = natural.iter().copied().max().unwrap_or(1);
        let is_right = |aligns: &Vec<u64>| self.is_laid_out(aligns, asked);
        if is_right(&natural) {
            return Some(natural);
        }
        let packed = (0..5).map(|power| 1 << power).take_while(|most| *most < strictest);
        let packed = packed.map(|most| natural.iter().map(|align| *align.min(&most)).collect());
        let odd = self.members.iter().zip(&natural).map(|(member, align)| {
            let offset = member.offset.unwrap_or(0);
            if offset.is_multiple_of(*align) { *align } else { 1 << offset.trailing_zeros() }
        });
        packed.chain([odd.collect()]).find(is_right)
    }

    /// Whether members with these alignments, one after another, are where they are, and the size follows.
    fn is_laid_out(&self, aligns: &[u64], asked: u64) -> bool {
        let mut at = 0;
        let mut strictest = asked;
        let mut was_bits = false;
        for (member, align) in self.members.iter().zip(aligns) {
            let (Some(placed), Some(start)) = (member.place(at, *align), member.start()) else {
                return false;
            };
            // Between two bit-fields, one without a name may be, which is not described.
            let is_bits = matches!(member.kind, Kind::Bits { .. });
            if placed.start != start && !(is_bits && was_bits && placed.start < start) {
                return false;
            }
            at = start + (placed.end - placed.start);
            strictest = strictest.max(*align);
            was_bits = is_bits;
        }
        let end = at.next_multiple_of(Bit::from(strictest) * 8);
        self.size.is_some_and(|size| Bit::from(size) * 8 == end)
    }

    /// The end of a member, or of neighbouring bit-fields, that start after the first `at` bits. `None` if there are bit-fields
    /// without a name among them, and these would get another width.
    fn place_block(&self, at: Bit, block: &[usize], align: u64) -> Option<Bit> {
        let first = self.members[*block.first()?].start()?;
        let place = |mut at: Bit| {
            for number in block {
                let member = &self.members[*number];
                at = member.place(at, member.align?)?.end;
            }
            Some(at)
        };
        let last = &self.members[*block.last()?];
        let end = last.place(last.start()?, last.align?)?.end;
        let is_aligned = |at: Bit| at.is_multiple_of(Bit::from(align) * 8);
        if is_aligned(first) && is_aligned(at) {
            return Some(at + (end - first));
        }
        place(at).filter(|_| place(first) == Some(end))
    }

    /// The order of members that gives the least size. Base classes stay first, an array without a length stays last, and
    /// neighbouring bit-fields stay together. `None` unless the rules of compilers give the present places.
    ///
    /// Members of descending alignment need no padding between them, except after base classes, bit-fields and members
    /// that are aligned more strictly than their types.
    pub fn least(&self) -> Option<Order> {
        let size = self.size.filter(|_| self.is_explained)?;
        let place = |at: Bit, number: usize| {
            let member = &self.members[number];
            member.place(at, member.align?).map(|bits| bits.end)
        };
        let kind = |number: usize| self.members[number].kind;
        let is_base = |number: &usize| matches!(kind(*number), Kind::Base { .. });
        let is_open = |number: &usize| kind(*number) == Kind::Open;
        let all = 0..self.members.len();
        let mut order: Vec<usize> = all.clone().filter(is_base).collect();
        let mut rest: Vec<usize> =
            all.clone().filter(|number| !is_base(number) && !is_open(number)).collect();
        // Two objects of one empty class have different addresses, so what follows an empty base class is not changed.
        let is_empty = |number: &usize| self.members[*number].size == Some(0);
        if !order.is_empty() && order.iter().all(is_empty) && !rest.is_empty() {
            order.push(rest.remove(0));
        }
        let mut at = 0;
        for number in &order {
            at = place(at, *number)?;
        }
        // Blocks that stay together, by their alignments.
        let mut blocks: BTreeMap<u64, VecDeque<&[usize]>> = BTreeMap::new();
        let is_bits = |number: &usize| matches!(kind(*number), Kind::Bits { .. });
        for block in rest.chunk_by(|one, next| is_bits(one) && is_bits(next) && one + 1 == *next) {
            let aligns = block.iter().filter_map(|number| self.members[*number].align);
            blocks.entry(aligns.max()?).or_default().push_back(block);
        }
        while let Some(last) = blocks.first_key_value().map(|(align, _)| *align) {
            // The strictest alignment that needs no padding here, or else the one that needs the least.
            let whole = at.div_ceil(8);
            let is_here = |align: &u64| whole.is_multiple_of(Bit::from(*align));
            let align = blocks.keys().copied().rev().find(is_here).unwrap_or(last);
            let same = blocks.get_mut(&align)?;
            let block = same.pop_front()?;
            at = self.place_block(at, block, align)?;
            order.extend(block);
            if same.is_empty() {
                blocks.remove(&align);
            }
        }
        for number in all.filter(is_open) {
            at = place(at, number)?;
            order.push(number);
        }
        let end = at.next_multiple_of(Bit::from(self.align?) * 8) / 8;
        Some(Order { size: u64::try_from(end).ok()?.min(size), members: order })
    }
}
