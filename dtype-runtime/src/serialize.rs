//! serde's traits for types and for the values that they decode to.
//!
//! A [`Type`] is serialized as its marshalled bytes. In human-readable formats these are hexadecimal digits, which can be
//! compared, searched for and put into a bug report. A tree of calls would be easier to read, but it would be a second form to
//! verify, in which types that share their parts could be exponentially larger; use [`Type::contents`] for reading. Small
//! values are serialized as their names in human-readable formats and as their numbers in others.

mod values;

use alloc::vec::Vec;
use core::fmt;

use serde::de::{Error as _, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::basic::Basic;
use crate::types::{Flags, Type};

impl Serialize for Type {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.marshal();
        if serializer.is_human_readable() {
            serializer.collect_str(&Hex(&bytes))
        } else {
            serializer.serialize_bytes(&bytes)
        }
    }
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(MarshalledType)
        } else {
            deserializer.deserialize_bytes(MarshalledType)
        }
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

struct MarshalledType;

impl<'de> Visitor<'de> for MarshalledType {
    type Value = Type;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a marshalled datatype")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Type, E> {
        Type::unmarshal(bytes).map_err(E::custom)
    }

    /// For formats without a type for bytes. A length that the format announces reserves no memory.
    fn visit_seq<A: SeqAccess<'de>>(self, mut bytes: A) -> Result<Type, A::Error> {
        let mut all: Vec<u8> = Vec::new();
        while let Some(byte) = bytes.next_element()? {
            all.push(byte);
        }
        self.visit_bytes(&all)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Type, E> {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let (pairs, []) = text.as_bytes().as_chunks() else {
            return Err(E::invalid_length(text.len(), &"two hexadecimal digits for each byte"));
        };
        let byte = |&[high, low]: &[u8; 2]| u8::try_from(16 * digit(high)? + digit(low)?).ok();
        let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
        let bytes = bytes.ok_or_else(|| {
            E::invalid_value(Unexpected::Str(text), &"hexadecimal digits of a marshalled datatype")
        })?;
        self.visit_bytes(&bytes)
    }
}

impl Serialize for Basic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(self.name())
        } else {
            serializer.serialize_u8(self.code())
        }
    }
}

impl<'de> Deserialize<'de> for Basic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let named = |name: &str| Self::ALL.iter().copied().find(|basic| basic.name() == name);
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Name("the name of a basic datatype", named))
        } else {
            let code = u8::deserialize(deserializer)?;
            let unknown = Unexpected::Unsigned(code.into());
            Self::from_code(code)
                .ok_or_else(|| D::Error::invalid_value(unknown, &"the code of a basic datatype"))
        }
    }
}

impl Serialize for Flags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&format_args!("{self:?}"))
        } else {
            serializer.serialize_u16(self.bits())
        }
    }
}

impl<'de> Deserialize<'de> for Flags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Name("names of flags with | between them", Self::parse))
        } else {
            let bits = u16::deserialize(deserializer)?;
            let unknown = Unexpected::Unsigned(bits.into());
            Self::from_bits(bits).ok_or_else(|| D::Error::invalid_value(unknown, &"flags"))
        }
    }
}

/// The name of the expected value, and the function that reads it.
struct Name<F>(&'static str, F);

impl<T, F: FnOnce(&str) -> Option<T>> Visitor<'_> for Name<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<T, E> {
        let Self(expected, read) = self;
        read(name).ok_or_else(|| E::invalid_value(Unexpected::Str(name), &expected))
    }
}
