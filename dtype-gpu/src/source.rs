//! The text of a kernel. With a prelude of macros for each language, it is valid OpenCL C and CUDA C++.

use core::fmt::{self, Display};

/// The language of a driver's compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenCL C 1.2.
    OpenClC,
    /// CUDA C++, as NVRTC compiles it.
    CudaCpp,
}

/// The direction of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the layout to packed bytes.
    Pack,
    /// From packed bytes to the layout.
    Unpack,
}

/// A kernel.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// The name of the kernel.
    pub name: &'static str,
    /// The number of threads of a group; not always a power of two.
    pub threads: u32,
    /// The text after the prelude.
    pub body: String,
}

impl Source {
    /// The whole text for a compiler: the prelude of the dialect and the kernel.
    pub fn text(&self, dialect: Dialect) -> String {
        let prelude = match dialect {
            Dialect::OpenClC => include_str!("kernels/opencl.c"),
            Dialect::CudaCpp => include_str!("kernels/cuda.c"),
        };
        format!("#define THREADS {}\n{prelude}{}", self.threads, self.body)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("threads", &self.threads)
            .field("len", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Threads of a group, unless a kernel needs another multiple.
pub(crate) const THREADS: u32 = 256;

/// Any number as a constant of 64 bits in either dialect.
pub(crate) fn constant(number: i64) -> String {
    format!("(u64){:#x}", number.cast_unsigned())
}

/// The definition of a number in a kernel.
pub(crate) fn define(name: &str, value: impl Display) -> String {
    format!("#define {name} {value}\n")
}

/// The definitions of a word's type, and of the direction in which it moves.
pub(crate) fn word(direction: Direction, bytes: u64) -> String {
    let (packs, from, to) = match direction {
        Direction::Pack => (1, "memory_word", "packed_word"),
        Direction::Unpack => (0, "packed_word", "memory_word"),
    };
    define("PACKS", packs)
        + &define("WORD", format_args!("u{}", 8 * bytes))
        + &define("FROM(memory_word, packed_word)", format_args!("({from})"))
        + &define("TO(memory_word, packed_word)", format_args!("({to})"))
}
