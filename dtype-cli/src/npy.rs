//! `.npy` files, which contain the dtype of their items.

use std::io::Read;

use dtype_npy::{Dtype, Header, Kind};
use dtype_runtime::representation::ByteOrder;

use crate::failure::Failure;
use dtype_text::declaration;
use dtype_text::notation::{Parsed, Stored};

/// The first bytes of every `.npy` file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// What the header of a file says.
pub(crate) struct Items {
    pub(crate) parsed: Parsed,
    /// The byte order of the values, if a value has one.
    pub(crate) order: Option<ByteOrder>,
    /// The number of items.
    pub(crate) count: u64,
}

/// Reads the header of a file. The reader is then at the first item.
/// `character`: see [`Stored`].
pub(crate) fn items(file: impl Read, character: u64) -> Result<Items, Failure> {
    let refused =
        |reason: &dyn ToString| Failure::Usage(format!("the header: {}", reason.to_string()));
    let header = Header::read(file).map_err(|error| refused(&error))?;
    let count = header.items().map_err(|error| refused(&error))? as u64;
    let mut order = None;
    check(&header.dtype, &mut order).map_err(|reason| refused(&reason))?;
    let stored = Stored { dtype: header.dtype, character, converts: false };
    let parsed = declaration::of_stored(stored).map_err(|error| refused(&error))?;
    Ok(Items { parsed, order, count })
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
