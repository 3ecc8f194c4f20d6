//! The names of Rust's types.

use dtype_runtime::Basic;

use crate::notation::{ISIZE, USIZE};

/// Types that are treated as others here.
const OTHERS: &[(&str, Basic)] = &[
    ("isize", ISIZE),
    ("usize", USIZE),
    ("ssize_t", ISIZE),
    ("size_t", USIZE),
    ("f128", Basic::Real16),
    ("Complex32", Basic::C32),
    ("Complex64", Basic::C64),
];

/// Types of the language, of `core::ffi` and of crates for numbers.
fn named() -> impl Iterator<Item = (&'static str, Basic)> {
    let last = |path: &'static str| path.rsplit("::").next().unwrap_or(path);
    let all = Basic::ALL.iter();
    let all = all.flat_map(move |it| it.rust_names().iter().map(move |path| (last(path), *it)));
    all.chain(OTHERS.iter().copied())
}

/// The type with a name.
pub(super) fn primitive(name: &str) -> Option<Basic> {
    let integer = name.strip_prefix("NonZero").filter(|rest| rest.starts_with(['I', 'U']));
    let lower = integer.map(str::to_lowercase);
    let name = lower.as_deref().unwrap_or(name);
    named().find(|(known, _)| *known == name).map(|(_, basic)| basic)
}

/// All names.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    named().map(|(name, _)| name).filter(|name| !name.contains('<'))
}

/// Types that keep their data elsewhere, or whose layout is not fixed: a description of each, and what to write instead.
pub(super) fn foreign(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "Vec" | "VecDeque" | "SmallVec" => (
            "a `Vec`, whose elements are elsewhere in memory",
            "write `FixedVec` or an array, or describe the elements by a type of their own",
        ),
        "String" | "str" | "CString" | "OsString" | "PathBuf" => (
            "a string, whose bytes are elsewhere in memory",
            "write `FixedStr<32>`, or an array of bytes, such as `[u8; 32]`",
        ),
        "Box" | "Rc" | "Arc" | "Cow" | "NonNull" => {
            ("a pointer", "what it points to is not part of the struct: write that type itself")
        }
        "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" => (
            "a collection, whose elements are elsewhere in memory",
            "describe its entries by a type of their own",
        ),
        "Option" | "Result" => (
            "an enum whose layout is not fixed",
            "write `Maybe`, or the value and beside it a `bool` that says whether there is one",
        ),
        _ => return None,
    })
}
