//! Memory and a datatype together, checked: buffers for the functions of the `mpi` crate.

use std::marker::PhantomData;
use std::os::raw::c_void;
use std::{fmt, slice};

use dtype_runtime::types::Named;
use dtype_runtime::{Basic, Committed, Datatype as Described, Packer, Type, Unpacker};
use mpi::Count;
use mpi::datatype::DatatypeRef;
use mpi::raw::{AsRaw, FromRaw};
use mpi::traits::{AsDatatype, Buffer, BufferMut, Collection, Pointer, PointerMut};

use crate::element::assert_dense;
use crate::error::Error;
use crate::raw::{Datatype, receiving, sending};

/// A type made at run time, committed on both sides: here, where memory is checked against it, and in the
/// library, which has been asked whether it lays it out in the same way.
///
/// ```
/// use dtype_mpi::{Layout, ReceiveBuffer, SendBuffer};
/// use dtype_runtime::{Basic, Type};
/// use mpi::traits::*;
///
/// let universe = mpi::initialize().expect("MPI runs once");
/// let world = universe.world();
/// let me = world.this_process();
///
/// // A column of a 3 × 4 matrix, next to which the next one begins: the transpose in one message.
/// let column = Type::vector(3, 1, 4, &Type::basic(Basic::F64))?;
/// let column = Layout::new(&Type::resized(&column, 0, 8)?)?;
/// let matrix: Vec<f64> = (0..12).map(f64::from).collect();
/// let mut transposed = vec![0.0; 12];
/// let columns = SendBuffer::of_layout(&column, &matrix, 0, 4)?;
/// mpi::request::scope(|scope| {
///     let request = me.immediate_send(scope, &columns);
///     me.receive_into(&mut ReceiveBuffer::of(&mut transposed)?);
///     request.wait();
///     Ok::<_, dtype_mpi::Error>(())
/// })?;
/// assert_eq!(transposed[..6], [0.0, 4.0, 8.0, 1.0, 5.0, 9.0]);
/// # Ok::<(), dtype_mpi::Error>(())
/// ```
#[derive(Debug)]
pub struct Layout {
    committed: Committed,
    datatype: Datatype,
    /// Another one in the place of a predefined datatype, for memory that the [`mpi`] crate would take for values
    /// of the Rust type that has that handle, and that are none.
    other: Option<Datatype>,
}

impl Layout {
    /// Commits a type on both sides.
    ///
    /// # Errors
    ///
    /// As [`Datatype::new`]; [`Error::Bounds`] where the library gives the datatype other bounds: where MPICH
    /// does, [`Type::with_bounds`] has them here as well.
    pub fn new(ty: &Type) -> Result<Self, Error> {
        let datatype = Datatype::new(ty)?;
        datatype.check_bounds(ty)?;
        let other = datatype.is_predefined().then(|| Datatype::new(&Type::dup(ty)?)).transpose()?;
        Ok(Self { committed: ty.commit(), datatype, other })
    }

    /// The type, committed here: it packs and unpacks.
    pub fn committed(&self) -> &Committed {
        &self.committed
    }

    /// The library's datatype.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// A packer of `count` instances in the memory of a slice, with the arguments of [`SendBuffer::of_layout`]:
    /// for [`send_stream`](crate::traits::PackedDestination::send_stream), which packs here.
    ///
    /// A `T` with padding does not compile here, because a layout could name it.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] with [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) or
    /// [`CountTooLarge`](dtype_runtime::Error::CountTooLarge).
    ///
    /// ```
    /// use dtype_mpi::Layout;
    /// use dtype_mpi::traits::*;
    /// use dtype_runtime::{Basic, Type};
    /// use mpi::traits::*;
    ///
    /// let universe = mpi::initialize().expect("MPI runs once");
    /// let world = universe.world();
    /// let me = world.process_at_rank(world.rank());
    ///
    /// // The last column of a 3 × 4 matrix to the first one, in a matrix that is written while the message is sent.
    /// let column = Layout::new(&Type::vector(3, 1, 4, &Type::basic(Basic::F64))?)?;
    /// let mut matrix: Vec<f64> = (0..12).map(f64::from).collect();
    /// let request = me.immediate_send_stream(column.packer(&matrix, 3 * 8, 1)?, 0)?;
    /// me.recv_stream(&mut column.unpacker(&mut matrix, 0, 1)?, 0)?;
    /// request.wait()?;
    /// assert_eq!([matrix[0], matrix[4], matrix[8]], [3.0, 7.0, 11.0]);
    /// # Ok::<(), dtype_mpi::Error>(())
    /// ```
    pub fn packer<'a, T: Described>(
        &self,
        memory: &'a [T],
        origin: usize,
        count: usize,
    ) -> Result<Packer<'a>, Error> {
        Ok(self.committed.packer(bytes_of(memory), origin, count)?)
    }

    /// An unpacker into `count` instances in the memory of a slice, with the arguments of
    /// [`ReceiveBuffer::of_layout`]: for [`recv_stream`](crate::traits::PackedSource::recv_stream).
    ///
    /// A `T` with padding, or that not all bytes are values of, does not compile here.
    ///
    /// # Errors
    ///
    /// As [`packer`](Self::packer), and [`Overlap`](dtype_runtime::Error::Overlap) where the instances name a byte
    /// twice.
    pub fn unpacker<'a, T: Described>(
        &self,
        memory: &'a mut [T],
        origin: usize,
        count: usize,
    ) -> Result<Unpacker<'a>, Error> {
        Ok(self.committed.unpacker(bytes_of_mut(memory), origin, count)?)
    }

    /// The datatype of what is at an address: a predefined one where that is aligned, and any bytes are values.
    fn datatype_at(&self, at: *const u8) -> DatatypeRef<'_> {
        let aligned = (at.addr() as u64).is_multiple_of(self.committed.align());
        let is_bool = self.committed.named() == Some(Named::Basic(Basic::Bool));
        let other = self.other.as_ref().filter(|_| !aligned || is_bool);
        // SAFETY: the handle is alive as long as the layout.
        unsafe { DatatypeRef::from_raw(other.unwrap_or(&self.datatype).as_raw()) }
    }
}

/// Elements to be sent: a [`Buffer`] of the [`mpi`] crate for any `#[derive(Datatype)]` type, also one that not
/// all bytes are values of or that skips fields, and for any [`Layout`]. Neither padding nor skipped fields are
/// sent.
///
/// It is what the functions take that send, and the sending side of the collective ones;
/// [`Partition`](mpi::datatype::Partition) divides it among ranks.
///
/// ```
/// use dtype_mpi::SendBuffer;
/// use dtype_mpi::traits::*;
/// use mpi::traits::*;
///
/// let universe = mpi::initialize().expect("MPI runs once");
/// let world = universe.world();
/// let me = world.process_at_rank(world.rank());
/// let flags = [(1_u32, true), (2, false)];
/// let buffer = SendBuffer::of(&flags)?;
/// mpi::request::scope(|scope| {
///     let request = me.immediate_send(scope, &buffer);
///     let (back, _) = me.recv_packed::<(u32, bool)>()?; // checks the flags
///     assert_eq!(back, flags);
///     request.wait();
///     Ok::<_, dtype_mpi::Error>(())
/// })?;
/// # Ok::<(), dtype_mpi::Error>(())
/// ```
pub struct SendBuffer<'a> {
    pointer: *const c_void,
    count: Count,
    datatype: DatatypeRef<'a>,
    memory: PhantomData<&'a [u8]>,
}

impl<'a> SendBuffer<'a> {
    /// All elements of a slice.
    ///
    /// # Errors
    ///
    /// As [`Datatype::of`]; [`Error::Count`] for more elements than the `mpi` crate can count, 2³¹ − 1.
    pub fn of<T: Described>(elements: &'a [T]) -> Result<Self, Error> {
        let (count, datatype) = (count_of(elements.len())?, Datatype::of::<T>()?);
        let pointer = if elements.is_empty() { sending(&[]) } else { elements.as_ptr().cast() };
        Ok(Self { pointer, count, datatype, memory: PhantomData })
    }

    /// `count` instances of a layout in the memory of a slice, the first one's displacement 0 being `origin`
    /// bytes into it. The data have to lie in the slice; the origin need not.
    ///
    /// A `T` with padding does not compile here, because a layout could name it.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] with [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) or
    /// [`CountTooLarge`](dtype_runtime::Error::CountTooLarge); [`Error::Count`].
    pub fn of_layout<T: Described>(
        layout: &'a Layout,
        memory: &'a [T],
        origin: usize,
        count: usize,
    ) -> Result<Self, Error> {
        layout.packer(memory, origin, count)?;
        let at = memory.as_ptr().cast::<u8>();
        Ok(Self {
            pointer: if count == 0 { sending(&[]) } else { at.wrapping_add(origin).cast() },
            count: count_of(count)?,
            datatype: layout.datatype_at(at.wrapping_add(origin)),
            memory: PhantomData,
        })
    }
}

/// Memory to be received into: a [`BufferMut`] of the [`mpi`] crate for types that accept any bytes, which may
/// skip fields, and for any [`Layout`]. Padding and skipped fields stay as they are.
///
/// A type that not all bytes are values of does not compile here:
///
/// ```compile_fail,E0080
/// dtype_mpi::ReceiveBuffer::of(&mut [true]);
/// ```
pub struct ReceiveBuffer<'a> {
    pointer: *mut c_void,
    count: Count,
    datatype: DatatypeRef<'a>,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> ReceiveBuffer<'a> {
    /// All elements of a slice.
    ///
    /// # Errors
    ///
    /// As [`SendBuffer::of`].
    pub fn of<T: Described>(elements: &'a mut [T]) -> Result<Self, Error> {
        const {
            assert!(
                !T::TYPE_MAP.is_restricted(),
                "not all bytes are values of this type: use `recv_packed_into`, which checks"
            );
        }
        let (count, datatype) = (count_of(elements.len())?, Datatype::of::<T>()?);
        let at = elements.as_mut_ptr().cast();
        let pointer = receiving(at, elements.len());
        Ok(Self { pointer, count, datatype, memory: PhantomData })
    }

    /// `count` instances of a layout in the memory of a slice, with the arguments of
    /// [`SendBuffer::of_layout`].
    ///
    /// A `T` with padding, or that not all bytes are values of, does not compile here.
    ///
    /// # Errors
    ///
    /// As [`SendBuffer::of_layout`], and [`Overlap`](dtype_runtime::Error::Overlap) where the instances name a
    /// byte twice.
    pub fn of_layout<T: Described>(
        layout: &'a Layout,
        memory: &'a mut [T],
        origin: usize,
        count: usize,
    ) -> Result<Self, Error> {
        layout.unpacker(memory, origin, count)?;
        let at = memory.as_mut_ptr().cast::<u8>();
        Ok(Self {
            pointer: receiving(at.wrapping_add(origin), count),
            count: count_of(count)?,
            datatype: layout.datatype_at(at.wrapping_add(origin)),
            memory: PhantomData,
        })
    }
}

/// Memory that a layout may read anywhere.
fn bytes_of<T: Described>(memory: &[T]) -> &[u8] {
    const { assert_dense::<T>() }
    // SAFETY: a `T` is data in all its bytes, which are initialised in every value; the lifetime is the same.
    unsafe { slice::from_raw_parts(memory.as_ptr().cast(), size_of_val(memory)) }
}

/// Memory that a layout may write anywhere.
fn bytes_of_mut<T: Described>(memory: &mut [T]) -> &mut [u8] {
    const {
        assert_dense::<T>();
        assert!(!T::TYPE_MAP.is_restricted(), "not all bytes are values of this type");
    }
    // SAFETY: a `T` is data in all its bytes, which are initialised, and any bytes are values; borrowed exclusively
    // as long as the result.
    unsafe { slice::from_raw_parts_mut(memory.as_mut_ptr().cast(), size_of_val(memory)) }
}

fn count_of(count: usize) -> Result<Count, Error> {
    let limit = u64::from(Count::MAX.unsigned_abs());
    let call = "the mpi crate";
    Count::try_from(count).map_err(|_| Error::Count { call, count: count as u64, limit })
}

macro_rules! buffer {
    ($name:ident) => {
        // SAFETY: the datatype lives as long as the buffer.
        unsafe impl<'a> AsDatatype for $name<'a> {
            type Out = DatatypeRef<'a>;

            fn as_datatype(&self) -> DatatypeRef<'a> {
                self.datatype
            }
        }

        // SAFETY: so many instances of the datatype lie in the memory, as was checked.
        unsafe impl Collection for $name<'_> {
            fn count(&self) -> Count {
                self.count
            }
        }

        // SAFETY: the memory is borrowed as long as the buffer, and the data in it are initialised.
        unsafe impl Pointer for $name<'_> {
            fn pointer(&self) -> *const c_void {
                self.pointer.cast()
            }
        }

        // SAFETY: pointer, count and datatype belong together.
        unsafe impl Buffer for $name<'_> {}

        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("count", &self.count)
                    .finish_non_exhaustive()
            }
        }
    };
}

buffer!(SendBuffer);
buffer!(ReceiveBuffer);

// SAFETY: the memory is borrowed exclusively as long as the buffer, and takes any bytes where the datatype writes.
unsafe impl PointerMut for ReceiveBuffer<'_> {
    fn pointer_mut(&mut self) -> *mut c_void {
        self.pointer
    }
}

// SAFETY: pointer, count and datatype belong together.
unsafe impl BufferMut for ReceiveBuffer<'_> {}
