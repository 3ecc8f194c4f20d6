//! Datasets through the HDF5 library.

use std::error::Error;
use std::io::{self, Cursor, Read};

use dtype_hdf5::ItemReader;
use dtype_npy::Header;

/// An `.npy` file that is made while it is read.
#[derive(Debug)]
pub(super) struct Dataset {
    items: ItemReader,
    /// The header, and then some of the items.
    next: Cursor<Vec<u8>>,
}

impl Dataset {
    pub(super) fn open(file: &str, name: &str) -> Result<Self, Box<dyn Error>> {
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
            let read = self.items.read_onto(bytes).map_err(io::Error::other);
            self.next.set_position(0);
            if read? == 0 {
                return Ok(0);
            }
        }
    }
}
