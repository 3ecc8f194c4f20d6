//! Structs that are no datatypes are shown with all their members.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use dtype_cli::debug_info::DebugInfo;
use dtype_text::structure::{Form, Kind, Structure};
use serde_json::{Value, json};

use super::{Folder, compiled, find};
use crate::command::{done, dtype, failed};

const CPP: &str = "\
struct V { int v; char w; };
struct L : virtual V { char l; };
union U { int i; char s[12]; struct { short a; char b; } in; };
struct B { double x; char c; virtual void f() {} };
struct N : B {
    N *next; int &r; int B::*member; void (*call)(int, char *); unsigned a : 3, b : 7;
    U u; static int z; N *many[4]; U us[2]; union { int q; double w; }; struct { char a; int b; } nested[3];
    N() : r(*new int) {}
    int flex[];
};
N n; L l; U u;
";

fn text(folder: &Folder, arguments: &[&str]) -> String {
    String::from_utf8(done(dtype().current_dir(folder.path("")).args(arguments))).unwrap()
}

/// The JSON of a command, and whether the exit status was 0.
fn json_of(folder: &Folder, arguments: &[&str]) -> (Value, bool) {
    let output = dtype().current_dir(folder.path("")).args(arguments).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{message}");
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.success())
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn every_member_is_shown() {
    let folder = Folder::new();
    for compiler in ["g++", "clang++"] {
        let options = "-g -c -std=c++17 -fstandalone-debug";
        let options = if compiler == "g++" { "-g -c -std=c++17" } else { options };
        if compiled(&folder, compiler, "a.cpp", CPP, options).is_none() {
            continue;
        }
        let (json, _) = json_of(&folder, &["info", "a.cpp.o:N", "--json"]);
        let members = json["structure"]["members"].as_array().unwrap();
        let row = |name: Option<&str>| {
            let found = members.iter().find(|one| one["name"].as_str() == name);
            let one = found.unwrap_or_else(|| panic!("{compiler}: {name:?}"));
            let key = |key: &str| one[key].clone();
            json!([key("offset"), key("bytes"), key("type"), key("what")])
        };
        assert_eq!(row(Some("B")), json!([0, 24, "base class B", "a struct"]));
        assert_eq!(row(Some("next")), json!([24, 8, "N *", "a pointer"]));
        assert_eq!(row(Some("r")), json!([32, 8, "int &", "a reference"]));
        assert_eq!(row(Some("member")), json!([40, 8, "int B::*", "a pointer to a member"]));
        assert_eq!(row(Some("call")), json!([48, 8, "void (*)(int, char *)", "a pointer"]));
        assert_eq!(row(Some("a")), json!([56, 1, "unsigned int", "a bit-field"]));
        assert_eq!(row(Some("u")), json!([60, 12, "U", "a union"]));
        assert_eq!(row(Some("many")), json!([72, 32, "N *[4]", "an array"]));
        assert_eq!(row(None)[0], 128);
        assert_eq!(row(Some("flex"))[1], 0);
        assert!(members.iter().all(|one| one["name"] != "z"), "static");
        let bits = &members.iter().find(|one| one["name"] == "b").unwrap()["bits"];
        assert_eq!(*bits, json!({"first": 3, "width": 7}));
        assert_eq!(json["structure"]["inner_padding"], 9);
        let source = json["structure"]["source"].as_str().unwrap();
        assert!(source.ends_with("a.cpp:5"), "{source}");

        let shown = text(&folder, &["show", "a.cpp.o:N"]);
        let line = |path: &str| {
            let is_it = |line: &&str| line.split_whitespace().nth(1) == Some(path);
            let line = shown.lines().find(is_it).unwrap_or_else(|| panic!("{path}\n{shown}"));
            line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line("next"), "N * 24 8");
        assert_eq!(line("b"), "unsigned int, bits 3 to 9 56 2");
        assert_eq!(line("many"), "N * × 4 72 32");
        assert_eq!(line("us[].in.a"), "c_short 104 4 2 every 12");
        assert_eq!(line("w"), "f64 128 8");
        // A pointer is no gap: only bytes without a member are.
        let gaps = shown.lines().filter(|line| line.contains(['■', '▦']));
        let gaps: usize = gaps.map(|line| line.matches('□').count()).sum();
        assert_eq!(gaps, 7 + 2 + 9);

        let union = text(&folder, &["show", "a.cpp.o:U", "--ascii"]);
        let lanes: Vec<&str> = union.lines().map(str::trim_end).skip(3).take(9).collect();
        assert_eq!(
            lanes,
            [
                "  i",
                "0 ####........",
                "  a---",
                "  s",
                "0 ############",
                "  bbbbbbbbbbbb",
                "  in",
                "0 ###.........",
                "  c-d"
            ]
        );
        let shown = text(&folder, &["show", "a.cpp.o:L"]);
        assert!(shown.contains("the place of the virtual base class `V` is not fixed"), "{shown}");
        let message =
            failed(dtype().current_dir(folder.path("")).args(["show", "--as", "c", "a.cpp.o:N"]));
        assert!(message.contains("`next` at byte 24: a pointer"), "{message}");
    }
}

const RUST: &str = "
pub enum Shape { Circle { r: f64 }, Rect(f32, u8), Point, Many([u8; 11]) }
pub enum Niche { Filled(Box<u32>), Empty }
pub enum One { Only(u32, u8) }
pub enum Signed { Low = -3, High = 4 }
pub enum Wide { A(u64), B(u64, u64, u16), C(bool) }
pub struct Holder { s: Shape, n: Niche, o: One, w: Wide, k: Signed, c: Option<char> }
pub fn f(h: &Holder) -> u8 { h.o as_u8() }
";

/// The bytes that the fields of each variant take, by the compiler's own list.
fn of_compiler(text: &str, name: &str) -> BTreeMap<String, u64> {
    let start = format!("type: `{name}`");
    let mut lines = text.lines().map(|line| line.trim_start_matches("print-type-size").trim());
    lines.find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{name}\n{text}"));
    let mut variants = BTreeMap::new();
    let mut variant = None;
    for line in lines.take_while(|line| !line.starts_with("type: ")) {
        let number = || {
            let words = line.rsplit_once("`: ").map(|(_, rest)| rest).unwrap();
            words.split_whitespace().next().unwrap().parse::<u64>().unwrap()
        };
        if let Some(rest) = line.strip_prefix("variant `") {
            variant = Some(rest.split('`').next().unwrap().to_owned());
            variants.insert(variant.clone().unwrap(), 0);
        } else if line.starts_with("field `") {
            *variants.get_mut(variant.as_ref().unwrap()).unwrap() += number();
        }
    }
    variants
}

fn of_structure(structure: &Structure) -> BTreeMap<String, u64> {
    let bytes = |inside: &Structure| {
        let fields = inside.members.iter().filter(|field| field.kind != Kind::Tag);
        fields.filter_map(|field| field.size).sum()
    };
    let variants = structure.members.iter();
    let variants =
        variants.map(|one| (one.label(), one.of.structure().map_or(0, |one| bytes(one))));
    variants.collect()
}

#[test]
fn variants_are_those_of_the_compiler() {
    if cfg!(windows) {
        return;
    }
    let folder = Folder::new();
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
    let source = RUST.replace("h.o as_u8()", "match h.o { One::Only(_, b) => b }");
    let options = "-g --edition=2024 --crate-type=lib --emit=obj -Awarnings -Ccodegen-units=1";
    let Some(object) = compiled(&folder, &compiler, "lib.rs", &source, options) else { return };
    let structure = |name: &str| {
        let found = find(&object, name).unwrap();
        found.fields.layout().cloned().unwrap()
    };
    let mut command = Command::new(&compiler);
    command.env("RUSTC_BOOTSTRAP", "1").arg("-Zprint-type-sizes").args(options.split(' '));
    let output = command.arg("-o").arg(folder.path("b.o")).arg(folder.path("lib.rs")).output();
    let sizes = String::from_utf8(output.unwrap().stdout).unwrap();
    for name in ["Shape", "Niche", "Wide"] {
        assert_eq!(of_structure(&structure(name)), of_compiler(&sizes, name), "{name}");
    }
    let tag = |name: &str| match structure(name).form {
        Form::Enum(tag) => tag,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(tag("Shape").numbers, [Some(0), Some(1), Some(2), Some(3)]);
    assert_eq!((tag("Shape").bytes, tag("Shape").niche), (Some(0..1), None));
    let niche = tag("Niche");
    assert!(niche.niche.as_ref().is_some_and(|field| field.starts_with("Filled.0")), "{niche:?}");
    assert_eq!(niche.numbers, [None, Some(0)]);
    assert_eq!(tag("One").bytes, None);
    let padding = |name: &str| {
        let structure = structure(name);
        let inside = structure.declared.iter().map(|at| &structure.members[*at]);
        inside.map(|one| one.of.structure().unwrap().padding()).collect::<Vec<_>>()
    };
    assert_eq!(padding("Shape"), [Some(7), Some(10), Some(15), Some(4)]);
    assert_eq!(structure("Shape").padding(), None);
    let shown = text(&folder, &["info", "lib.rs.o:Shape"]);
    assert!(shown.contains("variant    Circle (0): uses 9 bytes, 7 lost\n"), "{shown}");
    let shown = text(&folder, &["info", "lib.rs.o:Niche"]);
    assert!(shown.contains("in values that `Filled.0"), "{shown}");
    // The tag inside another type is no gap.
    let shown = text(&folder, &["show", "lib.rs.o:Holder"]);
    assert!(shown.contains("s.(tag)"), "{shown}");
}

const OWN: &str = "
        use std::marker::PhantomData; use std::mem::MaybeUninit;
        pub struct BigEndian; pub struct Microseconds;
        #[repr(C)] pub struct FixedStr<const N: usize> { len: u32, bytes: [u8; N] }
        #[repr(C)] pub struct FixedVec<T: Copy, const N: usize> { len: u32, items: [MaybeUninit<T>; N] }
        #[repr(C)] pub struct Maybe<T> { present: bool, value: MaybeUninit<T> }
        pub struct Timestamp<U>(i64, PhantomData<fn() -> U>);
        pub struct U32<O>([u8; 4], PhantomData<O>);
        #[repr(C)] pub struct Reading {
            at: Timestamp<Microseconds>, name: FixedStr<8>, battery: Maybe<f32>, list: FixedVec<u16, 4>, big: U32<BigEndian>,
            other: MaybeUninit<u32>,
        }
        pub fn f(r: &Reading) -> bool { r.battery.present }";

/// The types of dtype-runtime and of zerocopy are known by their names and fields.
#[test]
fn types_that_stand_for_one_value() {
    if cfg!(windows) {
        return;
    }
    let folder = Folder::new();
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
    let options = "-g --edition=2024 --crate-type=lib --emit=obj -Awarnings -Ccodegen-units=1";
    if compiled(&folder, &compiler, "lib.rs", OWN, options).is_none() {
        return;
    }
    let mut record = Vec::new();
    record.extend(1_000_001_i64.to_ne_bytes());
    record.extend(2_u32.to_ne_bytes());
    record.extend(b"hixxxxxx");
    record.extend([1, 0, 0, 0]);
    record.extend(2.5_f32.to_ne_bytes());
    record.extend(2_u32.to_ne_bytes());
    record.extend([7_u16, 8, 9, 9].map(u16::to_ne_bytes).concat());
    record.extend([0, 0, 1, 0]);
    record.extend([0; 4]);
    folder.file("data.bin", &record);
    let dump = ["dump", "lib.rs.o:Reading", "data.bin", "--as", "json"];
    // A value that need not be initialized is no data elsewhere.
    let message = failed(dtype().current_dir(folder.path("")).args(dump));
    assert!(message.contains("`other` at byte"), "{message}");
    let (json, _) = json_of(&folder, &[&dump[..], &["--skip"]].concat());
    assert_eq!(
        json,
        json!({
            "at": "1970-01-01T00:00:01.000001", "name": "hi", "battery": 2.5, "list": [7, 8], "big": 256
        })
    );
}

const OLD: &str = "
    struct node { int a; struct node *next; char kind; double w; unsigned f : 3; };
    struct gone { int a; }; struct same { int a; char *p; struct { char c; int d; } in; };
    struct node n; struct gone g; struct same s;";

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn programs_are_compared() {
    let folder = Folder::new();
    let new = "
        struct node { int a; char *next; double w; char kind; float humidity; unsigned f : 4; };
        struct same { int a; char *p; struct { char c; int d; } in; };
        struct fresh { int a; };
        struct node n; struct fresh g; struct same s;";
    let inner = OLD.replace("char c; int d;", "char c; short d;");
    for (file, source) in [("old.c", OLD), ("new.c", new), ("inner.c", &inner)] {
        if compiled(&folder, "gcc", file, source, "-g -shared -fPIC").is_none() {
            return;
        }
    }
    let (json, is_same) = json_of(&folder, &["compare", "old.c.o", "new.c.o", "--json"]);
    assert!(!is_same);
    assert_eq!(
        (&json["same"], &json["removed"], &json["added"]),
        (&json!(1), &json!(["gone"]), &json!(["fresh"]))
    );
    let changes = |json: &Value| {
        let all = json["changes"].as_array().unwrap().iter();
        let all = all.map(|one| {
            format!("{} {}", one["what"].as_str().unwrap(), one["field"].as_str().unwrap())
        });
        let mut all: Vec<String> = all.collect();
        all.sort_unstable();
        all
    };
    let expected = ["added humidity", "moved kind", "moved w", "retyped f", "retyped next"];
    assert_eq!(changes(&json["changed"][0]), expected);
    // The same for one type, whose pointer is no data.
    let (json, is_same) = json_of(&folder, &["compare", "old.c.o:node", "new.c.o:node", "--json"]);
    assert!(!is_same);
    assert_eq!(changes(&json), expected);
    for (a, b, is_right) in [
        ("old.c.o", "old.c.o", true),
        ("old.c.o:same", "new.c.o:same", true),
        ("old.c.o:same", "inner.c.o:same", false),
        // Only the struct without a name inside it has changed.
        ("old.c.o", "inner.c.o", false),
    ] {
        assert_eq!(json_of(&folder, &["compare", a, b, "--json"]).1, is_right, "{a} {b}");
    }
    let text =
        dtype().current_dir(folder.path("")).args(["compare", "old.c.o", "new.c.o"]).output();
    let text = String::from_utf8(text.unwrap().stdout).unwrap();
    assert!(text.contains("\n  retyped  `next` from struct node * to char *\n"), "{text}");
    assert!(text.ends_with("1 types are the same, 1 changed, 1 removed, 1 added\n"), "{text}");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn lists_have_what_is_asked_for() {
    let folder = Folder::new();
    let source = "
        #include <cstdarg>
        #include <time.h>
        #include <vector>
        void log(va_list) {}
        namespace geo { struct Cell { char a; double b; char c; }; struct Grid { Cell cells[4]; Cell *first; }; }
        struct Alone { int x; }; struct tm t; std::vector<int> v; geo::Grid g; Alone a;";
    if compiled(&folder, "g++", "a.cpp", source, "-g -c").is_none() {
        return;
    }
    let names = |options: &[&str]| {
        let (json, _) = json_of(&folder, &[&["info", "a.cpp.o", "--json"], options].concat());
        let all = json.as_array().unwrap().iter();
        all.map(|one| one["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["--sort", "name"]), ["Alone", "geo::Cell", "geo::Grid"]);
    assert_eq!(names(&["--sort", "size"]), ["geo::Grid", "geo::Cell", "Alone"]);
    assert_eq!(names(&["--namespace", "geo", "--sort", "name"]), ["geo::Cell", "geo::Grid"]);
    assert_eq!(names(&["--name", "lon"]), ["Alone"]);
    assert_eq!(names(&["--least", "1"]), ["geo::Cell"]);
    assert_eq!(names(&["--reorder"]), ["geo::Cell"]);
    assert_eq!(names(&["--file", "struct_tm"]), ["tm"]);
    assert!(names(&["--all"]).iter().any(|name| name.starts_with("std::vector<")));
    let (json, _) = json_of(&folder, &["info", "a.cpp.o:geo::Cell", "--uses", "--json"]);
    assert_eq!((json.as_array().unwrap().len(), &json[0]["type"]), (1, &json!("geo::Grid")));
    let message = failed(dtype().args(["info", "struct{u8}", "--uses"]));
    assert!(message.contains("`PROGRAM:NAME`"), "{message}");
}

/// Debug information that was moved is read where it lies beside the program, and in the folder of debuginfod's clients.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn separate_files_are_found() {
    let folder = Folder::new();
    let options = "-g -shared -fPIC -Wl,--build-id=0x0123456789abcdef";
    let Some(library) = compiled(&folder, "gcc", "a.c", OLD, options) else { return };
    let objcopy = |options: &[&str], to: &str| {
        let mut command = Command::new("objcopy");
        command.current_dir(folder.path("")).args(options).arg(&library).arg(to);
        command.status().is_ok_and(|status| status.success())
    };
    if !objcopy(&["--only-keep-debug"], "a.debug") {
        return;
    }
    assert!(objcopy(&["--strip-debug", "--add-gnu-debuglink=a.debug"], "linked.so"));
    assert!(objcopy(&["--strip-debug"], "stripped.so"));
    let show = |file: &str, cache: &str| {
        let mut command = dtype();
        command.current_dir(folder.path("")).env("DEBUGINFOD_CACHE_PATH", folder.path(cache));
        command.env("HOME", folder.path("")).env_remove("XDG_CACHE_HOME");
        let output = command.args(["show", &format!("{file}:node")]).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(show("linked.so", "none"), (true, String::new()));
    assert!(show("stripped.so", "none").1.contains("no debug information"));
    fs::create_dir_all(folder.path("cache/0123456789abcdef")).unwrap();
    fs::copy(folder.path("a.debug"), folder.path("cache/0123456789abcdef/debuginfo")).unwrap();
    assert_eq!(show("stripped.so", "cache"), (true, String::new()));
    // Another file of this name is not the one that was meant.
    let other = compiled(&folder, "gcc", "b.c", "struct node { int x; } n;", "-g -c").unwrap();
    fs::copy(other, folder.path("a.debug")).unwrap();
    assert!(!show("linked.so", "none").0);
}

const LEVELS: usize = 100;

/// In a damaged file, the types of functions may have one another as arguments any number of times.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn names_of_types_take_no_time() {
    let folder = Folder::new();
    let mut source = r#"
        .section .debug_abbrev, "", @progbits
        .byte 1, 0x11, 1, 0, 0 # a unit
        .byte 2, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0, 0 # a struct with a name and a size
        .byte 3, 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0x38, 0x0b, 0, 0 # a member with a name, a type and a place
        .byte 4, 0x0f, 0, 0x49, 0x13, 0, 0 # a pointer
        .byte 5, 0x15, 1, 0x49, 0x13, 0, 0 # a function
        .byte 6, 0x05, 0, 0x49, 0x13, 0, 0 # an argument
        .byte 0
        .section .debug_info, "", @progbits
        unit: .4byte end - start
        start: .2byte 4
        .4byte 0
        .byte 8, 1
        .byte 2, 'S', 0, 8
        .byte 3, 'm', 0
        .4byte p0 - unit
        .byte 0, 0
    "#
    .to_owned();
    for level in 0..LEVELS {
        let next = (level + 1) % LEVELS;
        write!(
            source,
            "p{level}: .byte 4\n .4byte f{level} - unit\n f{level}: .byte 5\n .4byte p{next} - unit\n\
             .byte 6\n .4byte p{next} - unit\n .byte 6\n .4byte p{next} - unit\n .byte 0\n"
        )
        .unwrap();
    }
    source += ".byte 0\nend:\n";
    let Some(object) = compiled(&folder, "gcc", "a.s", &source, "-c") else { return };
    let bytes = fs::read(object).unwrap();
    let info = DebugInfo::read(&*bytes).unwrap();
    assert_eq!(info.types().unwrap().len(), 1);
    let start = std::time::Instant::now();
    let _ = info.find("S");
    assert!(start.elapsed().as_secs() < 20);
}

const NODE: &str = "struct inner { char c; struct inner *up; };
        struct node { char k; struct node *next; double v; const char *names[3]; int (*grid)[4]; void (*call)(int);
        struct inner in[2]; int n; short data[]; };
        struct either { char k; union { long x; char y[3]; struct inner *up; } u; union { int i; float f; };
        union { char c[5]; short s; } two[2]; };
        struct bits { unsigned a : 3, b : 5, c : 9; char d; unsigned short e : 4; int f; };
        struct wide { char a; unsigned long long b : 5; char c; int d; short e : 3; char f; };
        struct across { int a : 20; int b : 20; long long c : 33; _Bool d : 1; signed char f : 7; };
        struct unnamed { int a : 3; int : 5; int b : 4; char c; int : 0; int d : 1; };
        struct __attribute__((packed)) packed { char a; unsigned b : 30; unsigned c : 30; short d; };";

/// A declaration is looked at as what the compiler makes of it.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn declarations_have_the_members_of_the_compiler() {
    let folder = Folder::new();
    let names = ["node", "either", "bits", "wide", "across", "unnamed", "packed"];
    let users: String =
        names.iter().map(|name| ["struct ", name, " *p_", name, ";"].concat()).collect();
    let source = format!("{NODE} {users}");
    let Some(object) = compiled(&folder, "gcc", "a.c", &source, "-g -c") else { return };
    let read = |argument: &str| {
        let (json, _) = json_of(&folder, &["info", argument, "--json"]);
        let members = json["structure"]["members"].as_array().unwrap().clone();
        let row = |one: &Value| {
            let keys = ["name", "offset", "bytes", "align", "bits"].map(|key| one[key].clone());
            (keys, one["what"].is_string(), one["type"].as_str().unwrap().contains('*'))
        };
        (json["structure"]["size"].clone(), members.iter().map(row).collect::<Vec<_>>())
    };
    folder.file("b.h", NODE.as_bytes());
    for name in names {
        assert_eq!(
            read(&format!("@b.h:{name}")),
            read(&format!("{}:{name}", object.display())),
            "{name}"
        );
    }
    assert!(read("@b.h:node").1.iter().any(|(_, _, is_pointer)| *is_pointer));
    // What moves values says which member stands in the way, and where.
    folder.file("data.bin", &[0; 64]);
    let message =
        failed(dtype().current_dir(folder.path("")).args(["dump", "@b.h:inner", "data.bin"]));
    assert!(message.contains("field `up` is a pointer"), "{message}");
    let (json, is_same) = json_of(
        &folder,
        &["compare", "struct A { int *p; int b; };", "struct A { char *p; int b; };", "--json"],
    );
    assert_eq!((is_same, &json["changes"][0]["what"]), (false, &json!("retyped")));
    let rust = "#[repr(C)] struct P { a: *const f64, b: &'static str, c: [u8; 3] }";
    let (json, _) = json_of(&folder, &["info", rust, "--json"]);
    let offsets: Vec<_> = json["structure"]["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["offset"].as_u64())
        .collect();
    assert_eq!(
        (offsets, &json["structure"]["size"]),
        (vec![Some(0), Some(8), Some(24)], &json!(32))
    );
}
