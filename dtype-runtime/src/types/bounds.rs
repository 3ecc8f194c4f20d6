//! Bounds: how the bounds of a type follow from the data and the markers of its parts.
//!
//! The rules are the literal standard's (MPI-4.1 sections 5.1.6 and 5.1.7, MPI-1.1 section 3.12.3), at every constructor: a
//! marker of a part remains a marker of the whole; the least lb and the greatest ub apply; without a ub marker, the extent is
//! padded to the strictest alignment. MPICH's rules are implemented as well: see [`BoundsRule`].

use super::Type;
use crate::error::Error;

/// A range of bytes, `start < end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// The markers that remain after reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) lb: Option<i64>,
    pub(super) ub: Option<i64>,
}

impl Marks {
    /// Combines markers: the least lb and the greatest ub apply.
    #[inline(always)]
    fn add(&mut self, other: Self) {
        self.lb = self.lb.into_iter().chain(other.lb).min();
        self.ub = self.ub.into_iter().chain(other.ub).max();
    }
}

/// The rule by which a type's bounds follow from the bounds of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BoundsRule {
    /// The standard's rules, to the letter (MPI-4.1 sections 5.1.6 and 5.1.7), as in Open MPI.
    #[default]
    Literal,
    /// The rules of MPICH 4. A marker counts only for the type that it was put on. The bounds of a type built from such a type
    /// are the least lower and the greatest upper bound of all copies. Only a structure whose members are of different types is
    /// padded. A type built from a type without data has the bounds 0. MPICH counts some blocks of length zero, and data in
    /// types without data; these rules do not.
    Mpich,
}

/// Collects the bounds of a type from its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hull {
    call: &'static str,
    pub(super) data: Option<Interval>,
    /// All markers of the parts.
    pub(super) marks: Marks,
    /// The markers that this call itself sets; used only by MPICH's rules.
    pub(super) own: Marks,
    /// The least lower and the greatest upper bound of the parts that have data. Only MPICH's rules use it. It is wider than 64
    /// bits because otherwise it could overflow.
    span: Option<(i128, i128)>,
    pub(super) align: u64,
}

impl Hull {
    #[inline(always)]
    pub(super) fn new(call: &'static str) -> Self {
        let marks = Marks::default();
        Self { call, data: None, marks, own: marks, span: None, align: 1 }
    }

    /// Adds copies of a part; `displacements` are the least and the greatest displacement of these copies. `rules` must be the
    /// strongest rule of all parts.
    pub(super) fn add(
        &mut self,
        part: &Type,
        displacements: (i64, i64),
        rules: BoundsRule,
    ) -> Result<(), Error> {
        let (least, greatest) = displacements;
        if let Some(data) = part.0.data {
            let start = self.shift(data.start, least, "true lower bound")?;
            let end = self.shift(data.end, greatest, "true upper bound")?;
            self.data = Some(match self.data {
                None => Interval { start, end },
                Some(all) => Interval { start: all.start.min(start), end: all.end.max(end) },
            });
            self.align = self.align.max(part.align());
            if rules == BoundsRule::Mpich {
                let lb = i128::from(part.lb()) + i128::from(least);
                self.stretch(lb, i128::from(part.ub()) + i128::from(greatest));
            }
        }
        if part.0.markers == Marks::default() {
            return Ok(());
        }
        let shifted = Marks {
            lb: part.0.markers.lb.map(|lb| self.shift(lb, least, "lower bound")).transpose()?,
            ub: part.0.markers.ub.map(|ub| self.shift(ub, greatest, "upper bound")).transpose()?,
        };
        self.marks.add(shifted);
        Ok(())
    }

    /// Includes bounds that count only by MPICH's rules.
    pub(super) fn stretch(&mut self, lb: i128, ub: i128) {
        self.span = Some(match self.span {
            None => (lb, ub),
            Some(all) => (all.0.min(lb), all.1.max(ub)),
        });
    }

    /// Sets markers, which replace the markers of the parts.
    pub(super) fn set(&mut self, lb: i64, ub: i64) {
        self.marks = Marks { lb: Some(lb), ub: Some(ub) };
        self.own = self.marks;
    }

    #[inline(always)]
    fn shift(&self, bound: i64, by: i64, quantity: &'static str) -> Result<i64, Error> {
        bound.checked_add(by).ok_or_else(|| self.overflow(quantity))
    }

    #[inline(always)]
    fn overflow(&self, quantity: &'static str) -> Error {
        overflow(self.call, quantity)
    }

    /// The lower and the upper bound of the whole; `mixed` says whether it is a structure with members of
    /// different types. After this check the extent and the true extent are known to fit 64 bits.
    #[inline(always)]
    pub(super) fn finish(&self, rules: BoundsRule, mixed: bool) -> Result<(i64, i64), Error> {
        if let Some(data) = self.data {
            data.end.checked_sub(data.start).ok_or_else(|| self.overflow("true extent"))?;
        }
        let (lb, ub) = match rules {
            BoundsRule::Literal => self.literal()?,
            // A copy: a value that is never referenced stays in registers.
            BoundsRule::Mpich => Self { ..*self }.mpich(mixed)?,
        };
        ub.checked_sub(lb).ok_or_else(|| self.overflow("extent"))?;
        Ok((lb, ub))
    }

    #[inline(always)]
    fn literal(&self) -> Result<(i64, i64), Error> {
        Ok(match (self.marks, self.data) {
            (Marks { lb: Some(lb), ub: Some(ub) }, _) => (lb, ub),
            // Without data, a single marker sets both bounds; without markers, both are 0.
            (Marks { lb, ub }, None) => {
                let bound = lb.or(ub).unwrap_or(0);
                (bound, bound)
            }
            (Marks { lb: None, ub: Some(ub) }, Some(data)) => (data.start, ub),
            (Marks { lb, ub: None }, Some(data)) => {
                let lb = lb.unwrap_or(data.start);
                (lb, self.pad(lb, data.end, |extent, align| extent & (align - 1))?)
            }
        })
    }

    #[cold]
    #[inline(never)]
    fn mpich(&self, mixed: bool) -> Result<(i64, i64), Error> {
        let (lb, ub) = self.span.unwrap_or((0, 0));
        // A bound that a marker replaces need not fit 64 bits.
        let fits = |bound, quantity| i64::try_from(bound).map_err(|_| self.overflow(quantity));
        let ub = match self.own.ub {
            Some(ub) => ub,
            // C's remainder has the sign of the dividend, here a negative extent.
            None if mixed => {
                let remainder = |extent, align| extent % align;
                self.pad(fits(lb, "lower bound")?, fits(ub, "upper bound")?, remainder)?
            }
            None => fits(ub, "upper bound")?,
        };
        Ok((self.own.lb.map_or_else(|| fits(lb, "lower bound"), Ok)?, ub))
    }

    /// The upper bound that makes the extent a multiple of the strictest alignment: the ε of the standard.
    #[inline(always)]
    fn pad(&self, lb: i64, ub: i64, remainder: impl Fn(i64, i64) -> i64) -> Result<i64, Error> {
        let extent = ub.checked_sub(lb).ok_or_else(|| self.overflow("extent"))?;
        // An alignment is a small power of two.
        let rest = remainder(extent, self.align.cast_signed());
        let padding = if rest == 0 { 0 } else { self.align.cast_signed() - rest };
        ub.checked_add(padding).ok_or_else(|| self.overflow("upper bound"))
    }
}

#[cold]
pub(super) fn overflow(call: &'static str, quantity: &'static str) -> Error {
    Error::Overflow { call, quantity }
}

/// The last of `0, stride, …, (count − 1) · stride`, for a `count` above zero; `None` if it does not fit.
#[inline(always)]
pub(super) fn last_step(count: u64, stride: i64) -> Option<i64> {
    match i64::try_from(count - 1) {
        // Steps of zero bytes lead nowhere, however many there are.
        _ if stride == 0 => Some(0),
        Ok(steps) => steps.checked_mul(stride),
        // 2⁶³ steps of one byte backwards: one step more than an `i64` can count.
        Err(_) => ((count, stride) == ((1 << 63) + 1, -1)).then_some(i64::MIN),
    }
}
