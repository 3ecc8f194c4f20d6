//! Structs in Rust.

use std::fmt::Write;

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;

use super::definition::{Definition, Target};

pub(super) const LANGUAGE: Target =
    Target { name: "Rust", basic, is_reserved: is_reserved_type, is_taken: is_never_a_name };

/// The words that are names only as `r#word`.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "union", "unsafe", "unsized",
    "use", "virtual", "where", "while", "yield",
];

/// The words that cannot be raw names.
fn is_never_a_name(word: &str) -> bool {
    matches!(word, "self" | "Self" | "super" | "crate")
}

/// The names that a struct of the text cannot have.
fn is_reserved_type(word: &str) -> bool {
    let is_primitive = Basic::ALL.iter().any(|basic| basic.name() == word);
    KEYWORDS.contains(&word)
        || is_never_a_name(word)
        || is_primitive
        || matches!(word, "Clone" | "Copy" | "Debug" | "std" | "num_complex" | "half" | "f128")
}

/// The type for a basic datatype.
fn basic(basic: Basic) -> Option<&'static str> {
    // Types of Fortran and C++ are those that they count as.
    let exact = |basic: Basic| {
        Some(match basic {
            Basic::I8 => "i8",
            Basic::I16 => "i16",
            // A Fortran logical has the same bytes.
            Basic::I32 | Basic::Logical => "i32",
            Basic::I64 => "i64",
            Basic::I128 => "i128",
            Basic::U8 => "u8",
            Basic::U16 => "u16",
            Basic::U32 => "u32",
            Basic::U64 => "u64",
            Basic::U128 => "u128",
            Basic::F16 => "half::f16",
            Basic::Bf16 => "half::bf16",
            Basic::F32 => "f32",
            Basic::F64 => "f64",
            Basic::C32 => "num_complex::Complex<f32>",
            Basic::C64 => "num_complex::Complex<f64>",
            Basic::Bool => "bool",
            Basic::Char => "char",
            Basic::CChar => "std::ffi::c_char",
            Basic::SignedChar => "std::ffi::c_schar",
            Basic::UnsignedChar => "std::ffi::c_uchar",
            Basic::Short => "std::ffi::c_short",
            Basic::UnsignedShort => "std::ffi::c_ushort",
            Basic::Int => "std::ffi::c_int",
            Basic::Unsigned => "std::ffi::c_uint",
            Basic::Long => "std::ffi::c_long",
            Basic::UnsignedLong => "std::ffi::c_ulong",
            Basic::LongLong => "std::ffi::c_longlong",
            Basic::UnsignedLongLong => "std::ffi::c_ulonglong",
            // The same bytes.
            Basic::Aint => "isize",
            _ => return None,
        })
    };
    match (basic.kind(), basic.size()) {
        (Kind::Bytes, 1) => Some("u8"),
        _ if basic == Basic::WideChar => Some(if basic.size() == 4 { "u32" } else { "u16" }),
        _ => exact(basic).or_else(|| exact(basic.canonical())),
    }
}

/// The items.
pub(super) fn write(definitions: &[Definition]) -> String {
    let mut out = String::new();
    let mut fields = definitions.iter().flat_map(|definition| &definition.fields);
    // Only the derive takes names that are not Rust's, for a struct whose fields have it, too.
    let is_derived = fields.any(|field| field.rename.is_some());
    let derive = if is_derived { ", dtype_runtime::Datatype" } else { "" };
    for Definition { name, fields, is_packed, .. } in definitions {
        let packed = if *is_packed { ", packed" } else { "" };
        let _ = writeln!(out, "#[derive(Clone, Copy, Debug{derive})]\n#[repr(C{packed})]");
        let _ = writeln!(out, "pub struct {name} {{");
        for field in fields {
            let mut ty = field.ty.clone();
            for length in field.lengths.iter().rev() {
                ty = format!("[{ty}; {length}]");
            }
            if let Some(name) = &field.rename {
                let _ = writeln!(out, "    #[dtype(rename = {name:?})]");
            } else if field.is_gap && is_derived {
                out.push_str("    #[dtype(skip)]\n");
            }
            let visibility = if field.is_gap { "" } else { "pub " };
            let _ = writeln!(out, "    {visibility}{}: {ty},", escaped(&field.name));
        }
        out.push_str("}\n\n");
    }
    out.push_str("const _: () = {\n");
    for Definition { name, fields, size, .. } in definitions {
        let _ = writeln!(out, "    assert!(std::mem::size_of::<{name}>() == {size});");
        for field in fields.iter().filter(|field| !field.is_gap) {
            let (field, offset) = (escaped(&field.name), field.offset);
            let _ =
                writeln!(out, "    assert!(std::mem::offset_of!({name}, {field}) == {offset});");
        }
    }
    out.push_str("};\n");
    out
}

fn escaped(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}
