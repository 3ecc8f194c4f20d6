//! The checks of a packed record, as a constant.

use alloc::string::String;

use crate::basic::{BitRange, Test, Validity};
use crate::plan::{Ranged, RangedList, Tests, costs};
use crate::typemap::{Check, Content, Node, TypeMap};

/// Where a check is repeated in a packed record, in bytes.
#[derive(Clone, Copy)]
struct Places {
    /// The first place.
    position: usize,
    /// Bytes that are checked at each place.
    size: usize,
    /// The numbers of places in an array and in an array of such arrays, and the distances between them.
    inner: Repeated,
    outer: Repeated,
}

#[derive(Clone, Copy)]
struct Repeated {
    count: usize,
    stride: usize,
}

/// A leaf whose bit patterns are not all valid.
#[derive(Clone, Copy)]
pub(super) struct Leaf {
    places: Places,
    validity: &'static Validity,
    /// The test that a value must pass.
    test: Test,
}

/// A test that is a function: the `is_clean` of a content.
#[derive(Clone, Copy)]
pub(super) struct Function {
    places: Places,
    is_clean: fn(&[u8]) -> bool,
}

/// An invariant, which is a function of a value with valid fields.
#[derive(Clone, Copy)]
pub(super) struct Invariant {
    places: Places,
    check: unsafe fn(&[u8]) -> Result<(), String>,
}

/// A list of limited length.
#[derive(Clone, Copy)]
pub(super) struct List<E, const N: usize> {
    all: [E; N],
    len: usize,
}

/// The checks of one record. A type that has more is checked by walking its type map.
pub(super) struct Checks {
    pub(super) leaves: List<Leaf, 96>,
    pub(super) functions: List<Function, 64>,
    /// Those of each level after those of its fields.
    pub(super) invariants: List<Invariant, 16>,
    /// Whether the lists had room for all checks.
    pub(super) is_complete: bool,
}

/// The value in native byte order, zero-extended.
#[inline(always)]
pub(super) fn bits(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    let len = bytes.len().min(16);
    let start = if cfg!(target_endian = "big") { 16 - len } else { 0 };
    all[start..start + len].copy_from_slice(&bytes[..len]);
    u128::from_ne_bytes(all)
}

/// The value as an array, if it has as many bytes: one load. A pattern `[a, b, c, d]` lets the compiler load the bytes one by
/// one.
#[inline(always)]
fn whole<const N: usize>(value: &[u8]) -> Option<[u8; N]> {
    value.try_into().ok()
}

impl Places {
    const fn one(position: usize, size: usize) -> Self {
        let once = Repeated { count: 1, stride: 0 };
        Self { position, size, inner: once, outer: once }
    }

    /// Makes these the places in `count` copies at a distance of `stride`. Returns false for an array of arrays of arrays with
    /// gaps, which has no form here.
    const fn repeat(&mut self, count: usize, stride: usize) -> bool {
        // Elements without data are all the same, and an array may have any number of them: one is checked.
        if stride == 0 {
            return true;
        }
        if self.inner.count == 1 {
            self.inner = Repeated { count, stride };
        } else if self.outer.count != 1 {
            return false;
        } else if self.inner.count * self.inner.stride == stride {
            self.inner.count *= count;
        } else {
            self.outer = Repeated { count, stride };
        }
        true
    }

    /// Whether the values at all places fulfil a condition. The places are constants to the compiler, so a loop remains only
    /// for an array.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn all(&self, record: &[u8], condition: impl Fn(&[u8]) -> bool) -> bool {
        let Self { position, size, inner, outer } = *self;
        let (mut valid, mut o) = (true, 0);
        while o < outer.count {
            let mut i = 0;
            while i < inner.count {
                let at = position + o * outer.stride + i * inner.stride;
                valid &= condition(&record[at..at + size]);
                i += 1;
            }
            o += 1;
        }
        valid
    }
}

impl Leaf {
    /// Whether the record passes the check.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn accepts(&self, record: &[u8]) -> bool {
        self.places.all(record, |value| self.accepts_value(value))
    }

    /// In 32-bit arithmetic for values of at most 32 bits.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "as `BitRange` says")]
    fn accepts_value(&self, value: &[u8]) -> bool {
        let narrow = if let Some([byte]) = whole(value) {
            u32::from(byte)
        } else if let Some(bytes) = whole::<2>(value) {
            u32::from(u16::from_ne_bytes(bytes))
        } else if let Some(bytes) = whole::<4>(value) {
            u32::from_ne_bytes(bytes)
        } else {
            return match whole::<8>(value) {
                Some(bytes) => self.accepts_wide(u64::from_ne_bytes(bytes)),
                None => self.validity.accepts(bits(value)),
            };
        };
        match self.test {
            Test::Range(BitRange { flip, least, most }) => {
                (narrow ^ flip as u32).wrapping_sub(least as u32) <= most as u32
            }
            _ => self.accepts_wide(narrow.into()),
        }
    }

    #[inline(always)]
    fn accepts_wide(&self, value: u64) -> bool {
        match self.test {
            Test::Range(BitRange { flip, least, most }) => {
                (value ^ flip).wrapping_sub(least) <= most
            }
            Test::Set { least, set } => {
                let bit = value.wrapping_sub(least);
                // The shift counts modulo 64.
                bit < u64::BITS.into() && set >> (bit % 64) & 1 == 1
            }
            Test::Other => self.validity.accepts(value.into()),
        }
    }
}

impl Function {
    /// Whether the record passes the test.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn accepts(&self, record: &[u8]) -> bool {
        self.places.all(record, self.is_clean)
    }
}

impl Invariant {
    /// Whether the record passes the check.
    ///
    /// # Safety
    ///
    /// The leaves of the record must be valid, and so must the checks of the fields of this level.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn accepts(&self, record: &[u8]) -> bool {
        // SAFETY: the caller guarantees the leaves and the fields.
        self.places.all(record, |value| unsafe { (self.check)(value) }.is_ok())
    }
}

impl<E: Copy, const N: usize> List<E, N> {
    /// The number of elements.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn get(&self, index: usize) -> &E {
        &self.all[index]
    }

    /// The elements from an index on.
    pub(super) const fn from(&self, index: usize) -> &[E] {
        let all = self.all.split_at(self.len).0;
        if index < all.len() { all.split_at(index).1 } else { &[] }
    }

    /// Adds an element. Returns whether there was room for it.
    const fn push(&mut self, element: E) -> bool {
        if self.len == N {
            return false;
        }
        self.all[self.len] = element;
        self.len += 1;
        true
    }
}

impl Checks {
    /// No checks.
    pub(super) const NONE: Self = {
        let (places, validity) = (Places::one(0, 0), &Validity::Any);
        let leaf = Leaf { places, validity, test: validity.test() };
        let function = Function { places, is_clean: |_| true };
        let invariant = Invariant { places, check: |_| Ok(()) };
        Self {
            leaves: List { all: [leaf; 96], len: 0 },
            functions: List { all: [function; 64], len: 0 },
            invariants: List { all: [invariant; 16], len: 0 },
            is_complete: true,
        }
    };

    pub(super) const fn from_map(map: &'static TypeMap) -> Self {
        let mut checks = Self::NONE;
        checks.add(map, 0);
        if !checks.is_complete {
            (checks.leaves.len, checks.functions.len, checks.invariants.len) = (0, 0, 0);
        }
        checks
    }

    /// The checks of leaves as tests of several records of `size` packed bytes at once, if a few ranges are enough for them.
    pub(super) const fn tests(&self, size: usize) -> Option<Tests> {
        if self.leaves.len == 0 {
            return None;
        }
        let (mut values, mut one_by_one, mut j) = (RangedList::new(), 0, 0);
        while j < self.leaves.len {
            let Leaf { places, validity, test } = self.leaves.all[j];
            let Places { position, size, inner, outer } = places;
            let Some(ranges) = validity.ranges() else { return None };
            let mut i = 0;
            while i < inner.count * outer.count {
                let (o, i_in) = (i / inner.count, i % inner.count);
                let (position, mut k) = (position + o * outer.stride + i_in * inner.stride, 0);
                while k < ranges.all().len() {
                    if !values.push(Ranged { position, size, range: ranges.all()[k] }) {
                        return None;
                    }
                    k += 1;
                }
                i += 1;
            }
            let one = match test {
                Test::Range(BitRange { flip: 0, .. }) => costs::portable::TEST_OF_RANGE,
                Test::Range(_) => costs::portable::TEST_OF_RANGES,
                Test::Set { .. } => costs::portable::TEST_OF_SET,
                Test::Other => costs::portable::TEST_BY_CALL,
            };
            one_by_one += one * inner.count * outer.count;
            j += 1;
        }
        Tests::new(&values, size, one_by_one)
    }

    /// Adds the checks of `map`, whose packed bytes start at `position`.
    const fn add(&mut self, map: &'static TypeMap, position: usize) {
        if !map.is_restricted() {
            return;
        }
        let places = Places::one(position, map.size());
        self.is_complete &= match map.check() {
            // The function checks the leaves, too.
            Some(Check::Content(Content { is_clean, .. })) => {
                self.functions.push(Function { places, is_clean })
            }
            Some(Check::Invariant(check)) => {
                self.add_parts(map, position);
                self.invariants.push(Invariant { places, check })
            }
            None => {
                self.add_parts(map, position);
                true
            }
        };
    }

    /// Adds the checks of the leaf, the elements or the fields of `map`.
    const fn add_parts(&mut self, map: &'static TypeMap, position: usize) {
        match map.node() {
            Node::Basic { basic, validity, .. } => {
                let places = Places::one(position, basic.size());
                let leaf = Leaf { places, validity, test: validity.test() };
                self.is_complete &= self.leaves.push(leaf);
            }
            Node::Array { count, element } => {
                let count = *count;
                let before = [self.leaves.len, self.functions.len, self.invariants.len];
                self.add(element, position);
                let (size, mut i) = (element.size(), before[0]);
                while i < self.leaves.len {
                    let places = &mut self.leaves.all[i].places;
                    self.is_complete &= places.repeat(count, size);
                    i += 1;
                }
                i = before[1];
                while i < self.functions.len {
                    let places = &mut self.functions.all[i].places;
                    self.is_complete &= places.repeat(count, size);
                    i += 1;
                }
                i = before[2];
                while i < self.invariants.len {
                    let places = &mut self.invariants.all[i].places;
                    self.is_complete &= places.repeat(count, size);
                    i += 1;
                }
            }
            Node::Structure { fields, .. } => {
                let (mut position, mut i) = (position, 0);
                while i < fields.len() {
                    if let Some(field) = fields[i].map() {
                        self.add(field, position);
                        position += field.size();
                    }
                    i += 1;
                }
            }
        }
    }
}
