//! A struct as its compiler lays it out: all members, with those that are not data, as far as their places are known.
//!
//! A compiler places the members one after another, each at the next multiple of its alignment, and rounds the size up to the
//! strictest of these alignments. Where these rules give the places that the members really have, they also tell what
//! another order would give.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// A struct, a class or a union, and where its members are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The size in bytes; `None` if it is not known.
    pub size: Option<u64>,
    /// The alignment in bytes, a power of two; `None` if it is not known.
    pub align: Option<u64>,
    /// The members in the order of their places. Those without a fixed place come last.
    pub members: Vec<Member>,
    /// The bytes that the members take, those of base classes among them, as far as they are known.
    taken: Vec<Taken>,
    /// Why it is not known which bytes are padding.
    doubt: Option<String>,
    /// Whether the rules of compilers give these places.
    is_explained: bool,
}

/// Consecutive bytes that members take.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Taken {
    bytes: Range<u64>,
    /// The last one of these members.
    last: Option<String>,
}

/// A member, a base class or the pointer to the virtual functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name; `None` if it has none.
    pub name: Option<String>,
    /// The first byte, from the start of the struct; `None` if it depends on the whole object, as for a virtual base class.
    pub offset: Option<u64>,
    /// Bytes that it takes a part of; `None` if that is not known.
    pub size: Option<u64>,
    /// The alignment that it has in this struct, a power of two in bytes; `None` if it is not known.
    pub align: Option<u64>,
    /// What another order may do with it.
    pub kind: Kind,
    /// The members of a base class.
    pub base: Option<Arc<Structure>>,
}

/// What another order of the members may do with one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It can be at any place.
    Field,
    /// A bit-field, which shares bytes with its neighbours.
    Bits {
        /// The first bit in its first byte. Bits count from the lowest one on a little-endian machine, and otherwise from the
        /// highest one.
        first: u8,
        /// The number of bits.
        width: u64,
        /// Bytes of the type that it is declared with, which it does not cross the bounds of.
        unit: u64,
    },
    /// A base class, or the pointer to the virtual functions. These come first.
    Base {
        /// Bytes up to the end of its last member. Another member may start there.
        data: u64,
    },
    /// An array without a length, which comes last.
    Open,
}

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
    fn start(&self) -> Option<Bit> {
        let first = if let Kind::Bits { first, .. } = self.kind { first } else { 0 };
        Some(Bit::from(self.offset?) * 8 + Bit::from(first))
    }

    /// The bytes that it takes a part of.
    pub fn bytes(&self) -> Option<Range<u64>> {
        let start = self.offset?;
        Some(start..start.checked_add(self.size?)?)
    }

    /// The bits that it takes after the first `at` bits of a struct. With less than the alignment of its type, a bit-field
    /// follows the one before it at once.
    fn place(&self, at: Bit, align: u64) -> Option<Range<Bit>> {
        let unit = Bit::from(align) * 8;
        Some(match self.kind {
            Kind::Bits { width, unit: bytes, .. } => {
                let width = Bit::from(width);
                let is_packed = self.align.is_none_or(|natural| align < natural);
                let crosses = (at % unit + width).div_ceil(unit) > Bit::from(bytes) * 8 / unit;
                let start = if crosses && !is_packed { at.next_multiple_of(unit) } else { at };
                start..start + width
            }
            Kind::Base { data } => {
                let start = at.next_multiple_of(unit);
                start..start + Bit::from(data) * 8
            }
            Kind::Field | Kind::Open => {
                let start = at.next_multiple_of(unit);
                start..start + Bit::from(self.size?) * 8
            }
        })
    }
}

impl Structure {
    /// A struct with the alignment that its declaration asks for, if that is known. Members may be less aligned than their
    /// types, as in a packed struct: then `align` of the members becomes what they have here.
    ///
    /// What a base class has room for and does not use, a struct may have for its own members, or leave as well.
    pub fn new(size: Option<u64>, asked: Option<u64>, mut members: Vec<Member>) -> Self {
        members.sort_by_key(|one| (one.offset.is_none(), one.start()));
        shorten(&mut members);
        let taken = taken(&members);
        let doubt = doubt(size, &members);
        let mut this = Self { size, align: asked, members, taken, doubt, is_explained: false };
        let asked = asked.unwrap_or(1);
        match this.aligns(asked) {
            Some(aligns) => {
                this.is_explained = true;
                this.align = Some(aligns.iter().copied().fold(asked, u64::max));
                for (member, align) in this.members.iter_mut().zip(aligns) {
                    member.align = Some(align);
                }
            }
            None if this.align.is_none() => this.align = this.strictest(),
            None => {}
        }
        this
    }

    /// The same struct, for which the rules of compilers shall tell what another order gives even if they do not give its
    /// present places.
    pub fn anew(self) -> Self {
        Self { is_explained: true, ..self }
    }

    /// The strictest alignment of the members, unless one of them has less, or the size is no multiple of it.
    fn strictest(&self) -> Option<u64> {
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
    fn aligns(&self, asked: u64) -> Option<Vec<u64>> {
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

    /// Why it is not known which bytes are padding: a sentence without a full stop.
    pub fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    /// The number of separate parts of memory that the members take.
    pub fn parts(&self) -> usize {
        self.taken.len()
    }

    /// The bytes that no member takes, and the member before each, or `None` at the start. There is no answer where there is
    /// a [`doubt`](Self::doubt). The one byte of an empty class is no gap.
    pub fn gaps(&self) -> Option<Vec<(Option<String>, Range<u64>)>> {
        let size = self.size.filter(|_| self.doubt().is_none())?;
        let (mut end, mut after) = (0, None);
        let mut gaps = Vec::new();
        for taken in &self.taken {
            gaps.push((after, end..taken.bytes.start));
            (end, after) = (taken.bytes.end, taken.last.clone());
        }
        if !self.taken.is_empty() {
            gaps.push((after, end..size));
        }
        gaps.retain(|(_, bytes)| bytes.start < bytes.end);
        Some(gaps)
    }

    /// The number of bytes that no member takes; `None` where that is not known.
    pub fn padding(&self) -> Option<u64> {
        Some(self.gaps()?.iter().map(|(_, bytes)| bytes.end - bytes.start).sum())
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

/// A base class takes all its bytes, or, if another member starts after its last one, those up to that.
fn shorten(members: &mut [Member]) {
    let mut next = u64::MAX;
    for member in members.iter_mut().rev() {
        let Some(bytes) = member.bytes() else { continue };
        if let Kind::Base { data } = &mut member.kind
            && next >= bytes.end
        {
            *data = bytes.end - bytes.start;
        }
        if !bytes.is_empty() {
            next = bytes.start;
        }
    }
}

/// Why it is not known which bytes are padding.
fn doubt(size: Option<u64>, members: &[Member]) -> Option<String> {
    let name = |member: &Member| match &member.name {
        Some(name) => format!("`{name}`"),
        None => "a member without a name".into(),
    };
    if size.is_none() {
        return Some("the size is not known".into());
    }
    members.iter().find_map(|member| match &member.base {
        _ if member.offset.is_none() => Some(format!("the place of {} is not fixed", name(member))),
        _ if member.size.is_none() => Some(format!("the size of {} is not known", name(member))),
        Some(base) => base.doubt.clone(),
        None => None,
    })
}

/// The bytes that members take. Those of a base class are members, too.
fn taken(members: &[Member]) -> Vec<Taken> {
    let mut all = Vec::new();
    for (number, member) in members.iter().enumerate() {
        let (Some(bytes), Some(offset)) = (member.bytes(), member.offset) else { continue };
        if let Some(base) = &member.base {
            all.extend(base.taken.iter().cloned().map(|taken| {
                let Range { start, end } = taken.bytes;
                Taken { bytes: start.saturating_add(offset)..end.saturating_add(offset), ..taken }
            }));
        } else {
            let last = member.name.clone().unwrap_or_else(|| number.to_string());
            all.push(Taken { bytes, last: Some(last) });
        }
    }
    all.retain(|taken| !taken.bytes.is_empty());
    all.sort_by_key(|taken| taken.bytes.start);
    all.dedup_by(|next, last| {
        let is_joined = next.bytes.start <= last.bytes.end;
        if is_joined && next.bytes.end > last.bytes.end {
            last.bytes.end = next.bytes.end;
            last.last = next.last.take();
        }
        is_joined
    });
    all
}
