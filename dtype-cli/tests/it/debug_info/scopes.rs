//! Each of several types with one name can be reached, and what is not known is said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dtype_cli::debug_info::{DebugInfo, Error, Summary};

use super::{Folder, compiled, find, layout};
use crate::command::{done, dtype, failed};

fn list(file: &Path) -> Vec<Summary> {
    let bytes = fs::read(file).unwrap();
    DebugInfo::read(&*bytes).unwrap().types().unwrap()
}

/// The size of a type in a part of a file.
fn size_within(file: &Path, part: &str, name: &str) -> Result<i64, Error> {
    let bytes = fs::read(file).unwrap();
    let found = DebugInfo::read(&*bytes)?.within(part).find(name)?;
    Ok(found.ty.extent())
}

fn size(file: &Path, name: &str) -> i64 {
    find(file, name).unwrap_or_else(|error| panic!("{error}")).ty.extent()
}

fn text(folder: &Folder, arguments: &[&str]) -> String {
    String::from_utf8(done(dtype().current_dir(folder.path("")).args(arguments))).unwrap()
}

/// Runs a tool in the folder; `None` without it.
fn run(folder: &Folder, program: &str, arguments: &[&str]) -> Option<()> {
    let output =
        Command::new(program).current_dir(folder.path("")).args(arguments).output().ok()?;
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {message}");
    Some(())
}

const LOCAL: &str = "namespace geo { struct Cell { char k; double v; }; inline namespace v1 { struct Packet { int a; }; } }
namespace { struct Hidden { char q; }; }
struct Hidden { int q[3]; } plain;
struct Method { int f(); struct In; }; struct Method::In { char c; int d; } in;
int Method::f() { struct Loc { short s; } l{1}; return l.s; }
double area() {
    struct Cell { int a, b, c; } c{1, 2, 3};
    { struct Cell { long q; } d{3}; c.a += d.q; }
    return c.a + geo::Cell{1, 2}.v;
}
double area(int) { struct Cell { int a; } c{1}; return c.a; }
::Hidden h; geo::Packet packet; geo::Cell cell; namespace { Hidden hidden; }
";

/// Functions, blocks and methods are scopes. A namespace may be inline or without a name.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn functions_are_scopes() {
    let source = LOCAL.replace("::Hidden h; ", "").replace("namespace { Hidden hidden; }", "");
    let source = source.replace("struct Hidden { int q[3]; } plain;\n", "");
    for (compiler, options) in [
        ("g++", "-g -c"),
        ("g++", "-gdwarf-4 -c"),
        ("g++", "-g -O1 -c"),
        ("clang++", "-g -c"),
        ("g++", "-g -fdebug-types-section -c"),
    ] {
        let folder = Folder::new();
        let source = format!("{source}Hidden hidden; char *used() {{ return &hidden.q; }}\n");
        let Some(object) = compiled(&folder, compiler, "a.cpp", &source, options) else { continue };
        let form = format!("{compiler} {options}");
        assert_eq!(size(&object, "geo::Cell"), 16, "{form}");
        // The units of types do not say that the namespace is inline.
        if !options.contains("types") {
            assert_eq!(size(&object, "geo::Packet"), 4, "{form}");
        }
        assert_eq!(size(&object, "geo::v1::Packet"), 4, "{form}");
        assert_eq!(size(&object, "Method::In"), 8, "{form}");
        assert_eq!(size(&object, "(anonymous namespace)::Hidden"), 1, "{form}");
        if options.contains("-O") {
            continue;
        }
        assert_eq!(size(&object, "Method::f()::Loc"), 2, "{form}");
        assert_eq!(size(&object, "Method::f::Loc"), 2, "{form}");
        let Error::Several { types, part, .. } = find(&object, "area()::Cell").unwrap_err() else {
            panic!()
        };
        assert_eq!((types.len(), part.is_some()), (3, true), "{types:?}");
        for (line, size) in [(6, 12), (7, 8), (10, 4)] {
            let found = size_within(&object, &format!(":{line}"), "area::Cell");
            assert_eq!(found, Ok(size), "{form}: {line}");
        }
        assert_eq!(size_within(&object, ":6", "Cell"), Ok(12), "{form}");
        let all = list(&object);
        let cells: Vec<&str> =
            all.iter().filter(|one| one.name.ends_with("Cell")).map(|one| &*one.name).collect();
        let count = |name: &str| cells.iter().filter(|cell| **cell == name).count();
        assert_eq!(
            (count("geo::Cell"), count("area()::Cell"), cells.len()),
            (1, 3, 4),
            "{form}: {cells:?}"
        );
    }
    let folder = Folder::new();
    let Some(object) = compiled(
        &folder,
        "gcc",
        "a.c",
        "struct T { char c; } t; int f(void) { struct T { int i; } t = {1}; return t.i; }",
        "-g -c",
    ) else {
        return;
    };
    assert_eq!((size(&object, "T"), size(&object, "f()::T")), (1, 4));
}

/// Two structs with one name and one size are two rows, and each of them has a name.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn structs_of_one_name_and_size() {
    let folder = Folder::new();
    let first =
        "struct shape { char a; double b; char c; } s1; struct same { int x; char *name; } same1;";
    let second = "struct shape { short a; double b; int c; char d; } s2; struct same { int x; char *name; } same2;";
    let Some(one) = compiled(&folder, "gcc", "shape.c", first, "-g -c -fPIC") else { return };
    let two = compiled(&folder, "gcc", "other.c", second, "-gdwarf-4 -c -fPIC").unwrap();
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    let Some(()) = run(&folder, "ar", &["rcs", "libs.a", one, two]) else { return };
    run(&folder, "gcc", &["-shared", "-o", "libs.so", one, two]).unwrap();
    for (file, parts) in
        [("libs.a", ["shape.c.o", "other.c.o"]), ("libs.so", ["shape.c", "other.c"])]
    {
        let listed = text(&folder, &[file]);
        let rows: Vec<Vec<&str>> =
            listed.lines().map(|line| line.split_whitespace().collect()).collect();
        let [a, b] = parts.map(|part| format!("({part})"));
        assert!(rows.contains(&vec!["24", "14", "shape", &a]), "{listed}");
        assert!(rows.contains(&vec!["24", "9", "shape", &b]), "{listed}");
        assert_eq!(rows.iter().filter(|row| row.contains(&"same")).count(), 1, "{listed}");
        let message = failed(dtype().current_dir(folder.path("")).arg(format!("{file}:shape")));
        assert!(message.contains("several types are called `shape`"), "{message}");
        assert!(
            message.contains(&format!("`FILE({}):shape`", parts[0]))
                || message.contains(&format!("`FILE({}):shape`", parts[1])),
            "{message}"
        );
        let shown = |part: &str| {
            text(&folder, &["show", &format!("{file}({part}):shape"), "--as", "notation"])
        };
        assert!(
            shown(parts[0]).starts_with("struct{a: c_char@0, b: f64@8, c: c_char@16}"),
            "{}",
            shown(parts[0])
        );
        assert!(shown(parts[1]).contains("d: c_char@20"), "{}", shown(parts[1]));
        assert!(!text(&folder, &[&format!("{file}({})", parts[0])]).contains('('));
        let message = failed(dtype().current_dir(folder.path("")).arg(format!("{file}(none.o)")));
        assert!(message.contains("the file has no types of `none.o`"), "{message}");
    }
}

/// The list says that a number is not known, and `info` says why.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn virtual_base_classes_have_no_fixed_place() {
    let folder = Folder::new();
    let source = "#include <tuple>
        struct V { double x; char y; }; struct L : virtual V { char a; }; struct R : virtual V { int b; };
        struct D : L, R { char c; } d; std::tuple<char, double, char> t; struct Holds { char c; D d; } h;";
    let Some(object) = compiled(&folder, "g++", "a.cpp", source, "-g -c -std=c++20") else {
        return;
    };
    let left_out = layout(&object, "D").1;
    let virtuals: Vec<&String> =
        left_out.iter().filter(|one| one.contains("virtual base")).collect();
    assert_eq!(virtuals, ["V: a virtual base class"], "{left_out:?}");
    assert_eq!(
        layout(&object, "Holds").1.iter().filter(|one| *one == "d.V: a virtual base class").count(),
        1
    );
    let all = list(&object);
    let padding = |name: &str| all.iter().find(|one| one.name == name).unwrap().padding;
    assert_eq!(
        [padding("D"), padding("L"), padding("V"), padding("Holds")],
        [None, None, Some(7), Some(7)]
    );
    assert_eq!(padding("std::tuple<char, double, char>"), Some(14));
    let listed = text(&folder, &["a.cpp.o"]);
    assert!(listed.contains("–  D\n"), "{listed}");
    let info = text(&folder, &["info", "a.cpp.o:D", "--skip"]);
    assert!(info.contains("padding    not known: the place of `V` is not fixed\n"), "{info}");
    assert!(info.contains("alignment  8\n") && info.contains("reordered  not known"), "{info}");
    let info = text(&folder, &["info", "a.cpp.o:tuple<char, double, char>", "--skip"]);
    assert!(info.contains("padding    14 bytes"), "{info}");
}

#[test]
fn enums_with_data_have_no_known_padding() {
    if cfg!(windows) {
        return;
    }
    let folder = Folder::new();
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
    let source = "pub enum Tagged { A(u8, f64), B(u16) } pub struct Holds { a: u8, t: Tagged } pub fn f(h: &Holds) -> u8 { h.a }";
    let options = "-g --edition=2024 --crate-type=lib --emit=obj -Ccodegen-units=1";
    let Some(object) = compiled(&folder, &compiler, "lib.rs", source, options) else { return };
    let all = list(&object);
    let find = |name: &str| all.iter().find(|one| one.name == name).unwrap();
    assert_eq!((find("lib::Tagged").padding, find("lib::Tagged").reordered), (None, None));
    assert_eq!(find("lib::Holds").padding, Some(7));
}

/// `dwz -m` moves types and names to another file.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn what_is_in_another_file_is_not_known() {
    let folder = Folder::new();
    let inner = "struct inner { double x; char c; short s[4]; float f; long l; unsigned u; };";
    let mut files = Vec::new();
    for name in ["one", "two"] {
        let source = format!(
            "{inner} struct far {{ struct inner a; char b; }} far_{name};
            struct own_{name} {{ char first; struct inner inner; char last_{name}; }} own_{name};"
        );
        let file = compiled(&folder, "gcc", &format!("{name}.c"), &source, "-g -shared -fPIC");
        let Some(file) = file else { return };
        files.push(file);
    }
    let names: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let Some(()) = run(&folder, "dwz", &["-m", "common", names[0], names[1]]) else { return };
    let all = list(&files[0]);
    let own = all.iter().find(|one| one.name == "own_one").unwrap();
    assert_eq!((own.size, own.padding, own.reordered), (Some(56), None, None));
    let info = text(&folder, &["info", &format!("{}:own_one", names[0]), "--skip"]);
    assert!(info.contains("padding    not known: the size of `"), "{info}");
}

/// A compiler may describe a type in one unit only.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn declarations_are_looked_up_in_other_units() {
    let folder = Folder::new();
    folder.file("b.h", b"struct Inner { int x; double y; };");
    let first = "#include \"b.h\"\nstruct Outer { char c; struct Inner in; } outer;";
    let options = "-g -c -femit-struct-debug-baseonly";
    let Some(one) = compiled(&folder, "gcc", "a.c", first, options) else { return };
    assert!(layout(&one, "Outer").1[0].contains("only declares"));
    let other =
        compiled(&folder, "gcc", "b.c", "#include \"b.h\"\nstruct Inner inner;", options).unwrap();
    let third = compiled(
        &folder,
        "gcc",
        "c.c",
        "struct Inner { char other; } inner2; struct Clash { struct Inner in; };",
        "-g -c",
    )
    .unwrap();
    let link = |name: &str, objects: &[&PathBuf]| {
        let output = folder.path(name);
        let mut arguments = vec!["-r", "-o", output.to_str().unwrap()];
        arguments.extend(objects.iter().filter_map(|object| object.to_str()));
        run(&folder, "ld", &arguments).map(|()| output.clone())
    };
    let Some(both) = link("both.o", &[&one, &other]) else { return };
    let (found, left_out) = layout(&both, "Outer");
    assert_eq!(found, "struct{c: c_char@0, in: struct{x: c_int@0, y: f64@8}@8}");
    assert!(left_out.is_empty(), "{left_out:?}");
    let all = link("all.o", &[&one, &other, &third]).unwrap();
    assert!(layout(&all, "Outer").1[0].contains("differs in other units"));
    // Clang's default: only the unit with the constructor describes the class.
    let header = "struct Made { Made(); virtual ~Made(); double x; char c; };";
    let first = format!(
        "{header} struct Outer {{ char c; Made made; }}; Outer *outer; char f() {{ return outer->c; }}"
    );
    let Some(one) = compiled(&folder, "clang++", "a.cpp", &first, "-g -c") else { return };
    let second = format!("{header} Made::Made() {{}} Made::~Made() {{}}");
    let other = compiled(&folder, "clang++", "b.cpp", &second, "-g -c").unwrap();
    let both = link("both.o", &[&one, &other]).unwrap();
    assert_eq!(
        layout(&both, "Outer").0,
        "resized(struct{c: c_char@0, made: resized(struct{x: f64@8, c: c_char@16}, 0, 24)@8}, 0, 32)"
    );
}

/// The message names the file that is there: the package beside the program, or the one that the compiler wrote.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_hint_names_the_file_that_is_there() {
    let folder = Folder::new();
    let source = "struct P { char c; int x; } p;";
    let Some(object) =
        compiled(&folder, "gcc", "a.c", source, "-gdwarf-4 -gsplit-dwarf -shared -fPIC")
    else {
        return;
    };
    let program = object.to_str().unwrap();
    let names = folder.names();
    let separate =
        names.iter().find(|name| Path::new(name).extension() == Some("dwo".as_ref())).unwrap();
    let message = failed(dtype().arg(format!("{program}:P")));
    assert!(
        message.contains(&format!("{separate}` (split debug information)\nhelp: name that file")),
        "{message}"
    );
    let package = format!("{program}.dwp");
    let Some(()) = run(&folder, "dwp", &["-o", &package, folder.path(separate).to_str().unwrap()])
    else {
        return;
    };
    fs::remove_file(folder.path(separate)).unwrap();
    let message = failed(dtype().arg(format!("{program}:P")));
    assert!(message.contains(&format!("name that file: `{package}:NAME`")), "{message}");
    assert_eq!(size(Path::new(&package), "P"), 8);
    fs::remove_file(&package).unwrap();
    let message = failed(dtype().arg(format!("{program}:P")));
    assert!(message.contains("that file is not there"), "{message}");
}
