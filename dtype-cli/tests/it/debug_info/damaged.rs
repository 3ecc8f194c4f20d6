//! Damaged object files: no panic, no long search, no large allocation.

use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;

use dtype_cli::debug_info::DebugInfo;
use dtype_text::structure::Inside;

use super::{C, CPP, Command, Folder, compiled, noise};
use crate::linear::{TIMES, assert_linear};

/// Enums with data and unions inside one another.
const VARIANTS: &str = "
    pub union U { a: u32, b: [u8; 4] }
    pub enum Base { A(Box<Base>, u8), B { u: U, o: Option<Option<char>> }, C }
    pub struct P { b: Base, u: [U; 2] }
    pub fn f(p: &P) -> bool { matches!(p.b, Base::C) }";

/// Reads everything that a file may still say.
fn read(bytes: &[u8]) {
    let Ok(info) = DebugInfo::read(bytes) else { return };
    let _ = info.types();
    for name in ["P", "inner", "Cell<double, 3>", "Base"] {
        if let Ok(found) = info.find(name)
            && let Some(layout) = found.fields.layout()
        {
            let _ = layout.leaves(Inside::All, false, 1024);
        }
    }
    let _ = info.structures(true);
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn damaged_files_are_read_or_refused() {
    let folder = Folder::new();
    for (compiler, file, source, options) in [
        ("gcc", "a.c", C, "-g -c"),
        ("gcc", "b.c", C, "-g -gdwarf-4 -fdebug-types-section -c"),
        ("gcc", "c.c", C, "-g -gz=zlib -c"),
        ("g++", "d.cpp", CPP, "-g -gdwarf-3 -c"),
        (
            "rustc",
            "e.rs",
            VARIANTS,
            "-g --edition=2024 --crate-type=lib --emit=obj -Awarnings -Ccodegen-units=1",
        ),
    ] {
        let Some(object) = compiled(&folder, compiler, file, source, options) else { return };
        let whole = fs::read(object).unwrap();
        for (number, pair) in noise(8 * 300).chunks_exact(8).enumerate() {
            let mut bytes = whole.clone();
            let at = usize::from_le_bytes(pair.try_into().unwrap()) % bytes.len();
            // One byte, or some in a row, or the end is missing.
            match number % 4 {
                0 => bytes[at] ^= pair[0] | 1,
                1 => bytes[at] = 0xff,
                2 => {
                    let end = (at + 16).min(bytes.len());
                    bytes[at..end].copy_from_slice(&noise(end - at));
                }
                _ => bytes.truncate(at),
            }
            read(&bytes);
        }
    }
}

/// Each byte of the sections that describe types, and of their headers.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn every_byte_of_a_small_file_is_damaged() {
    let folder = Folder::new();
    let source = "struct inner { char c; struct { short s; }; }; struct P { struct inner in[2]; double d : 0 ? 1 : 0; } p;"
        .replace("double d : 0 ? 1 : 0", "int b : 3; double d");
    let Some(object) = compiled(&folder, "gcc", "a.c", &source, "-g -c") else { return };
    let whole = fs::read(object).unwrap();
    for at in 0..whole.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            read(&bytes);
        }
    }
}

/// With a limit of 1 GB for its memory, the command says what is wrong.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn damaged_files_take_no_memory() {
    let folder = Folder::new();
    let Some(object) = compiled(&folder, "gcc", "a.c", C, "-g -gz=zlib -c") else { return };
    let plain = compiled(&folder, "g++", "b.cpp", CPP, "-g -c").unwrap();
    let whole = [object, plain].map(|object| fs::read(object).unwrap());
    for (number, pair) in noise(8 * 200).chunks_exact(8).enumerate() {
        let mut bytes = whole[number % 2].clone();
        let at = usize::from_le_bytes(pair.try_into().unwrap()) % bytes.len();
        let end = (at + 8).min(bytes.len());
        bytes[at..end].fill(pair[0] | 0x80);
        let damaged = folder.file("damaged.o", &bytes);
        let mut command = Command::new("sh");
        // All types, or the members of one.
        let one = [":P", ":Cell<double, 3>", "", ":inner", ":Virtual"][number % 5];
        command.args(["-c", "ulimit -v 1000000; exec \"$0\" \"$1\""]);
        command.arg(env!("CARGO_BIN_EXE_dtype")).arg(format!("{}{one}", damaged.display()));
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(matches!(status.code(), Some(0 | 2)), "{status} for {pair:?}");
    }
}

/// What is left out of a struct is named in each struct around it, with one more long name in front.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn names_of_nested_members_are_bounded() {
    let folder = Folder::new();
    let pointers = (0..256).map(|number| format!("void *p{number};")).collect::<Vec<_>>().concat();
    let mut source = format!("struct S0 {{ {pointers} int x; }};");
    for level in 1..=20 {
        let (inner, name) = (level - 1, "n".repeat(16_000));
        write!(source, "struct S{level} {{ struct S{inner} a{level}{name}; }};").unwrap();
    }
    source += "struct S20 s;";
    let Some(object) = compiled(&folder, "gcc", "a.c", &source, "-g -c") else { return };
    let bytes = fs::read(object).unwrap();
    let info = DebugInfo::read(&*bytes).unwrap();
    let leaves = |name: &str| {
        let found = info.find(name).unwrap();
        let (all, is_complete) = found.fields.layout().unwrap().leaves(Inside::All, true, 256);
        (all.len(), all.iter().map(|one| one.path.len()).sum::<usize>(), is_complete)
    };
    let (number, _, is_complete) = leaves("S2");
    assert!(number == 256 && is_complete);
    let (number, bytes, is_complete) = leaves("S20");
    assert!(number < 256 && bytes <= 16 << 20 && !is_complete, "{number} paths of {bytes} bytes");
}

/// As many structs without a name, each inside the one before, as there are types in the last one.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn scopes_without_names_take_no_time() {
    let folder = Folder::new();
    let source = |number: usize| {
        let source = r#"
        .section .debug_abbrev, "", @progbits
        .byte 1, 0x11, 1, 0, 0 # a unit
        .byte 2, 0x13, 1, 0x0b, 0x0b, 0, 0 # a struct with a size
        .byte 3, 0x13, 0, 0x03, 0x08, 0x0b, 0x0b, 0, 0 # with a name, too
        .byte 0
        .section .debug_info, "", @progbits
        .4byte end - start
        start: .2byte 4
        .4byte 0
        .byte 8, 1
        .rept 200000
        .byte 2, 4
        .endr
        .rept 200000
        .byte 3, 'x', 0, 4
        .endr
        .rept 200001
        .byte 0
        .endr
        end:
    "#;
        source.replace("200000", &number.to_string()).replace("200001", &(number + 1).to_string())
    };
    let object = |number| compiled(&folder, "gcc", "a.s", &source(number), "-c");
    let Some(short) = object(100_000 / TIMES) else { return };
    let short = fs::read(short).unwrap();
    let long = fs::read(object(100_000).unwrap()).unwrap();
    let read = |bytes: &[u8]| {
        assert_eq!(DebugInfo::read(bytes).unwrap().types().unwrap().len(), 1);
    };
    assert_linear("scopes", || read(&short), || read(&long));
}
