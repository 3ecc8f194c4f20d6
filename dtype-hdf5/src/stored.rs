//! Datatypes as they are stored in a file.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::TimeUnit;
use dtype_stored::{Number, NumberKind, Period, TextEnd, Time};

/// The place of a string of variable length in an item: a pointer, or the index of its text.
pub(crate) type Place = [u8; size_of::<usize>()];

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
    /// A point in time: seconds in four bytes, or as PyTables writes it seconds and microseconds in eight.
    Time { order: ByteOrder },
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

impl StoredField {
    /// The field's bytes in its compound, which has them: [`stored`](crate::library::stored) has checked that.
    pub(crate) fn range(&self) -> Range<usize> {
        let bytes = |number| usize::try_from(number).unwrap_or(usize::MAX);
        bytes(self.offset)..bytes(self.offset.saturating_add(self.datatype.size))
    }
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

    /// Whether an item has strings of variable length.
    pub(crate) fn has_texts(&self) -> bool {
        self.has(&|form| matches!(form, Form::VariableText))
    }

    /// Whether an item has times.
    pub(crate) fn has_times(&self) -> bool {
        self.has(&|form| matches!(form, Form::Time { .. }))
    }

    /// Whether the datatype, or one in it, has a form.
    fn has(&self, is_it: &dyn Fn(&Form) -> bool) -> bool {
        is_it(&self.form)
            || match &self.form {
                Form::Compound(fields) => fields.iter().any(|field| field.datatype.has(is_it)),
                Form::Array { element, .. } => element.has(is_it),
                _ => false,
            }
    }

    /// The same if not written by PyTables, without the times whose form then is not known.
    pub(crate) fn of_others(self) -> Self {
        let Self { form, size } = self;
        let form = match form {
            Form::Time { .. } if size == 8 => Form::Other("a time of no known unit"),
            Form::Compound(fields) => {
                let known = |field: StoredField| StoredField {
                    datatype: field.datatype.of_others(),
                    ..field
                };
                Form::Compound(fields.into_iter().map(known).collect())
            }
            Form::Array { lengths, element } => {
                Form::Array { lengths, element: Box::new(element.of_others()) }
            }
            form => form,
        };
        Self { form, size }
    }

    /// The format of a time.
    pub(crate) fn time(&self) -> Option<Number> {
        let Form::Time { order } = self.form else { return None };
        let (kind, unit) = match self.size {
            4 => (NumberKind::Signed, TimeUnit::Second),
            _ => (NumberKind::SecondsAndMicroseconds, TimeUnit::Microsecond),
        };
        let time = Time { is_point: true, unit: Period::of(unit), has_nat: false };
        Some(Number { kind, size: self.bytes(), order, time: Some(time) })
    }

    /// Calls `each` with the place of each string of variable length in the items.
    pub(crate) fn each_text(&self, items: &mut [u8], each: &mut impl FnMut(&mut Place)) {
        if !self.has_texts() {
            return;
        }
        for item in items.chunks_exact_mut(self.bytes()) {
            match &self.form {
                Form::Compound(fields) => {
                    for field in fields {
                        let bytes = item.get_mut(field.range()).unwrap_or_default();
                        field.datatype.each_text(bytes, each);
                    }
                }
                Form::Array { element, .. } => element.each_text(item, each),
                _ => item.first_chunk_mut().into_iter().for_each(&mut *each),
            }
        }
    }

    /// Bytes of one value, at least 1.
    pub(crate) fn bytes(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX).max(1)
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

    /// Whether this is [`is_bool`](Self::is_bool) with NumPy's numbers: 0 and 1.
    pub(crate) fn is_numpy_bool(&self) -> bool {
        match &self.form {
            Form::Enumeration { members, .. } => {
                self.is_bool() && members.values().copied().eq([0, 1])
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
            Form::Time { .. } if self.size == 4 => f.write_str("a time in seconds"),
            Form::Time { .. } => f.write_str("a time in seconds and microseconds"),
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
