//! The header of an active message.

use std::fmt;

use dtype_runtime::Datatype;

/// Headers up to this length need no memory of their own.
const SHORT: usize = 64;

/// What an active message carries besides its payload: bytes, or one packed record. It may tell the receiver what the payload
/// is.
///
/// Byte slices and records of any [`Datatype`] convert to it wherever one is expected; `&()` is an empty header.
///
/// ```
/// use dtype_ucx::Header;
/// assert_eq!(Header::from(&b"row 7"[..]).as_bytes(), b"row 7");
/// assert_eq!(Header::from(&(7_u8, true)).as_bytes(), [7, 1]);
/// assert!(Header::from(&()).as_bytes().is_empty());
/// ```
#[derive(Clone)]
pub struct Header {
    bytes: Bytes,
}

#[derive(Clone)]
enum Bytes {
    Short { bytes: [u8; SHORT], len: u8 },
    Long(Vec<u8>),
}

impl Header {
    /// The bytes that are sent.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Short { bytes, len } => &bytes[..usize::from(*len)],
            Bytes::Long(bytes) => bytes,
        }
    }
}

impl From<&[u8]> for Header {
    fn from(source: &[u8]) -> Self {
        let bytes = match u8::try_from(source.len()) {
            Ok(len) if source.len() <= SHORT => {
                let mut bytes = [0; SHORT];
                bytes[..source.len()].copy_from_slice(source);
                Bytes::Short { bytes, len }
            }
            _ => Bytes::Long(source.to_vec()),
        };
        Self { bytes }
    }
}

impl<H: Datatype> From<&H> for Header {
    fn from(record: &H) -> Self {
        let record = std::slice::from_ref(record);
        let size = H::TYPE_MAP.size();
        let mut bytes = [0; SHORT];
        let bytes = match (u8::try_from(size), bytes.get_mut(..size)) {
            (Ok(len), Some(room)) => {
                // The result is the length of the packed record.
                let _ = dtype_runtime::pack_into(record, room);
                Bytes::Short { bytes, len }
            }
            _ => Bytes::Long(dtype_runtime::pack(record)),
        };
        Self { bytes }
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header").field("len", &self.as_bytes().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Header;

    #[test]
    fn records_and_bytes_of_any_length() {
        let bytes: Vec<u8> = (0..200).collect();
        for len in [0, 1, 63, 64, 65, 200] {
            assert_eq!(Header::from(&bytes[..len]).as_bytes(), &bytes[..len]);
        }
        assert_eq!(Header::from(&[7_u8; 64]).as_bytes(), [7; 64]);
        assert_eq!(Header::from(&[7_u8; 65]).as_bytes(), [7; 65]);
        assert_eq!(Header::from(&[(7_u8, 9_u16); 50]).as_bytes().len(), 150);
    }
}
