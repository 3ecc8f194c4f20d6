//! Records with values to check in one table of ratios: the library's time divided by that of a loop by hand which makes the
//! same checks.
//!
//! Run `cargo bench -p dtype-benches --bench checked`, with a part of a record's name for some of them only.

use core::hint::black_box;

use dtype_benches::checked::CheckedShape;
use dtype_benches::figures::geometric_mean;
use dtype_benches::for_each_checked_record;
use dtype_benches::turns::{Figure, versus};
use dtype_runtime::{pack, unpack, unpack_into};

/// The numbers of records.
const COUNTS: [u32; 4] = [1, 10, 1000, 65_536];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = arguments.iter().any(|argument| argument == "--test");
    let only = arguments.iter().find(|argument| !argument.starts_with("--"));
    println!("time over that of the loop; ns a record in brackets");
    print!("{:<64}", "");
    for count in COUNTS {
        print!("{:>28}", format!("× {count}: new, in place"));
    }
    println!();
    let mut all = Vec::new();
    macro_rules! rows {
        ($($record:path)*) => {
            $(
                let name = stringify!($record).rsplit(' ').next().unwrap_or_default();
                if only.is_none_or(|only| name.contains(only.as_str())) {
                    all.extend(row::<$record>(name, quick));
                }
            )*
        };
    }
    for_each_checked_record!(rows);
    let mean = geometric_mean(all.iter().copied()).unwrap_or(f64::NAN);
    let worst = all.iter().copied().fold(0.0, f64::max);
    println!("geometric mean {mean:.2}, worst {worst:.2}");
}

/// Prints the figures of a record, and returns the ratios.
fn row<S: CheckedShape>(name: &str, quick: bool) -> Vec<f64> {
    print!("{:<64}", format!("{name} {{{}}}", S::NAME));
    let mut ratios = Vec::new();
    for count in COUNTS {
        let pairs = if quick {
            1
        } else if count > 1000 {
            31
        } else {
            61
        };
        let mut items: Vec<S> = (0..count.into()).map(S::sample).collect();
        let mut plain: Vec<S::Plain> = items.iter().map(S::plain).collect();
        let packed = pack(&items);
        let new = versus(
            pairs,
            || drop(black_box(S::collect_by_hand(black_box(&packed)))),
            || drop(black_box(unpack::<S>(black_box(&packed)))),
        );
        let in_place = versus(
            pairs,
            || {
                black_box(S::unpack_by_hand(black_box(&packed), black_box(&mut plain)).is_ok());
            },
            || {
                black_box(unpack_into(black_box(&packed), black_box(&mut items)).is_ok());
            },
        );
        let cell = |Figure { ratio, ours }: Figure| {
            format!("{ratio:.2} ({:.1})", ours.as_secs_f64() * 1e9 / f64::from(count))
        };
        print!("{:>15}{:>13}", cell(new), cell(in_place));
        ratios.extend([new.ratio, in_place.ratio]);
    }
    println!();
    ratios
}
