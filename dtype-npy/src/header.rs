//! The header: magic, version, and a Python dict with the dtype and the shape.
//!
//! ```text
//! \x93NUMPY  1 0  118 0  {'descr': [('id', '<u4'), …], 'fortran_order': False, 'shape': (3,), }      ⏎
//! magic      version  length in bytes of what follows: 2 bytes in version 1.0, 4 later; little-endian
//! ```
//!
//! Blanks pad the header, so that the data begin at a multiple of 64 bytes. Versions 1.0 and 2.0 are Latin-1, version 3.0 is
//! UTF-8.

use core::str;
use std::io::Read;

use crate::descr;
use crate::dtype::Dtype;
use crate::error::NpyError;
use crate::literal::{self, Kind, Value};
use crate::repr::Tuple;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The length in bytes of the longest header that is read. A dtype with ten thousand fields takes a quarter of it.
pub(crate) const MAX_HEADER: u64 = 1 << 20;

/// Data begin at a multiple of this number of bytes.
const ALIGNMENT: usize = 64;

/// The number of digits that NumPy leaves room for, so that a file can grow in place.
const DIGITS: usize = 21;

/// The header of a `.npy` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Major and minor version of the format.
    pub version: (u8, u8),
    /// The dtype of an item.
    pub dtype: Dtype,
    /// Whether the first index changes fastest.
    pub fortran_order: bool,
    /// Items along each axis, the outermost first. Without axes, there is one item.
    pub shape: Vec<u64>,
}

impl Header {
    /// Reads the header of the next array. The reader is then at the first byte of the data.
    ///
    /// # Errors
    ///
    /// [`NpyError`]: whatever is wrong with the header. Fortran order is not an error here.
    pub fn read(from: impl Read) -> Result<Self, NpyError> {
        Self::read_next(from)?.ok_or(NpyError::Magic { found: Vec::new() })
    }

    /// As [`read`](Self::read), in a stream of arrays: `None` if it has ended.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read). A stream that ends inside a header is an error.
    pub fn read_next(mut from: impl Read) -> Result<Option<Self>, NpyError> {
        let mut start = [0; 8];
        let found = fill(&mut from, &mut start)?;
        if found == 0 {
            return Ok(None);
        }
        let magic = &start[..found.min(MAGIC.len())];
        if magic != MAGIC {
            return Err(NpyError::Magic { found: magic.to_vec() });
        }
        let truncated = |expected: usize, actual: usize| NpyError::Truncated {
            expected: expected as u64,
            actual: actual as u64,
        };
        if found < start.len() {
            return Err(truncated(start.len(), found));
        }
        let [.., major, minor] = start;
        let width = match (major, minor) {
            (1, 0) => 2,
            (2 | 3, 0) => 4,
            _ => return Err(NpyError::Version { major, minor }),
        };
        let mut length = [0; 4];
        let found = fill(&mut from, &mut length[..width])?;
        if found < width {
            return Err(truncated(start.len() + width, start.len() + found));
        }
        let length = u32::from_le_bytes(length);
        if u64::from(length) > MAX_HEADER {
            return Err(NpyError::HeaderLength { length: length.into(), limit: MAX_HEADER });
        }
        let mut text = Vec::new();
        from.take(length.into()).read_to_end(&mut text)?;
        let before = start.len() + width;
        if text.len() < length as usize {
            return Err(truncated(before + length as usize, before + text.len()));
        }
        let text = if major == 3 {
            String::from_utf8(text).map_err(|error| NpyError::Encoding {
                valid_up_to: error.utf8_error().valid_up_to(),
            })?
        } else {
            text.into_iter().map(char::from).collect()
        };
        Self::parse(&text, (major, minor)).map(Some)
    }

    fn parse(text: &str, version: (u8, u8)) -> Result<Self, NpyError> {
        let value = literal(text, version.0 == 3)?;
        let wrong = |place: &str, expected, value: &Value| NpyError::Value {
            place: place.to_string(),
            expected,
            found: value.describe().to_string(),
        };
        let Kind::Dict(items) = &value.kind else {
            return Err(wrong("the header", "a dict", &value));
        };
        for (key, _) in items {
            match &key.kind {
                Kind::Text(key) if ["descr", "fortran_order", "shape"].contains(&key.as_str()) => {}
                Kind::Text(key) => return Err(NpyError::UnknownKey { key: key.clone() }),
                _ => return Err(wrong("a key of the header", "a string", key)),
            }
        }
        let get = |wanted: &'static str| {
            let mut all = items
                .iter()
                .filter(|(key, _)| matches!(&key.kind, Kind::Text(key) if key == wanted));
            match (all.next(), all.count()) {
                (Some((_, value)), 0) => Ok(value),
                (first, more) => {
                    Err(NpyError::Key { key: wanted, found: usize::from(first.is_some()) + more })
                }
            }
        };
        let dtype = descr::read(get("descr")?)?;
        let order = get("fortran_order")?;
        let Kind::Bool(fortran_order) = order.kind else {
            return Err(wrong("`fortran_order`", "`True` or `False`", order));
        };
        let shape = get("shape")?;
        let Kind::Tuple(lengths) = &shape.kind else {
            return Err(wrong("`shape`", "a tuple of lengths", shape));
        };
        let length = |value: &Value| match value.kind {
            Kind::Number(length) => {
                u64::try_from(length).map_err(|_| wrong("a length in `shape`", "a number", value))
            }
            _ => Err(wrong("a length in `shape`", "a number", value)),
        };
        let shape = lengths.iter().map(length).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { version, dtype, fortran_order, shape })
    }

    /// The number of items.
    ///
    /// # Errors
    ///
    /// [`NpyError::TooLarge`] if the items have more bytes than memory can address.
    pub fn items(&self) -> Result<usize, NpyError> {
        let too_large =
            || NpyError::TooLarge { shape: self.shape.clone(), itemsize: self.dtype.itemsize() };
        // With an axis of length 0 there are no items, however long the other axes are.
        if self.shape.contains(&0) {
            return Ok(0);
        }
        let items = self.shape.iter().try_fold(1_u64, |items, length| items.checked_mul(*length));
        let items = items.ok_or_else(too_large)?;
        let bytes = items.checked_mul(self.dtype.itemsize()).ok_or_else(too_large)?;
        match (isize::try_from(bytes), usize::try_from(items)) {
            (Ok(_), Ok(items)) => Ok(items),
            _ => Err(too_large()),
        }
    }

    /// The header's bytes as NumPy would write them, in the first version that can hold it. The field
    /// [`version`](Self::version) is ignored. NumPy only writes fields that are in the order of memory; here, they are sorted
    /// into that order.
    ///
    /// Since NumPy 1.24, `np.load` reads a header of more than 10 000 bytes only with the argument `max_header_size=1 << 20`.
    ///
    /// # Errors
    ///
    /// For dtypes that could not be read again:
    ///
    /// - [`NpyError::Overlap`] if fields overlap;
    /// - [`NpyError::Value`] if a field has no name, or has that of another field;
    /// - [`NpyError::Header`] if structures nest some thirty levels deep;
    /// - [`NpyError::HeaderLength`] for a header of more than a mebibyte.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NpyError> {
        descr::check(&self.dtype)?;
        let order = if self.fortran_order { "True" } else { "False" };
        let Self { dtype, shape, .. } = self;
        let shape_text = Tuple(shape);
        let mut text =
            format!("{{'descr': {dtype}, 'fortran_order': {order}, 'shape': {shape_text}, }}");
        let grows = if self.fortran_order { shape.last() } else { shape.first() };
        if let Some(length) = grows {
            let spare = DIGITS.saturating_sub(length.to_string().len());
            text.extend(core::iter::repeat_n(' ', spare));
        }
        let latin1: Option<Vec<u8>> =
            text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
        // Structures can nest deeper than the reader accepts brackets.
        literal(&text, latin1.is_none())?;
        let (major, mut bytes) = match latin1 {
            Some(bytes) if u16::try_from(padded(bytes.len(), 2)).is_ok() => (1, bytes),
            Some(bytes) => (2, bytes),
            None => (3, text.into_bytes()),
        };
        let width = if major == 1 { 2 } else { 4 };
        let length = padded(bytes.len(), width);
        if length as u64 > MAX_HEADER {
            return Err(NpyError::HeaderLength { length: length as u64, limit: MAX_HEADER });
        }
        bytes.resize(length - 1, b' ');
        let mut out = [&MAGIC[..], &[major, 0]].concat();
        // The length is within the limit, so it fits.
        out.extend_from_slice(&(length as u64).to_le_bytes()[..width]);
        out.extend_from_slice(&bytes);
        out.push(b'\n');
        Ok(out)
    }
}

/// The value of a header's text, which is Latin-1 or UTF-8 in the file.
fn literal(text: &str, is_utf8: bool) -> Result<Value, NpyError> {
    literal::read(text, true).map_err(|literal::Unreadable { span, expected }| {
        // A character of Latin-1 is one byte in the file, and may be two in the text.
        let in_latin1 = |offset| text.get(..offset).map_or(offset, |text| text.chars().count());
        let offset = if is_utf8 { span.start } else { in_latin1(span.start) };
        NpyError::Header { offset, expected }
    })
}

/// The length of a header of `len` bytes with blanks and a line end, if the field for its length has `width` bytes. At least
/// one blank follows, as in NumPy.
fn padded(len: usize, width: usize) -> usize {
    let before = MAGIC.len() + 2 + width;
    let end = before + len + 1;
    len + 1 + (ALIGNMENT - end % ALIGNMENT)
}

/// Reads until the buffer is full or the reader ends, and returns the number of bytes.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> Result<usize, NpyError> {
    let mut found = 0;
    while found < buffer.len() {
        match from.read(&mut buffer[found..]) {
            Ok(0) => break,
            // A reader may return more than it was allowed to, so the number is not trusted.
            Ok(number) => found = found.saturating_add(number).min(buffer.len()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}
