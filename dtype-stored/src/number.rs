//! The numbers that become other numbers: one table for all formats.

use crate::ReadOptions;
use crate::time::{Rescaling, Time};
use dtype_runtime::Basic;
use dtype_runtime::representation::{ByteOrder, same_float};
use dtype_runtime::typemap::{Node, TypeMap};

/// An integer or a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The kind of number.
    pub kind: NumberKind,
    /// The number of bytes: 1 to 8 for an integer; 2, 4 or 8 for a float.
    pub size: usize,
    /// The byte order.
    pub order: ByteOrder,
    /// What an integer counts, if it is a time.
    pub time: Option<Time>,
}

/// The kind of a [`Number`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// An unsigned integer.
    Unsigned,
    /// An integer in two's complement.
    Signed,
    /// A binary float of IEEE 754.
    Float,
    /// Microseconds as two signed numbers of 32 bits: in the upper half the seconds, in the lower half the rest. The value is the
    /// number of microseconds.
    SecondsAndMicroseconds,
}

/// Microseconds in a second.
const MICROSECONDS: i128 = 1_000_000;

impl Number {
    /// The number format of a basic datatype in this byte order. A truth value and a character are unsigned integers. `None` for
    /// complex numbers, integers of 128 bits, `bf16` and `long double`.
    pub fn of(basic: Basic, order: ByteOrder) -> Option<Self> {
        let kind = match basic.numpy_kind() {
            'b' | 'u' | 'S' | 'U' => NumberKind::Unsigned,
            'i' => NumberKind::Signed,
            'f' => NumberKind::Float,
            _ => return None,
        };
        Some(Self { kind, size: basic.size(), order, time: None })
    }

    /// Writes the number in another format of the same kind, integer or float, and another unit if it is a time. The error says
    /// which number that format lacks.
    fn convert(
        self,
        bytes: &[u8],
        to: Self,
        rescaling: Option<&Rescaling>,
        out: &mut [u8],
    ) -> Result<(), String> {
        let converted = if self.kind == NumberKind::Float {
            let bits = number(&bytes[..self.size], self.order);
            same_float(bits, self.size, to.size).ok_or_else(|| float_text(bits, self.size))
        } else {
            let value = self.integer(bytes);
            let value = rescaling.map_or(Ok(value), |rescaling| rescaling.of(value))?;
            to.bits(value).ok_or_else(|| value.to_string())
        };
        let converted = converted.map_err(|value| format!("{value} is not one of its numbers"))?;
        set_number(&mut out[..to.size], to.order, converted);
        Ok(())
    }

    /// The value of an integer of at most 8 bytes: for a time, the number of its units.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes than [`size`](Self::size).
    pub fn integer(self, bytes: &[u8]) -> i128 {
        let bits = number(&bytes[..self.size], self.order);
        let signed = |bits: u128, unused: usize| (bits.cast_signed() << unused) >> unused;
        match self.kind {
            NumberKind::Signed => signed(bits, 128 - 8 * self.size),
            NumberKind::SecondsAndMicroseconds => {
                signed(bits >> 32, 96) * MICROSECONDS + signed(bits, 96)
            }
            _ => bits.cast_signed(),
        }
    }

    /// The bits of an integer, of which only the lower ones are written; `None` if the format lacks it.
    fn bits(self, value: i128) -> Option<u128> {
        let width = 8 * self.size;
        let (least, most) = match self.kind {
            NumberKind::Signed => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
            NumberKind::SecondsAndMicroseconds => {
                let seconds = i32::try_from(value.div_euclid(MICROSECONDS)).ok()?;
                let bits = i128::from(seconds) << 32 | value.rem_euclid(MICROSECONDS);
                return Some(bits.cast_unsigned());
            }
            _ => (0, (1_i128 << width) - 1),
        };
        (least..=most).contains(&value).then(|| value.cast_unsigned())
    }
}

/// The conversion of stored numbers to the numbers of a leaf, and back. Each number keeps its value:
/// [`ReadOptions::with_number_conversion`] has the table.
///
/// ```
/// use dtype_runtime::Datatype;
/// use dtype_runtime::representation::ByteOrder::{Big, Little};
/// use dtype_stored::{Number, NumberKind, Numbers, ReadOptions};
///
/// let stored = Number { kind: NumberKind::Signed, size: 4, order: Big, time: None };
/// let options = ReadOptions::strict().with_number_conversion();
/// let numbers = Numbers::new(Some(stored), u8::TYPE_MAP, options).unwrap();
/// let mut value = [0];
/// assert_eq!(numbers.load(&[0, 0, 0, 200], &mut value, Little), Ok(()));
/// assert_eq!(value, [200]);
/// let error = numbers.load(&[0, 0, 1, 44], &mut value, Little);
/// assert_eq!(error.unwrap_err(), "300 is not one of its numbers");
/// ```
#[derive(Clone, Debug)]
pub struct Numbers {
    stored: Number,
    /// In any byte order.
    wanted: Number,
    /// Does the same as [`Number::convert`], far faster, if both numbers are in the byte order of the machine.
    widen: Option<Widen>,
    /// Of a time in another unit, when it is read and when it is written.
    rescaling: Option<Box<(Rescaling, Rescaling)>>,
    /// The name of the leaf.
    name: String,
}

impl Numbers {
    /// `None` if the options do not allow it, if one side is no number, if one side is an integer and the other a float, and for a
    /// time of a stored number without a unit.
    pub fn new(stored: Option<Number>, leaf: &TypeMap, options: ReadOptions) -> Option<Self> {
        let Node::Basic { basic, .. } = *leaf.node() else { return None };
        let (stored, wanted) = (stored?, Number::of(basic, ByteOrder::NATIVE)?);
        let is_float = |number: Number| number.kind == NumberKind::Float;
        let rescaling = match (stored.time, Time::of_leaf(leaf)) {
            (Some(from), Some(to)) => {
                Some(Box::new((Rescaling::new(from, to)?, Rescaling::new(to, from)?)))
            }
            (None, Some(_)) => return None,
            (_, None) => None,
        };
        // These times have no other form in a record.
        let is_split = stored.kind == NumberKind::SecondsAndMicroseconds;
        let is_same_time = is_split
            && stored.time.map(|time| time.unit) == Time::of_leaf(leaf).map(|time| time.unit);
        let is_convertible =
            (options.number_conversion || is_same_time) && is_float(stored) == is_float(wanted);
        let is_plain = stored.order == ByteOrder::NATIVE && rescaling.is_none();
        let widen = if is_convertible && is_plain { widening(stored, wanted) } else { None };
        is_convertible.then(|| Self { stored, wanted, widen, rescaling, name: leaf.to_string() })
    }

    /// The name of the leaf's type.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of a stored number; `None` if no such number is known.
    pub fn stored_size(&self) -> Option<usize> {
        let Number { kind, size, .. } = self.stored;
        let is_known = match kind {
            NumberKind::Float => matches!(size, 2 | 4 | 8),
            NumberKind::SecondsAndMicroseconds => size == 8,
            _ => (1..=8).contains(&size),
        };
        is_known.then_some(size)
    }

    /// Bytes of a number of the leaf.
    pub fn size(&self) -> usize {
        self.wanted.size
    }

    /// Writes a stored number as a number of the leaf in this byte order.
    ///
    /// # Errors
    ///
    /// The reason, in words, if the leaf lacks the number.
    ///
    /// # Panics
    ///
    /// If a slice is shorter than its number: [`stored_size`](Self::stored_size) and [`size`](Self::size) bytes.
    pub fn load(&self, stored: &[u8], out: &mut [u8], order: ByteOrder) -> Result<(), String> {
        if self.widen(stored, out, order) {
            return Ok(());
        }
        let rescaling = self.rescaling.as_deref().map(|(load, _)| load);
        self.stored.convert(stored, Number { order, ..self.wanted }, rescaling, out)
    }

    /// Whether this is a wider number in the byte order of the machine, and has been written.
    #[inline]
    pub(crate) fn widen(&self, stored: &[u8], out: &mut [u8], order: ByteOrder) -> bool {
        order == ByteOrder::NATIVE && self.widen.is_some_and(|widen| widen(stored, out).is_some())
    }

    /// Writes a number of the leaf, which is in this byte order, as a stored number. The error is the reason.
    pub(crate) fn store(
        &self,
        bytes: &[u8],
        out: &mut [u8],
        order: ByteOrder,
    ) -> Result<(), String> {
        let rescaling = self.rescaling.as_deref().map(|(_, store)| store);
        Number { order, ..self.wanted }.convert(bytes, self.stored, rescaling, out)
    }
}

/// Writes a number as a wider one. `None`, whatever has been written, if that takes more than one conversion of Rust.
type Widen = fn(&[u8], &mut [u8]) -> Option<()>;

macro_rules! widen {
    ($from:ty, $to:ty) => {
        Some(|bytes, out| {
            let value = <$from>::from_ne_bytes(*bytes.first_chunk()?);
            *out.first_chunk_mut()? = <$to>::from(value).to_ne_bytes();
            Some(())
        })
    };
}

/// The function for numbers that all are numbers of the other format. A non-negative one has the same bits with and without sign.
fn widening(from: Number, to: Number) -> Option<Widen> {
    use NumberKind::{Float, Signed, Unsigned};
    match ((from.kind, from.size), (to.kind, to.size)) {
        ((Unsigned, 1), (_, 2)) => widen!(u8, u16),
        ((Unsigned, 1), (_, 4)) => widen!(u8, u32),
        ((Unsigned, 1), (_, 8)) => widen!(u8, u64),
        ((Unsigned, 2), (_, 4)) => widen!(u16, u32),
        ((Unsigned, 2), (_, 8)) => widen!(u16, u64),
        ((Unsigned, 4), (_, 8)) => widen!(u32, u64),
        ((Signed, 1), (Signed, 2)) => widen!(i8, i16),
        ((Signed, 1), (Signed, 4)) => widen!(i8, i32),
        ((Signed, 1), (Signed, 8)) => widen!(i8, i64),
        ((Signed, 2), (Signed, 4)) => widen!(i16, i32),
        ((Signed, 2), (Signed, 8)) => widen!(i16, i64),
        ((Signed, 4), (Signed, 8)) => widen!(i32, i64),
        ((Float, 4), (Float, 8)) => Some(|bytes, out| {
            let value = f32::from_ne_bytes(*bytes.first_chunk()?);
            *out.first_chunk_mut()? = f64::from(value).to_ne_bytes();
            // Rust leaves the bits of a NaN open.
            (!value.is_nan()).then_some(())
        }),
        _ => None,
    }
}

/// A float with the fewest digits that identify it.
fn float_text(bits: u128, size: usize) -> String {
    match (size, u32::try_from(bits), u64::try_from(bits)) {
        (4, Ok(bits), _) => format!("{:?}", f32::from_bits(bits)),
        (8, _, Ok(bits)) => format!("{:?}", f64::from_bits(bits)),
        _ => format!("{bits:#x}"),
    }
}

/// The number of at most 16 bytes, zero-extended.
pub(crate) fn number(bytes: &[u8], order: ByteOrder) -> u128 {
    let append = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
    match order {
        ByteOrder::Big => bytes.iter().fold(0, append),
        ByteOrder::Little => bytes.iter().rev().fold(0, append),
    }
}

/// Writes the number into as many bytes as there are.
pub(crate) fn set_number(bytes: &mut [u8], order: ByteOrder, number: u128) {
    let mut rest = number.to_le_bytes().into_iter();
    let fill = |byte: &mut u8| *byte = rest.next().unwrap_or(0);
    match order {
        ByteOrder::Little => bytes.iter_mut().for_each(fill),
        ByteOrder::Big => bytes.iter_mut().rev().for_each(fill),
    }
}
