//! The languages in which a type can be described.

/// A language in which a type can be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// The notation of `dtype help notation`.
    Notation,
    /// The declaration of a struct in C.
    C,
    /// The declaration of a struct in Rust, with `#[repr(C)]` or for packed bytes.
    Rust,
    /// A NumPy dtype.
    Numpy,
}

impl Language {
    /// All languages, each under its name on a command line.
    pub const ALL: [(&str, Self); 4] = [
        ("notation", Self::Notation),
        ("c", Self::C),
        ("rust", Self::Rust),
        ("numpy", Self::Numpy),
    ];

    /// The language of files with this ending, if the ending decides it.
    ///
    /// ```
    /// use dtype_text::declaration::Language;
    /// assert_eq!(Language::of_file("include/particle.h"), Some(Language::C));
    /// assert_eq!(Language::of_file("halo.dtype"), Some(Language::Notation));
    /// assert_eq!(Language::of_file("particle.py"), Some(Language::Numpy));
    /// assert_eq!(Language::of_file("particle.txt"), None);
    /// ```
    pub fn of_file(path: &str) -> Option<Self> {
        let extension = std::path::Path::new(path).extension()?.to_str()?;
        Some(match extension {
            "h" | "c" | "hh" | "hpp" | "hxx" | "cc" | "cpp" | "cxx" => Self::C,
            "rs" => Self::Rust,
            "py" => Self::Numpy,
            "dtype" => Self::Notation,
            _ => return None,
        })
    }
}
