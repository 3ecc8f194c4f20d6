//! The parts of a halo.

use dtype_runtime::{Order, Type};
use mpi::Rank;
use mpi::topology::CartesianCommunicator;

use super::{Neighbours, Part};
use crate::error::Error;

/// The sent parts and the received parts of a halo.
pub(super) fn halo_parts(
    cartesian: &CartesianCommunicator,
    sizes: &[usize],
    width: usize,
    element: &Type,
    neighbours: Neighbours,
) -> Result<(Vec<Part>, Vec<Part>), Error> {
    /// With more dimensions, some neighbours would have tags that not every library accepts (MPI-4.1 section 3.2.3).
    const MAX_DIMENSIONS: usize = 9;

    let grid = cartesian.get_layout();
    let dimensions = grid.dims.len();
    let is_wide = |size: &usize| width.checked_mul(3).is_some_and(|least| *size >= least);
    if sizes.len() != dimensions || dimensions > MAX_DIMENSIONS || !sizes.iter().all(is_wide) {
        return Err(Error::Halo { sizes: sizes.to_vec(), width, dimensions });
    }
    let all: Vec<u64> = sizes.iter().map(|&size| size as u64).collect();
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    let directions = sizes.iter().fold(1, |directions, _| 3 * directions);
    for direction in 0..directions {
        // In base 3, each digit is the step along a dimension plus one, so the opposite direction has the complement of the
        // digits.
        let mut rest = direction;
        let steps: Vec<i32> = sizes
            .iter()
            .map(|_| {
                let step = rest % 3 - 1;
                rest /= 3;
                step
            })
            .collect();
        let moves = steps.iter().filter(|&&step| step != 0).count();
        if moves == 0 || (neighbours == Neighbours::Faces && moves > 1) {
            continue;
        }
        let Some(rank) = neighbour(&grid.dims, &grid.periods, &grid.coords, &steps) else {
            continue;
        };
        let along = |step: i32, size: usize, lower: usize, upper: usize| match step {
            0 => (size - 2 * width, width),
            -1 => (width, lower),
            _ => (width, size - upper - width),
        };
        let part = |tag, lower, upper| {
            let along = steps.iter().zip(sizes).map(|(&step, &size)| {
                let (length, start) = along(step, size, lower, upper);
                (length as u64, start as u64)
            });
            let (lengths, starts): (Vec<u64>, Vec<u64>) = along.unzip();
            let ty = Type::subarray(&all, &lengths, &starts, Order::C, element)?;
            Ok::<_, Error>(Part::new(rank, tag, &ty))
        };
        sends.push(part(direction, width, width)?);
        receives.push(part(directions - 1 - direction, 0, 0)?);
    }
    Ok((sends, receives))
}

/// The rank some steps away in a Cartesian grid; `None` beyond the end of the grid. Ranks are numbered in row-major order
/// (MPI-4.1 section 8.5).
fn neighbour(lengths: &[i32], periods: &[bool], own: &[i32], steps: &[i32]) -> Option<Rank> {
    let mut rank = 0;
    for (at, &length) in lengths.iter().enumerate() {
        let there = own[at] + steps[at];
        if !periods[at] && !(0..length).contains(&there) {
            return None;
        }
        rank = rank * length + there.rem_euclid(length);
    }
    Some(rank)
}
