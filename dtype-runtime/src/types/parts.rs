//! A type under construction: what all constructors share.
//!
//! Each constructor reduces to copies of old types at displacements. What they add is collected here,
//! which is where the arithmetic is checked. A further constructor needs its variant in
//! [`Constructor`], its calls of [`Parts::add`] or [`Parts::add_list`], its arm in the walk and its
//! place in the decoding.

use super::bounds::{Bounds, Hull, Interval, overflow, reach};
use super::fingerprint::LazyFingerprint;
use super::integers::Integers;
use super::irregular::{Lengths, Sum};
use super::{Constructor, Flags, Inner, Lazy, Type};
use crate::error::Error;
use crate::shared::Shared;
use crate::typemap::MAX_DEPTH;

/// How many entries a description may have, loops not expanded.
pub(super) const MAX_ENTRIES: u64 = 1 << 24;

/// The type under construction.
pub(super) struct Parts {
    call: &'static str,
    size: u64,
    elements: u64,
    pub(super) bounds: Hull,
    /// Flags that do not follow from the layout.
    pub(super) user: Flags,
    run: Run,
    depth: u32,
    entries: u64,
    /// The rules for the bounds: those of the parts.
    pub(super) rules: Bounds,
    /// Whether it is a structure with members of different types; looked at where the rules ask for it.
    pub(super) mixed: bool,
}

/// Whether the data so far are one run in type map order.
#[derive(Clone, Copy)]
enum Run {
    Empty,
    Upto(i64),
    Broken,
}

/// Copies of an old type: `blocks` blocks, `stride` bytes apart, of `blocklength` instances each, the
/// first at `displacement`.
pub(super) struct Copies<'a> {
    pub(super) blocks: u64,
    pub(super) stride: i64,
    pub(super) blocklength: u64,
    pub(super) displacement: i64,
    pub(super) old: &'a Type,
}

/// What is known of copies of an old type that has data.
pub(super) struct Known {
    pub(super) copies: u64,
    pub(super) data: Interval,
    /// Whether the data are in one piece, in the order of the type map.
    pub(super) is_run: bool,
    /// How many calls, one inside the other, would make them.
    pub(super) calls: usize,
    /// How long the description would be at most.
    pub(super) entries: u64,
}

impl Known {
    /// So far from the ends of 64 bits that a few of them can be added up.
    pub(super) const NEAR: u64 = 1 << 60;
}

impl Parts {
    #[inline(always)]
    pub(super) fn new(call: &'static str) -> Self {
        Self {
            call,
            size: 0,
            elements: 0,
            bounds: Hull::new(call),
            user: Flags::NONE,
            run: Run::Empty,
            depth: 0,
            entries: 0,
            rules: Bounds::Literal,
            mixed: false,
        }
    }

    /// A single copy of `old`, to be given other bounds or another name.
    #[inline(always)]
    pub(super) fn copy_of(call: &'static str, old: &Type) -> Result<Self, Error> {
        let mut parts = Self::new(call);
        parts.add(&Copies { blocks: 1, stride: 0, blocklength: 1, displacement: 0, old })?;
        Ok(parts)
    }

    #[inline(always)]
    pub(super) fn overflow(&self, quantity: &'static str) -> Error {
        overflow(self.call, quantity)
    }

    /// Adds blocks at equal distances.
    #[inline(always)]
    pub(super) fn add(&mut self, copies: &Copies<'_>) -> Result<(), Error> {
        let Copies { blocks, stride, blocklength, displacement, old } = *copies;
        self.inherit(old)?;
        if blocks == 0 || blocklength == 0 {
            return Ok(());
        }
        let count = blocks.checked_mul(blocklength);
        self.count(old, count, 4)?;
        if !old.has_bounds() {
            return Ok(());
        }
        let inner = reach(blocklength, old.extent(), self.call)?;
        let outer = reach(blocks, stride, self.call)?;
        let sum = |a: i64, b: i64| {
            displacement
                .checked_add(a)
                .and_then(|sum| sum.checked_add(b))
                .ok_or_else(|| self.overflow("displacement"))
        };
        self.bound(old, (sum(inner.0, outer.0)?, sum(inner.1, outer.1)?))?;

        let size = old.size();
        let bytes = size.checked_mul(blocklength).and_then(|bytes| i64::try_from(bytes).ok());
        let whole = (blocklength == 1 || old.extent() == size.cast_signed())
            && (blocks == 1 || bytes == Some(stride));
        self.extend_run(old, count.unwrap_or(0), displacement, whole);
        Ok(())
    }

    /// Adds blocks of one old type with lengths and displacements of their own, which count in units
    /// of so many bytes. Blocks of length zero have no effect, and their displacements are not looked
    /// at.
    pub(super) fn add_list(
        &mut self,
        old: &Type,
        unit: i64,
        lengths: Lengths<'_>,
        displacements: &Integers<i64>,
    ) -> Result<(), Error> {
        self.inherit(old)?;
        let Some(sum) = Sum::at_once(old, unit, lengths, displacements)
            .or_else(|| Sum::one_by_one(old, unit, lengths, displacements))
        else {
            return Err(self.overflow("displacement"));
        };
        if sum.number == 0 {
            return Ok(());
        }
        let gapless = old.extent() == old.size().cast_signed();
        if old.has_bounds() {
            let mut blocks = lengths.with(displacements).filter(|(length, _)| *length > 0);
            while !matches!(self.run, Run::Broken)
                && let Some((length, place)) = blocks.next()
            {
                // Seen to fit.
                self.extend_run(old, length, place.wrapping_mul(unit), length == 1 || gapless);
            }
        }
        // A block of touching elements is one entry, another block a loop.
        let each = if old.0.entries == 1 && gapless { 1 } else { old.0.entries + 2 };
        let entries = sum.number.saturating_mul(each);
        // One block's worth of entries is added with the rest.
        self.entries = self.entries.saturating_add(if old.size() > 0 { entries } else { 0 });
        self.count(old, sum.instances, 0)?;
        if old.has_bounds() { self.bound(old, sum.places) } else { Ok(()) }
    }

    /// Copies of `old`, of which the outcome is known; `None` if the calls are too many for a type.
    #[inline(always)]
    pub(super) fn known(call: &'static str, old: &Type, known: &Known) -> Option<Self> {
        let times = |n: u64| known.copies.checked_mul(n).filter(|&n| i64::try_from(n).is_ok());
        let calls = u32::try_from(known.calls).ok().filter(|&calls| calls <= MAX_DEPTH)?;
        let (depth, entries) = (old.0.depth + calls, known.entries);
        if depth > MAX_DEPTH || entries > MAX_ENTRIES {
            return None;
        }
        let mut bounds = Hull::new(call);
        (bounds.data, bounds.align) = (Some(known.data), old.align());
        Some(Self {
            call,
            size: times(old.size())?,
            elements: times(old.elements())?,
            bounds,
            user: old.0.flags.only(Flags::USER_LB | Flags::USER_UB),
            run: if known.is_run { Run::Upto(known.data.end) } else { Run::Broken },
            depth,
            entries,
            rules: old.0.rules,
            mixed: false,
        })
    }

    /// What the whole takes over from a part, also from one of which there are no copies.
    #[inline(always)]
    pub(super) fn inherit(&mut self, old: &Type) -> Result<(), Error> {
        self.rules = self.rules.max(old.0.rules);
        self.depth = self.depth.max(old.0.depth + 1);
        if self.depth > MAX_DEPTH {
            return Err(Error::TooDeep { depth: self.depth, limit: MAX_DEPTH });
        }
        Ok(())
    }

    /// Counts `count` copies of `old`, more than 64 bits count if there is none, whose description takes so many
    /// entries more than its own.
    #[inline(always)]
    fn count(&mut self, old: &Type, count: Option<u64>, entries: u64) -> Result<(), Error> {
        // However many copies there are of nothing, they are nothing.
        let times = |n: u64| if n == 0 { Some(0) } else { count?.checked_mul(n) };
        self.size = times(old.size())
            .and_then(|size| self.size.checked_add(size))
            .filter(|&size| i64::try_from(size).is_ok())
            .ok_or_else(|| self.overflow("size"))?;
        // No overflow: an element has at least one byte.
        self.elements += times(old.elements()).unwrap_or(0);
        if old.size() > 0 {
            self.entries = self.entries.saturating_add(old.0.entries + entries);
        }
        if self.entries > MAX_ENTRIES {
            return Err(Error::TooManyEntries { entries: self.entries, limit: MAX_ENTRIES });
        }
        Ok(())
    }

    /// Takes the bounds of copies of `old` into account, given the least and the greatest of their
    /// displacements.
    #[inline(always)]
    fn bound(&mut self, old: &Type, places: (i64, i64)) -> Result<(), Error> {
        self.bounds.add(old, places, self.rules)?;
        // A marker itself does not have the flag; what it is put into does.
        self.user |= match old.constructor() {
            Constructor::LbMarker => Flags::USER_LB,
            Constructor::UbMarker => Flags::USER_UB,
            _ => old.0.flags.only(Flags::USER_LB | Flags::USER_UB),
        };
        Ok(())
    }

    /// Follows whether the data stay in one piece. `whole` says whether the copies would keep
    /// contiguous data so.
    ///
    /// Where something here wraps, it does not fit either where the bounds or the size are checked, before or behind.
    #[inline(always)]
    fn extend_run(&mut self, old: &Type, count: u64, displacement: i64, whole: bool) {
        let Some(data) = old.0.data else { return };
        let start = displacement.wrapping_add(data.start);
        self.run = match self.run {
            _ if !whole || !old.0.flags.contains(Flags::CONTIGUOUS) => Run::Broken,
            Run::Upto(end) if end != start => Run::Broken,
            Run::Broken => Run::Broken,
            Run::Empty | Run::Upto(_) => {
                Run::Upto(start.wrapping_add(count.wrapping_mul(old.size()).cast_signed()))
            }
        };
    }

    /// The type, which is written to its place from the registers that what it is made of is in, as long as all of
    /// this is part of the constructor.
    #[inline(always)]
    pub(super) fn finish(self, constructor: impl FnOnce() -> Constructor) -> Result<Type, Error> {
        let (lb, ub) = self.bounds.finish(self.rules, self.mixed)?;
        let contiguous = !matches!(self.run, Run::Broken);
        // The extent was checked, and a size has 63 bits.
        let no_gaps = contiguous && ub - lb == self.size.cast_signed();
        let flags = self.user
            | Flags::CONTIGUOUS.when(contiguous)
            | Flags::NO_GAPS.when(no_gaps)
            | Flags::DATA.when(self.size > 0);
        let Self { size, elements, bounds, depth, entries, rules, .. } = self;
        let Hull { data, marks: markers, align, .. } = bounds;
        Ok(Type(Shared::new(move || Inner {
            constructor: constructor(),
            size,
            elements,
            data,
            markers,
            lb,
            ub,
            align,
            flags,
            fingerprint: LazyFingerprint::new(),
            depth,
            entries,
            rules,
            overlap: Lazy::new(),
        })))
    }
}

/// Arrays of one call that go together have the same length.
pub(super) fn same_length(
    call: &'static str,
    argument: &'static str,
    expected: usize,
    actual: usize,
) -> Result<(), Error> {
    if actual == expected {
        return Ok(());
    }
    Err(Error::ArgumentLengths { call, argument, expected, actual })
}
