//! A two-dimensional Fourier transform: the data that one of two processes sends for the transpose.

use dtype_runtime::{Basic, Type};

use super::loops::Rows;
use super::{ByHand, Family, Pattern, Visitor};
use std::marker::PhantomData;

/// Points along an edge of the matrices.
const EDGES: [usize; 5] = [256, 512, 768, 1024, 1536];

const PROCESSES: usize = 2;

type Complex = [f64; 2];

fn complex() -> Result<Type, dtype_runtime::Error> {
    Type::contiguous(2, &Type::basic(Basic::F64))
}

/// Blocks of rows, one for each process.
pub(super) fn gather<V: Visitor>() -> Family<V> {
    EDGES
        .map(|edge| {
            let part = edge / PROCESSES;
            let block = Type::vector(part as u64, part as u64, edge as i64, &complex()?)?;
            let by_hand = Rows {
                base: 0,
                planes: PROCESSES,
                plane: part,
                count: part,
                row: edge,
                length: part,
                element: PhantomData::<Complex>,
            };
            Ok(Box::new(Pattern {
                family: "FFT2_gather",
                parameters: format!("{edge}/p{PROCESSES}"),
                ty: Type::resized(&block, 0, 16 * part as i64)?,
                count: PROCESSES,
                base: 0,
                length: edge * part,
                by_hand,
            }) as _)
        })
        .into_iter()
        .collect()
}

/// The same data as columns: a transpose.
pub(super) fn scatter<V: Visitor>() -> Family<V> {
    EDGES
        .map(|edge| {
            let part = edge / PROCESSES;
            let column = Type::vector(part as u64, 1, edge as i64, &complex()?)?;
            let column = Type::resized(&column, 0, 16)?;
            Ok(Box::new(Pattern {
                family: "FFT2_scatter",
                parameters: format!("{edge}/p{PROCESSES}"),
                ty: Type::contiguous(part as u64, &column)?,
                count: PROCESSES,
                base: 0,
                length: edge * part,
                by_hand: Columns { rows: part, edge },
            }) as _)
        })
        .into_iter()
        .collect()
}

/// The columns of a matrix.
struct Columns {
    rows: usize,
    edge: usize,
}

impl ByHand for Columns {
    type Element = Complex;

    fn pack(&self, memory: &[Complex], out: &mut [Complex]) {
        for (column, out) in out.chunks_exact_mut(self.rows).enumerate() {
            for (out, &from) in out.iter_mut().zip(memory[column..].iter().step_by(self.edge)) {
                *out = from;
            }
        }
    }

    fn unpack(&self, packed: &[Complex], memory: &mut [Complex]) {
        for (column, packed) in packed.chunks_exact(self.rows).enumerate() {
            for (to, &packed) in memory[column..].iter_mut().step_by(self.edge).zip(packed) {
                *to = packed;
            }
        }
    }
}
