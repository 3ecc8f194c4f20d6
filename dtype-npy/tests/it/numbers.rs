//! Numbers of `.npy` files, read as others.

use dtype_npy::{NumpyOptions, ReadOptions};
use dtype_runtime::Datatype;
use dtype_runtime::representation::ByteOrder;
use dtype_test_support::number_pairs::{Format, InArray, InList, InMaybe, Itself, check};

struct Npy(ByteOrder);

impl Format for Npy {
    type Stored = Vec<u8>;

    const HAS_TIMES: bool = true;
    const HAS_NAT: bool = true;

    fn write<T: Datatype + Copy>(&self, records: &[T]) -> Vec<u8> {
        let mut file = Vec::new();
        let options = NumpyOptions::file().with_order(self.0);
        dtype_npy::write_with(&mut file, records, &options).unwrap();
        file
    }

    fn read<T: Datatype>(&self, file: &Vec<u8>) -> Result<Vec<T>, String> {
        let options = ReadOptions::strict().with_number_conversion();
        let loaded = dtype_npy::read_with(&file[..], &options);
        Ok(loaded.map_err(|error| error.to_string())?.records)
    }
}

#[test]
fn numbers_keep_their_values_or_are_refused() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        check::<Npy, Itself>(&Npy(order));
        check::<Npy, InArray>(&Npy(order));
        check::<Npy, InMaybe>(&Npy(order));
        check::<Npy, InList>(&Npy(order));
    }
}
