//! Numbers of datasets, read as others.

use std::cell::Cell;

use dtype_hdf5::ReadOptions;
use dtype_runtime::Datatype;
use dtype_test_support::number_pairs::{Format, InArray, InList, InMaybe, Itself, check};
use hdf5_metno::{Dataset, File};

/// A file in memory, and the number of its datasets.
struct Hdf5(File, Cell<usize>);

impl Format for Hdf5 {
    type Stored = Dataset;

    const HAS_TIMES: bool = false;

    fn write<T: Datatype + Copy>(&self, records: &[T]) -> Dataset {
        self.1.set(self.1.get() + 1);
        dtype_hdf5::create(&self.0, &self.1.get().to_string(), records).unwrap()
    }

    fn read<T: Datatype>(&self, dataset: &Dataset) -> Result<Vec<T>, String> {
        let options = ReadOptions::strict().with_number_conversion();
        let loaded = dtype_hdf5::read_with(dataset, &options);
        Ok(loaded.map_err(|error| error.to_string())?.records)
    }
}

#[test]
fn numbers_keep_their_values_or_are_refused() {
    let path = std::env::temp_dir().join("numbers of every kind.h5");
    let file = File::with_options().with_fapl(|fapl| fapl.core_filebacked(false)).create(path);
    let format = Hdf5(file.unwrap(), Cell::new(0));
    check::<Hdf5, Itself>(&format);
    check::<Hdf5, InArray>(&format);
    check::<Hdf5, InMaybe>(&format);
    check::<Hdf5, InList>(&format);
}
