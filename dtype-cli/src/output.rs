//! Output files that appear only once they are complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::temporary::Temporary;

/// A file being written: a temporary file next to its destination, which is renamed once it is complete. A device or a named
/// pipe is not a regular file, and is written directly.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    at: At,
}

#[derive(Debug)]
enum At {
    Beside(Temporary),
    There(File),
}

impl NewFile {
    /// Creates an empty file that will become the file at `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        Self::try_create(path).map_err(|error| Failure::file("write", path, error))
    }

    fn try_create(path: &Path) -> io::Result<Self> {
        // If the path is a link, its target is replaced.
        let (path, metadata) = match fs::metadata(path) {
            // A link to a pipe, such as `/dev/stdout` or `/dev/fd/63`, has a target that is not a path.
            Ok(metadata) if !metadata.is_file() => (path.to_path_buf(), Some(metadata)),
            Ok(metadata) => (fs::canonicalize(path)?, Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (target(path)?, None),
            Err(error) => return Err(error),
        };
        if metadata.as_ref().is_some_and(fs::Metadata::is_file) {
            // The file will be replaced, so the user must have permission to write to it.
            File::options().write(true).open(&path)?;
        }
        if let Some(metadata) = &metadata
            && !metadata.is_file()
        {
            // Opened for writing only: if this process also had a pipe open for reading, it would never notice that the reader
            // has gone.
            let file = File::options().write(true).open(&path)?;
            return Ok(Self { path, at: At::There(file) });
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut file = Temporary::create(folder)?;
        if let Some(metadata) = metadata {
            file.file().set_permissions(metadata.permissions())?;
        }
        Ok(Self { path, at: At::Beside(file) })
    }

    /// The file to write to.
    pub(crate) fn file(&mut self) -> &mut File {
        match &mut self.at {
            At::Beside(file) => file.file(),
            At::There(file) => file,
        }
    }

    /// The destination path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the complete file to its destination.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.at {
            At::Beside(file) => {
                file.persist(&self.path).map_err(|error| Failure::file("write", &self.path, error))
            }
            At::There(_) => Ok(()),
        }
    }
}

/// The maximum number of links to follow; the systems' own limits are about the same.
const MAX_LINKS: usize = 40;

/// The path that a link leads to, although the target does not exist. A path that is not a link leads to itself.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            // A relative target starts in the link's folder.
            Ok(next) => path = path.parent().map_or(next.clone(), |folder| folder.join(next)),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}
