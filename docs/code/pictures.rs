//! The pictures of the book: drawn by the code of the chapters, and compared with the files.

use std::path::PathBuf;
use std::{env, fs};

use dtype_show::{Diagram, SvgStyle};

/// The environment variable that makes [`picture`] write the files instead of comparing them.
pub const OVERWRITE: &str = "DTYPE_BOOK_PICTURES";

/// The file `src/images/<name>.svg` is this picture.
///
/// A chapter calls it in a hidden line behind the type that it explains, so that text and picture cannot differ. With
/// the environment variable [`OVERWRITE`], which `cargo run -p dtype-book` sets, the file is written.
///
/// # Panics
///
/// When the file is missing, or is another picture.
pub fn picture(name: &str, diagram: &Diagram) {
    keep(name, &diagram.svg(&SvgStyle::default()));
}

/// As [`picture`], for parts of arrays: wider cells, and no lines for the extents between the rows, so that what is
/// one column in memory is one column in the picture.
///
/// # Panics
///
/// As [`picture`].
pub fn grid(name: &str, diagram: &Diagram) {
    keep(name, &diagram.svg(&SvgStyle::default().with_cell(28).with_ranges(false)));
}

/// Writes or compares a file, as the environment asks for.
fn keep(name: &str, svg: &str) {
    if env::var_os(OVERWRITE).is_some() {
        let file = file(name);
        fs::write(&file, svg).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    } else {
        compare(name, svg);
    }
}

/// Panics if the file of this name is missing or is not this document.
fn compare(name: &str, svg: &str) {
    let there = fs::read_to_string(file(name)).unwrap_or_default();
    assert!(
        there == svg,
        "docs/src/images/{name}.svg is not the picture of this type: `cargo run -p dtype-book` draws all of them anew"
    );
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/images")).join(format!("{name}.svg"))
}

#[cfg(test)]
mod tests {
    use dtype_show::View;

    use super::*;

    #[test]
    #[should_panic(expected = "is not the picture of this type")]
    fn another_type_is_noticed() {
        let svg = Diagram::of::<u8>(&View::default()).svg(&SvgStyle::default());
        compare("particle", &svg);
    }

    #[test]
    #[should_panic(expected = "nowhere.svg is not the picture")]
    fn a_missing_file_is_noticed() {
        compare("nowhere", "<svg/>");
    }
}
