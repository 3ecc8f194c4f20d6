//! Types from arguments, files and standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::failure::Failure;
use crate::notation::{self, MAX_LENGTH, Parsed};

/// Standard input, which one argument can name.
#[derive(Debug, Default)]
pub(crate) struct StandardInput {
    taken: bool,
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
    let (source, name) = match (argument, argument.strip_prefix('@')) {
        ("-", _) => (text(stdin.take()?, Path::new("-"))?, "standard input"),
        (_, Some(path)) => {
            let file = File::open(path);
            let file = file.map_err(|error| Failure::file("read", Path::new(path), error))?;
            (text(file, Path::new(path))?, path)
        }
        _ => (argument.to_owned(), name),
    };
    notation::parse(&source).map_err(|problems| {
        let name = name.to_owned();
        Failure::Notation { problems, source, name }
    })
}

/// The whole text, unless it is too long.
fn text(reader: impl Read, path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let limit = MAX_LENGTH as u64 + 1;
    let read = reader.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| Failure::file("read", path, error))?;
    if bytes.len() > MAX_LENGTH {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "{path} is too long, expected at most {MAX_LENGTH} bytes"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let (place, path) = (error.utf8_error().valid_up_to(), path.display());
        Failure::Usage(format!("{path} is not UTF-8 text: invalid byte at offset {place}"))
    })
}
