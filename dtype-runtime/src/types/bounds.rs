//! Bounds: how the data and the markers of the parts make those of the whole.
//!
//! The rules are the literal standard's (MPI-4.1 sections 5.1.6 and 5.1.7, MPI-1.1 section 3.12.3):
//! a marker of a part stays a marker of the whole, the least lb and the greatest ub win, and where
//! no ub marker is left the extent is padded to the strictest alignment, at every constructor.

use crate::error::Error;

/// A range of bytes, `start < end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// The markers that are left after reduction, and whether they were set by a marker type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) lb: Option<i64>,
    pub(super) ub: Option<i64>,
}

/// Collects the bounds of a type from those of its parts.
#[derive(Debug)]
pub(super) struct Bounds {
    call: &'static str,
    pub(super) data: Option<Interval>,
    pub(super) marks: Marks,
    pub(super) align: u64,
}

impl Bounds {
    pub(super) fn new(call: &'static str) -> Self {
        Self { call, data: None, marks: Marks::default(), align: 1 }
    }

    /// Adds copies of a part at displacements of which the least and the greatest are given.
    pub(super) fn add(
        &mut self,
        data: Option<Interval>,
        marks: Marks,
        align: u64,
        displacements: (i64, i64),
    ) -> Result<(), Error> {
        let (least, greatest) = displacements;
        if let Some(data) = data {
            let start = self.shift(data.start, least, "true lower bound")?;
            let end = self.shift(data.end, greatest, "true upper bound")?;
            self.data = Some(match self.data {
                None => Interval { start, end },
                Some(all) => Interval { start: all.start.min(start), end: all.end.max(end) },
            });
            self.align = self.align.max(align);
        }
        if let Some(lb) = marks.lb {
            let lb = self.shift(lb, least, "lower bound")?;
            self.marks.lb = Some(self.marks.lb.map_or(lb, |least| least.min(lb)));
        }
        if let Some(ub) = marks.ub {
            let ub = self.shift(ub, greatest, "upper bound")?;
            self.marks.ub = Some(self.marks.ub.map_or(ub, |greatest| greatest.max(ub)));
        }
        Ok(())
    }

    fn shift(&self, bound: i64, by: i64, quantity: &'static str) -> Result<i64, Error> {
        bound.checked_add(by).ok_or(Error::Overflow { call: self.call, quantity })
    }

    /// The lower and the upper bound of the whole. Their difference and that of the data's ends are
    /// known to fit 64 bits from here on.
    pub(super) fn finish(&self) -> Result<(i64, i64), Error> {
        let overflow = |quantity| Error::Overflow { call: self.call, quantity };
        if let Some(data) = self.data {
            data.end.checked_sub(data.start).ok_or(overflow("true extent"))?;
        }
        let (lb, ub) = match (self.marks, self.data) {
            (Marks { lb: Some(lb), ub: Some(ub) }, _) => (lb, ub),
            // Without data a single marker is both bounds, and without any both are 0.
            (Marks { lb, ub }, None) => {
                let bound = lb.or(ub).unwrap_or(0);
                (bound, bound)
            }
            (Marks { lb: None, ub: Some(ub) }, Some(data)) => (data.start, ub),
            (Marks { lb, ub: None }, Some(data)) => {
                let lb = lb.unwrap_or(data.start);
                let extent = data.end.checked_sub(lb).ok_or(overflow("extent"))?;
                (
                    lb,
                    self.pad(extent)
                        .and_then(|extent| lb.checked_add(extent))
                        .ok_or(overflow("upper bound"))?,
                )
            }
        };
        ub.checked_sub(lb).ok_or(overflow("extent"))?;
        Ok((lb, ub))
    }

    /// Rounds an extent up to a multiple of the strictest alignment: the ε of the standard.
    fn pad(&self, extent: i64) -> Option<i64> {
        let align = i64::try_from(self.align).ok()?;
        match extent.rem_euclid(align) {
            0 => Some(extent),
            rest => extent.checked_add(align - rest),
        }
    }
}

/// The least and the greatest of `0, stride, …, (count − 1) · stride`, for a `count` above zero.
pub(super) fn reach(count: u64, stride: i64, call: &'static str) -> Result<(i64, i64), Error> {
    // At most 2⁶⁴ · 2⁶³ in magnitude, which fits.
    let last = i128::from(count - 1) * i128::from(stride);
    let last =
        i64::try_from(last).map_err(|_| Error::Overflow { call, quantity: "displacement" })?;
    Ok((last.min(0), last.max(0)))
}
