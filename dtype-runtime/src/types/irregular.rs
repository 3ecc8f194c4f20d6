//! The constructors for blocks at displacements of their own.

use super::integers::Integers;
use super::parts::{Parts, same_length};
use super::{Constructor, Type};
use crate::error::Error;

impl Type {
    /// Blocks of `old` at irregular places: block `i` has `blocklengths[i]` instances and starts
    /// `displacements[i]` extents of `old` from the origin (MPI-4.1 section 5.1.2). Blocks of length
    /// zero have no effect.
    ///
    /// # Errors
    ///
    /// [`Error::ArgumentLengths`] when the two arrays differ in length; [`Error::Overflow`],
    /// [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// // The upper triangle of a 3 × 3 matrix, row by row.
    /// let t = Type::indexed(&[3, 2, 1], &[0, 4, 8], &Type::basic(Basic::U8))?.commit();
    /// let mut out = [0; 6];
    /// t.pack(b"abc.ef..i", 0, 1, &mut out)?;
    /// assert_eq!(&out, b"abcefi");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_indexed")]
    pub fn indexed(blocklengths: &[u64], displacements: &[i64], old: &Self) -> Result<Self, Error> {
        let mut parts = Parts::new("indexed");
        let (expected, actual) = (blocklengths.len(), displacements.len());
        same_length("indexed", "array_of_displacements", expected, actual)?;
        let (blocklengths, displacements) = (blocklengths.into(), displacements.into());
        parts.add_list(old, old.extent(), Lengths::Each(&blocklengths), &displacements)?;
        parts.finish(|| Constructor::Indexed { blocklengths, displacements, old: old.clone() })
    }

    /// As [`indexed`](Self::indexed), with the displacements in bytes.
    ///
    /// # Errors
    ///
    /// As [`indexed`](Self::indexed).
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::hindexed(&[2, 1], &[0, 100], &Type::basic(Basic::I32))?;
    /// assert_eq!((t.size(), t.extent()), (12, 104));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_hindexed")]
    pub fn hindexed(
        blocklengths: &[u64],
        displacements: &[i64],
        old: &Self,
    ) -> Result<Self, Error> {
        let mut parts = Parts::new("hindexed");
        let (expected, actual) = (blocklengths.len(), displacements.len());
        same_length("hindexed", "array_of_displacements", expected, actual)?;
        let (blocklengths, displacements) = (blocklengths.into(), displacements.into());
        parts.add_list(old, 1, Lengths::Each(&blocklengths), &displacements)?;
        parts.finish(|| Constructor::Hindexed { blocklengths, displacements, old: old.clone() })
    }

    /// As [`indexed`](Self::indexed), all blocks of one length.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`], [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::indexed_block(1, &[4, 0, 2], &Type::basic(Basic::U8))?.commit();
    /// let mut out = [0; 3];
    /// t.pack(b"abcde", 0, 1, &mut out)?;
    /// assert_eq!(&out, b"eac");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_indexed_block")]
    pub fn indexed_block(
        blocklength: u64,
        displacements: &[i64],
        old: &Self,
    ) -> Result<Self, Error> {
        let mut parts = Parts::new("indexed_block");
        let displacements = displacements.into();
        parts.add_list(old, old.extent(), Lengths::Same(blocklength), &displacements)?;
        parts.finish(|| Constructor::IndexedBlock { blocklength, displacements, old: old.clone() })
    }

    /// As [`indexed_block`](Self::indexed_block), with the displacements in bytes.
    ///
    /// # Errors
    ///
    /// As [`indexed_block`](Self::indexed_block).
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::hindexed_block(2, &[-8, 8], &Type::basic(Basic::I32))?;
    /// assert_eq!((t.lb(), t.ub()), (-8, 16));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_hindexed_block")]
    pub fn hindexed_block(
        blocklength: u64,
        displacements: &[i64],
        old: &Self,
    ) -> Result<Self, Error> {
        let mut parts = Parts::new("hindexed_block");
        let displacements = displacements.into();
        parts.add_list(old, 1, Lengths::Same(blocklength), &displacements)?;
        parts.finish(|| Constructor::HindexedBlock { blocklength, displacements, old: old.clone() })
    }
}

/// The lengths of a list of blocks.
#[derive(Clone, Copy)]
pub(super) enum Lengths<'a> {
    Each(&'a Integers<u64>),
    Same(u64),
}

impl Lengths<'_> {
    /// Lengths with their displacements.
    pub(super) fn with(self, displacements: &Integers<i64>) -> impl Iterator<Item = (u64, i64)> {
        displacements.iter().enumerate().map(move |(index, place)| match self {
            Self::Each(lengths) => (lengths.get(index), place),
            Self::Same(length) => (length, place),
        })
    }

    /// The least and the greatest.
    fn range(self) -> Option<(u64, u64)> {
        match self {
            Self::Each(lengths) => lengths.range(),
            Self::Same(length) => Some((length, length)),
        }
    }
}

/// What is known of a list of blocks as a whole. Blocks of length zero play no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    /// How many blocks there are.
    pub(super) number: u64,
    /// How many instances, if 64 bits can tell.
    pub(super) instances: Option<u64>,
    /// The least and the greatest displacement of an instance, in bytes; of no meaning where the old type has no
    /// bounds.
    pub(super) places: (i64, i64),
}

impl Sum {
    /// Of a list without blocks of length zero, in which nothing comes near an overflow. The ends tell of most lists
    /// that this is so, and of many all the rest.
    pub(super) fn at_once(
        old: &Type,
        unit: i64,
        lengths: Lengths<'_>,
        displacements: &Integers<i64>,
    ) -> Option<Self> {
        let (shortest, longest) = lengths.range()?;
        let (least, greatest) = displacements.range()?;
        let number = displacements.len() as u64;
        let extent = old.extent();
        if shortest == 0 {
            return None;
        }
        // The sum of all fits if the longest would as often.
        let most = longest.checked_mul(number)?;
        let (one, other) = (least.checked_mul(unit)?, greatest.checked_mul(unit)?);
        let (least, greatest) = (one.min(other), one.max(other));
        let reach = i64::try_from(longest - 1).ok()?.checked_mul(extent)?;
        // The farthest that there might be.
        let places = (least.checked_add(reach.min(0))?, greatest.checked_add(reach.max(0))?);
        let Lengths::Each(all) = lengths else {
            return Some(Self { number, instances: Some(most), places });
        };
        // Where the extent leads is the other end, and the greater one if all is turned around where it is negative.
        let sign = if extent < 0 { -1 } else { 1 };
        let (unit, extent) = (unit.wrapping_mul(sign), extent.wrapping_mul(sign));
        let (mut instances, mut farthest) = (0, i64::MIN);
        all.each_with(displacements, |length: u64, place| {
            instances += length;
            let reach = (length - 1).cast_signed().wrapping_mul(extent);
            farthest = farthest.max(place.wrapping_mul(unit).wrapping_add(reach));
        });
        let places = if sign < 0 { (farthest.wrapping_neg(), greatest) } else { (least, farthest) };
        Some(Self { number, instances: Some(instances), places })
    }

    /// Of any list; `None` if a displacement overflows.
    pub(super) fn one_by_one(
        old: &Type,
        unit: i64,
        lengths: Lengths<'_>,
        displacements: &Integers<i64>,
    ) -> Option<Self> {
        let extent = old.extent();
        let farthest = if extent == 0 { u64::MAX } else { 1 << 63 };
        let mut sum = Self { number: 0, instances: Some(0), places: (i64::MAX, i64::MIN) };
        for (length, place) in lengths.with(displacements).filter(|(length, _)| *length > 0) {
            sum.number += 1;
            sum.instances = sum.instances.and_then(|instances| instances.checked_add(length));
            if !old.has_bounds() {
                continue;
            }
            if length > farthest {
                return None;
            }
            let first = place.checked_mul(unit)?;
            let last = first.checked_add((length - 1).cast_signed().checked_mul(extent)?)?;
            sum.places = (sum.places.0.min(first).min(last), sum.places.1.max(first).max(last));
        }
        Some(sum)
    }
}
