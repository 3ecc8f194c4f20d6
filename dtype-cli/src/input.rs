//! Types from arguments, files and standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::declaration::{self, Language};
use crate::failure::{Failure, shown};
use crate::notation::{MAX_LENGTH, Parsed};

/// Standard input, which one argument can name.
#[derive(Debug, Default)]
pub(crate) struct StandardInput {
    pub(crate) taken: bool,
    /// The language of all types, if an option gives it.
    pub(crate) language: Option<Language>,
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

/// The type given by an argument.
pub(crate) fn ty(argument: &str, name: &str, stdin: &mut StandardInput) -> Result<Parsed, Failure> {
    let (mut wanted, mut language) = (None, None);
    let (source, name) = match (argument, argument.strip_prefix('@')) {
        ("-", _) => {
            let is_c = stdin.language == Some(Language::C);
            (text(stdin.take()?, Path::new("-"), is_c)?, "standard input")
        }
        (_, Some(path)) => {
            let (path, item) = item_of_file(path);
            (wanted, language) = (item, Language::of_file(path));
            let file = File::open(path);
            let file = file.map_err(|error| Failure::file("read", Path::new(path), error))?;
            let is_c = stdin.language.or(language) == Some(Language::C);
            (text(file, Path::new(path), is_c)?, path)
        }
        _ => (argument.to_owned(), name),
    };
    let language = stdin.language.or(language);
    let language = language.unwrap_or_else(|| declaration::recognize(&source));
    declaration::parse(&source, language, wanted).map_err(|mut problems| {
        let name = name.to_owned();
        // The text of a file or of standard input was read, and is no name.
        if let Some(problem) = problems.first_mut().filter(|_| source == argument)
            && Path::new(argument).is_file()
        {
            problem.help =
                Some(format!("a file has this name; `@{argument}` reads the type from it"));
            problem.replacement = None;
        }
        Failure::Notation { problems, source, name }
    })
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

/// The whole text, unless it is too long. The comments of C may be in any encoding that has ASCII's characters.
fn text(reader: impl Read, path: &Path, is_c: bool) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let limit = MAX_LENGTH as u64 + 1;
    let read = reader.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| Failure::file("read", path, error))?;
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
        Failure::Usage(format!("{path} is not UTF-8 text: invalid byte at offset {place}"))
    })
}
