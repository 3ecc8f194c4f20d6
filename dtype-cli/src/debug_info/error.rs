//! Errors in reading layouts from debug information.

use dtype_stored::Exceeded;
use object::Architecture;

use dtype_text::problem::quoted;

/// Why no layout can be read from an object file, an archive or a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file has no DWARF sections.
    #[error(
        "the file has no debug information\n\
         help: compile it with `-g`, a header with `-fno-eliminate-unused-debug-types` as well, and do not strip it"
    )]
    Stripped,
    /// The debug information was moved to another file.
    #[error("the debug information was moved to `{file}`\nhelp: name that file: `{file}:NAME`")]
    Moved {
        /// The name of that file.
        file: String,
    },
    /// A Mach-O program or library refers to the debug information of the object files it was linked from.
    #[error(
        "the debug information stayed in the object files\n\
         help: name one of these, or `FILE.dSYM/Contents/Resources/DWARF/FILE`, which `dsymutil FILE` writes"
    )]
    InObjectFiles,
    /// The compiler wrote the types to a separate file.
    #[error("the types are in `{file}` (split debug information){}", split(file, *is_here))]
    Split {
        /// The first `.dwo` file, or the package of all of them.
        file: String,
        /// Whether that file is there.
        is_here: bool,
    },
    /// There are no types: the file has only line numbers, or none of its units has the types of a header.
    #[error(
        "the debug information has no types\n\
         help: compile with `-g` in place of `-g1`, and a header with `-fno-eliminate-unused-debug-types`; in \
         `Cargo.toml`, with `debug = true`"
    )]
    NoTypes,
    /// The file is for another machine, where types have other sizes.
    #[error(
        "the file is for {found}, and types are those of this machine, {}\nhelp: compile it for this machine",
        std::env::consts::ARCH
    )]
    Architecture {
        /// The file's architecture.
        found: String,
    },
    /// Files of this kind cannot be read.
    #[error("{what} is not supported\nhelp: {help}")]
    Unsupported {
        /// The kind of file.
        what: &'static str,
        /// What to do.
        help: &'static str,
    },
    /// The file contradicts itself.
    #[error("the file is damaged: {reason}")]
    Damaged {
        /// The first contradiction.
        reason: String,
    },
    /// The file repeats what it has too often.
    #[error("{0}")]
    Exceeded(#[from] Exceeded),
    /// No type has this name.
    #[error("no type is called {}{}", quoted(name), help(near.as_deref(), *is_declared))]
    Unknown {
        /// The name.
        name: String,
        /// A type with a similar name.
        near: Option<String>,
        /// Whether the name is declared without members.
        is_declared: bool,
    },
    /// The file has no such part with types.
    #[error(
        "the file has no types of {}\nhelp: write the name of a member of the archive, or of a source file",
        quoted(part)
    )]
    NoPart {
        /// The part.
        part: String,
    },
    /// Several types have this name.
    #[error("several types are called {}:{}\nhelp: {}", quoted(name), lines(types), choice(name, part.as_deref()))]
    Several {
        /// The name.
        name: String,
        /// Each type with its size and the part of the file that it is in.
        types: Vec<String>,
        /// A part that has one of several types with the same whole name.
        part: Option<String>,
    },
    /// The type is not a datatype.
    #[error("{} is {what}\nhelp: name a struct that contains it", quoted(name))]
    NoData {
        /// The name of the type.
        name: String,
        /// A description of the type.
        what: String,
    },
    /// No value of the type is data.
    #[error("{} is {what}, which is no data\nhelp: {}", quoted(name), parts_help(parts))]
    NoStruct {
        /// The name of the type.
        name: String,
        /// A description of the type.
        what: String,
        /// The structs that one of its values can hold: the variants of an enum, the members of a union.
        parts: Vec<String>,
    },
    /// Some members of the struct are not datatypes.
    #[error(
        "{} has members that are no data:{}\nhelp: `--skip` leaves them out",
        quoted(name),
        lines(members)
    )]
    Members {
        /// The name of the struct.
        name: String,
        /// Each member with a description of its type.
        members: Vec<String>,
    },
}

impl Error {
    pub(super) fn architecture(found: Architecture) -> Self {
        Self::Architecture { found: format!("{found:?}").to_lowercase() }
    }
}

impl From<object::Error> for Error {
    fn from(error: object::Error) -> Self {
        Self::Damaged { reason: error.to_string() }
    }
}

impl From<gimli::Error> for Error {
    fn from(error: gimli::Error) -> Self {
        Self::Damaged { reason: error.to_string() }
    }
}

/// What to do about a separate file.
fn split(file: &str, is_here: bool) -> String {
    if is_here {
        return format!("\nhelp: name that file: `{file}:NAME`");
    }
    "\nhelp: that file is not there, and no package (`.dwp`) is beside this one: name the one to which they were moved, as \
     `FILE:NAME`"
        .into()
}

/// How to name one of several types.
fn choice(name: &str, part: Option<&str>) -> String {
    match part {
        Some(part) => {
            let example = quoted(&format!("FILE({part}):{name}"));
            format!(
                "name the part of the file that has the one that is meant: {example}, in quotes"
            )
        }
        None => "write the whole name of the one that is meant".into(),
    }
}

fn help(near: Option<&str>, is_declared: bool) -> String {
    match near {
        _ if is_declared => "\nhelp: this file only declares it; another one has its members".into(),
        Some(near) => format!("\nhelp: did you mean {}?", quoted(near)),
        None => "\nhelp: without a name, the command lists all types; the compiler leaves out those \
                 that no variable or function has, unless `-fno-eliminate-unused-debug-types` is given"
            .into(),
    }
}

fn parts_help(parts: &[String]) -> String {
    if parts.is_empty() {
        return "it has no struct in it that could be named in its place".into();
    }
    format!("name the one that is meant:{}", lines(parts))
}

/// The greatest number of lines of a list in a message.
const MAX_LINES: usize = 20;

fn lines(items: &[String]) -> String {
    let shown = items.iter().take(MAX_LINES).map(|item| format!("\n  {item}"));
    let more = items.len().saturating_sub(MAX_LINES);
    let more = (more > 0).then(|| format!("\n  … {more} more"));
    shown.chain(more).collect()
}
