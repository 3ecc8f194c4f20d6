//! How a dataset stores its items, and how many bytes of them the file has.

use dtype_stored::Budget;
use hdf5_metno::dataset::Layout;
use hdf5_metno::{Dataset, Datatype};

use crate::error::Error;
use crate::library::{external_file, shape};
use crate::part::{Part, count_of};

/// The memory that the library needs for a chunk to read, in bytes.
const CHUNK: u64 = 300;

/// The greatest number of bytes to read for each byte in the file. zstd compresses a block of equal bytes about this much. Only
/// bzip2 compresses more, for equal bytes in chunks of megabytes.
const MAX_EXPANDED: u64 = 1 << 15;

/// Checks that the items are in the dataset's own file. A file may name any other one as the place of its items, which a program
/// would then read or overwrite with its own rights.
pub(crate) fn check_inside(dataset: &Dataset) -> Result<(), Error> {
    let properties = dataset.dcpl()?;
    if let Some(file) = external_file(&properties)? {
        let what = format!("the items of the dataset are in the file `{}`", file.escape_debug());
        return Err(Error::Elsewhere { what });
    }
    // An old library has no name for virtual datasets.
    if matches!(properties.get_layout()?, Layout::Compact | Layout::Contiguous | Layout::Chunked) {
        return Ok(());
    }
    let what = "the items of the dataset are those of other datasets (it is virtual)".to_owned();
    Err(Error::Elsewhere { what })
}

/// Checks that a dataset without chunks has space for all its items, if it was ever written. Otherwise the library would use
/// the bytes after that space.
pub(crate) fn check_space(dataset: &Dataset, datatype: &Datatype) -> Result<(), Error> {
    if !matches!(dataset.dcpl()?.layout(), Layout::Compact | Layout::Contiguous) {
        return Ok(());
    }
    let items = count_of(&shape(&dataset.space()?)?)?;
    let (size, stored) = (datatype.size(), dataset.storage_size());
    let needed = items.checked_mul(size).and_then(|needed| u64::try_from(needed).ok());
    if stored == 0 || needed.is_some_and(|needed| needed <= stored) {
        return Ok(());
    }
    Err(Error::NotStored { items, size, stored })
}

/// Checks that a part to read is large only if its items were written, so that a length in a file cannot take hours and all
/// memory. Items that were not written have the dataset's fill value. A record (of `record` bytes) may be larger than an item,
/// because a text has the length of its type. The library has a whole chunk in memory at a time, which is counted.
pub(crate) fn check_written(
    dataset: &Dataset,
    datatype: &Datatype,
    part: &Part,
    record: usize,
    budget: &Budget,
) -> Result<(), Error> {
    let properties = dataset.dcpl()?;
    if !matches!(properties.layout(), Layout::Compact | Layout::Contiguous | Layout::Chunked) {
        return Ok(());
    }
    let (items, size) = (part.count, datatype.size());
    let bytes = (items as u64).saturating_mul(size.max(record) as u64);
    let across = |(length, chunk): (&u64, &usize)| length.div_ceil((*chunk as u64).max(1));
    let chunk = properties.chunk().unwrap_or_default();
    if !chunk.is_empty() && items > 0 {
        budget.hold(chunk.iter().copied().fold(size, usize::saturating_mul))?;
    }
    let chunks = part.shape.iter().zip(&chunk).map(across).fold(1, u64::saturating_mul);
    let empty = budget.bytes_left() as u64;
    if chunks <= empty / CHUNK && bytes <= empty {
        // The library looks at all chunks of the dataset to find out how many bytes there are.
        return Ok(());
    }
    let stored = dataset.storage_size();
    // A chunk that was written has at least one byte.
    if chunks <= stored.saturating_add(empty / CHUNK)
        && bytes <= stored.saturating_mul(MAX_EXPANDED).saturating_add(empty)
    {
        return Ok(());
    }
    Err(Error::NotStored { items, size, stored })
}
