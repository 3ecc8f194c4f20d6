//! Datasets of HDF5 files, `file.h5:dataset`, in the form of the `.npy` files that NumPy would make of them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::failure::{Failure, shown};

#[cfg(feature = "hdf5")]
mod read;
#[cfg(not(feature = "hdf5"))]
mod unread;

#[cfg(feature = "hdf5")]
pub(crate) use read::Dataset;
#[cfg(not(feature = "hdf5"))]
pub(crate) use unread::Dataset;

/// The first bytes of every HDF5 file.
const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

/// The error of a build without the library.
const UNREAD: &str = "this build of the command reads no HDF5 files\n\
    help: `cargo install --path dtype-cli --features hdf5` makes one that does; it needs the HDF5 library";

/// A file that can be read twice. To open a pipe and close it again would break it for its writer.
pub(crate) fn regular(path: &Path) -> Option<File> {
    path.is_file().then(|| File::open(path).ok())?
}

/// A dataset, if the path consists of the name of an HDF5 file and that of a dataset.
pub(crate) fn open(path: &Path) -> Result<Option<Dataset>, Failure> {
    let Some(text) = path.to_str() else { return Ok(None) };
    let is_hdf5 = |file: &str| {
        let mut start = [0; SIGNATURE.len()];
        let file = regular(Path::new(file));
        file.is_some_and(|mut file| file.read_exact(&mut start).is_ok()) && start == SIGNATURE
    };
    if is_hdf5(text) {
        let path = shown(path);
        return Err(Failure::Usage(if cfg!(feature = "hdf5") {
            format!(
                "{path} has datasets, each with a type of its own\nhelp: name one: `{path}:DATASET`"
            )
        } else {
            format!("{path}: {UNREAD}")
        }));
    }
    // Names of files and of datasets may contain colons, too.
    let mut colons = text.match_indices(':').map(|(at, _)| at);
    let Some(at) = colons.find(|at| is_hdf5(&text[..*at])) else { return Ok(None) };
    let (file, name) = (&text[..at], &text[at + 1..]);
    let dataset = Dataset::open(file, name);
    dataset.map(Some).map_err(|error| Failure::Usage(format!("{}: {error}", shown(path))))
}
