//! `dtype info`: the numbers of a type.

use std::fmt::Write as _;
use std::io::Write;

use dtype_runtime::Signature;

use crate::failure::Failure;
use crate::reorder::Reorder;
use crate::value::bytes;
use dtype_text::notation::Parsed;
use dtype_text::printable::printable;

/// The maximum number of runs of a signature to print.
const MAX_RUNS: usize = 16;

/// Prints the numbers of a type.
pub(crate) fn print(parsed: &Parsed, out: &mut impl Write) -> Result<(), Failure> {
    match parsed.fields.layout().filter(|structure| !structure.is_data()) {
        Some(structure) => {
            let number = |number: Option<u64>| number.map(|number| bytes(number.into()));
            let size = number(structure.size).unwrap_or("not known".into());
            let align = structure.align.map_or("not known".into(), |align| align.to_string());
            writeln!(out, "size       {size}\nalignment  {align}")?;
        }
        None => {
            for (name, value) in lines(parsed) {
                writeln!(out, "{name:<10} {value}")?;
            }
        }
    }
    let Some(structure) = Reorder::of(parsed) else { return Ok(()) };
    for (name, value) in structure.lines() {
        writeln!(out, "{name:<10} {}", printable(&value))?;
    }
    Ok(())
}

/// The lines, each with its name.
pub(crate) fn lines(parsed: &Parsed) -> [(&'static str, String); 9] {
    let ty = &parsed.ty;
    let align = parsed.align().map_or("not known".into(), |align| align.to_string());
    [
        ("size", bytes(ty.size().into())),
        ("bounds", format!("{} to {}", ty.lb(), ty.ub())),
        ("extent", bytes(ty.extent().into())),
        ("true", format!("{} to {}, extent {}", ty.true_lb(), ty.true_ub(), ty.true_extent())),
        ("alignment", align),
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
