//! The NAS parallel benchmarks: faces of a grid of five `f64` (LU) and of one (MG).

use std::marker::PhantomData;

use dtype_runtime::{Basic, Type};

use super::loops::{Rows, ShortRows, Strided};
use super::{Family, Pattern, Visitor};

/// Points along an edge of LU's grids.
const LU: [usize; 7] = [12, 33, 64, 102, 162, 408, 1020];

/// MG's grids, with their halo.
const MG: [[usize; 3]; 4] = [[34, 18, 18], [130, 66, 66], [258, 130, 130], [514, 258, 258]];

fn f64() -> Type {
    Type::basic(Basic::F64)
}

/// A row of points, which is contiguous.
pub(super) fn lu_x<V: Visitor>() -> Family<V> {
    LU.map(|edge| {
        let (line, length) = (5 * (edge + 2), 5 * edge);
        let base = 5 + line * edge;
        let by_hand = Rows {
            base,
            planes: 1,
            plane: 0,
            count: 1,
            row: length,
            length,
            element: PhantomData::<f64>,
        };
        Ok(Box::new(Pattern {
            family: "NAS_LU_x",
            parameters: edge.to_string(),
            ty: Type::contiguous(length as u64, &f64())?,
            count: 1,
            base,
            length: line * (edge + 2),
            by_hand,
        }) as _)
    })
    .into_iter()
    .collect()
}

/// A column of points.
pub(super) fn lu_y<V: Visitor>() -> Family<V> {
    LU.map(|edge| {
        let line = 5 * (edge + 2);
        let base = 5 * edge + line;
        let point = Type::contiguous(5, &f64())?;
        Ok(Box::new(Pattern {
            family: "NAS_LU_y",
            parameters: edge.to_string(),
            ty: Type::vector(edge as u64, 1, edge as i64 + 2, &point)?,
            count: 1,
            base,
            length: line * (edge + 2),
            by_hand: ShortRows::<f64, 5> { base, row: line, element: PhantomData },
        }) as _)
    })
    .into_iter()
    .collect()
}

fn grid([x, y, z]: [usize; 3]) -> String {
    format!("{x}×{y}×{z}")
}

/// The face whose points are not adjacent.
pub(super) fn mg_x<V: Visitor>() -> Family<V> {
    MG.map(|edges| {
        let [x, y, z] = edges;
        let base = x - 2 + x + x * y;
        let column = Type::vector(y as u64 - 2, 1, x as i64, &f64())?;
        let by_hand = Strided {
            base,
            planes: z - 2,
            plane: x * y,
            count: y - 2,
            stride: x,
            element: PhantomData::<f64>,
        };
        Ok(Box::new(Pattern {
            family: "NAS_MG_x",
            parameters: grid(edges),
            ty: Type::hvector(z as u64 - 2, 1, 8 * (x * y) as i64, &column)?,
            count: 1,
            base,
            length: x * y * z,
            by_hand,
        }) as _)
    })
    .into_iter()
    .collect()
}

/// A row of each plane.
pub(super) fn mg_y<V: Visitor>() -> Family<V> {
    MG.map(|edges| {
        let [x, y, z] = edges;
        let base = 1 + x * (y - 2) + x * y;
        let by_hand = Rows {
            base,
            planes: 1,
            plane: 0,
            count: z - 2,
            row: x * y,
            length: x - 2,
            element: PhantomData::<f64>,
        };
        Ok(Box::new(Pattern {
            family: "NAS_MG_y",
            parameters: grid(edges),
            ty: Type::vector(z as u64 - 2, x as u64 - 2, (x * y) as i64, &f64())?,
            count: 1,
            base,
            length: x * y * z,
            by_hand,
        }) as _)
    })
    .into_iter()
    .collect()
}

/// The rows of one plane.
pub(super) fn mg_z<V: Visitor>() -> Family<V> {
    MG.map(|edges| {
        let [x, y, z] = edges;
        let base = 1 + x + x * y;
        let by_hand = Rows {
            base,
            planes: 1,
            plane: 0,
            count: y - 2,
            row: x,
            length: x - 2,
            element: PhantomData::<f64>,
        };
        Ok(Box::new(Pattern {
            family: "NAS_MG_z",
            parameters: grid(edges),
            ty: Type::vector(y as u64 - 2, x as u64 - 2, x as i64, &f64())?,
            count: 1,
            base,
            length: x * y * z,
            by_hand,
        }) as _)
    })
    .into_iter()
    .collect()
}
