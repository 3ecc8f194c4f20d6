//! Structs in Rust.

use std::fmt::Write;

use dtype_runtime::Basic;

use super::definition::{Declarations, Definition, Target};
use super::identifier;
use crate::names::in_rust;

pub(super) const LANGUAGE: Target = Target {
    name: "Rust",
    basic: in_rust,
    is_reserved: is_reserved_type,
    is_taken: is_never_a_name,
};

/// Whether a word is a name only as `r#word`, or no name at all.
fn is_keyword(word: &str) -> bool {
    // Words that are keywords only in some editions or places are names for `syn`.
    matches!(word, "gen" | "union") || syn::parse_str::<syn::Ident>(word).is_err()
}

/// The words that cannot be raw names.
fn is_never_a_name(word: &str) -> bool {
    matches!(word, "self" | "Self" | "super" | "crate")
}

/// The names that a struct of the text cannot have.
fn is_reserved_type(word: &str) -> bool {
    let is_primitive = Basic::ALL.iter().any(|basic| basic.name() == word);
    is_keyword(word)
        || is_primitive
        || matches!(
            word,
            "Clone" | "Copy" | "Debug" | "PartialEq" | "std" | "num_complex" | "half" | "f128"
        )
}

/// The items.
pub(super) fn write(all: &Declarations) -> String {
    let definitions: &[Definition] = &all.structs;
    let mut out = String::new();
    let mut fields = definitions.iter().flat_map(|definition| &definition.fields);
    // Only the derive allows names that are not Rust's, including for structs whose fields have it.
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

/// The name of a field, which Rust allows.
pub(super) fn field(name: &str) -> String {
    let name = identifier::field(name);
    escaped(&if is_never_a_name(&name) { format!("{name}_") } else { name })
}

/// The name of a struct, which Rust allows.
pub(super) fn type_name(wanted: &str) -> String {
    format!("{wanted}{}", if is_reserved_type(wanted) { "Part" } else { "" })
}

fn escaped(name: &str) -> String {
    if is_keyword(name) { format!("r#{name}") } else { name.to_owned() }
}
