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
/// use dtype_runtime::representation::{Architecture, ByteOrder, Widths};
/// use dtype_runtime::{Basic, Representation, Type};
///
/// // A 32-bit big-endian machine: its `long` has 4 bytes.
/// let widths = Widths { long: 4, address: 4, ..Widths::HOST };
/// let remote = Architecture::from_widths(ByteOrder::Big, widths)?;
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
    widths: Widths,
}

/// The widths of an [`Architecture`], in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Widths {
    /// Of `long` and `unsigned long`: 4 or 8.
    pub long: u8,
    /// Of an address (`MPI_AINT`): 4 or 8.
    pub address: u8,
    /// Of `wchar_t`: 2 or 4.
    pub wide_char: u8,
    /// Of a Fortran `LOGICAL`: 1, 2, 4 or 8.
    pub logical: u8,
    /// The format of `long double`, which determines its width.
    pub long_double: LongDouble,
}

impl Widths {
    /// Those of this machine.
    #[expect(clippy::cast_possible_truncation, reason = "no basic datatype has more than 32 bytes")]
    pub const HOST: Self = Self {
        long: Basic::Long.size() as u8,
        address: Basic::Aint.size() as u8,
        wide_char: Basic::WideChar.size() as u8,
        logical: Basic::Logical.size() as u8,
        long_double: LongDouble::NATIVE,
    };
}

impl Architecture {
    /// This machine.
    pub const HOST: Self = Self { order: ByteOrder::NATIVE, widths: Widths::HOST };

    /// The machine that MPI's `external32` describes (MPI-4.1 section 14.5.2).
    pub const EXTERNAL32: Self = Self {
        order: ByteOrder::Big,
        widths: Widths {
            long: 4,
            address: 8,
            wide_char: 2,
            logical: 4,
            long_double: LongDouble::Binary128,
        },
    };

    /// A machine with this byte order and these widths.
    ///
    /// # Errors
    ///
    /// [`Error::Architecture`] if a width is not one of those that [`Widths`] lists.
    pub fn from_widths(order: ByteOrder, widths: Widths) -> Result<Self, Error> {
        let possible: [(_, _, &[usize]); 4] = [
            ("long", widths.long, &[4, 8]),
            ("address", widths.address, &[4, 8]),
            ("wchar_t", widths.wide_char, &[2, 4]),
            ("LOGICAL", widths.logical, &[1, 2, 4, 8]),
        ];
        for (property, bytes, possible) in possible {
            let bytes = bytes.into();
            if !possible.contains(&bytes) {
                return Err(Error::Architecture { property, bytes, possible });
            }
        }
        Ok(Self { order, widths })
    }

    /// The order of the bytes of its numbers.
    pub const fn byte_order(self) -> ByteOrder {
        self.order
    }

    /// The widths of its types.
    pub const fn widths(self) -> Widths {
        self.widths
    }

    /// The same machine with another byte order.
    pub(crate) const fn with_byte_order(self, order: ByteOrder) -> Self {
        Self { order, ..self }
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
        let Widths { long, address, wide_char, logical, long_double } = self.widths;
        match basic {
            Basic::Long | Basic::UnsignedLong => long as usize,
            Basic::Aint => address as usize,
            Basic::WideChar => wide_char as usize,
            Basic::Logical => logical as usize,
            Basic::LongDouble => long_double.size(),
            Basic::LongDoubleComplex | Basic::CxxLongDoubleComplex => 2 * long_double.size(),
            other => other.size(),
        }
    }
}
