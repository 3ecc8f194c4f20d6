//! The names of C's types.

use dtype_runtime::Basic;

use crate::notation::{ISIZE, USIZE};

/// Names from the headers of C and POSIX, and other common names, besides the [usual names](Basic::c_names) of the basic
/// datatypes.
const HEADER_NAMES: &[(&str, Basic)] = &[
    ("int_least8_t", Basic::I8),
    ("int_least16_t", Basic::I16),
    ("int_least32_t", Basic::I32),
    ("int_least64_t", Basic::I64),
    ("uint_least8_t", Basic::U8),
    ("uint_least16_t", Basic::U16),
    ("uint_least32_t", Basic::U32),
    ("uint_least64_t", Basic::U64),
    ("intmax_t", Basic::I64),
    ("uintmax_t", Basic::U64),
    ("size_t", USIZE),
    ("ssize_t", ISIZE),
    ("ptrdiff_t", ISIZE),
    ("intptr_t", ISIZE),
    ("uintptr_t", USIZE),
    ("time_t", Basic::Long),
    ("off_t", Basic::Long),
    ("char8_t", Basic::U8),
    ("char16_t", Basic::U16),
    ("char32_t", Basic::U32),
    ("_Float32", Basic::F32),
    ("_Float64", Basic::F64),
    ("__float128", Basic::Real16),
    ("__bf16", Basic::Bf16),
    ("float32_t", Basic::F32),
    ("float64_t", Basic::F64),
    ("float_t", Basic::F32),
    ("double_t", Basic::F64),
    ("__int8_t", Basic::I8),
    ("__int16_t", Basic::I16),
    ("__int32_t", Basic::I32),
    ("__int64_t", Basic::I64),
    ("__uint8_t", Basic::U8),
    ("__uint16_t", Basic::U16),
    ("__uint32_t", Basic::U32),
    ("__uint64_t", Basic::U64),
    ("__u8", Basic::U8),
    ("__u16", Basic::U16),
    ("__u32", Basic::U32),
    ("__u64", Basic::U64),
    ("__s8", Basic::I8),
    ("__s16", Basic::I16),
    ("__s32", Basic::I32),
    ("__s64", Basic::I64),
    ("__sum16", Basic::U16),
    ("__wsum", Basic::U32),
    ("__int128_t", Basic::I128),
    ("__uint128_t", Basic::U128),
    ("u_int8_t", Basic::U8),
    ("u_int16_t", Basic::U16),
    ("u_int32_t", Basic::U32),
    ("u_int64_t", Basic::U64),
    ("u_char", Basic::UnsignedChar),
    ("u_short", Basic::UnsignedShort),
    ("u_int", Basic::Unsigned),
    ("u_long", Basic::UnsignedLong),
    ("uchar", Basic::UnsignedChar),
    ("ushort", Basic::UnsignedShort),
    ("uint", Basic::Unsigned),
    ("ulong", Basic::UnsignedLong),
];

/// The type with a name from a header.
pub(crate) fn header(name: &str) -> Option<Basic> {
    named().find(|(known, _)| *known == name).map(|(_, basic)| basic)
}

/// Names that are single words.
fn named() -> impl Iterator<Item = (&'static str, Basic)> {
    let usual = Basic::ALL.iter();
    let usual = usual.flat_map(|basic| basic.c_names().iter().map(|name| (*name, *basic)));
    HEADER_NAMES.iter().copied().chain(usual.filter(|(name, _)| !name.contains(' ')))
}

/// All names of types that are single words.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    named().map(|(name, _)| name)
}

/// The words that form the names of number types, in any order.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each word is there or not, whatever the others")]
pub(crate) struct Words {
    pub(super) number: usize,
    is_signed: bool,
    is_unsigned: bool,
    is_complex: bool,
    shorts: usize,
    longs: usize,
    /// `int`, `char`, `float`, `double`, `__int128`.
    base: Option<&'static str>,
    is_wrong: bool,
    pub(super) is_void: bool,
}

impl Words {
    /// Adds a word; returns false if it is none of these.
    pub(crate) fn add(&mut self, word: &str) -> bool {
        let base = match word {
            "signed" | "__signed__" => return self.count(|words| words.is_signed = true),
            "unsigned" => return self.count(|words| words.is_unsigned = true),
            "short" => return self.count(|words| words.shorts += 1),
            "long" => return self.count(|words| words.longs += 1),
            "_Complex" | "complex" | "__complex__" => {
                return self.count(|words| words.is_complex = true);
            }
            "int" => "int",
            "char" => "char",
            "float" => "float",
            "double" => "double",
            "__int128" => "__int128",
            "void" => return self.count(|words| words.is_void = true),
            _ => return false,
        };
        self.count(|words| {
            words.is_wrong |= words.base.is_some();
            words.base = Some(base);
        })
    }

    fn count(&mut self, change: impl FnOnce(&mut Self)) -> bool {
        change(self);
        self.number += 1;
        true
    }

    /// The type that the words name together.
    pub(crate) fn basic(self) -> Option<Basic> {
        let is_sized = self.shorts + self.longs > 0 || self.is_signed || self.is_unsigned;
        if self.is_wrong || self.is_signed && self.is_unsigned {
            return None;
        }
        let unsigned = |signed, unsigned| Some(if self.is_unsigned { unsigned } else { signed });
        let base = self.base.unwrap_or(if is_sized { "int" } else { "double" });
        match (base, self.is_complex, self.shorts, self.longs) {
            ("char", false, 0, 0) if self.is_signed => Some(Basic::SignedChar),
            ("char", false, 0, 0) => unsigned(Basic::CChar, Basic::UnsignedChar),
            ("int", false, 1, 0) => unsigned(Basic::Short, Basic::UnsignedShort),
            ("int", false, 0, 0) => unsigned(Basic::Int, Basic::Unsigned),
            ("int", false, 0, 1) => unsigned(Basic::Long, Basic::UnsignedLong),
            ("int", false, 0, 2) => unsigned(Basic::LongLong, Basic::UnsignedLongLong),
            ("__int128", false, 0, 0) => unsigned(Basic::I128, Basic::U128),
            ("float", is_complex, 0, 0) if !is_sized => {
                Some(if is_complex { Basic::C32 } else { Basic::F32 })
            }
            ("double", is_complex, 0, 0) if !is_sized && (is_complex || self.base.is_some()) => {
                Some(if is_complex { Basic::C64 } else { Basic::F64 })
            }
            ("double", is_complex, 0, 1) if !self.is_signed && !self.is_unsigned => {
                Some(if is_complex { Basic::LongDoubleComplex } else { Basic::LongDouble })
            }
            _ => None,
        }
    }
}
