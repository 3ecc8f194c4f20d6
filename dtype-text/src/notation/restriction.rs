//! Which values a basic datatype has in a type.

use dtype_runtime::basic::Validity;
use dtype_runtime::typemap::Node;
use dtype_runtime::{Basic, TypeMap};

/// The values of a type that has fewer than its basic datatype: an enum, a number that is not zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restriction {
    /// The type, for messages: `NonZero<u8>`.
    pub name: String,
    /// Its values.
    pub values: Values,
}

/// The values that a type has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// Those that the runtime accepts.
    Valid(Validity),
    /// The variants of an enum with their bits, zero-extended, in ascending order of the bits.
    Variants(Vec<(String, u128)>),
}

impl Restriction {
    /// A type with these values.
    pub fn new(name: impl Into<String>, validity: Validity) -> Self {
        Self { name: name.into(), values: Values::Valid(validity) }
    }

    /// An enum with these variants.
    pub fn variants(name: impl Into<String>, mut variants: Vec<(String, u128)>) -> Self {
        variants.sort_by_key(|(_, bits)| *bits);
        Self { name: name.into(), values: Values::Variants(variants) }
    }

    /// The values that the runtime requires of a basic datatype; `None` if any bits are a value.
    pub fn of_basic(basic: Basic) -> Option<Self> {
        match *TypeMap::basic(basic.canonical()).node() {
            Node::Basic { validity, name, .. } if !validity.is_any() => {
                Some(Self::new(name, validity))
            }
            _ => None,
        }
    }

    /// Whether these bits, zero-extended, are a value.
    pub fn accepts(&self, bits: u128) -> bool {
        match &self.values {
            Values::Valid(validity) => validity.accepts(bits),
            Values::Variants(all) => all.binary_search_by_key(&bits, |(_, bits)| *bits).is_ok(),
        }
    }
}
