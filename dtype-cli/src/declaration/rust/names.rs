//! The names of Rust's types.

use dtype_runtime::Basic;

use crate::notation::{ISIZE, USIZE};

/// Types that the library calls otherwise, or that are names for others.
const OTHERS: &[(&str, Basic)] = &[
    ("isize", ISIZE),
    ("usize", USIZE),
    ("f128", Basic::Real16),
    ("c_float", Basic::F32),
    ("c_double", Basic::F64),
    ("size_t", USIZE),
    ("ssize_t", ISIZE),
    ("Complex32", Basic::C32),
    ("Complex64", Basic::C64),
];

/// Types of the language, of `core::ffi` and of crates for numbers.
fn named() -> impl Iterator<Item = (&'static str, Basic)> {
    let basics = Basic::ALL.iter().filter(|basic| is_rust(**basic));
    basics.map(|basic| (basic.name(), *basic)).chain(OTHERS.iter().copied())
}

/// Whether a basic datatype has the name of a type in Rust.
fn is_rust(basic: Basic) -> bool {
    let name = basic.name();
    let has_width = |name: &str| name.parse::<u8>().is_ok();
    match basic {
        Basic::Bool | Basic::Char | Basic::Bf16 => true,
        Basic::WideChar | Basic::LongDouble | Basic::LongDoubleComplex => false,
        _ => name.starts_with("c_") || name.strip_prefix(['i', 'u', 'f']).is_some_and(has_width),
    }
}

/// The type with a name.
pub(super) fn primitive(name: &str) -> Option<Basic> {
    let integer = name.strip_prefix("NonZero").filter(|rest| rest.starts_with(['I', 'U']));
    let lower = integer.map(str::to_lowercase);
    let name = lower.as_deref().unwrap_or(name);
    named().find(|(known, _)| *known == name).map(|(_, basic)| basic)
}

/// The name of a type.
pub(in crate::declaration) fn of(basic: Basic) -> Option<&'static str> {
    named().find(|(_, known)| *known == basic).map(|(name, _)| name)
}

/// All names.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    named().map(|(name, _)| name)
}

/// Types that keep their data elsewhere, or whose layout is not fixed: what each is, and what to write instead.
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
