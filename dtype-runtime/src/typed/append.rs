//! Byte vectors that packed records are appended to.

use alloc::vec::Vec;

/// Bytes in memory that packed records and frames are appended to: a `Vec<u8>`, or with the feature `bytes` a
/// `bytes::BytesMut`. No other type implements it.
///
/// ```
/// # #[cfg(feature = "bytes")] {
/// use bytes::BytesMut;
/// let mut frame = BytesMut::from(&b"#"[..]);
/// assert_eq!(dtype_runtime::pack_onto(&mut frame, &[1_u8, 2]), 2);
/// assert_eq!(frame[..], [b'#', 1, 2]);
/// # }
/// ```
pub trait AppendBytes: sealed::Sealed {}

mod sealed {
    /// The operations that packing needs.
    pub trait Sealed {
        fn bytes(&self) -> &[u8];

        fn append(&mut self, bytes: &[u8]);

        /// Reserves memory for more bytes after the last one, and returns its start.
        fn reserve(&mut self, more: usize) -> *mut u8;

        /// Adds bytes that were written to the reserved memory to the length.
        ///
        /// # Safety
        ///
        /// The last call of `reserve` must have reserved as many, and all of them must have been written since.
        unsafe fn grow(&mut self, more: usize);
    }
}

use sealed::Sealed;

macro_rules! append_bytes {
    ($bytes:ty) => {
        impl AppendBytes for $bytes {}

        impl Sealed for $bytes {
            #[inline]
            fn bytes(&self) -> &[u8] {
                self
            }

            #[inline]
            fn append(&mut self, bytes: &[u8]) {
                self.extend_from_slice(bytes);
            }

            #[inline]
            fn reserve(&mut self, more: usize) -> *mut u8 {
                <$bytes>::reserve(self, more);
                self.spare_capacity_mut().as_mut_ptr().cast()
            }

            #[inline]
            unsafe fn grow(&mut self, more: usize) {
                // SAFETY: the caller guarantees that the bytes are within the capacity, and initialised.
                unsafe { self.set_len(self.len() + more) };
            }
        }
    };
}

append_bytes!(Vec<u8>);
#[cfg(feature = "bytes")]
append_bytes!(bytes::BytesMut);
