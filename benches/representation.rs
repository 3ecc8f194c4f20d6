//! The cost of conversion: the `external32` representation against the native one, both through the convertor.
//!
//! `cargo bench -p dtype-benches --bench representation`
//!
//! The figures are ratios within one run, as in `ratios`.

use core::hint::black_box;

use dtype_benches::turns::versus;
use dtype_benches::{Hole, Mixed, Shape, Tail};
use dtype_runtime::{Basic, Committed, Packer, Representation, Type, Unpacker};

/// Pairs of rounds for each figure.
const PAIRS: usize = 101;

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let pairs = if quick { 1 } else { PAIRS };
    println!("time in external32 over that in the native representation");
    println!("{:<34} {:>9} {:>7} {:>7}", "", "bytes", "pack", "unpack");
    for count in [1000, 65_536] {
        slice::<Tail>(count, pairs);
        slice::<Hole>(count, pairs);
        slice::<Mixed>(count, pairs);
    }
    for (name, ty, count) in layouts() {
        layout(name, &ty, count, pairs);
    }
}

fn layouts() -> Vec<(&'static str, Committed, usize)> {
    let [i32, f64, long] = [Basic::I32, Basic::F64, Basic::Long].map(Type::basic);
    let places: Vec<i64> = (0..4000).map(|i| 3 * i + i % 7).collect();
    vec![
        ("f64", Ok(f64.clone()), 1000),
        ("f64", Ok(f64.clone()), 1_000_000),
        ("long, of half the width", Ok(long), 1000),
        ("vector(1000, 1, 2, i32)", Type::vector(1000, 1, 2, &i32), 1),
        ("vector(64, 16, 32, f64)", Type::vector(64, 16, 32, &f64), 1),
        ("indexed_block(4000, 1, f64)", Type::indexed_block(1, &places, &f64), 1),
    ]
    .into_iter()
    .filter_map(|(name, ty, count)| Some((name, ty.ok()?.commit(), count)))
    .collect()
}

fn print(name: &str, count: usize, bytes: usize, pack: f64, unpack: f64) {
    let name = format!("{name} × {count}");
    println!("{name:<34} {bytes:>9} {pack:>7.2} {unpack:>7.2}");
}

fn slice<S: Shape>(count: usize, pairs: usize) {
    let items: Vec<S> = (0..count).map(S::sample).collect();
    let ty = Type::of::<S>().commit();
    let bytes = usize::try_from(ty.size()).unwrap_or(0) * count;
    let (mut native, mut external) = (vec![0; bytes], vec![0; bytes]);
    let foreign = |items| Packer::new(items).with_representation(Representation::External32);
    let Ok(packer) = foreign(&items) else { return };
    let pack = versus(
        pairs,
        || _ = black_box(Packer::new(black_box(&items)).pack(black_box(&mut native))),
        || drop(black_box(packer.clone().pack(black_box(&mut external)))),
    );
    let (mut target, mut again) = (items.clone(), items.clone());
    let Ok(mut unpacker) =
        Unpacker::new(&mut again).with_representation(Representation::External32)
    else {
        return;
    };
    let unpack = versus(
        pairs,
        || drop(black_box(Unpacker::new(black_box(&mut target)).unpack(black_box(&native)))),
        || {
            drop(black_box(unpacker.set_position(0)));
            drop(black_box(unpacker.unpack(black_box(&external))));
        },
    );
    assert_eq!(again, items);
    print(S::NAME, count, bytes, pack.ratio, unpack.ratio);
}

fn layout(name: &str, ty: &Committed, count: usize, pairs: usize) {
    let Ok(conversion) = ty.conversion(Representation::External32) else { return };
    let length = usize::try_from(ty.true_ub()).unwrap_or(0) * count;
    // Small numbers, which every representation can hold.
    let memory: Vec<u8> = (0..length).map(|i| u8::from(i % 8 == 0)).collect();
    let sizes = [ty.packed_size(count), conversion.packed_size(count)];
    let [Ok(bytes), Ok(converted)] = sizes else { return };
    let (mut native, mut external) = (vec![0; bytes], vec![0; converted]);
    let pack = versus(
        pairs,
        || drop(black_box(ty.pack(black_box(&memory), count, black_box(&mut native)))),
        || drop(black_box(conversion.pack(black_box(&memory), count, black_box(&mut external)))),
    );
    let (mut target, mut again) = (vec![0; length], vec![0; length]);
    let unpack = versus(
        pairs,
        || drop(black_box(ty.unpack(black_box(&native), black_box(&mut target), count))),
        || {
            let (external, again) = (black_box(&external), black_box(&mut again));
            drop(black_box(conversion.unpack(external, again, count)));
        },
    );
    assert_eq!(target, again);
    print(name, count, bytes, pack.ratio, unpack.ratio);
}
