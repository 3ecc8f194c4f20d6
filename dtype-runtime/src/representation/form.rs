//! The conversion of one value.

use super::architecture::{Architecture, ByteOrder};
use super::float;
use crate::basic::{Basic, Kind, LongDouble};
use crate::error::Error;

/// The correspondence between one value in memory and its bytes in a packed stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// Byte for byte.
    Same {
        /// Bytes of the value.
        width: u8,
    },
    /// Byte for byte, from the last to the first.
    Reversed {
        /// Bytes of the value.
        width: u8,
    },
    /// An integer of another width.
    Integer {
        /// Whether the integer is in two's complement.
        signed: bool,
        /// Bytes in memory.
        memory: u8,
        /// Bytes in the packed stream.
        packed: u8,
        /// The order of the bytes in the packed stream.
        order: ByteOrder,
    },
    /// A `long double` of another format.
    Float {
        /// The format in memory.
        memory: LongDouble,
        /// The format in the packed stream.
        packed: LongDouble,
        /// The order of the bytes in the packed stream.
        order: ByteOrder,
    },
}

/// The maximum number of bytes of a value on either side.
pub(crate) const WIDEST: usize = 16;

/// A value that does not fit the format of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    Integer(i128),
    Float,
}

impl Form {
    /// The conversion of the values of a basic datatype between this machine's memory and the stream of another
    /// machine, and the number of values in one datatype: two if it is complex.
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`].
    pub(crate) fn of(basic: Basic, remote: Architecture) -> Result<(Self, u8), Error> {
        let parts = if basic.kind() == Kind::Complex { 2 } else { 1 };
        let [memory, packed] =
            [basic.size(), remote.size_of(basic)].map(|size| narrow(size / usize::from(parts)));
        let order = remote.byte_order();
        let is_long_double = matches!(
            basic,
            Basic::LongDouble | Basic::LongDoubleComplex | Basic::CxxLongDoubleComplex
        );
        let (here, there) = (Architecture::HOST.widths().long_double, remote.widths().long_double);
        let form = if is_long_double && here != there {
            if !float::convertible(here, there) {
                return Err(Error::NoConversion { basic: basic.name(), here, there });
            }
            Self::Float { memory: here, packed: there, order }
        } else if memory != packed {
            let signed = matches!(basic.kind(), Kind::Integer | Kind::Logical);
            Self::Integer { signed, memory, packed, order }
        } else if order == ByteOrder::NATIVE || memory == 1 {
            Self::Same { width: memory }
        } else {
            Self::Reversed { width: memory }
        };
        Ok((form, parts))
    }

    /// Bytes of the value in the packed stream.
    pub const fn packed_size(self) -> usize {
        match self {
            Self::Same { width } | Self::Reversed { width } => width as usize,
            Self::Integer { packed, .. } => packed as usize,
            Self::Float { packed, .. } => packed.size(),
        }
    }

    /// Bytes of the value in memory.
    pub const fn memory_size(self) -> usize {
        match self {
            Self::Same { width } | Self::Reversed { width } => width as usize,
            Self::Integer { memory, .. } => memory as usize,
            Self::Float { memory, .. } => memory.size(),
        }
    }

    /// Whether each byte of the stream corresponds to one byte of memory.
    pub(crate) const fn is_bytewise(self) -> bool {
        matches!(self, Self::Same { .. } | Self::Reversed { .. })
    }

    /// The byte of the value in memory that corresponds to a byte of it in the stream.
    pub(crate) const fn byte(self, index: usize) -> usize {
        match self {
            Self::Reversed { width } => width as usize - 1 - index,
            _ => index,
        }
    }

    /// Writes to the stream the bytes of a value in memory.
    pub(crate) fn to_packed(self, memory: &[u8], packed: &mut [u8]) -> Result<(), Misfit> {
        match self {
            Self::Same { .. } | Self::Reversed { .. } => self.copy_bytes(memory, packed),
            Self::Integer { signed, order, .. } => {
                resize(signed, memory, ByteOrder::NATIVE, packed, order)?;
            }
            Self::Float { memory: from, packed: to, order } => {
                let bits = load(memory, ByteOrder::NATIVE);
                let bits = float::convert(bits, from, to).map_err(|_| Misfit::Float)?;
                store(bits, packed, order);
            }
        }
        Ok(())
    }

    /// Writes to memory the bytes of a value in the stream.
    pub(crate) fn to_memory(self, packed: &[u8], memory: &mut [u8]) -> Result<(), Misfit> {
        match self {
            Self::Same { .. } | Self::Reversed { .. } => self.copy_bytes(packed, memory),
            Self::Integer { signed, order, .. } => {
                resize(signed, packed, order, memory, ByteOrder::NATIVE)?;
            }
            Self::Float { memory: to, packed: from, order } => {
                let bits = float::convert(load(packed, order), from, to);
                store(bits.map_err(|_| Misfit::Float)?, memory, ByteOrder::NATIVE);
            }
        }
        Ok(())
    }

    /// Copies bytes in either direction, because reversing is its own inverse.
    fn copy_bytes(self, from: &[u8], to: &mut [u8]) {
        for (index, to) in to.iter_mut().enumerate() {
            *to = from[self.byte(index)];
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "no basic datatype has more than 32 bytes")]
const fn narrow(bytes: usize) -> u8 {
    bytes as u8
}

/// Converts an integer from one width to another.
fn resize(
    signed: bool,
    from: &[u8],
    from_order: ByteOrder,
    to: &mut [u8],
    to_order: ByteOrder,
) -> Result<(), Misfit> {
    let bits = load(from, from_order);
    let [unused, spare] = [from.len(), to.len()].map(|bytes| 8 * (WIDEST - bytes));
    let value = if signed {
        (bits << unused).cast_signed() >> unused
    } else {
        // At most 8 bytes, so there is a sign that is not set.
        bits.cast_signed()
    };
    let kept = value.cast_unsigned() << spare;
    let back = if signed { kept.cast_signed() >> spare } else { (kept >> spare).cast_signed() };
    if back != value {
        return Err(Misfit::Integer(value));
    }
    store(value.cast_unsigned(), to, to_order);
    Ok(())
}

/// A number of at most 16 bytes.
fn load(bytes: &[u8], order: ByteOrder) -> u128 {
    let mut all = [0; WIDEST];
    match order {
        ByteOrder::Little => {
            all[..bytes.len()].copy_from_slice(bytes);
            u128::from_le_bytes(all)
        }
        ByteOrder::Big => {
            all[WIDEST - bytes.len()..].copy_from_slice(bytes);
            u128::from_be_bytes(all)
        }
    }
}

/// Writes the low bytes of a number.
fn store(bits: u128, bytes: &mut [u8], order: ByteOrder) {
    let len = bytes.len();
    match order {
        ByteOrder::Little => bytes.copy_from_slice(&bits.to_le_bytes()[..len]),
        ByteOrder::Big => bytes.copy_from_slice(&bits.to_be_bytes()[WIDEST - len..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(form: Form, memory: &[u8]) -> Result<Vec<u8>, Misfit> {
        let mut packed = vec![0; form.packed_size()];
        form.to_packed(memory, &mut packed).map(|()| packed)
    }

    #[test]
    fn integers_change_their_width_or_are_refused() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for signed in [true, false] {
                let narrow = Form::Integer { signed, memory: 8, packed: 4, order };
                let wide = Form::Integer { signed, memory: 4, packed: 8, order };
                for value in [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 32, -1, -1 << 31] {
                    let value: i64 = value;
                    let fits = if signed {
                        i32::try_from(value).is_ok()
                    } else {
                        u32::try_from(value.cast_unsigned()).is_ok()
                    };
                    let result = packed(narrow, &value.to_ne_bytes());
                    if !fits {
                        let shown =
                            if signed { value.into() } else { value.cast_unsigned().into() };
                        assert_eq!(result, Err(Misfit::Integer(shown)));
                        continue;
                    }
                    let bytes = result.unwrap();
                    let low = (value.cast_unsigned() & 0xffff_ffff).try_into().unwrap_or(0_u32);
                    let expected = match order {
                        ByteOrder::Little => low.to_le_bytes(),
                        ByteOrder::Big => low.to_be_bytes(),
                    };
                    assert_eq!(bytes, expected);
                    let mut back = [0; 8];
                    narrow.to_memory(&bytes, &mut back).unwrap();
                    assert_eq!(i64::from_ne_bytes(back), value);
                    let eight = packed(wide, &low.to_ne_bytes()).unwrap();
                    let mut four = [0; 4];
                    wide.to_memory(&eight, &mut four).unwrap();
                    assert_eq!(u32::from_ne_bytes(four), low);
                }
            }
        }
    }

    #[test]
    fn every_basic_datatype_has_a_form_in_external32() {
        for &basic in Basic::ALL {
            let (form, parts) = Form::of(basic, Architecture::EXTERNAL32).unwrap();
            let parts = usize::from(parts);
            assert_eq!(form.packed_size() * parts, basic.external32_size(), "{basic}");
            assert_eq!(form.memory_size() * parts, basic.size(), "{basic}");
            let (native, _) = Form::of(basic, Architecture::HOST).unwrap();
            assert!(matches!(native, Form::Same { .. }), "{basic}");
        }
    }
}
