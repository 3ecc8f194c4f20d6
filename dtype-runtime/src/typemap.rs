//! The type map as a constant: the tree that a derive emits.
//!
//! A [`TypeMap`] mirrors the Rust type: a leaf for a basic datatype, an array node for `[T; N]`, a
//! structure node for structs and tuples. It never expands an array, so `[T; 1_000_000]` is as
//! small as `[T; 2]`, and every query here is a `const fn`.
//!
//! Displacements are offsets in the Rust value, read from the compiler. The fields are in the order of their declaration, which
//! is the order of the packed stream, whatever memory layout the compiler has chosen.

mod meaning;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::basic::{Basic, Discriminants, Validity};
use crate::error::Error;
use crate::representation::ByteOrder;
use crate::signature::Fingerprint;

pub use meaning::{Meaning, TimeUnit};

/// How deep datatypes may nest, so that no walk over one can exhaust the stack. A structure in a type
/// map counts twice, because it may become a `structure` in a `resized`.
pub const MAX_DEPTH: u32 = 255;

/// The greatest magnitude in bytes of a bound set by an attribute: no object is larger, and the sum
/// of two such values and an object's size still fits 64 bits.
const MAX_BOUND: i64 = 1 << 61;

/// The type map of a Rust type: which bytes of a value are data, of which types, and in which order.
#[derive(Clone, Copy, Debug)]
pub struct TypeMap {
    node: Node,
    /// Packed bytes.
    size: usize,
    /// `size_of` the Rust type.
    stride: usize,
    fingerprint: Fingerprint,
    restricted: bool,
    check: Option<Check>,
    meaning: Option<Meaning>,
    skips: bool,
    depth: u32,
    entries: usize,
}

/// What the packed bytes of a value must fulfil beyond what its leaves demand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    /// An invariant of the value; the error says why it does not hold. The leaves of the bytes must be valid, and so must the
    /// checks of the fields.
    Invariant(unsafe fn(&[u8]) -> Result<(), String>),
    /// A part of fixed capacity, of which a value uses some.
    Content(Content),
}

/// The functions of a type that uses only some of its bytes, such as a text in an array. The others are *spare*: packed bytes
/// may hold anything there, but values in memory hold zeros, so that packing them sends nothing that no value shows.
///
/// Each function takes the packed bytes of one value, whatever they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    /// Whether the bytes are valid and their spare bytes are zeros.
    pub(crate) is_clean: fn(&[u8]) -> bool,
    /// Fails if the bytes are not valid. The path is that of the value; see `typed::validate`.
    pub(crate) check: fn(&[u8], &mut String) -> Result<(), Error>,
    /// Overwrites the spare bytes of valid bytes with zeros.
    pub(crate) clean: fn(&mut [u8]),
}

/// One level of a [`TypeMap`].
#[derive(Clone, Copy, Debug)]
pub enum Node {
    /// A leaf.
    Basic {
        /// The datatype on the wire.
        basic: Basic,
        /// Which of its bit patterns are legal.
        validity: Validity,
        /// The Rust type, for messages.
        name: &'static str,
    },
    /// `count` elements, each at Rust's stride from the one before.
    Array {
        /// Number of elements.
        count: usize,
        /// The element's map.
        element: &'static TypeMap,
    },
    /// A struct or tuple.
    Structure {
        /// The type's name, or the one that `#[dtype(name = "…")]` gave it.
        name: &'static str,
        /// In declaration order.
        fields: &'static [Field],
        /// The bounds that the attributes set.
        markers: Markers,
    },
}

/// A field of a structure node.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    name: &'static str,
    offset: usize,
    size: usize,
    map: Option<&'static TypeMap>,
    default: Option<PackDefault>,
}

/// Packs the value of a field that stored records lack, in a byte order.
pub(crate) type PackDefault = fn(ByteOrder) -> Vec<u8>;

impl Field {
    /// A field at `offset` bytes from the start of the value, described by `map`.
    pub const fn new(name: &'static str, offset: usize, map: &'static TypeMap) -> Self {
        Self { name, offset, size: map.stride, map: Some(map), default: None }
    }

    /// A field of `size` bytes that is not part of the type map.
    pub const fn skipped(name: &'static str, offset: usize, size: usize) -> Self {
        Self { name, offset, size, map: None, default: None }
    }

    /// The same field, with what packs its value for records that lack it: `#[dtype(default)]`.
    #[must_use]
    pub const fn with_default(self, default: fn(ByteOrder) -> Vec<u8>) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The packed value of the field for records that lack it, in a byte order; `None` if there is none.
    pub fn default_in(&self, order: ByteOrder) -> Option<Vec<u8>> {
        self.default.map(|default| default(order))
    }

    /// The name, or the index of a tuple's field.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Bytes from the start of the value.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// `size_of` the field, in bytes.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The field's own map; `None` for a skipped field.
    pub const fn map(&self) -> Option<&'static TypeMap> {
        self.map
    }

    /// The field's map, and the next segment of the path, if the path begins with the field's name.
    fn begins<'p>(&self, path: &'p str) -> Option<(&'static TypeMap, &'p str)> {
        Some((self.map?, next_segment(path.strip_prefix(self.name)?)?))
    }
}

/// The index of the field whose name a path begins with, and the next segment of the path. Names may contain dots and brackets,
/// so this is the field with the longest name for which the path names a part of the type.
pub(crate) fn first_of_path<'p>(fields: &[Field], path: &'p str) -> Option<(usize, &'p str)> {
    let named = fields.iter().enumerate().filter_map(|(index, field)| {
        let (map, next) = field.begins(path)?;
        Some((index, next, (is_part(map, next), field.name.len())))
    });
    named.max_by_key(|(.., rank)| *rank).map(|(index, next, _)| (index, next))
}

/// Whether a path names a part of the type, with or without the indices of arrays.
fn is_part(map: &TypeMap, path: &str) -> bool {
    let is_field = |field: &Field| field.begins(path).is_some_and(|(map, next)| is_part(map, next));
    path.is_empty()
        || match *map.node() {
            Node::Basic { .. } => false,
            Node::Array { element, .. } => {
                let index = path.strip_prefix('[').and_then(|digits| digits.split_once(']'));
                let next = index.map_or(Some(path), |(_, rest)| next_segment(rest));
                next.is_some_and(|next| is_part(element, next))
            }
            Node::Structure { fields, .. } => fields.iter().any(is_field),
        }
}

/// The part of a path after a segment: nothing, the name after a dot, or a bracket; `None` if it is none of these.
pub(crate) fn next_segment(rest: &str) -> Option<&str> {
    match rest.strip_prefix('.') {
        // A dot at the end leads to an empty name, which no field has.
        Some("") => None,
        Some(name) => Some(name),
        None => (rest.is_empty() || rest.starts_with('[')).then_some(rest),
    }
}

/// The bounds that the attributes of a struct set (MPI-4.1 section 5.1.7, and the LB/UB
/// markers of MPI-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Markers {
    lb: Option<i64>,
    ub: Option<i64>,
    resized: Option<(i64, i64)>,
}

impl Markers {
    /// No markers: the bounds are 0 and `size_of` the type.
    pub const NONE: Self = Self { lb: None, ub: None, resized: None };

    /// As `MPI_Type_create_resized` with this lower bound and extent, in bytes.
    ///
    /// # Panics
    ///
    /// When a value is beyond ±2⁶¹ bytes; in a derive that is a compile error.
    #[track_caller]
    pub const fn resized(lb: i64, extent: i64) -> Self {
        assert_bound(lb);
        assert_bound(extent);
        Self { resized: Some((lb, extent)), ..Self::NONE }
    }

    /// With an LB marker at this displacement in bytes.
    ///
    /// # Panics
    ///
    /// When the displacement is beyond ±2⁶¹ bytes; in a derive that is a compile error.
    #[track_caller]
    #[must_use]
    pub const fn with_lb(self, displacement: i64) -> Self {
        assert_bound(displacement);
        Self { lb: Some(displacement), ..self }
    }

    /// With a UB marker at this displacement in bytes.
    ///
    /// # Panics
    ///
    /// When the displacement is beyond ±2⁶¹ bytes; in a derive that is a compile error.
    #[track_caller]
    #[must_use]
    pub const fn with_ub(self, displacement: i64) -> Self {
        assert_bound(displacement);
        Self { ub: Some(displacement), ..self }
    }

    /// The displacement of the LB marker.
    pub const fn lb(&self) -> Option<i64> {
        self.lb
    }

    /// The displacement of the UB marker.
    pub const fn ub(&self) -> Option<i64> {
        self.ub
    }

    /// Lower bound and extent of a resize.
    pub const fn resize(&self) -> Option<(i64, i64)> {
        self.resized
    }
}

#[track_caller]
pub(crate) const fn assert_bound(bytes: i64) {
    assert!(
        bytes >= -MAX_BOUND && bytes <= MAX_BOUND,
        "a bound of more than 2^61 bytes: no object is that large"
    );
}

impl TypeMap {
    /// A leaf that accepts every legal bit pattern of the basic datatype.
    pub const fn basic(basic: Basic) -> Self {
        let validity = match basic {
            Basic::Bool => Validity::Bool,
            Basic::Char => Validity::Char,
            _ => Validity::Any,
        };
        Self::leaf(basic, validity, basic.name())
    }

    /// A leaf that refuses some bit patterns. `name` is the Rust type as messages show it.
    pub const fn restricted(basic: Basic, validity: Validity, name: &'static str) -> Self {
        Self::leaf(basic, validity, name)
    }

    /// The map of a fieldless enum `E` with these discriminants, zero-extended, and the names of
    /// their variants.
    ///
    /// # Panics
    ///
    /// When `E` does not have the size of `basic`, `values` is empty, or there is not a name for
    /// each value; in a derive that is a compile error.
    #[track_caller]
    pub const fn enumeration<E>(
        name: &'static str,
        basic: Basic,
        values: &'static [u128],
        names: &'static [&'static str],
    ) -> Self {
        assert!(
            size_of::<E>() == basic.size(),
            "the enum does not have the size of the integer that its repr names"
        );
        Self::leaf(basic, Validity::Enum(Discriminants::new(values).named(names)), name)
    }

    const fn leaf(basic: Basic, validity: Validity, name: &'static str) -> Self {
        Self {
            node: Node::Basic { basic, validity, name },
            size: basic.size(),
            stride: basic.size(),
            fingerprint: Fingerprint::leaf(basic.canonical().code()),
            restricted: !validity.is_any(),
            check: None,
            meaning: None,
            skips: false,
            depth: 0,
            entries: 1,
        }
    }

    /// The map of an array of `count` elements.
    ///
    /// # Panics
    ///
    /// When the array would be larger than any object, or nests deeper than [`MAX_DEPTH`].
    #[track_caller]
    pub const fn array(element: &'static TypeMap, count: usize) -> Self {
        let Some(stride) = element.stride.checked_mul(count) else {
            panic!("an array larger than any object")
        };
        Self {
            node: Node::Array { count, element },
            // Cannot overflow: an element's data bytes are among its bytes.
            size: element.size * count,
            stride,
            fingerprint: element.fingerprint.repeated(count as u64),
            restricted: element.restricted && count > 0,
            check: None,
            meaning: None,
            skips: element.skips && count > 0,
            depth: deeper(element.depth),
            entries: element.entries.saturating_add(2),
        }
    }

    /// The map of the struct or tuple `S` with these fields, in declaration order.
    ///
    /// # Panics
    ///
    /// When a field reaches past the end of `S`, or the map nests deeper than [`MAX_DEPTH`]; in a
    /// derive that is a compile error.
    #[track_caller]
    pub const fn structure<S>(
        name: &'static str,
        fields: &'static [Field],
        markers: Markers,
    ) -> Self {
        let mut map = Self {
            node: Node::Structure { name, fields, markers },
            size: 0,
            stride: size_of::<S>(),
            fingerprint: Fingerprint::EMPTY,
            restricted: false,
            check: None,
            meaning: None,
            skips: false,
            depth: 0,
            entries: 1,
        };
        let mut i = 0;
        while i < fields.len() {
            match fields[i].map {
                None => map.skips = true,
                Some(field) => {
                    assert!(
                        fields[i].offset <= map.stride
                            && field.stride <= map.stride - fields[i].offset,
                        "a field reaches past the end of its struct"
                    );
                    map.size += field.size;
                    map.fingerprint = map.fingerprint.then(field.fingerprint);
                    map.restricted |= field.restricted;
                    map.skips |= field.skips;
                    map.entries = map.entries.saturating_add(field.entries);
                    let depth = deeper(deeper(field.depth));
                    if depth > map.depth {
                        map.depth = depth;
                    }
                }
            }
            i += 1;
        }
        assert!(map.size <= map.stride, "the fields of a struct overlap");
        map
    }

    /// Adds an invariant to the map: `check` is called with the packed bytes of a value before they are unpacked, and returns
    /// why they are not a value.
    ///
    /// It is called only with bytes whose leaves are valid and whose fields pass their own checks.
    #[must_use]
    pub const fn checked(self, check: unsafe fn(&[u8]) -> Result<(), String>) -> Self {
        Self { check: Some(Check::Invariant(check)), restricted: true, ..self }
    }

    /// The map of values with a meaning of their own.
    pub(crate) const fn meaning_of(self, meaning: Meaning) -> Self {
        Self { meaning: Some(meaning), ..self }
    }

    /// The map of values that use only some of their bytes.
    pub(crate) const fn holding(self, content: Content) -> Self {
        Self { check: Some(Check::Content(content)), restricted: true, ..self }
    }

    /// The meaning of the value as a whole, beyond its fields.
    ///
    /// ```
    /// use dtype_runtime::typemap::Meaning;
    /// use dtype_runtime::{Datatype, FixedStr};
    /// assert_eq!(FixedStr::<8>::TYPE_MAP.meaning(), Some(Meaning::Text));
    /// assert_eq!(u8::TYPE_MAP.meaning(), None);
    /// ```
    pub const fn meaning(&self) -> Option<Meaning> {
        self.meaning
    }

    /// The same map without checks, for memory that may hold any bytes.
    pub(crate) const fn unrestricted(&self) -> Self {
        Self { check: None, restricted: false, ..*self }
    }

    /// The check of this level, not of its fields.
    pub(crate) const fn check(&self) -> Option<Check> {
        self.check
    }

    /// Whether a function is called to check values of this level, not of its fields: an invariant that the leaves do not show.
    pub const fn has_check(&self) -> bool {
        self.check.is_some()
    }

    /// The top level of the tree.
    pub const fn node(&self) -> &Node {
        &self.node
    }

    /// Bytes of one value in the packed stream.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// `size_of` the Rust type in bytes: the distance between neighbours in a slice.
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// Whether some bit patterns of the data bytes are not values, so that unpacking must check them.
    pub const fn is_restricted(&self) -> bool {
        self.restricted
    }

    /// Whether a field was left out of the map, at any depth.
    pub const fn skips_fields(&self) -> bool {
        self.skips
    }

    /// Whether the data bytes are all the bytes of a value.
    pub const fn is_dense(&self) -> bool {
        self.size == self.stride
    }

    /// Whether the packed records are the memory of the values: every byte is data, no field is left out, and each field lies
    /// at its position in the packed record.
    ///
    /// ```
    /// use dtype_runtime::Datatype;
    /// assert!(<[(u16, u16); 3]>::TYPE_MAP.is_packed());
    /// // A byte of padding.
    /// assert!(!<(u16, u8)>::TYPE_MAP.is_packed());
    /// ```
    pub const fn is_packed(&self) -> bool {
        !self.skips && self.is_dense() && self.is_in_order()
    }

    /// Whether each field lies at its position in the packed record. The map must be dense; then so are the maps in it.
    const fn is_in_order(&self) -> bool {
        match *self.node() {
            Node::Basic { .. } => true,
            Node::Array { element, .. } => element.is_in_order(),
            Node::Structure { fields, .. } => {
                let mut position = 0;
                let mut i = 0;
                while i < fields.len() {
                    if let Some(field) = fields[i].map() {
                        if field.size() > 0
                            && (fields[i].offset() != position || !field.is_in_order())
                        {
                            return false;
                        }
                        position += field.size();
                    }
                    i += 1;
                }
                true
            }
        }
    }

    /// The 64-bit hash of the type signature: equal for types with the same basic datatypes in the
    /// same order, however they are nested and laid out. Stable across versions and platforms.
    pub const fn signature_hash(&self) -> u64 {
        self.fingerprint.hash()
    }

    /// Compares a received signature hash, such as a message's, with this map's.
    ///
    /// # Errors
    ///
    /// [`Error::SignatureMismatch`] with both.
    ///
    /// ```
    /// use dtype_runtime::{Datatype, TypeMap};
    /// let map = <(u8, f64)>::TYPE_MAP;
    /// // Another nesting, the same basic datatypes.
    /// let theirs = <((u8, ()), [f64; 1])>::TYPE_MAP.signature_hash();
    /// assert!(map.check_signature_hash(theirs).is_ok());
    /// assert!(map.check_signature_hash(theirs ^ 1).is_err());
    /// ```
    pub const fn check_signature_hash(&self, actual: u64) -> Result<(), Error> {
        check_hash(self.signature_hash(), actual)
    }

    pub(crate) const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// How many entries a description of this map has, with loops not expanded: a measure of the work of a walk over it.
    pub(crate) const fn entries(&self) -> usize {
        self.entries
    }
}

impl fmt::Display for TypeMap {
    /// The type as Rust writes it: `[u8; 4]`, or the name of a struct. An enum has its own name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node {
            Node::Basic { name, .. } | Node::Structure { name, .. } => f.write_str(name),
            Node::Array { count, element } => write!(f, "[{element}; {count}]"),
        }
    }
}

/// `Ok` if the hashes are the same.
pub(crate) const fn check_hash(expected: u64, actual: u64) -> Result<(), Error> {
    if expected == actual { Ok(()) } else { Err(Error::SignatureMismatch { expected, actual }) }
}

#[track_caller]
const fn deeper(depth: u32) -> u32 {
    assert!(depth < MAX_DEPTH, "a type map that nests more than 255 levels deep");
    depth + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structure_sums_up_its_fields() {
        const U8: &TypeMap = &TypeMap::basic(Basic::U8);
        const BOOL: &TypeMap = &TypeMap::basic(Basic::Bool);
        const FLAGS: &TypeMap = &TypeMap::array(BOOL, 3);
        const FIELDS: &[Field] =
            &[Field::new("a", 7, U8), Field::new("b", 0, FLAGS), Field::skipped("c", 4, 2)];
        const MAP: TypeMap = TypeMap::structure::<u64>("S", FIELDS, Markers::NONE);
        const SAME: TypeMap = TypeMap::structure::<u32>(
            "T",
            &[Field::new("x", 0, U8), Field::new("y", 1, FLAGS)],
            Markers::NONE,
        );
        assert_eq!((MAP.size(), MAP.stride()), (4, 8));
        assert_eq!((MAP.to_string(), FLAGS.to_string()), ("S".into(), "[bool; 3]".into()));
        assert!(MAP.is_restricted() && MAP.skips_fields() && !MAP.is_dense());
        assert_eq!(MAP.signature_hash(), SAME.signature_hash());
        assert_ne!(MAP.signature_hash(), FLAGS.signature_hash());
    }

    #[test]
    #[should_panic(expected = "past the end")]
    fn a_field_outside_is_refused() {
        const U32: &TypeMap = &TypeMap::basic(Basic::U32);
        const FIELDS: &[Field] = &[Field::new("a", 2, U32)];
        let _ = TypeMap::structure::<u32>("S", FIELDS, Markers::NONE);
    }

    #[test]
    fn an_empty_array_restricts_nothing() {
        const BOOL: &TypeMap = &TypeMap::basic(Basic::Bool);
        let map = TypeMap::array(BOOL, 0);
        assert!(!map.is_restricted() && map.is_dense() && map.size() == 0);
    }
}
