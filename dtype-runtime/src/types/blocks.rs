//! A list of blocks, each with its own displacement, and its totals.

use super::Type;
use super::integers::{Integers, range};

/// The totals of fewer blocks than this come from the caller's numbers, of more from the numbers that the type keeps.
const MANY: usize = 24;

/// The lengths of a list of blocks.
#[derive(Clone, Copy)]
pub(crate) enum Lengths<E> {
    Each(E),
    Same(u64),
}

/// A list of blocks as the caller gave it: lengths and displacements.
pub(super) type Given<'a> = (Lengths<&'a [u64]>, &'a [i64]);

/// The same list as the type keeps it.
pub(super) type Kept<'a> = (Lengths<&'a Integers<u64>>, &'a Integers<i64>);

impl Lengths<&[u64]> {
    /// Calls a function with each length and its displacement until it returns `None`.
    #[inline(always)]
    pub(super) fn try_each_with(
        self,
        displacements: &[i64],
        mut with: impl FnMut(u64, i64) -> Option<()>,
    ) -> Option<()> {
        match self {
            Self::Each(lengths) => {
                lengths.iter().zip(displacements).try_for_each(|(length, at)| with(*length, *at))
            }
            Self::Same(length) => displacements.iter().try_for_each(|at| with(length, *at)),
        }
    }
}

impl Lengths<&Integers<u64>> {
    /// Lengths with their displacements.
    pub(super) fn with(self, displacements: &Integers<i64>) -> impl Iterator<Item = (u64, i64)> {
        displacements.iter().enumerate().map(move |(index, displacement)| match self {
            Self::Each(lengths) => (lengths.get(index), displacement),
            Self::Same(length) => (length, displacement),
        })
    }
}

impl<E> Lengths<E> {
    /// The least and the greatest length; `range` finds them among individual lengths.
    #[inline(always)]
    fn range(self, range: impl FnOnce(E) -> Option<(u64, u64)>) -> Option<(u64, u64)> {
        match self {
            Self::Each(lengths) => range(lengths),
            Self::Same(length) => Some((length, length)),
        }
    }
}

/// The totals of a list of blocks. Blocks of length zero are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Totals {
    /// The number of blocks.
    pub(super) number: u64,
    /// The number of instances; `None` if it does not fit 64 bits.
    pub(super) instances: Option<u64>,
    /// The least and the greatest displacement of an instance, in bytes; unspecified if the old type has no bounds.
    pub(super) displacements: (i64, i64),
}

impl Totals {
    /// The totals of a list; `None` if a displacement overflows.
    #[inline]
    pub(super) fn of(old: &Type, unit: i64, given: Given<'_>, kept: Kept<'_>) -> Option<Self> {
        let at_once = if given.1.len() < MANY {
            Self::of_few(old, unit, given)
        } else {
            Self::of_many(old, unit, kept)
        };
        at_once.or_else(|| Self::one_by_one(old, unit, given))
    }

    /// As [`at_once`](Self::at_once), from what the caller gave.
    #[inline(always)]
    fn of_few(old: &Type, unit: i64, (lengths, displacements): Given<'_>) -> Option<Self> {
        let ranges = (lengths.range(range)?, range(displacements)?);
        Self::at_once(old, unit, displacements.len(), ranges, |sums| {
            if let Lengths::Each(all) = lengths {
                all.iter().zip(displacements).for_each(|(length, at)| sums.add(*length, *at));
            }
        })
    }

    /// As [`at_once`](Self::at_once), from what the type keeps, which takes fewer bytes.
    fn of_many(old: &Type, unit: i64, (lengths, displacements): Kept<'_>) -> Option<Self> {
        let ranges = (lengths.range(Integers::range)?, displacements.range()?);
        Self::at_once(old, unit, displacements.len(), ranges, |sums| {
            if let Lengths::Each(all) = lengths {
                all.each_with(displacements, |length, at| sums.add(length, at));
            }
        })
    }

    /// The totals of a list without blocks of length zero in which nothing can overflow: the least and the
    /// greatest number of each list show this. `None` for other lists. `add_each` is called only if the lengths
    /// differ, and adds every length with its displacement. Fast twin of [`one_by_one`](Self::one_by_one), kept equal by the
    /// test `all_ways_to_the_totals_agree`.
    #[inline(always)]
    fn at_once(
        old: &Type,
        unit: i64,
        number: usize,
        ((shortest, longest), (least, greatest)): ((u64, u64), (i64, i64)),
        add_each: impl FnOnce(&mut Sums),
    ) -> Option<Self> {
        let (number, extent) = (number as u64, old.extent());
        if shortest == 0 {
            return None;
        }
        // The sum of all lengths fits if `number` times the longest does.
        let most = longest.checked_mul(number)?;
        let (one, other) = (least.checked_mul(unit)?, greatest.checked_mul(unit)?);
        let (least, greatest) = (one.min(other), one.max(other));
        let reach = i64::try_from(longest - 1).ok()?.checked_mul(extent)?;
        // The farthest possible displacements.
        let ends = (least.checked_add(reach.min(0))?, greatest.checked_add(reach.max(0))?);
        if shortest == longest {
            return Some(Self { number, instances: Some(most), displacements: ends });
        }
        let mut sums = Sums { unit, extent, instances: 0, least, greatest };
        add_each(&mut sums);
        let Sums { instances, least, greatest, .. } = sums;
        Some(Self { number, instances: Some(instances), displacements: (least, greatest) })
    }

    /// The totals of any list; `None` if a displacement overflows.
    fn one_by_one(old: &Type, unit: i64, (lengths, displacements): Given<'_>) -> Option<Self> {
        let (extent, has_bounds) = (old.extent(), old.has_bounds());
        let farthest = if extent == 0 { u64::MAX } else { 1 << 63 };
        let (mut number, mut instances) = (0, Some(0_u64));
        let (mut least, mut greatest) = (i64::MAX, i64::MIN);
        lengths.try_each_with(displacements, |length, displacement| {
            if length == 0 {
                return Some(());
            }
            number += 1;
            instances = instances.and_then(|instances| instances.checked_add(length));
            if !has_bounds {
                return Some(());
            }
            if length > farthest {
                return None;
            }
            let first = displacement.checked_mul(unit)?;
            let last = first.checked_add((length - 1).cast_signed().checked_mul(extent)?)?;
            (least, greatest) = (least.min(first).min(last), greatest.max(first).max(last));
            Some(())
        })?;
        Some(Self { number, instances, displacements: (least, greatest) })
    }
}

/// The number of instances in some blocks, and their least and greatest displacement, starting with those of the first
/// instances.
struct Sums {
    unit: i64,
    extent: i64,
    instances: u64,
    least: i64,
    greatest: i64,
}

impl Sums {
    /// Adds a block. Its last displacement fits; a product on the way may wrap.
    #[inline(always)]
    fn add(&mut self, length: u64, displacement: i64) {
        self.instances += length;
        let reach = (length - 1).cast_signed().wrapping_mul(self.extent);
        let last = displacement.wrapping_mul(self.unit).wrapping_add(reach);
        self.least = self.least.min(last);
        self.greatest = self.greatest.max(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basic::Basic;

    /// For every list that [`Totals::at_once`] accepts, all ways give the same totals.
    #[test]
    fn all_ways_to_the_totals_agree() {
        let byte = Type::basic(Basic::U8);
        let extents = [-7, 0, 1, 24, -1, i64::MIN];
        let extents = extents.map(|extent| Type::resized(&byte, 0, extent).unwrap());
        let lists: [(&[u64], &[i64]); 13] = [
            (&[1], &[0]),
            (&[3, 1, 2], &[5, -6, 7]),
            (&[2, 2, 9], &[-1, -300, -20]),
            (&[3, 3, 3], &[4, -9, 1]),
            (&[1, 70_000], &[i64::from(i32::MAX), 1 << 33]),
            (&[4, 0, 4], &[1, 2, 3]),
            (&[u64::MAX, 2], &[0, i64::MAX]),
            (&[(1 << 63) + 5, 2], &[0, 1]),
            // A last instance at the least displacement that there is, or one byte after it.
            (&[1, 2], &[-5, i64::MIN + 7]),
            (&[1, 2], &[-5, i64::MIN + 1]),
            (&[1, 2], &[-5, i64::MIN + 2]),
            (&[1, 2], &[0, 0]),
            (&[1, 2], &[1, 1]),
        ];
        let mut taken = 0;
        for (lengths, displacements) in lists {
            let (mut each, mut kept) = (Integers::new(), Integers::new());
            each.set(lengths);
            kept.set(displacements);
            let same = lengths[0];
            for (given, lengths) in [
                (Lengths::Each(lengths), Lengths::Each(&each)),
                (Lengths::Same(same), Lengths::Same(same)),
            ] {
                for old in &extents {
                    for unit in [1, -7, 24] {
                        let at_once = Totals::of_few(old, unit, (given, displacements));
                        assert_eq!(at_once, Totals::of_many(old, unit, (lengths, &kept)));
                        let Some(at_once) = at_once else { continue };
                        taken += 1;
                        let one_by_one = Totals::one_by_one(old, unit, (given, displacements));
                        assert_eq!(Some(at_once), one_by_one);
                    }
                }
            }
        }
        assert!(taken >= 60, "{taken}");
    }
}
