//! Random types with extreme arguments.

use dtype_runtime::types::{Distribution, Order, Pair, TypeClass};
use dtype_runtime::{Basic, Error, Type};
use proptest::prelude::*;

/// Counts: mostly small ones, and the extremes.
pub fn counts() -> impl Strategy<Value = u64> + Clone {
    let ends = vec![u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, 1 << 62, 1 << 33, 1 << 31, 19];
    prop_oneof![4 => 0..5_u64, 1 => proptest::sample::select(ends)]
}

fn displacements() -> impl Strategy<Value = i64> + Clone {
    let ends = vec![i64::MAX, i64::MIN, i64::MAX - 7, i64::MIN + 8, 1 << 62, -(1 << 62), 1 << 32];
    prop_oneof![4 => -9..30_i64, 1 => proptest::sample::select(ends)]
}

/// A predefined datatype that is not a single named value, or the call's error.
fn predefined(call: u8, a: u32, b: u32) -> Result<Type, Error> {
    let basic = |n: u32| Type::basic(Basic::ALL[n as usize % Basic::ALL.len()]);
    // A value that is usually small.
    let some = |n: u32| {
        if n.is_multiple_of(3) { None } else { Some(if n.is_multiple_of(5) { n } else { n % 40 }) }
    };
    match call % 6 {
        0 => Ok(Type::pair(Pair::ALL[a as usize % Pair::ALL.len()])),
        1 => Type::value_index(&basic(a), &basic(b)),
        2 => Type::f90_real(some(a), some(b)),
        3 => Type::f90_complex(some(a), some(b)),
        4 => Type::f90_integer(some(a).unwrap_or(b)),
        _ => Type::match_size(TypeClass::Real, (a % 17).into()),
    }
}

/// A type, or the error of the call that should have made it.
pub fn types() -> impl Strategy<Value = Result<Type, Error>> {
    let leaf = prop_oneof![
        8 => proptest::sample::select(Basic::ALL).prop_map(|basic| Ok(Type::basic(basic))),
        2 => any::<(u8, u32, u32)>().prop_map(|(call, a, b)| predefined(call, a, b)),
        1 => Just(Ok(Type::lb_marker())),
        1 => Just(Ok(Type::ub_marker())),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        let numbers = (counts(), counts(), displacements(), displacements());
        let lists = (
            proptest::collection::vec(counts(), 0..4),
            proptest::collection::vec(displacements(), 0..4),
            proptest::collection::vec(counts(), 0..4),
        );
        (0..12_u8, numbers, lists, inner.clone(), inner).prop_map(
            |(call, (n, m, a, b), (counts, places, more), old, other)| {
                let (old, other) = (old?, other?);
                let order = if n % 2 == 0 { Order::C } else { Order::Fortran };
                let length = counts.len().min(places.len());
                let (lengths, starts) = (&counts[..length], &places[..length]);
                match call {
                    0 => Type::contiguous(n, &old),
                    1 => Type::vector(n, m, a, &old),
                    2 => Type::hvector(n, m, a, &old),
                    3 => Type::indexed(lengths, starts, &old),
                    4 => Type::hindexed(lengths, starts, &old),
                    5 => Type::indexed_block(n, &places, &old),
                    6 => Type::hindexed_block(n, &places, &old),
                    7 => Type::structure(&[n, m], &[a, b], &[old, other]),
                    8 => Type::subarray(&counts, &more, &vec![m; counts.len()], order, &old),
                    9 => {
                        let kind = match m % 5 {
                            0 => Distribution::None,
                            1 => Distribution::Block(None),
                            2 => Distribution::Block(Some(n)),
                            3 => Distribution::Cyclic(None),
                            _ => Distribution::Cyclic(Some(n)),
                        };
                        let processes = more.iter().fold(1_u64, |all, n| all.saturating_mul(*n));
                        let kinds = vec![kind; counts.len()];
                        Type::darray(processes, m, &counts, &kinds, &more, order, &old)
                    }
                    10 => Type::resized(&old, a, b),
                    _ => Type::dup(&old),
                }
            },
        )
    })
}
