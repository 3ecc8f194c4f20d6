//! The owner's side of registered memory, which peers may read and write at any time.

use std::cell::{Cell, OnceCell};
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

use dtype_runtime::{Committed, Datatype, Type};

use crate::allocation::{with_room, zeros};
use crate::context::Context;
use crate::error::{Error, check};
use crate::raw;
use crate::remote::key::MemoryKey;
use crate::service::served::{Alone, Served};
use crate::shared::{load, store};

/// Records in memory that peers with a [key](Self::key) read and write, through [`RemoteMemory`](crate::RemoteMemory), without
/// any work by this process. From [`Context::register`]. Peers reach it through endpoints that lead to a worker of the same
/// context.
///
/// # Cells, not slices
///
/// A peer may write at any time, so no reference to the memory is ever handed out: records are copied out ([`get`](Self::get),
/// [`read`](Self::read)) and in ([`set`](Self::set), [`write`](Self::write)), as with a [`Cell`]. A record that is copied while
/// a peer writes it may be partly old and partly new. The copy is checked after that: bytes that do not make a valid `bool`,
/// `char` or enum are an error. The program decides when to read; usually a peer sends a message after it has put and
/// [flushed](crate::Endpoint::flush).
///
/// Transports that cannot write to the memory themselves (TCP) make the owner's process do so; one of its workers must then
/// make progress. A worker that [serves](crate::Worker::serve) the memory unpacks puts of many small blocks into it.
///
/// # When the memory is freed
///
/// UCX cannot revoke a key. Over some transports, a peer with a key can write to the memory even after it was unregistered,
/// when it may hold other data. So dropping the value frees the memory only if no key was made; otherwise the memory stays
/// registered until the process ends, and the context stays alive. [`unregister`](Self::unregister) frees it, and is unsafe:
/// the caller guarantees that no peer uses a key any more.
///
/// ```
/// # use dtype_ucx::{Context, Error, Single};
/// let context = Context::with_settings([("TLS", "self")])?;
/// let memory = context.register(&[(1_u8, 0.5_f64); 10])?;
/// memory.set(3, &(7, 0.25))?;
/// assert_eq!(memory.read(2..4)?, [(1, 0.5), (7, 0.25)]);
/// # Ok::<(), Error>(())
/// ```
#[doc(alias = "ucp_mem_h")]
#[must_use = "peers can access the memory by its key"]
pub struct Registered<T> {
    context: Context,
    handle: raw::Memory,
    start: *mut T,
    len: usize,
    /// The type of a record.
    record: Committed,
    /// Whether the memory belongs to the caller: [`Context::register_in_place`].
    lent: bool,
    /// Whether a key was made. `Cell` also prevents that two threads access the memory through this value at the same time.
    exported: Cell<bool>,
    /// The memory as workers that serve it know it, once one does.
    served: OnceCell<Arc<Served>>,
    records: PhantomData<T>,
}

// SAFETY: the value owns the memory, or its maker has promised it, and any thread may use the context.
unsafe impl<T: Send> Send for Registered<T> {}

/// Refuses types with parts that are not in the type map: a copy would leave these parts uninitialised.
pub(crate) const fn refuse_skipped_fields<T: Datatype>() {
    assert!(
        !T::TYPE_MAP.skips_fields(),
        "records with skipped fields cannot be in remote memory: a peer would not write all of a record"
    );
}

impl Context {
    /// Allocates memory that peers may access, and copies records into it.
    ///
    /// UCX allocates the memory, so that processes of the same machine can map it and access it directly. A type with skipped
    /// fields does not compile here:
    ///
    /// ```compile_fail,E0080
    /// #[derive(dtype_runtime::Datatype)]
    /// struct Cached {
    ///     value: f64,
    ///     #[dtype(skip)]
    ///     square: f64,
    /// }
    /// let context = dtype_ucx::Context::new().unwrap();
    /// let memory = context.register(&[Cached { value: 3.0, square: 9.0 }]);
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if there are too many records for any memory; [`Error::Call`], for example if there is no memory.
    #[doc(alias = "ucp_mem_map")]
    pub fn register<T: Datatype>(&self, items: &[T]) -> Result<Registered<T>, Error> {
        const { refuse_skipped_fields::<T>() }
        let len = items.len();
        // Bytes before the first aligned address are unused. UCX refuses to allocate 0 bytes.
        let too_little = dtype_runtime::Error::Allocation { count: len, stride: size_of::<T>() };
        let room = size_of_val(items).checked_add(align_of::<T>()).ok_or(too_little.clone())?;
        let params = raw::MemoryParams {
            field_mask: raw::MEM_MAP_PARAM_FIELD_LENGTH | raw::MEM_MAP_PARAM_FIELD_FLAGS,
            address: ptr::null_mut(),
            length: room,
            flags: raw::MEM_MAP_ALLOCATE,
        };
        let mut memory = self.map::<T>(&params, len, false)?;
        let mut attributes = raw::MemoryAttributes {
            field_mask: raw::MEM_ATTR_FIELD_ADDRESS | raw::MEM_ATTR_FIELD_LENGTH,
            address: ptr::null_mut(),
            length: 0,
        };
        // SAFETY: the memory is registered, and UCX writes the fields of the mask.
        let status = unsafe { raw::ucp_mem_query(memory.handle, &raw mut attributes) };
        check("ucp_mem_query", status)?;
        let first: *mut u8 = attributes.address.cast();
        if first.is_null() || attributes.length < room {
            return Err(too_little.into());
        }
        memory.start = first.wrapping_add(first.align_offset(align_of::<T>())).cast();
        // SAFETY: UCX has allocated at least this room, and nothing else knows of it, because there is no key yet. The records
        // start at the latest at the last byte of the first alignment. Every byte is initialised, and so are the data of the
        // items.
        unsafe {
            ptr::write_bytes(first, 0, room);
            memory.record.copy_raw(items.as_ptr().cast(), memory.start.cast(), len)?;
        }
        Ok(memory)
    }

    /// Registers existing memory, so that peers access it where it is: a part of a large array, or memory of another language.
    /// UCX can map memory into other processes only if UCX has allocated it, so [`register`](Self::register) is faster within a
    /// machine.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if there are too many records for any memory; [`Error::Call`].
    ///
    /// # Safety
    ///
    /// `start` must be aligned, and `len` records from there on must be valid for reads and writes and hold initialised bytes.
    /// The memory must stay so, and be accessed only through the result and by peers, until the result is dropped and no peer
    /// uses a key of it any more.
    ///
    /// ```
    /// # use dtype_ucx::{Context, Error, Single};
    /// # let context = Context::with_settings([("TLS", "self")])?;
    /// let mut grid = vec![0.0_f64; 1000];
    /// // SAFETY: nothing uses the grid until the result is dropped, and no key is made.
    /// let memory = unsafe { context.register_in_place(grid.as_mut_ptr(), grid.len())? };
    /// memory.set(999, &0.5)?;
    /// drop(memory);
    /// assert_eq!(grid[999], 0.5);
    /// # Ok::<(), Error>(())
    /// ```
    pub unsafe fn register_in_place<T: Datatype>(
        &self,
        start: *mut T,
        len: usize,
    ) -> Result<Registered<T>, Error> {
        const { refuse_skipped_fields::<T>() }
        let bytes = len
            .checked_mul(size_of::<T>())
            .ok_or(dtype_runtime::Error::Allocation { count: len, stride: size_of::<T>() })?;
        let params = raw::MemoryParams {
            field_mask: raw::MEM_MAP_PARAM_FIELD_ADDRESS | raw::MEM_MAP_PARAM_FIELD_LENGTH,
            address: start.cast(),
            length: bytes,
            flags: 0,
        };
        let mut memory = self.map::<T>(&params, len, true)?;
        memory.start = start;
        Ok(memory)
    }

    /// Registers or allocates memory. Its start is not known yet.
    fn map<T: Datatype>(
        &self,
        params: &raw::MemoryParams,
        len: usize,
        lent: bool,
    ) -> Result<Registered<T>, Error> {
        let record = Type::of_record::<T>().commit();
        let mut handle = ptr::null_mut();
        // SAFETY: the context is alive, and the parameters have the fields of their mask. The callers guarantee the memory,
        // unless UCX allocates it.
        let status =
            unsafe { raw::ucp_mem_map(self.handle(), ptr::from_ref(params), &raw mut handle) };
        check("ucp_mem_map", status)?;
        let (context, start, exported) = (self.clone(), ptr::null_mut(), Cell::new(false));
        Ok(Registered {
            context,
            handle,
            start,
            len,
            record,
            lent,
            exported,
            served: OnceCell::new(),
            records: PhantomData,
        })
    }
}

impl<T: Datatype> Registered<T> {
    /// The number of records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first record, for code in other languages. Peers may access the memory at any time, and so may a
    /// worker that [serves](crate::Worker::serve) it, so code in Rust may make references to it only while the program knows
    /// that no peer or worker accesses it.
    pub fn as_ptr(&self) -> *mut T {
        self.start
    }

    /// A key for peers: send its [bytes](MemoryKey::to_bytes) to them, over any channel.
    ///
    /// # Errors
    ///
    /// [`Error::Call`].
    #[doc(alias = "ucp_rkey_pack")]
    pub fn key(&self) -> Result<MemoryKey, Error> {
        let (mut buffer, mut len) = (ptr::null_mut::<c_void>(), 0);
        // SAFETY: the memory is registered with this context. UCX returns a key of this length, which is copied and then freed.
        let packed = unsafe {
            let context = self.context.handle();
            let status = raw::ucp_rkey_pack(context, self.handle, &raw mut buffer, &raw mut len);
            check("ucp_rkey_pack", status)?;
            let packed = slice::from_raw_parts(buffer.cast::<u8>(), len).to_vec();
            raw::ucp_rkey_buffer_release(buffer);
            packed
        };
        self.exported.set(true);
        let (record, address) = (self.record.as_type().clone(), self.start.expose_provenance());
        Ok(MemoryKey::new(self.context.number(), record, address as u64, self.len, &packed))
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// The memory, for workers that serve it.
    pub(crate) fn served(&self) -> &Arc<Served> {
        self.served.get_or_init(|| {
            let start = NonNull::new(self.start.cast()).unwrap_or(NonNull::dangling());
            // SAFETY: the memory has this length, and all of its bytes are initialised. It stays until the value is dropped,
            // which calls `end` first. All functions of the value take the lock when they copy.
            Arc::new(unsafe { Served::new(start, self.bytes()) })
        })
    }

    /// While the result lives, workers that serve the memory do not copy, even in other threads.
    #[inline]
    fn alone(&self) -> Option<Alone<'_>> {
        self.served.get().map(|served| served.lock())
    }

    /// A copy of a record.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if there is no such record, or its bytes are not a valid value.
    #[inline]
    pub fn get(&self, index: usize) -> Result<T, Error> {
        self.check(index, 1)?;
        if const { T::TYPE_MAP.is_restricted() } {
            return self.checked(index, 1)?.pop().ok_or_else(|| self.outside(index, 1).into());
        }
        let mut item = MaybeUninit::<T>::uninit();
        let _alone = self.alone();
        // SAFETY: the record is in the memory, as just checked. Its bytes are initialised and all of them are copied; all bit
        // patterns of its data are valid, and no field is left out. By the promise of `Datatype`, this is a value.
        unsafe {
            load(self.start.add(index).cast(), item.as_mut_ptr().cast(), size_of::<T>());
            Ok(item.assume_init())
        }
    }

    /// Copies a record into the memory.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if there is no such record.
    #[inline]
    pub fn set(&self, index: usize, item: &T) -> Result<(), Error> {
        self.write(index, slice::from_ref(item))
    }

    /// Copies of some records.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the range reaches outside the memory, or the bytes of a record are not a valid value.
    pub fn read(&self, range: Range<usize>) -> Result<Vec<T>, Error> {
        let Range { start, end } = range;
        let count = end.saturating_sub(start);
        self.check(start, count)?;
        if const { T::TYPE_MAP.is_restricted() } {
            return self.checked(start, count);
        }
        let mut items = with_room::<T>(count)?;
        let _alone = self.alone();
        // SAFETY: as in `get`, for `count` records, for which the vector has room.
        unsafe {
            load(self.start.add(start).cast(), items.as_mut_ptr().cast(), size_of::<T>() * count);
            items.set_len(count);
        }
        Ok(items)
    }

    /// Copies `items.len()` records into a slice, from index `at` on.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if they reach outside the memory, or the bytes of a record are not a valid value. Nothing is
    /// written then.
    pub fn read_into(&self, at: usize, items: &mut [T]) -> Result<(), Error> {
        self.check(at, items.len())?;
        if const { T::TYPE_MAP.is_restricted() } {
            let copies = self.checked(at, items.len())?;
            for (item, new) in items.iter_mut().zip(copies) {
                *item = new;
            }
            return Ok(());
        }
        let _alone = self.alone();
        // SAFETY: the records are in the memory, as just checked. Their bytes are initialised, all bit patterns of their data
        // are valid, no field is left out, and the slice is borrowed exclusively.
        unsafe {
            load(self.start.add(at).cast(), items.as_mut_ptr().cast(), size_of_val(items));
        }
        Ok(())
    }

    /// Copies records into the memory, from index `at` on.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if they reach outside the memory. Nothing is written then.
    #[inline]
    pub fn write(&self, at: usize, items: &[T]) -> Result<(), Error> {
        self.check(at, items.len())?;
        let start: *mut u8 = self.start.wrapping_add(at).cast();
        let _alone = self.alone();
        if const { T::TYPE_MAP.is_packed() } {
            // SAFETY: the records are in the memory, as just checked. All bytes of the items are data, and initialised.
            unsafe { store(items.as_ptr().cast(), start, size_of_val(items)) };
            return Ok(());
        }
        for (index, item) in items.iter().enumerate() {
            // The padding of the item may not be initialised.
            let mut whole = MaybeUninit::<T>::zeroed();
            // SAFETY: one record is readable at the first address and writable at the second.
            unsafe {
                let whole = whole.as_mut_ptr().cast::<u8>();
                self.record.copy_raw(ptr::from_ref(item).cast(), whole, 1)?;
                store(whole, start.add(index * size_of::<T>()), size_of::<T>());
            }
        }
        Ok(())
    }

    /// Copies a part of the memory: the packed bytes of `count` instances of a type, with displacement 0 at `origin`, in bytes
    /// from the start of the memory.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the layout reaches outside the memory.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type, bytes_of};
    /// # use dtype_ucx::{Context, Error, Single};
    /// # let context = Context::with_settings([("TLS", "self")])?;
    /// let matrix = context.register(&[1_u16, 2, 3, 4, 5, 6])?;
    /// let column = Type::vector(2, 1, 3, &Type::basic(Basic::U16))?.commit();
    /// let last = matrix.pack(&column, 4, 1)?;
    /// assert_eq!(last, bytes_of(&[3_u16, 6]));
    /// matrix.unpack(&last, &column, 0, 1)?;
    /// assert_eq!(matrix.read(0..6)?, [3, 2, 3, 6, 5, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn pack(&self, layout: &Committed, origin: i64, count: usize) -> Result<Vec<u8>, Error> {
        let size = layout.packed_size(count)?;
        layout.check_span(self.bytes() as u64, origin.into(), count)?;
        let (mut packed, mut at) = (zeros(size)?, 0);
        let _alone = self.alone();
        for (start, len) in self.segments(layout, origin, count)? {
            // SAFETY: the segment lies in the memory, as just checked; all segments together have the size of the bytes.
            unsafe { load(start, packed.as_mut_ptr().add(at), len) };
            at += len;
        }
        Ok(packed)
    }

    /// Copies packed bytes into a part of the memory: the mirror image of [`pack`](Self::pack). The bytes are checked when
    /// records are read.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the layout reaches outside the memory or names a byte more than once, or if the number of bytes
    /// is wrong. Nothing is written then.
    pub fn unpack(
        &self,
        packed: &[u8],
        layout: &Committed,
        origin: i64,
        count: usize,
    ) -> Result<(), Error> {
        let size = layout.packed_size(count)?;
        if packed.len() != size {
            let (expected, actual) = (size as u64, packed.len() as u64);
            return Err(dtype_runtime::Error::PackedLength { expected, actual }.into());
        }
        layout.check_span(self.bytes() as u64, origin.into(), count)?;
        layout.check_overlap(count)?;
        let mut at = 0;
        let _alone = self.alone();
        for (start, len) in self.segments(layout, origin, count)? {
            // SAFETY: as in `pack`.
            unsafe { store(packed.as_ptr().add(at), start, len) };
            at += len;
        }
        Ok(())
    }

    /// The segments of a layout in the memory.
    fn segments<'a>(
        &self,
        layout: &'a Committed,
        origin: i64,
        count: usize,
    ) -> Result<impl Iterator<Item = (*mut u8, usize)> + use<'a, T>, Error> {
        let size = layout.packed_size(count)? as u64;
        let start = self.start.cast::<u8>();
        #[expect(clippy::cast_possible_truncation, reason = "the data lie in memory")]
        let segment = move |disp: i64, len: u64| {
            (start.wrapping_offset(origin.wrapping_add(disp) as isize), len as usize)
        };
        Ok(layout.iov(count, 0..size)?.map(move |part| segment(part.disp, part.len)))
    }

    /// The length of the memory in bytes.
    fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Unregisters and frees the memory.
    ///
    /// # Safety
    ///
    /// No peer may use a key of this memory any more: each [`RemoteMemory`](crate::RemoteMemory) of it must be dropped, its
    /// puts must be [flushed](crate::Endpoint::flush), and no further one may be made.
    #[doc(alias = "ucp_mem_unmap")]
    pub unsafe fn unregister(self) {
        self.exported.set(false);
        drop(self);
    }

    /// Copies records out of the memory, and checks the copies.
    fn checked(&self, at: usize, count: usize) -> Result<Vec<T>, Error> {
        let mut copies = with_room::<MaybeUninit<T>>(count)?;
        let mut packed = zeros(self.record.packed_size(count)?)?;
        let alone = self.alone();
        // SAFETY: the callers have checked that the records are in the memory; the vector has room for them. Only their packed
        // bytes are used, which peers cannot access.
        unsafe {
            let private: *mut u8 = copies.as_mut_ptr().cast();
            load(self.start.add(at).cast(), private, size_of::<T>() * count);
            self.record.pack_raw(private, count, &mut packed)?;
        }
        // Released first, because a check is user code, which may use this memory.
        drop(alone);
        let items = dtype_runtime::unpack(&packed)?;
        Ok(items)
    }

    /// Checks that records are in the memory.
    #[inline]
    fn check(&self, at: usize, count: usize) -> Result<(), Error> {
        if self.len.checked_sub(at).is_some_and(|room| count <= room) {
            return Ok(());
        }
        Err(self.outside(at, count).into())
    }

    #[cold]
    fn outside(&self, at: usize, count: usize) -> dtype_runtime::Error {
        outside(size_of::<T>(), self.len, at, count)
    }
}

/// The error for records that are not in a memory of `len` records.
pub(crate) fn outside(stride: usize, len: usize, at: usize, count: usize) -> dtype_runtime::Error {
    let bytes = |records: usize| records as i128 * stride as i128;
    let (start, end) = (bytes(at), bytes(at) + bytes(count));
    dtype_runtime::Error::OutOfBounds { start, end, len: (len * stride) as u64 }
}

impl<T> Drop for Registered<T> {
    fn drop(&mut self) {
        if let Some(served) = self.served.get() {
            served.end();
        }
        if self.exported.get() && !self.lent {
            // A peer may still write there. The memory must outlive all peers, and must be unregistered before the context is
            // released.
            mem::forget(self.context.clone());
            return;
        }
        // SAFETY: the memory was registered with this context, which is alive. Either no key was made, or no peer uses one any
        // more (the caller of `unregister` guarantees this), or the memory itself outlives the peers (the caller of
        // `register_in_place` guarantees this).
        unsafe { raw::ucp_mem_unmap(self.context.handle(), self.handle) };
    }
}

impl<T> fmt::Debug for Registered<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("len", &self.len).finish_non_exhaustive()
    }
}
