//! The command line.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextValue, ErrorKind};
use clap::{Args, ColorChoice, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use dtype_runtime::Representation;

use crate::range::RecordRange;
use dtype_text::declaration::Language;
use dtype_text::notation::GRAMMAR;
use dtype_text::printable::printable;
use dtype_text::problem::quoted;

/// Look at the layout of types in memory and on the wire: structs of programs, declarations, MPI datatypes. Compare them, and read,
/// pack and unpack files with them.
#[derive(Debug, Parser)]
#[command(name = "dtype", bin_name = "dtype", version, subcommand_negates_reqs = true)]
#[command(override_usage = "dtype [OPTIONS] <TYPE>\n       dtype [OPTIONS] <COMMAND>")]
#[command(
    after_help = "TYPE is a datatype in the notation of `dtype help notation`, the declaration of a struct in C or Rust, \
                        or a NumPy dtype. `@FILE` reads it from a file, `@FILE:NAME` takes one struct of the file, \
                        and `-` reads standard input. `PROGRAM:NAME` is the struct of that name in an object file, a \
                        library or a program, as its compiler laid it out (`-g`); `PROGRAM` alone lists the structs \
                        and what padding costs them. `FILE.npy` is the type of the items of a file of NumPy, `FILE.npz:NAME` that of an array in an archive, \
                        `FILE.h5:DATASET` that of a dataset, if this build has HDF5, and `FILE.parquet` that of records of its \
                        columns, if it has Parquet. Without a command, dtype draws the type and lists its sizes and \
                        bounds:\n\n    \
                        dtype 'vector(4, 5, 6, u16)'"
)]
pub(crate) struct Arguments {
    /// The subcommand to run.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// The datatype: text, `@FILE`, `@FILE:NAME`, `PROGRAM:NAME`, or `-` for standard input.
    #[arg(value_name = "TYPE", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) ty: Option<String>,
    /// When to use colours. `auto` is on a terminal, unless the environment variable `NO_COLOR` is set.
    #[arg(long, alias = "color", global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) colour: ColorChoice,
    /// How to print mistakes on standard error.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORM")]
    pub(crate) errors: ErrorForm,
    /// The language of TYPE, or of both types of `compare`. By default, it is recognized by the file's name or the first words.
    #[arg(long, global = true, value_parser = language(), value_name = "LANGUAGE")]
    pub(crate) from: Option<Language>,
    /// Where values are moved or a datatype is written, leave members that are not data, such as pointers, unions and bit-fields,
    /// out of a struct from debug information, and name them on standard error.
    #[arg(long, global = true)]
    pub(crate) skip: bool,
}

/// The forms in which mistakes are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ErrorForm {
    /// For people, with the lines of the text.
    #[default]
    Text,
    /// For editors: a JSON object on a line for each mistake, with its place in the text.
    Json,
}

/// Reads the name of a language.
fn language() -> impl TypedValueParser<Value = Language> {
    let of_name = |name: String| Language::ALL.into_iter().find(|(known, _)| *known == name);
    PossibleValuesParser::new(Language::ALL.map(|(name, _)| name))
        .map(move |name| of_name(name).map_or(Language::Notation, |(_, language)| language))
}

impl Arguments {
    /// The arguments of this process; or a mistake in them, or the help that they request.
    pub(crate) fn of_process() -> Result<Self, clap::Error> {
        let arguments = Self::try_parse().map_err(shown)?;
        if let (Some(_), Some(ty)) = (&arguments.command, &arguments.ty) {
            let message = format!("the type {} cannot be given before a subcommand", quoted(ty));
            return Err(Self::command().error(ErrorKind::ArgumentConflict, message));
        }
        Ok(arguments)
    }
}

/// The error with arguments escaped for a terminal. (The plain text of a message lacks escape sequences.)
fn shown(mut error: clap::Error) -> clap::Error {
    let context = error.context().map(|(kind, value)| match value {
        ContextValue::String(text) => (kind, ContextValue::String(printable(text))),
        ContextValue::Strings(texts) => {
            (kind, ContextValue::Strings(texts.iter().map(printable).collect()))
        }
        other => (kind, other.clone()),
    });
    for (kind, value) in context.collect::<Vec<_>>() {
        error.insert(kind, value);
    }
    error
}

/// The subcommand to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Draw a type, or print it in another form.
    Show(Show),
    /// Print the numbers of a type: size, bounds, alignment, members, padding; or list the structs of a program.
    Info(Info),
    /// Pack the instances of a type in a file into consecutive bytes. Bytes that are not values, such as a `bool` of 7, are
    /// refused.
    Pack(Layout),
    /// Unpack packed bytes into memory with the layout of a type. Bytes that are not values, such as a `bool` of 7, are refused.
    Unpack(Unpack),
    /// Print the records of a file: as a table, as CSV, as JSON, or as bytes with their fields.
    Dump(Dump),
    /// Print the frames of a file of messages: their headers, whether they are complete, and their records.
    ///
    /// The exit status is 0 if all frames are complete and hold the records of TYPE, 1 if not, and 2 on failure.
    Frame(Frame),
    /// Compare two types by their fields, or all types of two programs.
    ///
    /// The exit status is 0 if a message can be sent as one and received as the other, 1 if it cannot, and 2 on
    /// failure. With `--memory`, it is 0 if the memory of one can be read as the other, such as that of a struct in C and
    /// in Rust. For structs with members that are no data, it is 0 if all members have the same names, places and types.
    /// For two programs or libraries, as `dtype compare old.so new.so`, it is 1 if a type changed or was removed.
    #[command(visible_alias = "diff")]
    Compare(Compare),
    /// Explain the notation of types.
    #[command(long_about = GRAMMAR)]
    Notation,
    /// Print the completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the man page of the command, or of one of its subcommands.
    Man {
        /// The subcommand.
        subcommand: Option<String>,
    },
}

/// The forms in which a type is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// A picture of the bytes.
    #[default]
    Diagram,
    /// The picture as an SVG document.
    Svg,
    /// The description: the type entry by entry, as the constructors gave it.
    Description,
    /// The description after the optimizations of commit.
    Optimized,
    /// An explanation of how it is packed.
    Plan,
    /// The calls that make it, in C.
    C,
    /// The calls that make it, in Rust.
    Rust,
    /// The declaration of a C struct with the same layout. With `--packed`, a header for messages of it, or of an enum of
    /// messages.
    CStruct,
    /// The declaration of a Rust struct with the same layout. For a file that has a type of its own, the struct that reads its
    /// records: with the derive of dtype-runtime, `FixedStr`, `Timestamp` and `Maybe`.
    RustStruct,
    /// The envelopes and contents of the type and of all its parts.
    Tree,
    /// The Python expression of the NumPy dtype that reads it from memory.
    Numpy,
    /// The notation, normalized.
    Notation,
    /// All of this as JSON.
    Json,
}

/// Draw a type.
#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The datatype: text, `@FILE`, `@FILE:NAME`, `PROGRAM:NAME`, or `-` for standard input.
    #[arg(value_name = "TYPE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) ty: String,
    /// The output form.
    #[arg(long = "as", value_enum, default_value_t, value_name = "FORM")]
    pub(crate) form: Form,
    /// As JSON: the same as `--as json`.
    #[arg(long, conflicts_with = "form")]
    pub(crate) json: bool,
    /// The number of instances to draw, one after another; at most 2^48.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1 << 48))]
    pub(crate) instances: u64,
    /// The maximum number of characters in a row of the picture. A row of an array may have an eighth more.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) width: u16,
    /// Bytes in a row, such as the row size of the enclosing array. The default is the type's own stride, if it has one.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) row: Option<u64>,
    /// The maximum number of rows.
    #[arg(long, default_value_t = 24, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) rows: u16,
    /// Bytes for each character of the picture. The default is the size of an element, if all have one size and the
    /// layout does not fit one row, or else 1.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) unit: Option<u32>,
    /// Draw in ASCII only.
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Show the packed bytes: the values one after another, in the order of the declaration.
    #[arg(long)]
    pub(crate) packed: bool,
}

impl Show {
    /// Whether the form shows all members, with those that are not data.
    pub(crate) fn looks(&self) -> bool {
        self.json || matches!(self.form, Form::Diagram | Form::Svg | Form::Json)
    }
}

/// Print numbers.
#[derive(Args, Debug)]
pub(crate) struct Info {
    /// The datatype: text, `@FILE`, `@FILE:NAME`, `PROGRAM:NAME`, or `-` for standard input.
    #[arg(value_name = "TYPE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) ty: String,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the numbers of the packed bytes: the values one after another, in the order of the declaration.
    #[arg(long, conflicts_with = "Listing")]
    pub(crate) packed: bool,
    /// List the structs of the program that have `PROGRAM:NAME` among their members.
    #[arg(long, conflicts_with = "packed")]
    pub(crate) uses: bool,
    /// What the list of the structs in an object file has.
    #[command(flatten)]
    pub(crate) listing: Listing,
}

/// Which structs of an object file are listed, and in which order.
#[derive(Args, Clone, Debug, Default)]
#[group(id = "Listing", multiple = true)]
#[command(next_help_heading = "List of the structs in an object file")]
pub(crate) struct Listing {
    /// List what another order of the fields would save, without those that save nothing.
    #[arg(long)]
    pub(crate) reorder: bool,
    /// Only those whose names contain this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Only those in this namespace or module.
    #[arg(long, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    /// Only those that are declared in a file whose path contains this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) file: Option<String>,
    /// Only those that lose, or with `--reorder` save, at least as many bytes.
    #[arg(long, value_name = "BYTES")]
    pub(crate) least: Option<u64>,
    /// The order: by default the greatest loss first, or with `--reorder` the greatest saving.
    #[arg(long, value_enum, value_name = "BY")]
    pub(crate) sort: Option<SortBy>,
    /// Also those of the standard library and of the compiler, such as closures.
    #[arg(long)]
    pub(crate) all: bool,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortBy {
    /// The greatest loss first.
    Padding,
    /// The greatest saving by another order of the fields first.
    Saves,
    /// The largest first.
    Size,
    /// By name.
    Name,
}

/// How values are represented in packed bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Values {
    /// As on this machine.
    #[default]
    Native,
    /// MPI's external32: big-endian, with widths that are the same everywhere.
    External32,
    /// This machine's widths, little-endian.
    Little,
    /// This machine's widths, big-endian.
    Big,
}

impl Values {
    pub(crate) fn representation(self) -> Representation {
        match self {
            Self::Native => Representation::Native,
            Self::External32 => Representation::External32,
            Self::Little => Representation::LittleEndian,
            Self::Big => Representation::BigEndian,
        }
    }
}

/// The forms in which records are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpForm {
    /// A table, with the first 16 elements of long arrays.
    #[default]
    Table,
    /// Comma-separated values, with a line of names first.
    Csv,
    /// A JSON value on each line. NaN and infinities are strings.
    Json,
    /// The bytes of the file, with the field of each.
    Hex,
}

/// Print records.
#[derive(Args, Debug)]
#[command(override_usage = "dtype dump [OPTIONS] [TYPE] <FILE>")]
pub(crate) struct Dump {
    /// The datatype: text, `@FILE`, `@FILE:NAME`, `PROGRAM:NAME`, or `-` for standard input; and the file, or `-` for standard
    /// input. The records of the file follow one another at the extent, as in memory. A `.npy` file, an array
    /// `FILE.npz:NAME` and a dataset `FILE.h5:DATASET` have a type of their own.
    // (An optional argument before another one would take the other's value if an option is between them.)
    #[arg(value_name = "[TYPE] FILE", required = true)]
    types_and_input: Vec<OsString>,
    /// The output form.
    #[arg(long = "as", value_enum, default_value_t, value_name = "FORM")]
    pub(crate) form: DumpForm,
    /// As JSON: the same as `--as json`.
    #[arg(long, conflicts_with = "form")]
    pub(crate) json: bool,
    /// The records to print, numbered from 0: `10..20`, `10..`, `..=19`, or the number of one.
    #[arg(long, value_name = "RANGE")]
    pub(crate) records: Option<RecordRange>,
    /// The file has packed records, without gaps, as `pack` writes them. A struct in Rust then needs no `#[repr(C)]`.
    #[arg(long)]
    pub(crate) packed: bool,
    /// The position of the first record's displacement 0, in bytes from the start of the file.
    #[arg(long, default_value_t = 0, value_name = "BYTES", conflicts_with = "packed")]
    pub(crate) origin: u64,
    /// How values are represented in the file; external32 only with `--packed`.
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub(crate) representation: Values,
}

impl Dump {
    /// The type, if there is one, and the file.
    pub(crate) fn type_and_input(&self) -> Result<(Option<&str>, &Path), clap::Error> {
        match &self.types_and_input[..] {
            [input] => Ok((None, Path::new(input))),
            [ty, input] => Ok((Some(text(ty)?), Path::new(input))),
            [.., more] => {
                let message = format!("unexpected argument {}", quoted(&more.to_string_lossy()));
                Err(Arguments::command().error(ErrorKind::UnknownArgument, message))
            }
            [] => Ok((None, Path::new("-"))),
        }
    }
}

/// An argument that must be a type.
fn text(argument: &OsStr) -> Result<&str, clap::Error> {
    argument.to_str().ok_or_else(|| {
        let shown = printable(argument.as_encoded_bytes());
        let message = format!("{shown} is neither a file nor a type: types are UTF-8");
        Arguments::command().error(ErrorKind::InvalidUtf8, message)
    })
}

/// The forms in which frames are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FrameForm {
    /// Lines for people.
    #[default]
    Text,
    /// A JSON object on each line: one for each frame, and one for each record before its frame.
    Json,
}

/// Print frames.
#[derive(Args, Debug)]
#[command(override_usage = "dtype frame [OPTIONS] [TYPE]... <FILE>")]
pub(crate) struct Frame {
    /// The datatypes of the records, to print them, too: text, `@FILE`, `@FILE:NAME`, `PROGRAM:NAME`, or `-` for standard
    /// input; and the file of messages, or `-` for standard input. NAME can be an enum with `#[derive(Messages)]`, which has a
    /// type for each tag. The file may also come before the types.
    #[arg(value_name = "[TYPE]... FILE", required = true)]
    types_and_input: Vec<OsString>,
    /// Print records of types that came in earlier messages.
    #[arg(long)]
    pub(crate) dump: bool,
    /// The output form.
    #[arg(long = "as", value_enum, default_value_t, value_name = "FORM")]
    pub(crate) form: FrameForm,
    /// As JSON: the same as `--as json`.
    #[arg(long, conflicts_with = "form")]
    pub(crate) json: bool,
}

impl Frame {
    /// The types and the file. The file is the last argument, or the first one if only the first is an existing file.
    pub(crate) fn types_and_input(&self) -> Result<(Vec<&str>, &Path), clap::Error> {
        // A type is UTF-8.
        let is_file =
            |path: &OsStr| path == "-" || path.to_str().is_none() || Path::new(path).exists();
        let (types, input) = match &self.types_and_input[..] {
            [input, types @ .., last] if !is_file(last) && is_file(input) => {
                let types: Vec<&OsStr> =
                    types.iter().chain([last]).map(OsString::as_os_str).collect();
                (types, input.as_os_str())
            }
            [types @ .., input] => {
                (types.iter().map(OsString::as_os_str).collect(), input.as_os_str())
            }
            [] => (Vec::new(), OsStr::new("-")),
        };
        let types = types.into_iter().map(text).collect::<Result<_, _>>()?;
        Ok((types, Path::new(input)))
    }
}

/// The arguments that packing and unpacking share.
#[derive(Args, Debug)]
pub(crate) struct Layout {
    /// The datatype: text, `@FILE`, `@FILE:NAME`, `PROGRAM:NAME`, or `-` for standard input.
    #[arg(value_name = "TYPE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) ty: String,
    /// The input file, or `-` for standard input.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The output file, or `-` for standard output. It is replaced only once the output is complete.
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The number of instances. The default is as many as the input has.
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// The position of the first instance's displacement 0, in bytes from the start of the memory.
    #[arg(long, default_value_t = 0, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) origin: u64,
    /// How values are represented in the packed bytes.
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub(crate) representation: Values,
}

/// Unpack.
#[derive(Args, Debug)]
pub(crate) struct Unpack {
    /// The arguments shared with packing.
    #[command(flatten)]
    pub(crate) layout: Layout,
    /// The file whose bytes fill the gaps. The default is zeros.
    #[arg(long, value_name = "FILE")]
    pub(crate) over: Option<PathBuf>,
}

/// Compare.
#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// A datatype: text, `@FILE`, `@FILE:NAME`, `PROGRAM:NAME`, or `-` for standard input.
    #[arg(value_name = "A", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) a: String,
    /// The type to compare with.
    #[arg(value_name = "B", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) b: String,
    /// Compare the memory: the bounds, and the place, size and kind of each value. Integers, with or without a sign, and
    /// characters are of one kind; names, and the order in which the values are packed, do not matter.
    #[arg(long)]
    pub(crate) memory: bool,
    /// Compare the packed bytes: the values one after another, in the order of the declarations.
    #[arg(long, conflicts_with = "memory")]
    pub(crate) packed: bool,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
