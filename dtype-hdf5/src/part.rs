//! Parts of a dataset, and the pieces in which they are read and written.

use std::ops::Range;

use hdf5_metno::{Dataset, Dataspace, Hyperslab, SliceOrIndex};
use hdf5_metno_sys::h5::hsize_t;

use crate::error::Error;
use crate::library::shape;

/// Bytes of items that are read or written at a time.
pub(crate) const AT_ONCE: usize = 4 << 20;

/// Bytes of strings of variable length that are read at a time, beside what the records have room for.
pub(crate) const TEXTS_AT_ONCE: usize = 16 << 20;

/// A part of a dataset: as many items as `count` says.
pub(crate) struct Part {
    space: Dataspace,
    /// Items along each axis.
    pub(crate) shape: Vec<hsize_t>,
    pub(crate) count: usize,
    /// The first item along the outermost axis.
    pub(crate) first: usize,
}

/// The number of items of a shape. (The library's own number is cut off at 64 bits.)
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

/// Some rows of a dataset, along the outermost axis.
pub(crate) fn rows(dataset: &Dataset, rows: Range<usize>) -> Result<Part, Error> {
    let space = dataset.space()?;
    let mut shape = shape(&space)?;
    let Range { start, end } = rows;
    match shape.first_mut() {
        // A single item.
        None if (start, end) == (0, 1) => {}
        Some(len) if start <= end && end as u64 <= *len => *len = (end - start) as u64,
        // Another thread has made the dataset shorter.
        _ => return Err(Error::Range { start, end, len: count_of(&shape)? }),
    }
    let count = count_of(&shape)?;
    Ok(Part { space, shape, count, first: start })
}

/// Some items of a dataset with one axis.
pub(crate) fn range(dataset: &Dataset, items: Range<usize>) -> Result<Part, Error> {
    let len = axis(dataset)?;
    let Range { start, end } = items;
    if start > end || end > len {
        return Err(Error::Range { start, end, len });
    }
    self::rows(dataset, start..end)
}

/// How many rows of this many bytes are read at a time, and how many rows a chunk has. If pieces end where chunks end, each
/// chunk is read only once.
pub(crate) fn rows_at_once(dataset: &Dataset, bytes: usize) -> (usize, usize) {
    let chunk = dataset.chunk().and_then(|chunk| chunk.first().copied()).unwrap_or(1).max(1);
    let most = (AT_ONCE / bytes.max(1) / chunk).max(1).saturating_mul(chunk);
    (most, chunk)
}

impl Part {
    /// These rows of the dataset.
    pub(crate) fn select(&self, rows: Range<usize>) -> Result<Dataspace, Error> {
        if self.shape.is_empty() {
            return Ok(self.space.clone());
        }
        let mut axes = vec![SliceOrIndex::from(rows)];
        for length in self.shape.get(1..).unwrap_or_default() {
            axes.push((0..count_of(&[*length])?).into());
        }
        Ok(self.space.select(Hyperslab::from(axes))?)
    }

    /// Calls `each` with some of the items at a time, in order: whole rows of the outermost axis, and whole chunks of the
    /// dataset, if it has chunks. They take a few megabytes, unless a row or a chunk is longer.
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
        let (most, chunk) = rows_at_once(dataset, row.saturating_mul(item));
        let mut done = 0;
        while done < rows {
            let start = self.first + done;
            let end = (start / chunk).saturating_mul(chunk).saturating_add(most);
            let end = end.min(self.first + rows);
            let next = end - self.first;
            each(&self.select(start..end)?, done * row..next * row)?;
            done = next;
        }
        Ok(())
    }
}
