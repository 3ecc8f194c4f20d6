//! The cells of a picture.

/// The field index of data in fields beyond the limit.
pub(super) const NO_FIELD: u16 = u16::MAX;

/// The content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// All bytes are data, each named once.
    Data,
    /// All bytes are members, some of which have no datatype, such as pointers and bit-fields.
    Other,
    /// No byte is data.
    Gap,
    /// Some bytes are data.
    Part,
    /// Some byte is named more than once.
    Overlap,
    /// No data were found, but not all of the type was visited.
    Unknown,
}

/// A cell: [`View::unit`](super::View::unit) bytes of memory, or fewer at the end of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The content.
    pub sign: Sign,
    /// Whether a basic datatype starts in it.
    pub starts: bool,
    /// The field of the cell's data, or the first of several in packing order: an index into
    /// [`Diagram::fields`](super::Diagram::fields). `None` without data, and for fields beyond the limit.
    pub field: Option<u16>,
    /// Bit masks of the bytes that are data, and of those that are named more than once.
    once: u64,
    twice: u64,
    /// Those of members without a datatype, and of bit-fields among them, which share bytes.
    others: u64,
    bits: u64,
}

impl Cell {
    pub(super) const EMPTY: Self =
        Self { sign: Sign::Gap, starts: false, field: None, once: 0, twice: 0, others: 0, bits: 0 };

    pub(super) fn paint(&mut self, mask: u64, field: u16, starts: bool) {
        if self.once == 0 && field != NO_FIELD {
            self.field = Some(field);
        }
        self.twice |= self.once & mask;
        self.once |= mask;
        self.starts |= starts;
    }

    /// As [`paint`](Self::paint), for a member that no datatype has.
    pub(super) fn paint_other(&mut self, mask: u64, field: u16, starts: bool, is_bits: bool) {
        let shared = if is_bits { self.bits & mask } else { 0 };
        self.paint(mask & !shared, field, starts);
        self.others |= mask;
        self.bits |= if is_bits { mask } else { 0 };
    }

    /// Chooses the sign of a cell of `bytes` bytes.
    pub(super) fn finish(&mut self, bytes: u32, complete: bool) {
        self.sign = match (self.once, self.twice) {
            (0, _) if complete => Sign::Gap,
            (0, _) => Sign::Unknown,
            (once, 0) if once.count_ones() >= bytes && self.others == 0 => Sign::Data,
            (once, 0) if once.count_ones() >= bytes => Sign::Other,
            (_, 0) => Sign::Part,
            _ => Sign::Overlap,
        };
    }

    /// The number of its bytes that members take.
    pub fn data_bytes(&self) -> u32 {
        self.once.count_ones()
    }
}

impl Sign {
    /// The sign as a square.
    pub const fn square(self) -> char {
        match self {
            Self::Data => '■',
            Self::Other => '▦',
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
            Self::Other => '%',
            Self::Gap => '.',
            Self::Part => '+',
            Self::Overlap => '@',
            Self::Unknown => '?',
        }
    }

    /// The meaning, for a legend.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Other => "no datatype",
            Self::Gap => "gap",
            Self::Part => "partly data",
            Self::Overlap => "named more than once",
            Self::Unknown => "not looked at",
        }
    }
}
