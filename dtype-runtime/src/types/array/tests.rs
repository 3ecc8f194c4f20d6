//! Distributed arrays equal what the simpler constructors make.

use alloc::vec::Vec;

use super::*;
use crate::numbers::Numbers;
use crate::types::subarray::tests::{assert_same, elements};

/// One dimension: its size, how it is distributed, and over how many processes.
fn dimension(numbers: &mut Numbers) -> (u64, Distribution, u64) {
    let large = [1 << 20, 1 << 40, i64::MAX.cast_unsigned(), u64::MAX];
    let size = match numbers.below(30) {
        0 => *numbers.one_of(&large),
        _ => 1 + numbers.below(12),
    };
    let processes = 1 + numbers.below(4);
    match numbers.below(6) {
        0 => (size, Distribution::None, 1),
        1 => (size, Distribution::Block(None), processes),
        2 => (
            size,
            Distribution::Block(Some(size.div_ceil(processes).saturating_add(numbers.below(2)))),
            processes,
        ),
        3 => (size, Distribution::Cyclic(None), processes),
        4 if numbers.below(30) == 0 => (size, Distribution::Cyclic(Some(0)), processes),
        _ => (size, Distribution::Cyclic(Some(1 + numbers.below(5))), processes),
    }
}

#[test]
fn distributed_arrays_are_what_simpler_constructors_make_of_them() {
    let elements = elements();
    let mut numbers = Numbers(5);
    let (mut made, mut refused, mut known, mut nothing) = (0, 0, 0, 0);
    for case in 0..40_000 {
        let old = &elements[case % elements.len()];
        let ndims = 1 + numbers.below(3);
        let order = if numbers.below(2) == 0 { Order::C } else { Order::Fortran };
        let (mut gsizes, mut distributions, mut psizes) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ndims {
            let (size, distribution, processes) = dimension(&mut numbers);
            gsizes.push(size);
            distributions.push(distribution);
            psizes.push(processes);
        }
        let size: u64 = psizes.iter().product();
        let rank = numbers.below(size);
        // By the simpler constructors, one dimension after another.
        let built = || {
            let mut below = size;
            let mut rest = rank;
            let coordinates: Vec<u64> = psizes
                .iter()
                .map(|processes| {
                    below /= processes;
                    let coordinate = rest / below;
                    rest %= below;
                    coordinate
                })
                .collect();
            let mut built = old.clone();
            for n in 0..gsizes.len() {
                let i = if order == Order::C { gsizes.len() - 1 - n } else { n };
                let (coordinate, processes) = (coordinates[i], psizes[i]);
                let share = Share::of(i, distributions[i], gsizes[i], processes, coordinate)?;
                built = share.build(&built)?;
            }
            let mut parts = Parts::copy_of("darray", &built)?;
            parts.inherit(old)?;
            parts.bounds.set(0, built.extent());
            parts.finish(|| Constructor::Resized { old: built })
        };
        let actual = Type::darray(size, rank, &gsizes, &distributions, &psizes, order, old);
        let call =
            alloc::format!("{rank} {gsizes:?} {distributions:?} {psizes:?} {order:?} {old:?}");
        match (actual, built()) {
            (Ok(actual), Ok(expected)) => {
                assert_same(&actual, &expected, &call);
                let Constructor::Darray { arguments, old } = actual.constructor() else {
                    panic!("{call}")
                };
                known += u32::from(arguments.nest.outcome(old).is_some());
                nothing += u32::from(arguments.nest.elements == 0);
                made += 1;
            }
            (actual, expected) => {
                assert_eq!(actual.err(), expected.err(), "{call}");
                refused += 1;
            }
        }
    }
    assert!(made > 20_000 && refused > 1000, "{made} {refused}");
    assert!(known > 10_000 && nothing > 1000, "{known} {nothing}");
}
