//! The types of records that the frames of a file can hold.

use std::collections::VecDeque;
use std::io::Write;
use std::rc::Rc;

use dtype_runtime::message::{Error, Header, Protection, Schema};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Representation, Type};

use crate::dump::write_json;
use crate::failure::Failure;
use crate::notation::{FieldNames, Parsed, print};
use crate::records::Values;
use crate::shape::Shape;

/// The maximum number of types and of schemas from the file to remember.
const MOST: usize = 16;

/// A type of records.
pub(super) struct Known {
    parsed: Parsed,
    shape: Rc<Shape>,
    little: Values,
    big: Values,
}

impl Known {
    fn new(parsed: Parsed) -> Result<Self, Failure> {
        let shape = Shape::of(&parsed);
        let little = Values::packed(&shape, Representation::LittleEndian)?;
        let big = Values::packed(&shape, Representation::BigEndian)?;
        Ok(Self { parsed, shape, little, big })
    }

    /// The shape of a record.
    pub(super) fn shape(&self) -> &Rc<Shape> {
        &self.shape
    }

    /// The values of a packed record.
    pub(super) fn values<'a>(
        &'a mut self,
        record: &'a [u8],
        order: ByteOrder,
    ) -> Result<&'a [u8], dtype_runtime::Error> {
        let values = match order {
            ByteOrder::Little => &mut self.little,
            ByteOrder::Big => &mut self.big,
        };
        values.of(&self.parsed.ty, record, 0)
    }

    /// Writes a packed record as a line of JSON.
    pub(super) fn write_json(
        &mut self,
        record: &[u8],
        order: ByteOrder,
        frame: u64,
        number: u64,
        out: &mut impl Write,
    ) -> Result<Result<(), dtype_runtime::Error>, Failure> {
        let shape = Rc::clone(&self.shape);
        let mut values = match self.values(record, order) {
            Ok(values) => values,
            Err(error) => return Ok(Err(error)),
        };
        let mut text = format!("{{\"frame\":{frame},\"record\":{number},\"value\":");
        write_json(&shape, &mut values, &mut text, out)?;
        text.push_str("}\n");
        out.write_all(text.as_bytes())?;
        Ok(Ok(()))
    }
}

/// The type that was given, and those that came in the file.
pub(super) struct KnownTypes {
    given: Option<Known>,
    types: VecDeque<Known>,
    schemas: VecDeque<(u64, Schema)>,
}

/// What a message holds besides records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A marshalled type, in the notation.
    Type(String),
    /// The names and types of a record's fields.
    Schema(String),
}

impl KnownTypes {
    pub(super) fn new(given: Option<Parsed>) -> Result<Self, Failure> {
        let given = given.map(Known::new).transpose()?;
        Ok(Self { given, types: VecDeque::new(), schemas: VecDeque::new() })
    }

    /// The type of a frame's records: the one that was given, or the last one in the file that fits.
    pub(super) fn find(&mut self, header: &Header) -> Result<Option<&mut Known>, Error> {
        let mut refusal = None;
        if let Some(given) = &mut self.given {
            match fits(header, &given.parsed.ty) {
                Ok(()) => return Ok(Some(given)),
                Err(error) => refusal = Some(error),
            }
        }
        // A size alone does not say that a type from the file is meant.
        let is_signed = header.signature_hash().is_some();
        let mut types = self.types.iter_mut().filter(|_| is_signed);
        match (types.find(|known| header.check_type(&known.parsed.ty).is_ok()), refusal) {
            (Some(known), _) => Ok(Some(known)),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(None),
        }
    }

    /// Remembers the type or the schema that a message holds, if it holds one.
    pub(super) fn learn(&mut self, bytes: &[u8]) -> Option<Content> {
        if let Ok(ty) = Type::unmarshal(bytes) {
            let content = Content::Type(print(&ty));
            let parsed = Parsed { ty, fields: FieldNames::default() };
            // A type that cannot be converted here has no records that can be printed.
            if let Ok(known) = Known::new(parsed) {
                self.types.push_front(known);
                self.types.truncate(MOST);
            }
            return Some(content);
        }
        let schema: Schema = std::str::from_utf8(bytes).ok()?.parse().ok()?;
        schema.fields().next()?;
        let content = Content::Schema(schema.to_string());
        self.schemas.push_front((schema.hash(), schema));
        self.schemas.truncate(MOST);
        Some(content)
    }
}

/// Whether the records of a frame are of the type that was given. If the frame has no signature to compare, they must
/// have its size.
fn fits(header: &Header, ty: &Type) -> Result<(), Error> {
    match header.check_type(ty) {
        Err(Error::Unprotected { missing: Protection::Signature })
            if header.record_size() == ty.size() =>
        {
            Ok(())
        }
        other => other,
    }
}
