//! SPECFEM3D: points of an unstructured mesh, `f32`.

use std::marker::PhantomData;

use dtype_runtime::{Basic, Type};

use super::loops::{Listed, Part, ShortRows};
use super::{Family, Pattern, Visitor, displacements, shuffled};

/// Points of the outer core that are sent, of how many.
const OUTER_CORE: [[u32; 2]; 4] = [[493, 3697], [877, 12_857], [1897, 38_585], [3225, 88_881]];

/// The same numbers for the crust and mantle, and for the inner core.
const CRUST_MANTLE: [[u32; 4]; 4] = [
    [1957, 39_929, 245, 1225],
    [3801, 152_001, 801, 7209],
    [7125, 396_849, 1729, 22_477],
    [11_797, 834_917, 3009, 51_153],
];

/// Vectors of a matrix transposition.
const VECTORS: [usize; 4] = [5600, 6200, 6400, 7600];

fn f32() -> Type {
    Type::basic(Basic::F32)
}

/// One number at each point.
pub(super) fn oc<V: Visitor>() -> Family<V> {
    OUTER_CORE
        .map(|[number, all]| {
            let list = shuffled(number, all);
            Ok(Box::new(Pattern {
                family: "SPECFEM3D_oc",
                parameters: format!("{number}/{all}"),
                ty: Type::indexed_block(1, &displacements(&list, 1), &f32())?,
                count: 1,
                base: 0,
                length: all as usize,
                by_hand: Listed::<f32, 1> { base: 0, list, element: PhantomData },
            }) as _)
        })
        .into_iter()
        .collect()
}

/// Three numbers at each point, of two arrays.
pub(super) fn cm<V: Visitor>() -> Family<V> {
    CRUST_MANTLE
        .map(|[number, all, inner_number, inner_all]| {
            let lists = [shuffled(number, all), shuffled(inner_number, inner_all)];
            let [outer, inner] =
                [0, 1].map(|i| Type::indexed_block(3, &displacements(&lists[i], 3), &f32()));
            let base = 3 * all as usize;
            let [outer_list, inner_list] = lists.map(|list| (3 * list.len(), list));
            let part = |base, (elements, list)| {
                let by_hand = Listed::<f32, 3> { base, list, element: PhantomData };
                Part { elements, by_hand }
            };
            Ok(Box::new(Pattern {
                family: "SPECFEM3D_cm",
                parameters: format!("{number}/{all} + {inner_number}/{inner_all}"),
                ty: Type::structure(&[1, 1], &[0, 4 * base as i64], &[outer?, inner?])?,
                count: 1,
                base: 0,
                length: base + 3 * inner_all as usize,
                by_hand: (part(0, outer_list), part(base, inner_list)),
            }) as _)
        })
        .into_iter()
        .collect()
}

/// Every other vector of three.
pub(super) fn mt<V: Visitor>() -> Family<V> {
    VECTORS
        .map(|vectors| {
            let vector = Type::contiguous(3, &f32())?;
            Ok(Box::new(Pattern {
                family: "SPECFEM3D_mt",
                parameters: format!("3×2×{vectors}"),
                ty: Type::vector(vectors as u64, 1, 2, &vector)?,
                count: 1,
                base: 0,
                length: 6 * vectors,
                by_hand: ShortRows::<f32, 3> { base: 0, row: 6, element: PhantomData },
            }) as _)
        })
        .into_iter()
        .collect()
}
