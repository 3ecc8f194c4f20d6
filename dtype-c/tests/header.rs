//! `dtype.h` is written by hand. Here it is compared with the functions, structs and constants of the library: a C compiler refuses
//! a second declaration that differs from the first.

use std::collections::BTreeSet;
use std::ffi::{c_char, c_void};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use dtype_c::CODES;
use dtype_c::declared::{FUNCTIONS, STRUCTS};
use dtype_runtime::Basic;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> String {
    fs::read_to_string(folder().join("include/dtype.h")).unwrap()
}

/// The declarations of all functions, as the library has them.
fn declarations() -> String {
    let mut text = String::new();
    for (name, arguments) in FUNCTIONS.iter().copied().flatten() {
        writeln!(text, "dtype_error {name}({});", arguments.join(", ")).unwrap();
    }
    for object in
        ["type", "committed", "packer", "unpacker", "columns", "encoder", "decoder", "received"]
    {
        writeln!(text, "void dtype_{object}_release(dtype_{object} *);").unwrap();
    }
    let _: unsafe extern "C" fn(*mut dtype_c::dtype_type) = dtype_c::dtype_type_release;
    // The others are declared here twice.
    let _: extern "C" fn() -> u32 = dtype_c::dtype_version;
    let _: unsafe extern "C" fn(u32, *const c_void, usize) -> u32 = dtype_c::dtype_crc;
    let _: extern "C" fn(i32) -> *const c_char = dtype_c::dtype_error_text;
    let _: [extern "C" fn() -> *const c_char; 2] =
        [dtype_c::dtype_last_message, dtype_c::dtype_last_field];
    let _: extern "C" fn() -> u64 = dtype_c::dtype_last_record;
    text.push_str(
        "uint32_t dtype_version(void);\n\
         uint32_t dtype_crc(uint32_t, const void *, size_t);\n\
         const char *dtype_error_text(dtype_error);\n\
         const char *dtype_last_message(void);\n\
         const char *dtype_last_field(void);\n\
         uint64_t dtype_last_record(void);\n",
    );
    text
}

/// The functions that a text in C declares.
fn functions(text: &str) -> BTreeSet<String> {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        code.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code.push_str(rest);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let calls =
        code.match_indices('(').filter_map(|(at, _)| code[..at].rsplit(|c| !word(c)).next());
    calls.filter(|name| name.starts_with("dtype_")).map(str::to_owned).collect()
}

/// Compiles a text after `#include <dtype.h>`.
fn compile(text: &str) {
    let file = tempfile::Builder::new().suffix(".c").tempfile().unwrap();
    fs::write(&file, format!("#include <dtype.h>\n{text}")).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(compiler);
    command.args([
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Wno-unused-function",
        "-Werror",
        "-fsyntax-only",
        "-I",
    ]);
    let output = command.arg(folder().join("include")).arg(file.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{text}");
}

#[test]
fn every_function_is_declared_as_it_is() {
    let declared = declarations();
    assert_eq!(functions(&header()), functions(&declared));
    compile(&declared);
}

/// A different declaration is an error, so the test above can fail.
#[test]
#[should_panic(expected = "conflicting types")]
fn a_wrong_declaration_is_found() {
    compile(&declarations().replace(
        "dtype_type_resized(const dtype_type *, int64_t",
        "dtype_type_resized(const dtype_type *, uint64_t",
    ));
}

#[test]
fn structs_have_the_same_layout() {
    let (mut text, header) = (String::new(), header());
    for (name, size, fields) in STRUCTS.iter().copied().flatten() {
        writeln!(text, "_Static_assert(sizeof(struct {name}) == {size}, \"{name}\");").unwrap();
        for (field, offset) in *fields {
            writeln!(
                text,
                "_Static_assert(offsetof(struct {name}, {field}) == {offset}, \"{field}\");"
            )
            .unwrap();
        }
        // And no others.
        if let Some((_, body)) = header.split_once(&format!("typedef struct {name} {{")) {
            let (body, _) = body.split_once("} ").unwrap();
            let code: String = body
                .split("/*")
                .map(|part| part.split_once("*/").map_or(part, |it| it.1))
                .collect();
            assert_eq!(code.matches([';', ',']).count(), fields.len(), "{name}");
        }
    }
    compile(&text);
}

#[test]
fn constants_have_the_same_values() {
    let mut text = String::new();
    let mut same = |name: &str, value: i32| {
        writeln!(text, "_Static_assert({name} == {value}, \"{name}\");").unwrap();
    };
    for (name, code, _) in CODES {
        same(name, *code);
    }
    for basic in Basic::ALL {
        same(&format!("DTYPE_{}", basic.name().to_uppercase()), basic.code().into());
    }
    compile(&text);
    // And there are no others.
    let header = header();
    let of_errors = header.lines().filter(|line| line.starts_with("    DTYPE_ERROR_")).count();
    assert_eq!(of_errors + 1, CODES.len());
    let (_, basics) = header.split_once("typedef int32_t dtype_basic;").unwrap();
    let (basics, _) = basics.split_once("};").unwrap();
    assert_eq!(basics.matches("DTYPE_").count(), Basic::ALL.len());
}

/// What the shared library exports is pinned.
#[test]
fn the_symbols_are_those_of_the_header() {
    let map = fs::read_to_string(folder().join("library/dtype.map")).unwrap();
    let symbols = map.lines().filter_map(|line| line.trim().strip_suffix(';'));
    let symbols = symbols.filter(|name| name.starts_with("dtype_")).map(str::to_owned);
    assert_eq!(symbols.collect::<BTreeSet<_>>(), functions(&header()));
}

/// A program may include the header that the command writes for a protocol as well.
#[test]
fn the_header_of_a_protocol_can_be_included_too() {
    let protocol = folder().join("../examples/peer-in-c/protocol.h");
    compile(&fs::read_to_string(protocol).unwrap());
}
