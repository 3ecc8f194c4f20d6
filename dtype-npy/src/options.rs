//! The bytes that NumPy reads and writes.

use crate::ByteOrder;

/// What the items of a NumPy array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumpyLayout {
    /// Memory: instances with a stride of one extent, with padding and skipped fields as gaps. It is the layout of an aligned
    /// dtype, for a struct with `repr(C)`.
    Memory,
    /// The packed stream: values in the order of their declaration, without gaps.
    Packed,
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
    /// Memory or the packed stream.
    pub layout: NumpyLayout,
    /// The order of the bytes of each value.
    pub order: ByteOrder,
}

impl NumpyOptions {
    /// Memory, in this machine's byte order.
    pub const fn memory() -> Self {
        Self { layout: NumpyLayout::Memory, order: ByteOrder::NATIVE }
    }

    /// The packed stream, in this machine's byte order.
    pub const fn packed() -> Self {
        Self { layout: NumpyLayout::Packed, order: ByteOrder::NATIVE }
    }

    /// Sets [`order`](Self::order).
    #[must_use]
    pub const fn with_order(mut self, order: ByteOrder) -> Self {
        self.order = order;
        self
    }
}
