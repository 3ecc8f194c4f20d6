//! The names of C's types.

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;

use crate::notation::{ISIZE, USIZE};

/// Names from the headers of C and POSIX, and other common names, separated by spaces, besides the [usual
/// names](Basic::c_names) of the basic datatypes.
const HEADER_NAMES: &[(Basic, &str)] = &[
    (Basic::I8, "int_least8_t __int8_t __s8"),
    (Basic::I16, "int_least16_t __int16_t __s16"),
    (Basic::I32, "int_least32_t __int32_t __s32"),
    (Basic::I64, "int_least64_t intmax_t __int64_t __s64"),
    (Basic::U8, "uint_least8_t char8_t __uint8_t __u8 u_int8_t"),
    (Basic::U16, "uint_least16_t char16_t __uint16_t __u16 __sum16 u_int16_t"),
    (Basic::U32, "uint_least32_t char32_t __uint32_t __u32 __wsum u_int32_t"),
    (Basic::U64, "uint_least64_t uintmax_t __uint64_t __u64 u_int64_t"),
    (USIZE, "size_t uintptr_t"),
    (ISIZE, "ssize_t ptrdiff_t intptr_t"),
    (Basic::Long, "time_t off_t"),
    (Basic::F32, "_Float32 float32_t float_t"),
    (Basic::F64, "_Float64 float64_t double_t"),
    (Basic::Real16, "__float128"),
    (Basic::Bf16, "__bf16"),
    (Basic::I128, "__int128_t"),
    (Basic::U128, "__uint128_t"),
    (Basic::UnsignedChar, "u_char uchar"),
    (Basic::UnsignedShort, "u_short ushort"),
    (Basic::Unsigned, "u_int uint"),
    (Basic::UnsignedLong, "u_long ulong"),
];

/// The type with a name from a header.
pub fn header(name: &str) -> Option<Basic> {
    named().find(|(known, _)| *known == name).map(|(_, basic)| basic)
}

/// Names that are single words.
fn named() -> impl Iterator<Item = (&'static str, Basic)> {
    let usual = Basic::ALL.iter();
    let usual = usual.flat_map(|basic| basic.c_names().iter().map(|name| (*name, *basic)));
    let others = HEADER_NAMES.iter();
    let others = others.flat_map(|(basic, names)| names.split(' ').map(|name| (name, *basic)));
    others.chain(usual.filter(|(name, _)| !name.contains(' ')))
}

/// All names of types that are single words.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    named().map(|(name, _)| name)
}

/// The words that form the names of number types, and `void`.
const WORDS: &[&str] = &[
    "signed", "unsigned", "short", "long", "_Complex", "int", "char", "float", "double",
    "__int128", "void",
];

/// Some of these words, in any order.
#[derive(Clone, Debug, Default)]
pub struct Words(Vec<&'static str>);

impl Words {
    /// Adds a word; returns false if it is none of these.
    pub fn add(&mut self, word: &str) -> bool {
        let usual = match word {
            "__signed__" => "signed",
            "complex" | "__complex__" => "_Complex",
            other => other,
        };
        let known = WORDS.iter().find(|known| **known == usual);
        self.0.extend(known);
        known.is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_void(&self) -> bool {
        self.0 == ["void"]
    }

    /// The type that the words name together.
    pub fn basic(mut self) -> Option<Basic> {
        if self.0 == ["_Complex"] {
            self.0.push("double");
        }
        self.0.sort_unstable();
        let is_wide = |basic: &Basic| basic.size() > 1;
        // Integers may be written with `int`, and those with a sign with `signed`. A `signed char` is not a `char`.
        let with_int = || self.without(&["int"]).filter(is_wide);
        let signed = || self.without(&["int", "signed"]).filter(is_wide);
        self.without(&[])
            .or_else(|| with_int().filter(|it| matches!(it.kind(), Kind::Integer | Kind::Unsigned)))
            .or_else(|| signed().filter(|basic| basic.kind() == Kind::Integer))
    }

    /// The type whose name consists of the words that remain without some.
    fn without(&self, some: &[&str]) -> Option<Basic> {
        let words: Vec<&str> = self.0.iter().copied().filter(|word| !some.contains(word)).collect();
        let is_same = |name: &str| {
            let mut name: Vec<&str> = name.split(' ').collect();
            name.sort_unstable();
            name == words
        };
        let mut all = Basic::ALL.iter().copied();
        all.find(|basic| basic.c_names().iter().any(|name| is_same(name)))
    }
}
