//! The meaning of a value as a whole.

/// The meaning of a value for which other formats have a value of their own: a string, a null, a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Meaning {
    /// A text: a structure of the length in bytes, a `u32`, and the bytes of UTF-8, as [`FixedStr`](crate::FixedStr).
    Text,
    /// A value that may be absent: a structure of a `bool` and the value, as [`Maybe`](crate::Maybe).
    Optional,
    /// A list of limited length: a structure of the number of items, a `u32`, and an array, as [`FixedVec`](crate::FixedVec).
    List,
    /// A point in time: an `i64` of these units since the beginning of 1970, UTC, as [`Timestamp`](crate::Timestamp).
    Time(TimeUnit),
    /// A span of time: an `i64` of these units, as [`TimeSpan`](crate::TimeSpan).
    Span(TimeUnit),
}

/// The unit of a point or span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds.
    Second,
    /// Milliseconds.
    Millisecond,
    /// Microseconds.
    Microsecond,
    /// Nanoseconds.
    Nanosecond,
}

impl TimeUnit {
    /// The symbol, as NumPy writes it: `s`, `ms`, `us`, `ns`.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Millisecond => "ms",
            Self::Microsecond => "us",
            Self::Nanosecond => "ns",
        }
    }

    /// The number of units in a second.
    pub const fn per_second(self) -> u32 {
        match self {
            Self::Second => 1,
            Self::Millisecond => 1_000,
            Self::Microsecond => 1_000_000,
            Self::Nanosecond => 1_000_000_000,
        }
    }
}
