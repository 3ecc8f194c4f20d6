//! The cells of a picture.

/// What is painted beyond the fields that are told apart.
pub(super) const NO_FIELD: u16 = u16::MAX;

/// What a cell of a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// All its bytes are data, each of them once.
    Data,
    /// No byte is data.
    Gap,
    /// Some of its bytes are data.
    Part,
    /// A byte of it is named more than once.
    Overlap,
    /// No data were found, but not all of the type was looked at.
    Unknown,
}

/// So many bytes of memory: [`View::unit`](super::View::unit), or fewer at the end of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What it is.
    pub sign: Sign,
    /// Whether a basic datatype starts in it.
    pub starts: bool,
    /// Of what its data are, the first in packing order where they are of several: an index of
    /// [`Diagram::fields`](super::Diagram::fields). `None` without data, and for fields beyond those that are told apart.
    pub field: Option<u16>,
    /// Which bytes are data, and which more than once: one bit each.
    once: u64,
    twice: u64,
}

impl Cell {
    pub(super) const EMPTY: Self =
        Self { sign: Sign::Gap, starts: false, field: None, once: 0, twice: 0 };

    pub(super) fn paint(&mut self, mask: u64, field: u16, starts: bool) {
        if self.once == 0 && field != NO_FIELD {
            self.field = Some(field);
        }
        self.twice |= self.once & mask;
        self.once |= mask;
        self.starts |= starts;
    }

    /// Decides on the sign, of a cell of so many bytes.
    pub(super) fn finish(&mut self, bytes: u32, complete: bool) {
        self.sign = match (self.once, self.twice) {
            (0, _) if complete => Sign::Gap,
            (0, _) => Sign::Unknown,
            (once, 0) if once.count_ones() >= bytes => Sign::Data,
            (_, 0) => Sign::Part,
            _ => Sign::Overlap,
        };
    }

    /// How many of its bytes are data.
    pub fn data_bytes(&self) -> u32 {
        self.once.count_ones()
    }
}

impl Sign {
    /// The sign as a square.
    pub const fn square(self) -> char {
        match self {
            Self::Data => '■',
            Self::Gap => '□',
            Self::Part => '◧',
            Self::Overlap => '▣',
            Self::Unknown => '?',
        }
    }

    /// The sign in ASCII.
    pub const fn ascii(self) -> char {
        match self {
            Self::Data => '#',
            Self::Gap => '.',
            Self::Part => '+',
            Self::Overlap => '@',
            Self::Unknown => '?',
        }
    }

    /// What it stands for.
    pub(in crate::show) const fn meaning(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Gap => "gap",
            Self::Part => "partly data",
            Self::Overlap => "named more than once",
            Self::Unknown => "not looked at",
        }
    }
}
