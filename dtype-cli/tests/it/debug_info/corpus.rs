//! Every layout beside what gdb says of it (`ptype /o`), or what a compiled program prints: languages, compilers and forms of debug
//! information. A tool that is missing leaves out its part; `.ci/run` names those.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dtype_cli::debug_info::DebugInfo;
use dtype_text::structure::{Kind, Structure};

use super::{Folder, compiled};

/// A member: its name, its first byte, and its first bit there if it is a bit-field.
type Member = (Option<String>, u64, Option<u8>);

/// What is compared. `padding` is `None` where gdb does not count base classes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expected {
    size: u64,
    members: Vec<Member>,
    padding: Option<u64>,
}

const C: &str = r"
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
enum kind { A, B = -1 };
typedef struct { char c; int x; } point;
union u { int i; char c[9]; };
struct inner { char c; double d; struct inner *next; };
struct bits { unsigned a : 3, b : 5, c : 9; char d; unsigned short e : 4; int f; };
struct wide { char a; unsigned long long b : 5; char c; int d; short e : 3; char f; };
struct across { int a : 20; int b : 20; long long c : 33; _Bool d : 1; enum kind e : 2; signed char f : 7; };
struct unnamed { int a : 3; int : 5; int b : 4; char c; int : 0; int d : 1; };
struct __attribute__((packed)) packed_bits { char a; unsigned b : 30; unsigned c : 30; short d; };
struct __attribute__((packed)) packed { char a; int b; double c; };
#pragma pack(2)
struct halves { char a; int b; char c; double d; };
#pragma pack()
struct __attribute__((packed, aligned(2))) both { char c; double d; };
struct one_packed { char a; int b __attribute__((packed)); double c; };
struct __attribute__((aligned(64))) line { char a; int b; char c; };
struct lines { char a; struct line l; char b; };
struct asked { char a; _Alignas(64) int b; char c; };
struct flexible { char a; int n; char b; short data[]; };
struct zero { char a; double n[0]; char b; int last[0]; };
struct nested { char a; struct { char q; short r; }; union { int i; double d; }; struct inner in[2][3]; point at; };
struct kinds {
    const int32_t id; bool ok; double complex z; long double l; enum kind k; union u u; void (*call)(int);
    _Atomic short a; __int128 big; char name[16]; int v __attribute__((vector_size(16))); uint8_t *const pointers[2];
};
struct empty {};
struct around { struct empty e; char c; struct packed p; struct both b; };
struct all {
    struct bits a; struct wide b; struct across c; struct unnamed d; struct packed_bits e; struct packed f; struct halves g;
    struct both h; struct one_packed i; struct line j; struct lines k; struct asked l; struct zero n; struct nested o;
    struct kinds p; struct around q; struct flexible *r;
} all;
struct flexible flexible;
";

const C_TYPES: &[(&str, &str)] = &[
    ("inner", "struct inner"),
    ("bits", "struct bits"),
    ("wide", "struct wide"),
    ("across", "struct across"),
    ("unnamed", "struct unnamed"),
    ("packed_bits", "struct packed_bits"),
    ("packed", "struct packed"),
    ("halves", "struct halves"),
    ("both", "struct both"),
    ("one_packed", "struct one_packed"),
    ("line", "struct line"),
    ("lines", "struct lines"),
    ("asked", "struct asked"),
    ("flexible", "struct flexible"),
    ("zero", "struct zero"),
    ("nested", "struct nested"),
    ("kinds", "struct kinds"),
    ("around", "struct around"),
    ("all", "struct all"),
];

const CPP: &str = r"
#include <tuple>
namespace geo {
    struct Base { double x; char c; };
    class Closed : public Base { char d; protected: double e; public: char f; };
    struct Further : Closed { char g; int h; };
    struct Empty {};
    struct Alike : Empty { Empty e; char c; int i; };
    template <class T, int N> struct Cell : Base, Empty {
        T v[N]; static int count; bool ok; int &r; int Base::*member; int (Base::*function)(); enum class E : short { A } e;
        virtual ~Cell() {}
    };
    struct Virtual { char a; virtual void f() {} int b : 3; };
    struct Two : Virtual, Base { char c; };
    struct Shared : virtual Base { char q; };
    struct Left : virtual Base { char a; };
    struct Diamond : Shared, Left { char d; };
    struct Bits { bool a : 1; unsigned b : 5; long c : 33; char d; };
    inline namespace v1 { struct Packet { char a; int b; }; }
    struct Apart { [[no_unique_address]] Empty e; int x; char y; };
    struct alignas(32) Line { char c; };
    struct Session { struct Impl; Impl *impl; char c; };
    struct Session::Impl { char a; double b; };
}
namespace { struct Hidden { char a; short k; }; }
struct Parts { char c; std::tuple<char, double, char> t; int i; std::tuple<> e; };
struct All {
    geo::Further a; geo::Alike b; geo::Cell<double, 3> *c; geo::Two d; geo::Diamond e; geo::Bits f; geo::Packet g; geo::Apart h;
    geo::Line i; geo::Session j; geo::Session::Impl k; Parts l; Hidden m; geo::Virtual n; geo::Shared o; geo::Left p;
    geo::Base q; geo::Closed r;
};
All all; Hidden hidden; geo::Cell<double, 3> *cell; geo::Cell<double, 3> f(geo::Cell<double, 3> &c) { return c; }
int size() { struct Local { char a; long b; } l{1, 2}; return all.a.h + l.a; }
";

/// Each type, and an expression of this type.
const CPP_TYPES: &[(&str, &str)] = &[
    ("geo::Base", "all.q"),
    ("geo::Closed", "all.r"),
    ("geo::Further", "all.a"),
    ("geo::Alike", "all.b"),
    ("geo::Cell<double, 3>", "*all.c"),
    ("geo::Virtual", "all.n"),
    ("geo::Two", "all.d"),
    ("geo::Shared", "all.o"),
    ("geo::Left", "all.p"),
    ("geo::Diamond", "all.e"),
    ("geo::Bits", "all.f"),
    ("geo::Packet", "all.g"),
    ("geo::Apart", "all.h"),
    ("geo::Line", "all.i"),
    ("geo::Session", "all.j"),
    ("geo::Session::Impl", "all.k"),
    ("Parts", "all.l"),
    ("Hidden", "all.m"),
    ("All", "all"),
];

/// Forms of debug information: a compiler's family, its options, and what is done with its output.
const FORMS: &[(&str, &str, Then)] = &[
    ("gcc", "-g -c", Then::Nothing),
    ("gcc", "-gdwarf-5 -O2 -c", Then::Nothing),
    ("gcc", "-gdwarf-4 -c", Then::Nothing),
    ("gcc", "-gdwarf-3 -c", Then::Nothing),
    ("gcc", "-gdwarf-2 -gno-strict-dwarf -c", Then::Nothing),
    ("gcc", "-gdwarf-4 -gno-pubnames -fno-merge-debug-strings -c", Then::Nothing),
    ("gcc", "-g -fdebug-types-section -c", Then::Nothing),
    ("gcc", "-gdwarf-4 -fdebug-types-section -c", Then::Nothing),
    ("gcc", "-g -gz=zlib -c", Then::Nothing),
    ("gcc", "-g -shared -fPIC", Then::Nothing),
    ("gcc", "-g -flto -O1 -shared -fPIC", Then::Nothing),
    ("gcc", "-g -shared -fPIC", Then::Dwz),
    ("gcc", "-gdwarf-4 -shared -fPIC", Then::Dwz),
    ("gcc", "-g -gsplit-dwarf -c", Then::Split),
    ("gcc", "-gdwarf-4 -gsplit-dwarf -c", Then::Split),
    ("gcc", "-g -gsplit-dwarf -fdebug-types-section -c", Then::Split),
    ("gcc", "-gdwarf-4 -gsplit-dwarf -fPIC -c", Then::Package("dwp")),
    ("gcc", "-gdwarf-4 -gsplit-dwarf -fdebug-types-section -fPIC -c", Then::Package("dwp")),
    ("clang", "-g -fstandalone-debug -c", Then::Nothing),
    ("clang", "-gdwarf-4 -fstandalone-debug -c", Then::Nothing),
    ("clang", "-gdwarf-3 -fstandalone-debug -c", Then::Nothing),
    ("clang", "-gdwarf-2 -fstandalone-debug -c", Then::Nothing),
    ("clang", "-g -fstandalone-debug -fdebug-types-section -c", Then::Nothing),
    ("clang", "-gdwarf-4 -fstandalone-debug -fdebug-types-section -c", Then::Nothing),
    ("clang", "-g -fstandalone-debug -gsplit-dwarf -c", Then::Split),
    ("clang", "-gdwarf-5 -fstandalone-debug -gsplit-dwarf -fPIC -c", Then::Package("llvm-dwp")),
    (
        "clang",
        "-gdwarf-5 -fstandalone-debug -gsplit-dwarf -fdebug-types-section -fPIC -c",
        Then::Package("llvm-dwp"),
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Nothing,
    /// The separate file is read.
    Split,
    /// This tool packs the separate files of three objects.
    Package(&'static str),
    Dwz,
}

/// What gdb says of types.
fn of_gdb(object: &Path, types: &[(&str, &str)]) -> Option<BTreeMap<String, Expected>> {
    let mut command = Command::new("gdb");
    command.args(["-nx", "-batch", "-ex", "set width 0"]);
    for (_, expression) in types {
        command.args(["-ex".into(), format!("ptype /o {expression}")]);
    }
    let output = command.arg(object).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let all: Vec<&str> = text.split("/* offset ").skip(1).collect();
    assert_eq!(all.len(), types.len(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let types = types.iter().zip(all);
    Some(types.map(|((name, _), text)| ((*name).to_owned(), of_text(text))).collect())
}

/// One answer of gdb.
fn of_text(text: &str) -> Expected {
    let (mut depth, mut size, mut padding) = (0, 0, 0);
    let mut members: Vec<Member> = Vec::new();
    let has_base = text.lines().next().unwrap().contains(" : ");
    for line in text.lines() {
        let (note, rest) =
            line.strip_prefix("/* ").and_then(|line| line.split_once("*/")).unwrap_or(("", line));
        let total = rest.split_once("total size (bytes):");
        if let Some((_, number)) = total.filter(|_| depth == 1) {
            size = number.split("*/").next().unwrap().trim().parse().unwrap();
        }
        if let Some(gap) = note.strip_prefix("XXX").filter(|_| depth == 1) {
            let bytes =
                gap.split_once("-byte").map_or(0, |(bytes, _)| bytes.trim().parse().unwrap());
            padding += bytes;
        }
        let place = note.split_once('|').filter(|_| depth == 1).map(|(place, _)| place.trim());
        if let Some(place) = place {
            let (byte, bit) = match place.split_once(':') {
                Some((byte, bit)) => (byte, Some(bit.trim().parse().unwrap())),
                None => (place, None),
            };
            members.push((name_of(rest), byte.parse().unwrap(), bit));
        }
        depth += rest.matches('{').count();
        let closed = rest.matches('}').count();
        depth -= closed;
        if let Some((_, name)) = rest.split_once('}').filter(|_| depth == 1) {
            members.last_mut().unwrap().0 = name_of(name);
        }
    }
    Expected { size, members, padding: (!has_base).then_some(padding) }
}

/// The name in a declaration: `a` in `unsigned int (*a[2])(int) : 3;`.
pub(super) fn name_of(declaration: &str) -> Option<String> {
    let declaration = declaration.trim().trim_end_matches(';');
    let declaration =
        declaration.split(" : ").next().unwrap().split(" __attribute__").next().unwrap();
    let pointed = declaration.split_once('*').filter(|_| declaration.contains(")("));
    let declaration = pointed.map_or(declaration, |(_, name)| name.split(')').next().unwrap());
    let name = declaration.split('[').next().unwrap().rsplit([' ', '*', '&', '}']).next().unwrap();
    (!name.is_empty()).then(|| name.to_owned())
}

/// What the debug information says.
fn of_structure(structure: &Structure) -> Expected {
    let all = structure.members.iter();
    let has_base = all.clone().any(|member| matches!(member.kind, Kind::Base { .. }));
    let members = all.filter(|member| !matches!(member.kind, Kind::Base { .. })).map(|member| {
        let bit = if let Kind::Bits { first, .. } = member.kind { Some(first) } else { None };
        (member.name.clone(), member.offset.unwrap(), bit)
    });
    let padding = if has_base { None } else { Some(structure.padding().unwrap_or(u64::MAX)) };
    Expected { size: structure.size.unwrap(), members: members.collect(), padding }
}

/// What differs in a form of debug information.
fn compare(file: &Path, expected: &BTreeMap<String, Expected>, form: &str) -> Vec<String> {
    let bytes = fs::read(file).unwrap();
    let info = match DebugInfo::read(&*bytes) {
        Ok(info) => info,
        Err(error) => return vec![format!("{form}: {error}")],
    };
    let mut differences = Vec::new();
    for (name, expected) in expected {
        // Units of types do not say which namespaces are inline.
        let is_whole = name == "geo::Packet" && form.contains("types-section");
        let found = match info.find(if is_whole { "geo::v1::Packet" } else { name }) {
            Ok(found) => found,
            Err(error) => {
                differences.push(format!("{form}: {name}: {error}"));
                continue;
            }
        };
        let mut found = of_structure(found.fields.layout().unwrap());
        // gdb counts the pointer to the virtual functions as padding.
        let mut expected = expected.clone();
        if found.padding.is_none() || expected.padding.is_none() {
            (found.padding, expected.padding) = (None, None);
        }
        if found != expected {
            differences.push(format!("{form}: {name}: {found:?}, gdb has {expected:?}"));
        }
    }
    let all = info.types().unwrap();
    for name in expected.keys() {
        let last = name.rsplit("::").next().unwrap();
        if !all.iter().any(|one| one.name == *name || one.name.ends_with(&format!("::{last}"))) {
            differences.push(format!("{form}: {name} is not on the list"));
        }
    }
    differences
}

/// The compiler of a family for C or C++.
fn compiler(family: &str, is_cpp: bool) -> &str {
    match (family, is_cpp) {
        ("gcc", true) => "g++",
        ("clang", true) => "clang++",
        _ => family,
    }
}

fn run(folder: &Folder, program: &str, arguments: &[&str]) -> Option<()> {
    let output =
        Command::new(program).current_dir(folder.path("")).args(arguments).output().ok()?;
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {message}");
    Some(())
}

/// The file with the debug information of a source; `None` without one of the tools.
fn made(folder: &Folder, family: &str, is_cpp: bool, options: &str, then: Then) -> Option<PathBuf> {
    let (file, source) = if is_cpp { ("a.cpp", CPP) } else { ("a.c", C) };
    let options = if is_cpp { format!("{options} -std=c++20") } else { options.to_owned() };
    let object = compiled(folder, compiler(family, is_cpp), file, source, &options)?;
    match then {
        Then::Nothing => Some(object),
        Then::Split => Some(object.with_extension("dwo")),
        Then::Dwz => {
            let smaller = folder.path("smaller");
            run(folder, "dwz", &["-o", smaller.to_str()?, object.to_str()?])?;
            // It leaves a file as it is if it finds nothing to save.
            Some(if smaller.exists() { smaller } else { object })
        }
        Then::Package(tool) => {
            // Units before and after it, with other tables.
            let other = "struct First { long a; char b; } first; struct Second { int x; double y; } *second;";
            let before = compiled(
                folder,
                compiler(family, false),
                "before.c",
                other,
                &options.replace("-std=c++20", ""),
            )?;
            let other = "struct Third { char c; union { int i; } u; } third; struct Fourth { void *p, *q; } fourth;";
            let after = compiled(
                folder,
                compiler(family, false),
                "after.c",
                other,
                &options.replace("-std=c++20", ""),
            )?;
            let package = folder.path("all.dwp");
            let files: Vec<PathBuf> =
                [&before, &object, &after].map(|file| file.with_extension("dwo")).to_vec();
            let mut arguments = vec!["-o", package.to_str()?];
            arguments.extend(files.iter().filter_map(|file| file.to_str()));
            run(folder, tool, &arguments)?;
            Some(package)
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn layouts_are_those_of_gdb() {
    let mut references = BTreeMap::new();
    for family in ["gcc", "clang"] {
        for is_cpp in [false, true] {
            let folder = Folder::new();
            let options = if family == "gcc" {
                "-g -shared -fPIC"
            } else {
                "-g -fstandalone-debug -shared -fPIC"
            };
            let Some(object) = made(&folder, family, is_cpp, options, Then::Nothing) else {
                continue;
            };
            let types = if is_cpp { CPP_TYPES } else { C_TYPES };
            let Some(all) = of_gdb(&object, types) else { return };
            references.insert((family, is_cpp), all);
        }
    }
    let mut differences = Vec::new();
    for (family, options, then) in FORMS {
        for is_cpp in [false, true] {
            let folder = Folder::new();
            let Some(expected) = references.get(&(*family, is_cpp)) else { continue };
            let Some(file) = made(&folder, family, is_cpp, options, *then) else { continue };
            let form = format!("{} {options}, {then:?}", compiler(family, is_cpp));
            differences.extend(compare(&file, expected, &form));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

const FORTRAN: &str = "
module m
  implicit none
  type :: point
    integer(1) :: k
    real(8) :: x(3)
  end type
  type, extends(point) :: child
    logical(1) :: ok
    complex(8) :: z
    character(len=5) :: name
    type(point) :: at(2)
  end type
contains
  subroutine local()
    type :: point
      integer(2) :: a
      integer(8) :: b
    end type
    type(point) :: p
    p%a = 1
    p%b = 2
    call show('point', storage_size(p) / 8, [loc(p%a), loc(p%b)] - loc(p))
  end subroutine
  subroutine show(name, size, places)
    character(len=*) :: name
    integer :: size
    integer(8) :: places(:)
    integer :: i
    print '(a, a, i0, *(a, i0))', name, ' ', size, (' ', places(i), i = 1, ubound(places, 1))
  end subroutine
end module
program p
  use m
  type(point) :: a
  type(child) :: c
  call show('m::point', storage_size(a) / 8, [loc(a%k), loc(a%x)] - loc(a))
  call show('m::child', storage_size(c) / 8, [loc(c), loc(c%ok), loc(c%z), loc(c%name), loc(c%at)] - loc(c))
  call local()
end program
";

const RUST: &str = r#"
#![allow(dead_code)]
use std::mem::{offset_of, size_of};
macro_rules! shown { ($($name:ty, [$($field:tt)*];)*) => {
    $(let places = [$(offset_of!($name, $field)),*]; println!("{} {} {places:?}", stringify!($name).replace(' ', ""), size_of::<$name>());)*
} }
pub enum Kind { A, B = 5 }
pub enum Shape { Dot, Circle(f64), Named(u8, u32) }
pub struct Pair(u8, f32, u16);
pub struct Free { a: u8, b: f64, c: u16, k: Kind, p: Pair }
#[repr(C)] pub struct Fixed { a: u8, b: f64, c: u16, s: Option<u8>, z: [Pair; 2] }
#[repr(C, packed)] pub struct Tight { a: u8, b: f64, c: u16 }
#[repr(C, packed(2))] pub struct Halves { a: u8, b: f64, c: u8 }
#[repr(align(128))] pub struct Line(u64, u8);
#[repr(C, align(64))] pub struct Wide { a: u8, b: u32, c: u8 }
pub struct Holds { line: Line, wide: Wide, shape: Shape, t: &'static str, b: Box<u8> }
pub struct Generic<T> { a: u8, t: T, n: std::marker::PhantomData<T>, e: () }
mod inner { pub struct Free { pub a: u32, pub b: u8 } }
fn main() {
    struct Local { a: u8, b: u16 }
    shown! { Pair, [0 1 2]; Free, [a b c k p]; Fixed, [a b c s z]; Tight, [a b c]; Halves, [a b c]; Line, [0 1];
        Wide, [a b c]; Holds, [line wide shape t b]; Generic<f32>, [a t n e]; inner::Free, [a b]; Local, [a b]; }
    let all: (Option<Holds>, Option<Fixed>, Option<Tight>, Option<Halves>, Option<Generic<f32>>, Option<inner::Free>) =
        (None, None, None, None, None, None);
    std::hint::black_box(&all);
    std::hint::black_box(&(Local { a: 1, b: 2 }, Free { a: 1, b: 2.0, c: 3, k: Kind::A, p: Pair(1, 2.0, 3) }));
}
"#;

/// Each line of a program: the name of a type, its size and the places of its members, in any order.
fn compare_with_program(program: &Path, file: &Path, prefix: &str) {
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success());
    let bytes = fs::read(file).unwrap();
    let info = DebugInfo::read(&*bytes).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for line in text.lines() {
        let mut words = line.split([' ', '[', ']', ',']).filter(|word| !word.is_empty());
        let name = format!("{prefix}{}", words.next().unwrap());
        let mut numbers = words.map(|word| word.parse::<u64>().unwrap());
        let size = numbers.next().unwrap();
        let mut places: Vec<u64> = numbers.collect();
        places.sort_unstable();
        let found = info.find(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let structure = found.fields.layout().unwrap();
        let mut found: Vec<u64> = structure.members.iter().map(|one| one.offset.unwrap()).collect();
        found.sort_unstable();
        assert_eq!((structure.size, found), (Some(size), places), "{name}");
        let all = info.types().unwrap();
        let inner = format!("::{name}");
        let least = all.iter().find(|one| one.name == name);
        let least = least.or_else(|| all.iter().find(|one| one.name.ends_with(&inner)));
        let least = least.unwrap_or_else(|| panic!("{name} is not on the list")).reordered;
        assert!(least.is_some_and(|least| least <= size), "{name}: {least:?}");
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn layouts_of_fortran_are_those_of_a_program() {
    for (options, then) in [
        ("-g", Then::Nothing),
        ("-gdwarf-4", Then::Nothing),
        ("-g", Then::Dwz),
        ("-g -fdebug-types-section", Then::Nothing),
    ] {
        let folder = Folder::new();
        let options = format!("{options} -fno-range-check -J{}", folder.path("").display());
        let Some(program) = compiled(&folder, "gfortran", "a.f90", FORTRAN, &options) else {
            return;
        };
        let mut file = program.clone();
        if then == Then::Dwz {
            file = folder.path("smaller");
            let (from, to) = (program.to_str().unwrap(), file.to_str().unwrap());
            let Some(()) = run(&folder, "dwz", &["-o", to, from]) else { continue };
        }
        compare_with_program(&program, &file, "");
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn layouts_of_rust_are_those_of_a_program() {
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
    for (options, suffix) in
        [("-g", ""), ("-g -Copt-level=2", ""), ("-g -Csplit-debuginfo=packed", ".dwp")]
    {
        let folder = Folder::new();
        let options = format!("{options} --edition=2024 -Awarnings");
        let Some(program) = compiled(&folder, &compiler, "main.rs", RUST, &options) else { return };
        let file = PathBuf::from(format!("{}{suffix}", program.display()));
        compare_with_program(&program, &file, "main::");
    }
}
