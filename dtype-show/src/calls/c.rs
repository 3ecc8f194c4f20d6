//! The calling sequence in C.

use core::fmt::{self, Write};

use super::CallingSequence;
use super::fill::{Fill, list};
use dtype_runtime::Basic;
use dtype_runtime::Type;
use dtype_runtime::types::call::{ArgumentKind, CType, Parameter};
use dtype_runtime::types::{Argument, Call, Combiner, Distribution, Named, Order};

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
        match (made.call(), made.named()) {
            (Some(call), _) => statement(sequence, out, i + 1, &call)?,
            (None, Some(Named::Basic(basic))) => bytes(out, i + 1, basic)?,
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

/// Whether the type that a call returns belongs to MPI: it is committed, and must not be freed.
fn is_predefined(ty: &Type) -> bool {
    ty.call().is_some_and(|call| {
        matches!(
            call.combiner,
            Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer | Combiner::ValueIndex
        )
    })
}

/// Writes the block of bytes that replaces a basic datatype that MPI lacks.
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
    let Range { large, beyond } = Range::new(call);
    if beyond {
        out.write_str("/* An argument here is larger than MPI's form of it can be. */\n")?;
    }
    if call.reads_as_default() {
        out.write_str(
            "/* In the ABI of MPI-5.0 a distribution argument of 19 is MPI_DISTRIBUTE_DFLT_DARG. */\n",
        )?;
    }
    for (parameter, argument) in call.parameters() {
        arrays(sequence, out, number, *parameter, argument, large)?;
    }
    writeln!(out, "MPI_Datatype t{number};")?;
    let name = call.combiner.signature().map_or("", |signature| signature.mpi_name);
    write!(out, "{name}{}(", if large { "_c" } else { "" })?;
    for (parameter, argument) in call.parameters() {
        let Some(argument) = argument else {
            write!(out, "{}, ", call.length())?;
            continue;
        };
        match argument {
            Argument::Count(count) => write!(out, "{count}")?,
            Argument::Offset(offset) => integer(out, *offset)?,
            Argument::Counts(_) | Argument::Offsets(_) | Argument::Types(_) => {
                write!(out, "t{number}_{}", parameter.name)?;
            }
            Argument::Digits(Some(digits)) => write!(out, "{digits}")?,
            Argument::Digits(None) => out.write_str("MPI_UNDEFINED")?,
            Argument::Range(range) => write!(out, "{range}")?,
            Argument::Order(Order::C) => out.write_str("MPI_ORDER_C")?,
            Argument::Order(Order::Fortran) => out.write_str("MPI_ORDER_FORTRAN")?,
            Argument::Distributions(_) => write!(out, "t{number}_distribs, t{number}_dargs")?,
            Argument::Type(old) => ty(sequence, out, old)?,
        }
        out.write_str(", ")?;
    }
    writeln!(out, "&t{number});")
}

/// Writes the arrays that an argument needs.
fn arrays<'a>(
    sequence: &CallingSequence<'a>,
    out: &mut Fill<'_, '_>,
    number: usize,
    Parameter { name, kind, .. }: Parameter,
    argument: Option<&Argument<'_, &'a Type>>,
    large: bool,
) -> fmt::Result {
    let element = match (kind, large) {
        (ArgumentKind::Counts(CType::Int) | ArgumentKind::Offsets(CType::Int), _)
        | (ArgumentKind::Counts(CType::Count) | ArgumentKind::Offsets(CType::Count), false) => {
            "int"
        }
        (ArgumentKind::Counts(CType::Address) | ArgumentKind::Offsets(CType::Address), false) => {
            "MPI_Aint"
        }
        (ArgumentKind::Counts(_) | ArgumentKind::Offsets(_), true) => "MPI_Count",
        _ => "",
    };
    // The arrays are static, because a list can be larger than a stack.
    let begin =
        |out: &mut Fill<'_, '_>| write!(out, "static const {element} t{number}_{name}[] = {{");
    // C has no arrays of length 0, and some libraries do not accept a null pointer instead.
    let end = |out: &mut Fill<'_, '_>, is_empty: bool| {
        out.write_str(if is_empty { "0};\n" } else { "};\n" })
    };
    match argument {
        Some(Argument::Counts(counts)) => {
            begin(out)?;
            list(out, &**counts, |out, count| write!(out, "{count}"))?;
            end(out, counts.is_empty())
        }
        Some(Argument::Offsets(offsets)) => {
            begin(out)?;
            list(out, &**offsets, |out, offset| integer(out, *offset))?;
            end(out, offsets.is_empty())
        }
        Some(Argument::Distributions(distributions)) => {
            write!(out, "const int t{number}_distribs[] = {{")?;
            list(out, &**distributions, |out, one| {
                out.write_str(match one {
                    Distribution::None => "MPI_DISTRIBUTE_NONE",
                    Distribution::Block(_) => "MPI_DISTRIBUTE_BLOCK",
                    Distribution::Cyclic(_) => "MPI_DISTRIBUTE_CYCLIC",
                })
            })?;
            write!(out, "}};\nconst int t{number}_dargs[] = {{")?;
            list(out, &**distributions, |out, one| match one {
                Distribution::Block(Some(length)) | Distribution::Cyclic(Some(length)) => {
                    write!(out, "{length}")
                }
                _ => out.write_str("MPI_DISTRIBUTE_DFLT_DARG"),
            })?;
            out.write_str("};\n")
        }
        Some(Argument::Types(types)) => {
            write!(out, "const MPI_Datatype t{number}_{name}[] = {{")?;
            list(out, types, |out, part| ty(sequence, out, part))?;
            out.write_str(if types.is_empty() { "MPI_DATATYPE_NULL};\n" } else { "};\n" })
        }
        _ => Ok(()),
    }
}

/// Whether the numbers of a call fit the forms of the call.
struct Range {
    /// Some count needs the large form.
    large: bool,
    /// Some argument fits neither form.
    beyond: bool,
}

impl Range {
    fn new(call: &Call<'_>) -> Self {
        let mut beyond = false;
        call.each_number(|number, value| {
            beyond |= match number {
                CType::Int => i32::try_from(value).is_err(),
                CType::Count | CType::Address => i64::try_from(value).is_err(),
            };
        });
        Self { large: call.is_large(), beyond }
    }
}

/// Writes a number. C cannot write the least `i64` as a literal, because that is the negation of a number that does not fit.
fn integer(out: &mut Fill<'_, '_>, value: i64) -> fmt::Result {
    if value == i64::MIN {
        return write!(out, "({} - 1)", value + 1);
    }
    write!(out, "{value}")
}

/// Writes a type as its variable or its name.
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
