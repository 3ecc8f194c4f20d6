//! Whether the library that this process has loaded can be the one that the program was compiled for.
//!
//! A header and a library of different versions do not fail by themselves: constants and structures may have changed, and
//! functions may be missing.

use std::ffi::CStr;
use std::os::raw::{c_char, c_int};
use std::sync::{LazyLock, OnceLock};

use crate::error::Error;

unsafe extern "C" {
    fn dtype_mpi_header_library() -> *const c_char;
    fn dtype_mpi_header_standard() -> c_int;
}

/// The folders of the library when the program was compiled.
const FOLDERS: &str = env!("DTYPE_MPI_FOLDERS");

/// Compares the library with the header, once.
pub(crate) fn check() -> Result<(), Error> {
    static CHECKED: OnceLock<Result<(), Error>> = OnceLock::new();
    CHECKED
        .get_or_init(|| {
            // SAFETY: functions without arguments; the text is a string literal.
            let (header, standard) = unsafe {
                (CStr::from_ptr(dtype_mpi_header_library()), dtype_mpi_header_standard())
            };
            let Ok(library) = mpi::environment::library_version() else { return Ok(()) };
            let (version, subversion) = mpi::environment::version();
            let compiled = Version { library: &header.to_string_lossy(), standard };
            let running = Version { library: &library, standard: version * 1000 + subversion };
            compare(compiled, running)
        })
        .clone()
}

/// Whether the library is Open MPI. Its own header would say so, but the header of the standard ABI belongs to no library.
pub(crate) fn is_open_mpi() -> bool {
    static ANSWER: LazyLock<bool> = LazyLock::new(|| {
        mpi::environment::library_version().is_ok_and(|library| library.starts_with(OPEN_MPI))
    });
    *ANSWER
}

/// What the version of the library begins with.
const OPEN_MPI: &str = "Open MPI";

/// A version of a library, and of the standard.
#[derive(Clone, Copy)]
struct Version<'a> {
    library: &'a str,
    standard: c_int,
}

/// Libraries promise programs that were compiled for an older version that they run. All of MPICH's family promise this to each
/// other.
fn compare(compiled: Version<'_>, running: Version<'_>) -> Result<(), Error> {
    let is_open_mpi = |version: Version<'_>| version.library.starts_with(OPEN_MPI);
    let is_same = compiled.library.is_empty() || is_open_mpi(compiled) == is_open_mpi(running);
    let is_older = match (numbers(compiled.library), numbers(running.library)) {
        (Some(compiled), Some(running)) => running < compiled,
        _ => false,
    };
    if is_same && !is_older && running.standard >= compiled.standard {
        return Ok(());
    }
    let first_line = running.library.lines().next().unwrap_or_default();
    // After the version, Open MPI's has the name of the package.
    let running = first_line.split(", ").next().unwrap_or_default().to_owned();
    let compiled = match compiled.library {
        "" => format!("a library of MPI {}.{}", compiled.standard / 1000, compiled.standard % 1000),
        library => library.to_owned(),
    };
    Err(Error::Library { compiled, running, folders: FOLDERS })
}

/// The first two numbers of a version of Open MPI or MPICH; `None` for other libraries.
fn numbers(library: &str) -> Option<[u32; 2]> {
    let version = ["Open MPI v", "Open MPI ", "MPICH Version:", "MPICH "];
    let version = version.iter().find_map(|name| library.strip_prefix(name))?;
    let mut numbers = version.trim_start().split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some([numbers.next()?.ok()?, numbers.next()?.ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_library_and_one_of_another_family_are_refused() {
        let open_mpi_4 = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4";
        let mpich_4 = "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr 7";
        let intel = "Intel(R) MPI Library 2021.13 for Linux* OS\n";
        for (compiled, running, is_right) in [
            (("Open MPI 4.1.4", 3001), (open_mpi_4, 3001), true),
            (("Open MPI 4.1.9", 3001), (open_mpi_4, 3001), true),
            (("Open MPI 4.0.0", 3001), (open_mpi_4, 3001), true),
            (("Open MPI 4.2.0", 3001), (open_mpi_4, 3001), false),
            (("Open MPI 5.0.11", 3001), (open_mpi_4, 3001), false),
            (("Open MPI 4.1.4", 3001), ("Open MPI v5.0.11, package: x", 3001), true),
            (("Open MPI 4.1.4", 3001), ("Open MPI v10.0.0rc1, package: x", 4001), true),
            (("MPICH 4.0.2", 4000), (mpich_4, 4000), true),
            (("MPICH 3.4", 3001), (mpich_4, 4000), true),
            (("MPICH 5.0.2", 5000), (mpich_4, 4000), false),
            (("MPICH 4.1rc1", 4000), (mpich_4, 4000), false),
            (("MPICH 4.0.2", 4000), ("MPICH Version:      5.0.2\n", 5000), true),
            // Of MPICH's family, only the version of the standard is known.
            (("MPICH 4.0.2", 4000), (intel, 4000), true),
            (("MPICH 4.0.2", 4000), (intel, 3001), false),
            (("MPICH 4.0.2", 4000), (open_mpi_4, 4000), false),
            (("Open MPI 4.1.4", 3001), (mpich_4, 4000), false),
            (("", 3001), (open_mpi_4, 3001), true),
            (("", 4000), (open_mpi_4, 3001), false),
        ] {
            let version = |(library, standard)| Version { library, standard };
            let compared = compare(version(compiled), version(running));
            assert_eq!(compared.is_ok(), is_right, "{compiled:?} {running:?}");
        }
        let compiled = Version { library: "Open MPI 5.0.11", standard: 3001 };
        let error = compare(compiled, Version { library: open_mpi_4, standard: 3001 }).unwrap_err();
        let text = error.to_string();
        let start = "the program was compiled for Open MPI 5.0.11 and runs with Open MPI v4.1.4: ";
        assert!(text.starts_with(start) && text.contains(FOLDERS), "{text}");
    }
}
