//! Counts elements and bytes, and tells whether displacements ascend.

use super::{Entry, Item, Type, items};
use crate::error::Error;

/// The leading part of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Amount {
    bytes: u64,
    elements: u64,
}

impl Amount {
    /// Adds `other`, `times` times. The sum is part of one instance, whose numbers fit 64 bits.
    fn add(&mut self, times: u64, other: Self) {
        self.bytes += times * other.bytes;
        self.elements += times * other.elements;
    }
}

/// How an amount is measured.
type Measure = fn(Amount) -> u64;

impl Type {
    /// The number of basic datatypes in `bytes` packed bytes of instances of this type, counted over all
    /// instances; `None`, MPI's `MPI_UNDEFINED`, if the bytes end inside one (MPI-4.1 section 5.1.11).
    ///
    /// ```
    /// use dtype_runtime::Type;
    /// let t = Type::of::<(u32, f64)>();
    /// assert_eq!(t.element_count(12 + 4), Some(3));
    /// assert_eq!(t.element_count(12 + 6), None);
    /// ```
    #[doc(alias = "MPI_Get_elements")]
    pub fn element_count(&self, bytes: u64) -> Option<u64> {
        let Some(instances) = bytes.checked_div(self.size()) else {
            return (bytes == 0).then_some(0);
        };
        let rest = bytes % self.size();
        let part = front(self.description().entries(), rest, |amount| amount.bytes);
        // There are at most as many elements as bytes, so their number fits.
        (part.bytes == rest).then(|| instances * self.elements() + part.elements)
    }

    /// The number of whole instances of this type in `bytes` packed bytes; `None` if the bytes end inside one
    /// (MPI-4.1 section 3.2.5).
    ///
    /// ```
    /// use dtype_runtime::Type;
    /// let t = Type::of::<(u32, f64)>();
    /// assert_eq!((t.instance_count(24), t.instance_count(16)), (Some(2), None));
    /// ```
    #[doc(alias = "MPI_Get_count")]
    pub fn instance_count(&self, bytes: u64) -> Option<u64> {
        match bytes.checked_rem(self.size()) {
            None => (bytes == 0).then_some(0),
            Some(rest) => (rest == 0).then(|| bytes / self.size()),
        }
    }

    /// The packed bytes of the first `elements` basic datatypes, over as many instances as needed: the inverse of
    /// [`element_count`](Self::element_count).
    ///
    /// # Errors
    ///
    /// [`Error::CountTooLarge`] when the bytes are more than 64 bits can count, or when the type has no elements
    /// and `elements` is not 0.
    ///
    /// ```
    /// use dtype_runtime::Type;
    /// assert_eq!(Type::of::<(u32, f64)>().element_bytes(3)?, 16);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Status_set_elements")]
    pub fn element_bytes(&self, elements: u64) -> Result<u64, Error> {
        let too_large = || Error::CountTooLarge { count: elements, size: self.size() };
        let Some(instances) = elements.checked_div(self.elements()) else {
            return if elements == 0 { Ok(0) } else { Err(too_large()) };
        };
        let rest = elements % self.elements();
        let part = front(self.description().entries(), rest, |amount| amount.elements);
        let whole = instances.checked_mul(self.size());
        whole.and_then(|whole| whole.checked_add(part.bytes)).ok_or_else(too_large)
    }

    /// Whether the displacements of the type map never decrease, as a file view requires
    /// (MPI-4.1 section 14.3).
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let i8 = Type::basic(Basic::I8);
    /// assert!(Type::vector(4, 1, 2, &i8)?.is_monotonic());
    /// assert!(!Type::vector(4, 1, -2, &i8)?.is_monotonic());
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn is_monotonic(&self) -> bool {
        let description = self.description();
        let Some((_, body)) = description.entries().split_last() else { return true };
        body.is_empty() || ascent(body).is_some()
    }

    /// Whether the data reach beyond the extent, so that neighbouring instances interleave or overlap: rarely
    /// intended, unless the type was resized for this purpose.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(4, 1, 4, &Type::basic(Basic::F64))?;
    /// assert!(!column.exceeds_extent());
    /// assert!(Type::resized(&column, 0, 8)?.exceeds_extent());
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn exceeds_extent(&self) -> bool {
        self.extent() < self.true_extent()
    }
}

/// The longest prefix of a description, in whole elements, whose measure is at most `limit`.
fn front(entries: &[Entry], limit: u64, measure: Measure) -> Amount {
    let mut part = Amount::default();
    for item in items(entries) {
        let left = limit - measure(part);
        match item {
            Item::Elem(elem) => {
                let one = Amount { bytes: elem.basic.size() as u64, elements: 1 };
                let number = elem.count.min(left / measure(one));
                part.add(number, one);
                if number < elem.count {
                    break;
                }
            }
            Item::Loop(head, inside) => {
                let one = front(inside, u64::MAX, measure);
                let number = head.loops.min(left / measure(one));
                part.add(number, one);
                if number < head.loops {
                    part.add(1, front(inside, limit - measure(part), measure));
                    break;
                }
            }
        }
    }
    part
}

/// The first and the last displacement of a body, if the displacements never decrease.
fn ascent(body: &[Entry]) -> Option<(i128, i128)> {
    let mut all: Option<(i128, i128)> = None;
    for item in items(body) {
        let (first, last) = match item {
            Item::Elem(elem) => {
                let first = i128::from(elem.disp);
                ascent_of_copies((first, first), elem.count, elem.extent)?
            }
            Item::Loop(head, inside) => ascent_of_copies(ascent(inside)?, head.loops, head.extent)?,
        };
        all = match all {
            None => Some((first, last)),
            Some((_, before)) if first < before => return None,
            Some((start, _)) => Some((start, last)),
        };
    }
    all
}

/// The first and the last displacement of repetitions, if the displacements never decrease.
fn ascent_of_copies((first, last): (i128, i128), count: u64, stride: i64) -> Option<(i128, i128)> {
    let stride = i128::from(stride);
    let ascending = count <= 1 || first + stride >= last;
    ascending.then(|| (first, last + stride * (i128::from(count) - 1)))
}
