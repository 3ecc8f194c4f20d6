//! Datasets of HDF5 files, `file.h5:dataset`, in the form of the `.npy` files that NumPy would make of them.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use dtype_hdf5::{Error, ItemReader};
use dtype_npy::Header;

use crate::failure::{Failure, shown};

/// The first bytes of every HDF5 file.
const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

/// A dataset, if the path consists of the name of an HDF5 file and that of a dataset.
pub(crate) fn open(path: &Path) -> Result<Option<Dataset>, Failure> {
    let Some(text) = path.to_str() else { return Ok(None) };
    let is_hdf5 = |file: &str| {
        let mut start = [0; SIGNATURE.len()];
        // A pipe could not be read twice.
        let file = File::open(file).ok().filter(|_| Path::new(file).is_file());
        file.is_some_and(|mut file| file.read_exact(&mut start).is_ok()) && start == SIGNATURE
    };
    if is_hdf5(text) {
        let path = shown(path);
        let message = format!(
            "{path} has datasets, each with a type of its own\nhelp: name one: `{path}:DATASET`"
        );
        return Err(Failure::Usage(message));
    }
    // Names of files and of datasets may contain colons, too.
    let mut colons = text.match_indices(':').map(|(at, _)| at);
    let Some(at) = colons.find(|at| is_hdf5(&text[..*at])) else { return Ok(None) };
    let (file, name) = (&text[..at], &text[at + 1..]);
    let dataset = Dataset::open(file, name);
    dataset.map(Some).map_err(|error| Failure::Usage(format!("{}: {error}", shown(path))))
}

/// An `.npy` file that is made while it is read.
#[derive(Debug)]
pub(crate) struct Dataset {
    items: ItemReader,
    /// The header, and then some of the items.
    next: Cursor<Vec<u8>>,
}

impl Dataset {
    fn open(file: &str, name: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let dataset = dtype_hdf5::open(&*hdf5_metno::File::open(file)?, name)?;
        let items = dtype_hdf5::items(&dataset)?;
        let (dtype, shape) = (items.dtype().clone(), items.shape().to_vec());
        let header = Header { version: (1, 0), dtype, fortran_order: false, shape };
        Ok(Self { items, next: Cursor::new(header.to_bytes()?) })
    }
}

impl Read for Dataset {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.next.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            let bytes = self.next.get_mut();
            bytes.clear();
            let read = self.items.read_onto(bytes).map_err(|error: Error| io::Error::other(error));
            self.next.set_position(0);
            if read? == 0 {
                return Ok(0);
            }
        }
    }
}
