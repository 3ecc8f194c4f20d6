//! Arrays in files that have several: datasets, `file.h5:dataset`, in the form of the `.npy` files that NumPy would make of them,
//! and arrays of archives, `file.npz:name`, which are such files.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use dtype_npy::Npz;

use crate::failure::{Failure, shown};
use dtype_text::notation::Stored;
use dtype_text::printable::printable;

#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "hdf5")]
mod hdf5;

/// The first bytes of every HDF5 file.
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// The first bytes of every archive with a file in it.
const ZIP: &[u8] = b"PK\x03\x04";

/// The first bytes of every Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// The error of a build without the library.
const UNREAD: &str = "this build of the command reads no HDF5 files\n\
    help: `cargo install --path dtype-cli --features hdf5` makes one that does; it needs the HDF5 library";

/// A `.npy` file in another file.
pub(crate) struct Dataset {
    bytes: Box<dyn Read>,
    /// Bytes of UTF-8 that a character of a text takes at most.
    pub(crate) character: u64,
}

impl Read for Dataset {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(out)
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset").finish_non_exhaustive()
    }
}

/// A file that can be read twice. To open a pipe and close it again would break it for its writer.
pub(crate) fn regular(path: &Path) -> Option<File> {
    path.is_file().then(|| File::open(path).ok())?
}

/// The records of a file of columns.
pub(crate) struct Columns {
    pub(crate) stored: Stored,
    /// The number of records.
    pub(crate) count: u64,
    /// The columns that no field of a record reads, with their types.
    pub(crate) left_out: Vec<String>,
}

/// The records of a file of columns, if it is one.
pub(crate) fn columns(path: &Path) -> Result<Option<Columns>, Failure> {
    if !starts_with(path, PARQUET) {
        return Ok(None);
    }
    #[cfg(feature = "parquet")]
    let read = File::open(path).map_err(Into::into).and_then(columns::read);
    #[cfg(not(feature = "parquet"))]
    let read: Result<_, &str> = Err("this build of the command reads no Parquet files\n\
        help: `cargo install --path dtype-cli --features parquet` makes one that does");
    read.map(Some).map_err(|error| Failure::Usage(format!("{}: {error}", shown(path))))
}

/// Whether a file starts with these bytes.
fn starts_with(file: impl AsRef<Path>, expected: &[u8]) -> bool {
    let mut start = Vec::new();
    let file = regular(file.as_ref()).map(|file| file.take(expected.len() as u64));
    file.is_some_and(|mut file| file.read_to_end(&mut start).is_ok()) && start == expected
}

/// A dataset or an array, if the path consists of the name of such a file and that of a dataset or an array.
pub(crate) fn open(path: &Path) -> Result<Option<Dataset>, Failure> {
    let Some(text) = path.to_str() else { return Ok(None) };
    let path = shown(path);
    if starts_with(text, HDF5) {
        return Err(Failure::Usage(if cfg!(feature = "hdf5") {
            format!(
                "{path} has datasets, each with a type of its own\nhelp: name one: `{path}:DATASET`"
            )
        } else {
            format!("{path}: {UNREAD}")
        }));
    }
    let failed = |error: &dyn fmt::Display| Failure::Usage(format!("{path}: {error}"));
    let archive = |file| {
        let file = regular(Path::new(file)).ok_or_else(|| failed(&"it is gone"))?;
        Npz::new(file).map_err(|error| failed(&error))
    };
    if starts_with(text, ZIP) {
        let archive = archive(text)?;
        let names: Vec<_> = archive.names().take(MAX_NAMES).map(printable).collect();
        if !names.is_empty() {
            let names = names.join("`, `");
            return Err(Failure::Usage(format!(
                "{path} has arrays, each with a type of its own: `{names}`\nhelp: name one: `{path}:NAME`"
            )));
        }
    }
    // Names of files, of datasets and of arrays may contain colons, too.
    for (at, _) in text.match_indices(':') {
        let (file, name) = (&text[..at], &text[at + 1..]);
        if starts_with(file, HDF5) {
            #[cfg(not(feature = "hdf5"))]
            return Err(failed(&UNREAD));
            #[cfg(feature = "hdf5")]
            {
                let dataset = hdf5::Dataset::open(file, name).map_err(|error| failed(&error))?;
                // A character was a byte in the file.
                return Ok(Some(Dataset { bytes: Box::new(dataset), character: 1 }));
            }
        }
        if starts_with(file, ZIP) {
            let array = archive(file)?.array(name).map_err(|error| failed(&error))?;
            return Ok(Some(Dataset { bytes: Box::new(array), character: 4 }));
        }
    }
    Ok(None)
}

/// The maximum number of names that a message lists.
const MAX_NAMES: usize = 12;
