//! UCX's structures: the examples drawn in UCX's struct datatype proposal, edge cases, and the rows of nested types.

use dtype_runtime::types::{Combiner, Level, Order, UcpField};
use dtype_runtime::{Basic, Error, Flags, Type};

fn bytes(count: u64) -> Type {
    Type::contiguous(count, &Type::basic(Basic::Byte)).unwrap()
}

fn field(displacement: i64, extent: i64, ty: Type) -> UcpField {
    UcpField { displacement, extent, ty }
}

fn level(base: i64, length: u64, count: u64, stride: i64) -> Level {
    Level { base, length, count, stride }
}

fn places(ty: &Type) -> Vec<i64> {
    ty.type_map().map(|entry| entry.displacement).collect()
}

/// The packed bytes of a memory in which each byte is its own offset from the origin.
fn packed(ty: &Type) -> Vec<u8> {
    let memory: Vec<u8> = (0..64).collect();
    let mut out = vec![0; usize::try_from(ty.size()).unwrap()];
    ty.commit().pack(&memory, 1, &mut out).unwrap();
    out
}

/// Payload 4, stride 8, count 2.
#[test]
fn seed_004_example_1() {
    let ty = Type::ucp_struct(&[field(0, 8, bytes(4))], 2).unwrap();
    assert_eq!(packed(&ty), [0, 1, 2, 3, 8, 9, 10, 11]);
    assert_eq!((ty.size(), ty.lb(), ty.extent()), (8, 0, 12));
    assert_eq!(ty.levels(), Some(vec![level(0, 4, 2, 8)]));
}

/// The drawing of the second example is lost. This is a type of its kind: two fields, one of which is a structure.
#[test]
fn seed_004_example_2() {
    let pairs = Type::ucp_struct(&[field(0, 4, bytes(2))], 2).unwrap();
    let fields = [field(0, 16, bytes(4)), field(8, 16, pairs)];
    let ty = Type::ucp_struct(&fields, 2).unwrap();
    assert_eq!(packed(&ty), [0, 1, 2, 3, 8, 9, 12, 13, 16, 17, 18, 19, 24, 25, 28, 29]);
    assert_eq!(ty.levels(), None);
    // One field at a time: UCX registers a key for each field.
    let alone = |i: usize| Type::ucp_struct(&fields[i..=i], 2).unwrap().levels();
    assert_eq!(alone(0), Some(vec![level(0, 4, 2, 16)]));
    assert_eq!(alone(1), Some(vec![level(8, 4, 2, 16), level(0, 2, 2, 4)]));
}

/// Payload 2, stride 8, count 4, as two levels of two.
#[test]
fn seed_004_example_3() {
    let dt1 = Type::ucp_struct(&[field(0, 8, bytes(2))], 2).unwrap();
    let ty = Type::ucp_struct(&[field(0, 32, dt1)], 2).unwrap();
    assert_eq!(packed(&ty), [0, 1, 8, 9, 32, 33, 40, 41]);
    assert_eq!(ty.levels(), Some(vec![level(0, 4, 2, 32), level(0, 2, 2, 8)]));
}

#[test]
fn a_ucp_struct_decodes_as_its_parts() {
    let fields = [field(0, 16, bytes(4)), field(8, 16, bytes(2))];
    let ty = Type::ucp_struct(&fields, 3).unwrap();
    let contents = ty.contents().unwrap();
    assert_eq!(contents.combiner, Combiner::Hvector);
    assert_eq!((contents.integers, contents.addresses), (vec![3, 1], vec![16]));
    assert_eq!(contents.datatypes[0].envelope().combiner, Combiner::Structure);
    // The bounds come without markers, so the type around this one is no wider.
    assert_eq!((ty.lb(), ty.ub()), (0, 42));
    assert!(!ty.flags().contains(Flags::USER_LB) && !ty.flags().contains(Flags::USER_UB));

    let once = Type::ucp_struct(&fields, 1).unwrap();
    assert_eq!(once.contents().unwrap().addresses, [0, 8]);
}

#[test]
fn different_extents_are_written_out_repetition_by_repetition() {
    let fields = [field(0, 2, bytes(1)), field(20, 8, bytes(2))];
    let ty = Type::ucp_struct(&fields, 3).unwrap();
    assert_eq!(packed(&ty), [0, 20, 21, 2, 28, 29, 4, 36, 37]);
    let contents = ty.contents().unwrap();
    assert_eq!(contents.combiner, Combiner::Structure);
    assert_eq!(contents.addresses, [0, 20, 2, 28, 4, 36]);
    // A field without data does not make the extents differ.
    let fields = [field(0, 2, bytes(1)), field(i64::MAX, i64::MAX, bytes(0))];
    let ty = Type::ucp_struct(&fields, 3).unwrap();
    assert_eq!((ty.envelope().combiner, places(&ty)), (Combiner::Hvector, vec![0, 2, 4]));
    // If only other fields have data, the displacement of this one is not used either.
    let fields = [fields[0].clone(), field(9, 1, bytes(1)), fields[1].clone()];
    assert_eq!(places(&Type::ucp_struct(&fields, 2).unwrap()), [0, 9, 2, 10]);
    // A marker's displacement counts.
    let fields = [field(0, 2, bytes(1)), field(-6, 0, Type::lb_marker())];
    let ty = Type::ucp_struct(&fields, 3).unwrap();
    assert_eq!((ty.lb(), ty.ub(), ty.size()), (-6, 5, 3));
}

#[test]
fn the_edges() {
    for repeat in [0, 1, 5, u64::MAX] {
        let ty = Type::ucp_struct(&[], repeat).unwrap();
        assert_eq!((ty.size(), ty.extent(), ty.levels()), (0, 0, Some(vec![])));
        let ty = Type::ucp_struct(&[field(7, 3, bytes(0)), field(1, 4, bytes(0))], repeat).unwrap();
        assert_eq!((ty.size(), ty.extent(), ty.levels()), (0, 0, Some(vec![])));
    }
    for second in [8, 9] {
        let fields = [field(4, 8, bytes(4)), field(i64::MAX, second, bytes(4))];
        let never = Type::ucp_struct(&fields, 0).unwrap();
        assert_eq!((never.size(), never.extent(), never.levels()), (0, 0, Some(vec![])));
        assert_eq!(never.contents().unwrap().integers, [2, 0, 0]);
        assert_eq!(never.contents().unwrap().addresses, [4, i64::MAX]);
    }
    // Fields that run backwards from before the origin.
    let ty = Type::ucp_struct(&[field(-3, -4, bytes(2))], 3).unwrap();
    assert_eq!(places(&ty), [-3, -2, -7, -6, -11, -10]);
    assert_eq!((ty.lb(), ty.ub()), (-11, -1));
    assert_eq!(ty.levels(), Some(vec![level(-3, 2, 3, -4)]));
    // Fields that name a byte twice can be packed and not unpacked.
    let ty = Type::ucp_struct(&[field(0, 8, bytes(4)), field(2, 8, bytes(4))], 2).unwrap();
    assert!(ty.flags().contains(Flags::OVERLAP));
    assert_eq!(places(&ty), [0, 1, 2, 3, 2, 3, 4, 5, 8, 9, 10, 11, 10, 11, 12, 13]);
    // Without a gap, the fields are one run.
    let ty = Type::ucp_struct(&[field(5, 4, bytes(4))], 6).unwrap();
    assert_eq!(ty.levels(), Some(vec![level(5, 24, 1, 0)]));
    assert!(ty.flags().contains(Flags::CONTIGUOUS | Flags::NO_GAPS));
}

#[test]
fn what_is_refused() {
    let overflow = |quantity| Some(Error::Overflow { call: "ucp_struct", quantity });
    let made = |fields: &[UcpField], repeat| Type::ucp_struct(fields, repeat).err();
    assert_eq!(made(&[field(0, i64::MAX, bytes(1))], 3), overflow("displacement"));
    assert_eq!(made(&[field(0, 1, bytes(1))], u64::MAX), overflow("size"));
    assert_eq!(made(&[field(i64::MAX, 1, bytes(1))], 1), overflow("true upper bound"));
    let byte = || Type::basic(Basic::Byte);
    let different = [field(0, 1, byte()), field(0, i64::MAX, byte())];
    assert_eq!(made(&different, 3), overflow("displacement"));
    let limit = 1 << 24;
    for (repeat, entries) in [(1 << 23, 10 << 23), (u64::MAX, u64::MAX)] {
        assert_eq!(made(&different, repeat), Some(Error::TooManyEntries { entries, limit }));
    }
    let nest = |repeat| {
        let mut ty = byte();
        loop {
            match Type::ucp_struct(&[field(0, 8, ty.clone())], repeat) {
                Ok(deeper) => ty = deeper,
                Err(error) => break (ty, error),
            }
        }
    };
    let (deep, error) = nest(1);
    assert_eq!((deep.size(), error), (1, Error::TooDeep { depth: 256, limit: 255 }));
    let (large, error) = nest(2);
    assert_eq!((large.levels().unwrap().len(), Some(error)), (62, overflow("size")));
}

#[test]
fn rows_of_other_nests() {
    let f64 = &Type::basic(Basic::F64);
    let column = Type::vector(4, 1, 6, f64).unwrap();
    assert_eq!(column.levels(), Some(vec![level(0, 8, 4, 48)]));
    let planes = Type::hvector(3, 1, 1000, &column).unwrap();
    assert_eq!(planes.levels(), Some(vec![level(0, 32, 3, 1000), level(0, 8, 4, 48)]));
    let sizes = ([4, 6, 8], [2, 3, 5], [1, 0, 2]);
    let part = Type::subarray(&sizes.0, &sizes.1, &sizes.2, Order::C, f64).unwrap();
    let rows = vec![level(8 * 50, 120, 2, 8 * 48), level(0, 40, 3, 64)];
    assert_eq!(part.levels(), Some(rows));

    let run = |ty: &Type| ty.levels();
    assert_eq!(run(f64), Some(vec![level(0, 8, 1, 0)]));
    // Several adjacent basic datatypes are one run, and so are adjacent structures.
    let record = Type::of::<(u32, u16, u16)>();
    assert_eq!(run(&Type::contiguous(3, &record).unwrap()), Some(vec![level(0, 24, 1, 0)]));
    let padded = Type::contiguous(3, &Type::of::<(u32, u16)>()).unwrap();
    assert_eq!(run(&padded), Some(vec![level(0, 6, 3, 8)]));
    // A repetition with several runs is no row.
    assert_eq!(run(&Type::of::<(u64, u8, u32)>()), None);
    assert_eq!(run(&Type::indexed_block(1, &[0, 2, 4], f64).unwrap()), None);
}
