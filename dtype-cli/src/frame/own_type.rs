//! The type of records that a file of messages contains, as a message of its own.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use dtype_message::{Decoded, Header};
use dtype_runtime::Type;

use super::{MAX_TYPE_BYTES, Span};
use crate::dataset::regular;
use crate::failure::{Failure, shown};
use dtype_text::notation::{FieldNames, Parsed, print};
use dtype_text::printable::printable;

/// The type in a file whose first frame is a full one; `None` if the file is something else.
///
/// # Errors
///
/// The file has no type, or several.
pub(crate) fn own_type(path: &Path) -> Result<Option<Parsed>, Failure> {
    let Some(mut file) = regular(path) else { return Ok(None) };
    let failed = |error| Failure::file("read", path, error);
    let mut found: Vec<Type> = Vec::new();
    let mut at = 0;
    while let Some((header, len)) = header(&mut file, at).map_err(failed)? {
        let Span { payload, end, .. } = Span::of(at, &header, len as u64);
        if at == 0 && header.is_compact() {
            return Ok(None);
        }
        if header.payload_len() <= MAX_TYPE_BYTES {
            let bytes = bytes(&mut file, payload, header.payload_len()).map_err(failed)?;
            if let Ok(ty) = Type::unmarshal(&bytes)
                && !found.contains(&ty)
            {
                found.push(ty);
            }
        }
        if found.len() > 1 {
            break;
        }
        at = end;
    }
    let path = shown(path);
    match (at, &*found) {
        (_, [ty]) => Ok(Some(Parsed { ty: ty.clone(), fields: FieldNames::default() })),
        (0, []) => Ok(None),
        (_, []) => Err(Failure::Usage(format!(
            "{path} has messages, and none of them is a type\nhelp: `dtype frame {path}` lists them"
        ))),
        (_, [one, next, ..]) => Err(Failure::Usage(format!(
            "{path} has messages of several types, such as `{}` and `{}`\nhelp: give one of them as a text; \
             `dtype frame {path}` lists them",
            printable(&print(one)),
            printable(&print(next))
        ))),
    }
}

/// The header at a place, and its length, if one is there.
fn header(file: &mut File, at: u64) -> io::Result<Option<(Header, usize)>> {
    // No file is longer, whatever the header before says.
    if i64::try_from(at).is_err() {
        return Ok(None);
    }
    match Header::decode(&bytes(file, at, Header::FULL_LEN as u64)?) {
        Ok(Decoded::Header(header, len)) => Ok(Some((header, len))),
        _ => Ok(None),
    }
}

fn bytes(file: &mut File, at: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}
