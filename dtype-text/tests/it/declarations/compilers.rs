//! The layouts held against those of the machine's compilers, where there are any.

use std::fmt::Write as _;
use std::process::Command;

use dtype_runtime::Type;
use dtype_text::declaration::{Language, c_struct, look, parse, rust_struct};
use dtype_text::notation::{self, FieldNames, Parsed};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{TestRng, TestRunner};

use super::model;

/// The number of structs in one program.
const STRUCTS: usize = 150;

/// Compiles a program and returns what it prints; `None` if there is no compiler.
fn run(compiler: &str, name: &str, source: &str, options: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let (file, program) = (folder.path().join(name), folder.path().join("program"));
    std::fs::write(&file, source).unwrap();
    let mut command = Command::new(compiler);
    let output = command.args(options).arg("-o").arg(&program).arg(&file).output().ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler}: {errors}\n{source}");
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap())
}

fn runner() -> TestRunner {
    let config = model::config(1);
    let seed = TestRng::deterministic_rng(config.rng_algorithm);
    TestRunner::new_with_rng(config, seed)
}

fn some<T: std::fmt::Debug>(
    strategy: &impl Strategy<Value = T>,
    number: usize,
) -> impl Iterator<Item = T> {
    let mut runner = runner();
    (0..number).map(move |_| strategy.new_tree(&mut runner).unwrap().current())
}

/// A field of a random struct: the text before and after its name.
fn c_field(language: Language) -> impl Strategy<Value = (String, String)> {
    let c = [
        "char",
        "short",
        "int",
        "unsigned long",
        "float",
        "double",
        "long double",
        "_Bool",
        "int16_t",
        "double _Complex",
        "__int128",
        "struct { char c; double d[2]; }",
        "struct { char c[3]; }",
        "struct __attribute__((packed)) { char c; int d; }",
        "enum { A$, B$ }",
        "size_t",
        "struct __attribute__((aligned(16))) { char c; }",
    ];
    let rust = [
        "u8", "i16", "u32", "i64", "f32", "f64", "bool", "char", "u128", "usize", "(f64)",
        "[u16; 3]", "A", "B", "C", "D", "()",
    ];
    let suffixes = match language {
        Language::C => vec![
            "",
            "",
            "",
            "[3]",
            "[2][2]",
            "[0]",
            " __attribute__((packed))",
            " __attribute__((aligned(8)))",
            " __attribute__((aligned))",
        ],
        _ => vec!["1", "1", "2", "0"],
    };
    let types = if language == Language::C { c.to_vec() } else { rust.to_vec() };
    let text = |words: Vec<&'static str>| proptest::sample::select(words).prop_map(str::to_owned);
    (text(types), text(suffixes))
}

#[cfg(unix)]
#[test]
fn c_layouts_are_the_compilers() {
    let fields = proptest::collection::vec(c_field(Language::C), 1..7);
    let attributes = proptest::sample::select(vec![
        "",
        "",
        "",
        "__attribute__((packed))",
        "__attribute__((aligned(32)))",
        "__attribute__((packed, aligned(4)))",
    ]);
    let pack =
        proptest::sample::select(vec!["", "", "#pragma pack(push, 1)", "#pragma pack(push, 4)"]);
    let mut program = String::from(
        "#include <stdio.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n",
    );
    let mut prints = String::new();
    let mut texts = Vec::new();
    for (number, (fields, attribute, pack)) in
        some(&(fields, attributes, pack), STRUCTS).enumerate()
    {
        let mut text = format!("{pack}\nstruct {attribute} S{number} {{\n");
        for (i, (ty, suffix)) in fields.iter().enumerate() {
            let ty = ty.replace('$', &format!("_{number}_{i}"));
            let _ = writeln!(text, "    {ty} f{i}{suffix};");
        }
        text += "};\n";
        if !pack.is_empty() {
            text += "#pragma pack(pop)\n";
        }
        let _ = write!(prints, "printf(\"%zu %zu");
        for _ in &fields {
            prints += " %zu";
        }
        let _ = write!(prints, "\\n\", sizeof(struct S{number}), _Alignof(struct S{number})");
        for i in 0..fields.len() {
            let _ = write!(prints, ", offsetof(struct S{number}, f{i})");
        }
        prints += ");\n";
        program += &text;
        texts.push((text, fields.len()));
    }
    let _ = write!(program, "int main(void) {{\n{prints}return 0; }}\n");
    let Some(output) = run("cc", "layouts.c", &program, &["-std=gnu11", "-w"]) else { return };
    for ((text, fields), line) in texts.iter().zip(output.lines()) {
        let numbers: Vec<i64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let parsed = match parse(text, Language::C, None) {
            Ok(parsed) => parsed,
            Err(problems) => panic!("{problems:?}\n{text}"),
        };
        // Two of them show the size.
        assert_eq!(parsed.ty.extent(), numbers[0], "the size of\n{text}");
        check_offsets(&parsed, *fields, &numbers[2..], text);
    }
    assert_eq!(output.lines().count(), STRUCTS);
}

/// Compares the displacements of a struct's members.
fn check_offsets(parsed: &Parsed, fields: usize, expected: &[i64], text: &str) {
    let mut at = parsed.ty.clone();
    let contents = loop {
        let contents = at.contents().unwrap();
        if contents.combiner == dtype_runtime::Combiner::Structure {
            break contents;
        }
        at = contents.datatypes[0].clone();
    };
    assert_eq!(contents.datatypes.len(), fields, "{text}");
    let Some(call) = at.call() else { panic!("{text}") };
    let dtype_runtime::types::Argument::Offsets(displacements) = &call.arguments[1] else {
        panic!("{text}")
    };
    assert_eq!(**displacements, *expected, "the offsets of\n{text}");
}

#[test]
fn rust_layouts_are_the_compilers() {
    let fields = proptest::collection::vec(c_field(Language::Rust), 1..7);
    let attributes = proptest::sample::select(vec![
        "C",
        "C",
        "C, packed",
        "C, packed(2)",
        "C, packed(4)",
        "C, align(32)",
    ]);
    let parts = "#[repr(C)] #[derive(Clone, Copy)] pub struct A { c: u8, d: [f64; 2] }\n\
                 #[repr(C, packed)] #[derive(Clone, Copy)] pub struct B { c: u8, d: i32 }\n\
                 #[repr(u16)] #[derive(Clone, Copy)] pub enum C { X, Y = 300 }\n\
                 #[repr(transparent)] #[derive(Clone, Copy)] pub struct D(u16);\n";
    let mut program = format!("#![allow(warnings)]\n{parts}");
    let mut prints = String::new();
    let mut texts = Vec::new();
    for (number, (fields, attribute)) in some(&(fields, attributes), STRUCTS).enumerate() {
        let mut text = format!("#[repr({attribute})] pub struct S{number} {{\n");
        for (i, (ty, length)) in fields.iter().enumerate() {
            let ty = if length == "1" { ty.clone() } else { format!("[{ty}; {length}]") };
            let _ = writeln!(text, "    f{i}: {ty},");
        }
        text += "}\n";
        let _ = write!(prints, "print!(\"{{}}\", std::mem::size_of::<S{number}>());");
        for i in 0..fields.len() {
            let _ = write!(prints, "print!(\" {{}}\", std::mem::offset_of!(S{number}, f{i}));");
        }
        prints += "println!();\n";
        program += &text;
        texts.push((format!("{parts}{text}"), format!("S{number}"), fields.len()));
    }
    let _ = write!(program, "fn main() {{\n{prints}}}\n");
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
    let Some(output) = run(&compiler, "layouts.rs", &program, &["--edition=2024"]) else { return };
    for ((text, name, fields), line) in texts.iter().zip(output.lines()) {
        let numbers: Vec<i64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let parsed = match parse(text, Language::Rust, Some(name)) {
            Ok(parsed) => parsed,
            Err(problems) => panic!("{problems:?}\n{text}"),
        };
        assert_eq!(parsed.ty.extent(), numbers[0], "the size of\n{text}");
        check_offsets(&parsed, *fields, &numbers[1..], text);
    }
    assert_eq!(output.lines().count(), STRUCTS);
}

/// The static assertions of written structs hold.
#[test]
fn compilers_accept_what_is_written() {
    let mut types: Vec<Type> = some(&model::trees_with_lists(1), 400)
        .filter_map(|tree| tree.build().ok())
        .flat_map(|ty| {
            let whole = Type::resized(&ty, 0, ty.true_ub().clamp(1, 1 << 20));
            [Some(ty), whole.ok()]
        })
        .flatten()
        .collect();
    types.extend(
        [
            "struct{int: u8, self: bool, type: f64, bool: c_char, f64: u16}",
            "struct{a: MPI_DOUBLE_INT, b: [struct{x: u8, y: c_short@1}; 3]}",
        ]
        .map(|text| notation::parse(text).unwrap().ty),
    );
    for language in [Language::C, Language::Rust] {
        let mut program = String::new();
        let mut written = 0;
        for ty in &types {
            let parsed = Parsed { ty: ty.clone(), fields: FieldNames::default() };
            let text =
                if language == Language::C { c_struct(&parsed) } else { rust_struct(&parsed) };
            let Ok(text) = text else { continue };
            // Skip types that need crates, or other headers than the standard ones.
            if ["mpi.h", "num_complex", "half::"].iter().any(|word| text.contains(word)) {
                continue;
            }
            written += 1;
            let text = if language == Language::C {
                // In a function, the names are its own.
                let (includes, body): (Vec<&str>, Vec<&str>) =
                    text.lines().partition(|line| line.starts_with("#include"));
                program.insert_str(0, &(includes.join("\n") + "\n"));
                format!("void f{written}(void) {{\n{}\n}}\n", body.join("\n"))
            } else {
                format!("mod m{written} {{\n{text}\n}}\n")
            };
            program += &text;
        }
        assert!(written > 50, "{written}");
        if language == Language::C {
            program += "int main(void) { return 0; }\n";
            if cfg!(unix) {
                run("cc", "written.c", &program, &["-std=c11", "-w"]);
            }
        } else {
            program += "fn main() {}\n";
            let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
            run(
                &compiler,
                "written.rs",
                &format!("#![allow(warnings)]\n{program}"),
                &["--edition=2024"],
            );
        }
    }
}

#[test]
fn names_with_underscores_are_kept_in_c() {
    let parsed = notation::parse(
        r#"struct{"__x": u8, "__my_name": u8, "_y": u8, "__wur": u8, "__int128": u8, "__x__": u8, "INT8_MAX": u8}"#,
    );
    let c = c_struct(&parsed.unwrap()).unwrap();
    for name in ["__x", "__my_name", "_y", "__wur_", "__int128_", "f__x__", "INT8_MAX_"] {
        assert!(c.contains(&format!("uint8_t {name};")), "{name}: {c}");
    }
    // Whatever the compilers and the headers define, a field can have its name.
    for (compiler, standard) in
        [("cc", "c11"), ("gcc", "gnu17"), ("clang", "c11"), ("c++", "c++17")]
    {
        let folder = tempfile::tempdir().unwrap();
        let (headers, kind) = (
            folder.path().join("headers.h"),
            if standard.starts_with("c++") { "c++" } else { "c" },
        );
        let all = c.lines().filter(|line| line.starts_with("#include"));
        std::fs::write(&headers, all.collect::<Vec<_>>().join("\n")).unwrap();
        let mut command = Command::new(compiler);
        let options =
            [format!("-std={standard}"), "-dM".into(), "-E".into(), "-x".into(), kind.into()];
        let Ok(output) = command.args(&options).arg(&headers).output() else { continue };
        assert!(output.status.success());
        let macros = String::from_utf8(output.stdout).unwrap();
        let names =
            macros.lines().filter_map(|line| line.strip_prefix("#define ")?.split(' ').next());
        let names = names.filter(|name| !name.contains('('));
        let fields: Vec<String> = names.map(|name| format!("{name:?}: u8")).collect();
        assert!(fields.len() > 100);
        let parsed = notation::parse(&format!("struct{{{}}}", fields.join(", "))).unwrap();
        let source = c_struct(&parsed).unwrap() + "int main(void) { return 0; }\n";
        let options = [format!("-std={standard}"), "-x".into(), kind.into()];
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        run(compiler, "names.h", &source, &options);
    }
}

/// Members in Rust that are no data have the places that the compiler gives them.
#[test]
fn pointers_in_rust_have_the_places_of_the_compiler() {
    let types = [
        "&'a str",
        "Box<u8>",
        "u8",
        "Vec<u8>",
        "fn(u8)",
        "Option<Box<u8>>",
        "u8",
        "Option<&'a u8>",
        "Box<dyn Fn()>",
        "[Option<Rc<u8>>; 3]",
        "u8",
        "Option<String>",
        "Either",
        "Option<fn()>",
        "std::sync::Arc<str>",
        "NonNull<u8>",
        "u8",
        "&'a [u8]",
        "[Either; 2]",
        "*const u8",
        "Option<Vec<u16>>",
        "u8",
        "Three",
        "u8",
    ];
    let (mut fields, mut places) = (String::new(), String::new());
    for (at, ty) in types.iter().enumerate() {
        writeln!(fields, "    m{at}: {ty},").unwrap();
        writeln!(places, "    println!(\"{{}}\", std::mem::offset_of!(Mixed, m{at}));").unwrap();
    }
    let text = format!(
        "use std::ptr::NonNull;\nuse std::rc::Rc;\n#[repr(C)]\nstruct Mixed<'a> {{\n{fields}}}\n\
         #[repr(C)]\n#[derive(Clone, Copy)]\nunion Either {{ a: u32, b: [u8; 7] }}\ntype Three = [Box<u8>; 3];\n"
    );
    let main = format!("fn main() {{\n{places}    println!(\"{{}}\", size_of::<Mixed>());\n}}\n");
    let options = ["--edition", "2024", "-A", "warnings"];
    let Some(printed) = run("rustc", "mixed.rs", &(text.clone() + &main), &options) else { return };
    let expected: Vec<u64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    let parsed = look(&text, Language::Rust, None).unwrap();
    let structure = parsed.fields.layout().unwrap();
    let members = structure.declared.iter().map(|at| structure.members[*at].offset);
    assert_eq!(members.chain([structure.size]).collect::<Option<Vec<u64>>>(), Some(expected));
    // Other values than null have no room for `None`.
    for none in ["Option<*const u8>", "Option<Option<Box<u8>>>", "Option<u8>"] {
        let text = format!("#[repr(C)] struct P {{ x: {none} }}");
        let problems = look(&text, Language::Rust, None).unwrap_err();
        assert_eq!(problems[0].message, "field `x` is an enum whose layout is not fixed");
    }
}
