//! Mistakes in declarations: what the message says and what it points at.

use dtype_cli::declaration::{Language, parse, recognize};
use dtype_cli::problem::Problem;

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
            (
                if cfg!(target_endian = "big") {
                    "struct P { __be16 x; |__le32| y; };"
                } else {
                    "struct P { __le16 x; |__be32| y; };"
                },
                if cfg!(target_endian = "big") {
                    "`__le32` has the bytes of its values in the other order"
                } else {
                    "`__be32` has the bytes of its values in the other order"
                },
                "uint32_t",
            ),
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
            ("struct __attribute__((aligned(8)) P |{| int x; };", "expected `)`, found `{`", ""),
            ("typedef int T |x|; struct P { T t; };", "expected `;` or `,`, found `x`", ""),
            (
                "typedef int time_t |x|; struct P { time_t t; };",
                "expected `;` or `,`, found `x`",
                "",
            ),
            (
                "typedef int x |time_t|; struct P { time_t t; };",
                "expected `;` or `,`, found `time_t`",
                "",
            ),
            (
                "typedef struct { char c; } |MY| T; struct P { T t; };",
                "`MY` may be a macro for an attribute",
                "packed",
            ),
            (
                "typedef struct Q { char c; } T |MY_PACKED|; struct P { struct Q t; };",
                "`MY_PACKED` may be a macro for an attribute",
                "packed",
            ),
            (
                "struct P { int x; int f|(int a)| const { return x + a; } };",
                "a struct of C has no functions",
                "leave it out",
            ),
            (
                "struct P { |GROUP|(a, int x); };",
                "`GROUP` is neither a type nor a macro of this text",
                "write what it stands for",
            ),
            (
                "struct P { int x |__ALIGN|; };",
                "`__ALIGN` may be a macro for an attribute",
                "packed",
            ),
            (
                "struct A { int x; }; struct |B| { int x; };",
                "the text declares several structs",
                "@FILE:A",
            ),
        ],
    );
}

/// What changes a layout in a way that is not known here is a mistake of the struct: its size would be wrong.
#[test]
fn unknown_layouts_in_c() {
    let vector = "write an array";
    check(
        Language::C,
        &[
            (
                "struct P { float x __attribute__((|vector_size|(16))); };",
                "the attribute `vector_size` changes the layout",
                vector,
            ),
            (
                "typedef float v4 __attribute__((|__vector_size__|(16))); struct P { v4 x; };",
                "the attribute `vector_size` changes the layout",
                vector,
            ),
            (
                "struct P { int x __attribute__((|mode|(DI))); };",
                "the attribute `mode` changes the layout",
                "int64_t",
            ),
            (
                "struct P { int x; } __attribute__((|scalar_storage_order|(\"big-endian\")));",
                "the attribute `scalar_storage_order` changes the layout",
                "--representation",
            ),
            (
                "#pragma scalar_storage_order big-endian\nstruct |P| { int x; };",
                "`#pragma scalar_storage_order` changes the byte order of the fields",
                "--representation",
            ),
            ("struct P |:| B { int x; };", "`P` has base classes", "write their fields out"),
            (
                "struct P { int x; } |PACKED|;",
                "`PACKED` may be a macro for an attribute",
                "__attribute__((packed))",
            ),
            (
                "struct P { int x; } __attribute__((aligned(8))) |PACKED|;",
                "`PACKED` may be a macro for an attribute",
                "",
            ),
            (
                "struct P { int x; } |__aligned|(8);",
                "`__aligned` may be a macro for an attribute",
                "",
            ),
            (
                "struct P { struct { int x; } |PACKED|; };",
                "`PACKED` may be a macro for an attribute",
                "",
            ),
            (
                "struct |PACKED| P { int x; };",
                "`PACKED` is not the name of the struct",
                "__attribute__((packed))",
            ),
            ("struct |ALIGNED|(16) P { int x; };", "`ALIGNED` is not the name of the struct", ""),
            (
                "#define ALIGNED(n) __attribute__((aligned(n)))\nstruct P { int x; } |ALIGNED|(16);",
                "expected `;`, found the macro `ALIGNED`",
                "not expanded",
            ),
            (
                "#define A(n) aligned(n)\nstruct P { int x; } __attribute__((|A|(16)));",
                "expected an attribute, found the macro `A`",
                "not expanded",
            ),
        ],
    );
}

/// What C does not have is said to be C++, with what to write.
#[test]
fn cpp() {
    let value = "an initial value in a struct is C++";
    let function = "a struct of C has no functions";
    check(
        Language::C,
        &[
            ("struct P { double |&| r; };", "field `r` is a reference, which is C++", "uintptr_t"),
            ("struct P { const int |&|&r; };", "field `r` is a reference, which is C++", ""),
            ("struct P { int (|&|r)[3]; };", "field `r` is a reference, which is C++", ""),
            ("struct A { int a; }; struct B |:| public A { int b; };", "`B` has base classes", ""),
            ("struct P { int |P|::*member; };", "the scope `P::` is C++", "integers of C"),
            ("struct P { double x |=| 1.0; };", value, "leave it out"),
            ("struct P { bool x|{|false}; };", value, ""),
            ("struct P { int x[3] |=| {1, 2, 3}, y; };", value, ""),
            ("struct P { int x, y|{|}; };", value, ""),
            ("struct P { int *next |=| nullptr; };", value, ""),
            ("struct P { |public|: int x; };", "`public` is C++", "leave it out"),
            ("struct P { int x; |private|: int y; };", "`private` is C++", ""),
            ("|class| P { int x; };", "`class` is C++", "write `struct`"),
            ("|class| P { int x; }; struct Q { P p; };", "`class` is C++", ""),
            (
                "|namespace| geo { struct P { int x; }; }",
                "`namespace` is C++",
                "out of the namespace",
            ),
            ("|template| <typename T> struct P { T x; };", "`template` is C++", ""),
            ("|using| T = int; struct P { T x; };", "`using` is C++", "typedef"),
            ("struct P { |using| T = int; T x; };", "`using` is C++", "typedef"),
            ("struct P { int x; |P|() : x(0) {} };", function, "leave it out"),
            ("struct P { int x; |P|(int); };", function, ""),
            ("struct P { int x; |~|P(); };", function, ""),
            ("struct P { int x; bool |operator|==(const P &) const; };", function, ""),
            (
                "struct P { int x; int f|()|; };",
                "field `f` is a function, which is C++",
                "leave it out",
            ),
            ("struct P { |explicit| P(int); int x; };", "`explicit` is C++", ""),
            ("struct P { |virtual| int f() = 0; };", "`virtual` is C++", "a pointer to them"),
            ("struct P { |static| int n; int x; };", "`static` in a struct is C++", "leave it out"),
            ("struct P { |static| constexpr int N = 3; };", "`static` in a struct is C++", ""),
            ("struct P { |typedef| int T; T x; };", "`typedef` in a struct is C++", ""),
            ("struct P { |mutable| int x; };", "`mutable` is C++", ""),
            ("struct P |final| { int x; };", "`final` is C++", ""),
            (
                "enum |class| E { A }; struct P { E e; };",
                "`enum class` is C++",
                "leave this word out",
            ),
            ("struct P { |std::vector|<int> x; };", "the template `std::vector` is C++", ""),
            (
                "struct P { |std::array|<int, 3> x; };",
                "the template `std::array` is C++",
                "double x[3]",
            ),
            ("struct P { |V|<int> x; };", "the template `V` is C++", ""),
            ("struct P { |std::string| x; };", "`std::string` is C++", ""),
            ("struct P { |std::byte| x; };", "`std::byte` is C++", "unsigned char"),
            ("struct P { |geo|::Point x; };", "the scope `geo::` is C++", ""),
            ("struct P { |::geo|::Point x; };", "the scope `geo::` is C++", ""),
            ("struct P { int x[|E|::N]; };", "the scope `E::` is C++", "write the number"),
            (
                "constexpr int |N| = 3; struct P { int x[N]; };",
                "`N` is a variable, which is a constant only in C++",
                "#define N",
            ),
            (
                "static const unsigned |N|{3}; struct P { int x[N]; };",
                "`N` is a variable, which is a constant only in C++",
                "#define N",
            ),
            (
                "struct P { [[|no_unique_address|]] int e; };",
                "the attribute `no_unique_address` changes the layout",
                "",
            ),
            ("enum E { A }; struct P { |E| e; };", "unknown type `E`", "`enum E`"),
            ("union U { int x; }; struct P { |U| u; };", "unknown type `U`", "`union U`"),
        ],
    );
    let class = "class P { int x; };";
    assert_eq!(recognize(class), Language::C);
    assert_eq!(recognize("template <class T> struct P { T x; };"), Language::C);
    assert_eq!(recognize("namespace n { struct P { int x; }; }"), Language::C);
    assert_eq!(recognize("struct P : Q { int x; };"), Language::C);
}

/// Names of the standard library for C's types, and names that only C++ has as words.
#[test]
fn cpp_that_is_read() {
    for (text, size) in [
        ("struct P { std::int32_t id; };", 4),
        ("#define ID std::int32_t\nstruct P { ID id; };", 4),
        ("struct P { ::std::uint8_t a[3]; const std::size_t n; };", 16),
        ("struct P { char a[sizeof(std::int16_t)]; alignas(std::int64_t) char b; };", 16),
        ("typedef std::uint64_t T; struct P { T x, y; };", 16),
        ("using namespace std;\nstruct P { int32_t x; };", 4),
        ("class Q; namespace n { struct R { int x; }; }\nstruct P { int x; };", 4),
        ("template <typename T> struct Q { T x; };\nstruct P { int x; };", 4),
        ("template <class T> T f(T x) { return x; }\nstruct P { int x; };", 4),
        ("constexpr int N = 3; static const int M = 4;\nstruct P { int x; };", 4),
        (
            "struct P { int class, public, virtual, template, using, operator, final, mutable; };",
            32,
        ),
        ("typedef char class; struct P { class x; };", 1),
        ("struct P { [[maybe_unused]] int x; };", 4),
    ] {
        let parsed = parse(text, Language::C, Some("P"));
        assert_eq!(parsed.map(|parsed| parsed.ty.extent()), Ok(size), "{text}");
    }
}

/// What depends on a condition is a mistake, and so is a name that declares nothing.
#[test]
fn unsure_layouts_in_c() {
    check(
        Language::C,
        &[
            (
                "struct P { char c;\n|#ifdef X|\nint x;\n#endif\n};",
                "this condition changes a declaration",
                "remove",
            ),
            (
                "struct P { char c;\n#if 0\n|#elif X|\nint x;\n#endif\n};",
                "this condition changes a declaration",
                "",
            ),
            (
                "struct\n|#ifdef X|\n__attribute__((packed))\n#endif\nP { char c; int x; };",
                "this condition changes a declaration",
                "",
            ),
            (
                "struct P { char c; int x; }\n|#ifdef X|\n__attribute__((packed))\n#endif\n;",
                "this condition changes a declaration",
                "",
            ),
            (
                "enum E { A }\n|#ifdef X|\n__attribute__((packed))\n#endif\n; struct P { enum E e; };",
                "this condition changes a declaration",
                "",
            ),
            (
                "#ifdef X\n#define REAL double\n#endif\nstruct P { |REAL| x; };",
                "expected a type, found the macro `REAL`",
                "#if",
            ),
            (
                "enum E { A } |PACKED|; struct P { enum E e; };",
                "`PACKED` may be a macro for an attribute",
                "",
            ),
            (
                "struct Q { int x; } |PACKED|; struct P { struct Q q; };",
                "`PACKED` may be a macro for an attribute",
                "",
            ),
            (
                "typedef\n|#if X|\nlong\n#else\nint\n#endif\nT; struct P { T x; };",
                "this condition changes a declaration",
                "",
            ),
            (
                "#ifdef X\ntypedef long T;\n#else\ntypedef int |T|;\n#endif\nstruct P { T x; };",
                "`T` is declared twice",
                "#if",
            ),
            (
                "#ifdef X\n#define N 3\n#else\n#define N 4\n#endif\nstruct P { int x[|N|]; };",
                "expected a number, found the macro `N`",
                "#if",
            ),
            (
                "#define N 3\n#ifdef X\n#undef N\n#endif\nstruct P { int x[|N|]; };",
                "expected a number, found the macro `N`",
                "#if",
            ),
            (
                "enum { A,\n|#ifdef X|\nB,\n#endif\nC }; struct P { int x[C]; };",
                "this condition changes a declaration",
                "",
            ),
            (
                "#ifdef X\n#pragma pack(1)\n#endif\nstruct P { |x|; };"
                    .replace("|x|", "char c; int |x|")
                    .leak(),
                "whether `#pragma pack` holds here depends on a condition",
                "remove",
            ),
            (
                "struct P { char c; |double complex|; };",
                "a type alone declares no field",
                "double x;",
            ),
            (
                "struct Q { int x; }; typedef struct Q Q; struct P { char c; |Q|; };",
                "a type alone declares no field",
                "",
            ),
            ("enum E { A = |N| }; struct P { enum E e; };", "the value of `N` is unknown", ""),
            ("struct P { enum |E| e; };", "`enum E` is not declared", "before"),
            ("typedef struct |Q| Q; struct P { Q q; };", "`struct Q` is not declared", "before"),
            (
                "typedef int T __attribute__((aligned(16))); struct P { T |x[2]|; };",
                "the elements of an array have 4 bytes and alignment 16",
                "",
            ),
        ],
    );
}

/// Conditions that do not end, or go on after their end.
#[test]
fn conditions_in_c() {
    let p = "struct P { int x; };";
    for (before, wrong, after, message) in [
        ("", "#if", format!(" X\n{p}"), "`#if` without `#endif`"),
        ("", "#ifdef", format!(" X\n{p}\n#else\n"), "`#if` without `#endif`"),
        ("", "#ifndef", format!(" P_H\n#define P_H\n{p}"), "`#if` without `#endif`"),
        ("", "#if", format!(" 1\n#if 0\n{p}\n#endif"), "`#if` without `#endif`"),
        ("", "# if", format!(" 0\n#if 1\n#endif\n{p}"), "`#if` without `#endif`"),
        ("#if 0\n", "#if", format!(" 1\n{p}"), "`#if` without `#endif`"),
        ("", "#endif", format!("\n{p}"), "`#endif` without `#if`"),
        ("#if X\n#endif\n", "#endif", format!(" // X\n{p}"), "`#endif` without `#if`"),
        ("", "#else", format!("\n{p}"), "`#else` without `#if`"),
        ("", "#elif", format!(" 1\n{p}"), "`#elif` without `#if`"),
        ("#if X\n#else\n", "#else", format!("\n#endif\n{p}"), "`#else` after `#else`"),
        ("#if 1\n#else\n", "#elif", format!(" X\n#endif\n{p}"), "`#elif` after `#else`"),
        ("#if 0\n#else\n", "#elifdef", format!(" X\n#endif\n{p}"), "`#elifdef` after `#else`"),
        (
            "#if 0\n#if X\n#else\n",
            "#else",
            format!("\n#endif\n#endif\n{p}"),
            "`#else` after `#else`",
        ),
    ] {
        let text = [before, wrong, &after].concat();
        let first = &refused(&text, Language::C)[0];
        assert_eq!(first.message, message, "{text}");
        assert_eq!(first.span, before.len()..before.len() + wrong.len(), "{text}");
    }
    for text in [
        format!("#if X\n#elif Y\n#else\n#endif\n{p}"),
        format!("#if 0\n#if X\n#else\n#endif\n#elif 1\n{p}\n#endif"),
        format!("/* #if */ {p} // #else"),
    ] {
        assert!(parse(&text, Language::C, None).is_ok(), "{text}");
    }
}

/// Constants that have no value: the reason is said where one matters, and nowhere else.
#[test]
fn constants_in_c() {
    check(
        Language::C,
        &[
            ("struct P { int x[|1 / 0|]; };", "division by zero", ""),
            ("struct P { int x[|2147483647 + 1|]; };", "this value does not fit its type", ""),
            (
                "struct P { int x[|1 << 32|]; };",
                "a shift is from 0 to less than the width of the type",
                "",
            ),
            ("struct P { int x[sizeof |\"\\n\"|]; };", "expected `(`, found `\"\\n\"`", ""),
            ("struct P { int x[sizeof |3|]; };", "expected `(`, found `3`", ""),
            ("struct P { int x[1|.|5]; };", "expected the end of the expression, found `.`", ""),
            ("struct P { int x[|'ab'|]; };", "expected an integer, found `'ab'`", ""),
            ("struct P { int x[|(float)1|]; };", "this is no cast to a type of integers", ""),
            (
                "enum { A = |N|, B }; struct P { int x[B]; };",
                "the value of `N` is unknown",
                "#define N",
            ),
        ],
    );
    for unused in [
        "enum { A = B | C };",
        "enum { A = f(3), B = sizeof x, C = \"a\"[0] };",
        "struct Q { int x[1 / 0]; };",
        "struct Q { char c;\n#ifdef X\nint x;\n#endif\n};",
        "typedef int T[N][sizeof(struct R)];",
        "struct Q { int x __attribute__((aligned(N))); };",
        "BEGIN_DECLS",
        "DECLARE(x)",
        "enum { A,\n#ifdef X\nB,\n#endif\nC };",
        "extern int f(int);",
    ] {
        let text = format!("{unused}\nstruct P {{ int x; }};");
        let parsed = dtype_cli::declaration::parse(&text, Language::C, Some("P"));
        assert_eq!(parsed.map(|parsed| parsed.ty.size()), Ok(4), "{text}");
    }
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
    assert_eq!((message.as_str(), at.as_str()), ("expected `)`, found `{`", "{"));
}
