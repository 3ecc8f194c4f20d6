//! The pictures of the book: drawn by the code of the chapters, and compared with the files.

use std::path::PathBuf;
use std::{env, fs};

use dtype_runtime::show::{Diagram, SvgStyle};

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
///
/// ```should_panic
/// use dtype_runtime::show::{Diagram, View};
/// // The introduction has another particle.
/// dtype_book::compare("particle", &Diagram::of::<u8>(&View::default()));
/// ```
pub fn picture(name: &str, diagram: &Diagram) {
    if env::var_os(OVERWRITE).is_some() {
        let file = file(name);
        fs::write(&file, svg(diagram)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    } else {
        compare(name, diagram);
    }
}

/// As [`picture`], whatever the environment.
///
/// # Panics
///
/// As [`picture`].
pub fn compare(name: &str, diagram: &Diagram) {
    let there = fs::read_to_string(file(name)).unwrap_or_default();
    assert!(
        there == svg(diagram),
        "docs/src/images/{name}.svg is not the picture of this type: `cargo run -p dtype-book` draws all of them anew"
    );
}

fn svg(diagram: &Diagram) -> String {
    diagram.svg(&SvgStyle::default())
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/images")).join(format!("{name}.svg"))
}
