//! Options for the bytes that NumPy reads and writes.

use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Meaning, TypeMap};

/// What the items of a NumPy array contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumpyLayout {
    /// Memory: instances with a stride of one extent, with padding and skipped fields as gaps. It is the layout of an aligned
    /// dtype, for a struct with `repr(C)`.
    Memory,
    /// The packed stream: values in the order of their declaration, without gaps.
    Packed,
}

/// What a [`FixedStr`](dtype_runtime::FixedStr) becomes in NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumpyText {
    /// A structure of the length and the bytes, as in memory and in the packed stream.
    Fields,
    /// A `U` with as many characters as the text has bytes: a `str` in Python. Each character takes four bytes.
    Characters,
    /// An `S` with the bytes in UTF-8: a `bytes` in Python, which `np.char.decode` converts to a `str`.
    Bytes,
}

/// The bytes that a dtype is for. The values of a file, or of a buffer, have one layout and one byte order.
///
/// ```
/// use dtype_runtime::representation::ByteOrder;
/// use dtype_npy::{NumpyOptions, numpy_dtype};
/// let big = NumpyOptions::packed().with_order(ByteOrder::Big);
/// let dtype = numpy_dtype::<[u16; 2]>(&big).unwrap();
/// assert_eq!(dtype.expression, "np.dtype(('>u2', (2,)))");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NumpyOptions {
    /// Whether the bytes are memory or the packed stream.
    pub layout: NumpyLayout,
    /// The order of the bytes of each value.
    pub order: ByteOrder,
    /// What a text becomes. In memory it is always fields.
    pub text: NumpyText,
}

impl NumpyOptions {
    /// Memory, in this machine's byte order.
    pub const fn memory() -> Self {
        Self { layout: NumpyLayout::Memory, order: ByteOrder::NATIVE, text: NumpyText::Fields }
    }

    /// The packed stream, in this machine's byte order.
    pub const fn packed() -> Self {
        Self { layout: NumpyLayout::Packed, order: ByteOrder::NATIVE, text: NumpyText::Fields }
    }

    /// A file: as the packed stream, with texts that are strings in Python.
    pub const fn file() -> Self {
        Self { text: NumpyText::Characters, ..Self::packed() }
    }

    /// The letter and the number of bytes for the text of a map; `None` if the map is not a text.
    pub(crate) fn text_of(self, map: &TypeMap) -> Option<(char, u64)> {
        // The length is a number of four bytes.
        let bytes = map.size().checked_sub(4)? as u64;
        match (map.meaning(), self.layout, self.text) {
            (Some(Meaning::Text), NumpyLayout::Packed, NumpyText::Characters) => {
                Some(('U', bytes.saturating_mul(4)))
            }
            (Some(Meaning::Text), NumpyLayout::Packed, NumpyText::Bytes) => Some(('S', bytes)),
            _ => None,
        }
    }

    /// Sets [`text`](Self::text).
    ///
    /// ```
    /// use dtype_npy::{Dtype, NumpyOptions, NumpyText};
    /// use dtype_runtime::FixedStr;
    /// let options = NumpyOptions::packed().with_text(NumpyText::Bytes);
    /// assert_eq!(Dtype::of::<FixedStr<8>>(&options).to_string(), "'|S8'");
    /// ```
    #[must_use]
    pub const fn with_text(mut self, text: NumpyText) -> Self {
        self.text = text;
        self
    }

    /// Sets [`order`](Self::order).
    #[must_use]
    pub const fn with_order(mut self, order: ByteOrder) -> Self {
        self.order = order;
        self
    }
}
