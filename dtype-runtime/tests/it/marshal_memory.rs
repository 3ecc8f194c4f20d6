//! The memory that unmarshalling takes is a small multiple of the number of bytes, whatever the bytes are.

use dtype_runtime::types::{Distribution, Order};
use dtype_runtime::{Basic, Type};
use dtype_test_support::counting::max_in_use;

/// Unmarshals, and checks that the memory in use meanwhile is limited by the number of bytes.
fn measure(what: &str, bytes: &[u8]) -> Option<Type> {
    let (most, ty) = max_in_use(|| Type::unmarshal(bytes).ok());
    assert!(most <= 256 * bytes.len() + 4096, "{what}: {most} for {} bytes", bytes.len());
    ty
}

/// A structure of all these types.
fn structure(types: &[Type]) -> Type {
    Type::structure(&vec![0; types.len()], &vec![0; types.len()], types).unwrap()
}

#[test]
fn memory_is_bounded_by_the_bytes() {
    let u8s = Type::basic(Basic::U8);
    let accepted = |what, ty: &Type| {
        let bytes = ty.marshal();
        assert_eq!(measure(what, &bytes).as_ref(), Some(ty));
        // Damaged bytes: the type is refused at the end, halfway, or at any other point.
        measure(what, &bytes[..bytes.len() - 1]);
        measure(what, &bytes[..bytes.len() / 2]);
        for at in 0..bytes.len().min(300) {
            for value in [0, 0x7F, 0x89, 0xFF] {
                let mut damaged = bytes[..bytes.len().min(1000)].to_vec();
                damaged[at] = value;
                measure(what, &damaged);
            }
        }
    };
    let dups: Vec<Type> = Basic::ALL
        .iter()
        .flat_map(|leaf| {
            let mut ty = Type::basic(*leaf);
            (0..200).map(move |_| {
                ty = Type::dup(&ty).unwrap();
                ty.clone()
            })
        })
        .collect();
    accepted("dups", &structure(&dups));
    accepted("a tower of dups", &(0..255).fold(u8s.clone(), |ty, _| Type::dup(&ty).unwrap()));
    let counts: Vec<Type> = (0..20_000).map(|n| Type::contiguous(n, &u8s).unwrap()).collect();
    accepted("counts", &structure(&counts));
    let kinds: Vec<Type> =
        (0..2000).filter_map(|n| Type::f90_real(Some(n % 30), Some(n)).ok()).collect();
    accepted("Fortran's kinds", &structure(&kinds));
    let named = || Basic::ALL.iter().map(|leaf| Type::basic(*leaf));
    let pairs: Vec<Type> =
        named().flat_map(|a| named().map(move |b| Type::value_index(&a, &b))).flatten().collect();
    accepted("pairs", &structure(&pairs));
    let cubes = |ndims: usize| -> Vec<Type> {
        let cube = |n| {
            let (mut sizes, ones) = (vec![1; ndims], vec![1; ndims]);
            sizes[0] = n;
            Type::subarray(&sizes, &ones, &vec![0; ndims], Order::C, &u8s).unwrap()
        };
        (1..1000).map(cube).collect()
    };
    accepted("subarrays", &structure(&cubes(1)));
    accepted("subarrays of many dimensions", &structure(&cubes(80)));
    let shares = |ndims: usize, kind| -> Vec<Type> {
        let share = |n| {
            let (mut sizes, ones) = (vec![1; ndims], vec![1; ndims]);
            sizes[0] = n;
            Type::darray(1, 0, &sizes, &vec![kind; ndims], &ones, Order::C, &u8s).unwrap()
        };
        (1..1000).map(share).collect()
    };
    accepted("darrays", &structure(&shares(1, Distribution::Block(None))));
    accepted("darrays of many dimensions", &structure(&shares(80, Distribution::None)));
    let uneven = Type::darray(
        1,
        0,
        &[3; 19],
        &[Distribution::Cyclic(Some(2)); 19],
        &[1; 19],
        Order::C,
        &u8s,
    );
    accepted("uneven darrays", &uneven.unwrap());
    accepted("members", &structure(&vec![u8s.clone(); 100_000]));
    let places: Vec<i64> = (0..100_000).map(|n| n * 7 % 60).collect();
    let lengths: Vec<u64> = (0..100_000).map(|n| n % 100).collect();
    accepted("blocks", &Type::indexed(&lengths, &places, &u8s).unwrap());
    accepted("equal blocks", &Type::hindexed(&vec![1; 100_000], &places, &u8s).unwrap());
    accepted("places", &Type::indexed_block(1, &places, &u8s).unwrap());

    // Codes of lists whose length announces more bytes than follow.
    for code in 0x80..=0x90 {
        for claim in [&[0xFF; 8][..], &[0x7E; 8], &[0xFF, 0xFF, 0xFF, 0x7F], &[0xC8, 1]] {
            let bytes = [&[0xD7, 1, 0, 1, 6, code], claim, &[1; 100]].concat();
            measure("", &bytes);
            measure("", &[&[0xD7, 1, 0], claim, &[6; 100]].concat());
        }
    }
    measure("", &[&[0xD7, 1, 0, 0x80, 0x80, 0x80, 1][..], &vec![6; 1 << 22]].concat());
}
