//! Readings of weather stations as a Parquet file, and back: strings, absent values, times and a struct in a struct.
//!
//! ```console
//! cargo run --manifest-path examples/parquet/Cargo.toml -- write readings.parquet
//! cargo run --manifest-path examples/parquet/Cargo.toml -- read readings.parquet
//! ```
//!
//! `check.py`, beside this file's folder, reads the file with pyarrow and writes one that this program reads.

use std::error::Error;
use std::fs::File;
use std::time::{Duration, SystemTime};

use dtype_arrow::{BatchOptions, ReadOptions, batch_schema, from_batch, to_batch};
use dtype_runtime::time::Microseconds;
use dtype_runtime::{Datatype, FixedStr, Maybe, Timestamp};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Place {
    latitude: f64,
    longitude: f64,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Reading {
    station: FixedStr<12>,
    at: Timestamp<Microseconds>,
    place: Place,
    celsius: Maybe<f32>,
    samples: [u16; 3],
}

/// The number of records in a batch. A file of any length takes memory for one batch.
const BATCH: usize = 1 << 16;

fn reading(i: u32) -> Result<Reading, Box<dyn Error>> {
    let station = ["Köln", "Zürich", "São Paulo"][i as usize % 3];
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + u64::from(i) * 60);
    Ok(Reading {
        station: station.parse()?,
        at: at.try_into()?,
        place: Place { latitude: 50.9, longitude: 6.9 },
        celsius: (!i.is_multiple_of(5)).then_some(i as f32 / 10.0).into(),
        samples: [1, 2, 3],
    })
}

fn write(path: &str) -> Result<(), Box<dyn Error>> {
    let readings = (0..1000).map(reading).collect::<Result<Vec<_>, _>>()?;
    let options = BatchOptions::flat().with_structs();
    let schema = batch_schema::<Reading>(&options)?;
    let mut writer = ArrowWriter::try_new(File::create(path)?, schema.into(), None)?;
    for some in readings.chunks(BATCH) {
        writer.write(&to_batch(some, &options)?)?;
    }
    writer.close()?;
    Ok(())
}

fn read(path: &str) -> Result<(), Box<dyn Error>> {
    let file = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let (mut count, mut sum) = (0, 0.0);
    for batch in file.with_batch_size(BATCH).build()? {
        // A column of another width, such as a `double` for an `f32`, is converted if each of its values fits.
        let options = ReadOptions::strict().with_number_conversion();
        let readings: Vec<Reading> = from_batch(&batch?, &options)?;
        count += readings.len();
        sum += readings.iter().filter_map(|reading| reading.celsius.get()).sum::<f32>();
        if let Some(last) = readings.last() {
            println!("{last:?}");
        }
    }
    println!("{count} readings, {sum} in all");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", path] => write(path),
        ["read", path] => read(path),
        _ => Err("expected `write FILE` or `read FILE`".into()),
    }
}
