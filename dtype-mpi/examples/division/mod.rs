//! Divides a domain among ranks, into a grid with one block per rank.

/// A grid with one block per rank, whose sides differ little, the longer ones first. `MPI_Dims_create` does the
/// same, but the `mpi` crate does not provide it.
pub(crate) fn grid<const N: usize>(ranks: usize) -> [usize; N] {
    let mut factors = Vec::new();
    let (mut rest, mut factor) = (ranks, 2);
    while rest > 1 {
        while rest % factor == 0 {
            factors.push(factor);
            rest /= factor;
        }
        factor += 1;
    }
    let mut sides = [1; N];
    for factor in factors.into_iter().rev() {
        if let Some(shortest) = sides.iter_mut().min() {
            *shortest *= factor;
        }
    }
    sides.sort_unstable_by(|one, other| other.cmp(one));
    sides
}
