//! The types of records that frames of a file can hold.

use std::collections::VecDeque;
use std::rc::Rc;

use dtype_message::{Error, Header, Schema};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Representation, Type};

use crate::failure::Failure;
use crate::input::Given;
use crate::records::Values;
use crate::shape::Shape;
use dtype_text::declaration::Message;
use dtype_text::notation::{FieldNames, Parsed, print};

/// The maximum number of types from the file to remember, and of their bytes in the file. In memory, they take many times as
/// much. The last one is remembered whatever its length.
const MAX_TYPES: usize = 16;
const MAX_BYTES: usize = 1 << 18;

/// A type of records.
pub(super) struct Known {
    parsed: Parsed,
    prepared: Option<Prepared>,
    /// Whether an argument gave the type.
    is_given: bool,
    /// The kind of message of the type, if it is known.
    message: Option<Message>,
}

/// What is needed to print records of a type. It can take far more memory than the type.
struct Prepared {
    order: ByteOrder,
    head: Option<Records>,
    records: Records,
}

/// What is needed to print the head of a message, or its records.
pub(super) struct Records {
    ty: Type,
    pub(super) shape: Rc<Shape>,
    values: Values,
}

impl Records {
    fn new(parsed: &Parsed, representation: Representation) -> Result<Self, Failure> {
        let shape = Shape::of(parsed);
        let values = Values::packed(&shape, representation)?;
        Ok(Self { ty: parsed.ty.clone(), shape, values })
    }

    /// Packed bytes of a record.
    pub(super) fn size(&self) -> u64 {
        self.ty.size()
    }

    /// The values of a packed record.
    pub(super) fn values<'a>(
        &'a mut self,
        record: &'a [u8],
    ) -> Result<&'a [u8], dtype_runtime::Error> {
        self.values.of(&self.ty, record, 0)
    }
}

impl Known {
    fn new(parsed: Parsed, is_given: bool) -> Self {
        Self { parsed, prepared: None, is_given, message: None }
    }

    fn given(given: Given) -> Vec<Self> {
        match given {
            Given::Type(parsed) => vec![Self::new(*parsed, true)],
            Given::Messages(messages) => {
                let known = messages.into_iter().map(|(message, parsed)| Self {
                    message: Some(message),
                    ..Self::new(parsed, true)
                });
                known.collect()
            }
        }
    }

    /// Prepares the type for records in this byte order only.
    fn prepare(&mut self, order: ByteOrder) -> Result<Ready<'_>, Failure> {
        let prepared = match self.prepared.take() {
            Some(prepared) if prepared.order == order => prepared,
            _ => {
                let representation = match order {
                    _ if order == ByteOrder::NATIVE => Representation::Native,
                    ByteOrder::Little => Representation::LittleEndian,
                    ByteOrder::Big => Representation::BigEndian,
                };
                let part = |parsed| Records::new(parsed, representation);
                let head = self.head().map(part).transpose()?;
                Prepared { order, head, records: part(&self.parsed)? }
            }
        };
        let Prepared { head, records, .. } = self.prepared.insert(prepared);
        let message = self.message.as_ref();
        Ok(Ready { head: head.as_mut(), records, is_given: self.is_given, message })
    }

    /// The type of the record before the others.
    fn head(&self) -> Option<&Parsed> {
        self.message.as_ref().and_then(|message| message.head.as_ref())
    }

    /// Checks whether a frame has this type. If the frame has no signature to compare, the size must match.
    fn fits(&self, header: &Header) -> Result<(), Error> {
        let ty = &self.parsed.ty;
        let Some(head) = self.head() else {
            return match header.check_type(ty) {
                Err(Error::NoSignature { .. }) if header.record_size() == ty.size() => Ok(()),
                other => other,
            };
        };
        match header.check_headed(&head.ty, ty) {
            Err(Error::NoSignature { .. }) if header.count() == 1 => Ok(()),
            other => other,
        }
    }
}

/// A type that is prepared for the records of a frame.
pub(super) struct Ready<'a> {
    /// The record before the others, if there is one.
    pub(super) head: Option<&'a mut Records>,
    pub(super) records: &'a mut Records,
    /// Whether an argument gave the type, and not the file.
    pub(super) is_given: bool,
    /// The kind of message.
    pub(super) message: Option<&'a Message>,
}

/// The types given by arguments, and those found in the file.
pub(super) struct KnownTypes {
    given: Vec<Known>,
    /// The last one first, each with the number of its bytes.
    types: VecDeque<(usize, Known)>,
}

/// The contents of a message that is not records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A marshalled type, in the notation.
    Type(String),
    /// The names and types of a record's fields.
    Schema(String),
}

impl KnownTypes {
    pub(super) fn new(given: Vec<Given>) -> Self {
        Self { given: given.into_iter().flat_map(Known::given).collect(), types: VecDeque::new() }
    }

    /// The kinds of message that were given, with their tags.
    fn messages(&self) -> String {
        let kinds = self.given.iter().filter_map(|given| given.message.as_ref());
        kinds
            .map(|Message { tag, name, .. }| format!("{tag} {name}"))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The type of a frame's records: a given one, for the frame's tag or for all; otherwise the last type in the file that
    /// fits. It is prepared for the records; no other type from the file stays prepared.
    pub(super) fn find(
        &mut self,
        header: &Header,
    ) -> Result<Result<Option<Ready<'_>>, Error>, Failure> {
        let order = header.byte_order();
        let mut refusal = None;
        let is_for =
            |given: &Known| given.message.as_ref().is_none_or(|kind| kind.tag == header.tag());
        let mut candidates = self.given.iter().enumerate().filter(|(_, given)| is_for(given));
        let fitting = candidates.find_map(|(at, given)| match given.fits(header) {
            Ok(()) => Some(at),
            Err(error) => {
                refusal = Some(error);
                None
            }
        });
        if let Some(at) = fitting {
            return self.given[at].prepare(order).map(|ready| Ok(Some(ready)));
        }
        // For a type from the file, the size alone is not enough.
        let has_signature = header.signature_hash().is_some();
        // The size is compared first, because an error would contain the name of the type, which can be long.
        let is_meant = |(_, known): &(usize, Known)| {
            let ty = &known.parsed.ty;
            has_signature && header.record_size() == ty.size() && header.check_type(ty).is_ok()
        };
        let Some(number) = self.types.iter().position(is_meant) else {
            let unknown =
                || Error::UnknownTag { tag: header.tag(), expected: self.messages().into() };
            let refusal = refusal.or_else(|| (!self.given.is_empty()).then(unknown));
            return Ok(refusal.map_or(Ok(None), Err));
        };
        let mut meant = None;
        for (at, (_, known)) in self.types.iter_mut().enumerate() {
            if at == number {
                meant = Some(known);
            } else {
                known.prepared = None;
            }
        }
        // Records of a type that cannot be converted here cannot be printed.
        Ok(Ok(meant.and_then(|known| known.prepare(order).ok())))
    }

    /// The contents of a message, if it is not records. A type is stored.
    pub(super) fn learn(&mut self, bytes: &[u8]) -> Option<Content> {
        if let Ok(ty) = Type::unmarshal(bytes) {
            let content = Content::Type(print(&ty));
            let parsed = Parsed { ty, fields: FieldNames::default() };
            self.types.push_front((bytes.len(), Known::new(parsed, false)));
            let mut sum = 0;
            let kept = self.types.iter().take(MAX_TYPES).take_while(|(len, _)| {
                sum += len;
                sum <= MAX_BYTES
            });
            let kept = kept.count().max(1);
            self.types.truncate(kept);
            return Some(content);
        }
        let schema: Schema = std::str::from_utf8(bytes).ok()?.parse().ok()?;
        schema.fields().next()?;
        Some(Content::Schema(schema.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dtype_message::Framing;
    use dtype_text::notation::parse;

    /// Which types are prepared: the given one, and those from the file, the last one first.
    fn prepared(types: &KnownTypes) -> (bool, Vec<bool>) {
        let is_prepared = |known: &Known| known.prepared.is_some();
        let of_file = types.types.iter().map(|(_, known)| is_prepared(known));
        (types.given.iter().any(is_prepared), of_file.collect())
    }

    fn header(ty: &str) -> Header {
        Header::of_type(&parse(ty).unwrap().ty, 1, Framing::new()).unwrap()
    }

    #[test]
    fn only_types_in_use_are_prepared() {
        let mut types = KnownTypes::new(vec![Given::Type(Box::new(parse("f64").unwrap()))]);
        let texts = ["struct{u8, u16}", "struct{u8, u32}"];
        for text in texts {
            assert!(types.learn(&parse(text).unwrap().ty.marshal()).is_some());
        }
        assert_eq!(prepared(&types), (false, vec![false, false]));
        for (text, expected) in [
            (texts[0], (false, vec![false, true])),
            (texts[1], (false, vec![true, false])),
            ("f64", (true, vec![true, false])),
        ] {
            assert!(types.find(&header(text)).unwrap().unwrap().is_some(), "{text}");
            assert_eq!(prepared(&types), expected, "{text}");
        }
        // A frame of an unknown type changes nothing.
        assert!(types.find(&header("i64")).unwrap().is_err());
        assert_eq!(prepared(&types), (true, vec![true, false]));
    }
    #[test]
    fn long_types_are_not_all_remembered() {
        let mut types = KnownTypes::new(Vec::new());
        let mut learn = |members: usize| {
            let places: Vec<i64> = (0..members as i64).map(|at| at * 3 % 64).collect();
            let all = vec![Type::basic(dtype_runtime::Basic::U8); members];
            let ty = Type::structure(&vec![1; members], &places, &all).unwrap();
            assert!(types.learn(&ty.marshal()).is_some());
            types.types.iter().map(|(len, _)| *len).collect::<Vec<_>>()
        };
        for _ in 0..20 {
            learn(10);
        }
        assert_eq!(learn(10).len(), MAX_TYPES);
        for _ in 0..20 {
            let lens = learn(20_000);
            assert!(lens[0] > 40_000 && lens.iter().sum::<usize>() <= MAX_BYTES, "{lens:?}");
        }
        assert_eq!(learn(150_000).len(), 1);
    }
}
