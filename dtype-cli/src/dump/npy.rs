//! `.npy` files, which contain the dtype of their items.

use std::io::{self, Read};

use dtype_npy::{Dtype, Header, Kind};
use dtype_runtime::Representation;
use dtype_runtime::representation::ByteOrder;

use super::Source;
use crate::declaration;
use crate::failure::Failure;
use crate::forward::Forward;

/// The first bytes of every `.npy` file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The items of an input, if it is an `.npy` file.
pub(super) fn source(input: &mut Forward) -> Result<Option<Source>, Failure> {
    if input.bytes(0, MAGIC.len() as u64)? != MAGIC {
        return Ok(None);
    }
    let refused =
        |reason: &dyn ToString| Failure::Usage(format!("the header: {}", reason.to_string()));
    let mut reader = Reader { input, at: 0 };
    let header = Header::read(&mut reader).map_err(|error| refused(&error))?;
    let origin = reader.at;
    let items = header.items().map_err(|error| refused(&error))?;
    let mut order = None;
    check(&header.dtype, &mut order).map_err(|reason| refused(&reason))?;
    let representation = match order {
        Some(ByteOrder::Big) => Representation::BigEndian,
        Some(ByteOrder::Little) => Representation::LittleEndian,
        None => Representation::Native,
    };
    let parsed = declaration::of_dtype(&header.dtype);
    let parsed = parsed.map_err(|error| Failure::refused("dump", error))?;
    Ok(Some(Source { parsed, origin, representation, items: Some(items as u64) }))
}

/// Checks that all values of an item are of basic datatypes and in one byte order.
fn check(dtype: &Dtype, order: &mut Option<ByteOrder>) -> Result<(), String> {
    match dtype.kind() {
        Kind::Structure { fields } => fields.iter().try_for_each(|field| {
            check(&field.dtype, order).map_err(|reason| format!("field `{}`: {reason}", field.name))
        }),
        Kind::Array { element, .. } => check(element, order),
        Kind::Scalar { letter: 'O', .. } => {
            Err("Python objects are not data: the file has their pickles".into())
        }
        Kind::Scalar { order: own, .. } => {
            if dtype.basic().is_none() {
                return Err(format!("this machine has no number such as {dtype}"));
            }
            match (own, &order) {
                (Some(own), Some(other)) if own != other => {
                    Err("the fields are of different byte orders".into())
                }
                _ => {
                    *order = order.or(*own);
                    Ok(())
                }
            }
        }
        _ => Err(format!("{dtype} is not known")),
    }
}

/// The bytes of an input, from an offset on.
struct Reader<'a> {
    input: &'a mut Forward,
    at: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.bytes(self.at, self.at.saturating_add(out.len() as u64));
        let bytes = bytes.map_err(|failure| io::Error::other(failure.to_string()))?;
        out[..bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}
