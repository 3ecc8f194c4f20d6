//! Views of `ndarray` arrays: the library's time divided by the time of `ndarray`'s own ways to copy a view.
//!
//! `cargo bench -p dtype-benches --bench arrays`
//!
//! To new memory: `pack`, compared with collecting the elements and with a copy in the standard layout. To and from
//! existing memory: a committed layout, compared with `assign`. The two alternate; each ratio is the median over
//! the pairs.

use core::cell::RefCell;
use core::hint::black_box;

use dtype_benches::turns::{Figure, versus};
use dtype_runtime::Datatype;
use dtype_runtime::ndarray::ArrayDatatype;
use ndarray::{Array2, Array3, ArrayView, ArrayViewMut, Axis, Dimension, s};

/// Pairs of rounds for each figure.
const PAIRS: usize = 51;

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let pairs = if quick { 1 } else { PAIRS };
    println!("time over that of ndarray; GB/s of packed bytes in brackets");
    println!("kernels: {}", dtype_runtime::isa::selected());
    println!(
        "{:<42} {:>15} {:>15} {:>15} {:>15} {:>15}",
        "view", "pack / collect", "pack / standard", "pack again", "into / assign", "back / assign"
    );
    for side in [64_u16, 1000] {
        squares::<f64>(pairs, side, "f64", f64::from);
        squares::<f32>(pairs, side, "f32", f32::from);
        squares::<u8>(pairs, side, "u8", |i| i.to_le_bytes()[0]);
        squares::<[f64; 3]>(pairs, side, "[f64; 3]", |i| [f64::from(i); 3]);
    }
    let cube = Array3::from_shape_fn((100, 110, 120), |(i, j, k)| i * 7 + j * 3 + k);
    let mut target = cube.clone();
    for axes in [[2, 1, 0], [1, 2, 0], [1, 0, 2], [0, 2, 1]] {
        let name = format!("usize 100 × 110 × 120, axes {axes:?}");
        let target = target.view_mut().permuted_axes(axes);
        row(pairs, &name, &cube.view().permuted_axes(axes), target);
    }
}

/// Views of a square of elements.
fn squares<T>(pairs: usize, side: u16, name: &str, element: fn(u16) -> T)
where
    T: Datatype + Copy + PartialEq,
{
    let len = usize::from(side);
    let mut next = (0..=u16::MAX).cycle();
    let square = Array2::from_shape_simple_fn((len, len), || element(next.next().unwrap_or(0)));
    let mut target = square.clone();
    let title = |what| format!("{name} {side}², {what}");
    let back = target.slice_mut(s![.., 1]);
    row(pairs, &title("a column"), &square.slice(s![.., 1]), back);
    let inner = s![1..len - 1, 1..len - 1];
    row(pairs, &title("without its rim"), &square.slice(inner), target.slice_mut(inner));
    let (others, back) = (s![..;2, ..;2], target.slice_mut(s![..;2, ..;2]));
    row(pairs, &title("every other"), &square.slice(others), back);
    let (rows, back) = (s![..;-1, ..], target.slice_mut(s![..;-1, ..]));
    row(pairs, &title("rows backwards"), &square.slice(rows), back);
    let (columns, back) = (s![.., ..;-1], target.slice_mut(s![.., ..;-1]));
    row(pairs, &title("columns backwards"), &square.slice(columns), back);
    let (all, back) = (s![..;-1, ..;-1], target.slice_mut(s![..;-1, ..;-1]));
    row(pairs, &title("all backwards"), &square.slice(all), back);
    row(pairs, &title("transposed"), &square.t(), target.view_mut().reversed_axes());
    let (mut turned, mut back) = (square.t(), target.view_mut().reversed_axes());
    turned.invert_axis(Axis(0));
    back.invert_axis(Axis(0));
    row(pairs, &title("turned by a quarter"), &turned, back);
}

/// Prints the figures of one view.
fn row<T, D>(pairs: usize, name: &str, view: &ArrayView<'_, T, D>, target: ArrayViewMut<'_, T, D>)
where
    T: Datatype + Copy + PartialEq,
    D: Dimension,
{
    let packed = view.pack().expect("a view of memory");
    let layout = view.commit().expect("as before");
    let collected: Vec<T> = view.iter().copied().collect();
    assert!(dtype_runtime::pack(&collected) == packed, "{name}: other bytes");

    let collect = || drop(black_box(black_box(view).iter().copied().collect::<Vec<T>>()));
    let pack = || drop(black_box(black_box(view).pack()));
    let by_iterator = versus(pairs, collect, pack);
    let standard = || drop(black_box(black_box(view).as_standard_layout().into_owned()));
    let by_copy = versus(pairs, standard, pack);
    let again = versus(pairs, standard, || drop(black_box(layout.pack(black_box(view)))));

    let (mut elements, mut bytes) = (collected.clone(), packed.clone());
    let one_piece = "as many elements";
    let into = versus(
        pairs,
        || {
            let all = ArrayViewMut::from_shape(view.raw_dim(), &mut elements[..]);
            black_box(all.expect(one_piece)).assign(black_box(view));
        },
        || drop(black_box(layout.pack_into(black_box(view), &mut bytes))),
    );
    assert!(bytes == packed && elements == collected, "{name}: other bytes");
    // Both write to the same memory in turn.
    let target = RefCell::new(target);
    let back = versus(
        pairs,
        || {
            let all = ArrayView::from_shape(view.raw_dim(), &collected[..]);
            black_box(&mut *target.borrow_mut()).assign(&all.expect(one_piece));
        },
        || {
            let mut target = target.borrow_mut();
            drop(black_box(layout.unpack_into(black_box(&packed), &mut target)));
        },
    );
    assert!(*target.borrow() == *view, "{name}: other elements");

    let figures = [by_iterator, by_copy, again, into, back];
    let cells = figures.map(|figure| format!("{:>15}", cell(&figure, packed.len())));
    println!("{name:<42} {}", cells.join(" "));
}

fn cell(figure: &Figure, bytes: usize) -> String {
    let rate = u32::try_from(bytes).map_or(f64::NAN, f64::from);
    let rate = rate / figure.ours.as_secs_f64() / 1e9;
    format!("{:.2} ({rate:>5.1})", figure.ratio)
}
