//! The predefined datatypes: sizes, layouts, decoding, and refused arguments.

use dtype_runtime::types::{Combiner, Contents, Named, Pair, TypeClass};
use dtype_runtime::{Basic, Error, Flags, Type};

#[test]
fn pair_types() {
    let table = [
        (Pair::FloatInt, 8, 8),
        (Pair::DoubleInt, 12, 16),
        (Pair::LongInt, 12, 16),
        (Pair::ShortInt, 6, 8),
        (Pair::TwoInt, 8, 8),
        (Pair::LongDoubleInt, 20, 32),
        (Pair::TwoReal, 8, 8),
        (Pair::TwoDoublePrecision, 16, 16),
        (Pair::TwoInteger, 8, 8),
    ];
    assert_eq!(table.len(), Pair::ALL.len());
    for (pair, size, extent) in table {
        let ty = Type::pair(pair);
        if cfg!(all(target_arch = "x86_64", unix)) {
            assert_eq!((ty.size(), ty.extent()), (size, extent), "{pair:?}");
        }
        assert_eq!(format!("MPI_{}", pair.name().to_uppercase()), pair.mpi_name());
        let index = i64::try_from(pair.parts().0.size()).unwrap();
        let places: Vec<_> = ty.type_map().map(|entry| (entry.basic, entry.displacement)).collect();
        assert_eq!(places[0], (pair.parts().0, 0));
        assert_eq!(places[1].0, pair.parts().1);
        assert!(places[1].1 >= index && places[1].1 % 4 == 0);
        assert_eq!(ty.elements(), 2);
        assert_eq!(ty.element_count(ty.size()), Some(2));
        assert_eq!(ty.envelope().combiner, Combiner::Named);
        assert_eq!(ty.contents().err(), Some(Error::NoContents { name: pair.name() }));
        // As in Open MPI's `opal_datatype_t`, the type is predefined but not basic.
        let flags = ty.flags();
        assert!(flags.contains(Flags::COMMITTED) && !flags.contains(Flags::PREDEFINED));
    }
}

/// The padding between the value and the index is not packed.
#[test]
fn a_pair_is_packed_without_its_padding() {
    let pairs = Type::pair(Pair::ShortInt).commit();
    let mut out = [0; 12];
    assert_eq!(pairs.pack(b"ab..cdefgh..ijkl", 2, &mut out), Ok(12));
    assert_eq!(&out, b"abcdefghijkl");
}

#[test]
fn pairs_have_their_name_if_mpi_has_one() {
    let value_index = |value, index| {
        let ty = Type::value_index(&Type::basic(value), &Type::basic(index)).unwrap();
        (ty.envelope().combiner, ty)
    };
    for &pair in Pair::ALL {
        let (value, index) = pair.parts();
        let (combiner, ty) = value_index(value, index);
        assert_eq!(combiner, Combiner::Named);
        assert_eq!(ty.contents().err(), Some(Error::NoContents { name: pair.name() }));
    }
    // C's types have other names in Rust.
    for value in [Basic::F32, Basic::F64, Basic::I16, Basic::I32] {
        assert_eq!(value_index(value, Basic::I32).0, Combiner::Named);
    }
    let (combiner, ty) = value_index(Basic::F64, Basic::U64);
    assert_eq!(combiner, Combiner::ValueIndex);
    let contents = ty.contents().unwrap();
    assert_eq!(contents.datatypes.len(), 2);
    assert!(contents.integers.is_empty() && contents.addresses.is_empty());
    let again = contents.rebuild().unwrap();
    assert!(again.type_map().eq(ty.type_map()));
    assert_eq!(again.envelope(), ty.envelope());
}

#[test]
fn a_pair_of_something_else_is_refused() {
    let (int, many) = (Type::basic(Basic::I32), Type::contiguous(2, &Type::basic(Basic::I32)));
    let refused = |value: &Type, index: &Type| Type::value_index(value, index).unwrap_err();
    assert_eq!(
        refused(&many.unwrap(), &int).to_string(),
        "value_index: value_type is contiguous, expected a named integer or floating-point type"
    );
    assert_eq!(
        refused(&int, &Type::basic(Basic::Bool)).to_string(),
        "value_index: index_type is bool, expected a named integer or floating-point type"
    );
    for basic in [Basic::C64, Basic::Byte, Basic::CChar, Basic::Char, Basic::Logical] {
        let error = refused(&Type::basic(basic), &int);
        assert!(matches!(error, Error::ArgumentType { argument: "value_type", .. }));
    }
}

#[test]
fn kinds_of_fortran() {
    let one = |ty: Result<Type, Error>| ty.unwrap().type_map().next().unwrap().basic;
    let integers =
        [(0, 1), (2, 1), (3, 2), (4, 2), (5, 4), (9, 4), (10, 8), (18, 8), (19, 16), (38, 16)];
    for (range, size) in integers {
        assert_eq!(one(Type::f90_integer(range)).size(), size, "{range}");
    }
    let reals = [
        ((Some(3), Some(4)), Basic::F16),
        ((Some(4), None), Basic::F32),
        ((None, Some(5)), Basic::F32),
        ((Some(6), Some(37)), Basic::F32),
        ((Some(6), Some(38)), Basic::F64),
        ((Some(15), Some(307)), Basic::F64),
        ((None, Some(308)), Basic::LongDouble),
        ((Some(18), Some(4931)), Basic::LongDouble),
        ((Some(19), None), Basic::Real16),
        ((Some(33), Some(4931)), Basic::Real16),
    ];
    for ((p, r), basic) in reals {
        assert_eq!(one(Type::f90_real(p, r)), basic);
        let complex = one(Type::f90_complex(p, r));
        assert_eq!(complex.size(), 2 * basic.size());
    }
    let refused = |ty: Result<Type, Error>| ty.unwrap_err().to_string();
    assert_eq!(refused(Type::f90_integer(39)), "f90_integer: r is 39, expected 0 to 38");
    assert_eq!(refused(Type::f90_real(None, None)), "f90_real: p and r are both undefined");
    assert_eq!(
        refused(Type::f90_complex(Some(34), Some(1))),
        "f90_complex: p is 34, expected 0 to 33"
    );
    assert_eq!(
        refused(Type::f90_real(None, Some(4932))),
        "f90_real: r is 4932, expected 0 to 4931"
    );
    // The greatest precision is valid, so the error names the range.
    assert_eq!(
        refused(Type::f90_real(Some(33), Some(4932))),
        "f90_real: r is 4932, expected 0 to 4931"
    );
}

#[test]
fn kinds_of_fortran_decode_to_their_request() {
    let decode = |ty: &Type| {
        let envelope = ty.envelope();
        let contents = ty.contents().unwrap();
        let again = contents.rebuild().unwrap();
        assert_eq!(again.contents().unwrap().integers, contents.integers);
        assert!(ty.flags().contains(Flags::PREDEFINED));
        (envelope.num_integers, envelope.num_datatypes, contents.combiner, contents.integers)
    };
    // Two requests that give the same kind decode to different arguments.
    for (p, r) in [(Some(15), Some(307)), (Some(14), Some(300))] {
        let integers = [p, r].map(|n| i32::try_from(n.unwrap()).unwrap()).to_vec();
        let ty = Type::f90_real(p, r).unwrap();
        assert_eq!(decode(&ty), (2, 0, Combiner::F90Real, integers.clone()));
        let ty = Type::f90_complex(p, r).unwrap();
        assert_eq!(decode(&ty), (2, 0, Combiner::F90Complex, integers));
    }
    let ty = Type::f90_real(None, Some(100)).unwrap();
    assert_eq!(decode(&ty), (2, 0, Combiner::F90Real, vec![-32766, 100]));
    let ty = Type::f90_integer(9).unwrap();
    assert_eq!(decode(&ty), (1, 0, Combiner::F90Integer, vec![9]));
}

#[test]
fn contents_of_kinds_that_no_call_can_have_had() {
    let rebuild = |combiner, integers: &[i32]| {
        let (integers, datatypes) = (integers.to_vec(), Vec::new());
        let (addresses, large_counts) = (Vec::new(), Vec::new());
        let contents = Contents { combiner, integers, addresses, large_counts, datatypes };
        contents.rebuild().unwrap_err().to_string()
    };
    assert_eq!(
        rebuild(Combiner::F90Integer, &[-32766]),
        "the contents of a f90_integer: an undefined range"
    );
    assert_eq!(
        rebuild(Combiner::F90Real, &[-1, 3]),
        "the contents of a f90_real: a negative precision or range"
    );
    assert_eq!(rebuild(Combiner::F90Real, &[3]), "the contents of a f90_real: too few integers");
    assert_eq!(
        rebuild(Combiner::F90Complex, &[3, 3, 3]),
        "the contents of a f90_complex: too many arguments"
    );
    assert_eq!(
        rebuild(Combiner::ValueIndex, &[]),
        "the contents of a value_index: too few datatypes"
    );
}

#[test]
fn a_named_type_by_class_and_size() {
    let found = |class, size| {
        let ty = Type::match_size(class, size).ok()?;
        assert_eq!((ty.size(), ty.envelope().combiner), (size, Combiner::Named));
        ty.type_map().next().map(|entry| entry.basic)
    };
    assert_eq!(found(TypeClass::Integer, 1), Some(Basic::Integer1));
    assert_eq!(found(TypeClass::Integer, 16), Some(Basic::Integer16));
    assert_eq!(found(TypeClass::Real, 2), Some(Basic::Real2));
    assert_eq!(found(TypeClass::Real, 8), Some(Basic::Real8));
    assert_eq!(found(TypeClass::Complex, 32), Some(Basic::Complex32));
    assert_eq!(
        Type::match_size(TypeClass::Real, 10).unwrap_err().to_string(),
        "no named real type has 10 bytes"
    );
}

/// Names of different languages for one kind of value match. Names for different widths do not.
#[test]
fn signatures_look_through_names() {
    let hash = |basic| Type::basic(basic).signature_hash();
    let same = [
        (Basic::Int, Basic::I32),
        (Basic::Integer, Basic::I32),
        (Basic::Integer4, Basic::Int),
        (Basic::DoublePrecision, Basic::F64),
        (Basic::Real2, Basic::F16),
        (Basic::CxxBool, Basic::Bool),
        (Basic::Complex8, Basic::C32),
        (Basic::Offset, Basic::I64),
        (Basic::Character, Basic::CChar),
    ];
    for (a, b) in same {
        assert_eq!(hash(a), hash(b), "{a} {b}");
        assert_eq!(Type::basic(a).signature(), Type::basic(b).signature());
    }
    let other = [
        (Basic::Long, Basic::I64),
        (Basic::Byte, Basic::U8),
        (Basic::CChar, Basic::I8),
        (Basic::Logical, Basic::I32),
        (Basic::WideChar, Basic::U32),
        (Basic::LongDouble, Basic::Real16),
        (Basic::Aint, Basic::I64),
    ];
    for (a, b) in other {
        assert_ne!(hash(a), hash(b), "{a} {b}");
        assert_ne!(Type::basic(a).signature(), Type::basic(b).signature());
    }
    let pair = Type::pair(Pair::DoubleInt);
    assert_eq!(pair.signature(), Type::of::<(f64, i32)>().signature());
}

#[test]
fn only_named_types_have_a_name() {
    for &basic in Basic::ALL {
        assert_eq!(Type::basic(basic).named(), Some(Named::Basic(basic)));
    }
    for &pair in Pair::ALL {
        let ty = Type::pair(pair);
        assert_eq!(ty.named(), Some(Named::Pair(pair)));
        assert_eq!(ty.contents(), Err(Error::NoContents { name: ty.named().unwrap().name() }));
        assert_eq!(ty.named().unwrap().mpi_name(), Some(pair.mpi_name()));
    }
    let markers = [Type::lb_marker(), Type::ub_marker()].map(|ty| ty.named());
    assert_eq!(markers, [Some(Named::LbMarker), Some(Named::UbMarker)]);
    // Predefined types with a combiner of their own, and a copy of a named type.
    let int = &Type::basic(Basic::Int);
    let calls =
        [Type::f90_integer(9), Type::value_index(&Type::basic(Basic::U8), int), Type::dup(int)];
    for ty in calls.map(Result::unwrap) {
        assert_ne!(ty.envelope().combiner, Combiner::Named);
        assert_eq!(ty.named(), None);
    }
}

#[test]
fn names_lead_back_to_their_types() {
    let named = |name| Named::from_mpi_name(name).map(Named::datatype);
    for &basic in Basic::ALL {
        if let Some(name) = basic.mpi_name() {
            assert_eq!(named(name), Some(Type::basic(basic)));
        }
    }
    for &pair in Pair::ALL {
        assert_eq!(named(pair.mpi_name()), Some(Type::pair(pair)));
    }
    assert_eq!(named("MPI_UB"), Some(Type::ub_marker()));
    assert_eq!(named("MPI_LB"), Some(Type::lb_marker()));
    assert_eq!(named("MPI_C_COMPLEX"), Some(Type::basic(Basic::C32)));
    assert_eq!((named("MPI_CATAMORPHISM"), named("")), (None, None));
}
