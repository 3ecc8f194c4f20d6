//! Fields with names that no language has as a word: exported, compiled, and read back.

use crate::linear::{TIMES, assert_linear};
use dtype_runtime::Datatype;
use dtype_runtime::typemap::{Node, TypeMap};
use dtype_text::declaration::{Language, c_struct, parse, recognize, rust_struct};
use dtype_text::notation::{self, Parsed, print_named};
use proptest::prelude::*;

/// What the command writes for [`NUMPY`].
#[expect(non_snake_case, unreachable_pub, reason = "written by the command")]
mod record {
    include!("renamed/record.rs");
}

const NUMPY: &str = r#"np.dtype([
    ('total blocks', '<i4'), ('time', '<f8'), ('größe "m\\s"', '<u2', (2,)), ('type', 'u1'), ('self', 'u1'), ('2nd', 'u1'),
    ('a_b', 'u1'), ('a b', 'u1'), ('a-b', 'u1'), ('_pad0', 'u1'), ('é\n\u202e😀', [('x;y', '<f8')], (3,))], align=True)"#;

fn meaning(text: &str) -> Parsed {
    match parse(text, recognize(text), None) {
        Ok(parsed) => parsed,
        Err(problems) => panic!("{problems:?}\n{text}"),
    }
}

/// The names of a structure and of those in it, by depth.
fn names(parsed: &Parsed) -> Vec<Option<String>> {
    let mut types = vec![parsed.ty.clone()];
    let mut all = Vec::new();
    while let Some(ty) = types.pop() {
        all.extend_from_slice(parsed.fields.of(&ty).unwrap_or(&[]));
        types.extend(ty.contents().map(|contents| contents.datatypes).unwrap_or_default());
    }
    all
}

fn names_of_map(map: &TypeMap) -> Vec<&'static str> {
    match *map.node() {
        Node::Array { element, .. } => names_of_map(element),
        Node::Structure { fields, .. } => {
            let mapped = || fields.iter().filter_map(|field| Some((field.name(), field.map()?)));
            let inner = mapped().flat_map(|(_, map)| names_of_map(map));
            mapped().map(|(name, _)| name).chain(inner).collect()
        }
        Node::Basic { .. } => Vec::new(),
    }
}

#[test]
fn a_struct_of_rust_keeps_the_names() {
    let parsed = meaning(NUMPY);
    let rust = rust_struct(&parsed).unwrap();
    assert_eq!(rust, include_str!("renamed/record.rs"));
    let back = meaning(&rust);
    assert_eq!(names(&back), names(&parsed), "{rust}");
    assert_eq!(back.ty.type_map().collect::<Vec<_>>(), parsed.ty.type_map().collect::<Vec<_>>());
    // The derive has the same names and the same layout.
    let derived = names_of_map(record::Record::TYPE_MAP).into_iter().map(|name| Some(name.into()));
    assert_eq!(derived.collect::<Vec<_>>(), names(&parsed));
    let ty = dtype_runtime::Type::of::<record::Record>();
    assert_eq!(ty.type_map().collect::<Vec<_>>(), parsed.ty.type_map().collect::<Vec<_>>());
}

#[test]
fn the_notation_keeps_the_names() {
    let parsed = meaning(NUMPY);
    let text = print_named(&parsed.ty, &parsed.fields);
    assert!(text.contains(r#""total blocks": i32@0, time: f64@8, "größe \"m\\s\"": "#), "{text}");
    assert!(text.contains(r#""é\u000a\u202e\ud83d\ude00": "#), "{text}");
    let back = meaning(&text);
    assert_eq!((&back.ty, names(&back)), (&parsed.ty, names(&parsed)), "{text}");
}

#[test]
fn a_field_without_a_name_does_not_take_another_ones() {
    let parsed = notation::parse("struct{u8, f0: u8, \"f 2\": u8, u8}").unwrap();
    let rust = rust_struct(&parsed).unwrap();
    let names = names(&meaning(&rust));
    assert_eq!(names, ["f0_2", "f0", "f 2", "f3"].map(|name| Some(name.to_owned())), "{rust}");
    let c = c_struct(&parsed).unwrap();
    assert!(c.contains("f0_2;") && c.contains(" f0;") && c.contains(" f_2;"), "{c}");
}

/// The derive refuses names with a zero, so a struct has none.
#[test]
fn a_name_with_a_zero_is_not_given() {
    let parsed = notation::parse(r#"struct{"a\u0000b": u8, "a b": u8}"#).unwrap();
    let rust = rust_struct(&parsed).unwrap();
    assert_eq!(names(&meaning(&rust)), ["a_b", "a b"].map(|name| Some(name.to_owned())), "{rust}");
}

#[test]
fn declarations_in_rust_are_read_with_their_names() {
    let text = r##"#[derive(Datatype)] #[repr(C)] struct P {
        #[dtype(rename = "total blocks")] total_blocks: i32,
        #[dtype(with = X, rename = r#"a "b"#)] #[cfg(unix)] gone: u8,
    }"##;
    assert!(parse(text, Language::Rust, None).is_err());
    let text = r##"
        #[repr(u8)] enum Kind { #[dtype(rename = "on/off")] OnOff }
        #[derive(Datatype)] #[repr(C)] struct P {
            #[dtype(rename = "total blocks")] total_blocks: i32,
            #[serde(rename = "time")] #[dtype(rename = r#"a "b"#,)] time: f64,
            #[dtype(skip, rename = "kind")] skipped: u8,
            #[dtype(rename = "\u{e9}\t")] kind: Kind,
            #[dtype(rename = "_pad")] pad: u8,
            #[dtype(rename = "data")] _pad: u8,
            #[dtype(rename = "r")] s: T,
            #[dtype(rename = "s")] r: u8,
        }
        #[repr(C)] struct T(#[dtype(rename = "1")] u8, u8);"##;
    let parsed = meaning(text);
    let expected = ["total blocks", "a \"b", "é\t", "_pad", "data", "r", "s", "1"];
    let found: Vec<_> = names(&parsed).into_iter().flatten().collect();
    assert_eq!(found, expected);
}

#[test]
fn names_that_are_wrong() {
    for (text, expected, at) in [
        (
            r#"#[repr(C)] struct P { #[dtype(rename = "b")] a: u8, b: u16 }"#,
            "two fields are called `b`",
            "b",
        ),
        (
            "#[repr(C)] struct P { #[dtype(rename)] a: u8 }",
            "expected `rename = \"name\"`",
            "rename",
        ),
        (
            r#"#[repr(C)] struct P { #[dtype(rename = "")] a: u8 }"#,
            "expected `rename = \"name\"`",
            "\"\"",
        ),
        (
            "#[repr(C)] struct P { #[dtype(rename = NAME)] a: u8 }",
            "expected `rename = \"name\"`",
            "NAME",
        ),
        (r#"struct{"a b": u8, "a\u0020b": u16}"#, "two fields are called `a b`", r#""a\u0020b""#),
        (r#"struct{"a": u8, a: u16}"#, "two fields are called `a`", "a"),
        (r#"struct{"": u8}"#, "a name has no characters", "\"\""),
        (r#"struct{"\q": u8}"#, "not a text as in JSON", r#""\q""#),
        (r#"struct{"a: u8}"#, r#"unexpected `"a: u8}`"#, "\"a: u8}"),
        (r#"struct{u8, "a"}"#, "expected a type or a number, found `\"a\"`", "\"a\""),
        (r#"let "a" = 3; u8"#, "expected a name, found `\"a\"`", "\"a\""),
    ] {
        let problems = parse(text, recognize(text), None).map(|parsed| parsed.ty).expect_err(text);
        let found = (problems[0].message.as_str(), &text[problems[0].span.clone()]);
        assert!(found.0.contains(expected) && found.1 == at, "{text}: {problems:?}");
    }
}

/// A quote without another one is searched for once.
#[test]
fn quotes_that_are_not_closed_take_linear_time() {
    for text in [r#"\""#, "\"\n", "\"\\\n", "\"\\\n\\\""] {
        let text = |len: usize| format!("struct{{\"{}", text.repeat(len));
        let (short, long) = (notation::MAX_LENGTH / 8 / TIMES, notation::MAX_LENGTH / 8);
        let (short, long) = (text(short), text(long));
        let read = |text: &str| assert!(notation::parse(text).is_err());
        assert_linear(&short[..20], || read(&short), || read(&long));
    }
}

proptest! {
    #[test]
    fn any_names_are_kept(names_of in prop::collection::hash_set("[^\0]{1,8}|[a-z_]{1,6}", 1..6)) {
        let wanted: Vec<String> = names_of.into_iter().collect();
        let fields = wanted.iter().map(|name| format!("{}: u8", serde_json::to_string(name).unwrap()));
        let parsed = notation::parse(&format!("struct{{{}}}", fields.collect::<Vec<_>>().join(","))).unwrap();
        let wanted: Vec<Option<String>> = wanted.into_iter().map(Some).collect();
        for text in [print_named(&parsed.ty, &parsed.fields), rust_struct(&parsed).unwrap()] {
            prop_assert_eq!(names(&meaning(&text)), &*wanted, "{}", text);
        }
    }
}
