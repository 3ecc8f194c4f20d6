//! The two rules for bounds. MPICH's numbers here were measured with MPICH; the tests of `dtype-mpi` compare both on random
//! types.

use dtype_runtime::types::{BoundsRule, Distribution, Order, Pair};
use dtype_runtime::{Basic, Type};

/// Lower bound and extent by the standard's rule, and by MPICH's.
fn both(ty: &Type) -> [(i64, i64); 2] {
    let mpich = ty.with_bounds_rule(BoundsRule::Mpich).unwrap();
    assert_eq!((ty.bounds_rule(), mpich.bounds_rule()), (BoundsRule::Literal, BoundsRule::Mpich));
    assert_eq!(mpich.signature(), ty.signature());
    // The MPICH type has the same marshalled form, and can be converted back.
    assert_eq!(Type::unmarshal(&mpich.marshal()).as_ref(), Ok(&mpich));
    let again = mpich.with_bounds_rule(BoundsRule::Literal).unwrap();
    assert_eq!((again.lb(), again.extent()), (ty.lb(), ty.extent()));
    assert!(again.type_map().eq(ty.type_map()));
    [(ty.lb(), ty.extent()), (mpich.lb(), mpich.extent())]
}

fn basic(basic: Basic) -> Type {
    Type::basic(basic)
}

#[test]
fn markers_stick_or_do_not() {
    let wide = Type::resized(&basic(Basic::I32), -4, 16).unwrap();
    assert_eq!(both(&wide), [(-4, 16), (-4, 16)]);
    let pair = Type::structure(&[1, 1], &[0, 8], &[wide.clone(), basic(Basic::F64)]).unwrap();
    assert_eq!(both(&pair), [(-4, 16), (-4, 24)]);
    let short = Type::resized(&basic(Basic::F64), 2, 4).unwrap();
    let pair = Type::hindexed(&[1, 1], &[0, 20], &short).unwrap();
    assert_eq!(both(&pair), [(2, 24), (2, 24)]);
    let marked =
        Type::structure(&[1, 1], &[-3, 0], &[Type::lb_marker(), basic(Basic::I32)]).unwrap();
    assert_eq!(both(&marked), [(-3, 8), (-3, 7)]);
}

#[test]
fn padding() {
    // By both rules, members of different types are padded. Only the standard's rule pads members of one type.
    let mixed = Type::structure(&[1, 1], &[0, 8], &[basic(Basic::F64), basic(Basic::I8)]).unwrap();
    assert_eq!(both(&mixed), [(0, 16), (0, 16)]);
    let i16 = basic(Basic::I16);
    let odd = Type::hindexed(&[1, 1], &[0, 3], &i16).unwrap();
    assert_eq!(both(&odd), [(0, 6), (0, 5)]);
    let alike = Type::structure(&[1, 1], &[0, 3], &[i16.clone(), i16.clone()]).unwrap();
    assert_eq!(both(&alike), [(0, 6), (0, 5)]);
    let by_name = Type::structure(&[1, 1], &[0, 3], &[i16.clone(), basic(Basic::I16)]).unwrap();
    assert_eq!(both(&by_name), [(0, 6), (0, 5)]);
    // Types are compared by value, so members that are made twice are still of one type.
    let row = || Type::contiguous(3, &i16).unwrap();
    let rows = Type::structure(&[1, 1], &[0, 7], &[row(), row()]).unwrap();
    assert_eq!(both(&rows), [(0, 14), (0, 13)]);
    let copied = Type::structure(&[1, 1], &[0, 3], &[i16.clone(), Type::dup(&i16).unwrap()]);
    assert_eq!(both(&copied.unwrap()), [(0, 6), (0, 5)]);
    // A call that changes nothing makes no other type, and another name of the same kind is no other type.
    let same = [
        Type::contiguous(1, &i16).unwrap(),
        Type::hvector(1, 1, 77, &i16).unwrap(),
        Type::indexed(&[1], &[0], &i16).unwrap(),
        Type::structure(&[1], &[0], &[Type::dup(&i16).unwrap()]).unwrap(),
        Type::resized(&i16, 0, 2).unwrap(),
        // A marker that repeats the upper bound.
        Type::structure(&[1, 1], &[0, 2], &[i16.clone(), Type::ub_marker()]).unwrap(),
        basic(Basic::UnsignedShort),
    ];
    for other in same {
        let alike = Type::structure(&[1, 1], &[0, 3], &[i16.clone(), other]).unwrap();
        assert_eq!(both(&alike)[1], (0, 5));
    }
    let part = Type::subarray(&[1], &[1], &[0], Order::C, &basic(Basic::F32)).unwrap();
    let alike = Type::structure(&[2, 1], &[-13, -16], &[part, basic(Basic::Real4)]).unwrap();
    assert_eq!(both(&alike)[1], (-16, 11));
    // If a process has only the last, shorter block of a cyclic array, its part is a structure. A part of one whole block is
    // the element itself.
    for (block, extent) in [(2, 4), (1, 3)] {
        let distribution = [Distribution::Cyclic(Some(block))];
        let share = Type::darray(1, 0, &[1], &distribution, &[1], Order::C, &i16).unwrap();
        let pair = Type::structure(&[1, 1], &[0, 1], &[share, i16.clone()]).unwrap();
        assert_eq!(both(&pair)[1], (0, extent));
    }
    // With a negative extent, padding goes to the other end.
    let back = Type::resized(&basic(Basic::CxxFloatComplex), 7, -14).unwrap();
    let types = [basic(Basic::U16), back];
    let back = Type::structure(&[0, 1], &[0, 0], &types).unwrap();
    assert_eq!(both(&back)[1], (7, -8));
    // A member of length 0 still is a member of its type.
    let types = [i16.clone(), i16, basic(Basic::I8)];
    let other = Type::structure(&[1, 1, 0], &[0, 3, 0], &types).unwrap();
    assert_eq!(both(&other), [(0, 6), (0, 6)]);
}

/// The upper bound is odd without padding. MPICH's rule pads it only if the members have different types.
fn are_different(first: &Type, other: &Type) -> bool {
    let pair = Type::structure(&[1, 1], &[0, 5], &[first.clone(), other.clone()]).unwrap();
    both(&pair)[1].1 % 2 == 0
}

#[test]
fn calls_with_an_effect_make_another_type() {
    let i16 = &basic(Basic::I16);
    let one = std::slice::from_ref(i16);
    let marked = |ub| Type::structure(&[1, 1], &[0, ub], &[i16.clone(), Type::ub_marker()]);
    let part = |size, subsize| Type::subarray(&[size], &[subsize], &[0], Order::C, i16);
    let grid = |size| {
        let block = [Distribution::Block(None)];
        Type::darray(1, 0, &[size], &block, &[1], Order::C, i16)
    };
    let others = [
        Type::contiguous(2, i16),
        Type::vector(1, 2, 5, i16),
        Type::vector(2, 1, 1, i16),
        Type::hvector(1, 2, 9, i16),
        Type::hvector(2, 1, 2, i16),
        Type::indexed(&[2], &[0], i16),
        Type::indexed(&[1], &[2], i16),
        Type::indexed(&[1, 1], &[0, 1], i16),
        Type::hindexed(&[2], &[0], i16),
        Type::hindexed(&[1], &[4], i16),
        Type::indexed_block(2, &[0], i16),
        Type::indexed_block(1, &[2], i16),
        Type::indexed_block(1, &[0, 1], i16),
        Type::hindexed_block(2, &[0], i16),
        Type::hindexed_block(1, &[4], i16),
        Type::structure(&[2], &[0], one),
        Type::structure(&[1], &[4], one),
        Type::structure(&[1, 1], &[0, 2], &[i16.clone(), i16.clone()]),
        marked(4),
        Type::resized(i16, 0, 4),
        Type::resized(i16, -2, 2),
        Type::resized(i16, -2, 4),
        part(2, 1),
        part(2, 2),
        grid(2),
    ];
    for other in others {
        let other = other.unwrap();
        assert!(are_different(i16, &other), "{other:?}");
    }
    let without_effect = [
        Type::vector(1, 1, 7, i16),
        Type::hindexed(&[1], &[0], i16),
        Type::indexed_block(1, &[0], i16),
        Type::hindexed_block(1, &[0], i16),
        marked(2),
        Type::resized(i16, 0, 2),
        part(1, 1),
        grid(1),
    ];
    for same in without_effect {
        let same = same.unwrap();
        assert!(!are_different(i16, &same), "{same:?}");
    }
}

#[test]
fn values_are_alike_by_their_kind_and_their_width() {
    let alike = |a, b| !are_different(&basic(a), &basic(b)) && !are_different(&basic(b), &basic(a));
    assert!(alike(Basic::I32, Basic::U32) && alike(Basic::I16, Basic::UnsignedShort));
    assert!(alike(Basic::F32, Basic::Real4) && alike(Basic::Int, Basic::Logical));
    for (a, b) in [
        (Basic::I16, Basic::I32),
        (Basic::I32, Basic::F32),
        (Basic::F32, Basic::F64),
        (Basic::Logical, Basic::F32),
    ] {
        assert!(are_different(&basic(a), &basic(b)) && are_different(&basic(b), &basic(a)));
    }
}

#[test]
fn types_without_data() {
    let empty = Type::resized(&Type::contiguous(0, &basic(Basic::I32)).unwrap(), -4, 100).unwrap();
    let two = Type::contiguous(2, &empty).unwrap();
    assert_eq!(both(&two), [(-4, 200), (0, 0)]);
    // The resize of the type itself counts, even through a dup.
    assert_eq!(both(&empty), [(-4, 100), (-4, 100)]);
    assert_eq!(both(&Type::dup(&empty).unwrap()), [(-4, 100), (-4, 100)]);
    // Beside data of another type, the displacement counts.
    let beside = Type::structure(&[1, 1], &[0, 8], &[basic(Basic::I8), empty.clone()]).unwrap();
    assert_eq!(both(&beside)[1], (0, 104));
    let back = Type::resized(&Type::contiguous(0, &basic(Basic::I32)).unwrap(), 5, -10).unwrap();
    for (length, displacement, empty, lb, extent) in [
        (1, -20, &empty, -24, 100),
        (2, 8, &empty, 0, 204),
        (3, -20, &empty, -24, 300),
        (0, 8, &empty, 0, 1),
        (1, -20, &back, -15, 16),
        (3, 0, &back, -15, 16),
        (3, 40, &back, 0, 35),
    ] {
        let types = [basic(Basic::I8), empty.clone()];
        let beside = Type::structure(&[1, length], &[0, displacement], &types).unwrap();
        assert_eq!(both(&beside)[1], (lb, extent), "{length} at {displacement}");
    }
    let markers = [Type::ub_marker(), Type::ub_marker(), basic(Basic::I8)];
    let last = Type::structure(&[1, 1, 1], &[9, 5, 0], &markers).unwrap();
    assert_eq!(both(&last), [(0, 9), (0, 5)]);
    let nothing = Type::structure(&[], &[], &[]).unwrap();
    let one = Type::resized(&nothing, 1, 44).unwrap();
    let inside = Type::structure(&[1], &[0], &[one]).unwrap();
    assert_eq!(both(&inside)[1], (0, 0));
    // The arguments are unchanged.
    let mpich = empty.with_bounds_rule(BoundsRule::Mpich).unwrap();
    assert_eq!(mpich.contents().unwrap().addresses, [-4, 100]);
}

#[test]
fn types_made_of_a_type_have_its_rules() {
    let wide = Type::resized(&basic(Basic::I32), -4, 16).unwrap();
    let mpich = wide.with_bounds_rule(BoundsRule::Mpich).unwrap();
    let types = [mpich, basic(Basic::F64)];
    let pair = Type::structure(&[1, 1], &[0, 8], &types).unwrap();
    assert_eq!((pair.bounds_rule(), pair.extent()), (BoundsRule::Mpich, 24));
    let part = Type::subarray(&[4], &[2], &[1], Order::C, &pair).unwrap();
    assert_eq!((part.bounds_rule(), part.extent(), part.true_lb()), (BoundsRule::Mpich, 96, 24));
    // The part of a process that owns no elements of the array.
    let block = [Distribution::Block(None)];
    let nothing = Type::darray(2, 1, &[1], &block, &[2], Order::C, &pair).unwrap();
    assert_eq!((nothing.bounds_rule(), nothing.size()), (BoundsRule::Mpich, 0));
}

#[test]
fn decoding_keeps_the_rules() {
    let mpich = |ty: Type| ty.with_bounds_rule(BoundsRule::Mpich).unwrap();
    let (value, index) = (mpich(basic(Basic::F64)), basic(Basic::U64));
    for ty in [
        Type::value_index(&value, &index),
        Type::value_index(&index, &value),
        Type::contiguous(3, &value),
        Type::structure(&[1, 1], &[0, 8], &[value.clone(), index.clone()]),
    ] {
        let ty = ty.unwrap();
        assert_eq!(ty.bounds_rule(), BoundsRule::Mpich);
        for ty in [ty.clone(), mpich(ty)] {
            assert_eq!(ty.contents().unwrap().rebuild(), Ok(ty));
        }
    }
    let named = Type::value_index(&value, &basic(Basic::Int)).unwrap();
    assert_eq!(
        (named.bounds_rule(), named == mpich(Type::pair(Pair::DoubleInt))),
        (BoundsRule::Mpich, true)
    );
}

/// Parts made by the same calls become equal types under the new rules, even if their old rules differ.
#[test]
fn parts_by_different_rules_become_alike() {
    let row = |i16: &Type| Type::contiguous(3, i16).unwrap();
    let i16 = basic(Basic::I16);
    let rows = [row(&i16), row(&i16.with_bounds_rule(BoundsRule::Mpich).unwrap())];
    let mixed = Type::structure(&[1, 1], &[0, 7], &rows).unwrap();
    assert_eq!(mixed.with_bounds_rule(BoundsRule::Mpich).unwrap().extent(), 13);
}

/// The type has 2³⁰ paths to its leaf. Conversion visits each part once.
#[test]
fn shared_parts_are_made_once() {
    let mut ty = Type::contiguous(0, &basic(Basic::I32)).unwrap();
    for _ in 0..30 {
        ty = Type::structure(&[1, 1], &[0, 0], &[ty.clone(), ty]).unwrap();
    }
    assert_eq!(both(&ty), [(0, 0), (0, 0)]);
}

#[test]
fn arrays_in_arrays_take_no_exponential_time() {
    let mut subarray = basic(Basic::U8);
    let mut darray = basic(Basic::U8);
    for _ in 0..60 {
        subarray = Type::subarray(&[1], &[1], &[0], Order::C, &subarray).unwrap();
        let dealt = [Distribution::Cyclic(None)];
        darray = Type::darray(1, 0, &[1], &dealt, &[1], Order::C, &darray).unwrap();
    }
    for ty in [subarray, darray] {
        let pair = Type::structure(&[1, 1], &[0, 8], &[ty, basic(Basic::U8)]).unwrap();
        assert_eq!(pair.with_bounds_rule(BoundsRule::Mpich).unwrap().extent(), 9);
    }
}
