//! The kind of number that NumPy has for a basic datatype.

use super::{Basic, Kind};

impl Basic {
    /// NumPy's letter for the kind: `b` for a truth value, `i`, `u`, `f` and `c` for numbers, `S` and `U` for a character, and
    /// `V` for raw bytes, if NumPy has no number of this format. Together with [`size`](Self::size) in bytes, it is the format:
    /// `f8`. A `U` of four bytes is one character, `U1`.
    pub const fn numpy_kind(self) -> char {
        match (self.kind(), self.size()) {
            (Kind::Integer | Kind::Logical, 1) if matches!(self.canonical(), Self::Bool) => 'b',
            (Kind::Integer | Kind::Logical, 1 | 2 | 4 | 8) => 'i',
            (Kind::Unsigned, 1 | 2 | 4 | 8) | (Kind::Bytes, _) | (Kind::Character, 2) => 'u',
            (Kind::Character, 4) => 'U',
            (Kind::Character, 1) => 'S',
            (Kind::Float, 2 | 4 | 8) if !self.is_foreign_to_numpy() => 'f',
            (Kind::Complex, 8 | 16) if !self.is_foreign_to_numpy() => 'c',
            _ => 'V',
        }
    }

    /// Whether NumPy's number of this size has another format.
    const fn is_foreign_to_numpy(self) -> bool {
        matches!(
            self,
            Self::Bf16
                | Self::LongDouble
                | Self::LongDoubleComplex
                | Self::CxxLongDoubleComplex
                | Self::Real16
                | Self::Complex32
                | Self::Complex4
        )
    }
}
