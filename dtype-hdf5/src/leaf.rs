//! Basic datatypes in HDF5.

use std::fmt;

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;
use hdf5_metno::types::{CompoundField, CompoundType, FloatSize, IntSize, TypeDescriptor};

use crate::stored::{Form, Stored};

/// How HDF5 stores the values of a basic datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    Integer {
        size: IntSize,
        signed: bool,
    },
    Float(FloatSize),
    /// Two floats of this size.
    Complex(FloatSize),
    Bool,
    /// A string of one byte.
    Character,
}

impl Leaf {
    /// `None` if HDF5 has no number of this format: integers of 128 bits, `bf16`, `long double`.
    pub(crate) fn from_basic(basic: Basic) -> Option<Self> {
        let (canonical, size) = (basic.canonical(), basic.size());
        let integer = |signed| Some(Self::Integer { size: IntSize::from_int(size)?, signed });
        match (basic.kind(), canonical) {
            (_, Basic::Bool) => Some(Self::Bool),
            (Kind::Integer | Kind::Logical, _) => integer(true),
            (Kind::Character, _) if size == 1 => Some(Self::Character),
            (Kind::Unsigned | Kind::Bytes | Kind::Character, _) => integer(false),
            (_, Basic::F16 | Basic::F32 | Basic::F64) => FloatSize::from_int(size).map(Self::Float),
            (_, Basic::C32 | Basic::C64) => FloatSize::from_int(size / 2).map(Self::Complex),
            _ => None,
        }
    }

    pub(crate) fn descriptor(self) -> TypeDescriptor {
        match self {
            Self::Integer { size, signed: true } => TypeDescriptor::Integer(size),
            Self::Integer { size, signed: false } => TypeDescriptor::Unsigned(size),
            Self::Float(size) => TypeDescriptor::Float(size),
            Self::Complex(size) => {
                let part = |name, offset, index| {
                    CompoundField::new(name, TypeDescriptor::Float(size), offset, index)
                };
                // With the field names that h5py uses.
                let fields = vec![part("r", 0, 0), part("i", size as usize, 1)];
                TypeDescriptor::Compound(CompoundType { fields, size: 2 * size as usize })
            }
            Self::Bool => TypeDescriptor::Boolean,
            Self::Character => TypeDescriptor::FixedAscii(1),
        }
    }

    /// Whether a file's datatype holds such values.
    ///
    /// Values with names are accepted as their integers, and bits as unsigned integers. A truth value may also be a byte,
    /// because C's `hbool_t` is one, or a bit field of a byte, as pandas writes it.
    pub(crate) fn matches(self, stored: &Stored) -> bool {
        let has_size = |size: usize| stored.size == size as u64;
        match (self, &stored.form) {
            (
                Self::Integer { size, signed },
                Form::Integer { signed: found, .. } | Form::Enumeration { signed: found, .. },
            ) => signed == *found && has_size(size as usize),
            (Self::Integer { size, signed: false }, Form::Bits { .. }) => has_size(size as usize),
            (Self::Float(size), Form::Float { .. }) => has_size(size as usize),
            (Self::Complex(size), Form::Compound(_)) => {
                has_size(2 * size as usize) && stored.complex().is_some()
            }
            (Self::Bool, Form::Enumeration { .. }) => stored.is_bool(),
            (Self::Bool, Form::Integer { .. } | Form::Bits { .. })
            | (Self::Character, Form::Text { .. }) => has_size(1),
            _ => false,
        }
    }
}

impl fmt::Display for Leaf {
    /// The name of a file's datatype of this kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { size, signed } => {
                write!(f, "{}{}", if *signed { 'i' } else { 'u' }, 8 * *size as usize)
            }
            Self::Float(size) => write!(f, "f{}", 8 * *size as usize),
            Self::Complex(size) => write!(f, "a complex number of {} bytes", 2 * *size as usize),
            Self::Bool => f.write_str("bool"),
            Self::Character => f.write_str("a string of 1 byte"),
        }
    }
}
