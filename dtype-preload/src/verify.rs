//! The mode `verify`: if the results of this engine and the library differ, the program ends with a report.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use dtype_runtime::{Committed, Type};

use crate::boundary::say;
use crate::compiled::Compiled;
use crate::stats::picture;

/// A compared fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment<'a> {
    /// The operation, as in "packed".
    pub(crate) what: &'a str,
    pub(crate) ty: &'a Type,
    pub(crate) count: usize,
    /// Packed bytes before the fragment.
    pub(crate) position: usize,
    pub(crate) len: usize,
}

/// The greatest numbers of rows and of fields in a picture.
const ROWS: usize = 24;
const FIELDS: usize = 12;

/// Larger memories are not made and filled twice for a comparison.
const MAX_REHEARSED: usize = 1 << 20;

/// The least displacement and the length in bytes of a memory with `count` elements, in which both engines can write; `None` if
/// it would be too large.
pub(crate) fn memory_of(committed: &Committed, count: usize) -> Option<(isize, usize)> {
    let span = committed.span(count).unwrap_or(0..0);
    let bytes =
        usize::try_from(span.end - span.start).ok().filter(|&span| span <= MAX_REHEARSED)?;
    Some((isize::try_from(span.start).ok()?, bytes))
}

static COMPARED: AtomicBool = AtomicBool::new(false);

/// Whether anything was compared in this process.
pub(crate) fn has_compared() -> bool {
    COMPARED.load(Ordering::Relaxed)
}

/// Compares the result of this engine with that of the library. If they differ, prints a report and aborts.
pub(crate) fn compare<T: PartialEq>(
    fragment: Fragment<'_>,
    here: &[T],
    library: &[T],
    difference: impl FnOnce(&[T], &[T]) -> String,
) {
    COMPARED.store(true, Ordering::Relaxed);
    if here != library {
        fail(fragment, &difference(here, library));
    }
}

/// Compares bytes of this engine with those of the library.
pub(crate) fn compare_bytes(fragment: Fragment<'_>, here: &[u8], library: &[u8]) {
    compare(fragment, here, library, difference);
}

/// Unpacks or copies twice, by this engine and by the library, into memory made for this, and compares all bytes, gaps included.
/// Both get the address of the first element, whose displacements may lead to others before it, and return whether they have
/// written the elements.
pub(crate) fn compare_memory(
    compiled: &Compiled,
    fragment: Fragment<'_>,
    here: impl FnOnce(*mut u8) -> bool,
    library: impl FnOnce(*mut u8) -> bool,
) {
    let Some((low, span)) = memory_of(&compiled.committed, fragment.count) else { return };
    let origin = |memory: &mut Vec<u8>| memory.as_mut_ptr().wrapping_offset(-low);
    // Not the same everywhere, because an engine that continues inside a value keeps the bytes before.
    let pattern: Vec<u8> = (0..span).map(|at| (at * 37 + 11).to_le_bytes()[0]).collect();
    let mut ours = pattern.clone();
    if !here(origin(&mut ours)) {
        return;
    }
    // The library may leave out the padding inside of values.
    let mut theirs = if compiled.has_padding { ours.clone() } else { pattern };
    if library(origin(&mut theirs)) {
        compare_bytes(fragment, &ours, &theirs);
    }
}

/// Prints a report of a difference and aborts.
fn fail(fragment: Fragment<'_>, difference: &str) -> ! {
    let Fragment { what, ty, count, position, len } = fragment;
    let end = position.saturating_add(len);
    say(format_args!(
        "dtype-preload: a difference between this engine and the MPI library: {what} {count} elements, packed bytes \
         {position}..{end}: {difference}\n{}\nmarshalled: {}\n",
        picture(ty, ROWS, FIELDS),
        hexadecimal(&ty.marshal()),
    ));
    std::process::abort();
}

/// Describes the first difference between two strings of bytes.
fn difference(here: &[u8], library: &[u8]) -> String {
    if here.len() != library.len() {
        return format!("{} bytes here, {} in the library", here.len(), library.len());
    }
    let at = here.iter().zip(library).position(|(a, b)| a != b).unwrap_or(0);
    let part = |bytes: &[u8]| hexadecimal(&bytes[at..bytes.len().min(at + 16)]);
    format!("from byte {at}, {} here, {} in the library", part(here), part(library))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::fs::File;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use dtype_runtime::Basic;

    use super::*;
    use crate::boundary::contain;

    #[test]
    fn a_difference_is_located() {
        assert_eq!(difference(&[1, 2, 3], &[1, 2, 4]), "from byte 2, 03 here, 04 in the library");
        assert_eq!(difference(&[1], &[1, 2]), "1 bytes here, 2 in the library");
    }

    /// Set in the process that finds a difference.
    const DIFFERENT: &str = "DTYPE_PRELOAD_DIFFERENT";

    #[test]
    fn a_difference_ends_the_program_also_where_nothing_can_be_written() {
        if env::var_os(DIFFERENT).is_some() {
            let ty = Type::basic(Basic::U8);
            let fragment = Fragment { what: "packed", ty: &ty, count: 1, position: 0, len: 1 };
            // Contained in the same way as calls by the library.
            contain(|| compare_bytes(fragment, &[1], &[2]));
            return;
        }
        // A device that is always full.
        let full = File::options().write(true).open("/dev/full").unwrap();
        let name = "verify::tests::a_difference_ends_the_program_also_where_nothing_can_be_written";
        let mut again = Command::new(env::current_exe().unwrap());
        let again = again.args(["--exact", name, "--nocapture"]).env(DIFFERENT, "1").stderr(full);
        assert_eq!(again.output().unwrap().status.signal(), Some(libc::SIGABRT));
    }
}
