//! MILC: the face of a lattice of `su3` vectors, six `f32` each, even sites before odd ones.

use std::marker::PhantomData;

use dtype_runtime::{Basic, Type};

use super::loops::Rows;
use super::{Family, Pattern, Visitor};

/// The lattices.
const LATTICES: [[usize; 4]; 4] = [[8, 8, 8, 8], [8, 8, 8, 16], [8, 16, 16, 16], [16, 16, 16, 16]];

/// The face across the third direction.
pub(super) fn su3_zd<V: Visitor>() -> Family<V> {
    LATTICES
        .map(|lattice| {
            let [x, y, z, t] = lattice;
            let vector = Type::contiguous(6, &Type::basic(Basic::F32))?;
            let (block, stride) = (x * y / 2, x * y * z / 2);
            let even = Type::vector(t as u64, block as u64, stride as i64, &vector)?;
            let half = 12 * x * y * z * t;
            let by_hand = Rows {
                base: 0,
                planes: 2,
                plane: 6 * stride * t,
                count: t,
                row: 6 * stride,
                length: 6 * block,
                element: PhantomData::<f32>,
            };
            Ok(Box::new(Pattern {
                family: "MILC_su3_zd",
                parameters: format!("{x}×{y}×{z}×{t}"),
                ty: Type::hvector(2, 1, half as i64, &even)?,
                count: 1,
                base: 0,
                length: 2 * half / 4,
                by_hand,
            }) as _)
        })
        .into_iter()
        .collect()
}
