//! `dtype info`: the numbers of a type.

use std::fmt::Write as _;
use std::io::Write;

use dtype_runtime::Signature;

use crate::failure::Failure;
use crate::reorder::Reorder;
use crate::value::bytes;
use dtype_text::notation::Parsed;
use dtype_text::printable::printable;
use dtype_text::structure::Structure;

/// The maximum number of runs of a signature to print.
const MAX_RUNS: usize = 16;

/// Prints the numbers of a type.
pub(crate) fn print(parsed: &Parsed, out: &mut impl Write) -> Result<(), Failure> {
    let is_data = parsed.fields.layout().is_none_or(Structure::is_data);
    let numbers = if is_data { lines(parsed).into() } else { layout(parsed) };
    for (name, value) in numbers {
        writeln!(out, "{name:<10} {value}")?;
    }
    let Some(structure) = Reorder::of(parsed) else { return Ok(()) };
    for (name, value) in structure.lines() {
        writeln!(out, "{name:<10} {}", printable(&value))?;
    }
    Ok(())
}

/// The numbers of a type some members of which are no data.
pub(crate) fn layout(parsed: &Parsed) -> Vec<(&'static str, String)> {
    let size = match parsed.fields.layout() {
        Some(structure) => structure.size,
        None => u64::try_from(parsed.ty.extent()).ok(),
    };
    let size = size.map_or("not known".into(), |size| bytes(size.into()));
    vec![("size", size), ("alignment", alignment(parsed))]
}

fn alignment(parsed: &Parsed) -> String {
    parsed.align().map_or("not known".into(), |align| align.to_string())
}

/// The lines, each with its name.
pub(crate) fn lines(parsed: &Parsed) -> [(&'static str, String); 9] {
    let ty = &parsed.ty;
    [
        ("size", bytes(ty.size().into())),
        ("bounds", format!("{} to {}", ty.lb(), ty.ub())),
        ("extent", bytes(ty.extent().into())),
        ("true", format!("{} to {}, extent {}", ty.true_lb(), ty.true_ub(), ty.true_extent())),
        ("alignment", alignment(parsed)),
        ("elements", ty.elements().to_string()),
        ("flags", format!("{:?}", ty.flags())),
        ("signature", signature(&ty.signature())),
        ("hash", format!("{:#018x}", ty.signature_hash())),
    ]
}

/// The first runs of a signature.
pub(crate) fn signature(signature: &Signature) -> String {
    let mut out = String::new();
    for (i, (basic, count)) in signature.runs().take(MAX_RUNS + 1).enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        // Writing to a string does not fail.
        let _ = match (i, count) {
            (MAX_RUNS, _) => write!(out, ", … {} elements in all", signature.len()),
            (_, 1) => write!(out, "{comma}{basic}"),
            _ => write!(out, "{comma}{count} × {basic}"),
        };
    }
    if out.is_empty() { "no elements".into() } else { out }
}
