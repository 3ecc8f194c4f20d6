//! Mistakes in declarations: what the message says and what it points at.

use dtype_cli::declaration::Language;

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
            ("struct P { |Zebra| x; };", "unknown type `Zebra`", "typedef"),
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
            ("struct P { int x; }; struct |P| { char y; };", "`struct P` is declared twice", "#if"),
            (
                "struct P { alignas(|3|) int x; };",
                "an alignment is a power of two, at most 2^28",
                "",
            ),
            ("||int x;", "expected a struct, found none", "struct P { … };"),
            (
                "struct A { int x; }; struct |B| { int x; };",
                "the text declares several structs",
                "@FILE:A",
            ),
        ],
    );
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
            ("#[repr(C)] struct |P| { p: P }", "`P` contains itself", ""),
            ("#[repr(C)] struct P|<|T> { x: T }", "`P` has parameters", ""),
            ("#[repr(C)] struct P { x: f64, |x|: u8 }", "two fields are called `x`", ""),
            ("#[repr(C)] struct P { |x f64| }", "expected `name: type`", "x: f64"),
            ("#[repr(D)] struct P { |x| f64 }", "expected `name: type`", ""),
            ("#[repr(|D|)] struct P { x: f64 }", "unknown representation `D`", "packed"),
            (
                "#[repr(C, |packed(3)|)] struct P { x: f64 }",
                "an alignment is a power of two, at most 2^28",
                "",
            ),
            ("||fn f() {}", "expected a struct, found none", "#[repr(C)]"),
        ]
        .map(|(text, message, help)| (text.replace("|x| f64", "|x f64|"), message, help))
        .each_ref()
        .map(|(text, message, help)| (text.as_str(), *message, *help)),
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
                "#[repr(C)] #[dtype(|resize(lb = 0, extent = 64)|)] struct P { x: f64 }",
                "the attribute `resize` is not read",
                "resized(type, lb, extent)",
            ),
            (
                "#[repr(C)] #[dtype(name = \"Q\", |ub = 64|)] struct P { x: f64 }",
                "the attribute `ub` is not read",
                "",
            ),
            (
                "#[repr(C)] struct P { x: f64, #[dtype(|with = skip::X|)] y: u8 }",
                "the attribute `with` is not read",
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
            ("[('x', 'f8')|;|]", "expected `,` or `]`, found `;`", ""),
            ("np.dtype('f8') |x|", "expected the end, found `x`", ""),
        ],
    );
}
