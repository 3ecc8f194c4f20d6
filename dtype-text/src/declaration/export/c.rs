//! Structs in C.

use std::fmt::Write;

use dtype_message::Header;
use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;

use super::definition::{Declarations, Definition, Enumeration, Target};
use super::identifier::{self, Scope};
use crate::names::in_c;
use crate::notation::Parsed;

pub(super) const LANGUAGE: Target =
    Target { name: "C", basic: in_c, is_reserved: is_keyword, is_taken: is_keyword };

/// For records that came from a peer: C does not check that a `bool` is 0 or 1, and any other number would be undefined
/// behaviour.
pub(super) const OF_PEERS: Target = Target { basic: basic_of_peers, ..LANGUAGE };

fn basic_of_peers(it: Basic) -> Option<&'static str> {
    in_c(if it.kind() == Kind::Logical && it.size() == 1 { Basic::U8 } else { it })
}

/// The words that are not names in C or in C++.
const KEYWORDS: &str = "alignas alignof and asm assert auto bool break case catch char class const constexpr \
    continue default delete do double else enum explicit export extern false float for \
    friend goto if inline int long mutable namespace new not nullptr operator or private \
    protected public register restrict return short signed sizeof static static_assert \
    struct switch template this thread_local throw true try typedef typeid typename typeof \
    typeof_unqual union unsigned using virtual void volatile wchar_t while xor offsetof NULL \
    linux unix packed";

/// The words with two underscores at the start that compilers and the headers of this file take, and that no rule of
/// [`is_reserved`] covers.
const RESERVED: &str = "__alignof __always_inline __amd64 __asm __attr_dealloc_free __attribute __auto_type __bases __bf16 \
    __bool_true_false_are_defined __complex __const __cplusplus __decltype __direct_bases __extern_always_inline \
    __extern_inline __flexarr __float128 __float80 __fortify_function __fp16 __glibc_c99_flexarr_available __i386 __ibm128 \
    __imag __inline __int128 __intptr_t_defined __k8 __linux __mbstate_t_defined __null __nullptr __ptr_t __real __restrict \
    __restrict_arr __returns_nonnull __seg_fs __seg_gs __signed __size_t __thread __typeof __typeof_unqual \
    __underlying_type __unix __volatile __wur __x86_64";

fn is_keyword(word: &str) -> bool {
    let is_in = |all: &str| all.split(' ').any(|keyword| keyword == word);
    is_in(KEYWORDS) || is_type(word) || is_limit(word) || is_reserved(word) || is_in(RESERVED)
}

/// Whether a word has the form of the macros of `<stdint.h>`, such as `INT8_MAX`.
fn is_limit(word: &str) -> bool {
    let has_start = ["INT", "UINT", "SIZE", "PTRDIFF", "WCHAR", "WINT", "SIG"]
        .iter()
        .any(|start| word.starts_with(start));
    has_start && ["_MAX", "_MIN", "_WIDTH"].iter().any(|end| word.ends_with(end))
}

/// Whether a word has the form of those that compilers and headers reserve.
fn is_reserved(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('_') else { return false };
    match rest.strip_prefix('_') {
        None => rest.starts_with(|c: char| c.is_ascii_uppercase()),
        Some(name) => {
            let starts = ["_", "builtin_", "cpp_", "has_", "is_", "stub_"];
            name.contains(|c: char| c.is_ascii_uppercase())
                || name.ends_with("__")
                || starts.iter().any(|start| name.starts_with(start))
        }
    }
}

/// Whether a word is the name of a type or of a macro in the headers.
fn is_type(word: &str) -> bool {
    word.ends_with("_t") && HEADERS.iter().any(|(ty, _)| *ty == word)
}

/// The headers that declare types.
const HEADERS: &[(&str, &str)] = &[
    ("bool", "stdbool.h"),
    ("int8_t", "stdint.h"),
    ("int16_t", "stdint.h"),
    ("int32_t", "stdint.h"),
    ("int64_t", "stdint.h"),
    ("uint8_t", "stdint.h"),
    ("uint16_t", "stdint.h"),
    ("uint32_t", "stdint.h"),
    ("uint64_t", "stdint.h"),
    ("char32_t", "uchar.h"),
    ("MPI_Aint", "mpi.h"),
    ("MPI_Offset", "mpi.h"),
    ("MPI_Count", "mpi.h"),
];

/// The header.
pub(super) fn write(all: &Declarations) -> String {
    let mut out = includes(all, &[]);
    for one in &all.enums {
        out.push('\n');
        constants(one, &mut out);
    }
    for one in &all.structs {
        out.push('\n');
        structure(one, &mut out);
    }
    out.push('\n');
    for one in &all.structs {
        assertions(one, &mut out);
    }
    out
}

/// A type of records, after those of `definition::declarations`.
pub(super) struct Records<'a> {
    /// The name for its constants, as in `Message_Spots`.
    pub(super) name: String,
    /// The number of a message's kind.
    pub(super) tag: Option<u32>,
    /// The record before the others.
    pub(super) head: Option<&'a Parsed>,
    pub(super) parsed: &'a Parsed,
}

/// The header for records in messages: packed structs, their signatures and tags, and functions for frames.
pub(super) fn write_messages(all: &Declarations, records: &[Records<'_>]) -> String {
    let mut out = includes(all, &["stdint.h", "string.h"]);
    // Headers of other messages can have the same enums and structs.
    let once = |out: &mut String, name: &str, write: &dyn Fn(&mut String)| {
        let _ = writeln!(out, "\n#ifndef DTYPE_{name}\n#define DTYPE_{name}");
        write(out);
        out.push_str("#endif\n");
    };
    for one in &all.enums {
        once(&mut out, &format!("ENUM_{}", one.name), &|out| constants(one, out));
    }
    for one in &all.structs {
        once(&mut out, &format!("STRUCT_{}", one.name), &|out| {
            structure(one, out);
            assertions(one, out);
        });
    }
    let mut scope = Scope::default();
    let mut lines = [String::new(), String::new()];
    for Records { name, tag, head, parsed } in records {
        let name = scope.unique(&identifier::field(name));
        if let Some(tag) = tag {
            let _ = writeln!(lines[0], "#define {name}_TAG UINT32_C({tag})");
        }
        let mut hash = parsed.ty.signature_hash();
        if let Some(Parsed { ty: head, .. }) = head {
            hash = Header::combined_hash(head.signature_hash(), hash);
            let head_name = scope.unique(&format!("{name}_HEAD"));
            let _ = writeln!(lines[1], "#define {head_name}_SIZE UINT64_C({})", head.size());
        }
        let _ = writeln!(lines[1], "#define {name}_SIZE UINT64_C({})", parsed.ty.size());
        let _ = writeln!(lines[1], "#define {name}_SIGNATURE UINT64_C({hash:#018x})");
    }
    for (what, lines) in ["tags", "sizes and signatures of the records"].iter().zip(&lines) {
        if !lines.is_empty() {
            let _ = write!(out, "\n/* The {what}. */\n{lines}");
        }
    }
    out.push('\n');
    out + include_str!("frames.h")
}

/// The lines that include the headers of the types, and others.
fn includes(all: &Declarations, others: &[&'static str]) -> String {
    let fields = || all.structs.iter().flat_map(|definition| &definition.fields);
    let mut headers: Vec<&str> = HEADERS
        .iter()
        .filter(|(ty, _)| fields().any(|field| !field.is_struct && field.ty == *ty))
        .map(|(_, header)| *header)
        .collect();
    if all.enums.iter().flat_map(|one| &one.variants).any(|(_, value)| !is_int(*value)) {
        headers.push("stdint.h");
    }
    // `offsetof` and `wchar_t`.
    headers.extend(["assert.h", "stddef.h"]);
    headers.extend(others);
    headers.sort_unstable();
    headers.dedup();
    headers.iter().flat_map(|header| ["#include <", *header, ">\n"]).collect()
}

/// Whether a constant of an enum can have this value.
fn is_int(value: i128) -> bool {
    i32::try_from(value).is_ok()
}

/// The constants of an enum. In C, they are values of an `int`; others become macros, and numbers of more than 64 bits are left
/// out.
fn constants(Enumeration { name, variants }: &Enumeration, out: &mut String) {
    let (small, large): (Vec<_>, Vec<_>) = variants.iter().partition(|(_, value)| is_int(*value));
    let _ = writeln!(out, "/* {name} */");
    if !small.is_empty() {
        out.push_str("enum {\n");
        for (name, value) in small {
            let _ = writeln!(out, "    {name} = {value},");
        }
        out.push_str("};\n");
    }
    for (name, value) in large {
        let number = match (i64::try_from(*value), u64::try_from(*value)) {
            (Ok(i64::MIN), _) => "INT64_MIN".to_owned(),
            (Ok(value), _) => format!("INT64_C({value})"),
            (_, Ok(value)) => format!("UINT64_C({value})"),
            _ => continue,
        };
        let _ = writeln!(out, "#define {name} {number}");
    }
}

fn structure(definition: &Definition, out: &mut String) {
    let Definition { name, fields, is_packed, .. } = definition;
    let packed = if *is_packed { "__attribute__((packed)) " } else { "" };
    let _ = writeln!(out, "struct {packed}{name} {{");
    for field in fields {
        let kind = if field.is_struct { "struct " } else { "" };
        let _ = write!(out, "    {kind}{} {}", field.ty, field.name);
        for length in &field.lengths {
            let _ = write!(out, "[{length}]");
        }
        out.push_str(";\n");
    }
    out.push_str("};\n");
}

/// The assertions about the size of a struct and the offsets of its fields.
fn assertions(definition: &Definition, out: &mut String) {
    let Definition { name, fields, size, .. } = definition;
    let message = format!("the size of {name}");
    let _ = writeln!(out, "static_assert(sizeof(struct {name}) == {size}, \"{message}\");");
    for field in fields.iter().filter(|field| !field.is_gap) {
        let (field, offset) = (&field.name, field.offset);
        let message = format!("the offset of {field}");
        let _ = writeln!(
            out,
            "static_assert(offsetof(struct {name}, {field}) == {offset}, \"{message}\");"
        );
    }
}
