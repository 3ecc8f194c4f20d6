//! Types from arguments, files and standard input.

use std::fs::File;
use std::io::{self, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};

use dtype_runtime::representation::ByteOrder;
use object::read::ReadCache;

use crate::dataset::{self, Columns};
use crate::debug_info::{DebugInfo, Error, Listed, is_object};
use crate::failure::{Failure, shown};
use crate::frame::own_type;
use crate::npy::{self, Items, MAGIC};
use crate::separate;
use dtype_text::declaration::{self, Language, Message};
use dtype_text::notation::{MAX_LENGTH, Parsed, print_named};
use dtype_text::printable::{printable, printable_lines};
use dtype_text::problem::Problem;
use dtype_text::structure::{Described, Form, Inside, Leaf, Member, Structure, What};

/// Standard input, which only one argument can name.
#[derive(Debug, Default)]
pub(crate) struct StandardInput {
    pub(crate) taken: bool,
    /// The language of all types, if an option gives it.
    pub(crate) language: Option<Language>,
    /// Whether members that are not data are left out of structs from debug information.
    pub(crate) skip: bool,
    /// What the types are for.
    pub(crate) wanted: Wanted,
}

/// What types are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A look, also at members that are no data.
    #[default]
    Look,
    /// A datatype.
    Data,
    /// Values that are read or moved.
    Values,
}

impl StandardInput {
    /// Takes standard input; only the first call succeeds.
    pub(crate) fn take(&mut self) -> Result<io::StdinLock<'static>, Failure> {
        if std::mem::replace(&mut self.taken, true) {
            return Err(Failure::Usage("`-` for standard input can be given only once".into()));
        }
        Ok(io::stdin().lock())
    }
}

/// The types of an object file, if an argument names the file but no type; with the names of the types of their members, if these
/// are wanted.
pub(crate) fn types(
    argument: &str,
    with_names: bool,
    stdin: &StandardInput,
) -> Result<Option<Vec<Listed>>, Failure> {
    match object(argument, stdin) {
        Some(object @ Object { name: None, .. }) => all_types(object, with_names).map(Some),
        _ => Ok(None),
    }
}

/// The types of the object file that has the type in an argument; `None` if it is no such type.
pub(crate) fn types_beside(
    argument: &str,
    stdin: &StandardInput,
) -> Result<Option<Vec<Listed>>, Failure> {
    match object(argument, stdin) {
        Some(object @ Object { name: Some(_), .. }) => all_types(object, false).map(Some),
        _ => Ok(None),
    }
}

fn all_types(object: Object<'_>, with_names: bool) -> Result<Vec<Listed>, Failure> {
    debug_info(object, |info| info.structures(with_names))
}

/// The type given by an argument, for memory.
pub(crate) fn ty(argument: &str, name: &str, stdin: &mut StandardInput) -> Result<Parsed, Failure> {
    let is_look = stdin.wanted == Wanted::Look;
    let parse = if is_look { declaration::look } else { declaration::parse };
    read(argument, name, stdin, |parsed| parsed, parse)
}

/// The type given by an argument, for packed bytes.
pub(crate) fn packed_ty(
    argument: &str,
    name: &str,
    stdin: &mut StandardInput,
) -> Result<Parsed, Failure> {
    read(argument, name, stdin, |parsed| parsed, declaration::parse_packed)
}

/// The types that an argument gives for the records of frames.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    Type(Box<Parsed>),
    /// Those of an enum.
    Messages(Vec<(Message, Parsed)>),
}

/// The types given by an argument, for the records of frames.
pub(crate) fn records(argument: &str, stdin: &mut StandardInput) -> Result<Given, Failure> {
    let one = |parsed| Given::Type(Box::new(parsed));
    read(argument, "TYPE", stdin, one, |source, language, wanted| {
        if language == Language::Rust
            && let Some(messages) = declaration::messages(source, wanted)?
        {
            return Ok(Given::Messages(messages));
        }
        declaration::parse_packed(source, language, wanted).map(one)
    })
}

/// Reads an argument: a type that a file contains in another form, or a text with `parse`.
fn read<T>(
    argument: &str,
    name: &str,
    stdin: &mut StandardInput,
    made: impl FnOnce(Parsed) -> T,
    parse: impl FnOnce(&str, Language, Option<&str>) -> Result<T, Vec<Problem>>,
) -> Result<T, Failure> {
    if stdin.language.is_none()
        && let Some(items) = data_file(argument)?
    {
        return of_items(items, argument, stdin).map(made);
    }
    match object(argument, stdin) {
        Some(object @ Object { path, name: Some(name), .. }) => {
            let parsed = debug_info(object, |info| info.find(name))?;
            if stdin.wanted != Wanted::Look {
                check_data(&parsed, path, name, stdin.skip)?;
            }
            return Ok(made(parsed));
        }
        Some(Object { path, name: None, .. }) => {
            let path = shown(Path::new(path));
            let message = format!(
                "{path} has many types\nhelp: name one: `{path}:NAME`; `dtype {path}` lists them"
            );
            return Err(Failure::Usage(message));
        }
        None => {}
    }
    let (mut wanted, mut language) = (None, None);
    let (source, name) = match (argument, argument.strip_prefix('@')) {
        ("-", _) => {
            let is_c = stdin.language == Some(Language::C);
            let bytes = start(stdin.take()?, Path::new("-"))?;
            if stdin.language.is_none() && bytes.starts_with(MAGIC) {
                return of_items(npy::items(&bytes[..], 4)?, argument, stdin).map(made);
            }
            (text(bytes, Path::new("-"), is_c)?, "standard input")
        }
        (_, Some(path)) => {
            let (path, item) = item_of_file(path);
            (wanted, language) = (item, Language::of_file(path));
            let file = File::open(path);
            let file = file.map_err(|error| Failure::file("read", Path::new(path), error))?;
            let is_c = stdin.language.or(language) == Some(Language::C);
            (text(start(file, Path::new(path))?, Path::new(path), is_c)?, path)
        }
        _ => (argument.to_owned(), name),
    };
    let language = stdin.language.or(language);
    let language = language.unwrap_or_else(|| declaration::recognize(&source));
    parse(&source, language, wanted).map_err(|mut problems| {
        let name = name.to_owned();
        if let Some(file) = argument.strip_prefix('@').map(|path| item_of_file(path).0) {
            with_names(&mut problems, file, wanted);
        }
        // The text of a file or of standard input was read, and it is only a name.
        if let Some(problem) = problems.first_mut().filter(|_| source == argument)
            && Path::new(argument).is_file()
        {
            problem.help = Some(of_file(argument));
            problem.replacement = None;
        }
        Failure::Notation { problems, text: source, name }
    })
}

/// The items of a data file that contains their type: a `.npy` file, an array of an archive, a dataset of an HDF5 file, columns,
/// or messages. An `@` may be before its name.
fn data_file(argument: &str) -> Result<Option<Items>, Failure> {
    let path = Path::new(argument.strip_prefix('@').unwrap_or(argument));
    if let Some(dataset) = dataset::open(path)? {
        let character = dataset.character;
        return npy::items(dataset, character).map(Some);
    }
    if let Some(Columns { stored, count, left_out }) = dataset::columns(path)? {
        for column in left_out {
            let _ = writeln!(io::stderr(), "note: the column {}, is left out", printable(&column));
        }
        let parsed = declaration::of_stored(stored);
        let parsed = parsed.map_err(|error| Failure::Usage(error.to_string()))?;
        return Ok(Some(Items { parsed, order: None, count }));
    }
    if let Some(parsed) = own_type(path)? {
        return Ok(Some(Items { parsed, order: None, count: 0 }));
    }
    let mut start = [0; MAGIC.len()];
    let Some(mut file) = dataset::regular(path) else { return Ok(None) };
    if file.read_exact(&mut start).is_err() || start != MAGIC {
        return Ok(None);
    }
    npy::items(start.chain(BufReader::new(file)), 4).map(Some)
}

/// The type of the items of a data file. A type has this machine's byte order.
fn of_items(items: Items, argument: &str, stdin: &StandardInput) -> Result<Parsed, Failure> {
    let Some(order) = items.order.filter(|order| *order != ByteOrder::NATIVE) else {
        return Ok(items.parsed);
    };
    let order = if order == ByteOrder::Big { "big" } else { "little" };
    let message = format!("the values of {} are {order}-endian", printable(argument));
    if stdin.wanted == Wanted::Values {
        let notation = print_named(&items.parsed.ty, &items.parsed.fields);
        return Err(Failure::Usage(format!(
            "{message}, and this machine is not\nhelp: give the type as a text, with `--representation {order}`: {}",
            printable(&notation)
        )));
    }
    // If the note cannot be written, nothing else changes.
    let _ = writeln!(io::stderr(), "note: {message}; types are shown for this machine");
    Ok(items.parsed)
}

/// What to do with a file whose name was given for a type, and which does not contain one itself.
fn of_file(path: &str) -> String {
    let mut bytes = Vec::new();
    let file = dataset::regular(Path::new(path));
    let read = file.and_then(|file| file.take(1024).read_to_end(&mut bytes).ok());
    // The last character may be cut.
    let is_text =
        std::str::from_utf8(&bytes).map_or_else(|error| error.error_len().is_none(), |_| true);
    if read.is_some() && is_text {
        format!("a file has this name; `@{path}` reads the type from it")
    } else {
        format!("`dtype dump TYPE {path}` prints the records of a type in this file")
    }
}

/// Puts the names of the file and of the struct into the command that compiles the file.
fn with_names(problems: &mut [Problem], file: &str, wanted: Option<&str>) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+".contains(c);
    if !file.chars().all(is_plain) || file.starts_with('-') {
        return;
    }
    let object = Path::new(file).with_extension("o");
    let names = [
        ("FILE.h", file),
        ("FILE.o", object.to_str().unwrap_or("FILE.o")),
        ("NAME", wanted.unwrap_or("NAME")),
    ];
    for help in problems.iter_mut().filter_map(|problem| problem.help.as_mut()) {
        if help.contains("FILE.h") {
            *help = names.iter().fold(help.clone(), |help, (from, to)| help.replace(from, to));
        }
    }
}

/// An argument that names an object file: `FILE:NAME`, `FILE(PART):NAME`, or one of these without the name.
#[derive(Clone, Copy, Debug)]
struct Object<'t> {
    path: &'t str,
    /// A member of an archive, or a source file.
    part: Option<&'t str>,
    /// A type.
    name: Option<&'t str>,
}

/// The object file in an argument, even after an `@`.
fn object<'t>(argument: &'t str, stdin: &StandardInput) -> Option<Object<'t>> {
    let argument = argument.strip_prefix('@').unwrap_or(argument);
    let is_object = |path: &str| {
        dataset::regular(Path::new(path)).is_some_and(|file| is_object(&ReadCache::new(file)))
    };
    if stdin.language.is_some() {
        return None;
    }
    // Names may contain colons, too: `program:geo::Cell`.
    let colons = argument.match_indices(':').map(|(at, _)| at);
    let mut ends = std::iter::once(argument.len()).chain(colons);
    ends.find_map(|end| {
        let (file, name) = (&argument[..end], argument.get(end + 1..));
        if is_object(file) {
            return Some(Object { path: file, part: None, name });
        }
        let (path, part) = file.strip_suffix(')')?.split_once('(')?;
        is_object(path).then_some(Object { path, part: Some(part), name })
    })
}

/// Reads debug information; only the sections that are needed are read. If it was moved to another file, that one is read, if it
/// is in one of the usual places.
fn debug_info<T>(
    Object { path, part, .. }: Object<'_>,
    read: impl Fn(&DebugInfo<'_>) -> Result<T, Error>,
) -> Result<T, Failure> {
    let path = Path::new(path);
    let failure = |error| Failure::DebugInfo { path: path.into(), error };
    let read_file = |path: &Path| -> Result<Result<T, Error>, Failure> {
        let file = File::open(path).map_err(|error| Failure::file("read", path, error))?;
        let data = ReadCache::new(file);
        Ok(DebugInfo::read(&data).and_then(|info| match part {
            Some(part) => read(&info.within(part)),
            None => read(&info),
        }))
    };
    match read_file(path)? {
        Err(Error::Split { file, .. }) => {
            let (file, is_here) = split(path, &file);
            Err(failure(Error::Split { file, is_here }))
        }
        Err(error @ (Error::Moved { .. } | Error::Stripped)) => match separate::find(path) {
            Some(other) => read_file(&other)?.map_err(failure),
            None => Err(failure(error)),
        },
        other => other.map_err(failure),
    }
}

/// The file with the types of a program, and whether it exists: the package beside the program, the file that the compiler
/// wrote, or that one beside the program.
fn split(program: &Path, file: &str) -> (String, bool) {
    let mut package = program.as_os_str().to_owned();
    package.push(".dwp");
    let file = Path::new(file);
    let beside = program.with_file_name(file.file_name().unwrap_or_default());
    let all = [PathBuf::from(package), file.to_owned(), beside];
    let here = all.iter().find(|path| path.is_file());
    (here.map_or(file, |path| path).to_string_lossy().into_owned(), here.is_some())
}

/// The greatest number of members without data that are named.
const MAX_NAMED: usize = 256;

/// Whether all members are data. With `skip`, the others are named on standard error; otherwise they are a failure.
fn check_data(parsed: &Parsed, path: &str, name: &str, skip: bool) -> Result<(), Failure> {
    let structure = parsed.fields.layout().filter(|structure| !structure.is_data());
    let Some(structure) = structure else { return Ok(()) };
    let name = name.to_owned();
    let failure = |error| Failure::DebugInfo { path: path.into(), error };
    if structure.form != Form::Struct {
        let what = Described::new(What::Structure(structure.clone().into()), None, None);
        let what = what.noun().to_owned();
        return Err(failure(Error::NoStruct { parts: parts(&name, structure), name, what }));
    }
    let (leaves, _) = structure.leaves(Inside::Structs, true, MAX_NAMED);
    let member = |one: &Leaf<'_>| {
        let name = match one.path.strip_suffix('.') {
            _ if one.path.is_empty() => "a member without a name".to_owned(),
            Some(outer) => format!("a member of `{outer}` without a name"),
            None => format!("`{}`", one.path),
        };
        match one.offset {
            Some(offset) => format!("{name} at byte {offset}: {}", one.what()),
            None => format!("{name}: {}, whose place is not fixed", one.what()),
        }
    };
    let members: Vec<String> = leaves.iter().map(member).collect();
    if !skip {
        return Err(failure(Error::Members { name, members }));
    }
    for member in members {
        // If the note cannot be written, nothing else changes.
        let _ = writeln!(io::stderr(), "left out: {}", printable_lines(&member));
    }
    Ok(())
}

/// The structs that a value of an enum or of a union can hold.
fn parts(name: &str, structure: &Structure) -> Vec<String> {
    let name = structure.name.as_deref().unwrap_or(name);
    let members = structure.declared.iter().map(|number| &structure.members[*number]);
    let part = |member: &Member| match structure.form {
        Form::Enum(_) => Some(format!("{name}::{}", member.name.as_ref()?)),
        _ => Some(member.of.structure()?.name.as_ref().unwrap_or(&member.of.name).to_string()),
    };
    let mut parts: Vec<String> = members.filter_map(part).take(MAX_NAMED).collect();
    parts.retain(|part| !part.is_empty());
    parts.dedup();
    parts
}

/// `FILE:NAME` as a file and the name of a struct in it, unless a file is called that.
fn item_of_file(path: &str) -> (&str, Option<&str>) {
    match path.rsplit_once(':') {
        Some((file, name))
            if name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
                && !Path::new(path).exists() =>
        {
            (file, Some(name))
        }
        _ => (path, None),
    }
}

/// As many bytes as the longest text has, and one more.
fn start(reader: impl Read, path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let limit = MAX_LENGTH as u64 + 1;
    let read = reader.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| Failure::file("read", path, error))?;
    Ok(bytes)
}

/// The whole text, unless it is too long. Comments in C may be in any encoding that includes ASCII.
fn text(bytes: Vec<u8>, path: &Path, is_c: bool) -> Result<String, Failure> {
    if bytes.len() > MAX_LENGTH {
        let path = shown(path);
        return Err(Failure::Usage(format!(
            "{path} is too long, expected at most {MAX_LENGTH} bytes"
        )));
    }
    if is_c && !bytes.contains(&0) {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let (place, path) = (error.utf8_error().valid_up_to(), shown(path));
        Failure::Usage(format!(
            "{path} is not UTF-8 text: invalid byte at offset {place}\nhelp: `dtype dump TYPE {path}` prints records of a TYPE"
        ))
    })
}
