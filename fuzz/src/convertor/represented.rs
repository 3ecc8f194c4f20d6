//! The stream of a layout in another representation, value by value.

use arbitrary::Arbitrary;
use dtype_runtime::representation::{Architecture, ByteOrder, LongDouble, Widths};
use dtype_runtime::{Error, Representation};

use super::layout::Layout;
use super::numbers::{Format, Misfit};

/// The machine at the other end.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Machine {
    Native,
    External32,
    LittleEndian,
    BigEndian,
    /// One machine in three is not this one: the bits of the first number and a remainder of the second select its properties.
    Foreign(u8, u8),
    AnotherForeign(u8, u8),
}

impl Machine {
    pub(super) fn representation(self) -> Representation {
        match self {
            Self::Native => Representation::Native,
            Self::External32 => Representation::External32,
            Self::LittleEndian => Representation::LittleEndian,
            Self::BigEndian => Representation::BigEndian,
            Self::Foreign(bits, format) | Self::AnotherForeign(bits, format) => {
                let bit = |bit: u8| bits >> bit & 1;
                let order = if bit(0) == 0 { ByteOrder::Little } else { ByteOrder::Big };
                let long_double = match format % 11 {
                    0..=2 => Architecture::HOST.widths().long_double,
                    3 | 4 => LongDouble::Binary64,
                    5 | 6 => LongDouble::X87In12,
                    7 => LongDouble::X87In16,
                    8 | 9 => LongDouble::Binary128,
                    _ => LongDouble::DoubleDouble,
                };
                let widths = Widths {
                    long: 4 + 4 * bit(1),
                    address: 4 + 4 * bit(2),
                    wide_char: 2 + 2 * bit(3),
                    logical: 1 << (bit(4) + 2 * bit(5)),
                    long_double,
                };
                let machine = Architecture::from_widths(order, widths);
                Representation::Foreign(machine.unwrap())
            }
        }
    }
}

/// A position in the stream.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Spot {
    Byte(u16),
    /// A place this number of bytes into a value.
    Value(u16, u8),
}

/// A value and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// The position of its first byte in the stream.
    pub(super) start: usize,
    /// The offset of its first byte in the memory.
    pub(super) place: usize,
    pub(super) here: Format,
    pub(super) there: Format,
}

impl Value {
    pub(super) fn end(&self) -> usize {
        self.start + self.there.size
    }

    /// Whether the value is converted byte by byte.
    pub(super) fn is_bytewise(&self) -> bool {
        self.here.is_bytewise(self.there)
    }

    /// The offset in memory of the byte at a position of the stream, if the value is converted byte by byte.
    pub(super) fn byte(&self, position: usize) -> usize {
        self.place + self.here.byte(self.there, position - self.start)
    }

    /// The expected error if the value does not fit in `to`.
    pub(super) fn refused(&self, misfit: Misfit, to: Format) -> Error {
        let position = self.start as u64;
        match misfit {
            Misfit::Integer(value) => Error::IntegerRange { position, value, bytes: to.size as u8 },
            Misfit::Float(format) => Error::FloatRange { position, format },
        }
    }

    fn place_in<'a>(&self, memory: &'a [u8]) -> &'a [u8] {
        &memory[self.place..self.place + self.here.size]
    }
}

/// The source of the values: a seed, and how many of them the other side cannot represent.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct Numbers {
    seed: u8,
    wrong: u8,
}

impl Numbers {
    /// Number `index` of the sequence `salt`, in the format of one side.
    pub(super) fn value(self, index: usize, salt: usize, side: Format, other: Format) -> Vec<u8> {
        let mut state = (index as u64) << 32 | (salt as u64) << 8 | u64::from(self.seed);
        let mut next = || {
            // SplitMix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let bits = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            u128::from(bits ^ bits >> 31)
        };
        let bits = next() << 64 | next();
        // In five inputs of six, all values fit. In the others, one value in `each + 1` is random.
        let each = usize::from(self.wrong).checked_sub(215);
        if each.is_some_and(|each| index % (each + 1) == each) {
            side.any(bits)
        } else {
            side.common(other, bits)
        }
    }
}

/// The packed stream: the values of the map, one after another. A byte of the stream need not be a byte of memory, and a value
/// that the other side cannot represent cannot be packed.
#[derive(Debug)]
pub(super) struct Represented {
    pub(super) representation: Representation,
    pub(super) values: Vec<Value>,
    pub(super) numbers: Numbers,
    /// The layout's memory. Most of its values fit the other side.
    pub(super) memory: Vec<u8>,
    /// The packed stream of that memory.
    pub(super) packed: Vec<u8>,
    /// The values that cannot be packed, with the reasons, in the order of the stream.
    pub(super) refused: Vec<(Value, Error)>,
}

impl Represented {
    /// `None` if a value's format cannot be converted.
    pub(super) fn new(layout: &Layout, machine: Machine, numbers: Numbers) -> Option<Self> {
        let representation = machine.representation();
        let there = representation.architecture();
        let mut values = Vec::new();
        let mut start = 0;
        for (basic, _) in &layout.map.data {
            let (from, to) =
                (Format::of(*basic, Architecture::HOST).0, Format::of(*basic, there).0);
            if !from.converts(to) {
                return None;
            }
        }
        let extent = layout.map.extent();
        for instance in 0..layout.count as i64 {
            for &(basic, at) in &layout.map.data {
                let (here, parts) = Format::of(basic, Architecture::HOST);
                let (there, _) = Format::of(basic, there);
                let first = layout.origin as i64 + at + instance * extent;
                for part in 0..parts {
                    let place = first as usize + part * here.size;
                    values.push(Value { start, place, here, there });
                    start += there.size;
                }
            }
        }
        let mut memory = layout.memory.clone();
        for (index, value) in values.iter().enumerate().filter(|(_, value)| !value.is_bytewise()) {
            let bytes = numbers.value(index, 0, value.here, value.there);
            memory[value.place..value.place + bytes.len()].copy_from_slice(&bytes);
        }
        let (mut packed, mut refused) = (Vec::with_capacity(start), Vec::new());
        for value in &values {
            match value.here.convert(value.place_in(&memory), value.there) {
                Ok(bytes) => packed.extend(bytes),
                Err(misfit) => {
                    refused.push((*value, value.refused(misfit, value.there)));
                    packed.resize(value.end(), 0);
                }
            }
        }
        Some(Self { representation, values, numbers, memory, packed, refused })
    }

    /// The values with bytes in a range of the stream, and the numbers of these values.
    pub(super) fn values(&self, from: usize, to: usize) -> impl Iterator<Item = (usize, &Value)> {
        let first = self.values.partition_point(|value| value.end() <= from);
        let values = self.values.iter().enumerate().skip(first);
        values.take_while(move |(_, value)| from < to && value.start < to)
    }

    /// The error of packing a range, if any.
    pub(super) fn refusal(&self, from: usize, to: usize) -> Option<&Error> {
        let first = self.refused.partition_point(|(value, _)| value.end() <= from);
        let (value, error) = self.refused.get(first)?;
        (from < to && value.start < to).then_some(error)
    }

    /// The value around a position inside of it, if the value can only be converted as a whole.
    pub(super) fn inside(&self, position: usize) -> Option<&Value> {
        let (_, value) = self.values(position, position + 1).next()?;
        (value.start < position && !value.is_bytewise()).then_some(value)
    }

    /// The bytes that a sender sends for a part of the stream number `salt`.
    pub(super) fn sent(&self, from: usize, to: usize, salt: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (index, value) in self.values(from, to) {
            let all = if value.is_bytewise() {
                (value.start..value.end()).map(|at| (at * 7 + salt * 101) as u8).collect()
            } else {
                self.numbers.value(index, salt, value.there, value.here)
            };
            let first = from.max(value.start) - value.start;
            bytes.extend(&all[first..to.min(value.end()) - value.start]);
        }
        bytes
    }

    /// The position of a spot; it may be up to two bytes past the end.
    pub(super) fn position(&self, spot: Spot) -> usize {
        let anywhere = |number: u16| usize::from(number) % (self.packed.len() + 3);
        match spot {
            Spot::Byte(number) => anywhere(number),
            Spot::Value(number, into) => match usize::from(number).checked_rem(self.values.len()) {
                Some(index) => {
                    let value = &self.values[index];
                    value.start + usize::from(into) % value.there.size
                }
                None => anywhere(number),
            },
        }
    }

    /// The number of bytes from a position to a spot after it.
    pub(super) fn bytes(&self, from: usize, to: Spot) -> usize {
        let to = self.position(to);
        to.checked_sub(from).unwrap_or(to % 20)
    }
}
