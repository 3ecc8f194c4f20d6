//! The format of values in a packed stream: this machine's, another machine's, or a standard's.

mod architecture;
mod float;
mod form;

pub use architecture::{Architecture, ByteOrder, Widths};
pub use float::same_float;
pub use form::Form;
pub(crate) use form::{Misfit, WIDEST};

pub use crate::basic::LongDouble;

/// How the values in a packed stream are represented (MPI-4.1 section 14.5).
///
/// ```
/// use dtype_runtime::{Packer, Representation};
/// let mut stream = Packer::new(&[1_i32, -2]).with_representation(Representation::External32)?;
/// let mut packed = [0; 8];
/// stream.pack(&mut packed)?;
/// assert_eq!(packed, [0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Representation {
    /// As in this machine's memory.
    #[default]
    Native,
    /// MPI's `external32`: big-endian, with widths that are the same on every machine (MPI-4.1 section
    /// 14.5.2). A value that does not fit, such as a `long` of more than 32 bits, is an error.
    External32,
    /// This machine's widths, little-endian.
    LittleEndian,
    /// This machine's widths, big-endian.
    BigEndian,
    /// As on another machine: `remoteArch` of Open MPI's `opal_convertor_t`.
    Foreign(Architecture),
}

impl Representation {
    /// The machine whose values have this representation.
    ///
    /// ```
    /// use dtype_runtime::representation::ByteOrder;
    /// use dtype_runtime::{Basic, Representation};
    /// let external32 = Representation::External32.architecture();
    /// assert_eq!(external32.byte_order(), ByteOrder::Big);
    /// assert_eq!(external32.size_of(Basic::Long), 4);
    /// ```
    pub const fn architecture(self) -> Architecture {
        match self {
            Self::Native => Architecture::HOST,
            Self::External32 => Architecture::EXTERNAL32,
            Self::LittleEndian => Architecture::HOST.with_byte_order(ByteOrder::Little),
            Self::BigEndian => Architecture::HOST.with_byte_order(ByteOrder::Big),
            Self::Foreign(architecture) => architecture,
        }
    }
}

/// This machine's widths in this byte order.
impl From<ByteOrder> for Representation {
    fn from(order: ByteOrder) -> Self {
        match order {
            ByteOrder::Little => Self::LittleEndian,
            ByteOrder::Big => Self::BigEndian,
        }
    }
}
