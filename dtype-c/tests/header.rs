//! `dtype.h` is written by hand. Here it is compared with the functions, structs and constants of the library: cbindgen declares
//! each function once more, from the sources, and a C compiler refuses a declaration that differs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

use cbindgen::{Builder, Config, ItemType, Language, Style};
use dtype_c::{
    CODES, dtype_architecture, dtype_frame_info, dtype_framing, dtype_limits, dtype_type_info,
    dtype_values, iovec,
};
use dtype_runtime::Basic;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> String {
    fs::read_to_string(folder().join("include/dtype.h")).unwrap()
}

/// The declarations that cbindgen makes of the sources.
fn declarations() -> String {
    let mut config = Config {
        language: Language::C,
        style: Style::Tag,
        no_includes: true,
        usize_is_size_t: true,
        ..Config::default()
    };
    config.export.item_types = vec![ItemType::Functions];
    let mut sources: Vec<PathBuf> =
        fs::read_dir(folder().join("src")).unwrap().map(|file| file.unwrap().path()).collect();
    sources.sort();
    let builder = sources.iter().fold(Builder::new(), |all, file| all.with_src(file));
    let bindings = builder.with_config(config).generate().unwrap();
    let mut text = Vec::new();
    bindings.write(&mut text);
    String::from_utf8(text).unwrap()
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
    command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"]);
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
    compile(&declarations().replace("uint32_t dtype_version", "uint64_t dtype_version"));
}

/// Assertions that a struct has the same fields in the same places.
macro_rules! layout {
    ($text:ident, $name:ident { $($field:ident),* }) => {
        let dtype_size = size_of::<$name>();
        let name = stringify!($name);
        writeln!($text, "_Static_assert(sizeof(struct {name}) == {dtype_size}, \"{name}\");").unwrap();
        $(
            let (field, offset) = (stringify!($field), offset_of!($name, $field));
            writeln!($text, "_Static_assert(offsetof(struct {name}, {field}) == {offset}, \"{field}\");").unwrap();
        )*
        // All fields are named.
        let _ = |it: $name| { let $name { $($field: _),* } = it; };
    };
}

#[test]
fn structs_have_the_same_layout() {
    let mut text = String::new();
    layout!(
        text,
        dtype_type_info {
            size,
            lb,
            extent,
            true_lb,
            true_extent,
            align,
            elements,
            signature_hash,
            flags,
            reserved
        }
    );
    layout!(
        text,
        dtype_architecture { order, long_bytes, address_bytes, wide_char_bytes, logical_bytes }
    );
    layout!(text, dtype_values { element, count, name, name_length, values, number });
    layout!(text, dtype_framing { tag, flags });
    layout!(text, dtype_limits { max_payload_bytes, max_records, flags, reserved });
    layout!(
        text,
        dtype_frame_info { tag, order, count, record_size, signature_hash, payload, payload_size }
    );
    layout!(text, iovec { iov_base, iov_len });
    compile(&text);
}

#[test]
fn constants_have_the_same_values() {
    let mut text = String::new();
    let mut same = |name: &str, value: i32| {
        writeln!(text, "_Static_assert({name} == {value}, \"{name}\");").unwrap();
    };
    for (name, code, _) in CODES {
        same(name.to_str().unwrap(), *code);
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
