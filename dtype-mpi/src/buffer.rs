//! Buffers for the functions of the `mpi` crate: memory together with a datatype, checked against each other.

use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_void;

use dtype_runtime::types::Named;
use dtype_runtime::{Basic, Committed, Datatype as Described, Packer, Type, Unpacker};
use mpi::Count;
use mpi::datatype::DatatypeRef;
use mpi::raw::{AsRaw, FromRaw};
use mpi::traits::{AsDatatype, Buffer, BufferMut, Collection, Pointer, PointerMut};

use crate::agreement::{self, Agreement};
use crate::error::Error;
use crate::instances::{Instances, assert_unrestricted};
use crate::library::is_open_mpi;
use crate::raw::point_to_point::is_countable;
use crate::raw::{Datatype, Session, receiving, sending};

/// A type made at run time and committed twice: in this crate, which checks memory against it, and in the library.
/// The bounds of both are compared.
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
/// // A column of a 3 × 4 matrix, resized so that the next one begins one element later: the whole transpose.
/// let column = Type::vector(3, 1, 4, &Type::basic(Basic::F64))?;
/// let column = Layout::new(&Type::resized(&column, 0, 8)?)?;
/// let matrix: Vec<f64> = (0..12).map(f64::from).collect();
/// let mut transposed = vec![0.0; 12];
/// let columns = SendBuffer::from_layout(&column, &matrix, 0, 4)?;
/// mpi::request::scope(|scope| {
///     let request = me.immediate_send(scope, &columns);
///     me.receive_into(&mut ReceiveBuffer::new(&mut transposed)?);
///     request.wait();
///     Ok::<_, dtype_mpi::Error>(())
/// })?;
/// assert_eq!(transposed[..6], [0.0, 4.0, 8.0, 1.0, 5.0, 9.0]);
/// # Ok::<(), dtype_mpi::Error>(())
/// ```
#[derive(Debug)]
pub struct Layout {
    instances: Instances,
    datatype: Datatype,
    /// A duplicate of a predefined datatype, for memory that is not aligned or may hold invalid `bool`s. With the predefined
    /// handle, the [`mpi`] crate would take the memory for values of a Rust type.
    other: Option<Datatype>,
    /// Whether the library copies the same bytes.
    agreement: Agreement,
    /// The number of pieces of memory of an instance.
    pieces: u64,
    /// The number of bytes from the first to the last byte of an instance's data.
    span: u64,
}

/// From this many bytes on, the library may send the memory of a layout faster than packed bytes: it copies memory while the
/// receiver takes what was copied before, but a packed message must be complete first.
const LONG_MESSAGE: u64 = 4096;

/// The library is faster if the pieces of memory have this many bytes on average. For shorter pieces it is so slow that packing
/// them here is faster.
const LONG_PIECE: u64 = 64;

/// The library is also faster if the pieces lie in this many pages, whatever their lengths, and the library receives the
/// message, too: both ranks then mostly wait for memory, and with the library they do so at the same time.
const MANY_PAGES: u64 = 4000;
const PAGE: u64 = 4096;

/// Whether the library can receive every packed message with a datatype that has gaps. MPICH 4.0 over the shared memory of
/// UCX 1.13 refuses some.
fn receives_packed() -> bool {
    is_open_mpi()
}

impl Layout {
    /// Commits a type here and in the library.
    ///
    /// # Errors
    ///
    /// As [`Datatype::new`]; [`Error::Bounds`] if the library computes other bounds for the datatype. For MPICH,
    /// [`Type::with_bounds_rule`] selects the same rule here. Bounds that differ for a part only are not an error here:
    /// the layout can still be packed.
    pub fn new(ty: &Type) -> Result<Self, Error> {
        let (datatype, agreement) = {
            let _session = Session::begin("MPI_Type_commit")?;
            let (datatype, agreement) = Datatype::compared(ty)?;
            agreement::bounds(ty, &datatype)?;
            (datatype, agreement)
        };
        let other = datatype.is_predefined().then(|| Datatype::new(&Type::dup(ty)?)).transpose()?;
        let committed = ty.commit();
        let pieces = committed.iov(1, 0..committed.size())?.segments().max(1);
        let span = ty.true_extent().unsigned_abs();
        let instances = Instances::new(committed);
        Ok(Self { instances, datatype, other, agreement, pieces, span })
    }

    /// Whether the library should send `count` instances, which are not contiguous.
    pub(crate) fn is_sent_by_library(&self, count: usize) -> bool {
        let (count, size) = (count as u64, self.committed().size());
        let bytes = size.saturating_mul(count);
        let is_long = bytes >= LONG_MESSAGE && is_countable(bytes);
        let is_coarse = size / self.pieces >= LONG_PIECE;
        let is_scattered = receives_packed() && self.pages(count) >= MANY_PAGES;
        is_long && self.agreement.is_sure() && (is_coarse || is_scattered)
    }

    /// About how many pages the data of `count` instances touch.
    fn pages(&self, count: u64) -> u64 {
        let others =
            count.saturating_sub(1).saturating_mul(self.committed().extent().unsigned_abs());
        self.pieces.saturating_mul(count).min(self.span.saturating_add(others) / PAGE)
    }

    /// Whether the library should receive a message into all of `count` instances, which are not contiguous.
    pub(crate) fn is_received_by_library(&self, count: usize) -> bool {
        receives_packed() && self.is_sent_by_library(count)
    }

    /// The type as committed here, for packing and unpacking.
    pub fn committed(&self) -> &Committed {
        self.instances.committed()
    }

    /// The library's datatype.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// A packer for `count` instances in the memory of a slice, for
    /// [`send_stream`](crate::traits::PackedDestination::send_stream), which packs here. The arguments are the same
    /// as for [`SendBuffer::from_layout`].
    ///
    /// The elements of the slice must have the data that the layout names, at the same bytes; a slice of `u8` takes any layout.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] with [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) or
    /// [`CountTooLarge`](dtype_runtime::Error::CountTooLarge); [`Error::Memory`] for elements without the data of the layout.
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
    /// // Sends the last column of a matrix to the first one, and writes the matrix while the message is sent.
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
        self.instances.packer(memory, origin, count)
    }

    /// An unpacker into `count` instances in the memory of a slice, for
    /// [`recv_stream`](crate::traits::PackedSource::recv_stream). The arguments are the same as for
    /// [`ReceiveBuffer::from_layout`].
    ///
    /// A `T` for which some bytes are not valid values does not compile here.
    ///
    /// # Errors
    ///
    /// As [`packer`](Self::packer), and [`Overlap`](dtype_runtime::Error::Overlap) if the instances name a byte
    /// twice.
    pub fn unpacker<'a, T: Described>(
        &self,
        memory: &'a mut [T],
        origin: usize,
        count: usize,
    ) -> Result<Unpacker<'a>, Error> {
        const { assert_unrestricted::<T>() }
        self.instances.unpacker(memory, origin, count)
    }

    /// The bytes of the instances in the memory of a slice, if they are contiguous. The arguments are the same as for
    /// [`unpacker`](Self::unpacker).
    pub(crate) fn contiguous<'a, T: Described>(
        &self,
        memory: &'a mut [T],
        origin: usize,
        count: usize,
    ) -> Result<Option<&'a mut [u8]>, Error> {
        self.instances.contiguous(memory, origin, count)
    }

    /// The count and the datatype with which the library accesses instances at an address; an error if it may access other
    /// bytes.
    fn in_library(&self, at: *const u8, count: usize) -> Result<(Count, DatatypeRef<'_>), Error> {
        let count = count_of(count)?;
        if self.has_no_data(count) {
            // Libraries disagree about types without data, so one with a fixed meaning is used.
            return Ok((count, Datatype::of::<()>()?));
        }
        self.agreement.check()?;
        Ok((count, self.datatype_at(at)))
    }

    /// Whether this many instances have no data.
    fn has_no_data(&self, count: Count) -> bool {
        count == 0 || self.committed().size() == 0
    }

    /// The datatype for data at an address: a predefined one only if the address is aligned for it and any bytes
    /// are valid values.
    fn datatype_at(&self, at: *const u8) -> DatatypeRef<'_> {
        let aligned = (at.addr() as u64).is_multiple_of(self.committed().align());
        let is_bool = self.committed().named() == Some(Named::Basic(Basic::Bool));
        let other = self.other.as_ref().filter(|_| !aligned || is_bool);
        // SAFETY: the handle is alive as long as the layout.
        unsafe { DatatypeRef::from_raw(other.unwrap_or(&self.datatype).as_raw()) }
    }
}

/// Elements to be sent: a [`Buffer`] of the [`mpi`] crate for any `#[derive(Datatype)]` type and any [`Layout`].
/// The type may skip fields or restrict which bytes are valid values. Neither padding nor skipped fields are sent.
///
/// It is for functions that send, and for the sending side of collective functions; [`Partition`](mpi::datatype::Partition)
/// divides it among ranks.
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
/// let buffer = SendBuffer::new(&flags)?;
/// mpi::request::scope(|scope| {
///     let request = me.immediate_send(scope, &buffer);
///     let (back, _) = me.recv_packed::<(u32, bool)>(0)?; // checks the flags
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
    /// As [`Datatype::of`]; [`Error::Count`] for more elements than the `mpi` crate can count (2³¹ − 1).
    pub fn new<T: Described>(elements: &'a [T]) -> Result<Self, Error> {
        let (count, datatype) = (count_of(elements.len())?, Datatype::of::<T>()?);
        let pointer = if has_no_data(elements) { sending(&[]) } else { elements.as_ptr().cast() };
        Ok(Self { pointer, count, datatype, memory: PhantomData })
    }

    /// `count` instances of a layout in the memory of a slice. Displacement 0 of the first instance is `origin`
    /// bytes into the slice. The data must lie in the slice; the origin need not.
    ///
    /// The elements of the slice must have the data that the layout names, at the same bytes; a slice of `u8` takes any layout.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] with [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) or
    /// [`CountTooLarge`](dtype_runtime::Error::CountTooLarge); [`Error::Memory`] for elements without the data of the layout;
    /// [`Error::Count`]. [`Error::Bounds`] and [`Error::LibraryDefect`] if the library may access other memory, because of a
    /// part of the layout; [`send_layout`](crate::traits::PackedDestination::send_layout) packs such a layout here.
    /// [`Error::NotRunning`], [`Error::Thread`].
    pub fn from_layout<T: Described>(
        layout: &'a Layout,
        memory: &'a [T],
        origin: usize,
        count: usize,
    ) -> Result<Self, Error> {
        layout.packer(memory, origin, count)?;
        let at = at_origin(memory, origin);
        let (count, datatype) = layout.in_library(at, count)?;
        let pointer = if layout.has_no_data(count) { sending(&[]) } else { at.cast() };
        Ok(Self { pointer, count, datatype, memory: PhantomData })
    }
}

/// Memory to receive into: a [`BufferMut`] of the [`mpi`] crate for types that accept any bytes, and for any [`Layout`]. The
/// types may skip fields. Padding and skipped fields are unchanged.
///
/// The functions of the [`mpi`] crate do not check everything, with this buffer or with slices of their own types:
///
/// - Open MPI 4.1 and 5.0 have a defect: if a message is longer than contiguous memory for it, they may overwrite what follows,
///   and only then report the error. If a peer may send more than was agreed, use
///   [`PackedSource`](crate::traits::PackedSource), whose functions never receive into memory that is too short.
/// - Reductions and scans write the number and the type of elements that are sent. The memory for the result must have the same
///   length and type.
/// - [`PartitionMut`](mpi::datatype::PartitionMut) accepts negative displacements.
///
/// A type for which some bytes are not valid values does not compile here:
///
/// ```compile_fail,E0080
/// dtype_mpi::ReceiveBuffer::new(&mut [true]);
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
    /// As [`SendBuffer::new`].
    pub fn new<T: Described>(elements: &'a mut [T]) -> Result<Self, Error> {
        const {
            assert!(
                !T::TYPE_MAP.is_restricted(),
                "not all bytes are values of this type: use `recv_packed_into`, which checks"
            );
        }
        let (count, datatype) = (count_of(elements.len())?, Datatype::of::<T>()?);
        let at = elements.as_mut_ptr().cast::<u8>();
        let pointer = if has_no_data(elements) { receiving(at, 0) } else { at.cast() };
        Ok(Self { pointer, count, datatype, memory: PhantomData })
    }

    /// `count` instances of a layout in the memory of a slice. The arguments are the same as for
    /// [`SendBuffer::from_layout`].
    ///
    /// A `T` for which some bytes are not valid values does not compile here.
    ///
    /// # Errors
    ///
    /// As [`SendBuffer::from_layout`], and [`Overlap`](dtype_runtime::Error::Overlap) if the instances name a byte
    /// twice.
    pub fn from_layout<T: Described>(
        layout: &'a Layout,
        memory: &'a mut [T],
        origin: usize,
        count: usize,
    ) -> Result<Self, Error> {
        const { assert_unrestricted::<T>() }
        layout.unpacker(memory, origin, count)?;
        let at = memory.as_mut_ptr().cast::<u8>().wrapping_add(origin);
        let (count, datatype) = layout.in_library(at, count)?;
        let pointer = if layout.has_no_data(count) { receiving(at, 0) } else { at.cast() };
        Ok(Self { pointer, count, datatype, memory: PhantomData })
    }
}

/// Whether the elements have no data bytes. The address of such elements may have a special meaning in MPI.
fn has_no_data<T: Described>(elements: &[T]) -> bool {
    elements.is_empty() || T::TYPE_MAP.size() == 0
}

/// The address of displacement 0 of the first instance. It need not lie in the memory.
pub(crate) fn at_origin<T>(memory: &[T], origin: usize) -> *const u8 {
    memory.as_ptr().cast::<u8>().wrapping_add(origin)
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

        // SAFETY: the constructors checked that `count` instances of the datatype lie in the memory.
        unsafe impl Collection for $name<'_> {
            fn count(&self) -> Count {
                self.count
            }
        }

        // SAFETY: the memory is borrowed for as long as the buffer, and the data in it are initialised.
        unsafe impl Pointer for $name<'_> {
            fn pointer(&self) -> *const c_void {
                self.pointer.cast()
            }
        }

        // SAFETY: pointer, count and datatype describe the same memory.
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

// SAFETY: the memory is borrowed exclusively for as long as the buffer, and accepts any bytes where the datatype
// writes.
unsafe impl PointerMut for ReceiveBuffer<'_> {
    fn pointer_mut(&mut self) -> *mut c_void {
        self.pointer
    }
}

// SAFETY: pointer, count and datatype describe the same memory.
unsafe impl BufferMut for ReceiveBuffer<'_> {}
