//! Every order that the command suggests is compiled: the struct then has the size that the command says.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use dtype_cli::debug_info::DebugInfo;
use dtype_text::structure::Structure;

use super::corpus::name_of;
use super::{Folder, compiled, noise};

/// A struct: what comes before its members, and these.
struct Source {
    before: String,
    members: Vec<String>,
}

impl Source {
    fn new(before: &str, members: &[&str]) -> Self {
        let members = members.iter().map(|member| (*member).to_owned()).collect();
        Self { before: before.to_owned(), members }
    }

    /// The declaration with the members in an order.
    fn declaration(&self, order: impl IntoIterator<Item = usize>) -> String {
        let members: Vec<&str> = order.into_iter().map(|at| &*self.members[at]).collect();
        let members = members.join(" ");
        let end = if self.before.contains("pub struct") { "" } else { ";" };
        format!("{} {{ {members} }}{end}\n", self.before)
    }

    /// The order of the members in a better layout. Base classes and the like are no members of the source.
    fn order(&self, structure: &Structure, members: &[usize]) -> Vec<usize> {
        let names = members.iter().filter_map(|member| structure.members[*member].name.as_ref());
        let is = |at: &usize, name: &String| own_name(&self.members[*at]).as_ref() == Some(name);
        let functions = (0..self.members.len()).filter(|at| self.members[*at].contains("f()"));
        let fields = names.filter_map(|name| (0..self.members.len()).find(|at| is(at, name)));
        functions.chain(fields).collect()
    }
}

fn own_name(member: &str) -> Option<String> {
    match member.split_once(": ") {
        // As Rust has it.
        Some((name, _)) if !name.contains(' ') => Some(name.to_owned()),
        _ => name_of(member),
    }
}

/// Compiles the structs `S0`, `S1`, … and, with an assertion for each, what the suggestions make of them. Returns the sizes before
/// and after. `None` without the compiler.
fn check(
    compiler: &str,
    options: &str,
    prelude: &str,
    all: &[Source],
    assertion: impl Fn(&str, u64) -> String,
) -> Option<Vec<(u64, Option<u64>)>> {
    let folder = Folder::new();
    let (file, user) = match compiler {
        "gcc" | "clang" => ("a.c", "struct"),
        "g++" => ("a.cpp", ""),
        _ => ("a.rs", ""),
    };
    let mut source = prelude.to_owned();
    for (number, one) in all.iter().enumerate() {
        source += &one.declaration(0..one.members.len()).replace("S?", &format!("S{number}"));
        if file == "a.rs" {
            writeln!(
                source,
                "pub fn f{number}(s: &S{number}) -> usize {{ s as *const _ as usize }}"
            )
            .unwrap();
        } else {
            writeln!(source, "{user} S{number} *s{number};").unwrap();
        }
    }
    let object = compiled(&folder, compiler, file, &source, options)?;
    let bytes = fs::read(&object).unwrap();
    let info = DebugInfo::read(&*bytes).unwrap();
    let mut source = prelude.to_owned();
    let mut sizes = Vec::new();
    for (number, one) in all.iter().enumerate() {
        let found = info.find(&format!("S{number}")).unwrap();
        let structure = found.fields.layout().unwrap();
        let size = structure.size.unwrap();
        let least = structure.least();
        sizes.push((size, least.as_ref().map(|least| least.size)));
        let Some(least) = least.filter(|least| least.size < size) else { continue };
        let order = one.order(structure, &least.members);
        source += &one.declaration(order).replace("S?", &format!("S{number}"));
        source += &assertion(&format!("{user} S{number}"), least.size);
    }
    let source = folder.file(file, source.as_bytes());
    let mut command = Command::new(compiler);
    command.args(options.split_whitespace()).arg("-o").arg(folder.path("b")).arg(source);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(sizes)
}

fn in_c(name: &str, size: u64) -> String {
    format!("_Static_assert(sizeof({name}) == {size}, \"{name}\");\n")
}

const PRELUDE: &str = "\
    #include <stdint.h>\n\
    struct packed { char c; int i; } __attribute__((packed));\n\
    struct pair { char c; double d; };\n\
    struct __attribute__((aligned(32))) line { char c; };\n\
    struct bits { unsigned a : 3; short b : 9; };\n\
    enum kind { A };\n";

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn of_c() {
    let plain = "struct S?";
    let all = [
        (
            Source::new(
                plain,
                &[
                    "char a;",
                    "unsigned long long x : 5;",
                    "char b;",
                    "int c;",
                    "short d : 3;",
                    "char e;",
                ],
            ),
            16,
            16,
        ),
        (
            Source::new(
                "struct __attribute__((aligned(64))) S?",
                &["char a;", "int b;", "char c;"],
            ),
            64,
            64,
        ),
        (Source::new(plain, &["char a;", "_Alignas(64) int b;", "char c;"]), 128, 64),
        (Source::new("struct __attribute__((packed)) S?", &["char a;", "int b;", "char c;"]), 6, 6),
        (
            Source::new(
                "struct __attribute__((packed, aligned(4))) S?",
                &["char a;", "int b;", "char c;"],
            ),
            8,
            8,
        ),
        (Source::new(plain, &["char a;", "int n;", "char c;", "short data[];"]), 12, 8),
        (Source::new(plain, &["char a;", "int n;", "char c;", "double last[0];"]), 16, 8),
        (Source::new(plain, &["char a;", "struct line b;", "char c;", "double d;"]), 96, 64),
        (Source::new(plain, &["char a;", "struct packed b;", "int c;", "char d;"]), 16, 12),
        (
            Source::new(plain, &["char a;", "double d;", "struct bits b;", "char c;", "double e;"]),
            32,
            24,
        ),
        (
            Source::new(
                plain,
                &["char a;", "double d;", "char b;", "int x : 20;", "int y : 20;", "char c;"],
            ),
            24,
            24,
        ),
        (
            Source::new(
                plain,
                &["char a;", "int b : 3;", "char c;", "long long d : 40;", "char e;", "short f;"],
            ),
            16,
            16,
        ),
        (
            Source::new(
                plain,
                &["char a;", "double d;", "unsigned b : 3;", "unsigned e : 7;", "char c;"],
            ),
            24,
            16,
        ),
        (
            Source::new(plain, &["char a;", "void (*call)(int);", "char c;", "_Complex float z;"]),
            32,
            24,
        ),
        (Source::new(plain, &["char a;", "long double l;", "char b;", "__int128 i;"]), 64, 48),
    ];
    let (sources, sizes): (Vec<_>, Vec<_>) =
        all.into_iter().map(|(source, size, least)| (source, (size, least))).unzip();
    for compiler in ["gcc", "clang"] {
        for options in ["-g -c", "-gdwarf-4 -c"] {
            let options = format!("{options} -fno-eliminate-unused-debug-types");
            let Some(found) = check(compiler, &options, PRELUDE, &sources, in_c) else { continue };
            for ((found, (size, least)), source) in found.iter().zip(&sizes).zip(&sources) {
                let declaration = source.declaration(0..source.members.len());
                assert_eq!(
                    (found.0, found.1.unwrap_or(found.0)),
                    (*size, *least),
                    "{compiler}: {declaration}"
                );
            }
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn of_cpp() {
    let prelude = "#include <cstdint>\n#include <type_traits>\n\
        struct Empty {}; struct Base { double x; char c; }; class Closed { double x; char c; };\n\
        struct Virtual { virtual void f(); char c; };\n";
    let all = [
        Source::new("struct S?", &["bool a : 1;", "unsigned b : 5;", "int64_t c : 33;", "char d;"]),
        Source::new("struct S? : Base", &["char a;", "double b;", "char c;"]),
        Source::new("struct S? : Closed", &["char a;", "double b;", "char c;"]),
        Source::new(
            "struct S? : Closed",
            &["int a;", "char b;", "double c;", "short d;", "char e;", "double f;"],
        ),
        Source::new("struct S? : Empty", &["char a;", "double b;", "char c;"]),
        Source::new("struct S? : Empty", &["char a;", "Empty e;", "double b;", "char c;"]),
        Source::new("struct S?", &["virtual void f();", "char a;", "double b;", "char c;"]),
        Source::new("struct S? : Virtual", &["char a;", "double b;", "char c;"]),
        Source::new("struct S? : Virtual, Base", &["char a;", "double b;", "char c;"]),
        Source::new("struct S? : virtual Base", &["char a;", "double b;", "char c;"]),
        Source::new(
            "struct S?",
            &["[[no_unique_address]] Empty e;", "char a;", "int b;", "char c;"],
        ),
        Source::new(
            "struct alignas(32) S?",
            &["char a;", "double b;", "char c;", "double d;", "char e;", "double f;", "char g;"],
        ),
    ];
    let assertion = |name: &str, size: u64| format!("static_assert(sizeof({name}) == {size});\n");
    let options = "-g -c -std=c++20 -fno-eliminate-unused-debug-types -fno-eliminate-unused-debug-symbols -femit-class-debug-always";
    let Some(found) = check("g++", options, prelude, &all, assertion) else { return };
    let saves: Vec<bool> =
        found.iter().map(|(size, least)| least.is_some_and(|least| least < *size)).collect();
    let expected = [false, true, true, true, true, true, true, true, true, false, false, true];
    assert_eq!(saves, expected, "{found:?}");
}

#[test]
fn of_rust() {
    let prelude = "#![allow(dead_code)]\n#[repr(C, align(32))] pub struct Line(u8);\n#[repr(C, packed)] pub struct Packed(u8, u32);\n";
    let all = [
        Source::new("#[repr(C)] pub struct S?", &["a: u8,", "b: f64,", "c: u8,"]),
        Source::new("#[repr(C, align(64))] pub struct S?", &["a: u8,", "b: f64,", "c: u8,"]),
        Source::new("#[repr(C, packed)] pub struct S?", &["a: u8,", "b: f64,", "c: u8,"]),
        Source::new("#[repr(C, packed(2))] pub struct S?", &["a: u8,", "b: f64,", "c: u8,"]),
        Source::new(
            "#[repr(C)] pub struct S?",
            &["a: u8,", "b: Line,", "c: u8,", "d: Packed,", "e: u32,"],
        ),
        Source::new("#[repr(align(128))] pub struct S?", &["a: u64,", "b: u8,"]),
        Source::new(
            "pub struct S?",
            &["a: u8,", "b: f64,", "c: u8,", "d: &'static str,", "e: Option<u16>,"],
        ),
    ];
    if cfg!(windows) {
        return;
    }
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
    let assertion =
        |name: &str, size: u64| format!("const _: () = assert!(size_of::<{name}>() == {size});\n");
    let options = "-g --edition=2024 --crate-type=lib --emit=obj -Ccodegen-units=1";
    let Some(found) = check(&compiler, options, prelude, &all, assertion) else { return };
    let saves: Vec<bool> =
        found.iter().map(|(size, least)| least.is_some_and(|least| least < *size)).collect();
    assert_eq!(saves, [true, false, false, true, true, false, false], "{found:?}");
}

/// Random members of many kinds. Without bit-fields, no order of all is better.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn of_random_structs() {
    let kinds = [
        "char ?;",
        "short ?;",
        "int ?;",
        "double ?;",
        "char ?[3];",
        "short ?[5];",
        "void *?;",
        "enum kind ?;",
        "long double ?;",
        "struct packed ?;",
        "struct pair ?;",
        "struct line ?;",
        "struct bits ?;",
        "_Alignas(16) char ?;",
        "_Atomic short ?;",
        "unsigned ? : 3;",
        "int ? : 20;",
        "long long ? : 33;",
        "_Bool ? : 1;",
        "short ? : 9;",
        "unsigned char ? : 8;",
        "char ? : 5;",
    ];
    let plain = 15;
    let bytes = noise(200 * 8);
    let structs = bytes.chunks_exact(8).enumerate().map(|(number, random)| {
        let kinds = if number % 2 == 0 { &kinds[..plain] } else { &kinds[..] };
        let members = random[1..].iter().take(2 + usize::from(random[0]) % 6).enumerate();
        let members = members.map(|(at, random)| {
            kinds[usize::from(*random) % kinds.len()].replace('?', &format!("m{at}"))
        });
        let heads = [
            "struct S?",
            "struct S?",
            "struct __attribute__((packed)) S?",
            "struct __attribute__((aligned(32))) S?",
        ];
        Source { before: heads[number / 2 % 4].to_owned(), members: members.collect() }
    });
    let structs: Vec<Source> = structs.collect();
    let options = "-g -c -fno-eliminate-unused-debug-types";
    let Some(found) = check("gcc", options, PRELUDE, &structs, in_c) else { return };
    assert!(found.iter().all(|(_, least)| least.is_some()), "{found:?}");
    let mut source = PRELUDE.to_owned();
    let mut tried = 0;
    for (one, (_, least)) in
        structs.iter().zip(found).step_by(2).filter(|(one, _)| one.members.len() < 5)
    {
        for order in orders(one.members.len()) {
            let name = format!("T{tried}");
            source += &one.declaration(order).replace("S?", &name);
            writeln!(source, "_Static_assert(sizeof(struct {name}) >= {}, \"\");", least.unwrap())
                .unwrap();
            tried += 1;
        }
    }
    let folder = Folder::new();
    compiled(&folder, "gcc", "orders.c", &source, "-c").unwrap();
    assert!(tried > 100);
}

/// All orders of some members.
fn orders(length: usize) -> Vec<Vec<usize>> {
    if length == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(length - 1);
    let places = shorter.iter().flat_map(|order| (0..length).map(move |at| (order, at)));
    let insert = places.map(|(order, at)| [&order[..at], &[length - 1], &order[at..]].concat());
    insert.collect()
}
