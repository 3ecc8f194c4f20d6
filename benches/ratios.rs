//! Struct arrays in one table of ratios: the library's time divided by the hand-written loop's.
//!
//! Run `cargo bench -p dtype-benches --bench ratios`; set `DTYPE_KERNELS=portable` to measure without the
//! processor-specific kernels.
//!
//! The speed of a shared machine changes during a run. So the two alternate in many short rounds, and each ratio is
//! the median over the pairs of neighbouring rounds. The Criterion benches in `struct_arrays` give absolute times
//! and their history.

use core::hint::black_box;

use dtype_benches::figures::geometric_mean;
use dtype_benches::turns::{Figure, versus};
use dtype_benches::{Body, Hole, Mixed, Nested, Scattered, Shape, Small, Tail};
use dtype_runtime::{Type, pack, pack_into, unpack_into};

/// Pairs of rounds for each figure.
const PAIRS: usize = 101;

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    println!("time over that of the hand-written loop; GB/s of packed bytes in brackets");
    println!("kernels: {}", dtype_runtime::isa::selected());
    println!("{:<36} {:<31} of a type built at run time", "", "compiled for the struct");
    println!(
        "{:<28} {:>7} {:>15} {:>15} {:>15} {:>15}",
        "struct", "records", "pack", "unpack", "pack", "unpack"
    );
    for count in [1, 16, 1000, 65_536, 1_000_000] {
        let pairs = match count {
            _ if quick => 1,
            0..=65_536 => PAIRS,
            _ => PAIRS / 3,
        };
        let rows = [
            row::<Tail>(count, pairs),
            row::<Hole>(count, pairs),
            row::<Small>(count, pairs),
            row::<Body>(count, pairs),
            row::<Mixed>(count, pairs),
            row::<Scattered>(count, pairs),
            row::<Nested>(count, pairs),
        ];
        let means: [String; 4] = core::array::from_fn(|column| {
            let mean = geometric_mean(rows.iter().map(|row| row[column]));
            format!("{:.2}       ", mean.unwrap_or(f64::NAN))
        });
        let [a, b, c, d] = means;
        println!("{:<28} {count:>7} {a:>15} {b:>15} {c:>15} {d:>15}", "geometric means");
    }
}

/// Prints the figures of one struct, and returns the ratios.
fn row<S: Shape>(count: usize, pairs: usize) -> [f64; 4] {
    let items: Vec<S> = (0..count).map(S::sample).collect();
    let packed = pack(&items);
    let mut by_hand = vec![0; packed.len()];
    let mut ours = vec![0; packed.len()];
    let bytes = packed.len();

    let pack = versus(
        pairs,
        || S::pack_by_hand(black_box(&items), black_box(&mut by_hand)),
        || drop(black_box(pack_into(black_box(&items), black_box(&mut ours)))),
    );
    let committed = Type::of::<S>().commit();
    let dynamic = versus(
        pairs,
        || S::pack_by_hand(black_box(&items), black_box(&mut by_hand)),
        || {
            // SAFETY: the type describes `S` and its extent is the stride of `S`; `ours` is another object.
            let length = unsafe { committed.pack_raw(items.as_ptr().cast(), count, &mut ours) };
            let _ = black_box(length);
        },
    );
    assert_eq!(by_hand, ours);

    let (mut by_hand, mut ours) = (items.clone(), items.clone());
    let unpack = versus(
        pairs,
        || S::unpack_by_hand(black_box(&packed), black_box(&mut by_hand)),
        || drop(black_box(unpack_into(black_box(&packed), black_box(&mut ours)))),
    );
    let dynamic_unpack = versus(
        pairs,
        || S::unpack_by_hand(black_box(&packed), black_box(&mut by_hand)),
        || {
            // SAFETY: as above, in the other direction; the packed bytes are bytes of valid values.
            let length = unsafe { committed.unpack_raw(&packed, ours.as_mut_ptr().cast(), count) };
            let _ = black_box(length);
        },
    );
    assert_eq!(by_hand, ours);

    let cell = |figure: &Figure| {
        let rate = u32::try_from(bytes).map_or(f64::NAN, f64::from);
        let rate = rate / figure.ours.as_secs_f64() / 1e9;
        format!("{:.2} ({rate:>5.1})", figure.ratio)
    };
    let all = [pack, unpack, dynamic, dynamic_unpack];
    let [a, b, c, d] = all.each_ref().map(cell);
    println!("{:<28} {count:>7} {a:>15} {b:>15} {c:>15} {d:>15}", S::NAME);
    all.map(|figure| figure.ratio)
}
