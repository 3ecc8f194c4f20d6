//! Declarations in C, Rust and NumPy: read, written, read back, and held against the compilers.

mod compilers;
mod hostile;
mod mistakes;

use dtype_runtime::basic::Kind;
use dtype_runtime::{Basic, Type};
use dtype_test_support::model;
use dtype_text::declaration::{Language, c_struct, parse, recognize, rust_struct};
use dtype_text::notation::{self, Parsed};
use dtype_text::problem::Problem;
use proptest::prelude::*;

/// The meaning of a text.
#[track_caller]
fn read(text: &str, language: Language) -> Parsed {
    parse(text, language, None).unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"))
}

/// The meaning of a text in the language that it is recognized as.
#[track_caller]
fn meaning(text: &str) -> Type {
    read(text, recognize(text)).ty
}

/// The mistakes of a text, which lie in it.
#[track_caller]
fn refused(text: &str, language: Language) -> Vec<Problem> {
    let problems = parse(text, language, None).expect_err(text);
    assert!(!problems.is_empty(), "{text}");
    for problem in &problems {
        assert!(text.get(problem.span.clone()).is_some(), "{problem:?} in {text}");
    }
    problems
}

/// The basic datatypes of an instance with their displacements, in the order of packing, and its bounds.
fn map(ty: &Type) -> (Vec<(Basic, i64)>, i64, i64) {
    let entries = ty.type_map().map(|entry| (entry.basic, entry.displacement)).collect();
    (entries, ty.lb(), ty.extent())
}

/// Fields by name and displacement.
fn fields(parsed: &Parsed) -> Vec<String> {
    parsed.fields.of(&parsed.ty).unwrap_or(&[]).iter().map(|name| name.clone().unwrap()).collect()
}

#[test]
fn a_struct_in_four_languages() {
    let c = "struct P { double x[3]; int32_t id; };";
    let rust = "#[repr(C)] pub struct P { x: [f64; 3], id: i32 }";
    let numpy = "np.dtype([('x', 'f8', (3,)), ('id', 'i4')], align=True)";
    let notation = "struct{x: [f64; 3], id: i32}";
    let expected = map(&meaning(notation));
    for text in [c, rust, numpy] {
        let parsed = read(text, recognize(text));
        assert_eq!(map(&parsed.ty), expected, "{text}");
        assert_eq!(fields(&parsed), ["x", "id"]);
    }
    assert_eq!(meaning("<f8"), meaning("f64"));
    for text in [c, rust, numpy, notation] {
        let marked = format!("\u{feff}{text}");
        assert_eq!(map(&meaning(&marked)), expected, "a mark for the byte order before {text}");
    }
}

/// The notation of each declaration.
#[test]
fn types_of_c() {
    for (text, expected) in [
        (
            "struct P { char c; signed char s; unsigned char u; };",
            "struct{c_char, c_schar, c_uchar}",
        ),
        (
            "struct P { long unsigned int a; long long b; short unsigned c; };",
            "struct{unsigned long, long long, unsigned short}",
        ),
        (
            "struct P { _Bool a; float _Complex z; double complex w; long double l; };",
            "struct{bool, c32, c64, long double}",
        ),
        ("struct P { int a[2][3], b, c[1]; };", "struct{[[int; 3]; 2], int, [int; 1]}"),
        (
            "typedef double vec3[3]; typedef struct Q { vec3 x[2]; } Q; struct P { Q q; struct Q r[2]; };",
            "struct{struct{[[f64; 3]; 2]}, [struct{[[f64; 3]; 2]}; 2]}",
        ),
        ("struct P { struct { char a; int b; } in[2]; };", "struct{[struct{c_char, int}; 2]}"),
        (
            "struct P { char a; struct { char b; double c; }; };",
            "resized(struct{c_char@0, c_char@8, f64@16}, 0, 24)",
        ),
        (
            "struct __attribute__((packed)) P { char a; double b; };",
            "resized(struct{c_char, f64@1}, 0, 9)",
        ),
        (
            "struct P { char a; double b; } __attribute__((__packed__, aligned(4)));",
            "resized(struct{c_char, f64@1}, 0, 12)",
        ),
        (
            "#pragma pack(push, 2)\nstruct P { char a; double b; };\n#pragma pack(pop)",
            "resized(struct{c_char, f64@2}, 0, 10)",
        ),
        ("struct P { char a; alignas(16) int b; };", "resized(struct{c_char, int@16}, 0, 32)"),
        (
            "struct P { char a; int b __attribute__((packed)); };",
            "resized(struct{c_char, int@1}, 0, 5)",
        ),
        (
            "#define N 4\nenum { M = N * 2 + 1 };\nstruct P { int x[N][M - 1]; };",
            "struct{[[int; 8]; 4]}",
        ),
        (
            "enum kind { A, B }; struct P { enum kind k; enum { C } l[C + 2]; };",
            "struct{int, [int; 2]}",
        ),
        ("enum E { A = -0x7fffffff, B = 2147483647 }; struct P { enum E e; };", "struct{int}"),
        ("#define N 3\r\nstruct P { int x[N]; };\r\n", "struct{[int; 3]}"),
        ("struct P { const volatile uint8_t *const restrict; };", "ERROR"),
        ("struct P { int a; char _pad[4]; int b; };", "struct{int, int@8}"),
        ("struct P { int x[(1 << 4 | 3) / 2 % 5]; };", "struct{[int; 4]}"),
        ("struct P { uint32_t a, /* two */ b; // c\n };", "struct{u32, u32}"),
        (
            "int f(void) { return 1; }\nstatic const struct P { int x; } p = { 1 };\nextern \"C\" { int g(int); }",
            "struct{int}",
        ),
        (
            "struct P { int x; }; struct P f(struct P *p); static_assert(sizeof(struct P) == 4, \"\");",
            "struct{int}",
        ),
        (
            "typedef struct node *link; typedef int (*call)(int); struct P { int x; };",
            "struct{int}",
        ),
        ("struct P { int a[0]; char b; };", "resized(struct{[int; 0], c_char@0}, 0, 4)"),
    ] {
        if expected == "ERROR" {
            refused(text, Language::C);
            continue;
        }
        let expected = notation::parse(expected).unwrap().ty;
        assert_eq!(map(&read(text, Language::C).ty), map(&expected), "{text}");
    }
}

#[test]
fn types_of_rust() {
    for (text, expected) in [
        ("#[repr(C)] struct P(pub u8, pub(crate) f64);", "struct{u8, f64}"),
        ("#[repr(C, packed)] struct P { a: u8, b: f64 }", "resized(struct{u8, f64@1}, 0, 9)"),
        ("#[repr(C, packed(2))] struct P { a: u8, b: f64 }", "resized(struct{u8, f64@2}, 0, 10)"),
        ("#[repr(C, align(32))] #[derive(Debug)] struct P { a: u8 }", "resized(u8, 0, 32)"),
        (
            "const N: usize = 2 * M; const M: usize = 3; #[repr(C)] struct P { a: [[u8; N]; M + 1] }",
            "struct{[[u8; 6]; 4]}",
        ),
        (
            "type Real = f64; #[repr(C)] struct P { a: u8, /// the real one\n x: Real }",
            "struct{u8, f64}",
        ),
        (
            "mod m { #[repr(C)] pub struct Q { x: u16 } } #[repr(C)] struct P { a: u8, q: [m::Q; 2] }",
            "struct{u8, [struct{u16}; 2]}",
        ),
        (
            "#[repr(u8)] enum Kind { A = 1, B } #[repr(C)] struct P { kind: crate::Kind }",
            "struct{u8}",
        ),
        (
            "#[repr(C)] struct P { z: num_complex::Complex<f32>, c: std::ffi::c_char, p: PhantomData<Vec<u8>>, u: () }",
            "struct{c32, c_char}",
        ),
        (
            "const N: isize = 3; #[repr(C)] enum K { A = -5, B, C = 2 * N + 1 } #[repr(C)] struct P { k: K }",
            "struct{int}",
        ),
        ("#[repr(transparent)] struct P(f64);", "f64"),
        ("#[repr(transparent)] struct P(PhantomData<u8>, f64, ());", "f64"),
        ("#[repr(C, packed(0x2))] struct P { a: u8, b: f64 }", "resized(struct{u8, f64@2}, 0, 10)"),
        (
            "const N: u8 = 3; #[repr(C)] struct P { a: [u8; crate::N as usize], b: [u8; self::N as u16] }",
            "struct{[u8; 3], [u8; 3]}",
        ),
        (
            "#[repr(C)] struct P { a: u8 } #[cfg(test)] mod tests { struct P { b: u16 } } #[cfg(test)] struct P(f64);",
            "struct{u8}",
        ),
        (
            "mod a { const N: usize = 3; } mod b { const N: usize = 4; } #[repr(C)] struct P { a: u8 }",
            "struct{u8}",
        ),
        (
            "#[cfg(unix)] type T = u8; #[cfg(windows)] type T = u16; #[cfg_attr(test, derive(Debug))] #[repr(C)] struct P { a: u8 }",
            "struct{u8}",
        ),
        (
            "#[repr(C)] struct P { a: u8, _pad: [u8; 3], b: u8, #[dtype(skip)] c: u16 }",
            "resized(struct{u8, u8@4}, 0, 8)",
        ),
        (
            "#[repr(C)] struct P { r#type: char, w: Wrapping<u16> } impl P { fn f<'a>(&'a self) -> char { '{' } }",
            "struct{char, u16}",
        ),
        (
            "#[repr(C)] struct P { x: f64 } macro_rules! m { () => {} } use std::{fmt, io}; static S: [u8; 2] = [0; 2];",
            "struct{f64}",
        ),
    ] {
        let expected = notation::parse(expected).unwrap().ty;
        assert_eq!(map(&read(text, Language::Rust).ty), map(&expected), "{text}");
    }
    let raw = read("#[repr(C)] struct P { r#type: u8 }", Language::Rust);
    assert_eq!(fields(&raw), ["type"]);
}

#[cfg(target_endian = "little")]
#[test]
fn dtypes() {
    for (text, expected) in [
        ("[('x', '<f8', (3,)), ('id', '<i4')]", "resized(struct{[f64; 3]@0, i32@24}, 0, 28)"),
        ("[('a', 'u1'), ('b', '<f8')]", "resized(struct{u8, f64@1}, 0, 9)"),
        (
            "np.dtype({'names': ['a', 'b'], 'formats': ['u1', ('<f8', (2, 2))], 'offsets': [8, 16], 'itemsize': 64})",
            "resized(struct{u8@8, [[f64; 2]; 2]@16}, 0, 64)",
        ),
        ("{'a': ('u1', 3), 'b': ('<u2', 0)}", "resized(struct{u16@0, u8@3}, 0, 4)"),
        ("'i1, 2f4'", "resized(struct{i8, [f32; 2]@1}, 0, 9)"),
        (
            "[('a', [('b', 'u1'), ('c', '<u2')], 2)]",
            "struct{[resized(struct{u8, u16@1}, 0, 3); 2]}",
        ),
        (
            "[('a', 'u1'), ('', 'V3'), ('b', 'S4'), (('title', 'c'), np.float32)]",
            "resized(struct{u8, [c_char; 4]@4, f32@8}, 0, 12)",
        ),
        ("numpy.dtype([('a', '?'), ('b', complex)], True)", "struct{bool, c64}"),
        // A number as the shape of text without a length is the length.
        (
            "[('a', 'S', 10), ('b', 'U', 3), ('c', 'V', 3), ('d', np.void, 2), ('e', ('S', 2), (2,))]",
            "resized(struct{[c_char; 10], [char; 3]@10, [byte; 3]@22, [byte; 2]@25, [[c_char; 2]; 2]@27}, 0, 31)",
        ),
        ("('V', 10)", "[byte; 10]"),
        (
            "'3S,(2,3)i2,<(2,)f4'",
            "resized(struct{[c_char; 3], [[i16; 3]; 2]@3, [f32; 2]@15}, 0, 23)",
        ),
        ("[(u'x', u'f4'), (U'y', 'str', 1)]", "struct{f32, char}"),
        (
            "np.dtype(dtype=dict(names=['a', 'b'], formats=['u1', 'f8']), align=1)",
            "struct{u8, f64}",
        ),
        // The key `aligned` has a meaning, and `align` has none.
        (
            "{'names': ['a', 'b'], 'formats': ['u1', 'f8'], 'align': True}",
            "resized(struct{u8, f64@1}, 0, 9)",
        ),
        ("{'names': ['a', 'b'], 'formats': ['u1', 'f8'], 'aligned': True}", "struct{u8, f64}"),
        ("np.dtype([('t', 'M8[25s]'), ('d', 'timedelta64[D]')])", "struct{i64, i64}"),
        // The dtype of a record array, as NumPy prints it.
        (
            "dtype((numpy.record, [('a', 'i1'), ('b', '<f8')]), align=True)",
            "resized(struct{i8, f64@1}, 0, 9)",
        ),
        ("np.dtype((np.void, {'names': ['a'], 'formats': ['i1']}))", "struct{i8}"),
        ("(numpy.record, [('a', 'i1')])", "struct{i8}"),
        // What `descr` says of an aligned dtype: padding has no name.
        (
            "[('f0', '|i1'), ('', '|V3'), ('f1', '<i4'), ('f2', '|i1'), ('', '|V3')]",
            "resized(struct{i8, i32@4, i8@8}, 0, 12)",
        ),
        (
            "[('f1', 'u1'), ('', 'V', 1), ('f2', '<u2'), ('', 'V4', (1,))]",
            "resized(struct{u8, u16@2}, 0, 8)",
        ),
        ("[('a', [('f0', 'u1'), ('', 'V1'), ('f1', '<u2')], (2,))]", "[struct{u8, u16}; 2]"),
        // A base with fields has their layout.
        (
            "np.dtype(('u4', [('r', 'u1'), ('g', 'u1'), ('b', 'u1'), ('a', 'u1')]))",
            "struct{u8, u8, u8, u8}",
        ),
        ("('u4', [('r', 'u2'), ('g', 'u2')])", "struct{u16, u16}"),
        ("dtype((numpy.int32, {'real': ('i2', 0), 'imag': ('i2', 2)}))", "struct{i16, i16}"),
        ("(np.int32, 'u1,u1,u1,u1')", "struct{u8, u8, u8, u8}"),
        ("[('rgba', ('u4', [('r', 'u2'), ('g', 'u2')]), (2,))]", "[struct{u16, u16}; 2]"),
        ("('u4', dict(names=['x'], formats=['<f4']))", "struct{f32}"),
        ("('V5', [('x', '<f4'), ('y', 'u1')])", "resized(struct{f32, u8}, 0, 5)"),
        ("('S', [('x', 'u1'), ('y', 'u1', 3)])", "struct{u8, [u8; 3]}"),
        // Without fields, the base is what counts.
        ("(np.int32, (np.int8, 4))", "i32"),
        ("(np.void, 'f4')", "[byte; 4]"),
        ("dict(names=['x'], formats=['<f8'])", "struct{f64}"),
        (
            "dict(names=['a', 'b'], formats=['u1', 'f8'], offsets=[0, 8], itemsize=24)",
            "resized(struct{u8, f64}, 0, 24)",
        ),
        ("dict([('names', ['x']), ('formats', ['<f8'])])", "struct{f64}"),
        ("dict({'x': ('f4', 4)}, y=('f4', 0))", "struct{f32, f32}"),
    ] {
        let expected = notation::parse(expected).unwrap().ty;
        let found = read(text, Language::Numpy).ty;
        assert_eq!(map(&found), map(&expected), "{text}");
    }
    // What is not a list of names and formats is recognized, too.
    for text in [
        "dict(names=['x'], formats=['<f8'])",
        "dict( x = ('f8', 0) )",
        "(np.int32, [('x', 'u2'), ('y', 'u2')])",
        "(numpy.record, [('a', 'i1')])",
        "[(u'x', 'f4')]",
        "{u'x': ('f4', 0)}",
        "([('x', 'f4')], (2,))",
        "u'f8'",
    ] {
        assert_eq!(recognize(text), Language::Numpy, "{text}");
        read(text, Language::Numpy);
    }
    for text in ["dict", "(f64)", "[(f64); 3]", "u8", "(u8)"] {
        assert_eq!(recognize(text), Language::Notation, "{text}");
    }
}

/// The `descr` of dtypes, as NumPy itself prints it.
#[cfg(target_endian = "little")]
#[test]
fn numpys_own_descr() {
    let program = "
import numpy as np
for d in [np.dtype('i1,i4,i1', align=True), np.dtype('u1,f8', align=True), np.dtype('u1,(2,)u2,f8,u1', align=True),
          np.dtype([('f1', 'u1'), ('b', [('f0', 'u1'), ('f1', '<f8')], (2,))], align=True),
          np.dtype({'names': ['f1', 'f3'], 'formats': ['u1', '<f8'], 'offsets': [3, 8], 'itemsize': 32})]:
    print(d.itemsize, d.descr, repr(d), sep=';')
";
    let python = std::process::Command::new("/usr/bin/python3").args(["-c", program]).output();
    let Ok(output) = python else { return };
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let [size, descr, repr] = *line.splitn(3, ';').collect::<Vec<_>>() else {
            panic!("{line}")
        };
        let (found, expected) = (read(descr, Language::Numpy), read(repr, Language::Numpy));
        assert_eq!(map(&found.ty), map(&expected.ty), "{line}");
        assert_eq!(found.ty.extent().to_string(), size, "{line}");
    }
}

#[test]
fn one_of_several_structs() {
    let header =
        "struct A { int x; }; typedef struct { struct A a; double y; } B; struct C { char c; };";
    let choose = |name| parse(header, Language::C, name);
    assert_eq!(choose(Some("A")).unwrap().ty.size(), 4);
    assert_eq!(choose(Some("B")).unwrap().ty.size(), 12);
    let problems = choose(None).unwrap_err();
    assert!(problems[0].help.as_ref().unwrap().contains("`B`, `C`"), "{problems:?}");
    assert!(choose(Some("a")).unwrap_err()[0].help.as_ref().unwrap().contains("`A`"));
    assert_eq!(choose(Some("Zebra")).unwrap_err()[0].message, "no struct is called `Zebra`");
    // The name of a typedef, also of one that comes before its struct.
    let header = "typedef struct a_s a_t; struct a_s { char c; int x; }; typedef struct b_s { double x; } b_t[2]; \
                  typedef struct c_s { char c; } c_t;";
    for (name, size) in [("a_t", 8), ("a_s", 8), ("b_t", 16), ("b_s", 8), ("c_t", 1)] {
        assert_eq!(parse(header, Language::C, Some(name)).unwrap().ty.extent(), size, "{name}");
    }
    // A part is not asked for.
    let both = "struct A { int x; }; struct B { struct A a; };";
    assert_eq!(parse(both, Language::C, None).unwrap().fields.of(&meaning(both)), None);
    assert_eq!(fields(&read(both, Language::C)), ["a"]);
    let rust = "#[repr(C)] struct B { a: A } #[repr(C)] struct A { x: u8 }";
    assert_eq!(fields(&read(rust, Language::Rust)), ["a"]);
}

/// Whether an exported type is read back as it is: not those for which a language has only one of the same size.
fn is_exact(basic: Basic, language: Language) -> bool {
    match language {
        Language::C => {
            basic.kind() != Kind::Bytes
                && !matches!(basic.canonical(), Basic::Char | Basic::Bf16 | Basic::Logical)
        }
        _ => {
            basic.kind() != Kind::Bytes
                && !matches!(basic.canonical(), Basic::WideChar | Basic::Logical | Basic::Aint)
        }
    }
}

proptest! {
    #![proptest_config(model::config(300))]

    #[test]
    fn written_structs_are_read_back(tree in model::trees_with_lists(1)) {
        let Ok(ty) = tree.build() else { return Ok(()) };
        let whole = Type::resized(&ty, 0, ty.true_ub().clamp(1, 1 << 20));
        for ty in [Some(ty), whole.ok()].into_iter().flatten() {
            let parsed = Parsed { ty: ty.clone(), fields: notation::FieldNames::default() };
            for (language, text) in
                [(Language::C, c_struct(&parsed)), (Language::Rust, rust_struct(&parsed))]
            {
                let Ok(text) = text else { continue };
                let back = read(&text, language).ty;
                let (found, expected) = (map(&back), map(&ty));
                prop_assert_eq!((found.1, found.2), (expected.1, expected.2), "{}", &text);
                prop_assert_eq!(found.0.len(), expected.0.len());
                for ((basic, at), (wanted, place)) in found.0.into_iter().zip(expected.0) {
                    prop_assert_eq!((basic.size(), at), (wanted.size(), place), "{}", &text);
                    if is_exact(wanted, language) {
                        prop_assert_eq!(basic.canonical(), wanted.canonical(), "{}", &text);
                    }
                }
            }
        }
    }
}

#[test]
fn names_are_written() {
    let text =
        "struct{int: u8, größe: [f64; 2], größe_: u8, _pad: u8, self: struct{x: u16, x_2: u8}, 7}"
            .replace("7}", "u8}");
    let parsed = notation::parse(&text).unwrap();
    let c = c_struct(&parsed).unwrap();
    let back = read(&c, Language::C);
    assert_eq!(map(&back.ty), map(&parsed.ty), "{c}");
    assert_eq!(fields(&back), ["int_", "gr__e", "gr__e_", "pad", "self", "f5"]);
    let rust = rust_struct(&parsed).unwrap();
    let back = read(&rust, Language::Rust);
    assert_eq!(map(&back.ty), map(&parsed.ty), "{rust}");
    assert_eq!(fields(&back), ["int", "größe", "größe_", "_pad", "self", "f5"]);
    // A struct keeps its own name, and one that is used twice is declared once.
    let text = "typedef struct { char c; } Cell; struct Grid { Cell a[2]; Cell b; };";
    let parsed = read(text, Language::C);
    let c = c_struct(&parsed).unwrap();
    assert!(c.contains("struct Cell {\n    char c;\n};"), "{c}");
    assert!(c.contains("struct Grid {\n    struct Cell a[2];\n    struct Cell b;\n};"), "{c}");
}

#[test]
fn types_that_no_struct_has() {
    for (text, expected) in [
        ("struct{u8@8, f64@0}", "packed after"),
        ("struct{u8@0, f64@0}", "packed after"),
        ("struct{f64@8}", "from 8 on"),
        ("resized(f64, 0, 4)", "instances of 4 bytes"),
        ("resized(f64, -8, 16)", "from -8 on"),
        ("struct{}", "no bytes"),
        ("vector(5000, 1, 2, u8)", "more than 4096 fields"),
        ("vector(1000, 1, 2, resized(u8, 0, 0))", "instances of 0 bytes"),
        ("MPI_COMPLEX32", "no type for `complex32`"),
    ] {
        let parsed = match notation::parse(text) {
            Ok(parsed) => parsed,
            Err(problems) => panic!("{problems:#?}\n{text}"),
        };
        let error = c_struct(&parsed).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(rust_struct(&parsed).is_err());
    }
}

/// The members of a struct or a union without a name are not lost when attributes follow its keyword.
#[test]
fn attributes_stand_before_the_body_of_a_struct_without_a_name() {
    for (attribute, expected) in [
        ("__attribute__((packed))", "resized(struct{i8@0, i8@1, i32@2}, 0, 6)"),
        ("__attribute__((aligned(16)))", "resized(struct{i8@0, i8@16, i32@20}, 0, 32)"),
        ("_Alignas(16)", "resized(struct{i8@0, i8@16, i32@20}, 0, 32)"),
    ] {
        let members = "{ int8_t b; int32_t c; }";
        let text = format!("struct S {{ int8_t a; struct {attribute} {members}; }};");
        let expected = notation::parse(expected).unwrap().ty;
        assert_eq!(map(&meaning(&text)), map(&expected), "{attribute}");
        let problems = refused(&text.replace("a; struct", "a; union"), Language::C);
        assert_eq!(problems[0].message, "a field without a name is a union");
    }
}
