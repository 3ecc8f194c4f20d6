//! Arrow's numbers, read as others.

use arrow_array::RecordBatch;
use dtype_arrow::{BatchOptions, from_batch, to_batch};
use dtype_runtime::Datatype;
use dtype_stored::ReadOptions;

use dtype_test_support::number_pairs::{Format, InArray, InList, InMaybe, Itself, check};

struct Arrow;

impl Format for Arrow {
    type Stored = RecordBatch;

    const HAS_TIMES: bool = true;

    fn write<T: Datatype + Copy>(&self, records: &[T]) -> RecordBatch {
        to_batch(records, &BatchOptions::flat()).unwrap()
    }

    fn read<T: Datatype>(&self, batch: &RecordBatch) -> Result<Vec<T>, String> {
        let options = ReadOptions::strict().with_number_conversion();
        from_batch(batch, &options).map_err(|error| error.to_string())
    }
}

#[test]
fn numbers_keep_their_values_or_are_refused() {
    check::<Arrow, Itself>(&Arrow);
    check::<Arrow, InArray>(&Arrow);
    check::<Arrow, InMaybe>(&Arrow);
    check::<Arrow, InList>(&Arrow);
}
