//! Marshalled types: they come back unchanged, equal types have equal bytes, and any other bytes are refused.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use dtype_runtime::types::{BoundsRule, Distribution, Order, Pair};
use dtype_runtime::{Basic, Error, Malformed, Type};
use dtype_test_support::extreme;
use dtype_test_support::model::{config, trees};
use dtype_test_support::numbers::Numbers;
use proptest::prelude::*;

fn basic(basic: Basic) -> Type {
    Type::basic(basic)
}

fn hash(ty: &Type) -> u64 {
    // All hashes use one state, so that they can be compared.
    thread_local!(static STATE: RandomState = RandomState::new());
    STATE.with(|state| state.hash_one(ty))
}

/// Marshals and unmarshals.
fn assert_round_trip(ty: &Type) {
    let bytes = ty.marshal();
    let again = Type::unmarshal(&bytes).unwrap();
    assert_eq!(again.marshal(), bytes);
    assert_eq!(again, *ty);
    assert_eq!(hash(&again), hash(ty));
    assert_eq!((again.lb(), again.ub(), again.bounds_rule()), (ty.lb(), ty.ub(), ty.bounds_rule()));
    assert_eq!((again.true_lb(), again.true_ub()), (ty.true_lb(), ty.true_ub()));
    assert_eq!((again.size(), again.elements()), (ty.size(), ty.elements()));
    assert_eq!((again.align(), again.signature_hash()), (ty.align(), ty.signature_hash()));
    assert_eq!(again.envelope(), ty.envelope());
    assert_eq!(again.contents(), ty.contents());
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn types_come_back(tree in trees()) {
        let ty = tree.build().unwrap();
        assert_round_trip(&ty);
        let again = Type::unmarshal(&ty.marshal()).unwrap();
        prop_assert!(again.type_map().eq(ty.type_map()));
        prop_assert_eq!(again.flags(), ty.flags());
        prop_assert_eq!(again.description(), ty.description());
        if let Ok(mpich) = ty.with_bounds_rule(BoundsRule::Mpich) {
            assert_round_trip(&mpich);
            prop_assert_eq!(mpich == ty, mpich.bounds_rule() == BoundsRule::Literal);
            let both = Type::structure(&[1, 1], &[0, 8], &[ty.clone(), mpich]);
            both.iter().for_each(assert_round_trip);
        }
    }

    #[test]
    fn equality_is_that_of_the_calls(one in trees(), other in trees()) {
        let (a, b, c) = (one.build().unwrap(), one.build().unwrap(), other.build().unwrap());
        prop_assert!(a == b && a.marshal() == b.marshal() && hash(&a) == hash(&b));
        // Equal trees make equal calls. Different trees may, too, because names can be synonyms.
        let same = format!("{one:?}") == format!("{other:?}");
        prop_assert_eq!(a == c, a.marshal() == c.marshal());
        prop_assert!(!same || a == c);
        // The parts are equal, shared or not.
        let pair = |x: &Type, y: &Type| {
            Type::structure(&[1, 1], &[0, 64], &[x.clone(), y.clone()]).unwrap()
        };
        prop_assert_eq!(pair(&a, &b), pair(&a, &a));
        prop_assert_eq!(pair(&a, &b).marshal(), pair(&b, &b).marshal());
        prop_assert_eq!(pair(&a, &c) == pair(&c, &a), a == c);
    }

    #[test]
    fn extreme_types_come_back(ty in extreme::types()) {
        ty.iter().for_each(assert_round_trip);
    }

    #[test]
    fn damaged_bytes_are_refused_or_canonical(
        tree in trees(),
        damages in proptest::collection::vec((any::<usize>(), any::<u8>(), 0..4_u8), 1..4),
    ) {
        let mut bytes = tree.build().unwrap().marshal();
        for (place, byte, kind) in damages {
            let at = place % (bytes.len() + 1);
            match kind {
                0 => bytes.insert(at, byte),
                1 => bytes.truncate(at),
                _ if at == bytes.len() => {}
                2 => drop(bytes.remove(at)),
                _ => bytes[at] = byte,
            }
        }
        if let Ok(ty) = Type::unmarshal(&bytes) {
            prop_assert_eq!(ty.marshal(), bytes);
        }
    }
}

/// A change of these bytes changes the format, and needs a new version number.
#[test]
fn the_form_is_pinned() {
    let (u8s, f64s) = (&basic(Basic::U8), &basic(Basic::F64));
    let check = |ty: Result<Type, Error>, nodes: &[u8]| {
        let ty = ty.unwrap();
        assert_eq!(ty.marshal(), [&[0xD7, 1, 0], nodes].concat());
        assert_round_trip(&ty);
    };
    check(Ok(u8s.clone()), &[0, 6]);
    check(Ok(Type::lb_marker()), &[0, 0x7D]);
    check(Ok(Type::ub_marker()), &[0, 0x7E]);
    check(Ok(Type::pair(Pair::FloatInt)), &[0, 0x7F, 0]);
    check(Ok(Type::pair(Pair::TwoInteger)), &[0, 0x7F, 8]);
    check(Type::dup(u8s), &[1, 6, 0x80, 0]);
    check(Type::contiguous(300, u8s), &[1, 6, 0x81, 0xAC, 2, 0]);
    check(Type::vector(4, 1, -1, f64s), &[1, 14, 0x82, 4, 1, 1, 0]);
    check(Type::hvector(4, 1, 64, f64s), &[1, 14, 0x83, 4, 1, 0x80, 1, 0]);
    check(Type::indexed(&[3, 2, 1], &[0, 4, 8], u8s), &[1, 6, 0x84, 6, 3, 2, 1, 0, 8, 8, 0]);
    check(Type::hindexed(&[2, 2], &[9, 4], u8s), &[1, 6, 0x85, 5, 2, 18, 9, 0]);
    check(Type::hindexed(&[], &[], u8s), &[1, 6, 0x85, 0, 0]);
    check(Type::indexed_block(2, &[4, 0], u8s), &[1, 6, 0x86, 4, 2, 8, 7, 0]);
    check(Type::hindexed_block(2, &[4, 0], u8s), &[1, 6, 0x87, 4, 2, 8, 7, 0]);
    let types = [f64s.clone(), u8s.clone(), f64s.clone()];
    check(
        Type::structure(&[1, 1, 1], &[0, 8, 16], &types),
        &[2, 6, 14, 0x88, 7, 1, 0, 16, 16, 1, 0, 1],
    );
    check(Type::structure(&[], &[], &[]), &[0, 0x88, 0]);
    check(
        Type::subarray(&[4, 6], &[2, 3], &[1, 2], Order::Fortran, u8s),
        &[1, 6, 0x89, 5, 4, 6, 2, 3, 1, 2, 0],
    );
    let kinds = [
        Distribution::Block(None),
        Distribution::Cyclic(Some(19)),
        Distribution::None,
        Distribution::Block(Some(5)),
        Distribution::Cyclic(None),
    ];
    check(
        Type::darray(12, 4, &[4, 9, 5, 5, 7], &kinds, &[2, 3, 1, 1, 2], Order::C, u8s),
        &[1, 6, 0x8A, 12, 4, 10, 4, 9, 5, 5, 7, 1, 4, 19, 0, 2, 5, 3, 2, 3, 1, 1, 2, 0],
    );
    check(Type::f90_real(Some(15), None), &[0, 0x8B, 16, 0]);
    check(Type::f90_complex(None, Some(37)), &[0, 0x8C, 0, 38]);
    check(Type::f90_integer(9), &[0, 0x8D, 10]);
    check(Type::resized(u8s, -4, 16), &[1, 6, 0x8E, 7, 32, 0]);
    check(Type::value_index(f64s, &basic(Basic::U64)), &[0, 0x8F, 14, 9]);
    check(u8s.with_bounds_rule(BoundsRule::Mpich), &[0, 0x90, 6]);
    // Both parts have the same height, and this one comes after the dup in byte order.
    let (dup, row) = (Type::dup(f64s).unwrap(), Type::contiguous(2, u8s).unwrap());
    check(
        Type::structure(&[1, 2], &[0, -16], &[row, dup]),
        &[4, 6, 14, 0x80, 1, 0x81, 2, 0, 0x88, 4, 1, 2, 0, 31, 3, 2],
    );
}

#[test]
fn every_predefined_type_comes_back() {
    let named = Basic::ALL.iter().map(|each| basic(*each));
    let mut all: Vec<Type> = named.chain(Pair::ALL.iter().map(|pair| Type::pair(*pair))).collect();
    for digits in (0..40).map(Some).chain([None]) {
        for range in [Some(0), Some(30), Some(4931), None] {
            all.extend(Type::f90_real(digits, range));
            all.extend(Type::f90_complex(digits, range));
        }
        all.extend(digits.and_then(|digits| Type::f90_integer(digits).ok()));
    }
    let named = all.iter().take(Basic::ALL.len());
    let pairs: Vec<Type> = named
        .clone()
        .flat_map(|a| named.clone().map(|b| Type::value_index(a, b)))
        .flatten()
        .collect();
    let all: HashSet<Type> = all.into_iter().chain(pairs).collect();
    let forms: HashSet<Vec<u8>> = all.iter().map(Type::marshal).collect();
    assert_eq!(forms.len(), all.len());
    all.iter().for_each(assert_round_trip);
}

/// The type has 2³⁰ paths to its leaf, or more.
#[test]
fn shared_parts_are_written_and_compared_once() {
    let tower = |levels| {
        (0..levels).fold(basic(Basic::U8), |ty, _| {
            // The blocks are empty, so that no size overflows.
            Type::structure(&[0, 0], &[0, 1], &[ty.clone(), ty]).unwrap()
        })
    };
    let (one, other) = (tower(250), tower(250));
    assert!(one == other && one != tower(249));
    assert_round_trip(&one);
    assert!(one.marshal().len() < 250 * 9);
    // Each level has two equal parts that are made separately.
    let doubled = |levels| {
        (0..levels).fold([basic(Basic::U8), basic(Basic::U8)], |[a, b], _| {
            [&a, &b].map(|first| {
                Type::structure(&[1, 1], &[0, 0], &[first.clone(), b.clone()]).unwrap()
            })
        })
    };
    let [one, other] = doubled(19);
    assert_eq!(one, other);
    assert_eq!(one, doubled(19)[1]);
    assert_eq!(
        one.marshal(),
        (0..19)
            .fold(basic(Basic::U8), |ty, _| {
                Type::structure(&[1, 1], &[0, 0], &[ty.clone(), ty]).unwrap()
            })
            .marshal()
    );
}

#[test]
fn depth_is_limited() {
    let deepest = (0..255).fold(basic(Basic::U8), |ty, _| Type::dup(&ty).unwrap());
    assert_round_trip(&deepest);
    let mut bytes = vec![0xD7, 1, 0, 0x80, 2, 6];
    let mut node = |number: u8| match number {
        0..0x80 => bytes.extend([0x80, number]),
        _ => bytes.extend([0x80, number, 1]),
    };
    (0..=255).for_each(&mut node);
    assert_eq!(Type::unmarshal(&bytes), Err(Error::TooDeep { depth: 256, limit: 255 }));
}

#[test]
fn what_is_refused() {
    let at = |offset, problem, rest: &[u8]| {
        let bytes = [&[0xD7, 1, 0], rest].concat();
        assert_eq!(
            Type::unmarshal(&bytes),
            Err(Error::Marshalled { offset, problem }),
            "{rest:x?}"
        );
    };
    let (truncated, overlong) = (Malformed::Truncated, Malformed::Overlong);
    let whole = |bytes: &[u8]| Type::unmarshal(bytes).unwrap_err().to_string();
    assert_eq!(whole(&[]), "byte 0 of a marshalled datatype: the bytes end too early");
    assert_eq!(
        whole(&[7]),
        "byte 0 of a marshalled datatype: found 0x07, which does not begin a marshalled datatype"
    );
    assert_eq!(whole(&[0xD7, 2]), "byte 1 of a marshalled datatype: unknown version 2");
    assert_eq!(whole(&[0xD7, 1, 4]), "byte 2 of a marshalled datatype: unknown flags 0x04");
    at(3, truncated, &[]);
    at(3, truncated, &[1, 6]);
    at(3, overlong, &[0x80, 0, 6]);
    assert_eq!(Basic::ALL.len(), 61);
    for code in [0, 62, 0x7C, 0x91, 0xFF] {
        at(4, Malformed::Code { found: code }, &[0, code]);
    }
    at(5, Malformed::Code { found: 9 }, &[0, 0x7F, 9]);
    at(5, Malformed::Code { found: 0x90 }, &[0, 0x90, 0x90, 6]);
    at(6, Malformed::Code { found: 0x80 }, &[1, 6, 0x90, 0x80, 0]);
    at(5, Malformed::Trailing { extra: 2 }, &[0, 6, 6, 6]);
    at(5, Malformed::Duplicate, &[2, 6, 6, 0x88, 5, 1, 0, 0, 0, 1]);
    at(5, Malformed::Disorder, &[2, 7, 6, 0x88, 5, 1, 0, 0, 0, 1]);
    // Parts are ordered by height first, and then by their bytes.
    at(7, Malformed::Disorder, &[3, 6, 0x80, 0, 7, 0x88, 5, 1, 0, 0, 1, 2]);
    at(8, Malformed::Unreferenced { node: 1 }, &[2, 6, 7, 0x80, 0]);
    at(6, Malformed::Reference { node: 1 }, &[1, 6, 0x80, 1]);
    at(5, Malformed::Reference { node: 0 }, &[0, 0x80, 0]);
    at(6, overlong, &[1, 6, 0x80, 0x80, 0]);
    // Equal lengths that are listed one by one, and an empty list of lengths that is marked as all equal.
    at(6, overlong, &[1, 6, 0x84, 4, 1, 1, 0, 0, 0]);
    at(6, overlong, &[1, 6, 0x84, 1, 0, 0]);
    at(6, Malformed::Range, &[1, 6, 0x86, 3, 1, 0, 0]);
    // The pair of a float and an int has a name.
    let (float, int) = (Basic::F32.code(), Basic::Int.code());
    at(4, overlong, &[0, 0x8F, float, int]);
    at(5, Malformed::Range, &[0, 0x8D, 0]);
    at(5, Malformed::Range, &[0, 0x8B, 0x81, 0x80, 0x80, 0x80, 0x10, 0]);
    // Lists that claim more entries than bytes remain.
    for code in 0x84..=0x8A {
        at(if code == 0x8A { 8 } else { 6 }, truncated, &[1, 6, code, 0x7E, 1, 0x7E, 1]);
    }
    at(10, Malformed::Code { found: 5 }, &[1, 6, 0x8A, 1, 0, 2, 4, 5, 1, 0]);
    // The constructors report wrong arguments.
    let bytes = [0xD7, 1, 0, 1, 9, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0];
    let overflow = Error::Overflow { call: "contiguous", quantity: "size" };
    assert_eq!(Type::unmarshal(&bytes), Err(overflow));
}

#[test]
fn types_inside_a_message() {
    let types = [basic(Basic::U8), Type::of::<[u32; 3]>(), Type::dup(&basic(Basic::I8)).unwrap()];
    let message: Vec<u8> = types.iter().flat_map(Type::marshal).collect();
    let mut rest = &message[..];
    for ty in &types {
        let (again, used) = Type::unmarshal_prefix(rest).unwrap();
        assert_eq!(again, *ty);
        rest = &rest[used..];
    }
    assert_eq!(rest, [0; 0]);
}

/// Random bytes with the header of a type, and mutations of accepted bytes, so that the pool reaches every part of the format.
/// `FUZZ_CASES` sets the number of cases, and the seed is fixed.
#[test]
fn random_bytes_are_refused_or_canonical() {
    let cases = std::env::var("FUZZ_CASES").map_or(50_000, |cases| cases.parse().unwrap());
    let mut numbers = Numbers(0x5EED);
    let mut pool: Vec<Vec<u8>> = Basic::ALL.iter().map(|each| basic(*each).marshal()).collect();
    let (u8s, cyclic) = (&basic(Basic::U8), [Distribution::Cyclic(Some(2))]);
    let rare = [
        Type::value_index(u8s, u8s),
        Type::f90_real(Some(6), None),
        Type::f90_complex(Some(6), None),
        Type::f90_integer(4),
        Type::subarray(&[4, 6], &[2, 3], &[1, 2], Order::C, u8s),
        Type::darray(3, 1, &[10], &cyclic, &[3], Order::Fortran, u8s),
        u8s.with_bounds_rule(BoundsRule::Mpich),
    ];
    pool.extend(rare.into_iter().map(|ty| ty.unwrap().marshal()));
    let mut codes = HashSet::new();
    let (mut taken, mut tried) = (0_u64, 0_u64);
    for _ in 0..cases {
        let mut bytes = pool[numbers.index(pool.len())].clone();
        for _ in 0..=numbers.index(3) {
            mutate(&mut bytes, &pool, &mut numbers);
        }
        tried += 1;
        let Ok(ty) = Type::unmarshal(&bytes) else { continue };
        assert_eq!(ty.marshal(), bytes);
        assert!(ty.extent() == ty.ub() - ty.lb() && ty.true_extent() >= 0);
        taken += 1;
        codes.insert((ty.envelope().combiner, ty.bounds_rule()));
        if bytes.len() < 200 {
            let place = numbers.index(4000);
            if place < pool.len() { pool[place] = bytes } else { pool.push(bytes) }
        }
    }
    println!("{tried} tried, {taken} taken, of {} kinds", codes.len());
    assert!(taken > cases / 100, "{taken} of {tried}");
    // The usual number of cases finds 22.
    assert!(codes.len() >= 17 || cases < 50_000, "{} kinds", codes.len());
}

/// Changes bytes, or adds a node on top.
fn mutate(bytes: &mut Vec<u8>, pool: &[Vec<u8>], numbers: &mut Numbers) {
    let at = 3 + numbers.index(bytes.len() - 2);
    match numbers.index(8) {
        0 => bytes.insert(at, numbers.byte()),
        1 => bytes.insert(at, numbers.byte() & 7),
        2 if at < bytes.len() => drop(bytes.remove(at)),
        3 if at < bytes.len() => bytes[at] = numbers.byte(),
        4 if at < bytes.len() => {
            bytes[at] = bytes[at].wrapping_add(numbers.byte() % 3).wrapping_sub(1);
        }
        5 => {
            let other = &pool[numbers.index(pool.len())];
            bytes.truncate(at);
            bytes.extend(&other[other.len().min(at)..]);
        }
        _ if bytes.len() < 200 && bytes.get(3).is_some_and(|last| *last < 100) => {
            let below = bytes[3];
            bytes[3] += 1;
            bytes.push(0x80 + numbers.byte() % 17);
            for _ in 0..numbers.index(8) {
                let number = numbers.byte();
                bytes.push(if number & 0x80 == 0 { number & 15 } else { number });
            }
            bytes.push(below);
        }
        _ => bytes.extend([numbers.byte() & 3]),
    }
}
