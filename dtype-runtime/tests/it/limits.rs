//! Short inputs that a naive walk would take almost forever for, or would overflow on.

use std::collections::BTreeSet;

use dtype_runtime::types::BoundsRule;
use dtype_runtime::{
    Basic, Datatype, Error, Representation, Type, gaps, pack, runs, unpack, zero_gaps,
};

#[test]
fn any_number_of_instances_without_data() {
    let empty = Type::contiguous(0, &Type::basic(Basic::U8)).unwrap();
    for ty in [Type::resized(&empty, 0, 8).unwrap(), Type::resized(&empty, 5, -8).unwrap(), empty] {
        let committed = ty.commit();
        assert_eq!(committed.pack(&[], usize::MAX, &mut []), Ok(0));
        assert_eq!(committed.unpack(&[], &mut [], usize::MAX), Ok(0));
    }
    assert_eq!(zero_gaps(&mut [(); usize::MAX]), [0; 0]);
    assert_eq!(pack(&[(); usize::MAX]), [0; 0]);
    assert_eq!(pack(&[[[(); usize::MAX]; 2]; 2]), [0; 0]);
}

#[test]
fn counts_that_cannot_be_addressed() {
    let ty = Type::basic(Basic::U64).commit();
    let refused = Err(Error::CountTooLarge { count: u64::MAX, size: 8 });
    assert_eq!(ty.pack(&[], usize::MAX, &mut []), refused);
    assert_eq!(ty.unpack(&[], &mut [], usize::MAX), refused);
}

/// Markers have no data, so only the displacements limit the number of their copies.
#[test]
fn markers_lie_as_far_away_as_64_bits_reach() {
    let copies = |count, stride, marker: &Type| {
        let all = Type::hvector(count, 1, stride, marker)?;
        Ok((all.lb(), all.ub()))
    };
    let (lb, ub) = (Type::lb_marker(), Type::ub_marker());
    let half = 1_u64 << 63;
    assert_eq!(copies(u64::MAX, 0, &lb), Ok((0, 0)));
    assert_eq!(copies(half, 1, &ub), Ok((i64::MAX, i64::MAX)));
    assert_eq!(copies(half, -1, &lb), Ok((-i64::MAX, -i64::MAX)));
    assert_eq!(copies(half + 1, -1, &lb), Ok((i64::MIN, i64::MIN)));
    let refused = Error::Overflow { call: "hvector", quantity: "displacement" };
    for (count, stride) in [(half + 1, 1), (half + 2, -1), (half, -2), (half + 1, -2)] {
        assert_eq!(copies(count, stride, &lb), Err(refused.clone()), "{count} · {stride}");
    }
}

#[test]
fn signatures_of_terabytes_compare_at_once() {
    let u8s = Type::basic(Basic::U8);
    let of = |stride| Type::hvector(1 << 40, 1, stride, &u8s).unwrap().signature();
    assert_eq!(of(16), of(32));
    assert_eq!(format!("{:?}", of(16)), "{1099511627776×u8}");
    let pair = Type::of::<(u8, u32)>();
    let pairs = |stride| Type::hvector(1 << 40, 1, stride, &pair).unwrap().signature();
    assert_eq!(pairs(8), pairs(80));
    assert_ne!(pairs(8), of(16));
    // Bytes with a gap between them, and bytes without.
    let twins = |gap: i64| {
        let twin = Type::structure(&[1, 1], &[0, 1 + gap], &[u8s.clone(), u8s.clone()]).unwrap();
        Type::hvector(1 << 40, 1, 16, &twin).unwrap().signature()
    };
    assert_eq!(twins(0), twins(3));
    let text = format!("{:?}", pairs(8));
    assert!(text.ends_with("… 2199023255552 in all}"), "{text}");
}

#[derive(Datatype)]
#[dtype(resize(lb = 0, extent = 64))]
struct Wrapped<T> {
    inner: [T; 1],
}

type Four<T> = Wrapped<Wrapped<Wrapped<Wrapped<T>>>>;

#[test]
fn nested_resized_arrays_are_linear() {
    type Sixteen<T> = Four<Four<Four<Four<T>>>>;
    let ty = Type::of::<Sixteen<Sixteen<u32>>>();
    assert_eq!((ty.size(), ty.extent()), (4, 64));
}

type Pair<T> = (T, T);
type Sixteen<T> = Pair<Pair<Pair<Pair<T>>>>;

#[test]
fn many_parts_without_a_byte() {
    type Many = Pair<Sixteen<Sixteen<Sixteen<()>>>>;
    assert_eq!(size_of::<Many>(), 0);
    assert_eq!(pack::<Many>(&[]), [0; 0]);
    assert!(runs::<Many>().is_empty() && gaps::<Many>().is_empty());
}

#[test]
fn many_fields_in_one_piece() {
    // 8192 bytes, each of which is a field.
    type Many = Pair<Sixteen<Sixteen<Sixteen<u8>>>>;
    assert_eq!(runs::<Many>().iter().collect::<Vec<_>>(), vec![0..8192; 1]);
    assert!(gaps::<Many>().is_empty());
}

#[test]
fn more_fields_than_a_constant_program_holds() {
    // 8192 records with padding, which are committed at run time.
    type Many = Sixteen<Sixteen<Sixteen<Pair<(u8, u16)>>>>;
    let bytes: Vec<u8> = (0..3 * 8192 * 2).map(|i: u32| i.to_le_bytes()[0]).collect();
    let items: Vec<Many> = unpack(&bytes).unwrap();
    assert_eq!(pack(&items), bytes);
}

#[test]
fn hashes_of_short_signatures_are_distinct() {
    // All sequences of up to three basic datatypes, each in its canonical form.
    let alphabet: BTreeSet<Basic> = Basic::ALL.iter().map(|basic| basic.canonical()).collect();
    let mut hashes = BTreeSet::new();
    let mut sequences = vec![vec![]];
    let mut number = 0;
    for _ in 0..3 {
        sequences = sequences
            .iter()
            .flat_map(|sequence: &Vec<Basic>| {
                alphabet.iter().map(|basic| [sequence.as_slice(), &[*basic]].concat())
            })
            .collect();
        for sequence in &sequences {
            let types: Vec<Type> = sequence.iter().map(|basic| Type::basic(*basic)).collect();
            let (ones, places) = (vec![1; types.len()], vec![0; types.len()]);
            hashes.insert(Type::structure(&ones, &places, &types).unwrap().signature_hash());
            number += 1;
        }
    }
    assert_eq!(hashes.len(), number);
}

/// Equal members that were made separately. Both share a part that is as large as they are.
#[test]
fn members_that_share_a_large_part_are_compared_at_once() {
    const N: usize = 5000;
    let numbers = || (0..).take(N);
    let structure = |places: Vec<i64>, types: &[Type]| Type::structure(&vec![1; N], &places, types);
    let part = |i| Type::hvector(0, 1, i, &Type::basic(Basic::U8)).unwrap();
    let members_of = |whole: &Type| -> Vec<Type> {
        numbers().map(|_: i64| Type::contiguous(1, whole).unwrap()).collect()
    };
    let whole = structure(numbers().collect(), &numbers().map(part).collect::<Vec<_>>()).unwrap();
    let ty = structure(vec![0; N], &members_of(&whole)).unwrap();
    let mpich = ty.with_bounds_rule(BoundsRule::Mpich).unwrap();
    let whole = whole.with_bounds_rule(BoundsRule::Mpich).unwrap();
    assert_eq!(structure(vec![0; N], &members_of(&whole)), Ok(mpich));
}

/// Threads share types, and get the same answers.
#[test]
fn types_are_shared_among_threads() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    let column = Type::vector(100, 1, 7, &Type::basic(Basic::U16)).unwrap();
    let ty = Type::structure(&[1, 1], &[0, 2], &[column.clone(), column]).unwrap();
    let committed = ty.commit();
    shared(&ty);
    shared(&committed);
    shared(&ty.description());
    shared(&Error::NoContents { name: "" });
    let flags = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| committed.flags())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(flags.iter().all(|flags| *flags == committed.flags()));
}

/// No displacement wraps.
#[test]
fn segments_lie_where_64_bits_reach() {
    let bytes = Type::vector(2, 1, 4, &Type::basic(Basic::U8)).unwrap();
    for (extent, most) in [(1 << 62, 2), (-(1 << 62), 3), (i64::MAX, 1), (i64::MIN, 2), (0, 9)] {
        let ty = Type::resized(&bytes, 0, extent).unwrap().commit();
        assert_eq!(ty.iov(0, 0..0).unwrap().count(), 0);
        let last = (most as i128 - 1) * i128::from(extent);
        let segments: Vec<_> = ty.iov(most, 0..2 * most as u64).unwrap().collect();
        assert_eq!(segments.len(), 2 * most);
        assert_eq!(i128::from(segments[2 * most - 2].disp), last, "{extent}");
        if extent != 0 {
            let refused = Error::Overflow { call: "iov", quantity: "displacement" };
            assert_eq!(ty.iov(most + 1, 0..2).err(), Some(refused), "{extent}");
        }
    }
}

/// A wrong count is refused before it takes memory, or time for each byte.
#[test]
fn converting_to_a_vector_looks_at_the_memory_first() {
    let ty = Type::basic(Basic::U32).commit();
    let conversion = ty.conversion(Representation::BigEndian).unwrap();
    let count = 1 << 58;
    let refused = Error::OutOfBounds { start: 0, end: 4 << 58, len: 16 };
    assert_eq!(conversion.pack_to_vec(&[0; 16], count), Err(refused.clone()));
    assert_eq!(ty.pack_to_vec(&[0; 16], count), Err(refused));
}

/// A proof for few instances does not apply to many.
#[test]
fn overlap_is_computed_again_for_more_instances() {
    let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8)).unwrap();
    let ty = Type::resized(&column, 0, 1).unwrap().commit();
    let mut memory = [0; 20];
    for count in [4, 2, 5, 4, 5, 6, 1, 5] {
        let packed = vec![1; 3 * count];
        let result = ty.unpack(&packed, &mut memory, count);
        let overlap = Err(Error::Overlap { count: count as u64 });
        let expected = if count < 5 { Ok(3 * count) } else { overlap };
        assert_eq!(result, expected, "{count} columns of four");
    }
}
