//! Layouts from debug information, as the compilers of this machine write it. Without a compiler, its part is left out.

mod corpus;
mod damaged;
mod looked_at;
mod orders;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod repeated;
mod scopes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Folder, done, dtype, failed, noise};
use dtype_cli::debug_info::{DebugInfo, Error};
use dtype_text::notation::{Parsed, print_named};
use dtype_text::structure::Inside;

/// Compiles a source file to an object file; `None` if there is no such compiler.
fn compiled(
    folder: &Folder,
    compiler: &str,
    file: &str,
    source: &str,
    options: &str,
) -> Option<PathBuf> {
    let source = folder.file(file, source.as_bytes());
    let object = folder.path(&format!("{file}.o"));
    let mut command = Command::new(compiler);
    command.args(options.split_whitespace()).arg("-o").arg(&object).arg(&source);
    let output = command.output().ok()?;
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(object)
}

fn find(object: &Path, name: &str) -> Result<Parsed, Error> {
    let bytes = fs::read(object).unwrap();
    DebugInfo::read(&*bytes)?.find(name)
}

/// The type in the notation, and what is left out.
#[track_caller]
fn layout(object: &Path, name: &str) -> (String, Vec<String>) {
    let parsed = find(object, name).unwrap();
    (print_named(&parsed.ty, &parsed.fields), left_out(&parsed))
}

/// The members that are not data.
fn left_out(parsed: &Parsed) -> Vec<String> {
    let Some(layout) = parsed.fields.layout() else { return Vec::new() };
    let (all, _) = layout.leaves(Inside::Structs, true, 256);
    let text = all.iter().map(|one| match one.offset {
        Some(offset) => format!("{}@{offset}: {}", one.path, one.what()),
        None => format!("{}: {}", one.path, one.what()),
    });
    text.collect()
}

const C: &str = r"
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>
enum kind { A, B = -1 };
typedef struct { int x; } point;
struct inner { char c; double d; struct inner *next; };
union u { int i; float f; };
struct P {
    const int32_t id; bool ok; double complex z; long double l; struct inner in[2][3]; point at; enum kind k;
    union u u; unsigned b : 3; int : 5; unsigned w : 7; struct { char q; short r; }; unsigned long long n[0];
    void (*call)(int); _Atomic short a; __int128 big; char name[16]; int v __attribute__((vector_size(16)));
    wchar_t wide; uint8_t *const pointers[2]; int open[];
};
struct __attribute__((packed, aligned(2))) packed { char c; double d; };
struct later; struct empty { struct later *l; } ;
struct P *p; struct packed q; struct empty e; point r; union u s;
";

const C_LAYOUT: &str = "resized(struct{id: i32@0, ok: bool@4, z: c64@8, l: c_longdouble@32, in: \
    [contiguous(3, resized(struct{c: c_char@0, d: f64@8}, 0, 24)); 2]@48, at: struct{x: c_int@0}@192, k: c_int@196, \
    q: c_char@206, r: c_short@208, n: [c_ulonglong; 0]@216, a: c_short@224, big: i128@240, name: [c_char; 16]@256, \
    v: [c_int; 4]@272, wide: c_wchar@288}, 0, 320)";

const C_LEFT_OUT: [&str; 7] = [
    "in[][].next@64: a pointer",
    "u@200: a union",
    "b@204: a bit-field of 3 bits",
    "w@205: a bit-field of 7 bits",
    "call@216: a pointer",
    "pointers@296: an array; each element is a pointer",
    "open@312: an array without a length, whose elements follow the struct",
];

/// Another order of the members keeps the alignment that the source asks for, and that of vectors.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn alignment_is_kept_by_another_order() {
    let folder = Folder::new();
    let source = "struct A { char a; _Alignas(64) int b; char c; } a; \
        struct V { char c; float v[2] __attribute__((vector_size(16))); } v;";
    let Some(object) = compiled(&folder, "gcc", "a.c", source, "-g -c") else { return };
    let bytes = fs::read(object).unwrap();
    let types = DebugInfo::read(&*bytes).unwrap().types().unwrap();
    let sizes: Vec<_> = types.iter().map(|one| (&*one.name, one.size, one.reordered)).collect();
    assert_eq!(sizes, [("A", Some(128), Some(64)), ("V", Some(48), Some(48))]);
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn c() {
    let folder = Folder::new();
    let Some(object) = compiled(&folder, "gcc", "a.c", C, "-g -c") else { return };
    let (found, left_out) = layout(&object, "P");
    assert_eq!((found.as_str(), left_out), (C_LAYOUT, C_LEFT_OUT.map(String::from).to_vec()));
    assert_eq!(layout(&object, "point").0, "struct{x: c_int@0}");
    assert_eq!(layout(&object, "packed").0, "resized(struct{c: c_char@0, d: f64@1}, 0, 10)");
    assert_eq!(layout(&object, "kind").0, "c_int");
    let error = |name| find(&object, name).unwrap_err().to_string();
    assert_eq!(layout(&object, "u").0, "resized(struct{}, 0, 4)");
    assert!(error("later").contains("this file only declares it"));
    assert!(error("pakced").contains("did you mean `packed`?"));
    // However the compiler writes it.
    for options in [
        "-g -gdwarf-4 -c",
        "-gdwarf-3 -c",
        "-gdwarf-2 -gno-strict-dwarf -c",
        "-g -gdwarf-4 -fdebug-types-section -c",
        "-g -fdebug-types-section -c",
        "-g -gz=zlib -c",
        "-g -gz=zlib-gnu -c",
        "-g -O2 -fPIC -shared",
    ] {
        let object = compiled(&folder, "gcc", "b.c", C, options).unwrap();
        let (found, left_out) = layout(&object, "P");
        assert_eq!(found, C_LAYOUT, "{options}");
        assert_eq!(left_out.len(), C_LEFT_OUT.len(), "{options}");
    }
}

const CPP: &str = r"
#include <array>
#include <complex>
namespace geo {
    struct Base { double x; char c; };
    struct Empty {};
    template <class T, int N> struct Cell : Base, Empty {
        T v[N]; static int count; bool ok; std::array<float, 3> a; std::complex<double> z; int &r; int Base::*member;
        char16_t c16; enum class E : short { A } e; virtual ~Cell();
    };
    struct Virtual : virtual Base { int q; };
}
namespace other { struct Base { int y; }; }
namespace { struct Hidden { int k; }; }
geo::Cell<double, 3> f(geo::Cell<double, 3> &c) { return c; }
geo::Virtual v; other::Base b; Hidden h;
";

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn cpp() {
    let folder = Folder::new();
    let Some(object) = compiled(&folder, "g++", "a.cpp", CPP, "-g -c") else { return };
    let expected = "resized(struct{x: f64@8, c: c_char@16, v: [f64; 3]@24, ok: bool@48, a: struct{_M_elems: \
        [f32; 3]@0}@52, z: struct{_M_value: c64@0}@64, c16: u16@96, e: c_short@98}, 0, 104)";
    for name in ["Cell<double, 3>", "Cell<double,3>", "geo::Cell< double, 3 >"] {
        let (found, left_out) = layout(&object, name);
        assert_eq!(found, expected, "{name}");
        assert_eq!(
            left_out,
            [
                "_vptr.Cell@0: the pointer to the virtual functions",
                "r@80: a reference",
                "member@88: a pointer to a member"
            ]
        );
    }
    assert_eq!(layout(&object, "Hidden").0, "struct{k: c_int@0}");
    assert_eq!(layout(&object, "other::Base").0, "struct{y: c_int@0}");
    let several = find(&object, "Base").unwrap_err();
    let Error::Several { types, .. } = &several else { panic!("{several:?}") };
    assert!(types.len() == 2 && types[0] == "`geo::Base`, 16 bytes", "{types:?}");
    let left_out = layout(&object, "Virtual").1;
    assert!(left_out.iter().any(|one| one.ends_with("a virtual base class")), "{left_out:?}");
}

const FORTRAN: &str = "
module m
  implicit none
  type :: particle
    real(8) :: x(3)
    integer :: id
    logical :: ok
    complex(8) :: z
    character(len=5) :: name
    real(4) :: grid(2,3)
    real(8), allocatable :: list(:)
    real(8), pointer :: to
    integer(8) :: n(-1:3)
  end type
  type, extends(particle) :: child
    real(16) :: w
  end type
  type(child) :: c
end module
";

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn fortran() {
    let folder = Folder::new();
    let options = format!("-g -c -J{}", folder.path("").display());
    let Some(object) = compiled(&folder, "gfortran", "a.f90", FORTRAN, &options) else { return };
    let particle = "struct{x: [f64; 3]@0, id: i32@24, ok: logical@28, z: c64@32, name: [c_char; 5]@48, grid: \
        [contiguous(2, f32); 3]@56, n: [i64; 5]@152}";
    assert_eq!(layout(&object, "m::particle").0, particle);
    let (child, left_out) = layout(&object, "child");
    assert_eq!(child, format!("struct{{particle: {particle}@0, w: real16@192}}"));
    assert_eq!(
        left_out,
        [
            "particle.list@80: an array whose elements are elsewhere in memory",
            "particle.to@144: a pointer"
        ]
    );
}

const RUST: &str = "
pub enum Kind { A, B = 5 }
pub struct Pair(u8, f32);
pub struct Particle<T> {
    a: u8, x: [f64; 3], k: Kind, t: T, p: std::marker::PhantomData<T>, pair: Pair, o: Option<u8>, c: char, s: &'static str,
}
pub fn f(p: &Particle<f32>) -> f64 { p.x[0] + p.t as f64 }
";

#[test]
fn rust() {
    let folder = Folder::new();
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
    let options = "-g --edition=2024 --crate-type=lib --emit=obj -Awarnings -Ccodegen-units=1";
    let Some(object) = compiled(&folder, &compiler, "lib.rs", RUST, options) else { return };
    // Windows has a format of its own.
    if cfg!(windows) {
        return;
    }
    let found = find(&object, "lib::Particle<f32>").unwrap();
    // With the length of the text, whose pointer is left out.
    assert_eq!(found.ty.extent(), 56 + 8);
    assert_eq!(found.ty.size(), 1 + 24 + 1 + 4 + 5 + 4 + 8);
    let left_out: Vec<_> = left_out(&found)
        .iter()
        .map(|one| one.split(['@', ':']).next().unwrap().to_owned())
        .collect();
    assert_eq!(left_out, ["o", "s.data_ptr"]);
    assert_eq!(find(&object, "Kind").unwrap().ty.size(), 1);
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn what_has_no_types() {
    let folder = Folder::new();
    let error = |options: &str| {
        compiled(&folder, "gcc", "a.c", C, options).map(|object| find(&object, "P").unwrap_err())
    };
    let Some(lines_only) = error("-g1 -c") else { return };
    assert_eq!(lines_only, Error::NoTypes);
    assert_eq!(error("-c"), Some(Error::Stripped));
    let Some(Error::Split { file, is_here: true }) = error("-g -gsplit-dwarf -c") else { panic!() };
    let split = folder.path(Path::new(&file).file_name().unwrap().to_str().unwrap());
    assert_eq!(layout(&split, "P").0, C_LAYOUT);
    let library = compiled(&folder, "gcc", "a.c", C, "-g -shared -fPIC").unwrap();
    let whole = fs::read(&library).unwrap();
    let debug = folder.path("a.debug");
    let copy = |options: &[&str], to: &Path| {
        Command::new("objcopy")
            .args(options)
            .arg(&library)
            .arg(to)
            .status()
            .is_ok_and(|status| status.success())
    };
    if copy(&["--only-keep-debug"], &debug) {
        assert_eq!(layout(&debug, "P").0, C_LAYOUT);
        let link = format!("--add-gnu-debuglink={}", debug.display());
        assert!(copy(&["--strip-debug", &link], &library));
        let moved = find(&library, "P").unwrap_err();
        assert_eq!(moved, Error::Moved { file: "a.debug".into() });
    }
    // The machine is a number in the header: 183 is that of AArch64.
    let mut other = whole;
    other[18] = 183;
    let other = folder.file("other.so", &other);
    let error = find(&other, "P").unwrap_err();
    assert!(error.to_string().starts_with("the file is for aarch64"), "{error}");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn archives_and_lists() {
    let folder = Folder::new();
    let Some(first) = compiled(&folder, "gcc", "a.c", C, "-g -c") else { return };
    let other = "struct Q { char c; double d; short s; }; struct packed { int x; }; struct Q q; struct packed p;";
    let second = compiled(&folder, "gcc", "b.c", other, "-g -c").unwrap();
    let empty = compiled(&folder, "gcc", "c.c", "int x;", "-c").unwrap();
    let archive = folder.path("lib.a");
    let mut ar = Command::new("ar");
    ar.arg("rcs").args([&archive, &empty, &first, &second]);
    if !ar.status().is_ok_and(|status| status.success()) {
        return;
    }
    assert_eq!(layout(&archive, "Q").0, "struct{c: c_char@0, d: f64@8, s: c_short@16}");
    assert!(
        matches!(find(&archive, "packed"), Err(Error::Several { types, .. }) if types.len() == 2)
    );
    let text = |arguments: &[&str]| {
        String::from_utf8(done(dtype().current_dir(folder.path("")).args(arguments))).unwrap()
    };
    let list = text(&["lib.a"]);
    assert_eq!(list, text(&["show", "@lib.a"]));
    assert_eq!(list, text(&["info", "lib.a"]));
    let lines: Vec<Vec<&str>> =
        list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["size", "padding", "type"]);
    assert_eq!(lines[1], ["320", "43", "P"]);
    assert_eq!(lines[2], ["24", "13", "Q"]);
    assert!(
        lines.contains(&vec!["10", "1", "packed", "(a.c.o)"])
            && lines.contains(&vec!["4", "0", "packed", "(b.c.o)"])
    );
    let reordered = text(&["info", "lib.a", "--reorder"]);
    let lines: Vec<Vec<&str>> =
        reordered.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["320", "288", "32", "P"]);
    assert_eq!(lines[2], ["24", "16", "8", "Q"]);
    let json: serde_json::Value =
        serde_json::from_str(&text(&["info", "lib.a", "--json", "--reorder"])).unwrap();
    let source = json[1]["source"].as_str().unwrap();
    assert!(source.ends_with("b.c:1"), "{source}");
    assert_eq!(
        json[1],
        serde_json::json!({
            "type": "Q", "size": 24, "padding": 13, "reordered": 16, "align": 8, "inner_padding": 0, "source": source
        })
    );
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_command_reads_object_files() {
    let folder = Folder::new();
    let source = "struct P { char kind; double x[2]; struct P *next; } p[2] = {{1, {2, 3}, 0}, {4, {5, 6}, 0}};\
                  namespace geo { struct Cell { short s; } cell; }";
    let Some(object) = compiled(&folder, "g++", "a.cpp", source, "-g -c") else { return };
    let command = |arguments: &[&str]| {
        let mut command = dtype();
        command.current_dir(folder.path("")).args(arguments);
        command
    };
    let message = failed(&mut command(&["dump", "a.cpp.o:P", "data.bin"]));
    assert!(message.contains("`next` at byte 24: a pointer\nhelp: `--skip`"), "{message}");
    let info = done(&mut command(&["info", "./a.cpp.o:P"]));
    // The pointer is no padding.
    assert!(String::from_utf8(info).unwrap().contains("padding    7 bytes: 7 after `kind`"));
    let mut record = vec![0; 32];
    record[0] = 1;
    record[8..16].copy_from_slice(&2.5_f64.to_ne_bytes());
    folder.file("data.bin", &record);
    let dump = done(&mut command(&["dump", "@a.cpp.o:P", "data.bin", "--skip", "--as", "csv"]));
    assert_eq!(String::from_utf8(dump).unwrap(), "kind,x[0],x[1]\n\\x01,2.5,0.0\n");
    let same = done(&mut command(&["compare", "a.cpp.o:geo::Cell", "struct{s: c_short}"]));
    assert!(String::from_utf8(same).unwrap().contains("size       2 bytes"));
    let message = failed(&mut command(&["dump", "a.cpp.o", "data.bin"]));
    assert!(message.contains("name one: `a.cpp.o:NAME`"), "{message}");
    let message = failed(&mut command(&["a.cpp.o:geo::Cel"]));
    assert!(message.contains("did you mean `Cell`?"), "{message}");
    assert!(object.exists());
}

const HEADER: &str = "\
typedef struct { double x; char kind; } point;
struct outer { struct { union { int i; float f; }; int k; } s; struct { union { int i; }; } t[2]; };
";

/// A header has no object that would keep its types: the command that the messages advise does.
#[test]
fn headers() {
    let folder = Folder::new();
    let options = "-g -c -x c -fno-eliminate-unused-debug-types";
    for compiler in ["gcc", "clang"] {
        let Some(object) = compiled(&folder, compiler, "header.h", HEADER, options) else {
            continue;
        };
        let list = String::from_utf8(done(dtype().arg(&object))).unwrap();
        // A struct whose only name is that of a typedef is on the list.
        assert!(list.contains("        16           7  point\n"), "{list}");
        assert_eq!(layout(&object, "point").0, "struct{x: f64@0, kind: c_char@8}");
        let message =
            failed(dtype().args(["show", "--as", "c"]).arg(format!("{}:outer", object.display())));
        assert!(
            message.contains("\n  a member of `s` without a name at byte 0: a union\n")
                && message.contains("\n  a member of `t[]` without a name at byte 8: a union\n"),
            "{message}"
        );
        let object = compiled(&folder, compiler, "header.h", HEADER, "-g -c -x c").unwrap();
        let message = failed(dtype().arg(object));
        assert!(message.contains("-fno-eliminate-unused-debug-types"), "{compiler}: {message}");
    }
    if let Some(object) = compiled(&folder, "gcc", "header.h", HEADER, "-g -c") {
        let message = failed(dtype().arg(object));
        assert!(message.contains("a precompiled header is not supported"), "{message}");
    }
}

/// Clang gives a vector of three elements the room of four, and says so.
#[test]
fn padded_vectors() {
    let source = "typedef float float3 __attribute__((ext_vector_type(3)));
        struct V { char c; float3 a[4]; float3 b; int z; } v;";
    let folder = Folder::new();
    let Some(object) = compiled(&folder, "clang", "vector.c", source, "-g -c") else { return };
    let expected = "let t1 = resized(contiguous(3, f32), 0, 16);\n\
        resized(struct{c: c_char@0, a: [t1; 4]@16, b: t1@80, z: c_int@96}, 0, 112)";
    assert_eq!(layout(&object, "V").0, expected);
}
