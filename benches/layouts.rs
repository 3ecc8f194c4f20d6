//! One layout for each kernel that a plan selects: packed and unpacked whole and in fragments, converted, and
//! created.
//!
//! `cargo bench -p dtype-benches --bench layouts` keeps the times of the last run and reports what has changed
//! since: the history of the hot paths on one machine. Set `DTYPE_KERNELS` to select the kernels.

use core::hint::black_box;
use core::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dtype_benches::{Nested, Tail};
use dtype_runtime::{Basic, Buffer, BufferMut, Committed, Error, Order, Representation, Type};

/// Bytes of a fragment.
const FRAGMENT: usize = 8192;

/// A layout, the kernel that it exercises, and the number of instances.
struct Layout {
    name: &'static str,
    make: Box<dyn Fn() -> Result<Type, Error>>,
    count: usize,
}

fn layouts() -> Vec<Layout> {
    let f64 = || Type::basic(Basic::F64);
    let layout =
        |name, count, make: Box<dyn Fn() -> Result<Type, Error>>| Layout { name, make, count };
    // A shuffled order, the same in each run.
    let shuffled = |n: i64| -> Vec<i64> { (0..n).map(|i| i * 7919 % n).collect() };
    let places = shuffled(4001);
    let lengths: Vec<u64> = (0..1000).map(|i| 1 + i * 7 % 3).collect();
    let starts: Vec<i64> = shuffled(1000).iter().map(|place| 4 * place).collect();
    vec![
        layout("one record", 1, Box::new(|| Ok(Type::of::<Tail>()))),
        layout("records of one window", 1000, Box::new(|| Ok(Type::of::<Tail>()))),
        layout("records of two windows", 1000, Box::new(|| Ok(Type::of::<Nested>()))),
        layout("run", 1, Box::new(move || Type::contiguous(60, &f64()))),
        layout("column", 1, Box::new(move || Type::vector(1000, 1, 100, &f64()))),
        layout("short blocks", 1, Box::new(move || Type::vector(100, 5, 60, &f64()))),
        layout("long blocks", 1, Box::new(move || Type::vector(64, 32, 34, &f64()))),
        layout(
            "face of a grid",
            1,
            Box::new(move || {
                Type::subarray(&[66, 66, 130], &[64, 64, 1], &[1, 1, 1], Order::C, &f64())
            }),
        ),
        layout(
            "transpose",
            1,
            Box::new(move || {
                let column = Type::vector(256, 1, 256, &f64())?;
                Type::hvector(256, 1, 8, &column)
            }),
        ),
        layout(
            "list of equal blocks",
            1,
            Box::new(move || Type::indexed_block(1, &places, &f64())),
        ),
        layout("list of blocks", 1, Box::new(move || Type::indexed(&lengths, &starts, &f64()))),
    ]
}

/// Memory for the instances, and the offset of the first origin in it.
fn memory(ty: &Committed, count: usize) -> (Vec<u8>, usize) {
    let steps = i64::try_from(count - 1).expect("few");
    let origin = ty.true_lb().min(0).unsigned_abs();
    let bytes = origin.cast_signed() + ty.true_ub() + steps * ty.extent();
    let memory = (0..bytes).map(|i| (i % 251).to_le_bytes()[0]).collect();
    (memory, usize::try_from(origin).expect("it lies in the memory"))
}

fn whole_and_in_fragments(criterion: &mut Criterion) {
    for Layout { name, make, count } in layouts() {
        let ty = make().expect("a valid type").commit();
        let (mut memory, origin) = memory(&ty, count);
        let mut packed = vec![0; ty.packed_size(count).expect("it fits")];
        let external = ty.conversion(Representation::External32).expect("of numbers");
        let mut group = criterion.benchmark_group(name);
        group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
        group.throughput(Throughput::Bytes(packed.len() as u64));
        group.bench_function("pack", |b| {
            b.iter(|| {
                ty.pack(
                    Buffer::new(black_box(&memory)).origin(origin as i64),
                    count,
                    black_box(&mut packed),
                )
                .unwrap()
            });
        });
        group.bench_function("unpack", |b| {
            b.iter(|| {
                ty.unpack(
                    black_box(&packed),
                    BufferMut::new(black_box(&mut memory)).origin(origin as i64),
                    count,
                )
                .unwrap()
            });
        });
        group.bench_function("pack in fragments", |b| {
            b.iter(|| {
                let mut packer = ty
                    .packer(Buffer::new(black_box(&memory)).origin(origin as i64), count)
                    .unwrap();
                for fragment in black_box(&mut packed).chunks_mut(FRAGMENT) {
                    packer.pack(fragment);
                }
            });
        });
        group.bench_function("pack as external32", |b| {
            b.iter(|| {
                external
                    .pack(
                        Buffer::new(black_box(&memory)).origin(origin as i64),
                        count,
                        black_box(&mut packed),
                    )
                    .is_ok()
            });
        });
        group.finish();
    }
}

/// Create and commit, which an application does once for each type.
fn created(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("create and commit");
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for Layout { name, make, .. } in layouts() {
        group.bench_function(name, |b| b.iter(|| make().unwrap().commit()));
    }
    group.finish();
}

criterion_group!(benches, whole_and_in_fragments, created);
criterion_main!(benches);
