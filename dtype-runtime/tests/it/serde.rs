//! serde's traits, through a human-readable format and a binary one.

use std::fmt::Debug;
use std::time::Duration;

use dtype_runtime::types::{Combiner, Contents, Envelope};
use dtype_runtime::{Basic, FixedDuration, FixedStr, FixedVec, Flags, Maybe, Type};
use serde::de::{DeserializeOwned, Visitor, value};
use serde::{Deserialize, Deserializer, Serialize};

/// Serializes and deserializes in both formats. Returns the text and the number of bytes.
fn both<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> (String, usize) {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *value);
    let bytes = postcard::to_allocvec(value).unwrap();
    assert_eq!(postcard::from_bytes::<T>(&bytes).unwrap(), *value);
    for end in 0..bytes.len() {
        assert!(postcard::from_bytes::<T>(&bytes[..end]).is_err());
    }
    (text, bytes.len())
}

fn columns() -> Type {
    Type::vector(4, 1, 6, &Type::basic(Basic::F64)).unwrap()
}

#[test]
fn types() {
    let marshalled = columns().marshal();
    let (text, bytes) = both(&columns());
    assert_eq!(text, "\"d70100010e8204010c00\"");
    assert_eq!(bytes, 1 + marshalled.len());
    let upper: Type = serde_json::from_str(&text.to_uppercase()).unwrap();
    assert_eq!(upper, columns());
    // A type inside another value.
    both(&(1_u8, vec![columns(), Type::of::<(u8, u64)>()], "name".to_owned()));
}

#[test]
fn types_that_are_refused() {
    let message = |text: &str| serde_json::from_str::<Type>(text).unwrap_err().to_string();
    assert!(message("\"d7010\"").contains("two hexadecimal digits for each byte"));
    assert!(message("\"+7\"").contains("hexadecimal digits of a marshalled datatype"));
    assert!(message("\"é\"").contains("hexadecimal digits of a marshalled datatype"));
    assert!(message("7").contains("expected a marshalled datatype"));
    assert!(
        message("\"d70100010e8204010c01\"")
            .starts_with("byte 9 of a marshalled datatype: node 1 does not precede this reference")
    );
    let mut bytes = postcard::to_allocvec(&columns()).unwrap();
    bytes[1] = 0;
    assert!(postcard::from_bytes::<Type>(&bytes).is_err());
}

/// A binary format without bytes, which has only sequences of numbers.
struct Numbers(Vec<u8>);

impl<'de> Deserializer<'de> for Numbers {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        visitor.visit_seq(value::SeqDeserializer::new(self.0.into_iter()))
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[test]
fn numbers_stand_for_bytes_where_there_are_no_others() {
    assert_eq!(Type::deserialize(Numbers(columns().marshal())).unwrap(), columns());
    assert!(Type::deserialize(Numbers(vec![0xD7])).is_err());
}

#[test]
fn basic_datatypes_and_flags() {
    for basic in Basic::ALL {
        assert_eq!(both(basic), (format!("\"{basic}\""), 1));
    }
    assert!(serde_json::from_str::<Basic>("\"f65\"").is_err());
    assert!(postcard::from_bytes::<Basic>(&[0]).is_err());
    for flags in [Flags::NONE, Flags::BASIC, columns().flags(), Flags::UNAVAILABLE | Flags::OVERLAP]
    {
        assert_eq!(both(&flags).0, format!("\"{flags:?}\""));
    }
    assert!(serde_json::from_str::<Flags>("\"DATA | MORE\"").is_err());
    assert!(postcard::from_bytes::<Flags>(&[0x80, 0x04]).is_err());
}

#[test]
fn combiners_envelopes_and_contents() {
    let combiners =
        [Combiner::Named, Combiner::F90Real, Combiner::IndexedBlock, Combiner::ValueIndex];
    for combiner in combiners {
        assert_eq!(both(&combiner), (format!("\"{}\"", combiner.name()), 1));
    }
    let ty = Type::structure(&[1, 2], &[0, 8], &[columns(), Type::basic(Basic::I8)]).unwrap();
    let (envelope, contents): (Envelope, Contents) = (ty.envelope(), ty.contents().unwrap());
    assert_eq!(
        both(&envelope).0,
        "{\"num_integers\":3,\"num_addresses\":2,\"num_large_counts\":0,\"num_datatypes\":2,\
         \"combiner\":\"structure\"}"
    );
    assert_eq!(
        both(&contents).0,
        "{\"combiner\":\"structure\",\"integers\":[2,1,2],\"addresses\":[0,8],\"large_counts\":[],\
         \"datatypes\":[\"d70100010e8204010c00\",\"d701000001\"]}"
    );
}

/// The error for a value that is refused.
fn message<T: DeserializeOwned + Debug>(text: &str) -> String {
    serde_json::from_str::<T>(text).unwrap_err().to_string()
}

#[test]
fn fixed_values_are_serialized_as_their_value() {
    let some = Maybe::some(7_u16);
    assert_eq!(both(&some), both(&Some(7_u16)));
    assert_eq!(both(&Maybe::<u16>::none()), both(&None::<u16>));
    let name: FixedStr<8> = "Aïda\n".parse().unwrap();
    assert_eq!(both(&name), both(&"Aïda\n".to_owned()));
    let list = FixedVec::<_, 4>::from_slice(&[some, Maybe::none()]).unwrap();
    assert_eq!(both(&list), both(&vec![Some(7_u16), None]));
    let duration = Duration::new(3, 999_999_999);
    assert_eq!(both(&FixedDuration::new(duration)), both(&duration));

    assert!(
        message::<FixedStr<3>>("\"Aïda\"")
            .starts_with("invalid length 5, expected a string of at most 3 bytes")
    );
    assert!(
        message::<FixedVec<u8, 2>>("[1, 2, 3]")
            .starts_with("invalid length 3, expected a list of at most 2 items")
    );
    assert!(message::<FixedVec<bool, 2>>("[true, 2]").contains("expected a boolean"));
    assert!(message::<Maybe<bool>>("2").contains("expected a boolean"));
}
