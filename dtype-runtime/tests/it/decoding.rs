//! Envelope and contents of each constructor, with each argument at the index that the standard gives it, and the
//! errors of encoding and decoding.

use dtype_runtime::types::{Combiner, Contents, Distribution, Envelope, Order};
use dtype_runtime::{Basic, Error, Type};

fn i32() -> Type {
    Type::basic(Basic::I32)
}

/// The envelope as (ni, na, nc, nd), and the three arrays of numbers.
type Decoded = ((usize, usize, usize, usize), Vec<i32>, Vec<i64>, Vec<i64>);

fn decode(combiner: Combiner, ty: &Type) -> Decoded {
    let envelope = ty.envelope();
    assert_eq!(envelope.combiner, combiner);
    let Envelope { num_integers, num_addresses, num_large_counts, num_datatypes, .. } = envelope;
    let contents = ty.contents().unwrap();
    assert_eq!(contents.combiner, combiner);
    assert_eq!(contents.datatypes.len(), num_datatypes);
    let again = contents.rebuild().unwrap();
    assert_eq!((again.size(), again.lb(), again.ub()), (ty.size(), ty.lb(), ty.ub()));
    let Contents { integers, addresses, large_counts, .. } = contents;
    (
        (num_integers, num_addresses, num_large_counts, num_datatypes),
        integers,
        addresses,
        large_counts,
    )
}

#[test]
fn small_forms() {
    let old = &i32();
    let none = Vec::new;
    assert_eq!(
        decode(Combiner::Dup, &Type::dup(old).unwrap()),
        ((0, 0, 0, 1), vec![], none(), none())
    );
    assert_eq!(
        decode(Combiner::Contiguous, &Type::contiguous(7, old).unwrap()),
        ((1, 0, 0, 1), vec![7], none(), none())
    );
    // The data are contiguous, and the type still decodes as the call that made it.
    assert_eq!(
        decode(Combiner::Vector, &Type::vector(10, 2, 2, old).unwrap()),
        ((3, 0, 0, 1), vec![10, 2, 2], none(), none())
    );
    assert_eq!(
        decode(Combiner::Hvector, &Type::hvector(3, 2, -40, old).unwrap()),
        ((2, 1, 0, 1), vec![3, 2], vec![-40], none())
    );
    assert_eq!(
        decode(Combiner::Indexed, &Type::indexed(&[1, 2, 0], &[5, -6, 7], old).unwrap()),
        ((7, 0, 0, 1), vec![3, 1, 2, 0, 5, -6, 7], none(), none())
    );
    assert_eq!(
        decode(Combiner::Hindexed, &Type::hindexed(&[1, 2], &[50, -60], old).unwrap()),
        ((3, 2, 0, 1), vec![2, 1, 2], vec![50, -60], none())
    );
    assert_eq!(
        decode(Combiner::IndexedBlock, &Type::indexed_block(4, &[5, 0], old).unwrap()),
        ((4, 0, 0, 1), vec![2, 4, 5, 0], none(), none())
    );
    assert_eq!(
        decode(Combiner::HindexedBlock, &Type::hindexed_block(4, &[50, 0], old).unwrap()),
        ((2, 2, 0, 1), vec![2, 4], vec![50, 0], none())
    );
    let types = [old.clone(), Type::basic(Basic::F64)];
    assert_eq!(
        decode(Combiner::Structure, &Type::structure(&[3, 1], &[0, 16], &types).unwrap()),
        ((3, 2, 0, 2), vec![2, 3, 1], vec![0, 16], none())
    );
    let part = Type::subarray(&[4, 6], &[2, 3], &[1, 2], Order::C, old).unwrap();
    assert_eq!(
        decode(Combiner::Subarray, &part),
        ((8, 0, 0, 1), vec![2, 4, 6, 2, 3, 1, 2, 12], none(), none())
    );
    let kinds = [Distribution::Block(None), Distribution::Cyclic(Some(2)), Distribution::None];
    let share = Type::darray(6, 4, &[4, 9, 5], &kinds, &[2, 3, 1], Order::Fortran, old).unwrap();
    assert_eq!(
        decode(Combiner::Darray, &share),
        ((16, 0, 0, 1), vec![6, 4, 3, 4, 9, 5, 17, 18, 16, 19, 2, 19, 2, 3, 1, 15], none(), none())
    );
    assert_eq!(
        decode(Combiner::Resized, &Type::resized(old, -4, 16).unwrap()),
        ((0, 2, 0, 1), vec![], vec![-4, 16], none())
    );
}

#[test]
fn large_forms() {
    const BIG: u64 = 1 << 31;
    let (big, byte) = (i64::from(u32::MAX) + 1, &Type::basic(Basic::U8));
    let none = Vec::<i64>::new;
    let large = |combiner, ty: &Type| {
        let (envelope, integers, addresses, counts) = decode(combiner, ty);
        assert_eq!(addresses, none());
        assert_eq!(ty.envelope().small(), Err(Error::LargeCounts { number: counts.len() }));
        (envelope, integers, counts)
    };
    let n = BIG.cast_signed();
    assert_eq!(
        large(Combiner::Contiguous, &Type::contiguous(BIG, byte).unwrap()),
        ((0, 0, 1, 1), vec![], vec![n])
    );
    assert_eq!(
        large(Combiner::Vector, &Type::vector(2, 3, big, byte).unwrap()),
        ((0, 0, 3, 1), vec![], vec![2, 3, big])
    );
    assert_eq!(
        large(Combiner::Hvector, &Type::hvector(BIG, 1, 2, byte).unwrap()),
        ((0, 0, 3, 1), vec![], vec![n, 1, 2])
    );
    assert_eq!(
        large(Combiner::Indexed, &Type::indexed(&[1, 1], &[0, big], byte).unwrap()),
        ((0, 0, 5, 1), vec![], vec![2, 1, 1, 0, big])
    );
    assert_eq!(
        large(Combiner::Hindexed, &Type::hindexed(&[BIG], &[4], byte).unwrap()),
        ((0, 0, 3, 1), vec![], vec![1, n, 4])
    );
    assert_eq!(
        large(Combiner::IndexedBlock, &Type::indexed_block(BIG, &[4], byte).unwrap()),
        ((0, 0, 3, 1), vec![], vec![1, n, 4])
    );
    assert_eq!(
        large(Combiner::HindexedBlock, &Type::hindexed_block(BIG, &[4], byte).unwrap()),
        ((0, 0, 3, 1), vec![], vec![1, n, 4])
    );
    let types = std::slice::from_ref(byte);
    assert_eq!(
        large(Combiner::Structure, &Type::structure(&[BIG], &[4], types).unwrap()),
        ((0, 0, 3, 1), vec![], vec![1, n, 4])
    );
    assert_eq!(
        large(
            Combiner::Subarray,
            &Type::subarray(&[BIG, 3], &[1, 2], &[5, 1], Order::Fortran, byte).unwrap()
        ),
        ((2, 0, 6, 1), vec![2, 15], vec![n, 3, 1, 2, 5, 1])
    );
    let kinds = [Distribution::Block(None), Distribution::Cyclic(None)];
    assert_eq!(
        large(
            Combiner::Darray,
            &Type::darray(2, 1, &[BIG, 3], &kinds, &[2, 1], Order::C, byte).unwrap()
        ),
        ((10, 0, 2, 1), vec![2, 1, 2, 17, 18, 19, 19, 2, 1, 12], vec![n, 3])
    );
    // In the small form, addresses have 64 bits.
    let far = Type::hvector(2, 1, big, byte).unwrap();
    assert!(far.envelope().small().is_ok());
}

#[test]
fn abi_values() {
    let values = [
        (Combiner::Named, 101),
        (Combiner::Dup, 102),
        (Combiner::Contiguous, 103),
        (Combiner::Vector, 104),
        (Combiner::Hvector, 105),
        (Combiner::Indexed, 106),
        (Combiner::Hindexed, 107),
        (Combiner::IndexedBlock, 108),
        (Combiner::HindexedBlock, 109),
        (Combiner::Structure, 110),
        (Combiner::Subarray, 111),
        (Combiner::Darray, 112),
        (Combiner::Resized, 116),
    ];
    for (combiner, value) in values {
        assert_eq!(combiner.abi_value(), value, "{}", combiner.name());
    }
}

#[test]
fn a_named_type_has_no_contents() {
    assert_eq!(i32().contents().err(), Some(Error::NoContents { name: "i32" }));
    assert_eq!(Type::lb_marker().contents().err(), Some(Error::NoContents { name: "lb_marker" }));
    assert_eq!(i32().envelope().combiner, Combiner::Named);
}

#[test]
fn a_derived_struct_decodes_as_its_call() {
    let ty = Type::of::<(u64, [u16; 3])>();
    let contents = ty.contents().unwrap();
    assert_eq!(contents.combiner, Combiner::Structure);
    assert_eq!(contents.integers, [2, 1, 3]);
    assert_eq!(contents.rebuild().unwrap().signature(), ty.signature());
}

#[test]
fn arguments_that_fit_no_array() {
    let empty = Type::contiguous(0, &i32()).unwrap();
    let many = Type::contiguous(u64::MAX, &empty).unwrap();
    let refused = |call| Some(Error::Overflow { call, quantity: "argument" });
    assert_eq!(many.contents().err(), refused("contiguous"));
    // In every form of the call, the number of processes is an `int`.
    let (size, block) = (1 << 32, [Distribution::Block(None)]);
    let grid = Type::darray(size, 0, &[size], &block, &[size], Order::C, &i32()).unwrap();
    assert_eq!((grid.size(), grid.contents().err()), (4, refused("darray")));
    // A block of 19 elements looks like the default block.
    let nineteen = [Distribution::Block(Some(19))];
    let share = Type::darray(2, 0, &[30], &nineteen, &[2], Order::C, &i32()).unwrap();
    assert!(matches!(share.contents(), Err(Error::Contents { combiner: "darray", .. })));
}

#[test]
fn contents_that_no_call_can_have_had() {
    let refused = |combiner, integers: &[i32], addresses: &[i64], counts: &[i64], types: usize| {
        let contents = Contents {
            combiner,
            integers: integers.to_vec(),
            addresses: addresses.to_vec(),
            large_counts: counts.to_vec(),
            datatypes: vec![i32(); types],
        };
        match contents.rebuild() {
            Err(Error::Contents { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(Combiner::Named, &[], &[], &[], 0), "a named datatype has no contents");
    assert_eq!(refused(Combiner::Dup, &[], &[], &[], 0), "too few datatypes");
    assert_eq!(refused(Combiner::Dup, &[], &[], &[], 2), "too many arguments");
    assert_eq!(refused(Combiner::Contiguous, &[], &[], &[], 1), "too few integers");
    assert_eq!(refused(Combiner::Contiguous, &[-1], &[], &[], 1), "a negative count");
    assert_eq!(refused(Combiner::Vector, &[1, 2], &[], &[], 1), "too few integers");
    assert_eq!(refused(Combiner::Vector, &[1, 2, 3], &[], &[4], 1), "too few large counts");
    assert_eq!(refused(Combiner::Hvector, &[1, 2], &[], &[], 1), "too few addresses");
    assert_eq!(refused(Combiner::Indexed, &[i32::MAX, 1], &[], &[], 1), "too few integers");
    assert_eq!(refused(Combiner::Hindexed, &[], &[], &[i64::MAX, 1], 1), "too few large counts");
    assert_eq!(refused(Combiner::Structure, &[1, 1], &[0], &[], 0), "too few datatypes");
    assert_eq!(refused(Combiner::Subarray, &[1, 4, 2, 1, 13], &[], &[], 1), "an unknown order");
    assert_eq!(
        refused(Combiner::Darray, &[1, 0, 1, 4, 20, 19, 1, 12], &[], &[], 1),
        "an unknown distribution"
    );
    assert_eq!(
        refused(Combiner::Darray, &[1, 0, 1, 4, 17, -3, 1, 12], &[], &[], 1),
        "a negative distribution argument"
    );
    assert_eq!(refused(Combiner::Resized, &[], &[0], &[], 1), "too few addresses");
}

#[test]
fn arrays_that_do_not_fit_together() {
    let old = &i32();
    let message = |result: Result<Type, Error>| result.unwrap_err().to_string();
    let subarray = |sizes: &[u64], subsizes: &[u64], starts: &[u64]| {
        message(Type::subarray(sizes, subsizes, starts, Order::C, old))
    };
    assert_eq!(subarray(&[], &[], &[]), "subarray: ndims is 0, expected at least 1");
    assert_eq!(
        subarray(&[4], &[2, 2], &[0]),
        "subarray: array_of_subsizes has 2 elements, expected 1 as in the other arrays"
    );
    assert_eq!(
        subarray(&[4, 0], &[1, 1], &[0, 0]),
        "subarray: array_of_sizes[1] is 0, expected at least 1"
    );
    assert_eq!(subarray(&[4], &[5], &[0]), "subarray: array_of_subsizes[0] is 5, expected 1 to 4");
    assert_eq!(subarray(&[4], &[0], &[0]), "subarray: array_of_subsizes[0] is 0, expected 1 to 4");
    assert_eq!(subarray(&[4], &[3], &[2]), "subarray: array_of_starts[0] is 2, expected 0 to 1");
    assert_eq!(
        subarray(&[1 << 31, 1 << 31], &[1, 1], &[0, 0]),
        "subarray: the extent does not fit 64 bits"
    );
    let darray = |size, rank, gsize, kind, psize| {
        message(Type::darray(size, rank, &[gsize], &[kind], &[psize], Order::C, old))
    };
    let block = Distribution::Block(None);
    assert_eq!(darray(3, 0, 8, block, 2), "darray: size is 3, expected 2");
    assert_eq!(darray(2, 2, 8, block, 2), "darray: rank is 2, expected 0 to 1");
    assert_eq!(darray(1, 0, 0, block, 1), "darray: array_of_gsizes[0] is 0, expected at least 1");
    assert_eq!(darray(0, 0, 8, block, 0), "darray: array_of_psizes[0] is 0, expected at least 1");
    assert_eq!(
        darray(2, 0, 8, Distribution::None, 2),
        "darray: array_of_psizes[0] is 2, expected 1"
    );
    assert_eq!(
        darray(2, 0, 8, Distribution::Block(Some(3)), 2),
        "darray: array_of_dargs[0] is 3, expected at least 4"
    );
    assert_eq!(
        darray(2, 0, 8, Distribution::Cyclic(Some(0)), 2),
        "darray: array_of_dargs[0] is 0, expected at least 1"
    );
    let (grid, kinds) = ([1 << 33, 1 << 33], [block, block]);
    assert_eq!(
        message(Type::darray(u64::MAX, 5, &[9, 9], &kinds, &grid, Order::C, old)),
        "darray: the number of processes does not fit 64 bits"
    );
    assert_eq!(
        message(Type::indexed(&[1], &[1, 2], old)),
        "indexed: array_of_displacements has 2 elements, expected 1 as in the other arrays"
    );
    assert_eq!(
        message(Type::indexed(&[1], &[i64::MAX], old)),
        "indexed: the displacement does not fit 64 bits"
    );
}

#[test]
fn subarray_and_darray_erase_the_markers_of_their_elements() {
    let marked = Type::resized(&i32(), -4, 16).unwrap();
    let part = Type::subarray(&[4], &[2], &[1], Order::C, &marked).unwrap();
    assert_eq!((part.lb(), part.ub(), part.true_lb(), part.true_ub()), (0, 64, 16, 36));
    let block = [Distribution::Block(None)];
    let share = Type::darray(2, 1, &[4], &block, &[2], Order::C, &marked).unwrap();
    assert_eq!((share.lb(), share.ub(), share.true_lb(), share.true_ub()), (0, 64, 32, 52));
}
