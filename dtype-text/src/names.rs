//! The names of basic datatypes in C and Rust, and the search for the one that was probably meant.
//!
//! dtype-runtime has the [usual](Basic::c_names) [names](Basic::rust_names), and the table here all others.

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;

/// The integer of a pointer's width without a sign: Rust's `usize` becomes this.
pub(crate) const USIZE: Basic = if Basic::Aint.size() == 8 { Basic::U64 } else { Basic::U32 };
/// The integer of a pointer's width with a sign: Rust's `isize` becomes this.
pub(crate) const ISIZE: Basic = if Basic::Aint.size() == 8 { Basic::I64 } else { Basic::I32 };

/// Names from the headers of C and POSIX, other common names in C, and names in Rust, separated by spaces.
const OTHERS: &[(Basic, &str, &str)] = &[
    (Basic::I8, "int_least8_t __int8_t __s8", ""),
    (Basic::I16, "int_least16_t __int16_t __s16", ""),
    (Basic::I32, "int_least32_t __int32_t __s32", ""),
    (Basic::I64, "int_least64_t intmax_t __int64_t __s64", ""),
    (Basic::U8, "uint_least8_t char8_t __uint8_t __u8 u_int8_t", ""),
    (Basic::U16, "uint_least16_t char16_t __uint16_t __u16 __sum16 u_int16_t", ""),
    (Basic::U32, "uint_least32_t char32_t __uint32_t __u32 __wsum u_int32_t", ""),
    (Basic::U64, "uint_least64_t uintmax_t __uint64_t __u64 u_int64_t", ""),
    (USIZE, "size_t uintptr_t", "usize size_t"),
    (ISIZE, "ssize_t ptrdiff_t intptr_t", "isize ssize_t"),
    (Basic::Long, "time_t off_t", ""),
    (Basic::F32, "_Float32 float32_t float_t", ""),
    (Basic::F64, "_Float64 float64_t double_t", ""),
    (Basic::Real16, "__float128", "f128"),
    (Basic::C32, "", "Complex32"),
    (Basic::C64, "", "Complex64"),
    (Basic::Bf16, "__bf16", ""),
    (Basic::I128, "__int128_t", ""),
    (Basic::U128, "__uint128_t", ""),
    (Basic::UnsignedChar, "u_char uchar", ""),
    (Basic::UnsignedShort, "u_short ushort", ""),
    (Basic::Unsigned, "u_int uint", ""),
    (Basic::UnsignedLong, "u_long ulong", ""),
];

/// The usual names in C, with the words in the usual order.
pub(crate) fn usual_in_c() -> impl Iterator<Item = (&'static str, Basic)> {
    Basic::ALL.iter().flat_map(|basic| basic.c_names().iter().map(|name| (*name, *basic)))
}

/// All names in C that are single words.
pub(crate) fn all_in_c() -> impl Iterator<Item = (&'static str, Basic)> {
    let others = OTHERS.iter();
    let others = others.flat_map(|(basic, names, _)| names.split(' ').map(|name| (name, *basic)));
    others.chain(usual_in_c()).filter(|(name, _)| !name.is_empty() && !name.contains(' '))
}

/// All names in Rust, without their paths: of the language, of `core::ffi` and of crates for numbers.
pub(crate) fn all_in_rust() -> impl Iterator<Item = (&'static str, Basic)> {
    let last = |path: &'static str| path.rsplit("::").next().unwrap_or(path);
    let usual = Basic::ALL.iter();
    let usual = usual.flat_map(move |it| it.rust_names().iter().map(move |path| (last(path), *it)));
    let others = OTHERS.iter();
    let others = others.flat_map(|(basic, _, names)| names.split(' ').map(|name| (name, *basic)));
    usual.chain(others).filter(|(name, _)| !name.is_empty())
}

/// The type with a single word as its name in C, such as `int32_t` or `__u8`.
///
/// ```
/// # use dtype_text::declaration::header_type;
/// assert_eq!(header_type("u_int8_t"), Some(dtype_runtime::Basic::U8));
/// ```
pub fn of_c(name: &str) -> Option<Basic> {
    all_in_c().find(|(known, _)| *known == name).map(|(_, basic)| basic)
}

/// The type with a name in Rust. `NonZeroU8` is that of `u8`.
pub(crate) fn of_rust(name: &str) -> Option<Basic> {
    let integer = name.strip_prefix("NonZero").filter(|rest| rest.starts_with(['I', 'U']));
    let lower = integer.map(str::to_lowercase);
    let name = lower.as_deref().unwrap_or(name);
    all_in_rust().find(|(known, _)| *known == name).map(|(_, basic)| basic)
}

/// The name in C of a type with the same bytes, if there is one.
pub(crate) fn in_c(basic: Basic) -> Option<&'static str> {
    match (basic, basic.kind()) {
        // A Fortran logical has the same bytes.
        (Basic::Logical, _) => Some("int32_t"),
        // Not every compiler has a type for bf16.
        (Basic::Bf16, _) => Some("uint16_t"),
        (_, Kind::Bytes) => Some("unsigned char"),
        // Types of Fortran and C++ become the C types with the same signature.
        _ => [basic, basic.canonical()].iter().find_map(|it| it.c_names().first().copied()),
    }
}

/// The path in Rust of a type with the same bytes, if there is one.
pub(crate) fn in_rust(basic: Basic) -> Option<&'static str> {
    match (basic, basic.kind(), basic.size()) {
        (Basic::Logical, ..) => Some("i32"),
        (Basic::Aint, ..) => Some("isize"),
        (Basic::WideChar, _, 4) => Some("u32"),
        (Basic::WideChar, ..) => Some("u16"),
        (_, Kind::Bytes, 1) => Some("u8"),
        // Types of Fortran and C++ become the Rust types with the same signature.
        _ => [basic, basic.canonical()].iter().find_map(|it| it.rust_names().first().copied()),
    }
}

/// The name that was probably meant: the one with the fewest letters to change, if they are few.
///
/// ```
/// # use dtype_text::notation::nearest;
/// assert_eq!(nearest("vectr", ["hvector", "vector"].into_iter()), Some("vector"));
/// assert_eq!(nearest("mpi_double", ["MPI_DOUBLE"].into_iter()), Some("MPI_DOUBLE"));
/// assert_eq!(nearest("zebra", ["vector"].into_iter()), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer words are not treated as misspelt names.
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let given = letters(&lower);
    let most = (name.chars().count() / 3).max(1);
    candidates
        .map(|candidate| {
            let other = candidate.to_lowercase();
            let distance = strsim::damerau_levenshtein(&lower, &other);
            let same = lower.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
            // Among equally similar names, prefers one with the same letters in another order, or with the same beginning.
            let likely = (letters(&other) == given, same);
            (distance, std::cmp::Reverse(likely), candidate)
        })
        .filter(|(distance, ..)| *distance <= most)
        .min_by_key(|(distance, likely, _)| (*distance, *likely))
        .map(|(.., candidate)| candidate)
}

/// The words that form the names of C's number types, and `void`.
const WORDS: &[&str] = &[
    "signed", "unsigned", "short", "long", "_Complex", "int", "char", "float", "double",
    "__int128", "void",
];

/// Some of the words that form the names of C's number types, in any order.
///
/// ```
/// use dtype_text::declaration::Words;
/// let mut words = Words::default();
/// assert!(["int", "long", "unsigned"].iter().all(|word| words.add(word)));
/// assert_eq!(words.basic(), Some(dtype_runtime::Basic::UnsignedLong));
/// ```
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

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn is_void(&self) -> bool {
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
        usual_in_c().find(|(name, _)| is_same(name)).map(|(_, basic)| basic)
    }
}
