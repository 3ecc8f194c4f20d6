//! The calling sequence in Rust.

use core::fmt::{self, Write};

use super::CallingSequence;
use super::call::{Argument, Call};
use super::fill::{Fill, list};
use crate::types::{Bounds, Constructor, Distribution, Order, Type};

pub(super) fn program(sequence: &CallingSequence<'_>, out: &mut Fill<'_, '_>) -> fmt::Result {
    if sequence.made.is_empty() {
        out.write_str("let t1 = ")?;
        ty(sequence, out, sequence.root)?;
        return out.write_str(";\n");
    }
    for (i, made) in sequence.made.iter().enumerate() {
        let Some(call) = Call::of(made) else { continue };
        write!(out, "let t{} = Type::{}(", i + 1, call.rust)?;
        // The length of a list is not an argument of its own.
        let arguments = call.arguments.iter().filter(|a| !matches!(a, Argument::Length(_)));
        list(out, arguments, |out, one| argument(sequence, out, one))?;
        out.write_str(")?")?;
        // What is made of others follows the rules of those.
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
    argument: &Argument<'a>,
) -> fmt::Result {
    match *argument {
        Argument::Number(_, number) => write!(out, "{number}"),
        Argument::Length(length) => write!(out, "{length}"),
        Argument::List(_, _, numbers) => {
            out.write_str("&[")?;
            list(out, numbers.iter(), |out, number| write!(out, "{number}"))?;
            out.write_str("]")
        }
        Argument::Digits(digits) => write!(out, "{digits:?}"),
        Argument::Order(Order::C) => out.write_str("Order::C"),
        Argument::Order(Order::Fortran) => out.write_str("Order::Fortran"),
        Argument::Distributions(distributions) => {
            out.write_str("&[")?;
            list(out, distributions, |out, one| match one {
                Distribution::None => out.write_str("Distribution::None"),
                Distribution::Block(length) => write!(out, "Distribution::Block({length:?})"),
                Distribution::Cyclic(length) => write!(out, "Distribution::Cyclic({length:?})"),
            })?;
            out.write_str("]")
        }
        Argument::Basic(basic) => write!(out, "&Type::basic(Basic::{basic:?})"),
        Argument::Type(old) => {
            out.write_str("&")?;
            ty(sequence, out, old)
        }
        Argument::Types(members) => {
            out.write_str("&[")?;
            list(out, members, |out, member| {
                ty(sequence, out, &member.ty)?;
                // The list takes its own.
                let is_variable = sequence.variable(&member.ty).is_some();
                out.write_str(if is_variable { ".clone()" } else { "" })
            })?;
            out.write_str("]")
        }
    }
}

/// A variable, or what makes a named datatype.
fn ty<'a>(sequence: &CallingSequence<'a>, out: &mut Fill<'_, '_>, ty: &'a Type) -> fmt::Result {
    if let Some(number) = sequence.variable(ty) {
        return write!(out, "t{number}");
    }
    match ty.constructor() {
        Constructor::Basic(basic) => write!(out, "Type::basic(Basic::{basic:?})")?,
        Constructor::Pair { name: Some(pair), .. } => write!(out, "Type::pair(Pair::{pair:?})")?,
        // The markers; everything else is a variable.
        other => write!(out, "Type::{}()", other.name())?,
    }
    rules(out, ty)
}

/// The rules for the bounds of a predefined datatype, and of what is made of it.
fn rules(out: &mut Fill<'_, '_>, ty: &Type) -> fmt::Result {
    match ty.bounds() {
        Bounds::Literal => Ok(()),
        other => write!(out, ".with_bounds(Bounds::{other:?})?"),
    }
}
