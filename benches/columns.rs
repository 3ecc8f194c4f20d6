//! Arrays of structs to columns and back: the library's time divided by that of loops written by hand.
//!
//! `cargo bench -p dtype-benches --bench columns`
//!
//! - `push`: one loop over the records that pushes each field to its vector, which has room for all.
//! - `collect`: one loop for each field, `iter().map(…).collect()`.
//! - `again`: into existing vectors, field by field, beside `Columns::fill`.
//! - `back`: records from columns, beside a loop that indexes the slices of all columns.
//! - `copy`: a plain copy of the records to a new vector, as a part of the time of the loop in `back`.
//!
//! The two alternate, as in `ratios`.

use std::hint::black_box;

use dtype_benches::figures::geometric_mean;
use dtype_benches::turns::versus;
use dtype_runtime::{Datatype, columns};

/// Pairs of rounds for each figure.
const PAIRS: usize = 101;

/// A struct with hand-written loops.
trait Records: Datatype + Copy + PartialEq + core::fmt::Debug {
    const NAME: &'static str;
    type Vectors;

    fn sample(i: usize) -> Self;
    fn push(records: &[Self]) -> Self::Vectors;
    fn collect(records: &[Self]) -> Self::Vectors;
    fn again(records: &[Self], vectors: &mut Self::Vectors);
    fn back(vectors: &Self::Vectors) -> Vec<Self>;
    /// Whether the columns equal the vectors.
    fn same(columns: &dtype_runtime::Columns<Self>, vectors: &Self::Vectors) -> bool;
}

macro_rules! records {
    ($name:ident = $text:literal { $($field:ident $vector:ident $index:tt: $ty:ty = |$i:ident| $value:expr,)* }) => {
        #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        struct $name { $($field: $ty,)* }

        impl Records for $name {
            const NAME: &'static str = $text;
            type Vectors = ($(Vec<$ty>,)*);

            #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "any value will do")]
            fn sample(i: usize) -> Self {
                Self { $($field: { let $i = i; $value },)* }
            }

            fn push(records: &[Self]) -> Self::Vectors {
                $(let mut $vector = Vec::with_capacity(records.len());)*
                for record in records {
                    $($vector.push(record.$field);)*
                }
                ($($vector,)*)
            }

            fn collect(records: &[Self]) -> Self::Vectors {
                ($(records.iter().map(|record| record.$field).collect(),)*)
            }

            fn again(records: &[Self], vectors: &mut Self::Vectors) {
                $(for (to, record) in vectors.$index.iter_mut().zip(records) {
                    *to = record.$field;
                })*
            }

            fn back(vectors: &Self::Vectors) -> Vec<Self> {
                let ($($vector,)*) = vectors;
                let count = vectors.0.len();
                $(let $vector = &$vector[..count];)*
                (0..count).map(|i| Self { $($field: $vector[i],)* }).collect()
            }

            fn same(columns: &dtype_runtime::Columns<Self>, vectors: &Self::Vectors) -> bool {
                true $(&& columns.get::<$ty>(stringify!($field)).expect("it is there") == vectors.$index)*
            }
        }
    };
}

records!(Sample = "f64,u32,bool: 16 B" {
    time t 0: f64 = |i| i as f64,
    value v 1: u32 = |i| i as u32,
    valid w 2: bool = |i| i.is_multiple_of(3),
});
records!(Particle = "6f32,u32,u8: 32 B" {
    x x 0: f32 = |i| i as f32,
    y y 1: f32 = |i| i as f32 + 1.0,
    z z 2: f32 = |i| i as f32 + 2.0,
    u u 3: f32 = |i| i as f32 + 3.0,
    v v 4: f32 = |i| i as f32 + 4.0,
    w w 5: f32 = |i| i as f32 + 5.0,
    id id 6: u32 = |i| i as u32,
    kind kind 7: u8 = |i| i as u8,
});
records!(Point = "4f64: 32 B" {
    x x 0: f64 = |i| i as f64,
    y y 1: f64 = |i| i as f64 + 1.0,
    z z 2: f64 = |i| i as f64 + 2.0,
    mass m 3: f64 = |i| i as f64 + 3.0,
});
records!(Trade = "u64,f64,u32,u16,u8: 24 B" {
    time t 0: u64 = |i| i as u64,
    price p 1: f64 = |i| i as f64,
    volume v 2: u32 = |i| i as u32,
    venue n 3: u16 = |i| i as u16,
    side s 4: u8 = |i| i as u8,
});
records!(Body = "3f64,3f64,u32,u8: 56 B" {
    position p 0: [f64; 3] = |i| [i as f64; 3],
    velocity v 1: [f64; 3] = |i| [i as f64 + 1.0; 3],
    id id 2: u32 = |i| i as u32,
    kind kind 3: u8 = |i| i as u8,
});

fn row<R: Records>(count: usize, pairs: usize) -> [f64; 5] {
    let records: Vec<R> = (0..count).map(R::sample).collect();
    let mut vectors = R::push(&records);
    let mut ours = columns(&records);
    assert!(R::same(&ours, &vectors) && ours.to_records().expect("they are records") == records);
    let push = versus(
        pairs,
        || drop(black_box(R::push(black_box(&records)))),
        || {
            black_box(columns(black_box(&records)));
        },
    );
    let collect = versus(
        pairs,
        || drop(black_box(R::collect(black_box(&records)))),
        || {
            black_box(columns(black_box(&records)));
        },
    );
    let again = versus(
        pairs,
        || R::again(black_box(&records), black_box(&mut vectors)),
        || ours.fill(black_box(&records)).expect("the memory is there"),
    );
    assert!(R::same(&ours, &vectors));
    let back = versus(
        pairs,
        || drop(black_box(R::back(black_box(&vectors)))),
        || {
            drop(black_box(black_box(&ours).to_records()));
        },
    );
    let copy = versus(
        pairs,
        || drop(black_box(R::back(black_box(&vectors)))),
        || drop(black_box(black_box(&records).clone())),
    );
    let ratios = [push, collect, again, back, copy].map(|figure| figure.ratio);
    print!("{:<28} {count:>9}", R::NAME);
    for ratio in ratios {
        print!(" {ratio:>9.2}");
    }
    println!();
    ratios
}

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    println!("time over that of the hand-written loop");
    println!("kernels: {}", dtype_runtime::isa::selected());
    println!(
        "{:<28} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "struct", "records", "push", "collect", "again", "back", "copy"
    );
    for count in [1, 16, 1000, 65_536, 1_000_000] {
        let pairs = match count {
            _ if quick => 1,
            0..=65_536 => PAIRS,
            _ => PAIRS / 3,
        };
        let rows = [
            row::<Sample>(count, pairs),
            row::<Particle>(count, pairs),
            row::<Point>(count, pairs),
            row::<Trade>(count, pairs),
            row::<Body>(count, pairs),
        ];
        print!("{:<28} {count:>9}", "geometric means");
        for column in 0..5 {
            let mean = geometric_mean(rows.iter().map(|row| row[column]));
            print!(" {:>9.2}", mean.unwrap_or(f64::NAN));
        }
        println!();
    }
}
