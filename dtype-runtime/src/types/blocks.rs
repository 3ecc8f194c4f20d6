//! A list of blocks, each with its own displacement, and its totals.

use alloc::boxed::Box;

use super::Type;

/// The lengths of a list of blocks, in instances.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lengths<E> {
    Each(E),
    Same(u64),
}

impl Lengths<Box<[u64]>> {
    pub(crate) fn as_slice(&self) -> Lengths<&[u64]> {
        match self {
            Self::Each(lengths) => Lengths::Each(lengths),
            Self::Same(length) => Lengths::Same(*length),
        }
    }
}

/// Blocks of one old type at individual displacements.
pub(super) struct BlockList<'a> {
    /// The length of each block, one for each displacement.
    pub(super) lengths: Lengths<&'a [u64]>,
    pub(super) displacements: &'a [i64],
    /// The number of bytes that a displacement counts.
    pub(super) unit: i64,
    pub(super) old: &'a Type,
}

/// The totals of a list of blocks. Blocks of length zero are not counted.
pub(super) struct Totals {
    /// The number of blocks.
    pub(super) number: u64,
    /// The number of instances; `None` if it does not fit 64 bits.
    pub(super) instances: Option<u64>,
    /// The least and the greatest displacement of an instance, in bytes; unspecified if the old type has no bounds.
    pub(super) displacements: (i64, i64),
}

impl<'a> BlockList<'a> {
    /// The length and the displacement, in units, of each block that is not empty.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u64, i64)> + Clone + use<'a> {
        let (each, same) = match self.lengths {
            Lengths::Each(lengths) => (lengths, 0),
            Lengths::Same(length) => (&[][..], length),
        };
        let blocks = self.displacements.iter().enumerate();
        let blocks = blocks.map(move |(i, place)| (each.get(i).copied().unwrap_or(same), *place));
        blocks.filter(|(length, _)| *length > 0)
    }

    /// The totals; `None` if a displacement overflows.
    pub(super) fn totals(&self) -> Option<Totals> {
        let (mut number, mut instances) = (0, Some(0_u64));
        let (mut least, mut greatest) = (i64::MAX, i64::MIN);
        let mut include = |length, displacement| {
            let (first, last) = self.ends(length, displacement)?;
            (least, greatest) = (least.min(first).min(last), greatest.max(first).max(last));
            Some(())
        };
        match self.lengths {
            Lengths::Same(0) => {}
            Lengths::Same(length) => {
                number = self.displacements.len() as u64;
                instances = number.checked_mul(length);
                // Nothing reaches further than the blocks at the least and the greatest displacement.
                let ends = self.displacements.iter().fold((i64::MAX, i64::MIN), |ends, place| {
                    (ends.0.min(*place), ends.1.max(*place))
                });
                if number > 0 {
                    include(length, ends.0)?;
                    include(length, ends.1)?;
                }
            }
            Lengths::Each(_) => {
                for (length, displacement) in self.blocks() {
                    number += 1;
                    instances = instances.and_then(|instances| instances.checked_add(length));
                    include(length, displacement)?;
                }
            }
        }
        Some(Totals { number, instances, displacements: (least, greatest) })
    }

    /// The displacements of a block's first and last instance, in bytes; arbitrary if the old type has no bounds.
    fn ends(&self, length: u64, displacement: i64) -> Option<(i64, i64)> {
        if !self.old.has_bounds() {
            return Some((0, 0));
        }
        let first = displacement.checked_mul(self.unit)?;
        let steps = i64::try_from(length - 1).ok();
        let extent = self.old.extent();
        // Steps of zero bytes lead nowhere, however many there are.
        let reach = if extent == 0 { 0 } else { steps?.checked_mul(extent)? };
        Some((first, first.checked_add(reach)?))
    }
}
