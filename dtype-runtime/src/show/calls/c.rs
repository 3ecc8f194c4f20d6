//! The calling sequence in C.

use core::fmt::{self, Write};

use super::CallingSequence;
use super::call::{Argument, Call, Form};
use super::fill::{Fill, list};
use crate::basic::Basic;
use crate::types::{Constructor, Distribution, Named, Order, Type};

pub(super) fn program(sequence: &CallingSequence<'_>, out: &mut Fill<'_, '_>) -> fmt::Result {
    if sequence.markers {
        out.write_str(
            "/* MPI_LB and MPI_UB are MPI-1's; MPI-3.0 removed them in favour of \
             MPI_Type_create_resized. */\n",
        )?;
    }
    let Some((root, parts)) = sequence.made.split_last() else {
        return writeln!(out, "MPI_Datatype t1 = {};", name(sequence.root));
    };
    for (i, made) in sequence.made.iter().enumerate() {
        match (Call::of(made), made.constructor()) {
            (Some(call), _) => statement(sequence, out, i + 1, &call)?,
            (None, Constructor::Basic(basic)) => bytes(out, i + 1, *basic)?,
            (None, _) => {}
        }
    }
    if !is_predefined(root) {
        writeln!(out, "MPI_Type_commit(&t{});", sequence.made.len())?;
    }
    for (i, part) in parts.iter().enumerate() {
        if !is_predefined(part) {
            writeln!(out, "MPI_Type_free(&t{});", i + 1)?;
        }
    }
    Ok(())
}

/// Whether the type that a call returns is MPI's own: it is committed, and must not be freed.
fn is_predefined(ty: &Type) -> bool {
    matches!(ty.constructor(), Constructor::Fortran { .. } | Constructor::Pair { .. })
}

/// A basic datatype that MPI lacks.
fn bytes(out: &mut Fill<'_, '_>, number: usize, basic: Basic) -> fmt::Result {
    writeln!(
        out,
        "/* MPI has no {basic}; these are its bytes, which are not converted, and not aligned. */"
    )?;
    writeln!(out, "MPI_Datatype t{number};")?;
    writeln!(out, "MPI_Type_contiguous({}, MPI_BYTE, &t{number});", basic.size())
}

fn statement<'a>(
    sequence: &CallingSequence<'a>,
    out: &mut Fill<'_, '_>,
    number: usize,
    call: &Call<'a>,
) -> fmt::Result {
    let Range { large, beyond } = Range::of(call);
    if beyond {
        out.write_str("/* An argument here is larger than MPI's form of it can be. */\n")?;
    }
    if call.arguments.iter().any(reads_as_default) {
        out.write_str(
            "/* In the ABI of MPI-5.0 a distribution argument of 19 is MPI_DISTRIBUTE_DFLT_DARG. */\n",
        )?;
    }
    for argument in &call.arguments {
        arrays(sequence, out, number, argument, large)?;
    }
    writeln!(out, "MPI_Datatype t{number};")?;
    write!(out, "{}{}(", call.mpi, if large { "_c" } else { "" })?;
    for argument in &call.arguments {
        match *argument {
            Argument::Number(_, value) => integer(out, value)?,
            Argument::Length(length) => write!(out, "{length}")?,
            Argument::List(name, ..) => write!(out, "t{number}_{name}")?,
            Argument::Digits(Some(digits)) => write!(out, "{digits}")?,
            Argument::Digits(None) => out.write_str("MPI_UNDEFINED")?,
            Argument::Order(Order::C) => out.write_str("MPI_ORDER_C")?,
            Argument::Order(Order::Fortran) => out.write_str("MPI_ORDER_FORTRAN")?,
            Argument::Distributions(_) => write!(out, "t{number}_distribs, t{number}_dargs")?,
            // Pairs of those that have no name are written as structures.
            Argument::Basic(basic) => out.write_str(basic.mpi_name().unwrap_or("MPI_BYTE"))?,
            Argument::Type(old) => ty(sequence, out, old)?,
            Argument::Types(_) => write!(out, "t{number}_types")?,
        }
        out.write_str(", ")?;
    }
    writeln!(out, "&t{number});")
}

/// Whether some libraries take a number that was asked for as the default.
fn reads_as_default(argument: &Argument<'_>) -> bool {
    match argument {
        Argument::Distributions(list) => list.iter().any(Distribution::reads_as_default),
        _ => false,
    }
}

/// The arrays that an argument needs.
fn arrays<'a>(
    sequence: &CallingSequence<'a>,
    out: &mut Fill<'_, '_>,
    number: usize,
    argument: &Argument<'a>,
    large: bool,
) -> fmt::Result {
    match *argument {
        Argument::List(name, form, numbers) => {
            let element = match (form, large) {
                (Form::Int, _) | (Form::Count, false) => "int",
                (Form::Address, false) => "MPI_Aint",
                (Form::Count | Form::Address, true) => "MPI_Count",
            };
            // Static, because a list can be larger than a stack.
            write!(out, "static const {element} t{number}_{name}[] = {{")?;
            let mut is_empty = true;
            list(out, numbers.iter(), |out, value| {
                is_empty = false;
                integer(out, value)
            })?;
            // C has no arrays of length 0, and not every library takes a null pointer for one.
            out.write_str(if is_empty { "0};\n" } else { "};\n" })
        }
        Argument::Distributions(distributions) => {
            write!(out, "const int t{number}_distribs[] = {{")?;
            list(out, distributions, |out, one| {
                out.write_str(match one {
                    Distribution::None => "MPI_DISTRIBUTE_NONE",
                    Distribution::Block(_) => "MPI_DISTRIBUTE_BLOCK",
                    Distribution::Cyclic(_) => "MPI_DISTRIBUTE_CYCLIC",
                })
            })?;
            write!(out, "}};\nconst int t{number}_dargs[] = {{")?;
            list(out, distributions, |out, one| match one {
                Distribution::Block(Some(length)) | Distribution::Cyclic(Some(length)) => {
                    write!(out, "{length}")
                }
                _ => out.write_str("MPI_DISTRIBUTE_DFLT_DARG"),
            })?;
            out.write_str("};\n")
        }
        Argument::Types(members) => {
            write!(out, "const MPI_Datatype t{number}_types[] = {{")?;
            list(out, members, |out, member| ty(sequence, out, &member.ty))?;
            out.write_str(if members.is_empty() { "MPI_DATATYPE_NULL};\n" } else { "};\n" })
        }
        _ => Ok(()),
    }
}

/// Whether the numbers of a call fit.
struct Range {
    /// A count needs the large form.
    large: bool,
    /// Something fits neither.
    beyond: bool,
}

impl Range {
    fn of(call: &Call<'_>) -> Self {
        let mut range = Self { large: false, beyond: false };
        for argument in &call.arguments {
            match *argument {
                Argument::Number(form, value) => range.add(form, value),
                Argument::Length(length) => {
                    range.add(Form::Count, i128::try_from(length).unwrap_or(i128::MAX));
                }
                Argument::List(_, form, numbers) => {
                    numbers.iter().for_each(|value| range.add(form, value));
                }
                Argument::Distributions(distributions) => {
                    for one in distributions {
                        if let Distribution::Block(Some(n)) | Distribution::Cyclic(Some(n)) = one {
                            range.add(Form::Int, (*n).into());
                        }
                    }
                }
                _ => {}
            }
        }
        range
    }

    fn add(&mut self, form: Form, value: i128) {
        let fits = i32::try_from(value).is_ok();
        self.large |= form == Form::Count && !fits;
        self.beyond |= if form == Form::Int { !fits } else { i64::try_from(value).is_err() };
    }
}

/// A number; the least one is no literal, but the negative of one that does not fit.
fn integer(out: &mut Fill<'_, '_>, value: i128) -> fmt::Result {
    if value == i128::from(i64::MIN) {
        return write!(out, "({} - 1)", value + 1);
    }
    write!(out, "{value}")
}

/// A variable or a name.
fn ty<'a>(sequence: &CallingSequence<'a>, out: &mut Fill<'_, '_>, ty: &'a Type) -> fmt::Result {
    match sequence.variable(ty) {
        Some(number) => write!(out, "t{number}"),
        None => out.write_str(name(ty)),
    }
}

/// The name of a type that is not a variable.
fn name(ty: &Type) -> &'static str {
    ty.named().and_then(Named::mpi_name).unwrap_or("MPI_DATATYPE_NULL")
}
