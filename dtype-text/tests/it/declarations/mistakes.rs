//! Mistakes in declarations: what the message says and what it points at.

use dtype_text::declaration::{Language, parse};
use dtype_text::problem::Problem;

use super::refused;

/// Each text has its first mistake at the text between two bars.
fn check(language: Language, cases: &[(&str, &str, &str)]) {
    for (marked, message, help) in cases {
        let parts: Vec<&str> = marked.split('|').collect();
        let [before, wrong, after] = *parts else { panic!("{marked}") };
        let text = [before, wrong, after].concat();
        let problems = refused(&text, language);
        let first = &problems[0];
        assert_eq!(first.message, *message, "{text}");
        assert_eq!(first.span, before.len()..before.len() + wrong.len(), "{text}: {first:?}");
        let found = first.help.clone().unwrap_or_default();
        assert!(found.contains(help), "{text}: {found}");
    }
}

#[test]
fn in_c() {
    check(
        Language::C,
        &[
            ("struct P { struct P |*| next; };", "field `next` is a pointer", "uintptr_t"),
            ("struct P { int (|*|f)(int); };", "field `f` is a function pointer", ""),
            ("struct P { int x |: 3|; };", "field `x` is a bit-field", "whole bytes"),
            ("struct P { |union { int a; float b; }| u; };", "field `u` is a union", "_pad"),
            (
                "struct P { int n; double x|[]|; };",
                "field `x` is an array without a length",
                "fixed size",
            ),
            ("struct P { |void| x; };", "field `x` is of type `void`", ""),
            ("struct P { |unsinged| x; };", "unknown type `unsinged`", "`unsigned`"),
            ("struct P { |uint_32t| x; };", "unknown type `uint_32t`", "`uint32_t`"),
            ("struct Q { int x; }; struct P { |Q| x; };", "unknown type `Q`", "`struct Q`"),
            ("struct P { struct |Q| x; };", "`struct Q` is not declared", "before"),
            (
                "struct P { double[3] |x|; };",
                "expected the name of a field, found `x`",
                "double x[3]",
            ),
            ("struct P { int x[|N|]; };", "the value of `N` is unknown", "#define N"),
            ("struct P { int x[|-1|]; };", "the length of an array is from 0 to 2^64 - 1", ""),
            ("struct P { int x; char |x|; };", "two fields are called `x`", ""),
            ("struct P { int x|}|;", "expected `;` or `,`, found `}`", ""),
            (
                "struct P { int x; struct P { int y; }||",
                "expected the name of a field, found the end",
                "",
            ),
            ("struct P { |unsigned float| x; };", "these words form no type", "unsigned long long"),
            (
                "struct P { int x; }; struct |P| { char y; };",
                "`struct P` is declared twice",
                "cc -g",
            ),
            (
                "struct P { alignas(|3|) int x; };",
                "an alignment is a power of two, at most 2^28",
                "",
            ),
            ("||int x;", "expected a struct, found none", "struct P { … };"),
            ("struct __attribute__((aligned(8)) |P| { int x; };", "expected `)`, found `P`", ""),
            ("typedef int T |x|; struct P { T t; };", "expected `;` or `,`, found `x`", ""),
            (
                "struct A { int x; }; struct |B| { int x; };",
                "the text declares several structs",
                "@FILE:A",
            ),
        ],
    );
}

/// After a mistake inside an enum, what follows the enum is read on.
#[test]
fn in_an_enum_of_c() {
    check(
        Language::C,
        &[
            (
                "enum E { A = 1 |FOO| }; struct P { enum E e; };",
                "expected `,` or `}`, found `FOO`",
                "",
            ),
            (
                "struct P { char c; enum { A __attribute__((|}| e; };\nstruct Q { struct P p; };",
                "expected `)`, found `}`",
                "",
            ),
        ],
    );
}

/// What has no layout without a compiler: the help is the command that asks it.
#[test]
fn what_a_compiler_reads() {
    let line =
        "cc -g -c -x c -fno-eliminate-unused-debug-types FILE.h -o FILE.o && dtype FILE.o:NAME";
    check(
        Language::C,
        &[
            ("|#ifdef X|\n#endif\nstruct P { int x; };", "conditions are not evaluated", line),
            (
                "struct P { char c;\n|#if 1|\nint x;\n#endif\n};",
                "conditions are not evaluated",
                line,
            ),
            (
                "#define REAL double\nstruct P { |REAL| x; };",
                "expected the name of a field, found the macro `REAL`",
                line,
            ),
            (
                "#define A(n) __attribute__((aligned(n)))\nstruct P { int x; } |A|(16);",
                "`A` may be a macro for an attribute",
                line,
            ),
            ("struct P { |Zebra| x; };", "unknown type `Zebra`", line),
            ("struct P { int x |__ALIGN|; };", "expected `;` or `,`, found `__ALIGN`", line),
            (
                "struct P { float x __attribute__((|vector_size|(16))); };",
                "the attribute `vector_size` is not supported",
                line,
            ),
            (
                "struct P { int x; } __attribute__((|scalar_storage_order|(\"big-endian\")));",
                "the attribute `scalar_storage_order` is not supported",
                line,
            ),
            (
                "|#pragma pack(3)|\nstruct P { int x; };",
                "this `#pragma pack` is not supported",
                line,
            ),
            (
                "struct B |:| public A { int b; };",
                "expected `{` after the name of a struct, found `:`",
                line,
            ),
            (
                "struct PACKED |P| { int x; };",
                "expected `{` after the name of a struct, found `P`",
                line,
            ),
            ("|class| P { int x; };", "`class` is C++", "c++ -g -c -x c++ "),
            ("struct P { |public|: int x; };", "`public` is C++", "c++ -g"),
            ("|template| <typename T> struct P { T x; };", "`template` is C++", "c++ -g"),
            (
                "struct P { int x[1 |?| 2 : 3]; };",
                "conditional expressions are not evaluated",
                line,
            ),
            ("struct P { int x[|2147483647 + 1|]; };", "the value of this is unknown", line),
            ("struct P { int x[|1 / 0|]; };", "the value of this is unknown", line),
            ("struct P { int x[|1 - 2u|]; };", "the value of this is unknown", line),
            ("struct P { int x[|-|1u]; };", "expected a number, found `-`", line),
            (
                "enum E { A = 1, |B| = 0x80000000 }; struct P { enum E e; };",
                "the integer of this enum is unknown",
                line,
            ),
            ("struct P { int x[3 |>| 2]; };", "the operator `>` is not evaluated", line),
            ("struct P { int x[|sizeof|(int)]; };", "the value of `sizeof` is unknown", line),
            ("struct P { alignas(|double|) int x; };", "this alignment is not supported", line),
            (
                "struct P { alignas(16) int |x __attribute__((aligned(8)))|; };",
                "two alignments of one type",
                line,
            ),
            (
                "enum |E| { A } __attribute__((packed)); struct P { enum E e; };",
                "the integer of this enum is unknown",
                line,
            ),
            ("struct P { _Atomic int |x|; };", "expected `;` or `,`, found `x`", line),
        ],
    );
    // What is not needed is passed over.
    for unused in [
        "enum { A = B | C };",
        "struct Q { int x[1 / 0]; };",
        "typedef int T[N][sizeof(struct R)];",
        "BEGIN_DECLS",
        "DECLARE(x);",
        "#define F(x) ((x) + 1)",
        "extern int f(int); static inline int g(void) { return 1; }",
        "template <typename T> struct Q { T x; };",
        "extern \"C\" {",
    ] {
        let text = format!("{unused}\nstruct P {{ int x; }};");
        let parsed = parse(&text, Language::C, Some("P"));
        assert_eq!(parsed.map(|parsed| parsed.ty.size()), Ok(4), "{text}");
    }
    let guarded = "/* P */\n#ifndef P_H\n#define P_H\n#include <stdint.h>\nstruct P { int32_t x; };\n#endif // P_H\n";
    assert_eq!(parse(guarded, Language::C, None).map(|parsed| parsed.ty.size()), Ok(4));
}

#[test]
fn in_rust() {
    check(
        Language::Rust,
        &[
            ("struct |P| { x: f64 }", "the fields of `P` have no fixed places", "#[repr(C)]"),
            ("#[repr(C)] struct P { x: |&'static f64| }", "field `x` is a reference", ""),
            ("#[repr(C)] struct P { x: |*const f64| }", "field `x` is a pointer", "usize"),
            (
                "#[repr(C)] struct P { x: |Vec<f64>| }",
                "field `x` is a `Vec`, whose elements are elsewhere in memory",
                "array",
            ),
            (
                "#[repr(C)] struct P { x: |std::string::String| }",
                "field `x` is a string, whose bytes are elsewhere in memory",
                "[u8; 32]",
            ),
            (
                "#[repr(C)] struct P { x: |Option<u8>| }",
                "field `x` is an enum whose layout is not fixed",
                "bool",
            ),
            (
                "#[repr(C)] struct P { x: |(u8, f64)| }",
                "field `x` is a tuple, whose fields have no fixed places",
                "",
            ),
            (
                "#[repr(C)] struct P { x: |[f64]| }",
                "field `x` is a slice, which has no fixed size",
                "",
            ),
            ("#[repr(C)] struct P { x: [f64; |N|] }", "the value of `N` is unknown", "const N"),
            (
                "#[repr(C)] struct P { x: [f64; |size_of|::<u64>()] }",
                "the value at the path `size_of` is unknown",
                "write the number",
            ),
            (
                "const N: u16 = 300; #[repr(C)] struct P { x: [f64; N |as| u8 as usize] }",
                "this is not a length",
                "",
            ),
            (
                "mod a { const N: usize = 3; } mod b { const |N|: usize = 4; } #[repr(C)] struct P { x: [u8; N] }",
                "`N` is declared twice",
                "",
            ),
            ("#[repr(C)] struct P { x: u8 } struct |P| { y: u8 }", "`P` is declared twice", ""),
            (
                "#[repr(transparent)] struct |P|(f64, f64);",
                "the fields of `P` have no fixed places",
                "",
            ),
            ("#[repr(C)] struct P { x: |f46| }", "unknown type `f46`", "`f64`"),
            (
                "#[repr(C)] struct P { x: Q } struct |Q| { y: u8 }",
                "the fields of `Q` have no fixed places",
                "",
            ),
            (
                "#[repr(C)] struct P { k: K } enum |K| { A }",
                "the size of the enum `K` is not fixed",
                "#[repr(u8)]",
            ),
            (
                "#[repr(C)] struct P { k: K } #[repr(C)] enum K { A = |0xFFFF_FFFF_F|, B }",
                "the values of this enum do not fit C's `int`, so its size is not fixed",
                "#[repr(i64)]",
            ),
            (
                "#[repr(C)] struct P { k: K } #[repr(C)] enum K { A = |0x7FFF_FFFF|, B }",
                "the values of this enum do not fit C's `int`, so its size is not fixed",
                "",
            ),
            (
                "#[repr(C)] struct P { k: K } #[repr(C)] enum K { A = |b'x'|, B }",
                "the value of this variant is unknown",
                "#[repr(i32)]",
            ),
            ("#[repr(C)] struct |P| { p: P }", "`P` contains itself", ""),
            ("#[repr(C)] struct P|<|T> { x: T }", "`P` has parameters", ""),
            ("#[repr(C)] struct P { x: f64, |x|: u8 }", "two fields are called `x`", ""),
            ("#[repr(C)] struct P { x |f64| }", "expected `name: type`", "x: f64"),
            ("#[repr(|D|)] struct P { x: f64 }", "unknown representation `D`", "packed"),
            (
                "#[repr(C, |packed(3)|)] struct P { x: f64 }",
                "an alignment is a power of two, at most 2^28",
                "",
            ),
            ("||fn f() {}", "expected a struct, found none", "#[repr(C)]"),
        ],
    );
}

/// Attributes on which the layout depends and that are not read.
#[test]
fn in_attributes_of_rust() {
    check(
        Language::Rust,
        &[
            (
                "#[repr(C)] struct P { x: f64, #|[cfg(any())]| y: f64 }",
                "conditions of compilation are not evaluated",
                "both",
            ),
            (
                "#|[cfg(unix)]| mod m { #[repr(C)] struct P { x: f64 } }",
                "conditions of compilation are not evaluated",
                "",
            ),
            (
                "#|[cfg_attr(all(), repr(packed))]| #[repr(C)] struct P { x: f64 }",
                "conditions of compilation are not evaluated",
                "without the condition",
            ),
            (
                "#[repr(C)] #[dtype(|resize|(lb = 0, extent = 64))] struct P { x: f64 }",
                "the attribute `resize` is not supported",
                "resized(type, lb, extent)",
            ),
            (
                "#[repr(C)] #[dtype(name = \"Q\", |ub| = 64)] struct P { x: f64 }",
                "the attribute `ub` is not supported",
                "",
            ),
            ("#[repr(C |u8|, packed(2))] struct P { a: u8, b: f64 }", "expected `,`", ""),
            (
                "#[repr(C, |align(3)|)] struct P { a: u8 }",
                "an alignment is a power of two, at most 2^28",
                "",
            ),
            ("#[repr(|simd|)] struct P { a: u8 }", "unknown representation `simd`", "`align(n)`"),
            (
                "#[repr(C)] struct P { #[dtype(|skpi|)] x: f64 }",
                "unknown word `skpi`; on a field, the words are `default`, `lb`, `rename = \"name\"`, `skip`, `ub`, `with = \
                 path::to::Description`",
                "",
            ),
            (
                "#[repr(C)] #[dtype(|skip|)] struct P { x: f64 }",
                "`skip` belongs on a field, not on a struct",
                "",
            ),
            (
                "#[repr(u8)] enum E { #[dtype(|tag| = 3)] A } #[repr(C)] struct P { e: E }",
                "unknown word `tag`; on a variant, the only word is `rename = \"name\"`",
                "",
            ),
            (
                "#[repr(C)] struct P { x: f64, #[dtype(with = |skip::X|)] y: u8 }",
                "the attribute `with` is not supported",
                "another type",
            ),
        ],
    );
}

#[cfg(target_endian = "little")]
#[test]
fn in_numpy() {
    check(
        Language::Numpy,
        &[
            (
                "[('x', |'>f8'|)]",
                "`>f8` has the bytes of its values in the other order",
                "--representation big",
            ),
            ("[('x', |'O'|)]", "a Python object is a pointer", ""),
            ("[('x', |'f3'|)]", "unknown format `f3`", "<f8"),
            ("[('x', |'flaot64'|)]", "unknown format `flaot64`", "float64"),
            ("[('x', |'M8[bogus]'|)]", "unknown format `M8[bogus]`", ""),
            ("|'?1'|", "unknown format `?1`", ""),
            ("|'(2)f8'|", "unknown format `(2)f8`", ""),
            ("|'i1,,f4'|", "expected a format before each comma", ""),
            ("[('x', 'S', |(10,)|)]", "an array of text or raw bytes without a length", "`S10`"),
            ("[('x', ('f8', 0), |3|)]", "an array whose elements are arrays without bytes", ""),
            (
                "np.dtype({'names': ['a', 'b'], 'formats': ['u1', 'f8'], 'offsets': [0, |4|]}, align=True)",
                "the offset is 4, expected a multiple of 8",
                "align",
            ),
            (
                "np.dtype({'names': ['a', 'b'], 'formats': ['u1', 'f8'], 'itemsize': |17|}, align=True)",
                "the item size is 17, expected a multiple of 8",
                "",
            ),
            ("np.dtype('f8', order=|1|)", "`np.dtype` has no argument `order`", ""),
            ("np.dtype('f8', align=|'yes'|)", "expected `True` or `False`, found a string", ""),
            ("[('f1', 'f8'), (|''|, 'u1')]", "two fields are called `f1`", ""),
            ("[('x', 'f8'), (|'x'|, 'i4')]", "two fields are called `x`", ""),
            ("[('x', 'f8', (|-1|,))]", "-1 is not from 0 to 9223372036854775807", ""),
            ("[|('x',)|]", "expected a name, a format and perhaps a shape, found a tuple", ""),
            (
                "{'names': ['x'], 'formats': |[]|}",
                "expected 1 items, as many as there are names, found 0",
                "",
            ),
            (
                "{'names': ['x'], 'formats': ['f8'], 'itemsize': |4|}",
                "the item size is 4, but the fields take 8 bytes",
                "",
            ),
            ("('u4', |[('r', 'u1')]|)", "the base has 4 bytes, but the fields take 1", ""),
            ("('f8', |'f4'|)", "the base has 8 bytes, but the fields take 4", ""),
            ("(|'O'|, [('r', 'u8')])", "a Python object is a pointer", ""),
            ("dict('x', |'y'|)", "expected one argument of `dict`, found a string", ""),
            ("dict([|'x'|])", "expected a key and a value, found a string", ""),
            ("[('x', 'f8')|;|]", "expected `,` or `]`, found `;`", ""),
            ("np.dtype('f8') |x|", "expected the end, found `x`", ""),
        ],
    );
}

/// What is chosen by its name: a mistake points at the name, and a list has only names.
#[test]
fn in_what_is_chosen() {
    let first = |text: &str, name: &str| {
        let problems = parse(text, Language::C, Some(name)).unwrap_err();
        let Problem { message, span, help, .. } = problems[0].clone();
        (message, text[span].to_owned(), help.unwrap_or_default())
    };
    let text = "struct Q { struct { int x; } q; }; typedef union { int x; } U; union V { int x; };";
    for name in ["U", "V"] {
        let (message, at, _) = first(text, name);
        assert_eq!((message, at.as_str()), (format!("`{name}` is a union"), name));
    }
    assert_eq!(first(text, "Zebra").2, "the text declares `Q`");
    assert_eq!(first("struct { int x; } q;", "Zebra").2, "the text declares none with a name");
    // What was passed over may have declared it.
    let (message, at, _) =
        first("struct Q { int x; };\nstruct __attribute__((packed) P { int x; };", "P");
    assert_eq!((message.as_str(), at.as_str()), ("expected `)`, found `P`", "P"));
}
