//! A type under construction, which all constructors share.
//!
//! Each constructor reduces to copies of old types at displacements. This file adds up what the copies contribute
//! and checks the arithmetic. To add a constructor, add its variant in [`Constructor`], its calls of
//! [`Parts::add`] or [`Parts::add_list`], its arm in the walk and its row in the [table of calls](super::call);
//! the compiler points to the rest.

use super::blocks::BlockList;
use super::bounds::{BoundsRule, Hull, last_step, overflow};
use super::{Constructor, Flags, Inner, Lazy, Type};
use crate::error::Error;
use crate::shared::UninitShared;
use crate::typemap::MAX_DEPTH;

/// The maximum number of entries in a description, loops not expanded.
pub(super) const MAX_ENTRIES: u64 = 1 << 24;

/// The type under construction.
pub(super) struct Parts {
    call: &'static str,
    size: u64,
    elements: u64,
    pub(super) bounds: Hull,
    /// Flags that the layout does not determine.
    pub(super) user: Flags,
    run: RunSoFar,
    depth: u32,
    entries: u64,
    /// The rule for the bounds: the strongest rule of the parts.
    pub(super) rules: BoundsRule,
    /// Whether the type is a structure with members of different types. Set only if the rule for the bounds needs it.
    pub(super) mixed: bool,
}

/// Whether the data so far are one run in type map order.
#[derive(Clone, Copy)]
enum RunSoFar {
    Empty,
    Upto(i64),
    Broken,
}

/// Blocks of an old type at equal distances: `blocks` blocks of `blocklength` instances, with a stride of `stride`
/// bytes, the first one at `displacement`.
pub(super) struct Copies<'a> {
    pub(super) blocks: u64,
    pub(super) stride: i64,
    pub(super) blocklength: u64,
    pub(super) displacement: i64,
    pub(super) old: &'a Type,
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
            run: RunSoFar::Empty,
            depth: 0,
            entries: 0,
            rules: BoundsRule::Literal,
            mixed: false,
        }
    }

    /// A single copy of `old`, which will get other bounds or another name.
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
        let places = || {
            let inner = last_step(blocklength, old.extent())?;
            let outer = last_step(blocks, stride)?;
            let least = displacement.checked_add(inner.min(0))?.checked_add(outer.min(0))?;
            Some((least, displacement.checked_add(inner.max(0))?.checked_add(outer.max(0))?))
        };
        self.bound(old, places().ok_or_else(|| self.overflow("displacement"))?)?;

        let size = old.size();
        let bytes = size.checked_mul(blocklength).and_then(|bytes| i64::try_from(bytes).ok());
        let whole = (blocklength == 1 || old.extent() == size.cast_signed())
            && (blocks == 1 || bytes == Some(stride));
        self.extend_run(old, count.unwrap_or(0), displacement, whole);
        Ok(())
    }

    /// Adds blocks at individual displacements. Blocks of length zero have no effect, and their displacements are ignored.
    pub(super) fn add_list(&mut self, list: &BlockList<'_>) -> Result<(), Error> {
        let old = list.old;
        self.inherit(old)?;
        let totals = list.totals().ok_or_else(|| self.overflow("displacement"))?;
        if totals.number == 0 {
            return Ok(());
        }
        let gapless = old.extent() == old.size().cast_signed();
        // A block of touching elements is one entry; any other block is a loop.
        let each = if old.0.entries == 1 && gapless { 1 } else { old.0.entries + 2 };
        let entries = totals.number.saturating_mul(each);
        // The first block's entries are added below, with everything else.
        self.entries = self.entries.saturating_add(if old.size() > 0 { entries } else { 0 });
        self.count(old, totals.instances, 0)?;
        if !old.has_bounds() {
            return Ok(());
        }
        for (length, place) in list.blocks() {
            // The totals have shown that the product fits.
            let place = place.wrapping_mul(list.unit);
            self.extend_run(old, length, place, length == 1 || gapless);
            if let RunSoFar::Broken = self.run {
                break;
            }
        }
        self.bound(old, totals.displacements)
    }

    /// Takes over the properties that a part passes on to the whole, even if there are no copies of it.
    #[inline(always)]
    pub(super) fn inherit(&mut self, old: &Type) -> Result<(), Error> {
        self.rules = self.rules.max(old.0.rules);
        self.depth = self.depth.max(old.0.depth + 1);
        if self.depth > MAX_DEPTH {
            return Err(Error::TooDeep { depth: self.depth, limit: MAX_DEPTH });
        }
        Ok(())
    }

    /// Adds the totals of `count` copies of `old`, whose description takes `entries` more entries than that of `old`. `None` is
    /// a count that does not fit 64 bits.
    #[inline(always)]
    fn count(&mut self, old: &Type, count: Option<u64>, entries: u64) -> Result<(), Error> {
        // Any number of copies of an empty type is empty.
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

    /// Includes the bounds of copies of `old`; `extremes` are the least and the greatest displacement of these copies.
    #[inline(always)]
    fn bound(&mut self, old: &Type, extremes: (i64, i64)) -> Result<(), Error> {
        self.bounds.add(old, extremes, self.rules)?;
        // A marker itself does not have the flag; the type that contains it does.
        self.user |= match old.constructor() {
            Constructor::LbMarker => Flags::USER_LB,
            Constructor::UbMarker => Flags::USER_UB,
            _ => old.0.flags.only(Flags::USER_LB | Flags::USER_UB),
        };
        Ok(())
    }

    /// Keeps track of whether the data are still one run. `whole` says whether the copies keep contiguous data contiguous.
    ///
    /// A number that wraps here also overflows where the bounds and the size are checked, so no type is made.
    #[inline(always)]
    fn extend_run(&mut self, old: &Type, count: u64, displacement: i64, whole: bool) {
        let Some(data) = old.0.data else { return };
        let start = displacement.wrapping_add(data.start);
        self.run = match self.run {
            _ if !whole || !old.0.flags.contains(Flags::CONTIGUOUS) => RunSoFar::Broken,
            RunSoFar::Upto(end) if end != start => RunSoFar::Broken,
            RunSoFar::Broken => RunSoFar::Broken,
            RunSoFar::Empty | RunSoFar::Upto(_) => {
                RunSoFar::Upto(start.wrapping_add(count.wrapping_mul(old.size()).cast_signed()))
            }
        };
    }

    /// Makes the type. Inlined into the constructor, so that the fields are written straight into the allocation.
    #[inline(always)]
    pub(super) fn finish(self, constructor: impl FnOnce() -> Constructor) -> Result<Type, Error> {
        let (lb, ub) = self.bounds.finish(self.rules, self.mixed)?;
        let contiguous = !matches!(self.run, RunSoFar::Broken);
        // The extent was checked, and a size fits 63 bits.
        let no_gaps = contiguous && ub - lb == self.size.cast_signed();
        let flags = self.user
            | Flags::CONTIGUOUS.when(contiguous)
            | Flags::NO_GAPS.when(no_gaps)
            | Flags::DATA.when(self.size > 0);
        let Self { size, elements, bounds, depth, entries, rules, .. } = self;
        let Hull { data, marks: markers, align, .. } = bounds;
        let memory = UninitShared::new();
        Ok(Type(memory.fill(Inner {
            constructor: constructor(),
            size,
            elements,
            data,
            markers,
            lb,
            ub,
            align,
            flags,
            fingerprint: [const { Lazy::new() }; 2],
            depth,
            entries,
            rules,
            overlap: Lazy::new(),
        })))
    }
}

/// Checks that two arrays of one call have the same length.
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
