//! Parts of a dataset, and the pieces in which they are read and written.

use std::ops::Range;

use hdf5_metno::{Dataset, Dataspace, Hyperslab, SliceOrIndex};
use hdf5_metno_sys::h5::hsize_t;

use crate::error::Error;
use crate::library::shape;

/// Bytes of items that are read or written at a time.
const AT_ONCE: usize = 4 << 20;

/// A part of a dataset: as many items as `count` says.
pub(crate) struct Part {
    space: Dataspace,
    /// Items along each axis.
    pub(crate) shape: Vec<hsize_t>,
    pub(crate) count: usize,
    /// The first item along the outermost axis.
    first: usize,
}

/// The number of items of a shape. The library's own number is cut to 64 bits.
pub(crate) fn count_of(shape: &[u64]) -> Result<usize, Error> {
    let count = if shape.contains(&0) {
        Some(0)
    } else {
        shape.iter().try_fold(1, |all: u64, length| all.checked_mul(*length))
    };
    let count = count.and_then(|count| usize::try_from(count).ok());
    count.ok_or_else(|| Error::TooManyItems { shape: shape.to_vec() })
}

/// All items of a dataset.
pub(crate) fn whole(dataset: &Dataset) -> Result<Part, Error> {
    let space = dataset.space()?;
    let shape = shape(&space)?;
    let count = count_of(&shape)?;
    Ok(Part { space, shape, count, first: 0 })
}

/// The length of the only axis.
pub(crate) fn axis(dataset: &Dataset) -> Result<usize, Error> {
    match *shape(&dataset.space()?)? {
        [len] => count_of(&[len]),
        ref other => Err(Error::Axes { actual: other.len() }),
    }
}

/// Some items of a dataset with one axis.
pub(crate) fn range(dataset: &Dataset, items: Range<usize>) -> Result<Part, Error> {
    let len = axis(dataset)?;
    let Range { start, end } = items;
    if start > end || end > len {
        return Err(Error::Range { start, end, len });
    }
    let count = end - start;
    let space = dataset.space()?;
    Ok(Part { space, shape: vec![count as u64], count, first: start })
}

impl Part {
    /// Calls `each` with some of the items at a time, in their order: whole rows of the outermost axis, and whole chunks of the
    /// dataset, if it has any. They take a few megabytes, unless a row or a chunk is longer.
    pub(crate) fn pieces(
        &self,
        dataset: &Dataset,
        item: usize,
        mut each: impl FnMut(&Dataspace, Range<usize>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some((outer, inner)) = self.shape.split_first().filter(|_| self.count > 0) else {
            return if self.count == 0 { Ok(()) } else { each(&self.space, 0..self.count) };
        };
        let (rows, row) = (count_of(&[*outer])?, count_of(inner)?);
        let chunk = dataset.chunk().and_then(|chunk| chunk.first().copied()).unwrap_or(1).max(1);
        let most = AT_ONCE / row.saturating_mul(item).max(1);
        // Chunks are read once if pieces end where they end.
        let most = (most / chunk).max(1).saturating_mul(chunk);
        let mut done = 0;
        while done < rows {
            let start = self.first + done;
            let end = (start / chunk).saturating_mul(chunk).saturating_add(most);
            let end = end.min(self.first + rows);
            let mut axes = vec![SliceOrIndex::from(start..end)];
            for length in inner {
                axes.push((0..count_of(&[*length])?).into());
            }
            let next = end - self.first;
            each(&self.space.select(Hyperslab::from(axes))?, done * row..next * row)?;
            done = next;
        }
        Ok(())
    }
}
