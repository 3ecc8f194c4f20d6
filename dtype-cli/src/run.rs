//! Runs a command, from its arguments to an exit status.

use std::env;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory};

use crate::arguments::{Arguments, Command, ErrorForm, Form, Listing, Show};
use crate::compare::{Comparison, Programs};
use crate::failure::Failure;
use crate::input::{self, StandardInput, Wanted};
use crate::{convert, dump, frame, info, json, manual, members, mistakes, records, show, types};
use dtype_text::notation::{GRAMMAR, Parsed, predefined_names};

/// The types have different signatures, or different memory.
const DIFFERENT: u8 = 1;

/// A file has damaged frames, or other records than expected.
const DAMAGED: u8 = 1;

/// The command failed.
const FAILED: u8 = 2;

/// Runs the command given by this process's arguments. Returns 0 on success, 1 if two types do not match or frames are
/// damaged, and 2 on failure, with the message on standard error. If the reader of the output closes it, returns 0.
pub fn main() -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    let (colour, errors, done) = match Arguments::of_process() {
        Ok(arguments) => (arguments.colour, arguments.errors, run(arguments, &mut out)),
        Err(error) => (ColorChoice::Auto, ErrorForm::Text, explain(error, &mut out)),
    };
    let done = done.and_then(|status| {
        out.flush()?;
        Ok(status)
    });
    match done {
        Ok(status) => ExitCode::from(status),
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            let colour = is_coloured(colour, io::stderr().is_terminal());
            // If the message cannot be written, the exit status still reports the failure.
            let _ = match errors {
                ErrorForm::Text => io::stderr()
                    .write_all(failure.report(colour, 140).as_bytes())
                    .map_err(Into::into),
                ErrorForm::Json => mistakes::print(&failure, &mut io::stderr()),
            };
            ExitCode::from(FAILED)
        }
    }
}

/// Prints the help or the version, if it was requested.
fn explain(error: clap::Error, out: &mut impl Write) -> Result<u8, Failure> {
    if error.use_stderr() {
        return Err(error.into());
    }
    let text = error.render();
    if is_coloured(ColorChoice::Auto, io::stdout().is_terminal()) {
        write!(out, "{}", text.ansi())?;
    } else {
        write!(out, "{text}")?;
    }
    Ok(0)
}

/// Whether to write escape sequences.
fn is_coloured(when: ColorChoice, is_terminal: bool) -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    match when {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let is_dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
            is_terminal && !is_dumb && !is_set("NO_COLOR")
        }
    }
}

fn run(arguments: Arguments, out: &mut impl Write) -> Result<u8, Failure> {
    let colour = is_coloured(arguments.colour, io::stdout().is_terminal());
    let moves_values = matches!(
        arguments.command,
        Some(Command::Pack(_) | Command::Unpack(_) | Command::Dump(_) | Command::Frame(_))
    );
    let (language, skip) = (arguments.from, arguments.skip);
    let needs_data = match &arguments.command {
        Some(Command::Show(options)) => options.packed || !options.looks(),
        Some(Command::Info(options)) => options.packed,
        Some(Command::Compare(options)) => options.packed || options.memory || skip,
        _ => false,
    };
    let wanted = match (moves_values, needs_data) {
        (true, _) => Wanted::Values,
        (false, true) => Wanted::Data,
        (false, false) => Wanted::Look,
    };
    let mut stdin = StandardInput { taken: false, language, skip, wanted };
    let stdin = &mut stdin;
    if list(&arguments, stdin, out)? {
        return Ok(0);
    }
    match (arguments.command, arguments.ty) {
        (Some(Command::Show(options)), _) => {
            if options.packed && options.form == Form::CStruct && !options.json {
                let given = input::records(&options.ty, stdin)?;
                show::messages(given, &options.ty, out)?;
                return Ok(0);
            }
            let parsed = ty(&options.ty, "TYPE", options.packed, stdin)?;
            show::show(&parsed, &options, colour, out)?;
        }
        (Some(Command::Info(options)), _) => {
            let parsed = ty(&options.ty, "TYPE", options.packed, stdin)?;
            if options.json {
                json::print(&json::Info::of(&parsed), out)?;
            } else {
                info::print(&parsed, out)?;
                if let Some(structure) = parsed.fields.layout() {
                    members::print(structure, out)?;
                }
            }
        }
        (Some(Command::Pack(layout)), _) => convert::pack(&layout, stdin, out)?,
        (Some(Command::Unpack(options)), _) => {
            convert::unpack(&options.layout, options.over.as_deref(), stdin, out)?;
        }
        (Some(Command::Dump(options)), _) => dump::dump(&options, stdin, colour, out)?,
        (Some(Command::Frame(options)), _) => {
            let is_good = frame::frame(&options, stdin, colour, out)?;
            return Ok(if is_good { 0 } else { DAMAGED });
        }
        (Some(Command::Compare(options)), _) => {
            let all = input::types(&options.a, true, stdin)?;
            if let Some(a) = all
                && let Some(b) = input::types(&options.b, true, stdin)?
            {
                let programs = Programs::of(&a, &b);
                if options.json {
                    json::print(&programs, out)?;
                } else {
                    programs.print(out)?;
                }
                return Ok(if programs.is_same() { 0 } else { DIFFERENT });
            }
            let a = ty(&options.a, "A", options.packed, stdin)?;
            let b = ty(&options.b, "B", options.packed, stdin)?;
            let comparison = Comparison::of(&a, &b, options.memory);
            let is_same = match (options.memory, comparison.same_memory) {
                (false, _) => comparison.same_layout().unwrap_or(comparison.same_signature),
                (true, Some(is_same)) => is_same,
                (true, None) => {
                    let message = "the types are too long to compare their memory";
                    return Err(Failure::Usage(message.into()));
                }
            };
            if options.json {
                json::print(&comparison, out)?;
            } else {
                comparison.print(&a, &b, out)?;
            }
            return Ok(if is_same { 0 } else { DIFFERENT });
        }
        (Some(Command::Notation), _) => notation(out)?,
        (Some(Command::Completions { shell }), _) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "dtype", &mut script);
            out.write_all(&script)?;
        }
        (Some(Command::Man { subcommand }), _) => manual::print(subcommand.as_deref(), out)?,
        (None, Some(ty)) => {
            let parsed = input::ty(&ty, "TYPE", stdin)?;
            show::show(&parsed, &picture(ty), colour, out)?;
            writeln!(out)?;
            info::print(&parsed, out)?;
        }
        (None, None) => return Err(Failure::Usage("expected a type or a subcommand".into())),
    }
    Ok(0)
}

/// The type given by an argument: in memory, or its packed bytes.
fn ty(
    argument: &str,
    name: &str,
    is_packed: bool,
    stdin: &mut StandardInput,
) -> Result<Parsed, Failure> {
    if is_packed {
        return records::packed(&input::packed_ty(argument, name, stdin)?);
    }
    input::ty(argument, name, stdin)
}

/// Lists the structs of an object file, if the arguments name the file alone, or ask who uses one of them.
fn list(
    arguments: &Arguments,
    stdin: &mut StandardInput,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let plain = Listing::default();
    let (ty, json, listing) = match (&arguments.command, &arguments.ty) {
        (Some(Command::Show(options)), _) => (&options.ty, options.json, &plain),
        (Some(Command::Info(options)), _) => (&options.ty, options.json, &options.listing),
        (None, Some(ty)) => (ty, false, &plain),
        _ => return Ok(false),
    };
    if let Some(Command::Info(options)) = &arguments.command
        && options.uses
    {
        let all = input::types_beside(ty, stdin)?;
        let of = input::ty(ty, "TYPE", stdin)?;
        let Some((all, structure)) = all.zip(of.fields.layout()) else {
            let message = "`--uses` expects a struct of an object file: `PROGRAM:NAME`";
            return Err(Failure::Usage(message.into()));
        };
        let listing = Listing { all: true, ..listing.clone() };
        types::print(types::users(all, structure), &listing, json, out)?;
        return Ok(true);
    }
    let Some(all) = input::types(ty, false, stdin)? else { return Ok(false) };
    types::print(all, listing, json, out)?;
    Ok(true)
}

/// Prints the notation and all names of predefined types.
fn notation(out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "{GRAMMAR}\nThe names of predefined types:\n")?;
    let mut line = String::new();
    for name in predefined_names() {
        if line.len() + name.len() > 80 {
            writeln!(out, "   {line}")?;
            line.clear();
        }
        line += " ";
        // One space separates the words of a C name, and two separate names.
        line += if line.len() > 1 { " " } else { "" };
        line += name;
    }
    Ok(writeln!(out, "   {line}")?)
}

/// The options of `show` when the command is given without a subcommand.
fn picture(ty: String) -> Show {
    let (width, rows) = (64, 24);
    Show {
        ty,
        form: Form::Diagram,
        json: false,
        instances: 1,
        width,
        row: None,
        rows,
        unit: None,
        ascii: false,
        packed: false,
    }
}
