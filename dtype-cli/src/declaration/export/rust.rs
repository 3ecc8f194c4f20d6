//! Structs in Rust.

use std::fmt::Write;

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;

use super::definition::{Definition, Target};
use crate::declaration::rust::names;

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
fn basic(basic: Basic) -> Option<String> {
    // Types of Fortran and C++ are those that they count as.
    let exact = |basic: Basic| {
        let name = match basic {
            // A Fortran logical has the same bytes, and so has an address.
            Basic::Logical => "i32",
            Basic::Aint => "isize",
            Basic::C32 => "num_complex::Complex<f32>",
            Basic::C64 => "num_complex::Complex<f64>",
            // It has no name in stable Rust.
            Basic::Real16 => return None,
            other => names::of(other)?,
        };
        let path = match name {
            "f16" | "bf16" => "half::",
            name if name.starts_with("c_") => "std::ffi::",
            _ => "",
        };
        Some(format!("{path}{name}"))
    };
    match (basic.kind(), basic.size()) {
        (Kind::Bytes, 1) => Some("u8".into()),
        _ if basic == Basic::WideChar => Some(if basic.size() == 4 { "u32" } else { "u16" }.into()),
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
