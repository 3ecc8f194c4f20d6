//! Copies the readings of a station from one `.npy` file to another, piece by piece: files of any length take a few megabytes of
//! memory. A bar shows how far it is.
//!
//! ```console
//! cargo run -p dtype-npy --example batches
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use dtype_npy::{NumpyOptions, ReadOptions, Reader, Writer};
use dtype_runtime::time::Seconds;
use dtype_runtime::{Datatype, FixedStr, Timestamp};
use indicatif::ProgressBar;

#[derive(Datatype, Clone, Copy)]
struct Reading {
    at: Timestamp<Seconds>,
    station: FixedStr<8>,
    celsius: f32,
}

/// Records of a piece.
const BATCH: usize = 1 << 16;

fn generate(path: &Path, count: u32) -> Result<(), Box<dyn Error>> {
    let mut writer = Writer::new(BufWriter::new(File::create(path)?), &NumpyOptions::file())?;
    let stations: [FixedStr<8>; 3] = ["Köln".parse()?, "Zürich".parse()?, "Wien".parse()?];
    for first in (0..count).step_by(BATCH) {
        let end = count.min(first.saturating_add(BATCH.try_into()?));
        let readings: Vec<Reading> = (first..end)
            .map(|i| Reading {
                at: Timestamp::new(1_700_000_000 + i64::from(i)),
                station: stations[i as usize % 3],
                celsius: 20.0,
            })
            .collect();
        writer.write(&readings)?;
    }
    writer.finish()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("dtype-batches-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (from, to) = (folder.join("all.npy"), folder.join("some.npy"));
    generate(&from, 1_000_000)?;

    let reader =
        Reader::<Reading, _>::new(BufReader::new(File::open(&from)?), &ReadOptions::strict())?;
    let bar = ProgressBar::new(reader.len() as u64);
    let mut writer = Writer::new(BufWriter::new(File::create(&to)?), &NumpyOptions::file())?;
    for batch in reader.batches(BATCH) {
        let mut batch = batch?;
        bar.inc(batch.len() as u64);
        batch.retain(|reading| reading.station == "Wien");
        writer.write(&batch)?;
    }
    writer.finish()?;
    bar.finish();

    let copied = Reader::<Reading, _>::new(File::open(&to)?, &ReadOptions::strict())?.len();
    println!("{copied} readings from Wien");
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
