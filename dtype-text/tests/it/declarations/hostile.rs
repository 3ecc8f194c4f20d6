//! No text does harm.

use dtype_text::declaration::{Language, parse, recognize};
use proptest::prelude::*;

use super::{model, refused};
use crate::linear::{TIMES, assert_linear};

const LANGUAGES: [Language; 3] = [Language::C, Language::Rust, Language::Numpy];

/// Pieces that texts are made of, so that random ones get past the first word.
fn pieces() -> impl Strategy<Value = String> {
    let words = "struct|union|enum|typedef|P|Q|x|y|{|}|(|)|[|]|;|,|:|*|&|<|>|=|+|-|/|#|#[repr(C)]|pub|type|const|mod|\
                 usize|u8|f64|int|unsigned|long|double|void|char|__attribute__((packed))|alignas(|aligned(|sizeof|\
                 #pragma pack(1)\n|#define P 3\n|#if x\n|#else\n|#endif\n|#ifdef P\n|?|\
                 _Pragma(\"pack(2)\")|_Atomic(|\n|0|1|3|0x7fffffffffffffff|18446744073709551615|'|\"|'x'|'f8'|\
                 '<i4'|names|formats|np.dtype(|align=True|->|::|Vec|PhantomData|\\|é|→|//|/*|*/|r#|'a|0.5|_pad|extern|\
                 std|std::|class|template<|static|operator|~P(|x{1}|= 2|__SIZEOF_INT__|('u4', [|#[cfg(test)]|#[cfg(x)]|#[dtype(|skip|with =|'S'|'(2,3)f8,'|u'x'|'M8[ns]'|dict(|as";
    let words: Vec<&str> = words.split('|').collect();
    proptest::collection::vec(proptest::sample::select(words), 0..40)
        .prop_map(|words| words.join(" "))
}

/// Texts one after another, made of the numbers from 0 on.
fn joined(number: usize, one: impl Fn(usize) -> String) -> String {
    (0..number).map(one).collect::<Vec<_>>().concat()
}

fn any_language(text: &str) {
    for language in LANGUAGES {
        if parse(text, language, None).is_err() {
            refused(text, language);
        }
    }
    if parse(text, recognize(text), Some("P")).is_err() {
        let _ = parse(text, recognize(text), None);
    }
}

proptest! {
    #![proptest_config(model::config(1000))]

    #[test]
    fn any_text_is_a_type_or_a_mistake(text in prop_oneof![any::<String>(), pieces(), pieces(), pieces()]) {
        any_language(&text);
    }

    #[test]
    fn damaged_texts_are_a_type_or_a_mistake(
        which in 0..3_usize, at in any::<prop::sample::Index>(), piece in pieces()
    ) {
        let text = [
            "#pragma pack(2)\ntypedef struct P { unsigned long x[2 * 3]; struct { char c; } q, *r; } P;",
            "#[repr(C, packed(2))] pub struct P { x: [[f64; N * 2]; 3], q: a::Q<u8>, #[dtype(skip)] y: char } const N: usize = 2;",
            "np.dtype({'names': ['x', 'y'], 'formats': [('<f8', (3,)), 'i4'], 'offsets': [0, 24], 'itemsize': 32}, align=True)",
        ][which];
        let place = at.index(text.len());
        any_language(&[&text[..place], &piece, &text[place + 1..]].concat());
        any_language(&text[..place]);
    }
}

#[test]
fn depth_is_limited() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(30_000), close.repeat(30_000));
    let texts = [
        (Language::C, format!("struct P {{ int x[{}]; }};", deep("(", ")"))),
        (Language::C, format!("struct P {{ int {}; }};", deep("(", ")"))),
        (Language::C, deep("struct {", "};")),
        (Language::C, format!("struct P {{ int {}x; }};", "*".repeat(200_000))),
        (Language::C, format!("struct P {{ int x{}; }};", "[2]".repeat(1000))),
        (Language::C, format!("struct P {{ int x __attribute__({}); }};", deep("(", ")"))),
        (Language::C, format!("struct P {{ int x[{}1]; }};", "-".repeat(200_001))),
        (Language::C, format!("struct P {{ int x[{}1]; }};", "1 ? 1 : ".repeat(200_000))),
        (Language::C, format!("struct P {{ int x[{}-1]; }};", "(int)".repeat(200_000))),
        (Language::C, deep("enum { A = sizeof(", ") };")),
        (Language::C, format!("struct P {{ {} }};", deep("alignas(struct {", "}) int x;"))),
        (
            Language::C,
            joined(1000, |i| format!("#define A{i} (A{})\n", i + 1)) + "struct P { int x[A0]; };",
        ),
        (Language::C, format!("struct P {{ int x[{}]; }};", deep("sizeof(int[", "])"))),
        (Language::Rust, format!("#[repr(C)] struct P {{ x: {} }}", deep("[", ";1]"))),
        (Language::Rust, format!("#[repr(C)] struct P {{ x: {} }}", deep("(", ")"))),
        (Language::Rust, format!("#[repr(C)] struct P {{ x: {}u8 }}", "&".repeat(200_000))),
        (Language::Rust, format!("#[repr(C)] struct P {{ x: {} }}", deep("Wrapping<", ">"))),
        (Language::Rust, deep("mod m {", "}")),
        (Language::Rust, format!("#[repr(C)] struct P {{ x: [u8; {}] }}", deep("(", ")"))),
        (Language::Numpy, deep("[", "]")),
        (Language::Numpy, deep("('f8', (2,), ", ")")),
        (Language::Numpy, deep("np.dtype(", ")")),
    ];
    for (language, text) in texts {
        refused(&text, language);
    }
    // A chain of structs, each in the next one.
    let chain: String = joined(1000, |i| format!("struct S{} {{ struct S{i} s; }};", i + 1));
    refused(&format!("struct S0 {{ int x; }};{chain}"), Language::C);
    let chain: String = joined(5000, |i| format!("#[repr(C)] struct S{i} {{ s: S{} }}", i + 1));
    refused(&chain, Language::Rust);
    let chain: String = joined(5000, |i| format!("type S{i} = S{};", i + 1));
    refused(&format!("{chain} #[repr(C)] struct P {{ s: S0 }}"), Language::Rust);
}

/// Constants and structs that double at each step are evaluated once each.
#[test]
fn doubling_takes_no_time() {
    let doubled: String = joined(100, |i| format!("const C{i}: usize = C{} + C{};", i + 1, i + 1));
    refused(
        &format!("{doubled} const C100: usize = 1; #[repr(C)] struct P {{ x: [u8; C0] }}"),
        Language::Rust,
    );
    let twice = joined(60, |i| format!("#define A{i} A{} A{}\n", i + 1, i + 1));
    refused(&format!("{twice} struct P {{ int x[A0]; }};"), Language::C);
    let doubled: String = joined(16, |i| format!("struct S{} {{ struct S{i} a, b; }};", i + 1));
    let text = format!("struct S0 {{ char x; }};{doubled}");
    let parsed = parse(&text, Language::C, None).unwrap();
    assert_eq!(parsed.ty.size(), 1 << 16);
    let c = dtype_text::declaration::c_struct(&parsed).unwrap();
    assert!(c.len() < 10_000);
}

/// Texts that took a minute or more when each unknown name was compared with all others, or would if each sign searched
/// its line or the text.
#[test]
fn long_searches_are_short() {
    type Text = fn(usize) -> String;
    let texts: [(Language, usize, Text); 13] = [
        (Language::C, 1000, |n| {
            let names = joined(n, |i| format!("typedef int a{i:06};"));
            let unknown = joined(n, |i| format!("b{i:06} x{i};"));
            format!("{names} struct P {{ {unknown} }};")
        }),
        (Language::Rust, 1000, |n| {
            joined(n, |i| format!("#[repr(C)] struct A{i:06} {{ x: Z{i:06} }}"))
        }),
        (Language::C, 25_000, |n| format!("{} struct P {{ int x; }};", "__pragma(".repeat(n))),
        (Language::C, 50_000, |n| format!("struct P {{ int x; }};\n{}", "\\'".repeat(n))),
        (Language::C, 50_000, |n| format!("#define A {}\nstruct P {{ int x; }};", "\\'".repeat(n))),
        (Language::C, 25_000, |n| format!("{} struct P {{ int x; }};", "#if X\n".repeat(n))),
        (Language::C, 5000, |n| {
            let push = "#pragma pack(push, a, 1)\n".repeat(n);
            format!("{push}{}struct P {{ int x; }};", "#pragma pack(pop, b)\n".repeat(n))
        }),
        (Language::C, 7500, |n| "typedef int x[(;struct [[x(;".repeat(n)),
        (Language::C, 125_000, |n| "const } ".repeat(n)),
        (Language::C, 50_000, |n| "template < struct } ".repeat(n)),
        (Language::C, 15_000, |n| "struct { P(; ".repeat(n)),
        (Language::C, 10_000, |n| "struct { int x[(; };".repeat(n)),
        (Language::C, 15_000, |n| "struct { int x; ".repeat(n)),
    ];
    for (language, number, text) in texts {
        let (short, long) = (text(number / TIMES), text(number));
        let read = |text: &str| drop(parse(text, language, Some("P")));
        assert_linear(&long[..40], || read(&short), || read(&long));
    }
}

#[test]
fn sizes_are_limited() {
    for (language, text) in [
        (Language::C, "struct P { char x[1 << 63]; };"),
        (Language::C, "struct P { double x[1152921504606846976][1152921504606846976]; };"),
        (Language::C, "struct P { char x[9223372036854775807]; char y; };"),
        (Language::C, "typedef double T[18446744073709551615]; struct P { T x; };"),
        (Language::C, "struct P { char x[99999999999999999999]; };"),
        (Language::C, "struct P { char x[1 << 62 << 62 << 62]; };"),
        (Language::Rust, "#[repr(C)] struct P { x: [u64; 2305843009213693952] }"),
        (Language::Rust, "#[repr(C, align(1073741824))] struct P { x: u8 }"),
        (Language::Numpy, "('u1', (4294967296, 4294967296))"),
        (Language::Numpy, "{'names': ['x'], 'formats': ['f8'], 'offsets': [9223372036854775807]}"),
        (Language::Numpy, "'S99999999999999999999'"),
        (Language::Numpy, "'99999999999999999999f8'"),
    ] {
        refused(text, language);
    }
    // A large type is no trouble: nothing is allocated for it.
    let large = parse("struct P { double x[1 << 30][1 << 20]; };", Language::C, None).unwrap();
    assert_eq!(large.ty.size(), 8 << 50);
}

#[test]
fn long_texts() {
    let in_c = |number| {
        let fields: String = joined(number, |i| format!("int f{i};"));
        let uses: String = joined(number, |i| format!("T t{i}, *p{i}; T;"));
        format!("typedef struct {{ {fields} }} T; struct P {{ {uses} }};")
    };
    let (short, long) = (in_c(2000 / TIMES), in_c(2000));
    let read = |text: &str| assert_eq!(refused(text, Language::C).len(), 20);
    assert_linear("C", || read(&short), || read(&long));
    let in_rust = |number| {
        let fields: String = joined(500, |i| format!("f{i}: u8,"));
        let uses: String = joined(number, |i| format!("t{i}: T,"));
        format!("#[repr(C)] struct T {{ {fields} }} #[repr(C)] struct P {{ {uses} }}")
    };
    let (short, long) = (in_rust(2), in_rust(2 * TIMES));
    let read = |text: &str| {
        assert!(parse(text, Language::Rust, None).unwrap().ty.size().is_multiple_of(500));
    };
    assert_linear("Rust", || read(&short), || read(&long));
    let long = " ".repeat(dtype_text::notation::MAX_LENGTH + 1);
    for language in LANGUAGES {
        refused(&long, language);
    }
}
