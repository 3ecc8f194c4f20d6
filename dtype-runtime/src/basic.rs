//! The basic datatypes: the leaves of every type map.
//!
//! A [`Basic`] says how many bytes an entry has, how it is aligned in memory and how wide it is in
//! the `external32` representation. Which of its bit patterns are legal is a separate matter, the
//! [`Validity`], because several Rust types share one basic datatype: `u32`, `NonZero<u32>` and an
//! enum with `repr(u32)` all travel as [`Basic::U32`] and match one another's signature, but do not
//! accept the same bytes.

use core::fmt;

/// A basic (predefined) datatype.
///
/// `usize` and `isize` have no variant of their own: they are the integer of their width, so that a
/// signature tells a machine with 32-bit pointers from one with 64-bit pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum Basic {
    /// 8-bit signed integer (`MPI_INT8_T`).
    I8 = 1,
    /// 16-bit signed integer (`MPI_INT16_T`).
    I16 = 2,
    /// 32-bit signed integer (`MPI_INT32_T`).
    I32 = 3,
    /// 64-bit signed integer (`MPI_INT64_T`).
    I64 = 4,
    /// 128-bit signed integer; MPI has none.
    I128 = 5,
    /// 8-bit unsigned integer (`MPI_UINT8_T`); also the byte of an optimized description.
    U8 = 6,
    /// 16-bit unsigned integer (`MPI_UINT16_T`).
    U16 = 7,
    /// 32-bit unsigned integer (`MPI_UINT32_T`).
    U32 = 8,
    /// 64-bit unsigned integer (`MPI_UINT64_T`).
    U64 = 9,
    /// 128-bit unsigned integer; MPI has none.
    U128 = 10,
    /// IEEE 754 binary16 (`MPI_REAL2`).
    F16 = 11,
    /// The upper half of an IEEE 754 binary32, "bfloat16"; MPI has none.
    Bf16 = 12,
    /// IEEE 754 binary32 (`MPI_FLOAT`).
    F32 = 13,
    /// IEEE 754 binary64 (`MPI_DOUBLE`).
    F64 = 14,
    /// Two binary32, real part first (`MPI_C_FLOAT_COMPLEX`).
    C32 = 15,
    /// Two binary64, real part first (`MPI_C_DOUBLE_COMPLEX`).
    C64 = 16,
    /// A Rust `bool`: one byte, 0 or 1 (`MPI_C_BOOL`).
    Bool = 17,
    /// A Rust `char`: four bytes, a Unicode scalar value; MPI has none.
    Char = 18,
}

impl Basic {
    /// Every basic datatype, in the order of [`code`](Self::code).
    pub const ALL: &'static [Self] = &[
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::I128,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::U128,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
        Self::C32,
        Self::C64,
        Self::Bool,
        Self::Char,
    ];

    /// The name, as Rust writes the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::I128 => "i128",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::U128 => "u128",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::C32 => "c32",
            Self::C64 => "c64",
            Self::Bool => "bool",
            Self::Char => "char",
        }
    }

    /// Bytes of one value, in memory and in the native packed stream.
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 | Self::Char => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::C32 => 8,
            Self::I128 | Self::U128 | Self::C64 => 16,
        }
    }

    /// The alignment in bytes that this platform gives the type. It is what pads the extent of a
    /// datatype (the ε of MPI-4.1 section 5.1.6), never a demand on a buffer's address.
    pub const fn align(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => align_of::<u16>(),
            Self::I32 | Self::U32 => align_of::<u32>(),
            Self::I64 | Self::U64 => align_of::<u64>(),
            Self::I128 | Self::U128 => align_of::<u128>(),
            Self::F32 | Self::C32 => align_of::<f32>(),
            Self::F64 | Self::C64 => align_of::<f64>(),
            Self::Char => align_of::<char>(),
        }
    }

    /// Bytes of one value in the `external32` representation (MPI-4.1 section 14.5.2). For the
    /// types that MPI lacks it is the native size.
    pub const fn external32_size(self) -> usize {
        self.size()
    }

    /// A number that stays the same in every version and on every platform: what the signature hash
    /// is computed from.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Basic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which bit patterns of a basic datatype form a value of the Rust type it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validity {
    /// All of them.
    Any,
    /// 0 and 1.
    Bool,
    /// The Unicode scalar values: 0 to 0x10FFFF without the surrogates.
    Char,
    /// All but zero.
    NonZero,
    /// The discriminants of an enum.
    Enum(Discriminants),
}

impl Validity {
    /// Whether `bits`, the value zero-extended to 128 bits, is one of the legal patterns.
    #[inline]
    pub const fn accepts(self, bits: u128) -> bool {
        match self {
            Self::Any => true,
            Self::Bool => bits <= 1,
            Self::Char => bits <= 0x10_FFFF && (bits < 0xD800 || bits > 0xDFFF),
            Self::NonZero => bits != 0,
            Self::Enum(values) => values.contains(bits),
        }
    }

    /// Whether every pattern is legal, so that nothing needs to be checked.
    pub const fn is_any(self) -> bool {
        matches!(self, Self::Any)
    }
}

/// The discriminants of an enum, as bit patterns zero-extended to 128 bits.
///
/// Most enums number their variants without a hole, and then two comparisons decide; the others are
/// searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discriminants {
    least: u128,
    greatest: u128,
    dense: bool,
    values: &'static [u128],
}

impl Discriminants {
    /// The set of `values`, in any order.
    ///
    /// # Panics
    ///
    /// When `values` is empty: such an enum has no value, and nothing could ever be unpacked. The
    /// derive refuses these earlier.
    pub const fn new(values: &'static [u128]) -> Self {
        assert!(!values.is_empty(), "an enum without variants has no value to pack");
        let (mut least, mut greatest) = (values[0], values[0]);
        // Only of values in ascending order is it known that none is there twice.
        let mut ascending = true;
        let mut i = 1;
        while i < values.len() {
            if values[i] < least {
                least = values[i];
            }
            if values[i] > greatest {
                greatest = values[i];
            }
            ascending &= values[i - 1] < values[i];
            i += 1;
        }
        let dense = ascending && greatest - least == values.len() as u128 - 1;
        Self { least, greatest, dense, values }
    }

    /// Whether `bits` is one of the discriminants.
    #[inline]
    pub const fn contains(self, bits: u128) -> bool {
        if bits < self.least || bits > self.greatest {
            return false;
        }
        if self.dense {
            return true;
        }
        let mut i = 0;
        while i < self.values.len() {
            if self.values[i] == bits {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The discriminants in declaration order.
    pub const fn values(self) -> &'static [u128] {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_all_lists_every_type() {
        for (i, basic) in Basic::ALL.iter().enumerate() {
            assert_eq!(usize::from(basic.code()), i + 1, "{basic}");
        }
    }

    #[test]
    fn char_accepts_exactly_what_the_language_accepts() {
        for bits in (0..0x0011_0100_u32).chain([u32::MAX]) {
            let expected = char::from_u32(bits).is_some();
            assert_eq!(Validity::Char.accepts(bits.into()), expected, "{bits:#x}");
        }
    }

    #[test]
    fn sparse_and_dense_discriminants() {
        const SPARSE: Discriminants = Discriminants::new(&[7, 1, 200]);
        const DENSE: Discriminants = Discriminants::new(&[3, 4, 5]);
        const SHUFFLED: Discriminants = Discriminants::new(&[5, 3, 4]);
        const TWICE: Discriminants = Discriminants::new(&[0, 2, 2]);
        const ENDS: Discriminants = Discriminants::new(&[0, u128::MAX]);
        let accepted =
            |set: Discriminants| (0..300).filter(|&b| set.contains(b)).collect::<Vec<_>>();
        assert_eq!(accepted(SPARSE), [1, 7, 200]);
        assert_eq!(accepted(DENSE), [3, 4, 5]);
        assert_eq!(accepted(SHUFFLED), [3, 4, 5]);
        assert_eq!(accepted(TWICE), [0, 2]);
        assert_eq!(accepted(ENDS), [0]);
        assert!(ENDS.contains(u128::MAX) && !ENDS.contains(u128::MAX - 1));
    }
}
