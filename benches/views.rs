//! Reading packed records in place, compared with `unpack`, which copies all of them first.
//!
//! - `all records`: every record is read once: `unpack` and a loop, `Packed::iter`, `Packed::column`.
//! - `one of a million`: a binary search for one record: `unpack` and a search, `Packed::partition_point`,
//!   and the loop by hand over the key's bytes.
//! - `dense`: `view` and `unpack` of records that are all data, each with a sum over one field.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dtype_runtime::{Datatype, Packed, bytes_of, pack, unpack, view};

const COUNT: usize = 100_000;

/// 13 of 16 bytes are data.
#[derive(Datatype, Clone, Copy)]
struct Sample {
    time: u64,
    value: f32,
    valid: bool,
}

/// All data.
#[derive(Datatype, Clone, Copy)]
#[repr(C)]
struct Dense {
    time: u64,
    value: f64,
}

fn samples(count: usize) -> Vec<Sample> {
    (0..=u16::MAX)
        .cycle()
        .take(count)
        .zip(0..)
        .map(|(i, time)| Sample { time: 2 * time, value: i.into(), valid: i % 3 == 0 })
        .collect()
}

fn all_records(c: &mut Criterion) {
    let bytes = pack(&samples(COUNT));
    let mut group = c.benchmark_group("all records");
    group.throughput(Throughput::Elements(COUNT as u64));
    group.bench_function("unpack", |b| {
        b.iter(|| {
            let samples = unpack::<Sample>(black_box(&bytes)).unwrap();
            samples.iter().map(|sample| sample.time).fold(0, u64::wrapping_add)
        });
    });
    group.bench_function("Packed::iter", |b| {
        b.iter(|| {
            let packed = Packed::<Sample>::new(black_box(&bytes)).unwrap();
            packed.iter().map(|sample| sample.time).fold(0, u64::wrapping_add)
        });
    });
    group.bench_function("Packed::column", |b| {
        b.iter(|| {
            let packed = Packed::<Sample>::new(black_box(&bytes)).unwrap();
            packed.column::<u64>("time").unwrap().iter().fold(0, u64::wrapping_add)
        });
    });
    group.finish();
}

fn one_of_a_million(c: &mut Criterion) {
    let bytes = pack(&samples(1_000_000));
    let packed = Packed::<Sample>::new(&bytes).unwrap();
    let wanted = black_box(1_234_568);
    let mut group = c.benchmark_group("one of a million");
    group.bench_function("unpack", |b| {
        b.iter(|| {
            let samples = unpack::<Sample>(black_box(&bytes)).unwrap();
            let at = samples.partition_point(|sample| sample.time < wanted);
            samples[at].value
        });
    });
    group.bench_function("Packed", |b| {
        b.iter(|| {
            let at = packed.partition_point(|sample| sample.time < wanted);
            packed.get(at).map(|sample| sample.value)
        });
    });
    group.bench_function("by hand", |b| {
        b.iter(|| {
            let record = |i: usize| &bytes[13 * i..13 * (i + 1)];
            let (mut low, mut high) = (0, bytes.len() / 13);
            while low < high {
                let middle = low + (high - low) / 2;
                let time = u64::from_ne_bytes(record(middle)[..8].try_into().unwrap());
                if time < wanted {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            f32::from_ne_bytes(record(low)[8..12].try_into().unwrap())
        });
    });
    group.finish();
}

fn dense(c: &mut Criterion) {
    let records: Vec<_> =
        (0_u32..).take(COUNT).map(|i| Dense { time: i.into(), value: i.into() }).collect();
    let bytes = bytes_of(&records);
    let mut group = c.benchmark_group("dense");
    group.throughput(Throughput::Elements(COUNT as u64));
    group.bench_function("unpack", |b| {
        b.iter(|| {
            let records = unpack::<Dense>(black_box(bytes)).unwrap();
            records.iter().map(|record| record.time).fold(0, u64::wrapping_add)
        });
    });
    group.bench_function("view", |b| {
        b.iter(|| {
            let records = view::<Dense>(black_box(bytes)).unwrap();
            records.iter().map(|record| record.time).fold(0, u64::wrapping_add)
        });
    });
    group.finish();
}

criterion_group!(benches, all_records, one_of_a_million, dense);
criterion_main!(benches);
