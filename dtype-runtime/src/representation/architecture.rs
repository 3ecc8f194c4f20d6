//! The differences between machines in the representation of values.

use core::fmt;

use crate::basic::{Basic, LongDouble};
use crate::error::Error;

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The least significant byte comes first.
    Little,
    /// The most significant byte comes first.
    Big,
}

impl ByteOrder {
    /// The byte order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };
}

impl fmt::Display for ByteOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Little => "little-endian",
            Self::Big => "big-endian",
        })
    }
}

/// A machine's representation of values: the byte order, and the widths of the types whose width C leaves open.
/// Open MPI's `opal_convertor_t` keeps it as `remoteArch`.
///
/// Both sides can use it: the receiver describes the sender, or the sender the receiver.
///
/// ```
/// use dtype_runtime::representation::{Architecture, ByteOrder};
/// use dtype_runtime::{Basic, Representation, Type};
///
/// // A 32-bit big-endian machine: its `long` has 4 bytes.
/// let remote = Architecture::HOST.with_byte_order(ByteOrder::Big).with_long(4)?.with_address(4)?;
/// let longs = Type::basic(Basic::Long).commit();
/// let received = longs.conversion(Representation::Foreign(remote))?;
/// let mut memory = [0; Basic::Long.size()];
/// received.unpack(&[0xff, 0xff, 0xff, 0xfe], &mut memory, 1)?;
/// assert_eq!(core::ffi::c_long::from_ne_bytes(memory), -2);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "remoteArch")]
pub struct Architecture {
    order: ByteOrder,
    long: u8,
    address: u8,
    wide_char: u8,
    logical: u8,
    long_double: LongDouble,
}

impl Architecture {
    /// This machine.
    #[expect(clippy::cast_possible_truncation, reason = "no basic datatype has more than 32 bytes")]
    pub const HOST: Self = Self {
        order: ByteOrder::NATIVE,
        long: Basic::Long.size() as u8,
        address: Basic::Aint.size() as u8,
        wide_char: Basic::WideChar.size() as u8,
        logical: Basic::Logical.size() as u8,
        long_double: LongDouble::NATIVE,
    };

    /// The machine that MPI's `external32` describes (MPI-4.1 section 14.5.2).
    pub const EXTERNAL32: Self = Self {
        order: ByteOrder::Big,
        long: 4,
        address: 8,
        wide_char: 2,
        logical: 4,
        long_double: LongDouble::Binary128,
    };

    /// The order of the bytes of its numbers.
    pub const fn byte_order(self) -> ByteOrder {
        self.order
    }

    /// The format of its `long double`.
    pub const fn long_double(self) -> LongDouble {
        self.long_double
    }

    /// Sets the byte order.
    #[must_use]
    pub const fn with_byte_order(self, order: ByteOrder) -> Self {
        Self { order, ..self }
    }

    /// Sets the format of `long double`.
    #[must_use]
    pub const fn with_long_double(self, long_double: LongDouble) -> Self {
        Self { long_double, ..self }
    }

    /// Sets the number of bytes of `long` and `unsigned long`.
    ///
    /// # Errors
    ///
    /// [`Error::Architecture`] if the number is not 4 or 8.
    pub fn with_long(self, bytes: usize) -> Result<Self, Error> {
        Ok(Self { long: width("long", bytes, &[4, 8])?, ..self })
    }

    /// Sets the number of bytes of an address (`MPI_AINT`).
    ///
    /// # Errors
    ///
    /// [`Error::Architecture`] if the number is not 4 or 8.
    pub fn with_address(self, bytes: usize) -> Result<Self, Error> {
        Ok(Self { address: width("address", bytes, &[4, 8])?, ..self })
    }

    /// Sets the number of bytes of `wchar_t`.
    ///
    /// # Errors
    ///
    /// [`Error::Architecture`] if the number is not 2 or 4.
    pub fn with_wide_char(self, bytes: usize) -> Result<Self, Error> {
        Ok(Self { wide_char: width("wchar_t", bytes, &[2, 4])?, ..self })
    }

    /// Sets the number of bytes of a Fortran `LOGICAL`.
    ///
    /// # Errors
    ///
    /// [`Error::Architecture`] if the number is not 1, 2, 4 or 8.
    pub fn with_logical(self, bytes: usize) -> Result<Self, Error> {
        Ok(Self { logical: width("LOGICAL", bytes, &[1, 2, 4, 8])?, ..self })
    }

    /// Bytes of one value of a basic datatype in a packed stream of the described machine.
    ///
    /// ```
    /// use dtype_runtime::Basic;
    /// use dtype_runtime::representation::Architecture;
    /// for &basic in Basic::ALL {
    ///     assert_eq!(Architecture::HOST.size_of(basic), basic.size());
    ///     assert_eq!(Architecture::EXTERNAL32.size_of(basic), basic.external32_size());
    /// }
    /// ```
    pub const fn size_of(self, basic: Basic) -> usize {
        match basic {
            Basic::Long | Basic::UnsignedLong => self.long as usize,
            Basic::Aint => self.address as usize,
            Basic::WideChar => self.wide_char as usize,
            Basic::Logical => self.logical as usize,
            Basic::LongDouble => self.long_double.size(),
            Basic::LongDoubleComplex | Basic::CxxLongDoubleComplex => 2 * self.long_double.size(),
            other => other.size(),
        }
    }
}

/// Checks that a width is one of the possible widths.
#[expect(clippy::cast_possible_truncation, reason = "one of a few small numbers")]
fn width(property: &'static str, bytes: usize, possible: &'static [usize]) -> Result<u8, Error> {
    if possible.contains(&bytes) {
        Ok(bytes as u8)
    } else {
        Err(Error::Architecture { property, bytes, possible })
    }
}
