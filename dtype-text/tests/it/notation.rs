//! Every type is printed and read back, and no text does harm.

use crate::linear::{self, TIMES};

use dtype_runtime::types::{Combiner, Distribution, Order};
use dtype_runtime::{Basic, BoundsRule, Type};
use dtype_test_support::model;
use dtype_text::notation::{GRAMMAR, MAX_LENGTH, MAX_NESTING, parse, print};
use dtype_text::problem::Problem;
use proptest::prelude::*;

fn read(text: &str) -> Type {
    parse(text).unwrap_or_else(|problems| panic!("{problems:#?}\n{text}")).ty
}

fn refused(text: &str) -> Vec<Problem> {
    let problems = parse(text).expect_err(text);
    assert!(!problems.is_empty(), "{text}");
    for problem in &problems {
        assert!(text.get(problem.span.clone()).is_some(), "{problem:?} in {text}");
    }
    problems
}

fn basic(basic: Basic) -> Type {
    Type::basic(basic)
}

/// Pieces that texts are made of, so that random ones get past the first word.
fn pieces() -> impl Strategy<Value = String> {
    let words = vec![
        "vector",
        "struct",
        "let",
        "a",
        "b",
        "u8",
        "f64",
        "double",
        "unsigned",
        "long",
        "resized",
        "indexed",
        "darray",
        "subarray",
        "block",
        "C",
        "dup",
        "=",
        ";",
        ",",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "@",
        ":",
        "+",
        "-",
        "*",
        "0",
        "1",
        "0x7fffffffffffffff",
        "18446744073709551615",
        "2int",
        "#",
        "\n",
        " ",
        "é",
        "→",
    ];
    proptest::collection::vec(proptest::sample::select(words), 0..40)
        .prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(model::config(500))]

    #[test]
    fn printed_types_are_read_back(tree in model::trees_with_lists(1)) {
        let Ok(ty) = tree.build() else { return Ok(()) };
        let text = print(&ty);
        prop_assert_eq!(&read(&text), &ty, "{}", text);
        if let Ok(other) = ty.with_bounds_rule(BoundsRule::Mpich) {
            let text = print(&other);
            prop_assert_eq!(&read(&text), &other, "{}", text);
        }
    }

    #[test]
    fn any_text_is_a_type_or_a_mistake(text in prop_oneof![any::<String>(), pieces(), pieces(), pieces()]) {
        match parse(&text) {
            Ok(parsed) => {
                prop_assert_eq!(&read(&print(&parsed.ty)), &parsed.ty);
            }
            Err(_) => drop(refused(&text)),
        }
    }

    #[test]
    fn damaged_texts_are_a_type_or_a_mistake(
        tree in model::trees(), at in any::<prop::sample::Index>(), piece in pieces()
    ) {
        let Ok(ty) = tree.build() else { return Ok(()) };
        let text = print(&ty);
        let place = at.index(text.len());
        let damaged = [&text[..place], &piece, &text[place + 1..]].concat();
        if parse(&damaged).is_err() {
            refused(&damaged);
        }
        if parse(&text[..place]).is_err() {
            refused(&text[..place]);
        }
    }
}

#[test]
fn the_grammar_has_every_constructor() {
    for combiner in Combiner::ALL.iter().filter(|combiner| **combiner != Combiner::Named) {
        let name = match combiner.name() {
            "structure" => "struct",
            name => name,
        };
        assert!(GRAMMAR.contains(&format!(" {name}(")), "{name}");
    }
}

#[test]
fn every_constructor() -> Result<(), dtype_runtime::Error> {
    let [u8, f64, int] = [Basic::U8, Basic::F64, Basic::Int].map(basic);
    let dealt = [Distribution::Cyclic(Some(2)), Distribution::Block(None)];
    for (text, expected) in [
        ("contiguous(3, f64)", Type::contiguous(3, &f64)?),
        ("[double; 3]", Type::contiguous(3, &f64)?),
        ("vector(4, 5, -6, u8)", Type::vector(4, 5, -6, &u8)?),
        ("hvector(4, 5, 0x10, u8)", Type::hvector(4, 5, 16, &u8)?),
        ("indexed([2, 1], [0, 4], u8)", Type::indexed(&[2, 1], &[0, 4], &u8)?),
        ("hindexed([2, 1,], [-3, 1_00], u8)", Type::hindexed(&[2, 1], &[-3, 100], &u8)?),
        ("indexed_block(2, [], u8)", Type::indexed_block(2, &[], &u8)?),
        ("hindexed_block(2, [7], u8)", Type::hindexed_block(2, &[7], &u8)?),
        ("struct([2], [8], [int])", Type::structure(&[2], &[8], std::slice::from_ref(&int))?),
        ("structure([], [], [])", Type::structure(&[], &[], &[])?),
        ("struct{}", Type::structure(&[], &[], &[])?),
        ("subarray([4, 6], [2, 3], [1, 2], C, u8)", {
            Type::subarray(&[4, 6], &[2, 3], &[1, 2], Order::C, &u8)?
        }),
        ("darray(4, 1, [10, 7], [cyclic(2), block], [2, 2], fortran, u8)", {
            Type::darray(4, 1, &[10, 7], &dealt, &[2, 2], Order::Fortran, &u8)?
        }),
        ("resized(u8, -4, 16)", Type::resized(&u8, -4, 16)?),
        ("dup(u8)", Type::dup(&u8)?),
        ("value_index(double, u8)", Type::value_index(&f64, &u8)?),
        ("MPI_DOUBLE_INT", Type::pair(dtype_runtime::Pair::DoubleInt)),
        ("2int", Type::pair(dtype_runtime::Pair::TwoInt)),
        ("f90_real(15, undefined)", Type::f90_real(Some(15), None)?),
        ("f90_complex(undefined, 30)", Type::f90_complex(None, Some(30))?),
        ("f90_integer(9)", Type::f90_integer(9)?),
        (
            "mpich_bounds(resized(u8, 0, 4))",
            Type::resized(&u8, 0, 4)?.with_bounds_rule(BoundsRule::Mpich)?,
        ),
        ("struct{lb@-3, int@0, ub@6}", {
            Type::structure(
                &[1; 3],
                &[-3, 0, 6],
                &[Type::lb_marker(), int.clone(), Type::ub_marker()],
            )?
        }),
        ("(unsigned long int)", basic(Basic::UnsignedLong)),
        ("MPI_C_DOUBLE_COMPLEX;", basic(Basic::C64)),
        ("let n = 2 + 3 * (4 - 1) - -1; [u8; n]", Type::contiguous(12, &u8)?),
        ("# a comment\nu8 # another", u8.clone()),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    Ok(())
}

#[test]
fn structs_are_laid_out_as_c_does() {
    #[repr(C)]
    struct Inner {
        a: u8,
        b: u32,
    }
    #[repr(C)]
    struct Outer {
        first: u8,
        matrix: [[f64; 3]; 2],
        flag: bool,
        inner: [Inner; 3],
        last: u16,
    }
    let text = "let inner = struct{a: u8, b: u32};
        struct{first: u8, matrix: [[f64; 3]; 2], flag: bool, inner: [inner; 3], last: u16}";
    let ty = read(text);
    let offsets = ty.contents().unwrap().addresses;
    let expected = [
        std::mem::offset_of!(Outer, first),
        std::mem::offset_of!(Outer, matrix),
        std::mem::offset_of!(Outer, flag),
        std::mem::offset_of!(Outer, inner),
        std::mem::offset_of!(Outer, last),
    ];
    assert_eq!(offsets, expected.map(|offset| offset as i64));
    assert_eq!(ty.extent(), size_of::<Outer>() as i64);
    let _ = Outer {
        first: 0,
        matrix: [[0.0; 3]; 2],
        flag: false,
        inner: [const { Inner { a: 0, b: 0 } }; 3],
        last: 0,
    };

    // A field without a place comes behind the one before, wherever that is.
    assert_eq!(
        read("struct{u8@100, f64, u8@0, u16}").contents().unwrap().addresses,
        [100, 104, 0, 2]
    );
    assert_eq!(read("struct{u8@-5, u32}").contents().unwrap().addresses, [-5, -4]);
}

#[test]
fn the_deepest_type_and_the_most_shared_one_are_read_back() {
    let mut deep = basic(Basic::U8);
    while let Ok(deeper) = Type::contiguous(1, &deep) {
        deep = deeper;
    }
    assert_eq!(read(&print(&deep)), deep);

    // A tree of 2⁶⁰ nodes.
    let mut shared = basic(Basic::U8);
    for _ in 0..60 {
        shared = Type::structure(&[1, 0], &[0, 0], &[shared.clone(), shared]).unwrap();
    }
    let text = print(&shared);
    assert!(text.len() < 4000, "{}", text.len());
    assert_eq!(read(&text), shared);
}

#[test]
fn mistakes_are_found_together() {
    let problems =
        refused("let n = u9; let f64 = 3; let m = 1; let m = 2; vectr(m, floaat, [x], k(3))");
    let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "unknown type `u9`",
            "`f64` has a meaning already",
            "`m` is defined twice",
            "unknown constructor `vectr`",
            "unknown type `floaat`",
            "unknown type `x`",
            "unknown constructor `k`",
        ]
    );
    assert_eq!(problems[4].replacement.as_deref(), Some("float"));
    let many = format!("struct{{{}}}", "x9z,".repeat(1000));
    assert_eq!(refused(&many).len(), 20);
    let many = format!("struct{{{}}}", "same: u8,".repeat(1000));
    assert_eq!(refused(&many).len(), 20);
}

#[test]
fn constructors_say_at_which_argument_they_fail() {
    for (text, place, message) in [
        (
            "subarray([4], [5], [0], C, u8)",
            "5",
            "subarray: array_of_subsizes[0] is 5, expected 1 to 4",
        ),
        (
            "indexed([1, 2], [0], u8)",
            "[0]",
            "indexed: array_of_displacements has 1 elements, expected 2 as in the other arrays",
        ),
        ("darray(2, 7, [4], [block], [2], C, u8)", "7", "darray: rank is 7, expected 0 to 1"),
        (
            "value_index([u8; 2], u8)",
            "[u8; 2]",
            "value_index: value_type is contiguous, expected a named integer or floating-point type",
        ),
        ("f90_integer(99)", "99", "f90_integer: r is 99, expected 0 to 38"),
        (
            "f90_real(undefined, undefined)",
            "f90_real(undefined, undefined)",
            "f90_real: p and r are both undefined",
        ),
        (
            "[vector(2, 1, 0x7fffffffffffffff, f64); 2]",
            "vector(2, 1, 0x7fffffffffffffff, f64)",
            "vector: the stride does not fit 64 bits",
        ),
        ("vector(-1, 1, 1, u8)", "-1", "-1 is not from 0 to 18446744073709551615"),
        (
            "resized(u8, 0, 9223372036854775808)",
            "9223372036854775808",
            "9223372036854775808 is not from -9223372036854775808 to 9223372036854775807",
        ),
        (
            "struct{[u8; 0x7fffffffffffffff], u8, f64}",
            "u8",
            "the end of this field does not fit 64 bits",
        ),
    ] {
        let problems = refused(text);
        assert_eq!(problems[0].message, message, "{text}");
        assert_eq!(&text[problems[0].span.clone()], place, "{text}");
    }
}

/// Checks that the time to read a text, or to report its mistakes, grows in proportion to its length.
fn assert_linear(len: usize, text: impl Fn(usize) -> String) {
    let [short, long] = [len / TIMES, len].map(text);
    let read = |text: &str| drop(parse(text));
    linear::assert_linear(&short[..40], || read(&short), || read(&long));
}

#[test]
fn hostile_texts_take_linear_time() {
    for sign in ["(", "[", "-", " "] {
        assert_linear(1 << 16, |len| sign.repeat(len));
    }
    assert_linear(1 << 16, |len| format!("let {0} = u8; {0}x", "a".repeat(len)));
    assert_linear(1 << 15, |len| format!("[u8; 1{}]", "+1".repeat(len)));
    assert_linear(1 << 13, |len| format!("indexed_block(1, [{}], u8)", "1000000,".repeat(len)));
}

#[test]
fn hostile_texts_are_refused() {
    let half = MAX_LENGTH / 2;
    for text in [
        "(".repeat(half),
        "[".repeat(half),
        "struct{".repeat(1000),
        "dup(".repeat(1000),
        "-".repeat(half),
    ] {
        refused(&text);
    }
    let nested = |levels: usize| format!("{}u8{}", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(read(&nested(MAX_NESTING)), basic(Basic::U8));
    let message = &refused(&nested(MAX_NESTING + 1))[0].message;
    assert_eq!(message, "brackets nest deeper than 128 levels");

    let sum = format!("[u8; 1{}]", "+1".repeat(100_000));
    assert_eq!(read(&sum).size(), 100_001);
    let product = format!("[u8; 2{}]", "*2".repeat(1000));
    assert_eq!(refused(&product)[0].message, "the result does not fit 128 bits");
    refused(&format!("let {0} = u8; {0}x", "a".repeat(half / 2)));
    refused(&" ".repeat(MAX_LENGTH + 1));

    // Names for names: 2⁶⁴ elements, and a description that grows as fast.
    let lets: Vec<String> =
        (0..64).map(|i| format!("let t{} = struct{{t{i}, t{i}}};", i + 1)).collect();
    let lets = lets.concat();
    let problems = refused(&format!("let t0 = struct{{u8@0, u8@2}}; {lets} t64"));
    assert!(problems[0].message.contains("entries"), "{problems:?}");
    let long = format!("indexed_block(1, [{}], u8)", "1000000,".repeat(200_000));
    assert_eq!(read(&long).size(), 200_000);
}
