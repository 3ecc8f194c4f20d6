//! The calling sequences are valid programs, and the programs make the type.

use std::collections::BTreeSet;

use dtype_runtime::types::{BoundsRule, Distribution, Order, Pair};
use dtype_runtime::{Basic, Error, Type};
use dtype_show::{CallingSequence, Language};

// A program as it is printed. It is compiled and executed here, and compared below with the text printed for its result.
include!("calls/all.rs");

fn rust(ty: &Type) -> String {
    CallingSequence::new(ty, Language::Rust).to_string()
}

fn c(ty: &Type) -> String {
    CallingSequence::new(ty, Language::C).to_string()
}

/// The text in both languages for a type made by one call.
fn assert_calls(ty: Result<Type, Error>, in_rust: &str, in_c: &str) {
    let ty = ty.unwrap();
    assert_eq!(rust(&ty), format!("let t1 = {in_rust}?;\n"));
    let commit = if in_c.contains("f90") || in_c.contains("value_index") {
        ""
    } else {
        "MPI_Type_commit(&t1);\n"
    };
    assert_eq!(c(&ty), format!("{in_c}\n{commit}"));
}

/// Like `assert_eq`, with a message that shows only the differing line.
fn assert_lines(printed: &str, expected: &str) {
    for (printed, expected) in printed.lines().zip(expected.lines()) {
        assert_eq!(printed, expected);
    }
    assert_eq!(printed, expected);
}

#[test]
fn the_program_prints_itself() {
    let ty = all().unwrap();
    let text = include_str!("calls/all.rs");
    let (_, body) = text.split_once("{\n").unwrap();
    let (body, result) = body.rsplit_once("    Ok(t").unwrap();
    let lines = body.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap()));
    assert_lines(&rust(&ty), &lines.collect::<String>());
    let variables = CallingSequence::new(&ty, Language::Rust).variables();
    assert_eq!(result, format!("{variables})\n}}\n"));
}

#[test]
fn the_same_program_in_c() {
    assert_lines(&c(&all().unwrap()), include_str!("calls/all.c"));
}

#[test]
fn all_is_every_constructor() {
    let mut combiners = BTreeSet::new();
    let mut rest = vec![all().unwrap()];
    while let Some(ty) = rest.pop() {
        combiners.insert(ty.envelope().combiner.abi_value());
        match ty.contents() {
            Ok(contents) => rest.extend(contents.datatypes),
            Err(error) => {
                let refused = matches!(error, Error::NoContents { .. } | Error::Contents { .. });
                assert!(refused, "{error}");
            }
        }
    }
    assert_eq!(combiners.into_iter().collect::<Vec<i32>>(), (101..=117).collect::<Vec<i32>>());
}

#[test]
fn regular_calls() {
    let old = &Type::basic(Basic::F64);
    assert_calls(
        Type::dup(old),
        "Type::dup(&Type::basic(Basic::F64))",
        "MPI_Datatype t1;\nMPI_Type_dup(MPI_DOUBLE, &t1);",
    );
    assert_calls(
        Type::contiguous(7, &Type::pair(Pair::TwoInt)),
        "Type::contiguous(7, &Type::pair(Pair::TwoInt))",
        "MPI_Datatype t1;\nMPI_Type_contiguous(7, MPI_2INT, &t1);",
    );
    // The call stays as requested, although the data are contiguous.
    assert_calls(
        Type::vector(10, 2, 2, old),
        "Type::vector(10, 2, 2, &Type::basic(Basic::F64))",
        "MPI_Datatype t1;\nMPI_Type_vector(10, 2, 2, MPI_DOUBLE, &t1);",
    );
    assert_calls(
        Type::hvector(3, 2, -(1 << 40), old),
        "Type::hvector(3, 2, -1099511627776, &Type::basic(Basic::F64))",
        "MPI_Datatype t1;\nMPI_Type_create_hvector(3, 2, -1099511627776, MPI_DOUBLE, &t1);",
    );
    assert_calls(
        Type::resized(old, -4, 16),
        "Type::resized(&Type::basic(Basic::F64), -4, 16)",
        "MPI_Datatype t1;\nMPI_Type_create_resized(MPI_DOUBLE, -4, 16, &t1);",
    );
    assert_calls(
        Type::f90_real(None, Some(37)),
        "Type::f90_real(None, Some(37))",
        "MPI_Datatype t1;\nMPI_Type_create_f90_real(MPI_UNDEFINED, 37, &t1);",
    );
    assert_calls(
        Type::value_index(old, &Type::basic(Basic::U64)),
        "Type::value_index(&Type::basic(Basic::F64), &Type::basic(Basic::U64))",
        "MPI_Datatype t1;\nMPI_Type_get_value_index(MPI_DOUBLE, MPI_UINT64_T, &t1);",
    );
}

#[test]
fn empty_lists() {
    let old = &Type::basic(Basic::F64);
    assert_calls(
        Type::indexed(&[], &[], old),
        "Type::indexed(&[], &[], &Type::basic(Basic::F64))",
        "\
static const int t1_blocklengths[] = {0};
static const int t1_displacements[] = {0};
MPI_Datatype t1;
MPI_Type_indexed(0, t1_blocklengths, t1_displacements, MPI_DOUBLE, &t1);",
    );
    assert_calls(
        Type::structure(&[], &[], &[]),
        "Type::structure(&[], &[], &[])",
        "\
static const int t1_blocklengths[] = {0};
static const MPI_Aint t1_displacements[] = {0};
const MPI_Datatype t1_types[] = {MPI_DATATYPE_NULL};
MPI_Datatype t1;
MPI_Type_create_struct(0, t1_blocklengths, t1_displacements, t1_types, &t1);",
    );
}

/// The predefined datatypes set the rule for bounds, so it is written with them.
#[test]
fn rules_for_bounds() {
    let wide = Type::resized(&Type::basic(Basic::I32), -4, 16).unwrap();
    let real = Type::f90_real(Some(6), None).unwrap();
    let ty =
        Type::structure(&[1, 1, 1], &[0, 8, 24], &[wide.clone(), Type::basic(Basic::F64), real]);
    let ty = ty.unwrap().with_bounds_rule(BoundsRule::Mpich).unwrap();
    let both = Type::structure(&[1, 1], &[0, 100], &[wide, ty]).unwrap();
    assert_eq!(
        rust(&both),
        "\
let t1 = Type::resized(&Type::basic(Basic::I32), -4, 16)?;
let t2 = Type::resized(&Type::basic(Basic::I32).with_bounds_rule(BoundsRule::Mpich)?, -4, 16)?;
let t3 = Type::f90_real(Some(6), None)?.with_bounds_rule(BoundsRule::Mpich)?;
let t4 = Type::structure(&[1, 1, 1], &[0, 8, 24], &[t2.clone(),
    Type::basic(Basic::F64).with_bounds_rule(BoundsRule::Mpich)?, t3.clone()])?;
let t5 = Type::structure(&[1, 1], &[0, 100], &[t1.clone(), t4.clone()])?;
"
    );
    assert!(!c(&both).contains("bounds"));
}

/// Without a call, the result still is a variable.
#[test]
fn named_types() {
    let printed = |ty: Type| (rust(&ty), c(&ty));
    let texts = |rust: &str, c: &str| (rust.to_owned(), c.to_owned());
    assert_eq!(
        printed(Type::basic(Basic::Int)),
        texts("let t1 = Type::basic(Basic::Int);\n", "MPI_Datatype t1 = MPI_INT;\n")
    );
    assert_eq!(
        printed(Type::pair(Pair::LongDoubleInt)),
        texts(
            "let t1 = Type::pair(Pair::LongDoubleInt);\n",
            "MPI_Datatype t1 = MPI_LONG_DOUBLE_INT;\n"
        )
    );
    let (marker, in_c) = printed(Type::ub_marker());
    assert_eq!(marker, "let t1 = Type::ub_marker();\n");
    assert!(in_c.starts_with("/* MPI_LB and MPI_UB are MPI-1's;"), "{in_c}");
    assert!(in_c.ends_with(" */\nMPI_Datatype t1 = MPI_UB;\n"), "{in_c}");
    assert_eq!(
        printed(Type::basic(Basic::Char)),
        texts(
            "let t1 = Type::basic(Basic::Char);\n",
            "\
/* MPI has no char; these are its bytes, which are not converted, and not aligned. */
MPI_Datatype t1;
MPI_Type_contiguous(4, MPI_BYTE, &t1);
MPI_Type_commit(&t1);
"
        )
    );
    for &basic in Basic::ALL {
        let ty = Type::basic(basic);
        assert!(rust(&ty).starts_with("let t1 = Type::basic(Basic::"));
        assert_eq!(c(&ty).contains("MPI_Type_contiguous"), basic.mpi_name().is_none(), "{basic}");
    }
}

#[test]
fn large_forms() {
    const BIG: u64 = 1 << 31;
    let (byte, far) = (&Type::basic(Basic::Byte), 1 << 32);
    let last_call = |ty: Result<Type, Error>| {
        let text = c(&ty.unwrap());
        let text = text.strip_suffix("MPI_Type_commit(&t1);\n").unwrap().to_owned();
        text.replace("MPI_Datatype t1;\n", "")
    };
    assert_eq!(
        last_call(Type::contiguous(BIG, byte)),
        "MPI_Type_contiguous_c(2147483648, MPI_BYTE, &t1);\n"
    );
    assert_eq!(
        last_call(Type::contiguous(BIG - 1, byte)),
        "MPI_Type_contiguous(2147483647, MPI_BYTE, &t1);\n"
    );
    assert_eq!(
        last_call(Type::vector(2, 3, far, byte)),
        "MPI_Type_vector_c(2, 3, 4294967296, MPI_BYTE, &t1);\n"
    );
    assert_eq!(
        last_call(Type::hvector(BIG, 1, 2, byte)),
        "MPI_Type_create_hvector_c(2147483648, 1, 2, MPI_BYTE, &t1);\n"
    );
    assert_eq!(
        last_call(Type::indexed(&[1, 1], &[0, far], byte)),
        "\
static const MPI_Count t1_blocklengths[] = {1, 1};
static const MPI_Count t1_displacements[] = {0, 4294967296};
MPI_Type_indexed_c(2, t1_blocklengths, t1_displacements, MPI_BYTE, &t1);
"
    );
    // In the small form, addresses have 64 bits. In the large form, counts do, too.
    assert_eq!(
        last_call(Type::hindexed_block(1, &[0, far], byte)),
        "\
static const MPI_Aint t1_displacements[] = {0, 4294967296};
MPI_Type_create_hindexed_block(2, 1, t1_displacements, MPI_BYTE, &t1);
"
    );
    assert_eq!(
        last_call(Type::structure(&[BIG], &[4], std::slice::from_ref(byte))),
        "\
static const MPI_Count t1_blocklengths[] = {2147483648};
static const MPI_Count t1_displacements[] = {4};
const MPI_Datatype t1_types[] = {MPI_BYTE};
MPI_Type_create_struct_c(1, t1_blocklengths, t1_displacements, t1_types, &t1);
"
    );
    let kinds = [Distribution::Block(None), Distribution::Cyclic(Some(3))];
    assert_eq!(
        last_call(Type::darray(2, 1, &[BIG, 3], &kinds, &[2, 1], Order::C, byte)),
        "\
static const MPI_Count t1_gsizes[] = {2147483648, 3};
const int t1_distribs[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
const int t1_dargs[] = {MPI_DISTRIBUTE_DFLT_DARG, 3};
static const int t1_psizes[] = {2, 1};
MPI_Type_create_darray_c(2, 1, 2, t1_gsizes, t1_distribs, t1_dargs, t1_psizes, MPI_ORDER_C,
    MPI_BYTE, &t1);
"
    );
}

/// Arguments too large for every form of MPI's calls are printed with a comment; Rust accepts them.
#[test]
fn arguments_beyond_mpi() {
    let empty = Type::contiguous(0, &Type::basic(Basic::Int)).unwrap();
    let many = Type::contiguous(u64::MAX, &empty).unwrap();
    let least = Type::hindexed(&[0], &[i64::MIN], &many).unwrap();
    assert_eq!(
        rust(&least),
        "\
let t1 = Type::contiguous(0, &Type::basic(Basic::Int))?;
let t2 = Type::contiguous(18446744073709551615, &t1)?;
let t3 = Type::hindexed(&[0], &[-9223372036854775808], &t2)?;
"
    );
    assert_eq!(
        c(&least),
        "\
MPI_Datatype t1;
MPI_Type_contiguous(0, MPI_INT, &t1);
/* An argument here is larger than MPI's form of it can be. */
MPI_Datatype t2;
MPI_Type_contiguous_c(18446744073709551615, t1, &t2);
static const int t3_blocklengths[] = {0};
static const MPI_Aint t3_displacements[] = {(-9223372036854775807 - 1)};
MPI_Datatype t3;
MPI_Type_create_hindexed(1, t3_blocklengths, t3_displacements, t2, &t3);
MPI_Type_commit(&t3);
MPI_Type_free(&t1);
MPI_Type_free(&t2);
"
    );
    let grid = [1 << 32];
    let kinds = [Distribution::Cyclic(None)];
    let share = Type::darray(1 << 32, 5, &[9], &kinds, &grid, Order::C, &Type::basic(Basic::Int));
    assert!(c(&share.unwrap()).starts_with("/* An argument here is larger"));
}

/// Shared parts are made once: the text grows with the number of calls, not with the size of the tree.
#[test]
fn shared_parts_are_made_once() {
    let mut ty = Type::contiguous(0, &Type::basic(Basic::Int)).unwrap();
    for _ in 0..200 {
        ty = Type::structure(&[1, 1], &[0, 0], &[ty.clone(), ty]).unwrap();
    }
    for language in [Language::C, Language::Rust] {
        let sequence = CallingSequence::new(&ty, language);
        assert_eq!(sequence.variables(), 201);
        assert!(sequence.to_string().len() < 201 * 400);
    }
    // Two equal types that are made separately get two variables. A basic datatype without a name gets one, however often it
    // occurs.
    let (a, b) = (Type::basic(Basic::I128), Type::basic(Basic::I128));
    let both = Type::structure(&[1, 1], &[0, 16], &[a.clone(), b]).unwrap();
    assert_eq!(CallingSequence::new(&both, Language::C).variables(), 2);
    let (a, b) = (Type::dup(&a).unwrap(), Type::dup(&a).unwrap());
    let both = Type::structure(&[1, 1], &[0, 16], &[a, b]).unwrap();
    assert_eq!(CallingSequence::new(&both, Language::C).variables(), 4);
}

#[test]
fn long_lists_are_broken_into_lines() {
    let places: Vec<i64> = (0..2000).map(|n| n * n).collect();
    let ty = Type::indexed_block(1, &places, &Type::basic(Basic::U8)).unwrap();
    for text in [rust(&ty), c(&ty)] {
        assert!(text.lines().all(|line| line.len() <= 100 && !line.ends_with(' ')));
        let long = text.lines().filter(|line| line.len() > 85).count();
        assert!((160..200).contains(&long), "{long}");
        let all = places.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        assert!(text.replace("\n    ", " ").contains(&all));
    }
}
