//! serde's traits for the values of fixed size. Each is serialized as what it represents: an option, a string, a list, a span
//! of time.

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fields::{FixedDuration, FixedStr, FixedVec, Maybe};

impl<T: Serialize> Serialize for Maybe<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::from)
    }
}

impl Serialize for FixedDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FixedDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Duration::deserialize(deserializer).map(Self::new)
    }
}

impl<const N: usize> Serialize for FixedStr<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for FixedStr<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

struct Text<const N: usize>;

impl<const N: usize> Visitor<'_> for Text<N> {
    type Value = FixedStr<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string of at most {N} bytes")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<FixedStr<N>, E> {
        FixedStr::new(text).map_err(|_| E::invalid_length(text.len(), &self))
    }
}

impl<T: Copy + Serialize, const N: usize> Serialize for FixedVec<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de, T: Copy + Deserialize<'de>, const N: usize> Deserialize<'de> for FixedVec<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(List(PhantomData))
    }
}

struct List<T, const N: usize>(PhantomData<T>);

impl<'de, T: Copy + Deserialize<'de>, const N: usize> Visitor<'de> for List<T, N> {
    type Value = FixedVec<T, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {N} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<FixedVec<T, N>, A::Error> {
        let mut list = FixedVec::new();
        while let Some(item) = items.next_element()? {
            if list.push(item).is_err() {
                return Err(A::Error::invalid_length(N.saturating_add(1), &self));
            }
        }
        Ok(list)
    }
}
