//! Arrays of small padded structs: the library, a hand-written loop, and a memcpy of the packed bytes, which is the lower
//! limit.
//!
//! `cargo bench -p dtype-benches` prints times and throughput in packed bytes. Compare only figures of the same
//! run.

use core::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dtype_benches::{Body, Hole, Mixed, Shape, Small, Tail};
use dtype_runtime::{Committed, Type, pack, pack_into, packed_size, unpack_into};

const COUNTS: [usize; 2] = [1000, 65_536];

fn shape<S: Shape>(criterion: &mut Criterion) {
    for count in COUNTS {
        let items: Vec<S> = (0..count).map(S::sample).collect();
        let mut target = items.clone();
        let packed = pack(&items);
        let mut out = packed.clone();
        let committed = Type::of::<S>().commit();

        let mut group = criterion.benchmark_group(format!("pack/{}/{count}", S::NAME));
        group.throughput(Throughput::Bytes(packed.len() as u64));
        group.bench_function("hand", |b| {
            b.iter(|| S::pack_by_hand(black_box(&items), black_box(&mut out)));
        });
        group.bench_function("dtype", |b| {
            b.iter(|| pack_into(black_box(&items), black_box(&mut out)));
        });
        group.bench_function("dtype, type built at run time", |b| {
            b.iter(|| pack_dynamic(&committed, black_box(&items), black_box(&mut out)));
        });
        group.bench_function("memcpy", |b| {
            b.iter(|| black_box(&mut out).copy_from_slice(black_box(&packed)));
        });
        group.finish();

        let mut group = criterion.benchmark_group(format!("unpack/{}/{count}", S::NAME));
        group.throughput(Throughput::Bytes(packed.len() as u64));
        group.bench_function("hand", |b| {
            b.iter(|| S::unpack_by_hand(black_box(&packed), black_box(&mut target)));
        });
        group.bench_function("dtype", |b| {
            b.iter(|| unpack_into(black_box(&packed), black_box(&mut target)));
        });
        group.finish();
    }
}

fn pack_dynamic<S: Shape>(committed: &Committed, items: &[S], out: &mut [u8]) {
    // SAFETY: the type describes `S`, and its extent is the stride of `S`. So it names only data of the items, which are
    // initialised and borrowed. `out` is another object.
    let packed = unsafe { committed.pack_raw(items.as_ptr().cast(), items.len(), out) };
    assert_eq!(packed.ok(), Some(packed_size::<S>(items.len())));
}

/// Commit, which an application does once for each type.
fn commit(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("commit");
    group.bench_function(BenchmarkId::from_parameter(Body::NAME), |b| {
        b.iter_batched(Type::of::<Body>, |ty| ty.commit(), BatchSize::SmallInput);
    });
    group.finish();
}

criterion_group!(
    benches,
    shape::<Tail>,
    shape::<Hole>,
    shape::<Small>,
    shape::<Body>,
    shape::<Mixed>,
    commit
);
criterion_main!(benches);
