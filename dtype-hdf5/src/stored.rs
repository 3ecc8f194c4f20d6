//! Datatypes as they are stored in a file.

use std::collections::BTreeMap;
use std::fmt;

use dtype_runtime::representation::ByteOrder;
use dtype_runtime::stored::TextEnd;

/// A datatype of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) form: Form,
    /// Bytes of one value.
    pub(crate) size: u64,
}

/// The form of a [`Stored`] datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An integer of which all bits are significant.
    Integer { signed: bool, order: ByteOrder },
    /// A binary floating-point number in the format of IEEE 754.
    Float { order: ByteOrder },
    /// A bit field of which all bits are significant.
    Bits { order: ByteOrder },
    /// Integers with names: the members' numbers, zero-extended. All are different.
    Enumeration { signed: bool, order: ByteOrder, members: BTreeMap<String, u128> },
    /// A string of a fixed length.
    Text { end: TextEnd },
    /// A string of variable length: a pointer.
    VariableText,
    /// A compound.
    Compound(Vec<StoredField>),
    /// An array of at least one axis, the outermost length first.
    Array { lengths: Vec<u64>, element: Box<Stored> },
    /// A class of datatypes that records cannot have.
    Other(&'static str),
}

/// A field of a compound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredField {
    pub(crate) name: String,
    /// Bytes from the start of the compound.
    pub(crate) offset: u64,
    pub(crate) datatype: Stored,
}

impl Stored {
    /// The lengths of all axes, the outermost first, and the element that they repeat: the datatype itself if there are none.
    pub(crate) fn axes(&self) -> (Vec<u64>, &Self) {
        let (mut all, mut item) = (Vec::new(), self);
        while let Form::Array { lengths, element } = &item.form {
            all.extend_from_slice(lengths);
            item = element;
        }
        (all, item)
    }

    /// The offsets of strings of variable length in an item, in ascending order. Everything must lie within the item.
    pub(crate) fn texts(&self) -> Vec<usize> {
        let bytes = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let mut all = Vec::new();
        match &self.form {
            Form::VariableText => all.push(0),
            Form::Compound(fields) => {
                for field in fields {
                    let inner = field.datatype.texts();
                    all.extend(
                        inner.iter().map(|place| bytes(field.offset).saturating_add(*place)),
                    );
                }
                all.sort_unstable();
            }
            Form::Array { element, .. } => {
                let inner = element.texts();
                let starts = (0..bytes(self.size)).step_by(bytes(element.size).max(1));
                for start in starts.filter(|_| !inner.is_empty()) {
                    all.extend(inner.iter().map(|place| start + place));
                }
            }
            _ => {}
        }
        all
    }

    /// The byte order, if this is a complex number as h5py and this crate write it: a compound of the floats `r` and `i`.
    pub(crate) fn complex(&self) -> Option<ByteOrder> {
        let Form::Compound(parts) = &self.form else { return None };
        let [real, imaginary] = &**parts else { return None };
        let is_complex = (&*real.name, &*imaginary.name) == ("r", "i")
            && real.datatype == imaginary.datatype
            && (real.offset, imaginary.offset) == (0, real.datatype.size)
            && self.size == 2 * real.datatype.size;
        match real.datatype.form {
            Form::Float { order } if is_complex => Some(order),
            _ => None,
        }
    }

    /// Whether this is an enumeration of `FALSE` and `TRUE` in one byte, as h5py and this crate write truth values.
    pub(crate) fn is_bool(&self) -> bool {
        match &self.form {
            Form::Enumeration { members, .. } => {
                self.size == 1 && members.keys().map(|name| &**name).eq(["FALSE", "TRUE"])
            }
            _ => false,
        }
    }

    /// The byte order of a number of several bytes.
    pub(crate) fn order(&self) -> Option<ByteOrder> {
        match self.form {
            Form::Integer { order, .. }
            | Form::Enumeration { order, .. }
            | Form::Bits { order }
            | Form::Float { order } => (self.size > 1).then_some(order),
            _ => self.complex(),
        }
    }
}

impl fmt::Display for Stored {
    /// The type as Rust names it, or a few words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = 8 * u128::from(self.size);
        match &self.form {
            Form::Integer { signed: true, .. } => write!(f, "i{bits}"),
            Form::Integer { signed: false, .. } => write!(f, "u{bits}"),
            Form::Float { .. } => write!(f, "f{bits}"),
            Form::Bits { .. } => write!(f, "a bit field of {bits} bits"),
            Form::Enumeration { .. } if self.is_bool() => f.write_str("bool"),
            Form::Enumeration { signed: true, .. } => write!(f, "an enumeration of i{bits}"),
            Form::Enumeration { signed: false, .. } => write!(f, "an enumeration of u{bits}"),
            Form::Text { .. } if self.size == 1 => f.write_str("a string of 1 byte"),
            Form::VariableText => f.write_str("a string of variable length"),
            Form::Text { .. } => write!(f, "a string of {} bytes", self.size),
            Form::Compound(_) => match self.complex() {
                Some(_) => write!(f, "a complex number of {} bytes", self.size),
                None => f.write_str("a compound"),
            },
            Form::Array { lengths, element } => write!(f, "an array {lengths:?} of {element}"),
            Form::Other(what) => f.write_str(what),
        }
    }
}
