//! Memory with an origin: where instances of a type lie.

/// Memory that instances are read from, and the offset of displacement 0 of the first instance.
///
/// A slice, an array or a vector converts to a buffer wherever one is expected; its origin is then its first byte. Use
/// [`origin`](Self::origin) to set another origin, for a type with negative displacements or for instances in the middle of the
/// memory. The origin may lie outside the memory, before it or after it: only the data of the instances must be inside, and
/// methods that take a buffer check this.
///
/// ```
/// use dtype_runtime::{Basic, Buffer, Type};
/// let backwards = Type::vector(4, 1, -1, &Type::basic(Basic::U8))?.commit();
/// let mut out = [0; 4];
/// backwards.pack(Buffer::new(b"abcd").origin(3), 1, &mut out)?;
/// assert_eq!(&out, b"dcba");
///
/// // Data that begin 1000 bytes after the origin, in a memory that holds nothing before them.
/// let far = Type::hindexed(&[4], &[1000], &Type::basic(Basic::U8))?.commit();
/// far.pack(Buffer::new(b"abcd").origin(-1000), 1, &mut out)?;
/// assert_eq!(&out, b"abcd");
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'a> {
    pub(super) memory: &'a [u8],
    pub(super) origin: i64,
}

impl<'a> Buffer<'a> {
    /// Memory whose first byte is the origin.
    pub const fn new(memory: &'a [u8]) -> Self {
        Self { memory, origin: 0 }
    }

    /// Places displacement 0 of the first instance `origin` bytes into the memory.
    #[must_use]
    pub const fn origin(self, origin: i64) -> Self {
        Self { origin, ..self }
    }

    /// The memory and the origin, for code that passes them on to another library.
    pub const fn into_parts(self) -> (&'a [u8], i64) {
        (self.memory, self.origin)
    }

    /// The bytes of the memory.
    pub(crate) fn len(&self) -> usize {
        self.memory.len()
    }

    /// The offset of displacement 0 of the first instance.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the pointers of data are the same modulo their width"
    )]
    pub(super) fn pointer(&self) -> *const u8 {
        self.memory.as_ptr().wrapping_offset(self.origin as isize)
    }
}

/// Memory that instances are written to, and the offset of displacement 0 of the first instance: a writable
/// [`Buffer`].
///
/// ```
/// use dtype_runtime::{Basic, BufferMut, Type};
/// let column = Type::vector(2, 1, 3, &Type::basic(Basic::U8))?.commit();
/// let mut matrix = *b"......";
/// column.unpack(b"xy", BufferMut::new(&mut matrix).origin(1), 1)?;
/// column.unpack(b"vw", &mut matrix, 1)?;
/// assert_eq!(&matrix, b"vx.wy.");
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct BufferMut<'a> {
    pub(super) memory: &'a mut [u8],
    pub(super) origin: i64,
}

impl<'a> BufferMut<'a> {
    /// Memory whose first byte is the origin.
    pub const fn new(memory: &'a mut [u8]) -> Self {
        Self { memory, origin: 0 }
    }

    /// Places displacement 0 of the first instance `origin` bytes into the memory.
    #[must_use]
    pub const fn origin(self, origin: i64) -> Self {
        Self { origin, ..self }
    }

    /// The memory and the origin, for code that passes them on to another library.
    ///
    /// ```
    /// use dtype_runtime::BufferMut;
    /// let mut memory = [1, 2, 3];
    /// let (memory, origin) = BufferMut::new(&mut memory).origin(-1).into_parts();
    /// assert_eq!((memory.len(), origin), (3, -1));
    /// ```
    pub const fn into_parts(self) -> (&'a mut [u8], i64) {
        (self.memory, self.origin)
    }

    /// The bytes of the memory.
    pub(crate) fn len(&self) -> usize {
        self.memory.len()
    }

    /// The offset of displacement 0 of the first instance.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the pointers of data are the same modulo their width"
    )]
    pub(super) fn pointer(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().wrapping_offset(self.origin as isize)
    }
}

macro_rules! from_slices {
    ($buffer:ident: $(impl[$($generics:tt)*] $memory:ty;)*) => {$(
        impl<'a, $($generics)*> From<$memory> for $buffer<'a> {
            fn from(memory: $memory) -> Self {
                Self::new(memory)
            }
        }
    )*};
}

from_slices! { Buffer:
    impl[] &'a [u8];
    impl[const N: usize] &'a [u8; N];
    impl[] &'a alloc::vec::Vec<u8>;
}
from_slices! { BufferMut:
    impl[] &'a mut [u8];
    impl[const N: usize] &'a mut [u8; N];
    impl[] &'a mut alloc::vec::Vec<u8>;
}

impl<'a> From<BufferMut<'a>> for Buffer<'a> {
    fn from(buffer: BufferMut<'a>) -> Self {
        Self { memory: buffer.memory, origin: buffer.origin }
    }
}
