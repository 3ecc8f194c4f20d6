//! LAMMPS: atoms that move to another process, from six arrays or from four.

use std::marker::PhantomData;

use dtype_runtime::{Basic, Type};

use super::loops::{Listed, Part};
use super::{Family, Pattern, Visitor, displacements, shuffled};

/// Atoms that are sent, and atoms in total. The arrays have room for the sum of both.
const FULL: [[u32; 2]; 3] = [[1662, 1907], [2243, 2597], [3062, 3534]];
const ATOMIC: [[u32; 2]; 3] = [[114, 1217], [145, 2157], [243, 4084]];

/// The positions of atoms, and `others` arrays with one number for each atom.
fn atoms(list: &[u32], room: usize, others: usize) -> Result<Type, dtype_runtime::Error> {
    let f64 = Type::basic(Basic::F64);
    let mut types = vec![Type::indexed_block(3, &displacements(list, 3), &f64)?];
    types.resize(1 + others, Type::indexed_block(1, &displacements(list, 1), &f64)?);
    // The positions take three times the room of each other array.
    let starts: Vec<i64> = std::iter::once(0)
        .chain((3..).map(|array| 8 * room as i64 * array))
        .take(1 + others)
        .collect();
    Type::structure(&vec![1; 1 + others], &starts, &types)
}

fn positions(list: &[u32]) -> Part<Listed<f64, 3>> {
    let by_hand = Listed { base: 0, list: list.to_vec(), element: PhantomData };
    Part { elements: 3 * list.len(), by_hand }
}

/// Array `number` of those that follow the positions.
fn other(number: usize, list: &[u32], room: usize) -> Part<Listed<f64, 1>> {
    let by_hand = Listed { base: (3 + number) * room, list: list.to_vec(), element: PhantomData };
    Part { elements: list.len(), by_hand }
}

/// Position, tag, type, mask, charge and molecule.
pub(super) fn full<V: Visitor>() -> Family<V> {
    FULL.map(|[number, all]| {
        let (list, room) = (shuffled(number, all), (all + number) as usize);
        let [tag, kind, mask, charge, molecule] = [0, 1, 2, 3, 4].map(|i| other(i, &list, room));
        Ok(Box::new(Pattern {
            family: "LAMMPS_full",
            parameters: format!("{number}/{all}"),
            ty: atoms(&list, room, 5)?,
            count: 1,
            base: 0,
            length: 8 * room,
            by_hand: (positions(&list), tag, kind, mask, charge, molecule),
        }) as _)
    })
    .into_iter()
    .collect()
}

/// Position, tag, type and mask.
pub(super) fn atomic<V: Visitor>() -> Family<V> {
    ATOMIC
        .map(|[number, all]| {
            let (list, room) = (shuffled(number, all), (all + number) as usize);
            let [tag, kind, mask] = [0, 1, 2].map(|i| other(i, &list, room));
            Ok(Box::new(Pattern {
                family: "LAMMPS_atomic",
                parameters: format!("{number}/{all}"),
                ty: atoms(&list, room, 3)?,
                count: 1,
                base: 0,
                length: 6 * room,
                by_hand: (positions(&list), tag, kind, mask),
            }) as _)
        })
        .into_iter()
        .collect()
}
