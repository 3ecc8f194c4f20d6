//! The basic datatypes: the leaves of every type map.
//!
//! They are MPI's predefined datatypes of C, C++ and Fortran, the types of MPI's tools interface, and the Rust
//! types that MPI lacks. A [`Basic`] determines the size of an entry in bytes, its alignment in memory and its
//! width in the `external32` representation. The [`Validity`] determines separately which bit patterns are legal,
//! because several Rust types share one basic datatype: `u32`, `NonZero<u32>` and an enum with `repr(u32)` all
//! travel as [`Basic::U32`] and match one another's signature, but do not accept the same bytes.

mod long_double;
mod numpy;
mod validity;

use core::ffi;
use core::fmt;

pub use long_double::LongDouble;
pub(crate) use validity::{BitRange, Test};
pub use validity::{Discriminants, Validity};

/// The kind of value that a basic datatype holds, which determines its conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A signed integer in two's complement.
    Integer,
    /// An unsigned integer.
    Unsigned,
    /// A binary floating-point number.
    Float,
    /// Two floating-point numbers, real part first.
    Complex,
    /// A truth value.
    Logical,
    /// A character.
    Character,
    /// Bytes without a meaning for this crate, which are never converted.
    Bytes,
}

/// The properties of a basic datatype.
struct Row {
    name: &'static str,
    /// The first name is the type's usual one.
    mpi_names: &'static [&'static str],
    kind: Kind,
    size: usize,
    align: usize,
    external32_size: usize,
    canonical: Basic,
}

macro_rules! basics {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident = $code:literal, $name:literal, [$($rust:literal)*], [$($c:literal)*],
        [$($mpi:literal)*], $kind:ident, $like:ident, $size:expr, $align:expr, $external32:expr;
    )+) => {
        /// A basic (predefined) datatype.
        ///
        /// `usize` and `isize` have no variant of their own: they are the integer of their width, so that a
        /// signature distinguishes a machine with 32-bit pointers from one with 64-bit pointers.
        ///
        /// MPI has several names for one kind of value in different languages (`MPI_INT`, `MPI_INT32_T`, `MPI_INTEGER`). They
        /// are different variants, because a type decodes to the name that it was made with. In a [signature](crate::Signature)
        /// they are the same: see [`canonical`](Self::canonical).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Basic {
            $( $(#[doc = $doc])+ $(#[doc(alias = $mpi)])* $variant = $code, )+
        }

        /// In the order of the codes, which start at 1.
        static ROWS: &[Row] = &[$(
            Row {
                name: $name,
                mpi_names: &[$($mpi),*],
                kind: Kind::$kind,
                size: $size,
                align: $align,
                external32_size: $external32,
                canonical: Basic::$like,
            },
        )+];

        impl Basic {
            /// Every basic datatype, in the order of [`code`](Self::code).
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// The Rust types of this kind and size, as paths, the usual one first. Empty if neither Rust nor a common crate
            /// has such a type.
            ///
            /// ```
            /// use dtype_runtime::Basic;
            /// assert_eq!(Basic::F64.rust_names(), ["f64", "std::ffi::c_double"]);
            /// ```
            pub const fn rust_names(self) -> &'static [&'static str] {
                match self { $( Self::$variant => &[$($rust),*], )+ }
            }

            /// The names of the type in C, in its headers or in `mpi.h`, the usual one first. Empty if C has no such type.
            /// C also allows the words of a name in another order.
            ///
            /// ```
            /// use dtype_runtime::Basic;
            /// assert_eq!(Basic::Unsigned.c_names(), ["unsigned int", "unsigned"]);
            /// ```
            pub const fn c_names(self) -> &'static [&'static str] {
                match self { $( Self::$variant => &[$($c),*], )+ }
            }
        }
    };
}

basics! {
    /// 8-bit signed integer (`MPI_INT8_T`).
    I8 = 1, "i8", ["i8"], ["int8_t"], ["MPI_INT8_T"], Integer, I8, 1, 1, 1;
    /// 16-bit signed integer (`MPI_INT16_T`).
    I16 = 2, "i16", ["i16"], ["int16_t"], ["MPI_INT16_T"], Integer, I16, 2, align_of::<i16>(), 2;
    /// 32-bit signed integer (`MPI_INT32_T`).
    I32 = 3, "i32", ["i32"], ["int32_t"], ["MPI_INT32_T"], Integer, I32, 4, align_of::<i32>(), 4;
    /// 64-bit signed integer (`MPI_INT64_T`).
    I64 = 4, "i64", ["i64"], ["int64_t"], ["MPI_INT64_T"], Integer, I64, 8, align_of::<i64>(), 8;
    /// 128-bit signed integer; C has none.
    I128 = 5, "i128", ["i128"], ["__int128"], [], Integer, I128, 16, align_of::<i128>(), 16;
    /// 8-bit unsigned integer (`MPI_UINT8_T`); also the byte of an optimized description.
    U8 = 6, "u8", ["u8"], ["uint8_t"], ["MPI_UINT8_T"], Unsigned, U8, 1, 1, 1;
    /// 16-bit unsigned integer (`MPI_UINT16_T`).
    U16 = 7, "u16", ["u16"], ["uint16_t"], ["MPI_UINT16_T"], Unsigned, U16, 2, align_of::<u16>(), 2;
    /// 32-bit unsigned integer (`MPI_UINT32_T`).
    U32 = 8, "u32", ["u32"], ["uint32_t"], ["MPI_UINT32_T"], Unsigned, U32, 4, align_of::<u32>(), 4;
    /// 64-bit unsigned integer (`MPI_UINT64_T`).
    U64 = 9, "u64", ["u64"], ["uint64_t"], ["MPI_UINT64_T"], Unsigned, U64, 8, align_of::<u64>(), 8;
    /// 128-bit unsigned integer; MPI has none.
    U128 = 10, "u128", ["u128"], ["unsigned __int128"], [],
        Unsigned, U128, 16, align_of::<u128>(), 16;
    /// IEEE 754 binary16; MPI has it in Fortran only, as [`Real2`](Self::Real2).
    F16 = 11, "f16", ["half::f16"], ["_Float16"], [], Float, F16, 2, align_of::<u16>(), 2;
    /// The upper half of an IEEE 754 binary32, "bfloat16"; MPI has none.
    Bf16 = 12, "bf16", ["half::bf16"], [], [], Float, Bf16, 2, align_of::<u16>(), 2;
    /// IEEE 754 binary32 (`MPI_FLOAT`).
    F32 = 13, "f32", ["f32" "std::ffi::c_float"], ["float"], ["MPI_FLOAT"],
        Float, F32, 4, align_of::<f32>(), 4;
    /// IEEE 754 binary64 (`MPI_DOUBLE`).
    F64 = 14, "f64", ["f64" "std::ffi::c_double"], ["double"], ["MPI_DOUBLE"],
        Float, F64, 8, align_of::<f64>(), 8;
    /// Two binary32, real part first (`MPI_C_FLOAT_COMPLEX`, `MPI_C_COMPLEX`).
    C32 = 15, "c32", ["num_complex::Complex<f32>"], ["float _Complex"],
        ["MPI_C_FLOAT_COMPLEX" "MPI_C_COMPLEX"], Complex, C32, 8, align_of::<f32>(), 8;
    /// Two binary64, real part first (`MPI_C_DOUBLE_COMPLEX`).
    C64 = 16, "c64", ["num_complex::Complex<f64>"], ["double _Complex"], ["MPI_C_DOUBLE_COMPLEX"],
        Complex, C64, 16, align_of::<f64>(), 16;
    /// A Rust `bool`: one byte, 0 or 1 (`MPI_C_BOOL`).
    Bool = 17, "bool", ["bool"], ["bool" "_Bool"], ["MPI_C_BOOL"], Logical, Bool, 1, 1, 1;
    /// A Rust `char`: four bytes, a Unicode scalar value; MPI has none.
    Char = 18, "char", ["char"], ["char32_t"], [], Character, Char, 4, align_of::<char>(), 4;

    /// A byte that is never converted (`MPI_BYTE`).
    Byte = 19, "byte", [], [], ["MPI_BYTE"], Bytes, Byte, 1, 1, 1;
    /// A byte of a packed message (`MPI_PACKED`).
    Packed = 20, "packed", [], [], ["MPI_PACKED"], Bytes, Packed, 1, 1, 1;
    /// An address or a displacement (`MPI_AINT`).
    Aint = 21, "aint", [], ["MPI_Aint"], ["MPI_AINT"],
        Integer, Aint, POINTER, POINTER, 8;
    /// A position in a file (`MPI_OFFSET`).
    Offset = 22, "offset", [], ["MPI_Offset"], ["MPI_OFFSET"],
        Integer, I64, 8, align_of::<i64>(), 8;
    /// A large count (`MPI_COUNT`).
    Count = 23, "count", [], ["MPI_Count"], ["MPI_COUNT"], Integer, I64, 8, align_of::<i64>(), 8;

    /// C's `char`, a printable character (`MPI_CHAR`).
    CChar = 24, "c_char", ["std::ffi::c_char"], ["char"], ["MPI_CHAR"], Character, CChar, 1, 1, 1;
    /// C's `signed char`, an integer (`MPI_SIGNED_CHAR`).
    SignedChar = 25, "c_schar", ["std::ffi::c_schar"], ["signed char"], ["MPI_SIGNED_CHAR"],
        Integer, I8, 1, 1, 1;
    /// C's `unsigned char`, an integer (`MPI_UNSIGNED_CHAR`).
    UnsignedChar = 26, "c_uchar", ["std::ffi::c_uchar"], ["unsigned char"], ["MPI_UNSIGNED_CHAR"],
        Unsigned, U8, 1, 1, 1;
    /// C's `wchar_t` (`MPI_WCHAR`); two bytes in `external32`.
    WideChar = 27, "c_wchar", [], ["wchar_t"], ["MPI_WCHAR"], Character, WideChar, WCHAR, WCHAR, 2;
    /// C's `short` (`MPI_SHORT`).
    Short = 28, "c_short", ["std::ffi::c_short"], ["short" "short int"], ["MPI_SHORT"],
        Integer, I16, size_of::<ffi::c_short>(), align_of::<ffi::c_short>(), 2;
    /// C's `unsigned short` (`MPI_UNSIGNED_SHORT`).
    UnsignedShort = 29, "c_ushort", ["std::ffi::c_ushort"], ["unsigned short" "unsigned short int"],
        ["MPI_UNSIGNED_SHORT"],
        Unsigned, U16, size_of::<ffi::c_ushort>(), align_of::<ffi::c_ushort>(), 2;
    /// C's `int` (`MPI_INT`).
    Int = 30, "c_int", ["std::ffi::c_int"], ["int" "signed" "signed int"], ["MPI_INT"],
        Integer, I32, size_of::<ffi::c_int>(), align_of::<ffi::c_int>(), 4;
    /// C's `unsigned` (`MPI_UNSIGNED`).
    Unsigned = 31, "c_uint", ["std::ffi::c_uint"], ["unsigned int" "unsigned"], ["MPI_UNSIGNED"],
        Unsigned, U32, size_of::<ffi::c_uint>(), align_of::<ffi::c_uint>(), 4;
    /// C's `long` (`MPI_LONG`); four bytes in `external32`, whatever its width in memory.
    Long = 32, "c_long", ["std::ffi::c_long"], ["long" "long int"], ["MPI_LONG"],
        Integer, Long, LONG.0, LONG.1, 4;
    /// C's `unsigned long` (`MPI_UNSIGNED_LONG`); four bytes in `external32`, whatever its width in memory.
    UnsignedLong = 33, "c_ulong", ["std::ffi::c_ulong"], ["unsigned long" "unsigned long int"],
        ["MPI_UNSIGNED_LONG"],
        Unsigned, UnsignedLong, LONG.0, LONG.1, 4;
    /// C's `long long` (`MPI_LONG_LONG`, `MPI_LONG_LONG_INT`).
    LongLong = 34, "c_longlong", ["std::ffi::c_longlong"], ["long long" "long long int"],
        ["MPI_LONG_LONG" "MPI_LONG_LONG_INT"],
        Integer, I64, size_of::<ffi::c_longlong>(), align_of::<ffi::c_longlong>(), 8;
    /// C's `unsigned long long` (`MPI_UNSIGNED_LONG_LONG`).
    UnsignedLongLong = 35, "c_ulonglong", ["std::ffi::c_ulonglong"],
        ["unsigned long long" "unsigned long long int"], ["MPI_UNSIGNED_LONG_LONG"],
        Unsigned, U64, size_of::<ffi::c_ulonglong>(), align_of::<ffi::c_ulonglong>(), 8;
    /// C's `long double` (`MPI_LONG_DOUBLE`): the 80 bits of the x87 in 16 bytes on x86-64, binary128 or
    /// binary64 elsewhere.
    LongDouble = 36, "c_longdouble", [], ["long double"], ["MPI_LONG_DOUBLE"],
        Float, LongDouble, LONG_DOUBLE.0, LONG_DOUBLE.1, 16;
    /// Two `long double`, real part first (`MPI_C_LONG_DOUBLE_COMPLEX`).
    LongDoubleComplex = 37, "c_longdouble_complex", [], ["long double _Complex"],
        ["MPI_C_LONG_DOUBLE_COMPLEX"],
        Complex, LongDoubleComplex, 2 * LONG_DOUBLE.0, LONG_DOUBLE.1, 32;

    /// C++'s `bool` (`MPI_CXX_BOOL`).
    CxxBool = 38, "cxx_bool", [], [], ["MPI_CXX_BOOL"], Logical, Bool, 1, 1, 1;
    /// C++'s `std::complex<float>` (`MPI_CXX_FLOAT_COMPLEX`).
    CxxFloatComplex = 39, "cxx_float_complex", [], [], ["MPI_CXX_FLOAT_COMPLEX"],
        Complex, C32, 8, align_of::<f32>(), 8;
    /// C++'s `std::complex<double>` (`MPI_CXX_DOUBLE_COMPLEX`).
    CxxDoubleComplex = 40, "cxx_double_complex", [], [], ["MPI_CXX_DOUBLE_COMPLEX"],
        Complex, C64, 16, align_of::<f64>(), 16;
    /// C++'s `std::complex<long double>` (`MPI_CXX_LONG_DOUBLE_COMPLEX`).
    CxxLongDoubleComplex = 41, "cxx_longdouble_complex", [], [], ["MPI_CXX_LONG_DOUBLE_COMPLEX"],
        Complex, LongDoubleComplex, 2 * LONG_DOUBLE.0, LONG_DOUBLE.1, 32;

    /// Fortran's `CHARACTER(1)` (`MPI_CHARACTER`).
    Character = 42, "character", [], [], ["MPI_CHARACTER"], Character, CChar, 1, 1, 1;
    /// Fortran's default `LOGICAL` (`MPI_LOGICAL`).
    Logical = 43, "logical", [], [], ["MPI_LOGICAL"], Logical, Logical, 4, align_of::<i32>(), 4;
    /// Fortran's default `INTEGER` (`MPI_INTEGER`).
    Integer = 44, "integer", [], [], ["MPI_INTEGER"], Integer, I32, 4, align_of::<i32>(), 4;
    /// Fortran's default `REAL` (`MPI_REAL`).
    Real = 45, "real", [], [], ["MPI_REAL"], Float, F32, 4, align_of::<f32>(), 4;
    /// Fortran's `DOUBLE PRECISION` (`MPI_DOUBLE_PRECISION`).
    DoublePrecision = 46, "double_precision", [], [], ["MPI_DOUBLE_PRECISION"],
        Float, F64, 8, align_of::<f64>(), 8;
    /// Fortran's default `COMPLEX` (`MPI_COMPLEX`).
    Complex = 47, "complex", [], [], ["MPI_COMPLEX"], Complex, C32, 8, align_of::<f32>(), 8;
    /// Fortran's `DOUBLE COMPLEX` (`MPI_DOUBLE_COMPLEX`).
    DoubleComplex = 48, "double_complex", [], [], ["MPI_DOUBLE_COMPLEX"],
        Complex, C64, 16, align_of::<f64>(), 16;
    /// Fortran's `INTEGER*1` (`MPI_INTEGER1`).
    Integer1 = 49, "integer1", [], [], ["MPI_INTEGER1"], Integer, I8, 1, 1, 1;
    /// Fortran's `INTEGER*2` (`MPI_INTEGER2`).
    Integer2 = 50, "integer2", [], [], ["MPI_INTEGER2"], Integer, I16, 2, align_of::<i16>(), 2;
    /// Fortran's `INTEGER*4` (`MPI_INTEGER4`).
    Integer4 = 51, "integer4", [], [], ["MPI_INTEGER4"], Integer, I32, 4, align_of::<i32>(), 4;
    /// Fortran's `INTEGER*8` (`MPI_INTEGER8`).
    Integer8 = 52, "integer8", [], [], ["MPI_INTEGER8"], Integer, I64, 8, align_of::<i64>(), 8;
    /// Fortran's `INTEGER*16` (`MPI_INTEGER16`).
    Integer16 = 53, "integer16", [], [], ["MPI_INTEGER16"],
        Integer, I128, 16, align_of::<i128>(), 16;
    /// Fortran's `REAL*2`, a binary16 (`MPI_REAL2`).
    Real2 = 54, "real2", [], [], ["MPI_REAL2"], Float, F16, 2, align_of::<u16>(), 2;
    /// Fortran's `REAL*4` (`MPI_REAL4`).
    Real4 = 55, "real4", [], [], ["MPI_REAL4"], Float, F32, 4, align_of::<f32>(), 4;
    /// Fortran's `REAL*8` (`MPI_REAL8`).
    Real8 = 56, "real8", [], [], ["MPI_REAL8"], Float, F64, 8, align_of::<f64>(), 8;
    /// Fortran's `REAL*16`, a binary128 (`MPI_REAL16`).
    Real16 = 57, "real16", [], ["_Float128"], ["MPI_REAL16"], Float, Real16, 16, 16, 16;
    /// Fortran's `COMPLEX*4`, two binary16 (`MPI_COMPLEX4`).
    Complex4 = 58, "complex4", [], [], ["MPI_COMPLEX4"], Complex, Complex4, 4, align_of::<u16>(), 4;
    /// Fortran's `COMPLEX*8` (`MPI_COMPLEX8`).
    Complex8 = 59, "complex8", [], [], ["MPI_COMPLEX8"], Complex, C32, 8, align_of::<f32>(), 8;
    /// Fortran's `COMPLEX*16` (`MPI_COMPLEX16`).
    Complex16 = 60, "complex16", [], [], ["MPI_COMPLEX16"], Complex, C64, 16, align_of::<f64>(), 16;
    /// Fortran's `COMPLEX*32`, two binary128 (`MPI_COMPLEX32`).
    Complex32 = 61, "complex32", [], [], ["MPI_COMPLEX32"], Complex, Complex32, 32, 16, 32;
}

/// Bytes of an address, which is also its alignment.
const POINTER: usize = if cfg!(dtype_layouts = "x86_64") { 8 } else { size_of::<usize>() };

/// Size and alignment in bytes of C's `long`.
const LONG: (usize, usize) = if cfg!(dtype_layouts = "x86_64") {
    (8, 8)
} else {
    (size_of::<ffi::c_long>(), align_of::<ffi::c_long>())
};

/// Bytes of C's `wchar_t`, which is also its alignment.
const WCHAR: usize = if cfg!(windows) { 2 } else { 4 };

/// Size and alignment in bytes of C's `long double`, by the platforms' calling conventions.
const LONG_DOUBLE: (usize, usize) = {
    let as_double = cfg!(any(
        target_env = "msvc",
        target_arch = "arm",
        target_arch = "mips",
        target_arch = "mips32r6",
        all(target_vendor = "apple", target_arch = "aarch64"),
        all(target_os = "android", target_arch = "x86"),
        // On PowerPC, it depends on the C library.
        all(
            any(target_arch = "powerpc", target_arch = "powerpc64"),
            any(
                target_env = "musl",
                target_os = "aix",
                target_os = "freebsd",
                target_os = "openbsd"
            ),
        ),
        all(target_arch = "powerpc", target_os = "netbsd"),
    ));
    if as_double {
        (8, align_of::<f64>())
    } else if cfg!(all(target_arch = "x86", not(target_vendor = "apple"))) {
        (12, 4)
    } else if cfg!(any(target_arch = "s390x", target_os = "emscripten")) {
        (16, 8)
    } else {
        (16, 16)
    }
};

impl Basic {
    const fn row(self) -> &'static Row {
        &ROWS[self as usize - 1]
    }

    /// The name of the type: as Rust writes it, as [`core::ffi`] names a type of C, or as MPI does, in lower case.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The name of MPI's predefined datatype (MPI-4.1 section 3.2.2 and appendix A.1), if there is one.
    pub const fn mpi_name(self) -> Option<&'static str> {
        self.row().mpi_names.first().copied()
    }

    /// The basic datatype with this MPI name.
    ///
    /// ```
    /// use dtype_runtime::Basic;
    /// assert_eq!(Basic::from_mpi_name("MPI_LONG_LONG_INT"), Some(Basic::LongLong));
    /// assert_eq!(Basic::from_mpi_name("MPI_2INT"), None); // a pair
    /// ```
    pub fn from_mpi_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|basic| basic.row().mpi_names.contains(&name))
    }

    /// The kind of value that it holds.
    pub const fn kind(self) -> Kind {
        self.row().kind
    }

    /// Bytes of one value, in memory and in the native packed stream.
    pub const fn size(self) -> usize {
        self.row().size
    }

    /// The alignment in bytes that this platform gives the type. It pads the extent of a datatype (the ε of
    /// MPI-4.1 section 5.1.6), but a buffer's address need not be aligned to it.
    pub const fn align(self) -> usize {
        self.row().align
    }

    /// Bytes of one value in the `external32` representation (MPI-4.1 section 14.5.2). For the types that MPI
    /// lacks it is the native size.
    pub const fn external32_size(self) -> usize {
        self.row().external32_size
    }

    /// The basic datatype that represents this one in a signature: itself, or the Rust type with the same values and the same
    /// width, both in memory and in `external32`. So a Rust `i32` matches an `MPI_INT` and an `MPI_INTEGER`, as in every MPI
    /// library; strictly, MPI-4.1 section 3.3.1 requires the same name. `MPI_LONG` matches only itself, because its width
    /// depends on the machine.
    ///
    /// ```
    /// use dtype_runtime::Basic;
    /// assert_eq!(Basic::Int.canonical(), Basic::I32);
    /// assert_eq!(Basic::Long.canonical(), Basic::Long);
    /// ```
    #[must_use]
    pub const fn canonical(self) -> Self {
        let like = self.row().canonical;
        if like.size() == self.size() { like } else { self }
    }

    /// A number that is the same in every version and on every platform. The signature hash is computed from this number, and a
    /// marshalled type contains it.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The basic datatype with this [`code`](Self::code).
    pub const fn from_code(code: u8) -> Option<Self> {
        if code == 0 || code as usize > Self::ALL.len() {
            return None;
        }
        Some(Self::ALL[code as usize - 1])
    }
}

impl fmt::Display for Basic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_distinct_and_all_lists_every_type() {
        for (i, basic) in Basic::ALL.iter().enumerate() {
            assert_eq!(usize::from(basic.code()), i + 1, "{basic}");
            assert_eq!(Basic::from_code(basic.code()), Some(*basic));
        }
        assert_eq!((Basic::from_code(0), Basic::from_code(u8::MAX)), (None, None));
        let names: BTreeSet<&str> = Basic::ALL.iter().map(|basic| basic.name()).collect();
        assert_eq!(names.len(), Basic::ALL.len());
        // In each language, a name belongs to only one type.
        for names in [Basic::rust_names, Basic::c_names, |basic: Basic| basic.row().mpi_names] {
            let all = || Basic::ALL.iter().flat_map(|basic| names(*basic));
            assert_eq!(all().collect::<BTreeSet<_>>().len(), all().count());
        }
    }

    #[test]
    fn what_a_type_counts_as_has_its_width_and_kind() {
        for &basic in Basic::ALL {
            let canonical = basic.canonical();
            assert_eq!(canonical.canonical(), canonical, "{basic}");
            assert_eq!(canonical.kind(), basic.kind(), "{basic}");
            assert_eq!(
                (canonical.size(), canonical.external32_size()),
                (basic.size(), basic.external32_size()),
                "{basic}"
            );
            assert_eq!(basic.size() % basic.align(), 0, "{basic}");
        }
    }

    /// The table of MPI-4.1 section 14.5.2.
    #[test]
    fn external32_sizes() {
        use Basic::*;
        let table: [(usize, &[Basic]); 6] = [
            (
                1,
                &[
                    Byte,
                    Packed,
                    CChar,
                    SignedChar,
                    UnsignedChar,
                    Bool,
                    CxxBool,
                    I8,
                    U8,
                    Character,
                    Integer1,
                ],
            ),
            (2, &[Short, UnsignedShort, I16, U16, WideChar, Integer2, Real2]),
            (
                4,
                &[
                    Int,
                    Unsigned,
                    Long,
                    UnsignedLong,
                    F32,
                    I32,
                    U32,
                    Logical,
                    Integer,
                    Real,
                    Integer4,
                    Real4,
                ],
            ),
            (
                8,
                &[
                    LongLong,
                    UnsignedLongLong,
                    F64,
                    I64,
                    U64,
                    Aint,
                    Count,
                    Offset,
                    DoublePrecision,
                    Complex,
                    C32,
                ],
            ),
            (16, &[LongDouble, DoubleComplex, Real16, Integer16, C64]),
            (32, &[LongDoubleComplex, CxxLongDoubleComplex, Complex32]),
        ];
        for (size, types) in table {
            for basic in types {
                assert_eq!(basic.external32_size(), size, "{basic}");
            }
        }
    }
}
