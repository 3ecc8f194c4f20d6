//! The calling sequence in Rust.

use core::fmt::{self, Write};

use super::CallingSequence;
use super::fill::{Fill, list};
use dtype_runtime::Type;
use dtype_runtime::types::{Argument, BoundsRule, Distribution, Named, Order};

pub(super) fn program(sequence: &CallingSequence<'_>, out: &mut Fill<'_, '_>) -> fmt::Result {
    if sequence.made.is_empty() {
        out.write_str("let t1 = ")?;
        ty(sequence, out, sequence.root)?;
        return out.write_str(";\n");
    }
    for (i, made) in sequence.made.iter().enumerate() {
        let Some(call) = made.call() else { continue };
        write!(out, "let t{} = Type::{}(", i + 1, call.combiner.name())?;
        list(out, &call.arguments, |out, one| argument(sequence, out, one))?;
        out.write_str(")?")?;
        // A type with parts gets the rules from its parts.
        if call.types().next().is_none() {
            rules(out, made)?;
        }
        out.write_str(";\n")?;
    }
    Ok(())
}

fn argument<'a>(
    sequence: &CallingSequence<'a>,
    out: &mut Fill<'_, '_>,
    argument: &Argument<'_, &'a Type>,
) -> fmt::Result {
    match argument {
        Argument::Count(count) => write!(out, "{count}"),
        Argument::Offset(offset) => write!(out, "{offset}"),
        Argument::Counts(counts) => {
            out.write_str("&[")?;
            list(out, &**counts, |out, count| write!(out, "{count}"))?;
            out.write_str("]")
        }
        Argument::Offsets(offsets) => {
            out.write_str("&[")?;
            list(out, &**offsets, |out, offset| write!(out, "{offset}"))?;
            out.write_str("]")
        }
        Argument::Digits(digits) => write!(out, "{digits:?}"),
        Argument::Range(range) => write!(out, "{range}"),
        Argument::Order(Order::C) => out.write_str("Order::C"),
        Argument::Order(Order::Fortran) => out.write_str("Order::Fortran"),
        Argument::Distributions(distributions) => {
            out.write_str("&[")?;
            list(out, &**distributions, |out, one| match one {
                Distribution::None => out.write_str("Distribution::None"),
                Distribution::Block(length) => write!(out, "Distribution::Block({length:?})"),
                Distribution::Cyclic(length) => write!(out, "Distribution::Cyclic({length:?})"),
            })?;
            out.write_str("]")
        }
        Argument::Type(old) => {
            out.write_str("&")?;
            ty(sequence, out, old)
        }
        Argument::Types(types) => {
            out.write_str("&[")?;
            list(out, types, |out, part| {
                ty(sequence, out, part)?;
                // The list takes ownership of its types, so a variable is cloned.
                let is_variable = sequence.variable(part).is_some();
                out.write_str(if is_variable { ".clone()" } else { "" })
            })?;
            out.write_str("]")
        }
    }
}

/// Writes a variable, or the expression for a named datatype.
fn ty<'a>(sequence: &CallingSequence<'a>, out: &mut Fill<'_, '_>, ty: &'a Type) -> fmt::Result {
    if let Some(number) = sequence.variable(ty) {
        return write!(out, "t{number}");
    }
    match ty.named() {
        Some(Named::Basic(basic)) => write!(out, "Type::basic(Basic::{basic:?})")?,
        Some(Named::Pair(pair)) => write!(out, "Type::pair(Pair::{pair:?})")?,
        Some(marker) => write!(out, "Type::{}()", marker.name())?,
        // Any other type has a variable.
        None => {}
    }
    rules(out, ty)
}

/// Writes the call that sets the rules for bounds of a predefined datatype, and so of types made of it.
fn rules(out: &mut Fill<'_, '_>, ty: &Type) -> fmt::Result {
    match ty.bounds_rule() {
        BoundsRule::Literal => Ok(()),
        other => write!(out, ".with_bounds_rule(BoundsRule::{other:?})?"),
    }
}
