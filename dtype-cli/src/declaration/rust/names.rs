//! The names of Rust's types.

use dtype_runtime::Basic;

use crate::notation::{ISIZE, USIZE};

/// Types of the language, of `core::ffi` and of crates for numbers.
const NAMES: &[(&str, Basic)] = &[
    ("i8", Basic::I8),
    ("i16", Basic::I16),
    ("i32", Basic::I32),
    ("i64", Basic::I64),
    ("i128", Basic::I128),
    ("u8", Basic::U8),
    ("u16", Basic::U16),
    ("u32", Basic::U32),
    ("u64", Basic::U64),
    ("u128", Basic::U128),
    ("isize", ISIZE),
    ("usize", USIZE),
    ("f16", Basic::F16),
    ("bf16", Basic::Bf16),
    ("f32", Basic::F32),
    ("f64", Basic::F64),
    ("f128", Basic::Real16),
    ("bool", Basic::Bool),
    ("char", Basic::Char),
    ("c_char", Basic::CChar),
    ("c_schar", Basic::SignedChar),
    ("c_uchar", Basic::UnsignedChar),
    ("c_short", Basic::Short),
    ("c_ushort", Basic::UnsignedShort),
    ("c_int", Basic::Int),
    ("c_uint", Basic::Unsigned),
    ("c_long", Basic::Long),
    ("c_ulong", Basic::UnsignedLong),
    ("c_longlong", Basic::LongLong),
    ("c_ulonglong", Basic::UnsignedLongLong),
    ("c_float", Basic::F32),
    ("c_double", Basic::F64),
    ("size_t", USIZE),
    ("ssize_t", ISIZE),
    ("Complex32", Basic::C32),
    ("Complex64", Basic::C64),
];

/// The type with a name.
pub(super) fn primitive(name: &str) -> Option<Basic> {
    let integer = name.strip_prefix("NonZero").filter(|rest| rest.starts_with(['I', 'U']));
    let lower = integer.map(str::to_lowercase);
    let name = lower.as_deref().unwrap_or(name);
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, basic)| *basic)
}

/// All names.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
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
